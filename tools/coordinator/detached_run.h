// SPDX-License-Identifier: Apache-2.0
//
// `tfrt run --detach`: begins a run on a cluster and leaves it there.
//
//   opened --> start --> followed until the root needs nothing more from here --> its name, leave
//
// Thread rule: main thread only.
// Failure rule: a job that can't begin is the error, with an exit code; it is closed then.
#ifndef TFRT_TOOLS_COORDINATOR_DETACHED_RUN_H_
#define TFRT_TOOLS_COORDINATOR_DETACHED_RUN_H_

#include "tools/coordinator/cluster_run.h"

// Begins |plan| on the hosts of |run|, which is initialised, prints the job's name, and leaves it.
// Main thread only.
tfrt_status_t tfrt_detached_run_execute(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan,
                                        tfrt_exit_code_t* out_exit_code) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_DETACHED_RUN_H_
