// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/batch.h"

#include "distributed/wire/limits.h"
#include "distributed/wire/walks.h"
#include "proto/call.pb-c.h"
#include "proto/job.pb-c.h"
#include "proto/object.pb-c.h"
#include "proto/session.pb-c.h"

TFRT_WIRE_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

// By kind. The descriptor is protobuf-c's, of those that it packs (packed.c); NULL: the walks by
// rows do.
static const struct {
  const tfrt_wire_message_t* message;  // NULL: no such kind
  const ProtobufCMessageDescriptor* descriptor;
  tfrt_wire_frame_scope_t scope;
} kinds[] = {
// "void" is a word of C.
#define tfrt__peer__v1__void_call__descriptor tfrt__peer__v1__void__descriptor
#define TFRT_WIRE_DESCRIPTOR_OF_PACKED(message) &tfrt__peer__v1__##message##__descriptor
#define TFRT_WIRE_DESCRIPTOR_OF_WALKED(message) NULL
#define TFRT_WIRE_KIND(kind, number, message, scope, form, ...)                        \
  [number] = {&tfrt_wire_##message##_message, TFRT_WIRE_DESCRIPTOR_OF_##form(message), \
              TFRT_WIRE_SCOPE_##scope},
    TFRT_WIRE_FRAMES(TFRT_WIRE_KIND)
#undef TFRT_WIRE_KIND
};

static const tfrt_wire_field_t trace_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_trace_t, trace_id_high, 1, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_trace_t, trace_id_low, 2, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_trace_t, span_id, 3, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_trace_t, flags, 4, UINT32),
};
static const tfrt_wire_message_t trace_message =
    TFRT_WIRE_MESSAGE("Trace", tfrt_wire_trace_t, trace_fields);

static const tfrt_wire_field_t frame_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, kind, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, job, 2, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, epoch, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, request, 4, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, has_budget, 5, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, budget_us, 6, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, trace, 7, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &trace_message),
    TFRT_WIRE_FIELD(tfrt_wire_frame_t, body, 15, BYTES, .limit = TFRT_WIRE_MAX_BATCH_SIZE),
};

static tfrt_status_t check_frame(const void* object) {
  const tfrt_wire_frame_t* frame = object;
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) return NULL;
  bool is_session = tfrt_wire_frame_kind_is_session(frame->kind);
  if (is_session == (frame->job == 0)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Frame.job: %u, but %s %s job",
                            frame->job, tfrt_wire_frame_kind_name(frame->kind),
                            is_session ? "belongs to no" : "needs a");
}

TFRT_WIRE_WALKS(tfrt_wire_frame)
const tfrt_wire_message_t tfrt_wire_frame_message =
    TFRT_WIRE_MESSAGE("Frame", tfrt_wire_frame_t, frame_fields, .check = check_frame,
                      TFRT_WIRE_WALKED(tfrt_wire_frame));

static const tfrt_wire_field_t running_kernel_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_running_kernel_t, location, 1, MESSAGE,
                    .message = &tfrt_wire_origin_message),
    TFRT_WIRE_FIELD(tfrt_wire_running_kernel_t, age_us, 2, UINT64),
};
static const tfrt_wire_message_t running_kernel_message =
    TFRT_WIRE_MESSAGE("RunningKernel", tfrt_wire_running_kernel_t, running_kernel_fields);

static const tfrt_wire_field_t heartbeat_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, number, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, echo, 2, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, echo_delay_us, 3, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, clock_us, 4, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, named, 5, UINT64, .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, kernels_started, 6, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, kernels_retired, 7, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, loop_turns, 8, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, device_streams, 9, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, queued, 10, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_heartbeat_t, oldest, 11, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &running_kernel_message),
};
static const tfrt_wire_message_t heartbeat_message =
    TFRT_WIRE_MESSAGE("Heartbeat", tfrt_wire_heartbeat_t, heartbeat_fields);

static const tfrt_wire_field_t batch_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, version, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, from_incarnation, 2, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, to_incarnation, 3, FIXED64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, session, 4, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, first_seq, 5, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, ack, 6, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, call_limit, 7, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, want_limit, 8, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, age_us, 9, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_batch_t, heartbeat, 10, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &heartbeat_message),
    TFRT_WIRE_REPEATED(tfrt_wire_batch_t, frames, frame_count, 15, MESSAGE, TFRT_WIRE_MAX_FRAMES,
                       .message = &tfrt_wire_frame_message),
};

static bool is_unsequenced(uint32_t kind) {
  return tfrt_wire_frame_kind_is_known(kind) && kinds[kind].scope == TFRT_WIRE_SCOPE_HANDSHAKE;
}

// Frames and numbers fit together: those of the handshake stand alone and have none, all
// others have one each.
static tfrt_status_t check_batch(const void* object) {
  const tfrt_wire_batch_t* batch = object;
  uint32_t first_kind = batch->frame_count > 0 ? batch->frames[0].kind : 0;
  if (batch->to_incarnation == 0 && first_kind != TFRT_WIRE_FRAME_HELLO) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Batch.to_incarnation: 0 is allowed beside a Hello only");
  }
  if (batch->first_seq > UINT64_MAX - TFRT_WIRE_MAX_FRAMES) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Batch.first_seq: the numbers have run out");
  }
  for (size_t i = 0; i < batch->frame_count; ++i) {
    uint32_t kind = batch->frames[i].kind;
    if (is_unsequenced(kind) != (batch->first_seq == 0)) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Batch.first_seq: %s beside a %s",
                                batch->first_seq == 0 ? "0" : "a number",
                                tfrt_wire_frame_kind_name(kind));
    }
  }
  if (batch->first_seq == 0 && batch->frame_count > 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Batch.frames: a %s must be the only frame of its batch",
                              tfrt_wire_frame_kind_name(first_kind));
  }
  return NULL;
}

TFRT_WIRE_WALKS(tfrt_wire_batch)
const tfrt_wire_message_t tfrt_wire_batch_message = TFRT_WIRE_MESSAGE(
    "Batch", tfrt_wire_batch_t, batch_fields, .max_size = TFRT_WIRE_MAX_BATCH_SIZE,
    .check = check_batch, TFRT_WIRE_WALKED(tfrt_wire_batch));

bool tfrt_wire_frame_kind_is_known(uint32_t kind) {
  return tfrt_wire_frame_message_of(kind) != NULL;
}

bool tfrt_wire_frame_kind_is_session(uint32_t kind) {
  return is_unsequenced(kind) ||
         (tfrt_wire_frame_kind_is_known(kind) && kinds[kind].scope == TFRT_WIRE_SCOPE_SESSION);
}

const char* tfrt_wire_frame_kind_name(uint32_t kind) {
  const tfrt_wire_message_t* message = tfrt_wire_frame_message_of(kind);
  return message ? message->name : "unknown";
}

// The bytes of a number with a tag of one byte; none if it is 0.
static size_t number_size(uint64_t number) {
  return number == 0 ? 0 : 1 + tfrt_wire_varint_size(number);
}

// The same with a length of |size| in front.
static size_t part_size(size_t size) { return 1 + tfrt_wire_varint_size(size) + size; }

// As the table of the frame says, field by field: a frame is measured when it is appended, which is
// often.
size_t tfrt_wire_frame_encoded_size(const tfrt_wire_frame_t* frame) {
  size_t size = number_size(frame->kind) + number_size(frame->job) + number_size(frame->epoch) +
                number_size(frame->request) + number_size(frame->has_budget) +
                number_size(frame->budget_us);
  if (frame->trace) size += part_size(tfrt_wire_encoded_size(&trace_message, frame->trace));
  if (frame->body.size > 0) size += part_size(frame->body.size);
  // The tag of Batch.frames is one byte, as is that of every field up to 15.
  return part_size(size);
}

tfrt_status_t tfrt_wire_batch_encode(const tfrt_wire_batch_t* batch, tfrt_string_builder_t* out) {
  return tfrt_wire_encode(&tfrt_wire_batch_message, batch, out);
}

tfrt_status_t tfrt_wire_batch_decode(tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                     tfrt_wire_batch_t* out_batch) {
  return tfrt_wire_decode(&tfrt_wire_batch_message, bytes, arena, out_batch);
}

// --- Bodies ----------------------------------------------------------------------

// Where the members of the union begin: all at the same place.
#define TFRT_WIRE_BODY_OFFSET offsetof(tfrt_wire_body_t, hello)

const tfrt_wire_message_t* tfrt_wire_frame_message_of(uint32_t kind) {
  return kind < TFRT_ARRAY_SIZE(kinds) ? kinds[kind].message : NULL;
}

tfrt_status_t tfrt_wire_body_encode(const tfrt_wire_body_t* body, tfrt_string_builder_t* out) {
  const tfrt_wire_message_t* message = tfrt_wire_frame_message_of(body->kind);
  if (!message) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Frame.kind: %u is not known",
                              body->kind);
  }
  const ProtobufCMessageDescriptor* packed = kinds[body->kind].descriptor;
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
  const ProtobufCMessageDescriptor* packed = kinds[kind].descriptor;
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
