// SPDX-License-Identifier: Apache-2.0
//
// The command line of `tfrt run`, parsed.
//
// Life: parsed once; texts point into argv, the environment, or this struct.
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT with one line that names the flag and the fix.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_OPTIONS_H_
#define TFRT_TOOLS_COORDINATOR_RUN_OPTIONS_H_

#include "tools/cluster/cluster_file.h"
#include "tools/cluster/cluster_key.h"
#include "tools/cluster/tls_files.h"
#include "tools/command_line/flags.h"
#include "tools/command_line/image_file.h"
#include "tools/coordinator/host_list.h"
#include "tools/models/model_loader.h"

// The checks of kernels while they run.
typedef struct tfrt_run_checks_s {
  bool types;  // of arguments and results
  bool races;  // of accesses of memory
} tfrt_run_checks_t;

// The place and the form of the results beside |output|.
typedef struct tfrt_run_results_s {
  const char* directory;    // of "npy"
  int64_t top;              // of "text": the number of scores that are printed of each row; 0: all
  const char* labels_path;  // of a file with their labels, or NULL
} tfrt_run_results_t;

// Paths of what is written about a run, or was about an earlier one; NULL: none.
typedef struct tfrt_run_records_s {
  const char* trace;
  const char* profile;
  const char* used_profile;  // is read
} tfrt_run_records_t;

// Paths of libraries, also for workers that are started; NULL: none.
typedef struct tfrt_run_libraries_s {
  const char* kernels;
  const char* devices;
} tfrt_run_libraries_t;

// When a host is lost, and whether that is the end.
typedef struct tfrt_run_losses_s {
  int64_t heartbeat_ms;
  int64_t silence_ms;
  bool end_run;  // the first loss ends a run of whose calls none has retries
} tfrt_run_losses_t;

typedef struct tfrt_run_options_s {
  const char* path;  // of the program
  char directory[4096];
  const char* function_name;
  const char* output;          // "text", "json" or "npy"
  tfrt_run_results_t results;  // the form of what it returned
  tfrt_model_flags_t model;    // what is said of a model
  bool is_json;                // as |output| says
  bool detach;                 // the job goes on without this process
  int64_t keep_ms;             // how long its results are kept then; 0: chosen
  tfrt_run_records_t records;  // of how it ran
  int64_t timeout_ms;          // 0: none
  int64_t threads;             // per process; 0: chosen
  tfrt_run_losses_t losses;    // of hosts
  tfrt_run_libraries_t libraries;
  tfrt_run_checks_t checks;  // of kernels, also in workers that are started
  bool no_insert_chains;     // a text that lacks some is refused
  bool print_error_code;
  bool is_verbose;
  tfrt_flag_list_t arguments;
  tfrt_image_flags_t images;
  // The cluster. None of the three: this process alone.
  int64_t local_count;               // workers to start here; 0: none
  bool binds;                        // each to its share of the processors
  tfrt_host_list_t hosts;            // that listen already; empty: none
  tfrt_hostfile_t hostfile;          // what |hosts| may point into
  tfrt_cluster_file_t cluster_file;  // and other texts; not freed
  int64_t in_process_count;  // hosts that this process pretends to be; 0: one, see call_router.h
  const char* worker_path;   // of the program for the workers; NULL: beside this one
  tfrt_cluster_key_t key;
  tfrt_tls_files_t tls;
} tfrt_run_options_t;

// Sets |*out_options| as |arguments| say, and |*out_help| if the user only wanted the help,
// which is printed then. After an error only |is_json| of |*out_options| counts.
// Thread-compatible.
tfrt_status_t tfrt_run_options_parse(int argument_count, char* const* arguments,
                                     tfrt_run_options_t* out_options, bool* out_help) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_RUN_OPTIONS_H_
