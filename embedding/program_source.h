// SPDX-License-Identifier: Apache-2.0
//
// From what a person wrote to a program that runs: a text is translated with the op tables of the
// kernels that it will run on, so that what the registry has, the text may say.
//
//   text --compiler, tables of the registry--> BEF --kernels of the registry--> program
//
// For BEF in memory there are tfrt_bef_file_create() and tfrt_program_create().
//
// Thread rule: thread-safe, if nothing is added to the registry meanwhile.
// Failure rule: INVALID_ARGUMENT for a text with mistakes, with the first one as its message; the
// report has all of them, each `file:line:col: error: ...` with the line and a caret. The other
// errors are those of reading the file and of tfrt_program_create().
#ifndef TFRT_EMBEDDING_PROGRAM_SOURCE_H_
#define TFRT_EMBEDDING_PROGRAM_SOURCE_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "host_runtime/executor/program/program.h"

TFRT_API_BEGIN

// Sets |*out_program| (+1) to the program that |text| describes, with the kernels of |registry|,
// which outlives it. |name| is what diagnostics and errors call the text. Diagnostics, also
// warnings, are appended to |report|. Thread-safe.
tfrt_status_t tfrt_program_create_from_text(const char* name, tfrt_string_view_t text,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_allocator_t allocator,
                                            tfrt_string_builder_t* report,
                                            tfrt_program_t** out_program) TFRT_MUST_USE;

// The same for the file |path|, which is a text or BEF: the first byte tells. Thread-safe.
tfrt_status_t tfrt_program_create_from_file(const char* path,
                                            const tfrt_kernel_registry_t* registry,
                                            tfrt_allocator_t allocator,
                                            tfrt_string_builder_t* report,
                                            tfrt_program_t** out_program) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_EMBEDDING_PROGRAM_SOURCE_H_
