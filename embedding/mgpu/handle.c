// SPDX-License-Identifier: Apache-2.0
#include "embedding/mgpu/handle.h"

#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

typedef tfrt_mgpu_handle_t handle_t;

static struct {
  tfrt_mutex_t mutex;  // guards all below, and modules' lists
  handle_t* first;
  int64_t count;
} live = {.mutex = TFRT_MUTEX_INITIALIZER};

static void release_object(tfrt_mgpu_kind_t kind, void* object) {
  switch (kind) {
    case TFRT_MGPU_STREAM:
      tfrt_device_stream_release(object);
      break;
    case TFRT_MGPU_EVENT:
      tfrt_device_event_release(object);
      break;
    case TFRT_MGPU_MODULE:
      tfrt_device_module_release(object);
      break;
    case TFRT_MGPU_FUNCTION:
      tfrt_device_function_release(object);
      break;
  }
}

static handle_t* allocate_take(tfrt_mgpu_kind_t kind, void* object) {
  handle_t* handle = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*handle));
  if (!handle) {
    release_object(kind, object);
    return NULL;
  }
  handle->kind = kind;
  // All members of the union are pointers to what begins with its kind's base.
  handle->stream = object;
  return handle;
}

static void free_handle(handle_t* handle) {
  release_object(handle->kind, handle->stream);
  tfrt_allocator_free(tfrt_allocator_system(), handle, sizeof(*handle));
}

handle_t* tfrt_mgpu_handle_create_take(tfrt_mgpu_kind_t kind, void* object) {
  handle_t* handle = allocate_take(kind, object);
  if (!handle) return NULL;
  tfrt_mutex_lock(&live.mutex);
  handle->next = live.first;
  if (live.first) live.first->previous = handle;
  live.first = handle;
  ++live.count;
  tfrt_mutex_unlock(&live.mutex);
  return handle;
}

void tfrt_mgpu_handle_destroy(handle_t* handle) {
  tfrt_mutex_lock(&live.mutex);
  if (handle->next) handle->next->previous = handle->previous;
  if (handle->previous) handle->previous->next = handle->next;
  if (live.first == handle) live.first = handle->next;
  --live.count;
  tfrt_mutex_unlock(&live.mutex);
  while (handle->functions) {
    handle_t* function = handle->functions;
    handle->functions = function->next;
    free_handle(function);
  }
  free_handle(handle);
}

static tfrt_status_t find_function_locked(handle_t* module, const char* name,
                                          handle_t** out_function) {
  handle_t* found = module->functions;
  while (found && strcmp(found->function->name, name) != 0) found = found->next;
  *out_function = found;
  if (found) return NULL;
  tfrt_device_function_t* function;
  TFRT_RETURN_IF_ERROR(tfrt_device_module_function(module->module, name, &function));
  found = allocate_take(TFRT_MGPU_FUNCTION, function);
  if (!found) return tfrt_status_out_of_memory();
  found->next = module->functions;
  module->functions = found;
  *out_function = found;
  return NULL;
}

tfrt_status_t tfrt_mgpu_handle_function(handle_t* module, const char* name,
                                        handle_t** out_function) {
  tfrt_mutex_lock(&live.mutex);
  tfrt_status_t status = find_function_locked(module, name, out_function);
  tfrt_mutex_unlock(&live.mutex);
  return status;
}

tfrt_status_t tfrt_mgpu_handle_join_all(tfrt_device_stream_t* stream) {
  tfrt_status_t status = NULL;
  tfrt_mutex_lock(&live.mutex);
  for (handle_t* handle = live.first; handle && !status; handle = handle->next) {
    const bool is_stream = handle->kind == TFRT_MGPU_STREAM;
    if (is_stream && handle->stream->device == stream->device) {
      status = tfrt_device_stream_join(stream, handle->stream);
    }
  }
  tfrt_mutex_unlock(&live.mutex);
  return status;
}

int64_t tfrt_mgpu_handle_live_count(void) {
  tfrt_mutex_lock(&live.mutex);
  const int64_t count = live.count;
  tfrt_mutex_unlock(&live.mutex);
  return count;
}

void tfrt_mgpu_handle_destroy_all(void) {
  while (live.first) tfrt_mgpu_handle_destroy(live.first);
}
