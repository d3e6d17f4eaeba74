// SPDX-License-Identifier: Apache-2.0
//
// One message of a control stream: a header, a heartbeat at times, and frames
// (proto/batch.proto, which says what each field means).
//
//   batch:  header | heartbeat? | frame | frame | ...
//   frame:  kind | job | epoch | request? | budget? | trace? | body
//
// Sending:                                     Receiving:
//  1. bodies are encoded, once                  1. the batch is decoded: header and
//  2. the batch is encoded around them, at         frames, no body is looked at
//     the moment of writing: budgets run        2. incarnations, session, sequence, job
//  3. a replay re-encodes with a new age_us        are checked by higher layers
//                                               3. the bodies of accepted frames are decoded
//
// Thread rule: structs are values; functions are thread-safe as long as the caller
// owns arena and builder.
// Failure rule: encoding what breaks a limit, and decoding bytes that do, gives
// INVALID_ARGUMENT with the message's and the field's name, and no output.
#ifndef TFRT_DISTRIBUTED_WIRE_BATCH_H_
#define TFRT_DISTRIBUTED_WIRE_BATCH_H_

#include "distributed/wire/call.h"
#include "distributed/wire/job.h"
#include "distributed/wire/session.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/string_builder.h"

// The kinds of frames, each with one row, which stands beside the struct of its body. All that
// differs by kind is made from the rows: here the enumeration and the body, in this folder the
// tables of the codec, in host/ the table of the scopes. FRAME is a macro with
// the columns:
//
//   kind      TFRT_WIRE_FRAME_<kind>
//   number    on the wire, as in FrameKind of batch.proto. A receiver that doesn't know an odd
//             number skips the frame.
//   message   of the body: its struct is tfrt_wire_<message>_t, the struct's table is
//             tfrt_wire_<message>_message, and it is this member of tfrt_wire_body_t
//   scope     TFRT_WIRE_SCOPE_<scope>
//   form      PACKED: protobuf-c packs and reads the body (packed.c); WALKED: walks of its own do
//             (walks.h), for the few that each call needs
//
// The function that serves a kind stands in the room that the frame concerns (domain/node_part.h).
#define TFRT_WIRE_FRAMES(FRAME)   \
  TFRT_WIRE_SESSION_FRAMES(FRAME) \
  TFRT_WIRE_JOB_FRAMES(FRAME)     \
  TFRT_WIRE_CALL_FRAMES(FRAME)    \
  TFRT_WIRE_VALUE_FRAMES(FRAME)

typedef enum tfrt_wire_frame_kind_e {
  TFRT_WIRE_FRAME_UNSPECIFIED = 0,
#define TFRT_WIRE_FRAME_KIND(kind, number, ...) TFRT_WIRE_FRAME_##kind = (number),
  TFRT_WIRE_FRAMES(TFRT_WIRE_FRAME_KIND)
#undef TFRT_WIRE_FRAME_KIND
} tfrt_wire_frame_kind_t;

// All kinds are below.
#define TFRT_WIRE_FRAME_KIND_LIMIT 128u

// A frame belongs to, by its kind:
typedef enum tfrt_wire_frame_scope_e {
  TFRT_WIRE_SCOPE_HANDSHAKE,  // to no job, and alone in their batch, without a number
  TFRT_WIRE_SCOPE_SESSION,    // to no job
  TFRT_WIRE_SCOPE_NEW_JOB,    // to a job whose handle they bind
  TFRT_WIRE_SCOPE_JOB,        // to a job whose handle is bound
} tfrt_wire_frame_scope_t;

typedef struct tfrt_wire_trace_s {
  uint64_t trace_id_high;
  uint64_t trace_id_low;
  uint64_t span_id;
  uint32_t flags;
} tfrt_wire_trace_t;

typedef struct tfrt_wire_frame_s {
  uint32_t kind;     // tfrt_wire_frame_kind_t, or a number of a later version
  uint32_t job;      // the sender's handle; 0: without a job
  uint32_t epoch;    // newest view that the sender knew
  uint64_t request;  // from 1; 0: none
  bool has_budget;
  uint64_t budget_us;              // time left when the batch was encoded
  const tfrt_wire_trace_t* trace;  // NULL: not traced
  tfrt_string_view_t body;         // encoded; borrowed
} tfrt_wire_frame_t;

typedef struct tfrt_wire_running_kernel_s {
  tfrt_wire_origin_t location;
  uint64_t age_us;
} tfrt_wire_running_kernel_t;

typedef struct tfrt_wire_heartbeat_s {
  uint64_t number;         // from 1
  uint64_t echo;           // the peer's newest number seen here; 0: none
  uint64_t echo_delay_us;  // how long it lay here
  uint64_t clock_us;       // for traces only
  uint64_t named;          // highest call number given towards the peer
  uint64_t kernels_started;
  uint64_t kernels_retired;
  uint64_t loop_turns;
  uint64_t device_streams;
  uint64_t queued;                           // tasks waiting now
  const tfrt_wire_running_kernel_t* oldest;  // NULL: nothing runs
} tfrt_wire_heartbeat_t;

typedef struct tfrt_wire_batch_s {
  uint32_t version;           // never 0
  uint64_t from_incarnation;  // never 0
  uint64_t to_incarnation;    // 0: not known yet, beside a Hello only
  uint32_t session;           // from 1
  uint64_t first_seq;         // number of frames[0]; 0: no frame is sequenced
  uint64_t ack;
  uint64_t call_limit;
  uint64_t want_limit;
  uint64_t age_us;
  const tfrt_wire_heartbeat_t* heartbeat;  // NULL: none
  const tfrt_wire_frame_t* frames;
  size_t frame_count;
} tfrt_wire_batch_t;

// True if a receiver that doesn't know |kind| skips the frame; false: the frame ends the session.
// Thread-safe.
static inline bool tfrt_wire_frame_kind_is_optional(uint32_t kind) { return kind % 2 == 1; }

// True if this code knows |kind|. Thread-safe.
bool tfrt_wire_frame_kind_is_known(uint32_t kind);

// True if frames of |kind| belong to no job (their |job| is 0). Thread-safe.
bool tfrt_wire_frame_kind_is_session(uint32_t kind);

// The message's name, e.g. "Invoke"; "unknown" for a kind that this code doesn't know.
// Static. Thread-safe.
const char* tfrt_wire_frame_kind_name(uint32_t kind);

// The number of bytes by which |frame| makes an encoded batch longer: what a sender adds
// up against TFRT_WIRE_BATCH_TARGET_SIZE. Thread-safe.
size_t tfrt_wire_frame_encoded_size(const tfrt_wire_frame_t* frame);

// Appends |batch| in bytes to |out|. INVALID_ARGUMENT if it breaks a limit (then |out| is
// unchanged), RESOURCE_EXHAUSTED when memory is out. Thread-compatible.
tfrt_status_t tfrt_wire_batch_encode(const tfrt_wire_batch_t* batch, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

// Decodes the untrusted |bytes| into |*out_batch|, with arrays in |arena|. Texts and the
// frames' bodies stay in |bytes|; the batch lives as long as both. INVALID_ARGUMENT
// naming the field, RESOURCE_EXHAUSTED when memory is out; |*out_batch| is zero then.
// Thread-compatible.
tfrt_status_t tfrt_wire_batch_decode(tfrt_string_view_t bytes, tfrt_arena_t* arena,
                                     tfrt_wire_batch_t* out_batch) TFRT_MUST_USE;

// --- Bodies ----------------------------------------------------------------------

// The body of a frame: one of the messages of session.h, job.h, call.h and value.h.
//
//   tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_UNWANT, .unwant = {.want = 3}};
//   status = tfrt_wire_body_encode(&body, &builder);
//
//   status = tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body);
//   switch (body.kind) { case TFRT_WIRE_FRAME_UNWANT: ... body.unwant.want ...

typedef struct tfrt_wire_body_s {
  uint32_t kind;  // tfrt_wire_frame_kind_t: which member is in use
  union {
#define TFRT_WIRE_BODY_MEMBER(kind, number, message, ...) tfrt_wire_##message##_t message;
    TFRT_WIRE_FRAMES(TFRT_WIRE_BODY_MEMBER)
#undef TFRT_WIRE_BODY_MEMBER
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

#endif  // TFRT_DISTRIBUTED_WIRE_BATCH_H_
