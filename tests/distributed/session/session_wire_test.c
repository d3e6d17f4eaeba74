// SPDX-License-Identifier: Apache-2.0
//
// Sessions with a peer that violates the protocol: a hand-made peer that writes its batches itself.
#include <string.h>

#include "distributed/wire/batch.h"
#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

#define OURS 0x0a
#define PEER 0x0b

// A peer made by hand, which notes the last batch that it was sent.
typedef struct raw_peer_s {
  tfrt_transport_handler_t handler;
  tfrt_simulated_endpoint_t* endpoint;
  tfrt_transport_connection_t* connection;
  tfrt_transport_write_t write;
  tfrt_string_builder_t out;
  bool is_writing;
  bool is_deaf;  // asks for no message any more
  bool was_closed;
  tfrt_transport_end_t end;
  // Fields of the last frame that came.
  uint32_t kind;
  uint32_t reason;
  char message[256];
  size_t batch_count;
  uint64_t ack;
  uint64_t call_limit;
} raw_peer_t;

static void note_frame(raw_peer_t* peer, const tfrt_wire_frame_t* frame, tfrt_arena_t* arena) {
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
  raw_peer_t* peer = TFRT_CONTAINER_OF(handler, raw_peer_t, handler);
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
  raw_peer_t* peer = TFRT_CONTAINER_OF(handler, raw_peer_t, handler);
  peer->was_closed = true;
  peer->end = end;
}

static const tfrt_transport_handler_vtable_t handler_vtable = {.on_message = on_message,
                                                               .on_closed = on_closed};

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)status;
  TFRT_CONTAINER_OF(write, raw_peer_t, write)->is_writing = false;
}

typedef struct fixture_s {
  tfrt_harness_world_t world;
  tfrt_harness_host_t* host;
  raw_peer_t peer;
  raw_peer_t second;
} fixture_t;

static void raw_dial(raw_peer_t* peer, const char* address) {
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

// A host with |options| on a network with streams of |stream_depth| messages; nobody has dialled.
static void initialize_with_options(fixture_t* fixture, const tfrt_session_options_t* options,
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

static void dial_both(fixture_t* fixture) {
  raw_dial(&fixture->peer, fixture->host->address);
  raw_dial(&fixture->second, fixture->host->address);
}

static void initialize_with_credit(fixture_t* fixture, uint64_t calls, uint64_t wants) {
  tfrt_session_options_t options = tfrt_harness_options(OURS);
  options.first_call_limit = calls;
  options.first_want_limit = wants;
  initialize_with_options(fixture, &options, 16);
  dial_both(fixture);
}

static void initialize(fixture_t* fixture) { initialize_with_credit(fixture, 4096, 4096); }

static void deinitialize(fixture_t* fixture) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(fixture->peer.endpoint);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  raw_peer_t* peers[2] = {&fixture->peer, &fixture->second};
  for (int i = 0; i < 2; ++i) {
    tfrt_transport_connection_release(peers[i]->connection);
    tfrt_string_builder_deinitialize(&peers[i]->out);
  }
  tfrt_harness_deinitialize(&fixture->world);
}

static void run(fixture_t* fixture) {
  tfrt_harness_run_for(&fixture->world, 150 * TFRT_HARNESS_MILLISECOND);
}

static void write_out(fixture_t* fixture, raw_peer_t* peer) {
  ck_assert(!peer->is_writing);
  peer->is_writing = true;
  peer->write.spans[0] = (tfrt_transport_span_t){peer->out.data, peer->out.size};
  peer->write.span_count = 1;
  peer->write.on_written = on_written;
  tfrt_status_t status = tfrt_transport_connection_write(peer->connection, &peer->write);
  ck_assert(tfrt_status_is_ok(status));
  run(fixture);
}

static void write_batch(fixture_t* fixture, raw_peer_t* peer, const tfrt_wire_batch_t* batch) {
  tfrt_string_builder_clear(&peer->out);
  tfrt_status_t status = tfrt_wire_batch_encode(batch, &peer->out);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  write_out(fixture, peer);
}

// For which the other side takes the least that the protocol allows.
static const tfrt_wire_limits_t tiny_limits = {.batch_bytes = 1,
                                               .chunk_bytes = 1,
                                               .inline_bytes = 1,
                                               .replay_bytes = 1,
                                               .heartbeat_period_ms = 1,
                                               .silence_ms = 60000};

static tfrt_wire_hello_t hello(void) {
  return (tfrt_wire_hello_t){.version_min = 1,
                             .version_max = 1,
                             .incarnation = PEER,
                             .rank_hint = TFRT_WIRE_NO_RANK,
                             .session = 1,
                             .connection = 1,
                             .next_call = 1};
}

static void write_hello_to(fixture_t* fixture, raw_peer_t* peer, const tfrt_wire_hello_t* said,
                           uint64_t to_incarnation) {
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, tfrt_allocator_system());
  const tfrt_wire_body_t content = {.kind = TFRT_WIRE_FRAME_HELLO, .hello = *said};
  ck_assert(tfrt_status_is_ok(tfrt_wire_body_encode(&content, &body)));
  const tfrt_wire_frame_t frame = {.kind = TFRT_WIRE_FRAME_HELLO,
                                   .body = tfrt_string_builder_view(&body)};
  const tfrt_wire_batch_t batch = {.version = 1,
                                   .from_incarnation = PEER,
                                   .to_incarnation = to_incarnation,
                                   .session = said->session,
                                   .frames = &frame,
                                   .frame_count = 1};
  write_batch(fixture, peer, &batch);
  tfrt_string_builder_deinitialize(&body);
}

static void write_hello(fixture_t* fixture, raw_peer_t* peer, const tfrt_wire_hello_t* said) {
  write_hello_to(fixture, peer, said, OURS);
}

static void open_session(fixture_t* fixture) {
  const tfrt_wire_hello_t said = hello();
  write_hello(fixture, &fixture->peer, &said);
  ck_assert_uint_eq(fixture->peer.kind, TFRT_WIRE_FRAME_WELCOME);
}

static tfrt_harness_record_t* record(fixture_t* fixture) {
  ck_assert_ptr_nonnull(fixture->host->records);
  return fixture->host->records;
}

// A batch of the open session with one frame of |kind|, number |seq|, from |peer|.
static void write_frame_of(fixture_t* fixture, raw_peer_t* peer, uint32_t kind, uint64_t seq) {
  const tfrt_wire_frame_t frame = {.kind = kind,
                                   .job = tfrt_wire_frame_kind_is_session(kind) ? 0 : 1};
  const tfrt_wire_batch_t batch = {.version = 1,
                                   .from_incarnation = PEER,
                                   .to_incarnation = OURS,
                                   .session = 1,
                                   .first_seq = seq,
                                   .frames = &frame,
                                   .frame_count = 1};
  write_batch(fixture, peer, &batch);
}

static void write_frame(fixture_t* fixture, uint32_t kind, uint64_t seq) {
  write_frame_of(fixture, &fixture->peer, kind, seq);
}

static void write_frames(fixture_t* fixture, uint32_t kind, uint64_t first_seq, uint64_t last_seq) {
  for (uint64_t seq = first_seq; seq <= last_seq; ++seq) write_frame(fixture, kind, seq);
}

static void assert_refused(const raw_peer_t* peer, tfrt_wire_refuse_reason_t reason) {
  ck_assert_uint_eq(peer->kind, TFRT_WIRE_FRAME_REFUSE);
  ck_assert_msg(peer->reason == (uint32_t)reason, "refused for reason %u: %s", peer->reason,
                peer->message);
  ck_assert(peer->was_closed);
  ck_assert_int_eq(peer->end, TFRT_TRANSPORT_ENDED);
}

static void assert_protocol_death(fixture_t* fixture, const char* message) {
  const tfrt_harness_record_t* dead = record(fixture);
  ck_assert(dead->is_dead);
  ck_assert_int_eq(dead->death, TFRT_SESSION_DEATH_PROTOCOL);
  ck_assert_msg(strstr(dead->message, message), "%s", dead->message);
  ck_assert_uint_eq(fixture->peer.kind, TFRT_WIRE_FRAME_GOODBYE);
  ck_assert_uint_eq(fixture->peer.reason, TFRT_WIRE_GOODBYE_PROTOCOL);
  ck_assert(fixture->peer.was_closed);
}

// --- Greetings ---------------------------------------------------------------

START_TEST(a_hello_is_answered_by_a_welcome) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert_uint_eq(record(&fixture)->others, 1);
  ck_assert_uint_eq(fixture.peer.ack, 1);
  deinitialize(&fixture);
}
END_TEST

// With any requested limits a peer gets few heartbeats, and a session that can carry all frames.
START_TEST(who_asks_for_tiny_limits_gets_the_least_of_the_protocol) {
  fixture_t fixture;
  initialize(&fixture);
  tfrt_wire_hello_t said = hello();
  said.limits = &tiny_limits;
  write_hello(&fixture, &fixture.peer, &said);
  ck_assert_uint_eq(fixture.peer.kind, TFRT_WIRE_FRAME_WELCOME);
  const size_t before = fixture.peer.batch_count;
  tfrt_harness_run_for(&fixture.world, 1000 * TFRT_HARNESS_MILLISECOND);
  ck_assert_uint_le(fixture.peer.batch_count - before, 101);
  static char body[TFRT_WIRE_MAX_INLINE_SIZE + TFRT_WIRE_MAX_IMAGE_SIZE];
  const tfrt_session_frame_t large = {.kind = TFRT_WIRE_FRAME_RESULT,
                                      .job = 1,
                                      .deadline_ns = TFRT_TIME_INFINITE,
                                      .body = tfrt_string_view_make(body, sizeof(body))};
  ck_assert_int_eq(tfrt_harness_append(record(&fixture), &large), TFRT_STATUS_OK);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_stream_that_does_not_begin_with_hello_is_reset) {
  fixture_t fixture;
  initialize(&fixture);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert(fixture.peer.was_closed);
  ck_assert_int_eq(fixture.peer.end, TFRT_TRANSPORT_RESET);
  tfrt_string_builder_append_text(&fixture.second.out, "GET / HTTP/1.1");
  write_out(&fixture, &fixture.second);
  ck_assert(fixture.second.was_closed);
  ck_assert_ptr_null(fixture.host->records);
  deinitialize(&fixture);
}
END_TEST

START_TEST(who_says_nothing_is_not_waited_for) {
  fixture_t fixture;
  initialize(&fixture);
  tfrt_harness_run_for(&fixture.world, 3 * TFRT_HARNESS_SECOND);
  ck_assert(fixture.peer.was_closed);
  deinitialize(&fixture);
}
END_TEST

// There is room for two connections, which those who say nothing have.
START_TEST(who_says_nothing_makes_room_for_who_dials_later) {
  fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(OURS);
  options.max_sessions = 1;
  initialize_with_options(&fixture, &options, 16);
  raw_dial(&fixture.peer, fixture.host->address);
  run(&fixture);
  raw_dial(&fixture.second, fixture.host->address);
  run(&fixture);
  ck_assert(!fixture.peer.was_closed && !fixture.second.was_closed);
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  run(&fixture);
  ck_assert_int_eq(tfrt_harness_state(dialled), TFRT_SESSION_OPEN);
  ck_assert(fixture.peer.was_closed && !fixture.second.was_closed);
  deinitialize(&fixture);
}
END_TEST

// The answers to them do not get through, so that they have the room for a second.
static void fill_up_with_refused(fixture_t* fixture) {
  fixture->peer.is_deaf = fixture->second.is_deaf = true;
  dial_both(fixture);
  const tfrt_wire_hello_t said = hello();
  write_hello_to(fixture, &fixture->peer, &said, 0x77);
  write_hello_to(fixture, &fixture->second, &said, 0x77);
}

static uint64_t count_dials(tfrt_harness_host_t* host) {
  tfrt_session_counters_t counters;
  tfrt_node_lock_lock(&host->lock);
  tfrt_session_manager_counters(host->manager, &counters);
  tfrt_node_lock_unlock_and_run(&host->lock);
  return counters.dials;
}

START_TEST(who_resumes_and_finds_no_room_tries_again) {
  fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(OURS);
  options.max_sessions = 1;
  initialize_with_options(&fixture, &options, 1);
  tfrt_simulated_network_t* network = fixture.world.network;
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  tfrt_harness_run_until_state(dialled, TFRT_SESSION_OPEN);
  tfrt_simulated_network_partition(network, honest->endpoint, fixture.host->endpoint, true);
  tfrt_simulated_network_break(network, honest->endpoint, fixture.host->endpoint);
  fill_up_with_refused(&fixture);
  tfrt_simulated_network_heal(network, honest->endpoint, fixture.host->endpoint, true);
  tfrt_harness_run_until_state(dialled, TFRT_SESSION_OPEN);
  // The first one, one that was rejected, and at least one more.
  ck_assert_uint_gt(count_dials(honest), 2);
  deinitialize(&fixture);
}
END_TEST

START_TEST(who_is_new_and_finds_no_room_is_told) {
  fixture_t fixture;
  tfrt_session_options_t options = tfrt_harness_options(OURS);
  options.max_sessions = 1;
  initialize_with_options(&fixture, &options, 1);
  tfrt_harness_host_t* honest = tfrt_harness_add_simple_host(&fixture.world, 0x0c);
  fill_up_with_refused(&fixture);
  tfrt_harness_record_t* dialled = tfrt_harness_dial(honest, fixture.host);
  run(&fixture);
  ck_assert(dialled->is_dead);
  ck_assert_int_eq(dialled->death, TFRT_SESSION_DEATH_REJECTED);
  ck_assert_int_eq(dialled->code, TFRT_STATUS_RESOURCE_EXHAUSTED);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_hello_to_another_process_is_refused) {
  fixture_t fixture;
  initialize(&fixture);
  const tfrt_wire_hello_t said = hello();
  write_hello_to(&fixture, &fixture.peer, &said, 0x77);
  assert_refused(&fixture.peer, TFRT_WIRE_REFUSE_INCARNATION);
  ck_assert_ptr_null(fixture.host->records);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_of_an_unknown_session_is_refused) {
  fixture_t fixture;
  initialize(&fixture);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  write_hello(&fixture, &fixture.peer, &said);
  assert_refused(&fixture.peer, TFRT_WIRE_REFUSE_SESSION);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_takes_the_session_over) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  said.connection = 2;
  write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  ck_assert(fixture.peer.was_closed);
  ck_assert(!fixture.second.was_closed);
  ck_assert(!record(&fixture)->is_dead);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_by_an_older_connection_is_refused_and_harms_nobody) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  said.connection = 1;
  write_hello(&fixture, &fixture.second, &said);
  assert_refused(&fixture.second, TFRT_WIRE_REFUSE_CROSSED);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(!record(&fixture)->is_dead);
  deinitialize(&fixture);
}
END_TEST

// Said before the peer had another connection, by which it acknowledged more; it comes only now.
START_TEST(a_resume_that_was_overtaken_is_refused_and_harms_nobody) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_harness_send(record(&fixture), 1);
  run(&fixture);
  const tfrt_wire_batch_t acknowledgement = {
      .version = 1, .from_incarnation = PEER, .to_incarnation = OURS, .session = 1, .ack = 1};
  write_batch(&fixture, &fixture.peer, &acknowledgement);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  said.connection = 2;
  said.received_seq = 0;
  write_hello(&fixture, &fixture.second, &said);
  assert_refused(&fixture.second, TFRT_WIRE_REFUSE_CROSSED);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(!record(&fixture)->is_dead);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_resume_outside_of_the_window_is_death) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  said.connection = 2;
  said.received_seq = 5;
  write_hello(&fixture, &fixture.second, &said);
  assert_refused(&fixture.second, TFRT_WIRE_REFUSE_SESSION);
  ck_assert(record(&fixture)->is_dead);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_new_session_of_the_same_process_buries_the_old_one) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_wire_hello_t said = hello();
  said.session = 2;
  write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  ck_assert(!record(&fixture)->is_dead);
  ck_assert(record(&fixture)->next->is_dead);
  ck_assert_int_eq(record(&fixture)->next->death, TFRT_SESSION_DEATH_BURIED);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_number_that_was_buried_never_returns) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_transport_connection_abort(fixture.peer.connection);
  tfrt_harness_run_until_state(record(&fixture), TFRT_SESSION_DEAD);
  tfrt_transport_connection_release(fixture.second.connection);
  fixture.second.was_closed = false;
  tfrt_string_builder_deinitialize(&fixture.second.out);
  raw_dial(&fixture.second, fixture.host->address);
  const tfrt_wire_hello_t said = hello();
  write_hello(&fixture, &fixture.second, &said);
  assert_refused(&fixture.second, TFRT_WIRE_REFUSE_SESSION);
  deinitialize(&fixture);
}
END_TEST

// --- The end -----------------------------------------------------------------

static bool has_nothing_left(void* argument) {
  return tfrt_session_manager_is_drained(((fixture_t*)argument)->host->manager);
}

// The host's writes to this peer never get through. The end of the stream, which goes behind them,
// doesn't either.
START_TEST(who_says_goodbye_and_reads_nothing_is_not_waited_for) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  fixture.peer.is_deaf = true;
  // Each is acknowledged, until there is no room.
  write_frames(&fixture, TFRT_WIRE_FRAME_CANCEL, 1, 30);
  write_frame(&fixture, TFRT_WIRE_FRAME_GOODBYE, 31);
  ck_assert(record(&fixture)->is_dead);
  ck_assert_int_eq(record(&fixture)->death, TFRT_SESSION_DEATH_GOODBYE);
  ck_assert(!fixture.peer.was_closed);
  ck_assert(tfrt_simulated_network_run_until(fixture.world.network, has_nothing_left, &fixture,
                                             2 * TFRT_HARNESS_SECOND));
  deinitialize(&fixture);
}
END_TEST

// --- Batches -----------------------------------------------------------------

START_TEST(an_unknown_odd_frame_is_skipped_and_an_unknown_even_one_is_not) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  write_frame(&fixture, 1001, 1);
  ck_assert_uint_eq(record(&fixture)->others, 0);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 2);
  ck_assert_uint_eq(record(&fixture)->others, 1);
  write_frame(&fixture, 1002, 3);
  assert_protocol_death(&fixture, "unknown kind 1002");
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_gap_closes_the_connection_and_not_the_session) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 2);
  ck_assert(fixture.peer.was_closed);
  ck_assert_uint_eq(record(&fixture)->others, 0);
  ck_assert_int_eq(tfrt_harness_state(record(&fixture)), TFRT_SESSION_BROKEN);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_duplicate_is_dropped) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  write_frame(&fixture, TFRT_WIRE_FRAME_CANCEL, 1);
  ck_assert_uint_eq(record(&fixture)->others, 1);
  ck_assert(!fixture.peer.was_closed);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_hello_in_the_middle_of_a_stream_is_death) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  write_frame(&fixture, TFRT_WIRE_FRAME_REFUSE, 0);
  assert_protocol_death(&fixture, "frames without a number");
  deinitialize(&fixture);
}
END_TEST

START_TEST(bytes_that_are_no_batch_are_death) {
  fixture_t fixture;
  initialize(&fixture);
  open_session(&fixture);
  tfrt_string_builder_clear(&fixture.peer.out);
  tfrt_string_builder_append(&fixture.peer.out, "\xff\xff\xff\xff\xff", 5);
  write_out(&fixture, &fixture.peer);
  assert_protocol_death(&fixture, "can't be read");
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_header_that_does_not_fit_is_death) {
  static const struct {
    tfrt_wire_batch_t batch;
    const char* message;
  } cases[] = {
      {{.version = 1, .from_incarnation = 0x0c, .to_incarnation = OURS, .session = 1},
       "from somebody else"},
      {{.version = 1, .from_incarnation = PEER, .to_incarnation = 0x0c, .session = 1},
       "for somebody else"},
      {{.version = 1, .from_incarnation = PEER, .to_incarnation = OURS, .session = 2},
       "another session"},
      {{.version = 2, .from_incarnation = PEER, .to_incarnation = OURS, .session = 1},
       "another version"},
      {{.version = 1, .from_incarnation = PEER, .to_incarnation = OURS, .session = 1, .ack = 9},
       "never sent"},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    fixture_t fixture;
    initialize(&fixture);
    open_session(&fixture);
    write_batch(&fixture, &fixture.peer, &cases[i].batch);
    assert_protocol_death(&fixture, cases[i].message);
    deinitialize(&fixture);
  }
}
END_TEST

// --- Credit --------------------------------------------------------------------

static void grant(fixture_t* fixture, uint64_t calls, uint64_t wants) {
  tfrt_node_lock_lock(&fixture->host->lock);
  tfrt_session_grant(record(fixture)->session, calls, wants);
  tfrt_node_lock_unlock_and_run(&fixture->host->lock);
  // Until the event was reported.
  run(fixture);
}

static void assert_alive(fixture_t* fixture, uint64_t frames) {
  ck_assert(!record(fixture)->is_dead);
  ck_assert_uint_eq(record(fixture)->others, frames);
}

START_TEST(a_call_without_credit_is_death) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 2);
  open_session(&fixture);
  write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 4);
  assert_alive(&fixture, 4);
  grant(&fixture, 6, 2);
  write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 5, 6);
  assert_alive(&fixture, 6);
  write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 7);
  assert_protocol_death(&fixture,
                        "the call number 7 of the session, with credit for 6 of them: it has to "
                        "wait until call_limit is higher");
  ck_assert_uint_eq(record(&fixture)->others, 6);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_want_without_credit_is_death) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 2);
  open_session(&fixture);
  write_frames(&fixture, TFRT_WIRE_FRAME_WANT, 1, 2);
  write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 3);
  assert_alive(&fixture, 3);
  write_frame(&fixture, TFRT_WIRE_FRAME_WANT, 4);
  assert_protocol_death(&fixture,
                        "the Want number 3 of the session, with credit for 2 of them: it has to "
                        "wait until want_limit is higher");
  ck_assert_uint_eq(record(&fixture)->others, 3);
  deinitialize(&fixture);
}
END_TEST

// Each is answered at once, which gives its credit back; but nobody hears of it.
START_TEST(who_reads_nothing_has_only_the_credit_that_it_was_told) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 8);
  open_session(&fixture);
  fixture.peer.is_deaf = true;
  uint64_t count = 0;
  while (!record(&fixture)->is_dead && count < 100) {
    ++count;
    write_frame(&fixture, TFRT_WIRE_FRAME_WANT, count);
    if (!record(&fixture)->is_dead) grant(&fixture, 4, count + 8);
  }
  ck_assert_uint_lt(count, 30);
  ck_assert_int_eq(record(&fixture)->death, TFRT_SESSION_DEATH_PROTOCOL);
  deinitialize(&fixture);
}
END_TEST

// Each frame that the peer doesn't acknowledge is kept, and so would be the Results of more calls.
START_TEST(who_acknowledges_nothing_has_only_the_credit_that_it_was_told) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 8);
  tfrt_wire_hello_t said = hello();
  said.limits = &tiny_limits;
  write_hello(&fixture, &fixture.peer, &said);
  ck_assert_uint_eq(fixture.peer.call_limit, 4);
  grant(&fixture, 6, 8);
  ck_assert_uint_eq(fixture.peer.call_limit, 6);
  tfrt_harness_send(record(&fixture), 1000);
  grant(&fixture, 8, 8);
  ck_assert_uint_eq(fixture.peer.call_limit, 6);
  // Nor does a new connection tell more.
  said.resume = true;
  said.connection = 2;
  write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.call_limit, 6);
  const tfrt_wire_batch_t acknowledgement = {
      .version = 1, .from_incarnation = PEER, .to_incarnation = OURS, .session = 1, .ack = 1000};
  write_batch(&fixture, &fixture.second, &acknowledgement);
  run(&fixture);
  ck_assert_uint_eq(fixture.second.call_limit, 8);
  deinitialize(&fixture);
}
END_TEST

START_TEST(a_void_goes_without_credit_and_takes_it) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 2);
  open_session(&fixture);
  write_frames(&fixture, TFRT_WIRE_FRAME_VOID, 1, 6);
  assert_alive(&fixture, 6);
  grant(&fixture, 7, 2);
  write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 7);
  assert_alive(&fixture, 7);
  write_frame(&fixture, TFRT_WIRE_FRAME_INVOKE, 8);
  assert_protocol_death(&fixture, "the call number 8 of the session, with credit for 7 of them");
  deinitialize(&fixture);
}
END_TEST

// The peer sends frames again whose answers were lost, by the old connection and by a new one.
START_TEST(what_comes_again_takes_no_credit_again) {
  fixture_t fixture;
  initialize_with_credit(&fixture, 4, 2);
  open_session(&fixture);
  write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 3);
  write_frames(&fixture, TFRT_WIRE_FRAME_INVOKE, 1, 3);
  tfrt_wire_hello_t said = hello();
  said.resume = true;
  said.connection = 2;
  write_hello(&fixture, &fixture.second, &said);
  ck_assert_uint_eq(fixture.second.kind, TFRT_WIRE_FRAME_WELCOME);
  for (uint64_t seq = 1; seq <= 4; ++seq) {
    write_frame_of(&fixture, &fixture.second, TFRT_WIRE_FRAME_INVOKE, seq);
  }
  assert_alive(&fixture, 4);
  // Nor does a new connection give any.
  write_frame_of(&fixture, &fixture.second, TFRT_WIRE_FRAME_INVOKE, 5);
  ck_assert(record(&fixture)->is_dead);
  ck_assert_uint_eq(fixture.second.reason, TFRT_WIRE_GOODBYE_PROTOCOL);
  deinitialize(&fixture);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session wire");
  TCase* greetings = tcase_create("greetings");
  tcase_add_test(greetings, a_hello_is_answered_by_a_welcome);
  tcase_add_test(greetings, who_asks_for_tiny_limits_gets_the_least_of_the_protocol);
  tcase_add_test(greetings, a_stream_that_does_not_begin_with_hello_is_reset);
  tcase_add_test(greetings, who_says_nothing_is_not_waited_for);
  tcase_add_test(greetings, who_says_nothing_makes_room_for_who_dials_later);
  tcase_add_test(greetings, who_resumes_and_finds_no_room_tries_again);
  tcase_add_test(greetings, who_is_new_and_finds_no_room_is_told);
  tcase_add_test(greetings, a_hello_to_another_process_is_refused);
  tcase_add_test(greetings, a_resume_of_an_unknown_session_is_refused);
  tcase_add_test(greetings, a_resume_takes_the_session_over);
  tcase_add_test(greetings, a_resume_by_an_older_connection_is_refused_and_harms_nobody);
  tcase_add_test(greetings, a_resume_that_was_overtaken_is_refused_and_harms_nobody);
  tcase_add_test(greetings, a_resume_outside_of_the_window_is_death);
  tcase_add_test(greetings, a_new_session_of_the_same_process_buries_the_old_one);
  tcase_add_test(greetings, a_number_that_was_buried_never_returns);
  suite_add_tcase(suite, greetings);
  TCase* ends = tcase_create("ends");
  tcase_add_test(ends, who_says_goodbye_and_reads_nothing_is_not_waited_for);
  suite_add_tcase(suite, ends);
  TCase* batches = tcase_create("batches");
  tcase_add_test(batches, an_unknown_odd_frame_is_skipped_and_an_unknown_even_one_is_not);
  tcase_add_test(batches, a_gap_closes_the_connection_and_not_the_session);
  tcase_add_test(batches, a_duplicate_is_dropped);
  tcase_add_test(batches, a_hello_in_the_middle_of_a_stream_is_death);
  tcase_add_test(batches, bytes_that_are_no_batch_are_death);
  tcase_add_test(batches, a_header_that_does_not_fit_is_death);
  suite_add_tcase(suite, batches);
  TCase* credit = tcase_create("credit");
  tcase_add_test(credit, a_call_without_credit_is_death);
  tcase_add_test(credit, a_want_without_credit_is_death);
  tcase_add_test(credit, who_reads_nothing_has_only_the_credit_that_it_was_told);
  tcase_add_test(credit, who_acknowledges_nothing_has_only_the_credit_that_it_was_told);
  tcase_add_test(credit, a_void_goes_without_credit_and_takes_it);
  tcase_add_test(credit, what_comes_again_takes_no_credit_again);
  suite_add_tcase(suite, credit);
  return suite;
}
