// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/vendor_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// Room for all names of a library in a message.
#define TFRT_VENDOR_NAMES_SIZE 128

static void* vendor_library_load(const char* name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// The first library of |names| that can be opened; NULL if none can. |out_name| is its name then,
// or all names.
static void* vendor_library_find(const char* const* names, size_t count, char* out_name) {
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    void* handle = vendor_library_load(names[i]);
    if (handle) used = 0;
    int room = (int)(TFRT_VENDOR_NAMES_SIZE - used);
    int added = snprintf(out_name + used, (size_t)room, "%s%s", used > 0 ? ", " : "", names[i]);
    if (handle) return handle;
    used += added < room ? (size_t)added : (size_t)room - 1;
  }
  return NULL;
}

tfrt_status_t tfrt_vendor_library_open(const tfrt_vendor_library_t* library, const char* path,
                                       void* out_table) {
  char name[TFRT_VENDOR_NAMES_SIZE] = "";
  void* handle = path ? vendor_library_find(&path, 1, name)
                      : vendor_library_find(library->names, library->name_count, name);
  if (!handle) {
    const char* why = dlerror();
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                              "no %s: none of its libraries can be opened (%s; %s); %s",
                              library->title, name, why ? why : "no reason", library->fix);
  }
  for (size_t i = 0; i < library->entry_count; ++i) {
    const tfrt_vendor_entry_t* entry = &library->entries[i];
    // A function's address comes as a data pointer: POSIX says that this is fine.
    void* address = dlsym(handle, entry->name);
    if (!address) {
      return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no %s: %s has no %s; %s", library->title,
                                name, entry->name, library->fix);
    }
    memcpy((char*)out_table + entry->offset, &address, sizeof(address));
  }
  return NULL;
}
