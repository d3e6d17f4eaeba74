// SPDX-License-Identifier: Apache-2.0
//
// Lives of buffers: views, freeing, reuse in the order of streams, pinned tensors.
#include "devices/conformance/conformance_fixture.h"

#define COUNT TFRT_CONFORMANCE_COUNT
#define SIZE TFRT_CONFORMANCE_SIZE

START_TEST(a_freed_buffer_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* view;
  tfrt_conformance_expect_ok(tfrt_device_buffer_create_view(t->buffer, 256, 16, &view));
  tfrt_conformance_expect(tfrt_device_buffer_free(view, t->stream), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 0, 4));
  tfrt_conformance_expect_ok(tfrt_device_buffer_free(t->buffer, t->stream));
  tfrt_conformance_expect(tfrt_device_buffer_free(t->buffer, t->stream),
                          TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_conformance_expect(tfrt_device_stream_fill(t->stream, t->buffer, 0, 4),
                          TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_conformance_expect(tfrt_device_stream_copy(t->stream, view, 0, t->host, 0, 16),
                          TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_device_buffer_t* none;
  tfrt_conformance_expect(tfrt_device_buffer_create_view(t->buffer, 0, 16, &none),
                          TFRT_STATUS_FAILED_PRECONDITION);
  ck_assert_ptr_null(none);
  tfrt_device_buffer_release(view);
}
END_TEST

START_TEST(a_view_is_a_part_that_keeps_the_whole) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_device_buffer_t* part;
  tfrt_device_buffer_t* part_of_part;
  tfrt_conformance_expect(tfrt_device_buffer_create_view(buffer, SIZE - 8, 9, &part),
                          TFRT_STATUS_OUT_OF_RANGE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 1, 4));
  tfrt_conformance_expect_ok(tfrt_device_buffer_create_view(buffer, SIZE / 2, SIZE / 4, &part));
  tfrt_conformance_expect_ok(tfrt_device_buffer_create_view(part, 8, 8, &part_of_part));
  tfrt_device_buffer_release(buffer);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, part, 2, 4));
  tfrt_device_buffer_release(part);
  tfrt_conformance_expect_all(t->stream, part_of_part, 2);
  tfrt_device_buffer_release(part_of_part);
}
END_TEST

// Each buffer goes as soon as its work is given, and its memory may come back at once.
START_TEST(buffers_may_go_while_streams_use_them) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
  tfrt_device_buffer_t* results[32];
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(results); ++i) {
    tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, SIZE);
    results[i] = tfrt_conformance_host(SIZE);
    tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, i, 4));
    tfrt_conformance_expect_ok(tfrt_device_stream_join(other, t->stream));
    tfrt_conformance_increment(other, buffer, COUNT);
    tfrt_conformance_expect_ok(tfrt_device_stream_copy(other, results[i], 0, buffer, 0, SIZE));
    tfrt_device_buffer_release(buffer);
  }
  tfrt_conformance_finish(other);
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(results); ++i) {
    const uint32_t* numbers = tfrt_device_buffer_host_data(results[i]);
    for (uint32_t k = 0; k < COUNT; ++k)
      ck_assert_uint_eq(numbers[k], i + tfrt_conformance_increments(1));
    tfrt_device_buffer_release(results[i]);
  }
  tfrt_device_stream_release(other);
}
END_TEST

START_TEST(a_buffer_is_used_by_more_streams_than_it_remembers) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* streams[2 * TFRT_DEVICE_BUFFER_MAX_USERS + 1];
  tfrt_device_buffer_t* results[TFRT_ARRAY_SIZE(streams)];
  tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 77, 4));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(streams); ++i) {
    streams[i] = tfrt_conformance_stream(t->device);
    results[i] = tfrt_conformance_host(SIZE);
    tfrt_conformance_expect_ok(tfrt_device_stream_join(streams[i], t->stream));
    tfrt_conformance_expect_ok(tfrt_device_stream_copy(streams[i], results[i], 0, buffer, 0, SIZE));
  }
  tfrt_device_buffer_release(buffer);
  // The next allocation in the home stream may get the memory, and must not overwrite it yet.
  buffer = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 1, 4));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(streams); ++i) {
    tfrt_conformance_finish(streams[i]);
    const uint32_t* numbers = tfrt_device_buffer_host_data(results[i]);
    for (uint32_t k = 0; k < COUNT; ++k) ck_assert_uint_eq(numbers[k], 77);
    tfrt_device_buffer_release(results[i]);
    tfrt_device_stream_release(streams[i]);
  }
  tfrt_device_buffer_release(buffer);
}
END_TEST

START_TEST(a_cache_gives_a_freed_block_out_again_in_its_stream) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_allocator_t* cache;
  tfrt_conformance_expect_ok(
      tfrt_device_allocator_create_caching(t->device, TFRT_DEVICE_SPACE_DEVICE, &cache));
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(cache, t->stream, SIZE, &buffer));
  tfrt_device_address_t address = buffer->address;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 1, 4));
  tfrt_device_buffer_release(buffer);
  // A bit less fits; a third of it would waste too much.
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(cache, t->stream, SIZE - 8, &buffer));
  ck_assert_uint_eq(buffer->address, address);
  tfrt_device_buffer_release(buffer);
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(cache, t->stream, SIZE / 3, &buffer));
  ck_assert_uint_ne(buffer->address, address);
  tfrt_device_buffer_release(buffer);
  // In another stream it is given out when the work is done, which it is by now.
  tfrt_conformance_finish(t->stream);
  tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
  tfrt_conformance_expect_ok(tfrt_device_allocator_allocate(cache, other, SIZE, &buffer));
  ck_assert_uint_eq(buffer->address, address);
  tfrt_device_buffer_release(buffer);
  tfrt_device_stream_release(other);
  tfrt_device_allocator_release(cache);
}
END_TEST

// If two freed blocks fit, the cache gives out the smaller one, in any order of the frees.
START_TEST(a_cache_gives_out_the_block_that_fits_best) {
  tfrt_conformance_t* t = &tfrt_conformance;
  for (int first = 0; first < 2; ++first) {
    tfrt_device_allocator_t* cache;
    tfrt_device_buffer_t* buffers[2];
    tfrt_device_buffer_t* buffer;
    tfrt_conformance_expect_ok(
        tfrt_device_allocator_create_caching(t->device, TFRT_DEVICE_SPACE_DEVICE, &cache));
    for (int i = 0; i < 2; ++i) {
      size_t size = i == 0 ? SIZE : SIZE - SIZE / 8;
      tfrt_conformance_expect_ok(
          tfrt_device_allocator_allocate(cache, t->stream, size, &buffers[i]));
    }
    tfrt_device_address_t best = buffers[1]->address;
    tfrt_device_buffer_release(buffers[first]);
    tfrt_device_buffer_release(buffers[1 - first]);
    tfrt_conformance_expect_ok(
        tfrt_device_allocator_allocate(cache, t->stream, SIZE - SIZE / 4, &buffer));
    ck_assert_uint_eq(buffer->address, best);
    tfrt_device_buffer_release(buffer);
    tfrt_device_allocator_release(cache);
  }
}
END_TEST

START_TEST(pinned_memory_comes_back_when_no_work_uses_it) {
  tfrt_conformance_t* t = &tfrt_conformance;
  for (uint32_t i = 0; i < 50; ++i) {
    tfrt_device_buffer_t* host = tfrt_conformance_host(SIZE);
    uint32_t* numbers = tfrt_device_buffer_host_data(host);
    for (uint32_t k = 0; k < COUNT; ++k) numbers[k] = i;
    tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->buffer, 0, host, 0, SIZE));
    tfrt_device_buffer_release(host);
  }
  tfrt_conformance_expect_all(t->stream, t->buffer, 49);
}
END_TEST

START_TEST(a_tensors_memory_is_pinned_and_let_go) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_host_buffer_t* tensor;
  tfrt_device_buffer_t* pinned;
  tfrt_conformance_expect_ok(
      tfrt_host_buffer_create(SIZE, tfrt_counting_allocator_interface(&t->memory), &tensor));
  uint32_t* numbers = tensor->data;
  for (uint32_t k = 0; k < COUNT; ++k) numbers[k] = 6;
  tfrt_conformance_expect_ok(tfrt_device_buffer_create_pinned(t->device, tensor, &pinned));
  tfrt_host_buffer_release(tensor);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(t->stream, t->buffer, 0, pinned, 0, SIZE));
  // The tensor's memory lives until the copy has read it.
  tfrt_device_buffer_release(pinned);
  tfrt_conformance_expect_all(t->stream, t->buffer, 6);
}
END_TEST

START_TEST(too_much_memory_is_an_error_and_no_harm) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_buffer_t* buffer;
  tfrt_conformance_expect(
      tfrt_device_allocator_allocate(t->allocator, t->stream, SIZE_MAX / 4, &buffer),
      TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_null(buffer);
  buffer = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 1, 4));
  tfrt_conformance_expect_all(t->stream, buffer, 1);
  tfrt_device_buffer_release(buffer);
}
END_TEST

TCase* tfrt_conformance_memory_case(void) {
  TCase* memory = tcase_create("memory");
  tcase_add_checked_fixture(memory, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(memory, a_freed_buffer_is_refused);
  tcase_add_test(memory, a_view_is_a_part_that_keeps_the_whole);
  tcase_add_test(memory, buffers_may_go_while_streams_use_them);
  tcase_add_test(memory, a_buffer_is_used_by_more_streams_than_it_remembers);
  tcase_add_test(memory, a_cache_gives_a_freed_block_out_again_in_its_stream);
  tcase_add_test(memory, a_cache_gives_out_the_block_that_fits_best);
  tcase_add_test(memory, pinned_memory_comes_back_when_no_work_uses_it);
  tcase_add_test(memory, a_tensors_memory_is_pinned_and_let_go);
  tcase_add_test(memory, too_much_memory_is_an_error_and_no_harm);
  return memory;
}
