// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_library.h"

#include <dlfcn.h>
#include <string.h>

#include "host_runtime/base/dynamic_library/dynamic_library.h"
#include "host_runtime/base/sync.h"

// The file's name carries the version that the header is of: another one has other structs.
#define FILE_NAME(version) "libdnnl.so." TFRT_DYNAMIC_LIBRARY_TEXT_OF(version)
#define PACKAGE(version) "libdnnl" TFRT_DYNAMIC_LIBRARY_TEXT_OF(version)

static struct {
  tfrt_once_t once;
  tfrt_status_t status;  // of the opening; kept, as the library is
  tfrt_onednn_library_t functions;
} library = {.once = TFRT_ONCE_INITIALIZER};

static const tfrt_dynamic_symbol_t symbols[] = {
#define SYMBOL(name) {#name, &library.functions.name},
    TFRT_ONEDNN_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static tfrt_status_t open_library(void) {
  static const tfrt_dynamic_library_t onednn = {.file = FILE_NAME(DNNL_VERSION_MAJOR),
                                                .what = "the maths library oneDNN",
                                                .package = PACKAGE(DNNL_VERSION_MAJOR),
                                                .symbols = symbols,
                                                .symbol_count = TFRT_ARRAY_SIZE(symbols)};
  void* handle = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_dynamic_library_open(&onednn, &handle));
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
