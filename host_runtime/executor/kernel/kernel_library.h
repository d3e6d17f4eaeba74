// SPDX-License-Identifier: Apache-2.0
//
// A library from outside: what it brings, in one constant. Kernels, the op table entries
// that describe them, native functions, and a function that registers types. One description
// serves both ways to use a library:
//
//   linked with the program   tfrt_kernel_library_register(registry, &my_library)
//   a shared library          tfrt_kernel_library_load("libmine.so", &library), then the same
//
// In the second case the description is found by its name:
//
//   const tfrt_kernel_library_t tfrt_kernel_library = {
//       TFRT_KERNEL_LIBRARY_HEADER("mine"),
//       TFRT_KERNEL_LIBRARY_OPS(my_ops),
//       TFRT_KERNEL_LIBRARY_KERNELS(my_kernels),
//       .set_up = register_types,
//   };
//
// A shared library is not linked with libtfrt: it takes the runtime of the process that loads
// it, whichever that is. A library that was compiled against another version of the interface,
// or that brings a runtime of its own, is refused before any of its functions is called.
//
// Life:
//  1. The description is constant data; a loaded library stays in the process for ever.
//  2. Checked: by loading, or by registering.
//  3. Registered into each registry that programs are resolved against: set up, which makes
//     its types known, then added. Its op table is also handed to the compiler.
//
// Thread rule: constant data; the functions say theirs.
// Failure rule: an error names the library, what is wrong, and what to do. A registry that a
// library failed to register into may hold a part of it and is of no more use.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_LIBRARY_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_LIBRARY_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/base/version.h"
#include "host_runtime/executor/kernel/kernel_registry.h"

TFRT_API_BEGIN

typedef struct tfrt_kernel_library_s {
  // The interface that it was compiled against. The first field in all versions.
  uint32_t api_version;
  const void* (*runtime)(void);  // tfrt_runtime_identity(), as the library sees it
  const char* name;              // for messages
  // The ops of the text: one entry for each kernel.
  tfrt_kernel_table_t ops;
  // The functions: the kernels, and the synchronous forms of those whose entries say so.
  const tfrt_kernel_registration_t* kernels;
  size_t kernel_count;
  const tfrt_sync_kernel_registration_t* sync_kernels;
  size_t sync_kernel_count;
  // Native functions, with an entry for each.
  tfrt_kernel_table_t native_ops;
  const tfrt_kernel_registration_t* natives;
  size_t native_count;
  // Called before the kernels are registered, for each registry, and by mains that have a use for
  // the rest: registers types of values, of work queues (work_queue_type.h) and of allocators
  // (allocator_type.h), and kinds of devices (devices/device_kind.h). NULL: there is nothing to do.
  // Must allow being called more than once in a process.
  tfrt_status_t (*set_up)(void);
} tfrt_kernel_library_t;

// Initialisers of a description's parts, from arrays.
#define TFRT_KERNEL_LIBRARY_HEADER(library_name) \
  .api_version = TFRT_API_VERSION, .runtime = tfrt_runtime_identity, .name = (library_name)
#define TFRT_KERNEL_LIBRARY_OPS(array) .ops = {(array), TFRT_ARRAY_SIZE(array)}
#define TFRT_KERNEL_LIBRARY_KERNELS(array) \
  .kernels = (array), .kernel_count = TFRT_ARRAY_SIZE(array)
#define TFRT_KERNEL_LIBRARY_SYNC_KERNELS(array) \
  .sync_kernels = (array), .sync_kernel_count = TFRT_ARRAY_SIZE(array)
#define TFRT_KERNEL_LIBRARY_NATIVES(entries, array)                        \
  .native_ops = {(entries), TFRT_ARRAY_SIZE(entries)}, .natives = (array), \
  .native_count = TFRT_ARRAY_SIZE(array)

// The name under which a shared library, and nobody else, defines its description.
extern const tfrt_kernel_library_t tfrt_kernel_library;

// OK if |library| can be used in this process: FAILED_PRECONDITION if it was compiled against
// another version of the interface or has a runtime of its own; INVALID_ARGUMENT if its
// description contradicts itself in a way that the runtime would stumble over. Thread-safe.
tfrt_status_t tfrt_kernel_library_check(const tfrt_kernel_library_t* library) TFRT_MUST_USE;

// Checks |library|, sets it up, and adds all that it brings to |registry|. Errors: those of the
// check and of its set-up; FAILED_PRECONDITION for an entry with a type (`!...`) that is not
// registered once it is set up; ALREADY_EXISTS for a kernel that the registry has; INTERNAL for a
// kernel without an entry, or the other way round. |library| outlives |registry|.
// Thread-compatible.
tfrt_status_t tfrt_kernel_library_register(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_library_t* library) TFRT_MUST_USE;

// Loads the shared library in the file |path|, which is relative to the working directory unless
// it begins with a slash, and sets |*out_library| to its description, checked; it lives as long as
// the process. The same file twice gives the same description. NOT_FOUND if there is no such file;
// INVALID_ARGUMENT if it can't be loaded or describes no kernels; and the errors of the check.
// Thread-safe.
tfrt_status_t tfrt_kernel_library_load(const char* path, const tfrt_kernel_library_t** out_library)
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_LIBRARY_H_
