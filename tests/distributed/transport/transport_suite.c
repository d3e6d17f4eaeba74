// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/transport/transport_suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"

static const tfrt_transport_suite_network_vtable_t* vtable;

#define MAX_NOTED 1024
#define SECRET "open sesame"

// --- One side of a stream ----------------------------------------------------

// Records its events. Guarded by |lock|.
typedef struct peer_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;
  bool receives;  // asks for the next message whenever one came
  size_t message_count;
  size_t first_bytes[MAX_NOTED];  // of each message: its first four bytes as a number
  size_t sizes[MAX_NOTED];
  uint32_t sums[MAX_NOTED];
  bool was_closed;
  tfrt_transport_end_t end;
  tfrt_status_code_t code;
  char text[256];  // of the status it was closed with
  tfrt_transport_write_t write;
  unsigned char* bytes;  // of |write|
  size_t size;
  size_t written_count;
  size_t failed_count;
  size_t to_write;  // the number of messages still to write, one after the other
  size_t wait_for;  // what a predicate looks for
} peer_t;

static tfrt_mutex_t lock = TFRT_MUTEX_INITIALIZER;

static uint32_t add_bytes(uint32_t sum, const unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) sum = sum * 31 + bytes[i];
  return sum;
}

static void peer_on_message(tfrt_transport_handler_t* handler,
                            tfrt_transport_connection_t* connection,
                            const tfrt_transport_span_t* spans, size_t span_count) {
  peer_t* peer = TFRT_CONTAINER_OF(handler, peer_t, handler);
  unsigned char first[4] = {0};
  size_t size = 0;
  uint32_t sum = 0;
  for (size_t i = 0; i < span_count; ++i) {
    const unsigned char* bytes = spans[i].data;
    for (size_t j = 0; j < spans[i].size && size + j < sizeof(first); ++j) {
      first[size + j] = bytes[j];
    }
    size += spans[i].size;
    sum = add_bytes(sum, bytes, spans[i].size);
  }
  tfrt_mutex_lock(&lock);
  ck_assert(!peer->was_closed);
  ck_assert_uint_lt(peer->message_count, MAX_NOTED);
  peer->first_bytes[peer->message_count] =
      first[0] + 256u * first[1] + 65536u * first[2] + 16777216u * first[3];
  peer->sizes[peer->message_count] = size;
  peer->sums[peer->message_count] = sum;
  ++peer->message_count;
  bool receives = peer->receives;
  tfrt_mutex_unlock(&lock);
  if (receives) tfrt_transport_connection_receive(connection);
}

static void peer_on_closed(tfrt_transport_handler_t* handler,
                           tfrt_transport_connection_t* connection, tfrt_transport_end_t end,
                           tfrt_status_t status) {
  (void)connection;
  peer_t* peer = TFRT_CONTAINER_OF(handler, peer_t, handler);
  tfrt_mutex_lock(&lock);
  ck_assert_msg(!peer->was_closed, "on_closed came twice");
  peer->was_closed = true;
  peer->end = end;
  peer->code = tfrt_status_code(status);
  snprintf(peer->text, sizeof(peer->text), "%s", status ? tfrt_status_message(status) : "");
  tfrt_mutex_unlock(&lock);
}

static const tfrt_transport_handler_vtable_t peer_vtable = {.on_message = peer_on_message,
                                                            .on_closed = peer_on_closed};

static void peer_initialize(peer_t* peer) {
  memset(peer, 0, sizeof(*peer));
  peer->handler.vtable = &peer_vtable;
  peer->receives = true;
}

static void peer_free_bytes(peer_t* peer) {
  tfrt_allocator_free(tfrt_allocator_system(), peer->bytes, peer->size);
  peer->bytes = NULL;
  peer->size = 0;
}

static void peer_deinitialize(peer_t* peer) {
  tfrt_transport_connection_release(peer->connection);
  peer_free_bytes(peer);
}

static void peer_begin_write(peer_t* peer);

static void peer_on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  peer_t* peer = TFRT_CONTAINER_OF(write, peer_t, write);
  tfrt_mutex_lock(&lock);
  if (tfrt_status_is_ok(status)) {
    ++peer->written_count;
  } else {
    ++peer->failed_count;
  }
  bool writes = peer->to_write > 0 && tfrt_status_is_ok(status);
  if (writes) --peer->to_write;
  tfrt_mutex_unlock(&lock);
  if (writes) peer_begin_write(peer);
}

// Writes the bytes of |peer| again; the first four of them count the messages.
static void peer_begin_write(peer_t* peer) {
  ++peer->bytes[0];
  if (peer->bytes[0] == 0) ++peer->bytes[1];
  peer->write.spans[0] = (tfrt_transport_span_t){peer->bytes, peer->size};
  peer->write.span_count = 1;
  peer->write.on_written = peer_on_written;
  tfrt_status_t status = tfrt_transport_connection_write(peer->connection, &peer->write);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

// Writes |count| messages of |size| bytes, numbered from 1, one after the other.
static void peer_write(peer_t* peer, size_t count, size_t size) {
  peer_free_bytes(peer);
  peer->bytes = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  peer->size = size;
  for (size_t i = 4; i < size; ++i) peer->bytes[i] = (unsigned char)(i * 7 + i / 251);
  peer->to_write = count - 1;
  peer_begin_write(peer);
}

// --- The two sides -----------------------------------------------------------

typedef struct fixture_s {
  tfrt_transport_acceptor_t acceptor;
  void* network;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  peer_t dialler;
  peer_t listener;
  size_t accepted_count;
  size_t rejected_count;
  tfrt_transport_kind_t accepted_kind;
  bool is_silent;  // nobody will answer a dial
} fixture_t;

static tfrt_status_t fixture_accept(tfrt_transport_acceptor_t* acceptor,
                                    const tfrt_transport_incoming_t* incoming,
                                    tfrt_transport_handler_t** out_handler) {
  fixture_t* fixture = TFRT_CONTAINER_OF(acceptor, fixture_t, acceptor);
  tfrt_string_view_t key;
  bool has_key =
      tfrt_transport_metadata_find(incoming->metadata, incoming->metadata_count,
                                   tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY), &key);
  tfrt_mutex_lock(&lock);
  bool fits = has_key && tfrt_transport_secrets_are_equal(key, tfrt_string_view_of(SECRET)) &&
              !fixture->listener.connection;
  if (fits) {
    ++fixture->accepted_count;
    fixture->accepted_kind = incoming->kind;
    fixture->listener.connection = tfrt_transport_connection_retain(incoming->connection);
    *out_handler = &fixture->listener.handler;
  } else {
    ++fixture->rejected_count;
  }
  bool receives = fits && fixture->listener.receives;
  tfrt_mutex_unlock(&lock);
  if (!fits) return tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED, "wrong cluster key");
  if (receives) tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {.accept = fixture_accept};

static void assert_ok(tfrt_status_t status) {
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
}

static void assert_code(tfrt_status_t status, tfrt_status_code_t code) {
  ck_assert_str_eq(tfrt_status_code_name(tfrt_status_code(status)), tfrt_status_code_name(code));
  tfrt_status_release(status);
}

static void fixture_initialize(fixture_t* fixture) {
  memset(fixture, 0, sizeof(*fixture));
  fixture->acceptor.vtable = &acceptor_vtable;
  peer_initialize(&fixture->dialler);
  peer_initialize(&fixture->listener);
  fixture->network = vtable->create();
  assert_ok(tfrt_transport_listen(vtable->transport(fixture->network, 0),
                                  tfrt_string_view_of(vtable->listen_address(fixture->network)),
                                  &fixture->acceptor, fixture->address));
}

static void fixture_deinitialize(fixture_t* fixture) {
  for (int i = 0; i < 2; ++i) tfrt_transport_close(vtable->transport(fixture->network, i));
  for (int i = 0; i < 2; ++i) tfrt_transport_drain(vtable->transport(fixture->network, i));
  if (fixture->dialler.connection) ck_assert(fixture->dialler.was_closed);
  if (fixture->listener.connection) ck_assert(fixture->listener.was_closed);
  peer_deinitialize(&fixture->dialler);
  peer_deinitialize(&fixture->listener);
  vtable->destroy(fixture->network);
}

// For an answer that comes, however busy the machine is; and for one that doesn't.
#define ANSWER_NS (30 * TFRT_NANOSECONDS_PER_SECOND)
#define NO_ANSWER_NS TFRT_NANOSECONDS_PER_SECOND

static tfrt_status_t fixture_try_dial(fixture_t* fixture, const char* address,
                                      tfrt_transport_kind_t kind, const char* key) {
  const tfrt_transport_metadata_t metadata[2] = {
      {tfrt_string_view_of("other"), tfrt_string_view_of("value")},
      {tfrt_string_view_of(TFRT_TRANSPORT_CLUSTER_KEY), tfrt_string_view_of(key)},
  };
  const tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(address),
      .kind = kind,
      .metadata = metadata,
      .metadata_count = key ? 2 : 1,
      .timeout_ns = fixture->is_silent ? NO_ANSWER_NS : ANSWER_NS,
  };
  peer_t* dialler = &fixture->dialler;
  TFRT_RETURN_IF_ERROR(tfrt_transport_dial(vtable->transport(fixture->network, 1), &options,
                                           &dialler->handler, &dialler->connection));
  if (dialler->receives) tfrt_transport_connection_receive(dialler->connection);
  return NULL;
}

static void fixture_dial(fixture_t* fixture) {
  assert_ok(fixture_try_dial(fixture, fixture->address, TFRT_TRANSPORT_CONTROL, SECRET));
}

static void fixture_run_until(fixture_t* fixture, tfrt_transport_suite_predicate_fn_t predicate,
                              void* argument) {
  if (vtable->run_until(fixture->network, predicate, argument)) return;
  const peer_t* dialler = &fixture->dialler;
  const peer_t* listener = &fixture->listener;
  ck_abort_msg(
      "what was waited for did not happen: %zu accepted; dialler: %zu messages, %s %s; "
      "listener: %zu messages, %s %s",
      fixture->accepted_count, dialler->message_count,
      dialler->was_closed ? tfrt_transport_end_name(dialler->end) : "open", dialler->text,
      listener->message_count,
      listener->was_closed ? tfrt_transport_end_name(listener->end) : "open", listener->text);
}

static bool is_closed(void* argument) {
  tfrt_mutex_lock(&lock);
  bool result = ((peer_t*)argument)->was_closed;
  tfrt_mutex_unlock(&lock);
  return result;
}

static bool has_messages(void* argument) {
  peer_t* peer = argument;
  tfrt_mutex_lock(&lock);
  bool result = peer->message_count >= peer->wait_for;
  tfrt_mutex_unlock(&lock);
  return result;
}

static bool has_written(void* argument) {
  peer_t* peer = argument;
  tfrt_mutex_lock(&lock);
  bool result = peer->written_count + peer->failed_count >= peer->wait_for;
  tfrt_mutex_unlock(&lock);
  return result;
}

static bool is_accepted(void* argument) {
  tfrt_mutex_lock(&lock);
  bool result = ((fixture_t*)argument)->accepted_count > 0;
  tfrt_mutex_unlock(&lock);
  return result;
}

static void wait_for_messages(fixture_t* fixture, peer_t* peer, size_t count) {
  peer->wait_for = count;
  fixture_run_until(fixture, has_messages, peer);
}

static void wait_for_end(fixture_t* fixture, peer_t* peer, tfrt_transport_end_t end) {
  fixture_run_until(fixture, is_closed, peer);
  ck_assert_str_eq(tfrt_transport_end_name(peer->end), tfrt_transport_end_name(end));
}

// Waits until |count| writes have ended: one that begins after the end may be told after it.
static void wait_for_writes(fixture_t* fixture, peer_t* peer, size_t count) {
  peer->wait_for = count;
  fixture_run_until(fixture, has_written, peer);
}

// A stream that both sides know, because a message went each way.
static void fixture_connect(fixture_t* fixture) {
  fixture_dial(fixture);
  fixture_run_until(fixture, is_accepted, fixture);
}

// --- Messages ----------------------------------------------------------------

START_TEST(delivers_messages_in_order) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_dial(&fixture);
  peer_write(&fixture.dialler, 200, 100);
  wait_for_messages(&fixture, &fixture.listener, 200);
  for (size_t i = 0; i < 200; ++i) {
    ck_assert_uint_eq(fixture.listener.first_bytes[i], i + 1);
    ck_assert_uint_eq(fixture.listener.sizes[i], 100);
  }
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(carries_messages_both_ways_at_once) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 50, 10);
  peer_write(&fixture.listener, 60, 2000);
  wait_for_messages(&fixture, &fixture.listener, 50);
  wait_for_messages(&fixture, &fixture.dialler, 60);
  for (size_t i = 0; i < 60; ++i) ck_assert_uint_eq(fixture.dialler.first_bytes[i], i + 1);
  ck_assert_uint_eq(fixture.listener.first_bytes[49], 50);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_large_message_arrives_whole) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 3, TFRT_TRANSPORT_MAX_MESSAGE_SIZE);
  wait_for_messages(&fixture, &fixture.listener, 3);
  for (size_t i = 0; i < 3; ++i) {
    ck_assert_uint_eq(fixture.listener.sizes[i], TFRT_TRANSPORT_MAX_MESSAGE_SIZE);
  }
  ck_assert_uint_eq(fixture.listener.sums[2],
                    add_bytes(0, fixture.dialler.bytes, fixture.dialler.size));
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(joins_the_spans_of_a_message) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_dial(&fixture);
  unsigned char bytes[TFRT_TRANSPORT_MAX_SPANS * 3];
  for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = (unsigned char)(i + 1);
  tfrt_transport_write_t* write = &fixture.dialler.write;
  for (size_t i = 0; i < TFRT_TRANSPORT_MAX_SPANS; ++i) {
    write->spans[i] = (tfrt_transport_span_t){bytes + 3 * i, 3};
  }
  write->spans[5] = (tfrt_transport_span_t){NULL, 0};
  write->span_count = TFRT_TRANSPORT_MAX_SPANS;
  write->on_written = peer_on_written;
  assert_ok(tfrt_transport_connection_write(fixture.dialler.connection, write));
  wait_for_messages(&fixture, &fixture.listener, 1);
  uint32_t sum = add_bytes(add_bytes(0, bytes, 15), bytes + 18, sizeof(bytes) - 18);
  ck_assert_uint_eq(fixture.listener.sizes[0], sizeof(bytes) - 3);
  ck_assert_uint_eq(fixture.listener.sums[0], sum);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(keeps_the_kind_of_a_stream) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  assert_ok(fixture_try_dial(&fixture, fixture.address, TFRT_TRANSPORT_BULK, SECRET));
  peer_write(&fixture.dialler, 1, 8);
  wait_for_messages(&fixture, &fixture.listener, 1);
  ck_assert_int_eq(fixture.accepted_kind, TFRT_TRANSPORT_BULK);
  ck_assert_int_eq(tfrt_transport_connection_kind(fixture.listener.connection),
                   TFRT_TRANSPORT_BULK);
  ck_assert_int_eq(tfrt_transport_connection_kind(fixture.dialler.connection), TFRT_TRANSPORT_BULK);
  fixture_deinitialize(&fixture);
}
END_TEST

// --- Flow --------------------------------------------------------------------

START_TEST(gives_no_message_that_was_not_asked_for) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture.listener.receives = false;
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 5, 10);
  vtable->run_until(fixture.network, NULL, NULL);
  ck_assert_uint_eq(fixture.listener.message_count, 0);
  tfrt_transport_connection_receive(fixture.listener.connection);
  tfrt_transport_connection_receive(fixture.listener.connection);
  wait_for_messages(&fixture, &fixture.listener, 2);
  vtable->run_until(fixture.network, NULL, NULL);
  ck_assert_uint_eq(fixture.listener.message_count, 2);
  ck_assert_uint_eq(fixture.listener.first_bytes[1], 2);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_reader_that_does_not_ask_holds_the_writer_back) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture.listener.receives = false;
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 100, 1 << 20);
  vtable->run_until(fixture.network, NULL, NULL);
  tfrt_mutex_lock(&lock);
  size_t written = fixture.dialler.written_count;
  fixture.listener.receives = true;
  tfrt_mutex_unlock(&lock);
  ck_assert_uint_lt(written, 100);
  tfrt_transport_connection_receive(fixture.listener.connection);
  wait_for_messages(&fixture, &fixture.listener, 100);
  ck_assert_uint_eq(fixture.listener.first_bytes[99], 100);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(takes_one_write_at_a_time) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture.listener.receives = false;
  fixture_connect(&fixture);
  // So much that one of them stays in flight.
  peer_write(&fixture.dialler, 100, 1 << 20);
  vtable->run_until(fixture.network, NULL, NULL);
  tfrt_transport_write_t second = {
      .spans = {{"x", 1}}, .span_count = 1, .on_written = peer_on_written};
  assert_code(tfrt_transport_connection_write(fixture.dialler.connection, &second),
              TFRT_STATUS_FAILED_PRECONDITION);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_message_that_breaks_the_rules_is_refused_at_once) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_dial(&fixture);
  tfrt_transport_write_t write = {.on_written = peer_on_written};
  assert_code(tfrt_transport_connection_write(fixture.dialler.connection, &write),
              TFRT_STATUS_INVALID_ARGUMENT);
  write.span_count = 1;
  write.spans[0] = (tfrt_transport_span_t){"", TFRT_TRANSPORT_MAX_MESSAGE_SIZE + 1};
  assert_code(tfrt_transport_connection_write(fixture.dialler.connection, &write),
              TFRT_STATUS_INVALID_ARGUMENT);
  write.span_count = TFRT_TRANSPORT_MAX_SPANS + 1;
  assert_code(tfrt_transport_connection_write(fixture.dialler.connection, &write),
              TFRT_STATUS_INVALID_ARGUMENT);
  fixture_deinitialize(&fixture);
}
END_TEST

// --- Beginnings --------------------------------------------------------------

START_TEST(refuses_a_wrong_cluster_key) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  assert_ok(fixture_try_dial(&fixture, fixture.address, TFRT_TRANSPORT_CONTROL, "open barley"));
  peer_write(&fixture.dialler, 1, 10);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_REJECTED);
  wait_for_writes(&fixture, &fixture.dialler, 1);
  ck_assert_int_eq(fixture.dialler.code, TFRT_STATUS_UNAUTHENTICATED);
  ck_assert_uint_eq(fixture.dialler.written_count + fixture.dialler.failed_count, 1);
  ck_assert_uint_eq(fixture.rejected_count, 1);
  ck_assert_uint_eq(fixture.accepted_count, 0);
  ck_assert_uint_eq(fixture.listener.message_count, 0);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(refuses_a_missing_cluster_key) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  assert_ok(fixture_try_dial(&fixture, fixture.address, TFRT_TRANSPORT_CONTROL, NULL));
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_REJECTED);
  ck_assert_int_eq(fixture.dialler.code, TFRT_STATUS_UNAUTHENTICATED);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(reports_a_refused_dial) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  assert_ok(fixture_try_dial(&fixture, vtable->refusing_address(fixture.network),
                             TFRT_TRANSPORT_CONTROL, SECRET));
  peer_write(&fixture.dialler, 1, 10);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_REFUSED);
  wait_for_writes(&fixture, &fixture.dialler, 1);
  ck_assert_int_eq(fixture.dialler.code, TFRT_STATUS_UNAVAILABLE);
  ck_assert_uint_eq(fixture.dialler.written_count + fixture.dialler.failed_count, 1);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(reports_that_nobody_answers) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  const char* address = vtable->silent_address(fixture.network);
  if (address) {
    fixture.is_silent = true;
    assert_ok(fixture_try_dial(&fixture, address, TFRT_TRANSPORT_CONTROL, SECRET));
    wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_NO_ANSWER);
    ck_assert_int_eq(fixture.dialler.code, TFRT_STATUS_UNAVAILABLE);
  }
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_dial_that_can_not_work_fails_at_once) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  assert_code(fixture_try_dial(&fixture, "", TFRT_TRANSPORT_CONTROL, SECRET),
              TFRT_STATUS_INVALID_ARGUMENT);
  assert_code(fixture_try_dial(&fixture, fixture.address, (tfrt_transport_kind_t)7, SECRET),
              TFRT_STATUS_INVALID_ARGUMENT);
  assert_code(fixture_try_dial(&fixture, fixture.address, TFRT_TRANSPORT_CONTROL, "no\nline"),
              TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_null(fixture.dialler.connection);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(listens_once_and_on_a_free_address) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  assert_code(
      tfrt_transport_listen(vtable->transport(fixture.network, 1),
                            tfrt_string_view_of(fixture.address), &fixture.acceptor, address),
      TFRT_STATUS_ALREADY_EXISTS);
  assert_code(tfrt_transport_listen(vtable->transport(fixture.network, 0),
                                    tfrt_string_view_of(vtable->listen_address(fixture.network)),
                                    &fixture.acceptor, address),
              TFRT_STATUS_FAILED_PRECONDITION);
  fixture_deinitialize(&fixture);
}
END_TEST

// --- Ends --------------------------------------------------------------------

START_TEST(an_abort_reaches_both_sides) {
  for (int by_listener = 0; by_listener < 2; ++by_listener) {
    fixture_t fixture;
    fixture_initialize(&fixture);
    fixture_connect(&fixture);
    peer_write(&fixture.dialler, 1, 10);
    wait_for_messages(&fixture, &fixture.listener, 1);
    peer_t* aborter = by_listener ? &fixture.listener : &fixture.dialler;
    tfrt_transport_connection_abort(aborter->connection);
    tfrt_transport_connection_abort(aborter->connection);
    wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_RESET);
    wait_for_end(&fixture, &fixture.listener, TFRT_TRANSPORT_RESET);
    ck_assert_int_ne(fixture.dialler.code, TFRT_STATUS_OK);
    ck_assert_int_ne(fixture.listener.code, TFRT_STATUS_OK);
    fixture_deinitialize(&fixture);
  }
}
END_TEST

START_TEST(a_close_ends_behind_what_was_written) {
  for (int by_listener = 0; by_listener < 2; ++by_listener) {
    fixture_t fixture;
    fixture_initialize(&fixture);
    fixture_connect(&fixture);
    peer_t* writer = by_listener ? &fixture.listener : &fixture.dialler;
    peer_t* reader = by_listener ? &fixture.dialler : &fixture.listener;
    peer_write(writer, 3, 1000);
    writer->wait_for = 3;
    fixture_run_until(&fixture, has_written, writer);
    tfrt_transport_connection_close(writer->connection);
    wait_for_end(&fixture, reader, TFRT_TRANSPORT_ENDED);
    wait_for_end(&fixture, writer, TFRT_TRANSPORT_ENDED);
    ck_assert_uint_eq(reader->message_count, 3);
    ck_assert_int_eq(reader->code, TFRT_STATUS_OK);
    fixture_deinitialize(&fixture);
  }
}
END_TEST

START_TEST(close_while_writing_completes_the_write_callback) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 1, 1 << 20);
  tfrt_transport_connection_close(fixture.dialler.connection);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_ENDED);
  wait_for_end(&fixture, &fixture.listener, TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(fixture.dialler.written_count, 1);
  ck_assert_uint_eq(fixture.dialler.failed_count, 0);
  ck_assert_uint_eq(fixture.listener.message_count, 1);
  fixture_deinitialize(&fixture);
}
END_TEST

static size_t count_written(const peer_t* peer) {
  tfrt_mutex_lock(&lock);
  size_t count = peer->written_count;
  tfrt_mutex_unlock(&lock);
  return count;
}

// Until none of the writes of |peer| has been done for long: the one in flight has no room.
static void wait_until_stuck(fixture_t* fixture, const peer_t* peer) {
  size_t written = 0;
  for (int quiet = 0; quiet < 25; ++quiet) {
    vtable->run_until(fixture->network, NULL, NULL);
    if (count_written(peer) > written) quiet = 0;
    written = count_written(peer);
  }
}

// The listener has not received what the dialler wrote, so its side goes on; the dialler has no
// room for what the listener writes, so the end can't be told behind that.
START_TEST(a_close_waits_for_the_peer_and_an_abort_does_not) {
  for (int by_listener = 0; by_listener < 2; ++by_listener) {
    fixture_t fixture;
    fixture_initialize(&fixture);
    peer_t* closer = by_listener ? &fixture.listener : &fixture.dialler;
    peer_t* reader = by_listener ? &fixture.dialler : &fixture.listener;
    reader->receives = false;
    fixture_connect(&fixture);
    peer_write(closer, by_listener ? 100 : 1, 1 << 20);
    wait_until_stuck(&fixture, closer);
    tfrt_transport_connection_close(closer->connection);
    vtable->run_until(fixture.network, NULL, NULL);
    ck_assert(!is_closed(closer));
    tfrt_transport_connection_abort(closer->connection);
    wait_for_end(&fixture, closer, TFRT_TRANSPORT_RESET);
    fixture_deinitialize(&fixture);
  }
}
END_TEST

START_TEST(abort_while_writing_completes_the_write_callback) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture.listener.receives = false;
  fixture_connect(&fixture);
  peer_write(&fixture.dialler, 100, 1 << 20);
  vtable->run_until(fixture.network, NULL, NULL);
  tfrt_transport_connection_abort(fixture.dialler.connection);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_RESET);
  // One that has ended well may have begun another one just then.
  tfrt_mutex_lock(&lock);
  size_t begun = 100 - fixture.dialler.to_write;
  tfrt_mutex_unlock(&lock);
  wait_for_writes(&fixture, &fixture.dialler, begun);
  ck_assert_uint_eq(fixture.dialler.written_count + fixture.dialler.failed_count, begun);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_write_after_the_end_fails_through_its_callback) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  fixture_connect(&fixture);
  tfrt_transport_connection_abort(fixture.listener.connection);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_RESET);
  peer_write(&fixture.dialler, 1, 10);
  wait_for_writes(&fixture, &fixture.dialler, 1);
  ck_assert_uint_eq(fixture.dialler.failed_count, 1);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(closing_a_transport_resets_its_connections) {
  for (int closer = 0; closer < 2; ++closer) {
    fixture_t fixture;
    fixture_initialize(&fixture);
    fixture_connect(&fixture);
    peer_write(&fixture.dialler, 1, 10);
    wait_for_messages(&fixture, &fixture.listener, 1);
    tfrt_transport_close(vtable->transport(fixture.network, closer));
    wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_RESET);
    wait_for_end(&fixture, &fixture.listener, TFRT_TRANSPORT_RESET);
    fixture_deinitialize(&fixture);
  }
}
END_TEST

START_TEST(a_closed_transport_neither_dials_nor_listens) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  tfrt_transport_close(vtable->transport(fixture.network, 1));
  assert_code(fixture_try_dial(&fixture, fixture.address, TFRT_TRANSPORT_CONTROL, SECRET),
              TFRT_STATUS_FAILED_PRECONDITION);
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  assert_code(tfrt_transport_listen(vtable->transport(fixture.network, 1),
                                    tfrt_string_view_of(vtable->listen_address(fixture.network)),
                                    &fixture.acceptor, address),
              TFRT_STATUS_FAILED_PRECONDITION);
  fixture_deinitialize(&fixture);
}
END_TEST

START_TEST(a_dial_to_a_closed_transport_is_refused) {
  fixture_t fixture;
  fixture_initialize(&fixture);
  tfrt_transport_close(vtable->transport(fixture.network, 0));
  fixture_dial(&fixture);
  wait_for_end(&fixture, &fixture.dialler, TFRT_TRANSPORT_REFUSED);
  fixture_deinitialize(&fixture);
}
END_TEST

// With fewer descriptors than connections: none keeps one.
START_TEST(many_connections_one_after_the_other_leak_nothing) {
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit low = {.rlim_cur = 200, .rlim_max = limit.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
  fixture_t fixture;
  fixture_initialize(&fixture);
  for (int i = 0; i < 250; ++i) {
    fixture_connect(&fixture);
    peer_write(&fixture.dialler, 1, 10);
    wait_for_messages(&fixture, &fixture.listener, 1);
    if (i % 2 == 0) {
      tfrt_transport_connection_close(fixture.dialler.connection);
    } else {
      tfrt_transport_connection_abort(fixture.listener.connection);
    }
    fixture_run_until(&fixture, is_closed, &fixture.dialler);
    fixture_run_until(&fixture, is_closed, &fixture.listener);
    tfrt_mutex_lock(&lock);
    peer_deinitialize(&fixture.dialler);
    peer_deinitialize(&fixture.listener);
    peer_initialize(&fixture.dialler);
    peer_initialize(&fixture.listener);
    fixture.accepted_count = 0;
    tfrt_mutex_unlock(&lock);
  }
  fixture_deinitialize(&fixture);
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
END_TEST

void tfrt_transport_suite_add(Suite* suite, const tfrt_transport_suite_network_vtable_t* network) {
  vtable = network;
  TCase* messages = tcase_create("messages");
  tcase_add_test(messages, delivers_messages_in_order);
  tcase_add_test(messages, carries_messages_both_ways_at_once);
  tcase_add_test(messages, a_large_message_arrives_whole);
  tcase_add_test(messages, joins_the_spans_of_a_message);
  tcase_add_test(messages, keeps_the_kind_of_a_stream);
  suite_add_tcase(suite, messages);
  TCase* flow = tcase_create("flow");
  tcase_add_test(flow, gives_no_message_that_was_not_asked_for);
  tcase_add_test(flow, a_reader_that_does_not_ask_holds_the_writer_back);
  tcase_add_test(flow, takes_one_write_at_a_time);
  tcase_add_test(flow, a_message_that_breaks_the_rules_is_refused_at_once);
  suite_add_tcase(suite, flow);
  TCase* beginnings = tcase_create("beginnings");
  tcase_add_test(beginnings, refuses_a_wrong_cluster_key);
  tcase_add_test(beginnings, refuses_a_missing_cluster_key);
  tcase_add_test(beginnings, reports_a_refused_dial);
  tcase_add_test(beginnings, reports_that_nobody_answers);
  tcase_add_test(beginnings, a_dial_that_can_not_work_fails_at_once);
  tcase_add_test(beginnings, listens_once_and_on_a_free_address);
  suite_add_tcase(suite, beginnings);
  TCase* ends = tcase_create("ends");
  tcase_add_test(ends, an_abort_reaches_both_sides);
  tcase_add_test(ends, a_close_ends_behind_what_was_written);
  tcase_add_test(ends, close_while_writing_completes_the_write_callback);
  tcase_add_test(ends, a_close_waits_for_the_peer_and_an_abort_does_not);
  tcase_add_test(ends, abort_while_writing_completes_the_write_callback);
  tcase_add_test(ends, a_write_after_the_end_fails_through_its_callback);
  tcase_add_test(ends, closing_a_transport_resets_its_connections);
  tcase_add_test(ends, a_closed_transport_neither_dials_nor_listens);
  tcase_add_test(ends, a_dial_to_a_closed_transport_is_refused);
  tcase_add_test(ends, many_connections_one_after_the_other_leak_nothing);
  suite_add_tcase(suite, ends);
}
