// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/file_system.h"

#include <string.h>

#include "host_runtime/base/ascii.h"

#define SEPARATOR "://"

static const tfrt_file_system_t local = {
    {"file", "://PATH"}, tfrt_file_read_local, tfrt_file_write_local};

static tfrt_choice_table_t file_systems = {
    .what = "file system", .mutex = TFRT_MUTEX_INITIALIZER, .count = 1, .entries = {&local.choice}};

// The letters and digits that |location| begins with: its scheme, if the separator is behind them.
static size_t scheme_size(tfrt_string_view_t location) {
  size_t size = 0;
  while (size < location.size && tfrt_ascii_is_letter_or_digit(location.data[size])) ++size;
  return size;
}

bool tfrt_file_system_has_scheme(tfrt_string_view_t location) {
  size_t size = scheme_size(location);
  return size > 0 && location.size - size >= strlen(SEPARATOR) &&
         memcmp(location.data + size, SEPARATOR, strlen(SEPARATOR)) == 0;
}

tfrt_status_t tfrt_file_system_register(const tfrt_file_system_t* file_system) {
  const char* name = file_system->choice.name;
  tfrt_string_view_t scheme = tfrt_string_view_of(name ? name : "");
  if (scheme.size == 0 || scheme_size(scheme) != scheme.size || !file_system->read ||
      !file_system->write || strcmp(file_system->choice.usage, SEPARATOR "PATH") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the file system '%s' needs a scheme of letters and digits, the "
                              "usage \"" SEPARATOR "PATH\", and the functions read and write",
                              scheme.data);
  }
  return tfrt_choice_add(&file_systems, &file_system->choice);
}

tfrt_status_t tfrt_file_system_find(const char* location,
                                    const tfrt_file_system_t** out_file_system,
                                    const char** out_path) {
  *out_file_system = &local;
  *out_path = location;
  if (!tfrt_file_system_has_scheme(tfrt_string_view_of(location))) return NULL;
  const tfrt_choice_t* choice;
  const char* rest;
  TFRT_RETURN_IF_ERROR(tfrt_choice_find(&file_systems, location, &choice, &rest));
  *out_file_system = TFRT_CONTAINER_OF(choice, tfrt_file_system_t, choice);
  *out_path = rest + strlen(SEPARATOR) - 1;  // behind the colon
  return NULL;
}

tfrt_status_t tfrt_file_system_refuse_write(const char* path, const void* data, size_t size) {
  (void)data;
  return tfrt_status_create(TFRT_STATUS_PERMISSION_DENIED,
                            "can't write %zu bytes to %s: this file system is only read", size,
                            path);
}
