// SPDX-License-Identifier: Apache-2.0
//
// What the mains of the two translators share: one input, one output, reports on the
// standard error.
//
// Thread rule: main thread only. Failure rule: exit codes 0, 1 (the input), 2 (usage).
#ifndef TFRT_TOOLS_COMMON_TRANSLATE_MAIN_H_
#define TFRT_TOOLS_COMMON_TRANSLATE_MAIN_H_

#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"
#include "tools/common/flags.h"

enum { TFRT_EXIT_OK = 0, TFRT_EXIT_INPUT = 1, TFRT_EXIT_USAGE = 2 };

// Translates |input|, read from the file |name|. Sets |*out_bytes| to the result, of
// |*out_size| bytes from the system's allocator, and appends to |report| what is to be
// said about the input. Thread-safe.
typedef tfrt_status_t (*tfrt_translate_fn_t)(const char* name, const tfrt_file_contents_t* input,
                                             tfrt_string_builder_t* report, void** out_bytes,
                                             size_t* out_size);

// The program: parses the command line by |table|, to which a flag `o` with the storage
// |output| belongs; reads the input, translates it, prints the report, and writes the
// result, unless there was an error. Returns the exit code. Main thread only.
int tfrt_translate_main(const tfrt_flag_table_t* table, const char* const* output,
                        tfrt_translate_fn_t translate, int argument_count, char** arguments);

#endif  // TFRT_TOOLS_COMMON_TRANSLATE_MAIN_H_
