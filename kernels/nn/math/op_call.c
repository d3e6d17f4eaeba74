// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/op_call.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"
#include "host_runtime/bef/bef_attribute.h"

static const void* find_attribute(const tfrt_nn_call_t* call, const char* name) {
  for (uint32_t i = 0; i < call->op->attribute_count; ++i) {
    if (strcmp(call->op->attributes[i].name, name) == 0) return call->attributes[i];
  }
  assert(!"the op table has this attribute");
  return NULL;
}

int64_t tfrt_nn_i64(const tfrt_nn_call_t* call, const char* name) {
  return (int64_t)tfrt_bef_attribute_read_u64(find_attribute(call, name));
}

float tfrt_nn_f32(const tfrt_nn_call_t* call, const char* name) {
  float value;
  memcpy(&value, find_attribute(call, name), sizeof(value));
  return value;
}

tfrt_string_view_t tfrt_nn_string(const tfrt_nn_call_t* call, const char* name) {
  return tfrt_bef_attribute_string(find_attribute(call, name));
}

bool tfrt_nn_string_is(const tfrt_nn_call_t* call, const char* name, const char* value) {
  return tfrt_string_view_equal(tfrt_nn_string(call, name), tfrt_string_view_of(value));
}

tfrt_dtype_t tfrt_nn_dtype(const tfrt_nn_call_t* call, const char* name) {
  return (tfrt_dtype_t)(*(const uint8_t*)find_attribute(call, name));
}

tfrt_status_t tfrt_nn_numbers(const tfrt_nn_call_t* call, const char* name,
                              tfrt_nn_numbers_t* out_numbers) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(find_attribute(call, name));
  if (array.count > TFRT_ARRAY_SIZE(out_numbers->values)) {
    return tfrt_nn_error(call, "'%s' has %u numbers; at most %zu are possible", name, array.count,
                         TFRT_ARRAY_SIZE(out_numbers->values));
  }
  out_numbers->count = array.count;
  if (array.count) memcpy(out_numbers->values, array.data, array.count * sizeof(int64_t));
  return NULL;
}

const float* tfrt_nn_floats(const tfrt_nn_call_t* call, const char* name, uint32_t* out_count) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(find_attribute(call, name));
  *out_count = array.count;
  return array.data;
}

tfrt_status_t tfrt_nn_read_numbers(const tfrt_nn_call_t* call,
                                   const tfrt_dense_host_tensor_t* tensor,
                                   tfrt_nn_numbers_t* out_numbers) {
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  bool is_wide = tensor->dtype == TFRT_DTYPE_I64;
  if ((!is_wide && tensor->dtype != TFRT_DTYPE_I32) || tensor->shape.rank > 1 ||
      count > (int64_t)TFRT_ARRAY_SIZE(out_numbers->values)) {
    return tfrt_nn_error(call, "a list of at most %zu whole numbers is wanted, not %s %s",
                         TFRT_ARRAY_SIZE(out_numbers->values), tfrt_dtype_name(tensor->dtype),
                         tfrt_shape_text(&tensor->shape).text);
  }
  const void* data = tfrt_dense_host_tensor_data(tensor);
  out_numbers->count = (uint32_t)count;
  for (int64_t i = 0; i < count; ++i) {
    out_numbers->values[i] = is_wide ? ((const int64_t*)data)[i] : ((const int32_t*)data)[i];
  }
  return NULL;
}

tfrt_status_t tfrt_nn_axis(const tfrt_nn_call_t* call, int64_t axis, uint32_t rank,
                           uint32_t* out_axis) {
  int64_t counted = axis < 0 ? axis + (int64_t)rank : axis;
  if (counted < 0 || counted >= (int64_t)rank) {
    return tfrt_nn_error(call, "there is no axis %lld among %u", (long long)axis, rank);
  }
  *out_axis = (uint32_t)counted;
  return NULL;
}

tfrt_status_t tfrt_nn_make(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                           const tfrt_shape_t* shape) {
  assert(index < call->result_count);
  return tfrt_dense_host_tensor_initialize(dtype, shape, call->allocator, &call->results[index]);
}

tfrt_status_t tfrt_nn_make_dims(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                                const int64_t* dims, uint32_t rank) {
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, rank, &shape));
  return tfrt_nn_make(call, index, dtype, &shape);
}

tfrt_status_t tfrt_nn_alias(const tfrt_nn_call_t* call, uint32_t index,
                            const tfrt_dense_host_tensor_t* tensor, const tfrt_shape_t* shape) {
  assert(index < call->result_count);
  if (shape && tfrt_shape_element_count(shape) != tfrt_dense_host_tensor_element_count(tensor)) {
    return tfrt_nn_error(call, "%s can't become %s", tfrt_shape_text(&tensor->shape).text,
                         tfrt_shape_text(shape).text);
  }
  tfrt_dense_host_tensor_initialize_alias(tensor, &call->results[index]);
  if (shape) call->results[index].shape = *shape;
  return NULL;
}

bool tfrt_nn_can_reuse(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                       const tfrt_shape_t* shape) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_nn_input(call, index);
  return tensor && (call->unique_inputs >> index & 1) && tensor->dtype == dtype &&
         tfrt_shape_equal(&tensor->shape, shape) && tfrt_host_buffer_is_exclusive(tensor->buffer);
}

tfrt_status_t tfrt_nn_error(const tfrt_nn_call_t* call, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(text, sizeof(text), format, arguments);
  va_end(arguments);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %s", call->op->name, text);
}

tfrt_status_t tfrt_nn_dtype_error(const tfrt_nn_call_t* call, tfrt_dtype_t dtype) {
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "%s: it is not made for tensors of %s",
                            call->op->name, tfrt_dtype_name(dtype));
}

tfrt_status_t tfrt_nn_check_dtype(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_nn_input(call, index);
  if (!tensor) return tfrt_nn_error(call, "input %u is missing", index);
  if (tensor->dtype == dtype) return NULL;
  bool is_half = tensor->dtype == TFRT_DTYPE_F16 || tensor->dtype == TFRT_DTYPE_BF16;
  return tfrt_status_create(is_half ? TFRT_STATUS_UNIMPLEMENTED : TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: input %u must be of %s, not of %s", call->op->name, index,
                            tfrt_dtype_name(dtype), tfrt_dtype_name(tensor->dtype));
}
