// SPDX-License-Identifier: Apache-2.0
//
// Graphs: what is captured isn't done, what is launched is, as often as it is launched.
#include "devices/conformance/conformance_fixture.h"
#include "devices/device_graph.h"

#define COUNT TFRT_CONFORMANCE_COUNT
#define SIZE TFRT_CONFORMANCE_SIZE

// Begins a capture; NULL where the device has no graphs, and says so.
static tfrt_device_stream_t* conformance_capture(void) {
  tfrt_device_stream_t* capture;
  tfrt_status_t status = tfrt_device_capture_begin(tfrt_conformance.device, &capture);
  if (tfrt_conformance_has(TFRT_CONFORMANCE_GRAPHS)) {
    tfrt_conformance_expect_ok(status);
  } else {
    ck_assert_ptr_null(capture);
    tfrt_conformance_expect(status, TFRT_STATUS_UNIMPLEMENTED);
  }
  return capture;
}

// The graph (+1) of what |capture| (consumed) has captured.
static tfrt_device_graph_t* conformance_end_take(tfrt_device_stream_t* capture) {
  tfrt_device_graph_t* graph;
  tfrt_conformance_expect_ok(tfrt_device_capture_end(capture, &graph));
  tfrt_device_stream_release(capture);
  return graph;
}

START_TEST(a_graph_is_done_as_often_as_it_is_launched) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* capture = conformance_capture();
  if (!capture) return;
  tfrt_device_buffer_t* copy = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 7, 4));
  tfrt_conformance_increment(capture, t->buffer, COUNT);
  tfrt_conformance_increment(capture, t->buffer, COUNT);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(capture, copy, 0, t->buffer, 0, SIZE));
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(capture, t->buffer, 100, 4));
  tfrt_device_graph_t* graph = conformance_end_take(capture);
  tfrt_conformance_expect_all(t->stream, t->buffer, 7);
  tfrt_conformance_expect_ok(tfrt_device_graph_launch(graph, t->stream));
  tfrt_conformance_expect_all(t->stream, copy, 9);
  tfrt_conformance_expect_ok(tfrt_device_graph_launch(graph, t->stream));
  tfrt_conformance_increment(t->stream, copy, COUNT);
  tfrt_conformance_expect_all(t->stream, copy, 103);
  tfrt_conformance_expect_all(t->stream, t->buffer, 100);
  tfrt_device_graph_release(graph);
  tfrt_device_buffer_release(copy);
}
END_TEST

// The graph, its buffers and its function go while it is in the stream.
START_TEST(a_graph_keeps_what_it_needs) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* capture = conformance_capture();
  if (!capture) return;
  tfrt_device_stream_t* other = tfrt_conformance_stream(t->device);
  tfrt_device_buffer_t* buffer = tfrt_conformance_allocate(t->stream, SIZE);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, buffer, 0, 4));
  tfrt_conformance_increment(capture, buffer, COUNT);
  tfrt_conformance_expect_ok(tfrt_device_stream_copy(capture, t->host, 0, buffer, 0, SIZE));
  tfrt_device_graph_t* graph = conformance_end_take(capture);
  tfrt_device_buffer_release(buffer);
  tfrt_device_function_release(t->increment);
  t->increment = NULL;
  tfrt_conformance_expect_ok(tfrt_device_stream_join(other, t->stream));
  for (int i = 0; i < 20; ++i) tfrt_conformance_expect_ok(tfrt_device_graph_launch(graph, other));
  tfrt_device_graph_release(graph);
  tfrt_conformance_finish(other);
  const uint32_t* numbers = tfrt_device_buffer_host_data(t->host);
  for (uint32_t i = 0; i < COUNT; ++i) ck_assert_uint_eq(numbers[i], 20);
  tfrt_device_stream_release(other);
}
END_TEST

START_TEST(what_can_not_be_captured_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  const tfrt_status_code_t refused = TFRT_STATUS_FAILED_PRECONDITION;
  tfrt_device_graph_t* graph;
  tfrt_conformance_expect(tfrt_device_capture_end(t->stream, &graph), refused);
  tfrt_device_stream_t* capture = conformance_capture();
  if (!capture) return;
  tfrt_device_event_t* event = tfrt_conformance_event(t->device);
  tfrt_device_buffer_t* none;
  tfrt_conformance_expect(tfrt_device_stream_record(capture, event), refused);
  tfrt_conformance_expect(tfrt_device_stream_wait(capture, event), refused);
  tfrt_conformance_expect(tfrt_device_stream_join(capture, t->stream), refused);
  tfrt_conformance_expect(tfrt_device_allocator_allocate(t->allocator, capture, SIZE, &none),
                          refused);
  tfrt_conformance_expect(tfrt_device_buffer_free(t->buffer, capture), refused);
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 1, 4));
  tfrt_conformance_expect(tfrt_device_capture_end(capture, &graph), refused);
  ck_assert_ptr_null(graph);
  tfrt_conformance_expect(tfrt_device_capture_end(capture, &graph), refused);
  tfrt_conformance_expect(tfrt_device_stream_fill(capture, t->buffer, 1, 4), refused);
  tfrt_conformance_expect_all(t->stream, t->buffer, 1);
  tfrt_device_event_release(event);
  tfrt_device_stream_release(capture);
}
END_TEST

START_TEST(a_graph_with_a_freed_buffer_is_refused) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* capture = conformance_capture();
  if (!capture) return;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(capture, t->buffer, 1, 4));
  tfrt_device_graph_t* graph = conformance_end_take(capture);
  tfrt_conformance_expect_ok(tfrt_device_buffer_free(t->buffer, t->stream));
  tfrt_conformance_expect(tfrt_device_graph_launch(graph, t->stream),
                          TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_device_graph_release(graph);
}
END_TEST

START_TEST(a_capture_may_be_given_up) {
  tfrt_conformance_t* t = &tfrt_conformance;
  tfrt_device_stream_t* capture = conformance_capture();
  if (!capture) return;
  tfrt_conformance_expect_ok(tfrt_device_stream_fill(t->stream, t->buffer, 5, 4));
  tfrt_conformance_increment(capture, t->buffer, COUNT);
  tfrt_device_stream_release(capture);
  tfrt_conformance_expect_all(t->stream, t->buffer, 5);
}
END_TEST

TCase* tfrt_conformance_graphs_case(void) {
  TCase* graphs = tcase_create("graphs");
  tcase_add_checked_fixture(graphs, tfrt_conformance_set_up, tfrt_conformance_tear_down);
  tcase_add_test(graphs, a_graph_is_done_as_often_as_it_is_launched);
  tcase_add_test(graphs, a_graph_keeps_what_it_needs);
  tcase_add_test(graphs, what_can_not_be_captured_is_refused);
  tcase_add_test(graphs, a_graph_with_a_freed_buffer_is_refused);
  tcase_add_test(graphs, a_capture_may_be_given_up);
  return graphs;
}
