// SPDX-License-Identifier: Apache-2.0
//
// Why somebody who dialled did not get through the TLS handshake, as the listener sees it. gRPC
// shows its user only connections that got through; the reason of the others is in its own log,
// in a line of its server's transport, with neither address nor name.
//
//   gRPC's text                                who dialled
//   "peer did not return a certificate"        shows none
//   "certificate verify failed"                shows one of another authority, or an expired one
//   "wrong version number", "http request"     does not speak TLS
//   "no protocols available" and others        speaks another TLS
//
// One who hangs up in the middle, as a probe of the port does, is none of them.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_

#include <stdbool.h>
#include <stddef.h>

// Writes why who dialled was refused to |out| if |line|, which |file| of gRPC has logged, says
// that; else returns false. Thread-safe.
bool tfrt_grpc_refused_handshake_find(const char* file, const char* line, char* out, size_t size);

// Logs that somebody was refused because of |reason|, at most once a second, whoever dials how
// often. Thread-safe.
void tfrt_grpc_refused_handshake_log(const char* reason);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_
