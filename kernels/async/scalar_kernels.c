// SPDX-License-Identifier: Apache-2.0
//
// MLIR's `arith` and `math` on scalars of any width: the payloads say which.
#include <math.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/async/kernel_parts.h"

// --- Integers -------------------------------------------------------------------------------

// An integer argument: its bits, extended by its sign and by zeros.
typedef struct tfrt_async_integer_s {
  int64_t s;
  uint64_t u;
  uint32_t width;
} tfrt_async_integer_t;

static tfrt_async_integer_t async_integer_of(uint64_t bits, uint32_t width) {
  uint32_t shift = 64 - width;
  uint64_t u = bits << shift >> shift;
  return (tfrt_async_integer_t){.s = (int64_t)(bits << shift) >> shift, .u = u, .width = width};
}

// Reads argument |index|; false, after a failure, if it is none.
static bool async_read_integer(tfrt_kernel_frame_t* frame, uint32_t index,
                               tfrt_async_integer_t* out_value) {
  tfrt_async_value_t* value = frame->arguments[index];
  const void* payload = tfrt_async_value_payload(value);
  switch (value->type_id) {
    case TFRT_TYPE_I1:
      *out_value = async_integer_of(*(const bool*)payload, 1);
      return true;
    case TFRT_TYPE_I8:
      *out_value = async_integer_of(*(const uint8_t*)payload, 8);
      return true;
    case TFRT_TYPE_I16:
      *out_value = async_integer_of(*(const uint16_t*)payload, 16);
      return true;
    case TFRT_TYPE_I32:
      *out_value = async_integer_of(*(const uint32_t*)payload, 32);
      return true;
    case TFRT_TYPE_I64:
      *out_value = async_integer_of(*(const uint64_t*)payload, 64);
      return true;
    default:
      tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "argument %u is no integer",
                             index);
      return false;
  }
}

// Sets the result to the lowest |width| bits of |bits|.
static void async_set_integer(tfrt_kernel_frame_t* frame, uint64_t bits, uint32_t width) {
  uint8_t byte = (uint8_t)bits;
  uint16_t half = (uint16_t)bits;
  switch (width) {
    case 1:
      tfrt_kernel_frame_set_i1(frame, 0, bits & 1);
      return;
    case 8:
      tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_copy(TFRT_TYPE_I8, &byte, 1));
      return;
    case 16:
      tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_copy(TFRT_TYPE_I16, &half, 2));
      return;
    case 32:
      tfrt_kernel_frame_set_i32(frame, 0, (int32_t)(uint32_t)bits);
      return;
    default:
      tfrt_kernel_frame_set_i64(frame, 0, (int64_t)bits);
      return;
  }
}

static bool async_read_integers(tfrt_kernel_frame_t* frame, tfrt_async_integer_t* a,
                                tfrt_async_integer_t* b) {
  if (!async_read_integer(frame, 0, a) || !async_read_integer(frame, 1, b)) return false;
  if (a->width == b->width) return true;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "integers of %u and %u bits",
                         a->width, b->width);
  return false;
}

// A kernel of two integers: |expression| of a and b is its result.
#define TFRT_ASYNC_INTEGERS(name, expression)                  \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) {  \
    tfrt_async_integer_t a, b;                                 \
    if (!async_read_integers(frame, &a, &b)) return;           \
    async_set_integer(frame, (uint64_t)(expression), a.width); \
  }

// The same for those that a zero, or what doesn't fit, as divisor makes an error.
#define TFRT_ASYNC_QUOTIENT(name, expression)                                \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) {                \
    tfrt_async_integer_t a, b;                                               \
    if (!async_read_integers(frame, &a, &b)) return;                         \
    if (b.u == 0) {                                                          \
      tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "Divide by zero"); \
      return;                                                                \
    }                                                                        \
    async_set_integer(frame, (uint64_t)(expression), a.width);               \
  }

// Quotients of the smallest number by -1 wrap around.
static int64_t async_quotient(int64_t a, int64_t b) {
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static int64_t async_remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
static int64_t async_floor_quotient(int64_t a, int64_t b) {
  int64_t rest = async_remainder(a, b);
  return async_quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}
static int64_t async_ceiling_quotient(int64_t a, int64_t b) {
  int64_t rest = async_remainder(a, b);
  return async_quotient(a, b) + (rest != 0 && (rest < 0) == (b < 0) ? 1 : 0);
}

// Bits that are shifted by as many as there are, or more, are all gone.
static uint64_t async_shift_left(tfrt_async_integer_t a, tfrt_async_integer_t b) {
  return b.u < a.width ? a.u << b.u : 0;
}
static uint64_t async_shift_right(tfrt_async_integer_t a, tfrt_async_integer_t b) {
  return b.u < a.width ? a.u >> b.u : 0;
}
static uint64_t async_shift_signed(tfrt_async_integer_t a, tfrt_async_integer_t b) {
  return (uint64_t)(a.s >> (b.u < a.width ? b.u : a.width - 1));
}

TFRT_ASYNC_INTEGERS(addi, a.u + b.u)
TFRT_ASYNC_INTEGERS(subi, a.u - b.u)
TFRT_ASYNC_INTEGERS(muli, a.u* b.u)
TFRT_ASYNC_QUOTIENT(divsi, async_quotient(a.s, b.s))
TFRT_ASYNC_QUOTIENT(divui, a.u / b.u)
TFRT_ASYNC_QUOTIENT(remsi, async_remainder(a.s, b.s))
TFRT_ASYNC_QUOTIENT(remui, a.u % b.u)
TFRT_ASYNC_QUOTIENT(ceildivsi, async_ceiling_quotient(a.s, b.s))
TFRT_ASYNC_QUOTIENT(floordivsi, async_floor_quotient(a.s, b.s))
TFRT_ASYNC_QUOTIENT(ceildivui, a.u / b.u + (a.u % b.u != 0))
TFRT_ASYNC_INTEGERS(andi, a.u& b.u)
TFRT_ASYNC_INTEGERS(ori, a.u | b.u)
TFRT_ASYNC_INTEGERS(xori, a.u ^ b.u)
TFRT_ASYNC_INTEGERS(shli, async_shift_left(a, b))
TFRT_ASYNC_INTEGERS(shrsi, async_shift_signed(a, b))
TFRT_ASYNC_INTEGERS(shrui, async_shift_right(a, b))
TFRT_ASYNC_INTEGERS(maxsi, a.s > b.s ? a.u : b.u)
TFRT_ASYNC_INTEGERS(minsi, a.s < b.s ? a.u : b.u)
TFRT_ASYNC_INTEGERS(maxui, a.u > b.u ? a.u : b.u)
TFRT_ASYNC_INTEGERS(minui, a.u < b.u ? a.u : b.u)

static void async_absi(tfrt_kernel_frame_t* frame) {
  tfrt_async_integer_t a;
  if (!async_read_integer(frame, 0, &a)) return;
  async_set_integer(frame, a.s < 0 ? 0 - a.u : a.u, a.width);
}

static void async_cmpi(tfrt_kernel_frame_t* frame) {
  tfrt_async_integer_t a, b;
  if (!async_read_integers(frame, &a, &b)) return;
  const bool answers[] = {a.u == b.u,
                          a.u != b.u,
                          a.s<b.s, a.s <= b.s, a.s> b.s,
                          a.s >= b.s,
                          a.u<b.u, a.u <= b.u, a.u> b.u,
                          a.u >= b.u};
  uint64_t predicate = tfrt_bef_attribute_read_u64(frame->attributes[0]);
  if (predicate >= TFRT_ARRAY_SIZE(answers)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "no such comparison");
    return;
  }
  tfrt_kernel_frame_set_i1(frame, 0, answers[predicate]);
}

// --- Floats -----------------------------------------------------------------------------------

// A float argument. Sums, products, quotients and roots of two f32 are exact enough in a double to
// be rounded once more.
typedef struct tfrt_async_float_s {
  double value;
  bool is_single;
} tfrt_async_float_t;

static bool async_read_float(tfrt_kernel_frame_t* frame, uint32_t index,
                             tfrt_async_float_t* out_value) {
  tfrt_async_value_t* value = frame->arguments[index];
  const void* payload = tfrt_async_value_payload(value);
  out_value->is_single = value->type_id == TFRT_TYPE_F32;
  if (out_value->is_single) {
    out_value->value = *(const float*)payload;
  } else if (value->type_id == TFRT_TYPE_F64) {
    out_value->value = *(const double*)payload;
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "argument %u is no f32 or f64",
                           index);
    return false;
  }
  return true;
}

static void async_set_float(tfrt_kernel_frame_t* frame, double value, bool is_single) {
  if (is_single) {
    tfrt_kernel_frame_set_f32(frame, 0, (float)value);
  } else {
    tfrt_kernel_frame_set_f64(frame, 0, value);
  }
}

#define TFRT_ASYNC_FLOAT(name, expression)                    \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) { \
    tfrt_async_float_t argument;                              \
    if (!async_read_float(frame, 0, &argument)) return;       \
    double a = argument.value;                                \
    async_set_float(frame, expression, argument.is_single);   \
  }
#define TFRT_ASYNC_FLOATS(name, expression)                                             \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) {                           \
    tfrt_async_float_t lhs, rhs;                                                        \
    if (!async_read_float(frame, 0, &lhs) || !async_read_float(frame, 1, &rhs)) return; \
    double a = lhs.value;                                                               \
    double b = rhs.value;                                                               \
    async_set_float(frame, expression, lhs.is_single);                                  \
  }

// A NaN wins; of two zeros the positive one is the greater.
static double async_maximum(double a, double b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == 0 && b == 0) return signbit(a) ? b : a;
  return a > b ? a : b;
}
static double async_minimum(double a, double b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == 0 && b == 0) return signbit(a) ? a : b;
  return a < b ? a : b;
}

TFRT_ASYNC_FLOATS(addf, a + b)
TFRT_ASYNC_FLOATS(subf, a - b)
TFRT_ASYNC_FLOATS(mulf, a* b)
TFRT_ASYNC_FLOATS(divf, a / b)
TFRT_ASYNC_FLOATS(remf, fmod(a, b))
TFRT_ASYNC_FLOATS(maximumf, async_maximum(a, b))
TFRT_ASYNC_FLOATS(minimumf, async_minimum(a, b))
TFRT_ASYNC_FLOATS(maxnumf, fmax(a, b))
TFRT_ASYNC_FLOATS(minnumf, fmin(a, b))
TFRT_ASYNC_FLOATS(powf, pow(a, b))
TFRT_ASYNC_FLOATS(atan2, atan2(a, b))
TFRT_ASYNC_FLOATS(copysign, copysign(a, b))
TFRT_ASYNC_FLOAT(negf, -a)
TFRT_ASYNC_FLOAT(sqrt, sqrt(a))
TFRT_ASYNC_FLOAT(rsqrt, 1 / sqrt(a))
TFRT_ASYNC_FLOAT(exp, exp(a))
TFRT_ASYNC_FLOAT(exp2, exp2(a))
TFRT_ASYNC_FLOAT(expm1, expm1(a))
TFRT_ASYNC_FLOAT(log, log(a))
TFRT_ASYNC_FLOAT(log2, log2(a))
TFRT_ASYNC_FLOAT(log10, log10(a))
TFRT_ASYNC_FLOAT(log1p, log1p(a))
TFRT_ASYNC_FLOAT(sin, sin(a))
TFRT_ASYNC_FLOAT(cos, cos(a))
TFRT_ASYNC_FLOAT(tan, tan(a))
TFRT_ASYNC_FLOAT(tanh, tanh(a))
TFRT_ASYNC_FLOAT(sinh, sinh(a))
TFRT_ASYNC_FLOAT(cosh, cosh(a))
TFRT_ASYNC_FLOAT(atan, atan(a))
TFRT_ASYNC_FLOAT(absf, fabs(a))
TFRT_ASYNC_FLOAT(floor, floor(a))
TFRT_ASYNC_FLOAT(ceil, ceil(a))
TFRT_ASYNC_FLOAT(erf, erf(a))

static void async_fma(tfrt_kernel_frame_t* frame) {
  tfrt_async_float_t a, b, c;
  if (!async_read_float(frame, 0, &a) || !async_read_float(frame, 1, &b) ||
      !async_read_float(frame, 2, &c)) {
    return;
  }
  double value = a.is_single ? (double)fmaf((float)a.value, (float)b.value, (float)c.value)
                             : fma(a.value, b.value, c.value);
  async_set_float(frame, value, a.is_single);
}

static void async_cmpf(tfrt_kernel_frame_t* frame) {
  tfrt_async_float_t lhs, rhs;
  if (!async_read_float(frame, 0, &lhs) || !async_read_float(frame, 1, &rhs)) return;
  double a = lhs.value;
  double b = rhs.value;
  bool none = isnan(a) || isnan(b);
  const bool answers[] = {false,          a == b,        a > b,          a >= b,
                          a < b,          a <= b,        a < b || a > b, !none,
                          none || a == b, none || a > b, none || a >= b, none || a < b,
                          none || a <= b, a != b,        none,           true};
  uint64_t predicate = tfrt_bef_attribute_read_u64(frame->attributes[0]);
  if (predicate >= TFRT_ARRAY_SIZE(answers)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "no such comparison");
    return;
  }
  tfrt_kernel_frame_set_i1(frame, 0, answers[predicate]);
}

// --- Casts ---------------------------------------------------------------------------------------

static uint32_t async_width(const tfrt_kernel_frame_t* frame) {
  return tfrt_bef_attribute_read_u32(frame->attributes[0]);
}

// A kernel that makes |expression| of the integer a an integer, or a float.
#define TFRT_ASYNC_TO_INTEGER(name, expression)                           \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) {             \
    tfrt_async_integer_t a;                                               \
    if (!async_read_integer(frame, 0, &a)) return;                        \
    async_set_integer(frame, (uint64_t)(expression), async_width(frame)); \
  }
#define TFRT_ASYNC_TO_FLOAT(name, expression)                                              \
  static void tfrt_async_##name(tfrt_kernel_frame_t* frame) {                              \
    tfrt_async_integer_t a;                                                                \
    if (!async_read_integer(frame, 0, &a)) return;                                         \
    bool is_single = async_width(frame) == 32;                                             \
    async_set_float(frame, is_single ? (double)(float)(expression) : (double)(expression), \
                    is_single);                                                            \
  }

TFRT_ASYNC_TO_INTEGER(extsi, a.s)
TFRT_ASYNC_TO_INTEGER(extui, a.u)
TFRT_ASYNC_TO_INTEGER(trunci, a.u)
TFRT_ASYNC_TO_INTEGER(index_cast, a.s)
TFRT_ASYNC_TO_INTEGER(index_castui, a.u)
TFRT_ASYNC_TO_FLOAT(sitofp, a.s)
TFRT_ASYNC_TO_FLOAT(uitofp, a.u)

static void async_extf(tfrt_kernel_frame_t* frame) {
  tfrt_async_float_t a;
  if (!async_read_float(frame, 0, &a)) return;
  async_set_float(frame, a.value, async_width(frame) == 32);
}

static void async_float_to_integer(tfrt_kernel_frame_t* frame, bool is_signed) {
  tfrt_async_float_t a;
  if (!async_read_float(frame, 0, &a)) return;
  bool fits = is_signed ? a.value >= -0x1p63 && a.value < 0x1p63 : a.value > -1 && a.value < 0x1p64;
  if (!fits) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "%g is no such integer", a.value);
    return;
  }
  uint64_t bits = is_signed ? (uint64_t)(int64_t)a.value : (uint64_t)a.value;
  async_set_integer(frame, bits, async_width(frame));
}
static void async_fptosi(tfrt_kernel_frame_t* frame) { async_float_to_integer(frame, true); }
static void async_fptoui(tfrt_kernel_frame_t* frame) { async_float_to_integer(frame, false); }

static void async_bitcast(tfrt_kernel_frame_t* frame) {
  static const struct {
    tfrt_type_id_t from;
    tfrt_type_id_t to;
    size_t size;
  } pairs[] = {{TFRT_TYPE_I32, TFRT_TYPE_F32, 4},
               {TFRT_TYPE_F32, TFRT_TYPE_I32, 4},
               {TFRT_TYPE_I64, TFRT_TYPE_F64, 8},
               {TFRT_TYPE_F64, TFRT_TYPE_I64, 8}};
  tfrt_async_value_t* value = frame->arguments[0];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(pairs); ++i) {
    if (pairs[i].from != value->type_id) continue;
    tfrt_kernel_frame_set(
        frame, 0,
        tfrt_async_value_create_copy(pairs[i].to, tfrt_async_value_payload(value), pairs[i].size));
    return;
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "no bits to cast");
}

static void async_select(tfrt_kernel_frame_t* frame) {
  uint32_t index = tfrt_kernel_frame_i1(frame, 0) ? 1 : 2;
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[index]));
}

const tfrt_kernel_registration_t tfrt_async_scalar_kernels[] = {
    {"tfrt_async.addi", tfrt_async_addi},
    {"tfrt_async.subi", tfrt_async_subi},
    {"tfrt_async.muli", tfrt_async_muli},
    {"tfrt_async.divsi", tfrt_async_divsi},
    {"tfrt_async.divui", tfrt_async_divui},
    {"tfrt_async.remsi", tfrt_async_remsi},
    {"tfrt_async.remui", tfrt_async_remui},
    {"tfrt_async.ceildivsi", tfrt_async_ceildivsi},
    {"tfrt_async.floordivsi", tfrt_async_floordivsi},
    {"tfrt_async.ceildivui", tfrt_async_ceildivui},
    {"tfrt_async.andi", tfrt_async_andi},
    {"tfrt_async.ori", tfrt_async_ori},
    {"tfrt_async.xori", tfrt_async_xori},
    {"tfrt_async.shli", tfrt_async_shli},
    {"tfrt_async.shrsi", tfrt_async_shrsi},
    {"tfrt_async.shrui", tfrt_async_shrui},
    {"tfrt_async.maxsi", tfrt_async_maxsi},
    {"tfrt_async.minsi", tfrt_async_minsi},
    {"tfrt_async.maxui", tfrt_async_maxui},
    {"tfrt_async.minui", tfrt_async_minui},
    {"tfrt_async.addf", tfrt_async_addf},
    {"tfrt_async.subf", tfrt_async_subf},
    {"tfrt_async.mulf", tfrt_async_mulf},
    {"tfrt_async.divf", tfrt_async_divf},
    {"tfrt_async.remf", tfrt_async_remf},
    {"tfrt_async.maximumf", tfrt_async_maximumf},
    {"tfrt_async.minimumf", tfrt_async_minimumf},
    {"tfrt_async.maxnumf", tfrt_async_maxnumf},
    {"tfrt_async.minnumf", tfrt_async_minnumf},
    {"tfrt_async.powf", tfrt_async_powf},
    {"tfrt_async.atan2", tfrt_async_atan2},
    {"tfrt_async.copysign", tfrt_async_copysign},
    {"tfrt_async.negf", tfrt_async_negf},
    {"tfrt_async.sqrt", tfrt_async_sqrt},
    {"tfrt_async.rsqrt", tfrt_async_rsqrt},
    {"tfrt_async.exp", tfrt_async_exp},
    {"tfrt_async.exp2", tfrt_async_exp2},
    {"tfrt_async.expm1", tfrt_async_expm1},
    {"tfrt_async.log", tfrt_async_log},
    {"tfrt_async.log2", tfrt_async_log2},
    {"tfrt_async.log10", tfrt_async_log10},
    {"tfrt_async.log1p", tfrt_async_log1p},
    {"tfrt_async.sin", tfrt_async_sin},
    {"tfrt_async.cos", tfrt_async_cos},
    {"tfrt_async.tan", tfrt_async_tan},
    {"tfrt_async.tanh", tfrt_async_tanh},
    {"tfrt_async.sinh", tfrt_async_sinh},
    {"tfrt_async.cosh", tfrt_async_cosh},
    {"tfrt_async.atan", tfrt_async_atan},
    {"tfrt_async.absf", tfrt_async_absf},
    {"tfrt_async.floor", tfrt_async_floor},
    {"tfrt_async.ceil", tfrt_async_ceil},
    {"tfrt_async.erf", tfrt_async_erf},
    {"tfrt_async.absi", async_absi},
    {"tfrt_async.fma", async_fma},
    {"tfrt_async.select", async_select},
    {"tfrt_async.bitcast", async_bitcast},
    {"tfrt_async.extsi", tfrt_async_extsi},
    {"tfrt_async.extui", tfrt_async_extui},
    {"tfrt_async.trunci", tfrt_async_trunci},
    {"tfrt_async.fptosi", async_fptosi},
    {"tfrt_async.fptoui", async_fptoui},
    {"tfrt_async.index_cast", tfrt_async_index_cast},
    {"tfrt_async.index_castui", tfrt_async_index_castui},
    {"tfrt_async.sitofp", tfrt_async_sitofp},
    {"tfrt_async.uitofp", tfrt_async_uitofp},
    {"tfrt_async.extf", async_extf},
    {"tfrt_async.cmpi", async_cmpi},
    {"tfrt_async.cmpf", async_cmpf},
    {"tfrt_async.truncf", async_extf},
};
const size_t tfrt_async_scalar_kernel_count = TFRT_ARRAY_SIZE(tfrt_async_scalar_kernels);
