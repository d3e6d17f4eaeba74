// SPDX-License-Identifier: Apache-2.0
//
// File systems by scheme: where the files are that programs, weights and results are read from and
// written to. All of tfrt_file_read() and tfrt_file_write() goes through here.
//
//   "memory://weights.btf"  -->  file system "memory", path "weights.btf"
//   SCHEME://PATH                              PATH alone: "file"
//
//   file     this machine's (built in)
//
// Life: a file system is registered once per process, by a main or by the `set_up` of a kernel
// library, and stays.
//
// Thread rule: everything is thread-safe, the functions of a file system too; they may block, and
// are called where that is allowed.
// Failure rule: an unknown scheme is INVALID_ARGUMENT with those that there are; the rest is the
// file system's own error, which names the file and the reason.
#ifndef TFRT_HOST_RUNTIME_BASE_FILE_SYSTEM_H_
#define TFRT_HOST_RUNTIME_BASE_FILE_SYSTEM_H_

#include <stdbool.h>

#include "host_runtime/base/choice.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

typedef struct tfrt_file_system_s {
  tfrt_choice_t choice;  // its scheme, letters and digits; its usage is "://PATH"
  // Reads all of the file |path| into |out_contents|, which is empty and has its allocator; see
  // tfrt_file_contents_append(). After an error the caller gives back what is there.
  tfrt_status_t (*read)(const char* path, tfrt_file_contents_t* out_contents);
  // Makes |size| bytes at |data| the content of the file |path|.
  tfrt_status_t (*write)(const char* path, const void* data, size_t size);
} tfrt_file_system_t;

// Registers |file_system|, which must be static. The same again is fine; INVALID_ARGUMENT if its
// scheme is none or a function is missing, ALREADY_EXISTS if there is another of that scheme,
// RESOURCE_EXHAUSTED if the table is full. Thread-safe.
tfrt_status_t tfrt_file_system_register(const tfrt_file_system_t* file_system) TFRT_MUST_USE;

// Sets |*out_file_system| to where |location| is, and |*out_path| to its path there (+0, a part of
// |location|). INVALID_ARGUMENT: see above. Thread-safe.
tfrt_status_t tfrt_file_system_find(const char* location,
                                    const tfrt_file_system_t** out_file_system,
                                    const char** out_path) TFRT_MUST_USE;

// Whether |location| begins with a scheme, known or not: then it is relative to no folder.
// Thread-safe.
bool tfrt_file_system_has_scheme(tfrt_string_view_t location);

// The |write| of a file system that is only read: PERMISSION_DENIED. Thread-safe.
tfrt_status_t tfrt_file_system_refuse_write(const char* path, const void* data, size_t size)
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_FILE_SYSTEM_H_
