// SPDX-License-Identifier: Apache-2.0
//
// Whether an entry of an op table is what its schema says (kernel_descriptor.h). All code believes
// an entry: the executor its counts and uses, the parser its custom form. So the entries of a
// kernel library are checked wherever they come in, by tools that translate and by those that run.
// Only what takes a parser to judge, how types are spelt and what defaults are, is left to those
// that have one.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT with one line that names the op and
// what is wrong with its entry.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_DESCRIPTOR_CHECK_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_DESCRIPTOR_CHECK_H_

#include "host_runtime/base/status.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// OK if |entry|, which has a name, is that of an op: its arrays are there, and it contradicts
// neither itself nor the schema. Thread-safe.
tfrt_status_t tfrt_descriptor_check_op(const tfrt_kernel_descriptor_t* entry) TFRT_MUST_USE;

// The same for a native function, whose name is free and which has no custom form. Thread-safe.
tfrt_status_t tfrt_descriptor_check_native(const tfrt_kernel_descriptor_t* entry) TFRT_MUST_USE;

// The error for |entry|; |format| says what is wrong. Thread-safe.
tfrt_status_t tfrt_descriptor_defect(const tfrt_kernel_descriptor_t* entry, const char* format, ...)
    TFRT_PRINTF(2, 3) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_DESCRIPTOR_CHECK_H_
