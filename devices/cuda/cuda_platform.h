// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's GPUs, through the driver's own interface.
//
//   device   the primary context, which everything in the process shares
//   stream   non-blocking: not ordered with anybody's default stream
//   pool     one of our own, whose memory can be lent (cuda_sharing.c); where the driver has none
//            of that kind, the device's default pool. It keeps what is freed
//   await    a thread of the platform asks the driver for the events that are awaited
//            (cuda_poller.h); no thread of the work queue waits
//
// The platform polls, and uses no callbacks in streams. Once a context is broken, the driver runs
// no callbacks, but the waiters must still get the error.
//
// Life: that of a platform (devices/device_platform.h). Contexts are retained with the first
// use of their device and given back with the platform.
// Thread rule: thread-safe.
// Failure rule: without driver or GPU, creation is an UNAVAILABLE error in one line.
#ifndef TFRT_DEVICES_CUDA_CUDA_PLATFORM_H_
#define TFRT_DEVICES_CUDA_CUDA_PLATFORM_H_

#include "devices/device_platform.h"

typedef struct tfrt_cuda_platform_options_s {
  // Only for tests: another library with the driver's entry points (tests/fakes). NULL: the
  // driver's. Never taken from the environment.
  const char* library_for_testing;
  // Only for tests: what is opened as cuBLAS and cuDNN. NULL: the library for testing, or the real
  // one.
  const char* vendor_library_for_testing;
} tfrt_cuda_platform_options_t;

// Sets |*out_platform| (+1) to a new platform named "cuda". |work_queue| is retained. May
// block (the driver starts). Thread-safe.
tfrt_status_t tfrt_cuda_platform_create(const tfrt_cuda_platform_options_t* options,
                                        tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                        tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_CUDA_PLATFORM_H_
