// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/status_report.h"

#include <inttypes.h>

#include "distributed/service/node_counts.h"
#include "distributed/service/text_answer.h"

static void tfrt_status_report_add(tfrt_string_builder_t* out, const char* name, uint64_t number) {
  tfrt_string_builder_append_format(out, "%s %" PRIu64 "\n", name, number);
}

// Adds the counts of live objects, without jobs that only ask, and without the call that asks this
// and its result's slot.
static void tfrt_status_report_add_counts(const tfrt_execution_t* execution,
                                          tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_node_counts_t counts = tfrt_node_counts(node);
  tfrt_node_lock_tables(node);
  size_t job_count = tfrt_job_count_running(node, execution->job);
  tfrt_node_unlock(node);
  tfrt_status_report_add(out, "jobs", job_count);
  tfrt_status_report_add(out, "kept_jobs", tfrt_node_kept_count(node));
  tfrt_status_report_add(out, "objects", counts.objects - 1);
  tfrt_status_report_add(out, "remote_values", counts.remote_values);
  tfrt_status_report_add(out, "outgoing_calls", counts.outgoing_calls);
  tfrt_status_report_add(out, "incoming_calls", counts.incoming_calls - 1);
  tfrt_status_report_add(out, "incoming_wants", counts.incoming_wants);
  tfrt_status_report_add(out, "transfers", counts.transfers);
}

static void tfrt_status_report_add_counters(tfrt_node_t* node, tfrt_string_builder_t* out) {
  tfrt_session_counters_t counters;
  tfrt_node_session_counters(node, &counters);
  tfrt_status_report_add(out, "frames_sent", counters.frames_sent);
  tfrt_status_report_add(out, "frames_received", counters.frames_received);
  tfrt_status_report_add(out, "frames_replayed", counters.frames_replayed);
  tfrt_status_report_add(out, "resumes", counters.resumes);
  tfrt_status_report_add(out, "dials", counters.dials);
  tfrt_status_report_add(out, "deaths", counters.deaths);
}

// A peer's session, and what has crossed in it.
static void tfrt_status_report_add_peer(tfrt_node_t* node, const tfrt_session_t* session,
                                        tfrt_string_builder_t* out) {
  uint64_t incarnation = tfrt_session_peer_incarnation(session);
  tfrt_string_builder_append_format(out, "peer %016" PRIx64 " %s %" PRId64 " ", incarnation,
                                    tfrt_session_state_name(tfrt_session_state(session)),
                                    tfrt_session_round_trip_ns(session) / 1000);
  tfrt_text_answer_add_word(out, tfrt_session_address(session));
  tfrt_string_builder_append_char(out, ' ');
  tfrt_text_answer_add_word(out, tfrt_session_peer_name(session));
  tfrt_session_traffic_t traffic;
  tfrt_session_traffic(session, &traffic);
  tfrt_lane_traffic_t payloads = tfrt_lane_manager_traffic(node->lanes, incarnation);
  tfrt_string_builder_append_format(
      out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
      traffic.frames_sent, traffic.frames_received, traffic.bytes_sent, traffic.bytes_received,
      payloads.sent, payloads.received);
}

static void tfrt_status_report_add_peers(tfrt_node_t* node, tfrt_string_builder_t* out) {
  tfrt_node_lock_tables(node);
  tfrt_string_builder_append_text(out, "name");
  tfrt_string_builder_append_char(out, ' ');
  tfrt_text_answer_add_word(out, tfrt_session_manager_name(node->sessions));
  tfrt_string_builder_append_char(out, '\n');
  tfrt_status_report_add(out, "serving", !node->refuses_jobs && !node->closed);
  for (tfrt_session_t* session = tfrt_session_manager_first(node->sessions); session;
       session = tfrt_session_manager_next(node->sessions, session)) {
    tfrt_status_report_add_peer(node, session, out);
  }
  tfrt_node_unlock(node);
}

tfrt_status_t tfrt_status_report_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_string_builder_append_format(out, "incarnation %016" PRIx64 "\n", node->incarnation);
  tfrt_status_report_add_counts(execution, out);
  tfrt_status_report_add_counters(node, out);
  tfrt_status_report_add_peers(node, out);
  return NULL;
}
