// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/attention_head.h"

#include <math.h>

#include "host_runtime/base/allocator.h"
#include "tests/support/test_main.h"

// Floats between neighbours of queries, keys, values and rows of the output.
enum { GAP = 3 };

// A float that no function may write to.
#define UNTOUCHED 1e30f

static float* make_floats(int64_t count, uint32_t seed) {
  float* numbers =
      tfrt_allocator_allocate(tfrt_allocator_system(), (size_t)(count + 1) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = seed ? (float)(int32_t)seed / 2147483648.0f : 0;
  }
  return numbers;
}

static void free_floats(float* numbers, int64_t count) {
  tfrt_allocator_free(tfrt_allocator_system(), numbers, (size_t)(count + 1) * sizeof(float));
}

static double product(const float* a, const float* b, int64_t b_step, int64_t count,
                      double* out_size) {
  double sum = 0;
  *out_size = 1;
  for (int64_t i = 0; i < count; ++i) {
    const double term = (double)a[i] * (double)b[i * b_step];
    sum += term;
    *out_size += fabs(term);
  }
  return sum;
}

// Compares |count| rows of scores, and of the output, with sums of f64.
static void check_rows(const tfrt_nn_head_t* head, float scale, int64_t first, int64_t count,
                       const float* scores) {
  const int64_t stride = tfrt_nn_head_stride(head);
  double size;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < head->columns; ++j) {
      const double wanted = product(head->q.data + (first + i) * head->q.stride,
                                    head->k.data + j * head->k.stride, 1, head->size, &size);
      ck_assert_double_le(fabs(wanted * scale - (double)scores[i * stride + j]), 1e-6 * size);
    }
    const float* row = head->out + (first + i) * head->out_stride;
    for (int64_t e = 0; e < head->value_size; ++e) {
      const double wanted =
          product(scores + i * stride, head->v.data + e, head->v.stride, head->columns, &size);
      ck_assert_double_le(fabs(wanted - (double)row[e]), 1e-6 * size);
    }
    for (int64_t e = head->value_size; e < head->out_stride; ++e) {
      ck_assert_float_eq(row[e], UNTOUCHED);
    }
  }
}

static void check(int64_t rows, int64_t columns, int64_t size, int64_t value_size, bool is_wide) {
  const int64_t stride = size + GAP, value_stride = value_size + GAP;
  float* q = make_floats(rows * stride, 1);
  float* k = make_floats(columns * stride, 2);
  float* v = make_floats(columns * value_stride, 3);
  float* out = make_floats(rows * value_stride, 0);
  for (int64_t i = 0; i < rows * value_stride; ++i) out[i] = UNTOUCHED;
  tfrt_nn_head_t head = {.rows = rows,
                         .columns = columns,
                         .size = size,
                         .value_size = value_size,
                         .q = {q, stride},
                         .k = {k, stride},
                         .v = {v, value_stride},
                         .out = out,
                         .out_stride = value_stride};
  head.is_wide = is_wide && tfrt_nn_head_can_be_wide(&head);
  const int64_t block = tfrt_nn_head_block(&head);
  const int64_t score_count = block * tfrt_nn_head_stride(&head);
  const int64_t scratch_size = tfrt_nn_head_scratch(&head);
  float* scratch = make_floats(scratch_size, 4);
  float* scores = make_floats(score_count, 5);
  tfrt_nn_head_pack(&head, scratch);
  for (int64_t first = 0; first < rows; first += block) {
    const int64_t count = rows - first < block ? rows - first : block;
    ck_assert_ptr_null(tfrt_nn_head_scores(&head, scratch, first, count, 0.25f, scores));
    ck_assert_ptr_null(tfrt_nn_head_values(&head, scratch, first, count, scores));
    check_rows(&head, 0.25f, first, count, scores);
  }
  free_floats(scratch, scratch_size);
  free_floats(scores, score_count);
  free_floats(q, rows * stride);
  free_floats(k, columns * stride);
  free_floats(v, columns * value_stride);
  free_floats(out, rows * value_stride);
}

// Around the rows, vectors and blocks that the loops take at once.
START_TEST(products_of_all_sizes_are_right) {
  static const int64_t rows[] = {1, 2, 3, 6, 9, 25, 50}, columns[] = {1, 4, 6, 16, 33, 130},
                       sizes[] = {0, 1, 16, 33}, value_sizes[] = {0, 1, 16, 40, 70};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(rows); ++i) {
    for (size_t j = 0; j < TFRT_ARRAY_SIZE(columns); ++j) {
      for (size_t k = 0; k < TFRT_ARRAY_SIZE(sizes); ++k) {
        for (size_t l = 0; l < TFRT_ARRAY_SIZE(value_sizes); ++l) {
          check(rows[i], columns[j], sizes[k], value_sizes[l], false);
          check(rows[i], columns[j], sizes[k], value_sizes[l], true);
        }
      }
    }
  }
}
END_TEST

START_TEST(keys_too_far_apart_are_not_wide) {
  const tfrt_nn_head_t head = {.rows = 8, .columns = 8, .k = {NULL, INT64_C(1) << 31}};
  ck_assert(!tfrt_nn_head_can_be_wide(&head));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("attention head");
  TCase* tests = tcase_create("products");
  tcase_add_test(tests, products_of_all_sizes_are_right);
  tcase_add_test(tests, keys_too_far_apart_are_not_wide);
  suite_add_tcase(suite, tests);
  return suite;
}
