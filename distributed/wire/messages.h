// SPDX-License-Identifier: Apache-2.0
//
// The tables of all messages that more than one source needs; each stands beside the
// structs that it describes (batch.c, call.c, ...). Private to this folder and its tests.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_MESSAGES_H_
#define TFRT_DISTRIBUTED_WIRE_MESSAGES_H_

#include "distributed/wire/schema.h"

// Parts of other messages.
extern const tfrt_wire_message_t tfrt_wire_origin_message;
extern const tfrt_wire_message_t tfrt_wire_error_message;
extern const tfrt_wire_message_t tfrt_wire_object_id_message;
extern const tfrt_wire_message_t tfrt_wire_reference_message;
extern const tfrt_wire_message_t tfrt_wire_value_message;
extern const tfrt_wire_message_t tfrt_wire_item_message;
extern const tfrt_wire_message_t tfrt_wire_location_message;

// Messages of a control stream.
extern const tfrt_wire_message_t tfrt_wire_frame_message;
extern const tfrt_wire_message_t tfrt_wire_batch_message;

// Bodies of frames.
extern const tfrt_wire_message_t tfrt_wire_hello_message;
extern const tfrt_wire_message_t tfrt_wire_welcome_message;
extern const tfrt_wire_message_t tfrt_wire_refuse_message;
extern const tfrt_wire_message_t tfrt_wire_goodbye_message;
extern const tfrt_wire_message_t tfrt_wire_job_attach_message;
extern const tfrt_wire_message_t tfrt_wire_job_gone_message;
extern const tfrt_wire_message_t tfrt_wire_job_open_message;
extern const tfrt_wire_message_t tfrt_wire_job_opened_message;
extern const tfrt_wire_message_t tfrt_wire_job_start_message;
extern const tfrt_wire_message_t tfrt_wire_job_end_message;
extern const tfrt_wire_message_t tfrt_wire_job_close_message;
extern const tfrt_wire_message_t tfrt_wire_job_detach_message;
extern const tfrt_wire_message_t tfrt_wire_program_message;
extern const tfrt_wire_message_t tfrt_wire_invoke_message;
extern const tfrt_wire_message_t tfrt_wire_void_message;
extern const tfrt_wire_message_t tfrt_wire_result_message;
extern const tfrt_wire_message_t tfrt_wire_cancel_message;
extern const tfrt_wire_message_t tfrt_wire_cancel_request_message;
extern const tfrt_wire_message_t tfrt_wire_end_request_message;
extern const tfrt_wire_message_t tfrt_wire_hurry_message;
extern const tfrt_wire_message_t tfrt_wire_want_message;
extern const tfrt_wire_message_t tfrt_wire_resolve_message;
extern const tfrt_wire_message_t tfrt_wire_unwant_message;
extern const tfrt_wire_message_t tfrt_wire_retain_message;
extern const tfrt_wire_message_t tfrt_wire_retained_message;
extern const tfrt_wire_message_t tfrt_wire_release_message;
extern const tfrt_wire_message_t tfrt_wire_lost_message;
extern const tfrt_wire_message_t tfrt_wire_replace_message;
extern const tfrt_wire_message_t tfrt_wire_push_message;

// Messages of a bulk lane.
extern const tfrt_wire_message_t tfrt_wire_chunk_message;
extern const tfrt_wire_message_t tfrt_wire_bulk_up_message;
extern const tfrt_wire_message_t tfrt_wire_bulk_down_message;

// A question of a client to a host, and a part of the answer.
extern const tfrt_wire_message_t tfrt_wire_question_message;
extern const tfrt_wire_message_t tfrt_wire_answer_part_message;

// The table of a frame's body, by tfrt_wire_frame_kind_t, or NULL. Thread-safe.
const tfrt_wire_message_t* tfrt_wire_frame_message_of(uint32_t kind);

#endif  // TFRT_DISTRIBUTED_WIRE_MESSAGES_H_
