// SPDX-License-Identifier: Apache-2.0
//
// Appends of short texts, most of what a program is printed of, in place where the builder has
// room. With a literal the size is known where the call stands, and the copy is a few moves.
//
//   %12 = "arith.addi"(%10, %11) : (i32, i32) -> i32
//   ^ ^  ^            ^   ^    ^ ^  each piece is one append
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as tfrt_string_builder_append().
#ifndef TFRT_COMPILER_PRINTER_QUICK_TEXT_H_
#define TFRT_COMPILER_PRINTER_QUICK_TEXT_H_

#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_builder.h"

// Appends |text|. Thread-compatible (caller synchronises).
TFRT_ALWAYS_INLINE void tfrt_quick_text_append_view(tfrt_string_builder_t* builder,
                                                    tfrt_string_view_t text) {
  // Also false before the first append, whatever the size: the NUL needs a byte of its own.
  bool fits = text.size < builder->capacity - builder->size && !builder->failed;
  if (!fits) {
    tfrt_string_builder_append(builder, text.data, text.size);
    return;
  }
  char* end = builder->data + builder->size;
  if (__builtin_constant_p(text.size)) {
    memcpy(end, text.data, text.size);
  } else {
    tfrt_string_view_copy_short(end, text);
  }
  end[text.size] = '\0';
  builder->size += text.size;
}

// Appends NUL-terminated |text|, a literal. Thread-compatible (caller synchronises).
TFRT_ALWAYS_INLINE void tfrt_quick_text_append(tfrt_string_builder_t* builder, const char* text) {
  tfrt_quick_text_append_view(builder, tfrt_string_view_make(text, __builtin_strlen(text)));
}

// Appends the decimal digits of |number|, which are found two at a time. Thread-compatible (caller
// synchronises).
TFRT_ALWAYS_INLINE void tfrt_quick_text_append_number(tfrt_string_builder_t* builder,
                                                      uint64_t number) {
  static const char pairs[] =
      "00010203040506070809101112131415161718192021222324"
      "25262728293031323334353637383940414243444546474849"
      "50515253545556575859606162636465666768697071727374"
      "75767778798081828384858687888990919293949596979899";
  char digits[20];
  size_t at = sizeof(digits);
  for (; number >= 10; number /= 100) {
    at -= 2;
    memcpy(digits + at, pairs + 2 * (number % 100), 2);
  }
  // A number with an even number of digits is all written; 0 has one.
  bool is_odd = number || at == sizeof(digits);
  if (is_odd) digits[--at] = (char)('0' + number);
  tfrt_quick_text_append_view(builder, tfrt_string_view_make(digits + at, sizeof(digits) - at));
}

#endif  // TFRT_COMPILER_PRINTER_QUICK_TEXT_H_
