// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/bulk.h"

#include <string.h>

#include "distributed/wire/limits.h"
#include "tests/distributed/wire/samples.h"
#include "tests/support/test_main.h"

static tfrt_arena_t arena;
static tfrt_string_builder_t builder;

static void set_up(void) {
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&builder);
  tfrt_arena_deinitialize(&arena);
}

START_TEST(prefix_and_payload_are_the_bytes_of_the_whole_message) {
  size_t chunk_count = 0;
  for (size_t i = 0; i < tfrt_wire_sample_up_count; ++i) {
    const tfrt_wire_bulk_t* message = &tfrt_wire_sample_ups[i];
    if (message->kind != TFRT_WIRE_BULK_CHUNK) continue;
    ++chunk_count;
    tfrt_string_builder_clear(&builder);
    ck_assert_ptr_null(tfrt_wire_chunk_encode_prefix(&message->chunk, &builder));
    ck_assert_uint_le(builder.size, TFRT_WIRE_MAX_CHUNK_PREFIX_SIZE);
    tfrt_string_builder_append_view(&builder, message->chunk.payload);
    tfrt_string_builder_t whole;
    tfrt_string_builder_initialize(&whole, tfrt_allocator_system());
    ck_assert_ptr_null(tfrt_wire_bulk_encode(message, true, &whole));
    ck_assert(tfrt_string_view_equal(tfrt_string_builder_view(&builder),
                                     tfrt_string_builder_view(&whole)));
    tfrt_string_builder_deinitialize(&whole);
  }
  ck_assert_uint_eq(chunk_count, 3);
}
END_TEST

START_TEST(the_longest_prefix_fits_its_limit_and_reads_no_payload) {
  char type[TFRT_WIRE_MAX_TYPE_NAME_SIZE];
  char header[TFRT_WIRE_MAX_VALUE_HEADER_SIZE];
  memset(type, 'x', sizeof(type));
  memset(header, 'y', sizeof(header));
  tfrt_wire_chunk_t chunk = {
      .want = UINT64_MAX,
      .offset = UINT64_MAX - TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE,
      .type = {type, sizeof(type)},
      .header = {header, sizeof(header)},
      .total_size = UINT64_MAX,
      .last = true,
      .checksum_kind = TFRT_WIRE_CHECKSUM_CRC32C,
      .checksum = UINT32_MAX,
      // An address that must not be read from.
      .payload = {(const char*)1, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE},
  };
  ck_assert_ptr_null(tfrt_wire_chunk_encode_prefix(&chunk, &builder));
  ck_assert_uint_le(builder.size, TFRT_WIRE_MAX_CHUNK_PREFIX_SIZE);
}
END_TEST

START_TEST(a_payload_is_not_copied_when_it_is_received) {
  ck_assert_ptr_null(tfrt_wire_bulk_encode(&tfrt_wire_sample_downs[4], false, &builder));
  tfrt_wire_bulk_t message;
  ck_assert_ptr_null(
      tfrt_wire_bulk_decode(tfrt_string_builder_view(&builder), false, &arena, &message));
  ck_assert_uint_eq(message.kind, TFRT_WIRE_BULK_CHUNK);
  ck_assert_uint_eq(message.chunk.payload.size, 12);
  ck_assert_ptr_eq(message.chunk.payload.data + 12, builder.data + builder.size);
  ck_assert_uint_eq(message.chunk.checksum, 0xe3069283u);
  ck_assert(message.chunk.last);
}
END_TEST

START_TEST(a_payload_above_a_mebibyte_is_refused) {
  tfrt_wire_chunk_t chunk = {.want = 1,
                             .payload = {(const char*)1, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE + 1}};
  tfrt_status_t status = tfrt_wire_chunk_encode_prefix(&chunk, &builder);
  ck_assert_str_eq(tfrt_status_message(status),
                   "Chunk.payload: 1048577 bytes, at most 1048576 are allowed");
  tfrt_status_release(status);
  ck_assert_uint_eq(builder.size, 0);
}
END_TEST

START_TEST(a_chunk_beyond_its_value_is_refused) {
  tfrt_wire_chunk_t beyond = {
      .want = 1, .offset = 8, .type = {"t", 1}, .total_size = 10, .payload = {"abc", 3}};
  tfrt_status_t status = tfrt_wire_chunk_encode_prefix(&beyond, &builder);
  ck_assert_str_eq(tfrt_status_message(status), "Chunk.total_size: the payload ends behind it");
  tfrt_status_release(status);
  tfrt_wire_chunk_t wraps = {.want = 1, .offset = UINT64_MAX - 1, .payload = {"abc", 3}};
  status = tfrt_wire_chunk_encode_prefix(&wraps, &builder);
  ck_assert_str_eq(tfrt_status_message(status),
                   "Chunk.offset: the payload's end is beyond 64 bits");
  tfrt_status_release(status);
}
END_TEST

START_TEST(the_two_directions_are_told_apart) {
  // A BulkHello has fields that a BulkWelcome has in other types.
  ck_assert_ptr_null(tfrt_wire_bulk_encode(&tfrt_wire_sample_ups[0], true, &builder));
  tfrt_wire_bulk_t message;
  tfrt_status_t status =
      tfrt_wire_bulk_decode(tfrt_string_builder_view(&builder), false, &arena, &message);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_uint_eq(message.kind, TFRT_WIRE_BULK_NONE);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* bulk = tcase_create("bulk");
  tcase_add_checked_fixture(bulk, set_up, tear_down);
  tcase_add_test(bulk, prefix_and_payload_are_the_bytes_of_the_whole_message);
  tcase_add_test(bulk, the_longest_prefix_fits_its_limit_and_reads_no_payload);
  tcase_add_test(bulk, a_payload_is_not_copied_when_it_is_received);
  tcase_add_test(bulk, a_payload_above_a_mebibyte_is_refused);
  tcase_add_test(bulk, a_chunk_beyond_its_value_is_refused);
  tcase_add_test(bulk, the_two_directions_are_told_apart);
  Suite* suite = suite_create("bulk");
  suite_add_tcase(suite, bulk);
  return suite;
}
