// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/work_queue_type.h"

#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/sync.h"

// More would only be a slip of the finger.
#define MAX_THREADS 1024
#define MAX_BLOCKING_THREADS 65536

// --- The types that are built in --------------------------------------------------

static tfrt_status_t create_inline(const char* arguments,
                                   const tfrt_work_queue_settings_t* settings,
                                   tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue) {
  (void)arguments;
  (void)settings;
  return tfrt_inline_work_queue_create(allocator, out_queue);
}

static bool parse_count(const char* text, size_t size, uint64_t most, int* out_count) {
  uint64_t count = 0;
  bool is_good = tfrt_number_text_parse_u64(tfrt_string_view_make(text, size), &count) &&
                 count >= 1 && count <= most;
  if (is_good) *out_count = (int)count;
  return is_good;
}

// Reads ``, `4` or `4,64`; what is left out stays.
static bool parse_counts(const char* text, int* threads, int* blocking) {
  if (text[0] == '\0') return true;
  size_t size = strcspn(text, ",");
  if (!parse_count(text, size, MAX_THREADS, threads)) return false;
  const char* rest = text + size;
  return *rest == '\0' || parse_count(rest + 1, strlen(rest + 1), MAX_BLOCKING_THREADS, blocking);
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

static const tfrt_work_queue_type_t inline_type = {{"s", ""}, create_inline};
static const tfrt_work_queue_type_t thread_pool_type = {{"mstd", "[:THREADS[,BLOCKING]]"},
                                                        create_thread_pool};

// --- All types ---------------------------------------------------------------------

static tfrt_choice_table_t types = {.what = "type of work queues",
                                    .mutex = TFRT_MUTEX_INITIALIZER,
                                    .count = 2,
                                    .entries = {&inline_type.choice, &thread_pool_type.choice}};

tfrt_status_t tfrt_work_queue_type_register(const tfrt_work_queue_type_t* type) {
  return tfrt_choice_add(&types, &type->choice);
}

tfrt_status_t tfrt_work_queue_create_by_name(const char* text,
                                             const tfrt_work_queue_settings_t* settings,
                                             tfrt_allocator_t allocator,
                                             tfrt_work_queue_t** out_queue) {
  static const tfrt_work_queue_settings_t defaults = {.pin_threads = false};
  *out_queue = NULL;
  const tfrt_choice_t* choice = NULL;
  const char* arguments = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_choice_find(&types, text, &choice, &arguments));
  const tfrt_work_queue_type_t* type = (const tfrt_work_queue_type_t*)choice;
  return type->create(arguments, settings ? settings : &defaults, allocator, out_queue);
}
