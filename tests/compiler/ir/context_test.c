// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/test_main.h"

#define NAME_COUNT 4096

static uint64_t hashes[NAME_COUNT];

static uint64_t hash_of(const char* name) {
  uint64_t hash = 0;
  while (*name) hash = tfrt_ir_string_hash_add(hash, *name++);
  return hash;
}

static int compare(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static int equal_hashes(void) {
  qsort(hashes, NAME_COUNT, sizeof(*hashes), compare);
  int count = 0;
  for (int i = 1; i < NAME_COUNT; ++i) count += hashes[i] == hashes[i - 1];
  return count;
}

// Names of one hash are compared one by one, so a program of many of them would take for ever.
START_TEST(names_that_end_alike_have_hashes_of_their_own) {
  for (int i = 0; i < NAME_COUNT; ++i) {
    char name[128];
    snprintf(name, sizeof(name), "%c%c%c%064d", 'a' + i % 16, 'a' + i / 16 % 16, 'a' + i / 256, 0);
    hashes[i] = hash_of(name);
  }
  ck_assert_int_eq(equal_hashes(), 0);
}
END_TEST

START_TEST(a_letter_does_not_make_up_for_a_digit) {
  for (int i = 0; i < NAME_COUNT; ++i) {
    char name[32];
    size_t size = 0;
    for (int rest = i, k = 0; k < 4; ++k, rest /= 8) {
      name[size++] = (char)('0' + rest % 8);
      name[size++] = (char)('h' - rest % 8);
    }
    name[size] = '\0';
    hashes[i] = hash_of(name);
  }
  ck_assert_int_eq(equal_hashes(), 0);
}
END_TEST

START_TEST(names_that_count_up_have_hashes_that_do) {
  for (int i = 11; i < 20; ++i) {
    char name[8], next[8];
    snprintf(name, sizeof(name), "v%d", i - 1);
    snprintf(next, sizeof(next), "v%d", i);
    ck_assert_uint_eq(hash_of(next), hash_of(name) + 1);
  }
}
END_TEST

START_TEST(equal_texts_are_one_string) {
  tfrt_ir_context_t* context;
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  const tfrt_ir_string_t* name = tfrt_ir_string_of(context, "v12");
  ck_assert_ptr_eq(
      name, tfrt_ir_string_get_hashed(context, tfrt_string_view_make("v123", 3), hash_of("v12")));
  ck_assert_ptr_ne(name, tfrt_ir_string_of(context, "v123"));
  tfrt_ir_context_free(context);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("context");
  tcase_add_test(cases, names_that_end_alike_have_hashes_of_their_own);
  tcase_add_test(cases, a_letter_does_not_make_up_for_a_digit);
  tcase_add_test(cases, names_that_count_up_have_hashes_that_do);
  tcase_add_test(cases, equal_texts_are_one_string);
  Suite* suite = suite_create("context");
  suite_add_tcase(suite, cases);
  return suite;
}
