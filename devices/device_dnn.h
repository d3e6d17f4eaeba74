// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks on a device, by its vendor's library: pooling and convolution, there
// and back, and convolution with what often follows it. Plain structs, which nobody owns, describe
// tensors and layers; the backend translates them for its library.
//
//   tensor    batch, channels, then 2 or 3 axes of space; any steps between elements
//   filter    outputs, inputs, then as many axes of space, dense: channels first, or last
//
//   y size = 1 + (x size + 2 * padding - (1 + (window - 1) * dilation)) / step      on each axis
//
// A call is work of its stream, like a kernel. This is where it is checked: sizes that follow from
// each other, tensors that lie in their buffers, types, devices.
//
// Life:
//  1. Created at +1 by tfrt_device_create_dnn(), which opens the library if nobody has.
//  2. Called with any streams of the device. Calls of one object that meet wait for each other.
//  3. Released at any time: what is in a stream is still done. The last release may wait for it.
//
// Thread rule: thread-safe; the work of two threads has no order.
// Failure rule: as devices/device_blas.h.
#ifndef TFRT_DEVICES_DEVICE_DNN_H_
#define TFRT_DEVICES_DEVICE_DNN_H_

#include "devices/device_stream.h"
#include "host_runtime/tensor/dtype.h"

TFRT_API_BEGIN

// Axes of space, and of a tensor, at most.
#define TFRT_DNN_MAX_SPACE 3
#define TFRT_DNN_MAX_RANK (2 + TFRT_DNN_MAX_SPACE)

// f32, f64, f16 or bf16. Sizes and steps are counted in elements.
typedef struct tfrt_dnn_tensor_s {
  tfrt_dtype_t dtype;
  uint32_t rank;
  int32_t sizes[TFRT_DNN_MAX_RANK];
  int32_t steps[TFRT_DNN_MAX_RANK];
} tfrt_dnn_tensor_t;

typedef struct tfrt_dnn_filter_s {
  tfrt_dtype_t dtype;
  bool has_channels_last;  // the inputs of one place lie side by side
  uint32_t rank;
  int32_t sizes[TFRT_DNN_MAX_RANK];  // outputs, inputs, window
} tfrt_dnn_filter_t;

typedef enum tfrt_dnn_pooling_mode_e {
  TFRT_DNN_POOLING_MAX = 0,
  TFRT_DNN_POOLING_AVERAGE_WITH_PADDING = 1,     // which counts as zeros
  TFRT_DNN_POOLING_AVERAGE_WITHOUT_PADDING = 2,  // which doesn't count
  TFRT_DNN_POOLING_MAX_DETERMINISTIC = 3,
} tfrt_dnn_pooling_mode_t;

typedef struct tfrt_dnn_pooling_s {
  tfrt_dnn_pooling_mode_t mode;
  bool propagates_nan;  // what is no number is the greatest
  uint32_t space;       // axes
  int32_t window[TFRT_DNN_MAX_SPACE];
  int32_t padding[TFRT_DNN_MAX_SPACE];
  int32_t steps[TFRT_DNN_MAX_SPACE];
} tfrt_dnn_pooling_t;

// The shortcuts that a layer may take for speed: tensor cores for 16-bit elements, or also for f32,
// rounded; or none.
typedef enum tfrt_dnn_math_e {
  TFRT_DNN_MATH_DEFAULT = 0,
  TFRT_DNN_MATH_TENSOR_CORES = 1,
  TFRT_DNN_MATH_TENSOR_CORES_ROUNDED = 2,
  TFRT_DNN_MATH_EXACT = 3,
} tfrt_dnn_math_t;

typedef struct tfrt_dnn_convolution_s {
  tfrt_dtype_t compute;       // f32; f64 for tensors of f64
  bool is_cross_correlation;  // else the window is mirrored
  tfrt_dnn_math_t math;
  uint32_t space;  // axes
  int32_t padding[TFRT_DNN_MAX_SPACE];
  int32_t steps[TFRT_DNN_MAX_SPACE];
  int32_t dilation[TFRT_DNN_MAX_SPACE];
} tfrt_dnn_convolution_t;

// The function that is applied to each number y behind a layer. The enumerators are the library's.
typedef enum tfrt_dnn_activation_mode_e {
  TFRT_DNN_SIGMOID = 0,
  TFRT_DNN_RELU = 1,
  TFRT_DNN_TANH = 2,
  TFRT_DNN_CLIPPED_RELU = 3,
  TFRT_DNN_ELU = 4,
  TFRT_DNN_IDENTITY = 5,
} tfrt_dnn_activation_mode_t;

typedef struct tfrt_dnn_activation_s {
  tfrt_dnn_activation_mode_t mode;
  bool propagates_nan;  // through the relus
  double coefficient;   // where a clipped relu ends, the factor of an elu; else not used
} tfrt_dnn_activation_t;

// A tensor, or filter, in memory. |address| is filled in for the backend.
typedef struct tfrt_dnn_memory_s {
  tfrt_device_buffer_t* buffer;
  tfrt_device_address_t address;
} tfrt_dnn_memory_t;

// y = alpha * pooled x + beta * y.
typedef struct tfrt_dnn_pool_s {
  tfrt_dnn_pooling_t pooling;
  float alpha;
  tfrt_dnn_tensor_t x_form;
  tfrt_dnn_memory_t x;
  float beta;
  tfrt_dnn_tensor_t y_form;
  tfrt_dnn_memory_t y;
} tfrt_dnn_pool_t;

// dx = alpha * (what of dy comes from each x) + beta * dx. y and dy look alike, and x and dx.
typedef struct tfrt_dnn_unpool_s {
  tfrt_dnn_pooling_t pooling;
  float alpha;
  tfrt_dnn_tensor_t y_form;
  tfrt_dnn_memory_t y;
  tfrt_dnn_tensor_t dy_form;
  tfrt_dnn_memory_t dy;
  tfrt_dnn_tensor_t x_form;
  tfrt_dnn_memory_t x;
  float beta;
  tfrt_dnn_tensor_t dx_form;
  tfrt_dnn_memory_t dx;
} tfrt_dnn_unpool_t;

// Which of the three tensors of a convolution is made of the other two.
typedef enum tfrt_dnn_direction_e {
  TFRT_DNN_FORWARD = 0,      // y
  TFRT_DNN_BACKWARD_DATA,    // x, a gradient, like y
  TFRT_DNN_BACKWARD_FILTER,  // w, a gradient, like y
} tfrt_dnn_direction_t;

typedef struct tfrt_dnn_convolve_s {
  tfrt_dnn_direction_t direction;
  tfrt_dnn_convolution_t convolution;
  int32_t algorithm;  // a number of the library's for the direction
  tfrt_dnn_tensor_t x_form;
  tfrt_dnn_memory_t x;
  tfrt_dnn_filter_t w_form;
  tfrt_dnn_memory_t w;
  tfrt_dnn_tensor_t y_form;
  tfrt_dnn_memory_t y;
  tfrt_dnn_memory_t workspace;  // as much as the algorithm needs
} tfrt_dnn_convolve_t;

// y = activation(alpha * convolved x + beta * z + bias). z looks like y, and may be it; a bias has
// one number per channel, in a tensor of one batch and one place.
typedef struct tfrt_dnn_fuse_s {
  tfrt_dnn_convolve_t convolve;  // forward
  double alpha;
  double beta;
  tfrt_dnn_tensor_t z_form;
  tfrt_dnn_memory_t z;
  tfrt_dnn_tensor_t bias_form;
  tfrt_dnn_memory_t bias;
  tfrt_dnn_activation_t activation;  // TFRT_DNN_RELU or TFRT_DNN_IDENTITY
} tfrt_dnn_fuse_t;

// devices/device_dnn_plan.h
typedef struct tfrt_device_dnn_plan_s tfrt_device_dnn_plan_t;
typedef struct tfrt_dnn_plan_form_s tfrt_dnn_plan_form_t;
typedef struct tfrt_dnn_engine_s tfrt_dnn_engine_t;

typedef struct tfrt_device_dnn_vtable_s {
  // Called with nothing but the base's device left.
  void (*destroy)(tfrt_device_dnn_t* dnn);
  tfrt_status_t (*pool)(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                        const tfrt_dnn_pool_t* call);
  tfrt_status_t (*unpool)(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                          const tfrt_dnn_unpool_t* call);
  tfrt_status_t (*convolve)(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                            const tfrt_dnn_convolve_t* call);
  tfrt_status_t (*fuse)(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                        const tfrt_dnn_fuse_t* call);
  // Sets |*out_plan| (+1) to a plan of what |form| says, which was checked; may block.
  tfrt_status_t (*build)(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                         const tfrt_dnn_engine_t* engine, tfrt_device_dnn_plan_t** out_plan);
} tfrt_device_dnn_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_dnn_s {
  const tfrt_device_dnn_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +1
};

// Fills the zeroed |dnn| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_dnn_initialize(tfrt_device_dnn_t* dnn, const tfrt_device_dnn_vtable_t* vtable,
                                tfrt_device_t* device);

// Sets |*out_dnn| (+1) to a new object on |device|. May block (a library is loaded). Thread-safe.
tfrt_status_t tfrt_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn)
    TFRT_MUST_USE;

// Adds one reference to |dnn| and returns it. Thread-safe.
tfrt_device_dnn_t* tfrt_device_dnn_retain(tfrt_device_dnn_t* dnn);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_dnn_release(tfrt_device_dnn_t* dnn);

// OK if the description makes sense by itself, else INVALID_ARGUMENT. Thread-safe.
tfrt_status_t tfrt_dnn_tensor_check(const tfrt_dnn_tensor_t* tensor) TFRT_MUST_USE;
tfrt_status_t tfrt_dnn_filter_check(const tfrt_dnn_filter_t* filter) TFRT_MUST_USE;
tfrt_status_t tfrt_dnn_pooling_check(const tfrt_dnn_pooling_t* pooling) TFRT_MUST_USE;
tfrt_status_t tfrt_dnn_convolution_check(const tfrt_dnn_convolution_t* convolution) TFRT_MUST_USE;

// A check that calls and plans share. OK if |stream| may get work of |dnn|. Thread-safe.
tfrt_status_t tfrt_device_dnn_check_stream(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream)
    TFRT_MUST_USE;

// OK if |memory| has |count| elements of |dtype| on the device, else INVALID_ARGUMENT or
// OUT_OF_RANGE; fills its address in. Thread-safe.
tfrt_status_t tfrt_device_dnn_check_memory(tfrt_device_dnn_t* dnn, tfrt_dnn_memory_t* memory,
                                           uint64_t count, tfrt_dtype_t dtype) TFRT_MUST_USE;

// Remembers that |stream| gets work with the buffers of |count| |memories|. Thread-safe.
tfrt_status_t tfrt_device_dnn_use(tfrt_device_stream_t* stream, const tfrt_dnn_memory_t* memories,
                                  size_t count) TFRT_MUST_USE;

// Puts |call|, whose descriptions make sense by themselves, in |stream|. INVALID_ARGUMENT for sizes
// or types that don't go together, OUT_OF_RANGE for elements beyond a buffer's end. Thread-safe.
tfrt_status_t tfrt_device_dnn_pool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_pool_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_dnn_unpool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                     const tfrt_dnn_unpool_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_dnn_convolve(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_convolve_t* call) TFRT_MUST_USE;
tfrt_status_t tfrt_device_dnn_fuse(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_fuse_t* call) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_DNN_H_
