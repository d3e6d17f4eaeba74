// SPDX-License-Identifier: Apache-2.0
//
// Elements of memory that several tasks change: each change is one compare-and-swap of the
// element's bits, again until no other task came between.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/async/kernel_parts.h"

// MLIR's numbers.
enum {
  TFRT_ASYNC_ADDF = 0,
  TFRT_ASYNC_ADDI,
  TFRT_ASYNC_ANDI,
  TFRT_ASYNC_ASSIGN,
  TFRT_ASYNC_MAXIMUMF,
  TFRT_ASYNC_MAXNUMF,
  TFRT_ASYNC_MAXS,
  TFRT_ASYNC_MAXU,
  TFRT_ASYNC_MINIMUMF,
  TFRT_ASYNC_MINNUMF,
  TFRT_ASYNC_MINS,
  TFRT_ASYNC_MINU,
  TFRT_ASYNC_MULF,
  TFRT_ASYNC_MULI,
  TFRT_ASYNC_ORI,
  TFRT_ASYNC_XORI,
};

// The greater one of |a| and |b|, where +0 is greater than -0; NaN if one of them is.
static double async_maximum(double a, double b) {
  if (isnan(a) || isnan(b)) return a + b;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}

// Sets |*out| to |a| changed by |b|; false: floats aren't changed so.
static bool async_change_float(uint64_t kind, double a, double b, double* out) {
  switch (kind) {
    case TFRT_ASYNC_ADDF:
      *out = a + b;
      return true;
    case TFRT_ASYNC_MULF:
      *out = a * b;
      return true;
    case TFRT_ASYNC_ASSIGN:
      *out = b;
      return true;
    case TFRT_ASYNC_MAXIMUMF:
      *out = async_maximum(a, b);
      return true;
    case TFRT_ASYNC_MINIMUMF:
      *out = -async_maximum(-a, -b);
      return true;
    case TFRT_ASYNC_MAXNUMF:
      *out = fmax(a, b);
      return true;
    case TFRT_ASYNC_MINNUMF:
      *out = fmin(a, b);
      return true;
    default:
      return false;
  }
}

// The same for integers of |width| bits, which |a| and |b| have at their lower end.
static bool async_change_integer(uint64_t kind, unsigned width, uint64_t a, uint64_t b,
                                 uint64_t* out) {
  // The sign at the upper end: the order is that of the integers.
  int64_t signed_a = (int64_t)(a << (64 - width));
  int64_t signed_b = (int64_t)(b << (64 - width));
  switch (kind) {
    case TFRT_ASYNC_ADDI:
      *out = a + b;
      return true;
    case TFRT_ASYNC_MULI:
      *out = a * b;
      return true;
    case TFRT_ASYNC_ANDI:
      *out = a & b;
      return true;
    case TFRT_ASYNC_ORI:
      *out = a | b;
      return true;
    case TFRT_ASYNC_XORI:
      *out = a ^ b;
      return true;
    case TFRT_ASYNC_ASSIGN:
      *out = b;
      return true;
    case TFRT_ASYNC_MAXS:
      *out = signed_a > signed_b ? a : b;
      return true;
    case TFRT_ASYNC_MINS:
      *out = signed_a < signed_b ? a : b;
      return true;
    case TFRT_ASYNC_MAXU:
      *out = a > b ? a : b;
      return true;
    case TFRT_ASYNC_MINU:
      *out = a < b ? a : b;
      return true;
    default:
      return false;
  }
}

// Sets |*out| to the bits of an element of |type|, |a| changed by |b|.
static bool async_change_bits(tfrt_type_id_t type, uint64_t kind, uint64_t a, uint64_t b,
                              uint64_t* out) {
  double result = 0;
  if (type == TFRT_TYPE_F64) {
    double left;
    double right;
    memcpy(&left, &a, sizeof(left));
    memcpy(&right, &b, sizeof(right));
    if (!async_change_float(kind, left, right, &result)) return false;
    memcpy(out, &result, sizeof(result));
    return true;
  }
  if (type == TFRT_TYPE_F32) {
    float left;
    float right;
    memcpy(&left, &a, sizeof(left));
    memcpy(&right, &b, sizeof(right));
    // One operation in f64, rounded to f32, is that operation in f32.
    if (!async_change_float(kind, (double)left, (double)right, &result)) return false;
    float narrow = (float)result;
    *out = 0;
    memcpy(out, &narrow, sizeof(narrow));
    return true;
  }
  unsigned width = type == TFRT_TYPE_I64   ? 64
                   : type == TFRT_TYPE_I32 ? 32
                   : type == TFRT_TYPE_I16 ? 16
                                           : 8;
  return async_change_integer(kind, width, a, b, out);
}

// Changes the element of |size| bytes at |address|; the function for one size of elements.
#define TFRT_ASYNC_CHANGE(bits)                                                                   \
  static bool tfrt_async_change_##bits(void* address, tfrt_type_id_t type, uint64_t kind,         \
                                       uint64_t operand, uint64_t* out_old) {                     \
    _Atomic(uint##bits##_t)* element = address;                                                   \
    /* Relaxed: chains and tokens order what depends on the element. */                           \
    uint##bits##_t old = atomic_load_explicit(element, memory_order_relaxed);                     \
    uint64_t changed = 0;                                                                         \
    do {                                                                                          \
      if (!async_change_bits(type, kind, old, operand, &changed)) return false;                   \
    } while (!atomic_compare_exchange_weak_explicit(element, &old, (uint##bits##_t)changed,       \
                                                    memory_order_relaxed, memory_order_relaxed)); \
    *out_old = old;                                                                               \
    return true;                                                                                  \
  }

TFRT_ASYNC_CHANGE(8)
TFRT_ASYNC_CHANGE(16)
TFRT_ASYNC_CHANGE(32)
TFRT_ASYNC_CHANGE(64)

// |bytes| as a number of as many bits. The machine's order is little-endian.
static uint64_t async_bits_of(const void* bytes, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, size);
  return bits;
}

bool tfrt_async_atomic_change(void* address, tfrt_type_id_t type, uint64_t kind,
                              const void* operand, void* old) {
  uint64_t before = 0;
  bool ok = false;
  size_t size = 0;
  if (type == TFRT_TYPE_I64 || type == TFRT_TYPE_F64) {
    size = 8;
    ok = tfrt_async_change_64(address, type, kind, async_bits_of(operand, size), &before);
  } else if (type == TFRT_TYPE_I32 || type == TFRT_TYPE_F32) {
    size = 4;
    ok = tfrt_async_change_32(address, type, kind, async_bits_of(operand, size), &before);
  } else if (type == TFRT_TYPE_I16) {
    size = 2;
    ok = tfrt_async_change_16(address, type, kind, async_bits_of(operand, size), &before);
  } else if (type == TFRT_TYPE_I8) {
    size = 1;
    ok = tfrt_async_change_8(address, type, kind, async_bits_of(operand, size), &before);
  }
  if (ok) memcpy(old, &before, size);
  return ok;
}
