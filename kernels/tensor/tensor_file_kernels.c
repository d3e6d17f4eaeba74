// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/tensor/btf_reading.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/ops.h"

static void read_dense(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, int32_t rank) {
  int32_t index = tfrt_kernel_frame_i32(frame, 1);
  if (index < 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "tensor %" PRId32 " of a file is asked for", index);
    return;
  }
  const tfrt_btf_reading_t reading = {.path = tfrt_async_value_string(frame->arguments[0]),
                                      .first = index,
                                      .dtype = dtype,
                                      .rank = rank};
  tfrt_btf_reading_start(frame, &reading);
}

static void read_btf(tfrt_kernel_frame_t* frame) {
  const tfrt_btf_reading_t reading = {.path = tfrt_bef_attribute_string(frame->attributes[0]),
                                      .dtype = TFRT_DTYPE_INVALID,
                                      .rank = -1,
                                      .has_chain = true,
                                      .all = true};
  tfrt_btf_reading_start(frame, &reading);
}

#define FOR_EACH_DTYPE(action)                                                        \
  action(f32, TFRT_DTYPE_F32) action(i32, TFRT_DTYPE_I32) action(i64, TFRT_DTYPE_I64) \
      action(i8, TFRT_DTYPE_I8) action(ui8, TFRT_DTYPE_UI8)

#define DEFINE_MEMBERS(suffix, dtype)                                                        \
  static void read_##suffix##_0(tfrt_kernel_frame_t* frame) { read_dense(frame, dtype, 0); } \
  static void read_##suffix##_1(tfrt_kernel_frame_t* frame) { read_dense(frame, dtype, 1); } \
  static void read_##suffix##_2(tfrt_kernel_frame_t* frame) { read_dense(frame, dtype, 2); } \
  static void read_##suffix##_3(tfrt_kernel_frame_t* frame) { read_dense(frame, dtype, 3); } \
  static void read_##suffix##_4(tfrt_kernel_frame_t* frame) { read_dense(frame, dtype, 4); }

FOR_EACH_DTYPE(DEFINE_MEMBERS)

#define REGISTER_MEMBERS(suffix, dtype)                           \
  {"btf.read_dense_tensor." #suffix ".0", read_##suffix##_0},     \
      {"btf.read_dense_tensor." #suffix ".1", read_##suffix##_1}, \
      {"btf.read_dense_tensor." #suffix ".2", read_##suffix##_2}, \
      {"btf.read_dense_tensor." #suffix ".3", read_##suffix##_3}, \
      {"btf.read_dense_tensor." #suffix ".4", read_##suffix##_4},

static const tfrt_kernel_registration_t registrations[] = {
    FOR_EACH_DTYPE(REGISTER_MEMBERS)  //
    {"tfrt_tensor.read_btf", read_btf},
};

const tfrt_kernel_group_t tfrt_tensor_file_kernels = {&tfrt_tensor_ops, registrations,
                                                      TFRT_ARRAY_SIZE(registrations)};
