// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/tls_files.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/cluster/key_file.h"

static tfrt_status_t tls_files_join(const char* directory, const char* name, const char* suffix,
                                    char out_path[TFRT_TLS_PATH_SIZE]) {
  int size = snprintf(out_path, TFRT_TLS_PATH_SIZE, "%s/%s%s", directory, name, suffix);
  if (size > 0 && size < TFRT_TLS_PATH_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--tls-dir: a path that is too long");
}

tfrt_status_t tfrt_tls_files_read(const tfrt_tls_flags_t* flags, const char* default_name,
                                  tfrt_certificate_role_t role, tfrt_tls_files_t* out_files) {
  memset(out_files, 0, sizeof(*out_files));
  if (!flags->directory) {
    if (!flags->name) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--tls-name names a certificate in a folder: give --tls-dir, too");
  }
  const char* name = flags->name ? flags->name : default_name;
  tfrt_status_t status = tls_files_join(flags->directory, "ca", ".pem", out_files->authorities);
  if (!status) status = tls_files_join(flags->directory, name, ".pem", out_files->certificate);
  if (!status) status = tls_files_join(flags->directory, name, ".key", out_files->key);
  if (status) return status;
  out_files->is_given = true;
  tfrt_certificate_files_t files = tfrt_tls_files_view(out_files);
  status = tfrt_certificate_check(&files, role, (int64_t)time(NULL));
  if (!status) {
    tfrt_key_file_check_mode(out_files->key);
    return NULL;
  }
  bool is_missing = tfrt_status_code(status) == TFRT_STATUS_NOT_FOUND;
  return tfrt_status_take_annotate(
      status, is_missing ? "--tls-dir (--tls-name NAME takes NAME.pem)" : "--tls-dir");
}
