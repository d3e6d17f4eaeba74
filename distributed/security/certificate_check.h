// SPDX-License-Identifier: Apache-2.0
//
// Are these the files of a member of the cluster? Asked before a process starts, so that a
// wrong file is one clear line here, and not a handshake that fails at a peer.
//
//   authorities --signed--> certificate --belongs to--> key
//                            | dates, and the use that the role needs
//
// Thread rule: thread-safe, as far as the files are.
// Failure rule: the file's own errors; INVALID_ARGUMENT for a key of another certificate;
// UNAUTHENTICATED for a certificate that others will not accept, and why.
#ifndef TFRT_DISTRIBUTED_SECURITY_CERTIFICATE_CHECK_H_
#define TFRT_DISTRIBUTED_SECURITY_CERTIFICATE_CHECK_H_

#include "distributed/security/certificates.h"

// Paths of what a process shows and trusts; the texts are borrowed.
typedef struct tfrt_certificate_files_s {
  const char* authorities;  // whose certificates are accepted
  const char* certificate;
  const char* key;
} tfrt_certificate_files_t;

// Checks that |files| will do for |role| at the time |now_s| (seconds since 1970).
// Thread-safe.
tfrt_status_t tfrt_certificate_check(const tfrt_certificate_files_t* files,
                                     tfrt_certificate_role_t role, int64_t now_s) TFRT_MUST_USE;

// Checks that each of |files| holds the kind of object it should, and that the key belongs to the
// certificate. Does not check the signature, the permitted use or the dates. Thread-safe.
tfrt_status_t tfrt_certificate_check_form(const tfrt_certificate_files_t* files) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SECURITY_CERTIFICATE_CHECK_H_
