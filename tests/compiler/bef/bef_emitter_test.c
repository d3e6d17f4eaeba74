// SPDX-License-Identifier: Apache-2.0

#include "compiler/bef_emitter.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_file.h"
#include "tests/compiler/bef/bef_compiler_test_support.h"
#include "tests/support/test_main.h"

// --- The same bytes as TFRT's translator ------------------------------------------------

static tfrt_file_contents_t read_file(const char* path) {
  tfrt_file_contents_t contents;
  tfrt_status_t status = tfrt_file_read(path, tfrt_allocator_system(), &contents);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return contents;
}

// The name of the text as TFRT's translator was given it: it is in every location.
static void source_name(const tfrt_file_contents_t* bef, char* name, size_t size) {
  tfrt_bef_file_t* file;
  tfrt_bef_source_location_t location;
  tfrt_status_t status = tfrt_bef_file_create(bef->data, bef->size, tfrt_allocator_system(), &file);
  ck_assert(tfrt_status_is_ok(status));
  uint32_t first = tfrt_bef_file_function(file, 0)->location;
  ck_assert(tfrt_bef_file_source_location(file, first, &location));
  snprintf(name, size, "%s", location.file);
  tfrt_bef_file_release(file);
}

static size_t first_difference(const char* a, const char* b, size_t size) {
  size_t i = 0;
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

static void compare_with_tfrt(const char* path) {
  static const tfrt_bef_emitter_options_t kAsTfrt = {.no_argument_names = true};
  char other[512];
  char name[512];
  tfrt_file_contents_t text = read_file(path);
  snprintf(other, sizeof(other), "%.*s.bef", (int)(strlen(path) - strlen(".mlir")), path);
  tfrt_file_contents_t bef = read_file(other);
  source_name(&bef, name, sizeof(name));
  test_image_t image =
      test_emit(name, tfrt_string_view_make((const char*)text.data, text.size), &kAsTfrt);
  ck_assert_msg(image.bytes != NULL, "%s: %s", path, image.errors);
  size_t common = image.size < bef.size ? image.size : bef.size;
  ck_assert_msg(image.size == bef.size && memcmp(image.bytes, bef.data, common) == 0,
                "%s: %zu bytes, TFRT's %zu; first difference at 0x%zx", path, image.size, bef.size,
                first_difference(image.bytes, (const char*)bef.data, common));
  test_image_free(&image);
  tfrt_file_contents_deinitialize(&bef);
  tfrt_file_contents_deinitialize(&text);
}

START_TEST(programs_become_the_bytes_that_tfrt_writes) {
  ck_assert_uint_eq(test_for_each_program_path(".mlir", compare_with_tfrt), 45);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* programs = tcase_create("programs");
  tcase_add_test(programs, programs_become_the_bytes_that_tfrt_writes);
  Suite* suite = suite_create("bef_emitter");
  suite_add_tcase(suite, programs);
  return suite;
}
