// SPDX-License-Identifier: Apache-2.0
//
// Kernels on records of training data. A record that was checked is a value of the type
// "!proto.example": its bytes.

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "kernels/tensor/files/example_record.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/ops/ops.h"

// Relaxed: who uses the type was started after the registration, and the id of a second
// registration is the same.
static _Atomic tfrt_type_id_t example_id;

static void destroy_example(void* payload) {
  tfrt_async_value_release(*(tfrt_async_value_t**)payload);
}

// The payload is the value (+1) of the string that was parsed.
static const tfrt_type_t example_type = {
    .name = "!proto.example",
    .size = sizeof(tfrt_async_value_t*),
    .destroy = destroy_example,
};

tfrt_status_t tfrt_example_type_register(void) {
  tfrt_type_id_t id;
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&example_type, &id));
  atomic_store_explicit(&example_id, id, memory_order_relaxed);
  return NULL;
}

static void parse(tfrt_kernel_frame_t* frame) {
  tfrt_status_t status = tfrt_example_check(tfrt_async_value_string(frame->arguments[0]));
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_async_value_t* value =
      tfrt_async_value_create_available(atomic_load_explicit(&example_id, memory_order_relaxed));
  if (!value) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_out_of_memory());
    return;
  }
  *(tfrt_async_value_t**)tfrt_async_value_payload(value) =
      tfrt_async_value_retain(frame->arguments[0]);
  tfrt_kernel_frame_set(frame, 0, value);
}

// The bytes of the record that operand 0 is.
static tfrt_string_view_t record_of(const tfrt_kernel_frame_t* frame) {
  return tfrt_async_value_string(*(tfrt_async_value_t**)tfrt_kernel_frame_payload(frame, 0));
}

static void get_bytes(tfrt_kernel_frame_t* frame) {
  tfrt_string_view_t bytes;
  tfrt_status_t status = tfrt_example_find_bytes(
      record_of(frame), tfrt_async_value_string(frame->arguments[1]), &bytes);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_string(bytes));
  }
}

static void get_i64(tfrt_kernel_frame_t* frame) {
  int64_t number;
  tfrt_status_t status = tfrt_example_find_i64(
      record_of(frame), tfrt_async_value_string(frame->arguments[1]), &number);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_i64(frame, 0, number);
  }
}

static const tfrt_kernel_registration_t registrations[] = {
    {"tfrt_test.parse_example_from_bytes", parse},
    {"tfrt_test.get_bytes_field_from_example", get_bytes},
    {"tfrt_test.get_int64_field_from_example", get_i64},
};

const tfrt_kernel_group_t tfrt_example_kernels = {&tfrt_test_tensor_ops, registrations,
                                                  TFRT_ARRAY_SIZE(registrations)};
