// SPDX-License-Identifier: Apache-2.0
//
// Operations that bring elements to a common scale: softmax, and normalization over axes,
// channels, groups or batches. f32 and f64; sums are kept as double.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/fast_math.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/softmax_row.h"
#include "kernels/nn/math/wide_loops.h"

static tfrt_status_t check_float(const tfrt_nn_call_t* call, uint32_t index) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, index);
  if (!x) return tfrt_nn_error(call, "operand %u is missing", index);
  return tfrt_nn_is_float(x->dtype) ? NULL : tfrt_nn_dtype_error(call, x->dtype);
}

// --- Softmax ----------------------------------------------------------------------

// The row of |count| elements with a step of |stride|: e^(x - greatest), by their sum, or the
// logarithm of that. Double is fast enough where the step isn't 1.
#define SOFTMAX_ROW(suffix, type, exponential)                                                \
  static void softmax_##suffix(const type* x, type* out, int64_t count, int64_t stride,       \
                               bool is_log) {                                                 \
    type greatest = x[0];                                                                     \
    for (int64_t i = 1; i < count; ++i) {                                                     \
      if (x[i * stride] > greatest) greatest = x[i * stride];                                 \
    }                                                                                         \
    double sum = 0;                                                                           \
    for (int64_t i = 0; i < count; ++i) {                                                     \
      type e = exponential(x[i * stride] - greatest);                                         \
      out[i * stride] = e;                                                                    \
      sum += (double)e;                                                                       \
    }                                                                                         \
    type factor = (type)(1.0 / sum);                                                          \
    type shift = (type)log(sum);                                                              \
    for (int64_t i = 0; i < count; ++i) {                                                     \
      out[i * stride] = is_log ? x[i * stride] - greatest - shift : out[i * stride] * factor; \
    }                                                                                         \
  }
SOFTMAX_ROW(f32, float, tfrt_nn_expf)
SOFTMAX_ROW(f64, double, exp)

static tfrt_status_t run_softmax(const tfrt_nn_call_t* call, bool is_log) {
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  uint32_t axis = 0;
  if (x->shape.rank > 0) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, &axis));
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  int64_t count = x->shape.rank ? x->shape.dims[axis] : 1;
  int64_t stride = x->shape.rank ? tfrt_shape_stride(&x->shape, axis) : 1;
  int64_t rows = count ? tfrt_dense_host_tensor_element_count(x) / count : 0;
  const void* source = tfrt_dense_host_tensor_data(x);
  void* out = tfrt_nn_result_data(call, 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = row / stride * stride * count + row % stride;
    if (x->dtype == TFRT_DTYPE_F64) {
      softmax_f64((const double*)source + first, (double*)out + first, count, stride, is_log);
    } else if (stride == 1 && !is_log) {
      tfrt_nn_softmax_row((const float*)source + first, (float*)out + first, count);
    } else {
      softmax_f32((const float*)source + first, (float*)out + first, count, stride, is_log);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_softmax(const tfrt_nn_call_t* call) { return run_softmax(call, false); }
tfrt_status_t tfrt_nn_log_softmax(const tfrt_nn_call_t* call) { return run_softmax(call, true); }

// --- Over the last axes --------------------------------------------------------------

// One element of a float tensor, as double; 0 of one that isn't there.
static double element(const tfrt_dense_host_tensor_t* tensor, int64_t i) {
  if (!tensor) return 0;
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

// Sums that go on independently, so that they fit into vectors.
enum { LANES = 16 };

// The sum of the |count| |terms| of |data|: each lane of every sixteenth.
#define SUM_LANES(count, data, term, out_sum)                      \
  do {                                                             \
    double lanes[LANES] = {0};                                     \
    double total = 0;                                              \
    int64_t at = 0;                                                \
    for (; at + LANES <= (count); at += LANES) {                   \
      for (int lane = 0; lane < LANES; ++lane) {                   \
        double x = (double)(data)[at + lane];                      \
        lanes[lane] += (term);                                     \
      }                                                            \
    }                                                              \
    for (; at < (count); ++at) {                                   \
      double x = (double)(data)[at];                               \
      total += (term);                                             \
    }                                                              \
    for (int lane = 0; lane < LANES; ++lane) total += lanes[lane]; \
    *(out_sum) = total;                                            \
  } while (0)

// Sets the sum of a row of f32, and that of the squares of the differences to its mean.
TFRT_ALWAYS_INLINE void measure_row_loop(const float* data, int64_t count, double* out_sum,
                                         double* out_squares) {
  SUM_LANES(count, data, x, out_sum);
  const double mean = *out_sum / (double)count;
  SUM_LANES(count, data, (x - mean) * (x - mean), out_squares);
}
TFRT_NN_WIDE_FUNCTION(measure_row,
                      (const float* data, int64_t count, double* out_sum, double* out_squares),
                      (data, count, out_sum, out_squares))

// Sets mean and variance of |count| elements of |x| from |first| on. (A variance of differences
// keeps its digits where the mean is large.)
static void measure(const tfrt_dense_host_tensor_t* x, int64_t first, int64_t count,
                    double* out_mean, double* out_variance) {
  double sum = 0;
  double squares = 0;
  if (x->dtype == TFRT_DTYPE_F32) {
    measure_row((const float*)tfrt_dense_host_tensor_data(x) + first, count, &sum, &squares);
  } else {
    for (int64_t i = 0; i < count; ++i) sum += element(x, first + i);
    double mean = sum / (double)count;
    for (int64_t i = 0; i < count; ++i) {
      double difference = element(x, first + i) - mean;
      squares += difference * difference;
    }
  }
  *out_mean = sum / (double)count;
  *out_variance = squares / (double)count;
}

// A row of f32: (x - mean) * factor * scale + bias.
TFRT_ALWAYS_INLINE void normalize_row_loop(const float* x, float mean, float factor,
                                           const float* scale, const float* bias, int64_t count,
                                           float* out) {
  if (bias) {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - mean) * factor * scale[i] + bias[i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = (x[i] - mean) * factor * scale[i];
  }
}
TFRT_NN_WIDE_FUNCTION(normalize_row,
                      (const float* x, float mean, float factor, const float* scale,
                       const float* bias, int64_t count, float* out),
                      (x, mean, factor, scale, bias, count, out))

// OK, and sets |*out_count| to the elements of the axes from the attribute axis on, if the scale
// (input 1) and the bias (input 2, if it is there) have as many, of the same type.
static tfrt_status_t check_scales(const tfrt_nn_call_t* call, uint32_t* out_axis,
                                  int64_t* out_count) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), x->shape.rank, out_axis));
  *out_count = 1;
  for (uint32_t i = *out_axis; i < x->shape.rank; ++i) *out_count *= x->shape.dims[i];
  for (uint32_t i = 1; i < 3; ++i) {
    if (i == 2 && !tfrt_nn_input(call, i)) continue;
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, x->dtype));
    if (tfrt_dense_host_tensor_element_count(call->inputs[i]) != *out_count) {
      return tfrt_nn_error(call, "operand %u must have %lld elements", i, (long long)*out_count);
    }
  }
  return NULL;
}

static void write_normalized(const tfrt_nn_call_t* call, int64_t first, int64_t count, double mean,
                             double factor) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  const tfrt_dense_host_tensor_t* bias = tfrt_nn_input(call, 2);
  if (x->dtype == TFRT_DTYPE_F32) {
    normalize_row((const float*)tfrt_dense_host_tensor_data(x) + first, (float)mean, (float)factor,
                  tfrt_nn_input_data(call, 1), bias ? tfrt_dense_host_tensor_data(bias) : NULL,
                  count, (float*)tfrt_nn_result_data(call, 0) + first);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    double value = (element(x, first + i) - mean) * factor * element(call->inputs[1], i);
    set_element(&call->results[0], first + i, value + element(bias, i));
  }
}

tfrt_status_t tfrt_nn_layer_normalization(const tfrt_nn_call_t* call) {
  uint32_t axis;
  int64_t count;
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  TFRT_RETURN_IF_ERROR(check_scales(call, &axis, &count));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  tfrt_shape_t outer = x->shape;
  for (uint32_t i = axis; i < outer.rank; ++i) outer.dims[i] = 1;
  for (uint32_t i = 1; i < call->result_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, i, x->dtype, &outer));
  }
  double epsilon = (double)tfrt_nn_f32(call, "epsilon");
  int64_t rows = count ? tfrt_shape_element_count(&outer) : 0;
  for (int64_t row = 0; row < rows; ++row) {
    double mean, variance;
    measure(x, row * count, count, &mean, &variance);
    double factor = 1.0 / sqrt(variance + epsilon);
    write_normalized(call, row * count, count, mean, factor);
    if (call->result_count > 1) set_element(&call->results[1], row, mean);
    if (call->result_count > 2) set_element(&call->results[2], row, factor);
  }
  return NULL;
}

tfrt_status_t tfrt_nn_rms_normalization(const tfrt_nn_call_t* call) {
  uint32_t axis;
  int64_t count;
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  TFRT_RETURN_IF_ERROR(check_scales(call, &axis, &count));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  double epsilon = (double)tfrt_nn_f32(call, "epsilon");
  int64_t rows = count ? tfrt_dense_host_tensor_element_count(x) / count : 0;
  for (int64_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < count; ++i) {
      double value = element(x, row * count + i);
      squares += value * value;
    }
    write_normalized(call, row * count, count, 0, 1.0 / sqrt(squares / (double)count + epsilon));
  }
  return NULL;
}

// --- By channels ----------------------------------------------------------------------

// OK if operand |index| is a list of |count| elements of the type of operand 0.
static tfrt_status_t check_list(const tfrt_nn_call_t* call, uint32_t index, int64_t count) {
  if (!tfrt_nn_input(call, index)) return tfrt_nn_error(call, "operand %u is missing", index);
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index, call->inputs[0]->dtype));
  if (tfrt_dense_host_tensor_element_count(call->inputs[index]) == count) return NULL;
  return tfrt_nn_error(call, "operand %u must have %lld elements", index, (long long)count);
}

// Writes x * factor + shift for |count| elements from |first| on.
static void scale_and_shift(const tfrt_nn_call_t* call, int64_t first, int64_t count, double factor,
                            double shift) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  if (x->dtype == TFRT_DTYPE_F32) {
    const float* source = (const float*)tfrt_dense_host_tensor_data(x) + first;
    float* out = (float*)tfrt_nn_result_data(call, 0) + first;
    const float f = (float)factor, s = (float)shift;
    for (int64_t i = 0; i < count; ++i) out[i] = source[i] * f + s;
    return;
  }
  for (int64_t i = first; i < first + count; ++i) {
    set_element(&call->results[0], i, element(x, i) * factor + shift);
  }
}

// Mean and variance of channel |channel| over the batch.
static void measure_channel(const tfrt_dense_host_tensor_t* x, int64_t channel, int64_t pixels,
                            double* out_mean, double* out_variance) {
  int64_t batch = x->shape.dims[0], channels = x->shape.dims[1];
  double sum = 0, squares = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t i = 0; i < pixels; ++i) sum += element(x, (n * channels + channel) * pixels + i);
  }
  double mean = sum / (double)(batch * pixels);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t i = 0; i < pixels; ++i) {
      double difference = element(x, (n * channels + channel) * pixels + i) - mean;
      squares += difference * difference;
    }
  }
  *out_mean = mean;
  *out_variance = squares / (double)(batch * pixels);
}

// With training_mode: by the batch's own mean and variance, and the running ones are results.
static tfrt_status_t make_running(const tfrt_nn_call_t* call, int64_t channels) {
  if (call->result_count < 3) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 1, call->inputs[3]->dtype, &channels, 1));
  return tfrt_nn_make_dims(call, 2, call->inputs[4]->dtype, &channels, 1);
}

tfrt_status_t tfrt_nn_batch_normalization(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  bool trains = tfrt_nn_i64(call, "training_mode") != 0;
  int64_t channels = x->shape.rank > 1 ? x->shape.dims[1] : 1;
  int64_t pixels = x->shape.rank > 1 ? tfrt_shape_stride(&x->shape, 1) : 1;
  for (uint32_t i = 1; i < 5; ++i) TFRT_RETURN_IF_ERROR(check_list(call, i, channels));
  if (trains && x->shape.rank < 2) return tfrt_nn_error(call, "it takes at least two axes");
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  TFRT_RETURN_IF_ERROR(make_running(call, channels));
  double momentum = (double)tfrt_nn_f32(call, "momentum");
  int64_t batch = x->shape.rank ? x->shape.dims[0] : 1;
  for (int64_t c = 0; c < channels; ++c) {
    double mean = element(call->inputs[3], c), variance = element(call->inputs[4], c);
    if (trains) {
      double own_mean, own_variance;
      measure_channel(x, c, pixels, &own_mean, &own_variance);
      if (call->result_count > 2) {
        set_element(&call->results[1], c, mean * momentum + own_mean * (1 - momentum));
        set_element(&call->results[2], c, variance * momentum + own_variance * (1 - momentum));
      }
      mean = own_mean;
      variance = own_variance;
    }
    double factor =
        element(call->inputs[1], c) / sqrt(variance + (double)tfrt_nn_f32(call, "epsilon"));
    double shift = element(call->inputs[2], c) - mean * factor;
    for (int64_t n = 0; n < batch; ++n) {
      scale_and_shift(call, (n * channels + c) * pixels, pixels, factor, shift);
    }
  }
  return NULL;
}

// Each group of channels of each picture by itself; |per_group|: scale and bias are those of the
// group, not of the channel.
static tfrt_status_t normalize_groups(const tfrt_nn_call_t* call, int64_t groups, bool per_group) {
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  if (x->shape.rank < 2) return tfrt_nn_error(call, "it takes at least two axes");
  int64_t channels = x->shape.dims[1];
  if (groups < 1 || channels % groups != 0) return tfrt_nn_error(call, "wrong number of groups");
  TFRT_RETURN_IF_ERROR(check_list(call, 1, per_group ? groups : channels));
  TFRT_RETURN_IF_ERROR(check_list(call, 2, per_group ? groups : channels));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  int64_t pixels = tfrt_shape_stride(&x->shape, 1);
  int64_t members = channels / groups;
  double epsilon = (double)tfrt_nn_f32(call, "epsilon");
  for (int64_t i = 0; i < x->shape.dims[0] * groups && pixels > 0; ++i) {
    double mean, variance;
    measure(x, i * members * pixels, members * pixels, &mean, &variance);
    double factor = 1.0 / sqrt(variance + epsilon);
    for (int64_t m = 0; m < members; ++m) {
      int64_t channel = i % groups * members + m;
      int64_t entry = per_group ? i % groups : channel;
      double scale = element(call->inputs[1], entry) * factor;
      double shift = element(call->inputs[2], entry) - mean * scale;
      scale_and_shift(call, (i * members + m) * pixels, pixels, scale, shift);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_nn_instance_normalization(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  const tfrt_shape_t* shape = &call->inputs[0]->shape;
  return normalize_groups(call, shape->rank > 1 ? shape->dims[1] : 0, false);
}

tfrt_status_t tfrt_nn_group_normalization(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  int64_t groups = tfrt_nn_i64(call, "num_groups");
  const tfrt_dense_host_tensor_t* scale = tfrt_nn_input(call, 1);
  if (!scale) return tfrt_nn_error(call, "operand 1 is missing");
  // Opset 18 has one scale for a group, opset 21 one for a channel.
  bool per_group = tfrt_nn_i64(call, "per_group") != 0;
  return normalize_groups(call, groups, per_group);
}

tfrt_status_t tfrt_nn_lrn(const tfrt_nn_call_t* call) {
  TFRT_RETURN_IF_ERROR(check_float(call, 0));
  const tfrt_dense_host_tensor_t* x = call->inputs[0];
  int64_t size = tfrt_nn_i64(call, "size");
  if (x->shape.rank < 2 || size < 1) return tfrt_nn_error(call, "wrong axes or size");
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, x->dtype, &x->shape));
  double alpha = (double)tfrt_nn_f32(call, "alpha") / (double)size;
  double beta = (double)tfrt_nn_f32(call, "beta");
  double bias = (double)tfrt_nn_f32(call, "bias");
  int64_t channels = x->shape.dims[1], pixels = tfrt_shape_stride(&x->shape, 1);
  int64_t count = tfrt_dense_host_tensor_element_count(x);
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = i / pixels % channels;
    int64_t first = channel - (size - 1) / 2 < 0 ? 0 : channel - (size - 1) / 2;
    int64_t last = channel + size / 2 >= channels ? channels - 1 : channel + size / 2;
    double squares = 0;
    for (int64_t c = first; c <= last; ++c) {
      double value = element(x, i + (c - channel) * pixels);
      squares += value * value;
    }
    set_element(&call->results[0], i, element(x, i) / pow(bias + alpha * squares, beta));
  }
  return NULL;
}
