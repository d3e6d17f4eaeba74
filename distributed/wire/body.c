// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/body.h"

#include "distributed/wire/decoder.h"
#include "distributed/wire/encoder.h"
#include "distributed/wire/limits.h"
#include "distributed/wire/messages.h"
#include "distributed/wire/packed.h"
#include "proto/call.pb-c.h"
#include "proto/job.pb-c.h"
#include "proto/object.pb-c.h"
#include "proto/session.pb-c.h"

// Where the members of the union begin: all at the same place.
#define TFRT_WIRE_BODY_OFFSET offsetof(tfrt_wire_body_t, hello)

// By kind; NULL: there is none.
static const tfrt_wire_message_t* const body_messages[] = {
    [TFRT_WIRE_FRAME_HELLO] = &tfrt_wire_hello_message,
    [TFRT_WIRE_FRAME_WELCOME] = &tfrt_wire_welcome_message,
    [TFRT_WIRE_FRAME_REFUSE] = &tfrt_wire_refuse_message,
    [TFRT_WIRE_FRAME_GOODBYE] = &tfrt_wire_goodbye_message,
    [TFRT_WIRE_FRAME_JOB_ATTACH] = &tfrt_wire_job_attach_message,
    [TFRT_WIRE_FRAME_JOB_GONE] = &tfrt_wire_job_gone_message,
    [TFRT_WIRE_FRAME_JOB_OPEN] = &tfrt_wire_job_open_message,
    [TFRT_WIRE_FRAME_JOB_OPENED] = &tfrt_wire_job_opened_message,
    [TFRT_WIRE_FRAME_JOB_START] = &tfrt_wire_job_start_message,
    [TFRT_WIRE_FRAME_JOB_END] = &tfrt_wire_job_end_message,
    [TFRT_WIRE_FRAME_JOB_CLOSE] = &tfrt_wire_job_close_message,
    [TFRT_WIRE_FRAME_JOB_DETACH] = &tfrt_wire_job_detach_message,
    [TFRT_WIRE_FRAME_PROGRAM] = &tfrt_wire_program_message,
    [TFRT_WIRE_FRAME_INVOKE] = &tfrt_wire_invoke_message,
    [TFRT_WIRE_FRAME_VOID] = &tfrt_wire_void_message,
    [TFRT_WIRE_FRAME_RESULT] = &tfrt_wire_result_message,
    [TFRT_WIRE_FRAME_CANCEL] = &tfrt_wire_cancel_message,
    [TFRT_WIRE_FRAME_CANCEL_REQUEST] = &tfrt_wire_cancel_request_message,
    [TFRT_WIRE_FRAME_END_REQUEST] = &tfrt_wire_end_request_message,
    [TFRT_WIRE_FRAME_HURRY] = &tfrt_wire_hurry_message,
    [TFRT_WIRE_FRAME_WANT] = &tfrt_wire_want_message,
    [TFRT_WIRE_FRAME_RESOLVE] = &tfrt_wire_resolve_message,
    [TFRT_WIRE_FRAME_UNWANT] = &tfrt_wire_unwant_message,
    [TFRT_WIRE_FRAME_RETAIN] = &tfrt_wire_retain_message,
    [TFRT_WIRE_FRAME_RETAINED] = &tfrt_wire_retained_message,
    [TFRT_WIRE_FRAME_RELEASE] = &tfrt_wire_release_message,
    [TFRT_WIRE_FRAME_LOST] = &tfrt_wire_lost_message,
    [TFRT_WIRE_FRAME_REPLACE] = &tfrt_wire_replace_message,
    [TFRT_WIRE_FRAME_PUSH] = &tfrt_wire_push_message,
};

// By kind, those that protobuf-c packs (packed.h); NULL: the codec by hand
// does.
static const ProtobufCMessageDescriptor* const packed_messages[] = {
    [TFRT_WIRE_FRAME_HELLO] = &tfrt__peer__v1__hello__descriptor,
    [TFRT_WIRE_FRAME_WELCOME] = &tfrt__peer__v1__welcome__descriptor,
    [TFRT_WIRE_FRAME_REFUSE] = &tfrt__peer__v1__refuse__descriptor,
    [TFRT_WIRE_FRAME_GOODBYE] = &tfrt__peer__v1__goodbye__descriptor,
    [TFRT_WIRE_FRAME_JOB_ATTACH] = &tfrt__peer__v1__job_attach__descriptor,
    [TFRT_WIRE_FRAME_JOB_GONE] = &tfrt__peer__v1__job_gone__descriptor,
    [TFRT_WIRE_FRAME_JOB_OPEN] = &tfrt__peer__v1__job_open__descriptor,
    [TFRT_WIRE_FRAME_JOB_OPENED] = &tfrt__peer__v1__job_opened__descriptor,
    [TFRT_WIRE_FRAME_JOB_START] = &tfrt__peer__v1__job_start__descriptor,
    [TFRT_WIRE_FRAME_JOB_END] = &tfrt__peer__v1__job_end__descriptor,
    [TFRT_WIRE_FRAME_JOB_CLOSE] = &tfrt__peer__v1__job_close__descriptor,
    [TFRT_WIRE_FRAME_JOB_DETACH] = &tfrt__peer__v1__job_detach__descriptor,
    [TFRT_WIRE_FRAME_VOID] = &tfrt__peer__v1__void__descriptor,
    [TFRT_WIRE_FRAME_CANCEL] = &tfrt__peer__v1__cancel__descriptor,
    [TFRT_WIRE_FRAME_CANCEL_REQUEST] = &tfrt__peer__v1__cancel_request__descriptor,
    [TFRT_WIRE_FRAME_END_REQUEST] = &tfrt__peer__v1__end_request__descriptor,
    [TFRT_WIRE_FRAME_HURRY] = &tfrt__peer__v1__hurry__descriptor,
    [TFRT_WIRE_FRAME_PROGRAM] = &tfrt__peer__v1__program__descriptor,
    [TFRT_WIRE_FRAME_WANT] = &tfrt__peer__v1__want__descriptor,
    [TFRT_WIRE_FRAME_UNWANT] = &tfrt__peer__v1__unwant__descriptor,
    [TFRT_WIRE_FRAME_RETAIN] = &tfrt__peer__v1__retain__descriptor,
    [TFRT_WIRE_FRAME_RETAINED] = &tfrt__peer__v1__retained__descriptor,
    [TFRT_WIRE_FRAME_RELEASE] = &tfrt__peer__v1__release__descriptor,
    [TFRT_WIRE_FRAME_LOST] = &tfrt__peer__v1__lost__descriptor,
    [TFRT_WIRE_FRAME_REPLACE] = &tfrt__peer__v1__replace__descriptor,
    [TFRT_WIRE_FRAME_PUSH] = &tfrt__peer__v1__push__descriptor,
};

static const ProtobufCMessageDescriptor* packed_message_of(uint32_t kind) {
  return kind < TFRT_ARRAY_SIZE(packed_messages) ? packed_messages[kind] : NULL;
}

const tfrt_wire_message_t* tfrt_wire_frame_message_of(uint32_t kind) {
  return kind < TFRT_ARRAY_SIZE(body_messages) ? body_messages[kind] : NULL;
}

tfrt_status_t tfrt_wire_body_encode(const tfrt_wire_body_t* body, tfrt_string_builder_t* out) {
  const tfrt_wire_message_t* message = tfrt_wire_frame_message_of(body->kind);
  if (!message) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Frame.kind: %u is not known",
                              body->kind);
  }
  const ProtobufCMessageDescriptor* packed = packed_message_of(body->kind);
  const void* object = (const char*)body + TFRT_WIRE_BODY_OFFSET;
  return packed ? tfrt_wire_pack(packed, message, object, out)
                : tfrt_wire_encode(message, object, out);
}

static tfrt_status_t decode(uint32_t kind, tfrt_string_view_t bytes, tfrt_arena_t* arena,
                            void* out_object) {
  const tfrt_wire_message_t* message = tfrt_wire_frame_message_of(kind);
  if (!message) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "Frame.kind: %u is not known", kind);
  }
  const ProtobufCMessageDescriptor* packed = packed_message_of(kind);
  return packed ? tfrt_wire_unpack(packed, message, bytes, TFRT_WIRE_MAX_DECODED_SIZE, arena,
                                   out_object)
                : tfrt_wire_decode(message, bytes, arena, out_object);
}

tfrt_status_t tfrt_wire_body_decode(uint32_t kind, tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                    tfrt_wire_body_t* out_body) {
  tfrt_status_t status = decode(kind, bytes, arena, (char*)out_body + TFRT_WIRE_BODY_OFFSET);
  if (status) {
    *out_body = (tfrt_wire_body_t){0};
    return status;
  }
  out_body->kind = kind;
  return NULL;
}
