// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/status_report.h"

#include "distributed/job/detached_job.h"
#include "distributed/service/answer_part.h"
#include "distributed/service/plain_form.h"
#include "distributed/value/object_table.h"

// The counts of live objects, without jobs that only ask, and without the call that asks this and
// its result's slot.
static tfrt_wire_host_counts_t tfrt_status_report_counts(const tfrt_execution_t* execution) {
  const tfrt_node_t* node = execution->node;
  tfrt_lane_counts_t lanes = tfrt_lane_manager_counts(node->lanes);
  return (tfrt_wire_host_counts_t){.jobs = tfrt_job_count_running(node, execution->job),
                                   .kept_jobs = tfrt_detached_job_count_kept(node),
                                   .objects = tfrt_object_table_count(node->objects) - 1,
                                   .remote_values = node->counts.remote_values,
                                   .outgoing_calls = node->counts.outgoing_calls,
                                   .incoming_calls = node->counts.incoming_calls - 1,
                                   .incoming_wants = node->counts.incoming_wants,
                                   .transfers = lanes.sending + lanes.receiving};
}

static tfrt_wire_host_counters_t tfrt_status_report_counters(const tfrt_node_t* node) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(node->sessions, &counters);
  return (tfrt_wire_host_counters_t){.frames_sent = counters.frames_sent,
                                     .frames_received = counters.frames_received,
                                     .frames_replayed = counters.frames_replayed,
                                     .resumes = counters.resumes,
                                     .dials = counters.dials,
                                     .deaths = counters.deaths};
}

// A peer's session, and what has crossed in it.
static void tfrt_status_report_add_peer(tfrt_answer_parts_t* report,
                                        const tfrt_session_t* session) {
  uint64_t incarnation = tfrt_session_peer_incarnation(session);
  const tfrt_session_description_t seen = tfrt_session_describe(session);
  tfrt_lane_traffic_t payloads = tfrt_lane_manager_traffic(report->node->lanes, incarnation);
  int64_t round_trip_us = seen.round_trip_ns / 1000;
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_PEER,
      .peer = {.incarnation = incarnation,
               .state = (uint32_t)tfrt_session_state(session),
               .round_trip_us = round_trip_us > 0 ? (uint64_t)round_trip_us : 0,
               .address = tfrt_answer_parts_view(report, tfrt_session_address(session)),
               .name = tfrt_answer_parts_view(report, tfrt_session_peer_name(session)),
               .frames_sent = seen.frames_sent,
               .frames_received = seen.frames_received,
               .bytes_sent = seen.bytes_sent,
               .bytes_received = seen.bytes_received,
               .payload_bytes_sent = payloads.sent,
               .payload_bytes_received = payloads.received}};
  tfrt_answer_parts_emit(report, &part);
}

static tfrt_status_t tfrt_status_report_write(tfrt_execution_t* execution,
                                              const tfrt_wire_question_t* question,
                                              tfrt_string_builder_t* out) {
  (void)question;
  tfrt_node_t* node = execution->node;
  tfrt_answer_parts_t report;
  tfrt_answer_parts_initialize(&report, node, out);
  tfrt_node_lock_tables(node);
  tfrt_wire_host_counts_t counts = tfrt_status_report_counts(execution);
  tfrt_wire_host_counters_t counters = tfrt_status_report_counters(node);
  tfrt_string_view_t name = tfrt_session_manager_name(node->sessions);
  const tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_HOST,
                                        .host = {.incarnation = node->incarnation,
                                                 .name = tfrt_answer_parts_view(&report, name),
                                                 .serving = !node->refuses_jobs && !node->closed,
                                                 .counts = &counts,
                                                 .counters = &counters}};
  tfrt_answer_parts_emit(&report, &part);
  for (tfrt_session_t* session = tfrt_session_manager_first(node->sessions); session;
       session = tfrt_session_manager_next(node->sessions, session)) {
    tfrt_status_report_add_peer(&report, session);
  }
  tfrt_node_unlock(node);
  return tfrt_answer_parts_finish(&report);
}

const tfrt_answerer_t tfrt_status_answerer = {.kind = TFRT_WIRE_ASK_STATUS,
                                              .write = tfrt_status_report_write,
                                              .plain_function = TFRT_WIRE_BUILTIN_STATUS,
                                              .write_plain = tfrt_plain_answer_write};
