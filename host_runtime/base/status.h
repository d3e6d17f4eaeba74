// SPDX-License-Identifier: Apache-2.0
//
// The one way in which anything fails, from the allocator to the wire.
//
// A status is a pointer: NULL is OK, anything else is one reference to an
// immutable, counted error record. Errors are values here: they are stored in AsyncValues, handed
// to many users and sent to other hosts. So the record carries everything that leads to the cause.
// That is its code, its message, and its *origin*: host, function, kernel and source location.
//
//   tfrt_status_t --> { count | fields: code, flags, origin, root key, causes }
//        NULL = OK              message and strings lie behind, in one block
//
// Life:
//  1. Made where the fact is known, by tfrt_status_create() or, with all of its
//     fields, by tfrt_status_create_from_fields(); handed out at +1.
//  2. Passed up as a result (+1), down as an argument (+0).
//  3. Given an origin once, by the executor (tfrt_status_with_origin()).
//  4. Released by its handler.
//
// Codes are numerically those of gRPC (grpc/status.h, 0 to 16), so that no table
// of translations exists anywhere.
//
// Thread rule: records are immutable and their count is atomic; everything here
// is thread-safe.
// Failure rule: making a status never fails. If memory is out, a new error is an
// immortal RESOURCE_EXHAUSTED record without details, and an error that should get
// an origin or a context stays as it is.
#ifndef TFRT_HOST_RUNTIME_BASE_STATUS_H_
#define TFRT_HOST_RUNTIME_BASE_STATUS_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef enum tfrt_status_code_e {
  TFRT_STATUS_OK = 0,
  TFRT_STATUS_CANCELLED = 1,
  TFRT_STATUS_UNKNOWN = 2,
  TFRT_STATUS_INVALID_ARGUMENT = 3,
  TFRT_STATUS_DEADLINE_EXCEEDED = 4,
  TFRT_STATUS_NOT_FOUND = 5,
  TFRT_STATUS_ALREADY_EXISTS = 6,
  TFRT_STATUS_PERMISSION_DENIED = 7,
  TFRT_STATUS_RESOURCE_EXHAUSTED = 8,
  TFRT_STATUS_FAILED_PRECONDITION = 9,
  TFRT_STATUS_ABORTED = 10,
  TFRT_STATUS_OUT_OF_RANGE = 11,
  TFRT_STATUS_UNIMPLEMENTED = 12,
  TFRT_STATUS_INTERNAL = 13,
  TFRT_STATUS_UNAVAILABLE = 14,
  TFRT_STATUS_DATA_LOSS = 15,
  TFRT_STATUS_UNAUTHENTICATED = 16,
} tfrt_status_code_t;

typedef struct tfrt_status_s* tfrt_status_t;

// The rank of an error that no host has claimed yet.
#define TFRT_STATUS_NO_RANK UINT32_MAX

// At most this many causes are kept; the rest is dropped and |truncated| set.
#define TFRT_STATUS_MAX_CAUSES 4

// At most this many bytes are kept of each text (message, name, cause); what is
// longer is cut between two characters of UTF-8, and |truncated| set.
#define TFRT_STATUS_MAX_TEXT_SIZE 1024

// Where an error began. A string that is unknown is NULL or empty when a struct is
// filled in, and empty, never NULL, when it is read from a status.
typedef struct tfrt_status_origin_s {
  uint32_t rank;         // of the host; TFRT_STATUS_NO_RANK: this process
  uint64_t incarnation;  // of the host; 0: this process
  const char* function;  // name of the BEF function
  const char* kernel;    // name of the kernel
  const char* file;      // source location of the op in the program's text
  uint32_t line;         // 1-based; 0 when unknown
  uint32_t column;       // 1-based; 0 when unknown
} tfrt_status_origin_t;

// Everything an error says. Strings are borrowed from the caller (on creation) or from the status
// (when read).
typedef struct tfrt_status_fields_s {
  tfrt_status_code_t code;
  const char* message;
  tfrt_status_origin_t origin;
  // One cause of many reports has one key: reports that share a key are the same
  // event, seen from several places. 0: the record's own identity.
  uint64_t root_key;
  uint64_t call;      // number of the remote call that failed, 0 if none
  bool derived;       // caused by another error; says so behind the root cause
  bool may_have_run;  // false only if the failed call surely never started
  bool truncated;     // something was too long and was cut
  const char* causes[TFRT_STATUS_MAX_CAUSES];  // nearest first
  uint32_t cause_count;
} tfrt_status_fields_t;

// Returns true if |status| is no error. Thread-safe.
static inline bool tfrt_status_is_ok(tfrt_status_t status) { return !status; }

// Returns a new error (+1) with |code|, which must not be OK, and the formatted
// message. Thread-safe.
tfrt_status_t tfrt_status_create(tfrt_status_code_t code, const char* format, ...)
    TFRT_MUST_USE TFRT_PRINTF(2, 3);
tfrt_status_t tfrt_status_create_v(tfrt_status_code_t code, const char* format, va_list arguments)
    TFRT_MUST_USE;

// Returns a new error (+1) with a copy of all |fields|. Thread-safe.
tfrt_status_t tfrt_status_create_from_fields(const tfrt_status_fields_t* fields) TFRT_MUST_USE;

// Returns the error |status| (+1) with |origin| filled in, or |status| itself
// (+1) if it knows a place in a program (function, kernel or file) already: the first
// place stays. A host alone is none. OK stays OK. Thread-safe.
tfrt_status_t tfrt_status_with_origin(tfrt_status_t status, const tfrt_status_origin_t* origin)
    TFRT_MUST_USE;

// Returns an error (+1) like |status| with "|context|: " before its message. OK
// stays OK. Thread-safe.
tfrt_status_t tfrt_status_annotate(tfrt_status_t status, const char* format, ...)
    TFRT_MUST_USE TFRT_PRINTF(2, 3);

// The same, but consumes |status|: for passing an error up. Thread-safe.
tfrt_status_t tfrt_status_take_annotate(tfrt_status_t status, const char* format, ...)
    TFRT_MUST_USE TFRT_PRINTF(2, 3);

// The immortal error for "memory is out": needs no memory, and may be handed out as
// +1. Thread-safe.
tfrt_status_t tfrt_status_out_of_memory(void);

// Adds one reference to |status|, which may be NULL, and returns it. Thread-safe.
tfrt_status_t tfrt_status_retain(tfrt_status_t status);

// Drops one reference to |status|, which may be NULL. Thread-safe.
void tfrt_status_release(tfrt_status_t status);

// The code of |status|; TFRT_STATUS_OK for NULL. Thread-safe.
tfrt_status_code_t tfrt_status_code(tfrt_status_t status);

// The message of |status|; "" for NULL. Lives as long as |status|. Thread-safe.
const char* tfrt_status_message(tfrt_status_t status);

// All fields of the error |status|, which must not be NULL. The |root_key| of an
// error that was created without one is filled in and never 0. They live as long
// as |status|. Thread-safe.
const tfrt_status_fields_t* tfrt_status_fields(tfrt_status_t status);

// The name of |code| in capitals, e.g. "UNAVAILABLE"; "UNKNOWN" for a number that
// is none. Static. Thread-safe.
const char* tfrt_status_code_name(tfrt_status_code_t code);

// Writes "CODE: message [in @function, kernel, file:line:col, host r]" into
// |buffer| of |size| bytes, NUL-terminated, cut if too long. Returns the length of
// the whole text. Thread-safe.
size_t tfrt_status_format(tfrt_status_t status, char* buffer, size_t size);

// Returns from the calling function with the error of |expression|, if it is one.
// Only while the caller holds nothing that it would have to give back.
#define TFRT_RETURN_IF_ERROR(expression)       \
  do {                                         \
    tfrt_status_t status_or_ok = (expression); \
    if (status_or_ok) return status_or_ok;     \
  } while (false)

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_STATUS_H_
