// SPDX-License-Identifier: Apache-2.0
//
// The objects that the maths library needs to run a primitive: a stream, and views of the inputs,
// the target and any scratch memory. Making them takes longer than a small primitive, so they are
// made once, and pointed to other data for each run. A little scratch memory stays with them, too.
//
//   views:  [ input ] ... [ target ] [ scratch ]   stream
//               |             |           |
//               v             v           v
//             data of the run that is under way, or was last
//
// Life: created for a primitive; any number of runs of that, one after the other; freed.
//
// Thread rule: thread-compatible (caller owns them).
// Failure rule: the library's own results.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_VIEWS_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_VIEWS_H_

#include <oneapi/dnnl/dnnl.h>
#include <stddef.h>

#include "host_runtime/base/allocator.h"

// At most this many inputs has a run.
#define TFRT_ONEDNN_MAX_INPUTS 3

// Scratch memory of at most this many bytes stays with the views for the next run.
#define TFRT_ONEDNN_KEPT_SCRATCH ((size_t)128 * 1024)

// One input of a run: which one (DNNL_ARG_...), and where its elements are.
typedef struct tfrt_onednn_input_s {
  int index;
  const void* data;
} tfrt_onednn_input_t;

// All but |next|, which is the owner's, belongs to onednn_views.c.
typedef struct tfrt_onednn_views_s {
  struct tfrt_onednn_views_s* next;
  dnnl_stream_t stream;
  size_t scratch_size;
  void* scratch;  // what stays of it, or NULL
  dnnl_exec_arg_t arguments[TFRT_ONEDNN_MAX_INPUTS + 2];
  const void* data[TFRT_ONEDNN_MAX_INPUTS + 2];  // what each of them shows
  int count;
} tfrt_onednn_views_t;

// Sets |*out_views| to new views for runs of |primitive| on the |count| |inputs|, whose data is not
// looked at. Thread-safe.
dnnl_status_t tfrt_onednn_views_create(const_dnnl_primitive_t primitive,
                                       const tfrt_onednn_input_t* inputs, size_t count,
                                       dnnl_engine_t engine, tfrt_onednn_views_t** out_views);

// Runs |primitive| on this thread on the |count| |inputs|, in the order that |views| were made for,
// into |target|. Much scratch memory is taken from |allocator| meanwhile. Thread-compatible.
dnnl_status_t tfrt_onednn_views_execute(tfrt_onednn_views_t* views,
                                        const_dnnl_primitive_t primitive,
                                        const tfrt_onednn_input_t* inputs, size_t count,
                                        tfrt_allocator_t allocator, void* target);

// Frees |views|. Thread-compatible.
void tfrt_onednn_views_free(tfrt_onednn_views_t* views);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_VIEWS_H_
