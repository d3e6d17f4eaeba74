// SPDX-License-Identifier: Apache-2.0
//
// Questions and answers of proto/service.proto as lines of text, which tools show and look through.
// Versions before FEATURE_ASK send them in the built-in functions TRACE, STATUS, INVENTORY, CANCEL
// and RECORD (proto/call.proto). Versions before FEATURE_FOLLOW send them in DRAIN, FOLLOW
// (following.h) and KEPT_RESULT.
//
//   text of a question --read--> tfrt_wire_question_t
//   bytes of an answer --write--> lines; --write_trace--> "!tfrt.trace" --trace_read--> spans
//
// A status has a line for each fact, a name and a number or text:
//
//    incarnation 1f2e3d4c5b6a7988
//    jobs 0 ... transfers 0            HostCounts
//    frames_sent 123 ... deaths 0      HostCounters
//    name demo-0
//    serving 1
//    peer 8899aabbccddeeff OPEN 312 127.0.0.1:7001 NAME 12 9 3020 1120 0 1000000
//                                      PeerPart
//
// An inventory has a line for each thing, a kind and its properties:
//
//    host     incarnation name serving
//    job      job name rank hosts root client age_us state
//    member   job rank incarnation address state
//    start    job number request function age_us state needs
//    call     job dir=in peer number depth request function age_us state needs
//    call     job dir=out peer number request function in from at age_us state
//    object   job id state type bytes age_us function holders loans
//    remote   job id owner state type bytes received age_us function at
//    receive  job request sender key name function at        nothing was sent yet
//    message  job request sender key                         nobody has received it yet
//    kernel   job request in name function at age_us
//    more     jobs members starts incoming_calls outgoing_calls objects remote_values mail
//                                                            that are not listed
//
//   needs: OWNER/ID of each; in: a start by its number, or a call as PEER.NUMBER; at:
//   FILE:LINE:COLUMN; an id of a value is NAMER.NUMBER.INDEX. A property that is not known is `-`,
//   or is left out.
//
// Thread rule: thread-compatible.
// Failure rule: INVALID_ARGUMENT for what is no question or no answer, with what is wrong;
// RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_SERVICE_PLAIN_FORM_H_
#define TFRT_DISTRIBUTED_SERVICE_PLAIN_FORM_H_

#include "distributed/wire/service.h"

// Longer than any name of a job, or of a call with a place.
#define TFRT_PLAIN_QUESTION_SIZE (TFRT_WIRE_MAX_NAME_SIZE + TFRT_WIRE_MAX_PATH_SIZE + 160)

// A question that was read, and what it points to.
typedef struct tfrt_plain_question_s {
  tfrt_wire_question_t question;
  tfrt_wire_location_t place;
  uint8_t job[TFRT_WIRE_JOB_ID_SIZE];
  char text[TFRT_PLAIN_QUESTION_SIZE];
} tfrt_plain_question_t;

// Sets |out_question| to the question of |kind|, about |text|: nothing, `job HEX` or `call HEX
// NUMBER PLACE` for a cancel; `clock`, `begin JOB MS`, `end JOB 0` or `read JOB SINCE` for a
// record, where JOB is a job's id in hexadecimal digits, or `-`; `JOB NUMBER` for a line or a
// result of a detached job.
tfrt_status_t tfrt_plain_question_read(tfrt_wire_question_kind_t kind, tfrt_string_view_t text,
                                       tfrt_plain_question_t* out_question) TFRT_MUST_USE;

// Appends |answer| to |out| as lines; a DonePart is `cancelled`, a DrainPart its number.
tfrt_status_t tfrt_plain_answer_write(tfrt_string_view_t answer, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Appends |text|, which may come from a peer, as one word: a character that is not plain becomes
// `_`, an empty text `-`.
void tfrt_plain_add_word(tfrt_string_builder_t* out, tfrt_string_view_t text);

#endif  // TFRT_DISTRIBUTED_SERVICE_PLAIN_FORM_H_
