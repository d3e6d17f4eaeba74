// SPDX-License-Identifier: Apache-2.0
//
// The parts of an answer that is a message (proto/service.proto), what all of them need to be made,
// and the row for one kind of question, with the functions that answer it. Each file that finds
// answers has a row for each of its kinds, and answer.c has the list of them.
//
//   tfrt_wire_answer_part_t part = {...};     its texts and arrays in the arena
//   tfrt_answer_parts_emit(parts, &part);     appended to the answer; the arena is empty again
//
// Thread rule: parts need the node's lock; the functions of a row are thread-safe, and called with
// no lock held.
// Failure rule: after the first failure nothing is appended any more, and |status| says why.
#ifndef TFRT_DISTRIBUTED_SERVICE_ANSWER_PART_H_
#define TFRT_DISTRIBUTED_SERVICE_ANSWER_PART_H_

#include "distributed/call/execution.h"
#include "distributed/domain/call_site.h"
#include "distributed/domain/job.h"
#include "distributed/wire/service.h"

// --- Rows --------------------------------------------------------------------------

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
  // Where the answer is a value, and not parts: sets |*out_value| (+1) to it. |write| is NULL then.
  tfrt_status_t (*find)(tfrt_execution_t* execution, const tfrt_wire_question_t* question,
                        tfrt_async_value_t** out_value);
  // The built-in function of versions that ask with a text, the form of its result, and what makes
  // the bytes of that from the parts. One with |find| is asked with a message, too.
  uint32_t plain_function;
  tfrt_answer_form_t plain_form;
  tfrt_status_t (*write_plain)(tfrt_string_view_t parts, tfrt_string_builder_t* out);
} tfrt_answerer_t;

// --- Parts -------------------------------------------------------------------------

// The answer, and what its parts have in common.
typedef struct tfrt_answer_parts_s {
  tfrt_node_t* node;
  tfrt_job_t* job;  // whose parts are being made
  tfrt_string_builder_t* out;
  tfrt_arena_t arena;  // of the part that is being made
  int64_t now_ns;
  tfrt_status_t status;  // +1
} tfrt_answer_parts_t;

// Makes |parts| one of |node| that is appended to |out|; gives back what it has, and its status
// (+1).
void tfrt_answer_parts_initialize(tfrt_answer_parts_t* parts, tfrt_node_t* node,
                                  tfrt_string_builder_t* out);
tfrt_status_t tfrt_answer_parts_finish(tfrt_answer_parts_t* parts) TFRT_MUST_USE;

// Appends |part|.
void tfrt_answer_parts_emit(tfrt_answer_parts_t* parts, const tfrt_wire_answer_part_t* part);

// Zeroed room for |count| elements of |size| bytes, or NULL, and the parts have failed.
void* tfrt_answer_parts_room(tfrt_answer_parts_t* parts, size_t count, size_t size);

// The id of the job whose parts are being made; "" for none.
tfrt_string_view_t tfrt_answer_parts_job_id(const tfrt_answer_parts_t* parts);

// |text| (NULL: "") as a field of a message takes it: a name.
tfrt_string_view_t tfrt_answer_parts_text(tfrt_answer_parts_t* parts, const char* text);
tfrt_string_view_t tfrt_answer_parts_view(tfrt_answer_parts_t* parts, tfrt_string_view_t text);

// How long ago |since_ns|, of the node's clock, was, in microseconds.
uint64_t tfrt_answer_parts_age_us(const tfrt_answer_parts_t* parts, int64_t since_ns);

// Where something stands in a program's text; NULL if nothing is known of it.
const tfrt_wire_location_t* tfrt_answer_parts_place(tfrt_answer_parts_t* parts,
                                                    const tfrt_status_origin_t* place);

// State, type and size of |value|, which is here or will be; NULL: nobody needs it so far.
tfrt_wire_value_info_t tfrt_answer_parts_value(tfrt_answer_parts_t* parts,
                                               tfrt_async_value_t* value);

#endif  // TFRT_DISTRIBUTED_SERVICE_ANSWER_PART_H_
