// SPDX-License-Identifier: Apache-2.0
//
// Results of a function as files: DIR/result_0.npy, DIR/result_1.npy, ...
//
// Thread rule: thread-compatible. Failure rule: the file system's, or UNIMPLEMENTED for a result
// that is no dense tensor.
#ifndef TFRT_TOOLS_OUTPUT_NPY_RESULTS_H_
#define TFRT_TOOLS_OUTPUT_NPY_RESULTS_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/status.h"

// Writes the |count| resolved |results|, which are no errors, to files in the folder |directory|,
// which is made if it isn't there, and prints a line for each.
tfrt_status_t tfrt_npy_results_write(const char* directory, tfrt_async_value_t* const* results,
                                     uint32_t count) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_OUTPUT_NPY_RESULTS_H_
