// SPDX-License-Identifier: Apache-2.0
//
// Writes how long each op of a program took, from the traces of a run, as
// tools/translation/cost_profile_file.h describes: an op's time is the median of its spans, on all
// hosts together. That is the time on the thread that started it: an op that goes on elsewhere has
// only that of its start, and a call has that of the kernels that it ran.
//
// Ops that did not run, or whose spans had no room in a trace, are left out.
//
// Thread rule: thread-compatible. Failure rule: see string_builder.h and file.h.
#ifndef TFRT_TOOLS_OUTPUT_KERNEL_PROFILE_H_
#define TFRT_TOOLS_OUTPUT_KERNEL_PROFILE_H_

#include "host_runtime/base/trace.h"
#include "host_runtime/bef/bef_file.h"

#define TFRT_PROFILE_FLAG "profile"
#define TFRT_PROFILE_HELP "write the time of each op there, for --use-profile of later translations"

// Writes what |count| |traces| have of the ops of |program| to the file |path|. Thread-compatible.
tfrt_status_t tfrt_kernel_profile_write(const char* path, tfrt_trace_t* const* traces, size_t count,
                                        const tfrt_bef_file_t* program) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_OUTPUT_KERNEL_PROFILE_H_
