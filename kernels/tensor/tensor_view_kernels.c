// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/tensor_making.h"
#include "kernels/tensor/math/check_tensor.h"
#include "kernels/tensor/math/reduction.h"
#include "kernels/tensor/math/slicing.h"
#include "kernels/tensor/ops/ops.h"

// Makes result 0 of |frame| the |tensor| that was made with |status| (both consumed).
static void set_result(tfrt_kernel_frame_t* frame, tfrt_status_t status,
                       tfrt_dense_host_tensor_t* tensor) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(tensor));
  }
}

// A copy of the attribute: the tensor may outlive the program.
void tfrt_kernel_make_constant(tfrt_kernel_frame_t* frame) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_constant(frame->attributes[0], tfrt_kernel_frame_allocator(frame), &tensor);
  set_result(frame, status, &tensor);
}

static void zeros(tfrt_kernel_frame_t* frame) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_zeros((tfrt_dtype_t) * (const uint8_t*)frame->attributes[0], frame->attributes[1],
                      tfrt_kernel_frame_allocator(frame), &tensor);
  set_result(frame, status, &tensor);
}

static void partial_shape(tfrt_kernel_frame_t* frame) {
  tfrt_partial_shape_t shape;
  tfrt_status_t status = tfrt_read_shape(frame->attributes[0], &shape);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_partial_shape(&shape));
  }
}

static void reshape(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_dense_host_tensor_t result;
  tfrt_status_t status =
      tfrt_tensor_reshape(tfrt_kernel_frame_tensor(frame, 0), dims.data, dims.count, &result);
  set_result(frame, status, &result);
}

static void slice(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  tfrt_dense_host_tensor_t result;
  tfrt_status_t status =
      tfrt_tensor_slice(tfrt_kernel_frame_tensor(frame, 0), tfrt_kernel_frame_i32(frame, 1),
                        tfrt_kernel_frame_i32(frame, 2), &result);
  set_result(frame, status, &result);
}

static void batch(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  tfrt_dense_host_tensor_t result;
  tfrt_status_t status =
      tfrt_tensor_batch(tfrt_kernel_frame_tensor(frame, 0), tfrt_kernel_frame_i32(frame, 1),
                        tfrt_kernel_frame_i32(frame, 2), &result);
  set_result(frame, status, &result);
}

// Sets |*out_length| to the length of |axis|, if that is one of |tensor| and fits.
static tfrt_status_t length_of(const tfrt_dense_host_tensor_t* tensor, int32_t axis,
                               int32_t* out_length) {
  *out_length = 0;
  TFRT_RETURN_IF_ERROR(tfrt_check_axis(tensor, axis, "the tensor"));
  if (tensor->shape.dims[axis] > INT32_MAX) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "axis %" PRId32 " of the shape %s is too long for an i32", axis,
                              tfrt_shape_text(&tensor->shape).text);
  }
  *out_length = (int32_t)tensor->shape.dims[axis];
  return NULL;
}

// All operands must have the same length along the axis.
static tfrt_status_t common_length(const tfrt_kernel_frame_t* frame, int32_t* out_length) {
  int32_t axis = *(const int32_t*)frame->attributes[0];
  const tfrt_dense_host_tensor_t* first = tfrt_kernel_frame_tensor(frame, 0);
  TFRT_RETURN_IF_ERROR(length_of(first, axis, out_length));
  for (uint32_t i = 1; i < tfrt_kernel_frame_operand_count(frame); ++i) {
    const tfrt_dense_host_tensor_t* other = tfrt_kernel_frame_tensor(frame, i);
    int32_t length;
    TFRT_RETURN_IF_ERROR(length_of(other, axis, &length));
    if (length != *out_length) {
      return tfrt_status_create(
          TFRT_STATUS_INVALID_ARGUMENT,
          "axis %" PRId32 " must be equally long, but the shapes are %s and %s", axis,
          tfrt_shape_text(&first->shape).text, tfrt_shape_text(&other->shape).text);
    }
  }
  return NULL;
}

static void dim(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  int32_t length;
  tfrt_status_t status = common_length(frame, &length);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_i32(frame, 0, length);
  }
}

static void count_equal(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
  int64_t count;
  tfrt_status_t status = tfrt_tensor_count_equal(tfrt_kernel_frame_tensor(frame, 0),
                                                 tfrt_kernel_frame_tensor(frame, 1), &count);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_i64(frame, 0, count);
  }
}

// The address of the one element of operand 0, which is of |dtype|; NULL if it isn't so, and
// then the kernel has failed.
static const void* item(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return NULL;
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, 0);
  if (tensor->dtype == dtype && tfrt_dense_host_tensor_element_count(tensor) == 1) {
    return tfrt_dense_host_tensor_data(tensor);
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "item takes one element of %s, but gets %s with the shape %s",
                         tfrt_dtype_name(dtype), tfrt_dtype_name(tensor->dtype),
                         tfrt_shape_text(&tensor->shape).text);
  return NULL;
}

static void item_i32(tfrt_kernel_frame_t* frame) {
  const int32_t* element = item(frame, TFRT_DTYPE_I32);
  if (element) tfrt_kernel_frame_set_i32(frame, 0, *element);
}
static void item_i64(tfrt_kernel_frame_t* frame) {
  const int64_t* element = item(frame, TFRT_DTYPE_I64);
  if (element) tfrt_kernel_frame_set_i64(frame, 0, *element);
}
static void item_f32(tfrt_kernel_frame_t* frame) {
  const float* element = item(frame, TFRT_DTYPE_F32);
  if (element) tfrt_kernel_frame_set_f32(frame, 0, *element);
}
static void item_f64(tfrt_kernel_frame_t* frame) {
  const double* element = item(frame, TFRT_DTYPE_F64);
  if (element) tfrt_kernel_frame_set_f64(frame, 0, *element);
}

static const tfrt_kernel_registration_t registrations[] = {
    {"tfrt_tensor.constant", tfrt_kernel_make_constant},
    {"tfrt_tensor.zeros", zeros},
    {"tfrt_tensor.partial_shape", partial_shape},
    {"tfrt_tensor.reshape", reshape},
    {"tfrt_tensor.slice", slice},
    {"tfrt_tensor.batch", batch},
    {"tfrt_tensor.dim", dim},
    {"tfrt_tensor.common_dim", dim},
    {"tfrt_tensor.count_equal", count_equal},
    {"tfrt_tensor.item.i32", item_i32},
    {"tfrt_tensor.item.i64", item_i64},
    {"tfrt_tensor.item.f32", item_f32},
    {"tfrt_tensor.item.f64", item_f64},
};

const tfrt_kernel_group_t tfrt_tensor_view_kernels = {&tfrt_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
