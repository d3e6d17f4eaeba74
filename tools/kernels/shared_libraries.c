// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/shared_libraries.h"

#include <string.h>

static tfrt_shared_library_t tfrt_shared_libraries[TFRT_SHARED_LIBRARIES_MAX];
static size_t tfrt_shared_library_count = 0;

// Loads |path|, which lives as long as the process.
static tfrt_status_t shared_libraries_load_one(const char* flag, const char* path) {
  if (tfrt_shared_library_count == TFRT_SHARED_LIBRARIES_MAX) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--%s: at most %d libraries", flag,
                              TFRT_SHARED_LIBRARIES_MAX);
  }
  const tfrt_kernel_library_t* library = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_kernel_library_load(path, &library));
  for (size_t i = 0; i < tfrt_shared_library_count; ++i) {
    if (tfrt_shared_libraries[i].library != library) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "shared library '%s' is there already, as '%s': name it once", path,
                              tfrt_shared_libraries[i].path);
  }
  tfrt_shared_libraries[tfrt_shared_library_count++] = (tfrt_shared_library_t){path, library};
  return NULL;
}

tfrt_status_t tfrt_shared_libraries_load(const char* list) {
  return tfrt_shared_libraries_load_of(TFRT_SHARED_LIBRARIES_FLAG, list);
}

tfrt_status_t tfrt_shared_libraries_load_of(const char* flag, const char* list) {
  if (!list) return NULL;
  while (true) {
    size_t size = strcspn(list, ",");
    if (size == 0) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "--%s names files, with one comma between two of them", flag);
    }
    char* path = tfrt_allocator_copy_string(tfrt_allocator_system(), list, size);
    if (!path) return tfrt_status_out_of_memory();
    tfrt_status_t status = shared_libraries_load_one(flag, path);
    if (status) {
      tfrt_allocator_free(tfrt_allocator_system(), path, size + 1);
      return status;
    }
    if (!list[size]) return NULL;
    list += size + 1;
  }
}

size_t tfrt_shared_libraries_count(void) { return tfrt_shared_library_count; }

const tfrt_shared_library_t* tfrt_shared_libraries_get(size_t index) {
  return &tfrt_shared_libraries[index];
}

// Adds the path of the library to the error |status| (consumed) and, for a clash of names, the fix.
static tfrt_status_t shared_libraries_take_annotate(const tfrt_shared_library_t* entry,
                                                    tfrt_status_t status) {
  bool is_clash = tfrt_status_code(status) == TFRT_STATUS_ALREADY_EXISTS;
  status = tfrt_status_take_annotate(status, "shared library '%s'", entry->path);
  if (!is_clash) return status;
  tfrt_status_t clash = tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                                           "%s: names of a library begin with a dialect of its own",
                                           tfrt_status_message(status));
  tfrt_status_release(status);
  return clash;
}

tfrt_status_t tfrt_shared_libraries_set_up(void) {
  for (size_t i = 0; i < tfrt_shared_library_count; ++i) {
    const tfrt_shared_library_t* entry = &tfrt_shared_libraries[i];
    tfrt_status_t status = entry->library->set_up ? entry->library->set_up() : NULL;
    if (status) return shared_libraries_take_annotate(entry, status);
  }
  return NULL;
}

tfrt_status_t tfrt_shared_libraries_register(tfrt_kernel_registry_t* registry) {
  // All first: the entries of one may name types of another.
  TFRT_RETURN_IF_ERROR(tfrt_shared_libraries_set_up());
  for (size_t i = 0; i < tfrt_shared_library_count; ++i) {
    const tfrt_shared_library_t* entry = &tfrt_shared_libraries[i];
    tfrt_status_t status = tfrt_kernel_library_register(registry, entry->library);
    if (status) return shared_libraries_take_annotate(entry, status);
  }
  return NULL;
}
