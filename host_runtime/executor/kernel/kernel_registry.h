// SPDX-License-Identifier: Apache-2.0
//
// Maps the names that a program uses to C functions: kernels, each with its entry in the
// op table, and native functions, which a program declares with `tfrt.native` and calls
// like its own. The place where a program names them tells the two apart.
//
//   "tfrt.add.i32" --> C function | synchronous C function | op table entry
//   @native_add    --> C function | signature
//
// A kernel may have a form for asynchronous functions, one for synchronous ones
// (sync_frame.h), or both.
//
// Op tables are constant data and stay where they are. The first few names are looked for by
// walking through them; an index of all names is made when more are looked for, or when somebody
// adds what nobody has shown to have names of its own. So a process that runs a small program
// makes none, which is a tenth of its time.
//
// Life:
//  1. Allocated, filled by the kernel rooms' register functions.
//  2. Frozen by convention: once programs are loaded nothing is added that they use.
//  3. Freed after all programs; op tables live longer.
//
// Thread rule: adding is thread-compatible, looking up thread-safe after that.
// Failure rule: a name twice is ALREADY_EXISTS; what fails changes nothing.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_REGISTRY_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_REGISTRY_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/sync_frame.h"
#include "host_runtime/executor/kernel/withdrawal.h"

TFRT_API_BEGIN

typedef struct tfrt_kernel_registry_s tfrt_kernel_registry_t;

// A kernel: its functions (one may be NULL), and its description (NULL: unknown, so strict in all
// operands).
typedef struct tfrt_kernel_s {
  tfrt_kernel_fn_t function;
  tfrt_sync_kernel_fn_t sync_function;  // for functions that are `tfrt.sync`
  tfrt_kernel_withdraw_fn_t withdraw;   // NULL: nobody waits for what it does
  const tfrt_kernel_descriptor_t* descriptor;
} tfrt_kernel_t;

// One line of a kernel room's registration table.
typedef struct tfrt_kernel_registration_s {
  const char* name;
  tfrt_kernel_fn_t function;
} tfrt_kernel_registration_t;

// The same for the synchronous forms.
typedef struct tfrt_sync_kernel_registration_s {
  const char* name;
  tfrt_sync_kernel_fn_t function;
} tfrt_sync_kernel_registration_t;

// The same for what kernels do when their call is cancelled.
typedef struct tfrt_withdrawal_registration_s {
  const char* name;
  tfrt_kernel_withdraw_fn_t function;
} tfrt_withdrawal_registration_t;

// Sets |*out_registry| to a new, empty registry. Thread-safe.
tfrt_status_t tfrt_kernel_registry_allocate(tfrt_allocator_t allocator,
                                            tfrt_kernel_registry_t** out_registry) TFRT_MUST_USE;

// Gives back |registry|; NULL is allowed. Thread-compatible.
void tfrt_kernel_registry_free(tfrt_kernel_registry_t* registry);

// Adds the |count| kernels of |registrations|, each with the entry of that name in
// |table|; a kernel without entry, and an entry without kernel, is an INTERNAL error
// that names it, so that table and code can't drift apart. Entries of ops that only
// synchronous functions have are left to tfrt_kernel_registry_add_sync().
// Thread-compatible.
tfrt_status_t tfrt_kernel_registry_add_all(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count) TFRT_MUST_USE;

// Adds the |count| synchronous forms of |registrations|: to the kernels of |table| that are
// there, or as kernels of their own. An INTERNAL error, which names the culprit, unless
// they are just those that |table| marks as TFRT_KERNEL_SYNC_TOO or TFRT_KERNEL_SYNC_ONLY.
// After tfrt_kernel_registry_add_all() of the same table, if it has asynchronous kernels.
// Thread-compatible.
tfrt_status_t tfrt_kernel_registry_add_sync(tfrt_kernel_registry_t* registry,
                                            const tfrt_kernel_table_t* table,
                                            const tfrt_sync_kernel_registration_t* registrations,
                                            size_t count) TFRT_MUST_USE;

// Adds what the |count| kernels of |registrations| do when their call is cancelled. INTERNAL, with
// the culprit's name, unless they are asynchronous kernels of |table|, which was added.
// Thread-compatible.
tfrt_status_t tfrt_kernel_registry_add_withdrawals(
    tfrt_kernel_registry_t* registry, const tfrt_kernel_table_t* table,
    const tfrt_withdrawal_registration_t* registrations, size_t count) TFRT_MUST_USE;

// Adds the |count| native functions of |registrations|. A native function is a C function
// with the calling convention of a kernel that is strict in all operands; |table| has an entry for
// each. Its name, operands, results and VARIADIC flags count: programs that declare another
// signature are refused. Errors as tfrt_kernel_registry_add_all(). Thread-compatible.
tfrt_status_t tfrt_kernel_registry_add_natives(tfrt_kernel_registry_t* registry,
                                               const tfrt_kernel_table_t* table,
                                               const tfrt_kernel_registration_t* registrations,
                                               size_t count) TFRT_MUST_USE;

// The op tables of all kernels that were added, in their order, and how many: what a compiler
// has to know to translate a program for this registry. Good until the next addition.
// Thread-safe.
const tfrt_kernel_table_t* tfrt_kernel_registry_tables(const tfrt_kernel_registry_t* registry,
                                                       size_t* out_count);

// Makes |registry| trust that the names added from now on, until the next call, are new: for rooms
// for which a test shows it. At first it believes nobody. Thread-compatible.
void tfrt_kernel_registry_set_trust(tfrt_kernel_registry_t* registry, bool enabled);

// Makes programs that are created from now on check the types of all arguments and results
// of kernels against the op table at run time, also of those that it proves already: a debug mode
// for authors of kernels. Thread-compatible.
void tfrt_kernel_registry_set_type_checks(tfrt_kernel_registry_t* registry, bool enabled);

// Whether it does. Thread-safe.
bool tfrt_kernel_registry_type_checks(const tfrt_kernel_registry_t* registry);

// Makes programs that are created from now on watch which memory their kernels read and write, and
// report two kernels whose accesses nothing orders, as errors of ops (program/race_watch.h): a
// debug mode for authors of programs with chains. Thread-compatible.
void tfrt_kernel_registry_set_race_checks(tfrt_kernel_registry_t* registry, bool enabled);

// Whether it does. Thread-safe.
bool tfrt_kernel_registry_race_checks(const tfrt_kernel_registry_t* registry);

// Sets |*out_kernel| to the native function named |name|; returns false, with zeros there, if
// there is none. Thread-safe.
bool tfrt_kernel_registry_find_native(const tfrt_kernel_registry_t* registry,
                                      tfrt_string_view_t name, tfrt_kernel_t* out_kernel);

// The same for the kernel named |name|. Thread-safe.
bool tfrt_kernel_registry_find(const tfrt_kernel_registry_t* registry, tfrt_string_view_t name,
                               tfrt_kernel_t* out_kernel);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_REGISTRY_H_
