// SPDX-License-Identifier: Apache-2.0
//
// Operations on each element by itself.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/fast_math.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/wide_loops.h"
#include "kernels/tensor/math/elementwise.h"

// One row of elements, with up to two settings of the op.
typedef void (*map_fn_t)(const void* data, void* out, int64_t count, double alpha, double beta);
typedef const map_fn_t map_table_t[TFRT_DTYPE_COUNT];

#define MAP(name, type, result, expression)                                                 \
  static void name(const void* data, void* out, int64_t count, double alpha, double beta) { \
    const type a = (type)alpha, b = (type)beta;                                             \
    const type* source = data;                                                              \
    result* target = out;                                                                   \
    (void)a, (void)b;                                                                       \
    for (int64_t i = 0; i < count; ++i) {                                                   \
      type x = source[i];                                                                   \
      target[i] = (result)(expression);                                                     \
    }                                                                                       \
  }

// The same of f32, which most networks are of.
#define WIDE_MAP(name, expression)                                                               \
  TFRT_ALWAYS_INLINE void name##_loop(const void* data, void* out, int64_t count, double alpha,  \
                                      double beta) {                                             \
    const float a = (float)alpha, b = (float)beta;                                               \
    const float* source = data;                                                                  \
    float* target = out;                                                                         \
    (void)a, (void)b;                                                                            \
    for (int64_t i = 0; i < count; ++i) {                                                        \
      float x = source[i];                                                                       \
      target[i] = expression;                                                                    \
    }                                                                                            \
  }                                                                                              \
  TFRT_NN_WIDE_FUNCTION(name,                                                                    \
                        (const void* data, void* out, int64_t count, double alpha, double beta), \
                        (data, out, count, alpha, beta))

static tfrt_status_t run_map(const tfrt_nn_call_t* call, map_table_t* maps, tfrt_dtype_t dtype,
                             double alpha, double beta) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  map_fn_t map = (*maps)[x->dtype];
  if (!map) return tfrt_nn_dtype_error(call, x->dtype);
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make(call, 0, dtype == TFRT_DTYPE_INVALID ? x->dtype : dtype, &x->shape));
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  if (count) map(tfrt_nn_input_data(call, 0), tfrt_nn_result_data(call, 0), count, alpha, beta);
  return NULL;
}

// --- Floats -----------------------------------------------------------------------

// A function of floats: |f32| and |f64| are its expressions of x, a and b.
#define FLOAT_MAP(name, f32, f64, alpha, beta)                                                \
  WIDE_MAP(name##_f32, f32)                                                                   \
  MAP(name##_f64, double, double, f64)                                                        \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) {                                  \
    static map_table_t maps = {[TFRT_DTYPE_F32] = name##_f32, [TFRT_DTYPE_F64] = name##_f64}; \
    return run_map(call, &maps, TFRT_DTYPE_INVALID, alpha, beta);                             \
  }
#define SIMPLE_MAP(name, f32, f64) FLOAT_MAP(name, f32, f64, 0, 0)
#define ALPHA tfrt_nn_f32(call, "alpha")
#define BETA tfrt_nn_f32(call, "beta")

SIMPLE_MAP(sqrt, sqrtf(x), sqrt(x))
SIMPLE_MAP(exp, tfrt_nn_expf(x), exp(x))
SIMPLE_MAP(log, logf(x), log(x))
SIMPLE_MAP(sin, sinf(x), sin(x))
SIMPLE_MAP(cos, cosf(x), cos(x))
SIMPLE_MAP(tan, tanf(x), tan(x))
SIMPLE_MAP(asin, asinf(x), asin(x))
SIMPLE_MAP(acos, acosf(x), acos(x))
SIMPLE_MAP(atan, atanf(x), atan(x))
SIMPLE_MAP(sinh, sinhf(x), sinh(x))
SIMPLE_MAP(cosh, coshf(x), cosh(x))
SIMPLE_MAP(tanh, tfrt_nn_tanhf(x), tanh(x))
SIMPLE_MAP(asinh, asinhf(x), asinh(x))
SIMPLE_MAP(acosh, acoshf(x), acosh(x))
SIMPLE_MAP(atanh, atanhf(x), atanh(x))
SIMPLE_MAP(erf, tfrt_nn_erff(x), erf(x))
SIMPLE_MAP(ceil, ceilf(x), ceil(x))
SIMPLE_MAP(floor, floorf(x), floor(x))
SIMPLE_MAP(round, rintf(x), rint(x))  // halves to even: the processor's way
SIMPLE_MAP(reciprocal, 1.0f / x, 1.0 / x)
SIMPLE_MAP(sigmoid, 1.0f / (1.0f + tfrt_nn_expf(-x)), 1.0 / (1.0 + exp(-x)))
SIMPLE_MAP(softplus, x > 20.0f ? x : log1pf(expf(x)), x > 40.0 ? x : log1p(exp(x)))
SIMPLE_MAP(softsign, x / (1.0f + fabsf(x)), x / (1.0 + fabs(x)))
SIMPLE_MAP(mish, x* tanhf(x > 20.0f ? x : log1pf(expf(x))), x* tanh(x > 40.0 ? x : log1p(exp(x))))
FLOAT_MAP(hard_swish, x* fminf(fmaxf(x*(1.0f / 6.0f) + 0.5f, 0.0f), 1.0f),
          x* fmin(fmax(x / 6.0 + 0.5, 0.0), 1.0), 0, 0)
FLOAT_MAP(hard_sigmoid, fmaxf(0.0f, fminf(1.0f, a* x + b)), fmax(0.0, fmin(1.0, a* x + b)), ALPHA,
          BETA)
FLOAT_MAP(leaky_relu, x < 0 ? a * x : x, x < 0 ? a * x : x, ALPHA, 0)
FLOAT_MAP(elu, x < 0 ? a * (expf(x) - 1.0f) : x, x < 0 ? a * (exp(x) - 1.0) : x, ALPHA, 0)
FLOAT_MAP(selu, x <= 0 ? b * (a * expf(x) - a) : b * x, x <= 0 ? b * (a * exp(x) - a) : b * x,
          ALPHA, tfrt_nn_f32(call, "gamma"))
FLOAT_MAP(celu, fmaxf(0.0f, x) + fminf(0.0f, a*(expf(x / a) - 1.0f)),
          fmax(0.0, x) + fmin(0.0, a*(exp(x / a) - 1.0)), ALPHA, 0)
FLOAT_MAP(thresholded_relu, x > a ? x : 0.0f, x > a ? x : 0.0, ALPHA, 0)
FLOAT_MAP(shrink, x<-a ? x + b : x> a ? x - b : 0.0f, x<-a ? x + b : x> a ? x - b : 0.0,
          tfrt_nn_f32(call, "lambd"), tfrt_nn_f32(call, "bias"))

#define SQRT_HALF 0.70710678118654752440
#define GELU_FACTOR 0.79788456080286535588
WIDE_MAP(gelu_erf_f32, 0.5f * x * (1.0f + tfrt_nn_erff(x * (float)SQRT_HALF)))
MAP(gelu_erf_f64, double, double, 0.5 * x * (1.0 + erf(x * SQRT_HALF)))
WIDE_MAP(gelu_tanh_f32, tfrt_nn_gelu_tanhf(x))
MAP(gelu_tanh_f64, double, double, 0.5 * x * (1.0 + tanh(GELU_FACTOR * (x + 0.044715 * x * x * x))))

tfrt_status_t tfrt_nn_gelu(const tfrt_nn_call_t* call) {
  static map_table_t exact = {[TFRT_DTYPE_F32] = gelu_erf_f32, [TFRT_DTYPE_F64] = gelu_erf_f64};
  static map_table_t by_tanh = {[TFRT_DTYPE_F32] = gelu_tanh_f32, [TFRT_DTYPE_F64] = gelu_tanh_f64};
  bool is_exact = tfrt_nn_string_is(call, "approximate", "none");
  if (!is_exact && !tfrt_nn_string_is(call, "approximate", "tanh")) {
    return tfrt_nn_error(call, "'approximate' is none or tanh");
  }
  return run_map(call, is_exact ? &exact : &by_tanh, TFRT_DTYPE_INVALID, 0, 0);
}

MAP(is_nan_f32, float, uint8_t, x != x)
MAP(is_nan_f64, double, uint8_t, x != x)
tfrt_status_t tfrt_nn_is_nan(const tfrt_nn_call_t* call) {
  static map_table_t maps = {[TFRT_DTYPE_F32] = is_nan_f32, [TFRT_DTYPE_F64] = is_nan_f64};
  return run_map(call, &maps, TFRT_DTYPE_I1, 0, 0);
}

MAP(is_inf_f32, float, uint8_t, (b != 0 && x == INFINITY) || (a != 0 && x == -INFINITY))
MAP(is_inf_f64, double, uint8_t, (b != 0 && x == INFINITY) || (a != 0 && x == -INFINITY))
tfrt_status_t tfrt_nn_is_inf(const tfrt_nn_call_t* call) {
  static map_table_t maps = {[TFRT_DTYPE_F32] = is_inf_f32, [TFRT_DTYPE_F64] = is_inf_f64};
  return run_map(call, &maps, TFRT_DTYPE_I1, (double)tfrt_nn_i64(call, "detect_negative"),
                 (double)tfrt_nn_i64(call, "detect_positive"));
}

// --- Floats and whole numbers -------------------------------------------------------

#define SIGNED_MAPS(name, expression)           \
  MAP(name##_i8, int8_t, int8_t, expression)    \
  MAP(name##_i16, int16_t, int16_t, expression) \
  MAP(name##_i32, int32_t, int32_t, expression) \
  MAP(name##_i64, int64_t, int64_t, expression)
#define UNSIGNED_MAPS(name, expression)            \
  MAP(name##_ui8, uint8_t, uint8_t, expression)    \
  MAP(name##_ui16, uint16_t, uint16_t, expression) \
  MAP(name##_ui32, uint32_t, uint32_t, expression) \
  MAP(name##_ui64, uint64_t, uint64_t, expression)
#define SIGNED_ENTRIES(name)                                                                 \
  [TFRT_DTYPE_I8] = name##_i8, [TFRT_DTYPE_I16] = name##_i16, [TFRT_DTYPE_I32] = name##_i32, \
  [TFRT_DTYPE_I64] = name##_i64
#define UNSIGNED_ENTRIES(name)                                                                     \
  [TFRT_DTYPE_UI8] = name##_ui8, [TFRT_DTYPE_UI16] = name##_ui16, [TFRT_DTYPE_UI32] = name##_ui32, \
  [TFRT_DTYPE_UI64] = name##_ui64
#define FLOAT_ENTRIES(name) [TFRT_DTYPE_F32] = name##_f32, [TFRT_DTYPE_F64] = name##_f64

SIGNED_MAPS(abs, x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x)
UNSIGNED_MAPS(abs, x)
MAP(abs_f32, float, float, fabsf(x))
MAP(abs_f64, double, double, fabs(x))
SIGNED_MAPS(neg, (uint64_t)0 - (uint64_t)x)
MAP(neg_f32, float, float, -x)
MAP(neg_f64, double, double, -x)
SIGNED_MAPS(sign, (x > 0) - (x < 0))
UNSIGNED_MAPS(sign, x > 0)
MAP(sign_f32, float, float, x != x ? x : (float)((x > 0) - (x < 0)))
MAP(sign_f64, double, double, x != x ? x : (double)((x > 0) - (x < 0)))
SIGNED_MAPS(relu, x > 0 ? x : 0)
WIDE_MAP(relu_f32, x < 0 ? 0.0f : x)
MAP(relu_f64, double, double, x < 0 ? 0.0 : x)
SIGNED_MAPS(bitwise_not, ~x)
UNSIGNED_MAPS(bitwise_not, ~x)
MAP(not_i1, uint8_t, uint8_t, !x)

#define PLAIN_MAP(name, ...)                                 \
  tfrt_status_t tfrt_nn_##name(const tfrt_nn_call_t* call) { \
    static map_table_t maps = {__VA_ARGS__};                 \
    return run_map(call, &maps, TFRT_DTYPE_INVALID, 0, 0);   \
  }
PLAIN_MAP(abs, SIGNED_ENTRIES(abs), UNSIGNED_ENTRIES(abs), FLOAT_ENTRIES(abs))
PLAIN_MAP(neg, SIGNED_ENTRIES(neg), FLOAT_ENTRIES(neg))
PLAIN_MAP(sign, SIGNED_ENTRIES(sign), UNSIGNED_ENTRIES(sign), FLOAT_ENTRIES(sign))
PLAIN_MAP(relu, SIGNED_ENTRIES(relu), FLOAT_ENTRIES(relu))
PLAIN_MAP(bitwise_not, SIGNED_ENTRIES(bitwise_not), UNSIGNED_ENTRIES(bitwise_not))
PLAIN_MAP(not, [TFRT_DTYPE_I1] = not_i1)

// --- A range --------------------------------------------------------------------------

// A limit that is not there leaves that side open; where the limits cross, the upper one wins.
#define CLIP(suffix, type)                                                               \
  static void clip_##suffix(const void* data, void* out, int64_t count, const void* low, \
                            const void* high) {                                          \
    const type* source = data;                                                           \
    type* target = out;                                                                  \
    if (low && high) {                                                                   \
      const type least = *(const type*)low, most = *(const type*)high;                   \
      for (int64_t i = 0; i < count; ++i) {                                              \
        type x = source[i] < least ? least : source[i];                                  \
        target[i] = x > most ? most : x;                                                 \
      }                                                                                  \
      return;                                                                            \
    }                                                                                    \
    for (int64_t i = 0; i < count; ++i) {                                                \
      type x = source[i];                                                                \
      if (low && x < *(const type*)low) x = *(const type*)low;                           \
      if (high && x > *(const type*)high) x = *(const type*)high;                        \
      target[i] = x;                                                                     \
    }                                                                                    \
  }
CLIP(i8, int8_t)
CLIP(i16, int16_t)
CLIP(i32, int32_t)
CLIP(i64, int64_t)
CLIP(ui8, uint8_t)
CLIP(ui16, uint16_t)
CLIP(ui32, uint32_t)
CLIP(ui64, uint64_t)
CLIP(f32, float)
CLIP(f64, double)

typedef void (*clip_fn_t)(const void* data, void* out, int64_t count, const void* low,
                          const void* high);

// Sets |*out_limit| to the element of input |index|, or NULL if that is not there.
static tfrt_status_t read_limit(const tfrt_nn_call_t* call, uint32_t index, tfrt_dtype_t dtype,
                                const void** out_limit) {
  const tfrt_dense_host_tensor_t* limit = tfrt_nn_input(call, index);
  *out_limit = NULL;
  if (!limit) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index, dtype));
  if (tfrt_dense_host_tensor_element_count(limit) != 1) {
    return tfrt_nn_error(call, "a limit must have one element");
  }
  *out_limit = tfrt_dense_host_tensor_data(limit);
  return NULL;
}

tfrt_status_t tfrt_nn_clip(const tfrt_nn_call_t* call) {
  static const clip_fn_t clips[TFRT_DTYPE_COUNT] = {SIGNED_ENTRIES(clip), UNSIGNED_ENTRIES(clip),
                                                    FLOAT_ENTRIES(clip)};
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  clip_fn_t clip = clips[x->dtype];
  if (!clip) return tfrt_nn_dtype_error(call, x->dtype);
  const void* low;
  const void* high;
  TFRT_RETURN_IF_ERROR(read_limit(call, 1, x->dtype, &low));
  TFRT_RETURN_IF_ERROR(read_limit(call, 2, x->dtype, &high));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  if (count) clip(tfrt_nn_input_data(call, 0), tfrt_nn_result_data(call, 0), count, low, high);
  return NULL;
}

// --- Copies ------------------------------------------------------------------------------

tfrt_status_t tfrt_nn_cast(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, 0);
  if (!x) return tfrt_nn_error(call, "its operand is missing");
  return tfrt_tensor_cast(x, tfrt_nn_dtype(call, "to"), call->allocator, &call->results[0]);
}

tfrt_status_t tfrt_nn_cast_like(const tfrt_nn_call_t* call) {
  if (!tfrt_nn_input(call, 0) || !tfrt_nn_input(call, 1)) {
    return tfrt_nn_error(call, "it takes two operands");
  }
  return tfrt_tensor_cast(call->inputs[0], call->inputs[1]->dtype, call->allocator,
                          &call->results[0]);
}

tfrt_status_t tfrt_nn_identity(const tfrt_nn_call_t* call) {
  if (!tfrt_nn_input(call, 0)) return tfrt_nn_error(call, "its operand is missing");
  return tfrt_nn_alias(call, 0, call->inputs[0], NULL);
}

// Networks drop nothing when they only answer: the mask is all true. With training_mode and a
// ratio of 0, too.
tfrt_status_t tfrt_nn_dropout(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(tfrt_nn_identity(call));
  const tfrt_dense_host_tensor_t* training = tfrt_nn_input(call, 2);
  const tfrt_dense_host_tensor_t* ratio = tfrt_nn_input(call, 1);
  bool trains = training && training->dtype == TFRT_DTYPE_I1 &&
                tfrt_dense_host_tensor_element_count(training) == 1 &&
                *(const uint8_t*)tfrt_dense_host_tensor_data(training);
  bool keeps_all = ratio && ratio->dtype == TFRT_DTYPE_F32 &&
                   tfrt_dense_host_tensor_element_count(ratio) == 1 &&
                   *(const float*)tfrt_dense_host_tensor_data(ratio) == 0.0f;
  if (trains && !keeps_all) {
    return tfrt_nn_error(call, "dropping at random (training_mode) is not supported");
  }
  if (call->result_count < 2) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 1, TFRT_DTYPE_I1, &call->inputs[0]->shape));
  int64_t count = tfrt_dense_host_tensor_element_count(call->inputs[0]);
  if (count) memset(tfrt_nn_result_data(call, 1), 1, (size_t)count);
  return NULL;
}
