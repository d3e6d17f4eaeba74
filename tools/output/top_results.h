// SPDX-License-Identifier: Apache-2.0
//
// The best scores of a classifier: of each row of a tensor (its last axis), the greatest elements,
// with their labels.
//
//   result 0, row 0:
//     0.8312 markdown
//     0.1034 text
//
// Thread rule: thread-compatible. Failure rule: one line that names the result or the file.
#ifndef TFRT_TOOLS_OUTPUT_TOP_RESULTS_H_
#define TFRT_TOOLS_OUTPUT_TOP_RESULTS_H_

#include "host_runtime/async/async_value.h"

// Appends the |top| greatest elements of each row of the |count| resolved |results|, the greatest
// first, each with the line of the file |labels_path| that has its index, or, if that is NULL, with
// its index. Equal elements keep their order; NaN goes last. Results that are no tensors of f32
// with an axis are left out. INVALID_ARGUMENT if all are, and for a file that has another number of
// lines than a row has elements.
tfrt_status_t tfrt_top_results_append(tfrt_async_value_t* const* results, uint32_t count,
                                      uint32_t top, const char* labels_path,
                                      tfrt_string_builder_t* out) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_OUTPUT_TOP_RESULTS_H_
