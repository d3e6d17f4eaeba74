// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/batch.h"

#include <string.h>

#include "tests/distributed/wire/samples.h"
#include "tests/support/test_main.h"

static tfrt_arena_t arena;
static tfrt_string_builder_t builder;

static void set_up(void) {
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&builder);
  tfrt_arena_deinitialize(&arena);
}

static void assert_refused(const tfrt_wire_batch_t* batch, const char* beginning) {
  tfrt_status_t status = tfrt_wire_batch_encode(batch, &builder);
  ck_assert_msg(status != NULL, "no error, expected: %s", beginning);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  const char* message = tfrt_status_message(status);
  ck_assert_msg(strncmp(message, beginning, strlen(beginning)) == 0, "\"%s\"", message);
  tfrt_status_release(status);
  ck_assert_uint_eq(builder.size, 0);
}

static tfrt_wire_batch_t batch_of(const tfrt_wire_frame_t* frames, size_t count, uint64_t seq) {
  return (tfrt_wire_batch_t){.version = 1,
                             .from_incarnation = 1,
                             .to_incarnation = 2,
                             .session = 1,
                             .first_seq = seq,
                             .frames = frames,
                             .frame_count = count};
}

START_TEST(every_field_of_a_batch_arrives) {
  const tfrt_wire_batch_t* sent = &tfrt_wire_sample_batches[2];
  ck_assert_ptr_null(tfrt_wire_batch_encode(sent, &builder));
  tfrt_wire_batch_t got;
  ck_assert_ptr_null(tfrt_wire_batch_decode(tfrt_string_builder_view(&builder), &arena, &got));
  ck_assert_uint_eq(got.version, sent->version);
  ck_assert(got.from_incarnation == sent->from_incarnation);
  ck_assert(got.to_incarnation == sent->to_incarnation);
  ck_assert_uint_eq(got.session, sent->session);
  ck_assert_uint_eq(got.first_seq, sent->first_seq);
  ck_assert(got.ack == sent->ack);
  ck_assert_uint_eq(got.call_limit, sent->call_limit);
  ck_assert_uint_eq(got.want_limit, sent->want_limit);
  ck_assert_uint_eq(got.age_us, sent->age_us);
  ck_assert(got.heartbeat->clock_us == sent->heartbeat->clock_us);
  ck_assert_uint_eq(got.heartbeat->oldest->location.line, 4);
  ck_assert_uint_eq(got.frame_count, sent->frame_count);
  const tfrt_wire_frame_t* frame = &got.frames[0];
  ck_assert_uint_eq(frame->kind, TFRT_WIRE_FRAME_INVOKE);
  ck_assert_uint_eq(frame->request, 5);
  ck_assert(frame->has_budget);
  ck_assert_uint_eq(frame->budget_us, 2500000);
  ck_assert_uint_eq(frame->trace->span_id, 3);
  ck_assert_ptr_null(got.frames[1].trace);
  ck_assert(!got.frames[1].has_budget);
  ck_assert_uint_eq(got.frames[4].kind, 1002);
}
END_TEST

START_TEST(bodies_stay_in_the_message_and_are_decoded_from_there) {
  ck_assert_ptr_null(tfrt_wire_batch_encode(&tfrt_wire_sample_batches[2], &builder));
  tfrt_wire_batch_t batch;
  ck_assert_ptr_null(tfrt_wire_batch_decode(tfrt_string_builder_view(&builder), &arena, &batch));
  const tfrt_wire_frame_t* frame = &batch.frames[1];
  ck_assert(frame->body.data > builder.data && frame->body.data < builder.data + builder.size);
  tfrt_wire_body_t body;
  ck_assert_ptr_null(tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body));
  ck_assert_uint_eq(body.kind, TFRT_WIRE_FRAME_UNWANT);
  ck_assert_uint_eq(body.unwant.want, 11);
}
END_TEST

START_TEST(a_sender_can_add_up_the_sizes_of_frames) {
  tfrt_wire_batch_t batch = tfrt_wire_sample_batches[2];
  ck_assert_ptr_null(tfrt_wire_batch_encode(&batch, &builder));
  size_t expected = builder.size;
  for (size_t i = 0; i < batch.frame_count; ++i) {
    expected -= tfrt_wire_frame_encoded_size(&batch.frames[i]);
  }
  batch.frame_count = 0;
  tfrt_string_builder_clear(&builder);
  ck_assert_ptr_null(tfrt_wire_batch_encode(&batch, &builder));
  ck_assert_uint_eq(builder.size, expected);
}
END_TEST

START_TEST(a_batch_says_who_speaks_and_in_which_session) {
  tfrt_wire_batch_t batch = batch_of(NULL, 0, 0);
  batch.version = 0;
  assert_refused(&batch, "Batch.version: missing, or 0");
  batch = batch_of(NULL, 0, 0);
  batch.from_incarnation = 0;
  assert_refused(&batch, "Batch.from_incarnation: missing, or 0");
  batch = batch_of(NULL, 0, 0);
  batch.session = 0;
  assert_refused(&batch, "Batch.session: missing, or 0");
  batch = batch_of(NULL, 0, 0);
  batch.to_incarnation = 0;
  assert_refused(&batch, "Batch.to_incarnation: 0 is allowed beside a Hello only");
}
END_TEST

START_TEST(a_handshake_stands_alone_and_has_no_number) {
  tfrt_wire_frame_t frames[] = {{.kind = TFRT_WIRE_FRAME_WELCOME},
                                {.kind = TFRT_WIRE_FRAME_GOODBYE}};
  tfrt_wire_batch_t numbered = batch_of(frames, 1, 5);
  assert_refused(&numbered, "Batch.first_seq: a number beside a Welcome");
  tfrt_wire_batch_t unnumbered = batch_of(&frames[1], 1, 0);
  assert_refused(&unnumbered, "Batch.first_seq: 0 beside a Goodbye");
  tfrt_wire_batch_t mixed = batch_of(frames, 2, 0);
  assert_refused(&mixed, "Batch.first_seq: 0 beside a Goodbye");
  frames[1].kind = TFRT_WIRE_FRAME_WELCOME;
  assert_refused(&mixed, "Batch.frames: a Welcome must be the only frame");
}
END_TEST

START_TEST(numbers_of_frames_do_not_wrap) {
  tfrt_wire_batch_t batch = batch_of(NULL, 0, UINT64_MAX);
  assert_refused(&batch, "Batch.first_seq: the numbers have run out");
}
END_TEST

START_TEST(a_frame_has_a_job_exactly_if_its_kind_needs_one) {
  tfrt_wire_frame_t frame = {.kind = TFRT_WIRE_FRAME_INVOKE};
  tfrt_wire_batch_t batch = batch_of(&frame, 1, 1);
  assert_refused(&batch, "Batch.frames: Frame.job: 0, but Invoke needs a job");
  frame = (tfrt_wire_frame_t){.kind = TFRT_WIRE_FRAME_JOB_ATTACH, .job = 1};
  assert_refused(&batch, "Batch.frames: Frame.job: 1, but JobAttach belongs to no job");
  frame = (tfrt_wire_frame_t){.job = 1};
  assert_refused(&batch, "Batch.frames: Frame.kind: missing, or 0");
}
END_TEST

START_TEST(a_batch_above_a_mebibyte_is_refused) {
  size_t size = TFRT_WIRE_MAX_BATCH_SIZE - 16;
  char* body = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  tfrt_wire_frame_t frame = {.kind = 1001, .job = 1, .body = {body, size}};
  tfrt_wire_batch_t batch = batch_of(&frame, 1, 1);
  assert_refused(&batch, "Batch: 10485");
  frame.body.size = size - 64;
  ck_assert_ptr_null(tfrt_wire_batch_encode(&batch, &builder));
  // A stranger may still send one: padded with a field that nobody knows.
  tfrt_string_builder_append(&builder, "\xc2\x3e\x80\x01", 4);
  tfrt_string_builder_append_fill(&builder, 0, 128);
  tfrt_wire_batch_t got;
  tfrt_status_t status = tfrt_wire_batch_decode(tfrt_string_builder_view(&builder), &arena, &got);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
  tfrt_allocator_free(tfrt_allocator_system(), body, size);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* batch = tcase_create("batch");
  tcase_add_checked_fixture(batch, set_up, tear_down);
  tcase_add_test(batch, every_field_of_a_batch_arrives);
  tcase_add_test(batch, bodies_stay_in_the_message_and_are_decoded_from_there);
  tcase_add_test(batch, a_sender_can_add_up_the_sizes_of_frames);
  tcase_add_test(batch, a_batch_says_who_speaks_and_in_which_session);
  tcase_add_test(batch, a_handshake_stands_alone_and_has_no_number);
  tcase_add_test(batch, numbers_of_frames_do_not_wrap);
  tcase_add_test(batch, a_frame_has_a_job_exactly_if_its_kind_needs_one);
  tcase_add_test(batch, a_batch_above_a_mebibyte_is_refused);
  Suite* suite = suite_create("batch");
  suite_add_tcase(suite, batch);
  return suite;
}
