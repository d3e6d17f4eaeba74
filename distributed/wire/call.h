// SPDX-License-Identifier: Apache-2.0
//
// Programs and calls: bodies of frames (proto/call.proto, which says what each field
// means).
//
//   caller --> callee   Invoke n | Void n      n = 1, 2, 3 ... without a gap
//   callee --> caller   Result n ... Result n (done)
//
// Thread rule: values; texts, bytes and arrays are borrowed. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_CALL_H_
#define TFRT_DISTRIBUTED_WIRE_CALL_H_

#include "distributed/wire/value.h"

// Program 0: functions that every peer has. |function| is one of these then.
typedef enum tfrt_wire_builtin_e {
  TFRT_WIRE_BUILTIN_UNSPECIFIED = 0,
  TFRT_WIRE_BUILTIN_PRINT = 1,          // (string, chain) -> chain
  TFRT_WIRE_BUILTIN_SEND = 2,           // (string key, value) -> chain
  TFRT_WIRE_BUILTIN_TRACE = 3,          // () -> trace
  TFRT_WIRE_BUILTIN_STATUS = 4,         // () -> string
  TFRT_WIRE_BUILTIN_COPY = 5,           // (value) -> value
  TFRT_WIRE_BUILTIN_INVENTORY = 6,      // () -> string
  TFRT_WIRE_BUILTIN_CANCEL = 7,         // (string what) -> string
  TFRT_WIRE_BUILTIN_DRAIN = 8,          // () -> string
  TFRT_WIRE_BUILTIN_FOLLOW = 9,         // (string what) -> string
  TFRT_WIRE_BUILTIN_KEPT_RESULT = 10,   // (message) -> value: service.h
  TFRT_WIRE_BUILTIN_RECORD = 11,        // (string what) -> trace
  TFRT_WIRE_BUILTIN_CHECK_DEVICE = 12,  // (string name) -> chain
  TFRT_WIRE_BUILTIN_RUN = 13,           // (values) -> values, of the Invoke's image
  TFRT_WIRE_BUILTIN_ASK = 14,           // (message) -> message: service.h
} tfrt_wire_builtin_t;

// Where a call stands in the program's text. Empty, 0: not known.
typedef struct tfrt_wire_location_s {
  tfrt_string_view_t function;
  tfrt_string_view_t file;
  uint32_t line;
  uint32_t column;
} tfrt_wire_location_t;

typedef struct tfrt_wire_program_s {
  uint32_t handle;                  // from 1
  tfrt_string_view_t sha256;        // TFRT_WIRE_SHA256_SIZE bytes
  uint64_t size;                    // of the BEF file, in bytes; from 1
  tfrt_wire_reference_t reference;  // where its bytes are
  tfrt_string_view_t name;
} tfrt_wire_program_t;

// Where a result goes unasked.
typedef struct tfrt_wire_push_to_s {
  uint32_t result;  // index
  uint64_t to;      // incarnation; never 0
} tfrt_wire_push_to_t;

typedef struct tfrt_wire_invoke_s {
  uint64_t call;  // 1 to TFRT_WIRE_MAX_NUMBER
  uint32_t program;
  uint32_t function;
  const tfrt_wire_item_t* arguments;  // INLINE, REFERENCE or ERROR
  size_t argument_count;
  uint32_t result_count;    // at most TFRT_WIRE_MAX_RESULTS
  uint64_t results_wanted;  // bit i: result i by value, if small
  bool take_inline;
  bool pure;
  uint32_t depth;
  const tfrt_wire_location_t* location;  // NULL: not known
  tfrt_string_view_t device;             // at most TFRT_WIRE_MAX_DEVICE_SIZE; empty: none
  bool results_can_wait;
  const tfrt_wire_push_to_t* push_to;
  size_t push_to_count;      // at most TFRT_WIRE_MAX_PUSHES
  tfrt_string_view_t image;  // of TFRT_WIRE_BUILTIN_RUN; at most TFRT_WIRE_MAX_IMAGE_SIZE
} tfrt_wire_invoke_t;

typedef struct tfrt_wire_void_call_s {
  uint64_t call;
  uint32_t result_count;
  const tfrt_wire_error_t* error;  // never NULL after decoding
  tfrt_string_view_t key;  // of TFRT_WIRE_BUILTIN_SEND; at most TFRT_WIRE_MAX_KEY_SIZE; empty: none
} tfrt_wire_void_call_t;

typedef struct tfrt_wire_result_item_s {
  uint32_t index;
  tfrt_wire_item_t item;  // INLINE, AVAILABLE, REFERENCE, SAME_AS_ARGUMENT or ERROR
} tfrt_wire_result_item_t;

typedef struct tfrt_wire_result_s {
  uint64_t call;
  const tfrt_wire_result_item_t* results;
  size_t result_count;  // of this message, not of the call
  bool done;
  bool not_run;
} tfrt_wire_result_t;

typedef struct tfrt_wire_cancel_s {
  uint64_t call;
  const tfrt_wire_error_t* reason;  // NULL: CANCELLED
} tfrt_wire_cancel_t;

// Exactly one of |request| (root to members) and |start| (client to root) is not 0.
typedef struct tfrt_wire_cancel_request_s {
  uint64_t request;
  uint64_t start;
  const tfrt_wire_error_t* reason;  // NULL: CANCELLED
} tfrt_wire_cancel_request_t;

typedef struct tfrt_wire_end_request_s {
  uint64_t request;
} tfrt_wire_end_request_t;

typedef struct tfrt_wire_hurry_s {
  uint64_t call;
} tfrt_wire_hurry_t;

// The kinds of frames with these bodies; batch.h says what the columns are.
#define TFRT_WIRE_CALL_FRAMES(FRAME)                     \
  FRAME(PROGRAM, 32, program, JOB, PACKED)               \
  FRAME(INVOKE, 34, invoke, JOB, WALKED)                 \
  FRAME(VOID, 36, void_call, JOB, PACKED)                \
  FRAME(RESULT, 38, result, JOB, WALKED)                 \
  FRAME(CANCEL, 40, cancel, JOB, PACKED)                 \
  FRAME(CANCEL_REQUEST, 41, cancel_request, JOB, PACKED) \
  FRAME(END_REQUEST, 43, end_request, JOB, PACKED)       \
  FRAME(HURRY, 45, hurry, JOB, PACKED)

#endif  // TFRT_DISTRIBUTED_WIRE_CALL_H_
