// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/bulk_manager.h"

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define MIB (UINT64_C(1) << 20)
#define LONG_NS (60 * TFRT_NANOSECONDS_PER_SECOND)

static tfrt_bulk_harness_t harness;
static tfrt_bulk_harness_options_t options;

static void begin(void) { tfrt_bulk_harness_options_initialize(&options); }

static tfrt_bulk_harness_want_t* want_of(int host, size_t index) {
  return &harness.hosts[host].wants[index];
}

START_TEST(ten_mebibytes_arrive_equal_and_are_buffered_nowhere) {
  begin();
  options.chunk_bytes = 1u << 20;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 10 * MIB, 3);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_complete);
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_eq(want_of(0, want)->resumes, 0);
  ck_assert_uint_eq(harness.hosts[1].sends_done, 1);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
  // Records, prefixes and one small message at a time, on both hosts.
  ck_assert_int_lt(tfrt_counting_allocator_counts(&harness.allocator).max_bytes, 32 << 10);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).dials, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(an_empty_payload_arrives) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 0, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_complete);
  ck_assert_uint_eq(want_of(0, want)->begins, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(transfers_take_turns_and_small_ones_go_first) {
  begin();
  options.chunk_bytes = 64u << 10;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t first = tfrt_bulk_harness_want(&harness, 0, 3 * MIB, 1);
  size_t second = tfrt_bulk_harness_want(&harness, 0, 3 * MIB, 2);
  size_t small = tfrt_bulk_harness_want(&harness, 0, 40 << 10, 3);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert_uint_eq(want_of(0, small)->place, 1);
  ck_assert_uint_eq(want_of(0, first)->place, 2);
  ck_assert_uint_eq(want_of(0, second)->place, 3);
  // Small before large; the second large one before the first was half done.
  ck_assert_uint_eq(want_of(0, small)->begin_place, 1);
  ck_assert_uint_eq(want_of(0, second)->begin_place, 3);
  ck_assert(want_of(0, first)->is_intact && want_of(0, second)->is_intact);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(one_channel_carries_payloads_both_ways) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t there = tfrt_bulk_harness_want(&harness, 0, 5 * MIB, 1);
  size_t here = tfrt_bulk_harness_want(&harness, 1, 5 * MIB, 2);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, there)->is_intact);
  ck_assert(want_of(1, here)->is_intact);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 1);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).dials, 0);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(who_is_known_by_no_address_is_served_by_the_channel_of_the_dialler) {
  begin();
  options.diallers = 2;  // host 1 dials host 0, and owns the value
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, MIB, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).dials, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(crossing_dials_leave_the_channel_of_the_smaller_incarnation) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    begin();
    options.diallers = 3;
    options.network.seed = seed;
    tfrt_bulk_harness_begin(&harness, &options);
    tfrt_bulk_harness_want(&harness, 0, MIB, 1);
    tfrt_bulk_harness_want(&harness, 1, MIB, 2);
    ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
    tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
    ck_assert(want_of(0, 0)->is_intact);
    ck_assert(want_of(1, 0)->is_intact);
    ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 1);
    ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).channels, 1);
    ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).dials, 1);
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

START_TEST(a_broken_channel_goes_on_at_the_offset_that_was_reached) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 10 * MIB, 3);
  tfrt_bulk_harness_run_messages(&harness, 12);
  ck_assert(!want_of(0, want)->is_complete);
  tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                               harness.hosts[1].endpoint);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_eq(want_of(0, want)->begins, 1);
  ck_assert_uint_eq(want_of(0, want)->resumes, 1);
  ck_assert_uint_ge(want_of(0, want)->resumed_at, 2 * MIB);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).dials, 2);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_channel_that_breaks_before_the_first_chunk_arrives_is_asked_again) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t first = tfrt_bulk_harness_want(&harness, 0, 1, 3);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, first)->is_complete);
  // The channel is open. The Want takes 120 us, a chunk at least 100 more: it is under way.
  size_t second = tfrt_bulk_harness_want(&harness, 0, MIB, 4);
  tfrt_bulk_harness_pass(&harness, 150 * TFRT_NANOSECONDS_PER_MICROSECOND);
  tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                               harness.hosts[1].endpoint);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, second)->is_intact);
  ck_assert_uint_eq(want_of(0, second)->resumes, 1);
  ck_assert_uint_eq(want_of(0, second)->resumed_at, 0);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(the_death_of_a_session_frees_pins_and_buffers) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t there = tfrt_bulk_harness_want(&harness, 0, 10 * MIB, 1);
  size_t here = tfrt_bulk_harness_want(&harness, 1, 10 * MIB, 2);
  tfrt_bulk_harness_run_messages(&harness, 24);
  ck_assert_ptr_nonnull(want_of(0, there)->buffer);
  ck_assert_ptr_nonnull(want_of(1, here)->buffer);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 2);
  for (int i = 0; i < 2; ++i) tfrt_bulk_harness_bury(&harness, i);
  ck_assert_ptr_null(want_of(0, there)->buffer);
  ck_assert_int_eq(tfrt_status_code(want_of(0, there)->error), TFRT_STATUS_UNAVAILABLE);
  ck_assert_int_eq(tfrt_status_code(want_of(1, here)->error), TFRT_STATUS_UNAVAILABLE);
  tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
  for (int i = 0; i < 2; ++i) {
    tfrt_bulk_counts_t counts = tfrt_bulk_harness_counts(&harness, i);
    ck_assert_uint_eq(counts.channels + counts.sessions + counts.sending + counts.receiving, 0);
    ck_assert_int_eq(harness.hosts[i].last_done, TFRT_STATUS_UNAVAILABLE);
  }
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_small_window_is_granted_again_and_again) {
  begin();
  options.channels.window_size = 10000;
  options.chunk_bytes = 3000;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, MIB, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

// How many messages channels take to bring |size| bytes to host 0, where both hosts allow chunks of
// a MiB; with |has_frame|, after a frame came to host 1.
static uint64_t count_messages(uint64_t size, bool has_frame) {
  const tfrt_transport_kind_t channels = TFRT_TRANSPORT_BULK;
  uint64_t before = tfrt_simulated_network_message_count(harness.network, channels);
  tfrt_bulk_harness_host_t* owner = &harness.hosts[1];
  tfrt_node_lock_lock(&owner->lock);
  if (has_frame) tfrt_bulk_manager_note_frame(owner->manager);
  tfrt_node_lock_unlock_and_run(&owner->lock);
  size_t want = tfrt_bulk_harness_want(&harness, 0, size, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  return tfrt_simulated_network_message_count(harness.network, channels) - before;
}

START_TEST(a_long_payload_goes_in_small_chunks_while_frames_come) {
  begin();
  options.chunk_bytes = 1u << 20;
  options.channels.window_size = MIB;
  options.channels.long_size = MIB;
  options.channels.polite_chunk_bytes = 256u << 10;
  tfrt_bulk_harness_begin(&harness, &options);
  count_messages(1, false);  // the channel is there
  uint64_t calm = count_messages(MIB, false);
  ck_assert_uint_eq(count_messages(MIB, true), calm + 3);
  tfrt_bulk_harness_pass(&harness, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  ck_assert_uint_eq(count_messages(MIB, false), calm);
  // A payload that is not long takes no time of a caller.
  ck_assert_uint_eq(count_messages(MIB - 1, true), calm);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_receiver_without_room_ends_the_transfer_at_both_sides) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  harness.hosts[0].begin_error = TFRT_STATUS_RESOURCE_EXHAUSTED;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 20 * MIB, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_int_eq(tfrt_status_code(want_of(0, want)->error), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_uint_eq(harness.hosts[1].sends_done, 1);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
  // The channel lives on.
  harness.hosts[0].begin_error = TFRT_STATUS_OK;
  size_t next = tfrt_bulk_harness_want(&harness, 0, MIB, 6);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, next)->is_intact);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).dials, 1);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(an_owner_that_gives_up_ends_the_transfer_at_both_sides) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 20 * MIB, 5);
  tfrt_bulk_harness_run_messages(&harness, 6);
  tfrt_bulk_harness_host_t* owner = &harness.hosts[1];
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_DATA_LOSS, "the device is gone");
  tfrt_node_lock_lock(&owner->lock);
  tfrt_bulk_manager_end(owner->manager, harness.hosts[0].incarnation, TFRT_BULK_OUT,
                        want_of(0, want)->number, status);
  tfrt_node_lock_unlock_and_run(&owner->lock);
  tfrt_status_release(status);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert_int_eq(tfrt_status_code(want_of(0, want)->error), TFRT_STATUS_DATA_LOSS);
  ck_assert_str_eq(tfrt_status_message(want_of(0, want)->error), "the device is gone");
  ck_assert_int_eq(owner->last_done, TFRT_STATUS_DATA_LOSS);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(what_is_no_longer_wanted_stops) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 40 * MIB, 5);
  tfrt_bulk_harness_run_messages(&harness, 6);
  tfrt_bulk_harness_unwant(&harness, 0, want);
  ck_assert_ptr_null(want_of(0, want)->buffer);
  ck_assert_int_eq(tfrt_status_code(want_of(0, want)->error), TFRT_STATUS_CANCELLED);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_int_eq(harness.hosts[1].last_done, TFRT_STATUS_CANCELLED);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
  ck_assert_uint_lt(tfrt_simulated_network_message_count(harness.network, TFRT_TRANSPORT_BULK), 40);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(checksums_are_right_when_they_are_asked_for) {
  begin();
  options.channels.uses_checksum = true;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 3 * MIB + 5, 5);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_channel_that_cannot_be_had_is_told_once) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  tfrt_simulated_network_partition(harness.network, harness.hosts[0].endpoint,
                                   harness.hosts[1].endpoint, true);
  tfrt_bulk_harness_want(&harness, 0, MIB, 5);
  tfrt_bulk_harness_pass(&harness, 9 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_ptr_null(harness.hosts[0].lost);
  tfrt_bulk_harness_pass(&harness, 2 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_int_eq(tfrt_status_code(harness.hosts[0].lost), TFRT_STATUS_UNAVAILABLE);
  // The owner, which waits to be dialled, has something to send, and says the same.
  ck_assert_int_eq(tfrt_status_code(harness.hosts[1].lost), TFRT_STATUS_UNAVAILABLE);
  for (int i = 0; i < 2; ++i) tfrt_bulk_harness_bury(&harness, i);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(mistakes_of_the_caller_change_nothing) {
  begin();
  tfrt_bulk_harness_begin(&harness, &options);
  tfrt_bulk_harness_host_t* host = &harness.hosts[0];
  tfrt_async_value_t* value = tfrt_bulk_harness_value(10, 1);
  tfrt_bulk_send_t send = {.want = 1, .value = value, .offset = 11, .limit = 100};
  tfrt_node_lock_lock(&host->lock);
  tfrt_status_t status = tfrt_bulk_manager_send(host->manager, 1002, &send);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_OUT_OF_RANGE);
  tfrt_status_release(status);
  send.offset = 0;
  status = tfrt_bulk_manager_send(host->manager, 99, &send);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_status_release(status);
  send.value = tfrt_async_value_out_of_memory();
  status = tfrt_bulk_manager_send(host->manager, 1002, &send);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_status_release(status);
  status =
      tfrt_bulk_manager_resume(host->manager, 1002, TFRT_BULK_OUT,
                               &(tfrt_bulk_resumption_t){.old_want = 5, .want = 6, .limit = 1});
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  tfrt_status_release(status);
  status = tfrt_bulk_manager_resume(host->manager, 1002, TFRT_BULK_IN,
                                    &(tfrt_bulk_resumption_t){.old_want = 5, .want = 6});
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  tfrt_status_release(status);
  tfrt_bulk_manager_end(host->manager, 1002, TFRT_BULK_OUT, 5, NULL);
  tfrt_bulk_manager_end(host->manager, 1002, TFRT_BULK_IN, 5, NULL);
  ck_assert_uint_eq(tfrt_bulk_manager_counts(host->manager).sending, 0);
  tfrt_node_lock_unlock_and_run(&host->lock);
  tfrt_async_value_release(value);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("bulk channel");
  TCase* transfers = tcase_create("transfers");
  tcase_add_test(transfers, ten_mebibytes_arrive_equal_and_are_buffered_nowhere);
  tcase_add_test(transfers, an_empty_payload_arrives);
  tcase_add_test(transfers, transfers_take_turns_and_small_ones_go_first);
  tcase_add_test(transfers, one_channel_carries_payloads_both_ways);
  tcase_add_test(transfers, a_small_window_is_granted_again_and_again);
  tcase_add_test(transfers, a_long_payload_goes_in_small_chunks_while_frames_come);
  tcase_add_test(transfers, a_receiver_without_room_ends_the_transfer_at_both_sides);
  tcase_add_test(transfers, an_owner_that_gives_up_ends_the_transfer_at_both_sides);
  tcase_add_test(transfers, what_is_no_longer_wanted_stops);
  tcase_add_test(transfers, checksums_are_right_when_they_are_asked_for);
  tcase_add_test(transfers, mistakes_of_the_caller_change_nothing);
  suite_add_tcase(suite, transfers);
  TCase* channels = tcase_create("bulk channels");
  tcase_add_test(channels, who_is_known_by_no_address_is_served_by_the_channel_of_the_dialler);
  tcase_add_test(channels, crossing_dials_leave_the_channel_of_the_smaller_incarnation);
  tcase_add_test(channels, a_broken_channel_goes_on_at_the_offset_that_was_reached);
  tcase_add_test(channels, a_channel_that_breaks_before_the_first_chunk_arrives_is_asked_again);
  tcase_add_test(channels, the_death_of_a_session_frees_pins_and_buffers);
  tcase_add_test(channels, a_channel_that_cannot_be_had_is_told_once);
  suite_add_tcase(suite, channels);
  return suite;
}
