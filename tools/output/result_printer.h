// SPDX-License-Identifier: Apache-2.0
//
// How a function's results are printed: `'f' returned 1,<<error: Divide by zero>>`. Shared
// by bef_executor and the coordinator, which must print the same.
//
// Thread rule: thread-compatible. Failure rule: see string_builder.h.
#ifndef TFRT_TOOLS_OUTPUT_RESULT_PRINTER_H_
#define TFRT_TOOLS_OUTPUT_RESULT_PRINTER_H_

#include "host_runtime/async/async_value.h"

// Appends `'|function|' returned ` and the |count| resolved |results|, comma-separated: the
// number for i1, i32, i64, f32 and f64, `TYPE value` for other types, `<<error: MESSAGE>>`
// for errors, with `, code: CODE` if |print_error_code|. Thread-compatible.
void tfrt_result_printer_append(const char* function, tfrt_async_value_t* const* results,
                                uint32_t count, bool print_error_code, tfrt_string_builder_t* out);

// Appends a line for each of the |count| resolved |results| that is a dense tensor, with its first
// 20 elements: `result 0: f32 [2, 2]: 1, 2, 3, 4`. Thread-compatible.
void tfrt_result_printer_append_tensors(tfrt_async_value_t* const* results, uint32_t count,
                                        tfrt_string_builder_t* out);

// Appends the resolved |result| as a JSON object: `{"type":"i32","value":"1"}`, where a float is
// the shortest decimal number that reads back exactly, "nan", "inf" or "-inf"; or
// `{"error":{"code":"INTERNAL","message":...,"function":...,"kernel":...,"file":...,"line":1,
// "column":1,"rank":0}}`, where what is not known is left out. A dense tensor also has
// `"dtype":"f32", "shape":[2,2],"data":[1,2,3,"nan"]`, its elements row by row. Thread-compatible.
void tfrt_result_printer_append_json(tfrt_async_value_t* result, tfrt_string_builder_t* out);

// Appends the error |status| (+0) as the JSON object that it is as a result; or the one member of
// that, `"error":{...}`. Thread-compatible.
void tfrt_result_printer_append_json_error(tfrt_status_t status, tfrt_string_builder_t* out);
void tfrt_result_printer_append_json_error_member(tfrt_status_t status, tfrt_string_builder_t* out);

#endif  // TFRT_TOOLS_OUTPUT_RESULT_PRINTER_H_
