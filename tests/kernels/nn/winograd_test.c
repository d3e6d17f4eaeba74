// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/winograd.h"

#include <math.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "kernels/nn/math/wide_loops.h"
#include "tests/support/test_main.h"

#define SLOPE 0.25f

typedef struct picture_s {
  int64_t batch, rows, columns, channels, filters, window_rows, window_columns;
  int64_t padding[4];  // in front of the rows and columns, and behind them
  bool has_bias, adds;
  tfrt_onednn_activation_t activation;  // with SLOPE, or from SLOPE to 1
} picture_t;

static int64_t target_rows(const picture_t* p) {
  return p->rows + p->padding[0] + p->padding[2] - p->window_rows + 1;
}

static int64_t target_columns(const picture_t* p) {
  return p->columns + p->padding[1] + p->padding[3] - p->window_columns + 1;
}

static tfrt_onednn_convolution_spec_t make_spec(const picture_t* p) {
  tfrt_onednn_convolution_spec_t spec;
  memset(&spec, 0, sizeof(spec));
  spec.spatial = 2;
  spec.batch = p->batch;
  spec.groups = 1;
  spec.source_channels = p->channels;
  spec.target_channels = p->filters;
  spec.source[0] = p->rows;
  spec.source[1] = p->columns;
  spec.window[0] = p->window_rows;
  spec.window[1] = p->window_columns;
  spec.target[0] = target_rows(p);
  spec.target[1] = target_columns(p);
  for (int i = 0; i < 2; ++i) {
    spec.strides[i] = spec.dilations[i] = 1;
    spec.before[i] = p->padding[i];
    spec.after[i] = p->padding[2 + i];
  }
  spec.has_bias = p->has_bias;
  spec.channels_last = true;
  spec.epilogue.adds = p->adds;
  spec.epilogue.activation = p->activation;
  spec.epilogue.alpha = SLOPE;
  spec.epilogue.beta = 1.0f;
  return spec;
}

static float* make_numbers(int64_t count, uint32_t seed) {
  float* numbers = tfrt_allocator_allocate(tfrt_allocator_system(), (size_t)count * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (float)(int32_t)seed / 2147483648.0f;
  }
  return numbers;
}

static void free_numbers(float* numbers, int64_t count) {
  tfrt_allocator_free(tfrt_allocator_system(), numbers, (size_t)count * sizeof(float));
}

// The sum for the result at |row| and |column| of picture |n|.
static double sum_of(const picture_t* p, const float* x, const float* w, int64_t n, int64_t row,
                     int64_t column, int64_t filter) {
  double sum = 0;
  for (int64_t i = 0; i < p->window_rows; ++i) {
    for (int64_t j = 0; j < p->window_columns; ++j) {
      int64_t r = row - p->padding[0] + i, q = column - p->padding[1] + j;
      if (r < 0 || r >= p->rows || q < 0 || q >= p->columns) continue;
      const float* from = x + ((n * p->rows + r) * p->columns + q) * p->channels;
      for (int64_t c = 0; c < p->channels; ++c) {
        int64_t place = (filter * p->channels + c) * p->window_rows + i;
        sum += (double)from[c] * (double)w[place * p->window_columns + j];
      }
    }
  }
  return sum;
}

static double apply(tfrt_onednn_activation_t activation, double x) {
  if (activation == TFRT_ONEDNN_ACTIVATION_RELU) return x < 0 ? (double)SLOPE * x : x;
  if (activation == TFRT_ONEDNN_ACTIVATION_CLIP) return fmin(fmax(x, (double)SLOPE), 1);
  return x;
}

// A result's rounding depends on all elements of its tile, not on its own sum alone.
static void compare(const picture_t* p, const float* x, const float* w, const float* bias,
                    const float* before, const float* y) {
  const double allowed = 5e-7 * (double)(p->channels * p->window_rows * p->window_columns);
  int64_t i = 0;
  for (int64_t n = 0; n < p->batch; ++n) {
    for (int64_t row = 0; row < target_rows(p); ++row) {
      for (int64_t column = 0; column < target_columns(p); ++column) {
        for (int64_t filter = 0; filter < p->filters; ++filter, ++i) {
          double sum = sum_of(p, x, w, n, row, column, filter);
          if (p->has_bias) sum += (double)bias[filter];
          if (p->adds) sum += (double)before[i];
          sum = apply(p->activation, sum);
          ck_assert_double_le(fabs(sum - (double)y[i]), allowed);
        }
      }
    }
  }
}

// Compares with sums of f64.
static void check(const picture_t* p) {
  const tfrt_onednn_convolution_spec_t spec = make_spec(p);
  const tfrt_allocator_t system = tfrt_allocator_system();
  const int64_t x_count = p->batch * p->rows * p->columns * p->channels;
  const int64_t w_count = p->filters * p->channels * p->window_rows * p->window_columns;
  const int64_t y_count = p->batch * target_rows(p) * target_columns(p) * p->filters;
  float* x = make_numbers(x_count, 1);
  float* w = make_numbers(w_count, 2);
  float* bias = make_numbers(p->filters, 3);
  float* y = make_numbers(y_count, 4);
  float* before = make_numbers(y_count, 4);
  tfrt_nn_winograd_t* winograd;
  bool is_done = false;
  ck_assert_ptr_null(tfrt_nn_winograd_create(&spec, w, system, &winograd));
  ck_assert_int_eq(winograd != NULL, tfrt_nn_has_wide_vectors());
  if (winograd) {
    ck_assert_ptr_null(
        tfrt_nn_winograd_run(winograd, x, p->has_bias ? bias : NULL, y, system, &is_done));
    ck_assert(is_done);
    compare(p, x, w, bias, before, y);
  }
  tfrt_nn_winograd_free(winograd);
  free_numbers(x, x_count);
  free_numbers(w, w_count);
  free_numbers(bias, p->filters);
  free_numbers(y, y_count);
  free_numbers(before, y_count);
}

// Around the numbers of results, tiles, blocks and filters that the loops take at once; padding of
// several lengths.
START_TEST(all_sizes_are_right) {
  static const picture_t pictures[] = {
      // One row.
      {1, 1, 400, 32, 64, 1, 3, {0, 0, 0, 0}, false, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {1, 1, 330, 32, 112, 1, 4, {0, 1, 0, 0}, false, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {2, 1, 131, 48, 64, 1, 5, {0, 2, 0, 2}, true, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {3, 1, 90, 32, 96, 1, 5, {0, 0, 0, 6}, false, true, TFRT_ONEDNN_ACTIVATION_NONE},
      {1, 1, 400, 32, 128, 1, 5, {0, 7, 0, 0}, true, true, TFRT_ONEDNN_ACTIVATION_RELU},
      // Several.
      {1, 28, 28, 32, 64, 3, 3, {1, 1, 1, 1}, true, true, TFRT_ONEDNN_ACTIVATION_RELU},
      {2, 17, 28, 48, 64, 3, 3, {0, 0, 0, 0}, false, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {1, 18, 20, 32, 96, 2, 3, {2, 1, 1, 3}, true, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {2, 9, 17, 32, 64, 5, 5, {4, 4, 4, 4}, false, true, TFRT_ONEDNN_ACTIVATION_NONE},
      {3, 30, 6, 64, 64, 1, 3, {0, 1, 0, 1}, true, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {1, 32, 12, 32, 64, 1, 3, {1, 1, 2, 1}, true, false, TFRT_ONEDNN_ACTIVATION_NONE},
      {1, 40, 24, 32, 64, 4, 4, {1, 1, 2, 2}, true, true, TFRT_ONEDNN_ACTIVATION_CLIP},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(pictures); ++i) check(&pictures[i]);
}
END_TEST

// Whether there is one for |spec| and |weights|.
static bool exists(const tfrt_onednn_convolution_spec_t* spec, const float* weights) {
  tfrt_nn_winograd_t* winograd;
  ck_assert_ptr_null(tfrt_nn_winograd_create(spec, weights, tfrt_allocator_system(), &winograd));
  bool is_there = winograd != NULL;
  tfrt_nn_winograd_free(winograd);
  return is_there;
}

START_TEST(others_are_left_to_the_library) {
  const picture_t picture = {
      1, 28, 28, 64, 64, 3, 3, {1, 1, 1, 1}, false, false, TFRT_ONEDNN_ACTIVATION_NONE};
  const int64_t count = picture.filters * picture.channels * 36;
  float* w = make_numbers(count, 2);
  const tfrt_onednn_convolution_spec_t good = make_spec(&picture);
  ck_assert_int_eq(exists(&good, w), tfrt_nn_has_wide_vectors());
  tfrt_onednn_convolution_spec_t spec = good;
  spec.strides[1] = 2;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.dilations[0] = 2;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.window[1] = 6;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.window[0] = 6;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.window[1] = 1;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.spatial = 3;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.channels_last = false;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.source_channels = 40;
  ck_assert(!exists(&spec, w));
  spec = good;
  spec.groups = 2;
  ck_assert(!exists(&spec, w));
  // More than a half of the results of the second tile are thrown away.
  spec = good;
  spec.target[0] = 100;
  spec.target[1] = 7;
  ck_assert(!exists(&spec, w));
  // So few tiles that reading the weights takes most of the time.
  spec = good;
  spec.target[0] = 12;
  ck_assert(!exists(&spec, w));
  // Half of a block of filters are none.
  spec = good;
  spec.target_channels = 32;
  ck_assert(!exists(&spec, w));
  // The rows around a block have more tiles than the block.
  spec = good;
  spec.source[1] = spec.target[1] = 1200;
  ck_assert(!exists(&spec, w));
  w[7] = INFINITY;
  ck_assert(!exists(&good, w));
  free_numbers(w, count);
}
END_TEST

// The target stays as it was, so that the caller can begin anew.
START_TEST(elements_that_are_not_finite_are_left_to_the_library) {
  static const float bad[] = {INFINITY, -INFINITY, NAN, 1e31f};
  const picture_t picture = {
      1, 28, 28, 64, 64, 3, 3, {1, 1, 1, 1}, false, true, TFRT_ONEDNN_ACTIVATION_NONE};
  const int64_t w_count = 64 * 64 * 9, count = 28 * 28 * 64;
  const tfrt_onednn_convolution_spec_t spec = make_spec(&picture);
  float* w = make_numbers(w_count, 2);
  float* x = make_numbers(count, 1);
  float* y = make_numbers(count, 3);
  float* before = make_numbers(count, 3);
  tfrt_nn_winograd_t* winograd;
  ck_assert_ptr_null(tfrt_nn_winograd_create(&spec, w, tfrt_allocator_system(), &winograd));
  for (size_t i = 0; winograd && i < TFRT_ARRAY_SIZE(bad); ++i) {
    bool is_done = true;
    float good = x[count - 1];
    x[count - 1] = bad[i];
    ck_assert_ptr_null(
        tfrt_nn_winograd_run(winograd, x, NULL, y, tfrt_allocator_system(), &is_done));
    ck_assert(!is_done);
    ck_assert_mem_eq(y, before, (size_t)count * sizeof(float));
    x[count - 1] = good;
  }
  tfrt_nn_winograd_free(winograd);
  free_numbers(w, w_count);
  free_numbers(x, count);
  free_numbers(y, count);
  free_numbers(before, count);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("winograd");
  TCase* tests = tcase_create("convolutions");
  tcase_add_test(tests, all_sizes_are_right);
  tcase_add_test(tests, others_are_left_to_the_library);
  tcase_add_test(tests, elements_that_are_not_finite_are_left_to_the_library);
  suite_add_tcase(suite, tests);
  return suite;
}
