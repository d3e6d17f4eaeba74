// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/tensor/onednn/plain_network.h"

#include <string.h>

#include "host_runtime/base/allocator.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"

enum { LAYERS = 6, CONVOLUTION = 0, POOL, LINEAR };

// A layer, by what it is, the numbers of its outputs per digit, and its weights.
static const struct {
  int kind;
  int64_t output[3];  // channels, rows, columns
  int64_t weights[4];
  bool relu;
} layers[LAYERS] = {
    {CONVOLUTION, {16, 24, 24}, {16, 1, 5, 5}, true}, {POOL, {16, 12, 12}, {0}, false},
    {CONVOLUTION, {32, 8, 8}, {32, 16, 5, 5}, true},  {POOL, {32, 4, 4}, {0}, false},
    {LINEAR, {128, 1, 1}, {512, 128, 1, 1}, true},    {LINEAR, {10, 1, 1}, {128, 10, 1, 1}, false},
};

// Memory as the library likes it.
typedef struct block_s {
  void* data;
  size_t size;
} block_t;

// One primitive with its arguments.
typedef struct step_s {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t arguments[5];
  int count;
  block_t output;
  block_t scratch;
} step_t;

struct plain_network_s {
  int64_t batch;
  dnnl_stream_t stream;
  step_t steps[LAYERS];
  block_t pixels;
};

// The one engine of all networks, until the process ends.
static dnnl_engine_t engine;

static bool allocate(block_t* block, size_t size) {
  *block = (block_t){tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, 64), size};
  return block->data;
}

static void give_back(block_t* block) {
  tfrt_allocator_free_aligned(tfrt_allocator_system(), block->data, block->size, 64);
}

static dnnl_status_t create_attributes(bool relu, dnnl_primitive_attr_t* out_attributes) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  dnnl_status_t result = library->dnnl_primitive_attr_create(out_attributes);
  if (result == dnnl_success) {
    result = library->dnnl_primitive_attr_set_scratchpad_mode(*out_attributes,
                                                              dnnl_scratchpad_mode_user);
  }
  if (result != dnnl_success || !relu) return result;
  dnnl_post_ops_t operations;
  result = library->dnnl_post_ops_create(&operations);
  if (result != dnnl_success) return result;
  library->dnnl_post_ops_append_eltwise(operations, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
  result = library->dnnl_primitive_attr_set_post_ops(*out_attributes, operations);
  library->dnnl_post_ops_destroy(operations);
  return result;
}

// The layouts of a layer's arguments.
typedef struct layouts_s {
  dnnl_memory_desc_t source, weights, bias, target;
} layouts_t;

// A layer's operation: of one of the library's types for them.
typedef union operation_u {
  dnnl_convolution_desc_t convolution;
  dnnl_pooling_desc_t pool;
  dnnl_matmul_desc_t linear;
} operation_t;

static dnnl_status_t describe(int layer, const layouts_t* layouts, operation_t* out_operation) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  const dnnl_dims_t none = {0}, ones = {1, 1}, twos = {2, 2};
  switch (layers[layer].kind) {
    case CONVOLUTION:
      return library->dnnl_convolution_forward_desc_init(
          &out_operation->convolution, dnnl_forward_inference, dnnl_convolution_auto,
          &layouts->source, &layouts->weights, &layouts->bias, &layouts->target, ones, none, none);
    case POOL:
      return library->dnnl_pooling_forward_desc_init(&out_operation->pool, dnnl_forward_inference,
                                                     dnnl_pooling_max, &layouts->source,
                                                     &layouts->target, twos, twos, none, none);
    default:
      return library->dnnl_matmul_desc_init(&out_operation->linear, &layouts->source,
                                            &layouts->weights, &layouts->bias, &layouts->target);
  }
}

static void make_layouts(int64_t batch, int layer, layouts_t* out_layouts) {
  static const int64_t pixels[3] = {1, 28, 28};
  const int64_t* in = layer > 0 ? layers[layer - 1].output : pixels;
  const int64_t* out = layers[layer].output;
  const int64_t source[4] = {batch, in[0], in[1], in[2]};
  const int64_t target[4] = {batch, out[0], out[1], out[2]};
  const int64_t flat_source[2] = {batch, in[0] * in[1] * in[2]};
  const int64_t bias[2] = {1, out[0]};
  const bool is_linear = layers[layer].kind == LINEAR;
  const int rank = is_linear ? 2 : 4;
  tfrt_onednn_describe_memory(is_linear ? flat_source : source, rank, &out_layouts->source);
  tfrt_onednn_describe_memory(target, rank, &out_layouts->target);
  if (layers[layer].kind == POOL) return;
  tfrt_onednn_describe_memory(layers[layer].weights, rank, &out_layouts->weights);
  tfrt_onednn_describe_memory(is_linear ? bias : bias + 1, is_linear ? 2 : 1, &out_layouts->bias);
}

static dnnl_status_t add_argument(step_t* step, int index, const dnnl_memory_desc_t* layout,
                                  const void* data) {
  dnnl_exec_arg_t* argument = &step->arguments[step->count];
  argument->arg = index;
  dnnl_status_t result =
      tfrt_onednn()->dnnl_memory_create(&argument->memory, layout, engine, (void*)(uintptr_t)data);
  if (result == dnnl_success) ++step->count;
  return result;
}

static dnnl_status_t add_scratch(step_t* step, const_dnnl_primitive_desc_t description) {
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  size_t size = layout ? tfrt_onednn()->dnnl_memory_desc_get_size(layout) : 0;
  if (size == 0) return dnnl_success;
  if (!allocate(&step->scratch, size)) return dnnl_out_of_memory;
  return add_argument(step, DNNL_ARG_SCRATCHPAD, layout, step->scratch.data);
}

// Makes the primitive of |layer|, which reads |source| and the first two of |weights|.
static dnnl_status_t make_step(plain_network_t* network, int layer, const float* source,
                               const float* const* weights) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  step_t* step = &network->steps[layer];
  layouts_t layouts;
  make_layouts(network->batch, layer, &layouts);
  operation_t operation;
  dnnl_primitive_attr_t attributes;
  dnnl_primitive_desc_t description = NULL;
  dnnl_status_t result = describe(layer, &layouts, &operation);
  if (result != dnnl_success) return result;
  result = create_attributes(layers[layer].relu, &attributes);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_desc_create(&description, &operation, attributes, engine, NULL);
  library->dnnl_primitive_attr_destroy(attributes);
  if (result != dnnl_success) return result;
  result = library->dnnl_primitive_create(&step->primitive, description);
  if (result == dnnl_success) result = add_scratch(step, description);
  library->dnnl_primitive_desc_destroy(description);
  if (!allocate(&step->output, library->dnnl_memory_desc_get_size(&layouts.target))) {
    result = dnnl_out_of_memory;
  }
  if (result == dnnl_success) {
    result = add_argument(step, DNNL_ARG_SRC, &layouts.source, source);
  }
  if (result == dnnl_success) {
    result = add_argument(step, DNNL_ARG_DST, &layouts.target, step->output.data);
  }
  if (result != dnnl_success || layers[layer].kind == POOL) return result;
  result = add_argument(step, DNNL_ARG_WEIGHTS, &layouts.weights, weights[0]);
  if (result != dnnl_success) return result;
  return add_argument(step, DNNL_ARG_BIAS, &layouts.bias, weights[1]);
}

static size_t pixels_size(const plain_network_t* network) {
  return (size_t)network->batch * PLAIN_NETWORK_PIXELS * sizeof(float);
}

static dnnl_status_t make_all(plain_network_t* network, const float* const* weights) {
  if (tfrt_onednn()->omp_set_num_threads) tfrt_onednn()->omp_set_num_threads(1);
  dnnl_status_t result = dnnl_success;
  if (!engine) result = tfrt_onednn()->dnnl_engine_create(&engine, dnnl_cpu, 0);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_stream_create(&network->stream, engine, dnnl_stream_default_flags);
  }
  if (!allocate(&network->pixels, pixels_size(network))) result = dnnl_out_of_memory;
  const float* source = network->pixels.data;
  for (int i = 0; result == dnnl_success && i < LAYERS; ++i) {
    result = make_step(network, i, source, weights);
    source = network->steps[i].output.data;
    if (layers[i].kind != POOL) weights += 2;
  }
  return result;
}

static tfrt_status_t status_of(dnnl_status_t result) {
  if (result == dnnl_success) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "oneDNN's error %d", (int)result);
}

tfrt_status_t plain_network_allocate(int64_t batch, const float* const* weights,
                                     plain_network_t** out_network) {
  *out_network = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_library_open());
  plain_network_t* network =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*network));
  if (!network) return tfrt_status_out_of_memory();
  network->batch = batch;
  tfrt_status_t status = status_of(make_all(network, weights));
  if (status) {
    plain_network_free(network);
    return status;
  }
  *out_network = network;
  return NULL;
}

tfrt_status_t plain_network_run(plain_network_t* network, const float* pixels,
                                const float** out_scores) {
  const tfrt_onednn_library_t* library = tfrt_onednn();
  memcpy(network->pixels.data, pixels, pixels_size(network));
  dnnl_status_t result = dnnl_success;
  for (int i = 0; result == dnnl_success && i < LAYERS; ++i) {
    const step_t* step = &network->steps[i];
    result = library->dnnl_primitive_execute(step->primitive, network->stream, step->count,
                                             step->arguments);
  }
  if (result == dnnl_success) result = library->dnnl_stream_wait(network->stream);
  *out_scores = network->steps[LAYERS - 1].output.data;
  return status_of(result);
}

void plain_network_free(plain_network_t* network) {
  if (!network) return;
  const tfrt_onednn_library_t* library = tfrt_onednn();
  for (int i = 0; i < LAYERS; ++i) {
    step_t* step = &network->steps[i];
    for (int k = 0; k < step->count; ++k) library->dnnl_memory_destroy(step->arguments[k].memory);
    if (step->primitive) library->dnnl_primitive_destroy(step->primitive);
    give_back(&step->scratch);
    give_back(&step->output);
  }
  if (network->stream) library->dnnl_stream_destroy(network->stream);
  give_back(&network->pixels);
  tfrt_allocator_free(tfrt_allocator_system(), network, sizeof(*network));
}
