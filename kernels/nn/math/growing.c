// SPDX-License-Identifier: Apache-2.0
//
// Operations that loops need: a tensor that gets a row in each turn, and axes of parts.
#include <string.h>

#include "kernels/nn/math/movement.h"
#include "kernels/nn/math/ops.h"

// Makes result 0 a tensor of |shape| whose memory has room for as many rows again, with the rows of
// |rows| in front.
static tfrt_status_t move_rows(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* rows,
                               tfrt_dtype_t dtype, const tfrt_shape_t* shape) {
  size_t size;
  tfrt_host_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &size));
  size_t room = size <= SIZE_MAX / 2 ? 2 * size : size;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(room, call->allocator, &buffer));
  tfrt_status_t status =
      tfrt_dense_host_tensor_initialize_view(dtype, shape, buffer, 0, &call->results[0]);
  tfrt_host_buffer_release(buffer);
  if (status) return status;
  size_t bytes = shape->dims[0] > 1 ? tfrt_dense_host_tensor_size(rows) : 0;
  if (bytes) memcpy(tfrt_nn_result_data(call, 0), tfrt_dense_host_tensor_data(rows), bytes);
  return NULL;
}

// Whether |rows|, operand 0, belongs to this call alone, and |size| bytes fit into its memory.
static bool has_room(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* rows,
                     size_t size) {
  return (call->unique_inputs & 1) && tfrt_host_buffer_is_exclusive(rows->buffer) &&
         rows->offset <= rows->buffer->size && size <= rows->buffer->size - rows->offset;
}

tfrt_status_t tfrt_nn_append(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* rows = tfrt_nn_input(call, 0);
  const tfrt_dense_host_tensor_t* row = tfrt_nn_input(call, 1);
  if (!rows || !row || rows->shape.rank == 0) return tfrt_nn_error(call, "it takes rows and a row");
  if (row->shape.rank + 1 > TFRT_SHAPE_MAX_RANK) {
    return tfrt_nn_error(call, "the result would have more than %d axes", TFRT_SHAPE_MAX_RANK);
  }
  int64_t dims[TFRT_SHAPE_MAX_RANK] = {rows->shape.dims[0] + 1};
  for (uint32_t i = 0; i < row->shape.rank; ++i) dims[1 + i] = row->shape.dims[i];
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, row->shape.rank + 1, &shape));
  // Without rows it is still open what they are like.
  if (dims[0] > 1) {
    bool is_same = rows->dtype == row->dtype && rows->shape.rank == shape.rank;
    for (uint32_t i = 1; is_same && i < shape.rank; ++i) {
      is_same = rows->shape.dims[i] == shape.dims[i];
    }
    if (!is_same) {
      return tfrt_nn_error(call, "a row of %s %s can't follow those of %s %s",
                           tfrt_dtype_name(row->dtype), tfrt_shape_text(&row->shape).text,
                           tfrt_dtype_name(rows->dtype), tfrt_shape_text(&rows->shape).text);
    }
  }
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(row->dtype, &shape, &size));
  tfrt_status_t status =
      dims[0] > 1 && has_room(call, rows, size)
          ? tfrt_dense_host_tensor_initialize_view(row->dtype, &shape, rows->buffer, rows->offset,
                                                   &call->results[0])
          : move_rows(call, rows, row->dtype, &shape);
  if (status) return status;
  size_t bytes = tfrt_dense_host_tensor_size(row);
  char* out = tfrt_nn_result_data(call, 0);
  if (bytes) memcpy(out + (size - bytes), tfrt_dense_host_tensor_data(row), bytes);
  return NULL;
}

tfrt_status_t tfrt_nn_move_axis(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  uint32_t axis, order[TFRT_SHAPE_MAX_RANK];
  if (!x || x->shape.rank == 0) return tfrt_nn_error(call, "it takes a tensor with axes");
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  for (uint32_t i = 0; i < x->shape.rank; ++i) order[i] = i < axis ? i + 1 : i == axis ? 0 : i;
  return tfrt_nn_permute(call, 0, x, order);
}

tfrt_status_t tfrt_nn_common_length(const tfrt_nn_call_t* call) {
  tfrt_nn_numbers_t axes;
  int64_t length = 0;
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "axes", &axes));
  if (call->input_count == 0 || axes.count > call->input_count) {
    return tfrt_nn_error(call, "it takes tensors, and at most as many axes");
  }
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const tfrt_shape_t* shape = &call->inputs[i]->shape;
    uint32_t axis;
    TFRT_RETURN_IF_ERROR(
        tfrt_nn_axis(call, i < axes.count ? axes.values[i] : 0, shape->rank, &axis));
    if (i > 0 && shape->dims[axis] != length) {
      return tfrt_nn_error(call, "operand %u is %lld long along its axis %u, not %lld", i,
                           (long long)shape->dims[axis], axis, (long long)length);
    }
    length = shape->dims[axis];
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_I64, NULL, 0));
  memcpy(tfrt_nn_result_data(call, 0), &length, sizeof(length));
  return NULL;
}
