// SPDX-License-Identifier: Apache-2.0
//
// `tfrt import`: makes a program of a model, and says what it is.
//
// Thread rule: called once, on the main thread. Failure rule: the exit code; what is wrong is
// printed.
#ifndef TFRT_TOOLS_COORDINATOR_IMPORT_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_IMPORT_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with |arguments|, those behind it.
tfrt_exit_code_t tfrt_import_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_IMPORT_COMMAND_H_
