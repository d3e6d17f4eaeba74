// SPDX-License-Identifier: Apache-2.0
//
// The daemon: one process that takes part in clusters until somebody stops it. Sessions, jobs and
// kernels have threads of their own; the main thread only waits here for signals, for the end of
// the standard input, and for the last job.
//
//   options --> listens --> prints its address --> SERVING
//                                                     |  SIGTERM, SIGINT
//               standard input ends                   v
//        +-------------------------------------- DRAINING: no new jobs
//        |                                            |  no job left, time limit, second signal
//        v                                            v
//      ENDING: jobs are cancelled, sessions say goodbye, threads are joined --> exit
//
// ENDING is bounded, too: the process ends even if kernels don't return.
//
// Thread rule: called once, on the main thread.
// Failure rule: all errors are printed on the standard error; the result is an exit code.
#ifndef TFRT_TOOLS_WORKER_WORKER_H_
#define TFRT_TOOLS_WORKER_WORKER_H_

#include "tools/worker/exit_code.h"
#include "tools/worker/worker_options.h"

// Serves as |options| say, which outlive the call, until the process is asked to stop. Main thread
// only.
tfrt_worker_exit_t tfrt_worker_run(const tfrt_worker_options_t* options);

#endif  // TFRT_TOOLS_WORKER_WORKER_H_
