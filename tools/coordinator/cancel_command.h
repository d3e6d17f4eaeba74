// SPDX-License-Identifier: Apache-2.0
//
// `tfrt cancel JOB|CALL`: ends what somebody else has started.
//
// Thread rule: main thread only. Failure rule: everything is reported; the exit code says how it
// ended.
#ifndef TFRT_TOOLS_COORDINATOR_CANCEL_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_CANCEL_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with |arguments|, which come behind it. Main thread only.
tfrt_exit_code_t tfrt_cancel_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_CANCEL_COMMAND_H_
