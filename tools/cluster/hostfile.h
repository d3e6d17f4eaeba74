// SPDX-License-Identifier: Apache-2.0
//
// A list of workers in a file, as MPI launchers have them: one a line, in the order of ranks.
//
//   # the two big ones
//   10.0.0.1:7000 slots=2        10.0.0.1:7000 and 10.0.0.1:7001
//   10.0.0.2:7000
//   unix:/run/tfrt/worker.sock   # a remark
//
// The files that workers write with --ready-file are such files, too, also when put together.
//
// Life: read once; the addresses are the struct's own.
//
// Thread rule: thread-compatible.
// Failure rule: one line with FILE:LINE, what is wrong there, and the fix; or the file's own error.
#ifndef TFRT_TOOLS_CLUSTER_HOSTFILE_H_
#define TFRT_TOOLS_CLUSTER_HOSTFILE_H_

#include "distributed/transport/transport.h"

// The most workers that one may name.
#define TFRT_HOSTFILE_MAX_HOSTS 1024

typedef struct tfrt_hostfile_s {
  char addresses[TFRT_HOSTFILE_MAX_HOSTS][TFRT_TRANSPORT_ADDRESS_SIZE];
  uint32_t lines[TFRT_HOSTFILE_MAX_HOSTS];  // from 1, where each stands
  uint32_t count;
} tfrt_hostfile_t;

// Fills |out_hostfile| with what the file |path| names, at least one. INVALID_ARGUMENT, and the
// file's own errors. Thread-compatible.
tfrt_status_t tfrt_hostfile_read(const char* path, tfrt_hostfile_t* out_hostfile) TFRT_MUST_USE;

// The same for |text|, which |path| is said to have. Thread-compatible.
tfrt_status_t tfrt_hostfile_parse(const char* path, tfrt_string_view_t text,
                                  tfrt_hostfile_t* out_hostfile) TFRT_MUST_USE;

// Adds the worker at |address|, which stands in line |number| of the file |path|. INVALID_ARGUMENT,
// also where it is there already. Thread-compatible.
tfrt_status_t tfrt_hostfile_add_worker(tfrt_hostfile_t* hostfile, const char* path, uint32_t number,
                                       tfrt_string_view_t address) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_CLUSTER_HOSTFILE_H_
