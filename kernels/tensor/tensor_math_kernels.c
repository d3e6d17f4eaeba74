// SPDX-License-Identifier: Apache-2.0
//
// Kernels that compute: each puts its operands and settings into a computation, says how
// much work that is about, and starts it.

#include <inttypes.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/math/matmul.h"
#include "kernels/tensor/math/pooling.h"
#include "kernels/tensor/math/reduction.h"
#include "kernels/tensor/math/slicing.h"
#include "kernels/tensor/math/softmax.h"
#include "kernels/tensor/ops/ops.h"

// --- Settings and costs ------------------------------------------------------

// a * b, or the largest number if that is more.
static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t element_count(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return (uint64_t)tfrt_dense_host_tensor_element_count(tfrt_kernel_frame_tensor(frame, index));
}

// Starts |run| on all operands of |frame|, with |work_per_element| of the first one.
static void start_simple(tfrt_kernel_frame_t* frame, tfrt_compute_fn_t run,
                         uint64_t work_per_element) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run,
                                  .operands = frame->arguments,
                                  .operand_count = tfrt_kernel_frame_operand_count(frame)};
  tfrt_compute_start(frame, &compute, times(element_count(frame, 0), work_per_element));
}

// Reads the attribute |index|, two lengths, or fails the kernel and returns false.
static bool read_pair(tfrt_kernel_frame_t* frame, uint32_t index, const char* name,
                      int64_t* out_pair) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(frame->attributes[index]);
  if (array.count != 2) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "'%s' has %" PRIu32 " values, but needs 2: down and across", name,
                           array.count);
    return false;
  }
  const int64_t* values = array.data;
  out_pair[0] = values[0];
  out_pair[1] = values[1];
  return true;
}

// --- Elements ----------------------------------------------------------------

static tfrt_status_t run_cast(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_cast(tfrt_compute_tensor(compute, 0), compute->dtype, allocator, out_result);
}

static void cast(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run_cast,
                                  .operands = frame->arguments,
                                  .operand_count = 1,
                                  .dtype = *(const uint8_t*)frame->attributes[0]};
  tfrt_compute_start(frame, &compute, element_count(frame, 0));
}

static tfrt_status_t run_scale(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_scale(tfrt_compute_tensor(compute, 0), compute->factor, allocator, out_result);
}

static void scale(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run_scale,
                                  .operands = frame->arguments,
                                  .operand_count = 1,
                                  .factor = tfrt_kernel_frame_f32(frame, 1)};
  tfrt_compute_start(frame, &compute, element_count(frame, 0) / 4);
}

static tfrt_status_t run_add(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                             tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_add(tfrt_compute_tensor(compute, 0), tfrt_compute_tensor(compute, 1),
                         allocator, out_result);
}

static void add(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run_add, .operands = frame->arguments, .operand_count = 2};
  // Stretched in both directions, the sum may be as large as the product of the operands.
  bool same = tfrt_shape_equal(&tfrt_kernel_frame_tensor(frame, 0)->shape,
                               &tfrt_kernel_frame_tensor(frame, 1)->shape);
  uint64_t work = element_count(frame, 0);
  tfrt_compute_start(frame, &compute, same ? work : times(work, element_count(frame, 1)));
}

static tfrt_status_t run_relu(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_relu(tfrt_compute_tensor(compute, 0), allocator, out_result);
}

static void relu(tfrt_kernel_frame_t* frame) { start_simple(frame, run_relu, 1); }

// --- Networks ----------------------------------------------------------------

static tfrt_status_t run_softmax(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_softmax(tfrt_compute_tensor(compute, 0), allocator, out_result);
}

static void softmax(tfrt_kernel_frame_t* frame) { start_simple(frame, run_softmax, 8); }

static tfrt_status_t run_matmul(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  const tfrt_dense_host_tensor_t* bias =
      compute->operand_count == 3 ? tfrt_compute_tensor(compute, 2) : NULL;
  return tfrt_tensor_matmul(tfrt_compute_tensor(compute, 0), tfrt_compute_tensor(compute, 1), bias,
                            compute->relu, allocator, out_result);
}

// Both products: each element of the first operand meets a row of the second one. Eight of
// the products are about one operation to the processor.
static void start_matmul(tfrt_kernel_frame_t* frame, uint32_t operand_count, bool is_cut) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run_matmul,
                                  .operands = frame->arguments,
                                  .operand_count = operand_count,
                                  .relu = is_cut};
  const tfrt_shape_t* weights = &tfrt_kernel_frame_tensor(frame, 1)->shape;
  uint64_t row = weights->rank == 2 ? (uint64_t)weights->dims[1] : 1;
  tfrt_compute_start(frame, &compute, times(element_count(frame, 0), row) / 8);
}

static void matmul(tfrt_kernel_frame_t* frame) { start_matmul(frame, 2, false); }

static void linear(tfrt_kernel_frame_t* frame) {
  start_matmul(frame, 3, *(const bool*)frame->attributes[0]);
}

static tfrt_status_t run_conv2d(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_conv2d(tfrt_compute_tensor(compute, 0), tfrt_compute_tensor(compute, 1),
                            tfrt_compute_tensor(compute, 2), &compute->window, compute->relu,
                            allocator, out_result);
}

static void conv2d(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  tfrt_compute_t compute = {.run = run_conv2d,
                            .operands = frame->arguments,
                            .operand_count = 3,
                            .relu = *(const bool*)frame->attributes[1]};
  if (!read_pair(frame, 0, "padding", compute.window.padding)) return;
  if (!read_pair(frame, 2, "strides", compute.window.strides)) return;
  // An upper bound: each pixel in each filter, as if there were no strides.
  const tfrt_shape_t* input = &tfrt_kernel_frame_tensor(frame, 0)->shape;
  uint64_t channels = input->rank == 4 && input->dims[1] > 0 ? (uint64_t)input->dims[1] : 1;
  uint64_t work = times(element_count(frame, 0) / channels, element_count(frame, 1));
  tfrt_compute_start(frame, &compute, work / 8);
}

static tfrt_status_t run_max_pool2d(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                    tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_max_pool2d(tfrt_compute_tensor(compute, 0), &compute->window, allocator,
                                out_result);
}

static void max_pool2d(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  tfrt_compute_t compute = {
      .run = run_max_pool2d, .operands = frame->arguments, .operand_count = 1};
  if (!read_pair(frame, 0, "padding", compute.window.padding)) return;
  if (!read_pair(frame, 1, "strides", compute.window.strides)) return;
  if (!read_pair(frame, 2, "window", compute.window.size)) return;
  tfrt_compute_start(frame, &compute, element_count(frame, 0));
}

// --- Reductions --------------------------------------------------------------

static tfrt_status_t run_sum(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                             tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_sum(tfrt_compute_tensor(compute, 0), compute->axis, allocator, out_result);
}

static tfrt_status_t run_argmax(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_argmax(tfrt_compute_tensor(compute, 0), compute->axis, allocator, out_result);
}

static void start_reduction(tfrt_kernel_frame_t* frame, tfrt_compute_fn_t run) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_compute_t compute = {.run = run,
                                  .operands = frame->arguments,
                                  .operand_count = 1,
                                  .axis = *(const int32_t*)frame->attributes[0]};
  tfrt_compute_start(frame, &compute, element_count(frame, 0));
}

static void sum(tfrt_kernel_frame_t* frame) { start_reduction(frame, run_sum); }
static void argmax(tfrt_kernel_frame_t* frame) { start_reduction(frame, run_argmax); }

static tfrt_status_t run_concat(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  size_t size = compute->operand_count * sizeof(const tfrt_dense_host_tensor_t*);
  const tfrt_dense_host_tensor_t** tensors = tfrt_allocator_allocate(allocator, size);
  if (!tensors) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "memory is out");
  for (uint32_t i = 0; i < compute->operand_count; ++i) {
    tensors[i] = tfrt_compute_tensor(compute, i);
  }
  tfrt_status_t status = tfrt_tensor_concat(tensors, compute->operand_count, allocator, out_result);
  tfrt_allocator_free(allocator, tensors, size);
  return status;
}

static void concat(tfrt_kernel_frame_t* frame) {
  start_simple(frame, run_concat, frame->argument_count);
}

static const tfrt_kernel_registration_t registrations[] = {
    {"tfrt_tensor.cast", cast},
    {"tfrt_tensor.scale", scale},
    {"tfrt_tensor.add", add},
    {"tfrt_tensor.relu", relu},
    {"tfrt_tensor.softmax", softmax},
    {"tfrt_tensor.matmul", matmul},
    {"tfrt_tensor.linear", linear},
    {"tfrt_tensor.conv2d", conv2d},
    {"tfrt_tensor.max_pool2d", max_pool2d},
    {"tfrt_tensor.sum", sum},
    {"tfrt_tensor.argmax", argmax},
    {"tfrt_tensor.concat", concat},
};

const tfrt_kernel_group_t tfrt_tensor_math_kernels = {&tfrt_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
