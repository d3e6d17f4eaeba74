// SPDX-License-Identifier: Apache-2.0
//
// Worker processes on this machine, and this process as their client, for benchmarks of what
// crosses hosts.
//
//   this process --stdin pipe--> tfrt_worker 0 --stdout: "listening on ADDRESS"--> this process
//                --stdin pipe--> tfrt_worker 1 ...
//
// Life:
//  1. Opened with the text of a program: workers listen, the job is open on each.
//  2. @main is called any number of times.
//  3. Closed: the job, and then the workers, which end when their standard input does.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: closing also works on a cluster that is half open after an error.
#ifndef TFRT_TESTS_BENCH_BENCH_CLUSTER_H_
#define TFRT_TESTS_BENCH_BENCH_CLUSTER_H_

#include <stdint.h>
#include <sys/types.h>

#include "distributed/client/client.h"
#include "host_runtime/bef/bef_file.h"
#include "tests/distributed/security/certificate_folder.h"
#include "tools/cluster/host_process.h"

#define TFRT_BENCH_CLUSTER_MAX_WORKERS 16

typedef struct tfrt_bench_worker_s {
  pid_t process;  // 0: none
  int input;      // its standard input; -1: none
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
} tfrt_bench_worker_t;

// The host that the certificate of a benchmark that talks TLS is for.
#define TFRT_BENCH_CLUSTER_HOST "127.0.0.1"

typedef struct tfrt_bench_cluster_s {
  tfrt_bench_worker_t workers[TFRT_BENCH_CLUSTER_MAX_WORKERS];
  uint32_t count;  // of workers that were started
  tfrt_host_process_t process;
  bool has_process;
  tfrt_certificate_folder_t certificates;  // of a cluster that talks TLS
  tfrt_client_t* client;
  tfrt_bef_file_t* file;
  uint32_t main;  // index of the function
  uint32_t result_count;
} tfrt_bench_cluster_t;

// Starts |arguments|, with NULL behind the last, as |worker|: a program that says "...: listening
// on ADDRESS" and ends when its standard input does; waits until it has said so. It runs where
// processes of the benchmark do (placement.h).
// Thread-compatible.
tfrt_status_t tfrt_bench_process_start(tfrt_bench_worker_t* worker, const char* const* arguments)
    TFRT_MUST_USE;

// Starts `|tools|/tfrt_worker` as |worker|, with the certificates of |tls_folder| (NULL: plain
// text), and waits until it listens. Thread-compatible.
tfrt_status_t tfrt_bench_worker_start(tfrt_bench_worker_t* worker, const char* tools,
                                      const char* tls_folder) TFRT_MUST_USE;

// Has the workers that are started from now on get |flag|, too (+0, outlives them); NULL: none, as
// at first. Thread-compatible.
void tfrt_bench_worker_set_flag(const char* flag);

// Sets |*out_kibibytes| to the most resident memory that |worker| has had. Thread-compatible.
tfrt_status_t tfrt_bench_worker_memory(const tfrt_bench_worker_t* worker, double* out_kibibytes)
    TFRT_MUST_USE;

// Ends |worker| and waits for it; one that was never started is allowed. Thread-compatible.
void tfrt_bench_worker_stop(tfrt_bench_worker_t* worker);

// Opens |cluster|: |count| workers (at most TFRT_BENCH_CLUSTER_MAX_WORKERS), which talk plain text
// or TLS, and the program |text|, which has a function @main. Thread-compatible.
tfrt_status_t tfrt_bench_cluster_open(tfrt_bench_cluster_t* cluster, const char* tools,
                                      uint32_t count, bool is_tls, tfrt_string_view_t text)
    TFRT_MUST_USE;

// Has worker 0 call @main with the |argument_count| values at |arguments| (+0); waits until the
// call is over. Sets |*out_result| (+1) to the first result, or returns its error.
// Thread-compatible.
tfrt_status_t tfrt_bench_cluster_call(tfrt_bench_cluster_t* cluster,
                                      tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                      tfrt_async_value_t** out_result) TFRT_MUST_USE;

// Gives back what |cluster| holds. Thread-compatible.
void tfrt_bench_cluster_close(tfrt_bench_cluster_t* cluster);

#endif  // TFRT_TESTS_BENCH_BENCH_CLUSTER_H_
