// SPDX-License-Identifier: Apache-2.0
//
// Kernels about the types of tensors, and from one to another.

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_conversion.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/ops/ops.h"

static const tfrt_tensor_type_t* type_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const tfrt_tensor_type_t* const*)tfrt_kernel_frame_payload(frame, index);
}

void tfrt_kernel_get_static_tensor_type(tfrt_kernel_frame_t* frame) {
  const tfrt_tensor_type_t* type;
  tfrt_status_t status =
      tfrt_tensor_type_find(tfrt_bef_attribute_string(frame->attributes[0]), &type);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_type(type));
  }
}

static void type_of(tfrt_kernel_frame_t* frame) {
  const tfrt_tensor_type_t* type = tfrt_tensor_type_of(tfrt_kernel_frame_payload(frame, 0));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_type(type));
}

static void type_name(tfrt_kernel_frame_t* frame) {
  const char* name = tfrt_tensor_type_name(type_argument(frame, 0));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(tfrt_string_view_of(name)));
}

static void convert(tfrt_kernel_frame_t* frame) {
  const tfrt_tensor_conversion_context_t context = {.allocator = tfrt_kernel_frame_allocator(frame),
                                                    .work_queue = frame->context->work_queue};
  tfrt_async_value_t* result =
      tfrt_tensor_convert(frame->arguments[0], type_argument(frame, 1), &context);
  if (!tfrt_async_value_is_error(result)) {
    tfrt_kernel_frame_set(frame, 0, result);
    return;
  }
  // So that the error has this kernel's place.
  tfrt_kernel_frame_fail_take(frame, tfrt_status_retain(tfrt_async_value_error(result)));
  tfrt_async_value_release(result);
}

static const tfrt_kernel_registration_t registrations[] = {
    {"tfrt_tensor.type", type_of},
    {"tfrt_tensor.type_name", type_name},
    {"tfrt_tensor.convert", convert},
};

const tfrt_kernel_group_t tfrt_tensor_type_kernels = {&tfrt_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
