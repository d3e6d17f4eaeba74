// SPDX-License-Identifier: Apache-2.0
//
// `tfrt trace`: makes workers record the jobs that run on them, for a while, and writes a picture
// of that (tools/output/chrome_trace.h). Any client may have started these jobs.
//
//   tfrt trace                        each worker
//     clock, some times  ------------>  its clock, for moving its times onto ours
//     begin JOB MS       ------------>  records, and stops by itself after MS
//     ...MS, or SIGINT...
//     end JOB, if it was SIGINT
//     read JOB SINCE     ------------>  what it has recorded since the begin
//
// Thread rule: main thread only. Failure rule: a worker that can't be asked has an empty row, and
// a line on the standard error; a file that can't be written is an error.
#ifndef TFRT_TOOLS_COORDINATOR_TRACE_COMMAND_H_
#define TFRT_TOOLS_COORDINATOR_TRACE_COMMAND_H_

#include "tools/coordinator/exit_code.h"

// Runs the verb with the arguments behind it. Main thread only.
tfrt_exit_code_t tfrt_trace_command(int argument_count, char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_TRACE_COMMAND_H_
