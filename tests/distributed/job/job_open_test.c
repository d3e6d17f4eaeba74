// SPDX-License-Identifier: Apache-2.0
//
// A client that sends frames by hand, right and wrong: what a host answers, and that its session
// goes on.
#include <stdio.h>
#include <string.h>

#include "distributed/security/digest.h"
#include "distributed/session/session_manager.h"
#include "distributed/threads/node_lock.h"
#include "distributed/wire/body.h"
#include "host_runtime/base/arena.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

#define OWN UINT64_C(0x7777)
#define HOST UINT64_C(0x1000)

static tfrt_node_world_t world;

// What plays the client.
static struct {
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_node_lock_t lock;
  tfrt_session_handler_t handler;
  tfrt_session_manager_t* manager;
  tfrt_session_t* session;
  char said[512];  // what the host sent, one word each
  char error[512];
  uint32_t error_code;
  uint32_t host_handle;
} raw;

static const char job_id[TFRT_WIRE_JOB_ID_SIZE] = "job";
static const char job_key[TFRT_WIRE_KEY_SIZE] = "secret";

// --- The client's process ----------------------------------------------------

static void say(const char* word) {
  size_t used = strlen(raw.said);
  snprintf(raw.said + used, sizeof(raw.said) - used, "%s%s", used > 0 ? " " : "", word);
}

static void on_session(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

// The host's proof that it has the key of the job.
static void check_proof(const tfrt_wire_job_attach_t* attach, uint32_t session) {
  uint8_t said[8 + 8 + 4 + TFRT_WIRE_JOB_ID_SIZE];
  for (size_t i = 0; i < 8; ++i) said[i] = (uint8_t)(HOST >> (8 * i));
  for (size_t i = 0; i < 8; ++i) said[8 + i] = (uint8_t)(OWN >> (8 * i));
  for (size_t i = 0; i < 4; ++i) said[16 + i] = (uint8_t)(session >> (8 * i));
  memcpy(said + 20, job_id, sizeof(job_id));
  uint8_t proof[TFRT_WIRE_PROOF_SIZE];
  ck_assert_ptr_null(tfrt_hmac_sha256(tfrt_string_view_make(job_key, sizeof(job_key)),
                                      tfrt_string_view_make((const char*)said, sizeof(said)),
                                      proof));
  ck_assert(
      tfrt_digest_equal(attach->proof, tfrt_string_view_make((const char*)proof, sizeof(proof))));
}

static void take_body(tfrt_session_t* session, const tfrt_wire_frame_t* frame,
                      const tfrt_wire_body_t* body) {
  say(tfrt_wire_frame_kind_name(frame->kind));
  if (frame->kind == TFRT_WIRE_FRAME_JOB_ATTACH) {
    check_proof(&body->job_attach, tfrt_session_number(session));
    raw.host_handle = body->job_attach.handle;
    return;
  }
  ck_assert_uint_eq(frame->job, raw.host_handle);
  const tfrt_wire_error_t* error = NULL;
  if (frame->kind == TFRT_WIRE_FRAME_JOB_OPENED) error = body->job_opened.error;
  if (frame->kind == TFRT_WIRE_FRAME_JOB_DETACH) error = body->job_detach.error;
  if (frame->kind == TFRT_WIRE_FRAME_RESOLVE && body->resolve.item.kind == TFRT_WIRE_ITEM_ERROR) {
    error = body->resolve.item.error;
  }
  if (!error) return;
  raw.error_code = error->code;
  snprintf(raw.error, sizeof(raw.error), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(error->message));
}

static tfrt_status_t on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  (void)handler;
  (void)deadline_ns;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  ck_assert_ptr_null(tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body));
  take_body(session, frame, &body);
  tfrt_arena_deinitialize(&arena);
  return NULL;
}

static void on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                    tfrt_session_death_t death, tfrt_status_t status) {
  (void)handler;
  (void)session;
  (void)status;
  say(tfrt_session_death_name(death));
}

static void fill_batch(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

static void fill_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                           tfrt_wire_heartbeat_t* heartbeat) {
  (void)handler;
  (void)session;
  (void)heartbeat;
}

static void on_heartbeat(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         const tfrt_wire_heartbeat_t* heartbeat) {
  (void)handler;
  (void)session;
  (void)heartbeat;
}

static void on_suspected(tfrt_session_handler_t* handler, tfrt_session_t* session, bool is_so) {
  (void)handler;
  (void)session;
  (void)is_so;
}

static void on_starved(tfrt_session_handler_t* handler, tfrt_session_t* session, uint64_t call,
                       uint64_t want) {
  (void)handler;
  (void)session;
  (void)call;
  (void)want;
}

static void on_refused(tfrt_session_handler_t* handler, tfrt_status_t status, uint64_t untold) {
  (void)handler;
  (void)status;
  (void)untold;
}

static const tfrt_session_handler_vtable_t handler_vtable = {
    .on_opened = on_session,
    .on_frame = on_frame,
    .on_refused = on_refused,
    .on_draining = on_session,
    .on_dead = on_dead,
    .fill_batch = fill_batch,
    .fill_heartbeat = fill_heartbeat,
    .on_heartbeat = on_heartbeat,
    .on_suspected = on_suspected,
    .on_starved = on_starved,
    .on_wake = on_session,
};

static void begin(void) {
  tfrt_node_world_initialize(&world, 1, NULL);
  tfrt_job_drop_client(&world);
  memset(&raw, 0, sizeof(raw));
  raw.endpoint = tfrt_simulated_network_add_endpoint(world.network, "raw");
  raw.handler.vtable = &handler_vtable;
  tfrt_node_lock_initialize(&raw.lock);
  tfrt_session_options_t options;
  tfrt_session_options_initialize(&options);
  options.incarnation = OWN;
  options.cluster_key = tfrt_string_view_of("key");
  ck_assert_ptr_null(
      tfrt_session_manager_create(&options, tfrt_simulated_endpoint_transport(raw.endpoint),
                                  &raw.lock, tfrt_simulated_endpoint_timers(raw.endpoint),
                                  &raw.handler, tfrt_allocator_system(), &raw.manager));
  tfrt_node_lock_lock(&raw.lock);
  ck_assert_ptr_null(
      tfrt_session_manager_dial(raw.manager, tfrt_string_view_of("n0:1"), HOST, &raw.session));
  tfrt_node_lock_unlock_and_run(&raw.lock);
  tfrt_node_world_run_for(&world, TFRT_NANOSECONDS_PER_MILLISECOND);
}

static void end(void) {
  tfrt_node_lock_lock(&raw.lock);
  tfrt_session_release(raw.session);
  tfrt_session_manager_close(raw.manager, false);
  tfrt_node_lock_unlock_and_run(&raw.lock);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_transport_close(tfrt_simulated_endpoint_transport(raw.endpoint));
  tfrt_transport_drain(tfrt_simulated_endpoint_transport(raw.endpoint));
  tfrt_session_manager_free(raw.manager);
  tfrt_node_lock_deinitialize(&raw.lock);
  tfrt_node_world_deinitialize(&world);
}

// --- What it sends -----------------------------------------------------------

// Sends |body| under |handle|, and lets a millisecond pass.
static void send(const tfrt_wire_body_t* body, uint32_t handle, int64_t deadline_ns) {
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_wire_body_encode(body, &bytes));
  bool is_want = body->kind == TFRT_WIRE_FRAME_WANT;
  const tfrt_session_frame_t frame = {.kind = body->kind,
                                      .job = handle,
                                      .epoch = handle ? 1 : 0,
                                      .deadline_ns = deadline_ns,
                                      .want = is_want ? body->want.want : 0,
                                      .body = tfrt_string_builder_view(&bytes)};
  raw.said[0] = raw.error[0] = '\0';
  raw.error_code = 0;
  tfrt_node_lock_lock(&raw.lock);
  ck_assert_ptr_null(tfrt_session_append(raw.session, &frame));
  tfrt_node_lock_unlock_and_run(&raw.lock);
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_node_world_run_for(&world, TFRT_NANOSECONDS_PER_MILLISECOND);
}

// A JobOpen for |count| members with these incarnations, ranks from |first_rank|.
static void send_open(uint32_t handle, const uint64_t* incarnations, size_t count,
                      uint32_t first_rank, uint32_t root, int64_t deadline_ns) {
  tfrt_wire_member_t members[3];
  const tfrt_string_view_t address = tfrt_string_view_of("n0:1");
  for (size_t i = 0; i < count; ++i) {
    members[i] = (tfrt_wire_member_t){.rank = first_rank + (uint32_t)i,
                                      .incarnation = incarnations[i],
                                      .addresses = &address,
                                      .address_count = 1};
  }
  const tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_OPEN,
      .job_open = {.job_id = tfrt_string_view_make(job_id, sizeof(job_id)),
                   .key = tfrt_string_view_make(job_key, sizeof(job_key)),
                   .root = root,
                   .view = {.epoch = 1, .members = members, .member_count = count}}};
  send(&body, handle, deadline_ns);
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
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 1);
  const tfrt_wire_body_t close = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE};
  send(&close, handle, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobDetach");
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 0);
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
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 0);
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
  send(&close, 1, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "");
  const tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH};
  send(&detach, 1, TFRT_TIME_INFINITE);
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
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 1);
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
  send(&detach, 1, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "JobDetach");
  ck_assert_uint_eq(raw.error_code, code);
  ck_assert_msg(strstr(raw.error, part), "no '%s' in '%s'", part, raw.error);
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 0);
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
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 1);
  const char proof[TFRT_WIRE_PROOF_SIZE] = "guessed";
  const tfrt_wire_body_t attach = {
      .kind = TFRT_WIRE_FRAME_JOB_ATTACH,
      .job_attach = {.handle = 2,
                     .job_id = tfrt_string_view_make(job_id, sizeof(job_id)),
                     .proof = tfrt_string_view_make(proof, sizeof(proof))}};
  send(&attach, 0, TFRT_TIME_INFINITE);
  ck_assert_str_eq(raw.said, "PROTOCOL");
  ck_assert_uint_eq(tfrt_node_job_count(world.hosts[0].node), 0);
  end();
}
END_TEST

// The |number|th Want, of the call |call| that |namer| may have named.
static void send_want(uint64_t number, uint64_t namer, uint64_t call) {
  const tfrt_wire_body_t want = {
      .kind = TFRT_WIRE_FRAME_WANT,
      .want = {
          .want = number, .id = {.namer = namer, .number = call}, .level = TFRT_WIRE_WANT_VALUE}};
  send(&want, 1, TFRT_TIME_INFINITE);
}

static uint64_t want_count(void) { return tfrt_node_counts(world.hosts[0].node).incoming_wants; }

// No placeholder for a value that nobody makes: the host waits only for who may still promise it.
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
  send(&close, 1, TFRT_TIME_INFINITE);
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
  Suite* suite = suite_create("opening");
  suite_add_tcase(suite, opening);
  return suite;
}
