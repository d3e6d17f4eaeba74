// SPDX-License-Identifier: Apache-2.0
//
// Names of ops that are like one that nobody has: for "did you mean".
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_SIMILAR_NAME_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_SIMILAR_NAME_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// How far |name| is from |other|: the bytes to insert, delete or replace, and less for one that
// only has another dialect in front. SIZE_MAX: too far for a suggestion. Thread-safe.
size_t tfrt_similar_name_distance(tfrt_string_view_t name, tfrt_string_view_t other);

// The entry of the |table_count| |tables| whose name is nearest to |name|, or NULL. Thread-safe.
const tfrt_kernel_descriptor_t* tfrt_similar_name_find(const tfrt_kernel_table_t* tables,
                                                       size_t table_count, tfrt_string_view_t name);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_SIMILAR_NAME_H_
