// SPDX-License-Identifier: Apache-2.0
//
// Binds the kernels of functions that are resolved: finds the C function of each, checks the use
// of it against the op table, and makes addresses of what the file has as numbers. Private to
// the executor.
//
//   record + op table entry --> binding: C function, attribute addresses, functions,
//                                        what it waits for, which types are left to check
//                           --> its registers: how arguments are used, the types of results
//
// Most sites of a kernel in a function have nothing of their own, and share one binding; so do
// calls of one function. The binder keeps a *model* of each kernel for that: what was bound last,
// and which sites may have the same.
//
// Life:
//  1. Initialised for a program, with a model for each of its kernel names.
//  2. Told which function is next, and asked for the binding of each of its kernels, in order:
//     first whether it shares its model's, then for one of its own.
//
// Thread rule: thread-compatible on the program. Failure rule: the first thing that is wrong.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_LOADER_KERNEL_BINDER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_LOADER_KERNEL_BINDER_H_

#include <stddef.h>
#include <string.h>

#include "host_runtime/executor/loader/schedule_builder.h"
#include "host_runtime/executor/program/program_impl.h"

// An argument of sites that share a binding.
typedef struct tfrt_kernel_model_argument_s {
  const char* type;  // what it must be known to be; NULL: anything
  uint8_t flags;     // of its register
} tfrt_kernel_model_argument_t;

// One kernel name of a program.
typedef struct tfrt_kernel_model_s {
  const char* name;
  tfrt_kernel_t kernel;  // all zero if nobody has registered it
  uint64_t cost;         // of each kernel to its stream (schedule_builder.h)
  // The last record whose counts were found to fit the op table, and what it does with its
  // arguments, unless the call says otherwise; NULL: none was met.
  const tfrt_bef_record_t* checked;
  const uint8_t* uses;
  // The binding that sites of |shared->owner| with the counts and functions of |shape| may share;
  // NULL: nothing yet.
  const tfrt_kernel_binding_t* shared;
  const tfrt_bef_record_t* shape;
  const tfrt_kernel_model_argument_t* arguments;  // then
  const char* const* result_types;                // then: what is known of the results, or NULL
} tfrt_kernel_model_t;

typedef struct tfrt_kernel_binder_s {
  tfrt_program_t* program;
  const tfrt_kernel_registry_t* registry;
  tfrt_kernel_model_t* models;  // by code
  bool checks_types;            // of all arguments and results
  tfrt_arena_t* scratch;        // lives as long as the binder
  // The function at hand.
  tfrt_bef_callable_t* callable;
  // Per register that is set before the kernel at hand: its type, if the op table proves it.
  const char** register_types;
} tfrt_kernel_binder_t;

// Makes |binder| one for the |count| kernels |names| of |program|, which |registry| may have, and
// of no function yet. Its own state lies in |scratch|. Errors: RESOURCE_EXHAUSTED.
// Thread-compatible.
tfrt_status_t tfrt_kernel_binder_initialize(tfrt_kernel_binder_t* binder, tfrt_program_t* program,
                                            const tfrt_kernel_registry_t* registry,
                                            const char* const* names, uint32_t count,
                                            tfrt_arena_t* scratch) TFRT_MUST_USE;

// Goes on with |callable|; |register_types| is room for what is known of its registers.
// Thread-compatible.
void tfrt_kernel_binder_enter(tfrt_kernel_binder_t* binder, tfrt_bef_callable_t* callable,
                              const char** register_types);

// Sets |*out_binding| to a new binding, in the program's arena, for the site of |record| with
// |options| (NULL: none), which doesn't share one, and notes how the site uses its registers.
// Errors: NOT_FOUND (unknown kernel), INVALID_ARGUMENT, RESOURCE_EXHAUSTED. Thread-compatible.
tfrt_status_t tfrt_kernel_binder_bind(tfrt_kernel_binder_t* binder, const tfrt_bef_record_t* record,
                                      const tfrt_bef_call_options_t* options,
                                      const tfrt_kernel_binding_t** out_binding) TFRT_MUST_USE;

// Whether |type|, which an argument must be known to be (NULL: it need not), is |known|, what is
// known of its register (NULL: nothing). Thread-safe.
TFRT_COLD bool tfrt_kernel_binder_type_is_proven(const char* type, const char* known);

// Whether |a| and |b|, of one kernel, have as many of everything. Thread-safe.
static inline bool tfrt_kernel_binder_has_counts_of(const tfrt_bef_record_t* a,
                                                    const tfrt_bef_record_t* b) {
  // The four counts end the header.
  const size_t first = offsetof(tfrt_bef_record_t, argument_count);
  return memcmp((const char*)a + first, (const char*)b + first, sizeof(*a) - first) == 0;
}

// Whether |a| and |b|, which have as many of everything, name the same functions. Thread-safe.
static inline bool tfrt_kernel_binder_has_functions_of(const tfrt_bef_record_t* a,
                                                       const tfrt_bef_record_t* b) {
  if (TFRT_LIKELY(a->function_count == 0)) return true;
  return memcmp(tfrt_bef_record_functions(a), tfrt_bef_record_functions(b),
                a->function_count * sizeof(uint32_t)) == 0;
}

// Returns true, and notes what the site of |record| does with its registers, if the site, which has
// no call options, may share what |model| has. Thread-compatible.
static inline bool tfrt_kernel_binder_share(tfrt_kernel_binder_t* binder,
                                            const tfrt_kernel_model_t* model,
                                            const tfrt_bef_record_t* record) {
  if (!model->shared || model->shared->owner != binder->callable) return false;
  if (!tfrt_kernel_binder_has_counts_of(record, model->shape)) return false;
  if (!tfrt_kernel_binder_has_functions_of(record, model->shape)) return false;
  const tfrt_kernel_model_argument_t* wanted = model->arguments;
  const uint32_t* argument = tfrt_bef_record_arguments(record);
  // A site that can share a binding has no attributes: functions and results follow.
  const uint32_t* const behind = argument + record->argument_count;
  const uint32_t* result = behind + record->function_count;
  const uint32_t* const end = result + record->result_count;
  const char** const types = binder->register_types;
  uint8_t* const flags = binder->callable->register_flags;
  for (; argument != behind; ++argument, ++wanted) {
    const char* known = types[*argument];
    // One type is mostly one string, since the linker keeps one of each.
    if (wanted->type && TFRT_UNLIKELY(known != wanted->type) &&
        !tfrt_kernel_binder_type_is_proven(wanted->type, known)) {
      return false;
    }
    // A site with as many arguments uses them so, whether it shares more or not.
    flags[*argument] |= wanted->flags;
  }
  const char* const* known = model->result_types;
  for (; result != end; ++result, ++known) types[*result] = *known;
  return true;
}

// The id of the type that the op table calls |type|; TFRT_TYPE_NONE for one that it
// leaves open; one that no value has for a type that is not registered. Thread-safe.
tfrt_type_id_t tfrt_kernel_binder_type_id(const char* type);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_LOADER_KERNEL_BINDER_H_
