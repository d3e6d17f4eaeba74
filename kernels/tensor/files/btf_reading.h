// SPDX-License-Identifier: Apache-2.0
//
// Reads tensors from a BTF file as a kernel: on a thread that may block, with results that
// become available when the file is read.
//
// Life of a reading:
//  1. Started by a kernel, which hands out unavailable results.
//  2. A blocking thread reads the whole file; the tensors are views of its bytes.
//  3. The results are resolved, tensors before the chain; all are errors if one is.
//
// Thread rule: called by kernels.
// Failure rule: an error names the path as it was tried; with the kernel's place.
#ifndef TFRT_KERNELS_TENSOR_FILES_BTF_READING_H_
#define TFRT_KERNELS_TENSOR_FILES_BTF_READING_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/tensor/host_tensor.h"

// The file and tensors to read. The dtype INVALID stands for any dtype, rank and layout.
typedef struct tfrt_btf_reading_s {
  tfrt_string_view_t path;  // as the program says it (see tfrt_host_context_resolve_path())
  int64_t first;            // number in the file of the first tensor that is read
  tfrt_dtype_t dtype;
  int32_t rank;
  tfrt_tensor_layout_t layout;
  bool has_chain;  // result 0 is a chain; the tensors are the others
  bool all;        // the file must have exactly as many tensors as there are results
} tfrt_btf_reading_t;

// Starts |reading| and sets all results of |frame|. Frame's thread only.
void tfrt_btf_reading_start(tfrt_kernel_frame_t* frame, const tfrt_btf_reading_t* reading);

#endif  // TFRT_KERNELS_TENSOR_FILES_BTF_READING_H_
