// SPDX-License-Identifier: Apache-2.0
//
// The command line of `tfrt_worker`, checked: what can be wrong with flags and the files that
// they name is found here, before anything starts.
//
// Thread rule: main thread only; the process's environment is read.
// Failure rule: INVALID_ARGUMENT, or the error of a file, with one line that names the flag.
#ifndef TFRT_TOOLS_WORKER_WORKER_OPTIONS_H_
#define TFRT_TOOLS_WORKER_WORKER_OPTIONS_H_

#include "host_runtime/base/log.h"
#include "tools/cluster/cluster_key.h"
#include "tools/cluster/tls_files.h"
#include "tools/worker/listen_address.h"

// How long the jobs that run may go on after SIGTERM, in ms, unless a flag says otherwise.
#define TFRT_WORKER_DRAIN_TIMEOUT_MS 30000

// The longest name of a worker, in bytes.
#define TFRT_WORKER_MAX_NAME_SIZE 255

// Texts point into the command line.
typedef struct tfrt_worker_options_s {
  tfrt_listen_address_t listen;
  const char* name;  // NULL: host name and port
  tfrt_cluster_key_t cluster_key;
  tfrt_tls_files_t tls;
  int64_t threads;             // 0: one per processor
  const char* data_directory;  // NULL: the working directory
  const char* pid_file;        // NULL: none
  const char* ready_file;      // NULL: none
  tfrt_log_severity_t log_level;
  tfrt_log_format_t log_format;
  int64_t drain_timeout_ms;
  int64_t heartbeat_ms;
  int64_t silence_ms;
  // Limits of one job on this worker; 0: no limit.
  int64_t job_calls;
  int64_t job_objects;
  int64_t job_requests;
  int64_t job_memory;
  bool stops_with_stdin;
  bool checks_types;
  bool checks_races;
  bool lends_memory;
} tfrt_worker_options_t;

// Sets |*out_options| to what |arguments|, without the program's name, say; or prints the help
// and sets |*out_help| if that is asked for. Main thread only.
tfrt_status_t tfrt_worker_options_parse(int argument_count, char* const* arguments,
                                        tfrt_worker_options_t* out_options, bool* out_help)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_WORKER_WORKER_OPTIONS_H_
