// SPDX-License-Identifier: Apache-2.0
//
// Losses of classifiers: how unlikely the right classes are. f32 and f64; sums are kept as double.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

// Scores [batch, classes, pixels] and what is right for each pixel.
typedef struct loss_s {
  int64_t batch;
  int64_t classes;
  int64_t pixels;
  int64_t ignored;  // a class whose pixels don't count
  const tfrt_dense_host_tensor_t* labels;
  const tfrt_dense_host_tensor_t* weights;  // of the classes; NULL: all are 1
} loss_t;

static double element(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(tensor);
  return tensor->dtype == TFRT_DTYPE_F32 ? (double)((const float*)data)[i]
                                         : ((const double*)data)[i];
}

static void set_element(const tfrt_dense_host_tensor_t* tensor, int64_t i, double value) {
  void* data = tfrt_dense_host_tensor_data(tensor);
  if (tensor->dtype == TFRT_DTYPE_F32) {
    ((float*)data)[i] = (float)value;
  } else {
    ((double*)data)[i] = value;
  }
}

static int64_t label_at(const loss_t* loss, int64_t i) {
  const void* data = tfrt_dense_host_tensor_data(loss->labels);
  return loss->labels->dtype == TFRT_DTYPE_I64 ? ((const int64_t*)data)[i]
                                               : ((const int32_t*)data)[i];
}

static tfrt_status_t check_labels(const tfrt_nn_call_t* call, const tfrt_shape_t* scores,
                                  const tfrt_dense_host_tensor_t* labels) {
  bool fits = labels && labels->shape.rank + 1 == scores->rank && scores->rank >= 2 &&
              labels->shape.dims[0] == scores->dims[0];
  for (uint32_t i = 1; fits && i < labels->shape.rank; ++i) {
    fits = labels->shape.dims[i] == scores->dims[i + 1];
  }
  if (!fits) return tfrt_nn_error(call, "the scores and the labels don't fit to each other");
  if (labels->dtype == TFRT_DTYPE_I64 || labels->dtype == TFRT_DTYPE_I32) return NULL;
  return tfrt_nn_error(call, "the labels must be whole numbers");
}

static tfrt_status_t plan(const tfrt_nn_call_t* call, loss_t* out_loss) {
  const tfrt_dense_host_tensor_t* scores = tfrt_nn_input(call, 0);
  *out_loss = (loss_t){.labels = tfrt_nn_input(call, 1), .weights = tfrt_nn_input(call, 2)};
  if (!scores) return tfrt_nn_error(call, "its scores are missing");
  if (!tfrt_nn_is_float(scores->dtype)) return tfrt_nn_dtype_error(call, scores->dtype);
  TFRT_RETURN_IF_ERROR(check_labels(call, &scores->shape, out_loss->labels));
  out_loss->batch = scores->shape.dims[0];
  out_loss->classes = scores->shape.dims[1];
  out_loss->pixels = tfrt_shape_stride(&scores->shape, 1);
  out_loss->ignored = tfrt_nn_i64(call, "ignore_index");
  if (!out_loss->weights) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 2, scores->dtype));
  if (tfrt_dense_host_tensor_element_count(out_loss->weights) == out_loss->classes) return NULL;
  return tfrt_nn_error(call, "there must be a weight for each of %lld classes",
                       (long long)out_loss->classes);
}

// Sets |*out_loss| and |*out_weight| for pixel |i| of all, by the logarithms |likely|.
static tfrt_status_t measure_pixel(const tfrt_nn_call_t* call, const loss_t* loss,
                                   const tfrt_dense_host_tensor_t* likely, int64_t i,
                                   double* out_loss, double* out_weight) {
  int64_t label = label_at(loss, i);
  *out_loss = *out_weight = 0;
  if (label == loss->ignored) return NULL;
  if (label < 0 || label >= loss->classes) {
    return tfrt_nn_error(call, "label %lld is none of %lld classes", (long long)label,
                         (long long)loss->classes);
  }
  *out_weight = loss->weights ? element(loss->weights, label) : 1.0;
  int64_t at = (i / loss->pixels * loss->classes + label) * loss->pixels + i % loss->pixels;
  *out_loss = -element(likely, at) * *out_weight;
  return NULL;
}

// Makes result 0, of the dtype of |likely|: the loss of each pixel, or their sum or mean.
static tfrt_status_t make_loss(const tfrt_nn_call_t* call, const loss_t* loss,
                               const tfrt_dense_host_tensor_t* likely) {
  bool is_each = tfrt_nn_string_is(call, "reduction", "none");
  bool is_mean = tfrt_nn_string_is(call, "reduction", "mean");
  if (!is_each && !is_mean && !tfrt_nn_string_is(call, "reduction", "sum")) {
    return tfrt_nn_error(call, "'reduction' is none, sum or mean");
  }
  const tfrt_shape_t one = {.rank = 0};
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, likely->dtype, is_each ? &loss->labels->shape : &one));
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < loss->batch * loss->pixels; ++i) {
    double own, weight;
    TFRT_RETURN_IF_ERROR(measure_pixel(call, loss, likely, i, &own, &weight));
    if (is_each) set_element(&call->results[0], i, own);
    sum += own;
    weights += weight;
  }
  if (!is_each) set_element(&call->results[0], 0, is_mean ? sum / weights : sum);
  return NULL;
}

tfrt_status_t tfrt_nn_negative_log_likelihood_loss(const tfrt_nn_call_t* call) {
  loss_t loss;
  TFRT_RETURN_IF_ERROR(plan(call, &loss));
  return make_loss(call, &loss, call->inputs[0]);
}

// Sets |likely| to the logarithms of the softmax of the scores over the classes.
static void fill_likely(const tfrt_dense_host_tensor_t* scores, const loss_t* loss,
                        const tfrt_dense_host_tensor_t* likely) {
  for (int64_t i = 0; i < loss->batch * loss->pixels; ++i) {
    int64_t first = i / loss->pixels * loss->classes * loss->pixels + i % loss->pixels;
    double greatest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < loss->classes; ++c) {
      double x = element(scores, first + c * loss->pixels);
      if (x > greatest) greatest = x;
    }
    for (int64_t c = 0; c < loss->classes; ++c) {
      sum += exp(element(scores, first + c * loss->pixels) - greatest);
    }
    for (int64_t c = 0; c < loss->classes; ++c) {
      int64_t at = first + c * loss->pixels;
      set_element(likely, at, element(scores, at) - greatest - log(sum));
    }
  }
}

tfrt_status_t tfrt_nn_softmax_cross_entropy_loss(const tfrt_nn_call_t* call) {
  loss_t loss;
  tfrt_dense_host_tensor_t likely = {0};
  TFRT_RETURN_IF_ERROR(plan(call, &loss));
  const tfrt_dense_host_tensor_t* scores = call->inputs[0];
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(scores->dtype, &scores->shape, call->allocator, &likely));
  fill_likely(scores, &loss, &likely);
  tfrt_status_t status = make_loss(call, &loss, &likely);
  if (!status && call->result_count > 1) status = tfrt_nn_alias(call, 1, &likely, NULL);
  tfrt_dense_host_tensor_deinitialize(&likely);
  return status;
}
