// SPDX-License-Identifier: Apache-2.0
//
// Two devices: what mixes and what doesn't, and what the loss of one leaves of the other.
#include "devices/conformance/conformance_fixture.h"
#include "host_runtime/async/blocking_wait.h"

#define COUNT TFRT_CONFORMANCE_COUNT
#define SIZE TFRT_CONFORMANCE_SIZE

START_TEST(objects_of_two_devices_do_not_mix) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* far = tfrt_conformance_stream(t->peer);
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  tfrt_device_buffer_t* none;
  uint32_t count = COUNT;
  tfrt_device_launch_t launch = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  tfrt_device_function_t* far_increment = tfrt_conformance_function(t->peer, "test_increment");
  const tfrt_status_code_t refused = TFRT_STATUS_INVALID_ARGUMENT;
  tfrt_conformance_expect(tfrt_device_stream_fill(far, t->buffer, 0, 4), refused);
  tfrt_conformance_expect(tfrt_device_stream_record(far, event), refused);
  tfrt_conformance_expect(tfrt_device_stream_launch(far, t->increment, &launch, arguments, 2),
                          refused);
  tfrt_conformance_expect(tfrt_device_stream_launch(far, far_increment, &launch, arguments, 2),
                          refused);
  tfrt_conformance_expect(tfrt_device_allocator_allocate(t->allocator, far, SIZE, &none), refused);
  tfrt_conformance_expect(tfrt_device_buffer_free(t->buffer, far), refused);
  tfrt_device_function_release(far_increment);
  tfrt_device_event_release(event);
  tfrt_device_stream_release(far);
}
END_TEST

START_TEST(a_peers_memory_is_copied_behind_its_event) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* far = tfrt_conformance_stream(t->peer);
  tfrt_device_allocator_t* far_allocator;
  tfrt_device_buffer_t* there;
  tfrt_conformance_expect_ok(tfrt_device_allocator_create(t->peer, &far_allocator));
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(far_allocator, far, SIZE, &there));
  tfrt_conformance_expect_ok(tfrt_device_check_peer(t->device, t->peer));
  for (uint32_t i = 0; i < 20; ++i) {
    tfrt_conformance_expect_ok(tfrt_device_stream_fill(far, there, i, 4));
    tfrt_conformance_expect_ok(tfrt_device_stream_join(t->stream, far));
    tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->buffer, 0, there, 0, SIZE));
    tfrt_conformance_expect_ok(tfrt_device_stream_join(far, t->stream));
  }
  // The peer's buffer goes with the copy still to be made.
  tfrt_device_buffer_release(there);
  tfrt_conformance_expect_all(t->stream, t->buffer, 19);
  tfrt_device_allocator_release(far_allocator);
  tfrt_device_stream_release(far);
}
END_TEST

// --- Loss ----------------------------------------------------------------------

static void conformance_fault(tfrt_device_stream_t* stream) {
  tfrt_device_function_t* fault = tfrt_conformance_function(stream->device, "test_fault");
  tfrt_device_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  tfrt_conformance_expect_ok(tfrt_device_stream_launch(stream, fault, &launch, NULL, 0));
  tfrt_device_function_release(fault);
}

// Waits for |value| (consumed), which is the loss of |device|, named in its message.
static void conformance_expect_loss(tfrt_async_value_t* value, const tfrt_device_t* device) {
  tfrt_blocking_wait(&value, 1);
  ck_assert(tfrt_async_value_is_error(value));
  const char* message = tfrt_status_message(tfrt_async_value_error(value));
  ck_assert_msg(
      strstr(message, device->name) && strstr(message, "lost") && strstr(message, "_ERROR_"), "%s",
      message);
  tfrt_async_value_release(value);
}

START_TEST(a_fault_turns_what_waits_into_its_error) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  conformance_fault(t->stream);
  // From here on the device may be lost at any time: what is refused is the loss, too.
  tfrt_status_release(tfrt_device_stream_fill(t->stream, t->buffer, 1, 4));
  tfrt_async_value_t* first = tfrt_device_stream_await(t->stream);
  conformance_expect_loss(first, t->device);
  tfrt_status_t status = tfrt_device_stream_fill(t->stream, t->buffer, 1, 4);
  ck_assert(status != NULL);
  tfrt_status_release(status);
  conformance_expect_loss(tfrt_device_stream_await(other), t->device);
  conformance_expect_loss(tfrt_device_event_await(event), t->device);
  tfrt_device_stream_t* none;
  status = tfrt_device_create_stream(t->device, &none);
  ck_assert(status && !none);
  tfrt_status_release(status);
  tfrt_device_event_release(event);
  tfrt_device_stream_release(other);
}
END_TEST

START_TEST(the_other_device_goes_on) {
  tfrt_conformance_t* t = &tfrt_conformance;
  if (!t->peer) return;
  tfrt_device_stream_t* far = tfrt_conformance_stream(t->peer);
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  tfrt_device_allocator_t* far_allocator;
  tfrt_device_buffer_t* there;
  tfrt_conformance_expect_ok(tfrt_device_allocator_create(t->peer, &far_allocator));
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(far_allocator, far, SIZE, &there));
  conformance_fault(t->stream);
  tfrt_status_release(tfrt_device_stream_record(t->stream, event));
  // That point is never reached: nothing waits for it for ever.
  tfrt_status_release(tfrt_device_stream_wait(far, event));
  conformance_expect_loss(tfrt_device_stream_await(t->stream), t->device);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(far, there, 4, 4));
  tfrt_conformance_finish(far);
  tfrt_conformance_expect_ok(tfrt_device_check(t->peer));
  tfrt_device_buffer_release(there);
  tfrt_device_event_release(event);
  tfrt_device_allocator_release(far_allocator);
  tfrt_device_stream_release(far);
}
END_TEST

TCase* tfrt_conformance_peer_case(void) {
  TCase* peer = tcase_create("peer");
  tcase_add_checked_fixture(peer, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(peer, objects_of_two_devices_do_not_mix);
  tcase_add_test(peer, a_peers_memory_is_copied_behind_its_event);
  return peer;
}

TCase* tfrt_conformance_loss_case(void) {
  TCase* loss = tcase_create("loss");
  tcase_add_checked_fixture(loss, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(loss, a_fault_turns_what_waits_into_its_error);
  tcase_add_test(loss, the_other_device_goes_on);
  return loss;
}
