// SPDX-License-Identifier: Apache-2.0
//
// Operations that pick elements by indices, and that put them there.
#include <string.h>

#include "kernels/nn/math/ops.h"
#include "kernels/tensor/math/elementwise.h"

// Element |i| of |tensor|, i32 or i64.
static int64_t index_at(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(tensor);
  return tensor->dtype == TFRT_DTYPE_I64 ? ((const int64_t*)data)[i] : ((const int32_t*)data)[i];
}

static tfrt_status_t check_indices(const tfrt_nn_call_t* call, uint32_t input) {
  const tfrt_dense_host_tensor_t* indices = tfrt_nn_input(call, input);
  if (!tfrt_nn_input(call, 0) || !indices) return tfrt_nn_error(call, "an operand is missing");
  if (indices->dtype == TFRT_DTYPE_I64 || indices->dtype == TFRT_DTYPE_I32) return NULL;
  return tfrt_nn_error(call, "indices must be i32 or i64, not %s", tfrt_dtype_name(indices->dtype));
}

// Sets |*inout_index| to the same, counted from the front. OUT_OF_RANGE if there is none.
static tfrt_status_t place_index(const tfrt_nn_call_t* call, int64_t length, int64_t* inout_index) {
  int64_t index = *inout_index;
  *inout_index = index < 0 ? index + length : index;
  if (*inout_index >= 0 && *inout_index < length) return NULL;
  return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE, "%s: index %lld of an axis that is %lld long",
                            call->op->name, (long long)index, (long long)length);
}

// The product of the lengths |begin| to |end| of |shape|.
static int64_t product(const tfrt_shape_t* shape, uint32_t begin, uint32_t end) {
  int64_t count = 1;
  for (uint32_t i = begin; i < end; ++i) count *= shape->dims[i];
  return count;
}

// --- Gather -----------------------------------------------------------------------

static tfrt_status_t gather_rows(const tfrt_nn_call_t* call, uint32_t axis) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* indices = call->inputs[1];
  size_t block = (size_t)tfrt_shape_stride(&x->shape, axis) * tfrt_dtype_size(x->dtype);
  int64_t length = x->shape.dims[axis];
  int64_t outer = product(&x->shape, 0, axis);
  int64_t count = tfrt_dense_host_tensor_element_count(indices);
  char* out = tfrt_nn_result_data(call, 0);
  const char* source = tfrt_nn_input_data(call, 0);
  for (int64_t row = 0; row < outer; ++row) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = index_at(indices, i);
      TFRT_RETURN_IF_ERROR(place_index(call, length, &index));
      if (block) memcpy(out, source + (size_t)(row * length + index) * block, block);
      out += block;
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_gather(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* indices = &call->inputs[1]->shape;
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->rank, &axis));
  if (x->rank - 1 + indices->rank > TFRT_SHAPE_MAX_RANK) {
    return tfrt_nn_error(call, "the result would have more than %d axes", TFRT_SHAPE_MAX_RANK);
  }
  int64_t dims[2 * TFRT_SHAPE_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < axis; ++i) dims[rank++] = x->dims[i];
  for (uint32_t i = 0; i < indices->rank; ++i) dims[rank++] = indices->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; ++i) dims[rank++] = x->dims[i];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, call->inputs[0]->dtype, dims, rank));
  return gather_rows(call, axis);
}

// For element |i| of |shape|: its place in a tensor |own| of as many axes, without |axis|, and
// the position along the others must fit into |own|.
static int64_t place_without_axis(const tfrt_shape_t* shape, const tfrt_shape_t* own, uint32_t axis,
                                  int64_t i) {
  int64_t place = 0;
  for (uint32_t a = shape->rank; a-- > 0;) {
    int64_t position = i % shape->dims[a];
    i /= shape->dims[a];
    if (a != axis) place += position * tfrt_shape_stride(own, a);
  }
  return place;
}

// OK if each axis but |axis| of |indices| is at most as long as that of |own|.
static tfrt_status_t check_inside(const tfrt_nn_call_t* call, const tfrt_shape_t* indices,
                                  const tfrt_shape_t* own, uint32_t axis) {
  bool fits = indices->rank == own->rank;
  for (uint32_t a = 0; fits && a < own->rank; ++a) {
    fits = a == axis || indices->dims[a] <= own->dims[a];
  }
  if (fits) return NULL;
  return tfrt_nn_error(call, "indices of the shape %s don't fit to %s",
                       tfrt_shape_text(indices).text, tfrt_shape_text(own).text);
}

tfrt_status_t tfrt_nn_gather_elements(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* indices = call->inputs[1];
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  TFRT_RETURN_IF_ERROR(check_inside(call, &indices->shape, &x->shape, axis));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &indices->shape));
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t stride = tfrt_shape_stride(&x->shape, axis);
  int64_t count = tfrt_dense_host_tensor_element_count(indices);
  char* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < count; ++i, out += size) {
    int64_t index = index_at(indices, i);
    TFRT_RETURN_IF_ERROR(place_index(call, x->shape.dims[axis], &index));
    int64_t place = place_without_axis(&indices->shape, &x->shape, axis, i) + index * stride;
    memcpy(out, (const char*)tfrt_nn_input_data(call, 0) + (size_t)place * size, size);
  }
  return NULL;
}

// Sets |*out_place| to where the tuple |row| of |indices|, of |depth| numbers, points in |shape|,
// from the axis |first| on.
static tfrt_status_t place_tuple(const tfrt_nn_call_t* call,
                                 const tfrt_dense_host_tensor_t* indices, int64_t row,
                                 uint32_t depth, const tfrt_shape_t* shape, uint32_t first,
                                 int64_t* out_place) {
  *out_place = 0;
  for (uint32_t i = 0; i < depth; ++i) {
    int64_t index = index_at(indices, row * depth + i);
    TFRT_RETURN_IF_ERROR(place_index(call, shape->dims[first + i], &index));
    *out_place += index * tfrt_shape_stride(shape, first + i);
  }
  return NULL;
}

// Sets |*out_depth| to how many numbers point to one place of |shape|, from the axis |first| on.
static tfrt_status_t tuple_depth(const tfrt_nn_call_t* call, const tfrt_shape_t* indices,
                                 const tfrt_shape_t* shape, uint32_t first, uint32_t* out_depth) {
  int64_t depth = indices->rank ? indices->dims[indices->rank - 1] : 0;
  if (indices->rank <= first || depth < 1 || first + depth > (int64_t)shape->rank) {
    return tfrt_nn_error(call, "indices of the shape %s can't point into %s",
                         tfrt_shape_text(indices).text, tfrt_shape_text(shape).text);
  }
  *out_depth = (uint32_t)depth;
  return NULL;
}

static tfrt_status_t gather_tuples(const tfrt_nn_call_t* call, uint32_t batch, uint32_t depth) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* indices = call->inputs[1];
  size_t size = tfrt_dtype_size(x->dtype);
  size_t block = (size_t)product(&x->shape, batch + depth, x->shape.rank) * size;
  size_t batch_size = (size_t)product(&x->shape, batch, x->shape.rank) * size;
  int64_t rows = tfrt_dense_host_tensor_element_count(indices) / depth;
  int64_t batches = product(&x->shape, 0, batch);
  char* out = tfrt_nn_result_data(call, 0);
  for (int64_t row = 0; row < rows; ++row, out += block) {
    int64_t place;
    TFRT_RETURN_IF_ERROR(place_tuple(call, indices, row, depth, &x->shape, batch, &place));
    const char* source = (const char*)tfrt_nn_input_data(call, 0) +
                         (size_t)(row / (rows / batches)) * batch_size + (size_t)place * size;
    if (block) memcpy(out, source, block);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_gather_nd(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* indices = &call->inputs[1]->shape;
  int64_t batch = tfrt_nn_i64(call, "batch_dims");
  uint32_t depth = 1;
  if (batch < 0 || batch >= (int64_t)x->rank) return tfrt_nn_error(call, "wrong batch_dims");
  TFRT_RETURN_IF_ERROR(tuple_depth(call, indices, x, (uint32_t)batch, &depth));
  int64_t dims[2 * TFRT_SHAPE_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t i = 0; i + 1 < indices->rank; ++i) {
    if (i < batch && indices->dims[i] != x->dims[i]) {
      return tfrt_nn_error(call, "the first %lld axes must be equally long", (long long)batch);
    }
    dims[rank++] = indices->dims[i];
  }
  for (uint32_t i = (uint32_t)batch + depth; i < x->rank; ++i) dims[rank++] = x->dims[i];
  if (rank > TFRT_SHAPE_MAX_RANK) return tfrt_nn_error(call, "the result has too many axes");
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, call->inputs[0]->dtype, dims, rank));
  if (tfrt_dense_host_tensor_element_count(&call->results[0]) == 0) return NULL;
  return gather_tuples(call, (uint32_t)batch, depth);
}

// --- Scatter ----------------------------------------------------------------------

// How scatter combines an existing element with an update.
typedef enum reduction_e {
  REDUCTION_NONE = 0,
  REDUCTION_ADD,
  REDUCTION_MUL,
  REDUCTION_MAX,
  REDUCTION_MIN,
} reduction_t;

#define COMBINE(type, wide)                                          \
  {                                                                  \
    type* x = target;                                                \
    type y = *(const type*)update;                                   \
    if (reduction == REDUCTION_ADD) *x = (type)((wide)*x + (wide)y); \
    if (reduction == REDUCTION_MUL) *x = (type)((wide)*x * (wide)y); \
    if (reduction == REDUCTION_MAX && y > *x) *x = y;                \
    if (reduction == REDUCTION_MIN && y < *x) *x = y;                \
    return;                                                          \
  }

static void combine(tfrt_dtype_t dtype, reduction_t reduction, void* target, const void* update) {
  switch (dtype) {
    case TFRT_DTYPE_F32:
      COMBINE(float, float)
    case TFRT_DTYPE_F64:
      COMBINE(double, double)
    case TFRT_DTYPE_I64:
      COMBINE(int64_t, uint64_t)
    case TFRT_DTYPE_I32:
      COMBINE(int32_t, uint32_t)
    case TFRT_DTYPE_UI8:
      COMBINE(uint8_t, uint32_t)
    case TFRT_DTYPE_I8:
      COMBINE(int8_t, uint32_t)
    default:
      return;
  }
}

static tfrt_status_t read_reduction(const tfrt_nn_call_t* call, tfrt_dtype_t dtype,
                                    reduction_t* out_reduction) {
  static const char* const names[] = {"none", "add", "mul", "max", "min"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (!tfrt_nn_string_is(call, "reduction", names[i])) continue;
    *out_reduction = (reduction_t)i;
    bool is_known = tfrt_nn_is_float(dtype) || dtype == TFRT_DTYPE_I64 || dtype == TFRT_DTYPE_I32 ||
                    dtype == TFRT_DTYPE_UI8 || dtype == TFRT_DTYPE_I8;
    return i == 0 || is_known ? NULL : tfrt_nn_dtype_error(call, dtype);
  }
  return tfrt_nn_error(call, "there is no such reduction");
}

// Makes result 0 a copy of input 0.
static tfrt_status_t copy_first(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  size_t size = tfrt_dense_host_tensor_size(x);
  if (size) memcpy(tfrt_nn_result_data(call, 0), tfrt_nn_input_data(call, 0), size);
  return NULL;
}

tfrt_status_t tfrt_nn_scatter_elements(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* indices = call->inputs[1];
  uint32_t axis;
  reduction_t reduction;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, x->dtype));
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  TFRT_RETURN_IF_ERROR(check_inside(call, &indices->shape, &x->shape, axis));
  TFRT_RETURN_IF_ERROR(read_reduction(call, x->dtype, &reduction));
  if (!tfrt_shape_equal(&indices->shape, &call->inputs[2]->shape)) {
    return tfrt_nn_error(call, "indices and updates must have one shape");
  }
  TFRT_RETURN_IF_ERROR(copy_first(call));
  size_t size = tfrt_dtype_size(x->dtype);
  const char* update = tfrt_nn_input_data(call, 2);
  int64_t count = tfrt_dense_host_tensor_element_count(indices);
  for (int64_t i = 0; i < count; ++i, update += size) {
    int64_t index = index_at(indices, i);
    TFRT_RETURN_IF_ERROR(place_index(call, x->shape.dims[axis], &index));
    int64_t place = place_without_axis(&indices->shape, &x->shape, axis, i) +
                    index * tfrt_shape_stride(&x->shape, axis);
    char* target = (char*)tfrt_nn_result_data(call, 0) + (size_t)place * size;
    if (reduction == REDUCTION_NONE) {
      memcpy(target, update, size);
    } else {
      combine(x->dtype, reduction, target, update);
    }
  }
  return NULL;
}

static tfrt_status_t scatter_tuples(const tfrt_nn_call_t* call, uint32_t depth,
                                    reduction_t reduction) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* indices = call->inputs[1];
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t block = product(&x->shape, depth, x->shape.rank);
  int64_t rows = tfrt_dense_host_tensor_element_count(indices) / depth;
  const char* update = tfrt_nn_input_data(call, 2);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place;
    TFRT_RETURN_IF_ERROR(place_tuple(call, indices, row, depth, &x->shape, 0, &place));
    char* target = (char*)tfrt_nn_result_data(call, 0) + (size_t)place * size;
    if (block == 0) continue;
    if (reduction == REDUCTION_NONE) {
      memcpy(target, update, (size_t)block * size);
      update += (size_t)block * size;
      continue;
    }
    for (int64_t i = 0; i < block; ++i, update += size, target += size) {
      combine(x->dtype, reduction, target, update);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_scatter_nd(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_shape_t* indices = &call->inputs[1]->shape;
  uint32_t depth = 1;
  reduction_t reduction;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, x->dtype));
  TFRT_RETURN_IF_ERROR(read_reduction(call, x->dtype, &reduction));
  TFRT_RETURN_IF_ERROR(tuple_depth(call, indices, &x->shape, 0, &depth));
  int64_t rows = tfrt_shape_element_count(indices) / depth;
  int64_t updates = tfrt_dense_host_tensor_element_count(call->inputs[2]);
  if (updates != rows * product(&x->shape, depth, x->shape.rank)) {
    return tfrt_nn_error(call, "%lld updates for %lld places", (long long)updates, (long long)rows);
  }
  TFRT_RETURN_IF_ERROR(copy_first(call));
  return scatter_tuples(call, depth, reduction);
}

// --- Masks ------------------------------------------------------------------------

static bool is_zero(const char* element, size_t size) {
  static const char zeros[16];
  return memcmp(element, zeros, size) == 0;
}

// Whether an element counts as 0: of floats, -0.0 does, too.
static bool is_zero_of(tfrt_dtype_t dtype, const char* element) {
  if (dtype == TFRT_DTYPE_F32) return *(const float*)(const void*)element == 0.0f;
  if (dtype == TFRT_DTYPE_F64) return *(const double*)(const void*)element == 0.0;
  return is_zero(element, tfrt_dtype_size(dtype));
}

tfrt_status_t tfrt_nn_non_zero(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  const char* data = tfrt_dense_host_tensor_data(x);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += !is_zero_of(x->dtype, data + (size_t)i * size);
  const int64_t dims[2] = {x->shape.rank, found};
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_I64, dims, 2));
  int64_t* out = tfrt_nn_result_data(call, 0);
  int64_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (is_zero_of(x->dtype, data + (size_t)i * size)) continue;
    int64_t rest = i;
    for (uint32_t a = x->shape.rank; a-- > 0; rest /= x->shape.dims[a]) {
      out[a * found + next] = rest % x->shape.dims[a];
    }
    ++next;
  }
  return NULL;
}

// Makes result 0 the rows along |axis| of |x| whose bit in |condition| is set.
static tfrt_status_t compress_rows(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* x,
                                   uint32_t axis) {
  const tfrt_dense_host_tensor_t* condition = call->inputs[1];
  const uint8_t* bits = tfrt_dense_host_tensor_data(condition);
  int64_t limit = tfrt_dense_host_tensor_element_count(condition);
  if (limit > x->shape.dims[axis]) return tfrt_nn_error(call, "the condition is too long");
  tfrt_shape_t shape = x->shape;
  shape.dims[axis] = 0;
  for (int64_t i = 0; i < limit; ++i) shape.dims[axis] += bits[i];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &shape));
  size_t block = (size_t)tfrt_shape_stride(&x->shape, axis) * tfrt_dtype_size(x->dtype);
  char* out = tfrt_nn_result_data(call, 0);
  const char* source = tfrt_dense_host_tensor_data(x);
  int64_t outer = product(&x->shape, 0, axis);
  for (int64_t row = 0; row < outer && block > 0; ++row) {
    for (int64_t i = 0; i < limit; ++i) {
      if (!bits[i]) continue;
      memcpy(out, source + (size_t)(row * x->shape.dims[axis] + i) * block, block);
      out += block;
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_compress(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, TFRT_DTYPE_I1));
  int64_t axis = tfrt_nn_i64(call, "axis");
  uint32_t counted;
  if (axis != INT64_MIN) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axis, x->shape.rank, &counted));
    return compress_rows(call, x, counted);
  }
  tfrt_dense_host_tensor_t flat;
  tfrt_dense_host_tensor_initialize_alias(x, &flat);
  flat.shape = (tfrt_shape_t){.rank = 1, .dims = {tfrt_dense_host_tensor_element_count(x)}};
  tfrt_status_t status = compress_rows(call, &flat, 0);
  tfrt_dense_host_tensor_deinitialize(&flat);
  return status;
}

// --- One-hot ----------------------------------------------------------------------

// Sets |*out_numbers| to the one element of input |index|, of any plain type.
static tfrt_status_t read_one(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* tensor,
                              int64_t* out_number) {
  tfrt_dense_host_tensor_t whole = {0};
  if (tfrt_dense_host_tensor_element_count(tensor) != 1) {
    return tfrt_nn_error(call, "one element is wanted, not %s",
                         tfrt_shape_text(&tensor->shape).text);
  }
  TFRT_RETURN_IF_ERROR(tfrt_tensor_cast(tensor, TFRT_DTYPE_I64, call->allocator, &whole));
  *out_number = *(const int64_t*)tfrt_dense_host_tensor_data(&whole);
  tfrt_dense_host_tensor_deinitialize(&whole);
  return NULL;
}

static void fill_one_hot(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* indices,
                         uint32_t axis, int64_t depth) {
  size_t size = tfrt_dtype_size(call->inputs[2]->dtype);
  const char* values = tfrt_nn_input_data(call, 2);
  char* out = tfrt_nn_result_data(call, 0);
  int64_t count = tfrt_dense_host_tensor_element_count(&call->results[0]);
  int64_t stride = tfrt_shape_stride(&call->results[0].shape, axis);
  for (int64_t i = 0; i < count; ++i) memcpy(out + (size_t)i * size, values, size);
  int64_t index_count = tfrt_dense_host_tensor_element_count(indices);
  for (int64_t i = 0; i < index_count; ++i) {
    int64_t index = index_at(indices, i);
    if (index < 0) index += depth;
    if (index < 0 || index >= depth) continue;
    int64_t place = (i / stride) * stride * depth + index * stride + i % stride;
    memcpy(out + (size_t)place * size, values + size, size);
  }
}

tfrt_status_t tfrt_nn_one_hot(const tfrt_nn_call_t* call) {
  if (call->input_count != 3) return tfrt_nn_error(call, "it takes three operands");
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  int64_t depth = 0;
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(read_one(call, call->inputs[1], &depth));
  if (depth < 0 || tfrt_dense_host_tensor_element_count(call->inputs[2]) != 2) {
    return tfrt_nn_error(call, "it needs a depth and two values");
  }
  if (x->shape.rank == TFRT_SHAPE_MAX_RANK) return tfrt_nn_error(call, "too many axes");
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank + 1, &axis));
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  uint32_t next = 0;
  for (uint32_t i = 0; i <= x->shape.rank; ++i) dims[i] = i == axis ? depth : x->shape.dims[next++];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, call->inputs[2]->dtype, dims, x->shape.rank + 1));
  tfrt_dense_host_tensor_t indices = {0};
  TFRT_RETURN_IF_ERROR(tfrt_tensor_cast(x, TFRT_DTYPE_I64, call->allocator, &indices));
  fill_one_hot(call, &indices, axis, depth);
  tfrt_dense_host_tensor_deinitialize(&indices);
  return NULL;
}

// --- Sequences in a batch ---------------------------------------------------------------

tfrt_status_t tfrt_nn_reverse_sequence(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_indices(call, 1));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* lengths = call->inputs[1];
  int64_t batch_axis = tfrt_nn_i64(call, "batch_axis");
  int64_t time_axis = tfrt_nn_i64(call, "time_axis");
  if (x->shape.rank < 2 || batch_axis + time_axis != 1 || batch_axis * time_axis != 0 ||
      lengths->shape.rank != 1 || lengths->shape.dims[0] != x->shape.dims[batch_axis]) {
    return tfrt_nn_error(call, "batch and time are the first two axes, with a length for each");
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  size_t block = (size_t)product(&x->shape, 2, x->shape.rank) * tfrt_dtype_size(x->dtype);
  int64_t steps = x->shape.dims[time_axis];
  for (int64_t b = 0; b < x->shape.dims[batch_axis] && block > 0; ++b) {
    int64_t length = index_at(lengths, b);
    if (length < 0 || length > steps) return tfrt_nn_error(call, "a length is out of range");
    for (int64_t t = 0; t < steps; ++t) {
      int64_t from = t < length ? length - 1 - t : t;
      int64_t to_place = batch_axis == 0 ? b * steps + t : t * x->shape.dims[1] + b;
      int64_t from_place = batch_axis == 0 ? b * steps + from : from * x->shape.dims[1] + b;
      memcpy((char*)tfrt_nn_result_data(call, 0) + (size_t)to_place * block,
             (const char*)tfrt_nn_input_data(call, 0) + (size_t)from_place * block, block);
    }
  }
  return NULL;
}
