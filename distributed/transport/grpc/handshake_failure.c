// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/handshake_failure.h"

#include <time.h>

// Why the listener at |address| closed the connection, which it doesn't say.
static tfrt_status_t turned_away(const tfrt_grpc_credential_set_t* credentials,
                                 const char* address) {
  const tfrt_status_code_t code = TFRT_STATUS_UNAUTHENTICATED;
  if (!credentials->is_encrypted) {
    return tfrt_status_create(code,
                              "the host at %s closed the connection before it said anything, as "
                              "one does that wants TLS (then give --tls-dir), or that is about to "
                              "end",
                              address);
  }
  const tfrt_certificate_files_t files = tfrt_certificate_watch_files(credentials->watch);
  tfrt_status_t status =
      tfrt_certificate_check(&files, TFRT_CERTIFICATE_CLIENT, (int64_t)time(NULL));
  const bool is_known = tfrt_status_code(status) == code;
  tfrt_status_t error =
      is_known ? tfrt_status_create(code, "the host at %s closed the connection: %s", address,
                                    tfrt_status_message(status))
               : tfrt_status_create(code,
                                    "the host at %s closed the connection: the certificate shown "
                                    "to it is of another cluster's authority, or has expired; "
                                    "`tfrt certs show` there and here tells which",
                                    address);
  tfrt_status_release(status);
  return error;
}

tfrt_status_t tfrt_grpc_handshake_failure_status(tfrt_grpc_dial_text_t text,
                                                 const tfrt_grpc_credential_set_t* credentials,
                                                 const char* address, tfrt_string_view_t details) {
  const tfrt_status_code_t code = TFRT_STATUS_UNAUTHENTICATED;
  switch (text) {
    case TFRT_GRPC_DIAL_TEXT_UNTRUSTED:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is of another cluster's "
                                "authority, or has expired, or is no host's; `tfrt certs show` "
                                "there and here tells which, and `tfrt certs renew` renews it",
                                address);
    case TFRT_GRPC_DIAL_TEXT_WRONG_NAME:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is for other names; dial it by "
                                "one of them (`tfrt certs show` lists them), or give it one for "
                                "this address, too (`tfrt certs add`)",
                                address);
    case TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT:
      return tfrt_status_create(code,
                                "the host at %s does not speak TLS; start it with --tls-dir, or "
                                "leave that out here",
                                address);
    case TFRT_GRPC_DIAL_TEXT_TURNED_AWAY:
      return turned_away(credentials, address);
    default:
      return tfrt_status_create(code, "no TLS with the host at %s: %.*s", address,
                                TFRT_STRING_VIEW_ARGUMENTS(details));
  }
}
