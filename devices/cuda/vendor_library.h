// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's libraries beside the driver's, opened at run time: the first of several names that can
// be opened, and its entry points into a table of ours.
//
//   names, newest first --> dlopen --> dlsym of each entry point --> table
//
// Life:
//  1. Described once, as constant data.
//  2. Opened. Once open a library stays loaded until the process ends: it has threads and state on
//     GPUs.
//
// Thread rule: thread-safe.
// Failure rule: a library that is absent, or that lacks an entry point, is one UNAVAILABLE error
// that says which names were looked for, and what would help.
#ifndef TFRT_DEVICES_CUDA_VENDOR_LIBRARY_H_
#define TFRT_DEVICES_CUDA_VENDOR_LIBRARY_H_

#include <stddef.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_vendor_entry_s {
  const char* name;  // of the symbol
  size_t offset;     // of the member of the table
} tfrt_vendor_entry_t;

typedef struct tfrt_vendor_library_s {
  const char* title;         // "cuBLAS"
  const char* const* names;  // of files, searched where the system's libraries are
  size_t name_count;
  const char* fix;  // what to do if there is none
  const tfrt_vendor_entry_t* entries;
  size_t entry_count;
} tfrt_vendor_library_t;

// Opens |library| and fills the table at |out_table| in. |path|, unless NULL, is taken instead of
// all names. May take seconds (such libraries are big). Thread-safe.
tfrt_status_t tfrt_vendor_library_open(const tfrt_vendor_library_t* library, const char* path,
                                       void* out_table) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CUDA_VENDOR_LIBRARY_H_
