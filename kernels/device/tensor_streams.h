// SPDX-License-Identifier: Apache-2.0
//
// How a tensor of a device travels to another host: as a header (dtype and shape, as any dense
// tensor's) and its elements, which are read from the device and written to another one piece by
// piece, through the ports of both (devices/device_port.h).
//
//   tensor --source: out, staging--> ... --sink: staging, in--> tensor of the receiver's device
//
// The receiver's device is the one that the call was placed on that needs the tensor; without
// such a place, the tensor goes to the host's own memory, which is the device "cpu:0". The value
// is available when all of its elements are in that memory, so that work of any stream may use it.
// What is read is what the work leaves that was given with the tensor's buffer before.
//
// Thread rule: constant data.
// Failure rule: as host_runtime/async/payload_stream.h; a host that lacks the device says so.
#ifndef TFRT_KERNELS_DEVICE_TENSOR_STREAMS_H_
#define TFRT_KERNELS_DEVICE_TENSOR_STREAMS_H_

#include "host_runtime/async/payload_stream.h"

// Where a tensor goes that no call has placed.
#define TFRT_GPU_HOST_DEVICE "cpu:0"

// Those of "!tfrt_gpu.tensor". Thread-safe.
extern const tfrt_codec_t tfrt_gpu_tensor_codec;
extern const tfrt_payload_streams_t tfrt_gpu_tensor_streams;

#endif  // TFRT_KERNELS_DEVICE_TENSOR_STREAMS_H_
