// SPDX-License-Identifier: Apache-2.0
//
// Products with one matrix of weights, compiled once for a place in a program: bias, summand and
// function are part of them. Small ones aren't compiled (small_product.h).
#include <string.h>

#include "kernels/nn/math/epilogue.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/small_product.h"
#include "kernels/tensor/onednn/onednn_product.h"

typedef struct kept_product_s {
  tfrt_nn_kept_t base;
  tfrt_allocator_t allocator;
  tfrt_onednn_product_spec_t spec;
  tfrt_onednn_product_t* product;
} kept_product_t;

static bool is_product_for(const tfrt_nn_kept_t* kept, const void* key) {
  const kept_product_t* own = TFRT_CONTAINER_OF(kept, const kept_product_t, base);
  // Both were zeroed before they were filled in, with what lies between their members.
  const void* spec = &own->spec;
  return memcmp(spec, key, sizeof(own->spec)) == 0;
}

static void destroy_product(tfrt_nn_kept_t* kept) {
  kept_product_t* own = TFRT_CONTAINER_OF(kept, kept_product_t, base);
  tfrt_onednn_product_free(own->product);
  tfrt_allocator_free(own->allocator, own, sizeof(*own));
}

// Sets |*out_kept| (+1) to a new one, which the place of |call|, if it has one, keeps.
static tfrt_status_t make_product(const tfrt_nn_call_t* call,
                                  const tfrt_onednn_product_spec_t* spec,
                                  kept_product_t** out_kept) {
  tfrt_allocator_t allocator = call->place ? call->place->allocator : call->allocator;
  kept_product_t* own = tfrt_allocator_allocate_zeroed(allocator, sizeof(*own));
  if (!own) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&own->base.ref_count);
  own->base.destroy = destroy_product;
  own->allocator = allocator;
  memcpy(&own->spec, spec, sizeof(own->spec));
  tfrt_status_t status = tfrt_onednn_product_create(spec, allocator, &own->product);
  if (status) {
    tfrt_nn_kept_release(&own->base);
    return status;
  }
  if (call->place) tfrt_nn_place_keep(call->place, &own->base);
  *out_kept = own;
  return NULL;
}

// Computes |target| by |product|, which is small.
static void multiply_small(const tfrt_nn_call_t* call, const tfrt_onednn_product_spec_t* spec,
                           const tfrt_nn_product_t* product, const float* bias, float* target) {
  const int64_t count = spec->m * spec->n;
  if (!spec->epilogue.adds) memset(target, 0, (size_t)count * sizeof(float));
  for (int64_t i = 0; bias && i < count; i += spec->n) {
    for (int64_t j = 0; j < spec->n; ++j) target[i + j] += bias[j];
  }
  tfrt_nn_small_product_add(product, tfrt_nn_input_data(call, 0), tfrt_nn_input_data(call, 1),
                            target);
  tfrt_nn_epilogue_apply(&spec->epilogue, target, count);
}

// Computes |target|, which is not empty.
static tfrt_status_t multiply(const tfrt_nn_call_t* call, const tfrt_onednn_product_spec_t* spec,
                              float* target) {
  const float* bias = spec->has_bias ? tfrt_nn_input_data(call, 2) : NULL;
  const tfrt_nn_product_t product = {
      .m = spec->m, .n = spec->n, .k = spec->k, .b_is_transposed = spec->b_is_transposed};
  if (tfrt_nn_product_is_small(&product)) {
    multiply_small(call, spec, &product, bias, target);
    return NULL;
  }
  tfrt_nn_kept_t* found =
      call->place ? tfrt_nn_place_find(call->place, is_product_for, spec) : NULL;
  kept_product_t* own = found ? TFRT_CONTAINER_OF(found, kept_product_t, base) : NULL;
  if (!own) TFRT_RETURN_IF_ERROR(make_product(call, spec, &own));
  tfrt_status_t status =
      tfrt_onednn_product_run(own->product, tfrt_nn_input_data(call, 0),
                              tfrt_nn_input_data(call, 1), bias, target, call->allocator);
  tfrt_nn_kept_release(&own->base);
  return status;
}

static tfrt_status_t plan(const tfrt_nn_call_t* call, tfrt_onednn_product_spec_t* spec,
                          tfrt_shape_t* out_shape) {
  memset(spec, 0, sizeof(*spec));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, TFRT_DTYPE_F32));
  const tfrt_shape_t* a = &call->inputs[0]->shape;
  const tfrt_shape_t* b = &call->inputs[1]->shape;
  spec->b_is_transposed = tfrt_nn_i64(call, "transB") != 0;
  if (a->rank < 1 || b->rank != 2 || a->dims[a->rank - 1] != b->dims[spec->b_is_transposed]) {
    return tfrt_nn_error(call, "%s and %s can't be multiplied", tfrt_shape_text(a).text,
                         tfrt_shape_text(b).text);
  }
  spec->k = a->dims[a->rank - 1];
  spec->n = b->dims[!spec->b_is_transposed];
  spec->m = 1;
  for (uint32_t i = 0; i + 1 < a->rank; ++i) spec->m *= a->dims[i];
  *out_shape = *a;
  out_shape->dims[a->rank - 1] = spec->n;
  if (!tfrt_nn_input(call, 2)) return NULL;
  spec->has_bias = true;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, TFRT_DTYPE_F32));
  if (tfrt_dense_host_tensor_element_count(call->inputs[2]) == spec->n) return NULL;
  return tfrt_nn_error(call, "the bias must have %lld elements, not %s", (long long)spec->n,
                       tfrt_shape_text(&call->inputs[2]->shape).text);
}

// One after the other, for a summand of another shape than that of the product.
static tfrt_status_t multiply_and_stretch(const tfrt_nn_call_t* call,
                                          const tfrt_onednn_product_spec_t* spec,
                                          const tfrt_shape_t* shape) {
  tfrt_dense_host_tensor_t product = {0};
  tfrt_onednn_product_spec_t plain = *spec;
  memset(&plain.epilogue, 0, sizeof(plain.epilogue));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, shape, call->allocator, &product));
  tfrt_status_t status = NULL;
  if (tfrt_shape_element_count(shape) > 0) {
    status = multiply(call, &plain, tfrt_dense_host_tensor_data(&product));
  }
  if (!status) status = tfrt_nn_epilogue_stretch(call, &product, &spec->epilogue);
  tfrt_dense_host_tensor_deinitialize(&product);
  return status;
}

tfrt_status_t tfrt_nn_fused_mat_mul(const tfrt_nn_call_t* call) {
  tfrt_onednn_product_spec_t spec;
  tfrt_shape_t shape;
  bool is_plain;
  TFRT_RETURN_IF_ERROR(plan(call, &spec, &shape));
  // A sum of nothing has no primitive, and rows of nothing are those of the bias.
  if (spec.k == 0) return tfrt_nn_error(call, "its operands have no columns");
  TFRT_RETURN_IF_ERROR(tfrt_nn_epilogue_read(call, &spec.epilogue));
  TFRT_RETURN_IF_ERROR(tfrt_nn_epilogue_make(call, &shape, &spec.epilogue, &is_plain));
  if (!is_plain) return multiply_and_stretch(call, &spec, &shape);
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  return multiply(call, &spec, tfrt_nn_result_data(call, 0));
}
