// SPDX-License-Identifier: Apache-2.0
//
// A product of matrices with a bias for each column and an epilogue, prepared once for its lengths
// and run any number of times. The matrices are row-major, and stay as they are.
//
//   target [m, n] = activation(a [m, k] * b [k, n] + bias [n] + target)
//
// Life: created; run, also by several threads at once; freed.
//
// Thread rule: running is thread-safe; the rest thread-compatible.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRODUCT_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRODUCT_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "kernels/tensor/onednn/onednn_epilogue.h"

// Filled in from all zeros; all lengths are at least 1.
typedef struct tfrt_onednn_product_spec_s {
  int64_t m;
  int64_t n;
  int64_t k;
  bool b_is_transposed;  // it lies as [n, k]
  bool has_bias;
  tfrt_onednn_epilogue_t epilogue;
} tfrt_onednn_product_spec_t;

typedef struct tfrt_onednn_product_s tfrt_onednn_product_t;

// Sets |*out_product| to a new one of f32. Thread-safe.
tfrt_status_t tfrt_onednn_product_create(const tfrt_onednn_product_spec_t* spec,
                                         tfrt_allocator_t allocator,
                                         tfrt_onednn_product_t** out_product) TFRT_MUST_USE;

// Frees |product|; NULL is allowed. Thread-compatible.
void tfrt_onednn_product_free(tfrt_onednn_product_t* product);

// Computes |target| on this thread. |bias| is NULL if there is none. Scratch memory comes from
// |allocator|. Thread-safe.
tfrt_status_t tfrt_onednn_product_run(const tfrt_onednn_product_t* product, const float* a,
                                      const float* b, const float* bias, float* target,
                                      tfrt_allocator_t allocator) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRODUCT_H_
