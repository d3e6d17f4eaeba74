// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static void assert_code(tfrt_status_t status, tfrt_status_code_t code) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  tfrt_status_release(status);
}

START_TEST(builtin_types_are_known_by_their_mlir_names) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert(tfrt_type_find("!tfrt.chain", &id));
  ck_assert_uint_eq(id, TFRT_TYPE_CHAIN);
  ck_assert(tfrt_type_find("f64", &id));
  ck_assert_uint_eq(id, TFRT_TYPE_F64);
  ck_assert_uint_eq(tfrt_type_get(TFRT_TYPE_F64)->size, 8);
  ck_assert(!tfrt_type_find("none", &id));
  ck_assert(!tfrt_type_find("f80", &id));
  ck_assert_uint_eq(id, TFRT_TYPE_NONE);
}
END_TEST

START_TEST(a_registered_type_is_found_and_the_same_again_is_the_same) {
  tfrt_type_t type = {.name = "!test.a", .size = 24};
  tfrt_type_id_t first = TFRT_TYPE_NONE, second = TFRT_TYPE_NONE, found = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &first));
  ck_assert_uint_ge(first, TFRT_TYPE_FIRST_REGISTERED);
  ck_assert_uint_eq(tfrt_type_get(first)->size, 24);
  ck_assert_ptr_null(tfrt_type_register(&type, &second));
  ck_assert_uint_eq(first, second);
  ck_assert(tfrt_type_find("!test.a", &found));
  ck_assert_uint_eq(found, first);
}
END_TEST

START_TEST(another_type_of_a_known_name_is_refused) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  tfrt_type_t type = {.name = "i32", .size = 8};
  assert_code(tfrt_type_register(&type, &id), TFRT_STATUS_ALREADY_EXISTS);
  ck_assert_uint_eq(id, TFRT_TYPE_NONE);
  type.name = "";
  assert_code(tfrt_type_register(&type, &id), TFRT_STATUS_INVALID_ARGUMENT);
}
END_TEST

static size_t header_size;

static tfrt_status_t encode(const void* payload, tfrt_encoding_t* out_encoding) {
  (void)payload;
  out_encoding->header_size = header_size;
  return NULL;
}

static tfrt_status_t decode(const uint8_t* header, size_t size, size_t body_size,
                            tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)size, (void)body_size, (void)allocator, (void)payload, (void)out_body;
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "not here");
}

START_TEST(a_codec_that_breaks_its_rules_is_an_error_that_names_the_type) {
  static const tfrt_codec_t codec = {.encode = encode, .decode = decode};
  const tfrt_type_t type = {.name = "!test.long", .size = 8, .codec = &codec};
  const tfrt_type_t dumb = {.name = "!test.dumb", .size = 8};
  uint64_t payload = 0;
  tfrt_encoding_t encoding;
  header_size = TFRT_CODEC_MAX_HEADER_SIZE;
  ck_assert_ptr_null(tfrt_type_encode(&type, &payload, &encoding));
  ck_assert_uint_eq(encoding.body_size, 0);
  header_size = TFRT_CODEC_MAX_HEADER_SIZE + 1;
  tfrt_status_t status = tfrt_type_encode(&type, &payload, &encoding);
  ck_assert_str_eq(tfrt_status_message(status),
                   "the codec of !test.long makes a header of 161 bytes, and at most 160 fit; the "
                   "rest belongs into the body");
  assert_code(status, TFRT_STATUS_FAILED_PRECONDITION);
  assert_code(tfrt_type_encode(&dumb, &payload, &encoding), TFRT_STATUS_FAILED_PRECONDITION);
}
END_TEST

// Fails unless |type| is refused as a mistake with |part| in its message.
static void expect_mistake(const tfrt_type_t* type, const char* part) {
  tfrt_type_id_t id = 77;
  tfrt_status_t status = tfrt_type_register(type, &id);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
  ck_assert_uint_eq(id, TFRT_TYPE_NONE);
  ck_assert(!tfrt_type_find(type->name, &id));
}

START_TEST(names_begin_with_the_sign_of_types) {
  expect_mistake(&(tfrt_type_t){.name = "polygon"}, "'polygon': the name of a type begins with");
  expect_mistake(&(tfrt_type_t){.name = "i33"}, "'i33'");
  expect_mistake(&(tfrt_type_t){.name = "!"}, "'!my.type'");
}
END_TEST

START_TEST(names_with_one_hash_are_two_types) {
  static const char* const names[] = {"!test.t358", "!test.t382834"};
  ck_assert_uint_eq((uint32_t)tfrt_hash_bytes(names[0], strlen(names[0])),
                    (uint32_t)tfrt_hash_bytes(names[1], strlen(names[1])));
  tfrt_type_id_t ids[2];
  for (int i = 0; i < 2; ++i) {
    tfrt_type_id_t found;
    ck_assert(!tfrt_type_find(names[i], &found));
    tfrt_type_t type = {.name = names[i], .size = (uint32_t)i + 1};
    ck_assert_ptr_null(tfrt_type_register(&type, &ids[i]));
    ck_assert(tfrt_type_find(names[i], &found));
    ck_assert_uint_eq(found, ids[i]);
    ck_assert_str_eq(tfrt_type_get(found)->name, names[i]);
  }
  ck_assert_uint_ne(ids[0], ids[1]);
}
END_TEST

START_TEST(half_a_codec_is_refused) {
  const tfrt_codec_t* whole = tfrt_type_get(TFRT_TYPE_F64)->codec;
  tfrt_codec_t codec = {NULL, NULL, NULL};
  expect_mistake(&(tfrt_type_t){.name = "!test.half", .codec = &codec},
                 "the codec of type '!test.half' lacks its encode function");
  codec.encode = whole->encode;
  expect_mistake(&(tfrt_type_t){.name = "!test.half", .codec = &codec}, "its decode function");
  tfrt_type_id_t id;
  ck_assert_ptr_null(tfrt_type_register(&(tfrt_type_t){.name = "!test.half", .codec = whole}, &id));
}
END_TEST

static tfrt_async_value_t* const* no_elements(const void* payload, uint32_t* out_count) {
  (void)payload;
  *out_count = 0;
  return NULL;
}

static tfrt_status_t construct_none(uint32_t count, tfrt_allocator_t allocator, void* payload,
                                    tfrt_async_value_t*** out_elements) {
  (void)count, (void)allocator, (void)payload, (void)out_elements;
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "not here");
}

START_TEST(an_aggregate_has_no_codec) {
  tfrt_aggregate_t aggregate = {NULL, NULL};
  expect_mistake(&(tfrt_type_t){.name = "!test.both", .aggregate = &aggregate},
                 "the aggregate '!test.both' lacks its elements function");
  aggregate.elements = no_elements;
  expect_mistake(&(tfrt_type_t){.name = "!test.both", .aggregate = &aggregate},
                 "lacks its construct function");
  aggregate.construct = construct_none;
  const tfrt_codec_t* codec = tfrt_type_get(TFRT_TYPE_F64)->codec;
  expect_mistake(&(tfrt_type_t){.name = "!test.both", .codec = codec, .aggregate = &aggregate},
                 "type '!test.both' has a codec and is an aggregate");
}
END_TEST

START_TEST(a_full_table_refuses) {
  static char names[TFRT_TYPE_MAX_COUNT][24];
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  for (int i = 0; i < TFRT_TYPE_MAX_COUNT - TFRT_TYPE_FIRST_REGISTERED; ++i) {
    snprintf(names[i], sizeof names[i], "!test.t%d", i);
    tfrt_type_t type = {.name = names[i]};
    ck_assert_ptr_null(tfrt_type_register(&type, &id));
  }
  ck_assert_uint_eq(id, TFRT_TYPE_MAX_COUNT - 1);
  tfrt_type_t type = {.name = "!test.more"};
  assert_code(tfrt_type_register(&type, &id), TFRT_STATUS_RESOURCE_EXHAUSTED);
}
END_TEST

static const char* const race_names[] = {"!race.0", "!race.1", "!race.2", "!race.3"};

static void register_all(void* argument) {
  tfrt_type_id_t* ids = argument;
  for (int i = 0; i < 4; ++i) {
    tfrt_type_t type = {.name = race_names[i], .size = (uint32_t)i};
    ck_assert_ptr_null(tfrt_type_register(&type, &ids[i]));
    ck_assert_uint_eq(tfrt_type_get(ids[i])->size, (uint32_t)i);
  }
}

START_TEST(threads_that_register_the_same_get_the_same) {
  tfrt_thread_t threads[3];
  tfrt_type_id_t ids[3][4];
  for (int i = 0; i < 3; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("register", register_all, ids[i], &threads[i]));
  }
  for (int i = 0; i < 3; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(memcmp(ids[0], ids[1], sizeof ids[0]), 0);
  ck_assert_int_eq(memcmp(ids[0], ids[2], sizeof ids[0]), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("type");
  tcase_add_test(tests, builtin_types_are_known_by_their_mlir_names);
  tcase_add_test(tests, a_registered_type_is_found_and_the_same_again_is_the_same);
  tcase_add_test(tests, another_type_of_a_known_name_is_refused);
  tcase_add_test(tests, a_codec_that_breaks_its_rules_is_an_error_that_names_the_type);
  tcase_add_test(tests, names_begin_with_the_sign_of_types);
  tcase_add_test(tests, names_with_one_hash_are_two_types);
  tcase_add_test(tests, half_a_codec_is_refused);
  tcase_add_test(tests, an_aggregate_has_no_codec);
  tcase_add_test(tests, a_full_table_refuses);
  tcase_add_test(tests, threads_that_register_the_same_get_the_same);
  Suite* suite = suite_create("type");
  suite_add_tcase(suite, tests);
  return suite;
}
