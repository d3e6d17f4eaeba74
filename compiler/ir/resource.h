// SPDX-License-Identifier: Apache-2.0
//
// The resources of a text, which stand between `{-#` and `#-}`: bytes, strings and truth values
// under a name, that the ops of the program refer to (`dense_resource<name>`), or that tools keep
// for themselves.
//
//   {-#
//     dialect_resources: { builtin: { weights: "0x0400000001020304" } },
//     external_resources: { my_tool: { threads: "4", fast: true } }
//   #-}
//
//   context -> owner (builtin) -> resource -> resource
//           -> owner (my_tool) -> resource -> resource
//
// The resources of a dialect have different names: a later one replaces what an earlier one of its
// name holds. A tool may use a name again.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false or NULL when memory is out.
#ifndef TFRT_COMPILER_IR_RESOURCE_H_
#define TFRT_COMPILER_IR_RESOURCE_H_

#include "compiler/ir/context.h"

typedef enum tfrt_ir_resource_kind_e {
  TFRT_IR_RESOURCE_TRUTH = 0,  // |truth|
  TFRT_IR_RESOURCE_STRING,     // |bytes|: the string
  TFRT_IR_RESOURCE_BLOB,  // |bytes|: hexadecimal digits, eight for the alignment before the rest
} tfrt_ir_resource_kind_t;

typedef struct tfrt_ir_resource_s tfrt_ir_resource_t;
struct tfrt_ir_resource_s {
  const tfrt_ir_string_t* name;
  tfrt_ir_resource_kind_t kind;
  bool truth;
  bool is_used;  // by an attribute of the module that is being printed
  tfrt_string_view_t bytes;
  tfrt_ir_resource_t* next;         // of the same owner
  tfrt_ir_resource_t* next_in_use;  // the next one in the order in which attributes use them
};

typedef struct tfrt_ir_resource_owner_s tfrt_ir_resource_owner_t;
struct tfrt_ir_resource_owner_s {
  const tfrt_ir_string_t* name;  // of a dialect, or of a tool
  bool is_dialect;
  tfrt_ir_resource_t* first;
  tfrt_ir_resource_t* last;
  tfrt_ir_resource_owner_t* next;
};

// Adds a resource like |model|, whose |bytes| are copied, to those of the dialect or of the tool
// |owner|. Returns false when memory is out. Thread-compatible (caller synchronises).
bool tfrt_ir_resource_add(tfrt_ir_context_t* context, const tfrt_ir_string_t* owner,
                          bool is_dialect, const tfrt_ir_resource_t* model);

// The resource |name| of the dialect `builtin`, or NULL. Thread-compatible (caller synchronises).
tfrt_ir_resource_t* tfrt_ir_resource_find(const tfrt_ir_context_t* context,
                                          const tfrt_ir_string_t* name);

#endif  // TFRT_COMPILER_IR_RESOURCE_H_
