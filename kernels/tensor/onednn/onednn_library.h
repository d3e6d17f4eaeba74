// SPDX-License-Identifier: Apache-2.0
//
// The maths library, opened when the first computation needs it. A program that is linked
// against it would load and relocate it at each start, with what it brings along (OpenMP,
// OpenCL, the C++ runtime), which takes longer than all the rest of a small run.
//
//   start of the process      first primitive           the process's end
//         |  nothing                 |  dlopen, each name once    |  stays open
//
// Life: opened at most once per process, never closed.
//
// Thread rule: thread-safe; the functions once the library is open.
// Failure rule: NOT_FOUND, which says what the system's loader said and what to install.
#ifndef TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_LIBRARY_H_
#define TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_LIBRARY_H_

#include <oneapi/dnnl/dnnl.h>

#include "host_runtime/base/status.h"

// Each function of the library that is called: X(name).
#define TFRT_ONEDNN_FUNCTIONS(X)                \
  X(dnnl_convolution_forward_desc_init)         \
  X(dnnl_dilated_convolution_forward_desc_init) \
  X(dnnl_engine_create)                         \
  X(dnnl_matmul_desc_init)                      \
  X(dnnl_memory_create)                         \
  X(dnnl_memory_desc_get_size)                  \
  X(dnnl_memory_desc_init_by_strides)           \
  X(dnnl_memory_desc_init_by_tag)               \
  X(dnnl_memory_destroy)                        \
  X(dnnl_memory_set_data_handle)                \
  X(dnnl_pooling_forward_desc_init)             \
  X(dnnl_memory_desc_equal)                     \
  X(dnnl_post_ops_append_binary)                \
  X(dnnl_post_ops_append_eltwise)               \
  X(dnnl_post_ops_append_sum)                   \
  X(dnnl_post_ops_create)                       \
  X(dnnl_post_ops_destroy)                      \
  X(dnnl_primitive_attr_create)                 \
  X(dnnl_primitive_attr_destroy)                \
  X(dnnl_primitive_attr_set_post_ops)           \
  X(dnnl_primitive_attr_set_scratchpad_mode)    \
  X(dnnl_primitive_create)                      \
  X(dnnl_primitive_desc_create)                 \
  X(dnnl_primitive_desc_destroy)                \
  X(dnnl_primitive_desc_query_md)               \
  X(dnnl_primitive_destroy)                     \
  X(dnnl_primitive_execute)                     \
  X(dnnl_primitive_get_primitive_desc)          \
  X(dnnl_reorder_primitive_desc_create)         \
  X(dnnl_sgemm)                                 \
  X(dnnl_softmax_forward_desc_init)             \
  X(dnnl_stream_create)                         \
  X(dnnl_stream_destroy)                        \
  X(dnnl_stream_wait)

// Its functions, under their own names and with the types that its header gives them.
typedef struct tfrt_onednn_library_s {
#define TFRT_ONEDNN_MEMBER(name) __typeof__(&name) name;
  TFRT_ONEDNN_FUNCTIONS(TFRT_ONEDNN_MEMBER)
#undef TFRT_ONEDNN_MEMBER
  // Belongs to the OpenMP runtime that the library was built with; NULL if it has none.
  void (*omp_set_num_threads)(int count);
} tfrt_onednn_library_t;

// Opens the library, unless it is open. Thread-safe.
tfrt_status_t tfrt_onednn_library_open(void) TFRT_MUST_USE;

// The library, which has been opened. Thread-safe.
const tfrt_onednn_library_t* tfrt_onednn(void);

#endif  // TFRT_KERNELS_TENSOR_ONEDNN_ONEDNN_LIBRARY_H_
