// SPDX-License-Identifier: Apache-2.0
//
// The payloads of the values of the dialect `tfrt_gpu`: one reference each.
//
//   !tfrt_gpu.device     a device                     !tfrt_gpu.allocator  an allocator
//   !tfrt_gpu.context    a device, ready to be used   !tfrt_gpu.buffer     a buffer
//   !tfrt_gpu.stream     a stream and its context     !tfrt_gpu.module     a module
//   !tfrt_gpu.event      an event                     !tfrt_gpu.function   a function
//   !tfrt_gpu.tensor     a buffer, its element type and shape
//   !tfrt_gpu.blas.handle     linear algebra
//   !tfrt_gpu.blas.gemm.algo  no reference but a number: devices/device_blas.h
//   !tfrt_gpu.dnn.handle      layers of neural networks
//   !tfrt_gpu.dnn.convolution_plan  a plan: devices/device_dnn_plan.h
//   !tfrt_gpu.dnn.*           no references but descriptions: devices/device_dnn.h
//   !tfrt_gpu.ccl.handle      a member of a group of devices, and what it was given; ccl_kernels.c
//   !tfrt_gpu.ccl.id          no reference but the bytes of a group's id
//   !tfrt_gpu.graph      what is known of a function that is called often; graph_kernels.c
//
// Tensors have bytes (tensor_streams.h), and so have ids of groups; all others stay on their host.
//
// Thread rule: thread-safe. Failure rule: a value that can't be made is the error for no
// memory.
#ifndef TFRT_KERNELS_DEVICE_DEVICE_TYPES_H_
#define TFRT_KERNELS_DEVICE_DEVICE_TYPES_H_

#include "devices/device_allocator.h"
#include "devices/device_stream.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/shape.h"

typedef enum tfrt_gpu_type_e {
  TFRT_GPU_DEVICE = 0,
  TFRT_GPU_CONTEXT,
  TFRT_GPU_STREAM,
  TFRT_GPU_EVENT,
  TFRT_GPU_ALLOCATOR,
  TFRT_GPU_BUFFER,
  TFRT_GPU_MODULE,
  TFRT_GPU_FUNCTION,
  TFRT_GPU_TENSOR,
  TFRT_GPU_GRAPH,
  TFRT_GPU_BLAS,
  TFRT_GPU_BLAS_ALGORITHM,
  TFRT_GPU_DNN,
  TFRT_GPU_DNN_TENSOR,
  TFRT_GPU_DNN_FILTER,
  TFRT_GPU_DNN_POOLING,
  TFRT_GPU_DNN_CONVOLUTION,
  TFRT_GPU_DNN_ALGORITHM,
  TFRT_GPU_DNN_ACTIVATION,
  TFRT_GPU_DNN_PLAN,
  TFRT_GPU_CCL,
  TFRT_GPU_CCL_ID,
  TFRT_GPU_TYPE_COUNT,
} tfrt_gpu_type_t;

// The device and the pinned memory that all work on a device shares; counted.
typedef struct tfrt_gpu_context_s {
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;             // +1
  tfrt_device_allocator_t* staging;  // +1, of pinned memory
} tfrt_gpu_context_t;

typedef struct tfrt_gpu_stream_s {
  tfrt_device_stream_t* stream;  // +1
  tfrt_gpu_context_t* context;   // +1
} tfrt_gpu_stream_t;

typedef struct tfrt_gpu_graph_s tfrt_gpu_graph_t;

// Gives |graph| back. For its value. Thread-compatible.
void tfrt_gpu_graph_free(tfrt_gpu_graph_t* graph);

typedef struct tfrt_gpu_ccl_s tfrt_gpu_ccl_t;

// Gives |ccl| back. For its value. Thread-compatible.
void tfrt_gpu_ccl_free(tfrt_gpu_ccl_t* ccl);

typedef struct tfrt_gpu_tensor_s {
  tfrt_device_buffer_t* buffer;  // +1
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;  // fills the buffer
} tfrt_gpu_tensor_t;

// Registers the types. Thread-safe.
tfrt_status_t tfrt_gpu_types_register(void) TFRT_MUST_USE;

// The id of |type|, which is registered. Thread-safe.
tfrt_type_id_t tfrt_gpu_type_id(tfrt_gpu_type_t type);

// A new available value (+1, never NULL) of |type| with |object|, a reference to what the type
// stands for (consumed); not for streams, tensors, numbers and descriptions. Thread-safe.
tfrt_async_value_t* tfrt_gpu_value_create_take(tfrt_gpu_type_t type, void* object);

// The same for a stream; |stream| is consumed, |context| retained. Thread-safe.
tfrt_async_value_t* tfrt_gpu_value_create_stream_take(tfrt_device_stream_t* stream,
                                                      tfrt_gpu_context_t* context);

// The same for a tensor; |buffer| is retained. Thread-safe.
tfrt_async_value_t* tfrt_gpu_value_create_tensor(tfrt_device_buffer_t* buffer, tfrt_dtype_t dtype,
                                                 const tfrt_shape_t* shape);

// Sets |*out_context| (+1) to a new context on |device|. Thread-safe.
tfrt_status_t tfrt_gpu_context_create(tfrt_device_t* device, tfrt_gpu_context_t** out_context)
    TFRT_MUST_USE;

// Adds and drops one reference; NULL is allowed in the latter. Thread-safe.
tfrt_gpu_context_t* tfrt_gpu_context_retain(tfrt_gpu_context_t* context);
void tfrt_gpu_context_release(tfrt_gpu_context_t* context);

// The object (+0) of argument |index|, which is neither a stream nor a tensor. Frame's thread
// only.
static inline void* tfrt_gpu_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(void**)tfrt_kernel_frame_payload(frame, index);
}

// The stream that argument |index| is. Frame's thread only.
static inline tfrt_gpu_stream_t* tfrt_gpu_stream_argument(const tfrt_kernel_frame_t* frame,
                                                          uint32_t index) {
  return tfrt_kernel_frame_payload(frame, index);
}

// Sets result 0 to a chain that is there, or fails the frame with |status| (consumed).
// Frame's thread only.
void tfrt_gpu_finish_take(tfrt_kernel_frame_t* frame, tfrt_status_t status);

#endif  // TFRT_KERNELS_DEVICE_DEVICE_TYPES_H_
