// SPDX-License-Identifier: Apache-2.0
//
// The whole network of examples/mnist, on its weights and its 1,000 test digits, against
// the training framework's results: each logit to 1e-4.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/tensor/btf.h"
#include "host_runtime/tensor/idx.h"
#include "kernels/tensor/math/convolution.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/math/matmul.h"
#include "kernels/tensor/math/pooling.h"
#include "kernels/tensor/math/reduction.h"
#include "kernels/tensor/math/slicing.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

#define WEIGHT_COUNT 8

static tfrt_dense_host_tensor_t weights[WEIGHT_COUNT];
static tfrt_dense_host_tensor_t images, labels, expected;

static void read_idx(const char* path, tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_host_buffer_t* file = testing_file(path);
  testing_ok(tfrt_idx_read(file->data, file->size, tfrt_allocator_system(), out_tensor));
  tfrt_host_buffer_release(file);
}

static void set_up(void) {
  tfrt_host_buffer_t* file = testing_file("examples/mnist/weights/mnist.btf");
  for (uint64_t i = 0; i < WEIGHT_COUNT; ++i) {
    testing_ok(tfrt_btf_read(file, i, tfrt_allocator_system(), &weights[i]));
  }
  tfrt_host_buffer_release(file);
  file = testing_file("examples/mnist/weights/test_logits.btf");
  testing_ok(tfrt_btf_read(file, 0, tfrt_allocator_system(), &expected));
  tfrt_host_buffer_release(file);
  read_idx("tests/kernels/tensor/math/test-images.idx", &images);
  read_idx("tests/kernels/tensor/math/test-labels.idx", &labels);
}

static void tear_down(void) {
  for (size_t i = 0; i < WEIGHT_COUNT; ++i) tfrt_dense_host_tensor_deinitialize(&weights[i]);
  tfrt_dense_host_tensor_deinitialize(&images);
  tfrt_dense_host_tensor_deinitialize(&labels);
  tfrt_dense_host_tensor_deinitialize(&expected);
}

// Replaces |*x| by |next|, which was made from it.
static void replace(tfrt_dense_host_tensor_t* x, tfrt_dense_host_tensor_t* next) {
  tfrt_dense_host_tensor_deinitialize(x);
  *x = *next;
}

static tfrt_dense_host_tensor_t run_model(const tfrt_dense_host_tensor_t* digits) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  const tfrt_window_t convolution = {.strides = {1, 1}};
  const tfrt_window_t pool = {.size = {2, 2}, .strides = {2, 2}};
  tfrt_dense_host_tensor_t x, next;
  testing_ok(tfrt_tensor_cast(digits, TFRT_DTYPE_F32, allocator, &x));
  testing_ok(tfrt_tensor_scale(&x, 1.0f / 255, allocator, &next));
  replace(&x, &next);
  testing_ok(tfrt_tensor_reshape(&x, DIMS(-1, 1, 28, 28), &next));
  replace(&x, &next);
  for (int i = 0; i < 4; i += 2) {
    testing_ok(
        tfrt_tensor_conv2d(&x, &weights[i], &weights[i + 1], &convolution, true, allocator, &next));
    replace(&x, &next);
    testing_ok(tfrt_tensor_max_pool2d(&x, &pool, allocator, &next));
    replace(&x, &next);
  }
  testing_ok(tfrt_tensor_reshape(&x, DIMS(-1, 512), &next));
  replace(&x, &next);
  testing_ok(tfrt_tensor_matmul(&x, &weights[4], &weights[5], true, allocator, &next));
  replace(&x, &next);
  testing_ok(tfrt_tensor_matmul(&x, &weights[6], &weights[7], false, allocator, &next));
  replace(&x, &next);
  return x;
}

START_TEST(logits_equal_the_training_frameworks_and_accuracy_is_98_percent) {
  int64_t total = images.shape.dims[0];
  int64_t right = 0;
  float worst = 0;
  for (int64_t batch = 0; batch * 50 < total; ++batch) {
    tfrt_dense_host_tensor_t some, some_labels, digits, wanted, logits = {0};
    testing_ok(tfrt_tensor_batch(&images, batch, 50, &some));
    testing_ok(tfrt_tensor_batch(&labels, batch, 50, &some_labels));
    logits = run_model(&some);
    for (int64_t i = 0; i < some.shape.dims[0] * 10; ++i) {
      float distance = fabsf(testing_f32(&logits, i) - testing_f32(&expected, batch * 500 + i));
      if (!(distance <= worst)) worst = distance;
    }
    testing_ok(tfrt_tensor_argmax(&logits, 1, tfrt_allocator_system(), &digits));
    testing_ok(tfrt_tensor_cast(&some_labels, TFRT_DTYPE_I64, tfrt_allocator_system(), &wanted));
    int64_t count;
    testing_ok(tfrt_tensor_count_equal(&digits, &wanted, &count));
    right += count;
    tfrt_dense_host_tensor_deinitialize(&some);
    tfrt_dense_host_tensor_deinitialize(&some_labels);
    tfrt_dense_host_tensor_deinitialize(&logits);
    tfrt_dense_host_tensor_deinitialize(&digits);
    tfrt_dense_host_tensor_deinitialize(&wanted);
  }
  printf("%d of %d right, largest difference of a logit %g\n", (int)right, (int)total,
         (double)worst);
  ck_assert_msg(worst <= 1e-4f, "a logit differs by %g", (double)worst);
  ck_assert_int_eq(total, 1000);
  ck_assert_int_ge(right, 980);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("network");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, logits_equal_the_training_frameworks_and_accuracy_is_98_percent);
  Suite* suite = suite_create("network");
  suite_add_tcase(suite, cases);
  return suite;
}
