// SPDX-License-Identifier: Apache-2.0
//
// The kernels, and the description of the library, which is what a program that loads it sees.
#include <tfrt/kernel_library.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stats_ops.h"
#include "summary.h"

// --- Kernels that are done when they return ---------------------------------------------------

// Makes result 0 of |frame| a copy of |summary|.
static void set_summary(tfrt_kernel_frame_t* frame, const stats_summary_t* summary) {
  tfrt_kernel_frame_set(
      frame, 0, tfrt_async_value_create_copy(stats_summary_type_id(), summary, sizeof(*summary)));
}

static void stats_empty(tfrt_kernel_frame_t* frame) {
  stats_summary_t summary = {0};
  set_summary(frame, &summary);
}

static void stats_add(tfrt_kernel_frame_t* frame) {
  stats_summary_t* summary = tfrt_kernel_frame_payload(frame, 0);
  double number = tfrt_kernel_frame_f64(frame, 1);
  if (tfrt_kernel_frame_is_unique(frame, 0)) {
    // Nobody else will ever look at this summary: it becomes the result.
    stats_summary_add(summary, number);
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
    return;
  }
  stats_summary_t sum = *summary;
  stats_summary_add(&sum, number);
  set_summary(frame, &sum);
}

static void stats_mean(tfrt_kernel_frame_t* frame) {
  const stats_summary_t* summary = tfrt_kernel_frame_payload(frame, 0);
  if (summary->count == 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION, "no numbers, so no mean");
    return;
  }
  tfrt_kernel_frame_set_f64(frame, 0, summary->sum / (double)summary->count);
}

static void stats_merge(tfrt_kernel_frame_t* frame) {
  stats_summary_t sum = {0};
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    stats_summary_merge(&sum, tfrt_kernel_frame_payload(frame, i));
  }
  set_summary(frame, &sum);
}

// --- A kernel in two forms: for asynchronous functions, and for those marked `tfrt.sync` --------

static double factor_of(const void* const* attributes) {
  double factor;
  memcpy(&factor, attributes[0], sizeof(factor));
  return factor;
}

static void stats_scale(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_f64(frame, 0,
                            tfrt_kernel_frame_f64(frame, 0) * factor_of(frame->attributes));
}

static void stats_scale_sync(tfrt_sync_frame_t* frame) {
  double product = tfrt_sync_frame_f64(frame, 0) * factor_of(frame->attributes);
  if (isinf(product)) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "the product is infinite");
    return;
  }
  tfrt_sync_frame_set_f64(frame, 0, product);
}

// --- A non-strict kernel: it starts at once, whatever the state of its operands ------------------

typedef struct stats_or_else_s {
  tfrt_task_t task;               // runs when |value| is resolved
  tfrt_async_value_t* value;      // +1
  tfrt_async_value_t* fallback;   // +1
  tfrt_indirect_value_t* result;  // +1
} stats_or_else_t;

static void stats_or_else_decide(tfrt_task_t* task) {
  stats_or_else_t* choice = TFRT_CONTAINER_OF(task, stats_or_else_t, task);
  bool failed = tfrt_async_value_is_error(choice->value);
  // The result stands for one of the two from now on; the fallback may still be on its way.
  tfrt_indirect_value_forward(choice->result, failed ? choice->fallback : choice->value);
  tfrt_async_value_release(choice->value);
  tfrt_async_value_release(choice->fallback);
  tfrt_async_value_release(&choice->result->base);
  tfrt_allocator_free(tfrt_allocator_system(), choice, sizeof(*choice));
}

static void stats_or_else(tfrt_kernel_frame_t* frame) {
  stats_or_else_t* choice = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*choice));
  tfrt_indirect_value_t* result = choice ? tfrt_indirect_value_create() : NULL;
  if (!result) {
    tfrt_allocator_free(tfrt_allocator_system(), choice, sizeof(*choice));
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  tfrt_task_initialize(&choice->task, stats_or_else_decide);
  choice->value = tfrt_async_value_retain(frame->arguments[0]);
  choice->fallback = tfrt_async_value_retain(frame->arguments[1]);
  choice->result = result;
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&result->base));
  tfrt_async_value_and_then(choice->value, &choice->task);
}

// --- An asynchronous kernel: it returns at once and resolves its result later --------------------

typedef struct stats_read_s {
  tfrt_task_t task;
  const tfrt_kernel_site_t* site;  // the kernel's place, for errors; retained
  tfrt_async_value_t* result;      // +1
  char path[1024];
} stats_read_t;

// Reads numbers, one after the other, up to the end of |file|.
static tfrt_status_t read_numbers(FILE* file, stats_summary_t* summary) {
  char word[64];
  const char* end = "";
  while (*end == '\0' && fscanf(file, "%63s", word) == 1) {
    // Not by %lf: that asks the locale, which belongs to the program.
    double number = tfrt_number_text_parse_f64(word, &end);
    if (*end == '\0') stats_summary_add(summary, number);
  }
  if (*end == '\0' && !ferror(file)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "what follows number %lld is no number",
                            (long long)summary->count);
}

static tfrt_status_t read_file(const char* path, stats_summary_t* summary) {
  FILE* file = fopen(path, "r");
  if (!file) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "can't open %s: %s", path, strerror(errno));
  }
  tfrt_status_t status = read_numbers(file, summary);
  fclose(file);
  return status ? tfrt_status_take_annotate(status, "%s", path) : NULL;
}

// Runs on a thread that may block.
static void stats_read_run(tfrt_task_t* task) {
  stats_read_t* read = TFRT_CONTAINER_OF(task, stats_read_t, task);
  // The payload is made in its place, and published once.
  tfrt_status_t status = read_file(read->path, tfrt_async_value_payload(read->result));
  if (status) {
    tfrt_kernel_site_fail_take(read->site, read->result, status);
  } else {
    tfrt_async_value_set_available(read->result);
  }
  tfrt_async_value_release(read->result);
  tfrt_kernel_site_release(read->site);
  tfrt_allocator_free(tfrt_allocator_system(), read, sizeof(*read));
}

// Sets |path| to the file that the frame's program names, relative to where its data lies.
static bool find_file(tfrt_kernel_frame_t* frame, char* path, size_t capacity) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_host_context_resolve_path(frame->context->host,
                                 tfrt_bef_attribute_string(frame->attributes[0]), &text);
  int size = snprintf(path, capacity, "%s", tfrt_string_builder_text(&text));
  tfrt_string_builder_deinitialize(&text);
  return size >= 0 && (size_t)size < capacity;
}

static void stats_read(tfrt_kernel_frame_t* frame) {
  stats_read_t* read = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*read));
  if (read) read->result = tfrt_async_value_create_unconstructed(stats_summary_type_id());
  if (!read || !read->result || !find_file(frame, read->path, sizeof(read->path))) {
    if (read) tfrt_async_value_release(read->result);
    tfrt_allocator_free(tfrt_allocator_system(), read, sizeof(*read));
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED,
                           "no memory, or the path is too long");
    return;
  }
  tfrt_task_initialize(&read->task, stats_read_run);
  read->site = tfrt_kernel_site_retain(frame->site);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(read->result));
  tfrt_work_queue_t* queue = frame->context->work_queue;
  if (tfrt_work_queue_add_blocking_task(queue, &read->task, true)) return;
  // A queue without threads: nobody else is held up if this blocks.
  tfrt_work_queue_add_task(queue, &read->task);
}

// --- The library ---------------------------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"stats.empty", stats_empty},     {"stats.add", stats_add},   {"stats.mean", stats_mean},
    {"stats.merge", stats_merge},     {"stats.read", stats_read}, {"stats.scale", stats_scale},
    {"stats.or_else", stats_or_else},
};

static const tfrt_sync_kernel_registration_t sync_kernels[] = {
    {"stats.scale", stats_scale_sync},
};

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("stats"),  TFRT_KERNEL_LIBRARY_OPS(stats_ops),
    TFRT_KERNEL_LIBRARY_KERNELS(kernels), TFRT_KERNEL_LIBRARY_SYNC_KERNELS(sync_kernels),
    .set_up = stats_summary_register,
};
