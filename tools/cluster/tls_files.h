// SPDX-License-Identifier: Apache-2.0
//
// Which certificate a process shows, as its flags say:
//
//   --tls-dir DIR     DIR/ca.pem, DIR/NAME.pem and DIR/NAME.key, as `tfrt certs init` makes them
//   --tls-name NAME   which of them; without, what the program takes by itself
//
// Without --tls-dir there is no TLS, whatever files lie around.
//
// Life: read once, and checked then, so that a wrong file is an error of a flag; borrowed by
// the options of a host process.
//
// Thread rule: thread-compatible.
// Failure rule: one line that names the flag, the file, and the fix: INVALID_ARGUMENT and the
// file's own errors; UNAUTHENTICATED for a certificate that others will not accept.
#ifndef TFRT_TOOLS_CLUSTER_TLS_FILES_H_
#define TFRT_TOOLS_CLUSTER_TLS_FILES_H_

#include <stdbool.h>

#include "distributed/security/certificates.h"

// Room for a path with its NUL.
#define TFRT_TLS_PATH_SIZE 4096

// The help of the flags.
#define TFRT_TLS_DIRECTORY_HELP "talk TLS, with files of `tfrt certs init` (default: plain text)"
#define TFRT_TLS_NAME_HELP "which certificate of --tls-dir to show"

typedef struct tfrt_tls_files_s {
  bool is_given;
  char authorities[TFRT_TLS_PATH_SIZE];
  char certificate[TFRT_TLS_PATH_SIZE];
  char key[TFRT_TLS_PATH_SIZE];
} tfrt_tls_files_t;

// The values of flags; NULL: not given.
typedef struct tfrt_tls_flags_s {
  const char* directory;
  const char* name;
} tfrt_tls_flags_t;

// Sets |*out_files| to what |flags| say, with |default_name| if they have no name, and checks
// that the files will do for |role| now. Thread-compatible.
tfrt_status_t tfrt_tls_files_read(const tfrt_tls_flags_t* flags, const char* default_name,
                                  tfrt_certificate_role_t role, tfrt_tls_files_t* out_files)
    TFRT_MUST_USE;

// |files| as a host process wants them: NULL paths if there is no TLS. They live as long as
// |files|. Thread-safe.
static inline tfrt_certificate_files_t tfrt_tls_files_view(const tfrt_tls_files_t* files) {
  if (!files->is_given) return (tfrt_certificate_files_t){NULL, NULL, NULL};
  return (tfrt_certificate_files_t){files->authorities, files->certificate, files->key};
}

#endif  // TFRT_TOOLS_CLUSTER_TLS_FILES_H_
