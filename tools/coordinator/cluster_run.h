// SPDX-License-Identifier: Apache-2.0
//
// A run on a cluster: this process is the job's client, a peer without rank or listener. It
// opens the job on all hosts, has host 0 call the function, prints the lines that come back,
// and waits for the results.
//
//   workers (started, or there already) --addresses--> client --> opened --> results
//                                                        ^ cancel: first politely, then for good
//
// Life:
//  1. Initialised: threads of the network run, nothing is dialled.
//  2. Run once.
//  3. Shut down: the job is closed, sessions say goodbye, workers that were started here end.
//
// Thread rule: main thread only.
// Failure rule: a cluster that can't form is the error of the run, with an exit code of its
// own; what goes wrong later is in the results.
#ifndef TFRT_TOOLS_COORDINATOR_CLUSTER_RUN_H_
#define TFRT_TOOLS_COORDINATOR_CLUSTER_RUN_H_

#include <stdatomic.h>

#include "distributed/client/client.h"
#include "tools/cluster/host_process.h"
#include "tools/coordinator/exit_code.h"
#include "tools/coordinator/local_cluster.h"
#include "tools/coordinator/loss_watch.h"
#include "tools/coordinator/run_plan.h"

typedef struct tfrt_cluster_run_s {
  const tfrt_run_options_t* options;
  tfrt_run_loop_t* loop;
  tfrt_host_process_t process;
  tfrt_local_cluster_t workers;
  const tfrt_string_view_t* addresses;  // of the hosts, by rank
  uint32_t host_count;
  tfrt_client_t* client;   // +1; NULL before the hosts are known
  tfrt_task_t on_results;  // runs when all results are resolved, on any thread
  atomic_bool is_done;
  tfrt_loss_watch_t loss;
} tfrt_cluster_run_t;

// Makes |run| ready; options and loop (+0) outlive it. Main thread only.
tfrt_status_t tfrt_cluster_run_initialize(tfrt_cluster_run_t* run,
                                          const tfrt_run_options_t* options, tfrt_run_loop_t* loop)
    TFRT_MUST_USE;

// Runs |plan| and sets its results. An error, with its exit code in |*out_exit_code|, if it
// could not begin. Main thread only.
tfrt_status_t tfrt_cluster_run_execute(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan,
                                       tfrt_exit_code_t* out_exit_code) TFRT_MUST_USE;

// The steps of tfrt_cluster_run_execute(), for callers that need only some of them. They make the
// client of |run|, which opens the job on its hosts; ask the hosts for the devices that calls of
// |plan| are placed on; and start |plan| there, once. Main thread only.
tfrt_status_t tfrt_cluster_run_create_client(tfrt_cluster_run_t* run) TFRT_MUST_USE;
tfrt_status_t tfrt_cluster_run_check_devices(tfrt_cluster_run_t* run, const tfrt_run_plan_t* plan)
    TFRT_MUST_USE;
void tfrt_cluster_run_start(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan);

// Writes the trace and the profile of |plan| that |run|'s options ask for, after it was executed
// without an error. Main thread only.
tfrt_status_t tfrt_cluster_run_write_traces(tfrt_cluster_run_t* run, const tfrt_run_plan_t* plan)
    TFRT_MUST_USE;

// Ends everything in |run|; |plan|, whose values belong to it, is deinitialised before the
// kernels go. Main thread only.
void tfrt_cluster_run_shut_down(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan);

#endif  // TFRT_TOOLS_COORDINATOR_CLUSTER_RUN_H_
