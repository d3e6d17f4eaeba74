// SPDX-License-Identifier: Apache-2.0
//
// A block: arguments and a list of ops; the last op may be a terminator. A region: a list of
// blocks; a region that goes to BEF has exactly one. Control enters a region of several blocks at
// the first one; a terminator names the block that comes next (its successors) and the arguments of
// that one.
//
//   op --regions[i]--> region --first_block--> block --first--> op --next--> op ...
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL or false when memory is out.
#ifndef TFRT_COMPILER_IR_BLOCK_H_
#define TFRT_COMPILER_IR_BLOCK_H_

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/value.h"

// The body of a function that is not in memory: the text has it, and it is parsed when it is needed
// (compiler/parser/piecewise_parser.h).
typedef struct tfrt_ir_unread_body_s {
  size_t offset;        // of the function, in the text
  size_t size;          // of its text
  uint32_t line;        // where that begins
  uint32_t column;      // likewise
  uint32_t depth;       // of what it is nested in
  size_t printed_size;  // of the text that the printer has made of the function
  const struct tfrt_ir_symbol_table_s* symbols;  // of the module around; set by the verifier
} tfrt_ir_unread_body_t;

struct tfrt_ir_region_s {
  tfrt_ir_operation_t* owner;
  tfrt_ir_block_t* first_block;  // NULL: empty, as in a declaration
  tfrt_ir_block_t* last_block;
  uint32_t index;                 // among the owner's regions
  tfrt_ir_unread_body_t* unread;  // instead of the blocks; NULL: none
};

struct tfrt_ir_block_s {
  tfrt_ir_region_t* region;
  tfrt_ir_block_t* next;
  tfrt_ir_operation_t* first;
  tfrt_ir_operation_t* last;
  uint32_t op_count;
  uint32_t scratch;  // for whichever pass runs now
  bool is_mixed;     // an op was inserted, so that their places don't ascend
  tfrt_ir_value_t** arguments;
  uint32_t argument_count;
  uint32_t argument_capacity;
  const tfrt_ir_string_t* label;  // `bb0` of `^bb0`; NULL: none
};

// Returns a new block at the end of |region|, or NULL.
// Thread-compatible (caller synchronises).
tfrt_ir_block_t* tfrt_ir_block_create(tfrt_ir_context_t* context, tfrt_ir_region_t* region);

// The same in two steps, for a block that is referred to before its place is known: returns a new
// block in no region, or NULL; puts |block| at the end of |region|. Thread-compatible (caller
// synchronises).
tfrt_ir_block_t* tfrt_ir_block_make(tfrt_ir_context_t* context);
void tfrt_ir_region_append_block(tfrt_ir_region_t* region, tfrt_ir_block_t* block);

// Puts |block|, which is in no region, right behind |position|, a block of a region.
// Thread-compatible (caller synchronises).
void tfrt_ir_block_insert_behind(tfrt_ir_block_t* position, tfrt_ir_block_t* block);

// Returns a new last argument of |block|, or NULL. |name| and |location| may be NULL.
// Thread-compatible (caller synchronises).
tfrt_ir_value_t* tfrt_ir_block_add_argument(tfrt_ir_context_t* context, tfrt_ir_block_t* block,
                                            const tfrt_ir_type_t* type,
                                            const tfrt_ir_string_t* name,
                                            const tfrt_ir_location_t* location);

// Makes |operation|, which is in no block, the last op of |block|, or puts it right
// before |position|, an op of a block. Thread-compatible (caller synchronises).
void tfrt_ir_block_append(tfrt_ir_block_t* block, tfrt_ir_operation_t* operation);
void tfrt_ir_block_insert_before(tfrt_ir_operation_t* position, tfrt_ir_operation_t* operation);

// Lets the place of each op of |block| be greater than those of the ops before it. It is as long as
// ops are only appended and removed: then nothing is to do. Thread-compatible (caller
// synchronises).
void tfrt_ir_block_number_ops(tfrt_ir_block_t* block);

// Takes |operation| out of its block; its operands still count as uses.
// Thread-compatible (caller synchronises).
void tfrt_ir_block_remove(tfrt_ir_operation_t* operation);

// Moves all blocks of |source| to the end of |target|; |source| is empty after that.
// Thread-compatible (caller synchronises).
void tfrt_ir_region_take_blocks(tfrt_ir_region_t* target, tfrt_ir_region_t* source);

// The only block of |region|, or NULL if it has none or several. Thread-safe.
static inline tfrt_ir_block_t* tfrt_ir_region_single_block(const tfrt_ir_region_t* region) {
  return region->first_block == region->last_block ? region->first_block : NULL;
}

#endif  // TFRT_COMPILER_IR_BLOCK_H_
