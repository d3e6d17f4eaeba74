// SPDX-License-Identifier: Apache-2.0
//
// The bytes that protoc makes of golden/*.txtpb are the bytes that we make of the same
// values, and are read as those.
#include <string.h>

#include "distributed/wire/batch.h"
#include "distributed/wire/bulk.h"
#include "tests/distributed/wire/golden_bytes.h"
#include "tests/distributed/wire/samples.h"
#include "tests/support/test_main.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }
#define GOLDEN(name) \
  tfrt_string_view_make((const char*)tfrt_golden_##name, tfrt_golden_##name##_size)

static tfrt_string_builder_t builder;

static void set_up(void) { tfrt_string_builder_initialize(&builder, tfrt_allocator_system()); }
static void tear_down(void) { tfrt_string_builder_deinitialize(&builder); }

static void assert_bytes(tfrt_status_t status, tfrt_string_view_t expected) {
  ck_assert_msg(status == NULL, "%s", tfrt_status_message(status));
  tfrt_string_view_t bytes = tfrt_string_builder_view(&builder);
  ck_assert_uint_eq(bytes.size, expected.size);
  for (size_t i = 0; i < expected.size; ++i) {
    ck_assert_msg(bytes.data[i] == expected.data[i], "byte %zu: %02x, must be %02x", i,
                  (unsigned char)bytes.data[i], (unsigned char)expected.data[i]);
  }
}

START_TEST(a_batch_has_the_bytes_that_protoc_makes) {
  tfrt_wire_batch_t batch = tfrt_wire_sample_batches[2];
  batch.frame_count = 3;
  assert_bytes(tfrt_wire_batch_encode(&batch, &builder), GOLDEN(batch));
}
END_TEST

START_TEST(a_call_has_the_bytes_that_protoc_makes) {
  static const tfrt_string_view_t causes[] = {TEXT("a"), TEXT("b")};
  tfrt_wire_error_t error = {.code = TFRT_STATUS_UNAVAILABLE,
                             .message = TEXT("host 2 is gone"),
                             .root_key = 5,
                             .derived = true,
                             .causes = causes,
                             .cause_count = 2};
  tfrt_wire_item_t arguments[] = {
      {.kind = TFRT_WIRE_ITEM_INLINE,
       .value = {.type = TEXT("!tfrt_tensor.tensor"),
                 .header = TEXT("\x01\x00\x02"),
                 .body = TEXT("\x00\x01\x02\x03")}},
      {.kind = TFRT_WIRE_ITEM_INLINE, .value = {.type = TEXT("!tfrt.chain")}},
      {.kind = TFRT_WIRE_ITEM_REFERENCE,
       .reference = {.id = {.namer = UINT64_C(0xa1a2a3a4a5a6a7a8), .number = 6, .index = 1},
                     .owner = UINT64_C(0xb1b2b3b4b5b6b7b8),
                     .owner_rank = 2,
                     .is_mutable = true}},
      {.kind = TFRT_WIRE_ITEM_ERROR, .error = &error},
  };
  tfrt_wire_location_t location = {
      .function = TEXT("main"), .file = TEXT("mnist.mlir"), .line = 3, .column = 9};
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_INVOKE,
                           .invoke = {.call = 7,
                                      .program = 1,
                                      .function = 3,
                                      .arguments = arguments,
                                      .argument_count = 4,
                                      .result_count = 2,
                                      .results_wanted = 3,
                                      .take_inline = true,
                                      .depth = 1,
                                      .location = &location}};
  assert_bytes(tfrt_wire_body_encode(&body, &builder), GOLDEN(invoke));
}
END_TEST

START_TEST(results_that_protoc_writes_are_read) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  tfrt_status_t status =
      tfrt_wire_body_decode(TFRT_WIRE_FRAME_RESULT, GOLDEN(result), &arena, &body);
  ck_assert_msg(status == NULL, "%s", tfrt_status_message(status));
  ck_assert_uint_eq(body.result.call, 7);
  ck_assert_uint_eq(body.result.result_count, 4);
  const tfrt_wire_result_item_t* results = body.result.results;
  ck_assert_int_eq(results[0].item.value.body.data[0], 42);
  ck_assert_uint_eq(results[1].item.kind, TFRT_WIRE_ITEM_AVAILABLE);
  ck_assert_uint_eq(results[1].item.available.size, 1048576);
  ck_assert_uint_eq(results[2].item.kind, TFRT_WIRE_ITEM_SAME_AS_ARGUMENT);
  ck_assert_uint_eq(results[2].item.same_as_argument.argument, 2);
  ck_assert_uint_eq(results[3].index, 3);
  ck_assert_uint_eq(results[3].item.same_as_argument.argument, 0);
  ck_assert(body.result.done);
  assert_bytes(tfrt_wire_body_encode(&body, &builder), GOLDEN(result));
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(a_chunk_framed_around_its_payload_has_the_bytes_that_protoc_makes) {
  const tfrt_wire_chunk_t* chunk = &tfrt_wire_sample_ups[3].chunk;
  tfrt_status_t status = tfrt_wire_chunk_encode_prefix(chunk, &builder);
  tfrt_string_builder_append_view(&builder, chunk->payload);
  assert_bytes(status, GOLDEN(chunk));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* golden = tcase_create("golden");
  tcase_add_checked_fixture(golden, set_up, tear_down);
  tcase_add_test(golden, a_batch_has_the_bytes_that_protoc_makes);
  tcase_add_test(golden, a_call_has_the_bytes_that_protoc_makes);
  tcase_add_test(golden, results_that_protoc_writes_are_read);
  tcase_add_test(golden, a_chunk_framed_around_its_payload_has_the_bytes_that_protoc_makes);
  Suite* suite = suite_create("golden");
  suite_add_tcase(suite, golden);
  return suite;
}
