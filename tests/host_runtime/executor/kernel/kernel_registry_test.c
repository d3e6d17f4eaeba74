// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_registry.h"

#include <stdatomic.h>
#include <stdio.h>

#include "host_runtime/base/sync.h"
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

static tfrt_kernel_t find(const char* name) {
  tfrt_kernel_t kernel;
  ck_assert(tfrt_kernel_registry_find(registry, tfrt_string_view_of(name), &kernel));
  return kernel;
}

static void expect_none(const char* name) {
  tfrt_kernel_t kernel;
  ck_assert(!tfrt_kernel_registry_find(registry, tfrt_string_view_of(name), &kernel));
  ck_assert(!kernel.function && !kernel.sync_function && !kernel.descriptor);
}

START_TEST(a_kernel_is_found_with_its_description) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  tfrt_kernel_t kernel;
  ck_assert(tfrt_kernel_registry_find(registry, tfrt_string_view_make("test.b!", 6), &kernel));
  ck_assert(kernel.function == kernel_b);
  ck_assert_ptr_eq(kernel.descriptor, &descriptors[1]);
  expect_none("test.c");
  expect_none("test.return");
}
END_TEST

START_TEST(what_is_found_is_the_same_with_and_without_an_index) {
  tfrt_kernel_registry_set_trust(registry, true);
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  // The first ones walk, the others have an index.
  for (int i = 0; i < 40; ++i) {
    ck_assert(find("test.a").function == kernel_a);
    ck_assert_ptr_eq(find("test.b").descriptor, &descriptors[1]);
    expect_none("test.return");
    expect_none("");
  }
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

static const tfrt_kernel_descriptor_t overlapping_descriptors[] = {
    {.name = "test.new", .summary = "New."},
    {.name = "test.b", .summary = "Is there."},
};
static const tfrt_kernel_table_t overlapping = {overlapping_descriptors, 2};
static const tfrt_kernel_registration_t overlapping_kernels[] = {{"test.new", kernel_a},
                                                                 {"test.b", kernel_a}};

START_TEST(a_table_with_a_name_that_is_there_adds_nothing) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  expect_error(tfrt_kernel_registry_add_all(registry, &overlapping, overlapping_kernels, 2),
               TFRT_STATUS_ALREADY_EXISTS, "kernel 'test.b' is registered twice");
  expect_none("test.new");
  ck_assert(find("test.b").function == kernel_b);
  size_t count = 0;
  tfrt_kernel_registry_tables(registry, &count);
  ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(names_that_were_trusted_are_compared_with_those_that_are_not) {
  tfrt_kernel_registry_set_trust(registry, true);
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  tfrt_kernel_registry_set_trust(registry, false);
  expect_error(tfrt_kernel_registry_add_all(registry, &overlapping, overlapping_kernels, 2),
               TFRT_STATUS_ALREADY_EXISTS, "kernel 'test.b' is registered twice");
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
  tfrt_kernel_t a = find("test.a");
  ck_assert(a.function == kernel_a && a.sync_function == sync_a);
  tfrt_kernel_t b = find("test.b");
  ck_assert(b.function == kernel_b && !b.sync_function);
  tfrt_kernel_t s = find("test.s");
  ck_assert(!s.function && s.sync_function == sync_a);
  ck_assert_ptr_eq(s.descriptor, &sync_descriptors[2]);
}
END_TEST

START_TEST(synchronous_forms_are_just_those_that_the_table_marks) {
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &sync_table, both, 2));
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 1),
               TFRT_STATUS_INTERNAL,
               "the op table marks 'test.s' as an op of synchronous functions, but no synchronous "
               "form of it is registered");
  expect_none("test.s");
  const tfrt_sync_kernel_registration_t stranger[] = {{"test.b", sync_a}};
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, stranger, 1),
               TFRT_STATUS_INTERNAL,
               "the op table doesn't mark 'test.b' as an op of synchronous functions");
  const tfrt_sync_kernel_registration_t twice[] = {{"test.a", sync_a}, {"test.a", sync_a}};
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, twice, 2),
               TFRT_STATUS_ALREADY_EXISTS, "the synchronous form of 'test.a' is registered twice");
  ck_assert_ptr_null(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 2));
  expect_error(tfrt_kernel_registry_add_sync(registry, &sync_table, sync_both, 2),
               TFRT_STATUS_ALREADY_EXISTS, "the synchronous form of 'test.a' is registered twice");
}
END_TEST

static void withdraw(const tfrt_kernel_withdrawal_t* withdrawal) { (void)withdrawal; }

START_TEST(a_kernel_may_do_something_for_cancelled_calls) {
  static const tfrt_withdrawal_registration_t b = {"test.b", withdraw};
  expect_error(tfrt_kernel_registry_add_withdrawals(registry, &table, &b, 1), TFRT_STATUS_INTERNAL,
               "'test.b' does something for cancelled calls, but is no kernel");
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  ck_assert_ptr_null(tfrt_kernel_registry_add_withdrawals(registry, &table, &b, 1));
  ck_assert(find("test.b").withdraw == withdraw);
  ck_assert(!find("test.a").withdraw);
  static const tfrt_withdrawal_registration_t end = {"test.return", withdraw};
  expect_error(tfrt_kernel_registry_add_withdrawals(registry, &table, &end, 1),
               TFRT_STATUS_INTERNAL,
               "'test.return' does something for cancelled calls, but is no kernel");
  ck_assert(find("test.b").withdraw == withdraw);
}
END_TEST

START_TEST(native_functions_have_names_of_their_own) {
  static const tfrt_kernel_descriptor_t natives[] = {{.name = "test.a", .summary = "Native."}};
  static const tfrt_kernel_table_t native_table = {natives, TFRT_ARRAY_SIZE(natives)};
  static const tfrt_kernel_registration_t one[] = {{"test.a", kernel_b}};
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  tfrt_kernel_t native;
  tfrt_string_view_t name = tfrt_string_view_of("test.a");
  ck_assert(!tfrt_kernel_registry_find_native(registry, name, &native));
  ck_assert_ptr_null(tfrt_kernel_registry_add_natives(registry, &native_table, one, 1));
  ck_assert(tfrt_kernel_registry_find_native(registry, name, &native));
  ck_assert(native.function == kernel_b);
  ck_assert(find("test.a").function == kernel_a);
  expect_error(tfrt_kernel_registry_add_natives(registry, &native_table, one, 1),
               TFRT_STATUS_ALREADY_EXISTS, "native function 'test.a' is registered twice");
}
END_TEST

static atomic_int wrong;

static void look_up(void* unused) {
  (void)unused;
  for (int i = 0; i < 100; ++i) {
    tfrt_kernel_t kernel;
    tfrt_string_view_t name = tfrt_string_view_of(i % 2 ? "test.a" : "test.c");
    bool is_there = tfrt_kernel_registry_find(registry, name, &kernel);
    if (is_there != (i % 2 == 1) || (is_there && kernel.function != kernel_a)) {
      atomic_fetch_add(&wrong, 1);
    }
  }
}

START_TEST(threads_that_look_up_at_once_make_one_index) {
  tfrt_kernel_registry_set_trust(registry, true);
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(registry, &table, both, 2));
  tfrt_thread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("look_up", look_up, NULL, &threads[i]));
  }
  for (int i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(atomic_load(&wrong), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("kernel_registry");
  TCase* cases = tcase_create("kernel_registry");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, a_kernel_is_found_with_its_description);
  tcase_add_test(cases, tables_of_kernels_are_kept_in_their_order);
  tcase_add_test(cases, table_and_code_cannot_drift_apart);
  tcase_add_test(cases, what_is_found_is_the_same_with_and_without_an_index);
  tcase_add_test(cases, threads_that_look_up_at_once_make_one_index);
  tcase_add_test(cases, a_name_is_registered_once);
  tcase_add_test(cases, a_table_with_a_name_that_is_there_adds_nothing);
  tcase_add_test(cases, names_that_were_trusted_are_compared_with_those_that_are_not);
  tcase_add_test(cases, a_kernel_may_have_a_form_for_synchronous_functions_or_only_that);
  tcase_add_test(cases, synchronous_forms_are_just_those_that_the_table_marks);
  tcase_add_test(cases, a_kernel_may_do_something_for_cancelled_calls);
  tcase_add_test(cases, native_functions_have_names_of_their_own);
  suite_add_tcase(suite, cases);
  return suite;
}
