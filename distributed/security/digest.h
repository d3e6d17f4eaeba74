// SPDX-License-Identifier: Apache-2.0
//
// Digests and proofs: what a program is (SHA-256 of its bytes), and that a peer has a job's
// key (HMAC-SHA-256). The only room that knows the cryptographic library.
//
// Thread rule: thread-safe. Failure rule: INTERNAL if the library refuses, as it does when
// memory is out.
#ifndef TFRT_DISTRIBUTED_SECURITY_DIGEST_H_
#define TFRT_DISTRIBUTED_SECURITY_DIGEST_H_

#include <stdint.h>

#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

#define TFRT_SHA256_SIZE 32

// Sets |out_digest| to the SHA-256 of |bytes|. Thread-safe.
tfrt_status_t tfrt_sha256(tfrt_string_view_t bytes, uint8_t out_digest[TFRT_SHA256_SIZE])
    TFRT_MUST_USE;

// Sets |out_proof| to the HMAC-SHA-256 of |bytes| under |key|. Thread-safe.
tfrt_status_t tfrt_hmac_sha256(tfrt_string_view_t key, tfrt_string_view_t bytes,
                               uint8_t out_proof[TFRT_SHA256_SIZE]) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SECURITY_DIGEST_H_
