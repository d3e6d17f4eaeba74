// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of kernel libraries, good and bad. Shared libraries are loaded in
// tests/embedding/shared_libs_test.py.
#include "host_runtime/executor/kernel/kernel_library.h"

#include <string.h>

#include "host_runtime/async/type.h"

#include "tests/support/test_main.h"

static int set_up_calls;
static tfrt_status_t set_up_error;  // what set_up_library() returns

static tfrt_status_t set_up_library(void) {
  ++set_up_calls;
  return set_up_error;
}

static void kernel_a(tfrt_kernel_frame_t* frame) { (void)frame; }
static void kernel_b(tfrt_kernel_frame_t* frame) { (void)frame; }
static void sync_a(tfrt_sync_frame_t* frame) { (void)frame; }

static tfrt_kernel_descriptor_t ops[1];
static tfrt_kernel_descriptor_t native_ops[1];
static tfrt_kernel_registration_t kernels[1];
static tfrt_sync_kernel_registration_t sync_kernels[1];
static tfrt_kernel_registration_t natives[1];
static tfrt_kernel_library_t library;
static tfrt_kernel_registry_t* registry;

static void set_up(void) {
  set_up_calls = 0;
  set_up_error = NULL;
  ops[0] =
      (tfrt_kernel_descriptor_t){.name = "test.a", .summary = "A.", .flags = TFRT_KERNEL_SYNC_TOO};
  native_ops[0] = (tfrt_kernel_descriptor_t){.name = "native", .summary = "N."};
  kernels[0] = (tfrt_kernel_registration_t){"test.a", kernel_a};
  sync_kernels[0] = (tfrt_sync_kernel_registration_t){"test.a", sync_a};
  natives[0] = (tfrt_kernel_registration_t){"native", kernel_a};
  library = (tfrt_kernel_library_t){TFRT_KERNEL_LIBRARY_HEADER("test"),
                                    TFRT_KERNEL_LIBRARY_OPS(ops),
                                    TFRT_KERNEL_LIBRARY_KERNELS(kernels),
                                    TFRT_KERNEL_LIBRARY_SYNC_KERNELS(sync_kernels),
                                    TFRT_KERNEL_LIBRARY_NATIVES(native_ops, natives),
                                    .set_up = set_up_library};
  ck_assert_ptr_null(tfrt_kernel_registry_allocate(tfrt_allocator_system(), &registry));
}
static void tear_down(void) { tfrt_kernel_registry_free(registry); }

// Fails unless |status| (consumed) is |code| with |part| in its message.
static void expect_error_take(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

static void expect_nothing_is_registered(void) {
  tfrt_kernel_t kernel;
  ck_assert(!tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.a"), &kernel));
}

START_TEST(all_parts_are_registered_after_the_set_up) {
  ck_assert_ptr_null(tfrt_kernel_library_register(registry, &library));
  ck_assert_int_eq(set_up_calls, 1);
  tfrt_kernel_t kernel;
  ck_assert(tfrt_kernel_registry_find(registry, tfrt_string_view_of("test.a"), &kernel));
  ck_assert(kernel.function == kernel_a && kernel.sync_function == sync_a);
  ck_assert(tfrt_kernel_registry_find_native(registry, tfrt_string_view_of("native"), &kernel));
  size_t count = 0;
  ck_assert_ptr_eq(tfrt_kernel_registry_tables(registry, &count)->descriptors, ops);
  ck_assert_uint_eq(count, 1);
  expect_error_take(tfrt_kernel_library_register(registry, &library), TFRT_STATUS_ALREADY_EXISTS,
                    "kernel library 'test': kernel 'test.a' is registered twice");
}
END_TEST

START_TEST(a_library_may_be_empty) {
  const tfrt_kernel_library_t empty = {TFRT_KERNEL_LIBRARY_HEADER("empty")};
  ck_assert_ptr_null(tfrt_kernel_library_register(registry, &empty));
}
END_TEST

START_TEST(of_another_version_nothing_else_is_read) {
  memset(&library, 0xff, sizeof(library));
  library.api_version = TFRT_API_VERSION + 1;
  expect_error_take(tfrt_kernel_library_register(registry, &library),
                    TFRT_STATUS_FAILED_PRECONDITION, "compile it against this runtime's headers");
}
END_TEST

static const void* other_runtime(void) { return &library; }

START_TEST(a_runtime_of_its_own_is_refused_before_the_set_up) {
  library.runtime = other_runtime;
  expect_error_take(tfrt_kernel_library_register(registry, &library),
                    TFRT_STATUS_FAILED_PRECONDITION, "second runtime");
  ck_assert_int_eq(set_up_calls, 0);
}
END_TEST

START_TEST(a_set_up_that_fails_registers_nothing) {
  set_up_error = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "not today");
  expect_error_take(tfrt_kernel_library_register(registry, &library), TFRT_STATUS_UNAVAILABLE,
                    "not today");
  expect_nothing_is_registered();
}
END_TEST

// Fails unless |library| is refused for |part|; makes it good again.
static void expect_defect(const char* part) {
  expect_error_take(tfrt_kernel_library_check(&library), TFRT_STATUS_INVALID_ARGUMENT, part);
  tear_down();
  set_up();
  ck_assert_ptr_null(tfrt_kernel_library_check(&library));
}

START_TEST(what_is_missing_is_named) {
  library.name = NULL;
  expect_defect("TFRT_KERNEL_LIBRARY_HEADER");
  library.runtime = NULL;
  expect_defect("TFRT_KERNEL_LIBRARY_HEADER");
  ops[0].name = NULL;
  expect_defect("entry 0 has no name");
  ops[0].name = "nodialect";
  expect_defect("'nodialect'");
  ops[0].operand_count = 1;
  expect_defect("a count without an array");
  ops[0].flags = TFRT_KERNEL_VARIADIC_OPERANDS;
  expect_defect("variadic operands");
  kernels[0].function = NULL;
  expect_defect("kernel 'test.a' lacks its function");
  natives[0].name = NULL;
  expect_defect("kernel 0 lacks its name");
  sync_kernels[0].function = NULL;
  expect_defect("kernel library 'test': synchronous kernel 'test.a' lacks its function");
}
END_TEST

START_TEST(entries_without_names_types_or_order_are_refused) {
  static const tfrt_operand_descriptor_t operands[] = {{"a", NULL, TFRT_OPERAND_DEMANDED}};
  static const tfrt_result_descriptor_t results[] = {{NULL, "i32"}};
  static const tfrt_attribute_descriptor_t unsorted[] = {{"b", TFRT_ATTRIBUTE_I32, NULL},
                                                         {"a", TFRT_ATTRIBUTE_I32, NULL}};
  ops[0].operands = operands;
  ops[0].operand_count = 1;
  expect_defect("operand 0 lacks name or type");
  ops[0].results = results;
  ops[0].result_count = 1;
  expect_defect("result 0 lacks name or type");
  ops[0].attributes = unsorted;
  ops[0].attribute_count = 2;
  expect_defect("order of their names");
}
END_TEST

START_TEST(a_kernel_twice_in_one_list_is_refused) {
  const tfrt_kernel_registration_t twice[] = {{"test.a", kernel_a}, {"test.a", kernel_b}};
  library.kernels = twice;
  library.kernel_count = 2;
  expect_error_take(tfrt_kernel_library_register(registry, &library), TFRT_STATUS_ALREADY_EXISTS,
                    "kernel library 'test': kernel 'test.a' is registered twice");
  expect_nothing_is_registered();
}
END_TEST

START_TEST(types_of_entries_are_registered_by_the_set_up) {
  static const tfrt_operand_descriptor_t operands[] = {
      {"any", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
      {"shape", "!lib.poligon", TFRT_OPERAND_DEMANDED}};
  static const tfrt_result_descriptor_t results[] = {{"chain", "!tfrt.chain"},
                                                     {"made", "!lib.late"}};
  ops[0].operands = operands;
  ops[0].operand_count = 2;
  expect_error_take(tfrt_kernel_library_register(registry, &library),
                    TFRT_STATUS_FAILED_PRECONDITION,
                    "kernel library 'test': op table entry 'test.a': operand 'shape' has the type "
                    "'!lib.poligon', which is not registered: register it in set_up");
  ck_assert_int_eq(set_up_calls, 1);
  expect_nothing_is_registered();
  ops[0].operand_count = 1;
  native_ops[0].results = results;
  native_ops[0].result_count = 2;
  expect_error_take(tfrt_kernel_library_register(registry, &library),
                    TFRT_STATUS_FAILED_PRECONDITION,
                    "'native': result 'made' has the type '!lib.late'");
  const tfrt_type_t late = {.name = "!lib.late", .size = 4};
  tfrt_type_id_t id;
  ck_assert_ptr_null(tfrt_type_register(&late, &id));
  ck_assert_ptr_null(tfrt_kernel_library_register(registry, &library));
}
END_TEST

START_TEST(files_that_are_no_libraries_are_refused) {
  const tfrt_kernel_library_t* loaded = &library;
  expect_error_take(tfrt_kernel_library_load("/nonexistent.so", &loaded), TFRT_STATUS_NOT_FOUND,
                    "'/nonexistent.so'");
  ck_assert_ptr_null(loaded);
  expect_error_take(tfrt_kernel_library_load("", &loaded), TFRT_STATUS_NOT_FOUND, "''");
  expect_error_take(tfrt_kernel_library_load("/dev/null", &loaded), TFRT_STATUS_INVALID_ARGUMENT,
                    "can't be loaded");
}
END_TEST

START_TEST(the_runtime_knows_its_version) {
  ck_assert_uint_eq(tfrt_api_version(), TFRT_API_VERSION);
  ck_assert_str_eq(tfrt_version(), TFRT_VERSION);
  ck_assert_ptr_eq(tfrt_runtime_identity(), tfrt_runtime_identity());
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* libraries = tcase_create("libraries");
  tcase_add_checked_fixture(libraries, set_up, tear_down);
  tcase_add_test(libraries, all_parts_are_registered_after_the_set_up);
  tcase_add_test(libraries, a_library_may_be_empty);
  tcase_add_test(libraries, of_another_version_nothing_else_is_read);
  tcase_add_test(libraries, a_runtime_of_its_own_is_refused_before_the_set_up);
  tcase_add_test(libraries, a_set_up_that_fails_registers_nothing);
  tcase_add_test(libraries, what_is_missing_is_named);
  tcase_add_test(libraries, entries_without_names_types_or_order_are_refused);
  tcase_add_test(libraries, a_kernel_twice_in_one_list_is_refused);
  tcase_add_test(libraries, types_of_entries_are_registered_by_the_set_up);
  tcase_add_test(libraries, files_that_are_no_libraries_are_refused);
  tcase_add_test(libraries, the_runtime_knows_its_version);
  Suite* suite = suite_create("kernel_library");
  suite_add_tcase(suite, libraries);
  return suite;
}
