// SPDX-License-Identifier: Apache-2.0
//
// Records of training data, as TensorFlow writes them: protobuf messages of the type
// Example, which map names to lists of values. Read as they lie, without a generated parser:
//
//   Example   { 1: Features }                   Features { 1: { 1: key, 2: Feature } ... }
//   Feature   { 1: list of bytes | 2: list of floats | 3: list of i64 }
//   list      { 1: value ... }, or, for numbers, also { 1: values in one piece }
//
// If a key occurs twice, or a feature has two lists, the last one counts, as for any protobuf
// reader. Fields of other numbers are skipped.
//
// Thread rule: thread-safe.
// Failure rule: INVALID_ARGUMENT; the bytes come from a file and are not trusted.
#ifndef TFRT_KERNELS_TENSOR_FILES_EXAMPLE_RECORD_H_
#define TFRT_KERNELS_TENSOR_FILES_EXAMPLE_RECORD_H_

#include <stdint.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// OK if |record| is an Example as far as the above goes. Thread-safe.
tfrt_status_t tfrt_example_check(tfrt_string_view_t record) TFRT_MUST_USE;

// Sets |*out_value| to the bytes, inside |record|, which was checked, of the feature |key|,
// which must be a list of one. Thread-safe.
tfrt_status_t tfrt_example_find_bytes(tfrt_string_view_t record, tfrt_string_view_t key,
                                      tfrt_string_view_t* out_value) TFRT_MUST_USE;

// The same for a list of one i64. Thread-safe.
tfrt_status_t tfrt_example_find_i64(tfrt_string_view_t record, tfrt_string_view_t key,
                                    int64_t* out_value) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_FILES_EXAMPLE_RECORD_H_
