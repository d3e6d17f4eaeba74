// SPDX-License-Identifier: Apache-2.0
//
// Spans as versions before FEATURE_ASK send them (tracing.h).
#include "distributed/service/tracing.h"

#include <check.h>
#include <string.h>

#include "tests/support/test_main.h"

static tfrt_trace_t* make_trace(size_t limit) {
  tfrt_trace_t* trace = NULL;
  ck_assert_ptr_null(tfrt_trace_create(limit, tfrt_allocator_system(), &trace));
  return trace;
}

static void append(const tfrt_wire_answer_part_t* part, tfrt_string_builder_t* out) {
  ck_assert_ptr_null(tfrt_wire_answer_append(part, out));
}

// An image with |count| spans, made at |clock_ns|, where |dropped| others had no room.
static void make_image(size_t count, uint64_t clock_ns, uint64_t dropped,
                       tfrt_string_builder_t* out) {
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, tfrt_allocator_system());
  tfrt_string_builder_initialize(out, tfrt_allocator_system());
  append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_CLOCK,
                                    .clock = {.clock_ns = clock_ns, .dropped = dropped}},
         &parts);
  for (size_t i = 0; i < count; ++i) {
    const char* name = i % 2 ? "tfrt.add.i32" : "";
    append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_SPAN,
                                      .span = {.begin_ns = (uint64_t)(-5 + (int64_t)i),
                                               .end_ns = i,
                                               .request = 1000 + i,
                                               .category = tfrt_string_view_of("kernel"),
                                               .name = tfrt_string_view_of(name)}},
           &parts);
  }
  ck_assert_ptr_null(tfrt_trace_answerer.write_plain(tfrt_string_builder_view(&parts), out));
  tfrt_string_builder_deinitialize(&parts);
}

START_TEST(what_is_read_is_what_was_there) {
  tfrt_string_builder_t image;
  make_image(150, 123456789012345, 50, &image);
  tfrt_trace_t* read = make_trace(1000);
  int64_t clock = 0;
  uint64_t dropped = 0;
  ck_assert_ptr_null(tfrt_tracing_read(TFRT_ANSWER_TRACE, tfrt_string_builder_view(&image), read,
                                       &clock, &dropped));
  ck_assert_int_eq(clock, 123456789012345);
  ck_assert_uint_eq(dropped, 50);
  static tfrt_trace_span_t spans[1000];
  ck_assert_uint_eq(tfrt_trace_read(read, 0, spans, 1000), 150);
  ck_assert_int_eq(spans[149].begin_ns, 144);
  ck_assert_int_eq(spans[149].end_ns, 149);
  ck_assert_uint_eq(spans[149].request, 1149);
  ck_assert_str_eq(spans[149].name, "tfrt.add.i32");
  ck_assert_str_eq(spans[148].name, "");
  ck_assert_str_eq(spans[0].category, "kernel");
  tfrt_trace_release(read);
  tfrt_string_builder_deinitialize(&image);
}
END_TEST

START_TEST(no_trace_is_an_image_without_spans) {
  tfrt_string_builder_t image;
  make_image(0, 7, 0, &image);
  tfrt_trace_t* read = make_trace(10);
  int64_t clock = 0;
  uint64_t dropped = 1;
  ck_assert_ptr_null(tfrt_tracing_read(TFRT_ANSWER_TRACE, tfrt_string_builder_view(&image), read,
                                       &clock, &dropped));
  ck_assert_int_eq(clock, 7);
  ck_assert_uint_eq(dropped, 0);
  tfrt_trace_span_t span;
  ck_assert_uint_eq(tfrt_trace_read(read, 0, &span, 1), 0);
  tfrt_trace_release(read);
  tfrt_string_builder_deinitialize(&image);
}
END_TEST

// Each length but those that end between two spans.
START_TEST(a_cut_image_is_an_error) {
  tfrt_string_builder_t image;
  make_image(3, 1, 0, &image);
  size_t good_lengths = 0;
  tfrt_string_view_t whole = tfrt_string_builder_view(&image);
  for (size_t size = 0; size < whole.size; ++size) {
    tfrt_trace_t* read = make_trace(10);
    int64_t clock;
    uint64_t dropped;
    tfrt_status_t status = tfrt_tracing_read(
        TFRT_ANSWER_TRACE, tfrt_string_view_make(whole.data, size), read, &clock, &dropped);
    if (!status) ++good_lengths;
    if (status) ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_status_release(status);
    tfrt_trace_release(read);
  }
  // Behind the head, the first span and the second one.
  ck_assert_uint_eq(good_lengths, 3);
  tfrt_string_builder_deinitialize(&image);
}
END_TEST

START_TEST(texts_that_would_not_fit_are_an_error) {
  tfrt_string_builder_t image;
  make_image(1, 1, 0, &image);
  // The size of the category, then that of the name.
  for (size_t at = 16 + 28; at < 16 + 30; ++at) {
    char bytes[128];
    memset(bytes, 'x', sizeof(bytes));
    memcpy(bytes, image.data, image.size);
    bytes[at] = 64;
    tfrt_trace_t* read = make_trace(10);
    int64_t clock;
    uint64_t dropped;
    tfrt_status_t status = tfrt_tracing_read(
        TFRT_ANSWER_TRACE, tfrt_string_view_make(bytes, sizeof(bytes)), read, &clock, &dropped);
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "damaged at byte 46 of 128"));
    tfrt_status_release(status);
    tfrt_trace_release(read);
  }
  tfrt_string_builder_deinitialize(&image);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("plain_trace");
  TCase* tests = tcase_create("plain_trace");
  tcase_add_test(tests, what_is_read_is_what_was_there);
  tcase_add_test(tests, no_trace_is_an_image_without_spans);
  tcase_add_test(tests, a_cut_image_is_an_error);
  tcase_add_test(tests, texts_that_would_not_fit_are_an_error);
  suite_add_tcase(suite, tests);
  return suite;
}
