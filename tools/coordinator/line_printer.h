// SPDX-License-Identifier: Apache-2.0
//
// How lines are shown that kernels print: each whole, with the rank in front where it is not the
// entry host's.
//
//   hello
//   [2] hello from host 2
//
// Thread rule: thread-safe. Failure rule: see the function.
#ifndef TFRT_TOOLS_COORDINATOR_LINE_PRINTER_H_
#define TFRT_TOOLS_COORDINATOR_LINE_PRINTER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/string_view.h"

// Prints |text|, which may be several lines, that host |rank| says, on the standard output. False
// if that takes no lines any more. Thread-safe.
bool tfrt_line_printer_print(uint32_t rank, tfrt_string_view_t text);

#endif  // TFRT_TOOLS_COORDINATOR_LINE_PRINTER_H_
