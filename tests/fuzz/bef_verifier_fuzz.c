// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: the verifier refuses them, or everything that it let through can be
// read without a look at any limit.

#include <stdlib.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/bef/bef_file.h"
#include "tests/support/fuzz_target.h"

// The sum of what was read, so that no read is for nothing.
static volatile uint64_t sum;

static void require(bool condition) {
  if (!condition) abort();
}

static void read_text(const char* text) {
  for (; *text != '\0'; ++text) sum += (uint8_t)*text;
}

static void read_texts(const char* const* texts, uint32_t count) {
  for (uint32_t i = 0; texts && i < count; ++i) read_text(texts[i]);
}

static void read_location(const tfrt_bef_file_t* file, uint32_t location) {
  tfrt_bef_source_location_t source;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  if (tfrt_bef_file_source_location(file, location, &source)) read_text(source.file);
  tfrt_bef_file_location_append_text(file, location, &text);
  tfrt_bef_file_location_append_mlir(file, location, &text);
  tfrt_bef_file_location_append_debug_name(file, location, &text);
  sum += text.size + tfrt_bef_file_location_is_plain(file, location);
  tfrt_string_builder_deinitialize(&text);
}

static void read_bytes(const void* data, size_t size) {
  for (size_t i = 0; i < size; ++i) sum += ((const uint8_t*)data)[i];
}

// Reads a value that was checked in all the ways that its type has.
static void read_value(const uint8_t* value, tfrt_bef_attribute_type_t type) {
  read_bytes(value, tfrt_bef_attribute_size(value, type));
  if (type == TFRT_BEF_ATTRIBUTE_SHAPE) {
    tfrt_bef_shape_t shape = tfrt_bef_attribute_shape(value);
    for (uint32_t i = 0; i < shape.rank; ++i) require(shape.dims[i] >= -1);
  } else if (type == TFRT_BEF_ATTRIBUTE_DENSE) {
    tfrt_bef_dense_t dense = tfrt_bef_attribute_dense(value);
    for (uint32_t i = 0; i < dense.rank; ++i) require(dense.dims[i] >= 0);
    read_bytes(dense.data, dense.data_size);
  } else if (type == TFRT_BEF_ATTRIBUTE_AGGREGATE) {
    for (uint32_t i = 0; i < tfrt_bef_attribute_aggregate_count(value); ++i) {
      tfrt_bef_attribute_type_t element_type;
      const void* element = tfrt_bef_attribute_aggregate_element(value, i, &element_type);
      read_value(element, element_type);
    }
  }
}

// Kernels ask for an attribute as any type.
static void read_attribute(const tfrt_bef_file_t* file, uint32_t offset) {
  size_t size;
  const uint8_t* section = tfrt_bef_file_attributes(file, &size);
  tfrt_bef_attribute_type_t known = tfrt_bef_file_attribute_type(file, offset);
  for (uint32_t type = 0; type < 256; ++type) {
    tfrt_status_t status =
        tfrt_bef_attribute_check(section, size, offset, (tfrt_bef_attribute_type_t)type);
    if (!status) read_value(section + offset, (tfrt_bef_attribute_type_t)type);
    require(!status || type != known || known == TFRT_BEF_ATTRIBUTE_UNSUPPORTED);
    tfrt_status_release(status);
  }
}

static void read_kernel(const tfrt_bef_file_t* file, const tfrt_bef_function_t* function,
                        const tfrt_bef_kernel_t* kernel) {
  uint64_t user_count = 0;
  read_text(kernel->name);
  require(kernel->stream_id < function->stream_count);
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    require(kernel->arguments[i] < function->register_count);
  }
  for (uint32_t i = 0; i < kernel->function_count; ++i) {
    require(kernel->functions[i] < tfrt_bef_file_function_count(file));
  }
  for (uint32_t i = 0; i < kernel->result_count; ++i) {
    require(kernel->results[i] <= function->register_count);
    user_count += kernel->user_counts[i];
  }
  for (uint64_t i = 0; i < user_count; ++i) require(kernel->users[i] < function->kernel_count);
  for (uint32_t i = 0; i < kernel->attribute_count; ++i) {
    read_attribute(file, kernel->attributes[i]);
  }
  if (kernel->call_options) sum += kernel->call_options->host;
  read_location(file, kernel->location);
}

static void read_register_types(const tfrt_bef_file_t* file, const tfrt_bef_function_t* function) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  const char** types =
      tfrt_allocator_allocate_array(allocator, function->register_count, sizeof(*types));
  require(types != NULL);
  if (tfrt_bef_file_read_register_types(file, function, types)) {
    read_texts(types, function->register_count);
  }
  tfrt_allocator_free(allocator, types, function->register_count * sizeof(*types));
}

// Runs a body as an executor would, which fires each kernel when its operands are there: all of
// them must fire, once.
static void fire_all(const tfrt_bef_function_t* function) {
  uint32_t count = function->kernel_count;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  uint32_t* missing = tfrt_allocator_allocate_array(allocator, count, sizeof(*missing));
  uint32_t* ready = tfrt_allocator_allocate_array(allocator, count, sizeof(*ready));
  uint32_t ready_count = 1;
  uint32_t fired_count = 0;
  require(missing && ready);
  for (uint32_t k = 1; k < count; ++k) {
    uint32_t operands = tfrt_bef_function_record(function, k)->argument_count;
    missing[k] = operands > 0 ? operands : 1;
  }
  while (ready_count > 0) {
    const tfrt_bef_record_t* record = tfrt_bef_function_record(function, ready[--ready_count]);
    const uint32_t* users = tfrt_bef_record_users(record);
    ++fired_count;
    for (uint32_t i = 0; i < record->result_count; ++i) {
      for (uint32_t j = 0; j < tfrt_bef_record_user_counts(record)[i]; ++j, ++users) {
        require(missing[*users] > 0);
        if (--missing[*users] == 0) ready[ready_count++] = *users;
      }
    }
  }
  require(fired_count == count);
  tfrt_allocator_free(allocator, missing, count * sizeof(*missing));
  tfrt_allocator_free(allocator, ready, count * sizeof(*ready));
}

static void read_function(const tfrt_bef_file_t* file, const tfrt_bef_function_t* function) {
  read_text(function->name);
  read_texts(function->argument_types, function->argument_count);
  read_texts(function->result_types, function->result_count);
  read_texts(function->argument_names, function->argument_count);
  if (function->kind == TFRT_BEF_FUNCTION_NATIVE) return;
  read_location(file, function->location);
  read_register_types(file, function);
  read_texts(function->attribute_names, function->attribute_count);
  for (uint32_t i = 0; i < function->result_count; ++i) {
    require(function->result_registers[i] < function->register_count);
  }
  for (uint32_t k = 0; k < function->kernel_count; ++k) {
    const tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(file, function, k);
    read_kernel(file, function, &kernel);
  }
  fire_all(function);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tfrt_bef_file_t* file;
  tfrt_status_t status = tfrt_bef_file_create(data, size, tfrt_allocator_system(), &file);
  require(tfrt_status_is_ok(status) == (file != NULL));
  for (uint32_t i = 0; file && i < tfrt_bef_file_function_count(file); ++i) {
    read_function(file, tfrt_bef_file_function(file, i));
  }
  tfrt_status_release(status);
  tfrt_bef_file_release(file);
  return 0;
}
