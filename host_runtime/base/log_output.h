// SPDX-License-Identifier: Apache-2.0
//
// The standard error as the log writes to it: a whole line or nothing, and without waiting for a
// reader. Private to this room.
//
// The flag that makes writing return at once belongs to an open file, which other processes may
// share: so a pipe or a terminal is opened anew for this process. A socket takes the flag with each
// message. Files are written as they are: they never make a writer wait for a reader.
//
// Thread rule: thread-safe.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_LOG_OUTPUT_H_
#define TFRT_HOST_RUNTIME_BASE_LOG_OUTPUT_H_

#include <stdbool.h>
#include <stddef.h>

// Writes |size| bytes of |line|, at most PIPE_BUF. False if there was no room for them, or they
// could not be written. Thread-safe.
bool tfrt_log_output_write(const char* line, size_t size);

#endif  // TFRT_HOST_RUNTIME_BASE_LOG_OUTPUT_H_
