// SPDX-License-Identifier: Apache-2.0
//
// How long the ops of a program took in an earlier run, and the step that gives them these costs:
// each op without `_tfrt_cost` gets one, which the analysis of streams reads.
//
//   run --tool--> ops with their times --add--> profile --apply--> `_tfrt_cost` of ops
//
// An op has the time of the op of its name at its line and column; the folders of the file don't
// count. If the profile has none there, as for a text that was changed, the median of the ops of
// its name counts. Other ops stay as they are.
//
// Life: initialised; added to; applied to any number of modules, from the first on without a
// further addition; deinitialised.
//
// Thread rule: thread-compatible.
// Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_PASSES_COST_PROFILE_H_
#define TFRT_COMPILER_PASSES_COST_PROFILE_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"

// The time, in nanoseconds, that has the cost 1 in `_tfrt_cost`: that of a usual kernel.
#define TFRT_COST_PROFILE_UNIT_NS 100

// An op of a profile. Texts need only live for the call; the profile copies them.
typedef struct tfrt_cost_profile_op_s {
  tfrt_string_view_t kernel;
  tfrt_string_view_t file;  // "" with the line 0: no place
  uint32_t line;
  uint32_t column;
  uint64_t median_ns;
} tfrt_cost_profile_op_t;

typedef struct tfrt_cost_profile_s {
  tfrt_arena_t arena;
  tfrt_cost_profile_op_t* ops;  // with bare names of files
  size_t op_count;
  size_t op_capacity;
  bool is_ordered;  // by kernel, file, line and column
} tfrt_cost_profile_t;

// Makes |profile| an empty one. Thread-compatible.
void tfrt_cost_profile_initialize(tfrt_cost_profile_t* profile, tfrt_allocator_t allocator);

// Gives back the memory of |profile|. Thread-compatible.
void tfrt_cost_profile_deinitialize(tfrt_cost_profile_t* profile);

// Adds |op|. Thread-compatible.
tfrt_status_t tfrt_cost_profile_add(tfrt_cost_profile_t* profile, const tfrt_cost_profile_op_t* op)
    TFRT_MUST_USE;

// Gives the ops of |module|, made in |context|, their costs. Returns false when memory is out.
// Thread-compatible.
bool tfrt_cost_profile_apply(tfrt_cost_profile_t* profile, tfrt_ir_context_t* context,
                             tfrt_ir_operation_t* module);

#endif  // TFRT_COMPILER_PASSES_COST_PROFILE_H_
