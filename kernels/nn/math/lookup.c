// SPDX-License-Identifier: Apache-2.0
//
// The product of one-hot numbers and a matrix: where an element of the one operand equals a key,
// the row of that key counts. Rows that don't count aren't read, whatever is in them.
#include <string.h>

#include "kernels/nn/math/ops.h"

typedef struct lookup_s {
  const tfrt_dense_host_tensor_t* x;
  const tfrt_dense_host_tensor_t* keys;
  int64_t x_length;     // of its last axis
  int64_t keys_length;  // of the only axis that may be longer than 1
  int64_t count;        // rows of the matrix
  int64_t width;        // their length
  const float* matrix;
} lookup_t;

// Element |i| of |tensor|, i32 or i64.
static int64_t number_at(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(tensor);
  return tensor->dtype == TFRT_DTYPE_I64 ? ((const int64_t*)data)[i] : ((const int32_t*)data)[i];
}

static void add_row(const lookup_t* lookup, int64_t row, float* restrict out) {
  const float* restrict source = lookup->matrix + row * lookup->width;
  for (int64_t i = 0; i < lookup->width; ++i) out[i] += source[i];
}

// Whether the keys are the numbers of the rows.
static bool are_keys_in_order(const lookup_t* lookup) {
  if (lookup->keys_length != lookup->count || lookup->x_length != 1) return false;
  int64_t i = 0;
  while (i < lookup->count && number_at(lookup->keys, i) == i) ++i;
  return i == lookup->count;
}

static void compute(const lookup_t* lookup, int64_t rows, float* out) {
  bool is_in_order = are_keys_in_order(lookup);
  memset(out, 0, (size_t)(rows * lookup->width) * sizeof(float));
  for (int64_t row = 0; row < rows; ++row, out += lookup->width) {
    if (is_in_order) {
      int64_t number = number_at(lookup->x, row);
      if (number >= 0 && number < lookup->count) add_row(lookup, number, out);
      continue;
    }
    for (int64_t i = 0; i < lookup->count; ++i) {
      int64_t number = number_at(lookup->x, row * lookup->x_length + (lookup->x_length > 1) * i);
      if (number_at(lookup->keys, (lookup->keys_length > 1) * i) == number) add_row(lookup, i, out);
    }
  }
}

static tfrt_status_t check_operands(const tfrt_nn_call_t* call) {
  if (call->input_count != 3) return tfrt_nn_error(call, "it takes three operands");
  tfrt_dtype_t dtype = call->inputs[0]->dtype;
  if (dtype != TFRT_DTYPE_I32 && dtype != TFRT_DTYPE_I64) return tfrt_nn_dtype_error(call, dtype);
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, dtype));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, TFRT_DTYPE_F32));
  if (call->inputs[2]->shape.rank == 2) return NULL;
  return tfrt_nn_error(call, "operand 2 must be a matrix, not %s",
                       tfrt_shape_text(&call->inputs[2]->shape).text);
}

// The length of the last axis; 1 without axes.
static int64_t last_length(const tfrt_shape_t* shape) {
  return shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
}

tfrt_status_t tfrt_nn_lookup(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_operands(call));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* keys = &call->inputs[1]->shape;
  const tfrt_shape_t* matrix = &call->inputs[2]->shape;
  const lookup_t lookup = {.x = call->inputs[0],
                           .keys = call->inputs[1],
                           .x_length = last_length(x),
                           .keys_length = last_length(keys),
                           .count = matrix->dims[0],
                           .width = matrix->dims[1],
                           .matrix = tfrt_nn_input_data(call, 2)};
  bool fits =
      lookup.x_length == 1 || lookup.keys_length == 1 || lookup.x_length == lookup.keys_length;
  int64_t length = lookup.x_length == 1 ? lookup.keys_length : lookup.x_length;
  bool is_list = tfrt_shape_element_count(keys) == lookup.keys_length &&
                 (keys->rank <= x->rank || keys->rank <= 1);
  if (!fits || !is_list || length != lookup.count) {
    return tfrt_nn_error(call, "%s, keys of %s and a matrix of %s don't fit",
                         tfrt_shape_text(x).text, tfrt_shape_text(keys).text,
                         tfrt_shape_text(matrix).text);
  }
  tfrt_shape_t shape = *x;
  if (x->rank == 0) shape.rank = 1;
  shape.dims[shape.rank - 1] = lookup.width;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_F32, &shape));
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  compute(&lookup, tfrt_shape_element_count(&shape) / lookup.width, tfrt_nn_result_data(call, 0));
  return NULL;
}
