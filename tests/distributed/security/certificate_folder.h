// SPDX-License-Identifier: Apache-2.0
//
// A folder with the certificates of a cluster, for tests: made anew, and removed at the end.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_
#define TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_

#include "distributed/security/certificate_check.h"

// A minute, and a day, in seconds.
#define TFRT_A_MINUTE_S 60
#define TFRT_A_DAY_S (24 * 60 * 60)

typedef struct tfrt_certificate_folder_s {
  char path[48];
  // Set by tfrt_certificate_folder_files().
  char authorities[128];
  char certificate[128];
  char key[128];
} tfrt_certificate_folder_t;

// Makes a folder with an authority that counts for a day. Thread-compatible.
void tfrt_certificate_folder_initialize(tfrt_certificate_folder_t* folder);

// Removes it, with everything in it. Thread-compatible.
void tfrt_certificate_folder_deinitialize(tfrt_certificate_folder_t* folder);

// From |begin_s| to |end_s|, both counted from now. Thread-safe.
tfrt_certificate_validity_t tfrt_certificate_from_now(int64_t begin_s, int64_t end_s);

// Issues a certificate with one |name| that ends |end_s| from now. Thread-compatible.
void tfrt_certificate_folder_issue(tfrt_certificate_folder_t* folder, tfrt_certificate_role_t role,
                                   const char* name, int64_t end_s);

// The files of |name| in |folder|, borrowed from it until the next call. Thread-compatible.
tfrt_certificate_files_t tfrt_certificate_folder_files(tfrt_certificate_folder_t* folder,
                                                       const char* name);

#endif  // TFRT_TESTS_DISTRIBUTED_SECURITY_CERTIFICATE_FOLDER_H_
