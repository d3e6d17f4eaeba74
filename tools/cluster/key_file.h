// SPDX-License-Identifier: Apache-2.0
//
// Files with keys: who may read them.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_TOOLS_CLUSTER_KEY_FILE_H_
#define TFRT_TOOLS_CLUSTER_KEY_FILE_H_

// Logs a warning if every user of the machine can read the file |path|, or others than its owner
// can write it. Says nothing of what is no regular file. Thread-safe.
void tfrt_key_file_check_mode(const char* path);

#endif  // TFRT_TOOLS_CLUSTER_KEY_FILE_H_
