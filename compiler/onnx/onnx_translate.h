// SPDX-License-Identifier: Apache-2.0
//
// A model in one call: to BEF, or to the text of the program that it becomes.
//
//   model --importer--> IR --verifier--> IR --emitter--> BEF
//                                         \--printer--> text
//
// Thread rule: thread-safe: each call has memory of its own.
// Failure rule: INVALID_ARGUMENT with the first error as its message (the report has them all),
// UNIMPLEMENTED, RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_ONNX_ONNX_TRANSLATE_H_
#define TFRT_COMPILER_ONNX_ONNX_TRANSLATE_H_

#include "compiler/onnx/onnx_import.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"

// Where the texts of a translation go.
typedef struct tfrt_onnx_texts_s {
  tfrt_string_builder_t* report;   // what is wrong, as compilers print it
  tfrt_string_builder_t* summary;  // lines about what was imported
} tfrt_onnx_texts_t;

// Translates the |model|, which was read from the file |name|. Sets |*out_bytes| to the BEF image,
// of
// |*out_size| bytes from |allocator|, aligned for loading; the caller frees it. Thread-safe.
tfrt_status_t tfrt_onnx_to_bef(const char* name, tfrt_string_view_t model,
                               const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                               tfrt_allocator_t allocator, const tfrt_onnx_texts_t* texts,
                               void** out_bytes, size_t* out_size) TFRT_MUST_USE;

// The same, and appends the program as MLIR to |out|. Thread-safe.
tfrt_status_t tfrt_onnx_to_text(const char* name, tfrt_string_view_t model,
                                const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                                tfrt_allocator_t allocator, const tfrt_onnx_texts_t* texts,
                                tfrt_string_builder_t* out) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_TRANSLATE_H_
