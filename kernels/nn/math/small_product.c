// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/small_product.h"

#include <string.h>

#include "kernels/nn/math/wide_loops.h"
#include "kernels/tensor/onednn/onednn.h"

// With so few rows a product takes as long as reading the matrix does.
#define FEW_ROWS 4

// Multiplications in about the time that a call of the library takes.
#define FEW_MULTIPLICATIONS 32768

// Columns whose sums stay in the nearest cache while the rows of the matrix go by.
#define BLOCK 8192

// Sums that are added up side by side.
#define LANES 8

typedef float lanes_t __attribute__((vector_size(LANES * sizeof(float))));

bool tfrt_nn_product_is_small(const tfrt_nn_product_t* product) {
  // Rows of |a| are read from end to end.
  if (product->a_is_transposed && product->m > 1) return false;
  if (product->m <= FEW_ROWS) return true;
  // None of the factors makes the product overflow.
  return product->m <= FEW_MULTIPLICATIONS && product->n <= FEW_MULTIPLICATIONS &&
         product->k <= FEW_MULTIPLICATIONS &&
         product->m * product->n * product->k <= FEW_MULTIPLICATIONS;
}

// --- b as [k, n] ----------------------------------------------------------------------

// Adds eight rows of b, each |stride| elements behind the one before, times |a[0]| to |a[7]| to the
// |count| sums at |c|.
TFRT_ALWAYS_INLINE void add_eight_rows(const float* a, const float* restrict b, int64_t stride,
                                       float* restrict c, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    float sum = c[j] + a[0] * b[j];
    sum += a[1] * b[j + stride];
    sum += a[2] * b[j + 2 * stride];
    sum += a[3] * b[j + 3 * stride];
    sum += a[4] * b[j + 4 * stride];
    sum += a[5] * b[j + 5 * stride];
    sum += a[6] * b[j + 6 * stride];
    c[j] = sum + a[7] * b[j + 7 * stride];
  }
}

TFRT_ALWAYS_INLINE void add_row(float a, const float* restrict b, float* restrict c,
                                int64_t count) {
  for (int64_t j = 0; j < count; ++j) c[j] += a * b[j];
}

TFRT_ALWAYS_INLINE void add_rows_loop(const tfrt_nn_product_t* p, const float* a, const float* b,
                                      float* c) {
  for (int64_t begin = 0; begin < p->n; begin += BLOCK) {
    int64_t count = p->n - begin < BLOCK ? p->n - begin : BLOCK;
    int64_t l = 0;
    for (; l + 8 <= p->k; l += 8) {
      for (int64_t i = 0; i < p->m; ++i) {
        add_eight_rows(a + i * p->k + l, b + l * p->n + begin, p->n, c + i * p->n + begin, count);
      }
    }
    for (; l < p->k; ++l) {
      for (int64_t i = 0; i < p->m; ++i) {
        add_row(a[i * p->k + l], b + l * p->n + begin, c + i * p->n + begin, count);
      }
    }
  }
}

TFRT_NN_WIDE_FUNCTION(add_rows,
                      (const tfrt_nn_product_t* p, const float* a, const float* b, float* c),
                      (p, a, b, c))

// --- b as [n, k] ----------------------------------------------------------------------

// Adds the product of the |k| elements at |a| and of each of the |count| rows of b, at most 4, to
// its sum at |c|.
TFRT_ALWAYS_INLINE void add_products(const float* a, const float* b, int64_t k, int count,
                                     float* c) {
  lanes_t sums[4] = {{0}};
  int64_t l = 0;
  for (; l + LANES <= k; l += LANES) {
    lanes_t x, y;
    memcpy(&x, a + l, sizeof(x));
    for (int q = 0; q < count; ++q) {
      memcpy(&y, b + q * k + l, sizeof(y));
      sums[q] += x * y;
    }
  }
  for (int q = 0; q < count; ++q) {
    float sum = 0;
    for (int lane = 0; lane < LANES; ++lane) sum += sums[q][lane];
    for (int64_t rest = l; rest < k; ++rest) sum += a[rest] * b[q * k + rest];
    c[q] += sum;
  }
}

TFRT_ALWAYS_INLINE void add_columns_loop(const tfrt_nn_product_t* p, const float* a, const float* b,
                                         float* c) {
  int64_t j = 0;
  for (; j + 4 <= p->n; j += 4) {
    for (int64_t i = 0; i < p->m; ++i) {
      add_products(a + i * p->k, b + j * p->k, p->k, 4, c + i * p->n + j);
    }
  }
  for (; j < p->n; ++j) {
    for (int64_t i = 0; i < p->m; ++i) {
      add_products(a + i * p->k, b + j * p->k, p->k, 1, c + i * p->n + j);
    }
  }
}

TFRT_NN_WIDE_FUNCTION(add_columns,
                      (const tfrt_nn_product_t* p, const float* a, const float* b, float* c),
                      (p, a, b, c))

// --- Both -----------------------------------------------------------------------------

void tfrt_nn_small_product_add(const tfrt_nn_product_t* product, const float* a, const float* b,
                               float* c) {
  if (product->b_is_transposed) {
    add_columns(product, a, b, c);
  } else {
    add_rows(product, a, b, c);
  }
}

tfrt_status_t tfrt_nn_product_f32(const tfrt_nn_product_t* product, float alpha, const float* a,
                                  const float* b, float beta, float* c) {
  if ((alpha != 1.0f && beta != 0.0f) || !tfrt_nn_product_is_small(product)) {
    return tfrt_onednn_gemm_ex(product->a_is_transposed, product->b_is_transposed, product->m,
                               product->n, product->k, alpha, a, b, beta, c);
  }
  const int64_t count = product->m * product->n;
  if (beta == 0.0f) memset(c, 0, (size_t)count * sizeof(float));
  tfrt_nn_small_product_add(product, a, b, c);
  for (int64_t i = 0; i < count && alpha != 1.0f; ++i) c[i] *= alpha;
  return NULL;
}
