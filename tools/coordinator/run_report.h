// SPDX-License-Identifier: Apache-2.0
//
// The output of `tfrt run` at its end: results, and errors with the root cause first.
//
// Thread rule: main thread only. Failure rule: none fails; output that can't be written is lost.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_
#define TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_

#include "host_runtime/async/async_value.h"

// How a run has ended.
typedef struct tfrt_run_outcome_s {
  const char* function;
  tfrt_async_value_t* const* results;  // +0; values or errors
  uint32_t result_count;
  tfrt_async_value_t* ended;  // +0; a chain, or the error that it has ended with; NULL: a chain
  tfrt_status_t cancelled;    // +0; why this process has cancelled it, or OK
  tfrt_status_t told;         // +0; an error that was printed while it ran, or OK
} tfrt_run_outcome_t;

// The results that are printed.
typedef enum tfrt_run_shown_e {
  TFRT_RUN_SHOWN_VALUES = 0,  // as TFRT prints them
  TFRT_RUN_SHOWN_TENSORS,     // and behind that the elements of tensors
  TFRT_RUN_SHOWN_ERRORS,      // values are written to files, or the best of them by --top
} tfrt_run_shown_t;

// How the user wants that said.
typedef struct tfrt_run_style_s {
  bool is_json;
  bool print_error_code;
  bool is_verbose;
  tfrt_run_shown_t shown;
} tfrt_run_style_t;

// Prints the results of |outcome| on the standard output and their errors on the standard error, in
// |style|; where all are values, also why something that none of them needs was cut off. Returns
// the first error of these (+0), or OK. Main thread only.
tfrt_status_t tfrt_run_report_results(const tfrt_run_outcome_t* outcome,
                                      const tfrt_run_style_t* style) TFRT_MUST_USE;

// Prints "tfrt: " and the error |status| (+0) on the standard error. Main thread only.
void tfrt_run_report_error(tfrt_status_t status);

// The same for an error that leaves no results; if |is_json| it stands in their place,
// `{"error":{...}}`. Main thread only.
void tfrt_run_report_failure(tfrt_status_t status, bool is_json);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_
