// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/printing.h"

static const tfrt_shape_t* shape_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return tfrt_kernel_frame_payload(frame, index);
}

static void build_shape(tfrt_kernel_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_shape_make(dims.data, dims.count, &shape);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_shape(&shape));
}

static void print_shape(tfrt_kernel_frame_t* frame) {
  tfrt_print_shape(frame, shape_argument(frame, 0));
}

static void equal_shape(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0,
                           tfrt_shape_equal(shape_argument(frame, 0), shape_argument(frame, 1)));
}

static void get_num_elements(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i64(frame, 0, tfrt_shape_element_count(shape_argument(frame, 0)));
}

static const tfrt_kernel_registration_t registrations[] = {
    {"ts.build_shape", build_shape},
    {"ts.print_shape", print_shape},
    {"ts.equal_shape", equal_shape},
    {"ts.get_num_elements", get_num_elements},
};

const tfrt_kernel_group_t tfrt_shape_kernels = {registrations, TFRT_ARRAY_SIZE(registrations)};
