// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/dial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "distributed/transport/grpc/address.h"
#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"

// How a method of the service is called; see proto/peer.proto.
static const char* method_of(tfrt_transport_kind_t kind) {
  return kind == TFRT_TRANSPORT_BULK ? TFRT_GRPC_BULK_METHOD : TFRT_GRPC_CONTROL_METHOD;
}

// --- Errors of trust ---------------------------------------------------------

tfrt_status_t tfrt_grpc_dial_turned_away(const tfrt_grpc_credential_set_t* credentials,
                                         const char* address, int64_t took_ns) {
  const tfrt_status_code_t code = TFRT_STATUS_UNAUTHENTICATED;
  if (took_ns >= TFRT_TUNING_GRPC_HANDSHAKE_MS * TFRT_NANOSECONDS_PER_MILLISECOND) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                              "the host at %s closed the connection after %.1f s, in which the "
                              "first bytes should have come and gone: one of the two machines, or "
                              "the network, is too slow",
                              address, (double)took_ns / (double)TFRT_NANOSECONDS_PER_SECOND);
  }
  if (!credentials->is_encrypted) {
    return tfrt_status_create(code,
                              "the host at %s closed the connection before it said anything, as "
                              "one does that wants TLS (then give --tls-dir), or that is about to "
                              "end",
                              address);
  }
  tfrt_status_t status =
      tfrt_certificate_check(&credentials->files, TFRT_CERTIFICATE_CLIENT, (int64_t)time(NULL));
  const bool is_known = tfrt_status_code(status) == code;
  tfrt_status_t error =
      is_known ? tfrt_status_create(code, "the host at %s closed the connection: %s", address,
                                    tfrt_status_message(status))
               : tfrt_status_create(code,
                                    "the host at %s closed the connection: the certificate shown "
                                    "to it is of another cluster's authority, or has expired; "
                                    "`tfrt certs show` there and here tells which",
                                    address);
  tfrt_status_release(status);
  return error;
}

// The error UNAUTHENTICATED for |text|, which is about trust, of what |dialler| did. If the
// listener gave no reason, this checks the certificate that was shown to it, as the listener would.
static tfrt_status_t trust_error(tfrt_grpc_dial_text_t text, const tfrt_grpc_dialler_t* dialler) {
  const tfrt_status_code_t code = TFRT_STATUS_UNAUTHENTICATED;
  const char* address = dialler->address;
  const int64_t took_ns = tfrt_clock_now_ns(tfrt_clock_system()) - dialler->begin_ns;
  switch (text) {
    case TFRT_GRPC_DIAL_TEXT_UNTRUSTED:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is of another cluster's "
                                "authority, or has expired, or is no host's; `tfrt certs show` "
                                "there and here tells which, and `tfrt certs renew` renews it",
                                address);
    case TFRT_GRPC_DIAL_TEXT_WRONG_NAME:
      return tfrt_status_create(code,
                                "the certificate of the host at %s is for other names; dial it by "
                                "one of them (`tfrt certs show` lists them), or give it one for "
                                "this address, too (`tfrt certs add`)",
                                address);
    case TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT:
      return tfrt_status_create(code,
                                "the host at %s does not speak TLS; start it with --tls-dir, or "
                                "leave that out here",
                                address);
    case TFRT_GRPC_DIAL_TEXT_TURNED_AWAY:
      return tfrt_grpc_dial_turned_away(dialler->credentials, address, took_ns);
    default:
      return tfrt_status_create(code, "no TLS with the host at %s: %.*s", address,
                                TFRT_STRING_VIEW_ARGUMENTS(tfrt_grpc_view_of(&dialler->details)));
  }
}

// --- gRPC's last word --------------------------------------------------------

static bool is_marked_rejected(const grpc_metadata_array* trailing) {
  for (size_t i = 0; i < trailing->count; ++i) {
    if (grpc_slice_str_cmp(trailing->metadata[i].key, TFRT_GRPC_REJECTED_NAME) == 0) return true;
  }
  return false;
}

static bool is_rejecting_code(grpc_status_code code) {
  return code == GRPC_STATUS_UNAUTHENTICATED || code == GRPC_STATUS_PERMISSION_DENIED ||
         code == GRPC_STATUS_UNIMPLEMENTED;
}

// gRPC has one status for all that can happen before a stream exists.
static tfrt_transport_end_t classify_unavailable(tfrt_grpc_dial_text_t text) {
  switch (text) {
    case TFRT_GRPC_DIAL_TEXT_REFUSED:
      return TFRT_TRANSPORT_REFUSED;
    case TFRT_GRPC_DIAL_TEXT_NO_WAY:
      return TFRT_TRANSPORT_NO_ANSWER;
    case TFRT_GRPC_DIAL_TEXT_UNTRUSTED:
    case TFRT_GRPC_DIAL_TEXT_WRONG_NAME:
    case TFRT_GRPC_DIAL_TEXT_PLAIN_TEXT:
    case TFRT_GRPC_DIAL_TEXT_NO_TLS:
      return TFRT_TRANSPORT_REJECTED;
    default:
      return TFRT_TRANSPORT_RESET;
  }
}

// Returns the meaning of the library's text for a stream without an answer; OTHER for another one.
static tfrt_grpc_dial_text_t read_text(const tfrt_grpc_dialler_t* dialler, bool is_answered) {
  const bool is_unanswered = !is_answered && !dialler->has_received &&
                             dialler->code == GRPC_STATUS_UNAVAILABLE &&
                             !is_marked_rejected(&dialler->trailing);
  return is_unanswered ? tfrt_grpc_library_text_of_dial(tfrt_grpc_view_of(&dialler->details))
                       : TFRT_GRPC_DIAL_TEXT_OTHER;
}

static tfrt_transport_end_t classify_end(const tfrt_grpc_dialler_t* dialler, bool is_answered,
                                         tfrt_grpc_dial_text_t text) {
  if (dialler->code == GRPC_STATUS_OK) return TFRT_TRANSPORT_ENDED;
  if (dialler->has_received) return TFRT_TRANSPORT_RESET;
  if (is_marked_rejected(&dialler->trailing) || is_rejecting_code(dialler->code)) {
    return TFRT_TRANSPORT_REJECTED;
  }
  if (is_answered || dialler->code != GRPC_STATUS_UNAVAILABLE) return TFRT_TRANSPORT_RESET;
  return classify_unavailable(text);
}

static tfrt_status_t create_end_status(const tfrt_grpc_dialler_t* dialler, tfrt_transport_end_t end,
                                       tfrt_grpc_dial_text_t library_text) {
  if (end == TFRT_TRANSPORT_ENDED) return NULL;
  int size = (int)GRPC_SLICE_LENGTH(dialler->details);
  const char* text = (const char*)GRPC_SLICE_START_PTR(dialler->details);
  bool is_about_trust = library_text >= TFRT_GRPC_DIAL_TEXT_UNTRUSTED;
  if (is_about_trust && (end == TFRT_TRANSPORT_REJECTED || end == TFRT_TRANSPORT_RESET)) {
    return trust_error(library_text, dialler);
  }
  if (end == TFRT_TRANSPORT_REJECTED) {
    return tfrt_status_create((tfrt_status_code_t)dialler->code, "%.*s", size, text);
  }
  if (end == TFRT_TRANSPORT_REFUSED) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "nobody listens at %s", dialler->address);
  }
  if (library_text == TFRT_GRPC_DIAL_TEXT_NO_DESCRIPTOR) {
    return tfrt_grpc_library_no_descriptor(dialler->address);
  }
  if (end == TFRT_TRANSPORT_NO_ANSWER) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no way leads to %s: %.*s", dialler->address,
                              size, text);
  }
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the connection to %s broke: %.*s",
                            dialler->address, size, text);
}

// --- The channel's end --------------------------------------------------------

// gRPC 1.51 keeps the socket of a channel that was destroyed while it connected for ever, if the
// peer speaks after that. So such a channel outlives the stream until its attempt to connect has
// succeeded or failed, which it does within the dial's time: the connection, which holds a
// reference to itself meanwhile, is *abandoned*. A transport that ends waits a moment for that.

// Adds |connection|, which holds a reference to itself and is still a member of its set, to those
// of the set that are abandoned.
static void abandon(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_connection_set_t* set = connection->set;
  tfrt_mutex_lock(&set->mutex);
  tfrt_list_push_back(&set->abandoned, &connection->side.dialler.abandoned_link);
  tfrt_mutex_unlock(&set->mutex);
}

// Removes |connection| from those that are abandoned; false if it is none any more, because the set
// was drained.
static bool reclaim(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_connection_set_t* set = connection->set;
  tfrt_list_link_t* link = &connection->side.dialler.abandoned_link;
  tfrt_mutex_lock(&set->mutex);
  bool is_abandoned = tfrt_list_is_linked(link);
  if (is_abandoned) tfrt_list_remove(link);
  if (tfrt_list_is_empty(&set->abandoned)) tfrt_condition_broadcast(&set->emptied);
  tfrt_mutex_unlock(&set->mutex);
  return is_abandoned;
}

static void on_left(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;  // else the attempt has taken far too long
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.left);
  if (reclaim(connection)) grpc_channel_destroy(connection->side.dialler.channel);
  tfrt_transport_connection_release(&connection->base);
}

// Makes the event |left| of |connection| run when its channel no longer connects, or after a time.
// Until then the queue must not be shut down.
static void watch_channel(tfrt_grpc_connection_t* connection) {
  const int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  const int64_t deadline_ns = tfrt_deadline_after(now_ns, TFRT_TUNING_GRPC_ABANDONED_NS);
  tfrt_grpc_event_hand_over(&connection->events.left);
  grpc_channel_watch_connectivity_state(connection->side.dialler.channel, GRPC_CHANNEL_CONNECTING,
                                        gpr_time_from_nanos(deadline_ns, GPR_CLOCK_MONOTONIC),
                                        connection->queue->completion_queue,
                                        &connection->events.left);
}

static void leave_channel(tfrt_grpc_connection_t* connection) {
  grpc_channel* channel = connection->side.dialler.channel;
  if (grpc_channel_check_connectivity_state(channel, 0) != GRPC_CHANNEL_CONNECTING) {
    grpc_channel_destroy(channel);
    return;
  }
  tfrt_transport_connection_retain(&connection->base);  // the event's
  // First the event: a drain that finds the connection in the list ends the watch.
  watch_channel(connection);
  // On this thread, where the event runs, too: so it finds the connection in the list.
  abandon(connection);
}

// --- Further streams ---------------------------------------------------------

// True if the listener has answered |other|. gRPC also calls it a success that a stream ended
// without an answer.
static bool is_answered(const tfrt_grpc_other_stream_t* other) {
  for (size_t i = 0; i < other->initial.count; ++i) {
    if (grpc_slice_eq(other->initial.metadata[i].key, other->mark.key)) return true;
  }
  return false;
}

static void on_other_answered(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_other_stream_t* other = TFRT_CONTAINER_OF(event, tfrt_grpc_other_stream_t, opened);
  tfrt_grpc_connection_t* connection = other->stream.connection;
  if (is_ok && is_answered(other)) tfrt_grpc_bundle_note_joined(connection);
  tfrt_grpc_connection_settle_event(connection);
}

static void open_other(tfrt_grpc_connection_t* connection, grpc_call* call,
                       tfrt_grpc_other_stream_t* other) {
  grpc_op end = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
  end.data.recv_status_on_client.trailing_metadata = &other->trailing;
  end.data.recv_status_on_client.status = &other->code;
  end.data.recv_status_on_client.status_details = &other->details;
  tfrt_grpc_connection_start_batch(connection, call, &end, 1, &other->ended);
  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  open[0].data.send_initial_metadata.metadata = &other->mark;
  open[0].data.send_initial_metadata.count = 1;
  open[1].data.recv_initial_metadata.recv_initial_metadata = &other->initial;
  tfrt_grpc_connection_start_batch(connection, call, open, 2, &other->opened);
}

// Opens the other streams on |channel|, for |method|, as the listener's |word| says.
static void open_others(tfrt_grpc_connection_t* connection, grpc_channel* channel,
                        const char* method, tfrt_string_view_t word) {
  tfrt_grpc_bundle_t* bundle = &connection->bundle;
  uint32_t count = 0;
  if (!tfrt_grpc_bundle_read_mark(word, &count) || count < 2) return;
  tfrt_mutex_lock(&connection->mutex);
  const bool is_usable = tfrt_grpc_connection_is_usable(connection);
  tfrt_mutex_unlock(&connection->mutex);
  if (!is_usable || !tfrt_grpc_bundle_make_room(connection, count, on_other_answered)) return;
  for (uint32_t i = 1; i < count; ++i) {
    tfrt_grpc_other_stream_t* other = &bundle->others[i - 1];
    other->mark = tfrt_grpc_bundle_make_mark(word.data, i);
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

// --- Events ------------------------------------------------------------------

static void on_dial_ended(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.ended);
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  // A dialler that was answered has no timer any more.
  bool is_answered = !tfrt_list_is_linked(&dialler->timer.link);
  tfrt_grpc_queue_remove_timer(&dialler->timer);
  const tfrt_grpc_dial_text_t text = read_text(dialler, is_answered);
  tfrt_transport_end_t end = classify_end(dialler, is_answered, text);
  tfrt_status_t status = create_end_status(dialler, end, text);
  tfrt_grpc_connection_take_end(connection, end, status);
}

static void on_answered(tfrt_grpc_event_t* event, bool is_ok) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.opened);
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  // A call that never got anywhere has no answer either, but |ended| knows why.
  if (is_ok) tfrt_grpc_queue_remove_timer(&dialler->timer);
  for (size_t i = 0; is_ok && i < dialler->initial.count; ++i) {
    const grpc_metadata* answer = &dialler->initial.metadata[i];
    if (grpc_slice_str_cmp(answer->key, TFRT_GRPC_BUNDLE_NAME) != 0) continue;
    open_others(connection, dialler->channel, method_of(connection->base.kind),
                tfrt_grpc_view_of(&answer->value));
    break;
  }
  tfrt_grpc_connection_settle_event(connection);
}

static void on_time_is_up(tfrt_grpc_timer_t* timer) {
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(timer, tfrt_grpc_connection_t, side.dialler.timer);
  tfrt_grpc_connection_break(connection, TFRT_GRPC_BREAK_NO_ANSWER);
}

static void on_start(tfrt_grpc_event_t* event, bool is_ok) {
  (void)is_ok;
  tfrt_grpc_connection_t* connection =
      TFRT_CONTAINER_OF(event, tfrt_grpc_connection_t, events.start);
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  dialler->timer.deadline_ns = dialler->deadline_ns;
  dialler->timer.expire = on_time_is_up;
  tfrt_grpc_queue_add_timer(connection->queue, &dialler->timer);

  grpc_op end = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
  end.data.recv_status_on_client.trailing_metadata = &dialler->trailing;
  end.data.recv_status_on_client.status = &dialler->code;
  end.data.recv_status_on_client.status_details = &dialler->details;
  tfrt_grpc_connection_start_batch(connection, connection->call, &end, 1,
                                   &connection->events.ended);

  grpc_op open[2] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_RECV_INITIAL_METADATA}};
  open[0].data.send_initial_metadata.metadata = dialler->metadata;
  open[0].data.send_initial_metadata.count = dialler->metadata_count;
  open[1].data.recv_initial_metadata.recv_initial_metadata = &dialler->initial;
  tfrt_grpc_connection_start_batch(connection, connection->call, open, 2,
                                   &connection->events.opened);
  tfrt_grpc_connection_open(connection);
  tfrt_transport_connection_release(&connection->base);  // the event's
}

// --- Life --------------------------------------------------------------------

// Those of |options|, and how many streams a connection of its kind can have.
static bool copy_metadata(tfrt_grpc_dialler_t* dialler,
                          const tfrt_transport_dial_options_t* options,
                          tfrt_allocator_t allocator) {
  const bool asks = options->kind == TFRT_TRANSPORT_CONTROL;
  const size_t count = options->metadata_count + asks;
  if (count == 0) return true;
  dialler->metadata = tfrt_allocator_allocate_array(allocator, count, sizeof(grpc_metadata));
  if (!dialler->metadata) return false;
  dialler->metadata_count = count;
  if (asks) {
    char text[16];
    snprintf(text, sizeof(text), "%u", TFRT_TUNING_GRPC_BUNDLE_STREAMS);
    dialler->metadata[count - 1].key = grpc_slice_from_static_string(TFRT_GRPC_STREAMS_NAME);
    dialler->metadata[count - 1].value = grpc_slice_from_copied_string(text);
  }
  for (size_t i = 0; i < options->metadata_count; ++i) {
    const tfrt_transport_metadata_t* given = &options->metadata[i];
    dialler->metadata[i].key = grpc_slice_from_copied_buffer(given->name.data, given->name.size);
    dialler->metadata[i].value =
        grpc_slice_from_copied_buffer(given->value.data, given->value.size);
  }
  return true;
}

static void open_call(tfrt_grpc_connection_t* connection,
                      const tfrt_grpc_channel_settings_t* settings, const char* target,
                      int64_t timeout_ns) {
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  grpc_metadata_array_init(&dialler->initial);
  grpc_metadata_array_init(&dialler->trailing);
  dialler->details = grpc_empty_slice();
  dialler->channel = tfrt_grpc_channel_open(target, settings, timeout_ns);
  connection->call = grpc_channel_create_call(
      dialler->channel, NULL, GRPC_PROPAGATE_DEFAULTS, connection->queue->completion_queue,
      grpc_slice_from_static_string(method_of(connection->base.kind)), NULL,
      gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
}

static void deinitialize_dial(tfrt_grpc_connection_t* connection) {
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  grpc_metadata_array_destroy(&dialler->initial);
  grpc_metadata_array_destroy(&dialler->trailing);
  grpc_slice_unref(dialler->details);
  for (size_t i = 0; i < dialler->metadata_count; ++i) {
    grpc_slice_unref(dialler->metadata[i].key);
    grpc_slice_unref(dialler->metadata[i].value);
  }
  tfrt_allocator_free(connection->allocator, dialler->metadata,
                      dialler->metadata_count * sizeof(grpc_metadata));
}

static void note_message(tfrt_grpc_connection_t* connection) {
  connection->side.dialler.has_received = true;
}

// Now, before on_closed: gRPC releases the slices of a write only when the socket closes. A channel
// that still connects has none.
static const tfrt_grpc_side_vtable_t dial_vtable = {
    .on_message = note_message, .on_over = leave_channel, .deinitialize = deinitialize_dial};

// Undoes a dial that nothing has been started for. Returns FAILED_PRECONDITION.
static tfrt_status_t refuse_dial(tfrt_grpc_connection_t* connection) {
  grpc_call_unref(connection->call);
  grpc_channel_destroy(connection->side.dialler.channel);
  tfrt_grpc_bundle_deinitialize(connection);
  deinitialize_dial(connection);
  tfrt_transport_connection_release(&connection->base);
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the transport is closed");
}

static void start_dial(tfrt_grpc_connection_t* connection) {
  // One for the caller, one for itself until on_closed, one for the event.
  tfrt_transport_connection_retain(&connection->base);
  if (!tfrt_grpc_queue_post(connection->queue, &connection->events.start)) {
    // Can't be: the connection is in the set, and the queue outlives all members.
    abort();
  }
}

tfrt_status_t tfrt_grpc_dial(const tfrt_grpc_dial_context_t* context,
                             const tfrt_transport_dial_options_t* options,
                             tfrt_transport_handler_t* handler,
                             tfrt_transport_connection_t** out_connection) {
  *out_connection = NULL;
  char target[TFRT_GRPC_TARGET_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_grpc_address_target(options->address, target));
  tfrt_grpc_connection_t* connection =
      tfrt_allocator_allocate_zeroed(context->allocator, sizeof(*connection));
  if (!connection) return tfrt_status_out_of_memory();
  tfrt_grpc_dialler_t* dialler = &connection->side.dialler;
  if (!copy_metadata(dialler, options, context->allocator)) {
    tfrt_allocator_free(context->allocator, connection, sizeof(*connection));
    return tfrt_status_out_of_memory();
  }
  tfrt_grpc_connection_initialize(connection, options->kind, handler, context->queue, context->set,
                                  context->allocator);
  connection->is_dialled = true;
  connection->side_vtable = &dial_vtable;
  memcpy(dialler->address, options->address.data, options->address.size);
  tfrt_list_initialize(&dialler->timer.link);
  tfrt_list_initialize(&dialler->abandoned_link);
  dialler->begin_ns = tfrt_clock_now_ns(tfrt_clock_system());
  dialler->deadline_ns = tfrt_deadline_after(dialler->begin_ns, options->timeout_ns);
  tfrt_grpc_event_initialize(&connection->events.start, on_start);
  tfrt_grpc_event_initialize(&connection->events.opened, on_answered);
  tfrt_grpc_event_initialize(&connection->events.ended, on_dial_ended);
  tfrt_grpc_event_initialize(&connection->events.left, on_left);
  dialler->credentials = context->settings.credentials;
  open_call(connection, &context->settings, target, options->timeout_ns);
  // The set may be drained by another thread from here on: so it gets the reference that
  // the connection keeps to itself.
  tfrt_transport_connection_retain(&connection->base);
  if (!tfrt_grpc_connection_set_add(context->set, connection)) {
    tfrt_transport_connection_release(&connection->base);
    return refuse_dial(connection);
  }
  *out_connection = &connection->base;
  start_dial(connection);
  return NULL;
}
