// SPDX-License-Identifier: Apache-2.0
//
// Part of the shared library only: gives back what a program has left, and the devices, at the end
// of the process. Destructors of compiled programs, which unload their modules, may come later.
#include "embedding/mgpu/handle.h"
#include "embedding/mgpu/memory.h"
#include "embedding/mgpu/session.h"

static void end_session(void) {
  tfrt_mgpu_session_end();
  tfrt_mgpu_memory_clear();
  tfrt_mgpu_handle_destroy_all();
  tfrt_mgpu_session_close();
}

__attribute__((constructor)) static void prepare_exit(void) {
  tfrt_mgpu_session_at_exit(end_session);
}
