// SPDX-License-Identifier: Apache-2.0
//
// Products of f32 matrices. The maths library generates code for each kind of product when it is
// first asked for one, which takes longer than thousands of small products. So loops of our own
// compute those that are small, and those of few rows, which only read the matrix once; for the
// rest the library is asked.
//
//   c [m, n] = alpha * a [m, k] * b [k, n] + beta * c        either operand may lie transposed
//
// Thread rule: thread-safe. Failure rule: that of onednn.h.
#ifndef TFRT_KERNELS_NN_MATH_SMALL_PRODUCT_H_
#define TFRT_KERNELS_NN_MATH_SMALL_PRODUCT_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/status.h"

// The lengths of a product.
typedef struct tfrt_nn_product_s {
  int64_t m;
  int64_t n;
  int64_t k;
  bool a_is_transposed;  // it lies as [k, m]
  bool b_is_transposed;  // it lies as [n, k]
} tfrt_nn_product_t;

// Whether |product| is one for tfrt_nn_small_product_add(). Thread-safe.
bool tfrt_nn_product_is_small(const tfrt_nn_product_t* product);

// Adds |a| times |b| to |c|. Thread-safe.
void tfrt_nn_small_product_add(const tfrt_nn_product_t* product, const float* a, const float* b,
                               float* c);

// Computes |c|, by the one way or the other; |beta| is 0 or 1, and lengths are at least 1.
// Thread-safe.
tfrt_status_t tfrt_nn_product_f32(const tfrt_nn_product_t* product, float alpha, const float* a,
                                  const float* b, float beta, float* c) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_SMALL_PRODUCT_H_
