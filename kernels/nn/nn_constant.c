// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_constant.h"

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"

static void release_program(void* context, void* data, size_t size) {
  (void)data;
  (void)size;
  tfrt_kernel_site_release(context);
}

static tfrt_status_t make_constant(const tfrt_kernel_frame_t* frame,
                                   tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_bef_dense_t dense = tfrt_bef_attribute_dense(frame->attributes[0]);
  tfrt_allocator_t allocator = frame->context->host->allocator;
  tfrt_shape_t shape;
  tfrt_host_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dense.dims, dense.rank, &shape));
  // Buffers and their givers-back have one type for what is written to and what isn't.
  void* data = (void*)(uintptr_t)dense.data;
  void* site = (void*)(uintptr_t)frame->site;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create_external(data, dense.data_size, release_program,
                                                        site, allocator, &buffer));
  tfrt_kernel_site_retain(frame->site);
  tfrt_status_t status = tfrt_dense_host_tensor_initialize_view((tfrt_dtype_t)dense.dtype, &shape,
                                                                buffer, 0, out_tensor);
  tfrt_host_buffer_release(buffer);
  return status;
}

void tfrt_nn_constant(tfrt_kernel_frame_t* frame) {
  tfrt_dense_host_tensor_t tensor = {0};
  tfrt_status_t status = make_constant(frame, &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(&tensor));
  }
}

void tfrt_nn_condition(tfrt_kernel_frame_t* frame) {
  const tfrt_host_tensor_t* tensor = tfrt_kernel_frame_payload(frame, 0);
  if (tensor->layout != TFRT_TENSOR_LAYOUT_DENSE || tensor->dense.dtype != TFRT_DTYPE_I1 ||
      tfrt_dense_host_tensor_element_count(&tensor->dense) != 1) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a condition must be one truth value, not %s %s",
                           tfrt_dtype_name(tfrt_host_tensor_dtype(tensor)),
                           tfrt_shape_text(tfrt_host_tensor_shape(tensor)).text);
    return;
  }
  tfrt_kernel_frame_set_i1(frame, 0,
                           *(const uint8_t*)tfrt_dense_host_tensor_data(&tensor->dense) != 0);
}
