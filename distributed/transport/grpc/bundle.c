// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/bundle.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "distributed/transport/grpc/connection.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/random.h"

// --- Small things --------------------------------------------------------------

static void set_state(tfrt_grpc_bundle_t* bundle, tfrt_grpc_bundle_state_t state) {
  static const uint32_t next_states[] = {
      [TFRT_GRPC_BUNDLE_ALONE] = 1u << TFRT_GRPC_BUNDLE_OFFERED,
      [TFRT_GRPC_BUNDLE_OFFERED] = 1u << TFRT_GRPC_BUNDLE_JOINED | 1u << TFRT_GRPC_BUNDLE_BROKEN,
      [TFRT_GRPC_BUNDLE_JOINED] = 1u << TFRT_GRPC_BUNDLE_BROKEN,
      [TFRT_GRPC_BUNDLE_BROKEN] = 0,
  };
  const uint32_t next = next_states[bundle->state];
  assert(next & (1u << state));
  (void)next;  // without assertions nothing else reads it
  bundle->state = state;
}

static tfrt_grpc_stream_t* stream_at(tfrt_grpc_bundle_t* bundle, uint32_t index) {
  return index == 0 ? &bundle->main : &bundle->others[index - 1].stream;
}

static grpc_call* call_at(tfrt_grpc_connection_t* connection, uint32_t index) {
  return index == 0 ? connection->call : connection->bundle.others[index - 1].call;
}

// Reads a token and the number behind it.
static bool read_word(tfrt_string_view_t word, uint32_t* out_number) {
  uint64_t number = 0;
  if (word.size <= TFRT_GRPC_TOKEN_DIGITS + 1 || word.size >= TFRT_GRPC_TOKEN_SIZE ||
      word.data[TFRT_GRPC_TOKEN_DIGITS] != '-') {
    return false;
  }
  const size_t begin = TFRT_GRPC_TOKEN_DIGITS + 1;
  if (!tfrt_number_text_parse_u64(tfrt_string_view_make(word.data + begin, word.size - begin),
                                  &number) ||
      number > TFRT_TUNING_GRPC_BUNDLE_STREAMS) {
    return false;
  }
  *out_number = (uint32_t)number;
  return true;
}

// Makes a word of the first TFRT_GRPC_TOKEN_DIGITS characters of |token| and |number|.
static grpc_metadata make_mark(const char* token, uint32_t number) {
  char word[TFRT_GRPC_TOKEN_SIZE];
  snprintf(word, sizeof(word), "%.*s-%" PRIu32, TFRT_GRPC_TOKEN_DIGITS, token, number);
  grpc_metadata mark = {.key = grpc_slice_from_static_string(TFRT_GRPC_BUNDLE_NAME),
                        .value = grpc_slice_from_copied_string(word)};
  return mark;
}

static void start_batch(tfrt_grpc_connection_t* connection, grpc_call* call,
                        const grpc_op* operations, size_t count, tfrt_grpc_event_t* event) {
  tfrt_mutex_lock(&connection->mutex);
  ++connection->pending;
  tfrt_mutex_unlock(&connection->mutex);
  tfrt_grpc_queue_start_batch(call, operations, count, event);
}

// --- The other streams' events ---------------------------------------------------

// One more of the others is there on both sides.
static void note_joined(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  tfrt_mutex_lock(&connection->mutex);
  ++bundle->joined;
  if (bundle->state == TFRT_GRPC_BUNDLE_OFFERED && bundle->joined == bundle->count - 1) {
    set_state(bundle, TFRT_GRPC_BUNDLE_JOINED);
  }
  tfrt_mutex_unlock(&connection->mutex);
}

// True if the listener has answered |other|. gRPC also calls it a success that a stream ended
// without an answer.
static bool is_answered(const tfrt_grpc_other_stream_t* other) {
  for (size_t i = 0; i < other->initial.count; ++i) {
    if (grpc_slice_eq(other->initial.metadata[i].key, other->mark.key)) return true;
  }
  return false;
}

static void on_opened(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_other_stream_t* other = TFRT_CONTAINER_OF(event, tfrt_grpc_other_stream_t, opened);
  tfrt_grpc_connection_t* connection = other->stream.connection;
  // A listener counts it when it adds it.
  if (is_ok && connection->is_dialled && is_answered(other)) note_joined(connection);
  tfrt_grpc_connection_settle_event(connection);
}

static void on_finished(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // a failure shows at |ended|
  tfrt_grpc_connection_settle_event(
      TFRT_CONTAINER_OF(event, tfrt_grpc_other_stream_t, finished)->stream.connection);
}

static void on_ended(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_other_stream_t* other = TFRT_CONTAINER_OF(event, tfrt_grpc_other_stream_t, ended);
  tfrt_grpc_connection_t* connection = other->stream.connection;
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  const bool is_good =
      connection->is_dialled ? other->code == GRPC_STATUS_OK : is_ok && !other->is_cancelled;
  tfrt_mutex_lock(&connection->mutex);
  --bundle->live;
  const bool is_offered = bundle->state == TFRT_GRPC_BUNDLE_OFFERED;
  const bool is_joined = bundle->state == TFRT_GRPC_BUNDLE_JOINED;
  // One side may have begun its turns before the other one has all answers.
  const bool breaks = !is_good && (is_joined || bundle->in.has_begun);
  if (is_offered || (is_joined && breaks)) set_state(bundle, TFRT_GRPC_BUNDLE_BROKEN);
  tfrt_mutex_unlock(&connection->mutex);
  if (breaks) tfrt_grpc_connection_break(connection);
  tfrt_grpc_connection_settle_event(connection);
}

// --- Making a bundle ---------------------------------------------------------------

void tfrt_grpc_bundle_initialize(tfrt_grpc_connection_t* connection,
                                 tfrt_grpc_event_fn_t on_received) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  bundle->main.connection = connection;
  tfrt_grpc_event_initialize(&bundle->main.received, on_received);
  bundle->agreement.value = grpc_empty_slice();
  bundle->count = 1;
}

// Makes room for |count| streams in all: false where memory is out.
static bool make_room(tfrt_grpc_connection_t* connection, uint32_t count) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  tfrt_grpc_other_stream_t* others = tfrt_allocator_allocate_zeroed(
      connection->allocator, (count - 1) * sizeof(tfrt_grpc_other_stream_t));
  if (!others) return false;
  for (uint32_t i = 0; i < count - 1; ++i) {
    others[i].stream.connection = connection;
    tfrt_grpc_event_initialize(&others[i].stream.received, bundle->main.received.run);
    tfrt_grpc_event_initialize(&others[i].opened, on_opened);
    tfrt_grpc_event_initialize(&others[i].finished, on_finished);
    tfrt_grpc_event_initialize(&others[i].ended, on_ended);
    others[i].mark.value = grpc_empty_slice();
    grpc_metadata_array_init(&others[i].initial);
    grpc_metadata_array_init(&others[i].trailing);
    others[i].details = grpc_empty_slice();
  }
  tfrt_mutex_lock(&connection->mutex);
  bundle->others = others;
  bundle->count = count;
  set_state(bundle, TFRT_GRPC_BUNDLE_OFFERED);
  tfrt_mutex_unlock(&connection->mutex);
  return true;
}

void tfrt_grpc_bundle_agree(tfrt_grpc_connection_t* connection, tfrt_string_view_t asked) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  uint64_t count = 0;
  if (!tfrt_number_text_parse_u64(asked, &count)) return;
  if (count > TFRT_TUNING_GRPC_BUNDLE_STREAMS) count = TFRT_TUNING_GRPC_BUNDLE_STREAMS;
  if (count < 2 || !make_room(connection, (uint32_t)count)) return;
  uint64_t secret[2];
  tfrt_random_entropy(secret, sizeof(secret));
  snprintf(bundle->token, sizeof(bundle->token), "%016" PRIx64 "%016" PRIx64, secret[0], secret[1]);
  bundle->agreement = make_mark(bundle->token, (uint32_t)count);
}

// True if |word|, a token and a number, has the token of |connection|.
static bool has_token(const tfrt_grpc_connection_t* connection, tfrt_string_view_t word) {
  const char* own = connection->bundle.token;
  return own[0] != '\0' && word.size >= TFRT_GRPC_TOKEN_DIGITS &&
         tfrt_transport_secrets_are_equal(tfrt_string_view_make(own, TFRT_GRPC_TOKEN_DIGITS),
                                          tfrt_string_view_make(word.data, TFRT_GRPC_TOKEN_DIGITS));
}

// The member of |set| (+1) that has the token of |word|, or NULL.
static tfrt_grpc_connection_t* find_owner(tfrt_grpc_connection_set_t* set,
                                          tfrt_string_view_t word) {
  tfrt_grpc_connection_t* found = NULL;
  tfrt_mutex_lock(&set->mutex);
  for (tfrt_list_link_t* link = set->connections.next; link != &set->connections && !found;
       link = link->next) {
    tfrt_grpc_connection_t* connection = TFRT_CONTAINER_OF(link, tfrt_grpc_connection_t, set_link);
    if (has_token(connection, word)) found = connection;
  }
  // A member holds a reference to itself.
  if (found) tfrt_transport_connection_retain(&found->base);
  tfrt_mutex_unlock(&set->mutex);
  return found;
}

// Listener: puts |call| into its place, |number|; false if that can't be.
static bool place_call(tfrt_grpc_connection_t* connection, grpc_call* call, uint32_t number) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  tfrt_mutex_lock(&connection->mutex);
  bool is_placed = bundle->state == TFRT_GRPC_BUNDLE_OFFERED && number > 0 &&
                   number < bundle->count && !bundle->others[number - 1].call &&
                   tfrt_grpc_connection_is_usable(connection);
  if (is_placed) {
    bundle->others[number - 1].call = call;
    ++bundle->live;
  }
  tfrt_mutex_unlock(&connection->mutex);
  return is_placed;
}

// Listener: begins stream |number|, whose call is in its place.
static void begin_other(tfrt_grpc_connection_t* connection, tfrt_string_view_t word,
                        uint32_t number) {
  tfrt_grpc_other_stream_t* other = &connection->bundle.others[number - 1];
  grpc_op end = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  end.data.recv_close_on_server.cancelled = &other->is_cancelled;
  start_batch(connection, other->call, &end, 1, &other->ended);
  other->mark = make_mark(word.data, number);
  grpc_op open = {.op = GRPC_OP_SEND_INITIAL_METADATA};
  open.data.send_initial_metadata.metadata = &other->mark;
  open.data.send_initial_metadata.count = 1;
  start_batch(connection, other->call, &open, 1, &other->opened);
  note_joined(connection);
}

void tfrt_grpc_bundle_add(tfrt_grpc_connection_set_t* set, grpc_call* call,
                          tfrt_string_view_t word) {
  uint32_t number = 0;
  tfrt_grpc_connection_t* connection = find_owner(set, word);
  if (connection && read_word(word, &number) && place_call(connection, call, number)) {
    begin_other(connection, word, number);
  } else {
    grpc_call_cancel_with_status(call, GRPC_STATUS_FAILED_PRECONDITION, "no bundle lacks this",
                                 NULL);
    grpc_call_unref(call);
  }
  if (connection) tfrt_transport_connection_release(&connection->base);
}

static void open_other(tfrt_grpc_connection_t* connection, grpc_call* call,
                       tfrt_grpc_other_stream_t* other) {
  grpc_op end = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
  end.data.recv_status_on_client.trailing_metadata = &other->trailing;
  end.data.recv_status_on_client.status = &other->code;
  end.data.recv_status_on_client.status_details = &other->details;
  start_batch(connection, call, &end, 1, &other->ended);
  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  open[0].data.send_initial_metadata.metadata = &other->mark;
  open[0].data.send_initial_metadata.count = 1;
  open[1].data.recv_initial_metadata.recv_initial_metadata = &other->initial;
  start_batch(connection, call, open, 2, &other->opened);
}

void tfrt_grpc_bundle_open(tfrt_grpc_connection_t* connection, grpc_channel* channel,
                           const char* method, tfrt_string_view_t word) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  uint32_t count = 0;
  if (!read_word(word, &count) || count < 2) return;
  tfrt_mutex_lock(&connection->mutex);
  const bool is_usable = tfrt_grpc_connection_is_usable(connection);
  tfrt_mutex_unlock(&connection->mutex);
  if (!is_usable || !make_room(connection, count)) return;
  for (uint32_t i = 1; i < count; ++i) {
    tfrt_grpc_other_stream_t* other = &bundle->others[i - 1];
    other->mark = make_mark(word.data, i);
    grpc_call* call = grpc_channel_create_call(
        channel, NULL, GRPC_PROPAGATE_DEFAULTS, connection->queue->completion_queue,
        grpc_slice_from_static_string(method), NULL, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    tfrt_mutex_lock(&connection->mutex);
    other->call = call;
    ++bundle->live;
    tfrt_mutex_unlock(&connection->mutex);
    open_other(connection, call, other);
  }
}

// --- Sending in turn -----------------------------------------------------------------

grpc_call* tfrt_grpc_bundle_take_turn(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  if (!bundle->out.has_begun) {
    if (bundle->state != TFRT_GRPC_BUNDLE_JOINED) return connection->call;
    bundle->out = (tfrt_grpc_turn_t){.has_begun = true, .next = 1};
    return NULL;
  }
  grpc_call* call = call_at(connection, bundle->out.next);
  bundle->out.next = (bundle->out.next + 1) % bundle->count;
  return call;
}

void tfrt_grpc_bundle_send_beginning(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  bundle->beginning = grpc_raw_byte_buffer_create(NULL, 0);
  grpc_op operation = {.op = GRPC_OP_SEND_MESSAGE};
  operation.data.send_message.send_message = bundle->beginning;
  tfrt_grpc_queue_start_batch(connection->call, &operation, 1, &bundle->begun);
}

// --- Reading in turn -----------------------------------------------------------------

void tfrt_grpc_bundle_read(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  const tfrt_grpc_reading_t reading = stream_at(bundle, bundle->in.next)->reading;
  if (reading == TFRT_GRPC_READING_ASKED || reading == TFRT_GRPC_READING_ARRIVED) return;
  const uint32_t count = bundle->in.has_begun ? bundle->count : 1;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = (bundle->in.next + i) % count;
    tfrt_grpc_stream_t* stream = stream_at(bundle, index);
    if (stream->reading != TFRT_GRPC_READING_IDLE) continue;
    stream->reading = TFRT_GRPC_READING_ASKED;
    grpc_op operation = {.op = GRPC_OP_RECV_MESSAGE};
    operation.data.recv_message.recv_message = &stream->message;
    start_batch(connection, call_at(connection, index), &operation, 1, &stream->received);
  }
}

// True if no stream that is used has a message any more.
static bool are_all_over(tfrt_grpc_bundle_t* bundle) {
  const uint32_t count = bundle->in.has_begun ? bundle->count : 1;
  for (uint32_t i = 0; i < count; ++i) {
    if (stream_at(bundle, i)->reading != TFRT_GRPC_READING_OVER) return false;
  }
  return true;
}

// The peer sends in turn from now on; false if it may not. Each of the others must have a call:
// then a peer that keeps the rules has them all.
static bool begin_reading_in_turn(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  if (bundle->in.has_begun) return false;
  for (uint32_t i = 1; i < bundle->count; ++i) {
    if (!bundle->others[i - 1].call) return false;
  }
  bundle->in = (tfrt_grpc_turn_t){.has_begun = true, .next = 1};
  return true;
}

bool tfrt_grpc_bundle_take(tfrt_grpc_connection_t* connection, grpc_byte_buffer** out_message) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  *out_message = NULL;
  for (;;) {
    tfrt_grpc_stream_t* stream = stream_at(bundle, bundle->in.next);
    if (stream->reading != TFRT_GRPC_READING_ARRIVED) break;
    grpc_byte_buffer* message = stream->message;
    stream->message = NULL;
    stream->reading = TFRT_GRPC_READING_IDLE;
    const bool is_beginning = bundle->count > 1 && grpc_byte_buffer_length(message) == 0;
    if (!is_beginning) {
      if (bundle->in.has_begun) bundle->in.next = (bundle->in.next + 1) % bundle->count;
      *out_message = message;
      return true;
    }
    grpc_byte_buffer_destroy(message);
    if (!begin_reading_in_turn(connection)) {
      tfrt_grpc_connection_break(connection);
      return false;
    }
    tfrt_grpc_bundle_read(connection);
  }
  if (are_all_over(bundle)) return true;
  // Where one is over the end has begun: the others have no more than their ends.
  if (stream_at(bundle, bundle->in.next)->reading == TFRT_GRPC_READING_OVER) {
    tfrt_grpc_bundle_read(connection);
  }
  return false;
}

// --- The end -------------------------------------------------------------------------

void tfrt_grpc_bundle_finish(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  grpc_op operation = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
  if (!connection->is_dialled) operation.op = GRPC_OP_SEND_STATUS_FROM_SERVER;  // zero: OK
  for (uint32_t i = 1; i < bundle->count; ++i) {
    tfrt_grpc_other_stream_t* other = &bundle->others[i - 1];
    if (other->call) start_batch(connection, other->call, &operation, 1, &other->finished);
  }
}

void tfrt_grpc_bundle_cancel(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  grpc_call* calls[TFRT_TUNING_GRPC_BUNDLE_STREAMS];
  uint32_t count = 0;
  tfrt_mutex_lock(&connection->mutex);
  for (uint32_t i = 1; i < bundle->count; ++i) {
    grpc_call* call = bundle->others[i - 1].call;
    if (!call) continue;
    grpc_call_ref(call);  // it may be given back as soon as the lock is open
    calls[count++] = call;
  }
  tfrt_mutex_unlock(&connection->mutex);
  for (uint32_t i = 0; i < count; ++i) {
    grpc_call_cancel_with_status(calls[i], GRPC_STATUS_CANCELLED, "aborted", NULL);
    grpc_call_unref(calls[i]);
  }
}

void tfrt_grpc_bundle_deinitialize(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  grpc_byte_buffer_destroy(bundle->main.message);
  bundle->main.message = NULL;
  grpc_slice_unref(bundle->agreement.value);
  tfrt_mutex_lock(&connection->mutex);
  tfrt_grpc_other_stream_t* others = bundle->others;
  const uint32_t count = bundle->count;
  bundle->others = NULL;
  bundle->count = 1;
  bundle->in = bundle->out = (tfrt_grpc_turn_t){0};
  tfrt_mutex_unlock(&connection->mutex);
  for (uint32_t i = 0; i < count - 1; ++i) {
    grpc_byte_buffer_destroy(others[i].stream.message);
    grpc_slice_unref(others[i].mark.value);
    grpc_metadata_array_destroy(&others[i].initial);
    grpc_metadata_array_destroy(&others[i].trailing);
    grpc_slice_unref(others[i].details);
    if (others[i].call) grpc_call_unref(others[i].call);
  }
  tfrt_allocator_free(connection->allocator, others,
                      (count - 1) * sizeof(tfrt_grpc_other_stream_t));
}
