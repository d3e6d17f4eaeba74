// SPDX-License-Identifier: Apache-2.0
//
// `tfrt list hosts|jobs|calls|objects`: what is alive on a cluster.
//
// Thread rule: main thread only. Failure rule: everything is reported; the exit code says how it
// ended. Hosts that do not answer are a line each, and don't keep the others from being listed.
#ifndef TFRT_TOOLS_COORDINATOR_LIST_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_LIST_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with |arguments|, which come behind it. Main thread only.
tfrt_exit_code_t tfrt_list_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_LIST_COMMAND_H_
