// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/tensor/files/btf_reading.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/ops/ops.h"

static void read_tensor(tfrt_kernel_frame_t* frame, tfrt_tensor_layout_t layout, tfrt_dtype_t dtype,
                        int32_t rank) {
  int32_t index = tfrt_kernel_frame_i32(frame, 1);
  if (index < 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "tensor %" PRId32 " of a file is asked for", index);
    return;
  }
  const tfrt_btf_reading_t reading = {.path = tfrt_async_value_string(frame->arguments[0]),
                                      .first = index,
                                      .dtype = dtype,
                                      .rank = rank,
                                      .layout = layout};
  tfrt_btf_reading_start(frame, &reading);
}

static void read_btf(tfrt_kernel_frame_t* frame) {
  const tfrt_btf_reading_t reading = {.path = tfrt_bef_attribute_string(frame->attributes[0]),
                                      .dtype = TFRT_DTYPE_INVALID,
                                      .has_chain = true,
                                      .all = true};
  tfrt_btf_reading_start(frame, &reading);
}

// The dtypes that the format has.
// clang-format off
#define FOR_EACH_DTYPE(action)   \
  action(i8, TFRT_DTYPE_I8)      \
  action(i16, TFRT_DTYPE_I16)    \
  action(i32, TFRT_DTYPE_I32)    \
  action(i64, TFRT_DTYPE_I64)    \
  action(f32, TFRT_DTYPE_F32)    \
  action(f64, TFRT_DTYPE_F64)    \
  action(ui8, TFRT_DTYPE_UI8)    \
  action(ui16, TFRT_DTYPE_UI16)  \
  action(ui32, TFRT_DTYPE_UI32)  \
  action(ui64, TFRT_DTYPE_UI64)
// clang-format on

#define DEFINE_MEMBERS(suffix, dtype, rank)                              \
  static void read_dense_##suffix##_##rank(tfrt_kernel_frame_t* frame) { \
    read_tensor(frame, TFRT_TENSOR_LAYOUT_DENSE, dtype, rank);           \
  }                                                                      \
  static void read_coo_##suffix##_##rank(tfrt_kernel_frame_t* frame) {   \
    read_tensor(frame, TFRT_TENSOR_LAYOUT_COO, dtype, rank);             \
  }

#define DEFINE_ALL(suffix, dtype)  \
  DEFINE_MEMBERS(suffix, dtype, 0) \
  DEFINE_MEMBERS(suffix, dtype, 1) \
  DEFINE_MEMBERS(suffix, dtype, 2) \
  DEFINE_MEMBERS(suffix, dtype, 3) \
  DEFINE_MEMBERS(suffix, dtype, 4)

FOR_EACH_DTYPE(DEFINE_ALL)

#define REGISTER_MEMBERS(suffix, rank)                                        \
  {"btf.read_dense_tensor." #suffix "." #rank, read_dense_##suffix##_##rank}, \
      {"btf.read_coo_tensor." #suffix "." #rank, read_coo_##suffix##_##rank},

#define REGISTER_ALL(suffix, dtype) \
  REGISTER_MEMBERS(suffix, 0)       \
  REGISTER_MEMBERS(suffix, 1)       \
  REGISTER_MEMBERS(suffix, 2)       \
  REGISTER_MEMBERS(suffix, 3)       \
  REGISTER_MEMBERS(suffix, 4)

static const tfrt_kernel_registration_t registrations[] = {
    FOR_EACH_DTYPE(REGISTER_ALL)  //
    {"tfrt_tensor.read_btf", read_btf},
};

const tfrt_kernel_group_t tfrt_tensor_file_kernels = {&tfrt_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
