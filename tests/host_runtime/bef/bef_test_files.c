// SPDX-License-Identifier: Apache-2.0

#include "tests/host_runtime/bef/bef_test_files.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS "tests/programs/"

uint8_t* test_allocate(size_t size) {
  uint8_t* data = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  ck_assert_ptr_nonnull(data);
  return data;
}

void test_free(void* data, size_t size) {
  tfrt_allocator_free(tfrt_allocator_system(), data, size);
}

test_bytes_t test_read_program(const char* name) {
  char path[512];
  snprintf(path, sizeof(path), PROGRAMS "%s", name);
  FILE* file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "cannot open %s", path);
  fseek(file, 0, SEEK_END);
  test_bytes_t bytes = {.size = (size_t)ftell(file)};
  rewind(file);
  bytes.data = test_allocate(bytes.size);
  ck_assert_uint_eq(fread(bytes.data, 1, bytes.size, file), bytes.size);
  fclose(file);
  return bytes;
}

static size_t visit_folder(const char* folder,
                           void (*visit)(const char* name, test_bytes_t bytes)) {
  char path[512];
  size_t count = 0;
  snprintf(path, sizeof(path), PROGRAMS "%s", folder);
  DIR* directory = opendir(path);
  ck_assert_msg(directory != NULL, "cannot open %s", path);
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".bef") != 0) continue;
    char name[300];
    snprintf(name, sizeof(name), "%s%.255s", folder, entry->d_name);
    test_bytes_t bytes = test_read_program(name);
    visit(name, bytes);
    test_free(bytes.data, bytes.size);
    ++count;
  }
  closedir(directory);
  return count;
}

size_t test_for_each_program(void (*visit)(const char* name, test_bytes_t bytes)) {
  return visit_folder("", visit) + visit_folder("random/", visit);
}

tfrt_bef_file_t* test_load(test_bytes_t bytes) {
  tfrt_bef_file_t* file;
  tfrt_status_t status =
      tfrt_bef_file_create(bytes.data, bytes.size, tfrt_allocator_system(), &file);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return file;
}

void test_refuse(test_bytes_t bytes, const char* const* parts, size_t part_count) {
  tfrt_bef_file_t* file;
  tfrt_status_t status =
      tfrt_bef_file_create(bytes.data, bytes.size, tfrt_allocator_system(), &file);
  ck_assert_ptr_null(file);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  for (size_t i = 0; i < part_count; ++i) {
    ck_assert_msg(strstr(tfrt_status_message(status), parts[i]) != NULL, "no '%s' in: %s", parts[i],
                  tfrt_status_message(status));
  }
  tfrt_status_release(status);
}

bool test_loads(test_bytes_t bytes) {
  tfrt_bef_file_t* file;
  tfrt_status_t status =
      tfrt_bef_file_create(bytes.data, bytes.size, tfrt_allocator_system(), &file);
  bool good = tfrt_status_is_ok(status);
  ck_assert(good == (file != NULL));
  if (!good) {
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_eq(strstr(tfrt_status_message(status), "bad BEF file: section "),
                     tfrt_status_message(status));
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), ": "));
  }
  tfrt_status_release(status);
  tfrt_bef_file_release(file);
  return good;
}

test_bytes_t test_finish(tfrt_bef_writer_t* writer) {
  void* image;
  test_bytes_t bytes;
  tfrt_status_t status = tfrt_bef_writer_finish(writer, &image, &bytes.size);
  ck_assert(tfrt_status_is_ok(status));
  bytes.data = test_allocate(bytes.size);
  memcpy(bytes.data, image, bytes.size);
  tfrt_allocator_free(tfrt_allocator_system(), image, bytes.size);
  tfrt_bef_writer_free(writer);
  return bytes;
}

// Adds the two kernels, and the function around them.
static void add_small_function(tfrt_bef_writer_t* writer, const uint32_t locations[3],
                               uint32_t attribute) {
  static const tfrt_bef_call_options_t kOptions = {
      .has_host = true, .host = 2, .deadline_ms = 500, .device = "cuda:0"};
  static const uint32_t kRegisters[] = {0, 1, 2};
  static const uint32_t kTypes[] = {0, 0, 0};
  const tfrt_string_view_t value = tfrt_string_view_of("value");
  const tfrt_string_view_t x = tfrt_string_view_of("x");
  const tfrt_bef_writer_kernel_t kernels[] = {
      {.code = 0,
       .location = locations[1],
       .attribute_count = 1,
       .words = &attribute,
       .attribute_names = &value,
       .result_count = 1},
      {.code = 1,
       .location = locations[2],
       .argument_count = 2,
       .words = kRegisters,
       .result_count = 1,
       .call_options = &kOptions},
  };
  tfrt_bef_writer_function_t function = {.name = tfrt_string_view_of("f"),
                                         .argument_count = 1,
                                         .result_count = 1,
                                         .argument_types = kTypes,
                                         .result_types = kTypes,
                                         .argument_names = &x,
                                         .location = locations[0],
                                         .register_count = 3,
                                         .register_types = kTypes,
                                         .result_registers = &kRegisters[2],
                                         .kernel_count = 2,
                                         .kernels = kernels};
  ck_assert_uint_eq(tfrt_bef_writer_add_function(writer, &function), 0);
}

test_bytes_t test_small_file(void) {
  tfrt_bef_writer_t* writer;
  tfrt_status_t status = tfrt_bef_writer_allocate(true, tfrt_allocator_system(), &writer);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_uint_eq(tfrt_bef_writer_add_type(writer, tfrt_string_view_of("i32")), 0);
  ck_assert_uint_eq(tfrt_bef_writer_add_kernel_name(writer, tfrt_string_view_of("k.one")), 0);
  ck_assert_uint_eq(tfrt_bef_writer_add_kernel_name(writer, tfrt_string_view_of("k.add")), 1);
  tfrt_bef_value_t seven = {.type = TFRT_BEF_DTYPE_I32, .bits = 7};
  uint32_t attribute = tfrt_bef_writer_add_attribute(writer, &seven);
  uint32_t locations[3];
  for (uint32_t i = 0; i < 3; ++i) {
    locations[i] =
        tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("a.mlir"), i + 1, 5);
  }
  add_small_function(writer, locations, attribute);
  return test_finish(writer);
}

// The function of test_chain_file(), with the registers that its kernels may name.
static void add_chain(tfrt_bef_writer_t* writer, uint32_t count) {
  uint32_t arguments[TEST_MAX_CHAIN][2];
  uint32_t types[TEST_MAX_CHAIN + 1] = {0};
  tfrt_bef_writer_kernel_t kernels[TEST_MAX_CHAIN];
  const tfrt_string_view_t file = tfrt_string_view_of("a.mlir");
  for (uint32_t i = 0; i < count; ++i) {
    arguments[i][0] = i;
    arguments[i][1] = 0;
    kernels[i] = (tfrt_bef_writer_kernel_t){
        .location = tfrt_bef_writer_add_location_file(writer, file, 2 + 100 * i, 3),
        .argument_count = 2,
        .words = arguments[i],
        .result_count = 1};
  }
  tfrt_bef_writer_function_t function = {
      .name = tfrt_string_view_of("f"),
      .argument_count = 1,
      .result_count = 1,
      .argument_types = types,
      .result_types = types,
      .location = tfrt_bef_writer_add_location_file(writer, file, 1, 1),
      .register_count = count + 1,
      .register_types = types,
      .result_registers = &count,
      .kernel_count = count,
      .kernels = kernels};
  ck_assert_uint_eq(tfrt_bef_writer_add_function(writer, &function), 0);
}

test_bytes_t test_chain_file(uint32_t count) {
  tfrt_bef_writer_t* writer;
  ck_assert(count > 0 && count <= TEST_MAX_CHAIN);
  tfrt_status_t status = tfrt_bef_writer_allocate(true, tfrt_allocator_system(), &writer);
  ck_assert(tfrt_status_is_ok(status));
  ck_assert_uint_eq(tfrt_bef_writer_add_type(writer, tfrt_string_view_of("i32")), 0);
  ck_assert_uint_eq(tfrt_bef_writer_add_kernel_name(writer, tfrt_string_view_of("k.add")), 0);
  add_chain(writer, count);
  return test_finish(writer);
}
