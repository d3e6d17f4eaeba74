// SPDX-License-Identifier: Apache-2.0
//
// References to the tokens, values and groups of asynchronous programs: which ops need one, add
// one, give one back or hand one over, and in which order control comes to these. The passes that
// place reference counts, and check them, read programs through this.
//
//   %t = async.execute {...}          each result and each argument arrives with one reference
//   async.await %t                    a need: a reference must be there
//   func.call @f(%t)                  a handover: a call, a return and the end of a region take one
//   cf.br ^bb1(%t)                    a handover to the argument of a block
//   async.execute { uses %t }         a handover to the region, where %t arrives with one
//   scf.if %c { uses %t }             a need: the region only borrows
//
// A scope is a region, for one value: the one where it is defined, one of a task that captures it,
// or one that borrows it. The events of a value fall into scopes.
//
// Life: initialised from a module, whose blocks' and ops' scratch words it uses while it lives;
// asked; deinitialised. It doesn't follow later changes, but ops may be put into blocks.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_ANALYSIS_ASYNC_REFERENCES_H_
#define TFRT_COMPILER_ANALYSIS_ASYNC_REFERENCES_H_

#include "compiler/ir/ir.h"
#include "compiler/ir/scratch.h"
#include "host_runtime/base/arena.h"

typedef enum tfrt_async_event_kind_e {
  TFRT_ASYNC_EVENT_NEED = 0,  // a reference must be there
  TFRT_ASYNC_EVENT_HANDOVER,  // one is taken
  TFRT_ASYNC_EVENT_EDGE,      // one is taken by an argument of the successor |successor|
  TFRT_ASYNC_EVENT_ADD,       // |amount| are added
  TFRT_ASYNC_EVENT_DROP,      // |amount| are given back
  // The value is made available, or an error. The settler has a reference of its own, which the
  // counts don't show.
  TFRT_ASYNC_EVENT_SETTLE,
} tfrt_async_event_kind_t;

typedef struct tfrt_async_event_s {
  tfrt_async_event_kind_t kind;
  uint32_t block;  // number
  uint32_t place;  // of the op in its block, from 1 on
  uint32_t operand;
  uint32_t successor;
  int64_t amount;
  tfrt_ir_operation_t* op;
} tfrt_async_event_t;

// A way from a block to a successor.
typedef struct tfrt_async_edge_s {
  uint32_t from;
  uint32_t to;
  uint32_t successor;  // which one of the terminator's
  uint32_t first;      // the operands that become arguments
  uint32_t count;
  // The way back to the caller, or to the end, of a coroutine that is suspended: the frame keeps
  // what it holds. Control also goes on with the successor that resumes.
  bool is_suspension;
  // The way on when a coroutine is destroyed while it is suspended, which never happens.
  bool is_never_taken;
} tfrt_async_edge_t;

typedef struct tfrt_async_flow_block_s {
  tfrt_ir_block_t* block;
  tfrt_ir_operation_t* terminator;  // NULL: none
  uint32_t first_edge;
  uint32_t edge_count;
  uint32_t first_predecessor;  // in |predecessors|
  uint32_t predecessor_count;
  bool is_reachable;
} tfrt_async_flow_block_t;

typedef struct tfrt_async_flow_s {
  tfrt_arena_t arena;
  tfrt_async_flow_block_t* blocks;  // of all regions; those of one region stand together
  uint32_t block_count;
  tfrt_async_edge_t* edges;
  uint32_t edge_count;
  uint32_t* predecessors;  // numbers of edges from blocks that can be reached
  uint32_t serial;         // of the value whose events were listed last
} tfrt_async_flow_t;

typedef enum tfrt_async_scope_kind_e {
  TFRT_ASYNC_SCOPE_DEFINED = 0,  // one reference arrives where the value is defined
  TFRT_ASYNC_SCOPE_CAPTURED,     // one arrives at the entry of the task's region
  TFRT_ASYNC_SCOPE_BORROWED,     // the region has the reference of somebody else, and leaves it
} tfrt_async_scope_kind_t;

// The events of a value in one region.
typedef struct tfrt_async_scope_s {
  tfrt_async_scope_kind_t kind;
  tfrt_ir_region_t* region;
  uint32_t home;                     // the block where the references arrive
  const tfrt_async_event_t* events;  // by block and place
  uint32_t event_count;
} tfrt_async_scope_t;

// Makes |flow| that of all functions in |module|. Thread-compatible (caller synchronises).
bool tfrt_async_flow_initialize(tfrt_async_flow_t* flow, tfrt_ir_operation_t* module,
                                tfrt_allocator_t allocator);
void tfrt_async_flow_deinitialize(tfrt_async_flow_t* flow);

// True if values of |type| are counted: tokens, asynchronous values, groups. Thread-safe.
bool tfrt_async_is_counted(const tfrt_ir_type_t* type);

// True if |operation| is `async.runtime.add_ref`, or `async.runtime.drop_ref`. Thread-safe.
bool tfrt_async_is_add_ref(const tfrt_ir_operation_t* operation);
bool tfrt_async_is_drop_ref(const tfrt_ir_operation_t* operation);

// True if the regions of |operation| run as tasks, and so keep references of their own.
// Thread-safe.
bool tfrt_async_is_task(const tfrt_ir_operation_t* operation);

// The event of operand |index| of |operation|, which is of a counted type. Thread-safe.
tfrt_async_event_kind_t tfrt_async_operand_event(const tfrt_ir_operation_t* operation,
                                                 uint32_t index);

// Lists the events of |value| in |events|, of tfrt_async_event_t, scope after scope; those of
// blocks that can't be reached are left out. Thread-compatible (caller synchronises).
bool tfrt_async_flow_list_events(tfrt_async_flow_t* flow, const tfrt_ir_value_t* value,
                                 tfrt_scratch_t* events);

// Moves |scope|, zero at first, to the next scope of |value|, whose events are in |events|; false
// behind the last one. The first one is where the value is defined. Thread-safe.
bool tfrt_async_flow_next_scope(const tfrt_async_flow_t* flow, const tfrt_ir_value_t* value,
                                const tfrt_scratch_t* events, tfrt_async_scope_t* scope);

// Called for each counted value that is defined in a block that can be reached, in order; returns
// false to end it.
typedef bool (*tfrt_async_value_fn_t)(const tfrt_ir_value_t* value, void* user_data);

// Calls |visit| for each of the values of |flow|; false if a visit was. |visit| may put ops into
// blocks. Thread-compatible (caller synchronises).
bool tfrt_async_flow_each_value(const tfrt_async_flow_t* flow, tfrt_async_value_fn_t visit,
                                void* user_data);

#endif  // TFRT_COMPILER_ANALYSIS_ASYNC_REFERENCES_H_
