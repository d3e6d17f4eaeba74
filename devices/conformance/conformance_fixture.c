// SPDX-License-Identifier: Apache-2.0
#include "devices/conformance/conformance_fixture.h"

#include "devices/device_dnn.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/sync.h"

extern const char tfrt_conformance_image_text[];

tfrt_conformance_t tfrt_conformance;
static const tfrt_conformance_backend_t* backend_under_test;

const char* tfrt_conformance_ptx(void) { return tfrt_conformance_image_text; }

bool tfrt_conformance_has(tfrt_conformance_feature_t feature) {
  return (backend_under_test->features & feature) != 0;
}

void tfrt_conformance_expect_ok(tfrt_status_t status) {
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

void tfrt_conformance_expect(tfrt_status_t status, tfrt_status_code_t code) {
  ck_assert_msg(tfrt_status_code(status) == code, "%s: %s",
                tfrt_status_code_name(tfrt_status_code(status)), tfrt_status_message(status));
  tfrt_status_release(status);
}

void tfrt_conformance_await(tfrt_async_value_t* value) {
  tfrt_blocking_wait(&value, 1);
  if (tfrt_async_value_is_error(value)) {
    ck_abort_msg("%s", tfrt_status_message(tfrt_async_value_error(value)));
  }
  tfrt_async_value_release(value);
}

void tfrt_conformance_finish(tfrt_device_stream_t* stream) {
  tfrt_conformance_await(tfrt_device_stream_await(stream));
}

tfrt_device_stream_t* tfrt_conformance_stream(tfrt_device_t* device) {
  tfrt_device_stream_t* stream;
  tfrt_conformance_expect_ok(tfrt_device_create_stream(device, &stream));
  return stream;
}

tfrt_device_event_t* tfrt_conformance_event(tfrt_device_t* device) {
  tfrt_device_event_t* event;
  tfrt_conformance_expect_ok(tfrt_device_create_event(device, false, &event));
  return event;
}

tfrt_device_buffer_t* tfrt_conformance_allocate(tfrt_device_stream_t* stream, size_t size) {
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect_ok(
      tfrt_device_allocator_allocate(tfrt_conformance.allocator, stream, size, &buffer));
  ck_assert_uint_eq(buffer->address % TFRT_DEVICE_ALIGNMENT, 0);
  return buffer;
}

tfrt_device_buffer_t* tfrt_conformance_host(size_t size) {
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect_ok(
      tfrt_device_allocator_allocate(tfrt_conformance.host_allocator, NULL, size, &buffer));
  ck_assert_ptr_nonnull(tfrt_device_buffer_host_data(buffer));
  return buffer;
}

tfrt_device_dnn_t* tfrt_conformance_dnn(void) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_dnn_t* dnn = NULL;
  tfrt_status_t status = tfrt_device_create_dnn(t->device, &dnn);
  // The library may be absent where the backend can do without it.
  if (tfrt_status_code(status) == TFRT_STATUS_UNAVAILABLE &&
      !tfrt_conformance_has(TFRT_CONFORMANCE_DNN)) {
    tfrt_status_release(status);
    return NULL;
  }
  tfrt_conformance_expect_ok(status);
  return dnn;
}

tfrt_device_module_t* tfrt_conformance_module(tfrt_device_t* device) {
  tfrt_device_module_t* module;
  const char* image = backend_under_test->image;
  size_t size = image ? backend_under_test->image_size : strlen(tfrt_conformance_ptx());
  tfrt_conformance_expect_ok(
      tfrt_device_load_module(device, image ? image : tfrt_conformance_ptx(), size, &module));
  return module;
}

tfrt_device_function_t* tfrt_conformance_function(tfrt_device_t* device, const char* name) {
  tfrt_device_module_t* module = tfrt_conformance_module(device);
  tfrt_device_function_t* function;
  tfrt_conformance_expect_ok(tfrt_device_module_function(module, name, &function));
  tfrt_device_module_release(module);
  return function;
}

void tfrt_conformance_increment(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer,
                                uint32_t count) {
  tfrt_device_launch_t launch = {.grid = {(count + 127) / 128, 1, 1}, .block = {128, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  tfrt_conformance_expect_ok(
      tfrt_device_stream_launch(stream, tfrt_conformance.increment, &launch, arguments, 2));
}

uint32_t tfrt_conformance_increments(uint32_t count) {
  return tfrt_conformance_has(TFRT_CONFORMANCE_KERNELS) ? count : 0;
}

void tfrt_conformance_expect_all(tfrt_device_stream_t* stream, tfrt_device_buffer_t* buffer,
                                 uint32_t expected) {
  tfrt_device_buffer_t* host = tfrt_conformance_host(buffer->size);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(stream, host, 0, buffer, 0, buffer->size));
  tfrt_conformance_finish(stream);
  const uint32_t* numbers = tfrt_device_buffer_host_data(host);
  for (size_t i = 0; i < buffer->size / sizeof(*numbers); ++i) {
    ck_assert_uint_eq(numbers[i], expected);
  }
  tfrt_device_buffer_release(host);
}

void tfrt_conformance_set_up(void) {
  tfrt_conformance_t* t = &tfrt_conformance;
  t->backend = backend_under_test;
  tfrt_counting_allocator_initialize(&t->memory, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  tfrt_conformance_expect_ok(
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &t->work_queue));
  tfrt_conformance_expect_ok(t->backend->open(t->backend->options,
                                              tfrt_counting_allocator_interface(&t->memory),
                                              t->work_queue, &t->platform));
  tfrt_conformance_expect_ok(
      tfrt_device_platform_device(t->platform, t->backend->ordinal, &t->device));
  if (tfrt_conformance_has(TFRT_CONFORMANCE_PEER)) {
    uint32_t peer = t->backend->ordinal == 0 ? 1 : 0;
    tfrt_conformance_expect_ok(tfrt_device_platform_device(t->platform, peer, &t->peer));
  }
  t->stream = tfrt_conformance_stream(t->device);
  tfrt_conformance_expect_ok(tfrt_device_allocator_create(t->device, &t->allocator));
  tfrt_conformance_expect_ok(
      tfrt_device_allocator_create_caching(t->device, TFRT_DEVICE_SPACE_HOST, &t->host_allocator));
  t->buffer = tfrt_conformance_allocate(t->stream, TFRT_CONFORMANCE_SIZE);
  t->host = tfrt_conformance_host(TFRT_CONFORMANCE_SIZE);
  t->increment = tfrt_conformance_function(t->device, "test_increment");
}

void tfrt_conformance_tear_down(void) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_function_release(t->increment);
  tfrt_device_buffer_release(t->host);
  tfrt_device_buffer_release(t->buffer);
  tfrt_device_allocator_release(t->host_allocator);
  tfrt_device_allocator_release(t->allocator);
  tfrt_device_stream_release(t->stream);
  tfrt_device_release(t->peer);
  tfrt_device_release(t->device);
  tfrt_device_platform_release(t->platform);
  // The work in flight ends by itself and takes the platform with it.
  while (tfrt_counting_allocator_counts(&t->memory).current_count > 0) tfrt_thread_yield();
  tfrt_work_queue_quiesce(t->work_queue);
  tfrt_work_queue_release(t->work_queue);
  if (t->backend->check) t->backend->check();
  *t = (tfrt_conformance_t){0};
}

Suite* tfrt_conformance_suite(const tfrt_conformance_backend_t* backend) {
  backend_under_test = backend;
  Suite* suite = suite_create(backend->name);
  suite_add_tcase(suite, tfrt_conformance_work_case());
  suite_add_tcase(suite, tfrt_conformance_refusals_case());
  suite_add_tcase(suite, tfrt_conformance_memory_case());
  suite_add_tcase(suite, tfrt_conformance_graphs_case());
  suite_add_tcase(suite, tfrt_conformance_blas_case());
  suite_add_tcase(suite, tfrt_conformance_dnn_case());
  suite_add_tcase(suite, tfrt_conformance_plans_case());
  suite_add_tcase(suite, tfrt_conformance_ccl_case());
  if (backend->features & TFRT_CONFORMANCE_PEER) {
    suite_add_tcase(suite, tfrt_conformance_peer_case());
  }
  if (backend->features & TFRT_CONFORMANCE_FAULTS) {
    suite_add_tcase(suite, tfrt_conformance_loss_case());
  }
  return suite;
}
