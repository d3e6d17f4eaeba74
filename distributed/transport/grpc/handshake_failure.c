// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/handshake_failure.h"

#include <string.h>

typedef struct words_s {
  const char* words;
  tfrt_grpc_handshake_failure_t failure;
} words_t;

// The first that fits counts: the last ones fit more than they mean.
static const words_t kWords[] = {
    {"certificate verify failed", TFRT_GRPC_HANDSHAKE_UNTRUSTED},
    {"CERTIFICATE_VERIFY_FAILED", TFRT_GRPC_HANDSHAKE_UNTRUSTED},
    {"Hostname Verification Check failed", TFRT_GRPC_HANDSHAKE_WRONG_NAME},
    {"wrong version number", TFRT_GRPC_HANDSHAKE_PLAIN_TEXT},
    {"WRONG_VERSION_NUMBER", TFRT_GRPC_HANDSHAKE_PLAIN_TEXT},
    {"Tls handshake failed", TFRT_GRPC_HANDSHAKE_OTHER},
    {"Custom verification check failed", TFRT_GRPC_HANDSHAKE_OTHER},
    {"Socket closed", TFRT_GRPC_HANDSHAKE_TURNED_AWAY},
};

tfrt_grpc_handshake_failure_t tfrt_grpc_handshake_failure_find(tfrt_string_view_t details) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kWords); ++i) {
    const char* words = kWords[i].words;
    if (details.size > 0 && memmem(details.data, details.size, words, strlen(words))) {
      return kWords[i].failure;
    }
  }
  return TFRT_GRPC_HANDSHAKE_NONE;
}

tfrt_status_t tfrt_grpc_handshake_failure_status(tfrt_grpc_handshake_failure_t failure,
                                                 bool is_encrypted, const char* address,
                                                 tfrt_string_view_t details) {
  const tfrt_status_code_t code = TFRT_STATUS_UNAUTHENTICATED;
  switch (failure) {
    case TFRT_GRPC_HANDSHAKE_UNTRUSTED:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is of another cluster's "
                                "authority, or has expired, or is no host's; `tfrt certs show` "
                                "there and here tells which",
                                address);
    case TFRT_GRPC_HANDSHAKE_WRONG_NAME:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is for other names; dial it by "
                                "one of them (`tfrt certs show` lists them), or give it one for "
                                "this address, too (`tfrt certs add`)",
                                address);
    case TFRT_GRPC_HANDSHAKE_PLAIN_TEXT:
      return tfrt_status_create(code,
                                "the host at %s does not speak TLS; start it with --tls-dir, or "
                                "leave that out here",
                                address);
    case TFRT_GRPC_HANDSHAKE_TURNED_AWAY:
      return is_encrypted
                 ? tfrt_status_create(code,
                                      "the host at %s closed the connection: the certificate "
                                      "shown to it is of another cluster's authority, or has "
                                      "expired; `tfrt certs show` there and here tells which",
                                      address)
                 : tfrt_status_create(code,
                                      "the host at %s closed the connection before it said "
                                      "anything, as one does that wants TLS (then give "
                                      "--tls-dir), or that is about to end",
                                      address);
    default:
      return tfrt_status_create(code, "no TLS with the host at %s: %.*s", address,
                                TFRT_STRING_VIEW_ARGUMENTS(details));
  }
}
