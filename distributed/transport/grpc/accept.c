// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/accept.h"

#include <inttypes.h>
#include <stdio.h>

#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/random.h"

static bool is_printable(tfrt_string_view_t text) {
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < ' ' || text.data[i] > '~') return false;
  }
  return true;
}

// --- Events ------------------------------------------------------------------

static void on_accepted(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // a failure shows at |ended|
  tfrt_grpc_connection_settle_event(
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.opened));
}

static void on_accepted_ended(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.ended);
  if (is_ok && !connection->side.listener.is_cancelled) {
    tfrt_grpc_connection_take_end(connection, TFRT_TRANSPORT_ENDED, NULL);
    return;
  }
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the stream was broken by its dialler");
  tfrt_grpc_connection_take_end(connection, TFRT_TRANSPORT_RESET, status);
}

static void start_waiting_for_end(tfrt_grpc_connection_t* connection) {
  grpc_op end = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  end.data.recv_close_on_server.cancelled = &connection->side.listener.is_cancelled;
  tfrt_grpc_connection_start_batch(connection, connection->call, &end, 1,
                                   &connection->events.ended);
}

// --- The acceptor's answer ---------------------------------------------------

static void accept_stream(tfrt_grpc_connection_t* connection, tfrt_transport_handler_t* handler) {
  connection->base.handler = handler;
  start_waiting_for_end(connection);
  grpc_op open = {.op = GRPC_OP_SEND_INITIAL_METADATA};
  if (connection->bundle.state == TFRT_GRPC_BUNDLE_OFFERED) {
    open.data.send_initial_metadata.metadata = &connection->bundle.agreement;
    open.data.send_initial_metadata.count = 1;
  }
  tfrt_grpc_connection_start_batch(connection, connection->call, &open, 1,
                                   &connection->events.opened);
  tfrt_grpc_connection_open(connection);
}

// Completes what the acceptor wrote before it said no.
static void refuse_early_write(tfrt_grpc_connection_t* connection, tfrt_status_t status) {
  tfrt_mutex_lock(&connection->mutex);
  // As after the end of a stream: nothing is taken any more, nothing is read.
  connection->sending = TFRT_GRPC_SENDING_FINISHED;
  connection->receiving = TFRT_GRPC_RECEIVING_EXHAUSTED;
  bool has_write = connection->early_write != NULL;
  connection->early_write = NULL;
  if (has_write) --connection->pending;
  tfrt_mutex_unlock(&connection->mutex);
  if (has_write) tfrt_transport_connection_report_written(&connection->base, status);
}

static void reject_stream(tfrt_grpc_connection_t* connection, tfrt_status_t status) {
  refuse_early_write(connection, status);
  tfrt_grpc_listener_side_t* side = &connection->side.listener;
  side->details = grpc_slice_from_copied_string(tfrt_status_message(status));
  side->rejected_mark.key = grpc_slice_from_static_string(TFRT_GRPC_REJECTED_NAME);
  side->rejected_mark.value = grpc_slice_from_static_string("1");
  start_waiting_for_end(connection);
  // In one batch, so that no initial metadata goes ahead: the dialler's answer is no.
  grpc_op answer[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                       {.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
  answer[1].data.send_status_from_server.status = (grpc_status_code)tfrt_status_code(status);
  answer[1].data.send_status_from_server.status_details = &side->details;
  answer[1].data.send_status_from_server.trailing_metadata = &side->rejected_mark;
  answer[1].data.send_status_from_server.trailing_metadata_count = 1;
  tfrt_grpc_connection_start_batch(connection, connection->call, answer, 2,
                                   &connection->events.finished);
  tfrt_grpc_connection_open(connection);
}

// --- Judging -----------------------------------------------------------------

// True for the names that are the transport's own.
static bool is_own_name(tfrt_string_view_t name) {
  return tfrt_string_view_equal(name, tfrt_string_view_of(TFRT_GRPC_STREAMS_NAME)) ||
         tfrt_string_view_equal(name, tfrt_string_view_of(TFRT_GRPC_BUNDLE_NAME));
}

// Shows |connection| to |acceptor|; names that are the transport's own, and names and values that
// the interface does not allow, are left out.
static tfrt_status_t judge(tfrt_grpc_connection_t* connection, const grpc_metadata_array* metadata,
                           tfrt_transport_acceptor_t* acceptor,
                           tfrt_transport_handler_t** out_handler) {
  *out_handler = NULL;
  if (!acceptor) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "no such method here; a host offers " TFRT_GRPC_CONTROL_METHOD
                              " and " TFRT_GRPC_BULK_METHOD);
  }
  tfrt_transport_metadata_t shown[TFRT_GRPC_MAX_METADATA];
  size_t count = 0;
  for (size_t i = 0; i < metadata->count; ++i) {
    tfrt_string_view_t name = tfrt_grpc_view_of(&metadata->metadata[i].key);
    tfrt_string_view_t value = tfrt_grpc_view_of(&metadata->metadata[i].value);
    if (!is_printable(value) || is_own_name(name)) continue;
    if (count == TFRT_GRPC_MAX_METADATA) {
      return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                                "a stream may come with %d names and values, this one has more",
                                TFRT_GRPC_MAX_METADATA);
    }
    shown[count++] = (tfrt_transport_metadata_t){name, value};
  }
  tfrt_transport_incoming_t incoming = {.kind = connection->base.kind,
                                        .metadata = shown,
                                        .metadata_count = count,
                                        .connection = &connection->base};
  return acceptor->vtable->accept(acceptor, &incoming, out_handler);
}

// --- Further streams ---------------------------------------------------------

static void on_other_accepted(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // a failure shows at |ended|
  tfrt_grpc_connection_settle_event(
      TFRT_CONTAINER_OF(event, tfrt_grpc_other_stream_t, opened)->stream.connection);
}

// Agrees to the number of streams that |asked|, the dialler's word, says, if it is one.
static void agree(tfrt_grpc_connection_t* connection, tfrt_string_view_t asked) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  uint64_t count = 0;
  if (!tfrt_number_text_parse_u64(asked, &count)) return;
  if (count > TFRT_TUNING_GRPC_BUNDLE_STREAMS) count = TFRT_TUNING_GRPC_BUNDLE_STREAMS;
  if (count < 2) return;
  if (!tfrt_grpc_bundle_make_room(connection, (uint32_t)count, on_other_accepted)) return;
  uint64_t secret[2];
  tfrt_random_entropy(secret, sizeof(secret));
  snprintf(bundle->token, sizeof(bundle->token), "%016" PRIx64 "%016" PRIx64, secret[0], secret[1]);
  bundle->agreement = tfrt_grpc_bundle_make_mark(bundle->token, (uint32_t)count);
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

// Puts |call| into its place, |number|; false if that can't be.
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

// Begins stream |number|, whose call is in its place.
static void begin_other(tfrt_grpc_connection_t* connection, tfrt_string_view_t word,
                        uint32_t number) {
  tfrt_grpc_other_stream_t* other = &connection->bundle.others[number - 1];
  grpc_op end = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
  end.data.recv_close_on_server.cancelled = &other->is_cancelled;
  tfrt_grpc_connection_start_batch(connection, other->call, &end, 1, &other->ended);
  other->mark = tfrt_grpc_bundle_make_mark(word.data, number);
  grpc_op open = {.op = GRPC_OP_SEND_INITIAL_METADATA};
  open.data.send_initial_metadata.metadata = &other->mark;
  open.data.send_initial_metadata.count = 1;
  tfrt_grpc_connection_start_batch(connection, other->call, &open, 1, &other->opened);
  tfrt_grpc_bundle_note_joined(connection);
}

// Adds |call| (taken over), which came with |word|, a token and a number, to the connection of
// |set| that has the token; ends the call if none has.
static void add_call(tfrt_grpc_connection_set_t* set, grpc_call* call, tfrt_string_view_t word) {
  uint32_t number = 0;
  tfrt_grpc_connection_t* connection = find_owner(set, word);
  if (connection && tfrt_grpc_bundle_read_mark(word, &number) &&
      place_call(connection, call, number)) {
    begin_other(connection, word, number);
  } else {
    grpc_call_cancel_with_status(call, GRPC_STATUS_FAILED_PRECONDITION, "no bundle lacks this",
                                 NULL);
    grpc_call_unref(call);
  }
  if (connection) tfrt_transport_connection_release(&connection->base);
}

// --- Life --------------------------------------------------------------------

// The first message has come on |connection|: so it is admitted.
static void admit(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_listener_side_t* side = &connection->side.listener;
  if (!side->admission) return;
  tfrt_grpc_admission_admit(side->admission, side->stranger);
  tfrt_grpc_admission_release(side->admission);
  side->admission = NULL;
}

static void deinitialize_accepted(tfrt_grpc_connection_t* connection) {
  grpc_slice_unref(connection->side.listener.details);
  tfrt_grpc_admission_release(connection->side.listener.admission);
  connection->side.listener.admission = NULL;
}

// The socket is the server's.
static void leave_accepted(tfrt_grpc_connection_t* connection) { (void)connection; }

static const tfrt_grpc_side_vtable_t accept_vtable = {
    .on_message = admit, .on_over = leave_accepted, .deinitialize = deinitialize_accepted};

static tfrt_grpc_connection_t* create_connection(grpc_call* call, tfrt_transport_kind_t kind,
                                                 const tfrt_grpc_accept_context_t* context) {
  tfrt_grpc_connection_t* connection =
      tfrt_allocator_allocate_zeroed(context->allocator, sizeof(*connection));
  if (!connection) return NULL;
  tfrt_grpc_connection_initialize(connection, kind, NULL, context->queue, context->set,
                                  context->allocator);
  connection->side_vtable = &accept_vtable;
  connection->call = call;
  connection->side.listener.details = grpc_empty_slice();
  tfrt_grpc_event_initialize(&connection->events.opened, on_accepted);
  tfrt_grpc_event_initialize(&connection->events.ended, on_accepted_ended);
  return connection;
}

// Sets |*out_value| to the value of |name|; false if there is none.
static bool find_value(const grpc_metadata_array* metadata, const char* name,
                       tfrt_string_view_t* out_value) {
  for (size_t i = 0; i < metadata->count; ++i) {
    if (grpc_slice_str_cmp(metadata->metadata[i].key, name) != 0) continue;
    *out_value = tfrt_grpc_view_of(&metadata->metadata[i].value);
    return true;
  }
  return false;
}

// A call that is accepted admits its connection: at once if it has brought a key, else with its
// first message.
static void note_call(tfrt_grpc_connection_t* connection, const grpc_metadata_array* metadata,
                      tfrt_grpc_admission_t* admission) {
  tfrt_grpc_listener_side_t* side = &connection->side.listener;
  side->stranger = tfrt_grpc_admission_note_call(admission, connection->call, false);
  if (side->stranger != 0) side->admission = tfrt_grpc_admission_retain(admission);
  tfrt_string_view_t key;
  if (find_value(metadata, TFRT_TRANSPORT_CLUSTER_KEY, &key)) admit(connection);
}

// |call| came with |word|, as another stream of a connection.
static void add_to_bundle(grpc_call* call, tfrt_string_view_t word,
                          const tfrt_grpc_accept_context_t* context) {
  if (context->admission) (void)tfrt_grpc_admission_note_call(context->admission, call, false);
  add_call(context->set, call, word);
}

void tfrt_grpc_accept_take_call(grpc_call* call, tfrt_transport_kind_t kind,
                                const grpc_metadata_array* metadata,
                                const tfrt_grpc_accept_context_t* context) {
  tfrt_string_view_t word;
  if (context->may_bundle && find_value(metadata, TFRT_GRPC_BUNDLE_NAME, &word)) {
    add_to_bundle(call, word, context);
    return;
  }
  tfrt_grpc_connection_t* connection = create_connection(call, kind, context);
  if (!connection || !tfrt_grpc_connection_set_add(context->set, connection)) {
    // No memory, or closed a moment ago: the dialler sees a stream that breaks.
    grpc_call_cancel(call, NULL);
    grpc_call_unref(call);
    if (connection) tfrt_transport_connection_release(&connection->base);
    return;
  }
  tfrt_transport_handler_t* handler;
  tfrt_status_t status = judge(connection, metadata, context->acceptor, &handler);
  if (tfrt_status_is_ok(status)) {
    if (context->admission) note_call(connection, metadata, context->admission);
    tfrt_string_view_t asked;
    if (context->may_bundle && find_value(metadata, TFRT_GRPC_STREAMS_NAME, &asked)) {
      agree(connection, asked);
    }
    accept_stream(connection, handler);
  } else {
    if (context->admission) (void)tfrt_grpc_admission_note_call(context->admission, call, false);
    reject_stream(connection, status);
  }
  tfrt_status_release(status);
}
