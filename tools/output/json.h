// SPDX-License-Identifier: Apache-2.0
//
// Just enough to print JSON: texts in quotes with everything escaped that must be, as RFC 8259 has
// it.
//
// Thread rule: thread-compatible. Failure rule: see string_builder.h.
#ifndef TFRT_TOOLS_OUTPUT_JSON_H_
#define TFRT_TOOLS_OUTPUT_JSON_H_

#include "host_runtime/base/string_builder.h"

// Appends |text| in quotes. Bytes that are no UTF-8 become U+FFFD, each. Thread-compatible.
void tfrt_json_append_string(tfrt_string_builder_t* out, tfrt_string_view_t text);

#endif  // TFRT_TOOLS_OUTPUT_JSON_H_
