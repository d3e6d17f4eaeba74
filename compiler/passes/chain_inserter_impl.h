// SPDX-License-Identifier: Apache-2.0
//
// The inside of the pass `insert-chains`, shared by its sources.
//
//   chain_inserter.c   walks functions, regions and calls
//   chain_ports.c      knows the chains that functions and regions take and give
//   chain_state.c      keeps the last accesses of each place
//   chain_reduction.c  leaves out the waits that others imply
//   chain_maker.c      makes the new ops
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: |failed| is set, after a report unless memory is out.
#ifndef TFRT_COMPILER_PASSES_CHAIN_INSERTER_IMPL_H_
#define TFRT_COMPILER_PASSES_CHAIN_INSERTER_IMPL_H_

#include "compiler/analysis/effect_analysis.h"
#include "compiler/passes/chain_inserter.h"
#include "host_runtime/base/arena.h"

// Something that an op may have to wait for: a chain, or an op that is done.
typedef struct tfrt_event_s tfrt_event_t;
struct tfrt_event_s {
  tfrt_event_t* next;
  tfrt_ir_value_t* chain;  // NULL: made when somebody waits
  // A chain that is there when this one is, as the last write's when that of the reads is; NULL:
  // none.
  tfrt_ir_value_t* covered;
  tfrt_ir_operation_t* op;  // NULL: none, the chain is an argument
  bool by_hand;             // all chains of the op were written
};

// The last accesses of a place.
typedef struct tfrt_chain_state_s {
  tfrt_place_t place;
  uint32_t outer;  // what the slot of the place was before
  tfrt_event_t* writes;
  tfrt_event_t* reads;  // since the last write
} tfrt_chain_state_t;

// Facts about an op; its scratch word is the index.
typedef struct tfrt_chain_op_s {
  tfrt_ir_value_t* done;  // the chain that is there when the op is done; NULL: not made yet
  tfrt_ir_operation_t* completes;   // of a merge of all results of one op: that op
  tfrt_ir_operation_t* last_merge;  // of those put in behind this op, the last one
  uint32_t candidate;               // the search that asks about the op
  uint32_t index;                   // among the candidates of that
  uint32_t visited;                 // the search that was here
  uint32_t first_out;               // the first result that is a chain of a port
  uint32_t links;                   // what the first of these implies, among |links|
} tfrt_chain_op_t;

// The operands of an op that a chain of one of its ports implies.
typedef struct tfrt_chain_link_s {
  uint32_t first;
  uint32_t count;
} tfrt_chain_link_t;

typedef struct tfrt_chain_candidate_s {
  const tfrt_event_t* event;
  bool implied;
} tfrt_chain_candidate_t;

// The chains of one place that a function or a region takes and gives.
typedef struct tfrt_port_use_s {
  tfrt_place_t place;
  uint32_t bits;
  uint32_t in_count;   // 2: one for the last write, one for the reads since then
  uint32_t out_count;  // likewise
} tfrt_port_use_t;

typedef struct tfrt_port_uses_s {
  tfrt_port_use_t* uses;
  uint32_t count;
  uint32_t in_count;  // of all
  uint32_t out_count;
} tfrt_port_uses_t;

typedef struct tfrt_chain_inserter_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  tfrt_effect_analysis_t analysis;
  tfrt_arena_t arena;
  const tfrt_kernel_descriptor_t* new_chain;
  const tfrt_kernel_descriptor_t* merge_chains;
  const tfrt_kernel_descriptor_t* alias_value;
  const tfrt_ir_type_t* chain_type;
  tfrt_scratch_t states;      // tfrt_chain_state_t, of the blocks around the current one, and of it
  tfrt_scratch_t slots;       // uint32_t for each place: where its state is
  tfrt_scratch_t ops;         // tfrt_chain_op_t
  tfrt_scratch_t links;       // tfrt_chain_link_t
  tfrt_scratch_t candidates;  // tfrt_chain_candidate_t
  tfrt_scratch_t way;         // the steps of a search, which chain_reduction.c knows
  tfrt_scratch_t values;      // tfrt_ir_value_t*
  tfrt_scratch_t types;       // const tfrt_ir_type_t*
  // The block that is walked.
  const tfrt_effect_function_t* function;
  tfrt_ir_block_t* block;
  tfrt_ir_value_t* ready;  // a chain that is there from the beginning; NULL: none yet
  uint32_t first_state;
  uint32_t search;
  uint64_t budget;  // steps of searches that are left
  bool failed;
  tfrt_chain_statistics_t statistics;
} tfrt_chain_inserter_t;

// --- chain_state.c -------------------------------------------------------------------------

// The state of |place| in the current block. It moves when another one is asked for.
tfrt_chain_state_t* tfrt_chain_state(tfrt_chain_inserter_t* inserter, tfrt_place_t place);
// Begins the states of an inner block, and returns what the end of them wants.
uint32_t tfrt_chain_begin_states(tfrt_chain_inserter_t* inserter);
void tfrt_chain_end_states(tfrt_chain_inserter_t* inserter, uint32_t outer);
// Whether accesses of |place| are ordered by this pass.
bool tfrt_chain_matters(const tfrt_chain_inserter_t* inserter, tfrt_place_t place);
// Adds an event to |*list|.
void tfrt_chain_add_event(tfrt_chain_inserter_t* inserter, tfrt_event_t** list,
                          tfrt_ir_value_t* chain, tfrt_ir_operation_t* op, bool by_hand);

// --- chain_ports.c ---------------------------------------------------------------------------

// The ports of |function|: places in it, or where |call| calls it if that isn't NULL.
tfrt_port_uses_t tfrt_chain_ports_of_function(tfrt_chain_inserter_t* inserter,
                                              const tfrt_effect_function_t* function,
                                              const tfrt_ir_operation_t* call);
// The ports of the regions of |op|.
tfrt_port_uses_t tfrt_chain_ports_of_regions(tfrt_chain_inserter_t* inserter,
                                             const tfrt_ir_operation_t* op);
// Adds an argument for each chain of |uses| to |block|, with which the states of its places begin.
void tfrt_chain_enter_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                            const tfrt_port_uses_t* uses);
// The chains that |uses| take at |position|, |in_count| of them, in the pass's arena; NULL when
// memory is out.
tfrt_ir_value_t** tfrt_chain_into_ports(tfrt_chain_inserter_t* inserter,
                                        const tfrt_port_uses_t* uses,
                                        tfrt_ir_operation_t* position);
// Lets the return of |block| give the chains of |uses|, before |before| of its operands.
void tfrt_chain_leave_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_block_t* block,
                            const tfrt_port_uses_t* uses, uint32_t before);
// Notes what each chain that |op| gives implies, and what happened last at the places of |uses|.
void tfrt_chain_note_ports(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                           const tfrt_port_uses_t* uses, bool is_loop);

// --- chain_reduction.c ---------------------------------------------------------------------

// The size of a step of a search.
extern const size_t tfrt_chain_step_size;
// The facts about |op|.
tfrt_chain_op_t* tfrt_chain_op(const tfrt_chain_inserter_t* inserter,
                               const tfrt_ir_operation_t* op);
void tfrt_chain_note_op(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op);
// Begins to gather what is waited for.
void tfrt_chain_begin_candidates(tfrt_chain_inserter_t* inserter);
// Adds the events of |list|, without those written by hand if |is_by_hand|.
void tfrt_chain_add_candidates(tfrt_chain_inserter_t* inserter, const tfrt_event_t* list,
                               bool is_by_hand);
// Leaves out what the others, or the operands of |op| (NULL: none), imply.
void tfrt_chain_reduce(tfrt_chain_inserter_t* inserter, const tfrt_ir_operation_t* op);

// --- chain_maker.c ---------------------------------------------------------------------------

// One chain for all candidates that are left; NULL: there are none.
tfrt_ir_value_t* tfrt_chain_of_candidates(tfrt_chain_inserter_t* inserter);
// A chain that is ready from the beginning, known before |position|.
tfrt_ir_value_t* tfrt_chain_ready(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* position);
// A chain for both, known before |position|. |second| may be NULL.
tfrt_ir_value_t* tfrt_chain_merge(tfrt_chain_inserter_t* inserter, tfrt_ir_value_t* first,
                                  tfrt_ir_value_t* second, tfrt_ir_operation_t* position);
// |value|, there only after |chain|, known before |position|.
tfrt_ir_value_t* tfrt_chain_delay(tfrt_chain_inserter_t* inserter, tfrt_ir_value_t* chain,
                                  tfrt_ir_value_t* value, tfrt_ir_operation_t* position);
// Puts an op in the place of |op| that has its operands and |operand_count| more values, its
// results and |result_count| more chains. A terminator gets its operands before |before| others.
tfrt_ir_operation_t* tfrt_chain_extend(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                                       tfrt_ir_value_t* const* operands, uint32_t operand_count,
                                       uint32_t result_count, uint32_t before);
// Lets |op| wait for |chain| (NULL: nothing), and returns the op that takes its place, or itself.
tfrt_ir_operation_t* tfrt_chain_let_wait(tfrt_chain_inserter_t* inserter, tfrt_ir_operation_t* op,
                                         tfrt_ir_value_t* chain);
// Index of the chain among the operands of |op|, or UINT32_MAX; it may be missing.
uint32_t tfrt_chain_operand(const tfrt_ir_operation_t* op);
// Index of the chain among the results of |op|, or UINT32_MAX.
uint32_t tfrt_chain_result(const tfrt_ir_operation_t* op);

#endif  // TFRT_COMPILER_PASSES_CHAIN_INSERTER_IMPL_H_
