// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices. f32 goes to small_product.h, the rest through plain loops.
#include <string.h>

#include "kernels/nn/math/broadcast.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/small_product.h"

#define LOOP(suffix, type, wide)                                                             \
  static void multiply_##suffix(const tfrt_nn_product_t* p, const void* va, const void* vb,  \
                                void* vc) {                                                  \
    const type* a = va;                                                                      \
    const type* b = vb;                                                                      \
    type* c = vc;                                                                            \
    int64_t a_row = p->a_is_transposed ? 1 : p->k, a_column = p->a_is_transposed ? p->m : 1; \
    int64_t b_row = p->b_is_transposed ? 1 : p->n, b_column = p->b_is_transposed ? p->k : 1; \
    for (int64_t i = 0; i < p->m; ++i) {                                                     \
      for (int64_t j = 0; j < p->n; ++j) {                                                   \
        wide sum = 0;                                                                        \
        for (int64_t l = 0; l < p->k; ++l) {                                                 \
          sum += (wide)a[i * a_row + l * a_column] * (wide)b[l * b_row + j * b_column];      \
        }                                                                                    \
        c[i * p->n + j] = (type)sum;                                                         \
      }                                                                                      \
    }                                                                                        \
  }
LOOP(f64, double, double)
LOOP(i32, int32_t, uint32_t)
LOOP(i64, int64_t, uint64_t)
LOOP(ui32, uint32_t, uint32_t)
LOOP(ui64, uint64_t, uint64_t)

typedef void (*multiply_fn_t)(const tfrt_nn_product_t* p, const void* a, const void* b, void* c);
static const multiply_fn_t loops[TFRT_DTYPE_COUNT] = {
    [TFRT_DTYPE_F64] = multiply_f64,   [TFRT_DTYPE_I32] = multiply_i32,
    [TFRT_DTYPE_I64] = multiply_i64,   [TFRT_DTYPE_UI32] = multiply_ui32,
    [TFRT_DTYPE_UI64] = multiply_ui64,
};

// Sets |c| to the product of |a| and |b|.
static tfrt_status_t multiply(const tfrt_nn_product_t* p, tfrt_dtype_t dtype, const void* a,
                              const void* b, void* c) {
  if (p->m == 0 || p->n == 0) return NULL;
  if (p->k == 0) {
    memset(c, 0, (size_t)(p->m * p->n) * tfrt_dtype_size(dtype));
    return NULL;
  }
  if (dtype == TFRT_DTYPE_F32) return tfrt_nn_product_f32(p, 1.0f, a, b, 0.0f, c);
  loops[dtype](p, a, b, c);
  return NULL;
}

static tfrt_status_t check_pair(const tfrt_nn_call_t* call) {
  if (!tfrt_nn_input(call, 0) || !tfrt_nn_input(call, 1)) {
    return tfrt_nn_error(call, "it takes two operands");
  }
  tfrt_dtype_t dtype = call->inputs[0]->dtype;
  if (dtype != TFRT_DTYPE_F32 && !loops[dtype]) return tfrt_nn_dtype_error(call, dtype);
  return tfrt_nn_check_dtype(call, 1, dtype);
}

// --- Stacks of matrices -------------------------------------------------------------

// The operand as a stack: a vector gets an axis of length 1 in front or, |is_right|, behind.
static tfrt_dense_host_tensor_t as_matrices(const tfrt_dense_host_tensor_t* x, bool is_right) {
  tfrt_dense_host_tensor_t matrices = *x;
  if (x->shape.rank != 1) return matrices;
  int64_t length = x->shape.dims[0];
  matrices.shape = (tfrt_shape_t){.rank = 2, .dims = {1, length}};
  if (is_right) matrices.shape = (tfrt_shape_t){.rank = 2, .dims = {length, 1}};
  return matrices;
}

static int64_t stack_height(const tfrt_shape_t* shape) {
  int64_t count = 1;
  for (uint32_t i = 0; i + 2 < shape->rank; ++i) count *= shape->dims[i];
  return count;
}

// Multiplies each matrix of the stack of |a| by that of |b|, stretched to each other.
static tfrt_status_t multiply_stacks(const tfrt_dense_host_tensor_t* a,
                                     const tfrt_dense_host_tensor_t* b, const tfrt_nn_product_t* p,
                                     const tfrt_shape_t* stack, char* out) {
  size_t size = tfrt_dtype_size(a->dtype);
  int64_t height = tfrt_shape_element_count(stack);
  const tfrt_dense_host_tensor_t* operands[2] = {a, b};
  for (int64_t i = 0; i < height; ++i) {
    int64_t offsets[2];
    for (int o = 0; o < 2; ++o) {
      const tfrt_shape_t* shape = &operands[o]->shape;
      int64_t rest = i, step = 1, place = 0;
      for (uint32_t axis = 0; axis < stack->rank; ++axis) {
        int64_t position = rest % stack->dims[stack->rank - 1 - axis];
        rest /= stack->dims[stack->rank - 1 - axis];
        if (axis + 2 >= shape->rank) continue;
        int64_t length = shape->dims[shape->rank - 3 - axis];
        place += (length == 1 ? 0 : position) * step;
        step *= length;
      }
      offsets[o] = place * shape->dims[shape->rank - 2] * shape->dims[shape->rank - 1];
    }
    TFRT_RETURN_IF_ERROR(multiply(
        p, a->dtype, (const char*)tfrt_dense_host_tensor_data(a) + (size_t)offsets[0] * size,
        (const char*)tfrt_dense_host_tensor_data(b) + (size_t)offsets[1] * size,
        out + (size_t)(i * p->m * p->n) * size));
  }
  return NULL;
}

// Without the two last axes.
static tfrt_shape_t stack_of(const tfrt_shape_t* shape) {
  tfrt_shape_t stack = *shape;
  stack.rank -= 2;
  for (uint32_t i = stack.rank; i < TFRT_SHAPE_MAX_RANK; ++i) stack.dims[i] = 0;
  return stack;
}

tfrt_status_t tfrt_nn_mat_mul(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_pair(call));
  if (call->inputs[0]->shape.rank == 0 || call->inputs[1]->shape.rank == 0) {
    return tfrt_nn_error(call, "it takes matrices or vectors");
  }
  const tfrt_dense_host_tensor_t a = as_matrices(call->inputs[0], false);
  const tfrt_dense_host_tensor_t b = as_matrices(call->inputs[1], true);
  uint32_t ra = a.shape.rank, rb = b.shape.rank;
  tfrt_nn_product_t p = {
      .m = a.shape.dims[ra - 2], .n = b.shape.dims[rb - 1], .k = a.shape.dims[ra - 1]};
  if (b.shape.dims[rb - 2] != p.k) {
    return tfrt_nn_error(call, "%s and %s can't be multiplied", tfrt_shape_text(&a.shape).text,
                         tfrt_shape_text(&b.shape).text);
  }
  tfrt_shape_t stacks[2] = {stack_of(&a.shape), stack_of(&b.shape)}, stack;
  tfrt_status_t status = tfrt_shape_broadcast(&stacks[0], &stacks[1], &stack);
  if (status) return tfrt_status_take_annotate(status, "%s", call->op->name);
  tfrt_shape_t shape = stack;
  if (call->inputs[0]->shape.rank > 1) shape.dims[shape.rank++] = p.m;
  if (call->inputs[1]->shape.rank > 1) shape.dims[shape.rank++] = p.n;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, a.dtype, shape.dims, shape.rank));
  if (tfrt_dense_host_tensor_element_count(&call->results[0]) == 0) return NULL;
  char* out = tfrt_nn_result_data(call, 0);
  if (stack_height(&b.shape) == 1) {
    // One matrix for the whole stack: one product.
    p.m *= stack_height(&a.shape);
    return multiply(&p, a.dtype, tfrt_dense_host_tensor_data(&a), tfrt_dense_host_tensor_data(&b),
                    out);
  }
  return multiply_stacks(&a, &b, &p, &stack, out);
}

// --- With a summand -------------------------------------------------------------------

#define SCALE_AND_ADD(suffix, type, wide)                                                        \
  static void finish_##suffix(const void* const* data, const int64_t* strides, void* out,        \
                              int64_t count) {                                                   \
    const type* c = data[0];                                                                     \
    const float* factors = data[1];                                                              \
    type* y = out;                                                                               \
    for (int64_t i = 0; i < count; ++i) {                                                        \
      y[i] = (type)((wide)factors[0] * (wide)y[i] + (wide)factors[1] * (wide)c[i * strides[0]]); \
    }                                                                                            \
  }
SCALE_AND_ADD(f32, float, float)
SCALE_AND_ADD(f64, double, double)
SCALE_AND_ADD(i32, int32_t, double)
SCALE_AND_ADD(i64, int64_t, double)
SCALE_AND_ADD(ui32, uint32_t, double)
SCALE_AND_ADD(ui64, uint64_t, double)

// Result 0 becomes alpha times itself plus beta times input 2, or 0 if that is not there.
static tfrt_status_t scale_and_add(const tfrt_nn_call_t* call, float alpha, float beta) {
  static const tfrt_nn_row_fn_t rows[TFRT_DTYPE_COUNT] = {
      [TFRT_DTYPE_F32] = finish_f32,   [TFRT_DTYPE_F64] = finish_f64,
      [TFRT_DTYPE_I32] = finish_i32,   [TFRT_DTYPE_I64] = finish_i64,
      [TFRT_DTYPE_UI32] = finish_ui32, [TFRT_DTYPE_UI64] = finish_ui64};
  static const uint64_t zero = 0;
  const tfrt_dense_host_tensor_t* result = &call->results[0];
  tfrt_dense_host_tensor_t none = {.dtype = result->dtype};
  const tfrt_dense_host_tensor_t* c = tfrt_nn_input(call, 2) ? call->inputs[2] : &none;
  tfrt_dense_host_tensor_t factor_tensor = {.dtype = TFRT_DTYPE_F32};
  const tfrt_dense_host_tensor_t* operands[2] = {c, &factor_tensor};
  if (c->dtype != result->dtype) return tfrt_nn_check_dtype(call, 2, result->dtype);
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_broadcast(&result->shape, &c->shape, &shape));
  if (!tfrt_shape_equal(&shape, &result->shape)) {
    return tfrt_nn_error(call, "%s can't be added to %s", tfrt_shape_text(&c->shape).text,
                         tfrt_shape_text(&result->shape).text);
  }
  const float factors[2] = {alpha, c == &none ? 0.0f : beta};
  tfrt_nn_broadcast_t broadcast;
  tfrt_nn_broadcast_initialize(operands, 2, &shape, &broadcast);
  const void* data[2] = {c == &none ? (const void*)&zero : tfrt_dense_host_tensor_data(c), factors};
  size_t size = tfrt_dtype_size(result->dtype);
  tfrt_nn_broadcast_walk(&broadcast, rows[result->dtype], data, (size_t[]){size, sizeof(float)},
                         tfrt_dense_host_tensor_data(result), size);
  return NULL;
}

tfrt_status_t tfrt_nn_gemm(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_pair(call));
  const tfrt_shape_t* a = &call->inputs[0]->shape;
  const tfrt_shape_t* b = &call->inputs[1]->shape;
  if (a->rank != 2 || b->rank != 2) return tfrt_nn_error(call, "it takes matrices");
  tfrt_nn_product_t p = {.a_is_transposed = tfrt_nn_i64(call, "transA") != 0,
                         .b_is_transposed = tfrt_nn_i64(call, "transB") != 0};
  p.m = a->dims[p.a_is_transposed];
  p.k = a->dims[!p.a_is_transposed];
  p.n = b->dims[!p.b_is_transposed];
  if (b->dims[p.b_is_transposed] != p.k) {
    return tfrt_nn_error(call, "%s and %s can't be multiplied so", tfrt_shape_text(a).text,
                         tfrt_shape_text(b).text);
  }
  const int64_t dims[2] = {p.m, p.n};
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, call->inputs[0]->dtype, dims, 2));
  if (p.m == 0 || p.n == 0) return NULL;
  TFRT_RETURN_IF_ERROR(multiply(&p, call->inputs[0]->dtype, tfrt_nn_input_data(call, 0),
                                tfrt_nn_input_data(call, 1), tfrt_nn_result_data(call, 0)));
  float alpha = tfrt_nn_f32(call, "alpha");
  if (alpha == 1.0f && !tfrt_nn_input(call, 2)) return NULL;
  return scale_and_add(call, alpha, tfrt_nn_f32(call, "beta"));
}
