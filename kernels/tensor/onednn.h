// SPDX-License-Identifier: Apache-2.0
//
// The maths library, as the rest of this room sees it: primitives (a kind of computation
// for one set of shapes, compiled once) that are cached and run on the calling thread.
//
// One threading model: the library was built to start threads of its own; here each
// calling thread is told to use none, before its first call. Parallel work comes from
// our work queue alone.
//
// Life of a primitive:
//  1. Asked for by its key, which holds everything that it depends on. Found in the
//     process's cache, or built by the caller's function and put there. The cache is
//     bounded: what was not used for longest goes first.
//  2. Run any number of times, also by several threads at once: what a run needs (views
//     of its arguments, scratch memory) belongs to that run. The views are kept for the next one.
//  3. Released; the cache holds a reference of its own.
//
// Thread rule: everything is thread-safe.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_H_

#include <oneapi/dnnl/dnnl.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "host_runtime/tensor/shape.h"

// At most this many primitives are kept.
#define TFRT_ONEDNN_CACHE_CAPACITY 128

// At most this many arguments has a run, scratch memory not counted.
#define TFRT_ONEDNN_MAX_ARGUMENTS 4

typedef enum tfrt_onednn_kind_e {
  TFRT_ONEDNN_CONVOLUTION = 1,
  TFRT_ONEDNN_MAX_POOL,
  TFRT_ONEDNN_MATMUL,
  TFRT_ONEDNN_SOFTMAX,
  TFRT_ONEDNN_MAX_POOL_CHANNELS_LAST,
} tfrt_onednn_kind_t;

// What a primitive depends on. Filled in from all zeros: keys are compared as bytes.
typedef struct tfrt_onednn_key_s {
  int64_t kind;  // tfrt_onednn_kind_t
  int64_t relu;  // 1: the result goes through max(x, 0)
  int64_t bias;  // 1: there is a bias
  int64_t source[4];
  int64_t weights[4];
  int64_t target[4];
  dnnl_dims_t window;  // two lengths each; as long as the library reads
  dnnl_dims_t strides;
  dnnl_dims_t padding;  // of the near sides; behind them, where they differ, of the far ones
} tfrt_onednn_key_t;

// Builds the description of the primitive for |key|, with |attributes|, which already say
// where scratch memory comes from and, if |key->relu|, that the result is cut at 0.
typedef dnnl_status_t (*tfrt_onednn_describe_fn_t)(const tfrt_onednn_key_t* key,
                                                   const_dnnl_primitive_attr_t attributes,
                                                   dnnl_engine_t engine,
                                                   dnnl_primitive_desc_t* out_description);

typedef struct tfrt_onednn_primitive_s tfrt_onednn_primitive_t;

// One argument of a run: which one (DNNL_ARG_...), and where its elements are.
typedef struct tfrt_onednn_argument_s {
  int index;
  const void* data;  // written to for DNNL_ARG_DST
} tfrt_onednn_argument_t;

// Sets |*out_primitive| (+1) to the primitive for |key|, which |describe| builds where it
// is not in the cache. Thread-safe.
tfrt_status_t tfrt_onednn_find_primitive(const tfrt_onednn_key_t* key,
                                         tfrt_onednn_describe_fn_t describe,
                                         tfrt_onednn_primitive_t** out_primitive) TFRT_MUST_USE;

// Runs |primitive| with the |count| arguments, all f32 and row-major, which are the same ones, in
// the same order, in each run of it, on this thread; scratch memory is taken from |allocator|
// meanwhile. Thread-safe.
tfrt_status_t tfrt_onednn_run(tfrt_onednn_primitive_t* primitive,
                              const tfrt_onednn_argument_t* arguments, size_t count,
                              tfrt_allocator_t allocator) TFRT_MUST_USE;

// Sets |c| ([m, n]) to |alpha| * |a| ([m, k]) * |b| ([k, n]) + |beta| * |c|, all row-major and
// not empty, on this thread. Thread-compatible (caller owns |c|).
tfrt_status_t tfrt_onednn_gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                               const float* b, float beta, float* c) TFRT_MUST_USE;

// Drops one reference. Thread-safe.
void tfrt_onednn_primitive_release(tfrt_onednn_primitive_t* primitive);

// The number of primitives in the cache. Thread-safe.
size_t tfrt_onednn_cache_size(void);

// Describes a row-major f32 argument with the |rank| lengths |dims|. Thread-safe.
dnnl_status_t tfrt_onednn_describe_memory(const int64_t* dims, int rank,
                                          dnnl_memory_desc_t* out_description);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_H_
