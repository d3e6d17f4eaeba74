// SPDX-License-Identifier: Apache-2.0
//
// What a session does with frames: budgets, batches and acknowledgements, over the simulated
// network.
#include "distributed/session.h"
#include "tests/distributed/session_harness.h"
#include "tests/support/test_main.h"

static tfrt_session_counters_t counters_of(const tfrt_harness_record_t* record) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(record->host->manager, &counters);
  return counters;
}

static void break_between(tfrt_harness_record_t* a, tfrt_harness_record_t* b) {
  tfrt_simulated_network_break(a->host->world->network, a->host->endpoint, b->host->endpoint);
}

START_TEST(a_deadline_is_never_later_at_the_receiver_even_when_replayed) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  int64_t deadline_ns = tfrt_harness_now(&world) + 4 * TFRT_HARNESS_SECOND;
  const tfrt_session_frame_t frame = {
      .kind = TFRT_WIRE_FRAME_CANCEL, .job = 1, .deadline_ns = deadline_ns};
  tfrt_harness_append(a, &frame);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(b->others, 1);
  // The transit is not subtracted.
  ck_assert_int_ge(b->last_deadline_ns, deadline_ns - TFRT_HARNESS_MILLISECOND);
  ck_assert_int_le(b->last_deadline_ns, deadline_ns + TFRT_HARNESS_MILLISECOND);
  tfrt_harness_partition(a, b, false);
  tfrt_harness_append(a, &frame);
  tfrt_harness_run_for(&world, 2 * TFRT_HARNESS_SECOND);
  break_between(a, b);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND);
  tfrt_harness_heal(a, b);
  tfrt_harness_run_for(&world, TFRT_HARNESS_SECOND / 2);
  ck_assert_uint_eq(b->others, 2);
  ck_assert_int_ge(b->last_deadline_ns, deadline_ns - TFRT_HARNESS_MILLISECOND);
  ck_assert_int_le(b->last_deadline_ns, deadline_ns + TFRT_HARNESS_MILLISECOND);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(frames_collect_while_a_write_is_in_flight) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
  uint64_t before = tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL);
  for (int i = 0; i < 200; ++i) tfrt_harness_send(a, 1);
  tfrt_harness_run_until_received(b, 200);
  uint64_t messages =
      tfrt_simulated_network_message_count(world.network, TFRT_TRANSPORT_CONTROL) - before;
  ck_assert_uint_le(messages, 3);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(batches_stay_below_their_size) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  static char body[900 * 1024];
  const tfrt_session_frame_t big = {.kind = TFRT_WIRE_FRAME_CANCEL,
                                    .job = 1,
                                    .deadline_ns = TFRT_TIME_INFINITE,
                                    .body = tfrt_string_view_make(body, sizeof(body))};
  for (int i = 0; i < 20; ++i) {
    ck_assert_int_eq(tfrt_harness_append(a, &big), TFRT_STATUS_OK);
    tfrt_harness_send(a, 100);
  }
  tfrt_harness_run_until_received(b, 2000);
  ck_assert_uint_eq(b->others, 20);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(one_way_traffic_is_acknowledged_unasked) {
  tfrt_harness_world_t world;
  tfrt_harness_record_t *a, *b;
  tfrt_harness_connect_two(&world, &a, &b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  tfrt_harness_send(a, 10);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  // What was acknowledged is not replayed.
  break_between(a, b);
  tfrt_harness_run_for(&world, 20 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_eq(counters_of(a).resumes, 1);
  ck_assert_uint_eq(counters_of(a).frames_replayed, 0);
  ck_assert_uint_eq(counters_of(b).duplicates, 0);
  tfrt_harness_deinitialize(&world);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_trace) {
  uint64_t hashes[3];
  for (int run = 0; run < 3; ++run) {
    tfrt_simulated_options_t options;
    tfrt_simulated_options_initialize(&options);
    options.seed = run < 2 ? 42 : 43;
    options.break_chance = 20000;
    tfrt_harness_world_t world;
    tfrt_harness_initialize(&world, &options);
    tfrt_harness_host_t* a = tfrt_harness_add_simple_host(&world, 0x0a);
    tfrt_harness_host_t* b = tfrt_harness_add_simple_host(&world, 0x0b);
    tfrt_harness_record_t* record = tfrt_harness_dial(a, b);
    for (int i = 0; i < 100; ++i) {
      if (!record->is_dead) tfrt_harness_send(record, 5);
      tfrt_harness_run_for(&world, 10 * TFRT_HARNESS_MILLISECOND);
    }
    hashes[run] = tfrt_simulated_network_trace_hash(world.network);
    tfrt_harness_deinitialize(&world);
  }
  ck_assert_uint_eq(hashes[0], hashes[1]);
  ck_assert_uint_ne(hashes[0], hashes[2]);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session frames");
  TCase* batches = tcase_create("batches");
  tcase_set_timeout(batches, 60);
  tcase_add_test(batches, a_deadline_is_never_later_at_the_receiver_even_when_replayed);
  tcase_add_test(batches, frames_collect_while_a_write_is_in_flight);
  tcase_add_test(batches, batches_stay_below_their_size);
  tcase_add_test(batches, one_way_traffic_is_acknowledged_unasked);
  tcase_add_test(batches, the_same_seed_gives_the_same_trace);
  suite_add_tcase(suite, batches);
  return suite;
}
