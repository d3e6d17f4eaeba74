// SPDX-License-Identifier: Apache-2.0
//
// Just enough to print JSON (RFC 8259): texts in quotes with everything escaped that must be, and
// numbers.
//
// Thread rule: thread-compatible. Failure rule: see string_builder.h.
#ifndef TFRT_TOOLS_OUTPUT_JSON_H_
#define TFRT_TOOLS_OUTPUT_JSON_H_

#include "host_runtime/base/string_builder.h"

// Appends |text| in quotes. Bytes that are no UTF-8 become U+FFFD, each. Thread-compatible.
void tfrt_json_append_string(tfrt_string_builder_t* out, tfrt_string_view_t text);

// Appends |value|, which is finite, as the shortest number that reads back as the same f64.
// Thread-compatible.
void tfrt_json_append_number(tfrt_string_builder_t* out, double value);

#endif  // TFRT_TOOLS_OUTPUT_JSON_H_
