// SPDX-License-Identifier: Apache-2.0
//
// Binds the kernels of functions that are resolved: finds the C function of each, checks the use
// of it against the op table, and makes addresses of what the file has as numbers. Private to
// this room.
//
//   record + op table entry --> binding: C function, attribute addresses, functions,
//                                        what it waits for, which types are left to check
//
// Most sites of a kernel in a function have nothing of their own, and share one binding. The
// binder keeps a *model* of each kernel for that: what was bound last, and which sites may have
// the same.
//
// Life:
//  1. Initialised for a program, with a model for each of its kernel names.
//  2. Told which function is next, and asked for the binding of each of its kernels, in order.
//
// Thread rule: thread-compatible on the program. Failure rule: the first thing that is wrong.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_BINDER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_BINDER_H_

#include "host_runtime/executor/program_impl.h"

// One kernel name of a program.
typedef struct tfrt_kernel_model_s {
  const char* name;
  tfrt_kernel_t kernel;  // all zero if nobody has registered it
  // The last record whose counts were found to fit the op table, and what it does with its
  // arguments, unless the call says otherwise; NULL: none was met.
  const tfrt_bef_record_t* checked;
  const uint8_t* uses;
  // What sites of |shared->owner| with the counts of |shape| may share; NULL: nothing yet.
  const tfrt_kernel_binding_t* shared;
  const tfrt_bef_record_t* shape;
  const char* const* types;  // then per argument: what it must be known to be, NULL: anything
} tfrt_kernel_model_t;

typedef struct tfrt_kernel_binder_s {
  tfrt_program_t* program;
  tfrt_kernel_model_t* models;  // by code
  bool checks_types;            // of all arguments and results
  tfrt_arena_t* scratch;        // lives as long as the binder
  // The function at hand.
  tfrt_bef_callable_t* callable;
  // Per register that is set before the kernel at hand: its type, if the op table proves it.
  const char** register_types;
} tfrt_kernel_binder_t;

// Makes |binder| one for the |count| kernels |names| of |program|, which |registry| may have, and
// of no function yet. What it needs itself lies in |scratch|. Errors: RESOURCE_EXHAUSTED.
// Thread-compatible.
tfrt_status_t tfrt_kernel_binder_initialize(tfrt_kernel_binder_t* binder, tfrt_program_t* program,
                                            const tfrt_kernel_registry_t* registry,
                                            const char* const* names, uint32_t count,
                                            tfrt_arena_t* scratch) TFRT_MUST_USE;

// Goes on with |callable|, whose registers get |register_types|, all NULL. Thread-compatible.
void tfrt_kernel_binder_enter(tfrt_kernel_binder_t* binder, tfrt_bef_callable_t* callable,
                              const char** register_types);

// tfrt_kernel_binder_bind() for a site that can't share what its model has. Thread-compatible.
tfrt_status_t tfrt_kernel_binder_bind_anew(tfrt_kernel_binder_t* binder,
                                           const tfrt_bef_record_t* record,
                                           const tfrt_bef_call_options_t* options,
                                           const tfrt_kernel_binding_t** out_binding) TFRT_MUST_USE;

// Whether |type|, which an argument must be known to be (NULL: it need not), is |known|, what is
// known of its register (NULL: nothing). Thread-safe.
bool tfrt_kernel_binder_type_is_proven(const char* type, const char* known);

// Whether |a| and |b|, of one kernel, have as many of everything. Thread-safe.
static inline bool tfrt_kernel_binder_has_counts_of(const tfrt_bef_record_t* a,
                                                    const tfrt_bef_record_t* b) {
  return a->argument_count == b->argument_count && a->result_count == b->result_count &&
         a->attribute_count == b->attribute_count && a->function_count == b->function_count;
}

// Whether the site of |record|, which has no call options, may share what |model| has.
// Thread-compatible.
static inline bool tfrt_kernel_binder_may_share(const tfrt_kernel_binder_t* binder,
                                                const tfrt_kernel_model_t* model,
                                                const tfrt_bef_record_t* record) {
  if (!model->shared || model->shared->owner != binder->callable) return false;
  if (!tfrt_kernel_binder_has_counts_of(record, model->shape)) return false;
  const uint32_t* arguments = tfrt_bef_record_arguments(record);
  for (uint32_t i = 0; i < record->argument_count; ++i) {
    const char* known = binder->register_types[arguments[i]];
    // One type is mostly one string, since the linker keeps one of each.
    if (TFRT_LIKELY(known == model->types[i])) continue;
    if (!tfrt_kernel_binder_type_is_proven(model->types[i], known)) return false;
  }
  return true;
}

// Sets |*out_binding| to what the kernel of |record|, of which |options| (NULL: nothing) are said,
// is bound to: in the program's arena. Errors: NOT_FOUND (unknown kernel), INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED. Thread-compatible.
static inline TFRT_MUST_USE tfrt_status_t tfrt_kernel_binder_bind(
    tfrt_kernel_binder_t* binder, const tfrt_bef_record_t* record,
    const tfrt_bef_call_options_t* options, const tfrt_kernel_binding_t** out_binding) {
  const tfrt_kernel_model_t* model = &binder->models[record->code];
  if (TFRT_LIKELY(!options && tfrt_kernel_binder_may_share(binder, model, record))) {
    *out_binding = model->shared;
    return NULL;
  }
  return tfrt_kernel_binder_bind_anew(binder, record, options, out_binding);
}

// The id of the type that the op table calls |type|; TFRT_TYPE_NONE for one that it
// leaves open; one that no value has for a type that is not registered. Thread-safe.
tfrt_type_id_t tfrt_kernel_binder_type_id(const char* type);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_BINDER_H_
