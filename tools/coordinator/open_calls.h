// SPDX-License-Identifier: Apache-2.0
//
// Names what a job waits for on one host, from that host's inventory (inventory_lines.h), on one
// line: its calls to other hosts that are not over, or else the kernel that runs longest.
//
//   @long on host 2, called at a.mlir:21:8; @f on host 3, called at a.mlir:22:8; and 4 more calls
//
// Thread rule: thread-compatible. Failure rule: none fails; without memory the text is cut.
#ifndef TFRT_TOOLS_COORDINATOR_OPEN_CALLS_H_
#define TFRT_TOOLS_COORDINATOR_OPEN_CALLS_H_

#include "host_runtime/base/string_builder.h"
#include "tools/coordinator/inventory_lines.h"

// Appends what the job |id|, in hexadecimal digits, waits for by |inventory|; nothing if that shows
// neither a call nor a kernel of it. Calls to the process |lost|, an incarnation, are left out:
// that host may not have noticed the loss yet. Thread-compatible.
void tfrt_open_calls_append(tfrt_string_view_t inventory, tfrt_string_view_t id,
                            tfrt_string_view_t lost, tfrt_string_builder_t* out);

#endif  // TFRT_TOOLS_COORDINATOR_OPEN_CALLS_H_
