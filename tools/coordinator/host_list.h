// SPDX-License-Identifier: Apache-2.0
//
// Hosts as a user names them: `HOST:PORT,HOST:PORT`, by rank.
//
// Thread rule: thread-compatible. Failure rule: INVALID_ARGUMENT with one line that says what
// is wrong where.
#ifndef TFRT_TOOLS_COORDINATOR_HOST_LIST_H_
#define TFRT_TOOLS_COORDINATOR_HOST_LIST_H_

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// The most hosts that a command line may name or start.
#define TFRT_HOST_LIST_MAX 256

// The views point into the text that was parsed.
typedef struct tfrt_host_list_s {
  tfrt_string_view_t addresses[TFRT_HOST_LIST_MAX];
  uint32_t count;
} tfrt_host_list_t;

// Splits |text|, the value of --hosts, at its commas. Thread-compatible.
tfrt_status_t tfrt_host_list_parse(const char* text, tfrt_host_list_t* out_list) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_HOST_LIST_H_
