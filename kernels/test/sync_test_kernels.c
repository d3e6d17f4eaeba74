// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/sync_test_kernels.h"

#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/test/benchmark.h"
#include "kernels/test/ops.h"

static void test_sync_fail(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL, "something bad happened");
}

static void test_sync_sum(tfrt_sync_frame_t* frame) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    sum += (uint32_t)tfrt_sync_frame_i32(frame, i);
  }
  tfrt_sync_frame_set_i32(frame, 0, (int32_t)sum);
}

static void test_sync_sum_attributes(tfrt_sync_frame_t* frame) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < frame->attribute_count; ++i) {
    sum += tfrt_bef_attribute_read_u32(frame->attributes[i]);
  }
  tfrt_sync_frame_set_i32(frame, 0, (int32_t)sum);
}

// Makes result |index| the string |head| and |tail|.
static void test_sync_set_string(tfrt_sync_frame_t* frame, tfrt_string_view_t head,
                                 tfrt_string_view_t tail) {
  tfrt_string_t* string = tfrt_sync_frame_construct(frame, 0, TFRT_TYPE_STRING);
  if (!string) return;
  string->allocator = tfrt_allocator_system();
  size_t size = head.size + tail.size;
  if (size == 0) return;
  string->data = tfrt_allocator_allocate(string->allocator, size + 1);
  if (!string->data) {
    tfrt_sync_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a string");
    return;
  }
  string->size = size;
  if (head.size > 0) memcpy(string->data, head.data, head.size);
  if (tail.size > 0) memcpy(string->data + head.size, tail.data, tail.size);
  string->data[size] = '\0';
}

static void test_sync_get_string(tfrt_sync_frame_t* frame) {
  test_sync_set_string(frame, tfrt_bef_attribute_string(frame->attributes[0]),
                       tfrt_string_view_make(NULL, 0));
}

static tfrt_string_view_t test_sync_string(tfrt_sync_frame_t* frame, uint32_t index) {
  const tfrt_string_t* string = tfrt_sync_frame_payload(frame, index);
  return tfrt_string_view_make(string->data, string->size);
}

static void test_sync_append_string(tfrt_sync_frame_t* frame) {
  test_sync_set_string(frame, test_sync_string(frame, 0), test_sync_string(frame, 1));
}

tfrt_status_t tfrt_test_sync_kernels_register(tfrt_kernel_registry_t* registry) {
  static const tfrt_sync_kernel_registration_t kernels[] = {
      {"tfrt_test.fail_s", test_sync_fail},
      {"tfrt_test.error_s", test_sync_fail},
      {"tfrt_test.sync_sum", test_sync_sum},
      {"tfrt_test.sync_sum2", test_sync_sum},
      {"tfrt_test.sync_sum_attributes", test_sync_sum_attributes},
      {"tfrt_test.get_string", test_sync_get_string},
      {"tfrt_test.append_string", test_sync_append_string},
      {"tfrt_test.sync_benchmark", tfrt_test_sync_benchmark},
  };
  return tfrt_kernel_registry_add_sync(registry, &tfrt_test_ops, kernels, TFRT_ARRAY_SIZE(kernels));
}
