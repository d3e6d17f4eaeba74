// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/bef/bef_walk.h"

void tfrt_bef_walk_move(tfrt_bef_walk_t* walk, const void* at) {
  const uintptr_t to = (uintptr_t)at;
  const uintptr_t begin = to < walk->from ? to : walk->from;
  const uintptr_t end = to < walk->from ? walk->from : to;
  if (walk->file) tfrt_bef_file_unload(walk->file, (const void*)begin, end - begin);
  walk->from = to;
}
