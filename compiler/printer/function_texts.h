// SPDX-License-Identifier: Apache-2.0
//
// The texts of functions that are printed before what is around them, the last function first; and
// how both become one text, in the memory of the first.
//
//   | room ...................... | text f | text g | text h |      each one put before the others
//   | around | text f | around | text g | text h | around |         woven
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: as said.
#ifndef TFRT_COMPILER_PRINTER_FUNCTION_TEXTS_H_
#define TFRT_COMPILER_PRINTER_FUNCTION_TEXTS_H_

#include "compiler/ir/scratch.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_function_texts_s {
  tfrt_allocator_t allocator;
  char* data;
  size_t capacity;
  size_t begin;          // of the texts, which go up to |capacity|
  tfrt_scratch_t holes;  // where they go, in the order of the text
} tfrt_function_texts_t;

// Makes |texts| empty. Thread-compatible (caller synchronises).
void tfrt_function_texts_initialize(tfrt_function_texts_t* texts, tfrt_allocator_t allocator);

// Gives back the memory of |texts|. Thread-compatible (caller synchronises).
void tfrt_function_texts_deinitialize(tfrt_function_texts_t* texts);

// Makes room for |size| bytes before the texts; false when memory is out. Thread-compatible (caller
// synchronises).
bool tfrt_function_texts_reserve(tfrt_function_texts_t* texts, size_t size) TFRT_MUST_USE;

// Puts a copy of |text| before the others; false when memory is out. Thread-compatible (caller
// synchronises).
bool tfrt_function_texts_add(tfrt_function_texts_t* texts, tfrt_string_view_t text) TFRT_MUST_USE;

// The next text, of |size| bytes, goes behind the first |position| bytes of what is around; false
// when memory is out. Thread-compatible (caller synchronises).
bool tfrt_function_texts_place(tfrt_function_texts_t* texts, size_t position, size_t size)
    TFRT_MUST_USE;

// Appends |around| with all texts at their places to |builder|; |texts| is empty after that.
// Thread-compatible (caller synchronises).
void tfrt_function_texts_weave(tfrt_function_texts_t* texts, tfrt_string_view_t around,
                               tfrt_string_builder_t* builder);

#endif  // TFRT_COMPILER_PRINTER_FUNCTION_TEXTS_H_
