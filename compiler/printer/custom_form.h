// SPDX-License-Identifier: Apache-2.0
//
// The custom form of one op-table entry, as the printer keeps it. The words of the form are read
// once, not for each op. So is whether an op fits its form: most ops have the types of one before.
//
// Life: made when the first op of its entry is printed; lives as long as the printer.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_PRINTER_CUSTOM_FORM_H_
#define TFRT_COMPILER_PRINTER_CUSTOM_FORM_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/executor/descriptor/assembly.h"

#define TFRT_CUSTOM_FORM_PLACES 64
#define TFRT_CUSTOM_FORM_MAX_TYPES 6

typedef struct tfrt_custom_form_s tfrt_custom_form_t;

struct tfrt_custom_form_s {
  const tfrt_kernel_descriptor_t* descriptor;  // it has an assembly
  tfrt_custom_form_t* next;                    // at the same place of the table
  const tfrt_assembly_word_t* words;
  uint32_t word_count;
  uint32_t kinds;  // one bit for each kind that a word has

  // The last plain op that fitted: the types of its operands, then those of its results.
  bool has_fitted;
  uint32_t operand_count;
  uint32_t result_count;
  const tfrt_ir_type_t* types[TFRT_CUSTOM_FORM_MAX_TYPES];
};

// The forms that were met, each at the place that its entry's address gives it.
typedef struct tfrt_custom_forms_s {
  tfrt_custom_form_t* places[TFRT_CUSTOM_FORM_PLACES];
} tfrt_custom_forms_t;

// The form of |descriptor|, which has an assembly, made in |arena| at the first call; NULL when
// memory is out. Thread-compatible.
tfrt_custom_form_t* tfrt_custom_forms_get(tfrt_custom_forms_t* forms, tfrt_arena_t* arena,
                                          const tfrt_kernel_descriptor_t* descriptor);

// Returns true if |form| has a word of |kind|. Thread-safe.
static inline bool tfrt_custom_form_has(const tfrt_custom_form_t* form, tfrt_assembly_kind_t kind) {
  return form->kinds >> kind & 1;
}

// Returns true if a word of |form| names the attribute |name|; |as_keyword|: as a string without
// its quotes. Thread-safe.
bool tfrt_custom_form_names(const tfrt_custom_form_t* form, tfrt_string_view_t name,
                            bool as_keyword);

// Returns true if |operation| is like the one of the last tfrt_custom_form_remember(), so that it
// fits, too. Thread-compatible.
bool tfrt_custom_form_is_known(const tfrt_custom_form_t* form,
                               const tfrt_ir_operation_t* operation);

// Takes note that |operation| fits, if all that matters of it is in its types.
// Thread-compatible.
void tfrt_custom_form_remember(tfrt_custom_form_t* form, const tfrt_ir_operation_t* operation);

#endif  // TFRT_COMPILER_PRINTER_CUSTOM_FORM_H_
