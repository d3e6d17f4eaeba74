// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_blas_math.h"

#include "devices/cpu/cpu_element.h"

// --- Numbers -----------------------------------------------------------------------------

static double cpu_blas_scalar(const tfrt_blas_scalar_t* scalar) {
  if (scalar->dtype == TFRT_DTYPE_F64) return scalar->f64;
  return scalar->dtype == TFRT_DTYPE_F32 ? (double)scalar->f32 : tfrt_f16_to_double(scalar->f16);
}

// |value| as a sum that is made in f64 or in f32 holds it.
static double cpu_blas_round(double value, bool is_f64) {
  return is_f64 ? value : (double)(float)value;
}

// --- Vectors -----------------------------------------------------------------------------

// The place of element |i| of the |count| of |vector|.
static int64_t cpu_blas_place(const tfrt_blas_vector_t* vector, int32_t count, int64_t i) {
  int64_t step = vector->step;
  return step > 0 ? i * step : (i - (count - 1)) * step;
}

static void cpu_blas_axpy(const tfrt_blas_axpy_t* call) {
  double alpha = cpu_blas_scalar(&call->alpha);
  bool is_f64 = call->execution == TFRT_DTYPE_F64;
  for (int32_t i = 0; i < call->count; ++i) {
    int64_t to = cpu_blas_place(&call->y, call->count, i);
    double x = tfrt_cpu_element_get(call->x.address, call->x.dtype,
                                    cpu_blas_place(&call->x, call->count, i));
    double y = tfrt_cpu_element_get(call->y.address, call->y.dtype, to);
    tfrt_cpu_element_set(call->y.address, call->y.dtype, to, cpu_blas_round(alpha * x, is_f64) + y);
  }
}

static void cpu_blas_scale(const tfrt_blas_scale_t* call) {
  double alpha = cpu_blas_scalar(&call->alpha);
  for (int32_t i = 0; i < call->count; ++i) {
    int64_t place = (int64_t)i * call->x.step;
    double x = tfrt_cpu_element_get(call->x.address, call->x.dtype, place);
    tfrt_cpu_element_set(call->x.address, call->x.dtype, place, alpha * x);
  }
}

// --- Products ----------------------------------------------------------------------------

// Element (|row|, |column|) of |matrix| as |form| takes it, in matrix |i| of a batch.
static double cpu_blas_at(const tfrt_blas_matrix_t* matrix, tfrt_blas_form_t form, int64_t i,
                          int64_t row, int64_t column) {
  int64_t place =
      form == TFRT_BLAS_FORM_PLAIN ? row + column * matrix->height : column + row * matrix->height;
  return tfrt_cpu_element_get(matrix->address, matrix->dtype, i * matrix->distance + place);
}

static void cpu_blas_multiply_one(const tfrt_blas_multiply_t* call, int64_t i, bool is_f64,
                                  int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t k = 0; k < call->inner; ++k) {
    double product = cpu_blas_at(&call->a, call->a_form, i, row, k) *
                     cpu_blas_at(&call->b, call->b_form, i, k, column);
    sum = cpu_blas_round(sum + product, is_f64);
  }
  double value = cpu_blas_scalar(&call->alpha) * sum;
  double beta = cpu_blas_scalar(&call->beta);
  int64_t place = i * call->c.distance + row + column * call->c.height;
  // With beta 0, c may hold anything, also NaNs, and is not read.
  if (beta != 0) value += beta * tfrt_cpu_element_get(call->c.address, call->c.dtype, place);
  tfrt_cpu_element_set(call->c.address, call->c.dtype, place, value);
}

static void cpu_blas_multiply(const tfrt_blas_multiply_t* call) {
  bool is_f64 = call->c.dtype == TFRT_DTYPE_F64;
  for (int64_t i = 0; i < call->count; ++i) {
    for (int64_t column = 0; column < call->columns; ++column) {
      for (int64_t row = 0; row < call->rows; ++row) {
        cpu_blas_multiply_one(call, i, is_f64, row, column);
      }
    }
  }
}

// --- Triangular systems ------------------------------------------------------------------

// Solves one system of |call|: for the vector that begins at place |start| of b, whose elements
// are |step| apart. A system from the right is one from the left that is transposed.
static void cpu_blas_solve_vector(const tfrt_blas_solve_t* call, tfrt_device_address_t a,
                                  tfrt_device_address_t b, int64_t start, int64_t step) {
  tfrt_dtype_t dtype = call->alpha.dtype;
  int64_t size = call->is_right ? call->columns : call->rows;
  bool is_transposed = (call->form != TFRT_BLAS_FORM_PLAIN) != call->is_right;
  // With all above the diagonal, the last element is known first.
  bool is_backwards = call->is_upper != is_transposed;
  double alpha = cpu_blas_scalar(&call->alpha);
  for (int64_t k = 0; k < size; ++k) {
    int64_t row = is_backwards ? size - 1 - k : k;
    double value = alpha * tfrt_cpu_element_get(b, dtype, start + row * step);
    for (int64_t known = 0; known < k; ++known) {
      int64_t column = is_backwards ? size - 1 - known : known;
      int64_t place = is_transposed ? column + row * call->a.height : row + column * call->a.height;
      value -= tfrt_cpu_element_get(a, dtype, place) *
               tfrt_cpu_element_get(b, dtype, start + column * step);
    }
    if (!call->has_unit_diagonal)
      value /= tfrt_cpu_element_get(a, dtype, row + row * call->a.height);
    tfrt_cpu_element_set(b, dtype, start + row * step, value);
  }
}

static void cpu_blas_solve(const tfrt_blas_solve_t* call) {
  const tfrt_device_address_t* a = (const void*)(uintptr_t)call->a_addresses;
  const tfrt_device_address_t* b = (const void*)(uintptr_t)call->b_addresses;
  int64_t vectors = call->is_right ? call->rows : call->columns;
  for (int32_t i = 0; i < call->count; ++i) {
    for (int64_t v = 0; v < vectors; ++v) {
      cpu_blas_solve_vector(call, a[i], b[i], call->is_right ? v : v * call->b.height,
                            call->is_right ? call->b.height : 1);
    }
  }
}

void tfrt_cpu_blas_run(const void* argument) {
  const tfrt_cpu_blas_call_t* call = argument;
  switch (call->kind) {
    case TFRT_CPU_BLAS_AXPY:
      cpu_blas_axpy(&call->axpy);
      return;
    case TFRT_CPU_BLAS_SCALE:
      cpu_blas_scale(&call->scale);
      return;
    case TFRT_CPU_BLAS_MULTIPLY:
      cpu_blas_multiply(&call->multiply);
      return;
    case TFRT_CPU_BLAS_SOLVE:
      cpu_blas_solve(&call->solve);
      return;
  }
}
