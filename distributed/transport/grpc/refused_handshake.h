// SPDX-License-Identifier: Apache-2.0
//
// Why a dialler did not get through the TLS handshake, as the listener sees it. gRPC shows its user
// only connections that got through, and logs why others did not (library_text.h), with neither
// address nor name.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_

#include <stddef.h>

#include "distributed/transport/grpc/library_text.h"
#include "host_runtime/base/string_view.h"

// Writes to |out|, in the user's words, why a dialler was refused: the meaning of gRPC's |text|
// about a handshake, with its |words|. Thread-safe.
void tfrt_grpc_refused_handshake_describe(tfrt_grpc_log_text_t text, tfrt_string_view_t words,
                                          char* out, size_t size);

// Logs that somebody was refused because of |reason|, at most once a second. Thread-safe.
void tfrt_grpc_refused_handshake_log(const char* reason);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_REFUSED_HANDSHAKE_H_
