// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_certificates.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "distributed/security/certificates.h"

#define VALID_S (60 * 60)

static tfrt_status_t issue(const char* folder) {
  int64_t now_s = (int64_t)time(NULL);
  const tfrt_certificate_validity_t validity = {now_s - VALID_S, now_s + VALID_S};
  TFRT_RETURN_IF_ERROR(tfrt_certificates_create_authority(folder, validity));
  const char* name = "127.0.0.1";
  const tfrt_certificate_request_t request = {
      .role = TFRT_CERTIFICATE_HOST, .names = &name, .name_count = 1, .validity = validity};
  return tfrt_certificates_issue(folder, &request);
}

tfrt_status_t tfrt_bench_certificates_make(tfrt_bench_certificates_t* certificates) {
  strcpy(certificates->folder, "/tmp/tfrt-bench-XXXXXX");
  if (!mkdtemp(certificates->folder)) {
    certificates->folder[0] = '\0';
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no folder in /tmp");
  }
  static const char* const kNames[] = {"ca.pem", "127.0.0.1.pem", "127.0.0.1.key"};
  for (int i = 0; i < 3; ++i) {
    snprintf(certificates->paths[i], sizeof(certificates->paths[i]), "%s/%s", certificates->folder,
             kNames[i]);
  }
  tfrt_status_t status = issue(certificates->folder);
  if (status) tfrt_bench_certificates_remove(certificates);
  return status;
}

tfrt_certificate_files_t tfrt_bench_certificates_files(
    const tfrt_bench_certificates_t* certificates) {
  return (tfrt_certificate_files_t){certificates->paths[0], certificates->paths[1],
                                    certificates->paths[2]};
}

void tfrt_bench_certificates_remove(tfrt_bench_certificates_t* certificates) {
  DIR* directory = certificates->folder[0] ? opendir(certificates->folder) : NULL;
  if (!directory) return;
  for (struct dirent* entry; (entry = readdir(directory));) {
    if (entry->d_name[0] != '.') unlinkat(dirfd(directory), entry->d_name, 0);
  }
  closedir(directory);
  rmdir(certificates->folder);
  certificates->folder[0] = '\0';
}
