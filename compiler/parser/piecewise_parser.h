// SPDX-License-Identifier: Apache-2.0
//
// The parser of texts that are much bigger than each function in them. It keeps the heads of the
// functions. The body of a function is in memory only while it is looked at:
//
//   open    text --> module [ head f ] [ head g ] ...    bodies are skipped, from brace to brace
//   read    head g --> g with its body                   until the next one is read
//
// Life:
//  1. Opened: the text is parsed but for the bodies of the functions of modules.
//  2. Functions are read, in any order.
//  3. Closed; what is left goes with the context.
//
// Other functions, and all other ops, stay in memory. So do types, attributes, names.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL for any text that has an error, or in which something stands that makes this
// not worth while: the caller parses such a text as a whole, which reports what is wrong.
#ifndef TFRT_COMPILER_PARSER_PIECEWISE_PARSER_H_
#define TFRT_COMPILER_PARSER_PIECEWISE_PARSER_H_

#include "compiler/parser/parser.h"

typedef struct tfrt_piecewise_parser_s tfrt_piecewise_parser_t;

// Parses the text of |diagnostics| into |context| as tfrt_parse_module() does, but for the bodies.
// Sets |*out_parser| and returns the module, or NULL: then the context is good for nothing more.
// The text has no error only if all functions can be read, too. Thread-compatible (caller
// synchronises).
tfrt_ir_operation_t* tfrt_piecewise_parser_open(tfrt_ir_context_t* context,
                                                const tfrt_op_tables_t* tables,
                                                tfrt_diagnostics_t* diagnostics,
                                                tfrt_piecewise_parser_t** out_parser);

// Returns the function with the |head| that the module has, and with its body, or NULL. It lives
// until the next one is read. Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_piecewise_parser_read(tfrt_piecewise_parser_t* parser,
                                                const tfrt_ir_operation_t* head);

// Gives back |parser|; NULL is allowed. Thread-compatible (caller synchronises).
void tfrt_piecewise_parser_close(tfrt_piecewise_parser_t* parser);

#endif  // TFRT_COMPILER_PARSER_PIECEWISE_PARSER_H_
