// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/string_kernels.h"

#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

void tfrt_test_get_string(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(
      frame, 0, tfrt_async_value_create_string(tfrt_bef_attribute_string(frame->attributes[0])));
}

void tfrt_test_append_string(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_view(&text, tfrt_async_value_string(frame->arguments[0]));
  tfrt_string_builder_append_view(&text, tfrt_async_value_string(frame->arguments[1]));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(tfrt_string_builder_view(&text)));
  tfrt_string_builder_deinitialize(&text);
}

void tfrt_test_string_equal(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0,
                           tfrt_string_view_equal(tfrt_async_value_string(frame->arguments[0]),
                                                  tfrt_async_value_string(frame->arguments[1])));
}

// --- Formats -------------------------------------------------------------------

// The length of the conversion of an int at |text|, which begins with '%', or 0: the format comes
// from a program, so printf gets nothing that reads another argument or makes a line of any size.
static size_t test_conversion_length(const char* text) {
  size_t length = 1 + strspn(text + 1, "-+ #0");
  size_t width = strspn(text + length, "0123456789");
  length += width;
  if (width > 3) return 0;
  return text[length] != '\0' && strchr("diuxXo", text[length]) ? length + 1 : 0;
}

// Whether |format| has conversions of one int only, at most one, and signs of percent.
static bool test_format_is_safe(const char* format) {
  uint32_t conversions = 0;
  while ((format = strchr(format, '%'))) {
    size_t length = format[1] == '%' ? 2 : test_conversion_length(format);
    if (length == 0) return false;
    if (format[1] != '%') ++conversions;
    format += length;
  }
  return conversions <= 1;
}

void tfrt_test_format_string(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t format;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&format, tfrt_allocator_system());
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_view(&format, tfrt_async_value_string(frame->arguments[0]));
  const char* pattern = tfrt_string_builder_text(&format);
  if (test_format_is_safe(pattern)) {
    tfrt_string_builder_append_format(&text, pattern, tfrt_kernel_frame_i32(frame, 1));
    tfrt_kernel_frame_set(frame, 0,
                          tfrt_async_value_create_string(tfrt_string_builder_view(&text)));
  } else {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "'%s' is no format of one integer, as \"file-%%03d\" is", pattern);
  }
  tfrt_string_builder_deinitialize(&format);
  tfrt_string_builder_deinitialize(&text);
}

// --- Files ----------------------------------------------------------------------

// A file on its way through the blocking queue.
typedef struct tfrt_test_file_s {
  tfrt_task_t task;
  const tfrt_kernel_site_t* site;  // +1
  tfrt_indirect_value_t* result;   // +1
  tfrt_string_builder_t path;
} tfrt_test_file_t;

static void test_file_free(tfrt_test_file_t* file) {
  tfrt_async_value_release(&file->result->base);
  tfrt_kernel_site_release(file->site);
  tfrt_string_builder_deinitialize(&file->path);
  tfrt_allocator_free(tfrt_allocator_system(), file, sizeof(*file));
}

static void test_file_read(tfrt_task_t* task) {
  tfrt_test_file_t* file = TFRT_CONTAINER_OF(task, tfrt_test_file_t, task);
  const char* path = tfrt_string_builder_text(&file->path);
  tfrt_file_contents_t contents;
  tfrt_status_t status = tfrt_file_read(path, tfrt_allocator_system(), &contents);
  if (status) {
    tfrt_kernel_site_fail_take(
        file->site, &file->result->base,
        tfrt_status_take_annotate(status, "failed to read from file %s", path));
  } else {
    tfrt_string_view_t text = tfrt_string_view_make((const char*)contents.data, contents.size);
    tfrt_indirect_value_forward_take(file->result, tfrt_async_value_create_string(text));
    tfrt_file_contents_deinitialize(&contents);
  }
  test_file_free(file);
}

void tfrt_test_read_string_from_file(tfrt_kernel_frame_t* frame) {
  tfrt_test_file_t* file = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*file));
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  if (!file || !result) {
    if (result) tfrt_async_value_release(&result->base);
    tfrt_allocator_free(tfrt_allocator_system(), file, sizeof(*file));
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_task_initialize(&file->task, test_file_read);
  file->site = tfrt_kernel_site_retain(frame->site);
  file->result = result;
  tfrt_string_builder_initialize(&file->path, tfrt_allocator_system());
  tfrt_host_context_resolve_path(frame->context->host, tfrt_async_value_string(frame->arguments[0]),
                                 &file->path);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&result->base));
  tfrt_work_queue_t* queue = frame->context->work_queue;
  if (tfrt_work_queue_add_blocking_task(queue, &file->task, true)) return;
  tfrt_kernel_site_fail_take(
      file->site, &result->base,
      tfrt_status_create(
          TFRT_STATUS_RESOURCE_EXHAUSTED,
          "no thread for a task that blocks: the queue is full, or the system gives no "
          "more threads (the log has its reason)"));
  test_file_free(file);
}
