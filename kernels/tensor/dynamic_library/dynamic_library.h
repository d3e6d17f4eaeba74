// SPDX-License-Identifier: Apache-2.0
//
// A library of the system that is opened when it is first needed, and not when the program
// starts: what few programs use costs the others nothing.
//
//   file name + names of functions --> addresses, each in its slot of the caller's table
//
// Life: opened at most once per process by its user (sync.h's tfrt_once_t), never closed.
//
// Thread rule: thread-safe, but for the slots.
// Failure rule: NOT_FOUND, which says what the system's loader said and what to install.
#ifndef TFRT_KERNELS_TENSOR_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_
#define TFRT_KERNELS_TENSOR_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_

#include <stddef.h>

#include "host_runtime/base/status.h"

// The text of a macro's value, for file names with a version in them.
#define TFRT_DYNAMIC_LIBRARY_TEXT_OF(number) #number

// A name of the library, and where the address of that function belongs.
typedef struct tfrt_dynamic_symbol_s {
  const char* name;
  void* slot;  // a function pointer, of whatever type
} tfrt_dynamic_symbol_t;

typedef struct tfrt_dynamic_library_s {
  const char* file;     // as the loader looks for it, e.g. "libjpeg.so.62"
  const char* what;     // for messages: "the maths library oneDNN"
  const char* package;  // the Debian package that has it
  const tfrt_dynamic_symbol_t* symbols;
  size_t symbol_count;
} tfrt_dynamic_library_t;

// Opens |library| and fills in all slots. Sets |*out_handle| to the loader's handle, for names
// that may be missing. Thread-compatible.
tfrt_status_t tfrt_dynamic_library_open(const tfrt_dynamic_library_t* library, void** out_handle)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_
