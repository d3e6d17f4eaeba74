// SPDX-License-Identifier: Apache-2.0
//
// A small tensor that a user writes into the command line:
//
//   [[1, 2.5], [3, 4]]      f32, 2 x 2: one number is no whole one
//   [1, 2, 3]               i64, the default for whole numbers
//   [1, 2, 3]:i32           of the type behind the colon
//   16000:i64               without axes
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT with what is wrong with the text.
#ifndef TFRT_TOOLS_COMMAND_LINE_TENSOR_TEXT_H_
#define TFRT_TOOLS_COMMAND_LINE_TENSOR_TEXT_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Whether |text| is written as a tensor is: it begins with a bracket, or is a number with a colon
// and a type.
bool tfrt_tensor_text_matches(const char* text);

// Makes |*out_tensor| the tensor that |text| is.
tfrt_status_t tfrt_tensor_text_parse(const char* text, tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COMMAND_LINE_TENSOR_TEXT_H_
