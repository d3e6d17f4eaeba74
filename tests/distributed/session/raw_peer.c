// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/session/raw_peer.h"

#include <string.h>

static void note_frame(tfrt_raw_peer_t* peer, const tfrt_wire_frame_t* frame, tfrt_arena_t* arena) {
  peer->kind = frame->kind;
  peer->reason = 0;
  // The bodies of the harness's own frames mean nothing.
  if (frame->kind == TFRT_WIRE_FRAME_RELEASE) return;
  tfrt_wire_body_t body;
  tfrt_status_t status = tfrt_wire_body_decode(frame->kind, frame->body, arena, &body);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  tfrt_string_view_t message = {0};
  if (frame->kind == TFRT_WIRE_FRAME_REFUSE) {
    peer->reason = body.refuse.reason;
    message = body.refuse.message;
  } else if (frame->kind == TFRT_WIRE_FRAME_GOODBYE) {
    peer->reason = body.goodbye.reason;
    message = body.goodbye.message;
  }
  if (message.size > 0) memcpy(peer->message, message.data, message.size);
  peer->message[message.size] = '\0';
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t span_count) {
  tfrt_raw_peer_t* peer = TFRT_CONTAINER_OF(handler, tfrt_raw_peer_t, handler);
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  for (size_t i = 0; i < span_count; ++i) {
    tfrt_string_builder_append(&bytes, spans[i].data, spans[i].size);
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_wire_batch_t batch;
  tfrt_status_t status = tfrt_wire_batch_decode(tfrt_string_builder_view(&bytes), &arena, &batch);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  ++peer->batch_count;
  peer->ack = batch.ack;
  peer->call_limit = batch.call_limit;
  for (size_t i = 0; i < batch.frame_count; ++i) note_frame(peer, &batch.frames[i], &arena);
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&bytes);
  if (!peer->is_deaf) tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection;
  (void)status;
  tfrt_raw_peer_t* peer = TFRT_CONTAINER_OF(handler, tfrt_raw_peer_t, handler);
  peer->was_closed = true;
  peer->end = end;
}

static const tfrt_transport_handler_vtable_t handler_vtable = {.on_message = on_message,
                                                               .on_closed = on_closed};

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)status;
  TFRT_CONTAINER_OF(write, tfrt_raw_peer_t, write)->is_writing = false;
}

void tfrt_raw_dial(tfrt_raw_peer_t* peer, const char* address) {
  peer->handler.vtable = &handler_vtable;
  tfrt_string_builder_initialize(&peer->out, tfrt_allocator_system());
  const tfrt_transport_metadata_t key = {tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY),
                                         tfrt_string_view_of("key")};
  const tfrt_transport_dial_options_t options = {.address = tfrt_string_view_of(address),
                                                 .kind = TFRT_TRANSPORT_CONTROL,
                                                 .metadata = &key,
                                                 .metadata_count = 1,
                                                 .timeout_ns = TFRT_HARNESS_SECOND};
  tfrt_status_t status = tfrt_transport_dial(tfrt_simulated_endpoint_transport(peer->endpoint),
                                             &options, &peer->handler, &peer->connection);
  ck_assert(tfrt_status_is_ok(status));
  if (!peer->is_deaf) tfrt_transport_connection_receive(peer->connection);
}

void tfrt_raw_initialize_with_options(tfrt_raw_fixture_t* fixture,
                                      const tfrt_session_options_t* options,
                                      uint32_t stream_depth) {
  memset(fixture, 0, sizeof(*fixture));
  tfrt_simulated_options_t network;
  tfrt_simulated_options_initialize(&network);
  network.stream_depth = stream_depth;
  tfrt_harness_initialize(&fixture->world, &network);
  fixture->host = tfrt_harness_add_host(&fixture->world, options, "host:0");
  fixture->peer.endpoint = tfrt_simulated_network_add_endpoint(fixture->world.network, "raw");
  fixture->second.endpoint = fixture->peer.endpoint;
}

void tfrt_raw_dial_both(tfrt_raw_fixture_t* fixture) {
  tfrt_raw_dial(&fixture->peer, fixture->host->address);
  tfrt_raw_dial(&fixture->second, fixture->host->address);
}

void tfrt_raw_initialize_with_credit(tfrt_raw_fixture_t* fixture, uint64_t calls, uint64_t wants) {
  tfrt_session_options_t options = tfrt_harness_options(TFRT_RAW_OURS);
  options.first_call_limit = calls;
  options.first_want_limit = wants;
  tfrt_raw_initialize_with_options(fixture, &options, 16);
  tfrt_raw_dial_both(fixture);
}

void tfrt_raw_initialize(tfrt_raw_fixture_t* fixture) {
  tfrt_raw_initialize_with_credit(fixture, 4096, 4096);
}

void tfrt_raw_deinitialize(tfrt_raw_fixture_t* fixture) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(fixture->peer.endpoint);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_raw_peer_t* peers[2] = {&fixture->peer, &fixture->second};
  for (int i = 0; i < 2; ++i) {
    tfrt_transport_connection_release(peers[i]->connection);
    tfrt_string_builder_deinitialize(&peers[i]->out);
  }
  tfrt_harness_deinitialize(&fixture->world);
}

void tfrt_raw_run(tfrt_raw_fixture_t* fixture) {
  tfrt_harness_run_for(&fixture->world, 150 * TFRT_HARNESS_MILLISECOND);
}

void tfrt_raw_write_out(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer) {
  ck_assert(!peer->is_writing);
  peer->is_writing = true;
  peer->write.spans[0] = (tfrt_transport_span_t){peer->out.data, peer->out.size};
  peer->write.span_count = 1;
  peer->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(peer->connection, &peer->write);
  ck_assert(tfrt_status_is_ok(status));
  tfrt_raw_run(fixture);
}

void tfrt_raw_write_batch(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                          const tfrt_wire_batch_t* batch) {
  tfrt_string_builder_clear(&peer->out);
  tfrt_status_t status = tfrt_wire_batch_encode(batch, &peer->out);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  tfrt_raw_write_out(fixture, peer);
}

const tfrt_wire_limits_t tfrt_raw_tiny_limits = {.batch_bytes = 1,
                                                 .chunk_bytes = 1,
                                                 .inline_bytes = 1,
                                                 .replay_bytes = 1,
                                                 .heartbeat_period_ms = 1,
                                                 .silence_ms = 60000};

tfrt_wire_hello_t tfrt_raw_hello(void) {
  return (tfrt_wire_hello_t){.version_min = 1,
                             .version_max = 1,
                             .incarnation = TFRT_RAW_PEER,
                             .rank_hint = TFRT_WIRE_NO_RANK,
                             .session = 1,
                             .connection = 1,
                             .next_call = 1};
}

void tfrt_raw_write_hello_to(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                             const tfrt_wire_hello_t* said, uint64_t to_incarnation) {
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, tfrt_allocator_system());
  const tfrt_wire_body_t content = {.kind = TFRT_WIRE_FRAME_HELLO, .hello = *said};
  ck_assert(tfrt_status_is_ok(tfrt_wire_body_encode(&content, &body)));
  const tfrt_wire_frame_t frame = {.kind = TFRT_WIRE_FRAME_HELLO,
                                   .body = tfrt_string_builder_view(&body)};
  const tfrt_wire_batch_t batch = {.version = 1,
                                   .from_incarnation = TFRT_RAW_PEER,
                                   .to_incarnation = to_incarnation,
                                   .session = said->session,
                                   .frames = &frame,
                                   .frame_count = 1};
  tfrt_raw_write_batch(fixture, peer, &batch);
  tfrt_string_builder_deinitialize(&body);
}

void tfrt_raw_write_hello(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer,
                          const tfrt_wire_hello_t* said) {
  tfrt_raw_write_hello_to(fixture, peer, said, TFRT_RAW_OURS);
}

void tfrt_raw_open_session(tfrt_raw_fixture_t* fixture) {
  const tfrt_wire_hello_t said = tfrt_raw_hello();
  tfrt_raw_write_hello(fixture, &fixture->peer, &said);
  ck_assert_uint_eq(fixture->peer.kind, TFRT_WIRE_FRAME_WELCOME);
}

tfrt_harness_record_t* tfrt_raw_record(tfrt_raw_fixture_t* fixture) {
  ck_assert_ptr_nonnull(fixture->host->records);
  return fixture->host->records;
}

void tfrt_raw_write_frame_of(tfrt_raw_fixture_t* fixture, tfrt_raw_peer_t* peer, uint32_t kind,
                             uint64_t seq) {
  const tfrt_wire_frame_t frame = {.kind = kind,
                                   .job = tfrt_wire_frame_kind_is_session(kind) ? 0 : 1};
  const tfrt_wire_batch_t batch = {.version = 1,
                                   .from_incarnation = TFRT_RAW_PEER,
                                   .to_incarnation = TFRT_RAW_OURS,
                                   .session = 1,
                                   .first_seq = seq,
                                   .frames = &frame,
                                   .frame_count = 1};
  tfrt_raw_write_batch(fixture, peer, &batch);
}

void tfrt_raw_write_frame(tfrt_raw_fixture_t* fixture, uint32_t kind, uint64_t seq) {
  tfrt_raw_write_frame_of(fixture, &fixture->peer, kind, seq);
}

void tfrt_raw_write_frames(tfrt_raw_fixture_t* fixture, uint32_t kind, uint64_t first_seq,
                           uint64_t last_seq) {
  for (uint64_t seq = first_seq; seq <= last_seq; ++seq) tfrt_raw_write_frame(fixture, kind, seq);
}

void tfrt_raw_assert_refused(const tfrt_raw_peer_t* peer, tfrt_wire_refuse_reason_t reason) {
  ck_assert_uint_eq(peer->kind, TFRT_WIRE_FRAME_REFUSE);
  ck_assert_msg(peer->reason == (uint32_t)reason, "refused for reason %u: %s", peer->reason,
                peer->message);
  ck_assert(peer->was_closed);
  ck_assert_int_eq(peer->end, TFRT_TRANSPORT_ENDED);
}

void tfrt_raw_assert_protocol_death(tfrt_raw_fixture_t* fixture, const char* message) {
  const tfrt_harness_record_t* dead = tfrt_raw_record(fixture);
  ck_assert(dead->is_dead);
  ck_assert_int_eq(dead->death, TFRT_SESSION_DEATH_PROTOCOL);
  ck_assert_msg(strstr(dead->message, message), "%s", dead->message);
  ck_assert_uint_eq(fixture->peer.kind, TFRT_WIRE_FRAME_GOODBYE);
  ck_assert_uint_eq(fixture->peer.reason, TFRT_WIRE_GOODBYE_PROTOCOL);
  ck_assert(fixture->peer.was_closed);
}
