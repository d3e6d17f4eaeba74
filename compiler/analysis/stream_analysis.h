// SPDX-License-Identifier: Apache-2.0
//
// Cuts a block into streams: sequences of ops that one thread runs one after the other,
// and between which an executor may switch threads. The streams are those that TFRT's
// translator finds, number for number, so that files are the same.
//
//   root ---- const ---- add --- return       stream 0
//     \------ const ---- call                 stream 1, parent op: root
//
// How they are found:
//  1. Forward: the op that triggers an op is the producer of that operand whose path from
//     the root costs most (the first of equals). That makes the graph a tree. An op
//     without operands hangs from the root, and its path begins with itself.
//  2. Backward: an op without children opens a stream. Otherwise the streams of its
//     children that are cheap are put together, neighbour by neighbour, and the op joins
//     the one that holds the return, or else the most expensive one.
//     With `tfrt.merge_inter_dependent_streams = true` (of the function or the module), those
//     that take values, not chains, from each other are put together before that.
//
// The threshold is `tfrt.cost_threshold` of the function, or else of the module. If it is above 0,
// a stream is cheap when it costs less, and streams are put together until they reach it. Without a
// threshold, as usual, a stream is cheap when it costs less than the rest of the critical path
// behind the op, and streams are put together as long as their sum does.
//
// The cost of an op is its `_tfrt_cost`; else 1, or with a threshold above 1 the threshold itself,
// but for returns and `tfrt.merge.chains`. The op table may say that a kernel costs more than to
// wake a thread: the cost is then that of as many usual kernels.
//
// Life: initialised from a block; read; deinitialised. It doesn't follow later changes.
//
// Thread rule: thread-compatible (caller synchronises); uses the ops' scratch words.
// Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_ANALYSIS_STREAM_ANALYSIS_H_
#define TFRT_COMPILER_ANALYSIS_STREAM_ANALYSIS_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"

// Costs of the op table (kernel_descriptor.h): of a usual kernel, and what it takes to wake a
// thread, some ten microseconds, as the executor's TFRT_SCHEDULE_CHEAP_STREAM.
#define TFRT_STREAM_USUAL_COST 10
#define TFRT_STREAM_HEAVY_COST 1000

// A cost that a loader should know of an op that the op table calls cheap: else it doesn't see that
// a stream is worth a thread.
#define TFRT_STREAM_NOTED_COST 100

// The parent of the root's stream.
#define TFRT_STREAM_NONE UINT32_MAX

// One stream, as found by tfrt_stream_analysis_stream().
typedef struct tfrt_stream_s {
  uint32_t id;
  int64_t cost;        // of its ops
  uint32_t parent_id;  // the stream of |parent_op|; TFRT_STREAM_NONE for the root's
  const tfrt_ir_operation_t* parent_op;  // what triggers its first op; NULL: the root
} tfrt_stream_t;

typedef struct tfrt_stream_analysis_s {
  tfrt_arena_t arena;
  uint32_t op_count;             // with the terminator
  size_t operand_count;          // of all ops,
  size_t result_count;           // and likewise
  struct tfrt_stream_op_s* ops;  // in order; the root is one more, behind them
  uint32_t leaf_count;           // of ops, and the root, that trigger nothing
  struct tfrt_stream_build_s* streams;
  uint32_t stream_count;             // with those that were put together; one begins at each leaf
  struct tfrt_stream_link_s* links;  // NULL: those between streams don't count
  uint32_t link_count;
  int64_t threshold;  // 0: automatic
  bool uses_table;    // what the op table says of costs counts
  int64_t critical_path;
} tfrt_stream_analysis_t;

// Analyses |block|, whose ops only use values of this block, and numbers its ops from 0, in order,
// in their scratch words. With |uses_table| the costs of the op table count, which TFRT doesn't
// know. Thread-compatible.
tfrt_status_t tfrt_stream_analysis_initialize(tfrt_stream_analysis_t* analysis,
                                              const tfrt_ir_block_t* block, bool uses_table,
                                              tfrt_allocator_t allocator) TFRT_MUST_USE;

// Gives back the memory of |analysis|. Thread-compatible.
void tfrt_stream_analysis_deinitialize(tfrt_stream_analysis_t* analysis);

// The stream id of op |index| of the block (in order, from 0), and of the root, that is of the
// call itself. Thread-compatible.
uint32_t tfrt_stream_analysis_op_stream(const tfrt_stream_analysis_t* analysis, uint32_t index);
uint32_t tfrt_stream_analysis_root_stream(const tfrt_stream_analysis_t* analysis);

// Sets |out_streams|, which has room for all ops, to the stream ids of the ops, in order.
// Thread-compatible.
void tfrt_stream_analysis_list_streams(const tfrt_stream_analysis_t* analysis,
                                       uint32_t* out_streams);

// All that is known of the stream with |id|, which an op or the root has. Thread-compatible.
tfrt_stream_t tfrt_stream_analysis_stream(const tfrt_stream_analysis_t* analysis, uint32_t id);

// The cost of |op|, in units of the op table, by its `_tfrt_cost`, if that is at least
// TFRT_STREAM_NOTED_COST and above what the table says, for a kernel that may run unseen on any
// thread; else 0. Thread-safe.
uint32_t tfrt_stream_unknown_cost(const tfrt_ir_operation_t* op);

#endif  // TFRT_COMPILER_ANALYSIS_STREAM_ANALYSIS_H_
