// SPDX-License-Identifier: Apache-2.0
//
// The file of a profile, as --profile writes it (tools/output/kernel_profile.h) and --use-profile
// reads it. It is JSON:
//
//   {"tfrt_profile": 1, "ops": [
//   {"kernel": "my.heavy", "file": "a.mlir", "line": 3, "column": 8, "count": 200, "median_ns":
//   812},
//   {"kernel": "tfrt.add.i32", "count": 200, "median_ns": 45}
//   ]}
//
// An op without a file has no place in a text. Other keys of an op are skipped.
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT with one line that names the file, the line and the fix;
// RESOURCE_EXHAUSTED; those of reading a file.
#ifndef TFRT_TOOLS_TRANSLATION_COST_PROFILE_FILE_H_
#define TFRT_TOOLS_TRANSLATION_COST_PROFILE_FILE_H_

#include "compiler/passes/cost_profile.h"

#define TFRT_USE_PROFILE_FLAG "use-profile"
#define TFRT_USE_PROFILE_HELP \
  "spread the ops over threads by the times in FILE, which an earlier run wrote with --profile"

// Adds the ops of the file |path| to |profile|. Thread-compatible.
tfrt_status_t tfrt_cost_profile_file_load(const char* path, tfrt_cost_profile_t* profile)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_TRANSLATION_COST_PROFILE_FILE_H_
