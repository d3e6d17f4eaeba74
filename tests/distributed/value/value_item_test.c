// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/value_item.h"

#include <string.h>

#include "distributed/wire/batch.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/fakes/failing_malloc.h"
#include "tests/support/test_main.h"

// --- What the tests are made of ----------------------------------------------

static const tfrt_value_item_host_t host = {.rank = 3, .incarnation = 0x3000};

static tfrt_arena_t arena;
static tfrt_counting_allocator_t books;

static void set_up(void) {
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
}

static void tear_down(void) {
  tfrt_arena_deinitialize(&arena);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

// A type whose header, one byte, says how many bytes its body has. The body must not begin
// with '!'. Counts its payloads.
#define BOX_SIZE 32
typedef struct box_s {
  uint8_t size;  // 0: there is nothing that could be sent
  char bytes[BOX_SIZE];
} box_t;

static int boxes_decoded;
static int boxes_destroyed;

static tfrt_status_t encode_box(const void* payload, tfrt_encoding_t* out_encoding) {
  const box_t* box = payload;
  if (box->size == 0) return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "it is empty");
  out_encoding->header[0] = box->size;
  out_encoding->header_size = 1;
  out_encoding->body = box->bytes;
  out_encoding->body_size = box->size;
  return NULL;
}

static tfrt_status_t decode_box(const uint8_t* header, size_t header_size, size_t body_size,
                                tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)allocator;
  *out_body = NULL;
  if (header_size != 1 || header[0] != body_size || body_size > BOX_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the header doesn't fit the body");
  }
  box_t* box = payload;
  box->size = header[0];
  *out_body = box->bytes;
  ++boxes_decoded;
  return NULL;
}

static tfrt_status_t complete_box(void* payload) {
  const box_t* box = payload;
  if (box->bytes[0] != '!') return NULL;
  return tfrt_status_create(TFRT_STATUS_DATA_LOSS, "the box is broken");
}

static void destroy_box(void* payload) {
  (void)payload;
  ++boxes_destroyed;
}

static tfrt_type_id_t box_type(void) {
  static const tfrt_codec_t codec = {encode_box, decode_box, complete_box};
  static const tfrt_type_t type = {
      .name = "!test.box", .size = sizeof(box_t), .destroy = destroy_box, .codec = &codec};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return id;
}

static tfrt_async_value_t* new_box(const char* bytes) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(box_type());
  box_t* box = tfrt_async_value_payload(value);
  box->size = (uint8_t)strlen(bytes);
  memcpy(box->bytes, bytes, box->size);
  return value;
}

static tfrt_type_id_t stay_type(void) {
  static const tfrt_type_t type = {.name = "!test.stays", .size = 4};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return id;
}

static tfrt_wire_item_t encode(tfrt_async_value_t* value, size_t limit) {
  tfrt_wire_item_t item;
  ck_assert_ptr_null(tfrt_value_item_encode(value, limit, host, &arena, &item));
  return item;
}

static tfrt_wire_value_t wire(const char* type, const char* header, tfrt_string_view_t body) {
  return (tfrt_wire_value_t){
      .type = tfrt_string_view_of(type), .header = tfrt_string_view_of(header), .body = body};
}

static tfrt_async_value_t* decode(const tfrt_wire_value_t* value) {
  return tfrt_value_item_decode(value, tfrt_counting_allocator_interface(&books));
}

// |value| decodes to an error with |code| whose message has |part| in it.
static void expect_bad(const tfrt_wire_value_t* value, tfrt_status_code_t code, const char* part) {
  tfrt_async_value_t* decoded = decode(value);
  ck_assert(tfrt_async_value_is_error(decoded));
  tfrt_status_t status = tfrt_async_value_error(decoded);
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), part), "%s", tfrt_status_message(status));
  tfrt_async_value_release(decoded);
}

// --- By value ----------------------------------------------------------------

START_TEST(every_builtin_scalar_arrives_as_it_was) {
  static const uint8_t bytes[8] = {1, 0xff, 0x80, 3, 4, 5, 6, 7};
  int seen = 0;
  for (tfrt_type_id_t id = TFRT_TYPE_CHAIN; id < TFRT_TYPE_STRING; ++id) {
    const tfrt_type_t* type = tfrt_type_get(id);
    tfrt_async_value_t* value = tfrt_async_value_create_copy(id, bytes, type->size);
    tfrt_wire_item_t item = encode(value, type->size);
    ck_assert_uint_eq(item.kind, TFRT_WIRE_ITEM_INLINE);
    tfrt_async_value_t* decoded = decode(&item.value);
    ck_assert_int_eq(tfrt_async_value_state(decoded), TFRT_ASYNC_VALUE_AVAILABLE);
    ck_assert_uint_eq(decoded->type_id, id);
    ck_assert_mem_eq(tfrt_async_value_payload(decoded), bytes, type->size);
    tfrt_async_value_release(decoded);
    tfrt_async_value_release(value);
    ++seen;
  }
  ck_assert_int_eq(seen, 12);
}
END_TEST

// Names as long as each other, with the same end, so that what is remembered of one must not be
// taken for the other.
START_TEST(types_that_come_in_turn_are_told_apart) {
  static const tfrt_type_id_t ids[] = {TFRT_TYPE_I16, TFRT_TYPE_F16, TFRT_TYPE_I32, TFRT_TYPE_F32};
  static const uint8_t bytes[4] = {1, 2, 3, 4};
  for (int i = 0; i < 12; ++i) {
    const tfrt_type_t* type = tfrt_type_get(ids[i % 4]);
    tfrt_wire_value_t value =
        wire(type->name, "", tfrt_string_view_make((const char*)bytes, type->size));
    tfrt_async_value_t* decoded = decode(&value);
    ck_assert_uint_eq(decoded->type_id, ids[i % 4]);
    tfrt_async_value_release(decoded);
  }
}
END_TEST

START_TEST(strings_arrive_with_every_byte) {
  const tfrt_string_view_t texts[] = {tfrt_string_view_make("a\0b\xff", 4),
                                      tfrt_string_view_make("", 0)};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    tfrt_async_value_t* value = tfrt_async_value_create_string(texts[i]);
    tfrt_wire_item_t item = encode(value, 4);
    ck_assert_uint_eq(item.kind, TFRT_WIRE_ITEM_INLINE);
    tfrt_async_value_t* decoded = decode(&item.value);
    tfrt_async_value_release(value);
    ck_assert(tfrt_string_view_equal(tfrt_async_value_string(decoded), texts[i]));
    tfrt_async_value_release(decoded);
  }
}
END_TEST

START_TEST(a_header_is_copied_and_a_body_borrowed) {
  tfrt_async_value_t* value = new_box("abc");
  tfrt_wire_item_t first = encode(value, BOX_SIZE);
  tfrt_async_value_t* longer = new_box("abcdef");
  tfrt_wire_item_t second = encode(longer, BOX_SIZE);
  ck_assert(tfrt_string_view_equal(first.value.type, tfrt_string_view_of("!test.box")));
  ck_assert(tfrt_string_view_equal(first.value.header, tfrt_string_view_of("\3")));
  ck_assert(tfrt_string_view_equal(second.value.header, tfrt_string_view_of("\6")));
  ck_assert_ptr_eq(first.value.body.data, ((box_t*)tfrt_async_value_payload(value))->bytes);
  ck_assert_uint_eq(first.value.body.size, 3);
  tfrt_async_value_release(longer);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(what_stands_for_a_value_is_sent_as_that_value) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* target = tfrt_async_value_create_i32(-7);
  ck_assert(tfrt_indirect_value_forward_take(indirect, target));
  tfrt_wire_item_t item = encode(&indirect->base, 4);
  ck_assert_uint_eq(item.kind, TFRT_WIRE_ITEM_INLINE);
  ck_assert(tfrt_string_view_equal(item.value.type, tfrt_string_view_of("i32")));
  ck_assert_int_eq(*(const int32_t*)(const void*)item.value.body.data, -7);
  tfrt_async_value_release(&indirect->base);
}
END_TEST

START_TEST(a_body_of_the_limit_travels_and_one_byte_more_stays) {
  tfrt_async_value_t* value = tfrt_async_value_create_string(tfrt_string_view_of("12345"));
  ck_assert_uint_eq(encode(value, 5).kind, TFRT_WIRE_ITEM_INLINE);
  ck_assert_uint_eq(encode(value, 4).kind, TFRT_WIRE_ITEM_NONE);
  ck_assert_uint_eq(encode(value, 0).kind, TFRT_WIRE_ITEM_NONE);
  tfrt_async_value_release(value);
  // A chain has no bytes at all.
  ck_assert_uint_eq(encode(tfrt_async_value_ready_chain(), 0).kind, TFRT_WIRE_ITEM_INLINE);
}
END_TEST

START_TEST(what_has_no_bytes_stays_where_it_is) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(stay_type());
  ck_assert_uint_eq(encode(value, 100).kind, TFRT_WIRE_ITEM_NONE);
  tfrt_async_value_release(value);
  // Its type has a codec, but that can't do this one.
  tfrt_async_value_t* empty = new_box("");
  ck_assert_uint_eq(encode(empty, 100).kind, TFRT_WIRE_ITEM_NONE);
  tfrt_async_value_release(empty);
}
END_TEST

// --- Errors ------------------------------------------------------------------

START_TEST(an_error_arrives_with_the_host_where_it_began) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE, "too far");
  uint64_t root_key = tfrt_status_fields(status)->root_key;
  tfrt_async_value_t* value = tfrt_async_value_create_error_take(status);
  tfrt_wire_item_t item = encode(value, 0);
  ck_assert_uint_eq(item.kind, TFRT_WIRE_ITEM_ERROR);
  tfrt_async_value_t* decoded = tfrt_value_item_decode_error(item.error);
  tfrt_async_value_release(value);
  ck_assert(tfrt_async_value_is_error(decoded));
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_async_value_error(decoded));
  ck_assert_int_eq(fields->code, TFRT_STATUS_OUT_OF_RANGE);
  ck_assert_str_eq(fields->message, "too far");
  ck_assert_uint_eq(fields->root_key, root_key);
  ck_assert_uint_eq(fields->origin.rank, host.rank);
  ck_assert_uint_eq(fields->origin.incarnation, host.incarnation);
  tfrt_async_value_release(decoded);
}
END_TEST

START_TEST(an_error_behind_an_indirect_is_sent_as_that_error) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_ABORTED, "it broke");
  tfrt_async_value_set_error(&indirect->base, status);
  tfrt_status_release(status);
  tfrt_wire_item_t item = encode(&indirect->base, 100);
  ck_assert_uint_eq(item.kind, TFRT_WIRE_ITEM_ERROR);
  ck_assert_uint_eq(item.error->code, TFRT_STATUS_ABORTED);
  ck_assert(tfrt_string_view_equal(item.error->message, tfrt_string_view_of("it broke")));
  tfrt_async_value_release(&indirect->base);
}
END_TEST

START_TEST(an_error_with_a_code_that_nobody_knows_is_an_error_still) {
  tfrt_wire_error_t error = {.code = 99, .message = tfrt_string_view_of("from the future")};
  tfrt_async_value_t* decoded = tfrt_value_item_decode_error(&error);
  ck_assert(tfrt_async_value_is_error(decoded));
  tfrt_status_t status = tfrt_async_value_error(decoded);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNKNOWN);
  ck_assert_str_eq(tfrt_status_message(status), "from the future");
  tfrt_async_value_release(decoded);
}
END_TEST

// --- What must not be believed -----------------------------------------------

START_TEST(a_type_that_is_not_known_here_is_an_error_that_names_it) {
  tfrt_wire_value_t value = wire("!other.thing", "", tfrt_string_view_of("x"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "!other.thing");
  value = wire("", "", tfrt_string_view_of("x"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "type");
  // The mark of "no type".
  value = wire("none", "", tfrt_string_view_of(""));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "none");
}
END_TEST

START_TEST(a_name_is_the_whole_name) {
  tfrt_wire_value_t value = wire("i32", "", tfrt_string_view_of("1234"));
  tfrt_async_value_t* good = decode(&value);
  ck_assert(!tfrt_async_value_is_error(good));
  tfrt_async_value_release(good);
  value.type = tfrt_string_view_make("i32", 2);
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "type");
  value.type = tfrt_string_view_make("i32\0x", 5);
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "type");
  value.type = tfrt_string_view_make("i32\0", 4);
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "type");
}
END_TEST

START_TEST(a_name_beyond_the_limit_is_an_error_that_tells_its_size) {
  char name[TFRT_WIRE_MAX_TYPE_NAME_SIZE + 2];
  memset(name, 'x', sizeof(name));
  tfrt_wire_value_t value = wire("", "", tfrt_string_view_of(""));
  value.type = tfrt_string_view_make(name, TFRT_WIRE_MAX_TYPE_NAME_SIZE);
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "doesn't know");
  value.type.size = TFRT_WIRE_MAX_TYPE_NAME_SIZE + 1;
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "129 bytes");
}
END_TEST

START_TEST(a_type_without_codec_can_not_come_from_elsewhere) {
  stay_type();
  tfrt_wire_value_t value = wire("!test.stays", "", tfrt_string_view_of("1234"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "!test.stays");
}
END_TEST

START_TEST(a_scalar_of_another_size_is_an_error) {
  static const struct {
    const char* type;
    const char* header;
    size_t body_size;
  } cases[] = {{"i32", "", 3}, {"i32", "", 5},         {"i32", "", 0}, {"i1", "", 0},
               {"f64", "", 4}, {"!tfrt.chain", "", 1}, {"i8", "h", 1}, {"!tfrt.chain", "h", 0}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    tfrt_wire_value_t value = wire(cases[i].type, cases[i].header,
                                   tfrt_string_view_make("\0\0\0\0\0\0\0", cases[i].body_size));
    expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "came with a header of");
  }
}
END_TEST

START_TEST(a_string_has_no_header) {
  tfrt_wire_value_t value = wire("!tfrt.string", "h", tfrt_string_view_of("abc"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "header of 1");
}
END_TEST

START_TEST(an_i1_is_0_or_1) {
  tfrt_wire_value_t value = wire("i1", "", tfrt_string_view_make("\2", 1));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "i1 came as 2");
}
END_TEST

START_TEST(a_header_that_does_not_fit_the_body_constructs_nothing) {
  box_type();
  tfrt_wire_value_t value = wire("!test.box", "\4", tfrt_string_view_of("abc"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "doesn't fit the body");
  value = wire("!test.box", "", tfrt_string_view_of("abc"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "doesn't fit the body");
  value = wire("!test.box", "\3\3", tfrt_string_view_of("abc"));
  expect_bad(&value, TFRT_STATUS_INVALID_ARGUMENT, "doesn't fit the body");
  ck_assert_int_eq(boxes_decoded, 0);
  ck_assert_int_eq(boxes_destroyed, 0);
}
END_TEST

START_TEST(a_bad_body_destroys_what_was_made_for_it_once) {
  box_type();
  tfrt_wire_value_t value = wire("!test.box", "\3", tfrt_string_view_of("!bc"));
  expect_bad(&value, TFRT_STATUS_DATA_LOSS, "the box is broken");
  ck_assert_int_eq(boxes_decoded, 1);
  ck_assert_int_eq(boxes_destroyed, 1);
}
END_TEST

// --- A body that comes in pieces ---------------------------------------------

// Begins a box for 4 bytes.
static tfrt_value_arrival_t begin_box(void) {
  box_type();
  tfrt_value_arrival_t arrival;
  tfrt_status_t status =
      tfrt_value_item_begin(tfrt_string_view_of("!test.box"), tfrt_string_view_of("\4"), 4, NULL,
                            tfrt_counting_allocator_interface(&books), &arrival);
  ck_assert_ptr_null(status);
  ck_assert_ptr_nonnull(arrival.body);
  ck_assert_ptr_null(arrival.sink);
  return arrival;
}

START_TEST(a_value_is_there_when_its_body_is_complete) {
  tfrt_value_arrival_t arrival = begin_box();
  memcpy(arrival.body, "ab", 2);
  ck_assert_int_eq(tfrt_async_value_state(arrival.value), TFRT_ASYNC_VALUE_UNRESOLVED);
  memcpy((char*)arrival.body + 2, "cd", 2);
  tfrt_value_item_complete(&arrival);
  ck_assert_int_eq(tfrt_async_value_state(arrival.value), TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_mem_eq(((box_t*)tfrt_async_value_payload(arrival.value))->bytes, "abcd", 4);
  tfrt_async_value_release(arrival.value);
  ck_assert_int_eq(boxes_destroyed, 1);
}
END_TEST

START_TEST(a_body_that_never_comes_gives_its_room_back) {
  tfrt_async_value_release(begin_box().value);
  ck_assert_int_eq(boxes_destroyed, 1);
  // As an error, too: that is what a lost sender leaves.
  tfrt_async_value_t* value = begin_box().value;
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "lost");
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
  ck_assert_int_eq(boxes_destroyed, 2);
  tfrt_async_value_release(value);
  ck_assert_int_eq(boxes_destroyed, 2);
}
END_TEST

START_TEST(what_can_not_begin_leaves_nothing_to_fill) {
  tfrt_value_arrival_t arrival;
  memset(&arrival, 0xff, sizeof(arrival));
  tfrt_status_t status =
      tfrt_value_item_begin(tfrt_string_view_of("i32"), tfrt_string_view_of(""), 5, NULL,
                            tfrt_counting_allocator_interface(&books), &arrival);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
  ck_assert_ptr_null(arrival.value);
  ck_assert_ptr_null(arrival.body);
}
END_TEST

// --- Without memory ----------------------------------------------------------

START_TEST(a_size_that_no_host_has_is_an_error) {
  books.limit_bytes = 1 << 20;
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, (1 << 20) + 1};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    tfrt_value_arrival_t arrival;
    tfrt_status_t status =
        tfrt_value_item_begin(tfrt_string_view_of("!tfrt.string"), tfrt_string_view_of(""),
                              sizes[i], NULL, tfrt_counting_allocator_interface(&books), &arrival);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_null(arrival.value);
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(without_memory_a_value_decodes_to_an_error) {
  tfrt_wire_value_t value = wire("!tfrt.string", "", tfrt_string_view_of("abc"));
  int64_t failures = 1;
  int64_t successes = 0;
  for (; failures > 0; ++successes) {
    tfrt_failing_malloc_arm(successes);
    tfrt_async_value_t* decoded = decode(&value);
    failures = tfrt_failing_malloc_disarm();
    if (failures > 0) {
      ck_assert(tfrt_async_value_is_error(decoded));
      ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(decoded)),
                       TFRT_STATUS_RESOURCE_EXHAUSTED);
    } else {
      ck_assert(
          tfrt_string_view_equal(tfrt_async_value_string(decoded), tfrt_string_view_of("abc")));
    }
    tfrt_async_value_release(decoded);
  }
  // The value and its text, at least.
  ck_assert_int_ge(successes, 3);
}
END_TEST

// Encodes |value| with ever more memory until it works, as |kind|.
static void encode_with_little_memory(tfrt_async_value_t* value, tfrt_wire_item_kind_t kind) {
  int64_t failures = 1;
  int64_t successes = 0;
  for (; failures > 0; ++successes) {
    tfrt_arena_t little;
    tfrt_arena_initialize(&little, tfrt_allocator_system());
    tfrt_wire_item_t item;
    tfrt_failing_malloc_arm(successes);
    tfrt_status_t status = tfrt_value_item_encode(value, 100, host, &little, &item);
    failures = tfrt_failing_malloc_disarm();
    ck_assert_int_eq(tfrt_status_code(status),
                     failures > 0 ? TFRT_STATUS_RESOURCE_EXHAUSTED : TFRT_STATUS_OK);
    ck_assert_uint_eq(item.kind, failures > 0 ? TFRT_WIRE_ITEM_NONE : kind);
    tfrt_status_release(status);
    tfrt_arena_deinitialize(&little);
  }
  ck_assert_int_ge(successes, 2);
}

START_TEST(without_memory_nothing_is_encoded_by_halves) {
  tfrt_async_value_t* box = new_box("abc");
  encode_with_little_memory(box, TFRT_WIRE_ITEM_INLINE);
  tfrt_async_value_release(box);
  tfrt_async_value_t* error =
      tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_ABORTED, "it broke"));
  encode_with_little_memory(error, TFRT_WIRE_ITEM_ERROR);
  tfrt_async_value_release(error);
}
END_TEST

// --- What an item takes ------------------------------------------------------

// The bytes of a Result's body with |item| in it, less those of one without.
static size_t size_in_a_result(const tfrt_wire_item_t* item) {
  const tfrt_wire_result_item_t result = {.index = TFRT_WIRE_MAX_RESULTS - 1, .item = *item};
  size_t sizes[2];
  for (size_t i = 0; i < 2; ++i) {
    const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RESULT,
                                   .result = {.call = 1, .results = &result, .result_count = i}};
    tfrt_string_builder_t bytes;
    tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
    tfrt_status_t status = tfrt_wire_body_encode(&body, &bytes);
    ck_assert_msg(!status, "%s", tfrt_status_message(status));
    sizes[i] = tfrt_string_builder_view(&bytes).size;
    tfrt_string_builder_deinitialize(&bytes);
  }
  return sizes[1] - sizes[0];
}

static char full[TFRT_WIRE_MAX_INLINE_SIZE];

static tfrt_string_view_t view_of(size_t size) { return tfrt_string_view_make(full, size); }

// Checks that |item|, whose every field is as long as it can be, takes no more than is said.
static void expect_size(const tfrt_wire_item_t* item) {
  ck_assert_uint_le(size_in_a_result(item), tfrt_value_item_size(item));
}

START_TEST(no_error_takes_more_than_is_said) {
  memset(full, 'x', sizeof(full));
  const tfrt_wire_origin_t origin = {.rank = UINT32_MAX,
                                     .incarnation = UINT64_MAX,
                                     .function = view_of(TFRT_WIRE_MAX_NAME_SIZE),
                                     .kernel = view_of(TFRT_WIRE_MAX_NAME_SIZE),
                                     .file = view_of(TFRT_WIRE_MAX_PATH_SIZE),
                                     .line = UINT32_MAX,
                                     .column = UINT32_MAX};
  tfrt_string_view_t causes[TFRT_WIRE_MAX_CAUSES];
  for (size_t i = 0; i < TFRT_WIRE_MAX_CAUSES; ++i) causes[i] = view_of(TFRT_WIRE_MAX_CAUSE_SIZE);
  const tfrt_wire_error_t error = {.code = TFRT_STATUS_UNAUTHENTICATED,
                                   .message = view_of(TFRT_WIRE_MAX_MESSAGE_SIZE),
                                   .origin = &origin,
                                   .call = TFRT_WIRE_MAX_NUMBER,
                                   .root_key = UINT64_MAX,
                                   .derived = true,
                                   .may_have_run = true,
                                   .causes = causes,
                                   .cause_count = TFRT_WIRE_MAX_CAUSES,
                                   .truncated = true};
  expect_size(&(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error});
}
END_TEST

START_TEST(no_value_takes_more_than_is_said) {
  memset(full, 'x', sizeof(full));
  const tfrt_wire_item_t items[] = {
      {.kind = TFRT_WIRE_ITEM_INLINE,
       .value = {.type = view_of(TFRT_WIRE_MAX_TYPE_NAME_SIZE),
                 .header = view_of(TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
                 .body = view_of(TFRT_WIRE_MAX_INLINE_SIZE)}},
      {.kind = TFRT_WIRE_ITEM_AVAILABLE,
       .available = {.type = view_of(TFRT_WIRE_MAX_TYPE_NAME_SIZE), .size = UINT64_MAX}},
      {.kind = TFRT_WIRE_ITEM_REFERENCE,
       .reference = {.id = {.namer = UINT64_MAX,
                            .number = TFRT_WIRE_MAX_NUMBER,
                            .index = TFRT_WIRE_MAX_INDEX},
                     .owner = UINT64_MAX - 1,
                     .owner_rank = UINT32_MAX,
                     .namer_rank = UINT32_MAX,
                     .is_chain = true,
                     .is_mutable = true,
                     .is_recoverable = true,
                     .is_pushed = true}},
      {.kind = TFRT_WIRE_ITEM_SAME_AS_ARGUMENT,
       .same_as_argument = {.argument = TFRT_WIRE_MAX_ARGUMENTS - 1}}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(items); ++i) expect_size(&items[i]);
}
END_TEST

START_TEST(room_is_for_what_is_larger_than_a_reference) {
  memset(full, 'x', sizeof(full));
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_INLINE, .value = {.body = view_of(100)}};
  const size_t size = tfrt_value_item_size(&item);
  size_t room = 2 * size - 1;
  ck_assert(tfrt_value_item_take_room(&item, &room));
  ck_assert_uint_eq(room, size - 1);
  ck_assert(!tfrt_value_item_take_room(&item, &room));
  ck_assert_uint_eq(room, size - 1);
  item.value.body = view_of(4);
  room = 0;
  ck_assert(tfrt_value_item_take_room(&item, &room));
  ck_assert_uint_eq(room, 0);
}
END_TEST

static void add_tests(TCase* tests) {
  tcase_add_test(tests, every_builtin_scalar_arrives_as_it_was);
  tcase_add_test(tests, types_that_come_in_turn_are_told_apart);
  tcase_add_test(tests, strings_arrive_with_every_byte);
  tcase_add_test(tests, a_header_is_copied_and_a_body_borrowed);
  tcase_add_test(tests, what_stands_for_a_value_is_sent_as_that_value);
  tcase_add_test(tests, a_body_of_the_limit_travels_and_one_byte_more_stays);
  tcase_add_test(tests, what_has_no_bytes_stays_where_it_is);
  tcase_add_test(tests, an_error_arrives_with_the_host_where_it_began);
  tcase_add_test(tests, an_error_behind_an_indirect_is_sent_as_that_error);
  tcase_add_test(tests, an_error_with_a_code_that_nobody_knows_is_an_error_still);
  tcase_add_test(tests, a_type_that_is_not_known_here_is_an_error_that_names_it);
  tcase_add_test(tests, a_name_is_the_whole_name);
  tcase_add_test(tests, a_name_beyond_the_limit_is_an_error_that_tells_its_size);
  tcase_add_test(tests, a_type_without_codec_can_not_come_from_elsewhere);
  tcase_add_test(tests, a_scalar_of_another_size_is_an_error);
  tcase_add_test(tests, a_string_has_no_header);
  tcase_add_test(tests, an_i1_is_0_or_1);
  tcase_add_test(tests, a_header_that_does_not_fit_the_body_constructs_nothing);
  tcase_add_test(tests, a_bad_body_destroys_what_was_made_for_it_once);
  tcase_add_test(tests, a_value_is_there_when_its_body_is_complete);
  tcase_add_test(tests, a_body_that_never_comes_gives_its_room_back);
  tcase_add_test(tests, what_can_not_begin_leaves_nothing_to_fill);
  tcase_add_test(tests, a_size_that_no_host_has_is_an_error);
  tcase_add_test(tests, without_memory_a_value_decodes_to_an_error);
  tcase_add_test(tests, without_memory_nothing_is_encoded_by_halves);
  tcase_add_test(tests, no_error_takes_more_than_is_said);
  tcase_add_test(tests, no_value_takes_more_than_is_said);
  tcase_add_test(tests, room_is_for_what_is_larger_than_a_reference);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("value item");
  TCase* tests = tcase_create("values");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  add_tests(tests);
  suite_add_tcase(suite, tests);
  return suite;
}
