// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/security/certificate_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

tfrt_status_t tfrt_certificate_folder_make(tfrt_certificate_folder_t* folder) {
  strcpy(folder->path, "/tmp/tfrt-certificates-XXXXXX");
  if (!mkdtemp(folder->path)) {
    folder->path[0] = '\0';
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no folder can be made in /tmp");
  }
  tfrt_status_t status = tfrt_certificates_create_authority(
      folder->path, tfrt_certificate_from_now(-TFRT_A_DAY_S, TFRT_A_DAY_S));
  if (status) (void)tfrt_certificate_folder_remove(folder);
  return status;
}

bool tfrt_certificate_folder_remove(tfrt_certificate_folder_t* folder) {
  if (!folder->path[0]) return true;
  DIR* directory = opendir(folder->path);
  if (!directory) return false;
  for (struct dirent* entry; (entry = readdir(directory));) {
    if (entry->d_name[0] != '.') unlinkat(dirfd(directory), entry->d_name, 0);
  }
  closedir(directory);
  bool is_removed = rmdir(folder->path) == 0;
  folder->path[0] = '\0';
  return is_removed;
}

tfrt_certificate_validity_t tfrt_certificate_from_now(int64_t begin_s, int64_t end_s) {
  int64_t now_s = (int64_t)time(NULL);
  return (tfrt_certificate_validity_t){now_s + begin_s, now_s + end_s};
}

tfrt_status_t tfrt_certificate_folder_add(const tfrt_certificate_folder_t* folder,
                                          tfrt_certificate_role_t role, const char* name,
                                          int64_t end_s) {
  tfrt_certificate_request_t request = {
      .role = role,
      .names = &name,
      .name_count = 1,
      .validity = tfrt_certificate_from_now(-2 * TFRT_A_MINUTE_S, end_s)};
  return tfrt_certificates_issue(folder->path, &request);
}

tfrt_certificate_files_t tfrt_certificate_folder_files(tfrt_certificate_folder_t* folder,
                                                       const char* name) {
  snprintf(folder->authorities, sizeof(folder->authorities), "%s/ca.pem", folder->path);
  snprintf(folder->certificate, sizeof(folder->certificate), "%s/%s.pem", folder->path, name);
  snprintf(folder->key, sizeof(folder->key), "%s/%s.key", folder->path, name);
  return (tfrt_certificate_files_t){folder->authorities, folder->certificate, folder->key};
}
