// SPDX-License-Identifier: Apache-2.0
//
// A peer that speaks the wire itself, and wrongly where a test wants that, against host 0.
#include <string.h>

#include "tests/distributed/bulk/bulk_harness.h"
#include "tests/support/test_main.h"

#define LONG_NS (2 * TFRT_NANOSECONDS_PER_SECOND)

// More than any limit on what may wait.
#define MANY 20000

static tfrt_bulk_harness_t harness;

// The peer: host 1's place in the network, but not its channels.
typedef struct stranger_s {
  tfrt_transport_handler_t handler;
  tfrt_transport_connection_t* connection;
  bool is_writing;
  bool is_closed;
  bool is_deaf;        // asks for no message
  bool is_deaf_later;  // to what comes behind the Welcome
  tfrt_transport_write_t write;
  tfrt_string_builder_t bytes;
  // The messages that came.
  bool is_welcome;
  tfrt_status_code_t refusal;
  tfrt_status_code_t abort_code;
  uint64_t abort_want;
  bool abort_is_from_owner;
  uint64_t window;
  uint64_t window_want;
  uint64_t received;
  uint32_t chunks;
  bool has_last;
} stranger_t;

static stranger_t stranger;

static void on_written(tfrt_transport_write_t* write, tfrt_status_t status) {
  (void)write, (void)status;
  stranger.is_writing = false;
}

static void on_message(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                       const tfrt_transport_span_t* spans, size_t count) {
  (void)handler;
  tfrt_bulk_harness_message_t message;
  tfrt_bulk_harness_message_read(&message, spans, count, false);
  if (message.down.kind == TFRT_WIRE_BULK_GREETING) {
    const tfrt_wire_error_t* error = message.down.welcome.error;
    stranger.is_welcome = !error;
    stranger.refusal = error ? (tfrt_status_code_t)error->code : TFRT_STATUS_OK;
  } else if (message.down.kind == TFRT_WIRE_BULK_WINDOW) {
    stranger.window = message.down.window.limit;
    stranger.window_want = message.down.window.want;
  } else if (message.down.kind == TFRT_WIRE_BULK_ABORT) {
    stranger.abort_code = (tfrt_status_code_t)message.down.abort.error->code;
    stranger.abort_want = message.down.abort.want;
    stranger.abort_is_from_owner = message.down.abort.from_owner;
  } else {
    ck_assert_uint_eq(message.down.chunk.offset, stranger.received);
    ck_assert_int_eq(message.down.chunk.type.size > 0, stranger.chunks == 0);
    stranger.received += message.down.chunk.payload.size;
    stranger.has_last = message.down.chunk.last;
    ++stranger.chunks;
  }
  tfrt_bulk_harness_message_deinitialize(&message);
  if (!stranger.is_deaf_later) tfrt_transport_connection_receive(connection);
}

static void on_closed(tfrt_transport_handler_t* handler, tfrt_transport_connection_t* connection,
                      tfrt_transport_end_t end, tfrt_status_t status) {
  (void)connection, (void)end, (void)status;
  TFRT_CONTAINER_OF(handler, stranger_t, handler)->is_closed = true;
}

static const tfrt_transport_handler_vtable_t handler_vtable = {on_message, on_closed};

static bool can_write(void* argument) {
  (void)argument;
  return !stranger.is_writing;
}

static void pass(void) { tfrt_bulk_harness_pass(&harness, 10 * TFRT_NANOSECONDS_PER_MILLISECOND); }

// Sends what is in |stranger.bytes|.
static void write_out(void) {
  ck_assert_ptr_null(tfrt_string_builder_status(&stranger.bytes));
  stranger.write = (tfrt_transport_write_t){.spans = {{stranger.bytes.data, stranger.bytes.size}},
                                            .span_count = 1,
                                            .on_written = on_written};
  stranger.is_writing = true;
  ck_assert_ptr_null(tfrt_transport_connection_write(stranger.connection, &stranger.write));
  ck_assert(tfrt_simulated_network_run_until(harness.network, can_write, NULL, LONG_NS));
  tfrt_string_builder_clear(&stranger.bytes);
}

// The same, and lets it arrive.
static void flush(void) {
  write_out();
  pass();
}

static void send(const tfrt_wire_bulk_t* message) {
  ck_assert_ptr_null(tfrt_wire_bulk_encode(message, true, &stranger.bytes));
  flush();
}

static const tfrt_wire_bulk_hello_t good_hello = {.version = 1,
                                                  .from_incarnation = 1002,
                                                  .to_incarnation = 1001,
                                                  .session = 7,
                                                  .channel = 0,
                                                  .connection = 1};

static void dial(const tfrt_wire_bulk_hello_t* hello) {
  tfrt_transport_connection_release(stranger.connection);
  stranger.connection = NULL;
  stranger.is_closed = stranger.is_welcome = false;
  stranger.refusal = TFRT_STATUS_OK;
  const tfrt_transport_dial_options_t options = {
      .address = tfrt_string_view_of(harness.hosts[0].address),
      .kind = TFRT_TRANSPORT_BULK,
      .timeout_ns = LONG_NS};
  ck_assert_ptr_null(
      tfrt_transport_dial(tfrt_simulated_endpoint_transport(harness.hosts[1].endpoint), &options,
                          &stranger.handler, &stranger.connection));
  if (!stranger.is_deaf) tfrt_transport_connection_receive(stranger.connection);
  const tfrt_wire_bulk_t message = {.kind = TFRT_WIRE_BULK_GREETING, .hello = *hello};
  if (hello->version != 0) send(&message);
}

static void begin_with_depth(uint32_t stream_depth) {
  tfrt_bulk_harness_options_t options;
  tfrt_bulk_harness_options_initialize(&options);
  options.network.stream_depth = stream_depth;
  options.diallers = 0;
  options.channels.window_size = 100;
  tfrt_bulk_harness_begin(&harness, &options);
  stranger = (stranger_t){.handler = {&handler_vtable}};
  tfrt_string_builder_initialize(&stranger.bytes, tfrt_allocator_system());
}

static void begin(void) { begin_with_depth(16); }

static void end(void) {
  tfrt_transport_connection_release(stranger.connection);
  tfrt_bulk_harness_end(&harness);
  ck_assert(stranger.is_closed);
  tfrt_string_builder_deinitialize(&stranger.bytes);
}

// Host 0 wants |size| bytes; the stranger serves them.
static tfrt_bulk_harness_want_t* want(uint64_t size) {
  size_t index = tfrt_bulk_harness_want(&harness, 0, size, 9);
  pass();
  return &harness.hosts[0].wants[index];
}

static tfrt_wire_chunk_t chunk_of(uint64_t number, uint64_t offset, size_t size, uint64_t total) {
  static uint8_t bytes[1000];
  for (size_t i = 0; i < size; ++i) bytes[i] = tfrt_bulk_harness_byte(9, offset + i);
  tfrt_wire_chunk_t chunk = {.want = number,
                             .offset = offset,
                             .last = offset + size == total,
                             .payload = tfrt_string_view_make((const char*)bytes, size)};
  if (offset == 0) {
    chunk.type = tfrt_string_view_of("!test.bytes");
    chunk.header = tfrt_string_view_of("head");
    chunk.total_size = total;
  }
  return chunk;
}

static void send_chunk(tfrt_wire_chunk_t chunk) {
  const tfrt_wire_bulk_t message = {.kind = TFRT_WIRE_BULK_CHUNK, .chunk = chunk};
  send(&message);
}

START_TEST(hello_must_be_that_of_an_open_session) {
  begin();
  struct {
    tfrt_wire_bulk_hello_t hello;
    tfrt_status_code_t code;
  } cases[] = {
      {good_hello, TFRT_STATUS_UNAVAILABLE},         {good_hello, TFRT_STATUS_FAILED_PRECONDITION},
      {good_hello, TFRT_STATUS_FAILED_PRECONDITION}, {good_hello, TFRT_STATUS_FAILED_PRECONDITION},
      {good_hello, TFRT_STATUS_OUT_OF_RANGE},
  };
  cases[0].hello.to_incarnation = 5;
  cases[1].hello.from_incarnation = 5;
  cases[2].hello.session = 6;
  cases[3].hello.version = 2;
  cases[4].hello.channel = 1;
  for (size_t i = 0; i < 5; ++i) {
    dial(&cases[i].hello);
    ck_assert_int_eq(stranger.refusal, cases[i].code);
    ck_assert(stranger.is_closed);
  }
  dial(&good_hello);
  ck_assert(stranger.is_welcome);
  ck_assert(!stranger.is_closed);
  end();
}
END_TEST

START_TEST(who_says_nothing_is_sent_away) {
  begin();
  const tfrt_wire_bulk_hello_t none = {0};
  dial(&none);
  pass();
  ck_assert(!stranger.is_closed);
  tfrt_bulk_harness_pass(&harness, 5 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert(stranger.is_closed);
  end();
}
END_TEST

// The answer does not get through, so that the end of the stream, which goes behind it, doesn't
// either.
START_TEST(who_is_refused_and_reads_nothing_is_not_waited_for) {
  begin_with_depth(1);
  stranger.is_deaf = true;
  tfrt_wire_bulk_hello_t hello = good_hello;
  hello.session = 6;
  dial(&hello);
  ck_assert(!stranger.is_closed);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 1);
  tfrt_bulk_harness_pass(&harness, 3 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert(stranger.is_closed);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 0);
  end();
}
END_TEST

// Nor do they keep out who speaks.
START_TEST(only_so_many_may_be_silent) {
  begin();
  stranger_t others[70];
  for (int i = 0; i < 70; ++i) {
    others[i] = (stranger_t){.handler = {&handler_vtable}};
    const tfrt_transport_dial_options_t options = {
        .address = tfrt_string_view_of(harness.hosts[0].address),
        .kind = TFRT_TRANSPORT_BULK,
        .timeout_ns = LONG_NS};
    ck_assert_ptr_null(
        tfrt_transport_dial(tfrt_simulated_endpoint_transport(harness.hosts[1].endpoint), &options,
                            &others[i].handler, &others[i].connection));
  }
  pass();
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 64);
  int closed = 0;
  for (int i = 0; i < 70; ++i) closed += others[i].is_closed;
  ck_assert_int_eq(closed, 6);
  dial(&good_hello);
  ck_assert(stranger.is_welcome);
  tfrt_bulk_harness_pass(&harness, 5 * TFRT_NANOSECONDS_PER_SECOND);
  ck_assert(!stranger.is_closed);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).channels, 1);
  for (int i = 0; i < 70; ++i) tfrt_transport_connection_release(others[i].connection);
  end();
}
END_TEST

START_TEST(a_later_connection_takes_over_and_an_earlier_one_is_refused) {
  begin();
  tfrt_wire_bulk_hello_t hello = good_hello;
  hello.connection = 5;
  dial(&hello);
  ck_assert(stranger.is_welcome);
  tfrt_transport_connection_abort(stranger.connection);
  pass();
  hello.connection = 4;
  dial(&hello);
  ck_assert_int_eq(stranger.refusal, TFRT_STATUS_ALREADY_EXISTS);
  hello.connection = 6;
  dial(&hello);
  ck_assert(stranger.is_welcome);
  end();
}
END_TEST

START_TEST(good_chunks_are_received_and_the_window_moves) {
  begin();
  dial(&good_hello);
  tfrt_bulk_harness_want_t* wanted = want(250);
  send_chunk(chunk_of(wanted->number, 0, 40, 250));
  ck_assert_uint_eq(stranger.window, 0);
  send_chunk(chunk_of(wanted->number, 40, 60, 250));
  ck_assert_uint_eq(stranger.window, 200);
  send_chunk(chunk_of(wanted->number, 100, 100, 250));
  ck_assert_uint_eq(stranger.window, 300);
  send_chunk(chunk_of(wanted->number, 200, 50, 250));
  ck_assert(wanted->is_complete);
  ck_assert(wanted->is_intact);
  end();
}
END_TEST

// A control message announces the payload of |wanted| to host 0.
static void expect(const tfrt_bulk_harness_want_t* wanted) {
  tfrt_bulk_harness_host_t* host = &harness.hosts[0];
  tfrt_node_lock_lock(&host->lock);
  tfrt_bulk_manager_need(host->manager, 1002, wanted->number);
  tfrt_node_lock_unlock_and_run(&host->lock);
  pass();
}

START_TEST(who_expects_a_payload_on_an_idle_channel_repeats_the_first_window) {
  begin();
  dial(&good_hello);
  const tfrt_bulk_harness_want_t* wanted = want(250);
  expect(wanted);
  ck_assert_uint_eq(stranger.window, 0);
  tfrt_bulk_harness_pass(&harness, 2 * TFRT_NANOSECONDS_PER_SECOND);
  expect(wanted);
  ck_assert_uint_eq(stranger.window, 100);
  ck_assert_uint_eq(stranger.window_want, wanted->number);
  // That was a use of it.
  stranger.window = 0;
  expect(wanted);
  ck_assert_uint_eq(stranger.window, 0);
  for (uint64_t at = 0; at < 250; at += 50) {
    send_chunk(chunk_of(wanted->number, at, 50, 250));
  }
  ck_assert(wanted->is_intact);
  end();
}
END_TEST

typedef enum mistake_e {
  GAP,
  OVERLAP,
  BEYOND_WINDOW,
  BEHIND_END,
  DESCRIBED_TWICE,
  NOT_MARKED_LAST,
  MARKED_LAST,
  EMPTY,
  WRONG_CHECKSUM,
  MISTAKE_COUNT,
} mistake_t;

static tfrt_wire_chunk_t wrong_chunk(uint64_t number, mistake_t mistake) {
  tfrt_wire_chunk_t chunk = chunk_of(number, 40, 10, 120);
  if (mistake == GAP) chunk = chunk_of(number, 41, 10, 120);
  if (mistake == OVERLAP) chunk = chunk_of(number, 39, 10, 120);
  if (mistake == BEYOND_WINDOW) chunk = chunk_of(number, 40, 61, 120);
  if (mistake == BEHIND_END) chunk = chunk_of(number, 40, 81, 120);
  if (mistake == NOT_MARKED_LAST) chunk = chunk_of(number, 40, 80, 200);
  if (mistake == MARKED_LAST) chunk.last = true;
  if (mistake == EMPTY) chunk.payload.size = 0;
  if (mistake == DESCRIBED_TWICE) {
    chunk.type = tfrt_string_view_of("!test.bytes");
    chunk.total_size = 120;
  }
  if (mistake == WRONG_CHECKSUM) {
    chunk.checksum_kind = TFRT_WIRE_CHECKSUM_CRC32C;
    chunk.checksum = 1;
  }
  return chunk;
}

START_TEST(a_chunk_that_does_not_fit_ends_its_transfer_only) {
  for (int mistake = 0; mistake < MISTAKE_COUNT; ++mistake) {
    begin();
    dial(&good_hello);
    tfrt_bulk_harness_want_t* wanted = want(120);
    uint64_t number = wanted->number;
    send_chunk(chunk_of(number, 0, 40, 120));
    ck_assert_ptr_nonnull(wanted->buffer);
    send_chunk(wrong_chunk(number, (mistake_t)mistake));
    tfrt_status_code_t code =
        mistake == WRONG_CHECKSUM ? TFRT_STATUS_DATA_LOSS : TFRT_STATUS_INVALID_ARGUMENT;
    ck_assert_msg(tfrt_status_code(wanted->error) == code, "mistake %d", mistake);
    ck_assert_ptr_null(wanted->buffer);
    ck_assert_int_eq(stranger.abort_code, code);
    ck_assert_uint_eq(stranger.abort_want, number);
    ck_assert(!stranger.abort_is_from_owner);
    // The chunks still under way are late; the channel and its other transfers live.
    send_chunk(chunk_of(number, 40, 10, 120));
    wanted = want(50);
    send_chunk(chunk_of(wanted->number, 0, 50, 50));
    ck_assert(wanted->is_intact);
    ck_assert_ptr_null(harness.hosts[0].lost);
    end();
  }
}
END_TEST

START_TEST(a_first_chunk_that_does_not_fit_is_told_to_who_waits) {
  begin();
  dial(&good_hello);
  tfrt_bulk_harness_want_t* wanted = want(120);
  tfrt_wire_chunk_t chunk = chunk_of(wanted->number, 0, 110, 120);  // beyond the window
  send_chunk(chunk);
  ck_assert_int_eq(tfrt_status_code(wanted->error), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_uint_eq(wanted->begins, 1);
  ck_assert_ptr_null(wanted->buffer);
  ck_assert_int_eq(stranger.abort_code, TFRT_STATUS_INVALID_ARGUMENT);
  end();
}
END_TEST

START_TEST(chunks_windows_and_aborts_of_nobody_are_ignored) {
  begin();
  dial(&good_hello);
  send_chunk(chunk_of(77, 0, 10, 10));
  send_chunk(chunk_of(77, 10, 10, 30));
  const tfrt_wire_error_t error = {.code = TFRT_STATUS_ABORTED};
  const tfrt_wire_bulk_t messages[] = {
      {.kind = TFRT_WIRE_BULK_WINDOW, .window = {77, 1000}},
      {.kind = TFRT_WIRE_BULK_ABORT, .abort = {.want = 77, .error = &error}},
      {.kind = TFRT_WIRE_BULK_ABORT, .abort = {.want = 77, .from_owner = true, .error = &error}},
  };
  for (int i = 0; i < 3; ++i) send(&messages[i]);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).ignored, 4);
  ck_assert_int_eq(stranger.abort_code, TFRT_STATUS_OK);
  ck_assert(!stranger.is_closed);
  ck_assert_ptr_null(harness.hosts[0].lost);
  end();
}
END_TEST

// An empty one that isn't the last.
START_TEST(a_first_chunk_of_nobody_is_ignored_whatever_is_wrong_with_it) {
  begin();
  dial(&good_hello);
  tfrt_wire_chunk_t chunk = chunk_of(77, 0, 0, 120);
  send_chunk(chunk);
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).ignored, 1);
  ck_assert_int_eq(stranger.abort_code, TFRT_STATUS_OK);
  ck_assert_ptr_null(harness.hosts[0].lost);
  end();
}
END_TEST

static int64_t live_bytes(void) {
  return tfrt_counting_allocator_counts(&harness.allocator).current_bytes;
}

START_TEST(who_reads_nothing_leaves_nothing_behind_with_chunks_of_nobody) {
  begin();
  stranger.is_deaf_later = true;
  dial(&good_hello);
  ck_assert(stranger.is_welcome);
  send_chunk(chunk_of(77, 0, 0, 120));
  const int64_t before = live_bytes();
  for (uint64_t i = 0; i < MANY; ++i) {
    const tfrt_wire_bulk_t message = {.kind = TFRT_WIRE_BULK_CHUNK,
                                      .chunk = chunk_of(78 + i, 0, 0, 120)};
    ck_assert_ptr_null(tfrt_wire_bulk_encode(&message, true, &stranger.bytes));
    write_out();
  }
  pass();
  ck_assert_uint_eq(tfrt_bulk_harness_counts(&harness, 0).ignored, 1 + MANY);
  ck_assert_int_eq(live_bytes(), before);
  end();
}
END_TEST

START_TEST(what_is_no_message_is_told_to_the_core) {
  begin();
  dial(&good_hello);
  tfrt_string_builder_append(&stranger.bytes, "\xff\xff\xff\xff", 4);
  flush();
  ck_assert(stranger.is_closed);
  ck_assert_int_eq(tfrt_status_code(harness.hosts[0].lost), TFRT_STATUS_INVALID_ARGUMENT);
  end();
}
END_TEST

static void serve_to_stranger(tfrt_async_value_t* value, uint64_t limit) {
  tfrt_bulk_harness_host_t* host = &harness.hosts[0];
  const tfrt_bulk_send_t request = {.want = 3, .value = value, .limit = limit};
  tfrt_node_lock_lock(&host->lock);
  ck_assert_ptr_null(tfrt_bulk_manager_send(host->manager, 1002, &request));
  tfrt_node_lock_unlock_and_run(&host->lock);
  tfrt_async_value_release(value);
}

// These are aborts of payloads that the peer asked for and that were announced to it.
START_TEST(only_so_many_aborts_wait_for_who_reads_nothing) {
  begin();
  stranger.is_deaf_later = true;
  dial(&good_hello);
  tfrt_bulk_harness_host_t* host = &harness.hosts[0];
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is over");
  int64_t most = 0;
  for (int i = 0; i < MANY; ++i) {
    serve_to_stranger(tfrt_bulk_harness_value(100, 1), 0);
    tfrt_node_lock_lock(&host->lock);
    tfrt_bulk_manager_end(host->manager, 1002, TFRT_BULK_OUT, 3, status);
    tfrt_node_lock_unlock_and_run(&host->lock);
    if (i < MANY / 2) most = live_bytes();
  }
  ck_assert_int_eq(live_bytes(), most);
  tfrt_status_release(status);
  end();
}
END_TEST

START_TEST(nothing_is_sent_beyond_the_window) {
  begin();
  dial(&good_hello);
  serve_to_stranger(tfrt_bulk_harness_value(5000, 1), 0);
  pass();
  ck_assert_uint_eq(stranger.chunks, 0);
  tfrt_wire_bulk_t message = {.kind = TFRT_WIRE_BULK_WINDOW, .window = {3, 1200}};
  send(&message);
  ck_assert_uint_eq(stranger.received, 1200);
  message.window.limit = 700;  // never falls
  send(&message);
  ck_assert_uint_eq(stranger.received, 1200);
  message.window.limit = UINT64_MAX;
  send(&message);
  ck_assert_uint_eq(stranger.received, 5000);
  ck_assert(stranger.has_last);
  // Pinned until Unwant, or the Abort that is as good.
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 1);
  const tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
  message = (tfrt_wire_bulk_t){.kind = TFRT_WIRE_BULK_ABORT, .abort = {.want = 3, .error = &error}};
  send(&message);
  ck_assert_int_eq(tfrt_bulk_harness_live_values(), 0);
  end();
}
END_TEST

START_TEST(a_payload_before_other_fields_is_read_too) {
  begin();
  dial(&good_hello);
  tfrt_bulk_harness_want_t* wanted = want(3);
  // Chunk { payload (15), want (1), type (3), header (4), total_size (5), last (6) }.
  uint8_t bytes[] = "\x7a\x00\x7a\x03___\x08_\x1a\x0b!test.bytes\x22\x04head\x28\x03\x30\x01";
  size_t size = sizeof(bytes) - 1;
  bytes[1] = (uint8_t)(size - 2);
  for (uint64_t i = 0; i < 3; ++i) bytes[4 + i] = tfrt_bulk_harness_byte(9, i);
  bytes[8] = (uint8_t)wanted->number;
  tfrt_string_builder_append(&stranger.bytes, bytes, size);
  flush();
  ck_assert(wanted->is_intact);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("channel_protocol");
  TCase* protocol = tcase_create("protocol");
  tcase_add_test(protocol, hello_must_be_that_of_an_open_session);
  tcase_add_test(protocol, who_says_nothing_is_sent_away);
  tcase_add_test(protocol, who_is_refused_and_reads_nothing_is_not_waited_for);
  tcase_add_test(protocol, only_so_many_may_be_silent);
  tcase_add_test(protocol, a_later_connection_takes_over_and_an_earlier_one_is_refused);
  tcase_add_test(protocol, good_chunks_are_received_and_the_window_moves);
  tcase_add_test(protocol, who_expects_a_payload_on_an_idle_channel_repeats_the_first_window);
  tcase_add_test(protocol, a_chunk_that_does_not_fit_ends_its_transfer_only);
  tcase_add_test(protocol, a_first_chunk_that_does_not_fit_is_told_to_who_waits);
  tcase_add_test(protocol, chunks_windows_and_aborts_of_nobody_are_ignored);
  tcase_add_test(protocol, a_first_chunk_of_nobody_is_ignored_whatever_is_wrong_with_it);
  tcase_add_test(protocol, who_reads_nothing_leaves_nothing_behind_with_chunks_of_nobody);
  tcase_add_test(protocol, only_so_many_aborts_wait_for_who_reads_nothing);
  tcase_add_test(protocol, what_is_no_message_is_told_to_the_core);
  tcase_add_test(protocol, nothing_is_sent_beyond_the_window);
  tcase_add_test(protocol, a_payload_before_other_fields_is_read_too);
  suite_add_tcase(suite, protocol);
  return suite;
}
