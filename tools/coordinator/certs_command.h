// SPDX-License-Identifier: Apache-2.0
//
// The verb `certs`: makes the certificates of a cluster, and shows them.
//
//   init DIR    an authority, a certificate for each host, and one for clients
//   add DIR     certificates for more hosts, of the authority there
//   show DIR    what the certificates are, and until when they count
//
// Thread rule: main thread only.
// Failure rule: all that is asked for is checked before the first file is written; an error is
// printed in one line.
#ifndef TFRT_TOOLS_COORDINATOR_CERTS_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_CERTS_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Does what |arguments|, those behind "certs", say. Main thread only.
tfrt_exit_code_t tfrt_certs_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_CERTS_COMMAND_H_
