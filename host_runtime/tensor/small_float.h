// SPDX-License-Identifier: Apache-2.0
//
// Floats of 16 bits, which C has no types for: what their bits mean, and the bits that are
// nearest to a number. Computations widen them, compute, and narrow the result.
//
//   f16    | sign | exponent 5 | fraction 10 |      bf16   | sign | exponent 8 | fraction 7 |
//
// Thread rule: thread-safe. Failure rule: none fails; what is too large becomes infinite.
#ifndef TFRT_HOST_RUNTIME_TENSOR_SMALL_FLOAT_H_
#define TFRT_HOST_RUNTIME_TENSOR_SMALL_FLOAT_H_

#include <stdint.h>

// The number that |bits| stand for; exact. Thread-safe.
double tfrt_f16_to_double(uint16_t bits);
double tfrt_bf16_to_double(uint16_t bits);

// The bits nearest to |value|, ties to even; subnormal numbers and infinities included.
// Any NaN gives a quiet one. Thread-safe.
uint16_t tfrt_f16_from_double(double value);
uint16_t tfrt_bf16_from_double(double value);

#endif  // TFRT_HOST_RUNTIME_TENSOR_SMALL_FLOAT_H_
