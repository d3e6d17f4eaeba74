// SPDX-License-Identifier: Apache-2.0
//
// Kernels on sparse tensors, one of each kind per dtype and rank, and the one that makes
// tensors of strings: neither layout is computed with.

#include <inttypes.h>

#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/printing.h"
#include "kernels/tensor/kernel_parts/tensor_making.h"
#include "kernels/tensor/ops/ops.h"

// --- Sparse tensors ------------------------------------------------------------------

// Returns operand |index| if it is as wanted; else NULL, and the kernel has failed.
static const tfrt_host_tensor_t* demand(tfrt_kernel_frame_t* frame, uint32_t index,
                                        tfrt_tensor_layout_t layout, tfrt_dtype_t dtype,
                                        uint32_t rank) {
  const tfrt_host_tensor_t* tensor = tfrt_kernel_frame_payload(frame, index);
  const tfrt_shape_t* shape = tfrt_host_tensor_shape(tensor);
  tfrt_dtype_t actual = tfrt_host_tensor_dtype(tensor);
  if (tensor->layout == layout && actual == dtype && shape->rank == rank) return tensor;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "operand %" PRIu32 " must be a %s of %s with %" PRIu32
                         " axes, but is a %s of %s with the shape %s",
                         index, tfrt_tensor_layout_name(layout), tfrt_dtype_name(dtype), rank,
                         tfrt_tensor_layout_name(tensor->layout), tfrt_dtype_name(actual),
                         tfrt_shape_text(shape).text);
  return NULL;
}

static void to_coo(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  const tfrt_host_tensor_t* dense = demand(frame, 0, TFRT_TENSOR_LAYOUT_DENSE, dtype, rank);
  if (!dense) return;
  tfrt_coo_host_tensor_t sparse;
  tfrt_status_t status = tfrt_coo_host_tensor_initialize_from_dense(
      &dense->dense, tfrt_kernel_frame_allocator(frame), &sparse);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_coo_tensor_take(&sparse));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void to_dense(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  const tfrt_host_tensor_t* sparse = demand(frame, 0, TFRT_TENSOR_LAYOUT_COO, dtype, rank);
  if (!sparse) return;
  tfrt_dense_host_tensor_t dense;
  tfrt_status_t status =
      tfrt_coo_host_tensor_to_dense(&sparse->coo, tfrt_kernel_frame_allocator(frame), &dense);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(&dense));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void equal(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  const tfrt_host_tensor_t* lhs = demand(frame, 0, TFRT_TENSOR_LAYOUT_COO, dtype, rank);
  if (!lhs) return;
  const tfrt_host_tensor_t* rhs = demand(frame, 1, TFRT_TENSOR_LAYOUT_COO, dtype, rank);
  if (!rhs) return;
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_coo_host_tensor_equal(&lhs->coo, &rhs->coo));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void print_tensor(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_host_tensor_print(tfrt_kernel_frame_payload(frame, 0), &line);
  tfrt_print_line_take(frame, &line);
}

// clang-format off
#define FOR_EACH_MEMBER(action) \
  action(i32, TFRT_DTYPE_I32, 0) action(i32, TFRT_DTYPE_I32, 1) \
  action(i32, TFRT_DTYPE_I32, 2) action(i32, TFRT_DTYPE_I32, 3) \
  action(f32, TFRT_DTYPE_F32, 0) action(f32, TFRT_DTYPE_F32, 1) \
  action(f32, TFRT_DTYPE_F32, 2) action(f32, TFRT_DTYPE_F32, 3)
// clang-format on

#define DEFINE_MEMBERS(suffix, dtype, rank)                                                        \
  static void to_coo_##suffix##_##rank(tfrt_kernel_frame_t* frame) { to_coo(frame, dtype, rank); } \
  static void to_dense_##suffix##_##rank(tfrt_kernel_frame_t* frame) {                             \
    to_dense(frame, dtype, rank);                                                                  \
  }                                                                                                \
  static void equal_##suffix##_##rank(tfrt_kernel_frame_t* frame) { equal(frame, dtype, rank); }

FOR_EACH_MEMBER(DEFINE_MEMBERS)

// --- Strings -------------------------------------------------------------------------

static void create_strings(tfrt_kernel_frame_t* frame) {
  tfrt_string_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_strings(frame->attributes[0], frame->attributes[1],
                                           tfrt_kernel_frame_allocator(frame), &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string_tensor_take(&tensor));
  }
}

#define REGISTER_MEMBERS(suffix, dtype, rank)                                    \
  {"coo.convert_dht_to_coo." #suffix "." #rank, to_coo_##suffix##_##rank},       \
      {"coo.convert_coo_to_dht." #suffix "." #rank, to_dense_##suffix##_##rank}, \
      {"coo.tensor_equal." #suffix "." #rank, equal_##suffix##_##rank},

static const tfrt_kernel_registration_t registrations[] = {
    FOR_EACH_MEMBER(REGISTER_MEMBERS)  //
    {"coo.print_tensor", print_tensor},
    {"tfrt_sht.create_tensor", create_strings},
};

const tfrt_kernel_group_t tfrt_coo_host_tensor_kernels = {&tfrt_tensor_ops, registrations,
                                                          TFRT_ARRAY_SIZE(registrations)};
