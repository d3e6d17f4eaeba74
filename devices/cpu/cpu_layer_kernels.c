// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks, as examples/mnist/kernels.cu has them.
#include "devices/cpu/cpu_kernel_groups.h"

// Reads parameter |index|.
static float* cpu_layer_floats(void* const* parameters, int index) {
  return *(float**)parameters[index];
}
static size_t cpu_layer_size(void* const* parameters, int index) {
  return *(const uint32_t*)parameters[index];
}

static float cpu_layer_end(float sum, bool has_relu) { return has_relu && sum < 0 ? 0 : sum; }

// The sum of a window of |channels| planes of |height| times |width| at |x|.
static float cpu_layer_window(const float* x, const float* w, size_t channels, size_t height,
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
  const float* x = cpu_layer_floats(parameters, 0);
  const float* w = cpu_layer_floats(parameters, 1);
  const float* bias = cpu_layer_floats(parameters, 2);
  float* y = cpu_layer_floats(parameters, 3);
  size_t images = cpu_layer_size(parameters, 4);
  size_t channels = cpu_layer_size(parameters, 5);
  size_t height = cpu_layer_size(parameters, 6);
  size_t width = cpu_layer_size(parameters, 7);
  size_t outputs = cpu_layer_size(parameters, 8);
  size_t window = cpu_layer_size(parameters, 9);
  bool has_relu = cpu_layer_size(parameters, 10) != 0;
  for (size_t i = 0; i < images * outputs; ++i) {
    const float* image = x + i / outputs * channels * height * width;
    const float* windows = w + i % outputs * channels * window * window;
    for (size_t row = 0; row + window <= height; ++row) {
      for (size_t column = 0; column + window <= width; ++column) {
        float sum = cpu_layer_window(image + row * width + column, windows, channels, height, width,
                                     window);
        *y++ = cpu_layer_end(bias[i % outputs] + sum, has_relu);
      }
    }
  }
  return NULL;
}

tfrt_status_t tfrt_cpu_max_pool2d_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* x = cpu_layer_floats(parameters, 0);
  float* y = cpu_layer_floats(parameters, 1);
  size_t planes = cpu_layer_size(parameters, 2);
  size_t height = cpu_layer_size(parameters, 3);
  size_t width = cpu_layer_size(parameters, 4);
  size_t window = cpu_layer_size(parameters, 5);
  // A pool without an element has no greatest one, nor a next one.
  if (window == 0) return NULL;
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
  const float* x = cpu_layer_floats(parameters, 0);
  const float* w = cpu_layer_floats(parameters, 1);
  const float* bias = cpu_layer_floats(parameters, 2);
  float* y = cpu_layer_floats(parameters, 3);
  size_t rows = cpu_layer_size(parameters, 4);
  size_t inner = cpu_layer_size(parameters, 5);
  size_t columns = cpu_layer_size(parameters, 6);
  bool has_relu = cpu_layer_size(parameters, 7) != 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    float sum = bias[i % columns];
    for (size_t k = 0; k < inner; ++k) {
      sum += x[i / columns * inner + k] * w[k * columns + i % columns];
    }
    y[i] = cpu_layer_end(sum, has_relu);
  }
  return NULL;
}

tfrt_status_t tfrt_cpu_add_row_f32(const tfrt_device_launch_t* launch, void* const* parameters) {
  (void)launch;
  const float* bias = cpu_layer_floats(parameters, 0);
  float* y = cpu_layer_floats(parameters, 1);
  size_t rows = cpu_layer_size(parameters, 2);
  size_t columns = cpu_layer_size(parameters, 3);
  bool has_relu = cpu_layer_size(parameters, 4) != 0;
  for (size_t i = 0; i < rows * columns; ++i) {
    y[i] = cpu_layer_end(y[i] + bias[i % columns], has_relu);
  }
  return NULL;
}

// --- What each uses of its buffers -------------------------------------------------------

// The product of the |count| parameters from |first| on, times |size|.
static uint64_t cpu_layer_bytes(void* const* parameters, int first, int count, uint64_t size) {
  for (int i = first; i < first + count; ++i) {
    size = tfrt_cpu_times(size, cpu_layer_size(parameters, i));
  }
  return size;
}

void tfrt_cpu_conv2d_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  uint64_t height = cpu_layer_size(parameters, 6), width = cpu_layer_size(parameters, 7);
  uint64_t outputs = cpu_layer_size(parameters, 8);
  uint64_t window = cpu_layer_size(parameters, 9);
  out_bytes[0] = cpu_layer_bytes(parameters, 4, 4, element_size);
  // Windows that don't fit are neither read nor written.
  if (window > height || window > width) return;
  uint64_t weights = tfrt_cpu_times(cpu_layer_size(parameters, 5), element_size);
  weights = tfrt_cpu_times(tfrt_cpu_times(weights, window), window);
  out_bytes[1] = tfrt_cpu_times(weights, outputs);
  out_bytes[2] = outputs * element_size;
  uint64_t images = tfrt_cpu_times(cpu_layer_size(parameters, 4), outputs);
  uint64_t places = tfrt_cpu_times(height - window + 1, width - window + 1);
  out_bytes[3] = tfrt_cpu_times(tfrt_cpu_times(images, places), element_size);
}

void tfrt_cpu_max_pool2d_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                                 uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  uint64_t planes = cpu_layer_size(parameters, 2) * element_size;
  uint64_t window = cpu_layer_size(parameters, 5);
  out_bytes[0] = cpu_layer_bytes(parameters, 2, 3, element_size);
  if (window == 0) return;
  uint64_t places = tfrt_cpu_times(cpu_layer_size(parameters, 3) / window,
                                   cpu_layer_size(parameters, 4) / window);
  out_bytes[1] = tfrt_cpu_times(planes, places);
}

void tfrt_cpu_linear_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                             uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  uint64_t columns = cpu_layer_size(parameters, 6);
  out_bytes[0] = cpu_layer_bytes(parameters, 4, 2, element_size);
  out_bytes[1] = cpu_layer_bytes(parameters, 5, 2, element_size);
  out_bytes[2] = columns * element_size;
  out_bytes[3] = tfrt_cpu_times(cpu_layer_bytes(parameters, 4, 1, element_size), columns);
}

void tfrt_cpu_add_row_extents(const tfrt_device_launch_t* launch, void* const* parameters,
                              uint64_t element_size, uint64_t* out_bytes) {
  (void)launch;
  out_bytes[0] = cpu_layer_size(parameters, 3) * element_size;
  out_bytes[1] = cpu_layer_bytes(parameters, 2, 2, element_size);
}
