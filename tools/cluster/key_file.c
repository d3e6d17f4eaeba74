// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/key_file.h"

#include <sys/stat.h>

#include "host_runtime/base/log.h"

void tfrt_key_file_check_mode(const char* path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (info.st_mode & (S_IWGRP | S_IWOTH)) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "other users can write the key in %s: `chmod 600 %s`", path,
             path);
  } else if (info.st_mode & S_IROTH) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "all users can read the key in %s: `chmod 600 %s`", path,
             path);
  }
}
