// SPDX-License-Identifier: Apache-2.0
//
// The inside of the verifier, shared by its sources.
//
//     verifier.c           modules, symbols, functions, blocks, order of values
//     block_verifier.c     regions of several blocks: how these end, and what they see
//     op_verifier.c        ops against their entry in the op table, and returns
//     language_verifier.c  ops of the language, by name
//     call_verifier.c      callees and call options
//     lent_arguments.c     what host calls lend
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: reports; when memory is out, |out_of_memory| is set.
#ifndef TFRT_COMPILER_VERIFIER_VERIFIER_IMPL_H_
#define TFRT_COMPILER_VERIFIER_VERIFIER_IMPL_H_

#include "compiler/analysis/dominance.h"
#include "compiler/verifier/verifier.h"

#define TFRT_VERIFIER_PAIR_COUNT 64

typedef struct tfrt_verifier_pair_s {
  const char* text;
  const tfrt_ir_type_t* type;
} tfrt_verifier_pair_t;

// An op of a table that was found good: one that is like it in all that the table speaks of is good
// too. Only ops without regions that may stand anywhere and name no function are remembered.
#define TFRT_VERIFIER_SHAPE_COUNT 64
#define TFRT_VERIFIER_SHAPE_TYPES 6
#define TFRT_VERIFIER_SHAPE_ATTRIBUTES 2

typedef struct tfrt_verifier_shape_s {
  const tfrt_kernel_descriptor_t* descriptor;  // NULL: none yet
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t attribute_count;
  const tfrt_ir_type_t* types[TFRT_VERIFIER_SHAPE_TYPES];  // of operands, then of results
  tfrt_ir_named_attribute_t attributes[TFRT_VERIFIER_SHAPE_ATTRIBUTES];
} tfrt_verifier_shape_t;

// The rules for ops of the language of one descriptor (language_verifier.c).
#define TFRT_VERIFIER_RULES_COUNT 64

typedef void (*tfrt_verifier_rule_fn_t)(struct tfrt_verifier_s* verifier,
                                        const tfrt_ir_operation_t* operation);

typedef struct tfrt_verifier_rules_s {
  const tfrt_kernel_descriptor_t* descriptor;  // NULL: none yet
  tfrt_verifier_rule_fn_t of_family;           // NULL: none
  tfrt_verifier_rule_fn_t of_name;             // likewise
} tfrt_verifier_rules_t;

// A region of several blocks that is being checked, and those around it.
typedef struct tfrt_verifier_region_s {
  const struct tfrt_verifier_region_s* outer;
  tfrt_dominance_t dominance;
} tfrt_verifier_region_t;

struct tfrt_verifier_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  const tfrt_ir_symbol_table_t* symbols;  // of the outermost module
  const tfrt_ir_symbol_table_t* nearest;  // of the module that is checked
  // Pairs of a table's text and a type that fitted, one for each hash of their addresses.
  tfrt_verifier_pair_t fitting[TFRT_VERIFIER_PAIR_COUNT];
  // One for each hash of a table entry's address.
  tfrt_verifier_shape_t good[TFRT_VERIFIER_SHAPE_COUNT];
  tfrt_verifier_rules_t rules[TFRT_VERIFIER_RULES_COUNT];  // likewise
  const tfrt_verifier_region_t* regions;                   // the innermost one of several blocks
  bool has_host_calls;                                     // among the ops that were checked
  bool out_of_memory;
};

// Reports an error, or a note, at |operation|: as it stands, or behind "'name' op ".
void tfrt_verifier_report(tfrt_verifier_t* verifier, tfrt_severity_t severity,
                          const tfrt_ir_operation_t* operation, const char* format, ...)
    TFRT_PRINTF(4, 5);
void tfrt_verifier_op_error(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                            const char* format, ...) TFRT_PRINTF(3, 4);

// Reports operands of |operation| that are defined behind their use, or nowhere that it sees.
void tfrt_verifier_check_order(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation);

// Checks how each block of |region| ends and what it hands to its successors.
void tfrt_verifier_check_blocks(tfrt_verifier_t* verifier, const tfrt_ir_region_t* region);

// True if |operation| is like one that was found good, and no check but that of the order of its
// operands is left.
bool tfrt_verifier_is_like_good(const tfrt_verifier_t* verifier,
                                const tfrt_ir_operation_t* operation);

// Checks |operation| against its entry, if it has one, the functions that it names, and its call
// options.
void tfrt_verifier_check_op(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation);

// Checks the functions that |operation| names, and its call options.
void tfrt_verifier_check_callees(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation);

// Checks what the entry of |operation|, an op of the language, doesn't say.
void tfrt_verifier_check_language(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation);

// True if |operation| may run its callee on another host.
bool tfrt_verifier_is_host_call(const tfrt_ir_operation_t* operation);

// The function that |symbol| names, or NULL.
tfrt_ir_operation_t* tfrt_verifier_find_function(const tfrt_verifier_t* verifier,
                                                 const tfrt_ir_attribute_t* symbol);

// Which parameter of a callee with |parameter_count| of them gets the variadic operand
// |index| of |operation|; UINT32_MAX: none. Functions that get more parameters than there
// are operands (a range of a parallel call) get these first.
uint32_t tfrt_verifier_parameter_of(const tfrt_ir_operation_t* operation, uint32_t index,
                                    uint32_t parameter_count);

// Checks the arguments that the host calls of |module| lend; there is at least one such call.
void tfrt_verifier_check_lent_arguments(tfrt_verifier_t* verifier, tfrt_ir_operation_t* module);

#endif  // TFRT_COMPILER_VERIFIER_VERIFIER_IMPL_H_
