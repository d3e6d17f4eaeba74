// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/nan_keeping.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

#define MOST 4096

// Whether the window of one place has a NaN, by the definition.
static bool is_nan_place(const tfrt_pool_places_t* places, const float* source, int64_t image,
                         int64_t channel, int64_t row, int64_t column) {
  for (int64_t i = 0; i < places->window[0]; ++i) {
    for (int64_t j = 0; j < places->window[1]; ++j) {
      int64_t r = row * places->strides[0] + i - places->padding[0];
      int64_t c = column * places->strides[1] + j - places->padding[1];
      if (r < 0 || r >= places->source[0] || c < 0 || c >= places->source[1]) continue;
      int64_t pixel = r * places->source[1] + c;
      int64_t pixels = places->source[0] * places->source[1];
      int64_t at = places->is_channels_last ? (image * pixels + pixel) * places->channels + channel
                                            : (image * places->channels + channel) * pixels + pixel;
      if (isnan(source[at])) return true;
    }
  }
  return false;
}

static void compare(const tfrt_pool_places_t* places, const float* source) {
  static float target[MOST];
  int64_t pixels = places->target[0] * places->target[1];
  for (int64_t i = 0; i < MOST; ++i) target[i] = 1;
  tfrt_pool_keep_nan(places, source, target);
  for (int64_t i = 0; i < places->batch * places->channels * pixels; ++i) {
    int64_t outer = i / pixels, pixel = i % pixels;
    int64_t image = outer / places->channels, channel = outer % places->channels;
    int64_t at =
        places->is_channels_last ? (image * pixels + pixel) * places->channels + channel : i;
    bool is_nan = is_nan_place(places, source, image, channel, pixel / places->target[1],
                               pixel % places->target[1]);
    ck_assert_int_eq(isnan(target[at]) != 0, is_nan);
    ck_assert(is_nan || target[at] == 1);
  }
}

START_TEST(each_window_with_a_nan_is_nan_and_no_other) {
  static float source[MOST];
  uint64_t seed = 5;
  for (int round = 0; round < 200; ++round) {
    tfrt_pool_places_t places = {.batch = testing_random_number(&seed, 1, 2),
                                 .channels = testing_random_number(&seed, 1, 3),
                                 .is_channels_last = round % 2 == 0};
    for (int i = 0; i < 2; ++i) {
      places.window[i] = testing_random_number(&seed, 1, 4);
      places.strides[i] = testing_random_number(&seed, 1, 4);
      places.padding[i] = testing_random_number(&seed, 0, places.window[i] - 1);
      places.source[i] = testing_random_number(&seed, places.window[i], 9);
      places.target[i] =
          (places.source[i] + 2 * places.padding[i] - places.window[i]) / places.strides[i] + 1;
    }
    for (int64_t i = 0; i < MOST; ++i) {
      int64_t kind = testing_random_number(&seed, 0, 20);
      source[i] = kind == 0 ? NAN : kind == 1 ? INFINITY : (float)kind;
    }
    compare(&places, source);
  }
}
END_TEST

START_TEST(rows_without_a_softmax_are_nan) {
  const float source[5][3] = {{1, 2, 3},
                              {1, NAN, 3},
                              {-INFINITY, -INFINITY, -INFINITY},
                              {-INFINITY, 0, 1},
                              {1, INFINITY, 2}};
  const bool is_nan[5] = {false, true, true, false, true};
  float target[5][3] = {{0}};
  tfrt_softmax_keep_nan(5, 3, source[0], target[0]);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) ck_assert_int_eq(isnan(target[i][j]) != 0, is_nan[i]);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("nan_keeping");
  tcase_add_test(cases, each_window_with_a_nan_is_nan_and_no_other);
  tcase_add_test(cases, rows_without_a_softmax_are_nan);
  Suite* suite = suite_create("nan_keeping");
  suite_add_tcase(suite, cases);
  return suite;
}
