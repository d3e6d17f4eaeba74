// SPDX-License-Identifier: Apache-2.0
//
// PEM files read as OpenSSL's objects: certificates and keys. Private to this folder, whose sources
// share it.
//
// Thread rule: thread-safe, as far as the files are.
// Failure rule: each error names the path: NOT_FOUND, PERMISSION_DENIED and the like for the
// file, INVALID_ARGUMENT for a content that is something else.
#ifndef TFRT_DISTRIBUTED_SECURITY_PEM_FILE_H_
#define TFRT_DISTRIBUTED_SECURITY_PEM_FILE_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

// Makes an INTERNAL error of OpenSSL's last one, |what| failed, and forgets that one.
// Thread-safe.
tfrt_status_t tfrt_pem_openssl_error(const char* what) TFRT_MUST_USE;

// Reads the first certificate of the file |path| (+1, for X509_free). Thread-safe.
tfrt_status_t tfrt_pem_read_certificate(const char* path, X509** out_certificate) TFRT_MUST_USE;

// Reads all certificates of the file |path|, at least one, into a new store that trusts them
// (+1, for X509_STORE_free). Thread-safe.
tfrt_status_t tfrt_pem_read_authorities(const char* path, X509_STORE** out_store) TFRT_MUST_USE;

// Reads the private key in the file |path| (+1, for EVP_PKEY_free). One with a password is
// an error: nobody is there to be asked. Thread-safe.
tfrt_status_t tfrt_pem_read_key(const char* path, EVP_PKEY** out_key) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SECURITY_PEM_FILE_H_
