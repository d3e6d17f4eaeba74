// SPDX-License-Identifier: Apache-2.0
//
// Reads and prints a host's report about itself (distributed/service/plain_form.h).
//
// Thread rule: thread-compatible. Failure rule: lines that nobody knows are skipped.
#ifndef TFRT_TOOLS_COORDINATOR_HOST_STATUS_H_
#define TFRT_TOOLS_COORDINATOR_HOST_STATUS_H_

#include "host_runtime/base/string_builder.h"

// Appends the titles of the table, then for each host one line, from its |report|. Widths fit
// addresses and names of usual length; what a host says is shown as tfrt_utf8_show() says.
// Thread-compatible.
void tfrt_host_status_append_titles(tfrt_string_builder_t* out);
void tfrt_host_status_append_line(tfrt_string_view_t address, tfrt_string_view_t report,
                                  tfrt_string_builder_t* out);

// Appends the line of a host that says nothing; |state| says why. Thread-compatible.
void tfrt_host_status_append_missing(tfrt_string_view_t address, const char* state,
                                     tfrt_string_builder_t* out);

// Appends |report| as a JSON object: a member for each line, numbers as numbers, what is not
// known as null, peers as an array of objects. Thread-compatible.
void tfrt_host_status_append_json(tfrt_string_view_t report, tfrt_string_builder_t* out);

#endif  // TFRT_TOOLS_COORDINATOR_HOST_STATUS_H_
