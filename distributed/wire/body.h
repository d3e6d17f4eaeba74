// SPDX-License-Identifier: Apache-2.0
//
// The body of a frame: one of the messages of session.h, job.h, call.h and object.h.
//
//   tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_UNWANT, .unwant = {.want = 3}};
//   status = tfrt_wire_body_encode(&body, &builder);
//
//   status = tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body);
//   switch (body.kind) { case TFRT_WIRE_FRAME_UNWANT: ... body.unwant.want ...
//
// Thread rule: a value; functions are thread-safe as long as the caller owns arena and
// builder.
// Failure rule: as in batch.h.
#ifndef TFRT_DISTRIBUTED_WIRE_BODY_H_
#define TFRT_DISTRIBUTED_WIRE_BODY_H_

#include "distributed/wire/batch.h"
#include "distributed/wire/call.h"
#include "distributed/wire/job.h"
#include "distributed/wire/object.h"
#include "distributed/wire/session.h"

typedef struct tfrt_wire_body_s {
  uint32_t kind;  // tfrt_wire_frame_kind_t: which member is in use
  union {
    tfrt_wire_hello_t hello;
    tfrt_wire_welcome_t welcome;
    tfrt_wire_refuse_t refuse;
    tfrt_wire_goodbye_t goodbye;
    tfrt_wire_job_attach_t job_attach;
    tfrt_wire_job_gone_t job_gone;
    tfrt_wire_job_open_t job_open;
    tfrt_wire_job_opened_t job_opened;
    tfrt_wire_job_start_t job_start;
    tfrt_wire_job_end_t job_end;
    tfrt_wire_job_close_t job_close;
    tfrt_wire_job_detach_t job_detach;
    tfrt_wire_program_t program;
    tfrt_wire_invoke_t invoke;
    tfrt_wire_void_t void_call;
    tfrt_wire_result_t result;
    tfrt_wire_cancel_t cancel;
    tfrt_wire_cancel_request_t cancel_request;
    tfrt_wire_end_request_t end_request;
    tfrt_wire_hurry_t hurry;
    tfrt_wire_want_t want;
    tfrt_wire_resolve_t resolve;
    tfrt_wire_unwant_t unwant;
    tfrt_wire_retain_t retain;
    tfrt_wire_retained_t retained;
    tfrt_wire_release_t release;
    tfrt_wire_lost_t lost;
    tfrt_wire_replace_t replace;
    tfrt_wire_push_t push;
  };
} tfrt_wire_body_t;

// Appends |body| in bytes to |out|. INVALID_ARGUMENT if its kind is unknown or it breaks a
// limit (then |out| is unchanged), RESOURCE_EXHAUSTED when memory is out.
// Thread-compatible.
tfrt_status_t tfrt_wire_body_encode(const tfrt_wire_body_t* body, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Decodes the untrusted |bytes| of a frame of |kind| into |*out_body|, with arrays in
// |arena|. Texts and payloads stay in |bytes|; the body lives as long as both.
// INVALID_ARGUMENT naming message and field, UNIMPLEMENTED if this code doesn't know
// |kind|, RESOURCE_EXHAUSTED when memory is out; |*out_body| is zero then.
// Thread-compatible.
tfrt_status_t tfrt_wire_body_decode(uint32_t kind, tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                    tfrt_wire_body_t* out_body) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_BODY_H_
