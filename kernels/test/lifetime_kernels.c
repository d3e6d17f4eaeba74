// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/lifetime_kernels.h"

#include <stdarg.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

static tfrt_type_id_t tfrt_test_vt_type;
static tfrt_type_id_t tfrt_test_resource_type;

static void test_say(tfrt_request_context_t* request, const char* format, ...) TFRT_PRINTF(2, 3);

// Prints one line that no chain orders.
static void test_say(tfrt_request_context_t* request, const char* format, ...) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  va_list arguments;
  va_start(arguments, format);
  tfrt_string_builder_append_format_v(&line, format, arguments);
  va_end(arguments);
  tfrt_async_value_release(tfrt_request_context_print(request, tfrt_string_builder_view(&line)));
  tfrt_string_builder_deinitialize(&line);
}

// --- Values that tell of their life ----------------------------------------------

typedef struct tfrt_test_vt_value_s {
  tfrt_request_context_t* request;  // +1
  int32_t number;
} tfrt_test_vt_value_t;

static void test_vt_destroy(void* payload) {
  tfrt_test_vt_value_t* value = payload;
  test_say(value->request, "destroyed vt.value(%d)", value->number);
  tfrt_request_context_release(value->request);
}

// Makes the frame's result a value of |number|. It is made and then moved to its place, says
// the text that tests expect.
static void test_vt_set(tfrt_kernel_frame_t* frame, int32_t number) {
  tfrt_async_value_t* result = tfrt_async_value_create_available(tfrt_test_vt_type);
  if (!result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_request_context_t* request = frame->context->request;
  tfrt_test_vt_value_t* value = tfrt_async_value_payload(result);
  value->request = tfrt_request_context_retain(request);
  value->number = number;
  test_say(request, "constructed vt.value(%d)", number);
  test_say(request, "move constructed vt.value(%d)", number);
  tfrt_kernel_frame_set(frame, 0, result);
}

static int32_t test_vt_number(tfrt_kernel_frame_t* frame, uint32_t index) {
  return ((const tfrt_test_vt_value_t*)tfrt_kernel_frame_payload(frame, index))->number;
}

void tfrt_test_vt_constant(tfrt_kernel_frame_t* frame) {
  test_vt_set(frame, (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[0]));
}

void tfrt_test_vt_add(tfrt_kernel_frame_t* frame) {
  uint32_t sum = (uint32_t)test_vt_number(frame, 0) + (uint32_t)test_vt_number(frame, 1);
  test_vt_set(frame, (int32_t)sum);
}

void tfrt_test_vt_print(tfrt_kernel_frame_t* frame) {
  test_say(frame->context->request, "print vt_value(%d)", test_vt_number(frame, 0));
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

void tfrt_test_share_to_two(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
  tfrt_kernel_frame_set(frame, 1, tfrt_async_value_retain(frame->arguments[0]));
}

void tfrt_test_get_uniqueness(tfrt_kernel_frame_t* frame) {
  if (frame->result_count != frame->argument_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "%u values for %u results",
                           frame->argument_count, frame->result_count);
    return;
  }
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    tfrt_kernel_frame_set_i1(frame, i, tfrt_kernel_frame_is_unique(frame, i));
  }
}

// --- A resource --------------------------------------------------------------------

typedef struct tfrt_test_resource_s {
  tfrt_request_context_t* request;  // +1; NULL: destroyed
} tfrt_test_resource_t;

static void test_resource_destroy(void* payload) {
  tfrt_test_resource_t* resource = payload;
  if (!resource->request) return;
  test_say(resource->request, "Destroyed TestResource");
  tfrt_request_context_release(resource->request);
  resource->request = NULL;
}

void tfrt_test_allocate_resource(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* result = tfrt_async_value_create_available(tfrt_test_resource_type);
  tfrt_kernel_frame_set_ready_chain(frame, 1);
  if (!result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  tfrt_test_resource_t* resource = tfrt_async_value_payload(result);
  resource->request = tfrt_request_context_retain(frame->context->request);
  test_say(resource->request, "Allocated TestResource");
  tfrt_kernel_frame_set(frame, 0, result);
}

void tfrt_test_deallocate_resource(tfrt_kernel_frame_t* frame) {
  test_resource_destroy(tfrt_kernel_frame_payload(frame, 0));
  test_say(frame->context->request, "tfrt_test.deallocate_resource done");
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

// --- A leak --------------------------------------------------------------------------

void tfrt_test_memory_leak_one_int32(tfrt_kernel_frame_t* frame) {
  // Kept reachable: it is the host's allocator that is to find it, not a sanitizer.
  static _Atomic(void*) leaked;
  atomic_store_explicit(&leaked,
                        tfrt_allocator_allocate(frame->context->host->allocator, sizeof(int32_t)),
                        memory_order_relaxed);
}

tfrt_status_t tfrt_test_lifetime_types_register(void) {
  static const tfrt_type_t vt_type = {
      .name = "!vt.value", .size = sizeof(tfrt_test_vt_value_t), .destroy = test_vt_destroy};
  static const tfrt_type_t resource_type = {.name = "!tfrt.test.resource",
                                            .size = sizeof(tfrt_test_resource_t),
                                            .flags = TFRT_TYPE_FLAG_MUTABLE,
                                            .destroy = test_resource_destroy};
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&vt_type, &tfrt_test_vt_type));
  return tfrt_type_register(&resource_type, &tfrt_test_resource_type);
}
