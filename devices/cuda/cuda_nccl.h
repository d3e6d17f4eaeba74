// SPDX-License-Identifier: Apache-2.0
//
// NCCL, as a member of a group (cuda_ccl.c) calls it: opened once per platform, our lists as its
// groups of calls, its results as statuses.
//
// Thread rule: thread-safe, but for what is said of a communicator: one call at a time.
// Failure rule: errors name the device, the library's function and its name for the result.
#ifndef TFRT_DEVICES_CUDA_CUDA_NCCL_H_
#define TFRT_DEVICES_CUDA_CUDA_NCCL_H_

#include "devices/cuda/cuda_impl.h"
#include "devices/device_ccl.h"

// Sets |*out_api| to the library's entry points, which live as long as |platform|. UNAVAILABLE,
// with what would help, where there is none. Thread-safe.
tfrt_status_t tfrt_cuda_nccl_open(tfrt_cuda_platform_t* platform, const tfrt_nccl_api_t** out_api)
    TFRT_MUST_USE;

// Converts |result| of the function |call| to a status about |where|. A call that is still in
// progress is OK. Thread-safe.
tfrt_status_t tfrt_cuda_nccl_status(const char* where, tfrt_nccl_result_t result, const char* call)
    TFRT_MUST_USE;

// Gives |work| to |comm|, as one group; the library may go on with it behind the call.
// Thread-compatible (caller synchronises |comm|).
tfrt_status_t tfrt_cuda_nccl_give(const tfrt_nccl_api_t* api, tfrt_nccl_comm_t comm,
                                  const tfrt_ccl_work_t* work) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_CUDA_NCCL_H_
