// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra, against plain loops.
#include <math.h>

#include "devices/conformance/conformance_fixture.h"
#include "devices/device_blas.h"
#include "host_runtime/base/random.h"
#include "host_runtime/tensor/small_float.h"

// The elements of the matrices of these tests, at most.
#define MAX_ELEMENTS 512

// A handle, or NULL where the library is absent and the backend may do without it.
static tfrt_device_blas_t* test_blas(void) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_blas_t* blas = NULL;
  tfrt_status_t status = tfrt_device_create_blas(t->device, &blas);
  if (tfrt_status_code(status) == TFRT_STATUS_UNAVAILABLE &&
      !tfrt_conformance_has(TFRT_CONFORMANCE_BLAS)) {
    tfrt_status_release(status);
    return NULL;
  }
  tfrt_conformance_expect_ok(status);
  return blas;
}

// A buffer on the device with the |count| |numbers| as elements of |dtype|.
static tfrt_device_buffer_t* test_store(tfrt_dtype_t dtype, size_t count, const double* numbers) {
  tfrt_conformance_t* t = &tfrt_conformance;
  size_t size = count * tfrt_dtype_size(dtype);
  tfrt_device_buffer_t* host = tfrt_conformance_host(size);
  void* data = tfrt_device_buffer_host_data(host);
  for (size_t i = 0; i < count; ++i) {
    if (dtype == TFRT_DTYPE_F64) ((double*)data)[i] = numbers[i];
    if (dtype == TFRT_DTYPE_F32) ((float*)data)[i] = (float)numbers[i];
    if (dtype == TFRT_DTYPE_F16) ((uint16_t*)data)[i] = tfrt_f16_from_double(numbers[i]);
    if (dtype == TFRT_DTYPE_BF16) ((uint16_t*)data)[i] = tfrt_bf16_from_double(numbers[i]);
  }
  tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, size);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, buffer, 0, host, 0, size));
  tfrt_device_buffer_release(host);
  return buffer;
}

// Fills |numbers| with |count| small whole numbers from |random|.
static void test_choose(size_t count, tfrt_random_t* random, double* numbers) {
  for (size_t i = 0; i < count; ++i) numbers[i] = (double)tfrt_random_below(random, 7) - 3;
}

// Both: a buffer of such numbers, which |out_numbers| has, too.
static tfrt_device_buffer_t* test_numbers(tfrt_dtype_t dtype, size_t count, tfrt_random_t* random,
                                          double* out_numbers) {
  test_choose(count, random, out_numbers);
  return test_store(dtype, count, out_numbers);
}

// Checks that |buffer|, as work of the stream leaves it, has |count| numbers close to |expected|.
static void test_expect_numbers(tfrt_device_buffer_t* buffer, tfrt_dtype_t dtype, size_t count,
                                const double* expected) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* host = tfrt_conformance_host(buffer->size);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, host, 0, buffer, 0, buffer->size));
  tfrt_conformance_finish(t->stream);
  const void* data = tfrt_device_buffer_host_data(host);
  for (size_t i = 0; i < count; ++i) {
    double found = 0;
    if (dtype == TFRT_DTYPE_F64) found = ((const double*)data)[i];
    if (dtype == TFRT_DTYPE_F32) found = (double)((const float*)data)[i];
    if (dtype == TFRT_DTYPE_F16) found = tfrt_f16_to_double(((const uint16_t*)data)[i]);
    if (dtype == TFRT_DTYPE_BF16) found = tfrt_bf16_to_double(((const uint16_t*)data)[i]);
    // A bf16 has 8 bits.
    double error = fabs(expected[i]) * (dtype == TFRT_DTYPE_BF16 ? 0.01 : 0.001);
    ck_assert_msg(fabs(found - expected[i]) <= error, "element %zu is %g and not %g", i, found,
                  expected[i]);
  }
  tfrt_device_buffer_release(host);
}

static tfrt_blas_scalar_t test_scalar(tfrt_dtype_t dtype, double value) {
  tfrt_blas_scalar_t scalar = {.dtype = dtype};
  if (dtype == TFRT_DTYPE_F64) scalar.f64 = value;
  if (dtype == TFRT_DTYPE_F32) scalar.f32 = (float)value;
  if (dtype == TFRT_DTYPE_F16) scalar.f16 = tfrt_f16_from_double(value);
  return scalar;
}

// --- Vectors -------------------------------------------------------------------------------

// The place of element |i| of |count|.
static size_t test_place(int32_t step, int32_t count, int32_t i) {
  return (size_t)(step > 0 ? i * step : (count - 1 - i) * -step);
}

START_TEST(a_multiple_of_a_vector_is_added_to_another_one) {
  tfrt_conformance_t* t = &tfrt_conformance;
  static const tfrt_dtype_t types[] = {TFRT_DTYPE_F32, TFRT_DTYPE_F64, TFRT_DTYPE_F16,
                                       TFRT_DTYPE_BF16};
  static const int32_t steps[][2] = {{1, 1}, {2, 3}, {-1, 2}, {3, -2}};
  tfrt_device_blas_t* blas = test_blas();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 1);
  for (size_t i = 0; blas && i < TFRT_ARRAY_SIZE(types); ++i) {
    for (size_t k = 0; k < TFRT_ARRAY_SIZE(steps); ++k) {
      double x[MAX_ELEMENTS];
      double y[MAX_ELEMENTS];
      tfrt_dtype_t execution = types[i] == TFRT_DTYPE_F64 ? types[i] : TFRT_DTYPE_F32;
      tfrt_blas_axpy_t call = {.count = 50,
                               .alpha = test_scalar(execution, 2.5),
                               .x = {.dtype = types[i], .step = steps[k][0]},
                               .y = {.dtype = types[i], .step = steps[k][1]},
                               .execution = execution};
      call.x.buffer = test_numbers(types[i], 200, &random, x);
      call.y.buffer = test_numbers(types[i], 200, &random, y);
      for (int32_t n = 0; n < 50; ++n) {
        y[test_place(steps[k][1], 50, n)] += 2.5 * x[test_place(steps[k][0], 50, n)];
      }
      tfrt_conformance_expect_ok(tfrt_device_blas_axpy(blas, t->stream, &call));
      test_expect_numbers(call.y.buffer, types[i], 200, y);
      tfrt_device_buffer_release(call.x.buffer);
      tfrt_device_buffer_release(call.y.buffer);
    }
  }
  tfrt_device_blas_release(blas);
}
END_TEST

START_TEST(a_vector_is_scaled) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_blas_t* blas = test_blas();
  if (!blas) return;
  tfrt_random_t random;
  tfrt_random_initialize(&random, 2);
  double x[MAX_ELEMENTS];
  tfrt_blas_scale_t call = {.count = 20,
                            .alpha = test_scalar(TFRT_DTYPE_F32, -0.5),
                            .x = {.dtype = TFRT_DTYPE_F32, .step = 3},
                            .execution = TFRT_DTYPE_F32};
  call.x.buffer = test_numbers(TFRT_DTYPE_F32, 60, &random, x);
  for (int n = 0; n < 20; ++n) x[3 * n] *= -0.5;
  tfrt_conformance_expect_ok(tfrt_device_blas_scale(blas, t->stream, &call));
  test_expect_numbers(call.x.buffer, TFRT_DTYPE_F32, 60, x);
  tfrt_device_buffer_release(call.x.buffer);
  tfrt_device_blas_release(blas);
}
END_TEST

// --- Products ------------------------------------------------------------------------------

// Types that are multiplied with each other.
typedef struct tfrt_test_kind_s {
  tfrt_blas_compute_t compute;
  tfrt_dtype_t from;
  tfrt_dtype_t to;
  tfrt_dtype_t scale;
} tfrt_test_kind_t;

// Element (|row|, |column|) of matrix |i| in |numbers|.
static size_t test_element(const tfrt_blas_matrix_t* matrix, bool is_plain, int i, int row,
                           int column) {
  int place = is_plain ? row + column * matrix->height : column + row * matrix->height;
  return (size_t)(i * matrix->distance + place);
}

// The bytes of |buffer| (consumed) from |offset| on.
static tfrt_device_buffer_t* test_rest(tfrt_device_buffer_t* buffer, size_t offset) {
  tfrt_device_buffer_t* rest;
  tfrt_conformance_expect_ok(
      tfrt_device_buffer_create_view(buffer, offset, buffer->size - offset, &rest));
  tfrt_device_buffer_release(buffer);
  return rest;
}

// Makes |call| of 3 products, of 4 rows and 5 columns and 6 terms; |is_batch|: else of one. Each
// matrix begins |first| elements behind the start of its memory.
static void test_multiply(tfrt_device_blas_t* blas, const tfrt_test_kind_t* kind, bool a_plain,
                          bool b_plain, bool is_batch, size_t first, tfrt_random_t* random) {
  double a[MAX_ELEMENTS];
  double b[MAX_ELEMENTS];
  double c[MAX_ELEMENTS];
  tfrt_blas_multiply_t call = {
      .a_form = a_plain ? TFRT_BLAS_FORM_PLAIN : TFRT_BLAS_FORM_TRANSPOSED,
      .b_form = b_plain ? TFRT_BLAS_FORM_PLAIN : TFRT_BLAS_FORM_CONJUGATED,
      .rows = 4,
      .columns = 5,
      .inner = 6,
      .alpha = test_scalar(kind->scale, 0.5),
      .a = {.dtype = kind->from, .height = 7, .distance = is_batch ? 50 : 0},
      .b = {.dtype = kind->from, .height = 8, .distance = is_batch ? 60 : 0},
      .beta = test_scalar(kind->scale, 2),
      .c = {.dtype = kind->to, .height = 6, .distance = is_batch ? 40 : 0},
      .is_batch = is_batch,
      .count = is_batch ? 3 : 1,
      .compute = kind->compute,
      .algorithm = TFRT_BLAS_ALGORITHM_DEFAULT};
  size_t from_size = tfrt_dtype_size(kind->from);
  call.a.buffer = test_rest(test_numbers(kind->from, 200 + first, random, a), first * from_size);
  call.b.buffer = test_rest(test_numbers(kind->from, 200 + first, random, b), first * from_size);
  tfrt_device_buffer_t* results = test_numbers(kind->to, 200 + first, random, c);
  call.c.buffer = test_rest(tfrt_device_buffer_retain(results), first * tfrt_dtype_size(kind->to));
  for (int i = 0; i < call.count; ++i) {
    for (int n = 0; n < 4 * 5; ++n) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) {
        sum += a[first + test_element(&call.a, a_plain, i, n % 4, k)] *
               b[first + test_element(&call.b, b_plain, i, k, n / 4)];
      }
      size_t place = first + test_element(&call.c, true, i, n % 4, n / 4);
      c[place] = 0.5 * sum + 2 * c[place];
    }
  }
  tfrt_conformance_expect_ok(tfrt_device_blas_multiply(blas, tfrt_conformance.stream, &call));
  test_expect_numbers(results, kind->to, 200 + first, c);
  tfrt_device_buffer_release(call.a.buffer);
  tfrt_device_buffer_release(call.b.buffer);
  tfrt_device_buffer_release(call.c.buffer);
  tfrt_device_buffer_release(results);
}

START_TEST(matrices_of_all_types_and_forms_are_multiplied) {
  static const tfrt_test_kind_t kinds[] = {
      {TFRT_BLAS_COMPUTE_F32, TFRT_DTYPE_F32, TFRT_DTYPE_F32, TFRT_DTYPE_F32},
      {TFRT_BLAS_COMPUTE_F32, TFRT_DTYPE_F16, TFRT_DTYPE_F16, TFRT_DTYPE_F32},
      {TFRT_BLAS_COMPUTE_F32, TFRT_DTYPE_F16, TFRT_DTYPE_F32, TFRT_DTYPE_F32},
      {TFRT_BLAS_COMPUTE_F32, TFRT_DTYPE_BF16, TFRT_DTYPE_BF16, TFRT_DTYPE_F32},
      {TFRT_BLAS_COMPUTE_F64, TFRT_DTYPE_F64, TFRT_DTYPE_F64, TFRT_DTYPE_F64},
      {TFRT_BLAS_COMPUTE_F16, TFRT_DTYPE_F16, TFRT_DTYPE_F16, TFRT_DTYPE_F16},
  };
  tfrt_device_blas_t* blas = test_blas();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 3);
  for (size_t i = 0; blas && i < TFRT_ARRAY_SIZE(kinds); ++i) {
    for (int forms = 0; forms < 4; ++forms) {
      test_multiply(blas, &kinds[i], forms & 1, forms & 2, false, 0, &random);
      test_multiply(blas, &kinds[i], forms & 1, forms & 2, true, 0, &random);
    }
    // Algorithms that need more than an element's alignment must not be taken here.
    test_multiply(blas, &kinds[i], true, false, true, 1, &random);
    test_multiply(blas, &kinds[i], false, true, false, 3, &random);
  }
  tfrt_device_blas_release(blas);
}
END_TEST

// --- Triangular systems --------------------------------------------------------------------

// The triangle |a| with 2 on its diagonal, as element (|row|, |column|) of what is solved with.
static double test_triangle(const tfrt_blas_solve_t* call, const double* a, int i, int row,
                            int column) {
  bool is_plain = call->form == TFRT_BLAS_FORM_PLAIN;
  int stored_row = is_plain ? row : column;
  int stored_column = is_plain ? column : row;
  if (row == column) return call->has_unit_diagonal ? 1 : 2;
  if ((stored_row < stored_column) != call->is_upper) return 0;
  return a[test_element(&call->a, true, i, stored_row, stored_column)];
}

// Sets the right sides |b| of |call| to what the solutions |x| come from.
static void test_right_sides(const tfrt_blas_solve_t* call, const double* a, const double* x,
                             double* b) {
  int size = call->is_right ? 5 : 3;
  for (int n = 0; n < 2 * 3 * 5; ++n) {
    int i = n / 15;
    int row = n % 3;
    int column = n % 15 / 3;
    double sum = 0;
    for (int k = 0; k < size; ++k) {
      sum +=
          call->is_right
              ? x[test_element(&call->b, true, i, row, k)] * test_triangle(call, a, i, k, column)
              : test_triangle(call, a, i, row, k) * x[test_element(&call->b, true, i, k, column)];
    }
    // Half of it is solved for.
    b[test_element(&call->b, true, i, row, column)] = 2 * sum;
  }
}

// Solves |call|, whose solutions are known.
static void test_solve(tfrt_device_blas_t* blas, tfrt_blas_solve_t call, tfrt_dtype_t dtype,
                       tfrt_random_t* random) {
  double a[MAX_ELEMENTS];
  double b[MAX_ELEMENTS];
  double x[MAX_ELEMENTS] = {0};
  int size = call.is_right ? 5 : 3;
  call.a = (tfrt_blas_matrix_t){.dtype = dtype, .height = size, .distance = size * size};
  call.b = (tfrt_blas_matrix_t){.dtype = dtype, .height = 4, .distance = 4 * 5};
  call.alpha = test_scalar(dtype, 0.5);
  test_choose(50, random, a);
  test_choose(40, random, x);
  for (int n = 0; n < 2 * size; ++n) {
    a[test_element(&call.a, true, n / size, n % size, n % size)] = 2;
  }
  memcpy(b, x, sizeof(b));
  test_right_sides(&call, a, x, b);
  call.a.buffer = test_store(dtype, 50, a);
  call.b.buffer = test_store(dtype, 40, b);
  tfrt_conformance_expect_ok(tfrt_device_blas_solve(blas, tfrt_conformance.stream, &call));
  test_expect_numbers(call.b.buffer, dtype, 40, x);
  tfrt_device_buffer_release(call.a.buffer);
  tfrt_device_buffer_release(call.b.buffer);
}

START_TEST(triangular_systems_of_all_kinds_are_solved) {
  tfrt_device_blas_t* blas = test_blas();
  tfrt_random_t random;
  tfrt_random_initialize(&random, 4);
  for (int kind = 0; blas && kind < 32; ++kind) {
    tfrt_blas_solve_t call = {.is_right = kind & 1,
                              .is_upper = kind & 2,
                              .form = kind & 4 ? TFRT_BLAS_FORM_TRANSPOSED : TFRT_BLAS_FORM_PLAIN,
                              .has_unit_diagonal = kind & 8,
                              .rows = 3,
                              .columns = 5,
                              .count = 2};
    test_solve(blas, call, kind & 16 ? TFRT_DTYPE_F64 : TFRT_DTYPE_F32, &random);
  }
  tfrt_device_blas_release(blas);
}
END_TEST

// --- Order and life ------------------------------------------------------------------------

// One handle in two streams that take turns, released with work in flight.
START_TEST(one_handle_works_in_any_stream_and_may_go_at_once) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_blas_t* blas = test_blas();
  if (!blas) return;
  tfrt_device_stream_t* streams[] = {t->stream, tfrt_conformance_stream(t->device)};
  tfrt_blas_scale_t call = {.count = 100,
                            .alpha = test_scalar(TFRT_DTYPE_F32, 2),
                            .x = {.buffer = t->buffer, .dtype = TFRT_DTYPE_F32, .step = 1},
                            .execution = TFRT_DTYPE_F32};
  double expected[100];
  // The bits of 1.0f.
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0x3f800000, 4));
  for (int i = 0; i < 20; ++i) {
    tfrt_conformance_expect_ok(tfrt_device_stream_join(streams[i % 2], streams[1 - i % 2]));
    tfrt_conformance_expect_ok(tfrt_device_blas_scale(blas, streams[i % 2], &call));
  }
  tfrt_device_blas_release(blas);
  tfrt_conformance_expect_ok(tfrt_device_stream_join(streams[0], streams[1]));
  for (int i = 0; i < 100; ++i) expected[i] = 1 << 20;
  test_expect_numbers(t->buffer, TFRT_DTYPE_F32, 100, expected);
  tfrt_device_stream_release(streams[1]);
}
END_TEST

// --- Refusals ------------------------------------------------------------------------------

// A product of two matrices of 10 rows and columns that is taken.
static tfrt_blas_multiply_t test_good_product(void) {
  tfrt_blas_matrix_t matrix = {
      .buffer = tfrt_conformance.buffer, .dtype = TFRT_DTYPE_F32, .height = 10};
  return (tfrt_blas_multiply_t){.rows = 10,
                                .columns = 10,
                                .inner = 10,
                                .alpha = test_scalar(TFRT_DTYPE_F32, 1),
                                .a = matrix,
                                .b = matrix,
                                .beta = test_scalar(TFRT_DTYPE_F32, 0),
                                .c = matrix,
                                .count = 1,
                                .compute = TFRT_BLAS_COMPUTE_F32};
}

static void test_refused(tfrt_device_blas_t* blas, const tfrt_blas_multiply_t* call,
                         tfrt_status_code_t code) {
  tfrt_conformance_expect(tfrt_device_blas_multiply(blas, tfrt_conformance.stream, call), code);
}

START_TEST(what_does_not_fit_is_refused) {
  tfrt_device_blas_t* blas = test_blas();
  if (!blas) return;
  tfrt_blas_multiply_t call = test_good_product();
  call.a.height = 9;
  test_refused(blas, &call, TFRT_STATUS_INVALID_ARGUMENT);
  call = test_good_product();
  call.inner = -1;
  test_refused(blas, &call, TFRT_STATUS_INVALID_ARGUMENT);
  call = test_good_product();
  call.b.dtype = TFRT_DTYPE_F16;
  test_refused(blas, &call, TFRT_STATUS_INVALID_ARGUMENT);
  call = test_good_product();
  call.columns = INT32_MAX;
  test_refused(blas, &call, TFRT_STATUS_OUT_OF_RANGE);
  call = test_good_product();
  call.count = INT32_MAX;
  call.a.distance = INT64_MAX;
  test_refused(blas, &call, TFRT_STATUS_OUT_OF_RANGE);
  call = test_good_product();
  call.count = 2;
  test_refused(blas, &call, TFRT_STATUS_INVALID_ARGUMENT);
  call.count = 0;
  test_refused(blas, &call, TFRT_STATUS_OK);
  tfrt_device_blas_release(blas);
}
END_TEST

START_TEST(a_stream_of_another_device_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_blas_t* blas = t->peer ? test_blas() : NULL;
  if (!blas) return;
  tfrt_device_stream_t* stream = tfrt_conformance_stream(t->peer);
  tfrt_blas_multiply_t call = test_good_product();
  tfrt_conformance_expect(tfrt_device_blas_multiply(blas, stream, &call),
                          TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_device_stream_release(stream);
  tfrt_device_blas_release(blas);
}
END_TEST

TCase* tfrt_conformance_blas_case(void) {
  TCase* blas = tcase_create("blas");
  tcase_set_timeout(blas, 60);
  tcase_add_checked_fixture(blas, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(blas, a_multiple_of_a_vector_is_added_to_another_one);
  tcase_add_test(blas, a_vector_is_scaled);
  tcase_add_test(blas, matrices_of_all_types_and_forms_are_multiplied);
  tcase_add_test(blas, triangular_systems_of_all_kinds_are_solved);
  tcase_add_test(blas, one_handle_works_in_any_stream_and_may_go_at_once);
  tcase_add_test(blas, what_does_not_fit_is_refused);
  tcase_add_test(blas, a_stream_of_another_device_is_refused);
  return blas;
}
