// SPDX-License-Identifier: Apache-2.0
//
// The output of `--version` of each tool: the version of the project, and those of its protocol and
// file format, each from the header that defines it.
//
//   tfrt_worker 0.1.0            TFRT_VERSION
//   protocol 1, BEF 0            the first only in tools that talk to other hosts
//
// Thread rule: thread-compatible. Failure rule: none fails.
#ifndef TFRT_TOOLS_COMMAND_LINE_VERSION_H_
#define TFRT_TOOLS_COMMAND_LINE_VERSION_H_

#include <stdint.h>

#include "host_runtime/base/string_view.h"

// Versions of the protocol between hosts, both inclusive; 0, 0: a program speaks none.
typedef struct tfrt_protocol_range_s {
  uint32_t first;
  uint32_t last;
} tfrt_protocol_range_t;

// Prints which version of |program| this is on the standard output. Thread-compatible.
void tfrt_version_print(tfrt_string_view_t program, tfrt_protocol_range_t protocol);

#endif  // TFRT_TOOLS_COMMAND_LINE_VERSION_H_
