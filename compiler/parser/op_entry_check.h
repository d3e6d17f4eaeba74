// SPDX-License-Identifier: Apache-2.0
//
// Whether an entry of an op table is what its schema says, as the runtime checks it
// (descriptor_check.h), and whether the texts in it, types and defaults, are what the parser
// makes of them. The entries of this project are checked by a test, those of a kernel library
// when it is loaded.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT with one line that names the op and
// what is wrong with its entry; RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_PARSER_OP_ENTRY_CHECK_H_
#define TFRT_COMPILER_PARSER_OP_ENTRY_CHECK_H_

#include "host_runtime/base/status.h"
#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// OK if |entry|, which has a name, contradicts neither itself nor the schema.
// Thread-safe.
tfrt_status_t tfrt_op_entry_check(const tfrt_kernel_descriptor_t* entry) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_PARSER_OP_ENTRY_CHECK_H_
