// SPDX-License-Identifier: Apache-2.0
//
// The types of payloads. An AsyncValue carries a 16-bit type id; this table says
// what lies behind it: size, how it is destroyed, how it prints, and how it turns
// into bytes and back. A type is registered once per process, under the text that
// MLIR prints for it, and stays for ever.
//
// A *codec* splits a value into a short header (what is needed to make room for
// it: dtype and shape of a tensor) and one contiguous body, which is borrowed, not
// copied. The receiver makes the value from the header first and then receives the
// body into its final place:
//
//   sender:    encode(payload)  ->  header bytes | body (borrowed from payload)
//   receiver:  decode(header, body size) -> payload with room | body is filled in
//              complete(payload)         -> the bytes are checked; value is ready
//
// A type without a codec can be referred to from another host but not fetched. One whose bytes are
// elsewhere (on a device) has streams beside its codec, which read and write them piece by piece.
// A type whose values consist of other values (a list) is an *aggregate*: it has no codec, it is
// fetched as references to its elements; each element travels by itself when it is used. A
// *mutable* type (a tensor) is available before the chain that says that it is filled; it is never
// shared between hosts as if it were a constant.
//
// Thread rule: all functions are thread-safe; a lookup takes no lock.
// Failure rule: registering fails with INVALID_ARGUMENT, ALREADY_EXISTS or
// RESOURCE_EXHAUSTED and changes nothing then.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TYPE_H_
#define TFRT_HOST_RUNTIME_ASYNC_TYPE_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"

TFRT_API_BEGIN

typedef uint16_t tfrt_type_id_t;

// Types that every process has, under fixed ids.
enum tfrt_type_builtin_e {
  TFRT_TYPE_NONE = 0,    // no payload known: indirect and error values
  TFRT_TYPE_CHAIN,       // "!tfrt.chain": no payload
  TFRT_TYPE_I1,          // payload bool
  TFRT_TYPE_I8,          // int8_t
  TFRT_TYPE_I16,         // int16_t
  TFRT_TYPE_I32,         // int32_t
  TFRT_TYPE_I64,         // int64_t
  TFRT_TYPE_UI8,         // uint8_t
  TFRT_TYPE_UI16,        // uint16_t
  TFRT_TYPE_UI32,        // uint32_t
  TFRT_TYPE_UI64,        // uint64_t
  TFRT_TYPE_F32,         // float
  TFRT_TYPE_F64,         // double
  TFRT_TYPE_STRING,      // "!tfrt.string": tfrt_string_t (builtin_types.h)
  TFRT_TYPE_F16,         // uint16_t, the bits of a half float
  TFRT_TYPE_BF16,        // uint16_t, the bits of a brain float
  TFRT_TYPE_COMPLEX64,   // "complex<f32>": float[2], real and imaginary
  TFRT_TYPE_COMPLEX128,  // "complex<f64>": double[2]
  TFRT_TYPE_FIRST_REGISTERED = 32,
};

// At most this many types exist in a process.
#define TFRT_TYPE_MAX_COUNT 4096

// The longest header a codec may make.
#define TFRT_CODEC_MAX_HEADER_SIZE 160

// The encoding of a value in bytes. |body| is borrowed from the payload.
typedef struct tfrt_encoding_s {
  uint8_t header[TFRT_CODEC_MAX_HEADER_SIZE];
  size_t header_size;
  const void* body;
  size_t body_size;
} tfrt_encoding_t;

typedef struct tfrt_codec_s {
  // Describes |payload| in |out_encoding|. Fails if the value has no bytes (a
  // device tensor). The encoding lives as long as the payload is not mutated.
  tfrt_status_t (*encode)(const void* payload, tfrt_encoding_t* out_encoding);
  // Constructs |payload| (storage of the type's size) for the untrusted |header|,
  // with room for |body_size| bytes at |*out_body|, from |allocator|. On failure
  // (INVALID_ARGUMENT, RESOURCE_EXHAUSTED) nothing was constructed.
  tfrt_status_t (*decode)(const uint8_t* header, size_t header_size, size_t body_size,
                          tfrt_allocator_t allocator, void* payload, void** out_body);
  // Checks the body once it is all there (an i1 is 0 or 1). On failure the caller
  // destroys the payload. NULL if every body is good.
  tfrt_status_t (*complete)(void* payload);
} tfrt_codec_t;

// How the values are reached that a payload consists of. They never change once the value is
// available; each may be in any state.
typedef struct tfrt_aggregate_s {
  // The |*out_count| elements (+0) of |payload|, which live as long as that.
  struct tfrt_async_value_s* const* (*elements)(const void* payload, uint32_t* out_count);
  // Constructs |payload| (storage of the type's size) with room for |count| elements at
  // |*out_elements|, from |allocator|; the caller sets each (+1) before anybody else sees it. On
  // failure (INVALID_ARGUMENT, RESOURCE_EXHAUSTED) nothing was constructed.
  tfrt_status_t (*construct)(uint32_t count, tfrt_allocator_t allocator, void* payload,
                             struct tfrt_async_value_s*** out_elements);
} tfrt_aggregate_t;

enum tfrt_type_flag_bits_e {
  TFRT_TYPE_FLAG_MUTABLE = 1u << 0,
};
typedef uint32_t tfrt_type_flags_t;

struct tfrt_kernel_withdrawal_s;

typedef struct tfrt_type_s {
  const char* name;  // as MLIR prints it, e.g. "!tfrt_tensor.tensor"; static
  uint32_t size;     // of the payload in bytes; alignment is at most 16
  tfrt_type_flags_t flags;
  void (*destroy)(void* payload);  // NULL if there is nothing to give back
  const tfrt_codec_t* codec;       // NULL if the value has no bytes that could leave its host
  // Appends the value as bef_executor prints results; NULL: prints "TYPE value".
  void (*print)(const void* payload, tfrt_string_builder_t* out);
  // Beside the codec, for payloads that aren't in the host's memory (payload_stream.h): encode()
  // gives a size and no body then, and decode() refuses. NULL: they are.
  const struct tfrt_payload_streams_s* streams;
  // In the place of a codec, for values that consist of other values. NULL: they don't.
  const tfrt_aggregate_t* aggregate;
  // Runs when a call that was given |payload| is cancelled, as others may wait for an effect of
  // that call (executor/kernel/withdrawal.h). NULL: nothing.
  void (*withdraw)(const void* payload, const struct tfrt_kernel_withdrawal_s* withdrawal);
} tfrt_type_t;

// Registers a copy of |type| (its strings and tables must be static) and sets
// |*out_id|. INVALID_ARGUMENT if its name doesn't begin with `!`, its codec or aggregate lacks a
// function that it must have, or it has both; ALREADY_EXISTS if another table entry has that name
// (the same registration twice is answered with the first id); RESOURCE_EXHAUSTED if the table
// is full. Thread-safe.
tfrt_status_t tfrt_type_register(const tfrt_type_t* type, tfrt_type_id_t* out_id) TFRT_MUST_USE;

// Sets |*out_encoding| to what |payload| (+0) of |type| is in bytes; see tfrt_codec_t.
// FAILED_PRECONDITION for a type without a codec, or a codec that breaks its rules; else the
// codec's own error. Thread-safe.
tfrt_status_t tfrt_type_encode(const tfrt_type_t* type, const void* payload,
                               tfrt_encoding_t* out_encoding) TFRT_MUST_USE;

// The type behind |id|, which must have been registered. Thread-safe.
const tfrt_type_t* tfrt_type_get(tfrt_type_id_t id);

// Sets |*out_id| to the type named |name| and returns true, or returns false if
// there is none. Thread-safe.
bool tfrt_type_find(const char* name, tfrt_type_id_t* out_id);

// Ends the process with a message: somebody makes a value of TFRT_TYPE_NONE, mostly with the id of
// a type that was never registered. The value would have no room for the payload that is about to
// be written into it, so there is nothing to go on with. Thread-safe.
void tfrt_type_abort_none(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_TYPE_H_
