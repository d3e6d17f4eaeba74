// SPDX-License-Identifier: Apache-2.0
#include "tests/host_runtime/tensor/tensor_testing.h"

#include <stdarg.h>
#include <string.h>

#include "host_runtime/base/file.h"

void testing_ok(tfrt_status_t status) {
  char text[512] = "";
  if (status) tfrt_status_format(status, text, sizeof(text));
  ck_assert_msg(!status, "%s", text);
}

void testing_fails(tfrt_status_t status, tfrt_status_code_t code, ...) {
  ck_assert_msg(status != NULL, "no error");
  const char* message = tfrt_status_message(status);
  ck_assert_msg(tfrt_status_code(status) == code, "%s: %s",
                tfrt_status_code_name(tfrt_status_code(status)), message);
  va_list texts;
  va_start(texts, code);
  for (const char* text; (text = va_arg(texts, const char*)) != NULL;) {
    ck_assert_msg(strstr(message, text) != NULL, "'%s' is not in: %s", text, message);
  }
  va_end(texts);
  tfrt_status_release(status);
}

tfrt_shape_t testing_shape(const int64_t* dims, size_t rank) {
  tfrt_shape_t shape;
  testing_ok(tfrt_shape_make(dims, rank, &shape));
  return shape;
}

tfrt_dense_host_tensor_t testing_zeros(tfrt_dtype_t dtype, const int64_t* dims, size_t rank) {
  tfrt_shape_t shape = testing_shape(dims, rank);
  tfrt_dense_host_tensor_t tensor;
  testing_ok(tfrt_dense_host_tensor_initialize(dtype, &shape, tfrt_allocator_system(), &tensor));
  memset(tfrt_dense_host_tensor_data(&tensor), 0, tfrt_dense_host_tensor_size(&tensor));
  return tensor;
}

tfrt_dense_host_tensor_t testing_tensor(tfrt_dtype_t dtype, const void* elements,
                                        const int64_t* dims, size_t rank) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(dtype, dims, rank);
  size_t size = tfrt_dense_host_tensor_size(&tensor);
  if (size > 0) memcpy(tfrt_dense_host_tensor_data(&tensor), elements, size);
  return tensor;
}

// The generator of splitmix64.
static uint64_t next_random(uint64_t* seed) {
  uint64_t value = (*seed += UINT64_C(0x9e3779b97f4a7c15));
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

int64_t testing_random_number(uint64_t* seed, int64_t low, int64_t high) {
  return low + (int64_t)(next_random(seed) % (uint64_t)(high - low + 1));
}

tfrt_dense_host_tensor_t testing_random(uint64_t* seed, const int64_t* dims, size_t rank) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_F32, dims, rank);
  float* elements = tfrt_dense_host_tensor_data(&tensor);
  int64_t count = tfrt_dense_host_tensor_element_count(&tensor);
  for (int64_t i = 0; i < count; ++i) {
    elements[i] = (float)(next_random(seed) >> 40) / (float)(1 << 23) - 1.0f;
  }
  return tensor;
}

float testing_f32(const tfrt_dense_host_tensor_t* tensor, int64_t index) {
  ck_assert_int_eq(tensor->dtype, TFRT_DTYPE_F32);
  ck_assert_int_lt(index, tfrt_dense_host_tensor_element_count(tensor));
  return ((const float*)tfrt_dense_host_tensor_data(tensor))[index];
}

void testing_prints(const tfrt_dense_host_tensor_t* tensor, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_dense_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

tfrt_host_buffer_t* testing_file(const char* path) {
  tfrt_file_contents_t contents;
  testing_ok(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_host_buffer_t* buffer;
  testing_ok(tfrt_host_buffer_create(contents.size, tfrt_allocator_system(), &buffer));
  memcpy(buffer->data, contents.data, contents.size);
  tfrt_file_contents_deinitialize(&contents);
  return buffer;
}
