// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn_library.h"

#include <dlfcn.h>
#include <string.h>

#include "host_runtime/base/sync.h"

// The file's name carries the version that the header is of: another one has other structs.
#define TEXT_OF(number) #number
#define FILE_NAME(version) "libdnnl.so." TEXT_OF(version)

static struct {
  tfrt_once_t once;
  tfrt_status_t status;  // of the opening; kept, as the library is
  tfrt_onednn_library_t functions;
} library = {.once = TFRT_ONCE_INITIALIZER};

// A name of the library, and where the address of that function belongs.
typedef struct entry_s {
  const char* name;
  void* slot;  // a function pointer, of whatever type
} entry_t;

static const entry_t entries[] = {
#define ENTRY(name) {#name, &library.functions.name},
    TFRT_ONEDNN_FUNCTIONS(ENTRY)
#undef ENTRY
};

_Static_assert(sizeof(void*) == sizeof(library.functions.dnnl_sgemm),
               "the loader hands functions out as data pointers");

static tfrt_status_t unusable(const char* reason) {
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "the maths library oneDNN can't be opened: %s (the Debian package "
                            "libdnnl%d has it)",
                            reason ? reason : "no reason given", DNNL_VERSION_MAJOR);
}

static tfrt_status_t open_library(void) {
  void* handle = dlopen(FILE_NAME(DNNL_VERSION_MAJOR), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return unusable(dlerror());
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    void* function = dlsym(handle, entries[i].name);
    if (!function) return unusable(dlerror());
    memcpy(entries[i].slot, &function, sizeof(function));
  }
  // Found behind the library, among what it brings along.
  void* set_thread_count = dlsym(handle, "omp_set_num_threads");
  memcpy(&library.functions.omp_set_num_threads, &set_thread_count, sizeof(set_thread_count));
  return NULL;
}

static void open_once(void) { library.status = open_library(); }

tfrt_status_t tfrt_onednn_library_open(void) {
  tfrt_once_run(&library.once, open_once);
  return library.status ? tfrt_status_retain(library.status) : NULL;
}

const tfrt_onednn_library_t* tfrt_onednn(void) { return &library.functions; }
