// SPDX-License-Identifier: Apache-2.0
//
// Plans of convolutions, against plain loops over every pair of an element of the output and one of
// the filter: there and back, alone and fused, with tensors in any order. Inputs and outputs have
// gaps, which stay as they are.
#include <math.h>
#include <stddef.h>

#include "devices/conformance/conformance_fixture.h"
#include "devices/device_dnn_plan.h"
#include "host_runtime/base/random.h"

// The elements of a tensor of these tests with its gaps, at most.
#define MAX_SPAN 2000

// A tensor here and on the device.
typedef struct tfrt_test_tensor_s {
  tfrt_dnn_layout_t layout;
  size_t span;               // its elements and gaps
  double numbers[MAX_SPAN];  // as they lie in memory
  tfrt_dnn_memory_t memory;
} tfrt_test_tensor_t;

// Where an element is, on each axis.
typedef struct tfrt_test_place_s {
  int64_t at[TFRT_DNN_MAX_RANK];
} tfrt_test_place_t;

static void test_store(void* bytes, tfrt_dtype_t dtype, size_t i, double number) {
  if (dtype == TFRT_DTYPE_F64) ((double*)bytes)[i] = number;
  if (dtype == TFRT_DTYPE_F32) ((float*)bytes)[i] = (float)number;
  if (dtype == TFRT_DTYPE_I8) ((int8_t*)bytes)[i] = (int8_t)number;
}

static double test_load(const void* bytes, tfrt_dtype_t dtype, size_t i) {
  if (dtype == TFRT_DTYPE_F64) return ((const double*)bytes)[i];
  if (dtype == TFRT_DTYPE_F32) return (double)((const float*)bytes)[i];
  return ((const int8_t*)bytes)[i];
}

// Lets the axes of |layout| lie in |order|, the outermost first, with |gap| elements behind each
// row, and returns how many elements that takes.
static size_t test_lay_out(tfrt_dnn_layout_t* layout, const int* order, int gap) {
  int64_t step = 1;
  for (uint32_t i = layout->rank; i-- > 0;) {
    layout->steps[order[i]] = step;
    step = step * layout->sizes[order[i]] + gap;
  }
  size_t span = 1;
  for (uint32_t i = 0; i < layout->rank; ++i) {
    span += (size_t)((layout->sizes[i] - 1) * layout->steps[i]);
  }
  return span;
}

// Fills |tensor| in, whose type and sizes are there, with small whole numbers.
static void test_tensor_make(tfrt_test_tensor_t* tensor, bool has_channels_last, int gap,
                             tfrt_random_t* random) {
  static const int orders[][TFRT_DNN_MAX_RANK] = {{0, 1, 2, 3, 4}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}};
  tfrt_conformance_t* t = &tfrt_conformance;
  int order = has_channels_last ? (int)tensor->layout.rank - 3 : 0;
  tensor->span = test_lay_out(&tensor->layout, orders[order], gap);
  ck_assert_uint_le(tensor->span, MAX_SPAN);
  size_t size = tensor->span * tfrt_dtype_size(tensor->layout.dtype);
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  for (size_t i = 0; i < tensor->span; ++i) {
    tensor->numbers[i] = (double)tfrt_random_below(random, 15) - 7;
    test_store(tfrt_device_buffer_host_data(host), tensor->layout.dtype, i, tensor->numbers[i]);
  }
  tensor->memory.buffer = tfrt_conformance_allocate(t->stream, size);
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, tensor->memory.buffer, 0, host, 0, size));
  tfrt_device_buffer_release(host);
}

// The element of |tensor| at |place|, or NULL beyond its ends.
static double* test_at(tfrt_test_tensor_t* tensor, const tfrt_test_place_t* place) {
  int64_t index = 0;
  for (uint32_t i = 0; i < tensor->layout.rank; ++i) {
    if (place->at[i] < 0 || place->at[i] >= tensor->layout.sizes[i]) return NULL;
    index += place->at[i] * tensor->layout.steps[i];
  }
  return &tensor->numbers[index];
}

// Moves |place| on in |tensor|; returns whether there is a next one.
static bool test_next(const tfrt_test_tensor_t* tensor, tfrt_test_place_t* place) {
  for (uint32_t i = tensor->layout.rank; i-- > 0;) {
    if (++place->at[i] < tensor->layout.sizes[i]) return true;
    place->at[i] = 0;
  }
  return false;
}

// Checks that the device has what |tensor| has here, gaps included.
static void test_tensor_expect(const tfrt_test_tensor_t* tensor) {
  tfrt_conformance_t* t = &tfrt_conformance;
  size_t size = tensor->span * tfrt_dtype_size(tensor->layout.dtype);
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, host, 0, tensor->memory.buffer, 0, size));
  tfrt_conformance_finish(t->stream);
  for (size_t i = 0; i < tensor->span; ++i) {
    double found = test_load(tfrt_device_buffer_host_data(host), tensor->layout.dtype, i);
    ck_assert_msg(fabs(found - tensor->numbers[i]) <= 1e-3 * (1 + fabs(tensor->numbers[i])),
                  "element %zu is %g and not %g", i, found, tensor->numbers[i]);
  }
  tfrt_device_buffer_release(host);
}

// --- Building and running ----------------------------------------------------------------

// The library, form and tensors of a plan.
typedef struct tfrt_test_plan_s {
  tfrt_device_dnn_t* dnn;
  tfrt_dnn_plan_form_t form;
  tfrt_test_tensor_t x, w, y, z, bias;
} tfrt_test_plan_t;

// The parameters of a plan under test.
typedef struct tfrt_test_window_s {
  uint32_t space;
  bool is_mirrored;
  bool has_channels_last;
  int gap;
  int64_t groups;
  int64_t padding[TFRT_DNN_MAX_SPACE];
  int64_t steps[TFRT_DNN_MAX_SPACE];
  int64_t dilation[TFRT_DNN_MAX_SPACE];
} tfrt_test_window_t;

static const tfrt_test_window_t windows[] = {
    {2, false, false, 0, 1, {0, 0}, {1, 1}, {1, 1}},
    {2, false, true, 0, 1, {1, 2}, {2, 1}, {1, 1}},
    {2, true, false, 3, 1, {2, 1}, {1, 2}, {1, 1}},
    {2, false, true, 1, 2, {2, 0}, {1, 1}, {2, 3}},
    {3, false, false, 0, 1, {1, 0, 1}, {2, 1, 1}, {1, 1, 2}},
    {3, true, true, 0, 4, {0, 1, 0}, {1, 2, 1}, {1, 1, 1}},
};

// Fills |p| in with the tensors of |window|: 4 channels, 8 outputs.
static void test_plan_make(tfrt_test_plan_t* p, const tfrt_test_window_t* window,
                           tfrt_dtype_t dtype, tfrt_dtype_t made, tfrt_random_t* random) {
  tfrt_dnn_plan_form_t* form = &p->form;
  uint32_t rank = window->space + 2;
  *form =
      (tfrt_dnn_plan_form_t){.is_cross_correlation = !window->is_mirrored, .space = window->space};
  p->x.layout = (tfrt_dnn_layout_t){dtype, rank, {2, 4, 6, 5, 4}, {0}};
  p->w.layout = (tfrt_dnn_layout_t){dtype, rank, {8, 4 / window->groups, 3, 2, 2}, {0}};
  p->y.layout = (tfrt_dnn_layout_t){made, rank, {2, 8}, {0}};
  p->bias.layout = (tfrt_dnn_layout_t){made, rank, {1, 8, 1, 1, 1}, {0}};
  for (uint32_t i = 0; i < window->space; ++i) {
    form->padding[i] = window->padding[i];
    form->steps[i] = window->steps[i];
    form->dilation[i] = window->dilation[i];
    int64_t reach = 1 + (p->w.layout.sizes[2 + i] - 1) * form->dilation[i];
    p->y.layout.sizes[2 + i] =
        1 + (p->x.layout.sizes[2 + i] + 2 * form->padding[i] - reach) / form->steps[i];
  }
  p->z.layout = p->y.layout;
  tfrt_test_tensor_t* tensors[] = {&p->x, &p->w, &p->y, &p->z, &p->bias};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tensors); ++i) {
    bool is_packed = tensors[i] == &p->w || tensors[i] == &p->bias;
    test_tensor_make(tensors[i], window->has_channels_last, is_packed ? 0 : window->gap, random);
  }
  form->x = p->x.layout;
  form->w = p->w.layout;
  form->y = p->y.layout;
  form->bias = p->bias.layout;
}

static void test_plan_free(tfrt_test_plan_t* p) {
  tfrt_test_tensor_t* tensors[] = {&p->x, &p->w, &p->y, &p->z, &p->bias};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tensors); ++i) {
    tfrt_device_buffer_release(tensors[i]->memory.buffer);
  }
}

// Builds the plan of |p| and runs it once; false if the library, which isn't ours, has no such
// engine.
static bool test_plan_run(tfrt_test_plan_t* p) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_dnn_plan_t* plan = NULL;
  tfrt_status_t status = tfrt_device_dnn_build(p->dnn, &p->form, &(tfrt_dnn_engine_t){0}, &plan);
  if (status && !tfrt_conformance_has(TFRT_CONFORMANCE_DNN) &&
      strstr(tfrt_status_message(status), "NOT_SUPPORTED")) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_conformance_expect_ok(status);
  tfrt_dnn_plan_memory_t memory = {.x = p->x.memory, .y = p->y.memory, .w = p->w.memory};
  if (p->form.is_fused) {
    memory.z = p->z.memory;
    memory.bias = p->bias.memory;
  }
  memory.workspace.buffer = tfrt_conformance_allocate(t->stream, 1 << 20);
  tfrt_device_dnn_plan_t* user = tfrt_device_dnn_plan_retain(plan);
  tfrt_device_dnn_plan_release(plan);
  tfrt_conformance_expect_ok(tfrt_device_dnn_plan_run(user, p->dnn, t->stream, &memory));
  tfrt_device_dnn_plan_release(user);
  tfrt_device_buffer_release(memory.workspace.buffer);
  return true;
}

// --- The loops -----------------------------------------------------------------------------

// Makes all elements of |tensor| 0; its gaps stay.
static void test_clear(tfrt_test_tensor_t* tensor) {
  tfrt_test_place_t place = {0};
  do {
    *test_at(tensor, &place) = 0;
  } while (test_next(tensor, &place));
}

// Adds to |made|, one of x, w and y, what each pair of elements gives.
static void test_convolve(tfrt_test_plan_t* p, tfrt_test_tensor_t* made) {
  const tfrt_dnn_plan_form_t* form = &p->form;
  int64_t inputs = form->w.sizes[1];
  int64_t outputs = form->w.sizes[0] / (form->x.sizes[1] / inputs);
  tfrt_test_place_t y_place = {0};
  test_clear(made);
  do {
    tfrt_test_place_t w_place = {0};
    do {
      if (w_place.at[0] != y_place.at[1]) continue;
      int64_t group = y_place.at[1] / outputs;
      tfrt_test_place_t x_place = {{y_place.at[0], group * inputs + w_place.at[1]}};
      for (uint32_t i = 0; i < form->space; ++i) {
        int64_t in = w_place.at[2 + i];
        if (!form->is_cross_correlation) in = form->w.sizes[2 + i] - 1 - in;
        x_place.at[2 + i] =
            y_place.at[2 + i] * form->steps[i] - form->padding[i] + in * form->dilation[i];
      }
      double* x = test_at(&p->x, &x_place);
      double* w = test_at(&p->w, &w_place);
      double* y = test_at(&p->y, &y_place);
      if (!x) continue;
      if (made == &p->y) *y += *x * *w;
      if (made == &p->x) *x += *y * *w;
      if (made == &p->w) *w += *x * *y;
    } while (test_next(&p->w, &w_place));
  } while (test_next(&p->y, &y_place));
}

// Makes y of a fused plan.
static void test_fuse(tfrt_test_plan_t* p) {
  test_convolve(p, &p->y);
  tfrt_test_place_t place = {0};
  do {
    tfrt_test_place_t bias = place;
    for (uint32_t i = 0; i < p->form.bias.rank; ++i) {
      if (p->form.bias.sizes[i] == 1) bias.at[i] = 0;
    }
    double* y = test_at(&p->y, &place);
    *y = p->form.alpha * *y + p->form.alpha2 * *test_at(&p->z, &place) + *test_at(&p->bias, &bias);
    if (p->form.activation == TFRT_DNN_RELU && *y < 0) *y = 0;
    // Clamps to the range of an i8 output.
    if (p->form.y.dtype == TFRT_DTYPE_I8) *y = fmin(fmax(rint(*y), -128), 127);
  } while (test_next(&p->y, &place));
}

// --- Tests -------------------------------------------------------------------------------

START_TEST(plans_go_there_and_back) {
  static tfrt_test_plan_t p;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 10);
  p.dnn = tfrt_conformance_dnn();
  tfrt_test_tensor_t* made[] = {&p.y, &p.x, &p.w};
  for (size_t i = 0; p.dnn && i < TFRT_ARRAY_SIZE(windows); ++i) {
    for (int direction = 0; direction < 3; ++direction) {
      test_plan_make(&p, &windows[i], TFRT_DTYPE_F32, TFRT_DTYPE_F32, &random);
      p.form.direction = (tfrt_dnn_direction_t)direction;
      if (test_plan_run(&p)) {
        test_convolve(&p, made[direction]);
        test_tensor_expect(made[direction]);
      }
      test_plan_free(&p);
    }
  }
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

START_TEST(plans_are_made_with_what_follows) {
  static const struct {
    double alpha, alpha2;
    tfrt_dnn_activation_mode_t activation;
  } cases[] = {{1, 0, TFRT_DNN_RELU},
               {0.5, -3, TFRT_DNN_RELU},
               {2, 1, TFRT_DNN_IDENTITY},
               {0, 1, TFRT_DNN_IDENTITY}};
  static tfrt_test_plan_t p;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 11);
  p.dnn = tfrt_conformance_dnn();
  for (size_t i = 0; p.dnn && i < TFRT_ARRAY_SIZE(windows) * TFRT_ARRAY_SIZE(cases); ++i) {
    test_plan_make(&p, &windows[i / 4], TFRT_DTYPE_F32, TFRT_DTYPE_F32, &random);
    p.form.is_fused = true;
    p.form.alpha = cases[i % 4].alpha;
    p.form.alpha2 = cases[i % 4].alpha2;
    p.form.activation = cases[i % 4].activation;
    if (test_plan_run(&p)) {
      test_fuse(&p);
      test_tensor_expect(&p.y);
    }
    test_plan_free(&p);
  }
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

START_TEST(plans_are_of_other_types) {
  static const struct {
    tfrt_dtype_t dtype, made;
    bool is_fused;
  } cases[] = {{TFRT_DTYPE_F64, TFRT_DTYPE_F64, false},
               {TFRT_DTYPE_F64, TFRT_DTYPE_F64, true},
               {TFRT_DTYPE_I8, TFRT_DTYPE_F32, false},
               {TFRT_DTYPE_I8, TFRT_DTYPE_F32, true},
               {TFRT_DTYPE_I8, TFRT_DTYPE_I8, true}};
  static tfrt_test_plan_t p;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 12);
  p.dnn = tfrt_conformance_dnn();
  for (size_t i = 0; p.dnn && i < TFRT_ARRAY_SIZE(cases); ++i) {
    test_plan_make(&p, &windows[1], cases[i].dtype, cases[i].made, &random);
    p.form.is_fused = cases[i].is_fused;
    p.form.alpha = p.form.alpha2 = 1;
    p.form.activation = TFRT_DNN_IDENTITY;
    if (test_plan_run(&p)) {
      if (p.form.is_fused) {
        test_fuse(&p);
      } else {
        test_convolve(&p, &p.y);
      }
      test_tensor_expect(&p.y);
    }
    test_plan_free(&p);
  }
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

// Expects that no plan of |form| is built.
static void test_refuse(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                        const tfrt_dnn_engine_t* engine, tfrt_status_code_t code,
                        const char* part) {
  tfrt_device_dnn_plan_t* plan = NULL;
  tfrt_status_t status = tfrt_device_dnn_build(dnn, form, engine, &plan);
  ck_assert_msg(
      tfrt_status_code(status) == code && strstr(tfrt_status_message(status), part) && !plan, "%s",
      tfrt_status_message(status));
  tfrt_status_release(status);
}

// Fills |p| in with a fused plan that is fine.
static void test_good_make(tfrt_test_plan_t* p) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, 13);
  test_plan_make(p, &windows[0], TFRT_DTYPE_F32, TFRT_DTYPE_F32, &random);
  p->form.is_fused = true;
  p->form.activation = TFRT_DNN_RELU;
}

#define NUMBER(member) offsetof(tfrt_dnn_plan_form_t, member)

START_TEST(plans_with_one_wrong_number_are_refused) {
  static const struct {
    size_t offset;  // of the number, in the form
    int64_t number;
    const char* part;
  } cases[] = {
      {NUMBER(w.sizes[1]), -2, "filter_dims[1] is -2; give a number from 1 to 2147483647"},
      {NUMBER(y.steps[3]), 0, "output_strides[3] is 0"},
      {NUMBER(x.sizes[0]), INT64_MAX, "input_dims[0] is 9223372036854775807"},
      {NUMBER(padding[1]), -1, "conv_padding[1] is -1; give a number from 0"},
      {NUMBER(steps[0]), 0, "conv_strides[0] is 0"},
      {NUMBER(dilation[1]), 0, "conv_dilations[1] is 0"},
      {NUMBER(dilation[1]), INT32_MAX, "filter_dims[3] reaches over 2147483648 places"},
      {NUMBER(y.sizes[2]), 9, "output_dims[2] is 9 where 4 follows"},
      {NUMBER(y.sizes[0]), 1, "output_dims[0] is 1 where input_dims[0], the batch, is 2"},
      {NUMBER(y.sizes[1]), 7, "output_dims[1] is 7 where filter_dims[0], the outputs, is 8"},
      {NUMBER(w.sizes[1]), 3, "filter_dims[1] is 3 where input_dims[1], the channels, is 4"},
      {NUMBER(bias.sizes[3]), 2, "bias_dims[3] is 2 where output_dims[3] is 4"},
      {NUMBER(w.steps[2]), 3, "filter_strides[2] is 3 where 2 leaves no gap"},
      {NUMBER(w.steps[3]), 2, "filter_strides[2] is 2 where 1 leaves no gap"},
      {NUMBER(bias.steps[1]), 5, "bias_strides[1] is 5 where 1 leaves no gap"},
  };
  static tfrt_test_plan_t p;
  p.dnn = tfrt_conformance_dnn();
  if (!p.dnn) return;
  test_good_make(&p);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    tfrt_dnn_plan_form_t form = p.form;
    memcpy((char*)&form + cases[i].offset, &cases[i].number, sizeof(cases[i].number));
    test_refuse(p.dnn, &form, &(tfrt_dnn_engine_t){0}, TFRT_STATUS_INVALID_ARGUMENT, cases[i].part);
  }
  test_plan_free(&p);
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

START_TEST(plans_of_what_does_not_go_together_are_refused) {
  static const int64_t negative = -1;
  static const char* const parts[] = {"conv_dim is 1; give 2 or 3",
                                      "input_type is i32; plans take f32",
                                      "a filter of f16 for an input of f32",
                                      "bias_type is i64",
                                      "output_type is i32; plans take f32",
                                      "filter_dims has 3 numbers; with a conv_dim of 2 give 4",
                                      "give a backend_type of 10",
                                      "activation_mode 2 is not implemented"};
  static tfrt_test_plan_t p;
  tfrt_dnn_engine_t engine = {0};
  p.dnn = tfrt_conformance_dnn();
  if (!p.dnn) return;
  test_good_make(&p);
  tfrt_dnn_plan_form_t wrong[] = {p.form, p.form, p.form, p.form, p.form, p.form, p.form, p.form};
  wrong[0].space = 1;
  wrong[1].x.dtype = TFRT_DTYPE_I32;
  wrong[2].w.dtype = TFRT_DTYPE_F16;
  wrong[3].bias.dtype = TFRT_DTYPE_I64;
  wrong[4].y.dtype = TFRT_DTYPE_I32;
  wrong[5].w.rank = 3;
  wrong[6].direction = TFRT_DNN_BACKWARD_DATA;
  wrong[7].activation = TFRT_DNN_TANH;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(wrong); ++i) {
    tfrt_status_code_t code = i < 7 ? TFRT_STATUS_INVALID_ARGUMENT : TFRT_STATUS_UNIMPLEMENTED;
    test_refuse(p.dnn, &wrong[i], &engine, code, parts[i]);
  }
  engine.index = -3;
  test_refuse(p.dnn, &p.form, &engine, TFRT_STATUS_INVALID_ARGUMENT, "engine_id is -3");
  engine = (tfrt_dnn_engine_t){0, 1, &negative, &negative};
  test_refuse(p.dnn, &p.form, &engine, TFRT_STATUS_INVALID_ARGUMENT,
              "tuning_knob_ids[0] is -1; give a number from 0");
  test_plan_free(&p);
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

START_TEST(plans_are_run_with_the_memory_that_they_need) {
  static tfrt_test_plan_t p;
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_dnn_plan_t* plan = NULL;
  tfrt_device_buffer_t* part;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 14);
  p.dnn = tfrt_conformance_dnn();
  if (!p.dnn) return;
  test_plan_make(&p, &windows[0], TFRT_DTYPE_F32, TFRT_DTYPE_F32, &random);
  tfrt_conformance_expect_ok(tfrt_device_dnn_build(p.dnn, &p.form, &(tfrt_dnn_engine_t){0}, &plan));
  const tfrt_dnn_plan_memory_t good = {
      .x = p.x.memory, .y = p.y.memory, .w = p.w.memory, .workspace = p.z.memory};
  tfrt_dnn_plan_memory_t memory = good;
  memory.y = p.bias.memory;
  tfrt_conformance_expect(tfrt_device_dnn_plan_run(plan, p.dnn, t->stream, &memory),
                          TFRT_STATUS_OUT_OF_RANGE);
  size_t size = (p.x.span - 1) * sizeof(float);
  tfrt_conformance_expect_ok(
      tfrt_device_buffer_create_view(p.x.memory.buffer, sizeof(float), size, &part));
  memory = good;
  memory.w.buffer = part;
  tfrt_conformance_expect(tfrt_device_dnn_plan_run(plan, p.dnn, t->stream, &memory),
                          TFRT_STATUS_INVALID_ARGUMENT);
  memory = good;
  memory.z = memory.bias = p.bias.memory;
  tfrt_conformance_expect(tfrt_device_dnn_plan_run(plan, p.dnn, t->stream, &memory),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_device_buffer_release(part);
  tfrt_device_dnn_plan_release(plan);
  test_plan_free(&p);
  tfrt_device_dnn_release(p.dnn);
}
END_TEST

TCase* tfrt_conformance_plans_case(void) {
  TCase* plans = tcase_create("plans");
  tcase_set_timeout(plans, 60);
  tcase_add_checked_fixture(plans, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(plans, plans_go_there_and_back);
  tcase_add_test(plans, plans_are_made_with_what_follows);
  tcase_add_test(plans, plans_are_of_other_types);
  tcase_add_test(plans, plans_with_one_wrong_number_are_refused);
  tcase_add_test(plans, plans_of_what_does_not_go_together_are_refused);
  tcase_add_test(plans, plans_are_run_with_the_memory_that_they_need);
  return plans;
}
