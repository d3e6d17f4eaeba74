// SPDX-License-Identifier: Apache-2.0
//
// Payloads that are read piece by piece while they are sent.
#include <string.h>

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define CHUNK (64u << 10)
#define LONG_NS (60 * TFRT_NANOSECONDS_PER_SECOND)
#define A_WHILE_NS (100 * TFRT_NANOSECONDS_PER_MILLISECOND)
#define MAX_READS 256

static tfrt_bulk_harness_t harness;
static tfrt_bulk_harness_options_t options;

// --- A source ----------------------------------------------------------------

typedef struct source_s {
  tfrt_payload_source_t base;
  uint64_t seed;
} source_t;

typedef struct piece_s {
  size_t size;
  uint8_t bytes[];
} piece_t;

static struct {
  bool is_manual;  // the test says when bytes are there
  uint32_t count;  // of reads
  uint64_t offsets[MAX_READS];
  tfrt_indirect_value_t* promises[MAX_READS];  // +1 each
  uint32_t failing;                            // this read fails; from 1; 0: none
  tfrt_status_code_t failure;                  // with this
  int live_pieces;
  int most_pieces;
  int live_sources;
} reads;

static void destroy_source(tfrt_payload_source_t* source) {
  --reads.live_sources;
  tfrt_allocator_free(tfrt_allocator_system(), source, sizeof(source_t));
}

static void release_piece(void* owner) {
  piece_t* piece = owner;
  --reads.live_pieces;
  tfrt_allocator_free(tfrt_allocator_system(), piece, sizeof(*piece) + piece->size);
}

static tfrt_status_t read_piece(tfrt_payload_source_t* source, uint64_t offset, size_t size,
                                tfrt_payload_piece_t* out_piece) {
  uint64_t seed = TFRT_CONTAINER_OF(source, source_t, base)->seed;
  *out_piece = (tfrt_payload_piece_t){0};
  ck_assert_uint_lt(reads.count, MAX_READS);
  reads.offsets[reads.count++] = offset;
  if (reads.count == reads.failing) return tfrt_status_create(reads.failure, "no luck");
  piece_t* piece = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*piece) + size);
  piece->size = size;
  for (size_t i = 0; i < size; ++i) piece->bytes[i] = tfrt_bulk_harness_byte(seed, offset + i);
  ++reads.live_pieces;
  if (reads.live_pieces > reads.most_pieces) reads.most_pieces = reads.live_pieces;
  tfrt_indirect_value_t* promise = reads.is_manual ? tfrt_indirect_value_create() : NULL;
  reads.promises[reads.count - 1] = promise;
  *out_piece = (tfrt_payload_piece_t){
      .data = piece->bytes,
      .ready = promise ? tfrt_async_value_retain(&promise->base) : tfrt_async_value_ready_chain(),
      .release = release_piece,
      .owner = piece};
  return NULL;
}

static tfrt_payload_source_t* open_source(uint64_t size, uint64_t seed) {
  static const tfrt_payload_source_vtable_t vtable = {destroy_source, read_piece, NULL};
  (void)size;
  source_t* source = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*source));
  source->base.vtable = &vtable;
  source->seed = seed;
  ++reads.live_sources;
  return &source->base;
}

// The bytes of read |index| are there; or don't come, because of |status| (consumed).
static void resolve(uint32_t index, tfrt_status_t status) {
  tfrt_indirect_value_t* promise = reads.promises[index];
  tfrt_async_value_t* value =
      status ? tfrt_async_value_create_error_take(status) : tfrt_async_value_ready_chain();
  tfrt_indirect_value_forward_take(promise, value);
  tfrt_async_value_release(&promise->base);
  reads.promises[index] = NULL;
}

static void begin(uint64_t seed) {
  memset(&reads, 0, sizeof(reads));
  tfrt_bulk_harness_options_initialize(&options);
  options.chunk_bytes = CHUNK;
  options.network.seed = seed;
  tfrt_bulk_harness_begin(&harness, &options);
  harness.open_source = open_source;
}

static void end(void) {
  tfrt_bulk_harness_end(&harness);
  ck_assert_int_eq(reads.live_pieces, 0);
  ck_assert_int_eq(reads.live_sources, 0);
}

static tfrt_bulk_harness_want_t* want_of(size_t index) { return &harness.hosts[0].wants[index]; }

// --- Reading ahead -----------------------------------------------------------

START_TEST(a_piece_is_read_while_the_one_before_is_sent) {
  begin(1);
  reads.is_manual = true;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 4 * CHUNK + 5, 9);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(reads.count, 3);
  ck_assert_uint_eq(want_of(want)->begins, 0);
  // The first one goes when it is there, and what comes after the third is read then.
  resolve(0, NULL);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(want_of(want)->begins, 1);
  ck_assert_uint_eq(reads.count, 4);
  // Later ones wait for their turn.
  resolve(3, NULL);
  resolve(2, NULL);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(reads.count, 4);
  resolve(1, NULL);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(reads.count, 5);
  resolve(4, NULL);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_intact);
  ck_assert_int_eq(reads.most_pieces, 3);
  for (uint32_t i = 0; i < 5; ++i) ck_assert_uint_eq(reads.offsets[i], (uint64_t)i * CHUNK);
  end();
}
END_TEST

START_TEST(payloads_of_any_size_arrive_with_three_pieces_in_memory) {
  static const uint64_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 20 * CHUNK + 3};
  begin(2);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    reads.most_pieces = 0;
    size_t want = tfrt_bulk_harness_want(&harness, 0, sizes[i], i);
    ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
    ck_assert(want_of(want)->is_complete && want_of(want)->is_intact);
    ck_assert_int_le(reads.most_pieces, 3);
  }
  end();
}
END_TEST

START_TEST(a_large_payload_is_read_in_pieces_of_many_chunks) {
  begin(4);
  const uint64_t piece = (uint64_t)4 << 20;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 4 * piece + 5, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_complete && want_of(want)->is_intact);
  ck_assert_uint_eq(reads.count, 5);
  for (uint32_t i = 0; i < 5; ++i) ck_assert_uint_eq(reads.offsets[i], i * piece);
  end();
}
END_TEST

START_TEST(a_broken_channel_goes_on_from_what_was_received) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    begin(seed);
    size_t want = tfrt_bulk_harness_want(&harness, 0, 12 * CHUNK + 7, seed);
    tfrt_bulk_harness_run_messages(&harness, seed % 15);
    tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                                 harness.hosts[1].endpoint);
    ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
    ck_assert(want_of(want)->is_complete && want_of(want)->is_intact);
    end();
  }
}
END_TEST

START_TEST(a_channel_that_breaks_while_bytes_are_read_waits_for_them) {
  begin(3);
  reads.is_manual = true;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 3 * CHUNK, 1);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  resolve(0, NULL);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                               harness.hosts[1].endpoint);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  // The chunk that was being read is stale, and so is its place.
  for (uint32_t i = 1; i < 8; ++i) {
    if (i < reads.count && reads.promises[i]) resolve(i, NULL);
    tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  }
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert(want_of(want)->is_complete && want_of(want)->is_intact);
  end();
}
END_TEST

// --- Errors ------------------------------------------------------------------

// A want whose read number |n| fails with |code| ends with that.
static void expect_read_failure(uint32_t n, tfrt_status_code_t code) {
  begin(n);
  reads.failing = n;
  reads.failure = code;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 4 * CHUNK, 1);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert_int_eq(tfrt_status_code(want_of(want)->error), code);
  ck_assert_uint_eq(want_of(want)->resumes, 0);
  end();
}

START_TEST(what_can_not_be_read_is_told_to_the_borrower) {
  for (uint32_t n = 1; n <= 4; ++n) expect_read_failure(n, TFRT_STATUS_DATA_LOSS);
}
END_TEST

// A lost channel is reported with the same code.
START_TEST(a_read_that_is_aborted_is_no_interruption) {
  for (uint32_t n = 1; n <= 4; ++n) expect_read_failure(n, TFRT_STATUS_ABORTED);
}
END_TEST

// Whenever the channel breaks: before its Abort is there, too, which is lost with it then.
START_TEST(a_failure_is_told_again_until_it_is_heard) {
  uint64_t dials = 0;
  for (int64_t us = 0; us < 1000; us += 5) {
    begin(4);
    reads.failing = 1;
    reads.failure = TFRT_STATUS_DATA_LOSS;
    size_t want = tfrt_bulk_harness_want(&harness, 0, 4 * CHUNK, 1);
    tfrt_bulk_harness_pass(&harness, us * TFRT_NANOSECONDS_PER_MICROSECOND);
    bool is_told = want_of(want)->error != NULL;
    tfrt_simulated_network_break(harness.network, harness.hosts[0].endpoint,
                                 harness.hosts[1].endpoint);
    ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
    ck_assert_int_eq(tfrt_status_code(want_of(want)->error), TFRT_STATUS_DATA_LOSS);
    if (!is_told) dials += tfrt_bulk_harness_counts(&harness, 0).dials - 1;
    end();
  }
  ck_assert_uint_gt(dials, 10);
}
END_TEST

START_TEST(bytes_that_do_not_come_end_the_transfer) {
  begin(1);
  reads.is_manual = true;
  size_t want = tfrt_bulk_harness_want(&harness, 0, 4 * CHUNK, 1);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  resolve(0, NULL);
  resolve(1, tfrt_status_create(TFRT_STATUS_INTERNAL, "the device is lost"));
  // Nothing more is read for what can't be sent.
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  ck_assert_uint_eq(reads.count, 3);
  resolve(2, NULL);
  ck_assert(tfrt_bulk_harness_run(&harness, LONG_NS));
  ck_assert_int_eq(tfrt_status_code(want_of(want)->error), TFRT_STATUS_INTERNAL);
  end();
}
END_TEST

START_TEST(a_lost_borrower_leaves_nothing_when_the_reads_are_done) {
  begin(1);
  reads.is_manual = true;
  tfrt_bulk_harness_want(&harness, 0, 4 * CHUNK, 1);
  tfrt_bulk_harness_pass(&harness, A_WHILE_NS);
  tfrt_bulk_harness_bury(&harness, 1);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).sending, 1);
  ck_assert_int_eq(reads.live_sources, 1);
  for (uint32_t i = 0; i < 3; ++i) resolve(i, NULL);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 1).sending, 0);
  ck_assert_int_eq(reads.live_pieces, 0);
  ck_assert_int_eq(reads.live_sources, 0);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("channel_reader");
  TCase* tests = tcase_create("reading");
  tcase_add_test(tests, a_piece_is_read_while_the_one_before_is_sent);
  tcase_add_test(tests, payloads_of_any_size_arrive_with_three_pieces_in_memory);
  tcase_add_test(tests, a_large_payload_is_read_in_pieces_of_many_chunks);
  tcase_add_test(tests, a_broken_channel_goes_on_from_what_was_received);
  tcase_add_test(tests, a_channel_that_breaks_while_bytes_are_read_waits_for_them);
  tcase_add_test(tests, what_can_not_be_read_is_told_to_the_borrower);
  tcase_add_test(tests, a_read_that_is_aborted_is_no_interruption);
  tcase_add_test(tests, a_failure_is_told_again_until_it_is_heard);
  tcase_add_test(tests, bytes_that_do_not_come_end_the_transfer);
  tcase_add_test(tests, a_lost_borrower_leaves_nothing_when_the_reads_are_done);
  suite_add_tcase(suite, tests);
  return suite;
}
