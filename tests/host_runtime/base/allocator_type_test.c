// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/allocator_type.h"

#include "tests/support/test_main.h"

static const tfrt_allocator_type_t* type;
static tfrt_allocator_t allocator;

static void choose(const char* name) {
  ck_assert_ptr_null(tfrt_allocator_create_by_name(name, &allocator, &type));
  ck_assert_str_eq(type->choice.name, name);
}

// Finishes the allocator, which says |report| and, with |ok|, that all is well.
static void expect_end(bool ok, const char* report) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  ck_assert_int_eq(type->finish(allocator, &text), ok);
  ck_assert_str_eq(tfrt_string_builder_text(&text), report);
  tfrt_string_builder_deinitialize(&text);
}

#define PROFILE(current, most, total, bytes, most_bytes)                                         \
  "HostAllocator profile:\nCurrent number of allocations = " current                             \
  "\nMax number of allocations = " most "\nTotal number of allocations = " total                 \
  "\nCurrent number of bytes allocated = " bytes "\nMax number of bytes allocated = " most_bytes \
  "\n"

START_TEST(the_systems_allocator_says_nothing) {
  choose("malloc");
  ck_assert_str_eq(type->announcement, "Choosing malloc.");
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 8), 8);
  expect_end(true, "");
}
END_TEST

START_TEST(the_profiled_allocator_tells_what_it_has_counted) {
  choose("profiled_allocator");
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 8), 8);
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 24), 24);
  expect_end(true, PROFILE("0", "1", "2", "0", "24"));
}
END_TEST

START_TEST(the_leak_checking_allocator_fails_for_a_leak) {
  choose("leak_check_allocator");
  tfrt_allocator_free(allocator, tfrt_allocator_allocate(allocator, 8), 8);
  expect_end(true, "");
  choose("leak_check_allocator");
  void* leak = tfrt_allocator_allocate(allocator, 8);
  expect_end(false, PROFILE("1", "1", "1", "8",
                            "8") "Memory leak detected: 1 alive allocations, 8 alive bytes\n");
  tfrt_allocator_free(tfrt_allocator_system(), leak, 8);
}
END_TEST

static tfrt_status_t create_mine(const char* arguments, tfrt_allocator_t* out_allocator) {
  *out_allocator = tfrt_allocator_system();
  if (arguments[0] == '7') return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "mine takes a seven");
}

static bool finish_mine(tfrt_allocator_t unused, tfrt_string_builder_t* report) {
  (void)unused;
  tfrt_string_builder_append_text(report, "done\n");
  return true;
}

static const tfrt_allocator_type_t mine = {{"mine", ":SEVEN"}, NULL, create_mine, finish_mine};

static void expect_refused(const char* text, const char* message) {
  tfrt_status_t status = tfrt_allocator_create_by_name(text, &allocator, &type);
  ck_assert_ptr_null(type);
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}

START_TEST(a_user_adds_a_type) {
  expect_refused("mine:7",
                 "there is no allocator 'mine'; there are malloc, profiled_allocator, "
                 "leak_check_allocator");
  ck_assert_ptr_null(tfrt_allocator_type_register(&mine));
  expect_refused("mine:8", "mine takes a seven");
  ck_assert_ptr_null(tfrt_allocator_create_by_name("mine:7", &allocator, &type));
  ck_assert_ptr_eq(type, &mine);
  expect_end(true, "done\n");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("allocator_type");
  TCase* cases = tcase_create("allocator_type");
  tcase_add_test(cases, the_systems_allocator_says_nothing);
  tcase_add_test(cases, the_profiled_allocator_tells_what_it_has_counted);
  tcase_add_test(cases, the_leak_checking_allocator_fails_for_a_leak);
  tcase_add_test(cases, a_user_adds_a_type);
  suite_add_tcase(suite, cases);
  return suite;
}
