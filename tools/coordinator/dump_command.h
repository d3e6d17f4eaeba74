// SPDX-License-Identifier: Apache-2.0
//
// `tfrt dump`: shows which calls of a cluster wait for which others, and the operation that all of
// them wait for in the end.
//
// Thread rule: main thread only. Failure rule: everything is reported; the exit code says how it
// ended. Hosts that do not answer are a line each; calls to them are shown as such.
#ifndef TFRT_TOOLS_COORDINATOR_DUMP_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_DUMP_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with |arguments|, which come behind it. Main thread only.
tfrt_exit_code_t tfrt_dump_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_DUMP_COMMAND_H_
