// SPDX-License-Identifier: Apache-2.0
//
// One kind of question, and the functions that answer it. Each file that finds answers has a row
// for each of its kinds, and answer.c has the list of them.
//
// Thread rule: the functions are thread-safe, and called with no lock held.
// Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_ANSWERER_H_
#define TFRT_DISTRIBUTED_SERVICE_ANSWERER_H_

#include "distributed/call/execution.h"
#include "distributed/wire/service.h"

// The type of an answer; the payloads of all are those of a string.
typedef enum tfrt_answer_form_e {
  TFRT_ANSWER_TEXT = 0,  // "!tfrt.string"
  TFRT_ANSWER_TRACE,     // "!tfrt.trace", as proto/README.md describes it
  TFRT_ANSWER_MESSAGE,   // "!tfrt.message", as proto/service.proto describes it
} tfrt_answer_form_t;

typedef struct tfrt_answerer_s {
  tfrt_wire_question_kind_t kind;
  // Appends the parts of the answer for the call that |execution| is to |out|.
  tfrt_status_t (*write)(tfrt_execution_t* execution, const tfrt_wire_question_t* question,
                         tfrt_string_builder_t* out);
  // The built-in function of versions that ask with a text, the form of its result, and what makes
  // the bytes of that from the parts.
  uint32_t plain_function;
  tfrt_answer_form_t plain_form;
  tfrt_status_t (*write_plain)(tfrt_string_view_t parts, tfrt_string_builder_t* out);
} tfrt_answerer_t;

#endif  // TFRT_DISTRIBUTED_SERVICE_ANSWERER_H_
