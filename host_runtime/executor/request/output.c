// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/output.h"

#include <stdio.h>

static tfrt_async_value_t* output_standard_print(tfrt_output_t* output, tfrt_string_view_t text,
                                                 tfrt_call_scope_t* scope) {
  (void)output;
  (void)scope;
  // One lock around both, so that lines of several threads stay whole.
  flockfile(stdout);
  size_t written = fwrite(text.data, 1, text.size, stdout);
  int newline = putc('\n', stdout);
  funlockfile(stdout);
  if (written == text.size && newline != EOF) return tfrt_async_value_ready_chain();
  return tfrt_async_value_create_error_take(
      tfrt_status_create(TFRT_STATUS_DATA_LOSS, "can't write to the standard output"));
}

static const tfrt_output_vtable_t tfrt_output_standard_vtable = {
    .print = output_standard_print,
};

tfrt_output_t* tfrt_output_standard(void) {
  static tfrt_output_t output = {.vtable = &tfrt_output_standard_vtable};
  return &output;
}

void tfrt_output_flush_standard(void) { fflush(stdout); }
