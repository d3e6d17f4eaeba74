// SPDX-License-Identifier: Apache-2.0
//
// Bundles of streams, with gRPC by itself at the other end: it writes on each stream when the test
// says, so messages come in each order, and it keeps no rule.
#include "distributed/transport/grpc/bundle.h"

#include <check.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <stdio.h>
#include <string.h>

#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define STREAMS 4
#define LIMIT_MS 20000
#define TOKEN "00112233445566778899aabbccddeeff"

// --- gRPC by itself ------------------------------------------------------------

static grpc_completion_queue* queue;

// A batch of operations; its address is the tag.
typedef struct op_s {
  bool is_done;
  bool is_ok;
} op_t;

static void await(op_t* op) {
  while (!op->is_done) {
    grpc_event event = grpc_completion_queue_next(
        queue,
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_seconds(TFRT_ENDPOINT_PATIENCE_S, GPR_TIMESPAN)),
        NULL);
    ck_assert_int_eq(event.type, GRPC_OP_COMPLETE);
    op_t* done = event.tag;
    done->is_done = true;
    done->is_ok = event.success != 0;
  }
}

typedef struct stream_s {
  grpc_call* call;
  grpc_metadata_array initial;
  grpc_metadata_array trailing;
  grpc_status_code code;
  grpc_slice details;
  int is_cancelled;
  op_t ended;
} stream_t;

static void start(stream_t* stream, const grpc_op* operations, size_t count, op_t* op) {
  *op = (op_t){0};
  ck_assert_int_eq(grpc_call_start_batch(stream->call, operations, count, op, NULL), GRPC_CALL_OK);
}

static bool run(stream_t* stream, const grpc_op* operations, size_t count) {
  op_t op;
  start(stream, operations, count, &op);
  await(&op);
  return op.is_ok;
}

// Sends |size| bytes, each |byte|.
static bool send_bytes(stream_t* stream, char byte, size_t size) {
  char bytes[8];
  memset(bytes, byte, sizeof(bytes));
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, size);
  grpc_byte_buffer* message = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  grpc_op operation = {.op = GRPC_OP_SEND_MESSAGE};
  operation.data.send_message.send_message = message;
  const bool is_ok = run(stream, &operation, 1);
  grpc_byte_buffer_destroy(message);
  return is_ok;
}

static bool send_byte(stream_t* stream, char byte) { return send_bytes(stream, byte, 1); }

// The first byte of the next message; 0 for one that is empty, -1 for none.
static int receive_byte(stream_t* stream) {
  grpc_byte_buffer* message = NULL;
  grpc_op operation = {.op = GRPC_OP_RECV_MESSAGE};
  operation.data.recv_message.recv_message = &message;
  run(stream, &operation, 1);
  if (!message) return -1;
  int byte = 0;
  grpc_byte_buffer_reader reader;
  ck_assert(grpc_byte_buffer_reader_init(&reader, message));
  grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
  if (GRPC_SLICE_LENGTH(slice) > 0) byte = *GRPC_SLICE_START_PTR(slice);
  grpc_slice_unref(slice);
  grpc_byte_buffer_reader_destroy(&reader);
  grpc_byte_buffer_destroy(message);
  return byte;
}

// The value of |name| in |metadata|; "" if there is none.
static void find(const grpc_metadata_array* metadata, const char* name, char out_value[64]) {
  out_value[0] = '\0';
  for (size_t i = 0; i < metadata->count; ++i) {
    if (grpc_slice_str_cmp(metadata->metadata[i].key, name) != 0) continue;
    const grpc_slice* value = &metadata->metadata[i].value;
    snprintf(out_value, 64, "%.*s", (int)GRPC_SLICE_LENGTH(*value),
             (const char*)GRPC_SLICE_START_PTR(*value));
  }
}

static void free_stream(stream_t* stream) {
  if (!stream->call) return;
  grpc_call_cancel(stream->call, NULL);
  await(&stream->ended);
  grpc_metadata_array_destroy(&stream->initial);
  grpc_metadata_array_destroy(&stream->trailing);
  grpc_slice_unref(stream->details);
  grpc_call_unref(stream->call);
  stream->call = NULL;
}

static void start_queue(void) {
  grpc_init();
  queue = grpc_completion_queue_create_for_next(NULL);
}

static void stop_queue(void) {
  grpc_completion_queue_shutdown(queue);
  while (grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type !=
         GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_completion_queue_destroy(queue);
  grpc_shutdown();
}

static tfrt_transport_t* create_transport(uint32_t threads) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.control_thread_count = threads;
  tfrt_transport_t* transport;
  ck_assert_ptr_null(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport));
  return transport;
}

// --- A dialler by itself ---------------------------------------------------------

static tfrt_endpoint_host_t host;
static tfrt_endpoint_t* endpoint;  // the host's end
static grpc_channel* channel;
static stream_t streams[STREAMS];
static char token[64];

static void begin(uint32_t threads, bool is_greedy) {
  host = (tfrt_endpoint_host_t){.is_greedy = is_greedy};
  // First, since it prepares gRPC.
  tfrt_transport_t* transport = create_transport(threads);
  start_queue();
  tfrt_endpoint_host_listen(&host, transport, "127.0.0.1:0");
  tfrt_transport_release(transport);
  grpc_channel_credentials* credentials = grpc_insecure_credentials_create();
  channel = grpc_channel_create(host.address, credentials, NULL);
  grpc_channel_credentials_release(credentials);
}

static void end(void) {
  for (uint32_t i = 0; i < STREAMS; ++i) free_stream(&streams[i]);
  grpc_channel_destroy(channel);
  tfrt_endpoint_host_stop(&host);
  stop_queue();
}

// Opens |stream| with |value| under |name|, and waits for the answer.
static void open_stream(stream_t* stream, const char* name, const char* value) {
  *stream = (stream_t){.details = grpc_empty_slice()};
  grpc_metadata_array_init(&stream->initial);
  grpc_metadata_array_init(&stream->trailing);
  stream->call = grpc_channel_create_call(channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                          grpc_slice_from_static_string(TFRT_GRPC_CONTROL_METHOD),
                                          NULL, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  grpc_op last = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
  last.data.recv_status_on_client.trailing_metadata = &stream->trailing;
  last.data.recv_status_on_client.status = &stream->code;
  last.data.recv_status_on_client.status_details = &stream->details;
  start(stream, &last, 1, &stream->ended);
  grpc_metadata metadata = {.key = grpc_slice_from_copied_string(name),
                            .value = grpc_slice_from_copied_string(value)};
  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  open[0].data.send_initial_metadata.metadata = &metadata;
  open[0].data.send_initial_metadata.count = 1;
  open[1].data.recv_initial_metadata.recv_initial_metadata = &stream->initial;
  run(stream, open, 2);
  grpc_slice_unref(metadata.key);
  grpc_slice_unref(metadata.value);
}

static void open_main(void) {
  open_stream(&streams[0], TFRT_GRPC_STREAMS_NAME, "4");
  find(&streams[0].initial, TFRT_GRPC_BUNDLE_NAME, token);
  endpoint = tfrt_endpoint_host_wait(&host, 0);
}

static void open_other(uint32_t index, stream_t* stream) {
  char word[80];
  snprintf(word, sizeof(word), "%.*s-%u", TFRT_GRPC_TOKEN_DIGITS, token, index);
  open_stream(stream, TFRT_GRPC_BUNDLE_NAME, word);
}

static void open_all(void) {
  open_main();
  ck_assert_uint_eq(strlen(token), TFRT_GRPC_TOKEN_DIGITS + 2);
  ck_assert_str_eq(token + TFRT_GRPC_TOKEN_DIGITS, "-4");
  for (uint32_t i = 1; i < STREAMS; ++i) open_other(i, &streams[i]);
}

static bool begin_turns(void) { return send_bytes(&streams[0], 0, 0); }

static void finish(stream_t* stream) {
  grpc_op operation = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
  ck_assert(run(stream, &operation, 1));
}

// The stream of message |n|, from 0 on, once the turns have begun.
static stream_t* turn(uint32_t n) { return &streams[(n + 1) % STREAMS]; }

static uint64_t add(uint64_t sum, char byte) { return sum * 31 + (unsigned char)byte; }

// --- Order -----------------------------------------------------------------------

// Sets |out_order| to permutation |number|, 0 to 23, of 0 to 3.
static void permute(uint32_t number, uint32_t out_order[STREAMS]) {
  uint32_t left[STREAMS] = {0, 1, 2, 3};
  for (uint32_t i = 0; i < STREAMS; ++i) {
    const uint32_t count = STREAMS - i;
    const uint32_t at = number % count;
    number /= count;
    out_order[i] = left[at];
    memmove(&left[at], &left[at + 1], (count - at - 1) * sizeof(left[0]));
  }
}

START_TEST(messages_come_in_their_order_whatever_stream_is_faster) {
  const bool is_greedy = _i == 0;
  begin(1, is_greedy);
  open_all();
  ck_assert(begin_turns());
  uint64_t sum = 0;
  const uint32_t rounds = 24;
  for (uint32_t round = 0; round < rounds; ++round) {
    uint32_t order[STREAMS];
    permute(round, order);
    for (uint32_t i = 0; i < STREAMS; ++i) {
      ck_assert(send_byte(turn(order[i]), (char)(round * STREAMS + order[i] + 1)));
      sum = add(sum, (char)(round * STREAMS + i + 1));
    }
  }
  for (uint32_t i = 0; i < rounds * STREAMS && !is_greedy; ++i) {
    tfrt_transport_connection_receive(endpoint->connection);
  }
  tfrt_endpoint_wait_messages(endpoint, rounds * STREAMS);
  ck_assert_uint_eq(endpoint->checksum, sum);
  end();
}
END_TEST

START_TEST(a_listener_sends_in_turn) {
  begin(1, true);
  open_all();
  ck_assert(begin_turns());
  ck_assert(send_byte(turn(0), 'x'));
  // Now it has all streams.
  tfrt_endpoint_wait_messages(endpoint, 1);
  static const char bytes[] = "abcdefghij";
  for (uint32_t i = 0; i < 10; ++i) {
    ck_assert_int_eq(tfrt_endpoint_write(endpoint, &bytes[i], 1), TFRT_STATUS_OK);
  }
  ck_assert_int_eq(receive_byte(&streams[0]), 0);
  for (uint32_t i = 0; i < 10; ++i) ck_assert_int_eq(receive_byte(turn(i)), bytes[i]);
  end();
}
END_TEST

// --- The end ---------------------------------------------------------------------

START_TEST(what_was_sent_before_the_end_arrives) {
  begin(1, false);
  open_all();
  ck_assert(begin_turns());
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 6; ++i) {
    ck_assert(send_byte(turn(i), (char)('a' + i)));
    sum = add(sum, (char)('a' + i));
  }
  // From the main stream on, and with the main stream last.
  for (uint32_t i = 0; i < STREAMS; ++i) finish(&streams[_i == 0 ? i : STREAMS - 1 - i]);
  for (uint32_t i = 0; i < 7; ++i) tfrt_transport_connection_receive(endpoint->connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(endpoint->message_count, 6);
  ck_assert_uint_eq(endpoint->checksum, sum);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    await(&streams[i].ended);
    ck_assert_int_eq(streams[i].code, GRPC_STATUS_OK);
  }
  end();
}
END_TEST

START_TEST(a_listener_that_closes_ends_all_streams_behind_their_messages) {
  begin(1, true);
  open_all();
  ck_assert(begin_turns());
  ck_assert(send_byte(turn(0), 'x'));
  tfrt_endpoint_wait_messages(endpoint, 1);
  for (uint32_t i = 0; i < 6; ++i) {
    ck_assert_int_eq(tfrt_endpoint_write(endpoint, "y", 1), TFRT_STATUS_OK);
  }
  tfrt_transport_connection_close(endpoint->connection);
  ck_assert_int_eq(receive_byte(&streams[0]), 0);
  for (uint32_t i = 0; i < 6; ++i) ck_assert_int_eq(receive_byte(turn(i)), 'y');
  for (uint32_t i = 0; i < STREAMS; ++i) {
    ck_assert_int_eq(receive_byte(&streams[i]), -1);
    await(&streams[i].ended);
    ck_assert_int_eq(streams[i].code, GRPC_STATUS_OK);
  }
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_ENDED);
  end();
}
END_TEST

START_TEST(one_stream_that_breaks_breaks_the_connection) {
  begin(1, true);
  open_all();
  ck_assert(begin_turns());
  ck_assert(send_byte(turn(0), 'x'));
  tfrt_endpoint_wait_messages(endpoint, 1);
  grpc_call_cancel(streams[_i].call, NULL);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_RESET);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    await(&streams[i].ended);
    ck_assert_int_ne(streams[i].code, GRPC_STATUS_OK);
  }
  end();
}
END_TEST

START_TEST(an_abort_breaks_all_streams) {
  begin(1, true);
  open_all();
  tfrt_transport_connection_abort(endpoint->connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_RESET);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    await(&streams[i].ended);
    ck_assert_int_ne(streams[i].code, GRPC_STATUS_OK);
  }
  end();
}
END_TEST

// --- Peers that do otherwise -------------------------------------------------------

START_TEST(a_dialler_that_asks_for_nothing_keeps_one_stream) {
  begin(1, true);
  open_stream(&streams[0], "other-name", "4");
  endpoint = tfrt_endpoint_host_wait(&host, 0);
  find(&streams[0].initial, TFRT_GRPC_BUNDLE_NAME, token);
  ck_assert_str_eq(token, "");
  for (char i = 0; i < 10; ++i) {
    ck_assert(send_byte(&streams[0], 'x'));
    ck_assert_int_eq(tfrt_endpoint_write(endpoint, "y", 1), TFRT_STATUS_OK);
    ck_assert_int_eq(receive_byte(&streams[0]), 'y');
  }
  tfrt_endpoint_wait_messages(endpoint, 10);
  end();
}
END_TEST

START_TEST(a_bundle_of_no_use_is_not_agreed_to) {
  static const char* const asked[] = {"0", "1", "-4", "4x", "", "18446744073709551616"};
  begin(1, true);
  open_stream(&streams[0], TFRT_GRPC_STREAMS_NAME, asked[_i]);
  find(&streams[0].initial, TFRT_GRPC_BUNDLE_NAME, token);
  ck_assert_str_eq(token, "");
  ck_assert(send_byte(&streams[0], 'x'));
  tfrt_endpoint_wait_messages(tfrt_endpoint_host_wait(&host, 0), 1);
  end();
}
END_TEST

START_TEST(a_listener_agrees_to_no_more_streams_than_it_uses) {
  begin(1, true);
  open_stream(&streams[0], TFRT_GRPC_STREAMS_NAME, "1000000");
  find(&streams[0].initial, TFRT_GRPC_BUNDLE_NAME, token);
  ck_assert_str_eq(token + TFRT_GRPC_TOKEN_DIGITS, "-4");
  end();
}
END_TEST

START_TEST(a_listener_with_several_threads_keeps_one_stream) {
  begin(2, true);
  open_main();
  ck_assert_str_eq(token, "");
  ck_assert(send_byte(&streams[0], 'x'));
  tfrt_endpoint_wait_messages(endpoint, 1);
  end();
}
END_TEST

START_TEST(a_stream_that_no_bundle_lacks_is_refused) {
  begin(1, true);
  open_main();
  // Behind its first message it is no stranger any more.
  ck_assert(send_byte(&streams[0], 'x'));
  tfrt_endpoint_wait_messages(endpoint, 1);
  open_other(1, &streams[1]);
  token[TFRT_GRPC_TOKEN_DIGITS] = '\0';
  static const char* const numbers[] = {"-0", "-1", "-4", "-18446744073709551615", "", "-", "1"};
  for (size_t i = 0; i <= sizeof(numbers) / sizeof(numbers[0]); ++i) {
    char word[80];
    const bool is_foreign = i == sizeof(numbers) / sizeof(numbers[0]);
    snprintf(word, sizeof(word), "%s%s", is_foreign ? TOKEN : token,
             is_foreign ? "-2" : numbers[i]);
    open_stream(&streams[2], TFRT_GRPC_BUNDLE_NAME, word);
    await(&streams[2].ended);
    ck_assert_int_eq(streams[2].code, GRPC_STATUS_FAILED_PRECONDITION);
    free_stream(&streams[2]);
  }
  // The bundle can still be made.
  open_other(2, &streams[2]);
  open_other(3, &streams[3]);
  ck_assert(begin_turns());
  ck_assert(send_byte(turn(0), 'y'));
  tfrt_endpoint_wait_messages(endpoint, 2);
  ck_assert_uint_eq(host.judged_count, 1);
  end();
}
END_TEST

START_TEST(streams_of_a_stranger_count_as_its_calls) {
  begin(1, true);
  open_main();
  snprintf(token, sizeof(token), "%s", TOKEN "-1");
  stream_t others[TFRT_TUNING_STRANGER_PEER_CALLS] = {0};
  for (uint32_t i = 0; i < TFRT_TUNING_STRANGER_PEER_CALLS; ++i) open_other(1, &others[i]);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_RESET);
  for (uint32_t i = 0; i < TFRT_TUNING_STRANGER_PEER_CALLS; ++i) free_stream(&others[i]);
  end();
}
END_TEST

START_TEST(a_bundle_that_is_never_whole_leaves_the_main_stream) {
  begin(1, true);
  open_main();
  open_other(1, &streams[1]);
  open_other(2, &streams[2]);
  grpc_call_cancel(streams[1].call, NULL);
  ck_assert(send_byte(&streams[0], 'x'));
  tfrt_endpoint_wait_messages(endpoint, 1);
  ck_assert_int_eq(tfrt_endpoint_write(endpoint, "y", 1), TFRT_STATUS_OK);
  ck_assert_int_eq(receive_byte(&streams[0]), 'y');
  end();
}
END_TEST

START_TEST(turns_that_may_not_begin_break_the_connection) {
  begin(1, true);
  // Before all streams are there, and for the second time.
  if (_i == 0) {
    open_main();
  } else {
    open_all();
    ck_assert(begin_turns());
    ck_assert(send_bytes(turn(0), 0, 0));
  }
  (void)begin_turns();
  ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_RESET);
  end();
}
END_TEST

// --- A listener by itself ----------------------------------------------------------

static grpc_server* server;
static void* method;

// Takes the next call, without an answer; sets |out_word| to what came under |name|.
static void take_call(stream_t* stream, const char* name, char out_word[64]) {
  *stream = (stream_t){.details = grpc_empty_slice()};
  grpc_metadata_array_init(&stream->initial);
  grpc_metadata_array_init(&stream->trailing);
  gpr_timespec deadline;
  op_t op = {0};
  ck_assert_int_eq(grpc_server_request_registered_call(server, method, &stream->call, &deadline,
                                                       &stream->initial, NULL, queue, queue, &op),
                   GRPC_CALL_OK);
  await(&op);
  ck_assert(op.is_ok);
  find(&stream->initial, name, out_word);
  grpc_op last = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  last.data.recv_close_on_server.cancelled = &stream->is_cancelled;
  start(stream, &last, 1, &stream->ended);
}

// Answers |stream| with |word|, if that isn't NULL.
static void answer(stream_t* stream, const char* word) {
  grpc_metadata metadata = {.key = grpc_slice_from_static_string(TFRT_GRPC_BUNDLE_NAME),
                            .value = grpc_slice_from_copied_string(word ? word : "")};
  grpc_op open = {.op = GRPC_OP_SEND_INITIAL_METADATA};
  open.data.send_initial_metadata.metadata = &metadata;
  open.data.send_initial_metadata.count = word ? 1 : 0;
  ck_assert(run(stream, &open, 1));
  grpc_slice_unref(metadata.value);
}

static tfrt_transport_t* dialler_transport;
static tfrt_endpoint_t dialler;

static void begin_listener(void) {
  dialler_transport = create_transport(1);
  start_queue();
  server = grpc_server_create(NULL, NULL);
  grpc_server_register_completion_queue(server, queue, NULL);
  method =
      grpc_server_register_method(server, TFRT_GRPC_CONTROL_METHOD, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
  grpc_server_credentials* credentials = grpc_insecure_server_credentials_create();
  const int port = grpc_server_add_http2_port(server, "127.0.0.1:0", credentials);
  grpc_server_credentials_release(credentials);
  ck_assert_int_gt(port, 0);
  grpc_server_start(server);
  char address[64];
  snprintf(address, sizeof(address), "127.0.0.1:%d", port);
  tfrt_endpoint_initialize(&dialler);
  dialler.is_greedy = true;
  tfrt_endpoint_dial(&dialler, dialler_transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
  tfrt_transport_connection_receive(dialler.connection);
}

static void end_listener(void) {
  tfrt_transport_close(dialler_transport);
  tfrt_transport_drain(dialler_transport);
  for (uint32_t i = 0; i < STREAMS; ++i) free_stream(&streams[i]);
  op_t op = {0};
  grpc_server_shutdown_and_notify(server, queue, &op);
  await(&op);
  grpc_server_destroy(server);
  tfrt_endpoint_deinitialize(&dialler);
  tfrt_transport_release(dialler_transport);
  stop_queue();
}

static void exchange_on_main(void) {
  for (char i = 0; i < 10; ++i) {
    ck_assert_int_eq(tfrt_endpoint_write(&dialler, "x", 1), TFRT_STATUS_OK);
    ck_assert_int_eq(receive_byte(&streams[0]), 'x');
    ck_assert(send_byte(&streams[0], 'y'));
  }
  tfrt_endpoint_wait_messages(&dialler, 10);
}

START_TEST(a_dialler_whose_listener_says_nothing_keeps_one_stream) {
  begin_listener();
  char word[64];
  take_call(&streams[0], TFRT_GRPC_STREAMS_NAME, word);
  ck_assert_str_eq(word, "4");
  answer(&streams[0], NULL);
  exchange_on_main();
  end_listener();
}
END_TEST

// One of the others ends without an answer.
START_TEST(a_dialler_whose_bundle_is_never_whole_keeps_one_stream) {
  begin_listener();
  char word[64];
  take_call(&streams[0], TFRT_GRPC_STREAMS_NAME, word);
  answer(&streams[0], TOKEN "-4");
  for (uint32_t i = 1; i < STREAMS; ++i) {
    take_call(&streams[i], TFRT_GRPC_BUNDLE_NAME, word);
    if (i != 2) answer(&streams[i], word);
  }
  grpc_call_cancel(streams[2].call, NULL);
  await(&streams[2].ended);
  exchange_on_main();
  grpc_op operation = {.op = GRPC_OP_SEND_STATUS_FROM_SERVER};
  for (uint32_t i = 0; i < STREAMS; ++i) {
    if (i != 2) ck_assert(run(&streams[i], &operation, 1));
  }
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&dialler), TFRT_TRANSPORT_ENDED);
  end_listener();
}
END_TEST

// Has the dialler make a bundle of |count| streams, which it uses then.
static void take_bundle(uint32_t count) {
  char word[64];
  char agreed[80];
  snprintf(agreed, sizeof(agreed), "%s-%u", TOKEN, count);
  take_call(&streams[0], TFRT_GRPC_STREAMS_NAME, word);
  answer(&streams[0], agreed);
  for (uint32_t i = 1; i < count; ++i) {
    take_call(&streams[i], TFRT_GRPC_BUNDLE_NAME, word);
    char expected[80];
    snprintf(expected, sizeof(expected), "%s-%u", TOKEN, i);
    ck_assert_str_eq(word, expected);
    answer(&streams[i], word);
  }
  // It begins when it has the last answer.
  int byte = 'x';
  for (uint32_t i = 0; i < 10000 && byte == 'x'; ++i) {
    ck_assert_int_eq(tfrt_endpoint_write(&dialler, "x", 1), TFRT_STATUS_OK);
    byte = receive_byte(&streams[0]);
  }
  ck_assert_int_eq(byte, 0);
  ck_assert_int_eq(receive_byte(&streams[1]), 'x');
}

START_TEST(a_dialler_sends_in_turn) {
  begin_listener();
  // As many streams as the listener says.
  const uint32_t count = (uint32_t)_i;
  take_bundle(count);
  for (uint32_t i = 0; i < 10; ++i) {
    const char byte = (char)('a' + i);
    ck_assert_int_eq(tfrt_endpoint_write(&dialler, &byte, 1), TFRT_STATUS_OK);
    ck_assert_int_eq(receive_byte(&streams[(2 + i) % count]), byte);
  }
  end_listener();
}
END_TEST

START_TEST(a_dialler_takes_messages_in_turn_and_then_the_end) {
  begin_listener();
  take_bundle(STREAMS);
  ck_assert(begin_turns());
  uint64_t sum = 0;
  for (uint32_t i = 0; i < STREAMS; ++i) sum = add(sum, (char)('a' + i));
  for (uint32_t i = STREAMS; i > 0; --i) ck_assert(send_byte(turn(i - 1), (char)('a' + i - 1)));
  grpc_op operation = {.op = GRPC_OP_SEND_STATUS_FROM_SERVER};
  for (uint32_t i = 0; i < STREAMS; ++i) ck_assert(run(&streams[i], &operation, 1));
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&dialler), TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(dialler.checksum, sum);
  end_listener();
}
END_TEST

START_TEST(a_dialler_is_told_when_one_of_its_streams_breaks) {
  begin_listener();
  take_bundle(STREAMS);
  grpc_call_cancel(streams[_i].call, NULL);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&dialler), TFRT_TRANSPORT_RESET);
  end_listener();
}
END_TEST

// --- Two of ours -------------------------------------------------------------------

START_TEST(a_connection_may_be_closed_while_its_streams_are_made) {
  begin(1, true);
  dialler_transport = create_transport(1);
  const size_t count = 50;
  for (size_t i = 0; i < count; ++i) {
    tfrt_endpoint_initialize(&dialler);
    tfrt_endpoint_dial(&dialler, dialler_transport, host.address, TFRT_TRANSPORT_CONTROL, NULL,
                       LIMIT_MS);
    tfrt_transport_connection_receive(dialler.connection);
    ck_assert_int_eq(tfrt_endpoint_write(&dialler, "x", 1), TFRT_STATUS_OK);
    endpoint = tfrt_endpoint_host_wait(&host, i);
    tfrt_endpoint_wait_messages(endpoint, 1);
    ck_assert_int_eq(tfrt_endpoint_write(endpoint, "y", 1), TFRT_STATUS_OK);
    tfrt_endpoint_wait_messages(&dialler, 1);
    // One side or the other.
    tfrt_transport_connection_close(i % 2 == 0 ? endpoint->connection : dialler.connection);
    ck_assert_int_eq(tfrt_endpoint_wait_closed(endpoint), TFRT_TRANSPORT_ENDED);
    ck_assert_int_eq(tfrt_endpoint_wait_closed(&dialler), TFRT_TRANSPORT_ENDED);
    tfrt_endpoint_deinitialize(&dialler);
  }
  tfrt_transport_close(dialler_transport);
  tfrt_transport_drain(dialler_transport);
  tfrt_transport_release(dialler_transport);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* bundle = tcase_create("bundle");
  tcase_set_timeout(bundle, 60);
  tcase_add_loop_test(bundle, messages_come_in_their_order_whatever_stream_is_faster, 0, 2);
  tcase_add_test(bundle, a_listener_sends_in_turn);
  tcase_add_loop_test(bundle, what_was_sent_before_the_end_arrives, 0, 2);
  tcase_add_test(bundle, a_listener_that_closes_ends_all_streams_behind_their_messages);
  tcase_add_loop_test(bundle, one_stream_that_breaks_breaks_the_connection, 0, STREAMS);
  tcase_add_test(bundle, an_abort_breaks_all_streams);
  tcase_add_test(bundle, a_dialler_that_asks_for_nothing_keeps_one_stream);
  tcase_add_loop_test(bundle, a_bundle_of_no_use_is_not_agreed_to, 0, 6);
  tcase_add_test(bundle, a_listener_agrees_to_no_more_streams_than_it_uses);
  tcase_add_test(bundle, a_listener_with_several_threads_keeps_one_stream);
  tcase_add_test(bundle, a_stream_that_no_bundle_lacks_is_refused);
  tcase_add_test(bundle, streams_of_a_stranger_count_as_its_calls);
  tcase_add_test(bundle, a_bundle_that_is_never_whole_leaves_the_main_stream);
  tcase_add_loop_test(bundle, turns_that_may_not_begin_break_the_connection, 0, 2);
  tcase_add_test(bundle, a_dialler_whose_listener_says_nothing_keeps_one_stream);
  tcase_add_test(bundle, a_dialler_whose_bundle_is_never_whole_keeps_one_stream);
  tcase_add_loop_test(bundle, a_dialler_sends_in_turn, 2, STREAMS + 1);
  tcase_add_test(bundle, a_dialler_takes_messages_in_turn_and_then_the_end);
  tcase_add_loop_test(bundle, a_dialler_is_told_when_one_of_its_streams_breaks, 0, STREAMS);
  tcase_add_test(bundle, a_connection_may_be_closed_while_its_streams_are_made);
  Suite* suite = suite_create("bundle");
  suite_add_tcase(suite, bundle);
  return suite;
}
