// SPDX-License-Identifier: Apache-2.0
#include "tools/models/model_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distributed/security/digest.h"
#include "host_runtime/base/string_builder.h"

// --- The folder ----------------------------------------------------------------------

static bool is_private(const struct stat* info) {
  return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Appends |name| to the path in |folder|, and makes a folder of it unless there is one.
static bool enter(char folder[4096], const char* name) {
  size_t size = strlen(folder);
  int added = snprintf(folder + size, 4096 - size, "%s", name);
  if (added < 0 || (size_t)added >= 4096 - size) return false;
  struct stat info;
  return mkdir(folder, 0700) == 0 || (stat(folder, &info) == 0 && S_ISDIR(info.st_mode));
}

static bool find_folder(char folder[4096]) {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  folder[0] = '\0';
  // A relative path is to be ignored, by the specification of these variables.
  bool is_there = cache && cache[0] == '/'
                      ? enter(folder, cache)
                      : home && home[0] == '/' && enter(folder, home) && enter(folder, "/.cache");
  struct stat info;
  return is_there && enter(folder, "/tfrt") && enter(folder, "/models") &&
         lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && is_private(&info);
}

// --- The hash ------------------------------------------------------------------------

static tfrt_status_t hash(tfrt_string_view_t model, tfrt_string_view_t settings,
                          uint8_t out_digest[TFRT_SHA256_SIZE]) {
  uint8_t of_model[TFRT_SHA256_SIZE];
  struct stat self;
  TFRT_RETURN_IF_ERROR(tfrt_sha256(model, of_model));
  if (stat("/proc/self/exe", &self) != 0) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "this program's own file is not known");
  }
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append(&text, of_model, sizeof(of_model));
  // Another build may make another program of the same model.
  tfrt_string_builder_append_format(&text, "%llu %llu %lld %lld.%ld ",
                                    (unsigned long long)self.st_dev,
                                    (unsigned long long)self.st_ino, (long long)self.st_size,
                                    (long long)self.st_mtim.tv_sec, (long)self.st_mtim.tv_nsec);
  tfrt_string_builder_append(&text, settings.data, settings.size);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status) {
    tfrt_string_view_t all = tfrt_string_view_make(tfrt_string_builder_text(&text), text.size);
    status = tfrt_sha256(all, out_digest);
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

bool tfrt_model_cache_find(tfrt_string_view_t model, tfrt_string_view_t settings,
                           tfrt_model_cache_place_t* out_place) {
  uint8_t digest[TFRT_SHA256_SIZE];
  if (!find_folder(out_place->folder)) return false;
  tfrt_status_t status = hash(model, settings, digest);
  bool is_known = !status;
  tfrt_status_release(status);
  if (!is_known) return false;
  char* next = out_place->path +
               snprintf(out_place->path, sizeof(out_place->path), "%s/", out_place->folder);
  for (size_t i = 0; i < sizeof(digest); ++i) next += sprintf(next, "%02x", digest[i]);
  strcpy(next, ".bef");
  return true;
}

// --- Entries -------------------------------------------------------------------------

tfrt_bef_file_t* tfrt_model_cache_load(const tfrt_model_cache_place_t* place) {
  struct stat info;
  if (lstat(place->path, &info) != 0 || !S_ISREG(info.st_mode) || !is_private(&info)) return NULL;
  tfrt_file_contents_t contents;
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status =
      tfrt_file_map(place->path, TFRT_BEF_MAX_SIZE, tfrt_allocator_system(), &contents);
  if (!status) status = tfrt_bef_file_create_take_contents(&contents, &file);
  tfrt_status_release(status);
  // Its time says when it was used.
  if (file) utimensat(AT_FDCWD, place->path, NULL, 0);
  return file;
}

// An entry of the folder, and the sum of all.
typedef struct oldest_s {
  char name[256];
  struct timespec time;
  uint64_t total;
} oldest_t;

static bool is_earlier(const struct timespec* a, const struct timespec* b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void find_oldest(DIR* folder, oldest_t* out_oldest) {
  static const char end[] = ".bef";
  *out_oldest = (oldest_t){.total = 0};
  const struct dirent* entry;
  rewinddir(folder);
  while ((entry = readdir(folder)) != NULL) {
    struct stat info;
    size_t size = strlen(entry->d_name);
    bool is_entry = size >= sizeof(end) && size < sizeof(out_oldest->name) &&
                    strcmp(entry->d_name + size - (sizeof(end) - 1), end) == 0;
    if (!is_entry || fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    out_oldest->total += (uint64_t)info.st_size;
    if (out_oldest->name[0] && !is_earlier(&info.st_mtim, &out_oldest->time)) continue;
    memcpy(out_oldest->name, entry->d_name, size + 1);
    out_oldest->time = info.st_mtim;
  }
}

// Removes old entries until |size| bytes more are within the limit.
static void make_room(const char* path, size_t size) {
  DIR* folder = opendir(path);
  if (!folder) return;
  oldest_t oldest;
  find_oldest(folder, &oldest);
  while (oldest.total + size > TFRT_MODEL_CACHE_MAX_SIZE && oldest.name[0] &&
         unlinkat(dirfd(folder), oldest.name, 0) == 0) {
    find_oldest(folder, &oldest);
  }
  closedir(folder);
}

void tfrt_model_cache_store(const tfrt_model_cache_place_t* place, const void* bytes, size_t size) {
  if (size > TFRT_MODEL_CACHE_MAX_SIZE) return;
  make_room(place->folder, size);
  tfrt_status_t status = tfrt_file_write(place->path, bytes, size);
  // The umask may have left more rights than those of this user.
  if (!status) chmod(place->path, 0600);
  tfrt_status_release(status);
}
