// SPDX-License-Identifier: Apache-2.0
//
// An error on its way between hosts (proto/error.proto), and its way from and to
// tfrt_status_t.
//
//   status --from_status--> tfrt_wire_error_t --encode--> bytes ... another host ...
//   bytes --decode--> tfrt_wire_error_t --to_status--> status, with the same root key
//
// "This process" as origin means nothing elsewhere, so from_status writes rank and
// incarnation of the sender into an origin that has none.
//
// Thread rule: values; strings are borrowed. Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_WIRE_ERROR_H_
#define TFRT_DISTRIBUTED_WIRE_ERROR_H_

#include "distributed/wire/limits.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// Where an error began. Empty texts, 0 for |line| and |column|: not known.
typedef struct tfrt_wire_origin_s {
  uint32_t rank;         // TFRT_WIRE_NO_RANK: a client
  uint64_t incarnation;  // 0: nobody knows
  tfrt_string_view_t function;
  tfrt_string_view_t kernel;
  tfrt_string_view_t file;
  uint32_t line;
  uint32_t column;
} tfrt_wire_origin_t;

// Fields as in proto/error.proto.
typedef struct tfrt_wire_error_s {
  uint32_t code;  // tfrt_status_code_t; never OK after decoding
  tfrt_string_view_t message;
  const tfrt_wire_origin_t* origin;  // NULL: not known
  uint64_t call;
  uint64_t root_key;
  bool derived;
  bool may_have_run;
  const tfrt_string_view_t* causes;
  size_t cause_count;
  bool truncated;
} tfrt_wire_error_t;

// Sets |*out_error| to what |status| (+0, an error) says, seen from the host with |rank|
// (TFRT_WIRE_NO_RANK: a client) and |incarnation|. Texts are cut to their limits at a character's
// border and made valid UTF-8; |truncated| is set if one was cut. Text that can't be borrowed from
// |status| is copied to |arena|; |*out_error| lives as long as both. RESOURCE_EXHAUSTED when memory
// is out; |*out_error| is zero then. Thread-compatible.
tfrt_status_t tfrt_wire_error_from_status(tfrt_status_t status, uint32_t rank, uint64_t incarnation,
                                          tfrt_arena_t* arena, tfrt_wire_error_t* out_error)
    TFRT_MUST_USE;

// Returns |origin| (+0), seen from that host, with texts treated as above. It lives as long as
// |arena| and |origin|'s texts; NULL when memory is out. Thread-compatible.
const tfrt_wire_origin_t* tfrt_wire_origin_from_status(const tfrt_status_origin_t* origin,
                                                       uint32_t rank, uint64_t incarnation,
                                                       tfrt_arena_t* arena);

// Returns a status (+1, never OK) with all that |error| says, copied. Codes that nobody
// knows become UNKNOWN. Thread-safe.
tfrt_status_t tfrt_wire_error_to_status(const tfrt_wire_error_t* error) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_WIRE_ERROR_H_
