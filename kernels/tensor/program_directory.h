// SPDX-License-Identifier: Apache-2.0
//
// Where the files lie that a program names with relative paths: beside the program. It is
// a resource of the request, set by whoever starts a program from a file.
//
// Life: set once per request, before the first kernel runs; gone with the request.
//
// Thread rule: thread-safe.
// Failure rule: RESOURCE_EXHAUSTED when memory is out.
#ifndef TFRT_KERNELS_TENSOR_PROGRAM_DIRECTORY_H_
#define TFRT_KERNELS_TENSOR_PROGRAM_DIRECTORY_H_

#include "host_runtime/executor/request_context.h"

// The name of the resource.
#define TFRT_PROGRAM_DIRECTORY_NAME "program_directory"

// Says that relative paths in the program of |request| start at the folder |path|. The
// first setting stays. Thread-safe.
tfrt_status_t tfrt_program_directory_set(tfrt_request_context_t* request, const char* path)
    TFRT_MUST_USE;

// Appends the path of the file that |path| names for |request| to |out|, with a NUL behind
// it: |path| itself if it is absolute, else the file of that name in the program's
// directory, or, if there is none, in the process's working directory. Thread-safe, as
// |out| is.
void tfrt_program_directory_resolve(tfrt_request_context_t* request, tfrt_string_view_t path,
                                    tfrt_string_builder_t* out);

#endif  // TFRT_KERNELS_TENSOR_PROGRAM_DIRECTORY_H_
