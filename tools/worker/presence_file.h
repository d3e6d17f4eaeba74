// SPDX-License-Identifier: Apache-2.0
//
// A file that says that this process is here: its pid, or the address at which it listens.
// A reader sees all of the file or nothing. The process removes the file at its end, unless another
// process has taken its name meanwhile.
//
// Life: written once, removed once; one that was never written is all zeros.
//
// Thread rule: thread-compatible. Failure rule: as tfrt_file_write(); removing fails silently.
#ifndef TFRT_TOOLS_WORKER_PRESENCE_FILE_H_
#define TFRT_TOOLS_WORKER_PRESENCE_FILE_H_

#include <stdbool.h>
#include <sys/stat.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_presence_file_s {
  const char* path;      // outlives it
  struct stat identity;  // of the file that was written
  bool is_written;
} tfrt_presence_file_t;

// Makes |text| the content of the file |path|, which outlives |out_file|. Thread-compatible.
tfrt_status_t tfrt_presence_file_write(const char* path, const char* text,
                                       tfrt_presence_file_t* out_file) TFRT_MUST_USE;

// Removes the file, if it is still the one that was written. Thread-compatible.
void tfrt_presence_file_remove(tfrt_presence_file_t* file);

#endif  // TFRT_TOOLS_WORKER_PRESENCE_FILE_H_
