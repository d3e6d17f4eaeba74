// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_writer.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/bef/bef_bytes.h"
#include "tests/host_runtime/bef/bef_test_files.h"
#include "tests/support/test_main.h"

// --- Writing again what was read -----------------------------------------------

static void copy_types(tfrt_bef_writer_t* writer, const char* const* names, uint32_t count,
                       uint32_t* out_types) {
  for (uint32_t i = 0; i < count; ++i) {
    out_types[i] = tfrt_bef_writer_add_type(writer, tfrt_string_view_of(names[i]));
  }
}

// The programs have scalars and strings only; both are their own bytes.
static uint32_t copy_attribute(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file,
                               uint32_t offset) {
  size_t size;
  const uint8_t* attribute = tfrt_bef_file_attributes(file, &size) + offset;
  tfrt_bef_value_t value = {.type = tfrt_bef_file_attribute_type(file, offset)};
  if (value.type == TFRT_BEF_DTYPE_STRING) {
    value.data = tfrt_bef_attribute_string(attribute);
  } else {
    memcpy(&value.bits, attribute, tfrt_bef_dtype_size(value.type));
  }
  return tfrt_bef_writer_add_attribute(writer, &value);
}

static uint32_t copy_location(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file,
                              uint32_t location) {
  tfrt_bef_source_location_t source;
  ck_assert(tfrt_bef_file_source_location(file, location, &source));
  return tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of(source.file), source.line,
                                           source.column);
}

// Attributes come first, in the order of their offsets, each once.
static void copy_attributes(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file) {
  size_t size;
  tfrt_bef_file_attributes(file, &size);
  for (uint32_t offset = 0; offset < size; ++offset) {
    if (tfrt_bef_file_attribute_type(file, offset) == TFRT_BEF_ATTRIBUTE_UNSUPPORTED) continue;
    ck_assert_uint_eq(copy_attribute(writer, file, offset), offset);
  }
}

#define MAX_ITEMS 256
#define MAX_WORDS 64

static uint32_t* append_words(uint32_t* at, const uint32_t* words, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) *at++ = words[i];
  return at;
}

// The writer's form of |kernel|, whose attributes are called |texts|; |names| and |words| are room
// for them and for what it refers to.
static tfrt_bef_writer_kernel_t copy_kernel(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file,
                                            const tfrt_bef_kernel_t* kernel,
                                            const char* const* texts, tfrt_string_view_t* names,
                                            uint32_t words[MAX_WORDS]) {
  for (uint32_t i = 0; i < kernel->attribute_count; ++i) {
    names[i] = tfrt_string_view_of(texts[i]);
  }
  ck_assert_uint_le(kernel->argument_count + kernel->attribute_count + kernel->function_count,
                    MAX_WORDS);
  uint32_t* at = append_words(words, kernel->arguments, kernel->argument_count);
  at = append_words(at, kernel->attributes, kernel->attribute_count);
  append_words(at, kernel->functions, kernel->function_count);
  return (tfrt_bef_writer_kernel_t){
      .code = kernel->code,
      .location = copy_location(writer, file, kernel->location),
      .stream_id = kernel->stream_id,
      .argument_count = kernel->argument_count,
      .attribute_count = kernel->attribute_count,
      .function_count = kernel->function_count,
      .result_count = kernel->result_count,
      .words = words,
      .attribute_names = names,
  };
}

static void copy_function(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file,
                          const tfrt_bef_function_t* function) {
  static tfrt_bef_writer_kernel_t kernels[MAX_ITEMS];
  static tfrt_string_view_t names[MAX_ITEMS];
  static uint32_t words[MAX_ITEMS][MAX_WORDS];
  static uint32_t register_types[MAX_ITEMS];
  const char* texts[MAX_ITEMS];
  uint32_t argument_types[16];
  uint32_t result_types[16];
  size_t name_count = 0;
  ck_assert_uint_lt(function->kernel_count, MAX_ITEMS);
  ck_assert_uint_lt(function->register_count, MAX_ITEMS);
  copy_types(writer, function->argument_types, function->argument_count, argument_types);
  copy_types(writer, function->result_types, function->result_count, result_types);
  ck_assert(tfrt_bef_file_read_register_types(file, function, texts));
  copy_types(writer, texts, function->register_count, register_types);
  uint32_t location = copy_location(writer, file, function->location);
  for (uint32_t k = 1; k < function->kernel_count; ++k) {
    const tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(file, function, k);
    kernels[k - 1] = copy_kernel(writer, file, &kernel, function->attribute_names + name_count,
                                 &names[name_count], words[k]);
    name_count += kernel.attribute_count;
  }
  tfrt_bef_writer_function_t copy = {
      .name = tfrt_string_view_of(function->name),
      .kind = function->kind,
      .argument_count = function->argument_count,
      .result_count = function->result_count,
      .argument_types = argument_types,
      .result_types = result_types,
      .location = location,
      .root_stream_id = tfrt_bef_function_stream_id(function, 0),
      .register_count = function->register_count,
      .register_types = register_types,
      .result_registers = function->result_registers,
      .kernel_count = function->kernel_count - 1,
      .kernels = kernels,
  };
  ck_assert_uint_eq(tfrt_bef_writer_add_function(writer, &copy), function->index);
}

// Reads a VBR of a file that was verified.
static size_t read_vbr(const uint8_t* bytes, size_t* position) {
  size_t value = 0;
  do {
    value = value << 7 | (bytes[*position] & 0x7F);
  } while (bytes[(*position)++] & 0x80);
  return value;
}

// Strings that nothing refers to, and the order of the types, are not to be had from a loaded
// file: they are taken from its bytes.
static void copy_tables(tfrt_bef_writer_t* writer, const tfrt_bef_file_t* file) {
  size_t size;
  const uint8_t* bytes = tfrt_bef_file_bytes(file, &size);
  const char* strings = NULL;
  size_t position = 3;
  while (position < size) {
    uint8_t id = bytes[position++];
    size_t length = read_vbr(bytes, &position);
    if (length & 1) {
      size_t alignment = bytes[position++];
      position = (position + alignment - 1) / alignment * alignment;
    }
    length >>= 1;
    size_t cursor = position;
    position += length;
    if (id == TFRT_BEF_SECTION_STRINGS) {
      strings = (const char*)bytes + cursor;
      for (size_t i = 0; i < length; i += strlen(strings + i) + 1) {
        tfrt_bef_writer_add_string(writer, tfrt_string_view_of(strings + i));
      }
    } else if (id == TFRT_BEF_SECTION_TYPES) {
      for (size_t count = read_vbr(bytes, &cursor); count > 0; --count) {
        tfrt_bef_writer_add_type(writer, tfrt_string_view_of(strings + read_vbr(bytes, &cursor)));
      }
    }
  }
}

static void write_again(const char* name, test_bytes_t bytes) {
  tfrt_bef_file_t* file = test_load(bytes);
  tfrt_bef_writer_t* writer;
  tfrt_status_t status = tfrt_bef_writer_allocate(true, tfrt_allocator_system(), &writer);
  ck_assert(tfrt_status_is_ok(status));
  copy_tables(writer, file);
  for (uint32_t i = 0; i < tfrt_bef_file_kernel_name_count(file); ++i) {
    tfrt_string_view_t kernel = tfrt_string_view_of(tfrt_bef_file_kernel_name(file, i));
    ck_assert_uint_eq(tfrt_bef_writer_add_kernel_name(writer, kernel), i);
  }
  copy_attributes(writer, file);
  for (uint32_t i = 0; i < tfrt_bef_file_function_count(file); ++i) {
    copy_function(writer, file, tfrt_bef_file_function(file, i));
  }
  test_bytes_t again = test_finish(writer);
  ck_assert_msg(again.size == bytes.size && memcmp(again.data, bytes.data, bytes.size) == 0,
                "%s: written again it differs", name);
  test_free(again.data, again.size);
  tfrt_bef_file_release(file);
}

START_TEST(a_file_of_tfrt_read_and_written_again_is_the_same_bytes) {
  ck_assert_uint_eq(test_for_each_program(write_again), 45);
}
END_TEST

// --- Numbers -----------------------------------------------------------------------

START_TEST(a_number_takes_as_many_bytes_as_it_has_groups_of_seven_bits) {
  for (size_t groups = 1; groups < TFRT_BEF_VBR_MAX_SIZE; ++groups) {
    uint64_t highest = (UINT64_C(1) << 7 * groups) - 1;
    uint64_t lowest = groups == 1 ? 0 : UINT64_C(1) << 7 * (groups - 1);
    const uint64_t values[] = {lowest, lowest + 1, highest - 1, highest};
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) {
      uint8_t bytes[TFRT_BEF_VBR_MAX_SIZE];
      size_t position = 0;
      ck_assert_uint_eq(tfrt_bef_vbr_write(bytes, values[i]) - bytes, groups);
      ck_assert_uint_eq(tfrt_bef_vbr_size(values[i]), groups);
      ck_assert_uint_eq(read_vbr(bytes, &position), values[i]);
      ck_assert_uint_eq(position, groups);
    }
  }
}
END_TEST

START_TEST(numbers_are_appended_one_by_one_or_together) {
  uint32_t values[100];
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) values[i] = UINT32_MAX >> i % 32;
  for (size_t count = 0; count <= TFRT_ARRAY_SIZE(values); ++count) {
    tfrt_bef_bytes_t single;
    tfrt_bef_bytes_t together;
    tfrt_bef_bytes_initialize(&single, tfrt_allocator_system());
    tfrt_bef_bytes_initialize(&together, tfrt_allocator_system());
    for (size_t i = 0; i < count; ++i) tfrt_bef_bytes_append_vbr(&single, values[i]);
    tfrt_bef_bytes_append_vbrs(&together, values, count);
    ck_assert_uint_eq(together.size, single.size);
    if (count > 0) ck_assert_mem_eq(together.data, single.data, single.size);
    tfrt_bef_bytes_deinitialize(&single);
    tfrt_bef_bytes_deinitialize(&together);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* programs = tcase_create("programs");
  tcase_add_test(programs, a_file_of_tfrt_read_and_written_again_is_the_same_bytes);
  tcase_add_test(programs, a_number_takes_as_many_bytes_as_it_has_groups_of_seven_bits);
  tcase_add_test(programs, numbers_are_appended_one_by_one_or_together);
  Suite* suite = suite_create("bef_writer");
  suite_add_tcase(suite, programs);
  return suite;
}
