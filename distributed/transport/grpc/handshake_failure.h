// SPDX-License-Identifier: Apache-2.0
//
// The error of a dial that ended before there was a stream, because the two ends did not trust each
// other: the cause, and the user's remedy.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_

#include <stdbool.h>

#include "distributed/transport/grpc/credential_set.h"
#include "distributed/transport/grpc/library_text.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// True if |text| is about trust: what tfrt_grpc_handshake_failure_status() has an error for.
// Thread-safe.
static inline bool tfrt_grpc_handshake_failure_is(tfrt_grpc_dial_text_t text) {
  return text >= TFRT_GRPC_DIAL_TEXT_UNTRUSTED;
}

// The error UNAUTHENTICATED for |text|, which is about trust, of a dial to |address| with
// |credentials|; |details| are gRPC's words. If the listener gave no reason, this checks the
// certificate that was shown to it, as the listener would. Thread-safe.
tfrt_status_t tfrt_grpc_handshake_failure_status(tfrt_grpc_dial_text_t text,
                                                 const tfrt_grpc_credential_set_t* credentials,
                                                 const char* address, tfrt_string_view_t details)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_HANDSHAKE_FAILURE_H_
