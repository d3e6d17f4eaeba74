// SPDX-License-Identifier: Apache-2.0
//
// The versions of the protocol that the tools speak which talk to other hosts, for version.h.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_TOOLS_COMMAND_LINE_SPOKEN_PROTOCOL_H_
#define TFRT_TOOLS_COMMAND_LINE_SPOKEN_PROTOCOL_H_

#include "distributed/wire/limits.h"
#include "tools/command_line/version.h"

// Initialises a tfrt_protocol_range_t.
#define TFRT_SPOKEN_PROTOCOL \
  { TFRT_WIRE_VERSION_MIN, TFRT_WIRE_VERSION_MAX }

#endif  // TFRT_TOOLS_COMMAND_LINE_SPOKEN_PROTOCOL_H_
