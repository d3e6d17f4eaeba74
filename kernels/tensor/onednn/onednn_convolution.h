// SPDX-License-Identifier: Apache-2.0
//
// A convolution of any number of dimensions, with groups and dilation, prepared once for its
// shapes and run any number of times. Where the weights never change they are packed once, into
// the layout that the library likes best.
//
// Life:
//  1. Created for its shapes; with weights that stay: packed.
//  2. Run, also by several threads at once.
//  3. Freed.
//
// Thread rule: running is thread-safe; the rest thread-compatible.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_CONVOLUTION_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_CONVOLUTION_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "kernels/tensor/onednn/onednn_epilogue.h"

// Dimensions behind batch and channels.
#define TFRT_ONEDNN_MAX_SPATIAL 3

// Filled in from all zeros.
typedef struct tfrt_onednn_convolution_spec_s {
  uint32_t spatial;  // 1 to TFRT_ONEDNN_MAX_SPATIAL
  int64_t batch;
  int64_t groups;
  int64_t source_channels;  // of all groups
  int64_t target_channels;  // of all groups
  int64_t source[TFRT_ONEDNN_MAX_SPATIAL];
  int64_t window[TFRT_ONEDNN_MAX_SPATIAL];
  int64_t strides[TFRT_ONEDNN_MAX_SPATIAL];
  int64_t dilations[TFRT_ONEDNN_MAX_SPATIAL];  // 1: none
  int64_t before[TFRT_ONEDNN_MAX_SPATIAL];     // padding
  int64_t after[TFRT_ONEDNN_MAX_SPATIAL];
  int64_t target[TFRT_ONEDNN_MAX_SPATIAL];
  bool has_bias;
  bool channels_last;  // source and target; the weights stay as they are
  tfrt_onednn_epilogue_t epilogue;
} tfrt_onednn_convolution_spec_t;

typedef struct tfrt_onednn_convolution_s tfrt_onednn_convolution_t;

// Sets |*out_convolution| to a new one of f32. |weights|, [targets, sources / groups, window...],
// are packed if they are not NULL. Thread-safe.
tfrt_status_t tfrt_onednn_convolution_create(const tfrt_onednn_convolution_spec_t* spec,
                                             const float* weights, tfrt_allocator_t allocator,
                                             tfrt_onednn_convolution_t** out_convolution)
    TFRT_MUST_USE;

// Frees |convolution|; NULL is allowed. Thread-compatible.
void tfrt_onednn_convolution_free(tfrt_onednn_convolution_t* convolution);

// Computes |target| on this thread. |weights| are not looked at if they were packed; |bias| is NULL
// if there is none. Scratch memory comes from |allocator|. Thread-safe.
tfrt_status_t tfrt_onednn_convolution_run(const tfrt_onednn_convolution_t* convolution,
                                          const float* source, const float* weights,
                                          const float* bias, float* target,
                                          tfrt_allocator_t allocator) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_CONVOLUTION_H_
