// SPDX-License-Identifier: Apache-2.0
//
// A folder of certificates (certificate_folder.h) for tests, which end when it can't be had.
//
// Thread rule: thread-compatible. Failure rule: ck_assert_*.
#ifndef TFRT_TESTS_DISTRIBUTED_SECURITY_CHECKED_CERTIFICATE_FOLDER_H_
#define TFRT_TESTS_DISTRIBUTED_SECURITY_CHECKED_CERTIFICATE_FOLDER_H_

#include <check.h>

#include "tests/distributed/security/certificate_folder.h"

// Makes |folder|. Thread-compatible.
static inline void tfrt_certificate_folder_initialize(tfrt_certificate_folder_t* folder) {
  tfrt_status_t status = tfrt_certificate_folder_make(folder);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

// Removes |folder|. Thread-compatible.
static inline void tfrt_certificate_folder_deinitialize(tfrt_certificate_folder_t* folder) {
  ck_assert(tfrt_certificate_folder_remove(folder));
}

// Adds a certificate to |folder|. Thread-compatible.
static inline void tfrt_certificate_folder_issue(const tfrt_certificate_folder_t* folder,
                                                 tfrt_certificate_role_t role, const char* name,
                                                 int64_t end_s) {
  tfrt_status_t status = tfrt_certificate_folder_add(folder, role, name, end_s);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

#endif  // TFRT_TESTS_DISTRIBUTED_SECURITY_CHECKED_CERTIFICATE_FOLDER_H_
