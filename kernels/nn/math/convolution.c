// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by the maths library, or by winograd.h, compiled and with packed weights
// once for a place in a program; transposed ones by products of matrices.
#include <string.h>

#include "kernels/nn/math/epilogue.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/window.h"
#include "kernels/nn/math/winograd.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_convolution.h"

// OK if operands 0 and 1 are f32 with as many axes, and operand 2, if it is there, is a list of
// |*out_bias| (NULL without) elements.
static tfrt_status_t check_operands(const tfrt_nn_call_t* call, const float** out_bias,
                                    int64_t bias_count) {
  const tfrt_dense_host_tensor_t* bias = tfrt_nn_input(call, 2);
  *out_bias = NULL;
  if (!bias) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, TFRT_DTYPE_F32));
  if (tfrt_dense_host_tensor_element_count(bias) != bias_count) {
    return tfrt_nn_error(call, "the bias must have %lld elements, not %s", (long long)bias_count,
                         tfrt_shape_text(&bias->shape).text);
  }
  *out_bias = tfrt_dense_host_tensor_data(bias);
  return NULL;
}

static tfrt_status_t check_weights(const tfrt_nn_call_t* call, int64_t* out_size) {
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 0, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, TFRT_DTYPE_F32));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* w = &call->inputs[1]->shape;
  tfrt_nn_numbers_t kernel;
  if (x->rank != w->rank || x->rank < 3 || x->rank > 2 + TFRT_NN_MAX_SPATIAL) {
    return tfrt_nn_error(call, "%s and weights of %s don't fit: both need 3 to %d axes",
                         tfrt_shape_text(x).text, tfrt_shape_text(w).text, 2 + TFRT_NN_MAX_SPATIAL);
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "kernel_shape", &kernel));
  for (uint32_t i = 0; i < x->rank - 2; ++i) {
    out_size[i] = w->dims[2 + i];
    if (kernel.count > 0 && (kernel.count != x->rank - 2 || kernel.values[i] != out_size[i])) {
      return tfrt_nn_error(call, "'kernel_shape' is not that of the weights, %s",
                           tfrt_shape_text(w).text);
    }
  }
  return NULL;
}

static tfrt_status_t check_groups(const tfrt_nn_call_t* call, int64_t channels, int64_t per_group,
                                  int64_t filters, int64_t* out_groups) {
  *out_groups = tfrt_nn_i64(call, "group");
  int64_t groups = *out_groups;
  if (groups >= 1 && channels % groups == 0 && channels / groups == per_group &&
      filters % groups == 0 && per_group > 0 && filters > 0) {
    return NULL;
  }
  return tfrt_nn_error(call, "%lld channels in %lld groups don't fit to weights of %s",
                       (long long)channels, (long long)groups,
                       tfrt_shape_text(&call->inputs[1]->shape).text);
}

// True if axis |i| of |window| has one place, and nothing around it.
static bool is_flat(const tfrt_nn_window_t* window, uint32_t i) {
  return window->source[i] == 1 && window->size[i] == 1 && window->target[i] == 1 &&
         window->strides[i] == 1 && window->before[i] == 0 && window->after[i] == 0;
}

static void fill_spec(const tfrt_nn_window_t* window, tfrt_onednn_convolution_spec_t* spec) {
  // A picture of one column lies in memory as one of one row does; the library works on rows, and
  // takes several times as long for the same products in rows of one pixel.
  bool is_column = window->spatial == 2 && is_flat(window, 1);
  spec->spatial = window->spatial;
  for (uint32_t i = 0; i < window->spatial; ++i) {
    uint32_t to = is_column ? 1 - i : i;
    spec->source[to] = window->source[i];
    spec->window[to] = window->size[i];
    spec->strides[to] = window->strides[i];
    spec->dilations[to] = window->dilations[i];
    spec->before[to] = window->before[i];
    spec->after[to] = window->after[i];
    spec->target[to] = window->target[i];
  }
}

// Sets |*out_spec|, the shape of the result and the bias (NULL without) by the operands.
static tfrt_status_t plan_convolution(const tfrt_nn_call_t* call,
                                      tfrt_onednn_convolution_spec_t* out_spec,
                                      tfrt_shape_t* out_shape, const float** out_bias) {
  int64_t size[TFRT_NN_MAX_SPATIAL];
  tfrt_nn_window_t window;
  // Specifications are compared as bytes.
  memset(out_spec, 0, sizeof(*out_spec));
  TFRT_RETURN_IF_ERROR(check_weights(call, size));
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_plan(call, size, false, &window));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* w = &call->inputs[1]->shape;
  bool is_last = out_spec->channels_last = tfrt_nn_is_channels_last(call);
  int64_t channels = x->dims[is_last ? x->rank - 1 : 1];
  TFRT_RETURN_IF_ERROR(check_groups(call, channels, w->dims[1], w->dims[0], &out_spec->groups));
  TFRT_RETURN_IF_ERROR(check_operands(call, out_bias, w->dims[0]));
  fill_spec(&window, out_spec);
  out_spec->batch = x->dims[0];
  out_spec->source_channels = channels;
  out_spec->target_channels = w->dims[0];
  out_spec->has_bias = *out_bias != NULL;
  int64_t dims[2 + TFRT_NN_MAX_SPATIAL] = {x->dims[0]};
  dims[is_last ? x->rank - 1 : 1] = w->dims[0];
  memcpy(dims + (is_last ? 1 : 2), window.target, window.spatial * sizeof(int64_t));
  return tfrt_shape_make(dims, x->rank, out_shape);
}

// --- What is kept -----------------------------------------------------------------

// A convolution that was made for one specification, and maybe for weights that stay.
typedef struct kept_convolution_s {
  tfrt_nn_kept_t base;
  tfrt_allocator_t allocator;
  tfrt_onednn_convolution_spec_t spec;
  const void* weights;  // packed; NULL: each run has its own
  tfrt_onednn_convolution_t* convolution;
  tfrt_nn_winograd_t* winograd;  // in place of |convolution|; NULL: there is none
} kept_convolution_t;

typedef struct convolution_key_s {
  const tfrt_onednn_convolution_spec_t* spec;
  const void* weights;
} convolution_key_t;

static bool is_convolution_for(const tfrt_nn_kept_t* kept, const void* key) {
  const kept_convolution_t* own = TFRT_CONTAINER_OF(kept, const kept_convolution_t, base);
  const convolution_key_t* wanted = key;
  // Both were zeroed before they were filled in, with what lies between their members.
  const void *a = &own->spec, *b = wanted->spec;
  return own->weights == wanted->weights && memcmp(a, b, sizeof(own->spec)) == 0;
}

static void destroy_convolution(tfrt_nn_kept_t* kept) {
  kept_convolution_t* own = TFRT_CONTAINER_OF(kept, kept_convolution_t, base);
  tfrt_onednn_convolution_free(own->convolution);
  tfrt_nn_winograd_free(own->winograd);
  tfrt_allocator_free(own->allocator, own, sizeof(*own));
}

// Sets |*out_kept| (+1) to a new one, which the place of |call|, if it has one, keeps.
static tfrt_status_t make_convolution(const tfrt_nn_call_t* call, const convolution_key_t* key,
                                      kept_convolution_t** out_kept) {
  tfrt_allocator_t allocator = call->place ? call->place->allocator : call->allocator;
  kept_convolution_t* own = tfrt_allocator_allocate_zeroed(allocator, sizeof(*own));
  if (!own) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&own->base.ref_count);
  own->base.destroy = destroy_convolution;
  own->allocator = allocator;
  memcpy(&own->spec, key->spec, sizeof(own->spec));
  own->weights = key->weights;
  tfrt_status_t status = NULL;
  if (key->weights) {
    status = tfrt_nn_winograd_create(key->spec, key->weights, allocator, &own->winograd);
  }
  if (!status && !own->winograd) {
    status = tfrt_onednn_convolution_create(key->spec, key->weights, allocator, &own->convolution);
  }
  if (status) {
    tfrt_nn_kept_release(&own->base);
    return status;
  }
  if (call->place) tfrt_nn_place_keep(call->place, &own->base);
  if (key->weights) tfrt_nn_place_unload(call->place, call->inputs[1]);
  *out_kept = own;
  return NULL;
}

// Runs a convolution of the library that nobody keeps, for elements that a kept one of another kind
// isn't for.
static tfrt_status_t convolve_once(const tfrt_nn_call_t* call,
                                   const tfrt_onednn_convolution_spec_t* spec, const float* bias,
                                   float* target) {
  const void* weights = tfrt_nn_input_data(call, 1);
  tfrt_onednn_convolution_t* convolution = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_convolution_create(spec, NULL, call->allocator, &convolution));
  tfrt_status_t status = tfrt_onednn_convolution_run(convolution, tfrt_nn_input_data(call, 0),
                                                     weights, bias, target, call->allocator);
  tfrt_onednn_convolution_free(convolution);
  return status;
}

static tfrt_status_t convolve_by_winograd(const tfrt_nn_call_t* call, const kept_convolution_t* own,
                                          const float* bias, float* target) {
  bool is_done;
  TFRT_RETURN_IF_ERROR(tfrt_nn_winograd_run(own->winograd, tfrt_nn_input_data(call, 0), bias,
                                            target, call->allocator, &is_done));
  return is_done ? NULL : convolve_once(call, &own->spec, bias, target);
}

// Runs the convolution of |spec| into |target|.
static tfrt_status_t convolve(const tfrt_nn_call_t* call,
                              const tfrt_onednn_convolution_spec_t* spec, const float* bias,
                              float* target) {
  const void* weights = tfrt_nn_input_data(call, 1);
  bool stays = tfrt_nn_place_is_constant(call->place, call->inputs[1]);
  const convolution_key_t key = {spec, stays ? weights : NULL};
  tfrt_nn_kept_t* found =
      call->place ? tfrt_nn_place_find(call->place, is_convolution_for, &key) : NULL;
  kept_convolution_t* own = found ? TFRT_CONTAINER_OF(found, kept_convolution_t, base) : NULL;
  if (!own) TFRT_RETURN_IF_ERROR(make_convolution(call, &key, &own));
  tfrt_status_t status =
      own->winograd ? convolve_by_winograd(call, own, bias, target)
                    : tfrt_onednn_convolution_run(own->convolution, tfrt_nn_input_data(call, 0),
                                                  weights, bias, target, call->allocator);
  tfrt_nn_kept_release(&own->base);
  return status;
}

tfrt_status_t tfrt_nn_conv(const tfrt_nn_call_t* call) {
  tfrt_onednn_convolution_spec_t spec;
  tfrt_shape_t shape;
  const float* bias;
  TFRT_RETURN_IF_ERROR(plan_convolution(call, &spec, &shape, &bias));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_F32, &shape));
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  return convolve(call, &spec, bias, tfrt_nn_result_data(call, 0));
}

// --- With a summand and a function --------------------------------------------------

// One after the other, for a summand of another shape than that of the convolution.
static tfrt_status_t convolve_and_stretch(const tfrt_nn_call_t* call,
                                          const tfrt_onednn_convolution_spec_t* spec,
                                          const tfrt_shape_t* shape, const float* bias) {
  tfrt_dense_host_tensor_t product = {0};
  tfrt_onednn_convolution_spec_t plain = *spec;
  memset(&plain.epilogue, 0, sizeof(plain.epilogue));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, shape, call->allocator, &product));
  tfrt_status_t status = NULL;
  if (tfrt_shape_element_count(shape) > 0) {
    status = convolve(call, &plain, bias, tfrt_dense_host_tensor_data(&product));
  }
  if (!status) status = tfrt_nn_epilogue_stretch(call, &product, &spec->epilogue);
  tfrt_dense_host_tensor_deinitialize(&product);
  return status;
}

tfrt_status_t tfrt_nn_fused_conv(const tfrt_nn_call_t* call) {
  tfrt_onednn_convolution_spec_t spec;
  tfrt_shape_t shape;
  const float* bias;
  bool is_plain;
  TFRT_RETURN_IF_ERROR(plan_convolution(call, &spec, &shape, &bias));
  TFRT_RETURN_IF_ERROR(tfrt_nn_epilogue_read(call, &spec.epilogue));
  TFRT_RETURN_IF_ERROR(tfrt_nn_epilogue_make(call, &shape, &spec.epilogue, &is_plain));
  if (!is_plain) return convolve_and_stretch(call, &spec, &shape, bias);
  if (tfrt_shape_element_count(&shape) == 0) return NULL;
  return convolve(call, &spec, bias, tfrt_nn_result_data(call, 0));
}

// --- Transposed -------------------------------------------------------------------
//
//   columns [filters * window, pixels] = weights [channels, filters * window]^T * source
//   each column is added to where its window lies in the target

// Adds the columns of one group to |target|, of |filters| channels.
static void add_columns(const tfrt_nn_window_t* window, const float* columns, int64_t filters,
                        float* target) {
  int64_t pixels = 1, places = 1, target_pixels = 1;
  for (uint32_t i = 0; i < window->spatial; ++i) {
    pixels *= window->source[i];
    places *= window->size[i];
    target_pixels *= window->target[i];
  }
  for (int64_t row = 0; row < filters * places; ++row) {
    int64_t kernel[TFRT_NN_MAX_SPATIAL];
    for (int64_t rest = row % places, i = window->spatial; i-- > 0; rest /= window->size[i]) {
      kernel[i] = rest % window->size[i];
    }
    float* plane = target + row / places * target_pixels;
    for (int64_t p = 0; p < pixels; ++p) {
      int64_t place = 0, step = 1, rest = p;
      for (int64_t i = window->spatial; i-- > 0 && place >= 0; rest /= window->source[i]) {
        int64_t at = rest % window->source[i] * window->strides[i] - window->before[i] +
                     kernel[i] * window->dilations[i];
        place = at < 0 || at >= window->target[i] ? -1 : place + at * step;
        step *= window->target[i];
      }
      if (place >= 0) plane[place] += columns[row * pixels + p];
    }
  }
}

// Sets pads and target of |window|, by output_shape, auto_pad or pads, and output_padding.
static tfrt_status_t plan_transposed(const tfrt_nn_call_t* call, tfrt_nn_window_t* window) {
  int64_t extra[TFRT_NN_MAX_SPATIAL], pads[2 * TFRT_NN_MAX_SPATIAL], shape[TFRT_NN_MAX_SPATIAL];
  uint32_t spatial = window->spatial;
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_numbers(call, "output_padding", spatial, 0, 0, extra));
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_numbers(call, "output_shape", spatial, 0, 0, shape));
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_numbers(call, "pads", 2 * spatial, 0, 0, pads));
  tfrt_nn_numbers_t given;
  TFRT_RETURN_IF_ERROR(tfrt_nn_numbers(call, "output_shape", &given));
  bool is_upper = tfrt_nn_string_is(call, "auto_pad", "SAME_UPPER");
  bool is_same = is_upper || tfrt_nn_string_is(call, "auto_pad", "SAME_LOWER");
  for (uint32_t i = 0; i < spatial; ++i) {
    int64_t extent = (window->size[i] - 1) * window->dilations[i] + 1;
    int64_t full = window->strides[i] * (window->source[i] - 1) + extra[i] + extent;
    if (given.count > 0 || is_same) {
      window->target[i] = given.count > 0 ? shape[i] : window->source[i] * window->strides[i];
      int64_t pad = full - window->target[i];
      if (pad < 0) pad = 0;
      window->before[i] = is_upper ? pad / 2 : pad - pad / 2;
    } else {
      window->before[i] = pads[i];
      window->target[i] = full - pads[i] - pads[i + spatial];
    }
    if (window->target[i] < 1) return tfrt_nn_error(call, "axis %u of the result is empty", i);
  }
  return NULL;
}

// One picture and group: a product of matrices, then its columns are added up.
static tfrt_status_t transpose_group(const tfrt_nn_window_t* window, const float* source,
                                     const float* weights, int64_t channels, int64_t filters,
                                     int64_t places, float* columns, float* target) {
  int64_t pixels = 1;
  for (uint32_t i = 0; i < window->spatial; ++i) pixels *= window->source[i];
  TFRT_RETURN_IF_ERROR(tfrt_onednn_gemm_ex(true, false, filters * places, pixels, channels, 1.0f,
                                           weights, source, 0.0f, columns));
  add_columns(window, columns, filters, target);
  return NULL;
}

static tfrt_status_t run_transposed(const tfrt_nn_call_t* call, const tfrt_nn_window_t* window,
                                    int64_t groups, const float* bias, float* columns) {
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* w = &call->inputs[1]->shape;
  int64_t channels = x->dims[1] / groups, filters = w->dims[1];
  int64_t pixels = tfrt_shape_stride(x, 1), places = tfrt_shape_stride(w, 1);
  int64_t target_pixels = tfrt_shape_stride(&call->results[0].shape, 1);
  float* target = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < x->dims[0] * groups * filters; ++i) {
    float value = bias ? bias[i % (groups * filters)] : 0.0f;
    for (int64_t p = 0; p < target_pixels; ++p) target[i * target_pixels + p] = value;
  }
  const float* source = tfrt_nn_input_data(call, 0);
  for (int64_t i = 0; i < x->dims[0] * groups; ++i) {
    const float* weights =
        (const float*)tfrt_nn_input_data(call, 1) + i % groups * channels * filters * places;
    TFRT_RETURN_IF_ERROR(transpose_group(window, source + i * channels * pixels, weights, channels,
                                         filters, places, columns,
                                         target + i * filters * target_pixels));
  }
  return NULL;
}

tfrt_status_t tfrt_nn_conv_transpose(const tfrt_nn_call_t* call) {
  int64_t size[TFRT_NN_MAX_SPATIAL], groups;
  tfrt_nn_window_t window;
  const float* bias;
  TFRT_RETURN_IF_ERROR(check_weights(call, size));
  TFRT_RETURN_IF_ERROR(tfrt_nn_window_read(call, size, &window));
  TFRT_RETURN_IF_ERROR(plan_transposed(call, &window));
  const tfrt_shape_t* x = &call->inputs[0]->shape;
  const tfrt_shape_t* w = &call->inputs[1]->shape;
  groups = tfrt_nn_i64(call, "group");
  if (groups < 1 || x->dims[1] % groups != 0 || w->dims[0] != x->dims[1] || x->dims[1] == 0) {
    return tfrt_nn_error(call, "the channels don't fit to the groups or weights");
  }
  TFRT_RETURN_IF_ERROR(check_operands(call, &bias, w->dims[1] * groups));
  int64_t dims[2 + TFRT_NN_MAX_SPATIAL] = {x->dims[0], w->dims[1] * groups};
  memcpy(dims + 2, window.target, window.spatial * sizeof(int64_t));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_F32, dims, x->rank));
  if (tfrt_dense_host_tensor_element_count(&call->results[0]) == 0) return NULL;
  size_t count;
  if (!tfrt_size_multiply((size_t)tfrt_shape_stride(w, 0), (size_t)tfrt_shape_stride(x, 1),
                          &count) ||
      !tfrt_size_multiply(count, sizeof(float), &count)) {
    return tfrt_nn_error(call, "it is too large");
  }
  float* columns = tfrt_allocator_allocate(call->allocator, count);
  if (!columns) return tfrt_status_out_of_memory();
  tfrt_status_t status = run_transposed(call, &window, groups, bias, columns);
  tfrt_allocator_free(call->allocator, columns, count);
  return status;
}
