// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/string_host_tensor.h"

#include <inttypes.h>
#include <string.h>

static size_t table_size(const tfrt_shape_t* shape) {
  return (size_t)tfrt_shape_element_count(shape) * sizeof(uint64_t);
}

tfrt_status_t tfrt_string_host_tensor_initialize_empty(const tfrt_shape_t* shape, size_t size,
                                                       tfrt_allocator_t allocator,
                                                       tfrt_string_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  TFRT_RETURN_IF_ERROR(tfrt_shape_check(shape));
  size_t count = (size_t)tfrt_shape_element_count(shape);
  size_t table;
  if (!tfrt_size_multiply(count, sizeof(uint64_t), &table) || table > size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%zu bytes cannot hold strings with the shape %s", size,
                              tfrt_shape_text(shape).text);
  }
  tfrt_host_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(size, allocator, &buffer));
  *out_tensor = (tfrt_string_host_tensor_t){.shape = *shape, .buffer = buffer};
  return NULL;
}

tfrt_status_t tfrt_string_host_tensor_initialize(const tfrt_shape_t* shape,
                                                 const tfrt_string_view_t* strings, size_t count,
                                                 tfrt_allocator_t allocator,
                                                 tfrt_string_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  int64_t expected;
  TFRT_RETURN_IF_ERROR(tfrt_shape_count_elements(shape, &expected));
  if ((uint64_t)expected != count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Shape mismatch: %zu strings are given, but the shape %s has "
                              "%" PRId64 " elements",
                              count, tfrt_shape_text(shape).text, expected);
  }
  // The strings are in memory already, so neither the table nor the sum can overflow.
  size_t size = count * sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) size += strings[i].size;
  TFRT_RETURN_IF_ERROR(
      tfrt_string_host_tensor_initialize_empty(shape, size, allocator, out_tensor));
  if (count == 0) return NULL;
  uint64_t* ends = out_tensor->buffer->data;
  char* bytes = (char*)out_tensor->buffer->data + count * sizeof(uint64_t);
  uint64_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strings[i].size > 0) memcpy(bytes + end, strings[i].data, strings[i].size);
    end += strings[i].size;
    ends[i] = end;
  }
  return NULL;
}

void tfrt_string_host_tensor_deinitialize(tfrt_string_host_tensor_t* tensor) {
  tfrt_host_buffer_release(tensor->buffer);
  memset(tensor, 0, sizeof(*tensor));
}

tfrt_status_t tfrt_string_host_tensor_check(const tfrt_string_host_tensor_t* tensor) {
  int64_t count = tfrt_shape_element_count(&tensor->shape);
  const uint64_t* ends = tensor->buffer->data;
  size_t size = tensor->buffer->size - table_size(&tensor->shape);
  uint64_t last = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (ends[i] < last || ends[i] > size) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "string %" PRId64 " of a tensor ends at byte %" PRIu64
                                ", but should between %" PRIu64 " and %zu",
                                i, ends[i], last, size);
    }
    last = ends[i];
  }
  if (last == size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a tensor has %zu bytes of strings, of which %" PRIu64 " are used",
                            size, last);
}

tfrt_string_view_t tfrt_string_host_tensor_element(const tfrt_string_host_tensor_t* tensor,
                                                   int64_t index) {
  const uint64_t* ends = tensor->buffer->data;
  const char* bytes = (const char*)tensor->buffer->data + table_size(&tensor->shape);
  uint64_t start = index > 0 ? ends[index - 1] : 0;
  return tfrt_string_view_make(bytes + start, (size_t)(ends[index] - start));
}

void tfrt_string_host_tensor_print(const tfrt_string_host_tensor_t* tensor,
                                   tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "StringHostTensor shape = ");
  tfrt_shape_print(&tensor->shape, out);
  tfrt_string_builder_append_text(out, ", values = [");
  int64_t count = tfrt_shape_element_count(&tensor->shape);
  for (int64_t i = 0; i < count && i < TFRT_STRING_HOST_TENSOR_PRINT_LIMIT; ++i) {
    tfrt_string_view_t string = tfrt_string_host_tensor_element(tensor, i);
    tfrt_string_builder_append_text(out, i > 0 ? ", \"" : "\"");
    tfrt_string_builder_append(out, string.data, string.size);
    tfrt_string_builder_append_char(out, '"');
  }
  if (count > TFRT_STRING_HOST_TENSOR_PRINT_LIMIT) tfrt_string_builder_append_text(out, ", ... ");
  tfrt_string_builder_append_char(out, ']');
}
