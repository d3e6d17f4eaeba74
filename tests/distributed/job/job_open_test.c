// SPDX-License-Identifier: Apache-2.0
//
// A client that sends frames by hand, right and wrong: what a host answers, and that its session
// goes on.
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job_attachment.h"
#include "distributed/host/node.h"
#include "tests/distributed/job/raw_client.h"
#include "tests/support/test_main.h"

#define OWN TFRT_RAW_CLIENT_INCARNATION
#define HOST TFRT_RAW_CLIENT_HOST

static tfrt_node_world_t world;

static tfrt_raw_client_t raw;

static void begin(void) { tfrt_raw_client_begin(&raw, &world); }

static void end(void) { tfrt_raw_client_end(&raw); }

static void send(const tfrt_wire_body_t* body, uint32_t handle) {
  tfrt_raw_client_send(&raw, body, handle, TFRT_TIME_INFINITE);
}

static void send_open(uint32_t handle, const uint64_t* incarnations, size_t count,
                      uint32_t first_rank, uint32_t root, int64_t deadline_ns) {
  tfrt_raw_client_open(&raw, handle, incarnations, count, first_rank, root, deadline_ns);
}

// The session is open, no job is, and the host has said why.
static void expect_refused(uint32_t code, const char* part) {
  ck_assert_str_eq(raw.said, "JobAttach JobOpened JobDetach");
  ck_assert_msg(strstr(raw.error, part), "no '%s' in '%s'", part, raw.error);
  ck_assert_uint_eq(raw.error_code, code);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
}

static void expect_opened_and_close(uint32_t handle) {
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  ck_assert_uint_eq(raw.error_code, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 1);
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, handle);
  ck_assert_str_eq(raw.said, "JobDetach");
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 0);
}

// --- Tests -------------------------------------------------------------------

START_TEST(a_job_that_makes_no_sense_is_refused_and_the_next_one_opened) {
  const uint64_t host = HOST;
  const uint64_t stranger = 0x5555;
  const uint64_t twice[] = {HOST, HOST};
  const uint64_t client_too[] = {HOST, OWN};
  begin();
  send_open(1, &stranger, 1, 0, 0, TFRT_TIME_INFINITE);
  expect_refused(TFRT_STATUS_INVALID_ARGUMENT, "this host is not in its view");
  send_open(2, &host, 1, 1, 0, TFRT_TIME_INFINITE);
  expect_refused(TFRT_STATUS_INVALID_ARGUMENT, "a rank is missing in its view");
  send_open(3, twice, 2, 0, 0, TFRT_TIME_INFINITE);
  expect_refused(TFRT_STATUS_INVALID_ARGUMENT, "a host is in its view twice");
  send_open(4, client_too, 2, 0, 0, TFRT_TIME_INFINITE);
  expect_refused(TFRT_STATUS_INVALID_ARGUMENT, "its client is also one of its hosts");
  send_open(5, &host, 1, 0, 0, 1);
  expect_refused(TFRT_STATUS_DEADLINE_EXCEEDED, "deadline has passed");
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 0);
  send_open(6, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  expect_opened_and_close(6);
  end();
}
END_TEST

START_TEST(late_frames_of_a_refused_job_are_dropped) {
  const uint64_t stranger = 0x5555;
  begin();
  send_open(1, &stranger, 1, 0, 0, TFRT_TIME_INFINITE);
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, 1);
  ck_assert_str_eq(raw.said, "");
  const tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH};
  send(&detach, 1);
  ck_assert_str_eq(raw.said, "");
  // The handle is free again.
  const uint64_t host = HOST;
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  expect_opened_and_close(1);
  end();
}
END_TEST

START_TEST(a_job_is_opened_once) {
  const uint64_t host = HOST;
  begin();
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  send_open(2, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  expect_refused(TFRT_STATUS_ALREADY_EXISTS, "open here already");
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 1);
  end();
}
END_TEST

// A client leaves its job, for the reason |error| if there is one; the host ends it with |code|.
static void leave_without_a_close(const tfrt_wire_error_t* error, uint32_t code, const char* part) {
  const uint64_t host = HOST;
  begin();
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  const tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH,
                                   .job_detach = {.error = error}};
  send(&detach, 1);
  ck_assert_str_eq(raw.said, "JobDetach");
  ck_assert_uint_eq(raw.error_code, code);
  ck_assert_msg(strstr(raw.error, part), "no '%s' in '%s'", part, raw.error);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 0);
  // Handle and job are free again.
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  expect_opened_and_close(1);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  end();
}

// Nobody else could end it: the client's handle of it means nothing any more.
START_TEST(a_job_that_its_client_leaves_without_a_close_is_closed) {
  leave_without_a_close(NULL, TFRT_STATUS_CANCELLED, "the client has left the job");
  const tfrt_wire_error_t late = {.code = TFRT_STATUS_DEADLINE_EXCEEDED,
                                  .message = tfrt_string_view_of("too late")};
  leave_without_a_close(&late, TFRT_STATUS_DEADLINE_EXCEEDED, "too late");
}
END_TEST

START_TEST(a_handle_that_is_taken_ends_the_session) {
  const uint64_t stranger = 0x5555;
  begin();
  send_open(1, &stranger, 1, 0, 0, TFRT_TIME_INFINITE);
  send_open(1, &stranger, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "PROTOCOL");
  end();
}
END_TEST

START_TEST(a_wrong_proof_ends_the_session_and_the_job_of_its_client) {
  const uint64_t host = HOST;
  begin();
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 1);
  const char proof[TFRT_WIRE_PROOF_SIZE] = "guessed";
  const tfrt_wire_body_t attach = {
      .kind = TFRT_WIRE_FRAME_JOB_ATTACH,
      .job_attach = {.handle = 2,
                     .job_id = tfrt_string_view_make(raw.job_id, sizeof(raw.job_id)),
                     .proof = tfrt_string_view_make(proof, sizeof(proof))}};
  send(&attach, 0);
  ck_assert_str_eq(raw.said, "PROTOCOL");
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 0);
  end();
}
END_TEST

// The |number|th Want, of the call |call| that |namer| may have named.
static void send_want(uint64_t number, uint64_t namer, uint64_t call) {
  const tfrt_wire_body_t want = {
      .kind = TFRT_WIRE_FRAME_WANT,
      .want = {
          .want = number, .id = {.namer = namer, .number = call}, .level = TFRT_WIRE_WANT_VALUE}};
  send(&want, 1);
}

static uint64_t want_count(void) { return tfrt_node_counts(world.hosts[0].node).incoming_wants; }

// No placeholder for a value that nobody makes: the host waits only for hosts that may still
// promise it.
START_TEST(what_was_never_promised_is_not_waited_for) {
  const uint64_t host = HOST;
  begin();
  send_open(1, &host, 1, 0, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  // An owner knows its own names, and a stranger has none.
  send_want(1, HOST, 9);
  ck_assert_str_eq(raw.said, "Resolve");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_NOT_FOUND);
  send_want(2, 0x5555, 9);
  ck_assert_str_eq(raw.said, "Resolve");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_NOT_FOUND);
  // We might still promise it, until the host has a sign of life of ours that was sent later.
  send_want(3, OWN, 9);
  ck_assert_str_eq(raw.said, "");
  ck_assert_uint_eq(want_count(), 1);
  tfrt_node_world_run_for(&world, 3 * TFRT_NODE_WORLD_SECOND);
  ck_assert_str_eq(raw.said, "Resolve");
  ck_assert_uint_eq(raw.error_code, TFRT_STATUS_NOT_FOUND);
  ck_assert_uint_eq(want_count(), 0);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, 1);
  end();
}
END_TEST

// --- Jobs that only ask ------------------------------------------------------

static void configure_one_job(uint32_t index, tfrt_node_options_t* options) {
  if (index == 0) options->max_jobs = 1;
}

// Opens the job |number|, under that handle.
static void open_numbered(uint32_t number, bool asks_only) {
  const uint64_t host = HOST;
  snprintf(raw.job_id, sizeof(raw.job_id), "job %u", number);
  raw.asks_only = asks_only;
  send_open(number, &host, 1, 0, 0, TFRT_TIME_INFINITE);
}

static void close_numbered(uint32_t number) {
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, number);
  ck_assert_str_eq(raw.said, "JobDetach");
}

START_TEST(who_asks_is_answered_by_a_full_host_and_takes_no_room_of_others) {
  tfrt_node_world_set_configure(configure_one_job);
  begin();
  open_numbered(1, true);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  open_numbered(2, false);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  ck_assert_uint_eq(raw.error_code, 0);
  open_numbered(3, false);
  expect_refused(TFRT_STATUS_RESOURCE_EXHAUSTED, "it has 1 job and takes no more");
  open_numbered(4, true);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  ck_assert_uint_eq(raw.error_code, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 3);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).running_jobs, 1);
  end();
}
END_TEST

START_TEST(one_client_has_only_so_many_jobs_that_ask) {
  begin();
  for (uint32_t number = 1; number <= 64; ++number) {
    open_numbered(number, true);
    ck_assert_str_eq(raw.said, "JobAttach JobOpened");
    ck_assert_uint_eq(raw.error_code, 0);
  }
  const uint32_t handle = raw.host_handle;
  open_numbered(65, true);
  expect_refused(TFRT_STATUS_RESOURCE_EXHAUSTED,
                 "its client has 64 jobs here that only ask and can have no more; close one of "
                 "them");
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 64);
  // Another one may be opened when one is closed, and those that run are counted apart.
  open_numbered(66, false);
  ck_assert_uint_eq(raw.error_code, 0);
  raw.host_handle = handle;
  close_numbered(64);
  open_numbered(67, true);
  ck_assert_uint_eq(raw.error_code, 0);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).jobs, 65);
  end();
}
END_TEST

// --- Handles -----------------------------------------------------------------

// Has the host be told that |handle| is that of a job which it doesn't know.
static void post_attach(uint32_t handle) {
  const char proof[TFRT_WIRE_PROOF_SIZE] = "of nothing";
  const tfrt_wire_body_t attach = {
      .kind = TFRT_WIRE_FRAME_JOB_ATTACH,
      .job_attach = {.handle = handle,
                     .job_id = tfrt_string_view_make(raw.job_id, sizeof(raw.job_id)),
                     .proof = tfrt_string_view_make(proof, sizeof(proof))}};
  tfrt_raw_client_post(&raw, &attach, 0, TFRT_TIME_INFINITE);
}

static size_t gone_count(void) {
  return tfrt_hash_table_count(&tfrt_peer_find(world.hosts[0].node, OWN)->gone_handles);
}

START_TEST(a_peer_has_only_so_many_handles_of_jobs_that_are_over) {
  begin();
  for (uint32_t handle = 1; handle <= TFRT_JOB_ATTACHMENT_MAX_GONE; ++handle) {
    post_attach(handle);
    if (handle % 4096 == 0) tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  }
  ck_assert_uint_eq(gone_count(), TFRT_JOB_ATTACHMENT_MAX_GONE);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  // The host drops frames under a retired number; a retired number makes room for another.
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, 4711);
  const tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH};
  send(&detach, 4711);
  ck_assert_uint_eq(gone_count(), TFRT_JOB_ATTACHMENT_MAX_GONE - 1);
  post_attach(4711);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_int_eq(tfrt_session_state(raw.session), TFRT_SESSION_OPEN);
  post_attach(TFRT_JOB_ATTACHMENT_MAX_GONE + 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  ck_assert_str_eq(raw.said, "PROTOCOL");
  end();
}
END_TEST

// Jobs that end while the client keeps their handles leave no more than that.
START_TEST(the_handle_of_a_job_that_has_ended_is_bound_until_it_is_retired) {
  begin();
  open_numbered(1, false);
  close_numbered(1);
  ck_assert_uint_eq(gone_count(), 1);
  ck_assert(tfrt_list_is_empty(&tfrt_peer_find(world.hosts[0].node, OWN)->jobs));
  const tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH};
  send(&detach, 1);
  ck_assert_uint_eq(gone_count(), 0);
  open_numbered(1, false);
  ck_assert_str_eq(raw.said, "JobAttach JobOpened");
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* opening = tcase_create("opening");
  tcase_add_test(opening, a_job_that_makes_no_sense_is_refused_and_the_next_one_opened);
  tcase_add_test(opening, late_frames_of_a_refused_job_are_dropped);
  tcase_add_test(opening, a_job_is_opened_once);
  tcase_add_test(opening, a_job_that_its_client_leaves_without_a_close_is_closed);
  tcase_add_test(opening, a_handle_that_is_taken_ends_the_session);
  tcase_add_test(opening, a_wrong_proof_ends_the_session_and_the_job_of_its_client);
  tcase_add_test(opening, what_was_never_promised_is_not_waited_for);
  tcase_add_test(opening, who_asks_is_answered_by_a_full_host_and_takes_no_room_of_others);
  tcase_add_test(opening, one_client_has_only_so_many_jobs_that_ask);
  tcase_set_timeout(opening, 60);
  tcase_add_test(opening, a_peer_has_only_so_many_handles_of_jobs_that_are_over);
  tcase_add_test(opening, the_handle_of_a_job_that_has_ended_is_bound_until_it_is_retired);
  Suite* suite = suite_create("opening");
  suite_add_tcase(suite, opening);
  return suite;
}
