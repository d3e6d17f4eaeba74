// SPDX-License-Identifier: Apache-2.0
//
// Hosts as a user names them: `HOST:PORT,HOST:PORT`, or a file with a line for each, by rank.
//
// Thread rule: thread-compatible. Failure rule: INVALID_ARGUMENT with one line that says what
// is wrong where.
#ifndef TFRT_TOOLS_COORDINATOR_HOST_LIST_H_
#define TFRT_TOOLS_COORDINATOR_HOST_LIST_H_

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"
#include "tools/cluster/hostfile.h"

// The most hosts that a command line may name or start; no view of a job has more members.
#define TFRT_HOST_LIST_MAX 1024

// The views point into what was parsed.
typedef struct tfrt_host_list_s {
  tfrt_string_view_t addresses[TFRT_HOST_LIST_MAX];
  uint32_t count;
} tfrt_host_list_t;

// Splits |text|, the value of --hosts, at its commas. Thread-compatible.
tfrt_status_t tfrt_host_list_parse(const char* text, tfrt_host_list_t* out_list) TFRT_MUST_USE;

// Sets |out_list| to what is named by |text|, the value of --hosts, or by the file |path|, the
// value of --hostfile, which is read into |hostfile|; both may be NULL, and the list is empty then.
// INVALID_ARGUMENT, also for both. Thread-compatible.
tfrt_status_t tfrt_host_list_choose(const char* text, const char* path, tfrt_hostfile_t* hostfile,
                                    tfrt_host_list_t* out_list) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_HOST_LIST_H_
