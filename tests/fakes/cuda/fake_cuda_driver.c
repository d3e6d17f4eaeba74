// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's entry points (tests/fakes/cuda/fake_cuda.h). They have the driver's names
// only in the table that cuGetProcAddress looks into.
#include <stdio.h>
#include <string.h>

#include "devices/cpu/cpu_kernels.h"
#include "devices/device_image.h"
#include "host_runtime/base/clock.h"
#include "tests/devices/test_kernels.h"
#include "tests/fakes/cuda/fake_cuda_state.h"

// The context that each thread has made current, innermost last.
static _Thread_local tfrt_fake_context_t* current_contexts[8];
static _Thread_local int current_count;

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;

// --- Beginning and ending a call -----------------------------------------------------------

// Begins a call of |name|: takes the mutex, and returns what the call is to fail with, or 0.
static int fake_begin(const char* name) {
  tfrt_once_run(&once, tfrt_fake_initialize);
  tfrt_mutex_lock(&tfrt_fake.mutex);
  tfrt_fake_t* fake = &tfrt_fake;
  if (fake->failing_countdown == 0 || strcmp(fake->failing_name, name) != 0) return 0;
  return --fake->failing_countdown == 0 ? fake->failing_result : 0;
}

static int fake_end(int result) {
  tfrt_mutex_unlock(&tfrt_fake.mutex);
  return result;
}

// The same for a call that needs a current context; |context|, unless NULL, is the one that it
// must be.
static int fake_begin_in_context(const char* name, const tfrt_fake_context_t* context) {
  int error = fake_begin(name);
  if (error) return error;
  tfrt_fake_context_t* current = current_count > 0 ? current_contexts[current_count - 1] : NULL;
  if (!current || current->retain_count == 0 || (context && context != current)) {
    tfrt_fake_defect("%s in %s context", name, current ? "the wrong" : "no");
    return TFRT_CUDA_ERROR_INVALID_CONTEXT;
  }
  return current->error;
}

static tfrt_fake_context_t* fake_current(void) { return current_contexts[current_count - 1]; }

// Whether |link| is in the list |head|; else the handle is wrong, which is a defect.
static bool fake_is_handle(const tfrt_list_link_t* head, const tfrt_list_link_t* link,
                           const char* what) {
  for (const tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    if (l == link) return true;
  }
  tfrt_fake_defect("a handle that is no %s", what);
  return false;
}

// Begins a call about |stream|.
static int fake_begin_in_stream(const char* name, tfrt_fake_stream_t* stream) {
  int error = fake_begin_in_context(name, NULL);
  if (error) return error;
  if (!fake_is_handle(&tfrt_fake.streams, &stream->link, "stream")) {
    return TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (stream->context == fake_current()) return 0;
  tfrt_fake_defect("%s: a stream of another context", name);
  return TFRT_CUDA_ERROR_INVALID_HANDLE;
}

static bool fake_is_event(tfrt_fake_event_t* event) {
  return fake_is_handle(&tfrt_fake.events, &event->link, "event") && !event->is_destroyed;
}

// --- The driver and its devices ------------------------------------------------------------

static int fake_Init(unsigned flags) {
  (void)flags;
  return fake_end(fake_begin("cuInit"));
}

static int fake_DriverGetVersion(int* version) {
  int error = fake_begin("cuDriverGetVersion");
  *version = tfrt_fake.version;
  return fake_end(error);
}

static int fake_GetErrorName(int error, const char** name) {
  static const struct {
    int error;
    const char* name;
  } names[] = {
      {TFRT_CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {TFRT_CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {TFRT_CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {TFRT_CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {TFRT_CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
      {TFRT_CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {TFRT_CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
      {TFRT_CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {TFRT_CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
      {TFRT_CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {TFRT_CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {TFRT_CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (names[i].error != error) continue;
    *name = names[i].name;
    return 0;
  }
  *name = NULL;
  return TFRT_CUDA_ERROR_INVALID_VALUE;
}

static int fake_GetErrorString(int error, const char** text) {
  (void)error;
  *text = "the fake driver says so";
  return 0;
}

static int fake_DeviceGetCount(int* count) {
  int error = fake_begin("cuDeviceGetCount");
  *count = TFRT_FAKE_CUDA_DEVICE_COUNT;
  return fake_end(error);
}

static int fake_DeviceGet(int* device, int ordinal) {
  int error = fake_begin("cuDeviceGet");
  // Numbers that nobody takes for ordinals.
  *device = 100 + ordinal;
  if (ordinal < 0 || ordinal >= TFRT_FAKE_CUDA_DEVICE_COUNT) error = TFRT_CUDA_ERROR_INVALID_DEVICE;
  return fake_end(error);
}

static int fake_DeviceGetName(char* name, int size, int device) {
  int error = fake_begin("cuDeviceGetName");
  snprintf(name, (size_t)size, "fake GPU %d", device - 100);
  return fake_end(error);
}

static int fake_DeviceTotalMem(size_t* size, int device) {
  (void)device;
  int error = fake_begin("cuDeviceTotalMem");
  *size = TFRT_FAKE_CUDA_MEMORY_SIZE;
  return fake_end(error);
}

static int fake_DeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  static const int values[][2] = {{TFRT_CUDA_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X + 1, 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_BLOCK_X + 2, 64},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X, INT32_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X + 1, UINT16_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_GRID_X + 2, UINT16_MAX},
                                  {TFRT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2},
                                  {TFRT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, 7},
                                  {TFRT_CUDA_ATTRIBUTE_REGISTERED_HOST_POINTER, 1},
                                  {TFRT_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
                                  {TFRT_CUDA_ATTRIBUTE_MAX_SHARED_SIZE_OPTIN, 96 * 1024},
                                  {TFRT_CUDA_ATTRIBUTE_MEMORY_POOLS, 1}};
  int error = fake_begin("cuDeviceGetAttribute");
  *value = 0;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) {
    if (values[i][0] == attribute) *value = values[i][1];
  }
  return fake_end(error);
}

static int fake_DeviceCanAccessPeer(int* can, int device, int peer) {
  int error = fake_begin("cuDeviceCanAccessPeer");
  *can = device != peer;
  return fake_end(error);
}

// --- Contexts ------------------------------------------------------------------------------

static int fake_DevicePrimaryCtxRetain(tfrt_cuda_context_t* context, int device) {
  int error = fake_begin("cuDevicePrimaryCtxRetain");
  *context = &tfrt_fake.contexts[device - 100];
  if (!error && (*context)->retain_count++ == 0) (*context)->error = 0;
  return fake_end(error);
}

static int fake_count_in(const tfrt_list_link_t* head, const tfrt_fake_context_t* context) {
  // Streams, events and modules begin alike: the link, then the context.
  int count = 0;
  for (const tfrt_list_link_t* l = head->next; l != head; l = l->next) {
    count += !context || TFRT_CONTAINER_OF(l, tfrt_fake_event_t, link)->context == context;
  }
  return count;
}

static int fake_DevicePrimaryCtxRelease(int device) {
  int error = fake_begin("cuDevicePrimaryCtxRelease");
  tfrt_fake_context_t* context = &tfrt_fake.contexts[device - 100];
  if (context->retain_count == 0) tfrt_fake_defect("a context is released twice");
  if (context->error == 0 && fake_count_in(&tfrt_fake.streams, context) > 0) {
    tfrt_fake_defect("a context goes before its streams");
  }
  fake_end(error);
  tfrt_fake_join_streams(context);
  tfrt_mutex_lock(&tfrt_fake.mutex);
  // With a broken context goes all that could not be given back.
  if (--context->retain_count == 0 && context->error) tfrt_fake_kill_blocks(context);
  return fake_end(error);
}

static int fake_CtxPushCurrent(tfrt_cuda_context_t context) {
  int error = fake_begin("cuCtxPushCurrent");
  if (error) return fake_end(error);
  if (context->retain_count == 0) tfrt_fake_defect("a context is used that nobody has retained");
  current_contexts[current_count++] = context;
  return fake_end(0);
}

static int fake_CtxPopCurrent(tfrt_cuda_context_t* context) {
  int error = fake_begin_in_context("cuCtxPopCurrent", NULL);
  if (current_count > 0) *context = current_contexts[--current_count];
  return fake_end(error);
}

static int fake_CtxEnablePeerAccess(tfrt_cuda_context_t peer, unsigned flags) {
  (void)flags;
  int error = fake_begin_in_context("cuCtxEnablePeerAccess", NULL);
  if (error) return fake_end(error);
  bool* reach = &fake_current()->peers[peer->ordinal];
  error = *reach ? TFRT_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : 0;
  *reach = true;
  return fake_end(error);
}

// --- Streams and events ----------------------------------------------------------------------

static int fake_StreamCreate(tfrt_cuda_stream_handle_t* stream, unsigned flags) {
  int error = fake_begin_in_context("cuStreamCreate", NULL);
  if (error) return fake_end(error);
  if (flags != TFRT_CUDA_STREAM_NON_BLOCKING) tfrt_fake_defect("a stream that blocks others");
  *stream = tfrt_fake_stream_create(fake_current());
  return fake_end(*stream ? 0 : TFRT_CUDA_ERROR_OUT_OF_MEMORY);
}

static int fake_StreamDestroy(tfrt_cuda_stream_handle_t stream) {
  int error = fake_begin_in_stream("cuStreamDestroy", stream);
  // On a broken context the handle goes all the same, or its thread would never end.
  if (error && error != fake_current()->error) return fake_end(error);
  stream->is_destroyed = true;
  tfrt_list_remove(&stream->link);
  tfrt_list_push_back(&tfrt_fake.ended_streams, &stream->link);
  tfrt_condition_broadcast(&tfrt_fake.condition);
  return fake_end(error);
}

static int fake_EventCreate(tfrt_cuda_event_handle_t* out_event, unsigned flags) {
  int error = fake_begin_in_context("cuEventCreate", NULL);
  if (error) return fake_end(error);
  tfrt_fake_event_t* event =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*event));
  event->context = fake_current();
  event->with_timing = (flags & TFRT_CUDA_EVENT_DISABLE_TIMING) == 0;
  event->ref_count = 1;
  tfrt_list_push_back(&tfrt_fake.events, &event->link);
  *out_event = event;
  return fake_end(0);
}

static int fake_EventDestroy(tfrt_cuda_event_handle_t event) {
  int error = fake_begin_in_context("cuEventDestroy", NULL);
  if (error && error != fake_current()->error) return fake_end(error);
  if (!fake_is_event(event)) return fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  event->is_destroyed = true;
  tfrt_fake_event_release(event);
  return fake_end(error);
}

static int fake_EventRecord(tfrt_cuda_event_handle_t event, tfrt_cuda_stream_handle_t stream) {
  int error = fake_begin_in_stream("cuEventRecord", stream);
  if (!error && (!fake_is_event(event) || event->context != stream->context)) {
    tfrt_fake_defect("an event is recorded in a stream of another context");
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (error) return fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_RECORD);
  ++event->ref_count;
  op->event = event;
  op->sequence = ++event->issued;
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_StreamWaitEvent(tfrt_cuda_stream_handle_t stream, tfrt_cuda_event_handle_t event,
                                unsigned flags) {
  (void)flags;
  int error = fake_begin_in_stream("cuStreamWaitEvent", stream);
  if (!error && !fake_is_event(event)) error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  if (error) return fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_WAIT);
  ++event->ref_count;
  op->event = event;
  op->sequence = event->issued;
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_EventQuery(tfrt_cuda_event_handle_t event) {
  int error = fake_begin_in_context("cuEventQuery", NULL);
  if (error) return fake_end(error);
  if (!fake_is_event(event)) return fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  return fake_end(event->done >= event->issued ? 0 : TFRT_CUDA_ERROR_NOT_READY);
}

static int fake_EventElapsedTime(float* milliseconds, tfrt_cuda_event_handle_t start,
                                 tfrt_cuda_event_handle_t end) {
  int error = fake_begin_in_context("cuEventElapsedTime", start->context);
  if (error) return fake_end(error);
  bool is_good = fake_is_event(start) && fake_is_event(end) && start->with_timing &&
                 end->with_timing && start->done && end->done;
  if (!is_good) tfrt_fake_defect("the time between events that have none");
  *milliseconds = (float)(end->time_ns - start->time_ns) / 1e6f;
  return fake_end(is_good ? 0 : TFRT_CUDA_ERROR_INVALID_HANDLE);
}

// --- Memory ----------------------------------------------------------------------------------

// Makes a block of |kind|, the call having begun with |error|.
static int fake_allocate(int error, tfrt_fake_memory_kind_t kind, size_t size,
                         tfrt_cuda_address_t* out_address) {
  if (error) return fake_end(error);
  tfrt_fake_context_t* context = fake_current();
  if (size == 0) return fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  if (size > TFRT_FAKE_CUDA_MEMORY_SIZE - context->used_size) {
    return fake_end(TFRT_CUDA_ERROR_OUT_OF_MEMORY);
  }
  tfrt_fake_block_t* block = tfrt_fake_block_create(kind, context, NULL, size);
  *out_address = (tfrt_cuda_address_t)(uintptr_t)block->data;
  return fake_end(0);
}

// The block of |kind| that begins at |address|, marked as freed; NULL, and a defect, if there
// is none.
static tfrt_fake_block_t* fake_free(const char* name, tfrt_fake_memory_kind_t kind,
                                    tfrt_cuda_address_t address) {
  tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, 1, true);
  if (!block) return NULL;
  if (block->data != (char*)(uintptr_t)address || block->kind != kind || block->is_freed) {
    tfrt_fake_defect("%s: %s", name, block->is_freed ? "freed twice" : "not its memory");
    return NULL;
  }
  block->is_freed = true;
  return block;
}

static int fake_free_now(int error, const char* name, tfrt_fake_memory_kind_t kind,
                         tfrt_cuda_address_t address) {
  if (error) return fake_end(error);
  tfrt_fake_block_t* block = fake_free(name, kind, address);
  if (block) tfrt_fake_block_kill(block);
  return fake_end(block ? 0 : TFRT_CUDA_ERROR_INVALID_VALUE);
}

static int fake_MemAlloc(tfrt_cuda_address_t* address, size_t size) {
  return fake_allocate(fake_begin_in_context("cuMemAlloc", NULL), TFRT_FAKE_MEMORY_DEVICE, size,
                       address);
}

static int fake_MemFree(tfrt_cuda_address_t address) {
  return fake_free_now(fake_begin_in_context("cuMemFree", NULL), "cuMemFree",
                       TFRT_FAKE_MEMORY_DEVICE, address);
}

static int fake_MemAllocAsync(tfrt_cuda_address_t* address, size_t size,
                              tfrt_cuda_stream_handle_t stream) {
  return fake_allocate(fake_begin_in_stream("cuMemAllocAsync", stream), TFRT_FAKE_MEMORY_POOL, size,
                       address);
}

static int fake_MemFreeAsync(tfrt_cuda_address_t address, tfrt_cuda_stream_handle_t stream) {
  int error = fake_begin_in_stream("cuMemFreeAsync", stream);
  if (error) return fake_end(error);
  tfrt_fake_block_t* block = fake_free("cuMemFreeAsync", TFRT_FAKE_MEMORY_POOL, address);
  if (!block) return fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_FREE);
  op->block = block;
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_DeviceGetDefaultMemPool(tfrt_cuda_pool_t* pool, int device) {
  int error = fake_begin("cuDeviceGetDefaultMemPool");
  // A device's pool is its context.
  *pool = (tfrt_cuda_pool_t)(void*)&tfrt_fake.contexts[device - 100];
  return fake_end(error);
}

static int fake_MemPoolSetAttribute(tfrt_cuda_pool_t pool, int attribute, void* value) {
  (void)pool;
  (void)value;
  int error = fake_begin("cuMemPoolSetAttribute");
  if (attribute != TFRT_CUDA_POOL_RELEASE_THRESHOLD) error = TFRT_CUDA_ERROR_INVALID_VALUE;
  return fake_end(error);
}

static int fake_MemPoolSetAccess(tfrt_cuda_pool_t pool, const tfrt_cuda_access_t* accesses,
                                 size_t count) {
  int error = fake_begin("cuMemPoolSetAccess");
  tfrt_fake_context_t* context = (tfrt_fake_context_t*)(void*)pool;
  for (size_t i = 0; i < count && !error; ++i) {
    context->pool_access[accesses[i].location_id - 100] = true;
  }
  return fake_end(error);
}

static int fake_MemHostAlloc(void** data, size_t size, unsigned flags) {
  (void)flags;
  tfrt_cuda_address_t address = 0;
  int error = fake_allocate(fake_begin_in_context("cuMemHostAlloc", NULL), TFRT_FAKE_MEMORY_PINNED,
                            size, &address);
  *data = (void*)(uintptr_t)address;
  return error;
}

static int fake_MemFreeHost(void* data) {
  return fake_free_now(fake_begin_in_context("cuMemFreeHost", NULL), "cuMemFreeHost",
                       TFRT_FAKE_MEMORY_PINNED, (tfrt_cuda_address_t)(uintptr_t)data);
}

static int fake_MemHostRegister(void* data, size_t size, unsigned flags) {
  (void)flags;
  int error = fake_begin_in_context("cuMemHostRegister", NULL);
  if (!error) tfrt_fake_block_create(TFRT_FAKE_MEMORY_REGISTERED, fake_current(), data, size);
  return fake_end(error);
}

static int fake_MemHostUnregister(void* data) {
  return fake_free_now(fake_begin_in_context("cuMemHostUnregister", NULL), "cuMemHostUnregister",
                       TFRT_FAKE_MEMORY_REGISTERED, (tfrt_cuda_address_t)(uintptr_t)data);
}

// --- Copies and fills ------------------------------------------------------------------------

// Whether a stream of |context| may use |size| bytes at |address|; |is_peer_copy| allows the
// memory of a peer that is within reach.
static bool fake_can_use(const tfrt_fake_context_t* context, tfrt_cuda_address_t address,
                         size_t size, bool is_peer_copy) {
  tfrt_fake_block_t* block = tfrt_fake_block_find((void*)(uintptr_t)address, size, true);
  if (!block) return false;
  if (block->is_freed) {
    tfrt_fake_defect("work is given with a block of %zu bytes that was freed", block->size);
    return false;
  }
  if (block->context == context || block->kind >= TFRT_FAKE_MEMORY_PINNED) return true;
  bool reaches = block->kind == TFRT_FAKE_MEMORY_POOL
                     ? block->context->pool_access[context->ordinal]
                     : context->peers[block->context->ordinal];
  if (is_peer_copy && reaches) return true;
  tfrt_fake_defect("memory of another context is used");
  return false;
}

static int fake_copy(int error, tfrt_cuda_address_t target, tfrt_cuda_address_t source, size_t size,
                     bool is_peer_copy, tfrt_fake_stream_t* stream) {
  if (error) return fake_end(error);
  if (!fake_can_use(stream->context, target, size, is_peer_copy) ||
      !fake_can_use(stream->context, source, size, is_peer_copy)) {
    return fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_COPY);
  op->target = (char*)(uintptr_t)target;
  op->source = (const char*)(uintptr_t)source;
  op->size = size;
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_MemcpyAsync(tfrt_cuda_address_t target, tfrt_cuda_address_t source, size_t size,
                            tfrt_cuda_stream_handle_t stream) {
  return fake_copy(fake_begin_in_stream("cuMemcpyAsync", stream), target, source, size, false,
                   stream);
}

static int fake_MemcpyPeerAsync(tfrt_cuda_address_t target, tfrt_cuda_context_t target_context,
                                tfrt_cuda_address_t source, tfrt_cuda_context_t source_context,
                                size_t size, tfrt_cuda_stream_handle_t stream) {
  int error = fake_begin_in_stream("cuMemcpyPeerAsync", stream);
  const tfrt_fake_block_t* to = tfrt_fake_block_find((void*)(uintptr_t)target, size, true);
  const tfrt_fake_block_t* from = tfrt_fake_block_find((void*)(uintptr_t)source, size, true);
  if (to && from && (to->context != target_context || from->context != source_context)) {
    tfrt_fake_defect("cuMemcpyPeerAsync with the wrong contexts");
  }
  return fake_copy(error, target, source, size, true, stream);
}

static int fake_fill(int error, tfrt_cuda_address_t target, unsigned pattern, unsigned width,
                     size_t count, tfrt_fake_stream_t* stream) {
  if (error) return fake_end(error);
  if (!fake_can_use(stream->context, target, count * width, false)) {
    return fake_end(TFRT_CUDA_ERROR_INVALID_VALUE);
  }
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_FILL);
  op->target = (char*)(uintptr_t)target;
  op->pattern = pattern;
  op->width = width;
  op->size = count * width;
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_MemsetD8Async(tfrt_cuda_address_t target, unsigned char pattern, size_t count,
                              tfrt_cuda_stream_handle_t stream) {
  return fake_fill(fake_begin_in_stream("cuMemsetD8Async", stream), target, pattern, 1, count,
                   stream);
}
static int fake_MemsetD16Async(tfrt_cuda_address_t target, unsigned short pattern, size_t count,
                               tfrt_cuda_stream_handle_t stream) {
  return fake_fill(fake_begin_in_stream("cuMemsetD16Async", stream), target, pattern, 2, count,
                   stream);
}
static int fake_MemsetD32Async(tfrt_cuda_address_t target, unsigned pattern, size_t count,
                               tfrt_cuda_stream_handle_t stream) {
  return fake_fill(fake_begin_in_stream("cuMemsetD32Async", stream), target, pattern, 4, count,
                   stream);
}

// --- Modules ---------------------------------------------------------------------------------

// Reads all declarations of |module| once; what is wrong is written to |log|.
static int fake_module_read(tfrt_fake_module_t* module, char* log, size_t log_size) {
  tfrt_device_image_cursor_t cursor = {.rest = {module->image, module->size}, .line = 1};
  int count = 0;
  for (;; ++count) {
    tfrt_device_image_symbol_t symbol;
    bool found;
    tfrt_status_t status = tfrt_device_image_next(&cursor, &symbol, &found);
    if (status) {
      if (log) snprintf(log, log_size, "%s", tfrt_status_message(status));
      tfrt_status_release(status);
      return TFRT_CUDA_ERROR_INVALID_PTX;
    }
    if (!found) return count > 0 ? 0 : TFRT_CUDA_ERROR_INVALID_IMAGE;
  }
}

static int fake_ModuleLoadDataEx(tfrt_cuda_module_handle_t* out_module, const void* image,
                                 unsigned option_count, int* options, void** values) {
  int error = fake_begin_in_context("cuModuleLoadDataEx", NULL);
  if (error) return fake_end(error);
  char* log = NULL;
  size_t log_size = 0;
  for (unsigned i = 0; i < option_count; ++i) {
    if (options[i] == TFRT_CUDA_JIT_ERROR_LOG_BUFFER) log = values[i];
    if (options[i] == TFRT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE) log_size = (size_t)values[i];
  }
  tfrt_fake_module_t* module =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*module));
  module->context = fake_current();
  module->size = strlen(image);
  module->image = tfrt_allocator_copy_string(tfrt_allocator_system(), image, module->size);
  tfrt_list_initialize(&module->functions);
  tfrt_list_initialize(&module->globals);
  tfrt_list_push_back(&tfrt_fake.modules, &module->link);
  error = fake_module_read(module, log, log_size);
  *out_module = module;
  if (error) {
    tfrt_list_remove(&module->link);
    tfrt_allocator_free(tfrt_allocator_system(), module->image, module->size + 1);
    tfrt_allocator_free(tfrt_allocator_system(), module, sizeof(*module));
    *out_module = NULL;
  }
  return fake_end(error);
}

// A variable that was asked for; its name is a place in the module's text.
typedef struct fake_global_s {
  tfrt_list_link_t link;
  const char* name;
  tfrt_fake_block_t* block;
} fake_global_t;

static int fake_ModuleUnload(tfrt_cuda_module_handle_t module) {
  int error = fake_begin_in_context("cuModuleUnload", NULL);
  if (error && error != fake_current()->error) return fake_end(error);
  if (!fake_is_handle(&tfrt_fake.modules, &module->link, "module")) {
    return fake_end(TFRT_CUDA_ERROR_INVALID_HANDLE);
  }
  tfrt_list_remove(&module->link);
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&module->functions));) {
    tfrt_fake_function_t* function = TFRT_CONTAINER_OF(l, tfrt_fake_function_t, link);
    tfrt_allocator_free(tfrt_allocator_system(), function, sizeof(*function));
  }
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&module->globals));) {
    fake_global_t* global = TFRT_CONTAINER_OF(l, fake_global_t, link);
    tfrt_fake_block_kill(global->block);
    tfrt_allocator_free(tfrt_allocator_system(), global, sizeof(*global));
  }
  tfrt_allocator_free(tfrt_allocator_system(), module->image, module->size + 1);
  tfrt_allocator_free(tfrt_allocator_system(), module, sizeof(*module));
  return fake_end(error);
}

static const tfrt_cpu_kernel_t* fake_find_kernel(const char* name) {
  for (size_t i = 0; i < TFRT_TEST_KERNEL_COUNT; ++i) {
    if (strcmp(tfrt_test_kernels[i].name, name) == 0) return &tfrt_test_kernels[i];
  }
  for (size_t i = 0; i < TFRT_CPU_KERNEL_COUNT; ++i) {
    if (strcmp(tfrt_cpu_kernels[i].name, name) == 0) return &tfrt_cpu_kernels[i];
  }
  return NULL;
}

static int fake_ModuleGetFunction(tfrt_cuda_function_handle_t* out_function,
                                  tfrt_cuda_module_handle_t module, const char* name) {
  int error = fake_begin_in_context("cuModuleGetFunction", module->context);
  if (error) return fake_end(error);
  tfrt_device_image_symbol_t symbol;
  bool found = false;
  tfrt_status_release(tfrt_device_image_find(tfrt_string_view_make(module->image, module->size),
                                             true, name, &symbol, &found));
  const tfrt_cpu_kernel_t* kernel = found ? fake_find_kernel(name) : NULL;
  if (!kernel) return fake_end(TFRT_CUDA_ERROR_NOT_FOUND);
  tfrt_fake_function_t* function =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*function));
  function->module = module;
  function->kernel = kernel;
  function->parameter_count = symbol.parameter_count;
  memcpy(function->parameter_sizes, symbol.parameter_sizes, sizeof(symbol.parameter_sizes));
  function->shared_size = 48 * 1024;
  tfrt_list_push_back(&module->functions, &function->link);
  *out_function = function;
  return fake_end(0);
}

static fake_global_t* fake_find_global(tfrt_fake_module_t* module, const char* name) {
  for (tfrt_list_link_t* l = module->globals.next; l != &module->globals; l = l->next) {
    fake_global_t* global = TFRT_CONTAINER_OF(l, fake_global_t, link);
    if (global->name == name) return global;
  }
  return NULL;
}

static int fake_ModuleGetGlobal(tfrt_cuda_address_t* address, size_t* size,
                                tfrt_cuda_module_handle_t module, const char* name) {
  int error = fake_begin_in_context("cuModuleGetGlobal", module->context);
  if (error) return fake_end(error);
  tfrt_device_image_symbol_t symbol;
  bool found = false;
  tfrt_status_release(tfrt_device_image_find(tfrt_string_view_make(module->image, module->size),
                                             false, name, &symbol, &found));
  if (!found) return fake_end(TFRT_CUDA_ERROR_NOT_FOUND);
  fake_global_t* global = fake_find_global(module, symbol.name.data);
  if (!global) {
    global = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*global));
    global->name = symbol.name.data;
    global->block =
        tfrt_fake_block_create(TFRT_FAKE_MEMORY_GLOBAL, module->context, NULL, symbol.size);
    tfrt_list_push_back(&module->globals, &global->link);
  }
  *address = (tfrt_cuda_address_t)(uintptr_t)global->block->data;
  *size = symbol.size;
  return fake_end(0);
}

// --- Functions -------------------------------------------------------------------------------

static int fake_FuncGetAttribute(int* value, int attribute, tfrt_cuda_function_handle_t function) {
  (void)function;
  int error = fake_begin("cuFuncGetAttribute");
  *value = attribute == TFRT_CUDA_FUNCTION_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return fake_end(error);
}

static int fake_FuncSetAttribute(tfrt_cuda_function_handle_t function, int attribute, int value) {
  int error = fake_begin_in_context("cuFuncSetAttribute", function->module->context);
  if (attribute != TFRT_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_SIZE) {
    error = TFRT_CUDA_ERROR_INVALID_VALUE;
  }
  if (!error) function->shared_size = value;
  return fake_end(error);
}

static int fake_FuncGetParamInfo(tfrt_cuda_function_handle_t function, size_t index, size_t* offset,
                                 size_t* size) {
  int error = fake_begin("cuFuncGetParamInfo");
  if (!error && index >= function->parameter_count) error = TFRT_CUDA_ERROR_INVALID_VALUE;
  if (!error) {
    *offset = 8 * index;
    *size = function->parameter_sizes[index];
  }
  return fake_end(error);
}

static int fake_launch(int error, tfrt_fake_function_t* function,
                       const tfrt_device_launch_t* launch, tfrt_fake_stream_t* stream,
                       void** parameters) {
  if (!error && function->module->context != stream->context) {
    tfrt_fake_defect("a kernel of another context is launched");
    error = TFRT_CUDA_ERROR_INVALID_HANDLE;
  }
  if (!error && (int)launch->shared_size > function->shared_size) {
    error = TFRT_CUDA_ERROR_INVALID_VALUE;
  }
  if (error) return fake_end(error);
  tfrt_fake_op_t* op = tfrt_fake_op_create(stream, TFRT_FAKE_OP_LAUNCH);
  op->kernel = function->kernel;
  op->launch = *launch;
  op->parameter_count = function->parameter_count;
  memcpy(op->parameter_sizes, function->parameter_sizes, sizeof(op->parameter_sizes));
  for (uint32_t i = 0; i < op->parameter_count; ++i) {
    size_t size = op->parameter_sizes[i];
    memcpy(&op->parameters[i], parameters[i], size < sizeof(uint64_t) ? size : sizeof(uint64_t));
  }
  tfrt_fake_op_give(op);
  return fake_end(0);
}

static int fake_LaunchKernel(tfrt_cuda_function_handle_t function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_size, tfrt_cuda_stream_handle_t stream,
                             void** parameters, void** extra) {
  (void)extra;
  tfrt_device_launch_t launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_size, false};
  return fake_launch(fake_begin_in_stream("cuLaunchKernel", stream), function, &launch, stream,
                     parameters);
}

static int fake_LaunchCooperativeKernel(tfrt_cuda_function_handle_t function, unsigned grid_x,
                                        unsigned grid_y, unsigned grid_z, unsigned block_x,
                                        unsigned block_y, unsigned block_z, unsigned shared_size,
                                        tfrt_cuda_stream_handle_t stream, void** parameters) {
  tfrt_device_launch_t launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_size, true};
  return fake_launch(fake_begin_in_stream("cuLaunchCooperativeKernel", stream), function, &launch,
                     stream, parameters);
}

// --- The door --------------------------------------------------------------------------------

typedef struct fake_entry_s {
  const char* name;
  int version;
  void (*address)(void);
} fake_entry_t;

static const fake_entry_t entries[] = {
#define FAKE_ENTRY(name, version, is_required, parameters) \
  {"cu" #name, version, (void (*)(void))fake_##name},
    TFRT_CUDA_ENTRIES(FAKE_ENTRY)
#undef FAKE_ENTRY
};

// Each entry point has the type that our table gives it.
static const tfrt_cuda_api_t typed_entries __attribute__((unused)) = {
#define FAKE_TYPED_ENTRY(name, version, is_required, parameters) .name = fake_##name,
    TFRT_CUDA_ENTRIES(FAKE_TYPED_ENTRY)
#undef FAKE_TYPED_ENTRY
};

TFRT_EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags,
                                    int* reason);

TFRT_EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags,
                                    int* reason) {
  (void)flags;
  fake_begin("cuGetProcAddress");
  *address = NULL;
  *reason = 1;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(entries); ++i) {
    if (strcmp(entries[i].name, name) != 0) continue;
    bool is_known = entries[i].version <= tfrt_fake.version && version >= entries[i].version;
    *reason = is_known ? 0 : 2;
    if (is_known) memcpy(address, &entries[i].address, sizeof(*address));
  }
  return fake_end(*reason == 0 ? 0 : TFRT_CUDA_ERROR_NOT_FOUND);
}

// --- Behind the driver's back ------------------------------------------------------------------

static void fake_set_seed(uint64_t seed) {
  fake_begin("");
  tfrt_fake.seed = seed;
  fake_end(0);
}

static void fake_set_version(int version) {
  fake_begin("");
  tfrt_fake.version = version;
  fake_end(0);
}

static void fake_set_failure(const char* name, uint32_t n, int result) {
  fake_begin("");
  tfrt_fake.failing_name = name;
  tfrt_fake.failing_countdown = n;
  tfrt_fake.failing_result = result;
  fake_end(0);
}

static int fake_defects(char* text, size_t size) {
  fake_begin("");
  snprintf(text, size, "%s", tfrt_fake.defects);
  int count = tfrt_fake.defect_count;
  fake_end(0);
  return count;
}

static int fake_live(void) {
  fake_begin("");
  int count = fake_count_in(&tfrt_fake.streams, NULL) + fake_count_in(&tfrt_fake.events, NULL) +
              fake_count_in(&tfrt_fake.modules, NULL);
  for (tfrt_list_link_t* l = tfrt_fake.blocks.next; l != &tfrt_fake.blocks; l = l->next) {
    count += !TFRT_CONTAINER_OF(l, tfrt_fake_block_t, link)->is_dead;
  }
  for (int i = 0; i < TFRT_FAKE_CUDA_DEVICE_COUNT; ++i) {
    count += tfrt_fake.contexts[i].retain_count;
  }
  fake_end(0);
  return count;
}

TFRT_EXPORT extern const tfrt_fake_cuda_control_t tfrt_fake_cuda_control_table;

const tfrt_fake_cuda_control_t tfrt_fake_cuda_control_table = {
    fake_set_seed, fake_set_version, fake_set_failure, fake_defects, fake_live};
