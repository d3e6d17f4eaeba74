// SPDX-License-Identifier: Apache-2.0
//
// Part of the shared library only: gives back what a program has left, and the devices. The
// constructors and destructors of compiled programs load and unload their modules before.
#include "embedding/mgpu/handle.h"
#include "embedding/mgpu/memory.h"
#include "embedding/mgpu/session.h"

__attribute__((destructor)) static void close_session(void) {
  tfrt_mgpu_memory_clear();
  tfrt_mgpu_handle_destroy_all();
  tfrt_mgpu_session_close();
}
