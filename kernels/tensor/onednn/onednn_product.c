// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_product.h"

#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_execution.h"
#include "kernels/tensor/onednn/onednn_library.h"

#define ALIGNMENT 64

struct tfrt_onednn_product_s {
  tfrt_onednn_product_spec_t spec;
  tfrt_allocator_t allocator;
  dnnl_engine_t engine;
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t a;
  dnnl_memory_desc_t b;
  dnnl_memory_desc_t bias;
  dnnl_memory_desc_t target;
  dnnl_memory_desc_t scratch;
};

static dnnl_status_t describe_layouts(tfrt_onednn_product_t* product) {
  const tfrt_onednn_product_spec_t* spec = &product->spec;
  const int64_t a[2] = {spec->m, spec->k}, bias[2] = {1, spec->n}, target[2] = {spec->m, spec->n};
  dnnl_dims_t b = {spec->k, spec->n}, strides = {spec->n, 1};
  if (spec->b_is_transposed) {
    strides[0] = 1;
    strides[1] = spec->k;
  }
  dnnl_status_t result = tfrt_onednn_describe_memory(a, 2, &product->a);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(bias, 2, &product->bias);
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(target, 2, &product->target);
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_memory_desc_init_by_strides(&product->b, 2, b, dnnl_f32, strides);
}

static dnnl_status_t build(tfrt_onednn_product_t* product) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  dnnl_matmul_desc_t operation;
  dnnl_primitive_attr_t attributes;
  dnnl_primitive_desc_t description;
  dnnl_status_t result = describe_layouts(product);
  if (result == dnnl_success) {
    result = library->dnnl_matmul_desc_init(&operation, &product->a, &product->b,
                                            product->spec.has_bias ? &product->bias : NULL,
                                            &product->target);
  }
  if (result == dnnl_success) {
    result = tfrt_onednn_epilogue_attributes(&product->spec.epilogue, &attributes);
  }
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_desc_create(&description, &operation, attributes,
                                               product->engine, NULL);
  library->dnnl_primitive_attr_destroy(attributes);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_create(&product->primitive, description);
  const dnnl_memory_desc_t* scratch =
      library->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  if (scratch) product->scratch = *scratch;
  library->dnnl_primitive_desc_destroy(description);
  return result;
}

tfrt_status_t tfrt_onednn_product_create(const tfrt_onednn_product_spec_t* spec,
                                         tfrt_allocator_t allocator,
                                         tfrt_onednn_product_t** out_product) {
  dnnl_engine_t engine;
  *out_product = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  tfrt_onednn_product_t* product = tfrt_allocator_allocate_zeroed(allocator, sizeof(*product));
  if (!product) return tfrt_status_out_of_memory();
  product->spec = *spec;
  product->allocator = allocator;
  product->engine = engine;
  tfrt_status_t status = tfrt_onednn_status(build(product), "make a product of matrices");
  if (status) {
    tfrt_onednn_product_free(product);
    return status;
  }
  *out_product = product;
  return NULL;
}

void tfrt_onednn_product_free(tfrt_onednn_product_t* product) {
  if (!product) return;
  if (product->primitive) tfrt_onednn()->dnnl_primitive_destroy(product->primitive);
  tfrt_allocator_free(product->allocator, product, sizeof(*product));
}

static dnnl_status_t execute(const tfrt_onednn_product_t* product, const float* a, const float* b,
                             const float* bias, float* target, void* scratch) {
  tfrt_onednn_execution_t run = {.count = 0};
  dnnl_status_t result =
      tfrt_onednn()->dnnl_stream_create(&run.stream, product->engine, dnnl_stream_default_flags);
  const struct {
    int index;
    const dnnl_memory_desc_t* layout;
    const void* data;
  } arguments[] = {
      {DNNL_ARG_SRC, &product->a, a},
      {DNNL_ARG_WEIGHTS, &product->b, b},
      {DNNL_ARG_DST, &product->target, target},
      {DNNL_ARG_BIAS, &product->bias, bias},
      {DNNL_ARG_SCRATCHPAD, &product->scratch, scratch},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(arguments) && result == dnnl_success; ++i) {
    if (!arguments[i].data) continue;
    result = tfrt_onednn_execution_add(&run, product->engine, arguments[i].index,
                                       arguments[i].layout, arguments[i].data);
  }
  return tfrt_onednn_execution_finish(&run, result, product->primitive);
}

tfrt_status_t tfrt_onednn_product_run(const tfrt_onednn_product_t* product, const float* a,
                                      const float* b, const float* bias, float* target,
                                      tfrt_allocator_t allocator) {
  dnnl_engine_t engine;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  size_t size = tfrt_onednn()->dnnl_memory_desc_get_size(&product->scratch);
  void* scratch = NULL;
  if (size > 0) {
    scratch = tfrt_allocator_allocate_aligned(allocator, size, ALIGNMENT);
    if (!scratch) return tfrt_status_out_of_memory();
  }
  dnnl_status_t result = execute(product, a, b, bias, target, scratch);
  if (scratch) tfrt_allocator_free_aligned(allocator, scratch, size, ALIGNMENT);
  return tfrt_onednn_status(result, "multiply matrices");
}
