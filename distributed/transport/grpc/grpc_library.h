// SPDX-License-Identifier: Apache-2.0
//
// gRPC as a library of this process:
//
//   users      started with the first one, shut down with the last, and made to keep quiet. Its log
//              lines go to the log as *debug*: everything that matters in them reaches a caller as
//              an error, and an error is reported once
//   settings   what is switched off because the layers above do it (retries, keepalive, service
//              configuration, compression), and the windows, which fit messages of one MiB
//   texts      those that carry a meaning
//
// The texts of gRPC, and of the TLS library under it, that carry a meaning. gRPC has one status for
// all that can happen before a stream exists, and shows its user only connections that got through
// a handshake. The reason stands in the text of that status, or in a line of gRPC's log. This is
// the only place that looks into such texts. library_text_test.c provokes each of them with the
// library that is installed, so that a version with other texts fails a test.
//
// The text of a dial's status:
//
//    "certificate verify failed"           UNTRUSTED    the listener's certificate won't do
//    "Hostname Verification Check failed"  WRONG_NAME   it is for another address
//    "wrong version number"                PLAIN_TEXT   the listener does not speak TLS
//    any other failed handshake            NO_TLS
//    the system's ECONNREFUSED, ENOENT     REFUSED      nobody listens there
//    other words of the system, no name    NO_WAY       no route, no network, no such name
//    the system's EMFILE                   NO_DESCRIPTOR  this process has no descriptor left
//    "Socket closed"                       TURNED_AWAY  the listener did not like what it got: this
//                                                       side's certificate, or a lack of TLS
//
// TURNED_AWAY is a guess: a listener that ends while it is dialled looks the same. A dialler that
// is turned away tries again, and takes a second time for an answer.
//
// A line of the log about a listener:
//
//    "peer did not return a certificate"   NO_CERTIFICATE  a dialler shows none
//    "certificate verify failed"           UNTRUSTED       one of another authority, or expired
//    "wrong version number", HTTP          PLAIN_TEXT      it does not speak TLS
//    "no shared cipher", an old protocol   OLD_TLS         it speaks no TLS 1.3
//    any other failed handshake            NO_TLS
//    "Failed accept4: "                    DEAF            no connection is accepted any more
//
// A dialler that hangs up in the middle, as a probe of the port does, is none of them.
//
// Thread rule: thread-safe. Failure rule: NOT_FOUND or RESOURCE_EXHAUSTED to start it; gRPC aborts
// when memory is out.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_LIBRARY_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_LIBRARY_H_

#include <grpc/grpc.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/transport/grpc/credentials.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// --- Users ---

// Opens and starts gRPC, or adds a user. NOT_FOUND where its library isn't, RESOURCE_EXHAUSTED
// where the system has too few descriptors or threads left for it: then there is no new user.
// Thread-safe.
tfrt_status_t tfrt_grpc_process_enter(void) TFRT_MUST_USE;

// Removes a user; with the last one, returns when gRPC has shut down, or keeps pieces of a channel
// for longer than TFRT_TUNING_GRPC_LEAVE_NS. From no thread of gRPC's. Thread-safe.
void tfrt_grpc_process_leave(void);

// For how long a transport that ends, and the last user to leave, wait for what gRPC has under way.
static inline int64_t tfrt_grpc_leave_ns(void) {
#ifdef TFRT_SANITIZED
  return TFRT_TUNING_GRPC_LEAVE_SANITIZED_NS;
#else
  return TFRT_TUNING_GRPC_LEAVE_NS;
#endif
}

// Waits for gRPC to give up a port, which it does once it gets no descriptor for a connection: it
// accepts none any more, and tells only its log (below).
typedef struct tfrt_grpc_accept_watch_s tfrt_grpc_accept_watch_t;
typedef void (*tfrt_grpc_accept_watch_fn_t)(tfrt_grpc_accept_watch_t* watch);
struct tfrt_grpc_accept_watch_s {
  tfrt_list_link_t link;
  tfrt_grpc_accept_watch_fn_t on_no_descriptor;
};

// Has |on_no_descriptor| called with |watch|, on a thread of gRPC's, whenever gRPC gives up a port
// of this process; it may not call gRPC. Where the environment keeps gRPC from logging errors
// (GRPC_VERBOSITY=NONE), it is not called. NULL ends that: nothing is called any more when this
// returns. |watch| is zeroed before the first call. Thread-safe.
void tfrt_grpc_process_watch_accepting(tfrt_grpc_accept_watch_t* watch,
                                       tfrt_grpc_accept_watch_fn_t on_no_descriptor);

// --- Settings ---

// The methods of the service Peer (proto/peer.proto).
#define TFRT_GRPC_CONTROL_METHOD "/tfrt.peer.v1.Peer/Control"
#define TFRT_GRPC_BULK_METHOD "/tfrt.peer.v1.Peer/Bulk"

typedef struct tfrt_grpc_channel_settings_s {
  const tfrt_grpc_credential_set_t* credentials;  // outlives what is made with it
  // For how long the kernel may fail to pass on bytes before the connection is broken.
  int32_t stall_limit_ms;
} tfrt_grpc_channel_settings_t;

// Makes a channel to |target| that shares its TCP connection with no other. An attempt to connect
// fails after |timeout_ns|, and a second's part. It is closed by grpc_channel_destroy().
// Thread-safe.
grpc_channel* tfrt_grpc_channel_open(const char* target,
                                     const tfrt_grpc_channel_settings_t* settings,
                                     int64_t timeout_ns);

// Makes a server that has not started. Thread-safe.
grpc_server* tfrt_grpc_server_open(const tfrt_grpc_channel_settings_t* settings);

// --- Descriptors ---

// The error (+1) of a dial of |address| for which this process has no descriptor left: it names the
// limit. Thread-safe.
tfrt_status_t tfrt_grpc_library_no_descriptor(const char* address) TFRT_MUST_USE;

// Logs the same for a port: a connection to |address| waits. Thread-safe.
void tfrt_grpc_library_log_no_descriptor(const char* address);

// --- Texts ---

typedef enum tfrt_grpc_dial_text_e {
  TFRT_GRPC_DIAL_TEXT_OTHER = 0,  // none of these
  TFRT_GRPC_DIAL_TEXT_REFUSED,
  TFRT_GRPC_DIAL_TEXT_NO_WAY,
  TFRT_GRPC_DIAL_TEXT_NO_DESCRIPTOR,
  TFRT_GRPC_DIAL_TEXT_UNTRUSTED,
  TFRT_GRPC_DIAL_TEXT_WRONG_NAME,
  TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT,
  TFRT_GRPC_DIAL_TEXT_NO_TLS,
  TFRT_GRPC_DIAL_TEXT_TURNED_AWAY,
} tfrt_grpc_dial_text_t;

typedef enum tfrt_grpc_log_text_e {
  TFRT_GRPC_LOG_TEXT_OTHER = 0,  // none of these
  TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE,
  TFRT_GRPC_LOG_TEXT_UNTRUSTED,
  TFRT_GRPC_LOG_TEXT_PLAIN_TEXT,
  TFRT_GRPC_LOG_TEXT_OLD_TLS,
  TFRT_GRPC_LOG_TEXT_NO_TLS,
  TFRT_GRPC_LOG_TEXT_DEAF,
} tfrt_grpc_log_text_t;

// Returns the meaning of |details|, the text of the status UNAVAILABLE of a dial without an answer.
// Thread-safe.
tfrt_grpc_dial_text_t tfrt_grpc_library_text_of_dial(tfrt_string_view_t details);

// Returns the meaning of |line|, which |file| of gRPC has logged. Sets |*out_words| to the part of
// it that is about the cause, if it says something. Thread-safe.
tfrt_grpc_log_text_t tfrt_grpc_library_text_of_log(const char* file, const char* line,
                                                   tfrt_string_view_t* out_words);

// Writes to |out|, in the user's words, why a dialler was refused: the meaning of gRPC's |text|
// about a handshake, with its |words|. Thread-safe.
void tfrt_grpc_refused_handshake_describe(tfrt_grpc_log_text_t text, tfrt_string_view_t words,
                                          char* out, size_t size);

// Logs that somebody was refused because of |reason|, at most once a second. Thread-safe.
void tfrt_grpc_refused_handshake_log(const char* reason);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_LIBRARY_H_
