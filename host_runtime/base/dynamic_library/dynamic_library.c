// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/dynamic_library/dynamic_library.h"

#include <dlfcn.h>
#include <string.h>

_Static_assert(sizeof(void*) == sizeof(void (*)(void)),
               "the loader hands functions out as data pointers");

static tfrt_status_t unusable(const tfrt_dynamic_library_t* library, const char* reason) {
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "%s can't be opened: %s (the Debian package %s has it)", library->what,
                            reason ? reason : "no reason given", library->package);
}

tfrt_status_t tfrt_dynamic_library_open(const tfrt_dynamic_library_t* library, void** out_handle) {
  *out_handle = NULL;
  void* handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return unusable(library, dlerror());
  for (size_t i = 0; i < library->symbol_count; ++i) {
    void* function = dlsym(handle, library->symbols[i].name);
    if (!function) return unusable(library, dlerror());
    memcpy(library->symbols[i].slot, &function, sizeof(function));
  }
  *out_handle = handle;
  return NULL;
}
