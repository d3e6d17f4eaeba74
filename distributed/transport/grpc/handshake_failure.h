// SPDX-License-Identifier: Apache-2.0
//
// Why two ends did not come to trust each other, as the dialler sees it. gRPC has one status
// for all that can happen before a stream exists; the reason is only in its text.
//
//   gRPC's text                          it means
//   "certificate verify failed"          UNTRUSTED   the listener's certificate won't do
//   "Hostname Verification Check failed" WRONG_NAME  it is for another address
//   "wrong version number"               PLAIN_TEXT  the listener does not speak TLS
//   any other failed handshake           OTHER
//   "Socket closed", before any answer   TURNED_AWAY the listener did not like what it got:
//                                        this side's certificate, or that there was no TLS
//
// The last is a guess: a listener that ends while it is being dialled looks the same. Whoever
// is turned away tries again, and is told by a second time that it was meant.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_

#include <stdbool.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

typedef enum tfrt_grpc_handshake_failure_e {
  TFRT_GRPC_HANDSHAKE_NONE = 0,  // it was something else
  TFRT_GRPC_HANDSHAKE_UNTRUSTED,
  TFRT_GRPC_HANDSHAKE_WRONG_NAME,
  TFRT_GRPC_HANDSHAKE_PLAIN_TEXT,
  TFRT_GRPC_HANDSHAKE_OTHER,
  TFRT_GRPC_HANDSHAKE_TURNED_AWAY,
} tfrt_grpc_handshake_failure_t;

// What |details|, gRPC's text for a dial that nobody answered, say. Thread-safe.
tfrt_grpc_handshake_failure_t tfrt_grpc_handshake_failure_find(tfrt_string_view_t details);

// The error UNAUTHENTICATED for |failure|, which is not NONE, of a dial to |address| over TLS,
// or not, as |is_encrypted| says. Thread-safe.
tfrt_status_t tfrt_grpc_handshake_failure_status(tfrt_grpc_handshake_failure_t failure,
                                                 bool is_encrypted, const char* address,
                                                 tfrt_string_view_t details) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_
