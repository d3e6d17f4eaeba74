// SPDX-License-Identifier: Apache-2.0
//
// Built-in functions whose result is made of bytes: this host's state, the objects that live on it,
// the effect of an administrator's request.
//
//   Invoke --> answer_start --> write(execution, bytes), lock open --> Result of the answer's form
//
// No step goes through the work queue: a client may ask because the work queue
// is stuck.
//
// Thread rule: as each function says.
// Failure rule: an error of |write|, or no memory for its bytes, is the result.
#ifndef TFRT_DISTRIBUTED_SERVICE_ANSWER_H_
#define TFRT_DISTRIBUTED_SERVICE_ANSWER_H_

#include "distributed/call/execution.h"

// The type of an answer; the payloads of all are those of a string.
typedef enum tfrt_answer_form_e {
  TFRT_ANSWER_TEXT,     // "!tfrt.string"
  TFRT_ANSWER_TRACE,    // "!tfrt.trace", as proto/README.md describes it
  TFRT_ANSWER_MESSAGE,  // "!tfrt.message", as proto/service.proto describes it
} tfrt_answer_form_t;

// Appends the answer to |out|, or says why there is none. Called with no lock held.
typedef tfrt_status_t (*tfrt_answer_fn_t)(tfrt_execution_t* execution, tfrt_string_builder_t* out);

// Sets |*out_type| to the type of answers of |form|. Thread-safe.
tfrt_status_t tfrt_answer_type(tfrt_answer_form_t form, tfrt_type_id_t* out_type) TFRT_MUST_USE;

// A value (+1) of |form| with a copy of |bytes|, or an error. Thread-safe.
tfrt_async_value_t* tfrt_answer_create(tfrt_answer_form_t form, tfrt_string_view_t bytes,
                                       tfrt_allocator_t allocator);

// Runs the built-in function as |execution|, which has one result. Needs the node's lock.
void tfrt_answer_start(tfrt_execution_t* execution, tfrt_answer_form_t form,
                       tfrt_answer_fn_t write);

// The bytes of the first argument of |execution|; "" if it is no text that is here. Thread-safe,
// while the execution is not finished.
tfrt_string_view_t tfrt_answer_question(const tfrt_execution_t* execution);

// Copies them to |out_text|, cut to |size| - 1 bytes. Thread-safe as above.
void tfrt_answer_read_question(const tfrt_execution_t* execution, char* out_text, size_t size);

#endif  // TFRT_DISTRIBUTED_SERVICE_ANSWER_H_
