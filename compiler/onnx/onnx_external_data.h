// SPDX-License-Identifier: Apache-2.0
//
// Weights that lie in files beside the model. The model names them; what it may name is a file
// below its own folder, also after symbolic links.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT for a place that is refused or too
// short; else as the file system says.
#ifndef TFRT_COMPILER_ONNX_ONNX_EXTERNAL_DATA_H_
#define TFRT_COMPILER_ONNX_ONNX_EXTERNAL_DATA_H_

#include "compiler/onnx/onnx.pb-c.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/string_view.h"

// Reads the file that |tensor| names, in |directory| (NULL: there is none), and sets |*out_bytes|
// to its |size| bytes inside of |*out_contents|, which the caller deinitialises. Thread-safe.
tfrt_status_t tfrt_onnx_external_data_read(const Onnx__TensorProto* tensor, const char* directory,
                                           size_t size, tfrt_file_contents_t* out_contents,
                                           tfrt_string_view_t* out_bytes) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_EXTERNAL_DATA_H_
