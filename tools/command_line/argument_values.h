// SPDX-License-Identifier: Apache-2.0
//
// Values for a function's parameters from the command line: `--arg NAME=VALUE`, where NAME
// is the parameter's name in the text or its position. The parameter's type decides how VALUE is
// read: a number for i1, i8 ... f64; the text itself for a string; a file (tensor_file.h) or the
// numbers themselves (tensor_text.h) for a tensor.
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT or NOT_FOUND with one line that names the argument, what
// was given and what would do.
#ifndef TFRT_TOOLS_COMMAND_LINE_ARGUMENT_VALUES_H_
#define TFRT_TOOLS_COMMAND_LINE_ARGUMENT_VALUES_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/bef/bef_file.h"
#include "tools/command_line/flags.h"
#include "tools/command_line/image_file.h"

// Sets |out_values|, room for |function->argument_count| entries, to available values (+1)
// as |arguments| say, and, unless that is NULL, the files of |images|. Each parameter must be given
// exactly once, or once by the defaults among them and once by the others, which go before. A chain
// need not be given: it is ready. On an error all entries are NULL. Thread-compatible.
tfrt_status_t tfrt_argument_values_parse(const tfrt_bef_function_t* function,
                                         const tfrt_flag_list_t* arguments,
                                         const tfrt_image_flags_t* images,
                                         tfrt_async_value_t** out_values) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COMMAND_LINE_ARGUMENT_VALUES_H_
