// SPDX-License-Identifier: Apache-2.0
//
// Calls that a host takes and doesn't run, from a client that sends them by hand: what is kept of
// them, and for how long.
#include "distributed/value/object_name.h"

#include <stdio.h>
#include <string.h>

#include "distributed/host/node.h"
#include "tests/distributed/job/raw_client.h"
#include "tests/support/test_main.h"

#define OWN TFRT_RAW_CLIENT_INCARNATION
#define HANDLE 1

static tfrt_node_world_t world;
static tfrt_raw_client_t raw;
static uint64_t next_call;
static uint64_t next_want;

static void send(const tfrt_wire_body_t* body) {
  tfrt_raw_client_send(&raw, body, HANDLE, TFRT_TIME_INFINITE);
}

// Opens a job that may have |objects| values; 0: any number.
static void begin(uint32_t objects) {
  const uint64_t host = TFRT_RAW_CLIENT_HOST;
  tfrt_raw_client_begin(&raw, &world);
  raw.budgets.objects = objects;
  next_call = next_want = 1;
  tfrt_raw_client_open(&raw, HANDLE, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
}

static void end(void) { tfrt_raw_client_end(&raw); }

// Gives up the next call, with |result_count| results.
static void give_up(uint32_t result_count) {
  char message[64];
  snprintf(message, sizeof(message), "call %u was given up", (unsigned)next_call);
  const tfrt_wire_error_t error = {.code = TFRT_STATUS_ABORTED,
                                   .message = tfrt_string_view_of(message)};
  const tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_VOID,
      .void_call = {.call = next_call++, .result_count = result_count, .error = &error}};
  send(&body);
  ck_assert_str_eq(raw.said, "");
}

static void want(uint64_t call, uint32_t index, uint32_t code, const char* message) {
  const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_WANT,
                                 .want = {.want = next_want++,
                                          .id = {.namer = OWN, .number = call, .index = index},
                                          .level = TFRT_WIRE_WANT_VALUE}};
  send(&body);
  ck_assert_str_eq(raw.said, "Resolve");
  ck_assert_msg(strstr(raw.error, message), "no '%s' in '%s'", message, raw.error);
  ck_assert_uint_eq(raw.error_code, code);
}

static void give_back(uint64_t call, uint32_t first_index, uint32_t count) {
  const tfrt_wire_object_range_t range = {.namer = OWN,
                                          .first_number = call,
                                          .number_count = 1,
                                          .first_index = first_index,
                                          .index_count = count};
  const tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RELEASE,
                                 .release = {.ranges = &range, .range_count = 1}};
  send(&body);
}

static size_t kept_count(void) {
  const tfrt_peer_t* peer = tfrt_peer_find(world.hosts[0].node, OWN);
  return tfrt_hash_table_count(&peer->failed_calls);
}

static uint64_t object_count(void) { return tfrt_node_counts(world.hosts[0].node).objects; }

START_TEST(all_results_of_a_call_that_was_given_up_are_one_error) {
  begin(0);
  for (int i = 0; i < 99; ++i) give_up(64);
  give_up(4096);
  ck_assert_uint_eq(object_count(), 0);
  ck_assert_uint_eq(kept_count(), 100);
  want(1, 0, TFRT_STATUS_ABORTED, "call 1 was given up");
  want(100, 4095, TFRT_STATUS_ABORTED, "call 100 was given up");
  want(100, 4096, TFRT_STATUS_NOT_FOUND, "already released a result");
  const tfrt_wire_object_id_t id = {.namer = OWN, .number = 100, .index = 7};
  const tfrt_wire_body_t retain = {.kind = TFRT_WIRE_FRAME_RETAIN,
                                   .retain = {.ids = &id, .id_count = 1}};
  send(&retain);
  ck_assert_str_eq(raw.said, "Retained");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_ABORTED);
  end();
}
END_TEST

START_TEST(it_is_forgotten_when_all_its_names_are_given_back) {
  begin(0);
  give_up(10);
  give_up(0);
  ck_assert_uint_eq(kept_count(), 1);
  give_back(1, 0, 9);
  want(1, 9, TFRT_STATUS_ABORTED, "call 1 was given up");
  give_back(1, 9, 1);
  ck_assert_uint_eq(kept_count(), 0);
  want(1, 9, TFRT_STATUS_NOT_FOUND, "already released a result");
  // Once more is nothing.
  give_back(1, 9, 1);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  end();
}
END_TEST

START_TEST(a_call_that_is_refused_is_one_error_too) {
  begin(0);
  const tfrt_wire_body_t invoke = {
      .kind = TFRT_WIRE_FRAME_INVOKE,
      .invoke = {.call = next_call++, .program = 9, .result_count = 4096}};
  send(&invoke);
  // This many results surely don't fit into one message.
  ck_assert_str_eq(raw.said, "Result Result Result");
  ck_assert_uint_eq(object_count(), 0);
  want(1, 4095, TFRT_STATUS_NOT_FOUND, "the program 9 was not announced");
  end();
}
END_TEST

// The job is closed for a long reason, and the call comes behind that: it is refused with it, as
// another call keeps the job here until it has answered, too.
START_TEST(a_refusal_may_be_longer_than_a_message) {
  char reason[1001];
  memset(reason, 'x', sizeof(reason) - 1);
  reason[sizeof(reason) - 1] = '\0';
  begin(0);
  const tfrt_wire_item_t ours = {
      .kind = TFRT_WIRE_ITEM_REFERENCE,
      .reference = {
          .id = {.namer = OWN, .number = 1}, .owner = OWN, .owner_rank = TFRT_WIRE_NO_RANK}};
  const tfrt_wire_body_t copy = {.kind = TFRT_WIRE_FRAME_INVOKE,
                                 .invoke = {.call = next_call++,
                                            .function = TFRT_WIRE_BUILTIN_COPY,
                                            .arguments = &ours,
                                            .argument_count = 1,
                                            .result_count = 1}};
  send(&copy);
  ck_assert_str_eq(raw.said, "Want");
  const tfrt_wire_error_t error = {.code = TFRT_STATUS_DATA_LOSS,
                                   .message = tfrt_string_view_of(reason)};
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE,
                                  .job_close = {.error = &error}};
  const tfrt_wire_body_t invoke = {
      .kind = TFRT_WIRE_FRAME_INVOKE,
      .invoke = {.call = next_call++, .program = 9, .result_count = 4096}};
  // While this frame is written, the two behind it wait, and go in one batch.
  const tfrt_wire_body_t nothing = {.kind = TFRT_WIRE_FRAME_HURRY, .hurry = {.call = 1}};
  tfrt_raw_client_post(&raw, &nothing, HANDLE, TFRT_TIME_INFINITE);
  tfrt_raw_client_post(&raw, &close, HANDLE, TFRT_TIME_INFINITE);
  send(&invoke);
  ck_assert_msg(strstr(raw.said, "Result Result"), "%s", raw.said);
  ck_assert_msg(strstr(raw.said, "JobDetach"), "%s", raw.said);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  end();
}
END_TEST

START_TEST(of_a_job_no_more_are_kept_than_it_may_have_values) {
  begin(3);
  for (int i = 0; i < 5; ++i) give_up(2);
  ck_assert_uint_eq(kept_count(), 3);
  want(3, 1, TFRT_STATUS_ABORTED, "call 3 was given up");
  want(4, 1, TFRT_STATUS_RESOURCE_EXHAUSTED, "whose error is not known any more");
  give_back(2, 0, 2);
  give_up(2);
  want(6, 0, TFRT_STATUS_ABORTED, "call 6 was given up");
  ck_assert_uint_eq(kept_count(), 3);
  // The job's end is that of all of them.
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close);
  ck_assert_uint_eq(kept_count(), 0);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* failed = tcase_create("failed");
  tcase_add_test(failed, all_results_of_a_call_that_was_given_up_are_one_error);
  tcase_add_test(failed, it_is_forgotten_when_all_its_names_are_given_back);
  tcase_add_test(failed, a_call_that_is_refused_is_one_error_too);
  tcase_add_test(failed, a_refusal_may_be_longer_than_a_message);
  tcase_add_test(failed, of_a_job_no_more_are_kept_than_it_may_have_values);
  Suite* suite = suite_create("failed calls");
  suite_add_tcase(suite, failed);
  return suite;
}
