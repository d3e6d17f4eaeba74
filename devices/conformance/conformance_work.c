// SPDX-License-Identifier: Apache-2.0
//
// The work of streams: copies, fills, kernels, in order.
#include "devices/conformance/conformance_fixture.h"

#define COUNT TFRT_CONFORMANCE_COUNT
#define SIZE TFRT_CONFORMANCE_SIZE

START_TEST(what_is_copied_to_the_device_comes_back) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* also_there = tfrt_conformance_allocate(t->stream, 2 * SIZE);
  tfrt_device_buffer_t* to = tfrt_conformance_host(SIZE);
  uint32_t* numbers = tfrt_device_buffer_host_data(t->host);
  for (uint32_t i = 0; i < COUNT; ++i) numbers[i] = i * i;
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->buffer, 0, t->host, 0, SIZE));
  tfrt_conformance_expect_ok(
      tfrt_device_stream_copy(t->stream, also_there, SIZE, t->buffer, 0, SIZE));
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, to, 0, also_there, SIZE, SIZE));
  tfrt_conformance_finish(t->stream);
  ck_assert_mem_eq(tfrt_device_buffer_host_data(to), numbers, SIZE);
  tfrt_device_buffer_release(also_there);
  tfrt_device_buffer_release(to);
}
END_TEST

START_TEST(a_fill_repeats_elements_of_1_2_and_4_bytes) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0xab, 1));
  tfrt_conformance_expect_all(t->stream, t->buffer, 0xabababab);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0xabcd, 2));
  tfrt_conformance_expect_all(t->stream, t->buffer, 0xabcdabcd);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0x12345678, 4));
  tfrt_conformance_expect_all(t->stream, t->buffer, 0x12345678);
}
END_TEST

START_TEST(a_kernel_adds) {
  tfrt_conformance_t* t = &tfrt_conformance;
  if (!tfrt_conformance_has(TFRT_CONFORMANCE_KERNELS)) return;
  tfrt_device_function_t* add = tfrt_conformance_function(t->device, "test_add");
  tfrt_device_buffer_t* sum = tfrt_conformance_allocate(t->stream, SIZE);
  float* numbers = tfrt_device_buffer_host_data(t->host);
  for (uint32_t i = 0; i < COUNT; ++i) numbers[i] = (float)i;
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->buffer, 0, t->host, 0, SIZE));
  uint32_t count = COUNT;
  tfrt_device_launch_t launch = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.buffer = t->buffer},
                                        {.buffer = sum},
                                        {.bytes = &count, .size = sizeof(count)}};
  tfrt_conformance_expect_ok(tfrt_device_stream_launch(t->stream, add, &launch, arguments, 4));
  // Scalars are the kernel's own by now.
  count = 0;
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->host, 0, sum, 0, SIZE));
  tfrt_conformance_finish(t->stream);
  for (uint32_t i = 0; i < COUNT; ++i) ck_assert(numbers[i] == 2.0f * (float)i);
  tfrt_device_buffer_release(sum);
  tfrt_device_function_release(add);
}
END_TEST

START_TEST(a_cooperative_launch_is_in_order_too) {
  tfrt_conformance_t* t = &tfrt_conformance;
  if (!t->device->properties.has_cooperative_launch) return;
  uint32_t count = COUNT;
  tfrt_device_launch_t launch = {.grid = {8, 1, 1}, .block = {128, 1, 1}, .is_cooperative = true};
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  for (int i = 0; i < 10; ++i) {
    tfrt_conformance_increment(t->stream, t->buffer, COUNT);
    tfrt_conformance_expect_ok(
        tfrt_device_stream_launch(t->stream, t->increment, &launch, arguments, 2));
  }
  tfrt_conformance_expect_all(t->stream, t->buffer, 5 + tfrt_conformance_increments(20));
}
END_TEST

START_TEST(a_launch_in_clusters_is_in_order_too) {
  tfrt_conformance_t* t = &tfrt_conformance;
  uint32_t count = COUNT;
  tfrt_device_launch_t launch = {.grid = {8, 1, 1}, .block = {128, 1, 1}, .cluster = {4, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  if (!t->device->properties.has_clusters) {
    tfrt_conformance_expect(
        tfrt_device_stream_launch(t->stream, t->increment, &launch, arguments, 2),
        TFRT_STATUS_INVALID_ARGUMENT);
    return;
  }
  for (int i = 0; i < 10; ++i) {
    tfrt_conformance_increment(t->stream, t->buffer, COUNT);
    launch.is_cooperative = i % 2 && t->device->properties.has_cooperative_launch;
    tfrt_conformance_expect_ok(
        tfrt_device_stream_launch(t->stream, t->increment, &launch, arguments, 2));
  }
  // Neither clusters that don't fill the grid, nor ones without blocks, nor too many of them.
  static const uint32_t clusters[][3] = {{3, 1, 1}, {4, 0, 1}, {8, 2, 1}, {16, 1, 1}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(clusters); ++i) {
    memcpy(launch.cluster, clusters[i], sizeof(launch.cluster));
    tfrt_conformance_expect(
        tfrt_device_stream_launch(t->stream, t->increment, &launch, arguments, 2),
        TFRT_STATUS_INVALID_ARGUMENT);
  }
  tfrt_conformance_expect_all(t->stream, t->buffer, 5 + tfrt_conformance_increments(20));
}
END_TEST

START_TEST(a_launch_with_a_priority_is_in_order_too) {
  tfrt_conformance_t* t = &tfrt_conformance;
  static const int32_t priorities[] = {-1, 0, 1, -5, INT32_MIN, INT32_MAX};
  uint32_t count = COUNT;
  tfrt_device_argument_t arguments[] = {{.buffer = t->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  ck_assert_int_le(t->device->properties.first_priority, 0);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(priorities); ++i) {
    tfrt_device_launch_t launch = {
        .grid = {8, 1, 1}, .block = {128, 1, 1}, .priority = priorities[i]};
    tfrt_conformance_increment(t->stream, t->buffer, COUNT);
    tfrt_conformance_expect_ok(
        tfrt_device_stream_launch(t->stream, t->increment, &launch, arguments, 2));
  }
  tfrt_conformance_expect_all(
      t->stream, t->buffer,
      5 + tfrt_conformance_increments(2 * (uint32_t)TFRT_ARRAY_SIZE(priorities)));
}
END_TEST

START_TEST(work_of_one_stream_is_done_in_order) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  for (int i = 0; i < 200; ++i) {
    tfrt_conformance_increment(t->stream, t->buffer, COUNT);
  }
  tfrt_conformance_expect_all(t->stream, t->buffer, 5 + tfrt_conformance_increments(200));
}
END_TEST

// Two streams take turns with one buffer: each step needs the one before, of the other.
START_TEST(streams_wait_for_each_others_events) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* streams[] = {t->stream, tfrt_conformance_stream(t->device)};
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0, 4));
  for (int i = 0; i < 100; ++i) {
    tfrt_conformance_increment(streams[i % 2], t->buffer, COUNT);
    // One event for all of them: a wait is about the record before it.
    tfrt_conformance_expect_ok(tfrt_device_stream_record(streams[i % 2], event));
    tfrt_conformance_expect_ok(tfrt_device_stream_wait(streams[1 - i % 2], event));
  }
  tfrt_conformance_expect_all(streams[1], t->buffer, tfrt_conformance_increments(100));
  tfrt_device_event_release(event);
  tfrt_device_stream_release(streams[1]);
}
END_TEST

START_TEST(an_event_that_was_never_recorded_is_done) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  bool done = false;
  tfrt_conformance_expect_ok(tfrt_device_event_query(event, &done));
  ck_assert(done);
  tfrt_conformance_expect_ok(tfrt_device_stream_wait(t->stream, event));
  tfrt_conformance_await(tfrt_device_event_await(event));
  tfrt_conformance_finish(t->stream);
  tfrt_device_event_release(event);
}
END_TEST

START_TEST(what_was_awaited_is_done_and_says_so) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  for (uint32_t i = 0; i < 50; ++i) {
    tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, i, 4));
    tfrt_conformance_expect_ok(tfrt_device_stream_record(t->stream, event));
    tfrt_async_value_t* first = tfrt_device_event_await(event);
    // Recorded again, the event stands for more work; the value does not.
    tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, i + 1, 4));
    tfrt_conformance_expect_ok(tfrt_device_stream_record(t->stream, event));
    tfrt_conformance_await(tfrt_device_event_await(event));
    tfrt_conformance_await(first);
    bool done = false;
    tfrt_conformance_expect_ok(tfrt_device_event_query(event, &done));
    ck_assert(done);
  }
  tfrt_device_event_release(event);
}
END_TEST

START_TEST(an_event_may_go_before_its_point_is_reached) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 9, 4));
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  tfrt_conformance_expect_ok(tfrt_device_stream_record(t->stream, event));
  tfrt_conformance_expect_ok(tfrt_device_stream_wait(other, event));
  tfrt_async_value_t* value = tfrt_device_event_await(event);
  tfrt_device_event_release(event);
  tfrt_conformance_expect_all(other, t->buffer, 9);
  tfrt_conformance_await(value);
  tfrt_device_stream_release(other);
}
END_TEST

START_TEST(a_stream_may_go_with_work_in_it) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0, 4));
  for (uint32_t i = 0; i < 20; ++i) {
    tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
    tfrt_conformance_expect_ok(tfrt_device_stream_join(other, t->stream));
    tfrt_conformance_increment(other, t->buffer, COUNT);
    tfrt_conformance_expect_ok(tfrt_device_stream_join(t->stream, other));
    tfrt_device_stream_release(other);
  }
  tfrt_conformance_expect_all(t->stream, t->buffer, tfrt_conformance_increments(20));
}
END_TEST

START_TEST(a_variable_of_a_module_is_a_buffer) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_module_t* module = tfrt_conformance_module(t->device);
  tfrt_device_buffer_t* total;
  tfrt_conformance_expect_ok(tfrt_device_module_global(module, "test_total", &total));
  tfrt_device_module_release(module);
  ck_assert_uint_eq(total->size, 16);
  tfrt_conformance_expect_all(t->stream, total, 0);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, total, 3, 4));
  tfrt_conformance_expect_all(t->stream, total, 3);
  tfrt_device_buffer_release(total);
}
END_TEST

START_TEST(time_passes_between_two_events) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_event_t* start;
  tfrt_device_event_t* end;
  tfrt_conformance_expect_ok(tfrt_device_create_event(t->device, true, &start));
  tfrt_conformance_expect_ok(tfrt_device_create_event(t->device, true, &end));
  float milliseconds = -1;
  tfrt_conformance_expect(tfrt_device_event_elapsed(end, start, &milliseconds),
                          TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_conformance_expect_ok(tfrt_device_stream_record(t->stream, start));
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0, 4));
  tfrt_conformance_expect_ok(tfrt_device_stream_record(t->stream, end));
  tfrt_conformance_finish(t->stream);
  milliseconds = -1;
  tfrt_conformance_expect_ok(tfrt_device_event_elapsed(end, start, &milliseconds));
  ck_assert(milliseconds >= 0);
  tfrt_device_event_release(start);
  tfrt_device_event_release(end);
}
END_TEST

START_TEST(no_bytes_and_no_blocks_are_no_work) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* empty = tfrt_conformance_allocate(t->stream, 0);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, empty, 0, t->host, SIZE, 0));
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, empty, 0, 4));
  tfrt_conformance_increment(t->stream, empty, 0);
  tfrt_conformance_finish(t->stream);
  tfrt_device_buffer_release(empty);
}
END_TEST

// Ends of two streams, awaited in both ways and out of order.
START_TEST(ends_are_awaited_with_and_without_a_hurry) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* other = NULL;
  tfrt_conformance_expect_ok(tfrt_device_create_stream(t->device, &other));
  for (uint32_t i = 0; i < 50; ++i) {
    tfrt_async_value_t* ends[4];
    tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, i, 4));
    ends[3] = tfrt_device_stream_await(t->stream);
    ends[2] = tfrt_device_stream_await_soon(other);
    ends[1] = tfrt_device_stream_await_soon(t->stream);
    ends[0] = tfrt_device_stream_await(other);
    for (int k = 0; k < 4; ++k) tfrt_conformance_await(ends[k]);
    tfrt_conformance_expect_all(t->stream, t->buffer, i);
  }
  tfrt_device_stream_release(other);
}
END_TEST

TCase* tfrt_conformance_work_case(void) {
  TCase* work = tcase_create("work");
  tcase_add_checked_fixture(work, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(work, what_is_copied_to_the_device_comes_back);
  tcase_add_test(work, a_fill_repeats_elements_of_1_2_and_4_bytes);
  tcase_add_test(work, a_kernel_adds);
  tcase_add_test(work, ends_are_awaited_with_and_without_a_hurry);
  tcase_add_test(work, a_cooperative_launch_is_in_order_too);
  tcase_add_test(work, a_launch_in_clusters_is_in_order_too);
  tcase_add_test(work, a_launch_with_a_priority_is_in_order_too);
  tcase_add_test(work, work_of_one_stream_is_done_in_order);
  tcase_add_test(work, streams_wait_for_each_others_events);
  tcase_add_test(work, an_event_that_was_never_recorded_is_done);
  tcase_add_test(work, what_was_awaited_is_done_and_says_so);
  tcase_add_test(work, an_event_may_go_before_its_point_is_reached);
  tcase_add_test(work, a_stream_may_go_with_work_in_it);
  tcase_add_test(work, a_variable_of_a_module_is_a_buffer);
  tcase_add_test(work, time_passes_between_two_events);
  tcase_add_test(work, no_bytes_and_no_blocks_are_no_work);
  return work;
}
