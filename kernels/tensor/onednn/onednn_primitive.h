// SPDX-License-Identifier: Apache-2.0
//
// A primitive of the maths library: a kind of computation for one set of shapes, compiled
// once, kept, and run on the calling thread.
//
// Life of a primitive:
//  1. Asked for by its key, which holds everything that it depends on. Found in the
//     process's cache, or built by the caller's function and put there. The cache is
//     bounded: what it was not asked for for longest goes first.
//  2. Run any number of times, also by several threads at once: what a run needs
//     (onednn_views.h) belongs to the thread, which keeps it for its next run with the same key.
//     It goes to the next thread that has none when another key takes its place, or the thread
//     ends.
//  3. Freed when it has left the cache and no thread keeps a run of it.
//
//   this thread:  key --> [ place ] --> primitive, views     no lock
//                            | another key is there, or none
//   process:                 +--> cache, under its lock --> build
//
// Thread rule: everything is thread-safe.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRIMITIVE_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRIMITIVE_H_

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "kernels/tensor/onednn/onednn_views.h"

// At most this many primitives are kept, beside those that threads keep runs of.
#define TFRT_ONEDNN_CACHE_CAPACITY 128

// A thread keeps the views for at most this many runs, one per key. An even number. With the most
// scratch memory that views may keep, that is 8 MiB.
#define TFRT_ONEDNN_KEPT_RUNS 64

typedef enum tfrt_onednn_kind_e {
  TFRT_ONEDNN_CONVOLUTION = 1,
  TFRT_ONEDNN_MAX_POOL,
  TFRT_ONEDNN_MATMUL,
  TFRT_ONEDNN_SOFTMAX,
  TFRT_ONEDNN_MAX_POOL_CHANNELS_LAST,
} tfrt_onednn_kind_t;

// The parameters of a primitive. Zero the whole key before filling it in: keys are compared as
// bytes, up to |target|, which follows from the fields before it.
typedef struct tfrt_onednn_key_s {
  int32_t kind;  // tfrt_onednn_kind_t
  int32_t bias;  // 1: there is a bias
  int64_t source[4];
  int64_t weights[4];
  int64_t window[2];
  int64_t strides[2];
  int64_t padding[4];  // of the near sides; behind them, where they differ, of the far ones
  int64_t target[4];
  uint32_t target_rank;  // how many of them are the shape of the result; 0: they are not
} tfrt_onednn_key_t;

// Builds the description of the primitive for |key|, with |attributes|, which already say
// where scratch memory comes from.
typedef dnnl_status_t (*tfrt_onednn_describe_fn_t)(const tfrt_onednn_key_t* key,
                                                   const_dnnl_primitive_attr_t attributes,
                                                   dnnl_engine_t engine,
                                                   dnnl_primitive_desc_t* out_description);

// Makes |*out_result| an f32 tensor with the shape that is the target of |key|; what is in it is
// undefined. Thread-safe.
tfrt_status_t tfrt_onednn_make_target(const tfrt_onednn_key_t* key, tfrt_allocator_t allocator,
                                      tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// Runs the primitive for |key| on this thread; |describe| builds one that is not in the cache. The
// |count| inputs are f32 and row-major; each run with that key has the same inputs in the same
// order. The elements of the result are written to |target|. Larger scratch memory comes from
// |allocator| during the run. Thread-safe.
tfrt_status_t tfrt_onednn_run(const tfrt_onednn_key_t* key, tfrt_onednn_describe_fn_t describe,
                              const tfrt_onednn_input_t* inputs, size_t count,
                              tfrt_allocator_t allocator, void* target) TFRT_MUST_USE;

// The same into |*out_result|, which is made for that, with the shape that is the target of |key|,
// and has no elements if that has none. Thread-safe.
tfrt_status_t tfrt_onednn_run_first(const tfrt_onednn_key_t* key,
                                    tfrt_onednn_describe_fn_t describe,
                                    const tfrt_onednn_input_t* inputs, size_t count,
                                    tfrt_allocator_t allocator,
                                    tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// The same if this thread keeps a run with |key|, whose target need not be known: it was worked
// out, and found good, before. Returns true then, and sets |*out_status| to whether it went well:
// |*out_result|, which is zeroed, stays empty if not. Thread-safe.
bool tfrt_onednn_run_again(const tfrt_onednn_key_t* key, const tfrt_onednn_input_t* inputs,
                           size_t count, tfrt_allocator_t allocator,
                           tfrt_dense_host_tensor_t* out_result, tfrt_status_t* out_status);

// The number of primitives in the cache. Thread-safe.
size_t tfrt_onednn_cache_size(void);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_PRIMITIVE_H_
