// SPDX-License-Identifier: Apache-2.0
//
// Built-in functions whose result is a text: this host's state, the objects that live on it, the
// effect of an administrator's request.
//
//   Invoke --> text_answer_start --> write(execution, text), lock open --> Result "!tfrt.string"
//
// No step goes through the work queue: a client may ask because the work queue is stuck.
//
// Thread rule: as each function says.
// Failure rule: an error of |write|, or no memory for its text, is the result.
#ifndef TFRT_DISTRIBUTED_SERVICE_TEXT_ANSWER_H_
#define TFRT_DISTRIBUTED_SERVICE_TEXT_ANSWER_H_

#include "distributed/call/execution.h"

// Appends the answer to |out|, or says why there is none. Called with no lock held.
typedef tfrt_status_t (*tfrt_text_answer_fn_t)(tfrt_execution_t* execution,
                                               tfrt_string_builder_t* out);

// Runs the built-in function as |execution|, which has one result. Needs the node's lock.
void tfrt_text_answer_start(tfrt_execution_t* execution, tfrt_text_answer_fn_t write);

// Appends |text|, which may come from a peer, as one word: a character that is not plain becomes
// `_`, an empty text `-`. Thread-safe.
void tfrt_text_answer_add_word(tfrt_string_builder_t* out, tfrt_string_view_t text);

// Copies the first argument of |execution| to |out_text|, cut to |size| - 1 bytes; "" if it is no
// string that is here. Thread-safe, while the execution is not finished.
void tfrt_text_answer_read_question(const tfrt_execution_t* execution, char* out_text, size_t size);

// Sets |out_id| to the job whose id |text| begins with, in hexadecimal digits; false if it does
// not. Thread-safe.
bool tfrt_text_answer_read_job(const char* text, uint8_t out_id[TFRT_WIRE_JOB_ID_SIZE]);

// Returns the part of |*text| before its first blank, or all of it, and moves |*text| behind that
// blank. Thread-safe.
tfrt_string_view_t tfrt_text_answer_take_word(const char** text);

#endif  // TFRT_DISTRIBUTED_SERVICE_TEXT_ANSWER_H_
