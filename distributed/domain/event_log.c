// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/event_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "distributed/transport/transport.h"
#include "host_runtime/base/log.h"

// Room for a peer's name, which the wire limits to 255 bytes.
#define TFRT_EVENT_LOG_NAME_SIZE (TFRT_TRANSPORT_ADDRESS_SIZE + 256)

// Writes what people call the peer: its name, else its address, else its incarnation.
static void tfrt_event_log_peer_name(const tfrt_session_t* session,
                                     char out_name[TFRT_EVENT_LOG_NAME_SIZE]) {
  tfrt_string_view_t name = tfrt_session_peer_name(session);
  if (name.size == 0) name = tfrt_session_address(session);
  if (name.size > 0) {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%.*s", TFRT_STRING_VIEW_ARGUMENTS(name));
  } else {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%016" PRIx64,
             tfrt_session_peer_incarnation(session));
  }
}

void tfrt_event_log_session_opened(const tfrt_session_t* session) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  tfrt_string_view_t address = tfrt_session_address(session);
  if (address.size > 0) {
    tfrt_log(TFRT_LOG_INFO, NULL, "connected to %s at %.*s", name,
             TFRT_STRING_VIEW_ARGUMENTS(address));
  } else {
    // The peer is a client: the line of its job says more, and a status question needs no line.
    tfrt_log(TFRT_LOG_DEBUG, NULL, "%s has connected", name);
  }
}

void tfrt_event_log_refused(tfrt_status_t status, uint64_t untold) {
  const char* message = tfrt_status_message(status);
  if (untold == 0) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused who dialled: %s", message);
  } else {
    tfrt_log(TFRT_LOG_WARNING, NULL, "refused who dialled, after %" PRIu64 " others: %s", untold,
             message);
  }
}

void tfrt_event_log_session_draining(const tfrt_session_t* session) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  tfrt_log(TFRT_LOG_INFO, NULL, "%s drains: it takes no new jobs", name);
}

void tfrt_event_log_session_suspected(const tfrt_session_t* session, bool is_suspected) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  if (is_suspected) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "%s is silent; it will be given up if it stays so", name);
  } else {
    tfrt_log(TFRT_LOG_INFO, NULL, "%s speaks again", name);
  }
}

void tfrt_event_log_kernel_stuck(const tfrt_status_origin_t* place, int64_t age_ns) {
  tfrt_log(TFRT_LOG_WARNING, NULL,
           "a thread is in kernel %s of @%s at %s:%u:%u for %.1f s: it is stuck, or slow",
           place->kernel, place->function, place->file ? place->file : "-", place->line,
           place->column, (double)age_ns / (double)TFRT_NANOSECONDS_PER_SECOND);
}

void tfrt_event_log_session_stuck(const tfrt_session_t* session,
                                  const tfrt_wire_running_kernel_t* kernel) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(session, name);
  if (!kernel) {
    tfrt_log(TFRT_LOG_INFO, NULL, "%s gets on", name);
    return;
  }
  const tfrt_wire_origin_t* place = &kernel->location;
  tfrt_log(
      TFRT_LOG_WARNING, NULL,
      "%s lives, and is in kernel %.*s of @%.*s at %.*s:%u:%u for %.1f s: it is stuck, or slow",
      name, TFRT_STRING_VIEW_ARGUMENTS(place->kernel), TFRT_STRING_VIEW_ARGUMENTS(place->function),
      TFRT_STRING_VIEW_ARGUMENTS(place->file), place->line, place->column,
      (double)kernel->age_us / 1e6);
}

void tfrt_event_log_session_dead(const tfrt_session_t* session, tfrt_session_death_t death,
                                 tfrt_status_t status) {
  bool is_orderly = death == TFRT_SESSION_DEATH_GOODBYE || death == TFRT_SESSION_DEATH_CLOSED;
  // Two processes that dialled each other need one session: nothing is lost with the other.
  bool is_double = tfrt_status_code(status) == TFRT_STATUS_ALREADY_EXISTS;
  // The orderly end of a client's session is debug output, as its beginning is.
  bool is_client = tfrt_session_address(session).size == 0;
  tfrt_log_severity_t severity = is_double || (is_orderly && is_client) ? TFRT_LOG_DEBUG
                                 : is_orderly                           ? TFRT_LOG_INFO
                                                                        : TFRT_LOG_WARNING;
  tfrt_log(severity, NULL, "%s", tfrt_status_message(status));
}

// A job's lines have its local number; with |call|, that of the call on its link, too.
static tfrt_log_context_t tfrt_event_log_context(const tfrt_job_t* job, uint64_t call) {
  return (tfrt_log_context_t){
      .job = job->handle, .call = call, .has_host = true, .host = job->rank};
}

void tfrt_event_log_job_opened(const tfrt_job_t* job, const tfrt_session_t* client) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(client, name);
  const tfrt_log_context_t context = tfrt_event_log_context(job, 0);
  // The digits by which `tfrt list jobs` names it.
  tfrt_log(job->asks_only ? TFRT_LOG_DEBUG : TFRT_LOG_INFO, &context,
           "%02x%02x%02x%02x opened by %s, as host %" PRIu32 " of %" PRIu32, job->identity.id[0],
           job->identity.id[1], job->identity.id[2], job->identity.id[3], name, job->rank,
           job->view.member_count);
}

void tfrt_event_log_job_refused(const tfrt_session_t* client, tfrt_status_t reason) {
  char name[TFRT_EVENT_LOG_NAME_SIZE];
  tfrt_event_log_peer_name(client, name);
  tfrt_log(TFRT_LOG_WARNING, NULL, "refused a job of %s: %s", name, tfrt_status_message(reason));
}

void tfrt_event_log_job_closed(const tfrt_job_t* job, tfrt_status_t reason) {
  const tfrt_log_context_t context = tfrt_event_log_context(job, 0);
  tfrt_log_severity_t severity = job->asks_only ? TFRT_LOG_DEBUG : TFRT_LOG_INFO;
  if (reason) {
    tfrt_log(severity, &context, "closed: %s", tfrt_status_message(reason));
  } else {
    tfrt_log(severity, &context, "closed");
  }
}

void tfrt_event_log_call_begun(const tfrt_job_t* job, uint64_t call, uint64_t caller,
                               const char* function) {
  if (!tfrt_log_is_enabled(TFRT_LOG_DEBUG)) return;
  const tfrt_log_context_t context = tfrt_event_log_context(job, call);
  tfrt_log(TFRT_LOG_DEBUG, &context, "called by %016" PRIx64 ": @%s", caller, function);
}

void tfrt_event_log_call_ended(const tfrt_job_t* job, uint64_t call, tfrt_status_t cancelled) {
  if (!tfrt_log_is_enabled(TFRT_LOG_DEBUG)) return;
  const tfrt_log_context_t context = tfrt_event_log_context(job, call);
  if (cancelled) {
    tfrt_log(TFRT_LOG_DEBUG, &context, "done: %s", tfrt_status_message(cancelled));
  } else {
    tfrt_log(TFRT_LOG_DEBUG, &context, "done");
  }
}
