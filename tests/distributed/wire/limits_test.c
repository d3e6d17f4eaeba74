// SPDX-License-Identifier: Apache-2.0
//
// Messages above a limit are neither read nor written, and the error says where and why.
#include "distributed/wire/limits.h"

#include <string.h>

#include "distributed/wire/batch.h"
#include "distributed/wire/codec.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

// Ends the test unless |status| has |code| and a message that begins with |beginning|.
static void assert_error(tfrt_status_t status, tfrt_status_code_t code, const char* beginning) {
  ck_assert_msg(!tfrt_status_is_ok(status), "no error, expected: %s", beginning);
  ck_assert_int_eq(tfrt_status_code(status), code);
  const char* message = tfrt_status_message(status);
  ck_assert_msg(strncmp(message, beginning, strlen(beginning)) == 0, "\"%s\", expected \"%s\"",
                message, beginning);
  tfrt_status_release(status);
}

// Tries to encode |body|: refused, with nothing written.
static void assert_not_encoded(const tfrt_wire_body_t* body, const char* beginning) {
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
  tfrt_string_builder_append_text(&builder, "before");
  assert_error(tfrt_wire_body_encode(body, &builder), TFRT_STATUS_INVALID_ARGUMENT, beginning);
  ck_assert_str_eq(tfrt_string_builder_text(&builder), "before");
  tfrt_string_builder_deinitialize(&builder);
}

static void assert_not_decoded(uint32_t kind, tfrt_string_view_t bytes, const char* beginning) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  memset(&body, 0xee, sizeof(body));
  assert_error(tfrt_wire_body_decode(kind, bytes, &arena, &body), TFRT_STATUS_INVALID_ARGUMENT,
               beginning);
  ck_assert_uint_eq(body.kind, 0);
  ck_assert_uint_eq(body.hello.version_min, 0);
  tfrt_arena_deinitialize(&arena);
}

// Bytes that a stranger may send: |count| times the same unit.
static tfrt_string_builder_t repeat(const char* unit, size_t size, size_t count) {
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
  for (size_t i = 0; i < count; ++i) tfrt_string_builder_append(&builder, unit, size);
  return builder;
}

START_TEST(a_call_number_of_more_than_48_bits_is_refused) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_CANCEL,
                           .cancel = {.call = TFRT_WIRE_MAX_NUMBER + 1}};
  assert_not_encoded(&body, "Cancel.call: 281474976710656 is above the limit 281474976710655");
  assert_not_decoded(TFRT_WIRE_FRAME_CANCEL,
                     (tfrt_string_view_t)TEXT("\x08\x80\x80\x80\x80\x80\x80\x40"),
                     "Cancel.call: 281474976710656 is above the limit 281474976710655");
}
END_TEST

START_TEST(a_name_without_a_namer_or_a_number_is_refused) {
  tfrt_wire_object_id_t ids[] = {{.namer = 1, .number = 1}, {.namer = 0, .number = 1}};
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RETAIN, .retain = {.ids = ids, .id_count = 2}};
  assert_not_encoded(&body, "Retain.ids: ObjectId.namer: missing, or 0");
  ids[1] = (tfrt_wire_object_id_t){.namer = 2};
  assert_not_encoded(&body, "Retain.ids: ObjectId.number: missing, or 0");
  ids[1] = (tfrt_wire_object_id_t){.namer = 2, .number = 1, .index = TFRT_WIRE_MAX_INDEX + 1};
  assert_not_encoded(&body, "Retain.ids: ObjectId.index: 65536 is above the limit 65535");
  assert_not_decoded(TFRT_WIRE_FRAME_RETAIN, (tfrt_string_view_t)TEXT("\x0a\x02\x10\x01"),
                     "Retain.ids: ObjectId.namer: missing, or 0");
}
END_TEST

START_TEST(a_number_of_more_than_32_bits_is_refused_where_32_are_meant) {
  assert_not_decoded(TFRT_WIRE_FRAME_INVOKE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x10\x80\x80\x80\x80\x10"),
                     "Invoke.program: 4294967296 doesn't fit into 32 bits");
}
END_TEST

START_TEST(more_arguments_than_allowed_are_refused_before_memory_is_taken) {
  // Field 4, an Item with field 6 (Held) set: 4 bytes on the wire, 60 and more in memory.
  tfrt_string_builder_t bytes = repeat("\x22\x02\x32\x00", 4, TFRT_WIRE_MAX_ARGUMENTS + 1);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  assert_error(tfrt_wire_body_decode(TFRT_WIRE_FRAME_INVOKE, tfrt_string_builder_view(&bytes),
                                     &arena, &body),
               TFRT_STATUS_INVALID_ARGUMENT,
               "Invoke.arguments: 4097 elements, at most 4096 are allowed");
  ck_assert_uint_eq(arena.used_size, 0);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

START_TEST(the_costliest_message_stays_within_its_budget) {
  // Field 4, an Item with an Error with an Origin and four causes, all empty.
  tfrt_string_builder_t bytes =
      repeat("\x22\x0e\x3a\x0c\x1a\x00\x42\x00\x42\x00\x42\x00\x42\x00\x08\x01", 16,
             TFRT_WIRE_MAX_ARGUMENTS);
  tfrt_string_builder_append(&bytes, "\x08\x01", 2);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  tfrt_status_t status = tfrt_wire_body_decode(TFRT_WIRE_FRAME_INVOKE,
                                               tfrt_string_builder_view(&bytes), &arena, &body);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  ck_assert_uint_eq(body.invoke.argument_count, TFRT_WIRE_MAX_ARGUMENTS);
  ck_assert_uint_gt(arena.used_size, TFRT_WIRE_MAX_DECODED_SIZE / 8);
  ck_assert_uint_le(arena.used_size, TFRT_WIRE_MAX_DECODED_SIZE);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

// A JobOpen with a view of as many members as fit into a batch, each empty: 2 bytes on the wire, 80
// and more in memory.
START_TEST(what_is_unpacked_stays_within_its_budget) {
  tfrt_string_builder_t members = repeat("\x12\x00", 2, TFRT_WIRE_MAX_BATCH_SIZE / 2 - 8);
  uint8_t length[10];
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  tfrt_wire_write_varint(length, members.size);
  tfrt_string_builder_append(&bytes, "\x22", 1);
  tfrt_string_builder_append(&bytes, length, tfrt_wire_varint_size(members.size));
  tfrt_string_builder_append(&bytes, members.data, members.size);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  assert_error(tfrt_wire_body_decode(TFRT_WIRE_FRAME_JOB_OPEN, tfrt_string_builder_view(&bytes),
                                     &arena, &body),
               TFRT_STATUS_RESOURCE_EXHAUSTED, "JobOpen: no memory left to decode it");
  ck_assert_uint_le(arena.used_size, TFRT_WIRE_MAX_DECODED_SIZE);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_string_builder_deinitialize(&members);
}
END_TEST

// Resolve(want 1, a list of type "!l" and |count| elements, which are |unit|).
static tfrt_string_builder_t list_of(const char* unit, size_t size, size_t count) {
  tfrt_string_builder_t elements = repeat(unit, size, count);
  size_t list_size = 4 + elements.size;
  size_t item_size = list_size + 1 + tfrt_wire_varint_size(list_size);
  uint8_t length[10];
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  tfrt_string_builder_append(&bytes, "\x08\x01\x12", 3);
  tfrt_wire_write_varint(length, item_size);
  tfrt_string_builder_append(&bytes, length, tfrt_wire_varint_size(item_size));
  tfrt_string_builder_append(&bytes, "\x42", 1);
  tfrt_wire_write_varint(length, list_size);
  tfrt_string_builder_append(&bytes, length, tfrt_wire_varint_size(list_size));
  tfrt_string_builder_append(&bytes, "\x0a\x02!l", 4);
  tfrt_string_builder_append(&bytes, elements.data, elements.size);
  tfrt_string_builder_deinitialize(&elements);
  return bytes;
}

// An Element with an Error with an Origin and four causes, all empty.
#define COSTLY_ELEMENT "\x12\x0e\x3a\x0c\x1a\x00\x42\x00\x42\x00\x42\x00\x42\x00\x08\x01"

START_TEST(a_list_stays_within_its_budget) {
  tfrt_string_builder_t bytes =
      list_of(COSTLY_ELEMENT, sizeof(COSTLY_ELEMENT) - 1, TFRT_WIRE_MAX_ELEMENTS);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  tfrt_status_t status = tfrt_wire_body_decode(TFRT_WIRE_FRAME_RESOLVE,
                                               tfrt_string_builder_view(&bytes), &arena, &body);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  ck_assert_uint_eq(body.resolve.item.list.element_count, TFRT_WIRE_MAX_ELEMENTS);
  ck_assert_uint_le(arena.used_size, TFRT_WIRE_MAX_DECODED_SIZE);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

START_TEST(a_list_of_more_than_allowed_is_refused_before_memory_is_taken) {
  tfrt_string_builder_t bytes =
      list_of(COSTLY_ELEMENT, sizeof(COSTLY_ELEMENT) - 1, TFRT_WIRE_MAX_ELEMENTS + 1);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  assert_error(tfrt_wire_body_decode(TFRT_WIRE_FRAME_RESOLVE, tfrt_string_builder_view(&bytes),
                                     &arena, &body),
               TFRT_STATUS_INVALID_ARGUMENT,
               "Resolve.item: Item.list: List.elements: 1025 elements, at most 1024 are allowed");
  ck_assert_uint_eq(arena.used_size, 0);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

// A list is an answer to a want alone, and what is in it is not even looked at elsewhere.
START_TEST(a_list_is_refused_where_none_may_be) {
  tfrt_wire_item_t argument = {.kind = TFRT_WIRE_ITEM_LIST, .list = {.type = TEXT("!l")}};
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_INVOKE,
                           .invoke = {.call = 1, .arguments = &argument, .argument_count = 1}};
  assert_not_encoded(&body, "Invoke.arguments: an Item with field 8 set is not allowed here");
  assert_not_decoded(TFRT_WIRE_FRAME_INVOKE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x22\x06\x42\x04\x0a\x02!l"),
                     "Invoke.arguments: an Item with field 8 set is not allowed here");
  assert_not_decoded(TFRT_WIRE_FRAME_INVOKE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x22\x03\x42\x01\xff"),
                     "Invoke.arguments: an Item with field 8 set is not allowed here");
}
END_TEST

START_TEST(a_list_of_what_no_element_is_is_refused) {
  // Without a type; with an element that is none, a list, a Held, cut off.
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE, (tfrt_string_view_t)TEXT("\x08\x01\x12\x02\x42\x00"),
                     "Resolve.item: Item.list: List.type: missing");
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x12\x08\x42\x06\x0a\x02!l\x12\x00"),
                     "Resolve.item: Item.list: List.elements: Element: none of the fields is set");
  assert_not_decoded(
      TFRT_WIRE_FRAME_RESOLVE,
      (tfrt_string_view_t)TEXT("\x08\x01\x12\x0e\x42\x0c\x0a\x02!l\x12\x06\x42\x04\x0a\x02!l"),
      "Resolve.item: Item.list: List.elements: Element: none of the fields is set");
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x12\x0a\x42\x08\x0a\x02!l\x12\x02\x32\x00"),
                     "Resolve.item: Item.list: List.elements: Element: none of the fields is set");
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x12\x08\x42\x06\x0a\x02!l\x12\x07"),
                     "Resolve.item: Item.list: List.elements: cut off or malformed");
  tfrt_wire_item_t nested = {.kind = TFRT_WIRE_ITEM_LIST, .list = {.type = TEXT("!l")}};
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_RESOLVE,
      .resolve = {.want = 1,
                  .item = {.kind = TFRT_WIRE_ITEM_LIST,
                           .list = {.type = TEXT("!l"), .elements = &nested, .element_count = 1}}}};
  assert_not_encoded(&body,
                     "Resolve.item: Item.list: List.elements: Element: none of the fields is set");
}
END_TEST

START_TEST(a_text_above_its_limit_is_refused) {
  char name[TFRT_WIRE_MAX_TYPE_NAME_SIZE + 1];
  memset(name, 'x', sizeof(name));
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_PUSH,
      .push = {.id = {.namer = 1, .number = 1},
               .item = {.kind = TFRT_WIRE_ITEM_INLINE, .value = {.type = {name, sizeof(name)}}}}};
  assert_not_encoded(&body,
                     "Push.item: Item.inline: Value.type: 129 bytes, at most 128 are allowed");
}
END_TEST

START_TEST(text_that_is_not_utf8_is_refused) {
  assert_not_decoded(TFRT_WIRE_FRAME_GOODBYE, (tfrt_string_view_t)TEXT("\x12\x01\xff"),
                     "Goodbye.message: not valid UTF-8");
}
END_TEST

START_TEST(a_key_of_another_length_is_refused) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_ATTACH,
                           .job_attach = {.handle = 1, .job_id = TEXT("15 bytes long..")}};
  assert_not_encoded(&body, "JobAttach.job_id: 15 bytes, must be 16");
  body.job_attach.job_id = (tfrt_string_view_t)TEXT("16 bytes long...");
  assert_not_encoded(&body, "JobAttach.proof: 0 bytes, must be 32");
}
END_TEST

START_TEST(an_item_is_refused_where_its_form_makes_no_sense) {
  tfrt_wire_item_t argument = {.kind = TFRT_WIRE_ITEM_HELD};
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_INVOKE,
                           .invoke = {.call = 1, .arguments = &argument, .argument_count = 1}};
  assert_not_encoded(&body, "Invoke.arguments: an Item with field 6 set is not allowed here");
  argument.kind = TFRT_WIRE_ITEM_NONE;
  assert_not_encoded(&body, "Invoke.arguments: an Item with field 0 set is not allowed here");
  argument.kind = 99;
  assert_not_encoded(&body, "Invoke.arguments: an Item with field 99 set is not allowed here");
  // Resolve(want 1, same_as_argument).
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE, (tfrt_string_view_t)TEXT("\x08\x01\x12\x02\x22\x00"),
                     "Resolve.item: an Item with field 4 set is not allowed here");
}
END_TEST

START_TEST(an_item_has_exactly_one_form) {
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE, (tfrt_string_view_t)TEXT("\x08\x01\x12\x00"),
                     "Resolve.item: Item: none of the fields is set");
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x12\x03\x98\x06\x01"),
                     "Resolve.item: Item: none of the fields is set");
  assert_not_decoded(TFRT_WIRE_FRAME_RESOLVE,
                     (tfrt_string_view_t)TEXT("\x08\x01\x12\x04\x12\x00\x32\x00"),
                     "Resolve.item: Item.held: another one is set already");
}
END_TEST

START_TEST(a_field_that_comes_twice_is_refused_or_the_last_counts) {
  // A codec by hand, and protobuf-c.
  assert_not_decoded(TFRT_WIRE_FRAME_INVOKE, (tfrt_string_view_t)TEXT("\x08\x01\x08\x02"),
                     "Invoke.call: comes twice");
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  ck_assert_ptr_null(tfrt_wire_body_decode(
      TFRT_WIRE_FRAME_UNWANT, (tfrt_string_view_t)TEXT("\x08\x01\x08\x02"), &arena, &body));
  ck_assert_uint_eq(body.unwant.want, 2);
  tfrt_arena_deinitialize(&arena);
}
END_TEST

// A later version may have added them.
START_TEST(fields_that_are_not_known_are_passed_over) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  // Fields 1, 90 (a number) and 91 (bytes).
  const tfrt_string_view_t bytes = TEXT("\x08\x07\xd0\x05\x01\xda\x05\x02xy");
  ck_assert_ptr_null(tfrt_wire_body_decode(TFRT_WIRE_FRAME_UNWANT, bytes, &arena, &body));
  ck_assert_uint_eq(body.unwant.want, 7);
  ck_assert_ptr_null(tfrt_wire_body_decode(TFRT_WIRE_FRAME_INVOKE, bytes, &arena, &body));
  ck_assert_uint_eq(body.invoke.call, 7);
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(a_field_with_the_wrong_wire_type_is_refused) {
  assert_not_decoded(TFRT_WIRE_FRAME_UNWANT,
                     (tfrt_string_view_t)TEXT("\x09\x01\x00\x00\x00\x00\x00\x00\x00"),
                     "Unwant: cut off or malformed");
  assert_not_decoded(TFRT_WIRE_FRAME_INVOKE,
                     (tfrt_string_view_t)TEXT("\x09\x01\x00\x00\x00\x00\x00\x00\x00"),
                     "Invoke.call: cut off or malformed");
}
END_TEST

START_TEST(a_message_that_must_be_there_is_missed) {
  assert_not_decoded(TFRT_WIRE_FRAME_WANT, (tfrt_string_view_t)TEXT("\x08\x01"),
                     "Want.id: missing");
  assert_not_decoded(TFRT_WIRE_FRAME_VOID, (tfrt_string_view_t)TEXT("\x08\x01"),
                     "Void.error: missing");
}
END_TEST

START_TEST(unknown_enum_values_become_the_most_general_one) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  // JobOpened(error(code = 99)), and the same without a code.
  tfrt_status_t status = tfrt_wire_body_decode(
      TFRT_WIRE_FRAME_JOB_OPENED, (tfrt_string_view_t)TEXT("\x0a\x02\x08\x63"), &arena, &body);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_uint_eq(body.job_opened.error->code, TFRT_STATUS_UNKNOWN);
  status = tfrt_wire_body_decode(TFRT_WIRE_FRAME_JOB_OPENED, (tfrt_string_view_t)TEXT("\x0a\x00"),
                                 &arena, &body);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_uint_eq(body.job_opened.error->code, TFRT_STATUS_UNKNOWN);
  // Goodbye(reason = -1): ten bytes, as protobuf writes a negative enum.
  status = tfrt_wire_body_decode(
      TFRT_WIRE_FRAME_GOODBYE,
      (tfrt_string_view_t)TEXT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &arena, &body);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_uint_eq(body.goodbye.reason, TFRT_WIRE_GOODBYE_UNSPECIFIED);
  tfrt_arena_deinitialize(&arena);
}
END_TEST

START_TEST(a_body_of_an_unknown_kind_is_unimplemented) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  assert_error(tfrt_wire_body_decode(1001, (tfrt_string_view_t){NULL, 0}, &arena, &body),
               TFRT_STATUS_UNIMPLEMENTED, "Frame.kind: 1001 is not known");
  tfrt_arena_deinitialize(&arena);
  tfrt_wire_body_t unknown = {.kind = 1001};
  assert_not_encoded(&unknown, "Frame.kind: 1001 is not known");
}
END_TEST

START_TEST(a_short_release_of_too_many_names_is_refused) {
  tfrt_wire_object_range_t range = {
      .namer = 1, .first_number = 1, .number_count = 256, .index_count = 257};
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RELEASE,
                           .release = {.ranges = &range, .range_count = 1}};
  assert_not_encoded(&body, "Release.ranges: 65792 names, at most 65536 are allowed");
  range = (tfrt_wire_object_range_t){
      .namer = 1, .first_number = TFRT_WIRE_MAX_NUMBER, .number_count = 2, .index_count = 1};
  assert_not_encoded(&body, "Release.ranges: ObjectRange.number_count: 2 numbers from");
  range = (tfrt_wire_object_range_t){.namer = 1,
                                     .first_number = 1,
                                     .number_count = 1,
                                     .first_index = TFRT_WIRE_MAX_INDEX,
                                     .index_count = 2};
  assert_not_encoded(&body, "Release.ranges: ObjectRange.index_count: 2 indices from 65535");
}
END_TEST

START_TEST(a_view_whose_ranks_do_not_rise_is_refused) {
  tfrt_wire_member_t members[] = {{.rank = 1, .incarnation = 1}, {.rank = 1, .incarnation = 2}};
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_OPEN,
      .job_open = {.job_id = TEXT("0123456789abcdef"),
                   .key = TEXT("0123456789abcdef0123456789abcdef"),
                   .view = {.epoch = 1, .members = members, .member_count = 2}}};
  assert_not_encoded(&body, "JobOpen.view: View.members: rank 1 comes behind rank 1");
}
END_TEST

START_TEST(fields_that_contradict_each_other_are_refused) {
  tfrt_wire_body_t cancel = {.kind = TFRT_WIRE_FRAME_CANCEL_REQUEST};
  assert_not_encoded(&cancel, "CancelRequest.request: exactly one");
  cancel.cancel_request.request = cancel.cancel_request.start = 1;
  assert_not_encoded(&cancel, "CancelRequest.request: exactly one");
  tfrt_wire_body_t want = {.kind = TFRT_WIRE_FRAME_WANT,
                           .want = {.want = 2, .id = {.namer = 1, .number = 1}, .offset = 1}};
  assert_not_encoded(&want, "Want.offset: must be 0");
  want.want.resumes = 2;
  assert_not_encoded(&want, "Want.resumes: 2 is not before want 2");
  tfrt_wire_body_t hello = {.kind = TFRT_WIRE_FRAME_HELLO,
                            .hello = {.version_min = 2,
                                      .version_max = 1,
                                      .incarnation = 1,
                                      .session = 1,
                                      .connection = 1,
                                      .next_call = 1}};
  assert_not_encoded(&hello, "Hello.version_min: 2 is above version_max 1");
  hello.hello.version_max = 2;
  hello.hello.received_seq = 1;
  assert_not_encoded(&hello, "Hello.received_seq: must be 0 in a new session");
}
END_TEST

START_TEST(an_exported_name_with_an_index_is_refused) {
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_LOST,
      .lost = {.reference = {.id = {.namer = 5, .number = 1, .index = 1}, .owner = 5}}};
  assert_not_encoded(&body, "Lost.reference: Reference.id: index 1 of an exported value");
}
END_TEST

START_TEST(no_memory_is_an_error_and_leaves_nothing) {
  tfrt_counting_allocator_t accounts;
  tfrt_counting_allocator_initialize(&accounts, tfrt_allocator_system(), 64);
  tfrt_allocator_t small = tfrt_counting_allocator_interface(&accounts);
  tfrt_string_builder_t bytes = repeat(
      "\x0a\x0b\x09"
      "12345678\x10\x01",
      13, 100);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, small);
  tfrt_wire_body_t body;
  assert_error(tfrt_wire_body_decode(TFRT_WIRE_FRAME_RETAIN, tfrt_string_builder_view(&bytes),
                                     &arena, &body),
               TFRT_STATUS_RESOURCE_EXHAUSTED, "Retain: no memory left");
  ck_assert_ptr_null(body.retain.ids);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* limits = tcase_create("limits");
  tcase_add_test(limits, a_call_number_of_more_than_48_bits_is_refused);
  tcase_add_test(limits, a_name_without_a_namer_or_a_number_is_refused);
  tcase_add_test(limits, a_number_of_more_than_32_bits_is_refused_where_32_are_meant);
  tcase_add_test(limits, more_arguments_than_allowed_are_refused_before_memory_is_taken);
  tcase_add_test(limits, the_costliest_message_stays_within_its_budget);
  tcase_add_test(limits, what_is_unpacked_stays_within_its_budget);
  tcase_add_test(limits, a_list_stays_within_its_budget);
  tcase_add_test(limits, a_list_of_more_than_allowed_is_refused_before_memory_is_taken);
  tcase_add_test(limits, a_list_is_refused_where_none_may_be);
  tcase_add_test(limits, a_list_of_what_no_element_is_is_refused);
  tcase_add_test(limits, a_text_above_its_limit_is_refused);
  tcase_add_test(limits, text_that_is_not_utf8_is_refused);
  tcase_add_test(limits, a_key_of_another_length_is_refused);
  tcase_add_test(limits, an_item_is_refused_where_its_form_makes_no_sense);
  tcase_add_test(limits, an_item_has_exactly_one_form);
  tcase_add_test(limits, a_field_that_comes_twice_is_refused_or_the_last_counts);
  tcase_add_test(limits, fields_that_are_not_known_are_passed_over);
  tcase_add_test(limits, a_field_with_the_wrong_wire_type_is_refused);
  tcase_add_test(limits, a_message_that_must_be_there_is_missed);
  tcase_add_test(limits, unknown_enum_values_become_the_most_general_one);
  tcase_add_test(limits, a_body_of_an_unknown_kind_is_unimplemented);
  tcase_add_test(limits, a_short_release_of_too_many_names_is_refused);
  tcase_add_test(limits, a_view_whose_ranks_do_not_rise_is_refused);
  tcase_add_test(limits, fields_that_contradict_each_other_are_refused);
  tcase_add_test(limits, an_exported_name_with_an_index_is_refused);
  tcase_add_test(limits, no_memory_is_an_error_and_leaves_nothing);
  Suite* suite = suite_create("limits");
  suite_add_tcase(suite, limits);
  return suite;
}
