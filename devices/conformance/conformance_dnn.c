// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks, against plain loops over two axes of space.
#include <math.h>

#include "devices/conformance/conformance_fixture.h"
#include "devices/device_dnn.h"
#include "host_runtime/base/random.h"

// The elements of a tensor of these tests, at most.
#define MAX_ELEMENTS 600

// A tensor of f32 with its elements one behind the other, here and on the device.
typedef struct tfrt_test_tensor_s {
  tfrt_dnn_tensor_t form;
  tfrt_dnn_filter_t filter;  // the same, as one
  tfrt_dnn_memory_t memory;
  float numbers[MAX_ELEMENTS];
} tfrt_test_tensor_t;

static size_t test_count(const tfrt_test_tensor_t* tensor) {
  size_t count = 1;
  for (int i = 0; i < 4; ++i) count *= (size_t)tensor->form.sizes[i];
  return count;
}

// Fills in |tensor| of these sizes; no two neighbouring numbers are the same.
static void test_tensor_make(tfrt_test_tensor_t* tensor, int batch, int channels, int height,
                             int width, tfrt_random_t* random) {
  tfrt_conformance_t* t = &tfrt_conformance;
  *tensor = (tfrt_test_tensor_t){
      .form = {.dtype = TFRT_DTYPE_F32,
               .rank = 4,
               .sizes = {batch, channels, height, width},
               .steps = {channels * height * width, height * width, width, 1}},
      .filter = {.dtype = TFRT_DTYPE_F32, .rank = 4, .sizes = {batch, channels, height, width}}};
  size_t count = test_count(tensor);
  ck_assert_uint_le(count, MAX_ELEMENTS);
  for (size_t i = 0; i < count; ++i) {
    tensor->numbers[i] = (float)tfrt_random_below(random, 64) + (float)i / 1024;
  }
  size_t size = count * sizeof(float);
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  memcpy(tfrt_device_buffer_host_data(host), tensor->numbers, size);
  tensor->memory.buffer = tfrt_conformance_allocate(t->stream, size);
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, tensor->memory.buffer, 0, host, 0, size));
  tfrt_device_buffer_release(host);
}

static float* test_at(tfrt_test_tensor_t* tensor, int batch, int channel, int row, int column) {
  const int32_t* sizes = tensor->form.sizes;
  return &tensor->numbers[((batch * sizes[1] + channel) * sizes[2] + row) * sizes[3] + column];
}

// Whether the place is in the tensor, and not in the padding.
static bool test_has(const tfrt_test_tensor_t* tensor, int row, int column) {
  return row >= 0 && column >= 0 && row < tensor->form.sizes[2] && column < tensor->form.sizes[3];
}

// Checks that the device has what |tensor| has here.
static void test_tensor_expect(const tfrt_test_tensor_t* tensor) {
  tfrt_conformance_t* t = &tfrt_conformance;
  size_t count = test_count(tensor);
  tfrt_device_buffer_t* host = tfrt_conformance_host(count * sizeof(float));
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, host, 0, tensor->memory.buffer, 0, count * sizeof(float)));
  tfrt_conformance_finish(t->stream);
  const float* found = tfrt_device_buffer_host_data(host);
  for (size_t i = 0; i < count; ++i) {
    ck_assert_msg(fabsf(found[i] - tensor->numbers[i]) <= 1e-3f * (1 + fabsf(tensor->numbers[i])),
                  "element %zu is %g and not %g", i, (double)found[i], (double)tensor->numbers[i]);
  }
  tfrt_device_buffer_release(host);
}

static int test_size(int x, int padding, int reach, int step) {
  return 1 + (x + 2 * padding - reach) / step;
}

// --- Pooling -------------------------------------------------------------------------------

static const tfrt_dnn_pooling_t poolings[] = {
    {TFRT_DNN_POOLING_MAX, false, 2, {3, 2}, {1, 0}, {2, 1}},
    {TFRT_DNN_POOLING_AVERAGE_WITH_PADDING, false, 2, {3, 3}, {1, 1}, {1, 2}},
    {TFRT_DNN_POOLING_AVERAGE_WITHOUT_PADDING, false, 2, {2, 3}, {1, 2}, {2, 2}},
    {TFRT_DNN_POOLING_MAX_DETERMINISTIC, true, 2, {2, 2}, {0, 0}, {2, 2}},
};

// Pools the window of |y| at (|row|, |column|), or spreads its gradient in |dx|, unless NULL.
static float test_pool_window(const tfrt_dnn_pooling_t* pooling, tfrt_test_tensor_t* x,
                              const int* where, tfrt_test_tensor_t* dx, float gradient) {
  float greatest = -INFINITY;
  float sum = 0;
  int seen = 0;
  float* best = NULL;
  int top = where[2] * pooling->steps[0] - pooling->padding[0];
  int left = where[3] * pooling->steps[1] - pooling->padding[1];
  int size = pooling->window[0] * pooling->window[1];
  bool is_max =
      pooling->mode == TFRT_DNN_POOLING_MAX || pooling->mode == TFRT_DNN_POOLING_MAX_DETERMINISTIC;
  // Twice: how many there are is known first.
  for (int i = 0; i < 2 * size; ++i) {
    int row = top + i % size / pooling->window[1];
    int column = left + i % size % pooling->window[1];
    if (!test_has(x, row, column)) continue;
    float value = *test_at(x, where[0], where[1], row, column);
    if (i < size) {
      sum += value;
      ++seen;
      if (value <= greatest) continue;
      greatest = value;
      best = dx ? test_at(dx, where[0], where[1], row, column) : NULL;
    } else if (dx && !is_max) {
      int count = pooling->mode == TFRT_DNN_POOLING_AVERAGE_WITH_PADDING ? size : seen;
      *test_at(dx, where[0], where[1], row, column) += gradient / (float)count;
    }
  }
  if (is_max && best) *best += gradient;
  if (is_max) return greatest;
  return sum / (float)(pooling->mode == TFRT_DNN_POOLING_AVERAGE_WITH_PADDING ? size : seen);
}

// The place of element |i| of |tensor|.
static void test_where(const tfrt_test_tensor_t* tensor, size_t i, int* out_where) {
  for (int axis = 4; axis-- > 0;) {
    out_where[axis] = (int)(i % (size_t)tensor->form.sizes[axis]);
    i /= (size_t)tensor->form.sizes[axis];
  }
}

static void test_pool(tfrt_device_dnn_t* dnn, const tfrt_dnn_pooling_t* pooling,
                      tfrt_random_t* random) {
  tfrt_test_tensor_t x;
  tfrt_test_tensor_t y;
  int rows = test_size(8, pooling->padding[0], pooling->window[0], pooling->steps[0]);
  int columns = test_size(7, pooling->padding[1], pooling->window[1], pooling->steps[1]);
  test_tensor_make(&x, 2, 3, 8, 7, random);
  test_tensor_make(&y, 2, 3, rows, columns, random);
  tfrt_dnn_pool_t call = {.pooling = *pooling,
                          .alpha = 2,
                          .x_form = x.form,
                          .x = x.memory,
                          .beta = 0.5f,
                          .y_form = y.form,
                          .y = y.memory};
  for (size_t i = 0; i < test_count(&y); ++i) {
    int where[4];
    test_where(&y, i, where);
    y.numbers[i] = 2 * test_pool_window(pooling, &x, where, NULL, 0) + 0.5f * y.numbers[i];
  }
  tfrt_conformance_expect_ok(tfrt_device_dnn_pool(dnn, tfrt_conformance.stream, &call));
  test_tensor_expect(&y);
  tfrt_device_buffer_release(x.memory.buffer);
  tfrt_device_buffer_release(y.memory.buffer);
}

static void test_unpool(tfrt_device_dnn_t* dnn, const tfrt_dnn_pooling_t* pooling,
                        tfrt_random_t* random) {
  tfrt_test_tensor_t tensors[4];  // x, dx, y, dy
  int rows = test_size(8, pooling->padding[0], pooling->window[0], pooling->steps[0]);
  int columns = test_size(7, pooling->padding[1], pooling->window[1], pooling->steps[1]);
  for (int i = 0; i < 4; ++i) {
    test_tensor_make(&tensors[i], 1, 2, i < 2 ? 8 : rows, i < 2 ? 7 : columns, random);
  }
  tfrt_dnn_pool_t pool = {.pooling = *pooling,
                          .alpha = 1,
                          .x_form = tensors[0].form,
                          .x = tensors[0].memory,
                          .y_form = tensors[2].form,
                          .y = tensors[2].memory};
  tfrt_dnn_unpool_t call = {.pooling = *pooling,
                            .alpha = 1,
                            .y_form = tensors[2].form,
                            .y = tensors[2].memory,
                            .dy_form = tensors[3].form,
                            .dy = tensors[3].memory,
                            .x_form = tensors[0].form,
                            .x = tensors[0].memory,
                            .dx_form = tensors[1].form,
                            .dx = tensors[1].memory};
  memset(tensors[1].numbers, 0, sizeof(tensors[1].numbers));
  for (size_t i = 0; i < test_count(&tensors[3]); ++i) {
    int where[4];
    test_where(&tensors[3], i, where);
    test_pool_window(pooling, &tensors[0], where, &tensors[1], tensors[3].numbers[i]);
  }
  tfrt_conformance_expect_ok(tfrt_device_dnn_pool(dnn, tfrt_conformance.stream, &pool));
  tfrt_conformance_expect_ok(tfrt_device_dnn_unpool(dnn, tfrt_conformance.stream, &call));
  test_tensor_expect(&tensors[1]);
  for (int i = 0; i < 4; ++i) tfrt_device_buffer_release(tensors[i].memory.buffer);
}

START_TEST(tensors_are_pooled_in_all_ways) {
  tfrt_device_dnn_t* dnn = tfrt_conformance_dnn();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 5);
  for (size_t i = 0; dnn && i < TFRT_ARRAY_SIZE(poolings); ++i) {
    test_pool(dnn, &poolings[i], &random);
    test_unpool(dnn, &poolings[i], &random);
  }
  tfrt_device_dnn_release(dnn);
}
END_TEST

// --- Convolution ---------------------------------------------------------------------------

// x, w and y of a convolution.
typedef struct tfrt_test_convolution_s {
  tfrt_test_tensor_t x;
  tfrt_test_tensor_t w;
  tfrt_test_tensor_t y;
} tfrt_test_convolution_t;

// Makes the tensor |made| of |c| of the other two: adds up what each pair of elements gives.
static void test_convolve(const tfrt_dnn_convolution_t* form, tfrt_test_convolution_t* c,
                          tfrt_test_tensor_t* made) {
  memset(made->numbers, 0, sizeof(made->numbers));
  int window[] = {c->w.form.sizes[2], c->w.form.sizes[3]};
  for (size_t i = 0; i < test_count(&c->y); ++i) {
    int where[4];
    test_where(&c->y, i, where);
    for (size_t k = 0; k < test_count(&c->w); ++k) {
      int weight[4];
      test_where(&c->w, k, weight);
      int in_row = form->is_cross_correlation ? weight[2] : window[0] - 1 - weight[2];
      int in_column = form->is_cross_correlation ? weight[3] : window[1] - 1 - weight[3];
      int row = where[2] * form->steps[0] - form->padding[0] + in_row * form->dilation[0];
      int column = where[3] * form->steps[1] - form->padding[1] + in_column * form->dilation[1];
      if (weight[0] != where[1] || !test_has(&c->x, row, column)) continue;
      float* x = test_at(&c->x, where[0], weight[1], row, column);
      if (made == &c->y) c->y.numbers[i] += *x * c->w.numbers[k];
      if (made == &c->x) *x += c->y.numbers[i] * c->w.numbers[k];
      if (made == &c->w) c->w.numbers[k] += *x * c->y.numbers[i];
    }
  }
}

static void test_convolution(tfrt_device_dnn_t* dnn, const tfrt_dnn_convolution_t* form,
                             tfrt_dnn_direction_t direction, tfrt_random_t* random) {
  tfrt_conformance_t* t = &tfrt_conformance;
  static tfrt_test_convolution_t c;
  int reach[] = {1 + 2 * form->dilation[0], 1 + form->dilation[1]};
  test_tensor_make(&c.x, 2, 3, 7, 6, random);
  test_tensor_make(&c.w, 4, 3, 3, 2, random);
  test_tensor_make(&c.y, 2, 4, test_size(7, form->padding[0], reach[0], form->steps[0]),
                   test_size(6, form->padding[1], reach[1], form->steps[1]), random);
  tfrt_dnn_convolve_t call = {.direction = direction,
                              .convolution = *form,
                              .x_form = c.x.form,
                              .x = c.x.memory,
                              .w_form = c.w.filter,
                              .w = c.w.memory,
                              .y_form = c.y.form,
                              .y = c.y.memory};
  call.workspace.buffer = tfrt_conformance_allocate(t->stream, 1 << 16);
  tfrt_test_tensor_t* made[] = {&c.y, &c.x, &c.w};
  test_convolve(form, &c, made[direction]);
  tfrt_conformance_expect_ok(tfrt_device_dnn_convolve(dnn, t->stream, &call));
  test_tensor_expect(made[direction]);
  tfrt_device_buffer_release(call.workspace.buffer);
  tfrt_device_buffer_release(c.x.memory.buffer);
  tfrt_device_buffer_release(c.w.memory.buffer);
  tfrt_device_buffer_release(c.y.memory.buffer);
}

START_TEST(tensors_are_convolved_there_and_back) {
  static const tfrt_dnn_convolution_t forms[] = {
      {TFRT_DTYPE_F32, true, TFRT_DNN_MATH_EXACT, 2, {0, 0}, {1, 1}, {1, 1}},
      {TFRT_DTYPE_F32, true, TFRT_DNN_MATH_EXACT, 2, {1, 2}, {2, 1}, {1, 1}},
      {TFRT_DTYPE_F32, false, TFRT_DNN_MATH_EXACT, 2, {2, 1}, {1, 2}, {1, 1}},
      {TFRT_DTYPE_F32, true, TFRT_DNN_MATH_EXACT, 2, {2, 0}, {1, 1}, {2, 3}},
  };
  tfrt_device_dnn_t* dnn = tfrt_conformance_dnn();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 6);
  for (size_t i = 0; dnn && i < TFRT_ARRAY_SIZE(forms); ++i) {
    test_convolution(dnn, &forms[i], TFRT_DNN_FORWARD, &random);
    test_convolution(dnn, &forms[i], TFRT_DNN_BACKWARD_DATA, &random);
    test_convolution(dnn, &forms[i], TFRT_DNN_BACKWARD_FILTER, &random);
  }
  tfrt_device_dnn_release(dnn);
}
END_TEST

// --- Convolution with what follows it --------------------------------------------------------

// The parts of a convolution, with the ops that follow it.
typedef struct tfrt_test_fused_s {
  tfrt_test_convolution_t c;
  tfrt_test_tensor_t z;
  tfrt_test_tensor_t bias;
} tfrt_test_fused_t;

// Makes the tensors of |f| and a call with them.
static tfrt_dnn_fuse_t test_fused_make(tfrt_test_fused_t* f, tfrt_random_t* random) {
  test_tensor_make(&f->c.x, 2, 3, 7, 6, random);
  test_tensor_make(&f->c.w, 4, 3, 3, 2, random);
  test_tensor_make(&f->c.y, 2, 4, 5, 5, random);
  test_tensor_make(&f->z, 2, 4, 5, 5, random);
  test_tensor_make(&f->bias, 1, 4, 1, 1, random);
  tfrt_dnn_convolve_t convolve = {
      .convolution = {TFRT_DTYPE_F32, true, TFRT_DNN_MATH_EXACT, 2, {0, 0}, {1, 1}, {1, 1}},
      .algorithm = 1,
      .x_form = f->c.x.form,
      .x = f->c.x.memory,
      .w_form = f->c.w.filter,
      .w = f->c.w.memory,
      .y_form = f->c.y.form,
      .y = f->c.y.memory};
  convolve.workspace.buffer = tfrt_conformance_allocate(tfrt_conformance.stream, 1 << 16);
  return (tfrt_dnn_fuse_t){.convolve = convolve,
                           .alpha = 1.0 / 64,
                           .z_form = f->z.form,
                           .z = f->z.memory,
                           .bias_form = f->bias.form,
                           .bias = f->bias.memory};
}

static void test_fused_free(tfrt_test_fused_t* f, const tfrt_dnn_fuse_t* call) {
  tfrt_test_tensor_t* tensors[] = {&f->c.x, &f->c.w, &f->c.y, &f->z, &f->bias};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tensors); ++i) {
    tfrt_device_buffer_release(tensors[i]->memory.buffer);
  }
  tfrt_device_buffer_release(call->convolve.workspace.buffer);
}

// Makes y, here and on the device; with a negative |beta| some numbers are, too, before a relu.
static void test_fuse(tfrt_device_dnn_t* dnn, tfrt_dnn_activation_mode_t mode, double beta,
                      tfrt_random_t* random) {
  static tfrt_test_fused_t f;
  tfrt_test_tensor_t* y = &f.c.y;
  tfrt_dnn_fuse_t call = test_fused_make(&f, random);
  call.beta = beta;
  call.activation.mode = mode;
  test_convolve(&call.convolve.convolution, &f.c, y);
  for (size_t i = 0; i < test_count(y); ++i) {
    float value = y->numbers[i] / 64 + (float)beta * f.z.numbers[i] + f.bias.numbers[i / 25 % 4];
    y->numbers[i] = mode == TFRT_DNN_RELU && value < 0 ? 0 : value;
  }
  tfrt_conformance_expect_ok(tfrt_device_dnn_fuse(dnn, tfrt_conformance.stream, &call));
  test_tensor_expect(y);
  test_fused_free(&f, &call);
}

START_TEST(a_convolution_is_made_with_what_follows_it) {
  tfrt_device_dnn_t* dnn = tfrt_conformance_dnn();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 8);
  if (dnn) {
    test_fuse(dnn, TFRT_DNN_RELU, -8, &random);
    test_fuse(dnn, TFRT_DNN_RELU, 0, &random);
    test_fuse(dnn, TFRT_DNN_IDENTITY, -8, &random);
  }
  tfrt_device_dnn_release(dnn);
}
END_TEST

START_TEST(what_does_not_go_with_a_convolution_is_refused) {
  static tfrt_test_fused_t f;
  tfrt_device_stream_t* stream = tfrt_conformance.stream;
  tfrt_device_dnn_t* dnn = tfrt_conformance_dnn();
  if (!dnn) return;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 9);
  tfrt_dnn_fuse_t call = test_fused_make(&f, &random);
  call.activation.mode = TFRT_DNN_RELU;
  tfrt_dnn_fuse_t wrong[5] = {call, call, call, call, call};
  wrong[0].activation.mode = TFRT_DNN_TANH;
  wrong[1].z_form.sizes[0] = 1;
  wrong[2].bias_form = f.z.form;
  wrong[3].convolve.direction = TFRT_DNN_BACKWARD_DATA;
  wrong[4].convolve.w_form.sizes[1] = 2;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(wrong); ++i) {
    tfrt_conformance_expect(tfrt_device_dnn_fuse(dnn, stream, &wrong[i]),
                            TFRT_STATUS_INVALID_ARGUMENT);
  }
  tfrt_dnn_fuse_t beyond = call;
  beyond.bias_form.steps[1] = INT32_MAX;
  tfrt_conformance_expect(tfrt_device_dnn_fuse(dnn, stream, &beyond), TFRT_STATUS_OUT_OF_RANGE);
  test_fused_free(&f, &call);
  tfrt_device_dnn_release(dnn);
}
END_TEST

// --- Refusals ------------------------------------------------------------------------------

START_TEST(tensors_that_do_not_follow_are_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_dnn_t* dnn = tfrt_conformance_dnn();
  if (!dnn) return;
  tfrt_random_t random;
  tfrt_test_tensor_t x;
  tfrt_random_initialize(&random, 7);
  test_tensor_make(&x, 1, 1, 4, 4, &random);
  tfrt_dnn_pool_t call = {.pooling = {.space = 2, .window = {2, 2}, .steps = {2, 2}},
                          .alpha = 1,
                          .x_form = x.form,
                          .x = x.memory,
                          .y_form = x.form,
                          .y = x.memory};
  tfrt_conformance_expect(tfrt_device_dnn_pool(dnn, t->stream, &call),
                          TFRT_STATUS_INVALID_ARGUMENT);
  call.y_form.sizes[2] = call.y_form.sizes[3] = 2;
  call.y_form.dtype = TFRT_DTYPE_F16;
  tfrt_conformance_expect(tfrt_device_dnn_pool(dnn, t->stream, &call),
                          TFRT_STATUS_INVALID_ARGUMENT);
  call.y_form.dtype = TFRT_DTYPE_F32;
  call.y_form.steps[2] = INT32_MAX;
  tfrt_conformance_expect(tfrt_device_dnn_pool(dnn, t->stream, &call), TFRT_STATUS_OUT_OF_RANGE);
  tfrt_dnn_tensor_t tensor = x.form;
  tensor.rank = 3;
  tfrt_conformance_expect(tfrt_dnn_tensor_check(&tensor), TFRT_STATUS_INVALID_ARGUMENT);
  tensor = x.form;
  tensor.sizes[1] = 0;
  tfrt_conformance_expect(tfrt_dnn_tensor_check(&tensor), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_dnn_pooling_t pooling = call.pooling;
  pooling.padding[1] = 2;
  tfrt_conformance_expect(tfrt_dnn_pooling_check(&pooling), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_device_buffer_release(x.memory.buffer);
  tfrt_device_dnn_release(dnn);
}
END_TEST

TCase* tfrt_conformance_dnn_case(void) {
  TCase* dnn = tcase_create("dnn");
  tcase_set_timeout(dnn, 60);
  tcase_add_checked_fixture(dnn, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(dnn, tensors_are_pooled_in_all_ways);
  tcase_add_test(dnn, tensors_are_convolved_there_and_back);
  tcase_add_test(dnn, a_convolution_is_made_with_what_follows_it);
  tcase_add_test(dnn, what_does_not_go_with_a_convolution_is_refused);
  tcase_add_test(dnn, tensors_that_do_not_follow_are_refused);
  return dnn;
}
