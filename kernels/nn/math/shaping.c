// SPDX-License-Identifier: Apache-2.0
//
// Operations that look at shapes and give tensors other ones.
#include <string.h>

#include "kernels/nn/math/movement.h"
#include "kernels/nn/math/ops.h"

// OK, and sets |*out_x|, if the first operand is there.
static tfrt_status_t first_input(const tfrt_nn_call_t* call,
                                 const tfrt_dense_host_tensor_t** out_x) {
  *out_x = tfrt_nn_input(call, 0);
  return *out_x ? NULL : tfrt_nn_error(call, "its operand is missing");
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

tfrt_status_t tfrt_nn_shape(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  int64_t rank = x->shape.rank;
  int64_t start = tfrt_nn_i64(call, "start");
  int64_t end = tfrt_nn_i64(call, "end");
  start = clamp(start < 0 ? start + rank : start, 0, rank);
  end = clamp(end < 0 ? end + rank : end, 0, rank);
  int64_t count = end > start ? end - start : 0;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_I64, &count, 1));
  if (count) {
    memcpy(tfrt_nn_result_data(call, 0), x->shape.dims + start, (size_t)count * sizeof(int64_t));
  }
  return NULL;
}

tfrt_status_t tfrt_nn_size(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_I64, NULL, 0));
  *(int64_t*)tfrt_nn_result_data(call, 0) = tfrt_dense_host_tensor_element_count(x);
  return NULL;
}

// --- The same elements ------------------------------------------------------------

// Fills in what -1 stands for in |wanted|: what is left of |count| elements.
static tfrt_status_t infer_length(const tfrt_nn_call_t* call, int64_t count,
                                  tfrt_nn_numbers_t* wanted) {
  int64_t known = 1;
  int64_t* open = NULL;
  for (uint32_t i = 0; i < wanted->count; ++i) {
    int64_t* length = &wanted->values[i];
    if (*length == -1 && !open) {
      open = length;
    } else if (*length < 0 || __builtin_mul_overflow(known, *length, &known)) {
      return tfrt_nn_error(call, "the lengths of the new shape are wrong: number %u is %lld", i,
                           (long long)*length);
    }
  }
  if (!open) return NULL;
  if (known == 0 || count % known != 0) {
    return tfrt_nn_error(call, "%lld elements are no multiple of %lld", (long long)count,
                         (long long)known);
  }
  *open = count / known;
  return NULL;
}

static tfrt_status_t alias_with(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* x,
                                const int64_t* dims, uint32_t rank) {
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, rank, &shape));
  return tfrt_nn_alias(call, 0, x, &shape);
}

tfrt_status_t tfrt_nn_reshape(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  tfrt_nn_numbers_t wanted;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the new shape is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &wanted));
  bool keeps_zeros = tfrt_nn_i64(call, "allowzero") != 0;
  for (uint32_t i = 0; i < wanted.count && !keeps_zeros; ++i) {
    if (wanted.values[i] != 0) continue;
    if (i >= x->shape.rank)
      return tfrt_nn_error(call, "0 stands for axis %u, which isn't there", i);
    wanted.values[i] = x->shape.dims[i];
  }
  TFRT_RETURN_IF_ERROR(infer_length(call, tfrt_dense_host_tensor_element_count(x), &wanted));
  return alias_with(call, x, wanted.values, wanted.count);
}

tfrt_status_t tfrt_nn_flatten(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  int64_t axis = tfrt_nn_i64(call, "axis");
  uint32_t first = x->shape.rank;
  if (axis != (int64_t)first) TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axis, x->shape.rank, &first));
  int64_t dims[2] = {1, 1};
  for (uint32_t i = 0; i < x->shape.rank; ++i) dims[i >= first] *= x->shape.dims[i];
  return alias_with(call, x, dims, 2);
}

// Sets bit a of |*out_mask| for each axis a of |rank| that input |index| names.
static tfrt_status_t read_axes(const tfrt_nn_call_t* call, uint32_t index, uint32_t rank,
                               uint32_t* out_mask) {
  tfrt_nn_numbers_t axes;
  *out_mask = 0;
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[index], &axes));
  for (uint32_t i = 0; i < axes.count; ++i) {
    uint32_t axis;
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axes.values[i], rank, &axis));
    if (*out_mask >> axis & 1) return tfrt_nn_error(call, "axis %u is named twice", axis);
    *out_mask |= 1u << axis;
  }
  return NULL;
}

tfrt_status_t tfrt_nn_squeeze(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  uint32_t mask = 0;
  bool has_axes = tfrt_nn_input(call, 1) != NULL;
  if (has_axes) TFRT_RETURN_IF_ERROR(read_axes(call, 1, x->shape.rank, &mask));
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    bool is_named = mask >> i & 1;
    if (is_named && x->shape.dims[i] != 1) {
      return tfrt_nn_error(call, "axis %u of %s is not 1 long", i, tfrt_shape_text(&x->shape).text);
    }
    if (is_named || (!has_axes && x->shape.dims[i] == 1)) continue;
    dims[rank++] = x->shape.dims[i];
  }
  return alias_with(call, x, dims, rank);
}

tfrt_status_t tfrt_nn_unsqueeze(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the axes are missing");
  int64_t added = tfrt_dense_host_tensor_element_count(call->inputs[1]);
  if (added + x->shape.rank > TFRT_SHAPE_MAX_RANK) {
    return tfrt_nn_error(call, "a tensor has at most %d axes", TFRT_SHAPE_MAX_RANK);
  }
  uint32_t rank = x->shape.rank + (uint32_t)added;
  uint32_t mask;
  TFRT_RETURN_IF_ERROR(read_axes(call, 1, rank, &mask));
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  uint32_t next = 0;
  for (uint32_t i = 0; i < rank; ++i) dims[i] = mask >> i & 1 ? 1 : x->shape.dims[next++];
  return alias_with(call, x, dims, rank);
}

// Old broadcasting: operand 1 has the axes of operand 0 from `axis` on, and the rest is stretched.
tfrt_status_t tfrt_nn_align_axes(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  const tfrt_dense_host_tensor_t* y = tfrt_nn_input(call, 1);
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  if (!y) return tfrt_nn_error(call, "an operand is missing");
  if (y->shape.rank == 0) return tfrt_nn_alias(call, 0, y, NULL);
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  if (axis + y->shape.rank > x->shape.rank) {
    return tfrt_nn_error(call, "%s can't begin at axis %u of %s", tfrt_shape_text(&y->shape).text,
                         axis, tfrt_shape_text(&x->shape).text);
  }
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  uint32_t rank = 0;
  while (rank < y->shape.rank) {
    dims[rank] = y->shape.dims[rank];
    ++rank;
  }
  while (rank < x->shape.rank - axis) dims[rank++] = 1;
  return alias_with(call, y, dims, rank);
}

// --- Another order ------------------------------------------------------------------

tfrt_status_t tfrt_nn_transpose(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  tfrt_nn_numbers_t wanted;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "perm", &wanted));
  uint32_t rank = x->shape.rank;
  uint32_t order[TFRT_SHAPE_MAX_RANK];
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    order[i] = rank - 1 - i;
    if (wanted.count > 0 && i < wanted.count) {
      TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, wanted.values[i], rank, &order[i]));
    }
    seen |= 1u << order[i];
  }
  if ((wanted.count > 0 && wanted.count != rank) || seen != (1u << rank) - 1) {
    return tfrt_nn_error(call, "'perm' must name each of the %u axes once", rank);
  }
  // Axes of length 1 move without their elements.
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  bool moves = false;
  for (uint32_t i = 0, last = 0; i < rank; ++i) {
    dims[i] = x->shape.dims[order[i]];
    if (dims[i] == 1) continue;
    moves |= order[i] < last;
    last = order[i];
  }
  if (moves) return tfrt_nn_permute(call, 0, x, order);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, rank, &shape));
  return tfrt_nn_alias(call, 0, x, &shape);
}

// Splits the axes of |x| into six, brings them into |order|, and merges neighbours to |dims|.
static tfrt_status_t permute_blocks(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* x,
                                    const int64_t* split, const uint32_t* order,
                                    const int64_t* dims) {
  tfrt_dense_host_tensor_t blocks;
  tfrt_dense_host_tensor_initialize_alias(x, &blocks);
  tfrt_status_t status = tfrt_shape_make(split, 6, &blocks.shape);
  if (!status) status = tfrt_nn_permute(call, 0, &blocks, order);
  if (!status) status = tfrt_shape_make(dims, 4, &call->results[0].shape);
  tfrt_dense_host_tensor_deinitialize(&blocks);
  return status;
}

static tfrt_status_t check_image(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t** out_x,
                                 int64_t* out_block) {
  TFRT_RETURN_IF_ERROR(first_input(call, out_x));
  *out_block = tfrt_nn_i64(call, "blocksize");
  if ((*out_x)->shape.rank != 4 || *out_block < 1 || *out_block > INT32_MAX) {
    return tfrt_nn_error(call, "it takes four axes and a block size of at least 1, not %s and %lld",
                         tfrt_shape_text(&(*out_x)->shape).text, (long long)*out_block);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_depth_to_space(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  int64_t b;
  TFRT_RETURN_IF_ERROR(check_image(call, &x, &b));
  const int64_t* d = x->shape.dims;
  if (d[1] % (b * b) != 0) return tfrt_nn_error(call, "the channels are no multiple of the blocks");
  int64_t channels = d[1] / (b * b);
  bool is_crd = tfrt_nn_string_is(call, "mode", "CRD");
  const int64_t dcr_split[6] = {d[0], b, b, channels, d[2], d[3]};
  const int64_t crd_split[6] = {d[0], channels, b, b, d[2], d[3]};
  static const uint32_t dcr_order[6] = {0, 3, 4, 1, 5, 2};
  static const uint32_t crd_order[6] = {0, 1, 4, 2, 5, 3};
  const int64_t dims[4] = {d[0], channels, d[2] * b, d[3] * b};
  return permute_blocks(call, x, is_crd ? crd_split : dcr_split, is_crd ? crd_order : dcr_order,
                        dims);
}

tfrt_status_t tfrt_nn_space_to_depth(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  int64_t b;
  TFRT_RETURN_IF_ERROR(check_image(call, &x, &b));
  const int64_t* d = x->shape.dims;
  if (d[2] % b != 0 || d[3] % b != 0) {
    return tfrt_nn_error(call, "height and width are no multiples of the block");
  }
  const int64_t split[6] = {d[0], d[1], d[2] / b, b, d[3] / b, b};
  static const uint32_t order[6] = {0, 3, 5, 1, 2, 4};
  const int64_t dims[4] = {d[0], d[1] * b * b, d[2] / b, d[3] / b};
  return permute_blocks(call, x, split, order, dims);
}

// --- Parts ------------------------------------------------------------------------------

// One axis of a slice, from what the program says to what there is, as numpy does it.
static int64_t cut_axis(int64_t length, int64_t start, int64_t end, int64_t step,
                        int64_t* out_first) {
  if (start < 0) start = start < -length ? -1 - length : start + length;
  if (end < 0) end = end < -length ? -1 : end + length;
  if (step > 0) {
    start = clamp(start, 0, length);
    end = clamp(end, 0, length);
    *out_first = start;
    return end > start ? (end - start - 1) / step + 1 : 0;
  }
  start = clamp(start, -1, length - 1);
  end = clamp(end, -1, length - 1);
  *out_first = start;
  if (start <= end) return 0;
  // The least number has no opposite.
  uint64_t size = (uint64_t)0 - (uint64_t)step;
  return (int64_t)((uint64_t)(start - end - 1) / size) + 1;
}

typedef struct slice_s {
  tfrt_nn_numbers_t starts;
  tfrt_nn_numbers_t ends;
  tfrt_nn_numbers_t axes;   // all from the first one on, where the program has none
  tfrt_nn_numbers_t steps;  // 1
} slice_t;

static tfrt_status_t read_slice(const tfrt_nn_call_t* call, slice_t* slice) {
  if (!tfrt_nn_input(call, 1) || !tfrt_nn_input(call, 2)) {
    return tfrt_nn_error(call, "it needs starts and ends");
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &slice->starts));
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[2], &slice->ends));
  slice->axes.count = slice->steps.count = slice->starts.count;
  for (uint32_t i = 0; i < slice->starts.count; ++i) {
    slice->axes.values[i] = i;
    slice->steps.values[i] = 1;
  }
  const tfrt_dense_host_tensor_t* axes = tfrt_nn_input(call, 3);
  const tfrt_dense_host_tensor_t* steps = tfrt_nn_input(call, 4);
  if (axes) TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, axes, &slice->axes));
  if (steps) TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, steps, &slice->steps));
  uint32_t count = slice->starts.count;
  if (slice->ends.count == count && slice->axes.count == count && slice->steps.count == count) {
    return NULL;
  }
  return tfrt_nn_error(call, "starts, ends, axes and steps must be equally many");
}

tfrt_status_t tfrt_nn_slice(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  slice_t slice;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  TFRT_RETURN_IF_ERROR(read_slice(call, &slice));
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t strides[TFRT_SHAPE_MAX_RANK];
  int64_t offset = 0;
  bool is_whole = true;
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    dims[i] = x->shape.dims[i];
    strides[i] = tfrt_shape_stride(&x->shape, i);
  }
  for (uint32_t i = 0; i < slice.starts.count; ++i) {
    uint32_t axis;
    int64_t first;
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, slice.axes.values[i], x->shape.rank, &axis));
    int64_t step = slice.steps.values[i];
    if (step == 0) return tfrt_nn_error(call, "a step must not be 0");
    dims[axis] =
        cut_axis(x->shape.dims[axis], slice.starts.values[i], slice.ends.values[i], step, &first);
    is_whole &= dims[axis] == x->shape.dims[axis] && (step > 0 || dims[axis] <= 1);
    offset += dims[axis] ? first * tfrt_shape_stride(&x->shape, axis) : 0;
    // One element needs no step, which may be too long to multiply.
    strides[axis] = dims[axis] > 1 ? step * tfrt_shape_stride(&x->shape, axis) : 1;
  }
  if (is_whole) return tfrt_nn_alias(call, 0, x, NULL);
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, x->dtype, dims, x->shape.rank));
  if (tfrt_dense_host_tensor_element_count(&call->results[0]) == 0) return NULL;
  tfrt_nn_copy_strided((const char*)tfrt_dense_host_tensor_data(x) + offset * (int64_t)size, size,
                       x->shape.rank, dims, strides, tfrt_nn_result_data(call, 0));
  return NULL;
}

// Sets |lengths| to those of the parts of |length| that split is to make.
static tfrt_status_t plan_split(const tfrt_nn_call_t* call, int64_t length, int64_t* lengths) {
  const tfrt_dense_host_tensor_t* given = tfrt_nn_input(call, 1);
  int64_t count = call->result_count;
  if (given) {
    int64_t total = 0;
    if (given->dtype != TFRT_DTYPE_I64 || tfrt_dense_host_tensor_element_count(given) != count) {
      return tfrt_nn_error(call, "it needs one i64 length for each of its %lld results",
                           (long long)count);
    }
    for (int64_t i = 0; i < count; ++i) {
      lengths[i] = ((const int64_t*)tfrt_dense_host_tensor_data(given))[i];
      if (lengths[i] < 0 || lengths[i] > length - total) {
        return tfrt_nn_error(call, "the parts are longer than the axis");
      }
      total += lengths[i];
    }
    return total == length ? NULL : tfrt_nn_error(call, "the parts are shorter than the axis");
  }
  // Equal ones; the last one may be shorter.
  int64_t part = (length + count - 1) / count;
  for (int64_t i = 0; i < count; ++i) lengths[i] = clamp(length - i * part, 0, part);
  return NULL;
}

static tfrt_status_t split_into(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* x,
                                uint32_t axis, const int64_t* lengths) {
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t stride = tfrt_shape_stride(&x->shape, axis);
  int64_t outer = 1;
  for (uint32_t i = 0; i < axis; ++i) outer *= x->shape.dims[i];
  const char* source = tfrt_dense_host_tensor_data(x);
  int64_t row = x->shape.dims[axis] * stride;
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_shape_t shape = x->shape;
    shape.dims[axis] = lengths[i];
    TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, i, x->dtype, &shape));
    if (tfrt_shape_element_count(&shape) == 0) continue;
    const int64_t dims[2] = {outer, lengths[i] * stride};
    const int64_t strides[2] = {row, 1};
    tfrt_nn_copy_strided(source, size, 2, dims, strides, tfrt_nn_result_data(call, i));
    source += lengths[i] * stride * (int64_t)size;
  }
  return NULL;
}

tfrt_status_t tfrt_nn_split(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  size_t bytes = (size_t)call->result_count * sizeof(int64_t);
  int64_t* lengths = tfrt_allocator_allocate(call->allocator, bytes);
  if (!lengths) return tfrt_status_out_of_memory();
  tfrt_status_t status = plan_split(call, x->shape.dims[axis], lengths);
  if (!status) status = split_into(call, x, axis, lengths);
  tfrt_allocator_free(call->allocator, lengths, bytes);
  return status;
}

tfrt_status_t tfrt_nn_concat(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  uint32_t axis;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  tfrt_shape_t shape = x->shape;
  for (uint32_t i = 1; i < call->input_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, x->dtype));
    tfrt_shape_t other = call->inputs[i]->shape;
    int64_t length = other.rank == shape.rank ? other.dims[axis] : 0;
    if (other.rank == shape.rank) other.dims[axis] = shape.dims[axis];
    if (!tfrt_shape_equal(&other, &shape)) {
      return tfrt_nn_error(call, "%s doesn't fit to %s", tfrt_shape_text(&other).text,
                           tfrt_shape_text(&shape).text);
    }
    if (__builtin_add_overflow(shape.dims[axis], length, &shape.dims[axis])) {
      return tfrt_nn_error(call, "the result would be too long");
    }
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, x->dtype, shape.dims, shape.rank));
  char* out = tfrt_nn_result_data(call, 0);
  int64_t outer = 1;
  for (uint32_t i = 0; i < axis; ++i) outer *= shape.dims[i];
  for (int64_t row = 0; row < outer && tfrt_shape_element_count(&shape) > 0; ++row) {
    for (uint32_t i = 0; i < call->input_count; ++i) {
      size_t block = tfrt_dense_host_tensor_size(call->inputs[i]) / (size_t)outer;
      if (block == 0) continue;
      memcpy(out, (const char*)tfrt_nn_input_data(call, i) + (size_t)row * block, block);
      out += block;
    }
  }
  return NULL;
}

// --- Repetition ---------------------------------------------------------------------------

tfrt_status_t tfrt_nn_expand(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  tfrt_nn_numbers_t wanted;
  tfrt_shape_t asked;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the shape is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &wanted));
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(wanted.values, wanted.count, &asked));
  TFRT_RETURN_IF_ERROR(tfrt_shape_broadcast(&x->shape, &asked, &shape));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &shape));
  int64_t strides[TFRT_SHAPE_MAX_RANK] = {0};
  uint32_t missing = shape.rank - x->shape.rank;
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    if (x->shape.dims[i] != 1) strides[missing + i] = tfrt_shape_stride(&x->shape, i);
  }
  tfrt_nn_copy_strided(tfrt_dense_host_tensor_data(x), tfrt_dtype_size(x->dtype), shape.rank,
                       shape.dims, strides, tfrt_nn_result_data(call, 0));
  return NULL;
}

// Whether |split| and |joined| make |n| of each head of |x|, and nothing else: [b, g, t, d] becomes
// [b, g, n, t, d], and that [b, g * n, t, d].
static bool repeats_heads(const tfrt_shape_t* x, const tfrt_nn_numbers_t* split,
                          const tfrt_nn_numbers_t* joined) {
  if (x->rank != 4 || split->count != 5 || joined->count != 4) return false;
  const int64_t* dims = x->dims;
  const int64_t before[] = {dims[0], dims[1], split->values[2], dims[2], dims[3]};
  for (uint32_t i = 0; i < 5; ++i) {
    bool is_kept = split->values[i] == before[i] || split->values[i] == 1;
    if (!is_kept || before[i] <= 0) return false;
  }
  int64_t heads;
  if (__builtin_mul_overflow(dims[1], before[2], &heads)) return false;
  const int64_t after[] = {dims[0], heads, dims[2], dims[3]};
  uint32_t open = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    if (joined->values[i] != -1 && joined->values[i] != after[i]) return false;
    open += joined->values[i] == -1;
  }
  return open <= 1;
}

// Operand 0 with one more axis, stretched by operand 1 and reshaped by operand 2.
static tfrt_status_t repeat_heads(const tfrt_nn_call_t* call) {
  tfrt_dense_host_tensor_t split, stretched = {0};
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  int64_t dims[TFRT_SHAPE_MAX_RANK] = {0};
  if (x->shape.rank < 2 || x->shape.rank + 1 > TFRT_SHAPE_MAX_RANK) {
    return tfrt_nn_error(call, "%s can't have one more axis", tfrt_shape_text(&x->shape).text);
  }
  for (uint32_t i = 0; i <= x->shape.rank; ++i) {
    dims[i] = i < 2 ? x->shape.dims[i] : i == 2 ? 1 : x->shape.dims[i - 1];
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, x->shape.rank + 1, &shape));
  tfrt_dense_host_tensor_initialize_alias(x, &split);
  split.shape = shape;
  const tfrt_dense_host_tensor_t* inputs[2] = {&split, call->inputs[1]};
  tfrt_nn_call_t inner = *call;
  inner.inputs = inputs;
  inner.input_count = 2;
  inner.unique_inputs = 0;
  inner.results = &stretched;
  tfrt_status_t status = tfrt_nn_expand(&inner);
  if (!status) {
    inputs[0] = &stretched;
    inputs[1] = call->inputs[2];
    inner.results = call->results;
    status = tfrt_nn_reshape(&inner);
  }
  tfrt_dense_host_tensor_deinitialize(&stretched);
  tfrt_dense_host_tensor_deinitialize(&split);
  return status;
}

tfrt_status_t tfrt_nn_share_heads(const tfrt_nn_call_t* call) {
  tfrt_nn_numbers_t split, joined;
  if (call->input_count != 3) return tfrt_nn_error(call, "it takes a tensor and two shapes");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &split));
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[2], &joined));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  if (!repeats_heads(&x->shape, &split, &joined)) return repeat_heads(call);
  return tfrt_nn_alias(call, 0, x, NULL);
}

tfrt_status_t tfrt_nn_tile(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x;
  tfrt_nn_numbers_t repeats;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the repeats are missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &repeats));
  if (repeats.count != x->shape.rank) return tfrt_nn_error(call, "one repeat for each axis");
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t split[2 * TFRT_SHAPE_MAX_RANK];
  int64_t strides[2 * TFRT_SHAPE_MAX_RANK];
  for (uint32_t i = 0; i < repeats.count; ++i) {
    if (repeats.values[i] < 0) return tfrt_nn_error(call, "a repeat is negative");
    if (__builtin_mul_overflow(x->shape.dims[i], repeats.values[i], &dims[i])) {
      return tfrt_nn_error(call, "the result would be too long");
    }
    split[2 * i] = repeats.values[i];
    strides[2 * i] = 0;
    split[2 * i + 1] = x->shape.dims[i];
    strides[2 * i + 1] = tfrt_shape_stride(&x->shape, i);
  }
  if (repeats.count > TFRT_SHAPE_MAX_RANK / 2) {
    return tfrt_nn_error(call, "it takes at most %d axes", TFRT_SHAPE_MAX_RANK / 2);
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, x->dtype, dims, repeats.count));
  tfrt_nn_copy_strided(tfrt_dense_host_tensor_data(x), tfrt_dtype_size(x->dtype), 2 * repeats.count,
                       split, strides, tfrt_nn_result_data(call, 0));
  return NULL;
}

// --- Padding --------------------------------------------------------------------------------

// The element that position |index| of an axis, shifted by |before|, takes; -1: the constant.
static int64_t padded_index(int64_t index, int64_t length, char mode) {
  if (index >= 0 && index < length) return index;
  switch (mode) {
    case 'e':
      return clamp(index, 0, length - 1);
    case 'w':
      return ((index % length) + length) % length;
    case 'r': {
      int64_t period = 2 * (length - 1);
      if (period == 0) return 0;
      index = ((index % period) + period) % period;
      return index < length ? index : period - index;
    }
    default:
      return -1;
  }
}

typedef struct padding_s {
  char mode;  // the first letter of constant, edge, reflect or wrap
  int64_t before[TFRT_SHAPE_MAX_RANK];
  tfrt_shape_t shape;  // of the result
  const void* constant;
} padding_t;

static void pad_axis(const padding_t* padding, const tfrt_dense_host_tensor_t* x, uint32_t axis,
                     int64_t offset, char** out) {
  size_t size = tfrt_dtype_size(x->dtype);
  const char* source = tfrt_dense_host_tensor_data(x);
  if (axis == padding->shape.rank) {
    memcpy(*out, offset < 0 ? (const char*)padding->constant : source + offset * (int64_t)size,
           size);
    *out += size;
    return;
  }
  int64_t length = x->shape.dims[axis];
  int64_t stride = tfrt_shape_stride(&x->shape, axis);
  bool is_last = axis + 1 == padding->shape.rank;
  for (int64_t i = 0; i < padding->shape.dims[axis]; ++i) {
    int64_t index = padded_index(i - padding->before[axis], length, padding->mode);
    bool is_inside = offset >= 0 && index >= 0;
    if (is_last && is_inside && i - padding->before[axis] == index) {
      // All that is left of the row.
      int64_t count = length - index;
      if (count > padding->shape.dims[axis] - i) count = padding->shape.dims[axis] - i;
      memcpy(*out, source + (offset + index) * (int64_t)size, (size_t)count * size);
      *out += (size_t)count * size;
      i += count - 1;
      continue;
    }
    pad_axis(padding, x, axis + 1, is_inside ? offset + index * stride : -1, out);
  }
}

static tfrt_status_t plan_padding(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* x,
                                  padding_t* padding) {
  tfrt_nn_numbers_t pads;
  uint32_t rank = x->shape.rank;
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "the pads are missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &pads));
  tfrt_nn_numbers_t axes = {.count = rank};
  for (uint32_t i = 0; i < rank; ++i) axes.values[i] = i;
  if (tfrt_nn_input(call, 3)) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[3], &axes));
  }
  if (pads.count != 2 * axes.count) return tfrt_nn_error(call, "two pads for each axis");
  padding->shape = x->shape;
  for (uint32_t i = 0; i < axes.count; ++i) {
    uint32_t axis;
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, axes.values[i], rank, &axis));
    int64_t before = pads.values[i], after = pads.values[i + axes.count];
    if (before < -INT32_MAX || after < -INT32_MAX || before > INT32_MAX || after > INT32_MAX) {
      return tfrt_nn_error(call, "a pad is too long");
    }
    padding->before[axis] = before;
    padding->shape.dims[axis] += before + after;
    if (padding->shape.dims[axis] < 0) padding->shape.dims[axis] = 0;
    if (padding->mode != 'c' && x->shape.dims[axis] == 0 && padding->shape.dims[axis] > 0) {
      return tfrt_nn_error(call, "an empty axis has nothing to repeat");
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_pad(const tfrt_nn_call_t* call) {
  static const uint64_t zero = 0;
  const tfrt_dense_host_tensor_t* x;
  TFRT_RETURN_IF_ERROR(first_input(call, &x));
  tfrt_string_view_t mode = tfrt_nn_string(call, "mode");
  padding_t padding = {.mode = mode.size ? mode.data[0] : ' ', .constant = &zero};
  if (!strchr("cerw", padding.mode)) return tfrt_nn_error(call, "there is no such mode");
  if (tfrt_dtype_size(x->dtype) > sizeof(zero)) return tfrt_nn_dtype_error(call, x->dtype);
  if (tfrt_nn_input(call, 2)) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, x->dtype));
    if (tfrt_dense_host_tensor_element_count(call->inputs[2]) != 1) {
      return tfrt_nn_error(call, "the constant must have one element");
    }
    padding.constant = tfrt_nn_input_data(call, 2);
  }
  TFRT_RETURN_IF_ERROR(plan_padding(call, x, &padding));
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make_dims(call, 0, x->dtype, padding.shape.dims, padding.shape.rank));
  char* out = tfrt_nn_result_data(call, 0);
  if (tfrt_shape_element_count(&padding.shape) > 0) pad_axis(&padding, x, 0, 0, &out);
  return NULL;
}
