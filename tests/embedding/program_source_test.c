// SPDX-License-Identifier: Apache-2.0
//
// Programs from texts and files, with the standard kernels and one more.
#include "embedding/program_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedding/tfrt.h"
#include "tests/support/test_main.h"

static void answer(tfrt_kernel_frame_t* frame) { tfrt_kernel_frame_set_i32(frame, 0, 42); }

static const tfrt_result_descriptor_t number[] = {{"answer", "i32"}};
static const tfrt_kernel_descriptor_t ops[] = {
    {.name = "my.answer", .summary = "The answer.", .assembly = "attr-dict", TFRT_RESULTS(number)}};
static const tfrt_kernel_registration_t kernels[] = {{"my.answer", answer}};
static const tfrt_kernel_library_t library = {TFRT_KERNEL_LIBRARY_HEADER("my"),
                                              TFRT_KERNEL_LIBRARY_OPS(ops),
                                              TFRT_KERNEL_LIBRARY_KERNELS(kernels)};

static const char good[] =
    "func.func @main() -> i32 {\n"
    "  %a = my.answer\n"
    "  %b = tfrt.add.i32 %a, %a\n"
    "  tfrt.return %b : i32\n"
    "}\n";

static tfrt_host_context_t* host;
static tfrt_string_builder_t report;

static void set_up(void) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  ck_assert_ptr_null(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  ck_assert_ptr_null(tfrt_standard_kernels_register(host->registry));
  ck_assert_ptr_null(tfrt_kernel_library_register(host->registry, &library));
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
}
static void tear_down(void) {
  tfrt_string_builder_deinitialize(&report);
  tfrt_host_context_free(host);
}

// Runs @main of |program| (consumed), which returns an i32.
static int32_t run_take(tfrt_program_t* program) {
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_async_value_t* result = NULL;
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &context, NULL, &result);
  tfrt_work_queue_await(host->work_queue, &result, 1);
  int32_t value = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result));
  tfrt_async_value_release(result);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
  return value;
}

static tfrt_status_t from_text(const char* text, tfrt_program_t** out_program) {
  return tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(text), host->registry,
                                       tfrt_allocator_system(), &report, out_program);
}

START_TEST(a_text_may_say_what_the_registry_has) {
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(from_text(good, &program));
  ck_assert_int_eq(run_take(program), 84);
  ck_assert_uint_eq(report.size, 0);
}
END_TEST

START_TEST(mistakes_are_reported_with_their_place) {
  tfrt_program_t* program = NULL;
  tfrt_status_t status = from_text("func.func @main() {\n  %a = my.question\n}\n", &program);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_null(program);
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&report), "p.mlir:2:"));
  tfrt_status_release(status);
}
END_TEST

// Writes |size| bytes to a new file and returns its path, which lives until the next call.
static const char* write_file(const void* bytes, size_t size) {
  static char path[512];
  const char* folder = getenv("TEST_TMPDIR");
  snprintf(path, sizeof(path), "%s/program", folder ? folder : "/tmp");
  FILE* file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
  fclose(file);
  return path;
}

static tfrt_status_t from_file(const char* path, tfrt_program_t** out_program) {
  return tfrt_program_create_from_file(path, host->registry, tfrt_allocator_system(), &report,
                                       out_program);
}

START_TEST(a_file_is_a_text_or_bef) {
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(from_file(write_file(good, strlen(good)), &program));
  size_t size = 0;
  const void* image = tfrt_bef_file_bytes(tfrt_program_file(program), &size);
  const char* path = write_file(image, size);
  ck_assert_int_eq(run_take(program), 84);
  ck_assert_ptr_null(from_file(path, &program));
  ck_assert_int_eq(run_take(program), 84);
}
END_TEST

START_TEST(files_that_are_no_programs_are_errors) {
  tfrt_program_t* program = NULL;
  tfrt_status_t status = from_file("/nonexistent", &program);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  tfrt_status_release(status);
  status = from_file(write_file("\x0b\xef and no more", 14), &program);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "/program"));
  tfrt_status_release(status);
  ck_assert_ptr_null(program);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* sources = tcase_create("sources");
  tcase_add_checked_fixture(sources, set_up, tear_down);
  tcase_add_test(sources, a_text_may_say_what_the_registry_has);
  tcase_add_test(sources, mistakes_are_reported_with_their_place);
  tcase_add_test(sources, a_file_is_a_text_or_bef);
  tcase_add_test(sources, files_that_are_no_programs_are_errors);
  Suite* suite = suite_create("program_source");
  suite_add_tcase(suite, sources);
  return suite;
}
