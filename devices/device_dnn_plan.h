// SPDX-License-Identifier: Apache-2.0
//
// Plans of convolutions: what is to be done is described once, the vendor's library prepares it (it
// may compile code for it), and it is run any number of times, each time with other memory.
//
//   alone    y of x and w; or x, a gradient, of y and w; or w, a gradient, of x and y
//   fused    y = activation(alpha * (x, convolved by w) + alpha2 * z + bias)
//
//   form, engine --build--> plan --run (stream, memory)--> work of the stream
//
// Plans take more than the calls of devices/device_dnn.h do: filters whose axes lie in any order,
// mixed types, and groups of channels. Where x has n times the inputs of w, its channels and those
// of y are n groups, and an output sees the inputs of its own group. The tensors x, y and z may
// have gaps. The filter w and the bias may not: cuDNN 9 refuses a filter with gaps, and reads a
// bias with gaps as if it had none.
//
// Life:
//  1. Built at +1 by an object of neural networks; the form is copied. May take seconds.
//  2. Run with objects and streams of its device, in any order.
//  3. Released at any time: what is in a stream is still done. The last release may wait for it.
//
// Thread rule: thread-safe; the work of two threads has no order.
// Failure rule: as devices/device_dnn.h. Errors about a form name its parts as programs do:
// input_dims for the sizes of x, input_strides for its steps; output for y, filter for w; conv_ for
// what the window does.
#ifndef TFRT_DEVICES_DEVICE_DNN_PLAN_H_
#define TFRT_DEVICES_DEVICE_DNN_PLAN_H_

#include "devices/device_dnn.h"

TFRT_API_BEGIN

// Where the memory of a tensor begins is a multiple of this.
#define TFRT_DNN_PLAN_ALIGNMENT 32

// A tensor or a filter: two axes, then those of space. Sizes and steps are counted in elements of
// f32, f64, f16, bf16 or i8; none is of i32, in which cuDNN 9 makes wrong sums.
typedef struct tfrt_dnn_layout_s {
  tfrt_dtype_t dtype;
  uint32_t rank;
  int64_t sizes[TFRT_DNN_MAX_RANK];
  int64_t steps[TFRT_DNN_MAX_RANK];
} tfrt_dnn_layout_t;

// Sums are of f64 for an x of f64, of i32 for one of i8, else of f32; what follows them is of f64
// for an x of f64, else of f32.
struct tfrt_dnn_plan_form_s {
  tfrt_dnn_direction_t direction;
  bool is_cross_correlation;  // else the window is mirrored
  uint32_t space;             // axes
  int64_t padding[TFRT_DNN_MAX_SPACE];
  int64_t steps[TFRT_DNN_MAX_SPACE];
  int64_t dilation[TFRT_DNN_MAX_SPACE];
  tfrt_dnn_layout_t x;
  tfrt_dnn_layout_t w;  // of the type of x
  tfrt_dnn_layout_t y;
  bool is_fused;  // goes forward; else all below is not looked at
  double alpha;
  double alpha2;                          // of z, which looks like y, and may be it
  tfrt_dnn_layout_t bias;                 // on each axis of size 1, or as y
  tfrt_dnn_activation_mode_t activation;  // TFRT_DNN_RELU or TFRT_DNN_IDENTITY
};

// How the library is to do it: the number of one of its ways for the form, and choices for it. A
// type that comes twice has its last value. Backends without such ways look at none of it.
struct tfrt_dnn_engine_s {
  int64_t index;
  uint32_t knob_count;
  const int64_t* knob_types;
  const int64_t* knob_values;
};

// The memory that a plan is run with. Only a fused plan has |z| and |bias|.
typedef struct tfrt_dnn_plan_memory_s {
  tfrt_dnn_memory_t x;
  tfrt_dnn_memory_t y;
  tfrt_dnn_memory_t w;
  tfrt_dnn_memory_t z;
  tfrt_dnn_memory_t bias;
  tfrt_dnn_memory_t workspace;
} tfrt_dnn_plan_memory_t;

typedef struct tfrt_device_dnn_plan_vtable_s {
  // Called with nothing but the base's device left.
  void (*destroy)(tfrt_device_dnn_plan_t* plan);
  // |memory| has its addresses, and is as large as the form says; the workspace is the backend's to
  // check.
  tfrt_status_t (*run)(tfrt_device_dnn_plan_t* plan, tfrt_device_dnn_t* dnn,
                       tfrt_device_stream_t* stream, const tfrt_dnn_plan_memory_t* memory);
} tfrt_device_dnn_plan_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_dnn_plan_s {
  const tfrt_device_dnn_plan_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +1
  tfrt_dnn_plan_form_t form;
};

// Fills the zeroed |plan| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_dnn_plan_initialize(tfrt_device_dnn_plan_t* plan,
                                     const tfrt_device_dnn_plan_vtable_t* vtable,
                                     tfrt_device_t* device, const tfrt_dnn_plan_form_t* form);

// OK if |form| and |engine| make sense, else INVALID_ARGUMENT, or UNIMPLEMENTED for another
// activation. Thread-safe.
tfrt_status_t tfrt_dnn_plan_check(const tfrt_dnn_plan_form_t* form, const tfrt_dnn_engine_t* engine)
    TFRT_MUST_USE;

// Sets |*out_plan| (+1) to a plan by |dnn|: an error of tfrt_dnn_plan_check(), or the library's, if
// it has no such way. May block. Thread-safe.
tfrt_status_t tfrt_device_dnn_build(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                                    const tfrt_dnn_engine_t* engine,
                                    tfrt_device_dnn_plan_t** out_plan) TFRT_MUST_USE;

// Adds one reference to |plan| and returns it. Thread-safe.
tfrt_device_dnn_plan_t* tfrt_device_dnn_plan_retain(tfrt_device_dnn_plan_t* plan);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_dnn_plan_release(tfrt_device_dnn_plan_t* plan);

// Puts |plan| in |stream|, by |dnn|. INVALID_ARGUMENT for another device, memory that isn't aligned
// and a workspace that is too small, OUT_OF_RANGE for elements beyond a buffer's end. Thread-safe.
tfrt_status_t tfrt_device_dnn_plan_run(tfrt_device_dnn_plan_t* plan, tfrt_device_dnn_t* dnn,
                                       tfrt_device_stream_t* stream,
                                       const tfrt_dnn_plan_memory_t* memory) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_DNN_PLAN_H_
