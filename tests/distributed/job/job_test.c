// SPDX-License-Identifier: Apache-2.0
//
// How jobs are opened, attached to sessions, refused and closed.
#include <stdio.h>

#include "distributed/host/node.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

static void end(void) {
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}

// --- Proofs ------------------------------------------------------------------

// Host |A| calls host |B|, which it has not met, and keeps what it gets to itself, so that
// nobody else has a reason to dial either of them.
#define VIA(A, B)                           \
  "func.func @inner(%x: i32) -> i32 {\n"    \
  "  %y = tfrt.add.i32 %x, %x\n"            \
  "  tfrt.return %y : i32\n"                \
  "}\n"                                     \
  "func.func @outer(%x: i32) -> i32 {\n"    \
  "  %y = tfrt.call @inner(%x) {host = " #B \
  " : i32} : (i32) -> i32\n"                \
  "  %z = tfrt.add.i32 %y, %x\n"            \
  "  tfrt.return %z : i32\n"                \
  "}\n"                                     \
  "func.func @main(%x: i32) -> i32 {\n"     \
  "  %y = tfrt.call @outer(%x) {host = " #A \
  " : i32} : (i32) -> i32\n"                \
  "  tfrt.return %y : i32\n"                \
  "}\n"

static const char via_1_2[] = VIA(1, 2);
static const char via_2_1[] = VIA(2, 1);

// Both at once: hosts 1 and 2 dial each other.
static const char crossing[] =
    "func.func @inner(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @to_1(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %z = tfrt.add.i32 %y, %x\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @to_2(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %z = tfrt.add.i32 %y, %x\n"
    "  tfrt.return %z : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @to_2(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @to_1(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %y = tfrt.add.i32 %a, %b\n"
    "  tfrt.return %y : i32\n"
    "}\n";

// Has host 1 count up its sessions with host 2, which sees none of them; or the other way.
static void waste_sessions(const char* text, uint32_t count) {
  tfrt_simulated_endpoint_t* a = world.hosts[1].endpoint;
  tfrt_simulated_endpoint_t* b = world.hosts[2].endpoint;
  tfrt_simulated_network_partition(world.network, a, b, true);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_job_start(&world, text, 1);
    tfrt_node_world_await(&world);
    tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_UNAVAILABLE, "lost host");
    tfrt_job_drop_client(&world);
    tfrt_job_open_client(&world, NULL, 0, 0);
  }
  tfrt_simulated_network_heal(world.network, a, b, true);
}

START_TEST(a_proof_is_for_the_number_that_the_session_gets) {
  tfrt_node_world_initialize(&world, 3, NULL);
  waste_sessions(via_1_2, 2);
  // Host 2 begins with session 1 and learns that the next one is 3: its JobAttach waits.
  tfrt_job_expect(&world, via_2_1, 5, 15);
  end();
}
END_TEST

START_TEST(dials_that_cross_under_different_numbers_keep_their_jobs) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    options.seed = seed;
    options.jitter_ns = (int64_t)(seed % 5) * options.delay_ns;
    tfrt_node_world_initialize(&world, 3, &options);
    waste_sessions(seed % 2 ? via_1_2 : via_2_1, 1 + (uint32_t)(seed % 3));
    tfrt_job_expect(&world, crossing, 3, 18);
    end();
  }
}
END_TEST

START_TEST(resets_before_and_after_a_job_is_attached_change_nothing) {
  for (int64_t delay_us = 20; delay_us <= 2000; delay_us += 60) {
    tfrt_node_world_initialize(&world, 3, NULL);
    waste_sessions(via_2_1, 1);
    ck_assert_ptr_null(tfrt_job_await_open(&world));
    tfrt_job_start(&world, crossing, 3);
    for (int i = 0; i < 3; ++i) {
      tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
      tfrt_simulated_network_break(world.network, world.hosts[1].endpoint, world.hosts[2].endpoint);
    }
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 18);
    end();
  }
}
END_TEST

// --- Refusals ----------------------------------------------------------------

static void give_host_1_one_job(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->max_jobs = 1;
}

static uint64_t count_deaths(void) {
  uint64_t deaths = 0;
  for (uint32_t i = 0; i <= world.host_count; ++i) {
    tfrt_session_counters_t counters;
    if (!world.hosts[i].node) continue;
    tfrt_node_session_counters(world.hosts[i].node, &counters);
    deaths += counters.deaths;
  }
  return deaths;
}

START_TEST(one_host_that_refuses_ends_the_job_and_no_session) {
  tfrt_node_world_set_configure(give_host_1_one_job);
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_client_t* first = world.client;
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_job_start(&world, tfrt_job_simple_program, 4);
  tfrt_status_t status = tfrt_job_await_open(&world);
  tfrt_job_expect_error(status, TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "host 1 (n1, n1:1) refuses the job: it has 1 job and takes no more");
  ck_assert_uint_eq(tfrt_status_fields(status)->origin.rank, 1);
  // The started call ends with the same error.
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_RESOURCE_EXHAUSTED,
                        "host 1 (n1, n1:1) refuses the job");
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 1);
  // The job that was there, and the next one on the same sessions, go on.
  world.client = first;
  tfrt_job_expect(&world, tfrt_job_simple_program, 4, 8);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_job_expect(&world, tfrt_job_simple_program, 5, 10);
  ck_assert_uint_eq(count_deaths(), 0);
  end();
}
END_TEST

START_TEST(a_host_that_drains_ends_its_jobs_and_takes_no_new_ones) {
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_node_refuse_jobs(world.hosts[1].node);
  tfrt_job_expect(&world, tfrt_job_simple_program, 4, 8);
  tfrt_job_drop_client(&world);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_job_expect_error(tfrt_job_await_open(&world), TFRT_STATUS_UNAVAILABLE,
                        "host 1 (n1, n1:1) refuses the job: it is shutting down");
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  ck_assert_uint_eq(count_deaths(), 0);
  // The others still work.
  static const char* const others[] = {"n0:1", "n2:1"};
  tfrt_job_open_client(&world, others, 2, 0);
  tfrt_job_expect(&world, tfrt_job_simple_program, 6, 12);
  end();
}
END_TEST

START_TEST(a_host_that_was_closed_takes_no_jobs) {
  tfrt_node_world_initialize(&world, 2, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_close(world.hosts[1].node);
  // The session ends just when the client believes that there is one; then there is none.
  for (int i = 0; i < 2; ++i) {
    tfrt_job_open_client(&world, NULL, 0, 0);
    tfrt_job_expect_error(tfrt_job_await_open(&world), TFRT_STATUS_UNAVAILABLE, "host 1 (n1");
    tfrt_job_expect_error(tfrt_job_await_open(&world), TFRT_STATUS_UNAVAILABLE, "shut");
    tfrt_job_drop_client(&world);
  }
  end();
}
END_TEST

START_TEST(a_member_that_has_no_way_to_the_root_says_so) {
  tfrt_node_world_initialize(&world, 3, NULL);
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_simulated_network_partition(world.network, world.hosts[0].endpoint, world.hosts[2].endpoint,
                                   true);
  tfrt_node_world_run_for(&world, 10 * TFRT_NODE_WORLD_SECOND);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_status_t status = tfrt_job_await_open(&world);
  tfrt_job_expect_error(status, TFRT_STATUS_UNAVAILABLE, "host 2 (n2, n2:1) refuses the job");
  tfrt_job_expect_error(status, TFRT_STATUS_UNAVAILABLE, "lost host 0 (n0");
  tfrt_job_drop_client(&world);
  tfrt_simulated_network_heal(world.network, world.hosts[0].endpoint, world.hosts[2].endpoint,
                              true);
  tfrt_job_await_count(&world, 0);
  tfrt_job_open_client(&world, NULL, 0, 0);
  tfrt_job_expect(&world, tfrt_job_simple_program, 6, 12);
  end();
}
END_TEST

// --- Losses before and after -------------------------------------------------

START_TEST(a_host_that_is_lost_while_the_job_is_opened_leaves_nothing_on_the_others) {
  uint32_t rank = (uint32_t)_i;
  for (int64_t delay_us = 0; delay_us <= 1200; delay_us += 40) {
    tfrt_node_world_initialize(&world, 3, NULL);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_node_world_kill(&world, rank);
    tfrt_status_t status = tfrt_job_await_open(&world);
    char name[16];
    snprintf(name, sizeof(name), "n%u:1", rank);
    if (status) tfrt_job_expect_error(status, TFRT_STATUS_UNAVAILABLE, name);
    end();
  }
}
END_TEST

START_TEST(a_client_that_is_lost_leaves_nothing_on_the_hosts) {
  for (int64_t delay_us = 0; delay_us <= 3000; delay_us += 100) {
    tfrt_node_world_initialize(&world, 3, NULL);
    tfrt_job_start(&world, crossing, 3);
    tfrt_node_world_run_for(&world, delay_us * TFRT_NANOSECONDS_PER_MICROSECOND);
    tfrt_simulated_endpoint_kill(world.hosts[3].endpoint);
    tfrt_job_drop_client(&world);
    tfrt_node_world_kill(&world, 3);
    tfrt_job_await_count(&world, 0);
    tfrt_node_world_deinitialize(&world);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* jobs = tcase_create("jobs");
  tcase_set_timeout(jobs, 60);
  tcase_add_test(jobs, a_proof_is_for_the_number_that_the_session_gets);
  tcase_add_test(jobs, dials_that_cross_under_different_numbers_keep_their_jobs);
  tcase_add_test(jobs, resets_before_and_after_a_job_is_attached_change_nothing);
  tcase_add_test(jobs, one_host_that_refuses_ends_the_job_and_no_session);
  tcase_add_test(jobs, a_host_that_drains_ends_its_jobs_and_takes_no_new_ones);
  tcase_add_test(jobs, a_host_that_was_closed_takes_no_jobs);
  tcase_add_test(jobs, a_member_that_has_no_way_to_the_root_says_so);
  tcase_add_loop_test(
      jobs, a_host_that_is_lost_while_the_job_is_opened_leaves_nothing_on_the_others, 0, 3);
  tcase_add_test(jobs, a_client_that_is_lost_leaves_nothing_on_the_hosts);
  Suite* suite = suite_create("jobs");
  suite_add_tcase(suite, jobs);
  return suite;
}
