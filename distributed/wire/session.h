// SPDX-License-Identifier: Apache-2.0
//
// How two processes begin, resume and end a session: bodies of frames without a job
// (proto/session.proto, which says what each field means).
//
//   dialler -- Hello --> listener;  listener -- Welcome or Refuse --> dialler
//
// Thread rule: values; texts are borrowed. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_SESSION_H_
#define TFRT_DISTRIBUTED_WIRE_SESSION_H_

#include <stdbool.h>

#include "distributed/wire/limits.h"
#include "host_runtime/base/string_view.h"

// Features beyond version 1's rules, as bits.
enum tfrt_wire_feature_bits_e {
  TFRT_WIRE_FEATURE_PUSH = 1u << 0,
  TFRT_WIRE_FEATURE_RECOVER = 1u << 1,
  TFRT_WIRE_FEATURE_CHANNELS = 1u << 2,
  TFRT_WIRE_FEATURE_LISTS = 1u << 3,
  TFRT_WIRE_FEATURE_ASK = 1u << 4,
  TFRT_WIRE_FEATURE_FOLLOW = 1u << 5,
  TFRT_WIRE_FEATURE_PACE = 1u << 6,
  TFRT_WIRE_FEATURE_TREES = 1u << 7,
};
typedef uint64_t tfrt_wire_features_t;

// Sizes and rates. In a message 0 means the default; in force is the smaller of both, within
// bounds.
typedef struct tfrt_wire_limits_s {
  uint32_t batch_bytes;
  uint32_t chunk_bytes;
  uint32_t inline_bytes;
  uint32_t replay_bytes;
  uint32_t objects;
  uint32_t heartbeat_period_ms;
  uint32_t silence_ms;
} tfrt_wire_limits_t;

typedef struct tfrt_wire_hello_s {
  uint32_t version_min;  // from 1
  uint32_t version_max;
  tfrt_wire_features_t features;
  uint64_t incarnation;  // never 0
  uint32_t rank_hint;    // TFRT_WIRE_NO_RANK: none
  tfrt_string_view_t name;
  uint32_t session;  // from 1
  bool resume;
  uint64_t received_seq;
  uint32_t connection;               // from 1
  uint64_t next_call;                // from 1
  const tfrt_wire_limits_t* limits;  // NULL: all defaults
} tfrt_wire_hello_t;

// The same fields, said by the listener.
typedef struct tfrt_wire_welcome_s {
  tfrt_wire_hello_t hello;
} tfrt_wire_welcome_t;

typedef enum tfrt_wire_refuse_reason_e {
  TFRT_WIRE_REFUSE_UNSPECIFIED = 0,
  TFRT_WIRE_REFUSE_VERSION = 1,
  TFRT_WIRE_REFUSE_INCARNATION = 2,
  TFRT_WIRE_REFUSE_SESSION = 3,
  TFRT_WIRE_REFUSE_CROSSED = 4,
  TFRT_WIRE_REFUSE_DRAINING = 5,
  TFRT_WIRE_REFUSE_BUSY = 6,
} tfrt_wire_refuse_reason_t;

typedef struct tfrt_wire_refuse_s {
  uint32_t reason;  // tfrt_wire_refuse_reason_t
  uint32_t code;    // tfrt_status_code_t
  tfrt_string_view_t message;
  uint32_t last_session;  // highest number known for the pair; 0: none
} tfrt_wire_refuse_t;

typedef enum tfrt_wire_goodbye_reason_e {
  TFRT_WIRE_GOODBYE_UNSPECIFIED = 0,
  TFRT_WIRE_GOODBYE_DRAIN = 1,
  TFRT_WIRE_GOODBYE_PROTOCOL = 2,
  TFRT_WIRE_GOODBYE_DEAD = 3,
  TFRT_WIRE_GOODBYE_SHUTDOWN = 4,
} tfrt_wire_goodbye_reason_t;

typedef struct tfrt_wire_goodbye_s {
  uint32_t reason;  // tfrt_wire_goodbye_reason_t
  tfrt_string_view_t message;
} tfrt_wire_goodbye_t;

// Returns the limits in force between |ours| and |theirs|; NULL, or 0 in a field, stands for the
// default. Each field is the smaller of both, within the protocol's bounds; at the lower bound a
// session still works and costs little. If both are equal, this only fills in the defaults.
// Thread-safe.
tfrt_wire_limits_t tfrt_wire_limits_in_force(const tfrt_wire_limits_t* ours,
                                             const tfrt_wire_limits_t* theirs);

// The kinds of frames with these bodies; batch.h says what the columns are.
#define TFRT_WIRE_SESSION_FRAMES(FRAME)         \
  FRAME(HELLO, 2, hello, HANDSHAKE, PACKED)     \
  FRAME(WELCOME, 4, welcome, HANDSHAKE, PACKED) \
  FRAME(REFUSE, 6, refuse, HANDSHAKE, PACKED)   \
  FRAME(GOODBYE, 8, goodbye, SESSION, PACKED)

#endif  // TFRT_DISTRIBUTED_WIRE_SESSION_H_
