// SPDX-License-Identifier: Apache-2.0
//
// Operations that make tensors of little: of a shape, of limits, of one value.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

// Fills with an f32 0 unless the program gives one element.
tfrt_status_t tfrt_nn_constant_of_shape(const tfrt_nn_call_t* call) {
  static const float zero = 0.0f;
  const tfrt_dense_host_tensor_t* value = tfrt_nn_input(call, 1);
  tfrt_nn_numbers_t dims;
  if (!tfrt_nn_input(call, 0)) return tfrt_nn_error(call, "the shape is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[0], &dims));
  if (value && tfrt_dense_host_tensor_element_count(value) != 1) {
    return tfrt_nn_error(call, "one value is wanted");
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make_dims(call, 0, value ? value->dtype : TFRT_DTYPE_F32, dims.values, dims.count));
  tfrt_dense_host_tensor_fill(&call->results[0],
                              value ? tfrt_dense_host_tensor_data(value) : &zero);
  return NULL;
}

// --- Ranges -----------------------------------------------------------------------

// How many steps from |start| to |limit| there are.
static tfrt_status_t count_steps(const tfrt_nn_call_t* call, double start, double limit,
                                 double step, int64_t* out_count) {
  double count = ceil((limit - start) / step);
  if (step == 0 || !(count < 1e12)) {
    return tfrt_nn_error(call, "from %g to %g by %g is no range", start, limit, step);
  }
  *out_count = count > 0 ? (int64_t)count : 0;
  return NULL;
}

#define RANGE(type, wide)                                                                       \
  {                                                                                             \
    const type* limits[3];                                                                      \
    for (uint32_t i = 0; i < 3; ++i) limits[i] = tfrt_nn_input_data(call, i);                   \
    int64_t count;                                                                              \
    TFRT_RETURN_IF_ERROR(                                                                       \
        count_steps(call, (double)*limits[0], (double)*limits[1], (double)*limits[2], &count)); \
    TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, call->inputs[0]->dtype, &count, 1));        \
    type* out = tfrt_nn_result_data(call, 0);                                                   \
    for (int64_t i = 0; i < count; ++i) {                                                       \
      out[i] = (type)((wide)*limits[0] + (wide)i * (wide)*limits[2]);                           \
    }                                                                                           \
    return NULL;                                                                                \
  }

tfrt_status_t tfrt_nn_range(const tfrt_nn_call_t* call) {
  if (call->input_count != 3) return tfrt_nn_error(call, "it takes three operands");
  for (uint32_t i = 0; i < 3; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, call->inputs[0]->dtype));
    if (tfrt_dense_host_tensor_element_count(call->inputs[i]) != 1) {
      return tfrt_nn_error(call, "operand %u must have one element", i);
    }
  }
  switch (call->inputs[0]->dtype) {
    case TFRT_DTYPE_F32:
      RANGE(float, float)
    case TFRT_DTYPE_F64:
      RANGE(double, double)
    case TFRT_DTYPE_I16:
      RANGE(int16_t, uint64_t)
    case TFRT_DTYPE_I32:
      RANGE(int32_t, uint64_t)
    case TFRT_DTYPE_I64:
      RANGE(int64_t, uint64_t)
    default:
      return tfrt_nn_dtype_error(call, call->inputs[0]->dtype);
  }
}

// --- Diagonals --------------------------------------------------------------------

// Sets |*(type*)element| to 1.
static tfrt_status_t write_one(const tfrt_nn_call_t* call, tfrt_dtype_t dtype, void* out) {
  size_t size = tfrt_dtype_size(dtype);
  const float one_f32 = 1.0f;
  const double one_f64 = 1.0;
  const uint64_t one = 1;
  if (dtype == TFRT_DTYPE_F32) {
    memcpy(out, &one_f32, size);
  } else if (dtype == TFRT_DTYPE_F64) {
    memcpy(out, &one_f64, size);
  } else if (tfrt_dtype_is_plain(dtype)) {
    memcpy(out, &one, size);
  } else {
    return tfrt_nn_dtype_error(call, dtype);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_eye_like(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x || x->shape.rank != 2) return tfrt_nn_error(call, "it takes a matrix");
  tfrt_dtype_t dtype = tfrt_nn_dtype(call, "dtype");
  int64_t shift = tfrt_nn_i64(call, "k");
  char one[8];
  TFRT_RETURN_IF_ERROR(write_one(call, dtype, one));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, dtype, &x->shape));
  size_t size = tfrt_dtype_size(dtype);
  char* out = tfrt_nn_result_data(call, 0);
  size_t bytes = tfrt_dense_host_tensor_size(&call->results[0]);
  if (bytes) memset(out, 0, bytes);
  int64_t columns = x->shape.dims[1];
  for (int64_t i = 0; i < x->shape.dims[0]; ++i) {
    if (shift >= columns || shift <= -x->shape.dims[0]) break;
    if (i + shift < 0 || i + shift >= columns) continue;
    memcpy(out + (size_t)(i * columns + i + shift) * size, one, size);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_trilu(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  const tfrt_dense_host_tensor_t* k = tfrt_nn_input(call, 1);
  if (!x || x->shape.rank < 2) return tfrt_nn_error(call, "it takes matrices");
  tfrt_nn_numbers_t shift = {.count = 1, .values = {0}};
  if (k) TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, k, &shift));
  if (shift.count != 1) return tfrt_nn_error(call, "'k' is one number");
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  size_t bytes = tfrt_dense_host_tensor_size(x);
  if (bytes == 0) return NULL;
  memcpy(tfrt_nn_result_data(call, 0), tfrt_nn_input_data(call, 0), bytes);
  int64_t rows = x->shape.dims[x->shape.rank - 2];
  int64_t columns = x->shape.dims[x->shape.rank - 1];
  size_t size = tfrt_dtype_size(x->dtype);
  bool keeps_upper = tfrt_nn_i64(call, "upper") != 0;
  // More than the matrix has rows or columns is as much as all of them.
  int64_t most = rows > columns ? rows : columns;
  int64_t by = shift.values[0] > most ? most : shift.values[0] < -most ? -most : shift.values[0];
  int64_t all_rows = (int64_t)(bytes / size) / columns;
  for (int64_t row = 0; row < all_rows; ++row) {
    int64_t diagonal = row % rows + by;
    int64_t begin = keeps_upper ? 0 : diagonal + 1;
    int64_t end = keeps_upper ? diagonal : columns;
    if (begin < 0) begin = 0;
    if (end > columns) end = columns;
    if (begin >= end) continue;
    memset((char*)tfrt_nn_result_data(call, 0) + (size_t)(row * columns + begin) * size, 0,
           (size_t)(end - begin) * size);
  }
  return NULL;
}

// --- Arguments of programs --------------------------------------------------------

// OK if operand 0 is there and of the element type that the program wants.
static tfrt_status_t check_element(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  tfrt_string_view_t name = tfrt_nn_string(call, "name");
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  if (x->dtype == tfrt_nn_dtype(call, "dtype")) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "the argument '%.*s' must be a tensor of %s, not of %s",
      TFRT_STRING_VIEW_ARGUMENTS(name), tfrt_dtype_name(tfrt_nn_dtype(call, "dtype")),
      tfrt_dtype_name(x->dtype));
}

tfrt_status_t tfrt_nn_argument_of_any_shape(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_element(call));
  return tfrt_nn_alias(call, 0, call->inputs[0], NULL);
}

static tfrt_status_t wrong_shape(const tfrt_nn_call_t* call, const tfrt_nn_numbers_t* dims) {
  char wanted[TFRT_SHAPE_TEXT_SIZE] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < dims->count && used < sizeof(wanted); ++i) {
    const char* comma = i > 0 ? ", " : "";
    int length = dims->values[i] < 0 ? snprintf(wanted + used, sizeof(wanted) - used, "%s?", comma)
                                     : snprintf(wanted + used, sizeof(wanted) - used, "%s%lld",
                                                comma, (long long)dims->values[i]);
    used += (size_t)length;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the argument '%.*s' must have the shape [%s], not %s",
                            TFRT_STRING_VIEW_ARGUMENTS(tfrt_nn_string(call, "name")), wanted,
                            tfrt_shape_text(&call->inputs[0]->shape).text);
}

tfrt_status_t tfrt_nn_argument(const tfrt_nn_call_t* call) {
  tfrt_nn_numbers_t dims;
  TFRT_RETURN_IF_ERROR(check_element(call));
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "dims", &dims));
  const tfrt_shape_t* shape = &call->inputs[0]->shape;
  bool fits = dims.count == shape->rank;
  for (uint32_t i = 0; fits && i < shape->rank; ++i) {
    fits = dims.values[i] < 0 || dims.values[i] == shape->dims[i];
  }
  return fits ? tfrt_nn_alias(call, 0, call->inputs[0], NULL) : wrong_shape(call, &dims);
}
