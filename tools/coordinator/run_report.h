// SPDX-License-Identifier: Apache-2.0
//
// What `tfrt run` says at the end: results, and errors with the root cause first.
//
// Thread rule: main thread only. Failure rule: none fails; what can't be written is lost.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_
#define TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_

#include "tools/coordinator/run_plan.h"

// Prints the results of |plan| on the standard output and their errors on the standard error,
// as |options| say. Returns the error of the first result that is one (+0), or OK. Main thread
// only.
tfrt_status_t tfrt_run_report_results(const tfrt_run_plan_t* plan,
                                      const tfrt_run_options_t* options) TFRT_MUST_USE;

// Prints "tfrt: " and the error |status| (+0) on the standard error. Main thread only.
void tfrt_run_report_error(tfrt_status_t status);

// The same for an error because of which there are no results; where |options| ask for JSON, it
// stands in their place, `{"error":{...}}`. Main thread only.
void tfrt_run_report_failure(tfrt_status_t status, const tfrt_run_options_t* options);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_REPORT_H_
