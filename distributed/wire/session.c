// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/session.h"

#include "distributed/wire/codec.h"

TFRT_WIRE_SESSION_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

static const tfrt_wire_field_t limits_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, batch_bytes, 1, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, chunk_bytes, 2, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, inline_bytes, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, replay_bytes, 4, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, objects, 5, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, heartbeat_period_ms, 6, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_limits_t, silence_ms, 7, UINT32),
};
static const tfrt_wire_message_t limits_message =
    TFRT_WIRE_MESSAGE("Limits", tfrt_wire_limits_t, limits_fields);

static const tfrt_wire_field_t hello_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, version_min, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, version_max, 2, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, features, 3, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, incarnation, 4, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, rank_hint, 5, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, name, 6, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, session, 7, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, resume, 8, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, received_seq, 9, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, connection, 10, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, next_call, 11, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_hello_t, limits, 12, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &limits_message),
};

static tfrt_status_t check_hello(const void* object) {
  const tfrt_wire_hello_t* hello = object;
  if (hello->version_min > hello->version_max) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Hello.version_min: %u is above version_max %u", hello->version_min,
                              hello->version_max);
  }
  if (!hello->resume && hello->received_seq != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Hello.received_seq: must be 0 in a new session");
  }
  return NULL;
}

const tfrt_wire_message_t tfrt_wire_hello_message =
    TFRT_WIRE_MESSAGE("Hello", tfrt_wire_hello_t, hello_fields, .check = check_hello);

static const tfrt_wire_field_t welcome_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_welcome_t, hello, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_hello_message),
};
const tfrt_wire_message_t tfrt_wire_welcome_message =
    TFRT_WIRE_MESSAGE("Welcome", tfrt_wire_welcome_t, welcome_fields);

static const tfrt_wire_field_t refuse_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_refuse_t, reason, 1, ENUM, .limit = TFRT_WIRE_REFUSE_BUSY,
                    .fallback = TFRT_WIRE_REFUSE_UNSPECIFIED),
    TFRT_WIRE_FIELD(tfrt_wire_refuse_t, code, 2, ENUM, .limit = TFRT_STATUS_UNAUTHENTICATED,
                    .fallback = TFRT_STATUS_UNKNOWN),
    TFRT_WIRE_FIELD(tfrt_wire_refuse_t, message, 3, STRING, .limit = TFRT_WIRE_MAX_MESSAGE_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_refuse_t, last_session, 4, UINT32),
};
const tfrt_wire_message_t tfrt_wire_refuse_message =
    TFRT_WIRE_MESSAGE("Refuse", tfrt_wire_refuse_t, refuse_fields);

static const tfrt_wire_field_t goodbye_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_goodbye_t, reason, 1, ENUM, .limit = TFRT_WIRE_GOODBYE_SHUTDOWN,
                    .fallback = TFRT_WIRE_GOODBYE_UNSPECIFIED),
    TFRT_WIRE_FIELD(tfrt_wire_goodbye_t, message, 2, STRING, .limit = TFRT_WIRE_MAX_MESSAGE_SIZE),
};
const tfrt_wire_message_t tfrt_wire_goodbye_message =
    TFRT_WIRE_MESSAGE("Goodbye", tfrt_wire_goodbye_t, goodbye_fields);

// The smaller of |a| and |b|, each |initial| if it is 0, and from |least| to |most|.
static uint32_t smaller(uint32_t a, uint32_t b, uint32_t initial, uint32_t least, uint32_t most) {
  if (a == 0) a = initial;
  if (b == 0) b = initial;
  uint32_t limit = a < b ? a : b;
  if (limit < least) limit = least;
  return limit < most ? limit : most;
}

// The least silence where a heartbeat goes each |period_ms|.
static uint32_t least_silence_ms(uint32_t period_ms) {
  const uint64_t least_ms = (uint64_t)period_ms * TFRT_WIRE_MIN_SILENCE_PERIODS;
  return least_ms < UINT32_MAX ? (uint32_t)least_ms : UINT32_MAX;
}

tfrt_wire_limits_t tfrt_wire_limits_in_force(const tfrt_wire_limits_t* ours,
                                             const tfrt_wire_limits_t* theirs) {
  static const tfrt_wire_limits_t defaults = {0};
  const tfrt_wire_limits_t* a = ours ? ours : &defaults;
  const tfrt_wire_limits_t* b = theirs ? theirs : &defaults;
  const uint32_t period_ms =
      smaller(a->heartbeat_period_ms, b->heartbeat_period_ms, TFRT_WIRE_DEFAULT_HEARTBEAT_PERIOD_MS,
              TFRT_WIRE_MIN_HEARTBEAT_PERIOD_MS, UINT32_MAX);
  return (tfrt_wire_limits_t){
      .batch_bytes = smaller(a->batch_bytes, b->batch_bytes, TFRT_WIRE_MAX_BATCH_SIZE,
                             TFRT_WIRE_MIN_BATCH_SIZE, TFRT_WIRE_MAX_BATCH_SIZE),
      .chunk_bytes = smaller(a->chunk_bytes, b->chunk_bytes, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE,
                             TFRT_WIRE_MIN_CHUNK_PAYLOAD_SIZE, TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE),
      // Down to nothing: what doesn't go inline is lent.
      .inline_bytes = smaller(a->inline_bytes, b->inline_bytes, TFRT_WIRE_DEFAULT_INLINE_SIZE, 0,
                              TFRT_WIRE_MAX_INLINE_SIZE),
      .replay_bytes = smaller(a->replay_bytes, b->replay_bytes, TFRT_WIRE_DEFAULT_REPLAY_SIZE,
                              TFRT_WIRE_MIN_REPLAY_SIZE, UINT32_MAX),
      .objects = smaller(a->objects, b->objects, TFRT_WIRE_DEFAULT_OBJECTS, 0, UINT32_MAX),
      .heartbeat_period_ms = period_ms,
      .silence_ms = smaller(a->silence_ms, b->silence_ms, TFRT_WIRE_DEFAULT_SILENCE_MS,
                            least_silence_ms(period_ms), UINT32_MAX),
  };
}
