// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks, as examples/mnist/kernels.cu has them.
#include "devices/cpu/cpu_kernel_groups.h"

// Reads parameter |index|.
static float* tfrt_cpu_layer_floats(void* const* parameters, int index) {
  return *(float**)parameters[index];
}
static size_t tfrt_cpu_layer_size(void* const* parameters, int index) {
  return *(const uint32_t*)parameters[index];
}

static float tfrt_cpu_layer_end(float sum, bool has_relu) { return has_relu && sum < 0 ? 0 : sum; }

// The sum of a window of |channels| planes of |height| times |width| at |x|.
static float tfrt_cpu_layer_window(const float* x, const float* w, size_t channels, size_t height,
                                   size_t width, size_t window) {
  float sum = 0;
  for (size_t c = 0; c < channels; ++c) {
    for (size_t a = 0; a < window; ++a) {
      const float* row = x + (c * height + a) * width;
      for (size_t b = 0; b < window; ++b) sum += row[b] * w[(c * window + a) * window + b];
    }
  }
  return sum;
}

tfrt_status_t tfrt_cpu_conv2d_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* x = tfrt_cpu_layer_floats(parameters, 0);
  const float* w = tfrt_cpu_layer_floats(parameters, 1);
  const float* bias = tfrt_cpu_layer_floats(parameters, 2);
  float* y = tfrt_cpu_layer_floats(parameters, 3);
  size_t images = tfrt_cpu_layer_size(parameters, 4);
  size_t channels = tfrt_cpu_layer_size(parameters, 5);
  size_t height = tfrt_cpu_layer_size(parameters, 6);
  size_t width = tfrt_cpu_layer_size(parameters, 7);
  size_t outputs = tfrt_cpu_layer_size(parameters, 8);
  size_t window = tfrt_cpu_layer_size(parameters, 9);
  bool has_relu = tfrt_cpu_layer_size(parameters, 10) != 0;
  for (size_t i = 0; i < images * outputs; ++i) {
    const float* image = x + i / outputs * channels * height * width;
    const float* windows = w + i % outputs * channels * window * window;
    for (size_t row = 0; row + window <= height; ++row) {
      for (size_t column = 0; column + window <= width; ++column) {
        float sum = tfrt_cpu_layer_window(image + row * width + column, windows, channels, height,
                                          width, window);
        *y++ = tfrt_cpu_layer_end(bias[i % outputs] + sum, has_relu);
      }
    }
  }
  return NULL;
}

tfrt_status_t tfrt_cpu_max_pool2d_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* x = tfrt_cpu_layer_floats(parameters, 0);
  float* y = tfrt_cpu_layer_floats(parameters, 1);
  size_t planes = tfrt_cpu_layer_size(parameters, 2);
  size_t height = tfrt_cpu_layer_size(parameters, 3);
  size_t width = tfrt_cpu_layer_size(parameters, 4);
  size_t window = tfrt_cpu_layer_size(parameters, 5);
  for (size_t plane = 0; plane < planes; ++plane, x += height * width) {
    for (size_t row = 0; row + window <= height; row += window) {
      for (size_t column = 0; column + window <= width; column += window) {
        float most = x[row * width + column];
        for (size_t i = 0; i < window * window; ++i) {
          float value = x[(row + i / window) * width + column + i % window];
          if (value > most) most = value;
        }
        *y++ = most;
      }
    }
  }
  return NULL;
}

tfrt_status_t tfrt_cpu_linear_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* x = tfrt_cpu_layer_floats(parameters, 0);
  const float* w = tfrt_cpu_layer_floats(parameters, 1);
  const float* bias = tfrt_cpu_layer_floats(parameters, 2);
  float* y = tfrt_cpu_layer_floats(parameters, 3);
  size_t rows = tfrt_cpu_layer_size(parameters, 4);
  size_t inner = tfrt_cpu_layer_size(parameters, 5);
  size_t columns = tfrt_cpu_layer_size(parameters, 6);
  bool has_relu = tfrt_cpu_layer_size(parameters, 7) != 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    float sum = bias[i % columns];
    for (size_t k = 0; k < inner; ++k) {
      sum += x[i / columns * inner + k] * w[k * columns + i % columns];
    }
    y[i] = tfrt_cpu_layer_end(sum, has_relu);
  }
  return NULL;
}

tfrt_status_t tfrt_cpu_add_row_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* bias = tfrt_cpu_layer_floats(parameters, 0);
  float* y = tfrt_cpu_layer_floats(parameters, 1);
  size_t rows = tfrt_cpu_layer_size(parameters, 2);
  size_t columns = tfrt_cpu_layer_size(parameters, 3);
  bool has_relu = tfrt_cpu_layer_size(parameters, 4) != 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    y[i] = tfrt_cpu_layer_end(y[i] + bias[i % columns], has_relu);
  }
  return NULL;
}
