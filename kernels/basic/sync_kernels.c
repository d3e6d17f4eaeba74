// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/sync_kernels.h"

#include <string.h>

#include "kernels/basic/ops.h"

// --- Constants ---------------------------------------------------------------

// A constant is the attribute's bytes.
static void basic_sync_constant(tfrt_sync_frame_t* frame, tfrt_type_id_t type, size_t size) {
  memcpy(tfrt_sync_frame_set(frame, 0, type)->as.bytes, frame->attributes[0], size);
}
static void basic_sync_constant_i1(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_I1, sizeof(bool));
}
static void basic_sync_constant_i32(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_I32, sizeof(int32_t));
}
static void basic_sync_constant_i64(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_I64, sizeof(int64_t));
}
static void basic_sync_constant_ui32(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_UI32, sizeof(uint32_t));
}
static void basic_sync_constant_ui64(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_UI64, sizeof(uint64_t));
}
static void basic_sync_constant_f32(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_F32, sizeof(float));
}
static void basic_sync_constant_f64(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_F64, sizeof(double));
}
static void basic_sync_constant_f16(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_F16, sizeof(uint16_t));
}
static void basic_sync_constant_bf16(tfrt_sync_frame_t* frame) {
  basic_sync_constant(frame, TFRT_TYPE_BF16, sizeof(uint16_t));
}

// --- Arithmetic --------------------------------------------------------------

// A kernel of two operands of one type: |expression| of a and b is its result.
#define TFRT_BASIC_SYNC_BINARY(name, operand, c_type, result, expression) \
  static void tfrt_basic_sync_##name(tfrt_sync_frame_t* frame) {          \
    c_type a = tfrt_sync_frame_##operand(frame, 0);                       \
    c_type b = tfrt_sync_frame_##operand(frame, 1);                       \
    tfrt_sync_frame_set_##result(frame, 0, expression);                   \
  }

// Signed sums, differences and products wrap around, as the hardware's do.
TFRT_BASIC_SYNC_BINARY(add_i32, i32, int32_t, i32, (int32_t)((uint32_t)a + (uint32_t)b))
TFRT_BASIC_SYNC_BINARY(add_i64, i64, int64_t, i64, (int64_t)((uint64_t)a + (uint64_t)b))
TFRT_BASIC_SYNC_BINARY(minus_i32, i32, int32_t, i32, (int32_t)((uint32_t)a - (uint32_t)b))
TFRT_BASIC_SYNC_BINARY(minus_i64, i64, int64_t, i64, (int64_t)((uint64_t)a - (uint64_t)b))
TFRT_BASIC_SYNC_BINARY(mul_i32, i32, int32_t, i32, (int32_t)((uint32_t)a*(uint32_t)b))
TFRT_BASIC_SYNC_BINARY(mul_i64, i64, int64_t, i64, (int64_t)((uint64_t)a*(uint64_t)b))
TFRT_BASIC_SYNC_BINARY(add_f32, f32, float, f32, a + b)
TFRT_BASIC_SYNC_BINARY(add_f64, f64, double, f64, a + b)
TFRT_BASIC_SYNC_BINARY(multiply_f32, f32, float, f32, a* b)
TFRT_BASIC_SYNC_BINARY(multiply_f64, f64, double, f64, a* b)
// For a NaN and a number the result is the first operand, since the comparison is false.
TFRT_BASIC_SYNC_BINARY(minimum_f32, f32, float, f32, b < a || b != b ? b : a)
TFRT_BASIC_SYNC_BINARY(minimum_f64, f64, double, f64, b < a || b != b ? b : a)
TFRT_BASIC_SYNC_BINARY(equal_i32, i32, int32_t, i1, a == b)
TFRT_BASIC_SYNC_BINARY(lessequal_i32, i32, int32_t, i1, a <= b)
TFRT_BASIC_SYNC_BINARY(lessequal_i64, i64, int64_t, i1, a <= b)
TFRT_BASIC_SYNC_BINARY(equal_i64, i64, int64_t, i1, a == b)
TFRT_BASIC_SYNC_BINARY(and_i1, i1, bool, i1, a&& b)

static void basic_sync_divide_by_zero(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL, "Divide by zero");
}

// Quotient toward zero and its remainder. The one quotient that doesn't fit wraps around.
static void basic_sync_div_i32(tfrt_sync_frame_t* frame) {
  int64_t a = tfrt_sync_frame_i32(frame, 0);
  int64_t b = tfrt_sync_frame_i32(frame, 1);
  if (b == 0) {
    basic_sync_divide_by_zero(frame);
    return;
  }
  tfrt_sync_frame_set_i32(frame, 0, (int32_t)(uint32_t)(uint64_t)(a / b));
  tfrt_sync_frame_set_i32(frame, 1, (int32_t)(a % b));
}
static void basic_sync_div_i64(tfrt_sync_frame_t* frame) {
  int64_t a = tfrt_sync_frame_i64(frame, 0);
  int64_t b = tfrt_sync_frame_i64(frame, 1);
  if (b == 0) {
    basic_sync_divide_by_zero(frame);
    return;
  }
  bool wraps = b == -1;
  tfrt_sync_frame_set_i64(frame, 0, wraps ? (int64_t)(0 - (uint64_t)a) : a / b);
  tfrt_sync_frame_set_i64(frame, 1, wraps ? 0 : a % b);
}
static void basic_sync_div_f32(tfrt_sync_frame_t* frame) {
  float b = tfrt_sync_frame_f32(frame, 1);
  if (b == 0) {
    basic_sync_divide_by_zero(frame);
    return;
  }
  tfrt_sync_frame_set_f32(frame, 0, tfrt_sync_frame_f32(frame, 0) / b);
}
static void basic_sync_div_f64(tfrt_sync_frame_t* frame) {
  double b = tfrt_sync_frame_f64(frame, 1);
  if (b == 0) {
    basic_sync_divide_by_zero(frame);
    return;
  }
  tfrt_sync_frame_set_f64(frame, 0, tfrt_sync_frame_f64(frame, 0) / b);
}

// --- Casts -------------------------------------------------------------------

// Toward zero; a value that no i64 holds, or NaN, is an error and no undefined number.
static void basic_sync_cast_to_i64(tfrt_sync_frame_t* frame, double value) {
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "%g is no i64", value);
    return;
  }
  tfrt_sync_frame_set_i64(frame, 0, (int64_t)value);
}
static void basic_sync_cast_f32_to_i64(tfrt_sync_frame_t* frame) {
  basic_sync_cast_to_i64(frame, tfrt_sync_frame_f32(frame, 0));
}
static void basic_sync_cast_f64_to_i64(tfrt_sync_frame_t* frame) {
  basic_sync_cast_to_i64(frame, tfrt_sync_frame_f64(frame, 0));
}
static void basic_sync_cast_i64_to_f32(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_f32(frame, 0, (float)tfrt_sync_frame_i64(frame, 0));
}
static void basic_sync_cast_i64_to_f64(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_f64(frame, 0, (double)tfrt_sync_frame_i64(frame, 0));
}

// --- Registration ------------------------------------------------------------

static const tfrt_sync_kernel_registration_t kernels[] = {
    {"tfrt.constant.i1", basic_sync_constant_i1},
    {"tfrt.constant.i32", basic_sync_constant_i32},
    {"tfrt.constant.i64", basic_sync_constant_i64},
    {"tfrt.constant.ui32", basic_sync_constant_ui32},
    {"tfrt.constant.ui64", basic_sync_constant_ui64},
    {"tfrt.constant.f32", basic_sync_constant_f32},
    {"tfrt.constant.f64", basic_sync_constant_f64},
    {"tfrt.add.i32", tfrt_basic_sync_add_i32},
    {"tfrt.add.i64", tfrt_basic_sync_add_i64},
    {"tfrt.add.f32", tfrt_basic_sync_add_f32},
    {"tfrt.add.f64", tfrt_basic_sync_add_f64},
    {"tfrt.div.i32", basic_sync_div_i32},
    {"tfrt.div.i64", basic_sync_div_i64},
    {"tfrt.div.f32", basic_sync_div_f32},
    {"tfrt.div.f64", basic_sync_div_f64},
    {"tfrt.multiply.f32", tfrt_basic_sync_multiply_f32},
    {"tfrt.multiply.f64", tfrt_basic_sync_multiply_f64},
    {"tfrt.minimum.f32", tfrt_basic_sync_minimum_f32},
    {"tfrt.minimum.f64", tfrt_basic_sync_minimum_f64},
    {"tfrt.equal.i32", tfrt_basic_sync_equal_i32},
    {"tfrt.lessequal.i32", tfrt_basic_sync_lessequal_i32},
    {"tfrt.lessequal.i64", tfrt_basic_sync_lessequal_i64},
    {"tfrt.minus.i32", tfrt_basic_sync_minus_i32},
    {"tfrt.minus.i64", tfrt_basic_sync_minus_i64},
    {"tfrt.equal.i64", tfrt_basic_sync_equal_i64},
    {"tfrt.and.i1", tfrt_basic_sync_and_i1},
    {"tfrt.mul.i32", tfrt_basic_sync_mul_i32},
    {"tfrt.mul.i64", tfrt_basic_sync_mul_i64},
    {"tfrt.cast.f32_to_i64", basic_sync_cast_f32_to_i64},
    {"tfrt.cast.f64_to_i64", basic_sync_cast_f64_to_i64},
    {"tfrt.cast.i64_to_f32", basic_sync_cast_i64_to_f32},
    {"tfrt.cast.i64_to_f64", basic_sync_cast_i64_to_f64},
    {"tfrt.constant_s.i32", basic_sync_constant_i32},
    {"tfrt.constant_s.i64", basic_sync_constant_i64},
    {"tfrt.constant_s.f32", basic_sync_constant_f32},
    {"tfrt.constant_s.f64", basic_sync_constant_f64},
    {"tfrt.constant_s.f16", basic_sync_constant_f16},
    {"tfrt.constant_s.bf16", basic_sync_constant_bf16},
    {"tfrt.add_s.i32", tfrt_basic_sync_add_i32},
    {"tfrt.add_s.i64", tfrt_basic_sync_add_i64},
};

tfrt_status_t tfrt_basic_sync_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_kernel_registry_add_sync(registry, &tfrt_basic_ops, kernels,
                                       TFRT_ARRAY_SIZE(kernels));
}
