// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/pointwise.h"

#include <string.h>

#include "kernels/tensor/math/check_tensor.h"

// --- Walking -----------------------------------------------------------------
//
// A run is a line along the last axis of the target. Each operand has its own step along
// each axis: 0 where it is stretched.

typedef struct run_s {
  const void* a;
  int64_t step_a;
  const void* b;
  int64_t step_b;
  void* target;
  int64_t count;
} run_t;

typedef void (*run_fn_t)(const run_t* run);

// How far |operand| moves, in elements, for one step along each of |rank| axes.
static void compute_steps(const tfrt_shape_t* operand, uint32_t rank, int64_t* steps) {
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t missing = rank - operand->rank;
    bool is_stretched = i < missing || operand->dims[i - missing] == 1;
    steps[i] = is_stretched ? 0 : tfrt_shape_stride(operand, i - missing);
  }
}

static int64_t offset_of(const int64_t* index, const int64_t* steps, uint32_t count) {
  int64_t offset = 0;
  for (uint32_t i = 0; i < count; ++i) offset += index[i] * steps[i];
  return offset;
}

// Calls |function| for each run of |target|, counting the other axes up like an odometer.
static void walk(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                 const tfrt_dense_host_tensor_t* target, run_fn_t function) {
  const tfrt_shape_t* shape = &target->shape;
  // A scalar is one run of one element.
  uint32_t outer = shape->rank > 0 ? shape->rank - 1 : 0;
  int64_t steps_a[TFRT_SHAPE_MAX_RANK] = {0};
  int64_t steps_b[TFRT_SHAPE_MAX_RANK] = {0};
  compute_steps(&a->shape, shape->rank, steps_a);
  compute_steps(&b->shape, shape->rank, steps_b);
  size_t size = tfrt_dtype_size(target->dtype);
  int64_t total = tfrt_dense_host_tensor_element_count(target);
  run_t run = {.step_a = steps_a[outer],
               .step_b = steps_b[outer],
               .count = shape->rank > 0 ? shape->dims[outer] : 1};
  int64_t index[TFRT_SHAPE_MAX_RANK] = {0};
  for (int64_t done = 0; done < total; done += run.count) {
    run.a = (const char*)tfrt_dense_host_tensor_data(a) +
            (size_t)offset_of(index, steps_a, outer) * size;
    run.b = (const char*)tfrt_dense_host_tensor_data(b) +
            (size_t)offset_of(index, steps_b, outer) * size;
    run.target = (char*)tfrt_dense_host_tensor_data(target) + (size_t)done * size;
    function(&run);
    for (uint32_t i = outer; i-- > 0 && ++index[i] == shape->dims[i];) index[i] = 0;
  }
}

// --- One run of each operation and dtype -------------------------------------

// Integers are added and subtracted unsigned, so that they wrap.
#define DEFINE_RUN(name, type, expression)             \
  static void name(const run_t* run) {                 \
    type* target = run->target;                        \
    for (int64_t i = 0; i < run->count; ++i) {         \
      type a = ((const type*)run->a)[i * run->step_a]; \
      type b = ((const type*)run->b)[i * run->step_b]; \
      target[i] = expression;                          \
    }                                                  \
  }

#define DEFINE_RUNS(word, type, wrapping)           \
  DEFINE_RUN(add_##word, wrapping, a + b)           \
  DEFINE_RUN(subtract_##word, wrapping, b - a)      \
  DEFINE_RUN(equal_##word, type, (type)(a == b))    \
  DEFINE_RUN(relu_grad_##word, type, a > 0 ? b : 0) \
  DEFINE_RUN(relu_##word, type, b < 0 ? 0 : a)

DEFINE_RUNS(f32, float, float)
DEFINE_RUNS(f64, double, double)
DEFINE_RUNS(i32, int32_t, uint32_t)
DEFINE_RUNS(i64, int64_t, uint64_t)

// The functions for one dtype; the first ones at the numbers of tfrt_pointwise_t.
enum { RUN_RELU = 4, RUN_COUNT };

#define RUNS_OF(word) \
  { add_##word, subtract_##word, equal_##word, relu_grad_##word, relu_##word }

static run_fn_t find_run(tfrt_dtype_t dtype, int operation) {
  static const run_fn_t runs[TFRT_DTYPE_COUNT][RUN_COUNT] = {
      [TFRT_DTYPE_F32] = RUNS_OF(f32),
      [TFRT_DTYPE_F64] = RUNS_OF(f64),
      [TFRT_DTYPE_I32] = RUNS_OF(i32),
      [TFRT_DTYPE_I64] = RUNS_OF(i64),
  };
  return runs[dtype][operation];
}

// --- Operations --------------------------------------------------------------

static tfrt_status_t check(const char* name, const tfrt_dense_host_tensor_t* a,
                           const tfrt_dense_host_tensor_t* b,
                           const tfrt_dense_host_tensor_t* target) {
  if (a->dtype != b->dtype) return tfrt_dtypes_mismatch(name, a, b);
  if (a->dtype != target->dtype) return tfrt_dtypes_mismatch(name, a, target);
  if (!find_run(a->dtype, 0)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s takes f32, f64, i32 or i64, but gets %s %s", name,
                              tfrt_dtype_name(a->dtype), tfrt_shape_text(&a->shape).text);
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(
      tfrt_status_take_annotate(tfrt_shape_broadcast(&a->shape, &b->shape, &shape), "%s", name));
  if (tfrt_shape_equal(&shape, &target->shape)) return NULL;
  return tfrt_shapes_mismatch(name, "the target must have the shape of the result", &shape,
                              &target->shape);
}

tfrt_status_t tfrt_tensor_combine(tfrt_pointwise_t operation, const char* name,
                                  const tfrt_dense_host_tensor_t* a,
                                  const tfrt_dense_host_tensor_t* b,
                                  const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(check(name, a, b, target));
  walk(a, b, target, find_run(a->dtype, (int)operation));
  return NULL;
}

tfrt_status_t tfrt_tensor_relu_into(const tfrt_dense_host_tensor_t* x,
                                    const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(check("relu", x, x, target));
  walk(x, x, target, find_run(x->dtype, RUN_RELU));
  return NULL;
}

tfrt_status_t tfrt_tensor_stretch_into(const tfrt_dense_host_tensor_t* x,
                                       const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(check("broadcast", x, target, target));
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("broadcast", x, target));
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t steps[TFRT_SHAPE_MAX_RANK] = {0};
  compute_steps(&x->shape, target->shape.rank, steps);
  int64_t index[TFRT_SHAPE_MAX_RANK] = {0};
  int64_t total = tfrt_dense_host_tensor_element_count(target);
  const char* source = tfrt_dense_host_tensor_data(x);
  char* element = tfrt_dense_host_tensor_data(target);
  for (int64_t i = 0; i < total; ++i, element += size) {
    memcpy(element, source + (size_t)offset_of(index, steps, target->shape.rank) * size, size);
    for (uint32_t j = target->shape.rank; j-- > 0 && ++index[j] == target->shape.dims[j];) {
      index[j] = 0;
    }
  }
  return NULL;
}

tfrt_status_t tfrt_tensor_descend(const tfrt_dense_host_tensor_t* gradient, float rate,
                                  const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(gradient, TFRT_DTYPE_F32, "the gradient"));
  TFRT_RETURN_IF_ERROR(tfrt_check_dtype(target, TFRT_DTYPE_F32, "the target of the gradient"));
  if (!tfrt_shape_equal(&gradient->shape, &target->shape)) {
    return tfrt_shapes_mismatch("gradient_descent", "both must have one shape", &gradient->shape,
                                &target->shape);
  }
  const float* source = tfrt_dense_host_tensor_data(gradient);
  float* values = tfrt_dense_host_tensor_data(target);
  int64_t count = tfrt_dense_host_tensor_element_count(target);
  for (int64_t i = 0; i < count; ++i) values[i] -= source[i] * rate;
  return NULL;
}
