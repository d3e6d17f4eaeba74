// SPDX-License-Identifier: Apache-2.0
//
// Host 0 and a peer that speaks the wire itself: each has an address of the other, so that both may
// dial.
#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

// Incarnations of the peer; that of host 0 is between them.
#define LARGER UINT64_C(1003)
#define SMALLER UINT64_C(999)
#define SESSION 9
#define PASS_NS (10 * TFRT_NANOSECONDS_PER_MILLISECOND)

// The peer's end of one stream.
typedef struct stream_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;  // +1
  tfrt_transport_write_t write;
  tfrt_string_builder_t bytes;
  bool is_dialled;  // by the peer
  bool has_greeting;
  tfrt_status_code_t refusal;
  uint32_t last_dialled;  // said by host 0
  bool is_closed;
} stream_t;

static tfrt_bulk_harness_t harness;
static tfrt_transport_t* transport;
static tfrt_transport_acceptor_t acceptor;
static uint64_t incarnation;
static stream_t dialled;
static stream_t accepted;
static bool is_silent;         // what is dialled by host 0 gets no Welcome
static uint32_t last_dialled;  // what Welcome says

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)write, (void)status;
}

static void write_bytes(stream_t* stream) {
  ck_assert_ptr_null(tfrt_string_builder_status(&stream->bytes));
  stream->write = (tfrt_transport_write_t){.spans = {{stream->bytes.data, stream->bytes.size}},
                                           .span_count = 1,
                                           .on_written = on_written};
  ck_assert_ptr_null(tfrt_transport_connection_write(stream->connection, &stream->write));
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t count) {
  stream_t* stream = TFRT_CONTAINER_OF(handler, stream_t, handler);
  tfrt_bulk_harness_message_t message;
  tfrt_bulk_harness_message_read(&message, spans, count, !stream->is_dialled);
  ck_assert_uint_eq(message.down.kind, TFRT_WIRE_BULK_GREETING);
  stream->has_greeting = true;
  if (stream->is_dialled) {
    const tfrt_wire_error_t* error = message.down.welcome.error;
    stream->last_dialled = message.down.welcome.last_dialled;
    stream->refusal = error ? (tfrt_status_code_t)error->code : TFRT_STATUS_OK;
  } else if (!is_silent) {
    const tfrt_wire_bulk_t down = {.kind = TFRT_WIRE_BULK_GREETING,
                                   .welcome = {.last_dialled = last_dialled}};
    ck_assert_ptr_null(tfrt_wire_bulk_encode(&down, false, &stream->bytes));
    write_bytes(stream);
  }
  tfrt_bulk_harness_message_deinitialize(&message);
  tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection, (void)end, (void)status;
  TFRT_CONTAINER_OF(handler, stream_t, handler)->is_closed = true;
}

static const tfrt_transport_handler_vtable_t handler_vtable = {on_message, on_closed};

static tfrt_status_t accept_stream(tfrt_transport_acceptor_t* self,
                                   const tfrt_transport_incoming_t* incoming,
                                   tfrt_transport_handler_t** out_handler) {
  (void)self;
  ck_assert_ptr_null(accepted.connection);
  accepted.connection = tfrt_transport_connection_retain(incoming->connection);
  *out_handler = &accepted.handler;
  tfrt_transport_connection_receive(incoming->connection);
  return NULL;
}

static const tfrt_transport_acceptor_vtable_t acceptor_vtable = {accept_stream};

static void pass(int64_t time_ns) { tfrt_bulk_harness_pass(&harness, time_ns); }

static void initialize_stream(stream_t* stream, bool is_dialled) {
  *stream = (stream_t){.handler = {&handler_vtable}, .is_dialled = is_dialled};
  tfrt_string_builder_initialize(&stream->bytes, tfrt_allocator_system());
}

// Has host 0 dial the peer |of|, which answers as the two above say.
static void begin(uint64_t of) {
  incarnation = of;
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  tfrt_bulk_harness_begin(&harness, &options);
  initialize_stream(&dialled, true);
  initialize_stream(&accepted, false);
  acceptor.vtable = &acceptor_vtable;
  transport = tfrt_simulated_endpoint_transport(
      tfrt_simulated_network_add_endpoint(harness.network, "peer"));
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  ck_assert_ptr_null(
      tfrt_transport_listen(transport, tfrt_string_view_of("peer:1"), &acceptor, address));
  const tfrt_bulk_session_t session = {.incarnation = incarnation,
                                       .session = SESSION,
                                       .version = 1,
                                       .chunk_bytes = 1000,
                                       .address = tfrt_string_view_of(address)};
  tfrt_bulk_harness_host_t* host = &harness.hosts[0];
  tfrt_node_lock_lock(&host->lock);
  ck_assert_ptr_null(tfrt_bulk_manager_open(host->manager, &session));
  tfrt_bulk_manager_need(host->manager, incarnation, 0);
  tfrt_node_lock_unlock_and_run(&host->lock);
  pass(PASS_NS);
  ck_assert(accepted.has_greeting);
}

// Has the peer dial host 0 as its stream |number|, and host 0 answer.
static void dial(uint32_t number) {
  tfrt_transport_connection_release(dialled.connection);
  tfrt_string_builder_deinitialize(&dialled.bytes);
  initialize_stream(&dialled, true);
  const tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(harness.hosts[0].address),
      .kind = TFRT_TRANSPORT_BULK,
      .timeout_ns = TFRT_NANOSECONDS_PER_SECOND};
  ck_assert_ptr_null(
      tfrt_transport_dial(transport, &options, &dialled.handler, &dialled.connection));
  const tfrt_wire_bulk_t up = {.kind = TFRT_WIRE_BULK_GREETING,
                               .hello = {.version = 1,
                                         .from_incarnation = incarnation,
                                         .to_incarnation = harness.hosts[0].incarnation,
                                         .session = SESSION,
                                         .connection = number}};
  ck_assert_ptr_null(tfrt_wire_bulk_encode(&up, true, &dialled.bytes));
  tfrt_transport_connection_receive(dialled.connection);
  write_bytes(&dialled);
  pass(PASS_NS);
  ck_assert(dialled.has_greeting);
}

static void end(void) {
  tfrt_transport_close(transport);
  tfrt_transport_connection_release(dialled.connection);
  tfrt_transport_connection_release(accepted.connection);
  tfrt_bulk_harness_end(&harness);
  tfrt_string_builder_deinitialize(&dialled.bytes);
  tfrt_string_builder_deinitialize(&accepted.bytes);
}

START_TEST(who_dials_has_lost_the_channel_that_the_other_side_still_has) {
  is_silent = false;
  last_dialled = 0;
  begin(LARGER);
  pass(20 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert(!accepted.is_closed);
  dial(1);
  ck_assert_int_eq(dialled.refusal, TFRT_STATUS_OK);
  ck_assert(!dialled.is_closed);
  ck_assert(accepted.is_closed);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).dials, 1);
  end();
}
END_TEST

START_TEST(a_dial_that_was_given_up_for_the_channel_does_not_replace_it) {
  is_silent = false;
  last_dialled = 2;
  begin(LARGER);
  for (uint32_t number = 1; number <= 2; ++number) {
    dial(number);
    ck_assert_int_eq(dialled.refusal, TFRT_STATUS_ALREADY_EXISTS);
    ck_assert(!accepted.is_closed);
  }
  dial(3);
  ck_assert_int_eq(dialled.refusal, TFRT_STATUS_OK);
  ck_assert(accepted.is_closed);
  end();
}
END_TEST

START_TEST(the_dial_of_the_larger_incarnation_is_refused_while_the_other_is_not_answered) {
  is_silent = true;
  begin(LARGER);
  dial(1);
  ck_assert_int_eq(dialled.refusal, TFRT_STATUS_ALREADY_EXISTS);
  ck_assert(!accepted.is_closed);
  end();
}
END_TEST

START_TEST(a_dial_is_given_up_for_that_of_the_smaller_incarnation_which_is_told_so) {
  is_silent = true;
  begin(SMALLER);
  dial(1);
  ck_assert_int_eq(dialled.refusal, TFRT_STATUS_OK);
  ck_assert_uint_eq(dialled.last_dialled, 1);
  ck_assert(accepted.is_closed);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("channel_crossing");
  TCase* crossing = tcase_create("crossing");
  tcase_add_test(crossing, who_dials_has_lost_the_channel_that_the_other_side_still_has);
  tcase_add_test(crossing, a_dial_that_was_given_up_for_the_channel_does_not_replace_it);
  tcase_add_test(crossing,
                 the_dial_of_the_larger_incarnation_is_refused_while_the_other_is_not_answered);
  tcase_add_test(crossing, a_dial_is_given_up_for_that_of_the_smaller_incarnation_which_is_told_so);
  suite_add_tcase(suite, crossing);
  return suite;
}
