// SPDX-License-Identifier: Apache-2.0
//
// Floats as small whole numbers, with a scale and the number that stands for 0, and products of
// such numbers.
//
//   float = (whole number - zero point) * scale
//
// Scales and zero points have one element, one for each place along `axis`, or one for each block
// of `block_size` elements along it; or any shape that can be stretched.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"
#include "kernels/tensor/math/elementwise.h"

enum { NUMBERS, SCALE, ZERO_POINT };

// Steps through a tensor of parameters while the elements of |shape| are stepped through.
typedef struct steps_s {
  int64_t strides[TFRT_SHAPE_MAX_RANK];  // for each axis of the elements
  uint32_t axis;                         // that has blocks
  int64_t block;                         // elements of a block
} steps_t;

// Sets |*out| to the steps of operand |index|, for elements of |shape|.
static tfrt_status_t read_steps(const tfrt_nn_call_t* call, uint32_t index,
                                const tfrt_shape_t* shape, steps_t* out) {
  const tfrt_shape_t* own = &call->inputs[index]->shape;
  int64_t block = tfrt_nn_i64(call, "block_size");
  *out = (steps_t){.block = 1};
  if (tfrt_shape_element_count(own) == 1) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), shape->rank, &out->axis));
  bool fits = own->rank == 1 && own->dims[0] == shape->dims[out->axis];
  if (fits) {
    out->strides[out->axis] = 1;
    return NULL;
  }
  fits = own->rank == shape->rank;
  if (block > 0) out->block = block;
  for (uint32_t i = 0; fits && i < own->rank; ++i) {
    bool is_blocked = block > 0 && i == out->axis;
    int64_t length = is_blocked ? (shape->dims[i] + block - 1) / block : shape->dims[i];
    fits = own->dims[i] == length || (!is_blocked && own->dims[i] == 1);
    out->strides[i] = own->dims[i] == 1 && !is_blocked ? 0 : tfrt_shape_stride(own, i);
  }
  if (fits) return NULL;
  return tfrt_nn_error(call, "the parameters %s don't fit %s", tfrt_shape_text(own).text,
                       tfrt_shape_text(shape).text);
}

// The place of the parameter of the element at |position|.
static int64_t place_of(const steps_t* steps, const int64_t* position, uint32_t rank) {
  int64_t place = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t at = i == steps->axis ? position[i] / steps->block : position[i];
    place += at * steps->strides[i];
  }
  return place;
}

// Moves |position| to the next element of |shape|.
static void advance(const tfrt_shape_t* shape, int64_t* position) {
  for (uint32_t i = shape->rank; i-- > 0;) {
    if (++position[i] < shape->dims[i]) return;
    position[i] = 0;
  }
}

// Element |i| of |tensor|, whole numbers of up to 32 bits.
static int64_t whole_number(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(tensor);
  switch (tensor->dtype) {
    case TFRT_DTYPE_I8:
      return ((const int8_t*)data)[i];
    case TFRT_DTYPE_UI8:
      return ((const uint8_t*)data)[i];
    case TFRT_DTYPE_I16:
      return ((const int16_t*)data)[i];
    case TFRT_DTYPE_UI16:
      return ((const uint16_t*)data)[i];
    default:
      return ((const int32_t*)data)[i];
  }
}

static bool is_small(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_I8 || dtype == TFRT_DTYPE_UI8 || dtype == TFRT_DTYPE_I16 ||
         dtype == TFRT_DTYPE_UI16;
}

tfrt_status_t tfrt_nn_dequantize_linear(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, NUMBERS);
  const tfrt_dense_host_tensor_t* zero = tfrt_nn_input(call, ZERO_POINT);
  steps_t scales = {.block = 1}, zeros = {.block = 1};
  if (!x || !tfrt_nn_input(call, SCALE)) return tfrt_nn_error(call, "an operand is missing");
  if (!is_small(x->dtype) && x->dtype != TFRT_DTYPE_I32) return tfrt_nn_dtype_error(call, x->dtype);
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, SCALE, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(read_steps(call, SCALE, &x->shape, &scales));
  if (zero) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, ZERO_POINT, x->dtype));
    TFRT_RETURN_IF_ERROR(read_steps(call, ZERO_POINT, &x->shape, &zeros));
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_F32, &x->shape));
  const float* scale = tfrt_nn_input_data(call, SCALE);
  float* out = tfrt_nn_result_data(call, 0);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  int64_t position[TFRT_SHAPE_MAX_RANK] = {0};
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = whole_number(x, i);
    if (zero) number -= whole_number(zero, place_of(&zeros, position, x->shape.rank));
    out[i] = (float)number * scale[place_of(&scales, position, x->shape.rank)];
    advance(&x->shape, position);
  }
  return NULL;
}

// |x| rounded, of two the even one, plus |zero|, within what |dtype| has.
static int64_t quantize(float x, int64_t zero, tfrt_dtype_t dtype) {
  bool is_signed = dtype == TFRT_DTYPE_I8 || dtype == TFRT_DTYPE_I16;
  int bits = (int)(8 * tfrt_dtype_size(dtype));
  int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
  int64_t greatest = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  float rounded = nearbyintf(x);
  if (!(rounded > -1e9f)) return rounded == rounded ? least : zero;
  if (!(rounded < 1e9f)) return greatest;
  int64_t number = (int64_t)rounded + zero;
  return number < least ? least : number > greatest ? greatest : number;
}

static void write_whole_number(void* data, tfrt_dtype_t dtype, int64_t i, int64_t number) {
  if (tfrt_dtype_size(dtype) == 1) {
    ((uint8_t*)data)[i] = (uint8_t)number;
  } else {
    ((uint16_t*)data)[i] = (uint16_t)number;
  }
}

tfrt_status_t tfrt_nn_quantize_linear(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, NUMBERS);
  const tfrt_dense_host_tensor_t* zero = tfrt_nn_input(call, ZERO_POINT);
  steps_t scales = {.block = 1}, zeros = {.block = 1};
  if (!x || !tfrt_nn_input(call, SCALE) || !zero) {
    return tfrt_nn_error(call, "it takes numbers, scales and zero points");
  }
  bool is_whole = x->dtype == TFRT_DTYPE_I32;
  if (!is_whole) TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, NUMBERS, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, SCALE, TFRT_DTYPE_F32));
  if (!is_small(zero->dtype)) return tfrt_nn_dtype_error(call, zero->dtype);
  TFRT_RETURN_IF_ERROR(read_steps(call, SCALE, &x->shape, &scales));
  TFRT_RETURN_IF_ERROR(read_steps(call, ZERO_POINT, &x->shape, &zeros));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, zero->dtype, &x->shape));
  const void* data = tfrt_dense_host_tensor_data(x);
  const float* scale = tfrt_nn_input_data(call, SCALE);
  void* out = tfrt_nn_result_data(call, 0);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  int64_t position[TFRT_SHAPE_MAX_RANK] = {0};
  for (int64_t i = 0; i < count; ++i) {
    float number = is_whole ? (float)((const int32_t*)data)[i] : ((const float*)data)[i];
    float quotient = number / scale[place_of(&scales, position, x->shape.rank)];
    int64_t shift = whole_number(zero, place_of(&zeros, position, x->shape.rank));
    write_whole_number(out, zero->dtype, i, quantize(quotient, shift, zero->dtype));
    advance(&x->shape, position);
  }
  return NULL;
}

// Chooses a scale and a zero point for all elements, among which is 0.
tfrt_status_t tfrt_nn_dynamic_quantize_linear(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, NUMBERS, TFRT_DTYPE_F32));
  const tfrt_dense_host_tensor_t* x = call->inputs[NUMBERS];
  const float* data = tfrt_dense_host_tensor_data(x);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  float least = 0, greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (data[i] < least) least = data[i];
    if (data[i] > greatest) greatest = data[i];
  }
  float scale = greatest == least ? 1 : (greatest - least) / 255;
  uint8_t zero = (uint8_t)quantize(-least / scale, 0, TFRT_DTYPE_UI8);
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_UI8, &x->shape));
  uint8_t* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = (uint8_t)quantize(data[i] / scale, zero, TFRT_DTYPE_UI8);
  }
  if (call->result_count > 1) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 1, TFRT_DTYPE_F32, NULL, 0));
    memcpy(tfrt_nn_result_data(call, 1), &scale, sizeof(scale));
  }
  if (call->result_count > 2) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 2, TFRT_DTYPE_UI8, NULL, 0));
    memcpy(tfrt_nn_result_data(call, 2), &zero, sizeof(zero));
  }
  return NULL;
}

// --- Products -----------------------------------------------------------------------

// Makes |*out| operand |index| as i32, less operand |index| + 2, if that is there: for all, or for
// each place along the axis |axis| from the back.
static tfrt_status_t centre(const tfrt_nn_call_t* call, uint32_t index, uint32_t axis,
                            tfrt_dense_host_tensor_t* out) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, index);
  const tfrt_dense_host_tensor_t* zero = tfrt_nn_input(call, index + 2);
  if (!x) return tfrt_nn_error(call, "operand %u is missing", index);
  if (!is_small(x->dtype)) return tfrt_nn_dtype_error(call, x->dtype);
  int64_t zeros = zero ? tfrt_dense_host_tensor_element_count(zero) : 1;
  bool is_single = zeros == 1;
  bool fits = is_single || (x->shape.rank > axis && zero->shape.rank == 1 &&
                            x->shape.dims[x->shape.rank - 1 - axis] == zeros);
  if (zero && !is_single && !fits) {
    // The same axis among others of length 1, for each matrix.
    fits = zero->shape.rank == x->shape.rank;
    for (uint32_t i = 0; fits && i < x->shape.rank; ++i) {
      bool is_own = i + 1 + axis == x->shape.rank;
      fits = zero->shape.dims[i] == (is_own || i + 2 < x->shape.rank ? x->shape.dims[i] : 1);
    }
  }
  if (!fits) {
    return tfrt_nn_error(call, "the zero points %s don't fit %s",
                         tfrt_shape_text(&zero->shape).text, tfrt_shape_text(&x->shape).text);
  }
  if (zero) TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index + 2, x->dtype));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &x->shape, call->allocator, out));
  int32_t* target = tfrt_dense_host_tensor_data(out);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  int64_t columns = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : 1;
  int64_t rows = x->shape.rank > 1 ? x->shape.dims[x->shape.rank - 2] : 1;
  int64_t own = axis == 0 ? columns : rows;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = axis == 0 ? i % columns : i / columns % rows;
    int64_t matrix = zero && zero->shape.rank > 1 ? i / columns / rows : 0;
    int64_t shift = zero ? whole_number(zero, is_single ? 0 : matrix * own + place) : 0;
    target[i] = (int32_t)(whole_number(x, i) - shift);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_mat_mul_integer(const tfrt_nn_call_t* call) {
  tfrt_dense_host_tensor_t factors[2] = {{0}};
  const tfrt_dense_host_tensor_t* inputs[2] = {&factors[0], &factors[1]};
  tfrt_nn_call_t product = *call;
  product.inputs = inputs;
  product.input_count = 2;
  product.unique_inputs = 0;
  tfrt_status_t status = centre(call, 0, 1, &factors[0]);
  if (!status) status = centre(call, 1, 0, &factors[1]);
  if (!status) status = tfrt_nn_mat_mul(&product);
  tfrt_dense_host_tensor_deinitialize(&factors[0]);
  tfrt_dense_host_tensor_deinitialize(&factors[1]);
  return status;
}
