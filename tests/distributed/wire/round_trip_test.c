// SPDX-License-Identifier: Apache-2.0
//
// Every sample survives the way there and back; protobuf-c reads the same bytes and
// writes the same bytes; and damage anywhere is an error or another good message.
#include <inttypes.h>
#include <string.h>

#include "distributed/wire/codec.h"
#include "host_runtime/base/random.h"
#include "tests/distributed/wire/peer_descriptors.h"
#include "tests/distributed/wire/samples.h"
#include "tests/support/test_main.h"

TFRT_WIRE_CALL_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

// One sample of any sort.
typedef struct subject_s {
  const tfrt_wire_message_t* message;
  const void* object;
} subject_t;

// Room for any of the structs.
typedef union any_message_u {
  tfrt_wire_body_t body;
  tfrt_wire_batch_t batch;
  tfrt_wire_bulk_t up;
  tfrt_wire_bulk_t down;
} any_message_t;

static size_t subject_count(void) {
  return tfrt_wire_sample_body_count + tfrt_wire_sample_batch_count + tfrt_wire_sample_up_count +
         tfrt_wire_sample_down_count;
}

static subject_t subject_at(size_t index) {
  if (index < tfrt_wire_sample_body_count) {
    const tfrt_wire_body_t* body = &tfrt_wire_sample_bodies[index];
    return (subject_t){tfrt_wire_frame_message_of(body->kind), &body->hello};
  }
  index -= tfrt_wire_sample_body_count;
  if (index < tfrt_wire_sample_batch_count) {
    return (subject_t){&tfrt_wire_batch_message, &tfrt_wire_sample_batches[index]};
  }
  index -= tfrt_wire_sample_batch_count;
  if (index < tfrt_wire_sample_up_count) {
    return (subject_t){&tfrt_wire_bulk_up_message, &tfrt_wire_sample_ups[index]};
  }
  index -= tfrt_wire_sample_up_count;
  return (subject_t){&tfrt_wire_bulk_down_message, &tfrt_wire_sample_downs[index]};
}

static void assert_ok(tfrt_status_t status) {
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

// Encodes |subject| into a fresh builder.
static tfrt_string_builder_t encode(subject_t subject) {
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
  assert_ok(tfrt_wire_encode(subject.message, subject.object, &builder));
  return builder;
}

static void assert_same_bytes(const char* name, tfrt_string_view_t a, tfrt_string_view_t b) {
  ck_assert_msg(tfrt_string_view_equal(a, b), "%s: %zu bytes, or others than the %zu expected",
                name, a.size, b.size);
}

START_TEST(there_is_a_sample_of_each_kind) {
  for (uint32_t kind = 0; kind < 1000; ++kind) {
    bool is_there = false;
    for (size_t i = 0; i < tfrt_wire_sample_body_count; ++i) {
      is_there |= tfrt_wire_sample_bodies[i].kind == kind;
    }
    ck_assert_msg(is_there == tfrt_wire_frame_kind_is_known(kind), "kind %u", kind);
  }
}
END_TEST

START_TEST(what_is_decoded_encodes_to_the_same_bytes) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t first = encode(subject);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  any_message_t copy;
  memset(&copy, 0xee, sizeof(copy));
  assert_ok(tfrt_wire_decode(subject.message, tfrt_string_builder_view(&first), &arena, &copy));
  tfrt_string_builder_t second = encode((subject_t){subject.message, &copy});
  assert_same_bytes(subject.message->name, tfrt_string_builder_view(&second),
                    tfrt_string_builder_view(&first));
  ck_assert_uint_eq(tfrt_wire_encoded_size(subject.message, subject.object), first.size);
  tfrt_string_builder_deinitialize(&second);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&first);
}
END_TEST

START_TEST(protobuf_c_reads_and_writes_the_same_bytes) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t ours = encode(subject);
  const ProtobufCMessageDescriptor* descriptor = tfrt_peer_descriptor(subject.message->name);
  ck_assert_ptr_nonnull(descriptor);
  ProtobufCMessage* message =
      protobuf_c_message_unpack(descriptor, NULL, ours.size, (const uint8_t*)ours.data);
  ck_assert_msg(message != NULL, "%s: protobuf-c can't read it", descriptor->short_name);
  ck_assert_uint_eq(message->n_unknown_fields, 0);
  tfrt_string_builder_t theirs;
  tfrt_string_builder_initialize(&theirs, tfrt_allocator_system());
  tfrt_string_builder_append_fill(&theirs, 0, protobuf_c_message_get_packed_size(message));
  ck_assert_uint_eq(theirs.size, ours.size);
  if (theirs.size > 0) protobuf_c_message_pack(message, (uint8_t*)theirs.data);
  assert_same_bytes(subject.message->name, tfrt_string_builder_view(&theirs),
                    tfrt_string_builder_view(&ours));
  protobuf_c_message_free_unpacked(message, NULL);
  tfrt_string_builder_deinitialize(&theirs);
  tfrt_string_builder_deinitialize(&ours);
}
END_TEST

static bool protobuf_c_reads(const char* name, tfrt_string_view_t bytes) {
  ProtobufCMessage* message = protobuf_c_message_unpack(tfrt_peer_descriptor(name), NULL,
                                                        bytes.size, (const uint8_t*)bytes.data);
  if (!message) return false;
  protobuf_c_message_free_unpacked(message, NULL);
  return true;
}

// Decodes |bytes|, from a copy that ends where they end. Good ones must encode again and
// be good for protobuf-c too, bad ones must say why.
static void try_bytes(const tfrt_wire_message_t* message, tfrt_string_view_t bytes) {
  tfrt_allocator_t heap = tfrt_allocator_system();
  char* exact = tfrt_allocator_allocate(heap, bytes.size);
  if (bytes.size > 0) memcpy(exact, bytes.data, bytes.size);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, heap);
  any_message_t copy;
  tfrt_status_t status =
      tfrt_wire_decode(message, tfrt_string_view_make(exact, bytes.size), &arena, &copy);
  if (status) {
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_msg(strncmp(tfrt_status_message(status), message->name, strlen(message->name)) == 0,
                  "not named: %s", tfrt_status_message(status));
    tfrt_status_release(status);
  } else {
    tfrt_string_builder_t again = encode((subject_t){message, &copy});
    ck_assert_msg(protobuf_c_reads(message->name, bytes), "%s: protobuf-c refuses what we read",
                  message->name);
    tfrt_string_builder_deinitialize(&again);
  }
  tfrt_arena_deinitialize(&arena);
  tfrt_allocator_free(heap, exact, bytes.size);
}

START_TEST(a_message_that_is_cut_off_is_an_error_or_a_shorter_one) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t whole = encode(subject);
  for (size_t size = 0; size < whole.size; ++size) {
    try_bytes(subject.message, tfrt_string_view_make(whole.data, size));
  }
  tfrt_string_builder_deinitialize(&whole);
}
END_TEST

START_TEST(damage_is_an_error_or_another_message) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t whole = encode(subject);
  tfrt_random_t random;
  tfrt_random_initialize(&random, (uint64_t)_i);
  for (unsigned round = 0; round < 1000 && whole.size > 0; ++round) {
    char* byte = &whole.data[tfrt_random_below(&random, whole.size)];
    char before = *byte;
    *byte = (char)tfrt_random_next(&random);
    try_bytes(subject.message, tfrt_string_builder_view(&whole));
    // One in four stays, so that damage adds up.
    if (tfrt_random_below(&random, 4) != 0) *byte = before;
  }
  tfrt_string_builder_deinitialize(&whole);
}
END_TEST

START_TEST(a_field_of_a_later_version_is_passed_over) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t whole = encode(subject);
  size_t size = whole.size;
  // Field 1000, once of each wire type.
  tfrt_string_builder_append(&whole, "\xc0\x3e\x05", 3);
  tfrt_string_builder_append(&whole,
                             "\xc1\x3e"
                             "12345678",
                             10);
  tfrt_string_builder_append(&whole,
                             "\xc2\x3e\x04"
                             "1234",
                             7);
  tfrt_string_builder_append(&whole,
                             "\xc5\x3e"
                             "1234",
                             6);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  any_message_t copy;
  assert_ok(tfrt_wire_decode(subject.message, tfrt_string_builder_view(&whole), &arena, &copy));
  tfrt_string_builder_t again = encode((subject_t){subject.message, &copy});
  assert_same_bytes(subject.message->name, tfrt_string_builder_view(&again),
                    tfrt_string_view_make(whole.data, size));
  tfrt_string_builder_deinitialize(&again);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&whole);
}
END_TEST

// |message| without walks of its own.
static tfrt_wire_message_t without_walks(const tfrt_wire_message_t* message) {
  tfrt_wire_message_t copy = *message;
  copy.write = NULL;
  copy.read = NULL;
  return copy;
}

// Decodes |bytes| as |message|: writes the bytes of a second encoding, the same or shorter ones, or
// the error.
static void describe(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                     tfrt_string_builder_t* out) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  any_message_t object;
  tfrt_status_t status = tfrt_wire_decode(message, bytes, &arena, &object);
  if (status) {
    tfrt_string_builder_append_text(out, tfrt_status_message(status));
    tfrt_status_release(status);
  } else {
    assert_ok(tfrt_wire_encode(message, &object, out));
  }
  tfrt_arena_deinitialize(&arena);
}

// The same with its own walks and with those for any table.
static void compare_walks(const tfrt_wire_message_t* message, tfrt_string_view_t bytes) {
  tfrt_wire_message_t plain = without_walks(message);
  tfrt_string_builder_t own, any;
  tfrt_string_builder_initialize(&own, tfrt_allocator_system());
  tfrt_string_builder_initialize(&any, tfrt_allocator_system());
  describe(message, bytes, &own);
  describe(&plain, bytes, &any);
  assert_same_bytes(message->name, tfrt_string_builder_view(&own), tfrt_string_builder_view(&any));
  tfrt_string_builder_deinitialize(&any);
  tfrt_string_builder_deinitialize(&own);
}

START_TEST(walks_of_its_own_do_what_those_for_any_table_do) {
  subject_t subject = subject_at((size_t)_i);
  tfrt_string_builder_t whole = encode(subject);
  for (size_t size = 0; size <= whole.size; ++size) {
    compare_walks(subject.message, tfrt_string_view_make(whole.data, size));
  }
  tfrt_random_t random;
  tfrt_random_initialize(&random, (uint64_t)_i);
  for (unsigned round = 0; round < 1000 && whole.size > 0; ++round) {
    char* byte = &whole.data[tfrt_random_below(&random, whole.size)];
    char before = *byte;
    *byte = (char)tfrt_random_next(&random);
    compare_walks(subject.message, tfrt_string_builder_view(&whole));
    if (tfrt_random_below(&random, 4) != 0) *byte = before;
  }
  tfrt_string_builder_deinitialize(&whole);
}
END_TEST

// Each of the parts that have walks of their own, for itself.
START_TEST(a_part_with_walks_of_its_own_is_read_as_any_other) {
  const tfrt_wire_message_t* parts[] = {&tfrt_wire_value_message, &tfrt_wire_item_message,
                                        &tfrt_wire_frame_message, &tfrt_wire_invoke_message,
                                        &tfrt_wire_result_message};
  const tfrt_wire_message_t* part = parts[_i];
  ck_assert(part->read && part->write);
  tfrt_random_t random;
  tfrt_random_initialize(&random, (uint64_t)_i);
  for (unsigned round = 0; round < 20000; ++round) {
    // Tags of known fields more often than others, and contents that are short.
    char bytes[16];
    size_t size = tfrt_random_below(&random, sizeof(bytes) + 1);
    for (size_t i = 0; i < size; ++i) {
      const tfrt_wire_field_t* row = &part->fields[tfrt_random_below(&random, part->field_count)];
      uint64_t any = tfrt_random_next(&random);
      bytes[i] = (char)(any % 3 == 0 ? row->tag : any % 3 == 1 ? any >> 8 & 7 : any >> 8);
    }
    compare_walks(part, tfrt_string_view_make(bytes, size));
  }
}
END_TEST

// Both refuse a broken row, with the same words.
START_TEST(walks_of_its_own_refuse_what_breaks_a_row) {
  tfrt_wire_invoke_t good = {0};
  for (size_t i = 0; i < tfrt_wire_sample_body_count; ++i) {
    if (tfrt_wire_sample_bodies[i].kind == TFRT_WIRE_FRAME_INVOKE) {
      good = tfrt_wire_sample_bodies[i].invoke;
    }
  }
  tfrt_wire_item_t wrong_kind = {.kind = TFRT_WIRE_ITEM_AVAILABLE};
  tfrt_wire_item_t no_type = {.kind = TFRT_WIRE_ITEM_INLINE};
  tfrt_wire_invoke_t bad[6];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) bad[i] = good;
  bad[0].call = 0;
  bad[1].call = TFRT_WIRE_MAX_NUMBER + 1;
  bad[2].result_count = TFRT_WIRE_MAX_RESULTS + 1;
  bad[3].device = tfrt_string_view_make("\xff", 1);
  bad[4].arguments = &wrong_kind;
  bad[4].argument_count = 1;
  bad[5].arguments = &no_type;
  bad[5].argument_count = 1;
  tfrt_wire_message_t plain = without_walks(&tfrt_wire_invoke_message);
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_status_t own = tfrt_wire_encode(&tfrt_wire_invoke_message, &bad[_i], &out);
  tfrt_status_t any = tfrt_wire_encode(&plain, &bad[_i], &out);
  ck_assert(own && any);
  ck_assert_str_eq(tfrt_status_message(own), tfrt_status_message(any));
  ck_assert_uint_eq(out.size, 0);
  tfrt_status_release(any);
  tfrt_status_release(own);
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* trips = tcase_create("round_trip");
  int count = (int)subject_count();
  tcase_set_timeout(trips, 60);
  tcase_add_test(trips, there_is_a_sample_of_each_kind);
  tcase_add_loop_test(trips, what_is_decoded_encodes_to_the_same_bytes, 0, count);
  tcase_add_loop_test(trips, protobuf_c_reads_and_writes_the_same_bytes, 0, count);
  tcase_add_loop_test(trips, a_message_that_is_cut_off_is_an_error_or_a_shorter_one, 0, count);
  tcase_add_loop_test(trips, damage_is_an_error_or_another_message, 0, count);
  tcase_add_loop_test(trips, walks_of_its_own_do_what_those_for_any_table_do, 0, count);
  tcase_add_loop_test(trips, a_part_with_walks_of_its_own_is_read_as_any_other, 0, 5);
  tcase_add_loop_test(trips, walks_of_its_own_refuse_what_breaks_a_row, 0, 6);
  tcase_add_loop_test(trips, a_field_of_a_later_version_is_passed_over, 0, count);
  Suite* suite = suite_create("round_trip");
  suite_add_tcase(suite, trips);
  return suite;
}
