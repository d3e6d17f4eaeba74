// SPDX-License-Identifier: Apache-2.0
//
// The maths library, as computations see it: started at its first use, and run on the calling
// thread. onednn_primitive.h runs its primitives.
//
// One threading model: the library was built to start threads of its own. Each calling thread turns
// those off before its first call, so that parallel work comes from our work queue alone.
//
// Thread rule: everything is thread-safe.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_H_

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/status.h"

// Makes the library ready for calls on this thread and sets |*out_engine| to the process's one
// engine (+0), which stays until the process ends. Thread-safe.
tfrt_status_t tfrt_onednn_start(dnnl_engine_t* out_engine) TFRT_MUST_USE;

// Returns what |result| is as a status: that oneDNN can't |what|, if it is no success. Thread-safe.
tfrt_status_t tfrt_onednn_status(dnnl_status_t result, const char* what) TFRT_MUST_USE;

// Describes a row-major f32 argument with the |rank| lengths |dims|. Thread-safe.
dnnl_status_t tfrt_onednn_describe_memory(const int64_t* dims, int rank,
                                          dnnl_memory_desc_t* out_description);

// Sets |c| ([m, n]) to |alpha| * |a| ([m, k]) * |b| ([k, n]) + |beta| * |c|, all row-major and
// not empty, on this thread. Thread-compatible (caller owns |c|).
tfrt_status_t tfrt_onednn_gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                               const float* b, float beta, float* c) TFRT_MUST_USE;

// The same where |a| may lie as [k, m] and |b| as [n, k]: then they are transposed.
// Thread-compatible (caller owns |c|).
tfrt_status_t tfrt_onednn_gemm_ex(bool a_is_transposed, bool b_is_transposed, int64_t m, int64_t n,
                                  int64_t k, float alpha, const float* a, const float* b,
                                  float beta, float* c) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_H_
