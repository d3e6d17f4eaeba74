// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/bundle.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "distributed/transport/grpc/connection.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/number_text.h"

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

bool tfrt_grpc_bundle_read_mark(tfrt_string_view_t word, uint32_t* out_number) {
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

grpc_metadata tfrt_grpc_bundle_make_mark(const char* token, uint32_t number) {
  char word[TFRT_GRPC_TOKEN_SIZE];
  snprintf(word, sizeof(word), "%.*s-%" PRIu32, TFRT_GRPC_TOKEN_DIGITS, token, number);
  grpc_metadata mark = {.key = grpc_slice_from_static_string(TFRT_GRPC_BUNDLE_NAME),
                        .value = grpc_slice_from_copied_string(word)};
  return mark;
}

// --- The other streams' events ---------------------------------------------------

void tfrt_grpc_bundle_note_joined(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  tfrt_mutex_lock(&connection->mutex);
  ++bundle->joined;
  if (bundle->state == TFRT_GRPC_BUNDLE_OFFERED && bundle->joined == bundle->count - 1) {
    set_state(bundle, TFRT_GRPC_BUNDLE_JOINED);
  }
  tfrt_mutex_unlock(&connection->mutex);
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
  if (breaks) tfrt_grpc_connection_break(connection, TFRT_GRPC_BREAK_PEER);
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

bool tfrt_grpc_bundle_make_room(tfrt_grpc_connection_t* connection, uint32_t count,
                                tfrt_grpc_event_fn_t on_opened) {
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
    tfrt_grpc_connection_start_batch(connection, call_at(connection, index), &operation, 1,
                                     &stream->received);
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
      tfrt_grpc_connection_break(connection, TFRT_GRPC_BREAK_PEER);
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
