// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/job/raw_client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "distributed/security/digest.h"
#include "host_runtime/base/arena.h"
#include "tests/distributed/job/job_harness.h"

static const char job_key[TFRT_WIRE_KEY_SIZE] = "secret";

static tfrt_raw_client_t* client_of(tfrt_session_handler_t* handler) {
  return TFRT_CONTAINER_OF(handler, tfrt_raw_client_t, handler);
}

// --- Received frames ---------------------------------------------------------

static void say(tfrt_raw_client_t* client, const char* word) {
  size_t used = strlen(client->said);
  snprintf(client->said + used, sizeof(client->said) - used, "%s%s", used > 0 ? " " : "", word);
}

static void on_session(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler;
  (void)session;
}

// The host's proof that it has the key of the job.
static void check_proof(const tfrt_raw_client_t* client, const tfrt_wire_job_attach_t* attach,
                        uint32_t session) {
  uint8_t said[8 + 8 + 4 + TFRT_WIRE_JOB_ID_SIZE];
  for (size_t i = 0; i < 8; ++i) said[i] = (uint8_t)(TFRT_RAW_CLIENT_HOST >> (8 * i));
  for (size_t i = 0; i < 8; ++i) said[8 + i] = (uint8_t)(TFRT_RAW_CLIENT_INCARNATION >> (8 * i));
  for (size_t i = 0; i < 4; ++i) said[16 + i] = (uint8_t)(session >> (8 * i));
  memcpy(said + 20, client->job_id, sizeof(client->job_id));
  uint8_t proof[TFRT_WIRE_PROOF_SIZE];
  ck_assert_ptr_null(tfrt_hmac_sha256(tfrt_string_view_make(job_key, sizeof(job_key)),
                                      tfrt_string_view_make((const char*)said, sizeof(said)),
                                      proof));
  ck_assert(tfrt_transport_secrets_are_equal(
      attach->proof, tfrt_string_view_make((const char*)proof, sizeof(proof))));
}

static void take_body(tfrt_raw_client_t* client, tfrt_session_t* session,
                      const tfrt_wire_frame_t* frame, const tfrt_wire_body_t* body) {
  say(client, tfrt_wire_frame_kind_name(frame->kind));
  if (frame->kind == TFRT_WIRE_FRAME_JOB_ATTACH) {
    check_proof(client, &body->job_attach, tfrt_session_number(session));
    client->host_handle = body->job_attach.handle;
    return;
  }
  ck_assert_uint_eq(frame->job, client->host_handle);
  const tfrt_wire_error_t* error = NULL;
  if (frame->kind == TFRT_WIRE_FRAME_JOB_OPENED) error = body->job_opened.error;
  if (frame->kind == TFRT_WIRE_FRAME_JOB_DETACH) error = body->job_detach.error;
  if (frame->kind == TFRT_WIRE_FRAME_RESOLVE && body->resolve.item.kind == TFRT_WIRE_ITEM_ERROR) {
    error = body->resolve.item.error;
  }
  if (frame->kind == TFRT_WIRE_FRAME_RESULT && body->result.result_count > 0 &&
      body->result.results[0].item.kind == TFRT_WIRE_ITEM_ERROR) {
    error = body->result.results[0].item.error;
  }
  if (frame->kind == TFRT_WIRE_FRAME_RETAINED &&
      body->retained.items[0].item.kind == TFRT_WIRE_ITEM_ERROR) {
    error = body->retained.items[0].item.error;
  }
  if (!error) return;
  client->error_code = error->code;
  snprintf(client->error, sizeof(client->error), "%.*s",
           TFRT_STRING_VIEW_ARGUMENTS(error->message));
}

static tfrt_status_t on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                              const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  (void)deadline_ns;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_body_t body;
  ck_assert_ptr_null(tfrt_wire_body_decode(frame->kind, frame->body, &arena, &body));
  take_body(client_of(handler), session, frame, &body);
  tfrt_arena_deinitialize(&arena);
  return NULL;
}

static void on_dead(tfrt_session_handler_t* handler, tfrt_session_t* session,
                    tfrt_session_death_t death, tfrt_status_t status) {
  (void)session;
  (void)status;
  say(client_of(handler), tfrt_session_death_name(death));
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

static int64_t heard_elsewhere_ns(tfrt_session_handler_t* handler, tfrt_session_t* session) {
  (void)handler, (void)session;
  return 0;
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
    .heard_elsewhere_ns = heard_elsewhere_ns,
    .on_wake = on_session,
};

void tfrt_raw_client_begin(tfrt_raw_client_t* client, tfrt_node_world_t* world) {
  tfrt_node_world_initialize(world, 1, NULL);
  tfrt_job_drop_client(world);
  memset(client, 0, sizeof(*client));
  client->world = world;
  memcpy(client->job_id, "job", 4);
  client->endpoint = tfrt_simulated_network_add_endpoint(world->network, "raw");
  client->handler.vtable = &handler_vtable;
  tfrt_node_lock_initialize(&client->lock);
  tfrt_session_options_t options;
  tfrt_session_options_initialize(&options);
  options.incarnation = TFRT_RAW_CLIENT_INCARNATION;
  options.cluster_key = tfrt_string_view_of("key");
  ck_assert_ptr_null(
      tfrt_session_manager_create(&options, tfrt_simulated_endpoint_transport(client->endpoint),
                                  &client->lock, tfrt_simulated_endpoint_timers(client->endpoint),
                                  &client->handler, tfrt_allocator_system(), &client->manager));
  tfrt_node_lock_lock(&client->lock);
  ck_assert_ptr_null(tfrt_session_manager_dial(client->manager, tfrt_string_view_of("n0:1"),
                                               TFRT_RAW_CLIENT_HOST, &client->session));
  tfrt_node_lock_unlock_and_run(&client->lock);
  tfrt_node_world_run_for(world, TFRT_NANOSECONDS_PER_MILLISECOND);
}

void tfrt_raw_client_end(tfrt_raw_client_t* client) {
  tfrt_node_world_t* world = client->world;
  tfrt_node_lock_lock(&client->lock);
  tfrt_session_release(client->session);
  tfrt_session_manager_close(client->manager, false);
  tfrt_node_lock_unlock_and_run(&client->lock);
  tfrt_job_await_count(world, 0);
  tfrt_node_world_run_for(world, TFRT_NODE_WORLD_SECOND);
  tfrt_transport_close(tfrt_simulated_endpoint_transport(client->endpoint));
  tfrt_transport_drain(tfrt_simulated_endpoint_transport(client->endpoint));
  tfrt_session_manager_free(client->manager);
  tfrt_node_lock_deinitialize(&client->lock);
  tfrt_node_world_deinitialize(world);
}

// --- What it sends -----------------------------------------------------------

static uint64_t call_of(const tfrt_wire_body_t* body) {
  if (body->kind == TFRT_WIRE_FRAME_INVOKE) return body->invoke.call;
  return body->kind == TFRT_WIRE_FRAME_VOID ? body->void_call.call : 0;
}

void tfrt_raw_client_post(tfrt_raw_client_t* client, const tfrt_wire_body_t* body, uint32_t handle,
                          int64_t deadline_ns) {
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_wire_body_encode(body, &bytes));
  bool is_want = body->kind == TFRT_WIRE_FRAME_WANT;
  const tfrt_session_frame_t frame = {.kind = body->kind,
                                      .job = handle,
                                      .epoch = handle ? 1 : 0,
                                      .deadline_ns = deadline_ns,
                                      .call = call_of(body),
                                      .want = is_want ? body->want.want : 0,
                                      .body = tfrt_string_builder_view(&bytes)};
  client->said[0] = client->error[0] = '\0';
  client->error_code = 0;
  tfrt_node_lock_lock(&client->lock);
  ck_assert_ptr_null(tfrt_session_append(client->session, &frame));
  tfrt_node_lock_unlock_and_run(&client->lock);
  tfrt_string_builder_deinitialize(&bytes);
}

void tfrt_raw_client_send(tfrt_raw_client_t* client, const tfrt_wire_body_t* body, uint32_t handle,
                          int64_t deadline_ns) {
  tfrt_raw_client_post(client, body, handle, deadline_ns);
  tfrt_node_world_run_for(client->world, TFRT_NANOSECONDS_PER_MILLISECOND);
}

void tfrt_raw_client_open(tfrt_raw_client_t* client, uint32_t handle, const uint64_t* incarnations,
                          size_t count, uint32_t first_rank, uint32_t root, int64_t deadline_ns) {
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
      .job_open = {.job_id = tfrt_string_view_make(client->job_id, sizeof(client->job_id)),
                   .key = tfrt_string_view_make(job_key, sizeof(job_key)),
                   .budgets = client->budgets.objects > 0 ? &client->budgets : NULL,
                   .root = root,
                   .asks_only = client->asks_only,
                   .view = {.epoch = 1, .members = members, .member_count = count}}};
  tfrt_raw_client_send(client, &body, handle, deadline_ns);
}
