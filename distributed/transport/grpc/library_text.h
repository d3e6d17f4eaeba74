// SPDX-License-Identifier: Apache-2.0
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
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_LIBRARY_TEXT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_LIBRARY_TEXT_H_

#include <stddef.h>

#include "host_runtime/base/string_view.h"

typedef enum tfrt_grpc_dial_text_e {
  TFRT_GRPC_DIAL_TEXT_OTHER = 0,  // none of these
  TFRT_GRPC_DIAL_TEXT_REFUSED,
  TFRT_GRPC_DIAL_TEXT_NO_WAY,
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

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_LIBRARY_TEXT_H_
