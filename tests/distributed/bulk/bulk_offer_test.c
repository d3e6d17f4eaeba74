// SPDX-License-Identifier: Apache-2.0
//
// Memory that is lent instead of being sent. The memory is a number here: the seed of the bytes,
// which the sink makes itself.
#include <string.h>

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define CHUNK (64u << 10)
#define SIZE ((uint64_t)500000)
#define LONG_NS (60 * TFRT_NANOSECONDS_PER_SECOND)
#define A_WHILE_NS (100 * TFRT_NANOSECONDS_PER_MILLISECOND)
#define MAX_PROMISES 64

static tfrt_bulk_harness_t harness;
static tfrt_bulk_harness_options_t options;

// --- Memory ------------------------------------------------------------------

// The ends of loans and fetches: at once, never, or as the test says later.
typedef enum way_e { WORKS = 0, FAILS, WAITS, BY_CHANCE } way_t;

static struct {
  way_t lends;
  way_t fetches;
  uint32_t loans;
  uint32_t fetch_count;
  uint32_t reads;
  int live;  // sources, sinks and pieces
  size_t promise_count;
  bool* fetching[MAX_PROMISES];  // what says so at the sink of that promise, or NULL
  tfrt_indirect_value_t* promises[MAX_PROMISES];  // +1 each
} memory;

static tfrt_status_t no_luck(void) {
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no luck");
}

static way_t choose(way_t way) {
  if (way != BY_CHANCE) return way;
  return tfrt_random_below(tfrt_simulated_network_random(harness.network), 2) ? WORKS : FAILS;
}

// A chain (+1) that the test resolves.
static tfrt_async_value_t* promise(void) {
  tfrt_indirect_value_t* value = tfrt_indirect_value_create();
  ck_assert_uint_lt(memory.promise_count, MAX_PROMISES);
  memory.promises[memory.promise_count++] = value;
  return tfrt_async_value_retain(&value->base);
}

// Resolves promise |index|, with an error if |fails|.
static void resolve(size_t index, bool fails) {
  tfrt_indirect_value_t* value = memory.promises[index];
  memory.promises[index] = NULL;
  if (memory.fetching[index]) *memory.fetching[index] = false;
  tfrt_indirect_value_forward_take(value, fails ? tfrt_async_value_create_error_take(no_luck())
                                                : tfrt_async_value_ready_chain());
  tfrt_async_value_release(&value->base);
}

typedef struct source_s {
  tfrt_payload_source_t base;
  uint64_t seed;
} source_t;

static void destroy_source(tfrt_payload_source_t* base) {
  --memory.live;
  tfrt_allocator_free(tfrt_allocator_system(), TFRT_CONTAINER_OF(base, source_t, base),
                      sizeof(source_t));
}

static void release_piece(void* owner) {
  --memory.live;
  tfrt_allocator_free(tfrt_allocator_system(), owner, CHUNK);
}

static tfrt_status_t read_piece(tfrt_payload_source_t* base, uint64_t offset, size_t size,
                                tfrt_payload_piece_t* out_piece) {
  uint64_t seed = TFRT_CONTAINER_OF(base, source_t, base)->seed;
  uint8_t* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), CHUNK);
  for (size_t i = 0; i < size; ++i) bytes[i] = tfrt_bulk_harness_byte(seed, offset + i);
  ++memory.live;
  ++memory.reads;
  *out_piece = (tfrt_payload_piece_t){.data = bytes,
                                      .ready = tfrt_async_value_ready_chain(),
                                      .release = release_piece,
                                      .owner = bytes};
  return NULL;
}

static tfrt_status_t lend(tfrt_payload_source_t* base, tfrt_payload_ticket_t* out_ticket) {
  uint64_t seed = TFRT_CONTAINER_OF(base, source_t, base)->seed;
  *out_ticket = (tfrt_payload_ticket_t){.size = sizeof(seed)};
  ++memory.loans;
  way_t way = choose(memory.lends);
  if (way == FAILS) return no_luck();
  memcpy(out_ticket->bytes, &seed, sizeof(seed));
  out_ticket->ready = way == WAITS ? promise() : tfrt_async_value_ready_chain();
  return NULL;
}

static tfrt_payload_source_t* open_source(uint64_t size, uint64_t seed) {
  static const tfrt_payload_source_vtable_t vtable = {destroy_source, read_piece, lend};
  (void)size;
  source_t* source = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*source));
  source->base.vtable = &vtable;
  source->seed = seed;
  ++memory.live;
  return &source->base;
}

typedef struct sink_s {
  tfrt_payload_sink_t base;
  uint8_t* buffer;
  uint64_t size;
  bool is_fetching;
} sink_t;

static void destroy_sink(tfrt_payload_sink_t* base) {
  sink_t* sink = TFRT_CONTAINER_OF(base, sink_t, base);
  ck_assert(!sink->is_fetching);
  --memory.live;
  tfrt_allocator_free(tfrt_allocator_system(), sink, sizeof(*sink));
}

static tfrt_status_t prepare(tfrt_payload_sink_t* base, uint64_t offset, size_t size,
                             void** out_target) {
  sink_t* sink = TFRT_CONTAINER_OF(base, sink_t, base);
  ck_assert_uint_le(offset + size, sink->size);
  *out_target = sink->buffer + offset;
  return NULL;
}

static tfrt_status_t commit(tfrt_payload_sink_t* base, tfrt_async_value_t** out_stored) {
  (void)base;
  *out_stored = NULL;
  return NULL;
}

static tfrt_async_value_t* fetch(tfrt_payload_sink_t* base, const void* ticket, size_t size) {
  sink_t* sink = TFRT_CONTAINER_OF(base, sink_t, base);
  uint64_t seed;
  ck_assert_uint_eq(size, sizeof(seed));
  memcpy(&seed, ticket, size);
  ++memory.fetch_count;
  way_t way = choose(memory.fetches);
  if (way == FAILS) return tfrt_async_value_create_error_take(no_luck());
  for (uint64_t i = 0; i < sink->size; ++i) sink->buffer[i] = tfrt_bulk_harness_byte(seed, i);
  if (way == WORKS) return tfrt_async_value_ready_chain();
  sink->is_fetching = true;
  memory.fetching[memory.promise_count] = &sink->is_fetching;
  return promise();
}

static tfrt_payload_sink_t* open_sink(uint8_t* buffer, uint64_t size) {
  static const tfrt_payload_sink_vtable_t vtable = {destroy_sink, prepare, commit, NULL, fetch};
  sink_t* sink = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*sink));
  sink->base.vtable = &vtable;
  sink->buffer = buffer;
  sink->size = size;
  ++memory.live;
  return &sink->base;
}

// --- Life --------------------------------------------------------------------

static void prepare_options(uint64_t seed) {
  memset(&memory, 0, sizeof(memory));
  tfrt_bulk_harness_options_initialize(&options);
  options.chunk_bytes = CHUNK;
  options.network.seed = seed;
  options.channels.place = tfrt_string_view_of("here");
  options.channels.lend_size = 1;
}

static void begin_with_options(void) {
  tfrt_bulk_harness_begin(&harness, &options);
  harness.open_source = open_source;
  harness.open_sink = open_sink;
}

static void begin(uint64_t seed) {
  prepare_options(seed);
  begin_with_options();
}

static void end(void) {
  tfrt_bulk_harness_end(&harness);
  ck_assert_int_eq(memory.live, 0);
}

static tfrt_bulk_harness_want_t* want_of(size_t index) { return &harness.hosts[0].wants[index]; }

static tfrt_bulk_traffic_t traffic_of(int host) {
  tfrt_bulk_harness_host_t* of = &harness.hosts[host];
  tfrt_node_lock_lock(&of->lock);
  tfrt_bulk_traffic_t traffic =
      tfrt_bulk_manager_traffic(of->manager, harness.hosts[1 - host].incarnation, 0);
  tfrt_node_lock_unlock_and_run(&of->lock);
  return traffic;
}

static void break_channels(void) {
  tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                               harness.hosts[1].endpoint);
}

static void expect_intact(size_t index) {
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(index)->is_complete);
  ck_assert(want_of(index)->is_intact);
  ck_assert_uint_eq(want_of(index)->begins, 1);
}

// --- Ways --------------------------------------------------------------------

START_TEST(what_is_lent_is_not_sent) {
  begin(1);
  for (size_t i = 0; i < 3; ++i) {
    expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, i + 1));
    ck_assert_uint_eq(memory.fetch_count, i + 1);
    ck_assert_uint_eq(traffic_of(0).borrowed, (i + 1) * SIZE);
    ck_assert_uint_eq(traffic_of(0).received, 0);
    ck_assert_uint_eq(traffic_of(1).sent, 0);
  }
  end();
}
END_TEST

START_TEST(either_side_may_dial) {
  for (uint32_t diallers = 1; diallers <= 3; ++diallers) {
    prepare_options(diallers);
    options.diallers = diallers;
    begin_with_options();
    size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
    tfrt_bulk_harness_want(&harness, 1, SIZE, 2);
    expect_intact(want);
    ck_assert(harness.hosts[1].wants[0].is_intact);
    ck_assert_uint_eq(traffic_of(0).borrowed, SIZE);
    ck_assert_uint_eq(traffic_of(1).borrowed, SIZE);
    end();
  }
}
END_TEST

START_TEST(what_is_declined_is_sent) {
  begin(1);
  memory.fetches = FAILS;
  expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, 1));
  ck_assert_uint_eq(memory.fetch_count, 1);
  ck_assert_uint_eq(traffic_of(0).received, SIZE);
  ck_assert_uint_eq(traffic_of(0).borrowed, 0);
  end();
}
END_TEST

START_TEST(a_borrower_that_always_declines_is_asked_no_more) {
  begin(1);
  memory.fetches = FAILS;
  for (size_t i = 0; i < 20; ++i) expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, i + 1));
  ck_assert_uint_eq(memory.fetch_count, 8);
  end();
}
END_TEST

START_TEST(a_borrower_that_declines_at_times_is_asked_again) {
  begin(1);
  for (size_t i = 0; i < 20; ++i) {
    memory.fetches = i % 4 ? FAILS : WORKS;
    expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, i + 1));
  }
  ck_assert_uint_eq(memory.fetch_count, 20);
  ck_assert_uint_eq(traffic_of(0).borrowed, 5 * SIZE);
  end();
}
END_TEST

START_TEST(what_cannot_be_lent_is_sent) {
  begin(1);
  memory.lends = FAILS;
  expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, 1));
  memory.lends = WAITS;
  size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 2);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(memory.promise_count, 1);
  ck_assert_uint_eq(traffic_of(0).received, SIZE);
  resolve(0, true);
  expect_intact(want);
  ck_assert_uint_eq(memory.loans, 2);
  ck_assert_uint_eq(memory.fetch_count, 0);
  ck_assert_uint_eq(traffic_of(0).received, 2 * SIZE);
  end();
}
END_TEST

// A host that says no place is one of an older version, too.
START_TEST(only_who_is_here_is_offered_memory_and_only_for_much) {
  static const char* const places[] = {"", "there"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(places); ++i) {
    prepare_options(1);
    options.other_place = places[i];
    begin_with_options();
    expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, 1));
    ck_assert_uint_eq(memory.loans, 0);
    end();
  }
  prepare_options(1);
  options.channels.lend_size = SIZE + 1;
  begin_with_options();
  expect_intact(tfrt_bulk_harness_want(&harness, 0, SIZE, 1));
  ck_assert_uint_eq(memory.loans, 0);
  end();
}
END_TEST

// --- Ends --------------------------------------------------------------------

START_TEST(memory_is_offered_when_its_work_is_done) {
  begin(1);
  memory.lends = WAITS;
  size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(memory.loans, 1);
  ck_assert_uint_eq(memory.fetch_count, 0);
  resolve(0, false);
  expect_intact(want);
  ck_assert_uint_eq(memory.fetch_count, 1);
  end();
}
END_TEST

START_TEST(a_fetch_that_nobody_wants_any_more_keeps_its_buffer_to_its_end) {
  for (int fails = 0; fails < 2; ++fails) {
    begin(1);
    memory.fetches = WAITS;
    size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    tfrt_bulk_harness_unwant(&harness, 0, want);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_ptr_nonnull(want_of(want)->buffer);
    resolve(0, fails);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert_ptr_null(want_of(want)->buffer);
    ck_assert(!want_of(want)->is_complete);
    end();
  }
}
END_TEST

START_TEST(a_dead_peer_ends_what_is_lent_and_what_is_borrowed) {
  for (int way = 0; way < 4; ++way) {
    begin(1);
    memory.lends = way < 2 ? WORKS : WAITS;
    memory.fetches = WAITS;
    size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    tfrt_bulk_harness_bury(&harness, way % 2);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    tfrt_bulk_harness_bury(&harness, 1 - way % 2);
    resolve(0, false);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    ck_assert(!want_of(want)->is_complete || way < 2);
    end();
  }
}
END_TEST

START_TEST(a_channel_that_breaks_under_a_fetch_is_not_missed) {
  begin(1);
  memory.fetches = WAITS;
  size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  break_channels();
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  resolve(0, false);
  expect_intact(want);
  ck_assert_uint_eq(want_of(want)->resumes, 0);
  ck_assert_uint_eq(memory.fetch_count, 1);
  ck_assert_uint_eq(traffic_of(0).received, 0);
  end();
}
END_TEST

START_TEST(a_fetch_that_fails_while_the_channel_is_broken_is_made_again) {
  for (int works = 0; works < 2; ++works) {
    begin(1);
    memory.fetches = WAITS;
    size_t want = tfrt_bulk_harness_want(&harness, 0, SIZE, 1);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
    break_channels();
    memory.fetches = works ? WORKS : FAILS;
    resolve(0, true);
    expect_intact(want);
    ck_assert_uint_eq(want_of(want)->resumes, 1);
    ck_assert_uint_eq(memory.fetch_count, 2);
    ck_assert_uint_eq(traffic_of(0).received, works ? 0 : SIZE);
    end();
  }
}
END_TEST

START_TEST(random_loans_end_with_the_right_bytes_whatever_breaks) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    prepare_options(seed);
    options.network.jitter_ns = 300 * TFRT_NANOSECONDS_PER_MICROSECOND;
    options.network.break_chance = 50000;
    options.diallers = 1 + (uint32_t)(seed % 3);
    options.channels.give_up_ns = LONG_NS;
    begin_with_options();
    memory.lends = seed % 2 ? WORKS : BY_CHANCE;
    memory.fetches = BY_CHANCE;
    for (size_t i = 0; i < 12; ++i) {
      tfrt_random_t* random = tfrt_simulated_network_random(harness.network);
      int host = (int)tfrt_random_below(random, 2);
      size_t want =
          tfrt_bulk_harness_want(&harness, host, tfrt_random_below(random, 200000), i + 1);
      tfrt_bulk_harness_pass(&harness, (int64_t)tfrt_random_below(random, 2000000));
      if (i % 6 == 5) tfrt_bulk_harness_unwant(&harness, host, want);
    }
    options.network.break_chance = 0;
    tfrt_simulated_network_set_faults(harness.network, &options.network);
    ck_assert_msg(tfrt_bulk_harness_run(&harness, LONG_NS), "seed %llu", (unsigned long long)seed);
    for (int host = 0; host < 2; ++host) {
      for (size_t i = 0; i < harness.hosts[host].want_count; ++i) {
        const tfrt_bulk_harness_want_t* want = &harness.hosts[host].wants[i];
        ck_assert_msg(!want->is_complete || want->is_intact, "seed %llu: wrong bytes",
                      (unsigned long long)seed);
        ck_assert_msg(want->is_complete || !want->error ||
                          tfrt_status_code(want->error) == TFRT_STATUS_CANCELLED,
                      "seed %llu: %s", (unsigned long long)seed, tfrt_status_message(want->error));
      }
      ck_assert_ptr_null(harness.hosts[host].lost);
    }
    end();
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("bulk_offer");
  TCase* ways = tcase_create("ways");
  tcase_set_timeout(ways, 120);
  tcase_add_test(ways, what_is_lent_is_not_sent);
  tcase_add_test(ways, either_side_may_dial);
  tcase_add_test(ways, what_is_declined_is_sent);
  tcase_add_test(ways, a_borrower_that_always_declines_is_asked_no_more);
  tcase_add_test(ways, a_borrower_that_declines_at_times_is_asked_again);
  tcase_add_test(ways, what_cannot_be_lent_is_sent);
  tcase_add_test(ways, only_who_is_here_is_offered_memory_and_only_for_much);
  tcase_add_test(ways, memory_is_offered_when_its_work_is_done);
  tcase_add_test(ways, a_fetch_that_nobody_wants_any_more_keeps_its_buffer_to_its_end);
  tcase_add_test(ways, a_dead_peer_ends_what_is_lent_and_what_is_borrowed);
  tcase_add_test(ways, a_channel_that_breaks_under_a_fetch_is_not_missed);
  tcase_add_test(ways, a_fetch_that_fails_while_the_channel_is_broken_is_made_again);
  tcase_add_test(ways, random_loans_end_with_the_right_bytes_whatever_breaks);
  suite_add_tcase(suite, ways);
  return suite;
}
