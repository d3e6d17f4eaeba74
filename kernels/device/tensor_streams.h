// SPDX-License-Identifier: Apache-2.0
//
// Moves a tensor of a device to another host. A header comes first, with dtype and shape, as for
// any dense tensor. The elements follow piece by piece: the port of one device reads them, and the
// port of the other writes them (devices/device_port.h).
//
//   tensor --source: out, staging--> ... --sink: staging, in--> tensor of the receiver's device
//
// Between processes of one machine that share GPUs no element passes the hosts: the source lends
// the tensor's memory, and the sink copies it from device to device (devices/device_lending.h).
//
// The tensor goes to the device on which the call that needs it was placed. Without such a place,
// it goes to the host's own memory, which is the device "cpu:0". The value is available when all of
// its elements are in that memory, so that work of any stream may use it. The source reads the
// elements after all work that used the tensor's buffer before.
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
