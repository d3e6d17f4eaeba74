// SPDX-License-Identifier: Apache-2.0
//
// `tfrt attach JOB`: shows what a detached job prints, waits for its end, and ends as `tfrt run`
// would have.
//
// Thread rule: main thread only. Failure rule: what goes wrong is printed and in the exit code.
#ifndef TFRT_TOOLS_COORDINATOR_ATTACH_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_ATTACH_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with the arguments behind it. Main thread only.
tfrt_exit_code_t tfrt_attach_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_ATTACH_COMMAND_H_
