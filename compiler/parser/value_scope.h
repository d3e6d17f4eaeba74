// SPDX-License-Identifier: Apache-2.0
//
// Which `%name` is which value: a stack of scopes, one for each region that is being
// parsed. An *isolated* scope (functions, the bodies of control flow) hides what is
// outside of it; others see through to the enclosing one.
//
// A name may be used before its definition: then a placeholder of the used type stands
// for it until it is defined. Whether the order is right is the verifier's question.
//
// Life:
//  1. Initialised, empty.
//  2. A scope is pushed; names are used and defined; it is popped. The pop reports names that were
//     used and never defined; if the scope isn't isolated, it leaves them to the enclosing scope.
//  3. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL or false after a report, or when memory is out.
#ifndef TFRT_COMPILER_PARSER_VALUE_SCOPE_H_
#define TFRT_COMPILER_PARSER_VALUE_SCOPE_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/scratch.h"

// A value as the text names it: `%name#number`.
typedef struct tfrt_value_reference_s {
  const tfrt_ir_string_t* name;
  uint32_t number;
  size_t offset;  // in the text
} tfrt_value_reference_t;

typedef struct tfrt_value_scopes_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  struct tfrt_value_scope_s* top;
  tfrt_scratch_t passing;  // const tfrt_ir_string_t*: names with a meaning in the context's piece
} tfrt_value_scopes_t;

// Makes |scopes| empty. Thread-compatible (caller synchronises).
void tfrt_value_scopes_initialize(tfrt_value_scopes_t* scopes, tfrt_ir_context_t* context,
                                  tfrt_diagnostics_t* diagnostics);

// Pops what is left, without reports. Thread-compatible (caller synchronises).
void tfrt_value_scopes_deinitialize(tfrt_value_scopes_t* scopes);

// Begins and ends a scope. Thread-compatible (caller synchronises).
bool tfrt_value_scopes_push(tfrt_value_scopes_t* scopes, bool isolated) TFRT_MUST_USE;
void tfrt_value_scopes_pop(tfrt_value_scopes_t* scopes);

// The value that |reference| names, which must have |type| (NULL: any, but then it
// must be defined). After a report it is a placeholder, so that parsing can go on;
// NULL if there is none. Thread-compatible (caller synchronises).
tfrt_ir_value_t* tfrt_value_scopes_use(tfrt_value_scopes_t* scopes,
                                       const tfrt_value_reference_t* reference,
                                       const tfrt_ir_type_t* type);

// The value that `%name` stands for, if it is known and of |type| (NULL: any); else NULL, and
// nothing is reported. Thread-compatible (caller synchronises).
tfrt_ir_value_t* tfrt_value_scopes_find(const tfrt_value_scopes_t* scopes,
                                        const tfrt_ir_string_t* name, const tfrt_ir_type_t* type);

// True if nothing that is seen from the innermost scope is called |name|; the first one for a name
// that had a meaning. Thread-compatible (caller synchronises).
bool tfrt_value_scopes_is_free_again(const tfrt_value_scopes_t* scopes,
                                     const tfrt_ir_string_t* name);
static inline bool tfrt_value_scopes_is_free(const tfrt_value_scopes_t* scopes,
                                             const tfrt_ir_string_t* name) {
  return !name->meaning || tfrt_value_scopes_is_free_again(scopes, name);
}

// Makes |reference| name |value|. A name that is taken is reported.
// Thread-compatible (caller synchronises).
bool tfrt_value_scopes_define(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference,
                              tfrt_ir_value_t* value);

// The same for one that is free, and has no number. Thread-compatible (caller synchronises).
bool tfrt_value_scopes_define_free(tfrt_value_scopes_t* scopes,
                                   const tfrt_value_reference_t* reference, tfrt_ir_value_t* value);

// Lets no name mean what it means in the piece of the context, which is about to be closed, as are
// all scopes that were pushed in it. Thread-compatible (caller synchronises).
void tfrt_value_scopes_forget_piece(tfrt_value_scopes_t* scopes);

// Defines the name of |reference| as one whose definition was wrong: no use of it is
// reported. Thread-compatible (caller synchronises).
void tfrt_value_scopes_poison(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference);

#endif  // TFRT_COMPILER_PARSER_VALUE_SCOPE_H_
