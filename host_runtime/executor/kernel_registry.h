// SPDX-License-Identifier: Apache-2.0
//
// Maps kernel names to C functions and their entries in the op table.
//
// Life:
//  1. Allocated, filled by the kernel rooms' register functions.
//  2. Frozen by convention: once programs are loaded nothing is added that they use.
//  3. Freed after all programs.
//
// Thread rule: adding is thread-compatible, looking up thread-safe after that.
// Failure rule: a name twice is ALREADY_EXISTS and changes nothing.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_REGISTRY_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_REGISTRY_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/kernel_descriptor.h"
#include "host_runtime/executor/kernel_frame.h"

typedef struct tfrt_kernel_registry_s tfrt_kernel_registry_t;

// A kernel: its function, and its description (NULL: unknown, so strict in all
// operands).
typedef struct tfrt_kernel_s {
  tfrt_kernel_fn_t function;
  const tfrt_kernel_descriptor_t* descriptor;
} tfrt_kernel_t;

// One line of a kernel room's registration table.
typedef struct tfrt_kernel_registration_s {
  const char* name;
  tfrt_kernel_fn_t function;
} tfrt_kernel_registration_t;

// Sets |*out_registry| to a new, empty registry. Thread-safe.
tfrt_status_t tfrt_kernel_registry_allocate(tfrt_allocator_t allocator,
                                            tfrt_kernel_registry_t** out_registry) TFRT_MUST_USE;

// Gives back |registry|; NULL is allowed. Thread-compatible.
void tfrt_kernel_registry_free(tfrt_kernel_registry_t* registry);

// Adds the |count| kernels of |registrations|, each with the entry of that name in
// |table|; a kernel without entry, and an entry without kernel, is an INTERNAL error
// that names it, so that table and code can't drift apart. Thread-compatible.
tfrt_status_t tfrt_kernel_registry_add_all(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count) TFRT_MUST_USE;

// The kernel named |name| (lives as long as the registry), or NULL. Thread-safe.
const tfrt_kernel_t* tfrt_kernel_registry_find(const tfrt_kernel_registry_t* registry,
                                               tfrt_string_view_t name);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_REGISTRY_H_
