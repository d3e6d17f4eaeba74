// SPDX-License-Identifier: Apache-2.0
#include "embedding/mgpu/session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "devices/cpu/cpu_kernels.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/device_manager.h"
#include "embedding/exact_allocator.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"

#define DEVICE_VARIABLE "TFRT_MGPU_DEVICE"
#define ERROR_VARIABLE "TFRT_MGPU_ON_ERROR"

typedef enum session_state_e {
  CLOSED,
  OPEN,
  WITHOUT_DEVICES,  // and why was logged
} session_state_t;

static struct {
  tfrt_mutex_t mutex;  // guards all below
  session_state_t state;
  tfrt_work_queue_t* queue;        // +1
  tfrt_device_manager_t* manager;  // owned
  const char* platform;            // "cuda" or "cpu"
  tfrt_mgpu_device_t devices[TFRT_MGPU_MAX_DEVICES];
} session = {.mutex = TFRT_MUTEX_INITIALIZER};

static tfrt_cuda_platform_options_t cuda_options;

static void (*exit_function)(void);  // constant when the session is open
static _Atomic bool has_ended;

static _Thread_local int32_t default_ordinal;

// --- Errors ------------------------------------------------------------------

static _Atomic int64_t error_count;

bool tfrt_mgpu_check(tfrt_status_t status, const char* function) {
  if (TFRT_LIKELY(!status)) return true;
  // Relaxed: a number for people.
  atomic_fetch_add_explicit(&error_count, 1, memory_order_relaxed);
  tfrt_log(TFRT_LOG_ERROR, NULL, "%s: %s", function, tfrt_status_message(status));
  tfrt_status_release(status);
  const char* wish = getenv(ERROR_VARIABLE);
  if (wish && strcmp(wish, "abort") == 0) abort();
  return false;
}

int64_t tfrt_mgpu_error_count(void) {
  return atomic_load_explicit(&error_count, memory_order_relaxed);
}

// --- Opening -----------------------------------------------------------------

static const tfrt_cpu_platform_options_t cpu_options = {
    .device_count = 1,
    .memory_size = (uint64_t)1 << 36,
    .has_pools = true,
    .kernels = tfrt_cpu_kernels,
    .kernel_count = TFRT_CPU_KERNEL_COUNT,
};

static tfrt_status_t open_cpu(const void* options, tfrt_allocator_t allocator,
                              tfrt_work_queue_t* work_queue,
                              tfrt_device_platform_t** out_platform) {
  return tfrt_cpu_platform_create(options, allocator, work_queue, out_platform);
}

static tfrt_status_t open_cuda(const void* options, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  return tfrt_cuda_platform_create(options, allocator, work_queue, out_platform);
}

// Sets the platform that the environment, or else the machine, gives.
static tfrt_status_t choose_platform_locked(void) {
  const char* wish = getenv(DEVICE_VARIABLE);
  if (wish && strcmp(wish, "cuda") != 0 && strcmp(wish, "cpu") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, DEVICE_VARIABLE "=%s: want cuda or cpu",
                              wish);
  }
  session.platform = wish ? wish : "cuda";
  if (wish) return NULL;
  tfrt_device_platform_t* platform = NULL;
  tfrt_status_t status = tfrt_device_manager_platform(
      session.manager, tfrt_string_view_of(session.platform), &platform);
  if (status) session.platform = "cpu";
  tfrt_status_release(status);
  return NULL;
}

static tfrt_status_t open_locked(void) {
  const tfrt_thread_pool_options_t options = {.thread_count = 2, .blocking_thread_count = 1};
  TFRT_RETURN_IF_ERROR(
      tfrt_thread_pool_work_queue_create(&options, tfrt_exact_allocator(), &session.queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_device_manager_allocate(tfrt_allocator_system(), session.queue, &session.manager));
  static const tfrt_device_kind_t cuda_kind = {"cuda", open_cuda, &cuda_options};
  static const tfrt_device_kind_t cpu_kind = {"cpu", open_cpu, &cpu_options};
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_add(session.manager, &cuda_kind));
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_add(session.manager, &cpu_kind));
  return choose_platform_locked();
}

// Makes the device |ordinal| of the open session, with the objects that its calls share.
static tfrt_status_t add_device_locked(int32_t ordinal) {
  tfrt_device_platform_t* platform;
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_platform(
      session.manager, tfrt_string_view_of(session.platform), &platform));
  tfrt_mgpu_device_t made = {.device = NULL};
  TFRT_RETURN_IF_ERROR(tfrt_device_platform_device(platform, ordinal, &made.device));
  tfrt_status_t status = tfrt_device_allocator_create(made.device, &made.memory);
  if (!status) {
    status = tfrt_device_allocator_create_caching(made.device, TFRT_DEVICE_SPACE_HOST,
                                                  &made.shared_memory);
  }
  if (!status) status = tfrt_device_create_stream(made.device, &made.stream);
  if (status) {
    tfrt_device_allocator_release(made.shared_memory);
    tfrt_device_allocator_release(made.memory);
    tfrt_device_release(made.device);
    return status;
  }
  session.devices[ordinal] = made;
  return NULL;
}

static tfrt_status_t find_device_locked(int32_t ordinal, const tfrt_mgpu_device_t** out_device) {
  *out_device = NULL;
  if (session.state == CLOSED) {
    tfrt_status_t status = open_locked();
    session.state = status ? WITHOUT_DEVICES : OPEN;
    // Now, since functions that are registered last are called first, and the driver has its own.
    if (exit_function) (void)atexit(exit_function);
    TFRT_RETURN_IF_ERROR(status);
  }
  if (session.state == WITHOUT_DEVICES) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "no device could be opened before");
  }
  if (ordinal < 0 || ordinal >= TFRT_MGPU_MAX_DEVICES) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no device %d", ordinal);
  }
  if (!session.devices[ordinal].device) TFRT_RETURN_IF_ERROR(add_device_locked(ordinal));
  *out_device = &session.devices[ordinal];
  return NULL;
}

void tfrt_mgpu_session_set_default(int32_t ordinal) { default_ordinal = ordinal; }

const tfrt_mgpu_device_t* tfrt_mgpu_session_device(const char* function) {
  if (tfrt_mgpu_session_has_ended()) return NULL;
  const tfrt_mgpu_device_t* device;
  tfrt_mutex_lock(&session.mutex);
  tfrt_status_t status = find_device_locked(default_ordinal, &device);
  tfrt_mutex_unlock(&session.mutex);
  return tfrt_mgpu_check(status, function) ? device : NULL;
}

const tfrt_mgpu_device_t* tfrt_mgpu_session_find(const tfrt_device_t* device) {
  // Without the mutex: it is constant since it was given out.
  return &session.devices[device->ordinal];
}

void tfrt_mgpu_session_use_cuda_library_for_testing(const char* path) {
  cuda_options.library_for_testing = path;
}

void tfrt_mgpu_session_close(void) {
  if (session.state == CLOSED) return;
  for (int32_t i = 0; i < TFRT_MGPU_MAX_DEVICES; ++i) {
    tfrt_mgpu_device_t* device = &session.devices[i];
    if (!device->device) continue;
    tfrt_device_stream_release(device->stream);
    tfrt_device_allocator_release(device->shared_memory);
    tfrt_device_allocator_release(device->memory);
    tfrt_device_release(device->device);
    *device = (tfrt_mgpu_device_t){.device = NULL};
  }
  tfrt_device_manager_free(session.manager);
  session.manager = NULL;
  if (session.queue) tfrt_work_queue_quiesce(session.queue);
  tfrt_work_queue_release(session.queue);
  session.queue = NULL;
  session.state = CLOSED;
}

void tfrt_mgpu_session_at_exit(void (*run)(void)) { exit_function = run; }

void tfrt_mgpu_session_end(void) {
  // Release: partner of the load below.
  atomic_store_explicit(&has_ended, true, memory_order_release);
}

bool tfrt_mgpu_session_has_ended(void) {
  // Acquire: partner of the store in tfrt_mgpu_session_end().
  return atomic_load_explicit(&has_ended, memory_order_acquire);
}
