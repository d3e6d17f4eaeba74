// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

tfrt_status_t tfrt_sha256(tfrt_string_view_t bytes, uint8_t out_digest[TFRT_SHA256_SIZE]) {
  memset(out_digest, 0, TFRT_SHA256_SIZE);
  unsigned int size = 0;
  if (EVP_Digest(bytes.size ? bytes.data : "", bytes.size, out_digest, &size, EVP_sha256(), NULL) ==
          1 &&
      size == TFRT_SHA256_SIZE) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "SHA-256 of %zu bytes failed", bytes.size);
}

tfrt_status_t tfrt_hmac_sha256(tfrt_string_view_t key, tfrt_string_view_t bytes,
                               uint8_t out_proof[TFRT_SHA256_SIZE]) {
  memset(out_proof, 0, TFRT_SHA256_SIZE);
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.size ? key.data : "", (int)key.size,
           (const unsigned char*)(bytes.size ? bytes.data : ""), bytes.size, out_proof, &size) &&
      size == TFRT_SHA256_SIZE) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "HMAC-SHA-256 of %zu bytes failed", bytes.size);
}
