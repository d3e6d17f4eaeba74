// SPDX-License-Identifier: Apache-2.0
//
// A folder with the certificates of a cluster, for tests and benchmarks: made anew, and removed at
// the end. The files have the names that `tfrt certs` gives them.
//
// Thread rule: thread-compatible. Failure rule: a status; checked_certificate_folder.h asserts.
#ifndef TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_
#define TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_

#include "distributed/security/certificates.h"

// A minute, and a day, in seconds.
#define TFRT_A_MINUTE_S 60
#define TFRT_A_DAY_S (24 * 60 * 60)

typedef struct tfrt_certificate_folder_s {
  char path[48];  // "": there is none
  // Set by tfrt_certificate_folder_files().
  char authorities[128];
  char certificate[128];
  char key[128];
} tfrt_certificate_folder_t;

// Makes a folder in /tmp with an authority that counts for a day. After an error there is none.
// Thread-compatible.
tfrt_status_t tfrt_certificate_folder_make(tfrt_certificate_folder_t* folder) TFRT_MUST_USE;

// Removes it, if there is one, with everything in it; false if something stays. Thread-compatible.
bool tfrt_certificate_folder_remove(tfrt_certificate_folder_t* folder);

// From |begin_s| to |end_s|, both counted from now. Thread-safe.
tfrt_certificate_validity_t tfrt_certificate_from_now(int64_t begin_s, int64_t end_s);

// Adds a certificate with one |name| that ends |end_s| from now. Thread-compatible.
tfrt_status_t tfrt_certificate_folder_add(const tfrt_certificate_folder_t* folder,
                                          tfrt_certificate_role_t role, const char* name,
                                          int64_t end_s) TFRT_MUST_USE;

// The files of |name| in |folder|, borrowed from it until the next call. Thread-compatible.
tfrt_certificate_files_t tfrt_certificate_folder_files(tfrt_certificate_folder_t* folder,
                                                       const char* name);

#endif  // TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_
