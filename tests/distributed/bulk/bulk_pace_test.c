// SPDX-License-Identifier: Apache-2.0
//
// A pace on a link of one queue, as a modem has it: chunks leave at a rate, one behind the other.
#include "distributed/bulk/bulk_pace.h"

#include "host_runtime/base/clock.h"
#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define MS TFRT_NANOSECONDS_PER_MILLISECOND
#define REPORTS 4096

// The link: chunks in its queue, and those whose reports are on their way back.
typedef struct link_s {
  int64_t now_ns;
  int64_t rate;      // bytes a second
  int64_t delay_ns;  // there and back
  int64_t free_ns;   // the queue is empty
  uint64_t delivered;
  int64_t longest_ns;  // a chunk was under way
  struct {
    int64_t due_ns;
    uint64_t arrived;
    uint64_t size;
    bool is_asked;
  } chunks[REPORTS];
  size_t first;
  size_t count;
} link_t;

static tfrt_bulk_pace_t pace;
static link_t link;

static void begin(int64_t rate, int64_t delay_ns) {
  tfrt_bulk_pace_reset(&pace);
  link = (link_t){.now_ns = TFRT_NANOSECONDS_PER_SECOND, .rate = rate, .delay_ns = delay_ns};
}

static void send_one(uint64_t size) {
  ck_assert_uint_lt(link.count, REPORTS);
  if (link.free_ns < link.now_ns) link.free_ns = link.now_ns;
  link.free_ns += (int64_t)((double)size * 1e9 / (double)link.rate);
  const size_t last = (link.first + link.count++) % REPORTS;
  link.chunks[last].is_asked = tfrt_bulk_pace_note_sent(&pace, size, link.now_ns);
  link.chunks[last].due_ns = link.free_ns + link.delay_ns;
  link.chunks[last].arrived = pace.sent;
  link.chunks[last].size = size;
  const int64_t under_way_ns = link.chunks[last].due_ns - link.now_ns;
  if (under_way_ns > link.longest_ns) link.longest_ns = under_way_ns;
}

// A payload without end for |time_ns|: returns how much of the rate it got.
static double run(int64_t time_ns) {
  const int64_t end_ns = link.now_ns + time_ns;
  const uint64_t before = link.delivered;
  link.longest_ns = 0;
  for (;;) {
    for (uint64_t size; (size = tfrt_bulk_pace_chunk_size(&pace, link.now_ns)) > 0;) {
      send_one(size < (1u << 20) ? size : 1u << 20);
    }
    ck_assert_uint_gt(link.count, 0);
    if (link.chunks[link.first].due_ns > end_ns) break;
    link.now_ns = link.chunks[link.first].due_ns;
    link.delivered += link.chunks[link.first].size;
    if (link.chunks[link.first].is_asked) {
      ck_assert(tfrt_bulk_pace_note_arrived(&pace, link.chunks[link.first].arrived, link.now_ns));
    }
    link.first = (link.first + 1) % REPORTS;
    --link.count;
  }
  link.now_ns = end_ns;
  return (double)(link.delivered - before) * 1e9 / (double)time_ns / (double)link.rate;
}

START_TEST(a_slow_link_is_busy_and_its_queue_short) {
  // From 64 kbit/s to 1 Gbit/s.
  const int64_t rates[] = {8000, 32000, 250000, 1250000, 12500000, 125000000};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rates); ++i) {
    begin(rates[i], MS / 5);
    (void)run(20 * TFRT_NANOSECONDS_PER_SECOND);
    const double share = run(60 * TFRT_NANOSECONDS_PER_SECOND);
    ck_assert_msg(share > 0.9, "%.2f of %lld B/s", share, (long long)rates[i]);
    // Four times the target, where the pace feels for more, or the least that is sent.
    const int64_t least_ns = (int64_t)(20480 * 1e9 / (double)rates[i]);
    const int64_t most_ns = 40 * MS > least_ns ? 40 * MS : least_ns;
    ck_assert_msg(link.longest_ns <= most_ns, "%lld ms at %lld B/s",
                  (long long)(link.longest_ns / MS), (long long)rates[i]);
  }
}
END_TEST

START_TEST(a_fast_link_is_not_held_back) {
  begin(INT64_C(5000000000), MS / 10);
  (void)run(50 * MS);
  ck_assert_double_gt(run(TFRT_NANOSECONDS_PER_SECOND), 0.95);
}
END_TEST

START_TEST(a_long_way_is_filled) {
  // 100 Mbit/s over 150 ms.
  begin(12500000, 150 * MS);
  (void)run(5 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_double_gt(run(60 * TFRT_NANOSECONDS_PER_SECOND), 0.85);
}
END_TEST

START_TEST(a_rate_that_falls_leaves_seconds_of_silence_at_most) {
  // From 10 Mbit/s to 256 kbit/s.
  begin(1250000, MS / 5);
  (void)run(30 * TFRT_NANOSECONDS_PER_SECOND);
  link.free_ns = link.now_ns + (link.free_ns - link.now_ns) * 39;
  for (size_t i = 0; i < link.count; ++i) {
    link.chunks[(link.first + i) % REPORTS].due_ns +=
        (link.chunks[(link.first + i) % REPORTS].due_ns - link.now_ns) * 38;
  }
  link.rate = 32000;
  ck_assert_int_lt(link.free_ns - link.now_ns, 2 * TFRT_NANOSECONDS_PER_SECOND);
  (void)run(10 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert_double_gt(run(20 * TFRT_NANOSECONDS_PER_SECOND), 0.9);
  ck_assert_int_lt(link.longest_ns, TFRT_NANOSECONDS_PER_SECOND);
}
END_TEST

START_TEST(a_limit_that_falls_far_still_lets_the_next_report_come) {
  begin(125000000, MS / 5);
  (void)run(TFRT_NANOSECONDS_PER_SECOND);
  // A pause in which all arrives; what no report was asked for counts as under way.
  link.count = 0;
  link.now_ns += 5 * TFRT_NANOSECONDS_PER_SECOND;
  (void)tfrt_bulk_pace_note_arrived(&pace, pace.asked, link.now_ns);
  ck_assert_double_gt(run(TFRT_NANOSECONDS_PER_SECOND), 0.5);
}
END_TEST

START_TEST(a_report_of_bytes_that_were_not_sent_is_refused) {
  begin(125000000, MS);
  ck_assert(tfrt_bulk_pace_note_sent(&pace, 100, link.now_ns));
  ck_assert(!tfrt_bulk_pace_note_arrived(&pace, 101, link.now_ns));
  ck_assert(tfrt_bulk_pace_note_arrived(&pace, 100, link.now_ns));
  // A late one changes nothing.
  ck_assert(tfrt_bulk_pace_note_arrived(&pace, 50, link.now_ns));
  ck_assert_uint_eq(pace.arrived, 100);
}
END_TEST

// --- With channels -----------------------------------------------------------------

START_TEST(paced_payloads_arrive_both_ways_whatever_breaks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    static tfrt_bulk_harness_t harness;
    tfrt_bulk_harness_options_t options;
    tfrt_bulk_harness_options_initialize(&options);
    options.network.seed = seed;
    options.network.break_chance = 2000;
    options.is_paced = true;
    tfrt_bulk_harness_begin(&harness, &options);
    const size_t there = tfrt_bulk_harness_want(&harness, 0, (5u << 20) + seed, 1);
    const size_t small = tfrt_bulk_harness_want(&harness, 0, 40 << 10, 2);
    const size_t empty = tfrt_bulk_harness_want(&harness, 0, 0, 3);
    const size_t here = tfrt_bulk_harness_want(&harness, 1, 5u << 20, 4);
    ck_assert(tfrt_bulk_harness_run(&harness, 60 * TFRT_NANOSECONDS_PER_SECOND));
    ck_assert(harness.hosts[0].wants[there].is_intact);
    ck_assert(harness.hosts[0].wants[small].is_intact);
    ck_assert(harness.hosts[0].wants[empty].is_complete);
    ck_assert(harness.hosts[1].wants[here].is_intact);
    tfrt_bulk_harness_end(&harness);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("bulk pace");
  TCase* links = tcase_create("links");
  tcase_add_test(links, a_slow_link_is_busy_and_its_queue_short);
  tcase_add_test(links, a_fast_link_is_not_held_back);
  tcase_add_test(links, a_long_way_is_filled);
  tcase_add_test(links, a_rate_that_falls_leaves_seconds_of_silence_at_most);
  tcase_add_test(links, a_limit_that_falls_far_still_lets_the_next_report_come);
  tcase_add_test(links, a_report_of_bytes_that_were_not_sent_is_refused);
  suite_add_tcase(suite, links);
  TCase* channels = tcase_create("channels");
  tcase_add_test(channels, paced_payloads_arrive_both_ways_whatever_breaks);
  suite_add_tcase(suite, channels);
  return suite;
}
