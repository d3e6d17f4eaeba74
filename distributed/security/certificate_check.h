// SPDX-License-Identifier: Apache-2.0
//
// Reads certificates for people, and checks whether the files of a process make it a member of the
// cluster.
//
// The latter is asked before a process starts, so that a wrong file is one clear line here, and not
// a handshake that fails at a peer:
//
//   authorities --signed--> certificate --belongs to--> key
//                            | dates, and the use that the role needs
//
// Errors: the file's own; INVALID_ARGUMENT for a key of another certificate; UNAUTHENTICATED for a
// certificate that others will not accept, and why.
//
// Thread rule: thread-safe, as far as the files are. Failure rule: see above.
#ifndef TFRT_DISTRIBUTED_SECURITY_CERTIFICATE_CHECK_H_
#define TFRT_DISTRIBUTED_SECURITY_CERTIFICATE_CHECK_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"

// The longest common name that X.509 allows.
#define TFRT_CERTIFICATE_COMMON_NAME_SIZE 64

typedef enum tfrt_certificate_role_e {
  TFRT_CERTIFICATE_HOST = 0,    // listens, and dials
  TFRT_CERTIFICATE_CLIENT = 1,  // only dials
} tfrt_certificate_role_t;

// --- Describing -------------------------------------------------------------------

// The contents of a certificate.
typedef struct tfrt_certificate_description_s {
  const char* kind;             // "authority", "host" or "client"
  tfrt_string_builder_t names;  // each with a NUL at its end: a host's, or the one of the others
  tfrt_string_builder_t issuer;
  int64_t ends_s;  // since 1970
  bool is_over;    // at the time that was asked for
} tfrt_certificate_description_t;

// Fills |out_description| with what the first certificate in the file |path| says; |now_s| is the
// time for which that is asked. It must be deinitialised unless this fails. Thread-safe.
tfrt_status_t tfrt_certificate_description_read(const char* path, int64_t now_s,
                                                tfrt_certificate_description_t* out_description)
    TFRT_MUST_USE;

// Gives back what |description| has. Thread-compatible.
void tfrt_certificate_description_deinitialize(tfrt_certificate_description_t* description);

// Appends one line for people about the first certificate in the file |path| to |out|: its subject,
// its issuer, its end. |now_s| says whether it has expired. Thread-safe.
tfrt_status_t tfrt_certificates_describe(const char* path, int64_t now_s,
                                         tfrt_string_builder_t* out) TFRT_MUST_USE;

// --- Checking ---------------------------------------------------------------------

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
