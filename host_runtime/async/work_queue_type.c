// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/work_queue_type.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/sync.h"

// More would only be a slip of the finger.
#define MAX_THREADS 1024
#define MAX_BLOCKING_THREADS 65536

// --- The types that are built in --------------------------------------------------

static tfrt_status_t create_inline(const char* arguments,
                                   const tfrt_work_queue_settings_t* settings,
                                   tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue) {
  (void)settings;
  if (arguments[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "work queue 's' takes no arguments");
  }
  return tfrt_inline_work_queue_create(allocator, out_queue);
}

// Reads ``, `4` or `4,64`; what is left out stays.
static bool parse_counts(const char* text, int* threads, int* blocking) {
  int end = 0;
  if (text[0] == '\0') return true;
  int fields = sscanf(text, "%d%n,%d%n", threads, &end, blocking, &end);
  return fields >= 1 && text[end] == '\0' && *threads >= 1 && *threads <= MAX_THREADS &&
         *blocking >= 1 && *blocking <= MAX_BLOCKING_THREADS;
}

static tfrt_status_t create_thread_pool(const char* arguments,
                                        const tfrt_work_queue_settings_t* settings,
                                        tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue) {
  tfrt_thread_pool_options_t options = {
      .thread_count = tfrt_processor_count(),
      .blocking_thread_count = TFRT_THREAD_POOL_DEFAULT_BLOCKING_THREADS,
      .pin_threads = settings->pin_threads};
  if (!parse_counts(arguments, &options.thread_count, &options.blocking_thread_count)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "work queue 'mstd:%s': write mstd[:THREADS[,BLOCKING]], with 1 to %d "
                              "threads and 1 to %d for tasks that block",
                              arguments, MAX_THREADS, MAX_BLOCKING_THREADS);
  }
  return tfrt_thread_pool_work_queue_create(&options, allocator, out_queue);
}

static const tfrt_work_queue_type_t inline_type = {"s", "", create_inline};
static const tfrt_work_queue_type_t thread_pool_type = {"mstd", "[:THREADS[,BLOCKING]]",
                                                        create_thread_pool};

// --- All types ---------------------------------------------------------------------

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;  // guards the next two
static const tfrt_work_queue_type_t* types[TFRT_WORK_QUEUE_TYPE_MAX_COUNT] = {&inline_type,
                                                                              &thread_pool_type};
static size_t type_count = 2;

static const tfrt_work_queue_type_t* find_locked(tfrt_string_view_t name) {
  for (size_t i = 0; i < type_count; ++i) {
    if (tfrt_string_view_equal(tfrt_string_view_of(types[i]->name), name)) return types[i];
  }
  return NULL;
}

static tfrt_status_t register_locked(const tfrt_work_queue_type_t* type) {
  const tfrt_work_queue_type_t* known = find_locked(tfrt_string_view_of(type->name));
  if (known == type) return NULL;
  if (known) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "there is a type of work queues '%s' already; choose another name",
                              type->name);
  }
  if (type_count == TFRT_WORK_QUEUE_TYPE_MAX_COUNT) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "a process has room for %d types of work queues",
                              TFRT_WORK_QUEUE_TYPE_MAX_COUNT);
  }
  types[type_count++] = type;
  return NULL;
}

tfrt_status_t tfrt_work_queue_type_register(const tfrt_work_queue_type_t* type) {
  if (!type->name || !type->name[0] || strchr(type->name, ':')) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a type of work queues needs a name without a colon");
  }
  tfrt_mutex_lock(&mutex);
  tfrt_status_t status = register_locked(type);
  tfrt_mutex_unlock(&mutex);
  return status;
}

void tfrt_work_queue_type_append_all(tfrt_string_builder_t* out) {
  tfrt_mutex_lock(&mutex);
  for (size_t i = 0; i < type_count; ++i) {
    tfrt_string_builder_append_format(out, "%s%s%s", i > 0 ? ", " : "", types[i]->name,
                                      types[i]->usage);
  }
  tfrt_mutex_unlock(&mutex);
}

static tfrt_status_t unknown_type(tfrt_string_view_t name) {
  tfrt_string_builder_t known;
  tfrt_string_builder_initialize(&known, tfrt_allocator_system());
  tfrt_work_queue_type_append_all(&known);
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "there is no type of work queues '%.*s'; there are %s",
      TFRT_STRING_VIEW_ARGUMENTS(name), tfrt_string_builder_text(&known));
  tfrt_string_builder_deinitialize(&known);
  return status;
}

tfrt_status_t tfrt_work_queue_create_by_name(const char* text,
                                             const tfrt_work_queue_settings_t* settings,
                                             tfrt_allocator_t allocator,
                                             tfrt_work_queue_t** out_queue) {
  static const tfrt_work_queue_settings_t defaults = {.pin_threads = false};
  *out_queue = NULL;
  size_t size = strcspn(text, ":");
  tfrt_string_view_t name = tfrt_string_view_make(text, size);
  tfrt_mutex_lock(&mutex);
  const tfrt_work_queue_type_t* type = find_locked(name);
  tfrt_mutex_unlock(&mutex);
  if (!type) return unknown_type(name);
  const char* arguments = text[size] == ':' ? text + size + 1 : text + size;
  if (text[size] == ':' && !arguments[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "work queue '%s' ends in a colon; write %s%s", text, type->name,
                              type->usage);
  }
  return type->create(arguments, settings ? settings : &defaults, allocator, out_queue);
}
