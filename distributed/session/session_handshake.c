// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "distributed/session/session_internal.h"
#include "host_runtime/base/number_text.h"

// --- The session opens -------------------------------------------------------

static void learn(tfrt_session_t* session, const tfrt_wire_hello_t* hello) {
  const tfrt_session_options_t* options = &session->manager->options;
  session->terms.version =
      hello->version_max < options->version_max ? hello->version_max : options->version_max;
  session->terms.features = hello->features & options->features;
  session->terms.limits = tfrt_wire_limits_in_force(&options->limits, hello->limits);
  tfrt_session_copy_text(session->label.name, sizeof(session->label.name), hello->name);
  if (session->label.rank == TFRT_WIRE_NO_RANK) session->label.rank = hello->rank_hint;
  tfrt_send_queue_begin_connection(&session->queue, session->terms.limits.replay_bytes);
}

static void move_to(tfrt_session_t* session, tfrt_session_link_t* link) {
  if (session->link) tfrt_session_link_drop(session->link, false);
  if (session->dial.link == link) {
    session->dial.link = NULL;  // its reference moves to |link|
  } else {
    if (session->dial.link) tfrt_session_link_drop(session->dial.link, false);
    tfrt_session_link_retain(link);
    link->session = tfrt_session_retain(session);
  }
  session->link = link;
  session->connection = link->number;
  link->state = TFRT_SESSION_LINK_ESTABLISHED;
}

// OPEN for the first time: from here on the number stays.
static void open_first(tfrt_session_t* session, const tfrt_wire_hello_t* hello) {
  tfrt_session_manager_t* manager = session->manager;
  session->was_opened = true;
  session->peer_next_call = hello->next_call;
  tfrt_status_t status = tfrt_send_queue_seal(&session->queue, session);
  if (!status) {
    manager->handler->vtable->on_opened(manager->handler, session);
    return;
  }
  // Only memory can be missing.
  tfrt_session_take_death(session, TFRT_SESSION_DEATH_CLOSED,
                          tfrt_status_take_annotate(status, "what waited can't be sent"));
}

// |session| is OPEN on |link| now, which is ESTABLISHED or about to say Welcome. |hello| is
// what the peer said about itself.
static void adopt(tfrt_session_t* session, tfrt_session_link_t* link,
                  const tfrt_wire_hello_t* hello) {
  tfrt_session_manager_t* manager = session->manager;
  int64_t now_ns = tfrt_session_now_ns(manager);
  tfrt_session_retain(session);
  move_to(session, link);
  learn(session, hello);
  // The caller has checked that the number lies between the acknowledged and the written frames.
  tfrt_send_queue_acknowledge(&session->queue, hello->received_seq, now_ns);
  session->state = TFRT_SESSION_OPEN;
  tfrt_status_release(session->dial.failure);
  session->dial.failure = NULL;
  session->dial.delay_ns = 0;
  session->schedule.redial_ns = TFRT_TIME_INFINITE;
  session->schedule.beat_ns =
      tfrt_deadline_after(now_ns, (int64_t)session->terms.limits.heartbeat_period_ms *
                                      TFRT_NANOSECONDS_PER_MILLISECOND);
  session->schedule.is_beat_due = true;
  tfrt_session_note_heard(session);
  if (session->was_opened) {
    ++manager->counters.resumes;
  } else {
    open_first(session, hello);
  }
  if (session->link == link) tfrt_session_link_request_work(link);
  tfrt_session_schedule(session);
  tfrt_session_release(session);
}

// --- Sending -----------------------------------------------------------------

static tfrt_wire_hello_t describe_us(const tfrt_session_link_t* link) {
  const tfrt_session_options_t* options = &link->manager->options;
  const tfrt_session_t* session = link->session;
  return (tfrt_wire_hello_t){
      .version_min = options->version_min,
      .version_max = options->version_max,
      .features = options->features,
      .incarnation = options->incarnation,
      .rank_hint = options->rank_hint,
      .name = options->name,
      .session = session->number,
      .resume = link->greeting.is_resume,
      .received_seq = session->receipt.sequence,
      .connection = link->number,
      .next_call = session->first_call > 0 ? session->first_call : 1,
      .limits = &options->limits,
  };
}

tfrt_status_t tfrt_session_encode_greeting(tfrt_session_link_t* link) {
  tfrt_session_manager_t* manager = link->manager;
  tfrt_session_t* session = link->session;
  tfrt_wire_body_t body = {.kind = link->greeting.kind};
  tfrt_wire_batch_t batch = {
      .version = manager->options.version_max,
      .from_incarnation = manager->options.incarnation,
      .frame_count = 1,
  };
  if (link->greeting.kind == TFRT_WIRE_FRAME_REFUSE) {
    body.refuse = (tfrt_wire_refuse_t){
        .reason = link->greeting.reason,
        .code = link->greeting.code,
        .message = tfrt_string_view_of(link->greeting.message),
        .last_session = link->greeting.last_session,
    };
    batch.to_incarnation = link->greeting.incarnation;
    batch.session = link->greeting.session;
  } else {
    if (link->greeting.kind == TFRT_WIRE_FRAME_HELLO) {
      body.hello = describe_us(link);
    } else {
      body.welcome.hello = describe_us(link);
      batch.version = session->terms.version;
    }
    batch.to_incarnation = session->incarnation;
    batch.session = session->number;
    batch.ack = session->receipt.sequence;
    tfrt_session_tell_credit(session);
    batch.call_limit = session->credit.told_calls;
    batch.want_limit = session->credit.told_wants;
  }
  tfrt_string_builder_clear(&manager->body);
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_encode(&body, &manager->body));
  const tfrt_wire_frame_t frame = {.kind = link->greeting.kind,
                                   .body = tfrt_string_builder_view(&manager->body)};
  batch.frames = &frame;
  return tfrt_wire_batch_encode(&batch, &link->out);
}

// Tells the handler that |link| is refused, unless that is how two processes come to one session.
static void tell_refusal(const tfrt_session_link_t* link, const tfrt_wire_hello_t* hello) {
  if (link->greeting.reason == TFRT_WIRE_REFUSE_CROSSED) return;
  if (link->greeting.reason == TFRT_WIRE_REFUSE_SESSION) return;
  tfrt_status_t status =
      tfrt_status_create(link->greeting.code, "%.*s: %s", TFRT_STRING_VIEW_ARGUMENTS(hello->name),
                         link->greeting.message);
  tfrt_session_manager_tell_refusal(link->manager, status);
  tfrt_status_release(status);
}

// Answers the Hello on |link| with a Refuse, after which the stream ends.
static void refuse(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                   tfrt_wire_refuse_reason_t reason, tfrt_status_code_t code, uint32_t last_session,
                   const char* format, ...) TFRT_PRINTF(6, 7);

static void refuse(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                   tfrt_wire_refuse_reason_t reason, tfrt_status_code_t code, uint32_t last_session,
                   const char* format, ...) {
  link->greeting.kind = TFRT_WIRE_FRAME_REFUSE;
  link->greeting.reason = reason;
  link->greeting.code = code;
  link->greeting.last_session = last_session;
  link->greeting.session = hello->session;
  link->greeting.incarnation = hello->incarnation;
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(link->greeting.message, sizeof(link->greeting.message), format,
                            arguments);
  va_end(arguments);
  tell_refusal(link, hello);
  tfrt_session_link_finish(link);
}

// --- Judging a Hello ---------------------------------------------------------

// Decodes the only frame of |batch|, which must be one of |kind|, unsequenced.
static tfrt_status_t decode_only(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch,
                                 tfrt_wire_body_t* out_body) {
  *out_body = (tfrt_wire_body_t){0};
  if (batch->frame_count != 1 || batch->first_seq != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a stream begins with one Hello, Welcome or Refuse alone");
  }
  return tfrt_wire_body_decode(batch->frames[0].kind, batch->frames[0].body, &link->arena,
                               out_body);
}

// True if both dialled and it is our connection that stays.
static bool is_crossed_by_ours(const tfrt_session_t* session, const tfrt_wire_hello_t* hello) {
  return session->dial.link && session->manager->options.incarnation < hello->incarnation;
}

static void refuse_crossed(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello) {
  refuse(link, hello, TFRT_WIRE_REFUSE_CROSSED, TFRT_STATUS_ALREADY_EXISTS, hello->session,
         "another connection of this session is under way");
}

static void refuse_session(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                           const tfrt_session_peer_t* peer) {
  uint32_t last = peer ? peer->last_session : 0;
  refuse(link, hello, TFRT_WIRE_REFUSE_SESSION, TFRT_STATUS_FAILED_PRECONDITION, last,
         "session %" PRIu32 " of %016" PRIx64 " is dead or unknown here; the last one is %" PRIu32,
         hello->session, hello->incarnation, last);
}

// The connection that said |hello| becomes that of |session|.
static void welcome(tfrt_session_link_t* link, tfrt_session_t* session,
                    const tfrt_wire_hello_t* hello) {
  if (session->dial.link) tfrt_session_link_drop(session->dial.link, false);
  session->number = hello->session;
  if (session->peer->last_session < hello->session) session->peer->last_session = hello->session;
  link->greeting.kind = TFRT_WIRE_FRAME_WELCOME;
  link->greeting.is_resume = hello->resume;
  link->number = hello->connection;
  adopt(session, link, hello);
}

static void on_resume(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                      tfrt_session_peer_t* peer) {
  tfrt_session_t* session = peer ? peer->session : NULL;
  if (!session || session->number != hello->session) {
    refuse_session(link, hello, peer);
    return;
  }
  // The peer has acknowledged more since it said a Hello that was held up on its way. By then it
  // had another connection, and gave up the one that the Hello came on.
  bool is_late = hello->received_seq < session->queue.acked_seq;
  if (is_late || hello->connection <= session->connection || is_crossed_by_ours(session, hello)) {
    refuse_crossed(link, hello);
    return;
  }
  if (hello->received_seq > session->queue.written_seq) {
    refuse_session(link, hello, peer);
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_PROTOCOL,
        tfrt_session_error(session, TFRT_STATUS_ABORTED,
                           "resumed from frame %" PRIu64 ", of %" PRIu64 " that were sent",
                           hello->received_seq, session->queue.written_seq));
    return;
  }
  welcome(link, session, hello);
}

// True if |session|, which is OPEN or BROKEN here, began with a Welcome that the peer never
// got, so that it says the same Hello again.
static bool is_begun_twice(const tfrt_session_t* session, const tfrt_wire_hello_t* hello) {
  return session->number == hello->session && session->receipt.sequence == 0 &&
         session->queue.acked_seq == 0 && hello->received_seq == 0 &&
         hello->connection > session->connection;
}

// A Hello with a number that is known here: returns the session that it belongs to, or
// NULL after a refusal.
static tfrt_session_t* find_begun(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                                  const tfrt_session_peer_t* peer) {
  tfrt_session_t* session = peer->session;
  if (!session || session->number != hello->session) {
    refuse_session(link, hello, peer);
    return NULL;
  }
  bool fits = session->state == TFRT_SESSION_CONNECTING || is_begun_twice(session, hello);
  if (fits && !is_crossed_by_ours(session, hello)) return session;
  if (fits || hello->connection <= session->connection) {
    refuse_crossed(link, hello);
  } else {
    refuse_session(link, hello, peer);
  }
  return NULL;
}

// A session that nobody has here: makes it, or returns NULL after a refusal.
static tfrt_session_t* make_begun(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello) {
  tfrt_session_manager_t* manager = link->manager;
  if (manager->is_draining) {
    refuse(link, hello, TFRT_WIRE_REFUSE_DRAINING, TFRT_STATUS_UNAVAILABLE, 0,
           "this host takes no new sessions any more");
    return NULL;
  }
  bool has_room = manager->session_count < manager->options.max_sessions;
  tfrt_session_peer_t* peer = has_room ? tfrt_session_peer_make(manager, hello->incarnation) : NULL;
  tfrt_session_t* session =
      peer ? tfrt_session_make(manager, peer, (tfrt_string_view_t){0}, hello->session) : NULL;
  if (!session) {
    refuse(link, hello, TFRT_WIRE_REFUSE_BUSY, TFRT_STATUS_RESOURCE_EXHAUSTED, 0,
           "this host has no room for another session");
    return NULL;
  }
  tfrt_session_release(session);  // the manager keeps it
  return session;
}

// A new session: returns the one that it becomes, or NULL after a refusal.
static tfrt_session_t* find_or_make_begun(tfrt_session_link_t* link, const tfrt_wire_hello_t* hello,
                                          tfrt_session_peer_t* peer) {
  tfrt_session_t* session = peer ? peer->session : NULL;
  if (peer && hello->session <= peer->last_session) return find_begun(link, hello, peer);
  if (session && session->state == TFRT_SESSION_CONNECTING) {
    if (!is_crossed_by_ours(session, hello)) return session;
    refuse_crossed(link, hello);
    return NULL;
  }
  if (session) {
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_BURIED,
        tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE, "has begun a new session"));
    // The handler may have asked for another session already, which begins with this connection.
    if (peer->session) return peer->session;
  }
  return make_begun(link, hello);
}

static bool refuse_unfit(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch,
                         const tfrt_wire_hello_t* hello) {
  const tfrt_session_options_t* options = &link->manager->options;
  if (hello->version_min > options->version_max || hello->version_max < options->version_min) {
    refuse(link, hello, TFRT_WIRE_REFUSE_VERSION, TFRT_STATUS_FAILED_PRECONDITION, 0,
           "no common version: you speak %" PRIu32 " to %" PRIu32 ", this host %" PRIu32
           " to %" PRIu32,
           hello->version_min, hello->version_max, options->version_min, options->version_max);
    return true;
  }
  if (batch->to_incarnation != 0 && batch->to_incarnation != options->incarnation) {
    refuse(link, hello, TFRT_WIRE_REFUSE_INCARNATION, TFRT_STATUS_UNAVAILABLE, 0,
           "process %016" PRIx64 " is not here; this is %016" PRIx64, batch->to_incarnation,
           options->incarnation);
    return true;
  }
  if (hello->incarnation == options->incarnation) {
    refuse(link, hello, TFRT_WIRE_REFUSE_UNSPECIFIED, TFRT_STATUS_INVALID_ARGUMENT, 0,
           "a process has no session with itself");
    return true;
  }
  return false;
}

// Takes the credit that the peer grants with |batch|, the Hello or Welcome that opened the session.
// So a call that waited for the session goes with the first frames of its job, and needn't wait for
// the peer's first answer.
static void take_first_credit(const tfrt_session_link_t* link, const tfrt_wire_batch_t* batch) {
  tfrt_session_t* session = link->session;
  bool is_open = session && session->link == link && session->state == TFRT_SESSION_OPEN;
  if (!is_open) return;
  tfrt_send_queue_grant(&session->queue, batch->call_limit, batch->want_limit);
}

static void on_hello(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch) {
  tfrt_wire_body_t body;
  tfrt_status_t status = decode_only(link, batch, &body);
  if (!tfrt_status_is_ok(status) || body.kind != TFRT_WIRE_FRAME_HELLO ||
      body.hello.incarnation != batch->from_incarnation || body.hello.session != batch->session) {
    tfrt_status_release(status);
    tfrt_session_link_drop(link, false);
    return;
  }
  const tfrt_wire_hello_t* hello = &body.hello;
  if (refuse_unfit(link, batch, hello)) return;
  tfrt_session_peer_t* peer = tfrt_session_peer_find(link->manager, hello->incarnation);
  if (hello->resume) {
    on_resume(link, hello, peer);
    return;
  }
  tfrt_session_t* session = find_or_make_begun(link, hello, peer);
  if (!session) return;
  welcome(link, session, hello);
  take_first_credit(link, batch);
}

// --- The answer to a Hello ---------------------------------------------------

// Learns who is at the address that was dialled. False: the session is dead now.
static bool identify(tfrt_session_t* session, uint64_t incarnation) {
  if (session->incarnation == incarnation) return true;
  if (session->incarnation != 0) {
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_REPLACED,
        tfrt_session_error(session, TFRT_STATUS_UNAVAILABLE,
                           "is gone: another process (%016" PRIx64 ") answers at its address",
                           incarnation));
    return false;
  }
  tfrt_session_peer_t* peer = tfrt_session_peer_make(session->manager, incarnation);
  if (peer && !peer->session) {
    tfrt_session_bind(session, peer);
    return true;
  }
  const tfrt_status_fields_t known = {
      .code = TFRT_STATUS_ALREADY_EXISTS,
      .message = "the process at this address has a session with us already",
      .origin = {.rank = session->label.rank, .incarnation = incarnation},
      .root_key = incarnation};
  tfrt_session_take_death(
      session, TFRT_SESSION_DEATH_BURIED,
      peer ? tfrt_status_create_from_fields(&known)
           : tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no room for another peer"));
  return false;
}

static void on_welcome(tfrt_session_link_t* link, tfrt_session_t* session,
                       const tfrt_wire_hello_t* hello) {
  const tfrt_session_options_t* options = &session->manager->options;
  bool has_version =
      hello->version_min <= options->version_max && hello->version_max >= options->version_min;
  bool is_ours = hello->session == session->number && hello->connection == link->number &&
                 hello->resume == link->greeting.is_resume;
  bool is_kept = hello->received_seq >= session->queue.acked_seq &&
                 hello->received_seq <= session->queue.written_seq;
  if (has_version && is_ours && is_kept) {
    adopt(session, link, hello);
    return;
  }
  tfrt_session_take_death(session, TFRT_SESSION_DEATH_PROTOCOL,
                          tfrt_session_error(session, TFRT_STATUS_ABORTED,
                                             "answered session %" PRIu32 ", connection %" PRIu32
                                             " with a Welcome for session %" PRIu32
                                             ", connection %" PRIu32 ", frame %" PRIu64,
                                             session->number, link->number, hello->session,
                                             hello->connection, hello->received_seq));
}

// The number of a new session is taken at the peer: takes the next one. False: it can't.
static bool renumber(tfrt_session_t* session, const tfrt_wire_refuse_t* refusal) {
  tfrt_session_peer_t* peer = session->peer;
  if (session->state != TFRT_SESSION_CONNECTING || refusal->last_session < session->number ||
      refusal->last_session == UINT32_MAX ||
      ++session->renumber_count > TFRT_SESSION_MAX_RENUMBERS) {
    return false;
  }
  if (peer->last_session < refusal->last_session) peer->last_session = refusal->last_session;
  session->number = ++peer->last_session;
  return true;
}

static tfrt_session_death_t death_of(const tfrt_wire_refuse_t* refusal) {
  switch (refusal->reason) {
    case TFRT_WIRE_REFUSE_VERSION:
      return TFRT_SESSION_DEATH_VERSION;
    case TFRT_WIRE_REFUSE_INCARNATION:
      return TFRT_SESSION_DEATH_REPLACED;
    default:
      return TFRT_SESSION_DEATH_BURIED;
  }
}

static void on_refuse(tfrt_session_t* session, const tfrt_wire_refuse_t* refusal) {
  if (session->dial.link) tfrt_session_link_drop(session->dial.link, true);
  const tfrt_session_manager_t* manager = session->manager;
  if (refusal->reason == TFRT_WIRE_REFUSE_SESSION && renumber(session, refusal)) {
    tfrt_session_request_dial(session);
    return;
  }
  if (refusal->reason == TFRT_WIRE_REFUSE_CROSSED || refusal->reason == TFRT_WIRE_REFUSE_BUSY) {
    session->schedule.redial_ns =
        tfrt_deadline_after(tfrt_session_now_ns(manager), manager->options.redial_delay_ns);
    tfrt_session_schedule(session);
    return;
  }
  tfrt_status_code_t code =
      refusal->reason == TFRT_WIRE_REFUSE_VERSION ? TFRT_STATUS_ABORTED : TFRT_STATUS_UNAVAILABLE;
  tfrt_session_take_death(session, death_of(refusal),
                          tfrt_session_error(session, code, "refused the session: %.*s",
                                             TFRT_STRING_VIEW_ARGUMENTS(refusal->message)));
}

// Says Hello again with the next numbers. The first Hello went to an address without a known
// process and used the first numbers. A process with which we had earlier sessions answered, and
// has forgotten them: their numbers must not return.
static void greet_again(tfrt_session_link_t* link, tfrt_session_t* session) {
  tfrt_session_link_drop(link, false);
  if (session->peer->last_session == UINT32_MAX) {
    tfrt_session_take_death(session, TFRT_SESSION_DEATH_CLOSED,
                            tfrt_session_error(session, TFRT_STATUS_RESOURCE_EXHAUSTED,
                                               "has had all sessions that there can be"));
    return;
  }
  session->number = ++session->peer->last_session;
  tfrt_session_request_dial(session);
}

// True if a Hello to an address without a known process was wrong: if the process |incarnation| is
// known, or its numbers don't begin with the first ones. For a session that is not identified yet.
static bool is_hello_wrong(tfrt_session_t* session, uint64_t incarnation) {
  if (session->incarnation != 0) return false;
  const tfrt_session_peer_t* peer = tfrt_session_peer_find(session->manager, incarnation);
  return session->manager->call_floor > 1 ||
         (peer && (peer->next_call > 1 || peer->last_session >= session->number));
}

static void take_answer(tfrt_session_link_t* link, tfrt_session_t* session,
                        const tfrt_wire_batch_t* batch, const tfrt_wire_body_t* body) {
  bool is_welcome = body->kind == TFRT_WIRE_FRAME_WELCOME;
  // A Refuse for another incarnation comes from that other one: it says more than its name.
  bool names_itself = is_welcome || body->refuse.reason != TFRT_WIRE_REFUSE_INCARNATION;
  bool is_wrong = is_welcome && is_hello_wrong(session, batch->from_incarnation);
  if (names_itself && !identify(session, batch->from_incarnation)) return;
  if (!is_welcome) {
    on_refuse(session, &body->refuse);
  } else if (is_wrong) {
    greet_again(link, session);
  } else {
    on_welcome(link, session, &body->welcome.hello);
    take_first_credit(link, batch);
  }
}

static void on_answer(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch) {
  tfrt_session_t* session = link->session;
  tfrt_wire_body_t body;
  tfrt_status_t status = decode_only(link, batch, &body);
  bool is_welcome = body.kind == TFRT_WIRE_FRAME_WELCOME;
  if (!tfrt_status_is_ok(status) || (!is_welcome && body.kind != TFRT_WIRE_FRAME_REFUSE) ||
      (is_welcome && body.welcome.hello.incarnation != batch->from_incarnation)) {
    tfrt_session_take_death(
        session, TFRT_SESSION_DEATH_PROTOCOL,
        tfrt_session_error(session, TFRT_STATUS_ABORTED, "answered a Hello with something else: %s",
                           tfrt_status_message(status)));
    tfrt_status_release(status);
    return;
  }
  tfrt_session_retain(session);
  take_answer(link, session, batch, &body);
  tfrt_session_release(session);
}

void tfrt_session_on_greeting(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch) {
  if (link->state == TFRT_SESSION_LINK_ACCEPTED) {
    on_hello(link, batch);
  } else {
    on_answer(link, batch);
  }
}
