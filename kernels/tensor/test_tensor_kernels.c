// SPDX-License-Identifier: Apache-2.0
//
// The maths of TFRT's networks: kernels that take and give chains, and write to a tensor
// that is there already, or make one of a dtype that their name says.

#include <inttypes.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/files/jpeg.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/math/gemm.h"
#include "kernels/tensor/math/reduction.h"
#include "kernels/tensor/math/resizing.h"
#include "kernels/tensor/math/slicing.h"
#include "kernels/tensor/math/softmax.h"
#include "kernels/tensor/ops/ops.h"

// --- Starting ------------------------------------------------------------------

// Starts |compute| on all operands of |frame|, with as much work as operand |index| has
// elements, times |factor|.
static void start(tfrt_kernel_frame_t* frame, tfrt_compute_t compute, uint32_t index,
                  uint64_t factor) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, index);
  uint64_t count = (uint64_t)tfrt_dense_host_tensor_element_count(tensor);
  uint64_t work;
  if (__builtin_mul_overflow(count, factor, &work)) work = UINT64_MAX;
  compute.operands = frame->arguments;
  compute.operand_count = frame->argument_count;
  tfrt_compute_start(frame, &compute, work);
}

// OK if the operands |first| to |last| are of the dtype that the kernel's name says.
static tfrt_status_t check_dtypes(const tfrt_compute_t* compute, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; ++i) {
    const tfrt_dense_host_tensor_t* tensor = tfrt_compute_tensor(compute, i);
    if (tensor->dtype == compute->dtype) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "operand %" PRIu32 " must be %s, but is %s with the shape %s", i,
                              tfrt_dtype_name(compute->dtype), tfrt_dtype_name(tensor->dtype),
                              tfrt_shape_text(&tensor->shape).text);
  }
  return NULL;
}

// --- Element by element ----------------------------------------------------------

static tfrt_status_t run_relu(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  // In place, the chain is the second operand.
  uint32_t target = compute->operand_count - 2;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, target));
  return tfrt_tensor_relu_into(tfrt_compute_tensor(compute, 0),
                               tfrt_compute_tensor(compute, target));
}

static void relu(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start(frame, (tfrt_compute_t){.run = run_relu, .in_place = true, .dtype = dtype}, 0, 1);
}

// Two operands and a target, or two operands whose second one is the target.
static tfrt_status_t run_pointwise(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                   tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  uint32_t target = compute->operand_count - 2;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, target));
  return tfrt_tensor_combine(compute->pointwise, compute->name, tfrt_compute_tensor(compute, 0),
                             tfrt_compute_tensor(compute, 1), tfrt_compute_tensor(compute, target));
}

static void start_pointwise(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype,
                            tfrt_pointwise_t pointwise, const char* name) {
  start(frame,
        (tfrt_compute_t){.run = run_pointwise,
                         .in_place = true,
                         .dtype = dtype,
                         .pointwise = pointwise,
                         .name = name},
        frame->argument_count - 2, 1);
}

static void add(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start_pointwise(frame, dtype, TFRT_POINTWISE_ADD, "add");
}
static void subtract(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start_pointwise(frame, dtype, TFRT_POINTWISE_SUBTRACT, "subtract");
}
static void equal(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start_pointwise(frame, dtype, TFRT_POINTWISE_EQUAL, "equal");
}
static void relu_grad(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start_pointwise(frame, dtype, TFRT_POINTWISE_RELU_GRAD, "relu_grad");
}

static tfrt_status_t run_descent(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 2));
  const tfrt_dense_host_tensor_t* rate = tfrt_compute_tensor(compute, 1);
  if (tfrt_dense_host_tensor_element_count(rate) != 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "GradientDescent lr should have only one element, but has the "
                              "shape %s",
                              tfrt_shape_text(&rate->shape).text);
  }
  return tfrt_tensor_descend(tfrt_compute_tensor(compute, 0),
                             *(const float*)tfrt_dense_host_tensor_data(rate),
                             tfrt_compute_tensor(compute, 2));
}

static void gradient_descent(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_descent, .in_place = true, .dtype = TFRT_DTYPE_F32}, 0,
        1);
}

// --- Copies: other dtypes, shapes and parts -----------------------------------------

// Copies |source| to |target|, which has its size, for the operation |name|.
static tfrt_status_t copy_elements(const tfrt_dense_host_tensor_t* source,
                                   const tfrt_dense_host_tensor_t* target) {
  size_t size = tfrt_dense_host_tensor_size(target);
  // Both may be views of one buffer.
  if (size > 0) {
    memmove(tfrt_dense_host_tensor_data(target), tfrt_dense_host_tensor_data(source), size);
  }
  return NULL;
}

static tfrt_status_t run_cast(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  const tfrt_dense_host_tensor_t* output = tfrt_compute_tensor(compute, 1);
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(output, TFRT_DTYPE_F32, "the output of cast"));
  if (!tfrt_shape_equal(&input->shape, &output->shape)) {
    return tfrt_shapes_mismatch("cast", "both must have one shape", &input->shape, &output->shape);
  }
  tfrt_dense_host_tensor_t result;
  TFRT_RETURN_IF_ERROR(tfrt_tensor_cast(input, TFRT_DTYPE_F32, allocator, &result));
  tfrt_status_t status = copy_elements(&result, output);
  tfrt_dense_host_tensor_deinitialize(&result);
  return status;
}

static void cast_i32_to_f32(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_cast, .in_place = true, .dtype = TFRT_DTYPE_I32}, 0, 1);
}

static tfrt_status_t run_flatten(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 1));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  const tfrt_dense_host_tensor_t* output = tfrt_compute_tensor(compute, 1);
  bool same_count =
      tfrt_dense_host_tensor_element_count(input) == tfrt_dense_host_tensor_element_count(output);
  if (!same_count || input->shape.rank == 0 || output->shape.rank == 0 ||
      input->shape.dims[0] != output->shape.dims[0]) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "Flatten output shape %s does not match the input shape %s",
        tfrt_shape_text(&output->shape).text, tfrt_shape_text(&input->shape).text);
  }
  return copy_elements(input, output);
}

static void flatten(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_flatten, .in_place = true, .dtype = TFRT_DTYPE_F32}, 0,
        1);
}

static tfrt_status_t run_transpose(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                   tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 1));
  return tfrt_tensor_transpose_into(tfrt_compute_tensor(compute, 0),
                                    tfrt_compute_tensor(compute, 1));
}

static void transpose(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_transpose, .in_place = true, .dtype = TFRT_DTYPE_F32}, 0,
        2);
}

static tfrt_status_t run_slice(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  const tfrt_dense_host_tensor_t* begin = tfrt_compute_tensor(compute, 1);
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 3, 3));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(input, 3, "the input of slice"));
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(begin, TFRT_DTYPE_I64, "the begin of slice"));
  if (begin->shape.rank != 1 || begin->shape.dims[0] != 3) {
    return tfrt_shapes_mismatch("slice",
                                "the size of 'begin_index' should match the input tensor rank",
                                &begin->shape, &input->shape);
  }
  return tfrt_tensor_block_into(input, tfrt_dense_host_tensor_data(begin),
                                tfrt_compute_tensor(compute, 3));
}

static void slice(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start(frame, (tfrt_compute_t){.run = run_slice, .in_place = true, .dtype = dtype}, 3, 1);
}

static tfrt_status_t run_broadcast(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                   tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  const tfrt_shape_t* shape = tfrt_async_value_payload(compute->operands[1]);
  // The rank that the kernel's name says.
  uint32_t rank = (uint32_t)compute->axis;
  if (shape->rank != rank || input->shape.rank != 1 ||
      input->shape.dims[0] != shape->dims[rank - 1]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "broadcast input tensor dimension and target shape mismatch: %s vs. "
                              "%s, which should have %" PRIu32 " axes",
                              tfrt_shape_text(&input->shape).text, tfrt_shape_text(shape).text,
                              rank);
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(input->dtype, shape, allocator, out_result));
  tfrt_status_t status = tfrt_tensor_stretch_into(input, out_result);
  if (status) tfrt_dense_host_tensor_deinitialize(out_result);
  return status;
}

// The number of lines may be anything; it is bounded by the memory for them.
static void broadcast(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, int32_t rank) {
  start(frame, (tfrt_compute_t){.run = run_broadcast, .dtype = dtype, .axis = rank}, 0, 1000);
}

// --- Networks ----------------------------------------------------------------------

static tfrt_status_t run_matmul(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 1, 2));
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 4, 4));
  return tfrt_tensor_gemm(tfrt_async_value_payload(compute->operands[0]),
                          tfrt_compute_tensor(compute, 1), tfrt_compute_tensor(compute, 2),
                          tfrt_async_value_payload(compute->operands[3]),
                          tfrt_compute_tensor(compute, 4));
}

static void matmul(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  const tfrt_shape_t* rhs = &tfrt_kernel_frame_tensor(frame, 2)->shape;
  // Each element of the first matrix meets a row of the second one.
  uint64_t row = rhs->rank == 2 ? (uint64_t)rhs->dims[1] : 1;
  start(frame, (tfrt_compute_t){.run = run_matmul, .in_place = true, .dtype = dtype}, 1, row);
}

// Over all elements, as if they were one line.
static tfrt_status_t run_softmax(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  const tfrt_dense_host_tensor_t* tensor = tfrt_compute_tensor(compute, 0);
  const int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  tfrt_dense_host_tensor_t line;
  TFRT_RETURN_IF_ERROR(tfrt_tensor_reshape(tensor, &count, 1, &line));
  tfrt_dense_host_tensor_t result;
  tfrt_status_t status = tfrt_tensor_softmax(&line, allocator, &result);
  tfrt_dense_host_tensor_deinitialize(&line);
  if (status) return status;
  status = copy_elements(&result, tensor);
  tfrt_dense_host_tensor_deinitialize(&result);
  return status;
}

static void softmax(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_softmax, .in_place = true, .dtype = TFRT_DTYPE_F32}, 0,
        8);
}

static tfrt_status_t run_argmax(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(input, 2, "the input of argmax"));
  tfrt_dense_host_tensor_t places;
  TFRT_RETURN_IF_ERROR(tfrt_tensor_argmax(input, 1, allocator, &places));
  tfrt_status_t status = tfrt_tensor_cast(&places, TFRT_DTYPE_I32, allocator, out_result);
  tfrt_dense_host_tensor_deinitialize(&places);
  return status;
}

static void argmax(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start(frame, (tfrt_compute_t){.run = run_argmax, .dtype = dtype}, 0, 1);
}

static tfrt_status_t run_mean(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 0));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(input, 1, "the input of reduce_mean"));
  return tfrt_tensor_mean(input, 0, allocator, out_result);
}

static void mean(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  start(frame, (tfrt_compute_t){.run = run_mean, .dtype = dtype}, 0, 1);
}

static tfrt_status_t run_mean_of_rows(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                      tfrt_dense_host_tensor_t* out_result) {
  (void)out_result;
  TFRT_RETURN_IF_ERROR(check_dtypes(compute, 0, 1));
  const tfrt_dense_host_tensor_t* input = tfrt_compute_tensor(compute, 0);
  const tfrt_dense_host_tensor_t* output = tfrt_compute_tensor(compute, 1);
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(input, 2, "the input of MeanAxisZero"));
  if (output->shape.rank != 1 || output->shape.dims[0] != input->shape.dims[1]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "MeanAxisZero output shape %s does not match the input shape %s",
                              tfrt_shape_text(&output->shape).text,
                              tfrt_shape_text(&input->shape).text);
  }
  tfrt_dense_host_tensor_t result;
  TFRT_RETURN_IF_ERROR(tfrt_tensor_mean(input, 0, allocator, &result));
  tfrt_status_t status = copy_elements(&result, output);
  tfrt_dense_host_tensor_deinitialize(&result);
  return status;
}

static void mean_axis_zero(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_mean_of_rows, .in_place = true, .dtype = TFRT_DTYPE_F32},
        0, 1);
}

// --- Images ------------------------------------------------------------------------

// Reads the attribute |index|, two lengths, or fails the kernel and returns false.
static bool read_pair(tfrt_kernel_frame_t* frame, uint32_t index, const char* what,
                      int64_t* out_pair) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(frame->attributes[index]);
  if (array.count != 2) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "%s to have 2 elements, but it has %" PRIu32, what, array.count);
    return false;
  }
  const int32_t* values = array.data;
  out_pair[0] = values[0];
  out_pair[1] = values[1];
  return true;
}

static tfrt_status_t run_max_pool(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                  tfrt_dense_host_tensor_t* out_result) {
  (void)out_result;
  return tfrt_channels_last_max_pool(tfrt_compute_tensor(compute, 0), &compute->pool, allocator,
                                     tfrt_compute_tensor(compute, 1));
}

static void max_pooling_2d(tfrt_kernel_frame_t* frame) {
  tfrt_compute_t compute = {.run = run_max_pool, .in_place = true};
  tfrt_string_view_t padding = tfrt_bef_attribute_string(frame->attributes[0]);
  if (!read_pair(frame, 1, "MaxPool2D expects pool_size", compute.pool.size)) return;
  if (!read_pair(frame, 2, "MaxPool2D expects strides", compute.pool.strides)) return;
  compute.pool.same = tfrt_string_view_equal(padding, tfrt_string_view_of("same"));
  if (!compute.pool.same && !tfrt_string_view_equal(padding, tfrt_string_view_of("valid"))) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "MaxPool2D padding '%.*s' is not recognized",
                           TFRT_STRING_VIEW_ARGUMENTS(padding));
    return;
  }
  start(frame, compute, 0, 4);
}

static tfrt_status_t run_average(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  return tfrt_channels_last_average(tfrt_compute_tensor(compute, 0),
                                    tfrt_compute_tensor(compute, 1));
}

static void global_average_pooling(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_average, .in_place = true}, 0, 1);
}

static tfrt_status_t run_pad(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                             tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  return tfrt_channels_last_pad(tfrt_compute_tensor(compute, 0), compute->window.padding,
                                tfrt_compute_tensor(compute, 1));
}

static void zero_padding(tfrt_kernel_frame_t* frame) {
  tfrt_compute_t compute = {.run = run_pad, .in_place = true};
  if (!read_pair(frame, 0, "ZeroPadding expects padding", compute.window.padding)) return;
  start(frame, compute, 1, 1);
}

static tfrt_status_t run_spread(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  (void)allocator;
  (void)out_result;
  return tfrt_channels_last_spread(tfrt_compute_tensor(compute, 0),
                                   tfrt_compute_tensor(compute, 1));
}

static void broadcast_2d(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_spread, .in_place = true}, 1, 1);
}

static tfrt_status_t run_resize(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_resize_bilinear(
      tfrt_compute_tensor(compute, 0),
      *(const int64_t*)tfrt_async_value_payload(compute->operands[1]),
      *(const int64_t*)tfrt_async_value_payload(compute->operands[2]), allocator, out_result);
}

// How much work that is depends on the new size, which may be anything; it is long.
static void resize_bilinear(tfrt_kernel_frame_t* frame) {
  start(frame, (tfrt_compute_t){.run = run_resize}, 0, TFRT_COMPUTE_LONG_WORK);
}

static tfrt_status_t run_decode_jpeg(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                                     tfrt_dense_host_tensor_t* out_result) {
  return tfrt_jpeg_decode(tfrt_async_value_string(compute->operands[0]), allocator, out_result);
}

// Only the image itself says how much work it is; it is long.
static void decode_jpeg(tfrt_kernel_frame_t* frame) {
  tfrt_compute_t compute = {
      .run = run_decode_jpeg, .operands = frame->arguments, .operand_count = 1};
  tfrt_compute_start(frame, &compute, TFRT_COMPUTE_LONG_WORK);
}

// --- The members of the families -------------------------------------------------------

#define DEFINE_MEMBERS(word, dtype)                                                            \
  static void relu_##word(tfrt_kernel_frame_t* frame) { relu(frame, dtype); }                  \
  static void add_##word(tfrt_kernel_frame_t* frame) { add(frame, dtype); }                    \
  static void subtract_##word(tfrt_kernel_frame_t* frame) { subtract(frame, dtype); }          \
  static void equal_##word(tfrt_kernel_frame_t* frame) { equal(frame, dtype); }                \
  static void relu_grad_##word(tfrt_kernel_frame_t* frame) { relu_grad(frame, dtype); }        \
  static void broadcast_##word##_2(tfrt_kernel_frame_t* frame) { broadcast(frame, dtype, 2); } \
  static void broadcast_##word##_3(tfrt_kernel_frame_t* frame) { broadcast(frame, dtype, 3); } \
  static void mean_##word(tfrt_kernel_frame_t* frame) { mean(frame, dtype); }                  \
  static void argmax_##word(tfrt_kernel_frame_t* frame) { argmax(frame, dtype); }              \
  static void matmul_##word(tfrt_kernel_frame_t* frame) { matmul(frame, dtype); }              \
  static void slice_##word(tfrt_kernel_frame_t* frame) { slice(frame, dtype); }

DEFINE_MEMBERS(f32, TFRT_DTYPE_F32)
DEFINE_MEMBERS(i32, TFRT_DTYPE_I32)
DEFINE_MEMBERS(i64, TFRT_DTYPE_I64)

#define REGISTER_MEMBERS(word)                                                                    \
  {"tfrt_test.relu." #word, relu_##word}, {"tfrt_test.relu_inplace." #word, relu_##word},         \
      {"tfrt_test.add." #word, add_##word}, {"tfrt_test.add_inplace." #word, add_##word},         \
      {"tfrt_test.subtract_inplace." #word, subtract_##word},                                     \
      {"tfrt_test.substract_inplace." #word, subtract_##word},                                    \
      {"tfrt_test.equal." #word, equal_##word}, {"tfrt_test.equal_inplace." #word, equal_##word}, \
      {"tfrt_test.relu_grad_inplace." #word, relu_grad_##word},                                   \
      {"tfrt_test.broadcast." #word ".2", broadcast_##word##_2},                                  \
      {"tfrt_test.broadcast." #word ".3", broadcast_##word##_3},                                  \
      {"tfrt_test.reduce_mean." #word ".1", mean_##word},                                         \
      {"tfrt_test.argmax." #word ".2", argmax_##word},                                            \
      {"tfrt_test.matmul." #word ".2", matmul_##word},                                            \
      {"tfrt_test.slice_inplace." #word ".3", slice_##word},

static const tfrt_kernel_registration_t registrations[] = {
    REGISTER_MEMBERS(f32)  //
    REGISTER_MEMBERS(i32)  //
    REGISTER_MEMBERS(i64)  //
    {"tfrt_test.get_static_tensor_type", tfrt_kernel_get_static_tensor_type},
    {"tfrt_test.cast.i32_to_f32", cast_i32_to_f32},
    {"eigen.matmul.f32", matmul_f32},
    {"tfrt_test.max_pooling_2d.f32", max_pooling_2d},
    {"tfrt_test.global_average_pooling.f32", global_average_pooling},
    {"tfrt_test.flatten.f32", flatten},
    {"tfrt_test.zero_padding.f32", zero_padding},
    {"tfrt_test.softmax_inplace.f32", softmax},
    {"tfrt_test.gradient_descent.f32", gradient_descent},
    {"tfrt_test.tensor_transpose.f32", transpose},
    {"tfrt_test.mean_axis_zero.f32", mean_axis_zero},
    {"tfrt_test.broadcast_2d.f32", broadcast_2d},
    {"tfrt_test.decode_jpeg", decode_jpeg},
    {"tfrt_test.resize_bilinear", resize_bilinear},
    {"tfrt_test.const_dense_attr", tfrt_kernel_make_constant},
};

const tfrt_kernel_group_t tfrt_test_tensor_kernels = {&tfrt_test_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
