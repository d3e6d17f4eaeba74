// SPDX-License-Identifier: Apache-2.0
//
// The libraries that `--shared_libs=A,B` names, and those of `--device_libs` (device_platforms.h),
// for a main: loaded once. Then the code that
// needs their kernels (kernel_rooms.h) or their op tables (op_tables.h) gets them here.
//
// Life: loaded at the start of a main; they stay.
//
// Thread rule: loading is for the main thread, before others ask; asking is thread-safe.
// Failure rule: an error names the library, what is wrong, and what to do.
#ifndef TFRT_TOOLS_KERNELS_SHARED_LIBRARIES_H_
#define TFRT_TOOLS_KERNELS_SHARED_LIBRARIES_H_

#include "host_runtime/executor/kernel/kernel_library.h"

// The flag, and what the help says of it.
#define TFRT_SHARED_LIBRARIES_FLAG "shared_libs"
#define TFRT_SHARED_LIBRARIES_VALUE "A.so,B.so"
#define TFRT_SHARED_LIBRARIES_HELP "kernel libraries to load: more kernels, more ops"

// The most libraries of a process.
#define TFRT_SHARED_LIBRARIES_MAX 64

typedef struct tfrt_shared_library_s {
  const char* path;  // as the user said it
  const tfrt_kernel_library_t* library;
} tfrt_shared_library_t;

// Loads the libraries that |list| names, paths separated by commas; NULL: none. Main
// thread only.
tfrt_status_t tfrt_shared_libraries_load(const char* list) TFRT_MUST_USE;

// The same for the list of another flag, whose name is |flag|. Main thread only.
tfrt_status_t tfrt_shared_libraries_load_of(const char* flag, const char* list) TFRT_MUST_USE;

// How many there are, and number |index| of them. Thread-safe.
size_t tfrt_shared_libraries_count(void);
const tfrt_shared_library_t* tfrt_shared_libraries_get(size_t index);

// Sets all of them up, for a main that has a use for what they bring beside kernels, such as work
// queues (work_queue_type.h) and allocators (allocator_type.h), before it has a registry. Main
// thread only.
tfrt_status_t tfrt_shared_libraries_set_up(void) TFRT_MUST_USE;

// Registers what all of them bring into |registry|. Thread-compatible.
tfrt_status_t tfrt_shared_libraries_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_SHARED_LIBRARIES_H_
