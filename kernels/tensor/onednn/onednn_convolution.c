// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_convolution.h"

#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_execution.h"
#include "kernels/tensor/onednn/onednn_library.h"

#define ALIGNMENT 64

struct tfrt_onednn_convolution_s {
  tfrt_onednn_convolution_spec_t spec;
  tfrt_allocator_t allocator;
  dnnl_engine_t engine;
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t source;
  dnnl_memory_desc_t weights;  // as they are given
  dnnl_memory_desc_t packed;   // as the primitive wants them
  dnnl_memory_desc_t bias;
  dnnl_memory_desc_t target;
  dnnl_memory_desc_t scratch;
  void* packed_weights;  // NULL: they are given for each run
  size_t packed_size;
};

// --- Layouts ----------------------------------------------------------------------

// Describes [n, c, spatial...] in row-major order, or with the channels last.
static dnnl_status_t describe_image(const tfrt_onednn_convolution_spec_t* spec, int64_t channels,
                                    const int64_t* lengths, dnnl_memory_desc_t* out) {
  dnnl_dims_t dims = {spec->batch, channels};
  dnnl_dims_t strides;
  int rank = 2 + (int)spec->spatial;
  for (uint32_t i = 0; i < spec->spatial; ++i) dims[2 + i] = lengths[i];
  int64_t stride = 1;
  if (spec->channels_last) {
    strides[1] = 1;
    stride = channels;
  }
  for (int i = rank - 1; i >= 2; --i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  if (!spec->channels_last) {
    strides[1] = stride;
    stride *= channels;
  }
  strides[0] = stride;
  return tfrt_onednn()->dnnl_memory_desc_init_by_strides(out, rank, dims, dnnl_f32, strides);
}

static int weight_dims(const tfrt_onednn_convolution_spec_t* spec, int64_t* dims) {
  int rank = 0;
  if (spec->groups > 1) dims[rank++] = spec->groups;
  dims[rank++] = spec->target_channels / spec->groups;
  dims[rank++] = spec->source_channels / spec->groups;
  for (uint32_t i = 0; i < spec->spatial; ++i) dims[rank++] = spec->window[i];
  return rank;
}

static dnnl_status_t describe_layouts(tfrt_onednn_convolution_t* convolution) {
  const tfrt_onednn_convolution_spec_t* spec = &convolution->spec;
  dnnl_status_t result =
      describe_image(spec, spec->source_channels, spec->source, &convolution->source);
  if (result == dnnl_success) {
    result = describe_image(spec, spec->target_channels, spec->target, &convolution->target);
  }
  dnnl_dims_t dims = {0};
  int rank = weight_dims(spec, dims);
  if (result == dnnl_success) {
    result = tfrt_onednn_describe_memory(dims, rank, &convolution->weights);
  }
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_memory_desc_init_by_tag(&convolution->packed, rank, dims, dnnl_f32,
                                                         dnnl_format_tag_any);
  }
  dnnl_dims_t bias = {spec->target_channels};
  if (result == dnnl_success) result = tfrt_onednn_describe_memory(bias, 1, &convolution->bias);
  return result;
}

// --- Building ---------------------------------------------------------------------

static dnnl_status_t describe_operation(const tfrt_onednn_convolution_t* convolution,
                                        dnnl_convolution_desc_t* out) {
  const tfrt_onednn_convolution_spec_t* spec = &convolution->spec;
  // The library declares them as arrays of its highest rank.
  dnnl_dims_t strides = {0}, dilations = {0}, before = {0}, after = {0};
  for (uint32_t i = 0; i < spec->spatial; ++i) {
    strides[i] = spec->strides[i];
    dilations[i] = spec->dilations[i] - 1;
    before[i] = spec->before[i];
    after[i] = spec->after[i];
  }
  return tfrt_onednn()->dnnl_dilated_convolution_forward_desc_init(
      out, dnnl_forward_inference, dnnl_convolution_direct, &convolution->source,
      &convolution->packed, spec->has_bias ? &convolution->bias : NULL, &convolution->target,
      strides, dilations, before, after);
}

static dnnl_status_t build(tfrt_onednn_convolution_t* convolution) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  dnnl_convolution_desc_t operation;
  dnnl_primitive_attr_t attributes;
  dnnl_primitive_desc_t description;
  dnnl_status_t result = describe_layouts(convolution);
  if (result == dnnl_success) result = describe_operation(convolution, &operation);
  if (result == dnnl_success)
    result = tfrt_onednn_epilogue_attributes(&convolution->spec.epilogue, &attributes);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_desc_create(&description, &operation, attributes,
                                               convolution->engine, NULL);
  library->dnnl_primitive_attr_destroy(attributes);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_create(&convolution->primitive, description);
  const dnnl_memory_desc_t* weights =
      library->dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, DNNL_ARG_WEIGHTS);
  const dnnl_memory_desc_t* scratch =
      library->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  if (weights) convolution->packed = *weights;
  if (scratch) convolution->scratch = *scratch;
  library->dnnl_primitive_desc_destroy(description);
  return result;
}

// --- Running ----------------------------------------------------------------------

// Copies |weights| into the layout of the primitive.
static dnnl_status_t pack(const tfrt_onednn_convolution_t* convolution, const void* weights,
                          void* packed) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  dnnl_primitive_desc_t description;
  dnnl_primitive_t primitive = NULL;
  tfrt_onednn_execution_t run = {.count = 0};
  dnnl_status_t result = library->dnnl_reorder_primitive_desc_create(
      &description, &convolution->weights, convolution->engine, &convolution->packed,
      convolution->engine, NULL);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_create(&primitive, description);
  library->dnnl_primitive_desc_destroy(description);
  if (result != dnnl_success) return result;
  result = library->dnnl_stream_create(&run.stream, convolution->engine, dnnl_stream_default_flags);
  if (result == dnnl_success) {
    result = tfrt_onednn_execution_add(&run, convolution->engine, DNNL_ARG_FROM,
                                       &convolution->weights, weights);
  }
  if (result == dnnl_success) {
    result = tfrt_onednn_execution_add(&run, convolution->engine, DNNL_ARG_TO, &convolution->packed,
                                       packed);
  }
  result = tfrt_onednn_execution_finish(&run, result, primitive);
  library->dnnl_primitive_destroy(primitive);
  return result;
}

static bool is_packed_already(const tfrt_onednn_convolution_t* convolution) {
  return tfrt_onednn()->dnnl_memory_desc_equal(&convolution->weights, &convolution->packed) != 0;
}

static dnnl_status_t execute(const tfrt_onednn_convolution_t* convolution, const void* source,
                             const void* packed, const void* bias, void* target, void* scratch) {
  tfrt_onednn_execution_t run = {.count = 0};
  dnnl_status_t result = tfrt_onednn()->dnnl_stream_create(&run.stream, convolution->engine,
                                                           dnnl_stream_default_flags);
  const struct {
    int index;
    const dnnl_memory_desc_t* layout;
    const void* data;
  } arguments[] = {
      {DNNL_ARG_SRC, &convolution->source, source},
      {DNNL_ARG_WEIGHTS, &convolution->packed, packed},
      {DNNL_ARG_DST, &convolution->target, target},
      {DNNL_ARG_BIAS, &convolution->bias, bias},
      {DNNL_ARG_SCRATCHPAD, &convolution->scratch, scratch},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(arguments) && result == dnnl_success; ++i) {
    if (!arguments[i].data) continue;
    result = tfrt_onednn_execution_add(&run, convolution->engine, arguments[i].index,
                                       arguments[i].layout, arguments[i].data);
  }
  return tfrt_onednn_execution_finish(&run, result, convolution->primitive);
}

// --- Life -------------------------------------------------------------------------

// Packs weights that stay, if they aren't in the right layout by themselves.
static tfrt_status_t pack_once(tfrt_onednn_convolution_t* convolution, const float* weights) {
  if (!weights || is_packed_already(convolution)) return NULL;
  convolution->packed_size = tfrt_onednn()->dnnl_memory_desc_get_size(&convolution->packed);
  convolution->packed_weights =
      tfrt_allocator_allocate_aligned(convolution->allocator, convolution->packed_size, ALIGNMENT);
  if (!convolution->packed_weights) return tfrt_status_out_of_memory();
  return tfrt_onednn_status(pack(convolution, weights, convolution->packed_weights),
                            "pack the weights of a convolution");
}

tfrt_status_t tfrt_onednn_convolution_create(const tfrt_onednn_convolution_spec_t* spec,
                                             const float* weights, tfrt_allocator_t allocator,
                                             tfrt_onednn_convolution_t** out_convolution) {
  dnnl_engine_t engine;
  *out_convolution = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  tfrt_onednn_convolution_t* convolution =
      tfrt_allocator_allocate_zeroed(allocator, sizeof(*convolution));
  if (!convolution) return tfrt_status_out_of_memory();
  convolution->spec = *spec;
  convolution->allocator = allocator;
  convolution->engine = engine;
  tfrt_status_t status = tfrt_onednn_status(build(convolution), "make a convolution");
  if (!status) status = pack_once(convolution, weights);
  if (status) {
    tfrt_onednn_convolution_free(convolution);
    return status;
  }
  *out_convolution = convolution;
  return NULL;
}

void tfrt_onednn_convolution_free(tfrt_onednn_convolution_t* convolution) {
  if (!convolution) return;
  if (convolution->primitive) tfrt_onednn()->dnnl_primitive_destroy(convolution->primitive);
  tfrt_allocator_free_aligned(convolution->allocator, convolution->packed_weights,
                              convolution->packed_size, ALIGNMENT);
  tfrt_allocator_free(convolution->allocator, convolution, sizeof(*convolution));
}

// Runs with the memory that |convolution| needs for this run alone: scratch, and packed weights.
static dnnl_status_t run_with_memory(const tfrt_onednn_convolution_t* convolution,
                                     const float* source, const float* weights, const float* bias,
                                     float* target, char* memory, size_t scratch_size) {
  const void* packed = convolution->packed_weights ? convolution->packed_weights : weights;
  void* scratch = scratch_size ? memory : NULL;
  if (!convolution->packed_weights && !is_packed_already(convolution)) {
    dnnl_status_t result = pack(convolution, weights, memory + scratch_size);
    if (result != dnnl_success) return result;
    packed = memory + scratch_size;
  }
  return execute(convolution, source, packed, bias, target, scratch);
}

tfrt_status_t tfrt_onednn_convolution_run(const tfrt_onednn_convolution_t* convolution,
                                          const float* source, const float* weights,
                                          const float* bias, float* target,
                                          tfrt_allocator_t allocator) {
  dnnl_engine_t engine;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  const tfrt_onednn_library_t* library = tfrt_onednn();
  size_t scratch_size = library->dnnl_memory_desc_get_size(&convolution->scratch);
  scratch_size = (scratch_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  size_t size = scratch_size;
  if (!convolution->packed_weights && !is_packed_already(convolution)) {
    size += library->dnnl_memory_desc_get_size(&convolution->packed);
  }
  char* memory = NULL;
  if (size > 0) {
    memory = tfrt_allocator_allocate_aligned(allocator, size, ALIGNMENT);
    if (!memory) return tfrt_status_out_of_memory();
  }
  dnnl_status_t result =
      run_with_memory(convolution, source, weights, bias, target, memory, scratch_size);
  if (memory) tfrt_allocator_free_aligned(allocator, memory, size, ALIGNMENT);
  return tfrt_onednn_status(result, "run a convolution");
}
