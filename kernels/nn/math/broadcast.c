// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/broadcast.h"

#include <string.h>

tfrt_status_t tfrt_nn_broadcast_shape(const tfrt_nn_call_t* call,
                                      const tfrt_dense_host_tensor_t* const* operands,
                                      uint32_t count, tfrt_shape_t* out_shape) {
  *out_shape = operands[0]->shape;
  for (uint32_t i = 1; i < count; ++i) {
    tfrt_shape_t shape = *out_shape;
    tfrt_status_t status = tfrt_shape_broadcast(&shape, &operands[i]->shape, out_shape);
    if (status) return tfrt_status_take_annotate(status, "%s", call->op->name);
  }
  return NULL;
}

// Whether axis |axis| of |broadcast| goes on where axis |axis| + 1 ends, in each operand.
static bool can_merge(const tfrt_nn_broadcast_t* broadcast, uint32_t outer, uint32_t inner) {
  for (uint32_t i = 0; i < broadcast->operand_count; ++i) {
    if (broadcast->strides[i][outer] != broadcast->strides[i][inner] * broadcast->dims[inner]) {
      return false;
    }
  }
  return true;
}

static void move_axis(tfrt_nn_broadcast_t* broadcast, uint32_t from, uint32_t to) {
  broadcast->dims[to] = broadcast->dims[from];
  for (uint32_t i = 0; i < broadcast->operand_count; ++i) {
    broadcast->strides[i][to] = broadcast->strides[i][from];
  }
}

// Drops axes of length 1 and merges neighbours.
static void merge_axes(tfrt_nn_broadcast_t* broadcast) {
  uint32_t kept = 0;
  for (uint32_t axis = 0; axis < broadcast->rank; ++axis) {
    if (broadcast->dims[axis] == 1) continue;
    if (kept > 0 && can_merge(broadcast, kept - 1, axis)) {
      int64_t outer = broadcast->dims[kept - 1];
      move_axis(broadcast, axis, kept - 1);
      broadcast->dims[kept - 1] *= outer;
    } else {
      move_axis(broadcast, axis, kept++);
    }
  }
  if (kept == 0) {
    broadcast->dims[0] = 1;
    for (uint32_t i = 0; i < broadcast->operand_count; ++i) broadcast->strides[i][0] = 0;
    kept = 1;
  }
  broadcast->rank = kept;
}

void tfrt_nn_broadcast_initialize(const tfrt_dense_host_tensor_t* const* operands, uint32_t count,
                                  const tfrt_shape_t* shape, tfrt_nn_broadcast_t* out_broadcast) {
  memset(out_broadcast, 0, sizeof(*out_broadcast));
  out_broadcast->operand_count = count;
  out_broadcast->rank = shape->rank;
  memcpy(out_broadcast->dims, shape->dims, sizeof(shape->dims));
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_shape_t* own = &operands[i]->shape;
    uint32_t missing = shape->rank - own->rank;
    int64_t stride = 1;
    for (uint32_t axis = own->rank; axis-- > 0;) {
      out_broadcast->strides[i][missing + axis] = own->dims[axis] == 1 ? 0 : stride;
      stride *= own->dims[axis];
    }
  }
  merge_axes(out_broadcast);
}

void tfrt_nn_broadcast_walk(const tfrt_nn_broadcast_t* broadcast, tfrt_nn_row_fn_t row,
                            const void* const* data, const size_t* sizes, void* out,
                            size_t out_size) {
  uint32_t last = broadcast->rank - 1;
  int64_t position[TFRT_SHAPE_MAX_RANK] = {0};
  int64_t steps[TFRT_NN_MAX_BROADCAST];
  const char* places[TFRT_NN_MAX_BROADCAST];
  const void* arguments[TFRT_NN_MAX_BROADCAST];
  for (uint32_t axis = 0; axis < broadcast->rank; ++axis) {
    if (broadcast->dims[axis] == 0) return;
  }
  for (uint32_t i = 0; i < broadcast->operand_count; ++i) {
    places[i] = data[i];
    steps[i] = broadcast->strides[i][last];
  }
  char* target = out;
  for (;;) {
    for (uint32_t i = 0; i < broadcast->operand_count; ++i) arguments[i] = places[i];
    row(arguments, steps, target, broadcast->dims[last]);
    target += (size_t)broadcast->dims[last] * out_size;
    uint32_t axis = last;
    while (axis > 0) {
      --axis;
      ++position[axis];
      for (uint32_t i = 0; i < broadcast->operand_count; ++i) {
        places[i] += broadcast->strides[i][axis] * (int64_t)sizes[i];
      }
      if (position[axis] < broadcast->dims[axis]) break;
      for (uint32_t i = 0; i < broadcast->operand_count; ++i) {
        places[i] -= broadcast->strides[i][axis] * broadcast->dims[axis] * (int64_t)sizes[i];
      }
      position[axis] = 0;
      if (axis == 0) return;
    }
    if (last == 0) return;
  }
}
