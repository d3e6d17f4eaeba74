// SPDX-License-Identifier: Apache-2.0
//
// The words of an op's custom form (kernel_descriptor.h says what they mean), one at a
// time: the parser and the printer walk the same words.
//
// Thread rule: values over constant data. Failure rule: a word that means nothing is
// TEXT, which the op-table test refuses where it is none.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ASSEMBLY_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ASSEMBLY_H_

#include <stdbool.h>

#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// The number of an op's fixed operands that can have a `type(%name)`.
#define TFRT_ASSEMBLY_MAX_TYPED 16

typedef enum tfrt_assembly_kind_e {
  TFRT_ASSEMBLY_OPERANDS = 0,
  TFRT_ASSEMBLY_COMMA_OPERANDS,
  TFRT_ASSEMBLY_ARGS,
  TFRT_ASSEMBLY_TYPED_OPERANDS,
  TFRT_ASSEMBLY_OPERAND,          // name: of the operand
  TFRT_ASSEMBLY_ATTRIBUTE,        // name: of the attribute
  TFRT_ASSEMBLY_TYPED_ATTRIBUTE,  // likewise
  TFRT_ASSEMBLY_KEYWORD,          // likewise
  TFRT_ASSEMBLY_SYMBOL,           // likewise
  TFRT_ASSEMBLY_SYMBOL_ARRAY,     // likewise
  TFRT_ASSEMBLY_SETTINGS,
  TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY,
  TFRT_ASSEMBLY_ATTRIBUTES,
  TFRT_ASSEMBLY_TYPES,
  TFRT_ASSEMBLY_FUNCTION,
  TFRT_ASSEMBLY_SIGNATURE,
  TFRT_ASSEMBLY_WHOLE_SIGNATURE,
  TFRT_ASSEMBLY_OPERAND_TYPE,  // name: of the operand
  TFRT_ASSEMBLY_RESULT_TYPES,
  TFRT_ASSEMBLY_REGIONS,
  TFRT_ASSEMBLY_SYNTAX,
  TFRT_ASSEMBLY_TEXT,  // name: the text itself
} tfrt_assembly_kind_t;

typedef struct tfrt_assembly_word_s {
  tfrt_assembly_kind_t kind;
  tfrt_string_view_t name;
} tfrt_assembly_word_t;

typedef struct tfrt_assembly_s {
  const char* rest;
} tfrt_assembly_t;

// Starts at the first word of |text|. Thread-safe.
void tfrt_assembly_begin(tfrt_assembly_t* assembly, const char* text);

// Sets |*out_word| to the next word and returns true, or false at the end.
// Thread-compatible (caller synchronises).
bool tfrt_assembly_next(tfrt_assembly_t* assembly, tfrt_assembly_word_t* out_word);

// Returns true if |text| is a string that `$name` can write. Thread-safe.
bool tfrt_assembly_is_keyword(tfrt_string_view_t text);

// The number of the fixed operand |name| of |descriptor|, below TFRT_ASSEMBLY_MAX_TYPED; UINT32_MAX
// if there is none. Thread-safe.
uint32_t tfrt_assembly_operand_index(const tfrt_kernel_descriptor_t* descriptor,
                                     tfrt_string_view_t name);

// Returns true if |kind| is that of a word which names an attribute. Thread-safe.
bool tfrt_assembly_is_attribute(tfrt_assembly_kind_t kind);

// Returns true if |word| is `(`, `)`, `,` or `:`. Thread-safe.
bool tfrt_assembly_is_punctuation(const tfrt_assembly_word_t* word);

// Returns true if |text| has a word that names the attribute |name|. Thread-safe.
bool tfrt_assembly_names_attribute(const char* text, tfrt_string_view_t name);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_ASSEMBLY_H_
