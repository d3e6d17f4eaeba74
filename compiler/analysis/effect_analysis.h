// SPDX-License-Identifier: Apache-2.0
//
// Effect analysis: it finds the memory and the outside things that each op reads and writes, and
// sums them up for each function. The pass `insert-chains` makes chains from these facts.
//
// A *place* is what accesses are compared by. There are a few outside of the program (output,
// files, messages, state), and one for each class of values of a function that may share memory:
//
//   %t = create            place of %t
//   %v = reshape %t        the same: `shares` in the op table
//   %r = call @f(%t)       the same if @f may return (a view of) its parameter
//   %u = create            another place: accesses of %u and %t never wait for each other
//
// A function (and a region) is summed up by three bits per place: whether it may read the place
// before it writes to it, whether it may write to it, and whether it may read it after its last
// write. Those places that parameters and results lead to, and those outside, are its *ports*;
// functions that one op may choose from have the same ports. With recursion, bits are added until
// none is new.
//
// Life:
//  1. Initialised from a module.
//  2. Asked, also while chains are put in: new ops and values are added to it.
//  3. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises). The scratch words of values and of
// functions are the analysis' as long as it lives.
// Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_H_
#define TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_H_

#include "compiler/ir/ir.h"
#include "compiler/ir/scratch.h"

// Names of files with places of their own, at most: others share these.
#define TFRT_PLACE_MAX_FILES 16

// Places outside of the program; those of classes of values follow. An op whose file has a name
// that the text says accesses that file alone, any other all files.
enum {
  TFRT_PLACE_OUTPUT = 0,
  TFRT_PLACE_FILES,  // those that nobody names
  TFRT_PLACE_MESSAGES,
  TFRT_PLACE_STATE,
  TFRT_PLACE_FIRST_FILE,
  TFRT_PLACE_OUTSIDE_COUNT = TFRT_PLACE_FIRST_FILE + TFRT_PLACE_MAX_FILES,
};
typedef uint32_t tfrt_place_t;
#define TFRT_PLACE_NONE UINT32_MAX

// The accesses of a place, as bits.
enum {
  TFRT_ACCESS_READS_FIRST = 1u << 0,
  TFRT_ACCESS_WRITES = 1u << 1,
  TFRT_ACCESS_READS_LAST = 1u << 2,
};
#define TFRT_ACCESS_READ (TFRT_ACCESS_READS_FIRST | TFRT_ACCESS_READS_LAST)

typedef struct tfrt_access_s {
  tfrt_place_t place;
  uint32_t bits;
} tfrt_access_t;

// How an op takes part.
typedef enum tfrt_effect_role_e {
  // It does what its entry says, and what the functions and regions do that it runs.
  TFRT_EFFECT_ROLE_PLAIN = 0,
  // It runs functions that can be given chains of their own.
  TFRT_EFFECT_ROLE_CALL,
  // It runs regions that can be given chains of their own.
  TFRT_EFFECT_ROLE_REGIONS,
} tfrt_effect_role_t;

typedef enum tfrt_port_position_e {
  TFRT_PORT_OUTSIDE = 0,  // the index is a place
  TFRT_PORT_PARAMETER,    // the place of that parameter
  TFRT_PORT_RESULT,       // the place of that result
} tfrt_port_position_t;

typedef struct tfrt_port_s {
  tfrt_port_position_t position;
  uint32_t index;
  uint32_t bits;
  bool is_live;  // somebody writes to the place, so that order matters
} tfrt_port_t;

// How a function is used.
typedef enum tfrt_effect_use_e {
  TFRT_EFFECT_USE_NONE = 0,
  TFRT_EFFECT_USE_CALLED,  // an op names it
  TFRT_EFFECT_USE_BLOCK,   // likewise, as one of several blocks (tfrt_effect_runs_blocks())
} tfrt_effect_use_t;

// The chains that a function lacks.
typedef enum tfrt_effect_lack_e {
  TFRT_EFFECT_LACKS_NOTHING = 0,
  TFRT_EFFECT_LACKS_INSIDE,  // some of an op that may need one, or in a function that it runs
  TFRT_EFFECT_LACKS_CHAINS,  // some that the entry of an op lists
} tfrt_effect_lack_t;

typedef struct tfrt_effect_function_s {
  tfrt_ir_operation_t* op;
  tfrt_ir_block_t* block;  // NULL: native
  tfrt_effect_use_t use;
  tfrt_effect_lack_t lack;
  bool is_sync;
  bool has_ports;        // it is called, and only by ops that can hand chains on
  bool is_in_loop;       // an op that runs it again and again hands on what it gave
  bool is_by_hand;       // its chains were written, and it gets no others
  uint32_t group;        // another function with the same ports, or itself
  tfrt_scratch_t ports;  // tfrt_port_t, of the group's first function
} tfrt_effect_function_t;

typedef struct tfrt_effect_analysis_s {
  tfrt_allocator_t allocator;
  tfrt_ir_operation_t* module;
  const tfrt_ir_symbol_table_t* symbols;
  tfrt_scratch_t classes;    // uint32_t for each value: another of its class, or itself
  tfrt_scratch_t functions;  // tfrt_effect_function_t
  tfrt_scratch_t entries;    // the open lists of accesses, see effect_lists.h
  tfrt_scratch_t slots;      // where a place stands in the innermost of these
  tfrt_scratch_t found;      // tfrt_access_t, of one op
  tfrt_scratch_t first;      // for each class, the first value of a call that is of it
  tfrt_scratch_t live;       // bool for each place: somebody writes to it
  uint32_t list;             // number of the innermost open list
  uint32_t stamp;
  uint32_t outside;                                // bit for each place outside that an entry names
  tfrt_string_view_t files[TFRT_PLACE_MAX_FILES];  // the name of each; empty: none yet
  bool only_memory;  // functions and regions that take or give chains are left as they are
  bool changed;
  bool lacks;  // of the function that is looked at: a function that it runs lacks chains
  bool failed;
} tfrt_effect_analysis_t;

// Returns true if values of |type| may be in memory that others share. Thread-safe.
bool tfrt_effect_has_memory(const tfrt_ir_type_t* type);

// Analyses |module|, which is checked. With |only_memory|, functions and regions that take or give
// chains are taken for done by hand. After a failure there is nothing to deinitialise.
// Thread-compatible (caller synchronises).
bool tfrt_effect_analysis_initialize(tfrt_effect_analysis_t* analysis, tfrt_ir_context_t* context,
                                     tfrt_ir_operation_t* module, bool only_memory);
void tfrt_effect_analysis_deinitialize(tfrt_effect_analysis_t* analysis);

// The number of functions, and the one with |index|. Thread-compatible (caller synchronises).
static inline uint32_t tfrt_effect_analysis_count(const tfrt_effect_analysis_t* analysis) {
  return (uint32_t)analysis->functions.count;
}
static inline tfrt_effect_function_t* tfrt_effect_analysis_function(
    const tfrt_effect_analysis_t* analysis, uint32_t index) {
  return tfrt_scratch_at(&analysis->functions, index);
}

// The role of |op|. Thread-compatible (caller synchronises).
tfrt_effect_role_t tfrt_effect_role(const tfrt_effect_analysis_t* analysis,
                                    const tfrt_ir_operation_t* op);

// Returns true if |op| takes or gives a chain. Thread-compatible (caller synchronises).
bool tfrt_effect_has_chain(const tfrt_ir_operation_t* op);

// Returns true if what |op| gives is what it takes the next time: its chains go round.
// Thread-compatible (caller synchronises).
bool tfrt_effect_is_loop(const tfrt_ir_operation_t* op);

// The first function that |op| names, if its role is that of a call; else NULL.
// Thread-compatible (caller synchronises).
tfrt_effect_function_t* tfrt_effect_callee(const tfrt_effect_analysis_t* analysis,
                                           const tfrt_ir_operation_t* op);

// The ports of |function|. Thread-compatible (caller synchronises).
const tfrt_scratch_t* tfrt_effect_ports(const tfrt_effect_analysis_t* analysis,
                                        const tfrt_effect_function_t* function);

// The place of |value|, or TFRT_PLACE_NONE if it can have none. Thread-compatible (caller
// synchronises).
tfrt_place_t tfrt_effect_place(tfrt_effect_analysis_t* analysis, const tfrt_ir_value_t* value);

// The place that |port| stands for in |function|, and where |op|, a call, is. Thread-compatible
// (caller synchronises).
tfrt_place_t tfrt_effect_port_place(tfrt_effect_analysis_t* analysis,
                                    const tfrt_effect_function_t* function,
                                    const tfrt_port_t* port);
tfrt_place_t tfrt_effect_port_place_at(tfrt_effect_analysis_t* analysis,
                                       const tfrt_ir_operation_t* op, const tfrt_port_t* port);
// The same for a port of |callee|, one of those that |op| names, which may be blocks of a function.
// Thread-compatible (caller synchronises).
tfrt_place_t tfrt_effect_port_place_of(tfrt_effect_analysis_t* analysis,
                                       const tfrt_ir_operation_t* op,
                                       const tfrt_effect_function_t* callee,
                                       const tfrt_port_t* port);

// The place of the file that |op|, which reads or writes one, names; TFRT_PLACE_FILES if that isn't
// known. The attribute `path` gives the name, or a constant operand `path`.
// Thread-compatible (caller synchronises).
tfrt_place_t tfrt_effect_file(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op);

// Returns true if somebody writes to |place|. Thread-compatible (caller synchronises).
bool tfrt_effect_is_live(const tfrt_effect_analysis_t* analysis, tfrt_place_t place);

// The functions that |op| names, one after the other: that with |index|, or NULL if it names no
// more. Thread-compatible (caller synchronises).
tfrt_effect_function_t* tfrt_effect_named_function(const tfrt_effect_analysis_t* analysis,
                                                   const tfrt_ir_operation_t* op, uint32_t index);

// The parameter of the functions that |op| names which operand |operand| becomes, or UINT32_MAX.
// Thread-compatible (caller synchronises).
uint32_t tfrt_effect_parameter_of(const tfrt_ir_operation_t* op, uint32_t operand);

// Returns true if the functions that |op| names are the blocks of one function: `edges` says what
// each gives to the next. Their values are of the classes of those of |op|. Thread-safe.
bool tfrt_effect_runs_blocks(const tfrt_ir_operation_t* op);

// Returns true if |op| runs its function as a task, once a chain is there. Thread-safe.
bool tfrt_effect_is_task(const tfrt_ir_operation_t* op);

// Returns true if |op| reads memory, takes no chain, and can be given one. Thread-safe.
bool tfrt_effect_may_need_chain(const tfrt_ir_operation_t* op);

// Returns true if block |index| of |op| is one that the function ends in. Thread-safe.
bool tfrt_effect_block_returns(const tfrt_ir_operation_t* op, uint32_t index);

// Returns true if |op| hands any number of values to functions or regions, and its results are what
// these give. Thread-compatible (caller synchronises).
bool tfrt_effect_hands_on(const tfrt_ir_operation_t* op);

// Sets |out_port| to what parameters, results or the outside make of |place| in |function|; false
// if they don't lead there. The bits are not set. Thread-compatible (caller synchronises).
bool tfrt_effect_find_port(tfrt_effect_analysis_t* analysis, const tfrt_effect_function_t* function,
                           tfrt_place_t place, tfrt_port_t* out_port);

// The accesses of |op| without those of the functions and regions that it runs: in
// |analysis->found|, each place once. Thread-compatible (caller synchronises).
bool tfrt_effect_own_accesses(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op);

// The accesses of |op|, whatever its role: in |analysis->found|, each place once. Thread-compatible
// (caller synchronises).
bool tfrt_effect_accesses(tfrt_effect_analysis_t* analysis, const tfrt_ir_operation_t* op);

#endif  // TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_H_
