// SPDX-License-Identifier: Apache-2.0
//
// The layers of the digits' network for CUDA devices, where cuDNN and cuBLAS are not there. kernels.ptx
// is made of this by kernels/device/cuda/compile.sh; devices/cpu/cpu_kernels.h says what each of them
// does, and devices of the CPU have them as C functions. Each element of the result is one thread's
// work; any grid and block of one axis does.

#define FOR_EACH(i, count)                                                                \
  for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < (count); \
       i += gridDim.x * blockDim.x)

extern "C" {

__global__ void tfrt_conv2d_f32(const float* x, const float* w, const float* bias, float* y,
                                unsigned int images, unsigned int channels, unsigned int height,
                                unsigned int width, unsigned int outputs, unsigned int window,
                                unsigned int has_relu) {
  unsigned int rows = height - window + 1;
  unsigned int columns = width - window + 1;
  FOR_EACH(i, images * outputs * rows * columns) {
    unsigned int column = i % columns;
    unsigned int row = i / columns % rows;
    unsigned int output = i / (columns * rows) % outputs;
    unsigned int image = i / (columns * rows * outputs);
    float sum = bias[output];
    for (unsigned int c = 0; c < channels; ++c) {
      const float* plane = x + ((image * channels + c) * height + row) * width + column;
      const float* part = w + (output * channels + c) * window * window;
      for (unsigned int a = 0; a < window; ++a) {
        for (unsigned int b = 0; b < window; ++b) sum += plane[a * width + b] * part[a * window + b];
      }
    }
    y[i] = has_relu ? fmaxf(sum, 0) : sum;
  }
}

__global__ void tfrt_max_pool2d_f32(const float* x, float* y, unsigned int planes,
                                    unsigned int height, unsigned int width,
                                    unsigned int window) {
  unsigned int rows = height / window;
  unsigned int columns = width / window;
  FOR_EACH(i, planes * rows * columns) {
    unsigned int column = i % columns * window;
    unsigned int row = i / columns % rows * window;
    const float* from = x + (i / (columns * rows) * height + row) * width + column;
    float most = from[0];
    for (unsigned int a = 0; a < window; ++a) {
      for (unsigned int b = 0; b < window; ++b) most = fmaxf(most, from[a * width + b]);
    }
    y[i] = most;
  }
}

__global__ void tfrt_linear_f32(const float* x, const float* w, const float* bias, float* y,
                                unsigned int rows, unsigned int inner, unsigned int columns,
                                unsigned int has_relu) {
  FOR_EACH(i, rows * columns) {
    float sum = bias[i % columns];
    const float* row = x + i / columns * inner;
    for (unsigned int k = 0; k < inner; ++k) sum += row[k] * w[k * columns + i % columns];
    y[i] = has_relu ? fmaxf(sum, 0) : sum;
  }
}

__global__ void tfrt_add_row_f32(const float* bias, float* y, unsigned int rows,
                                 unsigned int columns, unsigned int has_relu) {
  FOR_EACH(i, rows * columns) {
    float sum = y[i] + bias[i % columns];
    y[i] = has_relu ? fmaxf(sum, 0) : sum;
  }
}

}  // extern "C"
