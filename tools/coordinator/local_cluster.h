// SPDX-License-Identifier: Apache-2.0
//
// Workers that `tfrt run --local N` starts on this machine and takes down again.
//
//   tfrt --stdin pipe--> tfrt_worker 0 --stdout: "listening on ADDRESS"--> tfrt
//        --stdin pipe--> tfrt_worker 1 ...
//
// A worker ends when its standard input does, so none outlives this process, however that
// ends. Each is in a session of its own: Ctrl-C reaches this process only, which cancels the
// program and then takes the workers down.
//
// Life:
//  1. Started: returns when every worker listens, or one has failed.
//  2. |addresses| are used; a worker that ends early is a lost host, told by the network.
//  3. Stopped: pipes are closed; who has not ended after TFRT_LOCAL_CLUSTER_PATIENCE_MS is
//     killed. Every child is waited for.
//
// Thread rule: main thread only.
// Failure rule: UNAVAILABLE with the worker's number and how it ended; what it had to say is on
// the standard error already.
#ifndef TFRT_TOOLS_COORDINATOR_LOCAL_CLUSTER_H_
#define TFRT_TOOLS_COORDINATOR_LOCAL_CLUSTER_H_

#include "distributed/transport/transport.h"
#include "tools/coordinator/run_loop.h"
#include "tools/coordinator/run_options.h"

#define TFRT_LOCAL_CLUSTER_PATIENCE_MS 5000

typedef struct tfrt_local_worker_s {
  struct tfrt_local_cluster_s* cluster;
  uv_process_t process;
  uv_pipe_t input;
  uv_pipe_t output;
  char line[256];  // what it has printed of its first line
  size_t line_size;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  bool is_listening;
  bool is_running;
  int64_t exit_code;
  int signal;
} tfrt_local_worker_t;

typedef struct tfrt_local_cluster_s {
  tfrt_run_loop_t* loop;
  tfrt_local_worker_t* workers;  // by rank
  uint32_t count;                // that were started
  uint32_t capacity;
  uint32_t open_handles;
  bool found_races;               // a worker says so as it ends
  tfrt_string_view_t* addresses;  // by rank
} tfrt_local_cluster_t;

// Starts the workers that |options| ask for. |cluster| must be stopped also when that fails,
// or is cancelled. Main thread only.
tfrt_status_t tfrt_local_cluster_start(tfrt_local_cluster_t* cluster, tfrt_run_loop_t* loop,
                                       const tfrt_run_options_t* options) TFRT_MUST_USE;

// Ends all workers and waits for them; a cluster of zeros is allowed. Main thread only.
void tfrt_local_cluster_stop(tfrt_local_cluster_t* cluster);

#endif  // TFRT_TOOLS_COORDINATOR_LOCAL_CLUSTER_H_
