// SPDX-License-Identifier: Apache-2.0
//
// A YAML file that describes a cluster and its connections. Its keys are flags of `tfrt run` and of
// `tfrt_worker`, whose host in the file is number --rank N. The exceptions are cluster and the
// flags of a single process (listen, name, pid-file, rank, ready-file, stop-with-stdin).
//
//   hosts:                      --hosts 10.0.0.1:7000,10.0.0.2:7000
//     - 10.0.0.1:7000
//     - 10.0.0.2:7000
//   tls-dir: /etc/tfrt          --tls-dir /etc/tfrt
//   silence-ms: 3000            --silence-ms 3000
//
// Flags on the command line override the file. If the command line says where a program runs, other
// places in the file do not count. Programs ignore keys of flags that they don't have.
//
// Life: loaded; applied, which leaves pointers to its texts in the flags' storage; freed at the
// end.
//
// Thread rule: thread-compatible.
// Failure rule: one line with FILE:LINE, what is wrong there, and the fix; or the file's own error.
#ifndef TFRT_TOOLS_CLUSTER_CLUSTER_FILE_H_
#define TFRT_TOOLS_CLUSTER_CLUSTER_FILE_H_

#include "host_runtime/base/string_builder.h"
#include "tools/cluster/hostfile.h"
#include "tools/command_line/flags.h"

#define TFRT_CLUSTER_FILE_FLAG_HELP "hosts and other flags from a YAML file; see docs/hosts.md"

// The most values that a file may have.
#define TFRT_CLUSTER_FILE_MAX_VALUES (TFRT_FLAG_MAX_LIST + 64)

typedef struct tfrt_cluster_file_s {
  const char* path;
  tfrt_hostfile_t hosts;            // what `hosts` names
  tfrt_string_builder_t arguments;  // "--KEY=VALUE", each with a NUL at its end
  // From 1, where the value of each argument stands.
  uint32_t lines[TFRT_CLUSTER_FILE_MAX_VALUES];
  uint32_t count;
} tfrt_cluster_file_t;

// Loads the file |path|, which outlives |out_file|. That must be freed whatever this returns.
// INVALID_ARGUMENT, and the file's own errors. Thread-compatible.
tfrt_status_t tfrt_cluster_file_load(const char* path, tfrt_cluster_file_t* out_file) TFRT_MUST_USE;

// Sets the flags of |table| that |file| has. INVALID_ARGUMENT. Thread-compatible.
tfrt_status_t tfrt_cluster_file_apply(const tfrt_cluster_file_t* file,
                                      const tfrt_flag_table_t* table) TFRT_MUST_USE;

// |status| (consumed; NULL stays that), which is about the value |text| of a flag, with FILE:LINE
// in front if that was set by |file|. Thread-compatible.
tfrt_status_t tfrt_cluster_file_locate(const tfrt_cluster_file_t* file, const char* text,
                                       tfrt_status_t status) TFRT_MUST_USE;

// The same about the flag |key|, whatever its kind, or |other| (NULL: none), which it does not go
// with: about the first of them that |file| sets and that |arguments|, the command line, do not
// give. Thread-compatible.
tfrt_status_t tfrt_cluster_file_locate_key(const tfrt_cluster_file_t* file, const char* key,
                                           const char* other, int argument_count,
                                           char* const* arguments, tfrt_status_t status)
    TFRT_MUST_USE;

// True if |file|, which may be all zero, sets the flag |key|. Thread-compatible.
bool tfrt_cluster_file_sets(const tfrt_cluster_file_t* file, const char* key);

// Gives back what |file| has; one that is all zero has nothing. Thread-compatible.
void tfrt_cluster_file_free(tfrt_cluster_file_t* file);

#endif  // TFRT_TOOLS_CLUSTER_CLUSTER_FILE_H_
