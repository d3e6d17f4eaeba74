// SPDX-License-Identifier: Apache-2.0
//
// The trace of a run on a cluster: what each host has recorded, asked for after the run, on one
// clock and in one file, a row for each host.
//
// Each host's clock is compared with ours first (clock_comparison.h), and its spans are moved.
//
// Thread rule: main thread only.
// Failure rule: a host that can't be asked has an empty row, and a line on the standard error;
// a file that can't be written is an error.
#ifndef TFRT_TOOLS_COORDINATOR_TRACE_COLLECTION_H_
#define TFRT_TOOLS_COORDINATOR_TRACE_COLLECTION_H_

#include "distributed/client/client.h"
#include "host_runtime/bef/bef_file.h"
#include "tools/coordinator/run_loop.h"

// The most spans that are kept of one host.
#define TFRT_TRACE_COLLECTION_LIMIT 1000000

// A host may take this long to answer.
#define TFRT_TRACE_COLLECTION_PATIENCE_MS 10000

// The files that are made of the spans.
typedef struct tfrt_trace_files_s {
  const char* trace_path;    // of a picture of the run; NULL: none
  const char* profile_path;  // of the times of the ops of |program|; NULL: none
  const tfrt_bef_file_t* program;
} tfrt_trace_files_t;

// Asks the hosts at |addresses|, by rank, of the job of |client| for their traces and writes
// |files|. Closes the client if a host does not answer. Main thread only.
tfrt_status_t tfrt_trace_collection_write(tfrt_client_t* client,
                                          const tfrt_string_view_t* addresses, uint32_t host_count,
                                          tfrt_run_loop_t* loop, const tfrt_trace_files_t* files)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_TRACE_COLLECTION_H_
