// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 as nothing but a loop over primitives of the maths library, in the layouts that these
// choose, with sums and relu in them: what a runtime can't be much faster than with this library.
// The weights are random. Speaks with models.py as model_peer does; there is no result to write.
//
//   resnet_loop        OMP_NUM_THREADS says on how many threads
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench_memory.h"

enum { MAX_LAYERS = 64, MAX_ARGUMENTS = 4 };

typedef struct layer_s {
  dnnl_primitive_t primitive;
  int count;
  dnnl_exec_arg_t arguments[MAX_ARGUMENTS];
} layer_t;

// A tensor [1, channels, size, size], or [1, channels].
typedef struct tensor_s {
  dnnl_memory_desc_t layout;
  dnnl_memory_t memory;
  int64_t channels;
  int64_t size;
} tensor_t;

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static layer_t layers[MAX_LAYERS];
static int layer_count;

static void expect(dnnl_status_t result, const char* what) {
  if (result == dnnl_success) return;
  fprintf(stderr, "resnet_loop: can't %s: %d\n", what, (int)result);
  exit(1);
}

// Memory of |layout|, filled with numbers from -|scale| to |scale|.
static dnnl_memory_t make_memory(const dnnl_memory_desc_t* layout, float scale) {
  static uint32_t seed = 1;
  dnnl_memory_t memory;
  void* data;
  expect(dnnl_memory_create(&memory, layout, engine, DNNL_MEMORY_ALLOCATE), "make memory");
  expect(dnnl_memory_get_data_handle(memory, &data), "find memory");
  float* numbers = data;
  for (size_t i = 0; i < dnnl_memory_desc_get_size(layout) / sizeof(float); ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = scale * (float)(int32_t)seed / 2147483648.0f;
  }
  return memory;
}

static void describe(const dnnl_dims_t dims, int rank, dnnl_format_tag_t tag,
                     dnnl_memory_desc_t* out) {
  expect(dnnl_memory_desc_init_by_tag(out, rank, dims, dnnl_f32, tag), "describe memory");
}

static void add_argument(layer_t* layer, int index, dnnl_memory_t memory) {
  layer->arguments[layer->count++] = (dnnl_exec_arg_t){index, memory};
}

// Appends a layer from |x| to |y|, whose layout is chosen here unless it has memory already.
static layer_t* add_layer(const void* operation, const_dnnl_primitive_attr_t attributes,
                          const tensor_t* x, tensor_t* y, dnnl_primitive_desc_t* out_description) {
  layer_t* layer = &layers[layer_count++];
  if (layer_count > MAX_LAYERS) expect(dnnl_out_of_memory, "keep so many layers");
  expect(dnnl_primitive_desc_create(out_description, operation, attributes, engine, NULL),
         "describe a layer");
  expect(dnnl_primitive_create(&layer->primitive, *out_description), "make a layer");
  if (!y->memory) {
    y->layout =
        *dnnl_primitive_desc_query_md(*out_description, dnnl_query_exec_arg_md, DNNL_ARG_DST);
    y->memory = make_memory(&y->layout, 0);
  }
  add_argument(layer, DNNL_ARG_SRC, x->memory);
  add_argument(layer, DNNL_ARG_DST, y->memory);
  return layer;
}

// Sums up to what |sum| holds, if that isn't NULL, and takes the greater of that and 0, if |relu|.
static dnnl_primitive_attr_t make_attributes(const tensor_t* sum, int relu) {
  dnnl_primitive_attr_t attributes;
  dnnl_post_ops_t after;
  expect(dnnl_primitive_attr_create(&attributes), "make attributes");
  expect(dnnl_post_ops_create(&after), "make attributes");
  if (sum) expect(dnnl_post_ops_append_sum(after, 1), "add a sum");
  if (relu) {
    expect(dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_relu, 0, 0), "add a function");
  }
  expect(dnnl_primitive_attr_set_post_ops(attributes, after), "set attributes");
  dnnl_post_ops_destroy(after);
  return attributes;
}

static void add_weights(layer_t* layer, const_dnnl_primitive_desc_t description, float scale) {
  const dnnl_memory_desc_t* weights =
      dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, DNNL_ARG_WEIGHTS);
  const dnnl_memory_desc_t* bias =
      dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, DNNL_ARG_BIAS);
  add_argument(layer, DNNL_ARG_WEIGHTS, make_memory(weights, scale));
  add_argument(layer, DNNL_ARG_BIAS, make_memory(bias, 0.1f));
}

static tensor_t convolve(const tensor_t* x, int64_t channels, int64_t window, int64_t stride,
                         const tensor_t* sum, int relu) {
  tensor_t y = {.channels = channels, .size = (x->size + stride - 1) / stride};
  const dnnl_dims_t target = {1, channels, y.size, y.size}, bias_dims = {channels};
  const dnnl_dims_t weight_dims = {channels, x->channels, window, window};
  const dnnl_dims_t strides = {stride, stride};
  const int64_t before = window / 2, after = (y.size - 1) * stride + window - x->size - before;
  const dnnl_dims_t near = {before, before}, far = {after, after};
  dnnl_memory_desc_t weights, bias;
  dnnl_convolution_desc_t operation;
  dnnl_primitive_desc_t description;
  describe(weight_dims, 4, dnnl_format_tag_any, &weights);
  describe(bias_dims, 1, dnnl_x, &bias);
  if (sum) y = *sum;
  if (!sum) describe(target, 4, dnnl_format_tag_any, &y.layout);
  expect(dnnl_convolution_forward_desc_init(&operation, dnnl_forward_inference,
                                            dnnl_convolution_direct, &x->layout, &weights, &bias,
                                            &y.layout, strides, near, far),
         "describe a convolution");
  dnnl_primitive_attr_t attributes = make_attributes(sum, relu);
  layer_t* layer = add_layer(&operation, attributes, x, &y, &description);
  dnnl_primitive_attr_destroy(attributes);
  add_weights(layer, description, sqrtf(6.0f / (float)(x->channels * window * window)));
  dnnl_primitive_desc_destroy(description);
  return y;
}

// The greatest of windows of 3 by 3, or the mean of all.
static tensor_t pool(const tensor_t* x, dnnl_alg_kind_t kind) {
  const int is_mean = kind == dnnl_pooling_avg;
  tensor_t y = {.channels = x->channels, .size = is_mean ? 1 : (x->size + 1) / 2};
  const int64_t window = is_mean ? x->size : 3, stride = is_mean ? 1 : 2, pad = !is_mean;
  const dnnl_dims_t target = {1, y.channels, y.size, y.size}, size = {window, window};
  const dnnl_dims_t strides = {stride, stride}, near = {pad, pad}, far = {0, 0};
  dnnl_pooling_desc_t operation;
  dnnl_primitive_desc_t description;
  describe(target, 4, dnnl_format_tag_any, &y.layout);
  expect(dnnl_pooling_forward_desc_init(&operation, dnnl_forward_inference, kind, &x->layout,
                                        &y.layout, strides, size, near, far),
         "describe a pooling");
  add_layer(&operation, NULL, x, &y, &description);
  dnnl_primitive_desc_destroy(description);
  return y;
}

static void classify(const tensor_t* x) {
  tensor_t y = {.channels = 1000};
  const dnnl_dims_t weight_dims = {1000, x->channels, 1, 1}, bias_dims = {1000};
  const dnnl_dims_t target = {1, 1000};
  dnnl_memory_desc_t weights, bias;
  dnnl_inner_product_desc_t operation;
  dnnl_primitive_desc_t description;
  describe(weight_dims, 4, dnnl_format_tag_any, &weights);
  describe(bias_dims, 1, dnnl_x, &bias);
  describe(target, 2, dnnl_ab, &y.layout);
  expect(dnnl_inner_product_forward_desc_init(&operation, dnnl_forward_inference, &x->layout,
                                              &weights, &bias, &y.layout),
         "describe a product");
  layer_t* layer = add_layer(&operation, NULL, x, &y, &description);
  add_weights(layer, description, 0.02f);
  dnnl_primitive_desc_destroy(description);
}

static tensor_t add_bottleneck(tensor_t x, int64_t width, int64_t stride) {
  tensor_t a = convolve(&x, width, 1, 1, NULL, 1);
  tensor_t b = convolve(&a, width, 3, stride, NULL, 1);
  // The sum is written where the other summand is.
  tensor_t other = x;
  if (x.channels != 4 * width) other = convolve(&x, 4 * width, 1, stride, NULL, 0);
  return convolve(&b, 4 * width, 1, 1, &other, 1);
}

static void build(void) {
  static const int64_t widths[] = {64, 128, 256, 512};
  static const int counts[] = {3, 4, 6, 3};
  tensor_t x = {.channels = 3, .size = 224};
  const dnnl_dims_t picture = {1, 3, 224, 224};
  expect(dnnl_engine_create(&engine, dnnl_cpu, 0), "make an engine");
  expect(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "make a stream");
  describe(picture, 4, dnnl_nchw, &x.layout);
  x.memory = make_memory(&x.layout, 1);
  x = convolve(&x, 64, 7, 2, NULL, 1);
  x = pool(&x, dnnl_pooling_max);
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < counts[stage]; ++i) {
      x = add_bottleneck(x, widths[stage], i == 0 && stage > 0 ? 2 : 1);
    }
  }
  x = pool(&x, dnnl_pooling_avg);
  classify(&x);
}

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void) {
  char line[256];
  build();
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin)) {
    long long clock = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < layer_count; ++i) {
      expect(
          dnnl_primitive_execute(layers[i].primitive, stream, layers[i].count, layers[i].arguments),
          "run a layer");
    }
    expect(dnnl_stream_wait(stream), "wait");
    printf("%lld %lld\n", now(CLOCK_MONOTONIC) - clock, now(CLOCK_PROCESS_CPUTIME_ID) - processor);
    fflush(stdout);
  }
  printf("%ld\n", tfrt_bench_peak_memory(getpid()));
  return 0;
}
