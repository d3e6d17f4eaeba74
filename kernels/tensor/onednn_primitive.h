// SPDX-License-Identifier: Apache-2.0
//
// A primitive of the maths library: a kind of computation for one set of shapes, compiled
// once, kept, and run on the calling thread.
//
// Life of a primitive:
//  1. Asked for by its key, which holds everything that it depends on. Found in the
//     process's cache, or built by the caller's function and put there. The cache is
//     bounded: what it was not asked for for longest goes first.
//  2. Run any number of times, also by several threads at once: what a run needs (views
//     of its arguments, scratch memory, if it is little) belongs to the thread, which keeps it for
//     its next run with the same key. It goes to the next thread that has none when another key
//     takes its place, or the thread ends.
//  3. Freed when it has left the cache and no thread keeps a run of it.
//
//   this thread:  key --> [ place ] --> primitive, views     no lock
//                            | another key is there, or none
//   process:                 +--> cache, under its lock --> build
//
// Thread rule: everything is thread-safe.
// Failure rule: INTERNAL with the library's reason; RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_PRIMITIVE_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_PRIMITIVE_H_

#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"

// At most this many primitives are kept, beside those that threads keep runs of.
#define TFRT_ONEDNN_CACHE_CAPACITY 128

// At most this many arguments has a run, scratch memory not counted.
#define TFRT_ONEDNN_MAX_ARGUMENTS 4

// A thread keeps what so many runs need, of as many keys. An even number.
#define TFRT_ONEDNN_KEPT_RUNS 64

// Scratch memory of at most so many bytes stays with the primitive for its next run.
#define TFRT_ONEDNN_KEPT_SCRATCH ((size_t)128 * 1024)

typedef enum tfrt_onednn_kind_e {
  TFRT_ONEDNN_CONVOLUTION = 1,
  TFRT_ONEDNN_MAX_POOL,
  TFRT_ONEDNN_MATMUL,
  TFRT_ONEDNN_SOFTMAX,
  TFRT_ONEDNN_MAX_POOL_CHANNELS_LAST,
} tfrt_onednn_kind_t;

// What a primitive depends on. Filled in from all zeros: keys are compared as bytes. Hashed are
// those before |target|, which nearly always tell primitives apart.
typedef struct tfrt_onednn_key_s {
  int32_t kind;  // tfrt_onednn_kind_t
  int16_t relu;  // 1: the result goes through max(x, 0)
  int16_t bias;  // 1: there is a bias
  int64_t source[4];
  int64_t weights[4];
  int64_t target[4];
  int64_t window[2];
  int64_t strides[2];
  int64_t padding[4];  // of the near sides; behind them, where they differ, of the far ones
} tfrt_onednn_key_t;

// Builds the description of the primitive for |key|, with |attributes|, which already say
// where scratch memory comes from and, if |key->relu|, that the result is cut at 0.
typedef dnnl_status_t (*tfrt_onednn_describe_fn_t)(const tfrt_onednn_key_t* key,
                                                   const_dnnl_primitive_attr_t attributes,
                                                   dnnl_engine_t engine,
                                                   dnnl_primitive_desc_t* out_description);

// One argument of a run: which one (DNNL_ARG_...), and where its elements are.
typedef struct tfrt_onednn_argument_s {
  int index;
  const void* data;  // written to for DNNL_ARG_DST
} tfrt_onednn_argument_t;

// Runs the primitive for |key|, which |describe| builds where it is not in the cache, with the
// |count| arguments, all f32 and row-major, which are the same ones, in the same order, in each run
// with that key, on this thread; much scratch memory is taken from |allocator| meanwhile.
// Thread-safe.
tfrt_status_t tfrt_onednn_run(const tfrt_onednn_key_t* key, tfrt_onednn_describe_fn_t describe,
                              const tfrt_onednn_argument_t* arguments, size_t count,
                              tfrt_allocator_t allocator) TFRT_MUST_USE;

// The number of primitives in the cache. Thread-safe.
size_t tfrt_onednn_cache_size(void);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_PRIMITIVE_H_
