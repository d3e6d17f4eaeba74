// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel_registry.h"

#include <stdio.h>

#include "tests/support/test_main.h"

static void kernel_a(tfrt_kernel_frame_t* frame) { (void)frame; }
static void kernel_b(tfrt_kernel_frame_t* frame) { (void)frame; }

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "test.a", .summary = "A."},
    {.name = "test.b", .summary = "B."},
    {.name = "test.return", .summary = "Ends.", .flags = TFRT_KERNEL_TERMINATOR},
};
static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
static const tfrt_kernel_registration_t both[] = {{"test.b", kernel_b}, {"test.a", kernel_a}};

static tfrt_kernel_registry_t* registry;

static void set_up(void) {
  ck_assert_ptr_null(tfrt_kernel_registry_allocate(tfrt_allocator_system(), &registry));
}
static void tear_down(void) { tfrt_kernel_registry_free(registry); }

static void expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* message) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_str_eq(tfrt_status_message(status), message);
  tfrt_status_release(status);
}

START_TEST(a_kernel_is_found_with_its_description) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  const tfrt_kernel_t* kernel =
      tfrt_kernel_registry_find(registry, tfrt_string_view_make("test.b!", 6));
  ck_assert_ptr_nonnull(kernel);
  ck_assert(kernel->function == kernel_b);
  ck_assert_ptr_eq(kernel->descriptor, &descriptors[1]);
  ck_assert_ptr_null(tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.c")));
  ck_assert_ptr_null(tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.return")));
}
END_TEST

START_TEST(tables_of_kernels_are_kept_in_their_order) {
  size_t count = 1;
  tfrt_kernel_registry_tables(registry, &count);
  ck_assert_uint_eq(count, 0);
  // More of them than a first array has room for; one kernel each.
  enum { COUNT = 40 };
  static char names[COUNT][16];
  static tfrt_kernel_descriptor_t entries[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    snprintf(names[i], sizeof(names[i]), "test.k%d", i);
    entries[i] = (tfrt_kernel_descriptor_t){.name = names[i], .summary = "One of many."};
    tfrt_kernel_table_t one = {&entries[i], 1};
    tfrt_kernel_registration_t kernel = {names[i], kernel_a};
    ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &one, &kernel, 1));
  }
  const tfrt_kernel_table_t* tables = tfrt_kernel_registry_tables(registry, &count);
  ck_assert_uint_eq(count, COUNT);
  for (int i = 0; i < COUNT; ++i) ck_assert_ptr_eq(tables[i].descriptors, &entries[i]);
}
END_TEST

START_TEST(table_and_code_cannot_drift_apart) {
  const tfrt_kernel_registration_t stranger[] = {
      {"test.a", kernel_a}, {"test.b", kernel_b}, {"test.c", kernel_b}};
  expect_error(tfrt_kernel_registry_add_all(registry, &table, stranger, 3), TFRT_STATUS_INTERNAL,
               "kernel 'test.c' has no entry in the op table");
  expect_error(tfrt_kernel_registry_add_all(registry, &table, both, 1), TFRT_STATUS_INTERNAL,
               "op table entry 'test.a' has no kernel");
}
END_TEST

START_TEST(a_name_is_registered_once) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  expect_error(tfrt_kernel_registry_add_all(registry, &table, both, 2), TFRT_STATUS_ALREADY_EXISTS,
               "kernel 'test.a' is registered twice");
}
END_TEST

static void sync_a(tfrt_sync_frame_t* frame) { (void)frame; }

static const tfrt_kernel_descriptor_t sync_descriptors[] = {
    {.name = "test.a", .summary = "A.", .flags = TFRT_KERNEL_SYNC_TOO},
    {.name = "test.b", .summary = "B."},
    {.name = "test.s", .summary = "S.", .flags = TFRT_KERNEL_SYNC_ONLY},
};
static const tfrt_kernel_table_t sync_table = {sync_descriptors, TFRT_ARRAY_SIZE(sync_descriptors)};
static const tfrt_sync_kernel_registration_t sync_both[] = {{"test.a", sync_a}, {"test.s", sync_a}};

START_TEST(a_kernel_may_have_a_form_for_synchronous_functions_or_only_that) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &sync_table, both, 2));
  ck_assert_ptr_null(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 2));
  const tfrt_kernel_t* a = tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.a"));
  ck_assert(a->function == kernel_a && a->sync_function == sync_a);
  const tfrt_kernel_t* b = tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.b"));
  ck_assert(b->function == kernel_b && !b->sync_function);
  const tfrt_kernel_t* s = tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.s"));
  ck_assert(!s->function && s->sync_function == sync_a);
  ck_assert_ptr_eq(s->descriptor, &sync_descriptors[2]);
}
END_TEST

START_TEST(synchronous_forms_are_just_those_that_the_table_marks) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &sync_table, both, 2));
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 1),
               TFRT_STATUS_INTERNAL,
               "the op table marks 'test.s' as an op of synchronous functions, but no synchronous "
               "form of it is registered");
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 1),
               TFRT_STATUS_ALREADY_EXISTS, "the synchronous form of 'test.a' is registered twice");
  const tfrt_sync_kernel_registration_t stranger[] = {{"test.b", sync_a}};
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, stranger, 1),
               TFRT_STATUS_INTERNAL,
               "the op table doesn't mark 'test.b' as an op of synchronous functions");
}
END_TEST

START_TEST(native_functions_have_names_of_their_own) {
  static const tfrt_kernel_descriptor_t natives[] = {{.name = "test.a", .summary = "Native."}};
  static const tfrt_kernel_table_t native_table = {natives, TFRT_ARRAY_SIZE(natives)};
  static const tfrt_kernel_registration_t one[] = {{"test.a", kernel_b}};
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  ck_assert_ptr_null(tfrt_kernel_registry_find_native(registry, tfrt_string_view_of("test.a")));
  ck_assert_ptr_null(tfrt_kernel_registry_add_natives(registry, &native_table, one, 1));
  const tfrt_kernel_t* native =
      tfrt_kernel_registry_find_native(registry, tfrt_string_view_of("test.a"));
  ck_assert(native->function == kernel_b);
  const tfrt_kernel_t* kernel = tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.a"));
  ck_assert(kernel->function == kernel_a);
  expect_error(tfrt_kernel_registry_add_natives(registry, &native_table, one, 1),
               TFRT_STATUS_ALREADY_EXISTS, "native function 'test.a' is registered twice");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("kernel_registry");
  TCase* cases = tcase_create("kernel_registry");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, a_kernel_is_found_with_its_description);
  tcase_add_test(cases, tables_of_kernels_are_kept_in_their_order);
  tcase_add_test(cases, table_and_code_cannot_drift_apart);
  tcase_add_test(cases, a_name_is_registered_once);
  tcase_add_test(cases, a_kernel_may_have_a_form_for_synchronous_functions_or_only_that);
  tcase_add_test(cases, synchronous_forms_are_just_those_that_the_table_marks);
  tcase_add_test(cases, native_functions_have_names_of_their_own);
  suite_add_tcase(suite, cases);
  return suite;
}
