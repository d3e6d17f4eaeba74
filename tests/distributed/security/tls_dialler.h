// SPDX-License-Identifier: Apache-2.0
//
// A dialler that speaks TLS and nothing else, for tests of listeners.
//
// Thread rule: thread-safe. Failure rule: a file that can't be used, or a port that nobody listens
// on, gives false.
#ifndef TFRT_TESTS_DISTRIBUTED_SECURITY_TLS_DIALLER_H_
#define TFRT_TESTS_DISTRIBUTED_SECURITY_TLS_DIALLER_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/security/certificates.h"

typedef enum tfrt_tls_dialler_version_e {
  TFRT_TLS_DIALLER_1_2,
  TFRT_TLS_DIALLER_1_3,
} tfrt_tls_dialler_version_t;

// Connects to |port| of 127.0.0.1, makes a handshake of TLS up to |version|, showing the
// certificate of |files| (NULL: none); then waits for a byte or the end, and hangs up.
// Thread-safe.
bool tfrt_tls_dialler_shake_hands(uint16_t port, tfrt_tls_dialler_version_t version,
                                  const tfrt_certificate_files_t* files);

#endif  // TFRT_TESTS_DISTRIBUTED_SECURITY_TLS_DIALLER_H_
