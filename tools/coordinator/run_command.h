// SPDX-License-Identifier: Apache-2.0
//
// The verb `run`: runs one function of a program and prints what it returns. Without a
// cluster, everything runs in this process: a call with a host on it is a local call.
//
//   flags --> program (text or BEF) --> arguments --> host context --> results, exit code
//
// Ctrl-C and --timeout cancel the request. The run ends when all that it began is over, and they
// decide the exit code where no result is an error.
//
// Thread rule: called once, on the main thread, which runs the event loop.
// Failure rule: all errors are printed on the standard error; the result is an exit code.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_RUN_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with the arguments behind it. Main thread only.
tfrt_exit_code_t tfrt_run_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_COMMAND_H_
