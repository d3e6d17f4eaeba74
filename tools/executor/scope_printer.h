// SPDX-License-Identifier: Apache-2.0
//
// Tracing as bef_executor offers it: a trace that records what runs, to which the driver adds
// scopes of its own, and what is made of it.
//
//   level     scopes
//   default   the driver, each function
//   verbose   and the processing of each function's kernels
//   debug     and each kernel
//
// Either the scopes are printed while they run, `Scope:NAME` and `End Scope`, or, at the
// end, the first 100 spans of each thread go to the log.
//
// Life: started, used by the driver's one thread and, through |trace|, by kernels; ended.
//
// Thread rule: thread-compatible but for |trace|. Failure rule: a level that is none is
// INVALID_ARGUMENT.
#ifndef TFRT_TOOLS_EXECUTOR_SCOPE_PRINTER_H_
#define TFRT_TOOLS_EXECUTOR_SCOPE_PRINTER_H_

#include <stdbool.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/trace.h"

typedef enum tfrt_scope_level_e {
  TFRT_SCOPE_DEFAULT = 0,
  TFRT_SCOPE_VERBOSE,
  TFRT_SCOPE_DEBUG,
} tfrt_scope_level_t;

typedef struct tfrt_scope_printer_s {
  tfrt_trace_t* trace;  // +1; NULL: nothing is traced
  tfrt_scope_level_t level;
  bool prints;  // while they run
} tfrt_scope_printer_t;

// Starts |printer| at the level named |level|; with |prints|, scopes are printed while they
// run. Errors: see above. Thread-compatible.
tfrt_status_t tfrt_scope_printer_start(tfrt_scope_printer_t* printer, const char* level,
                                       bool prints) TFRT_MUST_USE;

// The trace (+0) for requests, or NULL if kernels are not to be traced. Thread-safe.
tfrt_trace_t* tfrt_scope_printer_kernel_trace(const tfrt_scope_printer_t* printer);

// A scope of the driver begins, if |printer| goes as deep as |level|: its time, for the end.
// Driver's thread only.
int64_t tfrt_scope_printer_enter(tfrt_scope_printer_t* printer, tfrt_scope_level_t level,
                                 const char* name);

// The scope that began at |begin_ns| ends. Driver's thread only.
void tfrt_scope_printer_leave(tfrt_scope_printer_t* printer, tfrt_scope_level_t level,
                              const char* name, int64_t begin_ns);

// Ends |printer|: logs what it has to, and gives back the trace. Also if it was not started.
// Thread-compatible.
void tfrt_scope_printer_end(tfrt_scope_printer_t* printer);

#endif  // TFRT_TOOLS_EXECUTOR_SCOPE_PRINTER_H_
