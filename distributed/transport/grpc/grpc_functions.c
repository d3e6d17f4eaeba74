// SPDX-License-Identifier: Apache-2.0
//
// The table's members have the names of the functions, which are not replaced here.
#define TFRT_GRPC_FUNCTIONS_ARE_PLAIN
#include "distributed/transport/grpc/grpc_functions.h"

#include "host_runtime/base/dynamic_library/dynamic_library.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

tfrt_grpc_functions_t tfrt_grpc_functions;

static const tfrt_dynamic_symbol_t symbols[] = {
#define SYMBOL(name) {#name, &tfrt_grpc_functions.name},
    TFRT_GRPC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
static tfrt_status_t opening;  // kept, as the library is

static void open_once(void) {
  // The repository rule looks up the name of the file that the headers belong to.
  static const tfrt_dynamic_library_t grpc = {.file = TFRT_GRPC_FILE_NAME,
                                              .what = "the network library gRPC",
                                              .package = "libgrpc-dev",
                                              .symbols = symbols,
                                              .symbol_count = TFRT_ARRAY_SIZE(symbols)};
  void* handle = NULL;
  opening = tfrt_dynamic_library_open(&grpc, &handle);
}

tfrt_status_t tfrt_grpc_functions_open(void) {
  tfrt_once_run(&once, open_once);
  return opening ? tfrt_status_retain(opening) : NULL;
}
