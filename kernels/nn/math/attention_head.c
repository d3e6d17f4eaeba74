// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/attention_head.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/nn/math/small_product.h"
#include "kernels/nn/math/wide_loops.h"

// Floats of a vector.
#define LANES 16

// Rows and vectors whose sums stay in registers.
#define ROWS 6
#define VECTORS 4

// Rows whose scores stay in the nearest cache, and packed keys beside them.
#define BLOCK (4 * ROWS)

// With so few queries, packing the keys takes as long as multiplying them.
#define FEW_ROWS 2

static bool is_packed(const tfrt_nn_head_t* head) { return head->rows > FEW_ROWS; }

int64_t tfrt_nn_head_stride(const tfrt_nn_head_t* head) {
  if (!head->is_wide) return head->columns;
  return (head->columns + LANES - 1) / LANES * LANES;
}

int64_t tfrt_nn_head_block(const tfrt_nn_head_t* head) {
  return head->is_wide && head->rows > BLOCK ? BLOCK : head->rows;
}

bool tfrt_nn_head_can_be_wide(const tfrt_nn_head_t* head) {
  return tfrt_nn_has_wide_vectors() && head->k.stride <= INT32_MAX / LANES;
}

// --- Copies -----------------------------------------------------------------------------
//
// Scratch memory of a head that is not wide: queries, keys, values, output, without gaps.

static void copy_dense(const tfrt_nn_vectors_t* vectors, int64_t count, int64_t size, float* out) {
  for (int64_t i = 0; i < count && size > 0; ++i) {
    memcpy(out + i * size, vectors->data + i * vectors->stride, (size_t)size * sizeof(float));
  }
}

static float* dense_keys(const tfrt_nn_head_t* head, float* scratch) {
  return scratch + head->rows * head->size;
}

static float* dense_values(const tfrt_nn_head_t* head, float* scratch) {
  return dense_keys(head, scratch) + head->columns * head->size;
}

static float* dense_output(const tfrt_nn_head_t* head, float* scratch) {
  return dense_values(head, scratch) + head->columns * head->value_size;
}

// --- The loops ----------------------------------------------------------------------------

#if defined(__x86_64__)
#define WIDE_INLINE TFRT_NN_WIDE_TARGET static inline __attribute__((always_inline))

// Sets |rows| rows of |c|, of |vectors| vectors whose last one has the lanes |last|, to |factor|
// times the products of a and b; |depth| is the number of rows of b.
WIDE_INLINE void multiply_tile(int rows, int vectors, __mmask16 last, int64_t depth, float factor,
                               const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                               float* c, int64_t c_stride) {
  __m512 sum[ROWS][VECTORS];
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < vectors; ++j) sum[r][j] = _mm512_setzero_ps();
  }
  for (int64_t l = 0; l < depth; ++l) {
    __m512 y[VECTORS];
    for (int j = 0; j < vectors; ++j) {
      const float* at = b + l * b_stride + j * LANES;
      y[j] = j + 1 < vectors ? _mm512_loadu_ps(at) : _mm512_maskz_loadu_ps(last, at);
    }
    for (int r = 0; r < rows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * a_stride + l]);
      for (int j = 0; j < vectors; ++j) sum[r][j] = _mm512_fmadd_ps(x, y[j], sum[r][j]);
    }
  }
  const __m512 scale = _mm512_set1_ps(factor);
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < vectors; ++j) {
      _mm512_mask_storeu_ps(c + r * c_stride + j * LANES, j + 1 < vectors ? 0xffff : last,
                            _mm512_mul_ps(sum[r][j], scale));
    }
  }
}

// Tiles of |rows| rows and all |columns|.
WIDE_INLINE void multiply_rows(int rows, int64_t columns, int64_t depth, float factor,
                               const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                               float* c, int64_t c_stride) {
  int64_t j = 0;
  for (; j + VECTORS * LANES <= columns; j += VECTORS * LANES) {
    multiply_tile(rows, VECTORS, 0xffff, depth, factor, a, a_stride, b + j, b_stride, c + j,
                  c_stride);
  }
  for (; j + 2 * LANES <= columns; j += 2 * LANES) {
    multiply_tile(rows, 2, 0xffff, depth, factor, a, a_stride, b + j, b_stride, c + j, c_stride);
  }
  for (; j < columns; j += LANES) {
    const int64_t rest = columns - j;
    const __mmask16 last = rest < LANES ? (__mmask16)((1u << rest) - 1) : 0xffff;
    multiply_tile(rows, 1, last, depth, factor, a, a_stride, b + j, b_stride, c + j, c_stride);
  }
}

// Sets |c|, of |rows| and |columns|, to |factor| times |a|, of |depth| columns, times |b|.
TFRT_NN_WIDE_TARGET static void multiply(int64_t rows, int64_t columns, int64_t depth, float factor,
                                         const float* a, int64_t a_stride, const float* b,
                                         int64_t b_stride, float* c, int64_t c_stride) {
  int64_t i = 0;
  for (; i + ROWS <= rows; i += ROWS) {
    multiply_rows(ROWS, columns, depth, factor, a + i * a_stride, a_stride, b, b_stride,
                  c + i * c_stride, c_stride);
  }
  for (; i + 2 <= rows; i += 2) {
    multiply_rows(2, columns, depth, factor, a + i * a_stride, a_stride, b, b_stride,
                  c + i * c_stride, c_stride);
  }
  for (; i < rows; ++i) {
    multiply_rows(1, columns, depth, factor, a + i * a_stride, a_stride, b, b_stride,
                  c + i * c_stride, c_stride);
  }
}

// Writes the keys to |out|, of |head->size| rows with a column for each key.
TFRT_NN_WIDE_TARGET static void pack_keys(const tfrt_nn_head_t* head, float* out) {
  const int64_t stride = tfrt_nn_head_stride(head);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i places = _mm512_mullo_epi32(lanes, _mm512_set1_epi32((int)head->k.stride));
  for (int64_t j = 0; j < head->columns; j += LANES) {
    const int64_t rest = head->columns - j;
    const __mmask16 there = rest < LANES ? (__mmask16)((1u << rest) - 1) : 0xffff;
    const float* keys = head->k.data + j * head->k.stride;
    for (int64_t l = 0; l < head->size; ++l) {
      const __m512 column =
          _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, places, keys + l, sizeof(float));
      _mm512_storeu_ps(out + l * stride + j, column);
    }
  }
}

// Sets |scores| to |scale| times the products of one query and |count| keys, at most 4.
WIDE_INLINE void multiply_keys(const float* query, const tfrt_nn_vectors_t* k, int64_t first,
                               int count, int64_t size, float scale, float* scores) {
  __m512 sum[4];
  for (int q = 0; q < count; ++q) sum[q] = _mm512_setzero_ps();
  for (int64_t l = 0; l < size; l += LANES) {
    const int64_t rest = size - l;
    const __mmask16 there = rest < LANES ? (__mmask16)((1u << rest) - 1) : 0xffff;
    const __m512 x = _mm512_maskz_loadu_ps(there, query + l);
    for (int q = 0; q < count; ++q) {
      const float* key = k->data + (first + q) * k->stride + l;
      sum[q] = _mm512_fmadd_ps(x, _mm512_maskz_loadu_ps(there, key), sum[q]);
    }
  }
  for (int q = 0; q < count; ++q) scores[first + q] = scale * _mm512_reduce_add_ps(sum[q]);
}

TFRT_NN_WIDE_TARGET static void multiply_unpacked(const tfrt_nn_head_t* head, const float* query,
                                                  float scale, float* scores) {
  int64_t j = 0;
  for (; j + 4 <= head->columns; j += 4) {
    multiply_keys(query, &head->k, j, 4, head->size, scale, scores);
  }
  for (; j < head->columns; ++j) {
    multiply_keys(query, &head->k, j, 1, head->size, scale, scores);
  }
}

static void find_scores(const tfrt_nn_head_t* head, const float* packed, int64_t first,
                        int64_t count, float scale, float* scores) {
  const float* q = head->q.data + first * head->q.stride;
  const int64_t stride = tfrt_nn_head_stride(head);
  if (is_packed(head)) {
    multiply(count, head->columns, head->size, scale, q, head->q.stride, packed, stride, scores,
             stride);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    multiply_unpacked(head, q + i * head->q.stride, scale, scores + i * stride);
  }
}

static void mix_values(const tfrt_nn_head_t* head, int64_t first, int64_t count,
                       const float* scores) {
  multiply(count, head->value_size, head->columns, 1.0f, scores, tfrt_nn_head_stride(head),
           head->v.data, head->v.stride, head->out + first * head->out_stride, head->out_stride);
}
#else
static void pack_keys(const tfrt_nn_head_t* head, float* out) {
  (void)head;
  (void)out;
}
static void find_scores(const tfrt_nn_head_t* head, const float* packed, int64_t first,
                        int64_t count, float scale, float* scores) {
  (void)head;
  (void)packed;
  (void)first;
  (void)count;
  (void)scale;
  (void)scores;
}
static void mix_values(const tfrt_nn_head_t* head, int64_t first, int64_t count,
                       const float* scores) {
  (void)head;
  (void)first;
  (void)count;
  (void)scores;
}
#endif

// --- Both ---------------------------------------------------------------------------------

int64_t tfrt_nn_head_scratch(const tfrt_nn_head_t* head) {
  if (head->is_wide) return is_packed(head) ? head->size * tfrt_nn_head_stride(head) : 0;
  return (head->rows + head->columns) * (head->size + head->value_size);
}

void tfrt_nn_head_pack(const tfrt_nn_head_t* head, float* scratch) {
  if (head->is_wide) {
    if (is_packed(head)) pack_keys(head, scratch);
    return;
  }
  copy_dense(&head->q, head->rows, head->size, scratch);
  copy_dense(&head->k, head->columns, head->size, dense_keys(head, scratch));
  copy_dense(&head->v, head->columns, head->value_size, dense_values(head, scratch));
}

tfrt_status_t tfrt_nn_head_scores(const tfrt_nn_head_t* head, float* scratch, int64_t first,
                                  int64_t count, float scale, float* scores) {
  if (head->is_wide) {
    find_scores(head, scratch, first, count, scale, scores);
    return NULL;
  }
  if (head->size == 0) {
    memset(scores, 0, (size_t)(count * head->columns) * sizeof(float));
    return NULL;
  }
  const tfrt_nn_product_t product = {
      .m = count, .n = head->columns, .k = head->size, .b_is_transposed = true};
  return tfrt_nn_product_f32(&product, scale, scratch + first * head->size,
                             dense_keys(head, scratch), 0.0f, scores);
}

tfrt_status_t tfrt_nn_head_values(const tfrt_nn_head_t* head, float* scratch, int64_t first,
                                  int64_t count, const float* scores) {
  if (head->is_wide) {
    mix_values(head, first, count, scores);
    return NULL;
  }
  if (head->value_size == 0) return NULL;
  const tfrt_nn_product_t product = {.m = count, .n = head->value_size, .k = head->columns};
  float* rows = dense_output(head, scratch) + first * head->value_size;
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_product_f32(&product, 1.0f, scores, dense_values(head, scratch), 0.0f, rows));
  for (int64_t i = 0; i < count; ++i) {
    memcpy(head->out + (first + i) * head->out_stride, rows + i * head->value_size,
           (size_t)head->value_size * sizeof(float));
  }
  return NULL;
}
