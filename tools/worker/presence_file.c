// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/presence_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/file.h"

// Refuses a link that a stranger may have left there, in a folder that all users write, to have
// somebody's file overwritten. A link to a device or a pipe, as /dev/stdout is one, is none.
static tfrt_status_t presence_file_refuse_link(const char* path) {
  struct stat found;
  if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode)) return NULL;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "%s is a symbolic link, and what it leads to would be overwritten: name "
      "the file itself",
      path);
}

tfrt_status_t tfrt_presence_file_write(const char* path, const char* text,
                                       tfrt_presence_file_t* out_file) {
  memset(out_file, 0, sizeof(*out_file));
  TFRT_RETURN_IF_ERROR(presence_file_refuse_link(path));
  TFRT_RETURN_IF_ERROR(tfrt_file_write(path, text, strlen(text)));
  if (stat(path, &out_file->identity) != 0) {
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "%s went away at once: %s", path,
                              strerror(errno));
  }
  out_file->path = path;
  out_file->is_written = true;
  return NULL;
}

// The system gives the number of a file that is gone to a new one, but not in the same
// nanosecond.
static bool presence_file_is_ours(const tfrt_presence_file_t* file) {
  struct stat now;
  return stat(file->path, &now) == 0 && now.st_dev == file->identity.st_dev &&
         now.st_ino == file->identity.st_ino &&
         now.st_mtim.tv_sec == file->identity.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == file->identity.st_mtim.tv_nsec;
}

void tfrt_presence_file_remove(tfrt_presence_file_t* file) {
  if (file->is_written && presence_file_is_ours(file)) unlink(file->path);
  file->is_written = false;
}
