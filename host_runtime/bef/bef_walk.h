// SPDX-License-Identifier: Apache-2.0
//
// A walk over the records of a large file that was mapped: what lies behind the walk leaves memory,
// so that a file of any size takes about one window of it, however often it is walked over.
//
//   | not in memory ........ | window: in memory, up to 512 KiB | not read yet ....... |
//                              from                        at -->
//
// Life:
//  1. Begun at an address of the image.
//  2. Told where it is, again and again, in either direction.
//  3. Ended.
//
// Thread rule: thread-compatible; others may read the image meanwhile. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_WALK_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_WALK_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/bef/bef_file.h"

// The bytes of a window.
#define TFRT_BEF_WALK_WINDOW ((uintptr_t)1 << 19)

typedef struct tfrt_bef_walk_s {
  const tfrt_bef_file_t* file;  // NULL: the records are of no file
  uintptr_t from;
} tfrt_bef_walk_t;

// A walk that begins at |from|, an address of the image of |file|; NULL: nothing will leave memory.
// Thread-safe.
static inline tfrt_bef_walk_t tfrt_bef_walk_begin(const tfrt_bef_file_t* file, const void* from) {
  return (tfrt_bef_walk_t){file, (uintptr_t)from};
}

// Lets what is between the window's begin and |at| leave memory, and begins a new one at |at|.
// Thread-compatible.
void tfrt_bef_walk_move(tfrt_bef_walk_t* walk, const void* at);

// The walk is at |at|. Thread-compatible.
static inline void tfrt_bef_walk_pass(tfrt_bef_walk_t* walk, const void* at) {
  const uintptr_t distance = (uintptr_t)at - walk->from + TFRT_BEF_WALK_WINDOW;
  if (TFRT_UNLIKELY(distance >= 2 * TFRT_BEF_WALK_WINDOW)) tfrt_bef_walk_move(walk, at);
}

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_WALK_H_
