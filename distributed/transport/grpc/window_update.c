// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/window_update.h"

#include <stdbool.h>

#if TFRT_GRPC_CORE == 29

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

// grpc_core::chttp2::FlowControlAction: how urgent the updates of the stream, of the connection
// and of two settings are, and the settings' values.
typedef struct action_s {
  uint8_t stream;
  uint8_t others[3];
  uint32_t settings[2];
} action_t;

// Its Urgency.
enum { UPDATE_IMMEDIATELY = 1, QUEUE_UPDATE = 2 };

// UpdateAction and DesiredAnnounceSize of grpc_core::chttp2::StreamFlowControl.
#define UPDATE_ACTION _ZN9grpc_core6chttp217StreamFlowControl12UpdateActionENS0_17FlowControlActionE
#define DESIRED_SIZE "_ZNK9grpc_core6chttp217StreamFlowControl19DesiredAnnounceSizeEv"
#define NAME_OF(SYMBOL) #SYMBOL
#define NAME(SYMBOL) NAME_OF(SYMBOL)

typedef action_t (*update_action_fn_t)(void* stream, action_t action);
typedef int64_t (*desired_size_fn_t)(const void* stream);

static _Thread_local bool waits_here;

void tfrt_grpc_window_update_wait_here(void) { waits_here = true; }

// What the library has under |name|, kept in |*cache|.
static void* original(_Atomic(void*)* cache, const char* name) {
  // Relaxed: each thread that finds none looks it up itself, and finds the same.
  void* found = atomic_load_explicit(cache, memory_order_relaxed);
  if (found) return found;
  found = dlsym(RTLD_NEXT, name);
  atomic_store_explicit(cache, found, memory_order_relaxed);
  return found;
}

// Weak, so that gRPC may also be linked statically: then it keeps its own.
__attribute__((visibility("default"), weak, used)) action_t UPDATE_ACTION(void* stream,
                                                                          action_t action);
action_t UPDATE_ACTION(void* stream, action_t action) {
  static _Atomic(void*) update_action;
  static _Atomic(void*) desired_size;
  update_action_fn_t update;
  *(void**)&update = original(&update_action, NAME(UPDATE_ACTION));
  action = update(stream, action);
  if (!waits_here || action.stream != UPDATE_IMMEDIATELY) return action;
  desired_size_fn_t desired;
  *(void**)&desired = original(&desired_size, DESIRED_SIZE);
  if (desired && desired(stream) < TFRT_GRPC_WINDOW_SLACK) action.stream = QUEUE_UPDATE;
  return action;
}

#else

void tfrt_grpc_window_update_wait_here(void) {}

#endif
