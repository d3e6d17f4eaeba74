// SPDX-License-Identifier: Apache-2.0
//
// Operations that look for the greatest or least elements along an axis.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

// Whether the element at |a| goes before the one at |b|: greater ones, or less ones, first. A NaN
// goes before all, as numpy's argmax has it.
typedef bool (*before_fn_t)(const void* a, const void* b);

#define ORDER(suffix, type)                                    \
  static bool greater_##suffix(const void* a, const void* b) { \
    const type x = *(const type*)a, y = *(const type*)b;       \
    return x > y || (x != x && y == y);                        \
  }                                                            \
  static bool less_##suffix(const void* a, const void* b) {    \
    const type x = *(const type*)a, y = *(const type*)b;       \
    return x < y || (x != x && y == y);                        \
  }
ORDER(f32, float)
ORDER(f64, double)
ORDER(i8, int8_t)
ORDER(i16, int16_t)
ORDER(i32, int32_t)
ORDER(i64, int64_t)
ORDER(ui8, uint8_t)
ORDER(ui16, uint16_t)
ORDER(ui32, uint32_t)
ORDER(ui64, uint64_t)
#define ORDERS(name)                                                                             \
  {                                                                                              \
    [TFRT_DTYPE_F32] = name##_f32, [TFRT_DTYPE_F64] = name##_f64, [TFRT_DTYPE_I8] = name##_i8,   \
    [TFRT_DTYPE_I16] = name##_i16, [TFRT_DTYPE_I32] = name##_i32, [TFRT_DTYPE_I64] = name##_i64, \
    [TFRT_DTYPE_UI8] = name##_ui8, [TFRT_DTYPE_UI16] = name##_ui16,                              \
    [TFRT_DTYPE_UI32] = name##_ui32, [TFRT_DTYPE_UI64] = name##_ui64                             \
  }
static const before_fn_t greater_first[TFRT_DTYPE_COUNT] = ORDERS(greater);
static const before_fn_t less_first[TFRT_DTYPE_COUNT] = ORDERS(less);

// The rows along an axis of a tensor.
typedef struct rows_s {
  const tfrt_dense_host_tensor_t* x;
  before_fn_t before;
  uint32_t axis;
  int64_t length;
  int64_t stride;
  int64_t count;
} rows_t;

static tfrt_status_t begin_rows(const tfrt_nn_call_t* call, const before_fn_t* orders,
                                rows_t* rows) {
  rows->x = tfrt_nn_input(call, 0);
  if (!rows->x) return tfrt_nn_error(call, "its operand is missing");
  rows->before = orders[rows->x->dtype];
  if (!rows->before) return tfrt_nn_dtype_error(call, rows->x->dtype);
  const tfrt_shape_t* shape = &rows->x->shape;
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), shape->rank, &rows->axis));
  rows->length = shape->dims[rows->axis];
  rows->stride = tfrt_shape_stride(shape, rows->axis);
  rows->count = rows->length ? tfrt_shape_element_count(shape) / rows->length : 0;
  return NULL;
}

// Element 0 of row |row|; others follow in steps of the stride.
static const char* row_at(const rows_t* rows, int64_t row) {
  int64_t first = row / rows->stride * rows->stride * rows->length + row % rows->stride;
  return (const char*)tfrt_dense_host_tensor_data(rows->x) +
         first * (int64_t)tfrt_dtype_size(rows->x->dtype);
}

static int64_t find_first(const rows_t* rows, const char* row, bool takes_last) {
  int64_t step = rows->stride * (int64_t)tfrt_dtype_size(rows->x->dtype);
  int64_t best = 0;
  for (int64_t i = 1; i < rows->length; ++i) {
    bool is_better = takes_last ? !rows->before(row + best * step, row + i * step)
                                : rows->before(row + i * step, row + best * step);
    if (is_better) best = i;
  }
  return best;
}

static tfrt_status_t run_arg(const tfrt_nn_call_t* call, const before_fn_t* orders) {
  rows_t rows;
  TFRT_RETURN_IF_ERROR(begin_rows(call, orders, &rows));
  if (rows.length == 0) return tfrt_nn_error(call, "the axis has no element");
  tfrt_shape_t shape = rows.x->shape;
  shape.dims[rows.axis] = 1;
  if (!tfrt_nn_i64(call, "keepdims")) {
    shape.rank--;
    memmove(shape.dims + rows.axis, shape.dims + rows.axis + 1,
            (shape.rank - rows.axis) * sizeof(int64_t));
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_I64, &shape));
  int64_t* out = tfrt_nn_result_data(call, 0);
  bool takes_last = tfrt_nn_i64(call, "select_last_index") != 0;
  for (int64_t i = 0; i < rows.count; ++i) out[i] = find_first(&rows, row_at(&rows, i), takes_last);
  return NULL;
}

tfrt_status_t tfrt_nn_arg_max(const tfrt_nn_call_t* call) { return run_arg(call, greater_first); }
tfrt_status_t tfrt_nn_arg_min(const tfrt_nn_call_t* call) { return run_arg(call, less_first); }

tfrt_status_t tfrt_nn_hardmax(const tfrt_nn_call_t* call) {
  rows_t rows;
  TFRT_RETURN_IF_ERROR(begin_rows(call, greater_first, &rows));
  if (!tfrt_nn_is_float(rows.x->dtype)) return tfrt_nn_dtype_error(call, rows.x->dtype);
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, rows.x->dtype, &rows.x->shape));
  size_t bytes = tfrt_dense_host_tensor_size(rows.x);
  char* out = tfrt_nn_result_data(call, 0);
  if (bytes) memset(out, 0, bytes);
  for (int64_t i = 0; i < rows.count; ++i) {
    const char* row = row_at(&rows, i);
    int64_t size = (int64_t)tfrt_dtype_size(rows.x->dtype);
    int64_t offset = row - (const char*)tfrt_dense_host_tensor_data(rows.x) +
                     find_first(&rows, row, false) * rows.stride * size;
    if (size == 4) *(float*)(void*)(out + offset) = 1.0f;
    if (size == 8) *(double*)(void*)(out + offset) = 1.0;
  }
  return NULL;
}

// --- The first k ---------------------------------------------------------------------

// Whether position |a| of |row| comes before |b|: of equal elements, the one that stands first.
static bool comes_before(const rows_t* rows, const char* row, int64_t a, int64_t b) {
  int64_t step = rows->stride * (int64_t)tfrt_dtype_size(rows->x->dtype);
  if (rows->before(row + a * step, row + b * step)) return true;
  return !rows->before(row + b * step, row + a * step) && a < b;
}

// Restores the heap of |count| positions after its first element changed. Each parent comes behind
// its children.
static void sift_down(const rows_t* rows, const char* row, int64_t* heap, int64_t count) {
  int64_t place = 0;
  for (;;) {
    int64_t child = 2 * place + 1;
    if (child >= count) return;
    if (child + 1 < count && comes_before(rows, row, heap[child], heap[child + 1])) ++child;
    if (!comes_before(rows, row, heap[place], heap[child])) return;
    int64_t moved = heap[place];
    heap[place] = heap[child];
    heap[child] = moved;
    place = child;
  }
}

static void sift_up(const rows_t* rows, const char* row, int64_t* heap, int64_t place) {
  while (place > 0) {
    int64_t parent = (place - 1) / 2;
    if (!comes_before(rows, row, heap[parent], heap[place])) return;
    int64_t moved = heap[place];
    heap[place] = heap[parent];
    heap[parent] = moved;
    place = parent;
  }
}

// Sets |first| to the positions of the first |k| elements of |row|, in order.
static void select_first(const rows_t* rows, const char* row, int64_t k, int64_t* first) {
  for (int64_t i = 0; i < rows->length; ++i) {
    if (i < k) {
      first[i] = i;
      sift_up(rows, row, first, i);
    } else if (k > 0 && comes_before(rows, row, i, first[0])) {
      first[0] = i;
      sift_down(rows, row, first, k);
    }
  }
  for (int64_t count = k; count > 1;) {
    int64_t last = first[0];
    first[0] = first[--count];
    first[count] = last;
    sift_down(rows, row, first, count);
  }
}

static void write_first(const tfrt_nn_call_t* call, const rows_t* rows, int64_t k, int64_t* first) {
  size_t size = tfrt_dtype_size(rows->x->dtype);
  int64_t* indices = call->result_count > 1 ? tfrt_nn_result_data(call, 1) : NULL;
  for (int64_t i = 0; i < rows->count; ++i) {
    const char* row = row_at(rows, i);
    int64_t target = i / rows->stride * rows->stride * k + i % rows->stride;
    select_first(rows, row, k, first);
    for (int64_t j = 0; j < k; ++j) {
      memcpy((char*)tfrt_nn_result_data(call, 0) + (size_t)(target + j * rows->stride) * size,
             row + first[j] * rows->stride * (int64_t)size, size);
      if (indices) indices[target + j * rows->stride] = first[j];
    }
  }
}

tfrt_status_t tfrt_nn_top_k(const tfrt_nn_call_t* call) {
  rows_t rows;
  tfrt_nn_numbers_t k;
  TFRT_RETURN_IF_ERROR(
      begin_rows(call, tfrt_nn_i64(call, "largest") ? greater_first : less_first, &rows));
  if (!tfrt_nn_input(call, 1)) return tfrt_nn_error(call, "'k' is missing");
  TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[1], &k));
  if (k.count != 1 || k.values[0] < 0 || k.values[0] > rows.length) {
    return tfrt_nn_error(call, "'k' must be one number up to %lld", (long long)rows.length);
  }
  tfrt_shape_t shape = rows.x->shape;
  shape.dims[rows.axis] = k.values[0];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, rows.x->dtype, &shape));
  if (call->result_count > 1) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 1, TFRT_DTYPE_I64, &shape));
  }
  size_t bytes = (size_t)(k.values[0] + 1) * sizeof(int64_t);
  int64_t* first = tfrt_allocator_allocate(call->allocator, bytes);
  if (!first) return tfrt_status_out_of_memory();
  write_first(call, &rows, k.values[0], first);
  tfrt_allocator_free(call->allocator, first, bytes);
  return NULL;
}
