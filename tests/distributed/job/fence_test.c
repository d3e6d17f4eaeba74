// SPDX-License-Identifier: Apache-2.0
//
// Hosts that live and have no part in a job any more. A waiter for such a host gets an error with
// the reason, though their connection still works. All other work goes on; nothing is left.
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job.h"
#include "distributed/job/job_life.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define SECOND TFRT_NODE_WORLD_SECOND
// Above the silence that is death, on both sides.
#define LONG (12 * SECOND)
// Host 2, which is what is lost.
#define LOST 0x1002

static tfrt_node_world_t world;

// The job is open on four hosts.
static void set_up(void) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_run_for(&world, SECOND);
}

static void tear_down(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

static void part(uint32_t a, uint32_t b) {
  tfrt_simulated_network_partition(world.network, world.hosts[a].endpoint, world.hosts[b].endpoint,
                                   true);
}

static void heal(uint32_t a, uint32_t b) {
  tfrt_simulated_network_heal(world.network, world.hosts[a].endpoint, world.hosts[b].endpoint,
                              true);
}

static void part_for(uint32_t a, uint32_t b, int64_t duration_ns) {
  part(a, b);
  tfrt_node_world_run_for(&world, duration_ns);
  heal(a, b);
}

static void freeze_for(uint32_t rank, int64_t duration_ns) {
  tfrt_simulated_endpoint_freeze(world.hosts[rank].endpoint);
  tfrt_node_world_run_for(&world, duration_ns);
  tfrt_simulated_endpoint_thaw(world.hosts[rank].endpoint);
}

static void forget_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

// Starts |text|, whose @main has no argument and |result_count| results.
static void start(const char* text, uint32_t result_count) {
  forget_results();
  tfrt_node_world_start(&world, text, NULL, 0, result_count);
}

static bool has_results(void* argument) {
  (void)argument;
  for (uint32_t i = 0; i < world.result_count; ++i) {
    if (!tfrt_async_value_is_available(world.results[i])) return false;
  }
  return true;
}

// The results come without that a silence has to pass first.
static void await_soon(void) {
  ck_assert(tfrt_simulated_network_run_until(world.network, has_results, NULL, SECOND));
}

// Result |index| is the loss of |rank|, noticed in @|function|; host |rank| itself knows of the
// loss.
static void expect_lost(uint32_t index, uint32_t rank, const char* function) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, index));
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  char who[32];
  snprintf(who, sizeof(who), "lost host %u", rank);
  ck_assert_msg(strstr(fields->message, who), "%s", text);
  ck_assert_msg(fields->code == TFRT_STATUS_UNAVAILABLE, "%s", text);
  ck_assert_msg(fields->root_key == 0x1000 + rank, "%s", text);
  if (function) ck_assert_msg(strcmp(fields->origin.function, function) == 0, "%s", text);
}

// The frames of |kind| that |to| got from |from|.
static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

// --- Cut off from the root ---------------------------------------------------

// Host 1 asks host 2, which the root doesn't ask.
#define ASK(OPTIONS)                                       \
  "func.func @seven() -> i32 {\n"                          \
  "  %x = tfrt.constant.i32 7\n"                           \
  "  tfrt.return %x : i32\n"                               \
  "}\n"                                                    \
  "func.func @ask() -> i32 {\n"                            \
  "  %x = tfrt.call @seven() {host = 2 : i32" OPTIONS      \
  "} : () -> i32\n"                                        \
  "  %y = tfrt.add.i32 %x, %x\n"                           \
  "  tfrt.return %y : i32\n"                               \
  "}\n"                                                    \
  "func.func @main() -> i32 {\n"                           \
  "  %x = tfrt.call @ask() {host = 1 : i32} : () -> i32\n" \
  "  tfrt.return %x : i32\n"                               \
  "}\n"

static const char ask_program[] = ASK("");
static const char retry_program[] = ASK(", retries = 1 : i32, pure");

// Host 1 waits for what host 2 never sends; host 3 has nothing to do with it.
static const char wait_program[] =
    "func.func @wait() -> i32 {\n"
    "  %c = tfrt.new.chain\n"
    "  %two = tfrt.constant.i32 2\n"
    "  %h = tfrt_dist.host %two\n"
    "  %k = tfrt_dist.key \"k\"\n"
    "  %x, %d = tfrt_dist.recv %h, %k, %c : i32\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @nine() -> i32 {\n"
    "  %x = tfrt.constant.i32 9\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @main() -> (i32, i32) {\n"
    "  %x = tfrt.call @wait() {host = 1 : i32} : () -> i32\n"
    "  %y = tfrt.call @nine() {host = 3 : i32} : () -> i32\n"
    "  tfrt.return %x, %y : i32, i32\n"
    "}\n";

START_TEST(a_call_to_a_host_that_was_cut_off_from_the_root_ends) {
  part_for(0, 2, LONG);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[2].node).jobs, 0);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_GONE), 1);
}
END_TEST

START_TEST(a_call_to_a_host_that_was_frozen_ends) {
  freeze_for(2, LONG);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[2].node).jobs, 0);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
}
END_TEST

START_TEST(a_call_to_a_host_that_awakes_ends_at_any_moment) {
  for (int i = 0; i < 20; ++i) {
    if (i > 0) {
      tear_down();
      set_up();
    }
    freeze_for(2, LONG);
    tfrt_node_world_run_for(&world, i * TFRT_NANOSECONDS_PER_MILLISECOND / 10);
    start(ask_program, 1);
    await_soon();
    // It may have run before its host knew.
    if (tfrt_async_value_is_error(world.results[0])) {
      ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_UNAVAILABLE);
    }
  }
}
END_TEST

START_TEST(a_pure_call_to_it_runs_elsewhere) {
  part_for(0, 2, LONG);
  start(retry_program, 1);
  await_soon();
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 14);
}
END_TEST

START_TEST(a_wait_for_its_message_ends_if_it_begins_afterwards) {
  part_for(0, 2, LONG);
  start(wait_program, 2);
  await_soon();
  expect_lost(0, 2, NULL);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 9);
}
END_TEST

START_TEST(a_wait_for_its_message_ends_if_it_began_before) {
  start(wait_program, 2);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert(!has_results(NULL));
  part_for(0, 2, LONG);
  ck_assert(has_results(NULL));
  expect_lost(0, 2, NULL);
  // It never had anything to say of the job to host 1.
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_ATTACH), 0);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_GONE), 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 9);
}
END_TEST

START_TEST(what_is_not_about_it_goes_on) {
  static const char program[] =
      "func.func @nine() -> i32 {\n"
      "  %x = tfrt.constant.i32 9\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @ask() -> i32 {\n"
      "  %x = tfrt.call @nine() {host = 3 : i32} : () -> i32\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @main() -> i32 {\n"
      "  %x = tfrt.call @ask() {host = 1 : i32} : () -> i32\n"
      "  tfrt.return %x : i32\n"
      "}\n";
  part_for(0, 2, LONG);
  start(ask_program, 1);
  await_soon();
  for (int i = 0; i < 3; ++i) {
    start(program, 1);
    await_soon();
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 9);
  }
}
END_TEST

// The host, which has lost the root, reports the loss, or its end implies the loss.
START_TEST(a_call_that_it_runs_ends_with_its_loss) {
  static const char program[] =
      "func.func @never() -> i32 {\n"
      "  %c = tfrt.new.chain\n"
      "  %three = tfrt.constant.i32 3\n"
      "  %h = tfrt_dist.host %three\n"
      "  %k = tfrt_dist.key \"k\"\n"
      "  %x, %d = tfrt_dist.recv %h, %k, %c : i32\n"
      "  tfrt.return %x : i32\n"
      "}\n"
      "func.func @ask() -> i32 {\n"
      "  %x = tfrt.call @never() {host = 2 : i32} : () -> i32\n"
      "  %y = tfrt.add.i32 %x, %x\n"
      "  tfrt.return %y : i32\n"
      "}\n"
      "func.func @main() -> i32 {\n"
      "  %x = tfrt.call @ask() {host = 1 : i32} : () -> i32\n"
      "  tfrt.return %x : i32\n"
      "}\n";
  start(program, 1);
  tfrt_node_world_run_for(&world, SECOND);
  part_for(0, 2, LONG);
  ck_assert(has_results(NULL));
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_DETACH), 1);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
}
END_TEST

// --- Ended there for another reason ------------------------------------------

// Has |rank| end its job with |code|; OK: it is finished there.
static void end_job(uint32_t rank, tfrt_status_code_t code) {
  tfrt_status_t reason = code ? tfrt_status_create(code, "enough of that") : NULL;
  tfrt_node_t* node = world.hosts[rank].node;
  tfrt_node_lock_tables(node);
  tfrt_job_close(TFRT_CONTAINER_OF(node->jobs.next, tfrt_job_t, link), reason);
  tfrt_node_unlock(node);
  tfrt_status_release(reason);
  tfrt_node_world_run_for(&world, SECOND / 10);
  ck_assert_uint_eq(tfrt_node_counts(node).jobs, 0);
}

// Result |index| is what end_job() said with |code|, with the place in @|function|.
static void expect_ended(uint32_t index, tfrt_status_code_t code, const char* function) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, index));
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  ck_assert_msg(fields->code == code, "%s", text);
  ck_assert_str_eq(fields->message, "enough of that");
  ck_assert_msg(strcmp(fields->origin.function, function) == 0, "%s", text);
  ck_assert_msg(fields->origin.line > 0, "%s", text);
}

static const tfrt_status_code_t reasons[] = {TFRT_STATUS_CANCELLED, TFRT_STATUS_DEADLINE_EXCEEDED,
                                             TFRT_STATUS_RESOURCE_EXHAUSTED};

// Asks host 2, which has ended the job with |code|.
static void ask_and_expect_ended(tfrt_status_code_t code) {
  start(ask_program, 1);
  await_soon();
  expect_ended(0, code, "ask");
}

START_TEST(what_is_asked_of_a_host_that_has_ended_the_job_has_its_reason) {
  end_job(2, reasons[_i]);
  ask_and_expect_ended(reasons[_i]);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_GONE), 1);
  // Host 1 knows by now.
  ask_and_expect_ended(reasons[_i]);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_GONE), 1);
}
END_TEST

START_TEST(who_knows_a_host_that_ends_the_job_is_told_the_reason) {
  start(ask_program, 1);
  await_soon();
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 14);
  end_job(2, reasons[_i]);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_DETACH), 1);
  ask_and_expect_ended(reasons[_i]);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_JOB_GONE), 0);
}
END_TEST

START_TEST(a_wait_for_the_message_of_a_host_ends_with_its_reason) {
  start(wait_program, 2);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert(!has_results(NULL));
  end_job(2, reasons[_i]);
  ck_assert(has_results(NULL));
  expect_ended(0, reasons[_i], "wait");
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 9);
}
END_TEST

START_TEST(a_job_that_its_root_has_cancelled_is_cancelled_for_members_that_hear_of_it_from_others) {
  start(ask_program, 1);
  await_soon();
  // Host 1 hears nothing of host 0, nor of the client, and so of their JobClose from nobody but by
  // asking host 2.
  part(0, 1);
  part(world.host_count, 1);
  end_job(0, reasons[_i]);
  tfrt_node_world_run_for(&world, SECOND);
  ck_assert_uint_eq(count(0, 2, TFRT_WIRE_FRAME_JOB_CLOSE), 1);
  ck_assert_uint_eq(count(0, 1, TFRT_WIRE_FRAME_JOB_CLOSE), 0);
  tfrt_job_t* job = TFRT_CONTAINER_OF(world.hosts[1].node->jobs.next, tfrt_job_t, link);
  const tfrt_job_member_t* member = tfrt_job_find_rank(job, 2);
  ck_assert_int_eq(tfrt_status_code(member->death), reasons[_i]);
  ck_assert(member->has_left);
  heal(0, 1);
  heal(world.host_count, 1);
}
END_TEST

START_TEST(who_has_lost_another_is_lost_and_says_what_it_has_lost) {
  end_job(2, TFRT_STATUS_UNAVAILABLE);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
  ck_assert_str_eq(tfrt_status_fields(tfrt_node_world_error(&world, 0))->causes[0],
                   "enough of that");
}
END_TEST

START_TEST(a_host_without_a_reason_is_lost) {
  end_job(2, TFRT_STATUS_OK);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
}
END_TEST

START_TEST(the_oldest_reason_is_forgotten) {
  end_job(2, TFRT_STATUS_CANCELLED);
  tfrt_node_t* node = world.hosts[2].node;
  static const uint8_t other[TFRT_WIRE_JOB_ID_SIZE] = {1};
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "another");
  tfrt_node_lock_tables(node);
  for (int i = 0; i < TFRT_ENDED_JOBS_CAPACITY; ++i) {
    tfrt_ended_job_t* entry = &node->ended_jobs.entries[i];
    tfrt_status_release(entry->reason);
    memcpy(entry->id, other, sizeof(other));
    entry->reason = tfrt_status_retain(reason);
  }
  tfrt_node_unlock(node);
  tfrt_status_release(reason);
  start(ask_program, 1);
  await_soon();
  expect_lost(0, 2, "ask");
}
END_TEST

// --- Cut off from each other -------------------------------------------------

// Each asks the other; the root asks both.
static const char both_program[] =
    "func.func @seven() -> i32 {\n"
    "  %x = tfrt.constant.i32 7\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @to1() -> i32 {\n"
    "  %x = tfrt.call @seven() {host = 1 : i32} : () -> i32\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @to2() -> i32 {\n"
    "  %x = tfrt.call @seven() {host = 2 : i32} : () -> i32\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main() -> (i32, i32, i32, i32) {\n"
    "  %a = tfrt.call @to2() {host = 1 : i32} : () -> i32\n"
    "  %b = tfrt.call @to1() {host = 2 : i32} : () -> i32\n"
    "  %c = tfrt.call @seven() {host = 1 : i32} : () -> i32\n"
    "  %d = tfrt.call @seven() {host = 2 : i32} : () -> i32\n"
    "  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32\n"
    "}\n";

static void expect_lost_to_each_other(void) {
  expect_lost(0, 2, "to2");
  expect_lost(1, 1, "to1");
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 7);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 3), 7);
}

START_TEST(two_members_that_have_lost_each_other_stay_in_the_job) {
  start(both_program, 4);
  await_soon();
  for (uint32_t i = 0; i < 4; ++i) {
    ck_assert_int_eq(tfrt_node_world_i32(&world, i), i < 2 ? 14 : 7);
  }
  part_for(1, 2, LONG);
  start(both_program, 4);
  await_soon();
  expect_lost_to_each_other();
}
END_TEST

// Host 1 finds no way to host 2, which never hears of that.
START_TEST(frames_of_a_member_that_is_lost_already_mean_nothing) {
  part(1, 2);
  start(ask_program, 1);
  tfrt_node_world_await(&world);
  expect_lost(0, 2, "ask");
  heal(1, 2);
  start(both_program, 4);
  await_soon();
  expect_lost_to_each_other();
  // Nothing of the call that came was done or answered, and the session it came in goes on.
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_INVOKE), 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_JOB_GONE), 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_RESULT), 0);
  tfrt_node_world_run_for(&world, LONG);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_GOODBYE), 0);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_GOODBYE), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* fence = tcase_create("fence");
  tcase_add_checked_fixture(fence, set_up, tear_down);
  tcase_set_timeout(fence, 60);
  tcase_add_test(fence, a_call_to_a_host_that_was_cut_off_from_the_root_ends);
  tcase_add_test(fence, a_call_to_a_host_that_was_frozen_ends);
  tcase_add_test(fence, a_call_to_a_host_that_awakes_ends_at_any_moment);
  tcase_add_test(fence, a_pure_call_to_it_runs_elsewhere);
  tcase_add_test(fence, a_wait_for_its_message_ends_if_it_begins_afterwards);
  tcase_add_test(fence, a_wait_for_its_message_ends_if_it_began_before);
  tcase_add_test(fence, what_is_not_about_it_goes_on);
  tcase_add_test(fence, a_call_that_it_runs_ends_with_its_loss);
  int reason_count = (int)TFRT_ARRAY_SIZE(reasons);
  tcase_add_loop_test(fence, what_is_asked_of_a_host_that_has_ended_the_job_has_its_reason, 0,
                      reason_count);
  tcase_add_loop_test(fence, who_knows_a_host_that_ends_the_job_is_told_the_reason, 0,
                      reason_count);
  tcase_add_loop_test(fence, a_wait_for_the_message_of_a_host_ends_with_its_reason, 0,
                      reason_count);
  tcase_add_loop_test(
      fence, a_job_that_its_root_has_cancelled_is_cancelled_for_members_that_hear_of_it_from_others,
      0, reason_count);
  tcase_add_test(fence, who_has_lost_another_is_lost_and_says_what_it_has_lost);
  tcase_add_test(fence, a_host_without_a_reason_is_lost);
  tcase_add_test(fence, the_oldest_reason_is_forgotten);
  tcase_add_test(fence, two_members_that_have_lost_each_other_stay_in_the_job);
  tcase_add_test(fence, frames_of_a_member_that_is_lost_already_mean_nothing);
  Suite* suite = suite_create("fence");
  suite_add_tcase(suite, fence);
  return suite;
}
