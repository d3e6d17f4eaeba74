// SPDX-License-Identifier: Apache-2.0
//
// One execution of a primitive: its arguments, and the stream that it takes place in.
//
// Life:
//  1. Zeroed; the stream is created.
//  2. Arguments are added.
//  3. Finished: executed, unless a step before has failed, and given back.
//
// Thread rule: thread-compatible (caller owns it). Failure rule: the library's own results.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EXECUTION_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EXECUTION_H_

#include <oneapi/dnnl/dnnl.h>

// No primitive has more arguments.
#define TFRT_ONEDNN_MAX_ARGUMENTS 6

typedef struct tfrt_onednn_execution_s {
  dnnl_stream_t stream;
  int count;
  dnnl_exec_arg_t arguments[TFRT_ONEDNN_MAX_ARGUMENTS];
} tfrt_onednn_execution_t;

// Adds the argument |index|, which lies at |data| as |layout| says. Thread-compatible.
dnnl_status_t tfrt_onednn_execution_add(tfrt_onednn_execution_t* execution, dnnl_engine_t engine,
                                        int index, const dnnl_memory_desc_t* layout,
                                        const void* data);

// Executes |primitive| if |result|, that of the steps before, is good, and gives everything back.
// Thread-compatible.
dnnl_status_t tfrt_onednn_execution_finish(tfrt_onednn_execution_t* execution, dnnl_status_t result,
                                           const_dnnl_primitive_t primitive);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_EXECUTION_H_
