// SPDX-License-Identifier: Apache-2.0
//
// Random transfers over random faults: every want ends, with the right bytes or by its own
// cancel, and nothing is left.
#include <string.h>

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define LONG_NS (600 * TFRT_NANOSECONDS_PER_SECOND)

static tfrt_bulk_harness_t harness;

static void begin(uint64_t seed, tfrt_simulated_chance_t break_chance) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.network.seed = seed;
  options.network.jitter_ns = 300 * TFRT_NANOSECONDS_PER_MICROSECOND;
  options.network.break_chance = break_chance;
  options.diallers = 1 + (uint32_t)(seed % 3);
  options.chunk_bytes = 1000 + (uint32_t)(seed % 7) * 9000;
  options.channels.window_size = 1 + (seed % 5) * 40000;
  options.channels.uses_checksum = seed % 2 == 0;
  // Faults end; what is judged is that transfers do.
  options.channels.give_up_ns = LONG_NS;
  tfrt_bulk_harness_begin(&harness, &options);
}

static uint64_t random_size(tfrt_random_t* random) {
  switch (tfrt_random_below(random, 4)) {
    case 0:
      return 0;
    case 1:
      return tfrt_random_below(random, 100);
    case 2:
      return tfrt_random_below(random, 60000);
    default:
      return tfrt_random_below(random, 300000);
  }
}

// Wants |count| payloads at random times; gives up every eighth. With a window of one byte
// only small ones.
static void run_random_wants(uint64_t seed, size_t count) {
  tfrt_random_t* random = tfrt_simulated_network_random(harness.network);
  for (size_t i = 0; i < count; ++i) {
    int host = (int)tfrt_random_below(random, 2);
    uint64_t size = random_size(random);
    if (seed % 5 == 0) size %= 50;
    size_t want = tfrt_bulk_harness_want(&harness, host, size, i + 1);
    tfrt_bulk_harness_pass(&harness, (int64_t)tfrt_random_below(random, 2000000));
    if (i % 8 == 7) tfrt_bulk_harness_unwant(&harness, host, want);
  }
}

static uint32_t check_wants(uint64_t seed) {
  uint32_t resumes = 0;
  for (int host = 0; host < 2; ++host) {
    for (size_t i = 0; i < harness.hosts[host].want_count; ++i) {
      const tfrt_bulk_harness_want_t* want = &harness.hosts[host].wants[i];
      resumes += want->resumes;
      if (want->is_complete) {
        ck_assert_msg(want->is_intact, "seed %llu: wrong bytes", (unsigned long long)seed);
        ck_assert_uint_eq(want->begins, 1);
      } else if (want->error) {
        ck_assert_msg(tfrt_status_code(want->error) == TFRT_STATUS_CANCELLED, "seed %llu: %s",
                      (unsigned long long)seed, tfrt_status_message(want->error));
      }
    }
    tfrt_bulk_counts_t counts = tfrt_bulk_harness_counts(&harness, host);
    ck_assert_uint_eq(counts.sending, 0);
    ck_assert_uint_eq(counts.receiving, 0);
    ck_assert_ptr_null(harness.hosts[host].lost);
  }
  return resumes;
}

START_TEST(random_transfers_end_with_the_right_bytes_whatever_breaks) {
  uint64_t resumes = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    begin(seed, seed % 4 == 0 ? 0 : 20000);
    run_random_wants(seed, 12);
    ck_assert_msg(tfrt_bulk_harness_run(&harness, LONG_NS), "seed %llu: a want never ends",
                  (unsigned long long)seed);
    tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
    resumes += check_wants(seed);
    tfrt_bulk_harness_end(&harness);
  }
  ck_assert_uint_gt(resumes, 200);
}
END_TEST

// Large messages get lost from now on, small ones don't; a stream that loses one breaks after 10 s.
static void open_hole(const tfrt_bulk_harness_options_t* options) {
  tfrt_simulated_options_t network = options->network;
  network.hole_bytes = 1400;
  network.hole_ns = 10 * TFRT_NANOSECONDS_PER_SECOND;
  tfrt_simulated_network_set_faults(harness.network, &network);
}

static const tfrt_bulk_harness_want_t* want_of(int host, size_t index) {
  return &harness.hosts[host].wants[index];
}

START_TEST(a_payload_of_which_no_byte_arrives_is_an_error_that_says_so) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.channels.stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND;
  tfrt_bulk_harness_begin(&harness, &options);
  open_hole(&options);
  size_t large = tfrt_bulk_harness_want(&harness, 0, 100000, 1);
  size_t small = tfrt_bulk_harness_want(&harness, 0, 100, 2);
  // The first connection breaks after 10 s, the second one after 20.
  ck_assert(tfrt_bulk_harness_run(&harness, 21 * TFRT_NANOSECONDS_PER_SECOND));
  ck_assert(want_of(0, small)->is_intact);
  tfrt_status_t error = want_of(0, large)->error;
  ck_assert_int_eq(tfrt_status_code(error), TFRT_STATUS_UNAVAILABLE);
  const char* message = tfrt_status_message(error);
  ck_assert_msg(strstr(message, "0 of 100000 bytes came, and none for 20.") &&
                    strstr(message, " s; the limit is 15.0 s"),
                "%s", message);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_payload_that_stops_on_its_way_says_how_far_it_came) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.channels.stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.window_size = 20000;
  options.chunk_bytes = 10000;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 200000, 1);
  tfrt_bulk_harness_run_messages(&harness, 10);
  open_hole(&options);
  ck_assert(tfrt_bulk_harness_run(&harness, 31 * TFRT_NANOSECONDS_PER_SECOND));
  tfrt_status_t error = want_of(0, want)->error;
  ck_assert_int_eq(tfrt_status_code(error), TFRT_STATUS_UNAVAILABLE);
  const char* message = tfrt_status_message(error);
  ck_assert_msg(strstr(message, "0000 of 200000 bytes came"), "%s", message);
  ck_assert_msg(!strstr(message, " 0 of"), "%s", message);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

// A paced session whose stall ends at 15 s, on a network that never notices what it loses: the
// limits of transfers are all that ends them.
static void begin_unnoticed_stall(uint32_t diallers, tfrt_bulk_harness_options_t* out_options) {
  tfrt_bulk_harness_options_initialize(out_options);
  out_options->is_paced = true;
  out_options->diallers = diallers;
  out_options->network.hole_ns = LONG_NS;
  out_options->channels.stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND;
  tfrt_bulk_harness_begin(&harness, out_options);
}

static void lose_messages_over(size_t bytes, const tfrt_bulk_harness_options_t* options) {
  tfrt_simulated_options_t network = options->network;
  network.hole_bytes = bytes;
  tfrt_simulated_network_set_faults(harness.network, &network);
}

static void check_stalled(size_t want, const char* first, const char* second) {
  tfrt_status_t error = want_of(0, want)->error;
  ck_assert_int_eq(tfrt_status_code(error), TFRT_STATUS_UNAVAILABLE);
  const char* message = tfrt_status_message(error);
  ck_assert_msg(strstr(message, first) && strstr(message, second), "%s", message);
}

START_TEST(a_stall_is_told_at_the_limit_whenever_the_network_notices) {
  for (uint32_t diallers = 2; diallers <= 3; ++diallers) {
    tfrt_bulk_harness_options_t options;
    begin_unnoticed_stall(diallers, &options);
    lose_messages_over(1400, &options);
    const size_t wants[] = {tfrt_bulk_harness_want(&harness, 0, 100000, 1),
                            tfrt_bulk_harness_want(&harness, 0, 200000, 2),
                            tfrt_bulk_harness_want(&harness, 0, 300000, 3)};
    ck_assert(tfrt_bulk_harness_run(&harness, 155 * TFRT_NANOSECONDS_PER_SECOND / 10));
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(wants); ++i) {
      check_stalled(wants[i], " 0 of ", " and none for 15.");
    }
    ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).sending, 0);
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

START_TEST(a_stall_on_the_way_is_told_at_the_limit_with_what_came) {
  for (uint32_t diallers = 1; diallers <= 3; ++diallers) {
    tfrt_bulk_harness_options_t options;
    begin_unnoticed_stall(diallers, &options);
    const size_t want = tfrt_bulk_harness_want(&harness, 0, 8u << 20, 1);
    tfrt_bulk_harness_run_messages(&harness, 40);
    lose_messages_over(1400, &options);
    // Only the borrower can dial: it gives the channel up a little later than the owner, twice.
    const int64_t most_s = diallers == 1 ? 17 : 16;
    ck_assert(tfrt_bulk_harness_run(&harness, most_s * TFRT_NANOSECONDS_PER_SECOND));
    check_stalled(want, " of 8388608 bytes came", diallers == 1 ? "" : " and none for 15.");
    ck_assert(!strstr(tfrt_status_message(want_of(0, want)->error), " 0 of "));
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

START_TEST(a_connection_that_loses_all_without_a_word_is_replaced) {
  tfrt_bulk_harness_options_t options;
  begin_unnoticed_stall(2, &options);
  const size_t want = tfrt_bulk_harness_want(&harness, 0, 8u << 20, 1);
  tfrt_bulk_harness_run_messages(&harness, 40);
  lose_messages_over(1400, &options);
  tfrt_bulk_harness_pass(&harness, TFRT_NANOSECONDS_PER_SECOND);
  tfrt_simulated_network_set_faults(harness.network, &options.network);
  ck_assert(tfrt_bulk_harness_run(&harness, 8 * TFRT_NANOSECONDS_PER_SECOND));
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).dials, 2);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

// Timers run before what is still on its way comes.
START_TEST(machines_that_stood_still_lose_no_payload) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.is_paced = true;
  options.network.delay_ns = TFRT_NANOSECONDS_PER_SECOND;
  options.channels.stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.dial_timeout_ns = 20 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.give_up_ns = LONG_NS;
  tfrt_bulk_harness_begin(&harness, &options);
  const size_t want = tfrt_bulk_harness_want(&harness, 0, 400000, 1);
  tfrt_bulk_harness_run_messages(&harness, 20);
  for (int i = 0; i < 2; ++i) tfrt_simulated_endpoint_freeze(harness.hosts[i].endpoint);
  tfrt_bulk_harness_pass(&harness, 60 * TFRT_NANOSECONDS_PER_SECOND);
  for (int i = 0; i < 2; ++i) tfrt_simulated_endpoint_thaw(harness.hosts[i].endpoint);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert_msg(want_of(0, want)->is_intact, "%s", tfrt_status_message(want_of(0, want)->error));
  ck_assert_uint_eq(want_of(0, want)->resumes, 0);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(chunks_get_smaller_where_large_ones_are_lost) {
  static const size_t holes[] = {5000, 20000, 100000};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(holes); ++i) {
    tfrt_bulk_harness_options_t options;
    begin_unnoticed_stall(3, &options);
    lose_messages_over(holes[i], &options);
    const size_t want = tfrt_bulk_harness_want(&harness, 0, 2u << 20, 1);
    ck_assert(tfrt_bulk_harness_run(&harness, 11 * TFRT_NANOSECONDS_PER_SECOND));
    ck_assert(want_of(0, want)->is_intact);
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

START_TEST(a_slow_link_is_no_stall) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.is_paced = true;
  options.network.delay_ns = 2 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.stall_ns = 15 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.dial_timeout_ns = 20 * TFRT_NANOSECONDS_PER_SECOND;
  options.channels.give_up_ns = LONG_NS;
  tfrt_bulk_harness_begin(&harness, &options);
  const size_t want = tfrt_bulk_harness_want(&harness, 0, 100000, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_eq(want_of(0, want)->resumes, 0);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(a_payload_that_crawls_over_connections_that_break_arrives) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.channels.stall_ns = TFRT_NANOSECONDS_PER_SECOND;
  options.channels.window_size = 4000;
  options.chunk_bytes = 1000;
  options.network.delay_ns = 100 * TFRT_NANOSECONDS_PER_MILLISECOND;
  options.network.break_chance = 100000;
  tfrt_bulk_harness_begin(&harness, &options);
  size_t want = tfrt_bulk_harness_want(&harness, 0, 60000, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(0, want)->is_intact);
  ck_assert_uint_gt(want_of(0, want)->resumes, 2);
  tfrt_bulk_harness_end(&harness);
}
END_TEST

START_TEST(death_at_a_random_moment_leaves_nothing) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    begin(seed, 10000);
    run_random_wants(seed, 10);
    for (int i = 0; i < 2; ++i) {
      int host = (int)((seed + (uint64_t)i) % 2);
      tfrt_bulk_harness_bury(&harness, host);
      for (size_t k = 0; k < harness.hosts[host].want_count; ++k) {
        ck_assert_ptr_null(harness.hosts[host].wants[k].buffer);
      }
      tfrt_bulk_harness_pass(&harness, (int64_t)(seed % 7) * 100000);
    }
    tfrt_bulk_harness_pass(&harness, 10 * TFRT_NANOSECONDS_PER_SECOND);
    for (int i = 0; i < 2; ++i) {
      tfrt_bulk_counts_t counts = tfrt_bulk_harness_counts(&harness, i);
      ck_assert_uint_eq(counts.channels + counts.sessions + counts.sending + counts.receiving, 0);
    }
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("channel_fault");
  TCase* seeds = tcase_create("seeds");
  tcase_set_timeout(seeds, 60);
  tcase_add_test(seeds, random_transfers_end_with_the_right_bytes_whatever_breaks);
  tcase_add_test(seeds, a_payload_of_which_no_byte_arrives_is_an_error_that_says_so);
  tcase_add_test(seeds, a_payload_that_stops_on_its_way_says_how_far_it_came);
  tcase_add_test(seeds, a_stall_is_told_at_the_limit_whenever_the_network_notices);
  tcase_add_test(seeds, a_stall_on_the_way_is_told_at_the_limit_with_what_came);
  tcase_add_test(seeds, a_connection_that_loses_all_without_a_word_is_replaced);
  tcase_add_test(seeds, machines_that_stood_still_lose_no_payload);
  tcase_add_test(seeds, chunks_get_smaller_where_large_ones_are_lost);
  tcase_add_test(seeds, a_slow_link_is_no_stall);
  tcase_add_test(seeds, a_payload_that_crawls_over_connections_that_break_arrives);
  tcase_add_test(seeds, death_at_a_random_moment_leaves_nothing);
  suite_add_tcase(suite, seeds);
  return suite;
}
