// SPDX-License-Identifier: Apache-2.0
//
// The verb `status`: asks hosts how they are, and prints a line for each. Everything that is
// alive because of others is zero on a host where no program runs.
//
//   hosts --a client each--> opened --status--> lines or JSON, exit code
//
// Thread rule: called once, on the main thread, which runs the event loop.
// Failure rule: a host that doesn't answer has a line that says so; the exit code is the first
// such host's.
#ifndef TFRT_TOOLS_COORDINATOR_STATUS_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_STATUS_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with the arguments behind it. Main thread only.
tfrt_exit_code_t tfrt_status_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_STATUS_COMMAND_H_
