// SPDX-License-Identifier: Apache-2.0
//
// Prints as MLIR's runner has them: numbers and texts that make up a line piece by piece. The
// request's output takes whole lines, so the pieces are kept, in the request, until one ends.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/async/kernel_parts.h"

typedef struct tfrt_async_line_s {
  tfrt_resource_t base;
  tfrt_mutex_t mutex;  // guards the text
  tfrt_string_builder_t text;
} tfrt_async_line_t;

static void async_line_destroy(tfrt_resource_t* resource) {
  tfrt_async_line_t* line = TFRT_CONTAINER_OF(resource, tfrt_async_line_t, base);
  tfrt_string_builder_deinitialize(&line->text);
  tfrt_mutex_deinitialize(&line->mutex);
  tfrt_allocator_free(tfrt_allocator_system(), line, sizeof(*line));
}

static tfrt_status_t async_line_create(void* argument, tfrt_resource_t** out_resource) {
  (void)argument;
  tfrt_async_line_t* line = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*line));
  if (!line) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a line");
  line->base.name = "tfrt_async.line";
  line->base.destroy = async_line_destroy;
  tfrt_mutex_initialize(&line->mutex);
  tfrt_string_builder_initialize(&line->text, tfrt_allocator_system());
  *out_resource = &line->base;
  return NULL;
}

// Takes the whole lines of |line|, with |rest| also what no new line ends, and prints them.
static tfrt_async_value_t* async_line_flush(tfrt_kernel_frame_t* frame, tfrt_async_line_t* line,
                                            bool rest) {
  tfrt_string_view_t all = tfrt_string_builder_view(&line->text);
  size_t end = all.size;
  while (end > 0 && all.data[end - 1] != '\n') --end;
  bool has_rest = rest && end < all.size;
  if (end == 0 && !has_rest) return tfrt_async_value_ready_chain();
  size_t size = has_rest ? all.size : end - 1;
  tfrt_async_value_t* chain =
      tfrt_execution_context_print(frame->context, tfrt_string_view_make(all.data, size));
  size_t taken = has_rest ? all.size : end;
  memmove(line->text.data, line->text.data + taken, all.size - taken);
  line->text.size = all.size - taken;
  return chain;
}

static void async_line_add(tfrt_kernel_frame_t* frame, tfrt_string_view_t text, bool ends) {
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(
      tfrt_request_context_shared_resources(frame->context->request), "tfrt_async.line",
      async_line_create, NULL, &resource);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_async_line_t* line = TFRT_CONTAINER_OF(resource, tfrt_async_line_t, base);
  tfrt_mutex_lock(&line->mutex);
  tfrt_string_builder_append_view(&line->text, text);
  tfrt_async_value_t* chain =
      line->text.failed ? tfrt_async_value_out_of_memory() : async_line_flush(frame, line, ends);
  tfrt_mutex_unlock(&line->mutex);
  tfrt_kernel_frame_set(frame, 0, chain);
}

void tfrt_async_print_lines(tfrt_kernel_frame_t* frame, tfrt_string_view_t text) {
  async_line_add(frame, text, false);
}

void tfrt_async_append_number(tfrt_string_builder_t* text, tfrt_type_id_t type,
                              const void* payload) {
  switch (type) {
    case TFRT_TYPE_I1:
      tfrt_string_builder_append_format(text, "%d", *(const bool*)payload);
      return;
    case TFRT_TYPE_I8:
      tfrt_string_builder_append_format(text, "%d", *(const int8_t*)payload);
      return;
    case TFRT_TYPE_I16:
      tfrt_string_builder_append_format(text, "%d", *(const int16_t*)payload);
      return;
    case TFRT_TYPE_I32:
      tfrt_string_builder_append_format(text, "%" PRId32, *(const int32_t*)payload);
      return;
    case TFRT_TYPE_I64:
      tfrt_string_builder_append_format(text, "%" PRId64, *(const int64_t*)payload);
      return;
    case TFRT_TYPE_F32:
      tfrt_string_builder_append_format(text, "%g", (double)*(const float*)payload);
      return;
    case TFRT_TYPE_F64:
      tfrt_string_builder_append_format(text, "%lg", *(const double*)payload);
      return;
    default:
      tfrt_string_builder_append_text(text, "?");
      return;
  }
}

void tfrt_async_print(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_async_value_t* value = frame->arguments[1];
  tfrt_async_append_number(&text, value->type_id, tfrt_async_value_payload(value));
  tfrt_string_builder_append_view(&text, tfrt_bef_attribute_string(frame->attributes[0]));
  async_line_add(frame, tfrt_string_builder_view(&text), false);
  tfrt_string_builder_deinitialize(&text);
}

void tfrt_async_print_text(tfrt_kernel_frame_t* frame) {
  async_line_add(frame, tfrt_bef_attribute_string(frame->attributes[0]), false);
}

void tfrt_async_print_thread(tfrt_kernel_frame_t* frame) {
  char text[64];
  int size = snprintf(text, sizeof(text), "Current thread id: %ld\n", (long)gettid());
  async_line_add(frame, tfrt_string_view_make(text, (size_t)size), false);
}

void tfrt_async_end_line(tfrt_kernel_frame_t* frame) {
  async_line_add(frame, tfrt_string_view_make("", 0), true);
}
