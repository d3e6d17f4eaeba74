// SPDX-License-Identifier: Apache-2.0
//
// The destination of the lines that kernels print: the standard output of this process on one host,
// the coordinator's terminal in a job. A line is written whole. The chain of a print becomes
// available when the line has arrived, so chains order lines across hosts. A call is not over
// before its lines have arrived. So lines that are printed after its end come after them, even
// without a chain.
//
// Thread rule: |print| is called from any thread, with no lock held.
// Failure rule: a line that can't be delivered makes the chain an error.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_OUTPUT_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_OUTPUT_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/executor/request/execution_context.h"

TFRT_API_BEGIN

typedef struct tfrt_output_s tfrt_output_t;

typedef struct tfrt_output_vtable_s {
  // Writes |text| (borrowed; one or more whole lines, without the last newline) and
  // returns a chain (+1). An output that needs longer than the call of this function enters
  // |scope| (+0; NULL: nobody asks) until the text is where it belongs.
  tfrt_async_value_t* (*print)(tfrt_output_t* output, tfrt_string_view_t text,
                               tfrt_call_scope_t* scope);
} tfrt_output_vtable_t;

// Embedded first in every output; owned by its maker, and outlives the requests that print to it.
struct tfrt_output_s {
  const tfrt_output_vtable_t* vtable;
};

// The process's standard output, buffered until tfrt_output_flush_standard().
// Thread-safe.
tfrt_output_t* tfrt_output_standard(void);

// Writes what tfrt_output_standard() has buffered. Thread-safe.
void tfrt_output_flush_standard(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_OUTPUT_H_
