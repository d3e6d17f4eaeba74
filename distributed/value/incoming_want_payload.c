// SPDX-License-Identifier: Apache-2.0
#include "distributed/tuning/tuning.h"
#include "distributed/value/incoming_want_impl.h"

// Sets |*out_encoding| to the bytes of the available value that is wanted, or says why it has
// none.
static tfrt_status_t tfrt_incoming_want_encode(const tfrt_incoming_want_t* want,
                                               const tfrt_type_t** out_type,
                                               tfrt_encoding_t* out_encoding) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(want->value);
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  *out_type = type;
  tfrt_status_t why = tfrt_type_encode(type, tfrt_async_value_payload(value), out_encoding);
  if (!why) return NULL;
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                         "a %s can't leave its host (%s); call a function on host %u instead",
                         type->name, tfrt_status_message(why), want->job->rank);
  tfrt_status_release(why);
  return status;
}

// Answers that the payload comes on a lane.
static void tfrt_incoming_want_tell_on_bulk(tfrt_incoming_want_t* want, const tfrt_type_t* type,
                                            const tfrt_encoding_t* encoding) {
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_ON_BULK,
                           .on_bulk = {.type = tfrt_string_view_of(type->name),
                                       .header = tfrt_string_view_make(
                                           (const char*)encoding->header, encoding->header_size),
                                       .size = encoding->body_size}};
  tfrt_incoming_want_tell(want, &item);
}

tfrt_status_t tfrt_incoming_want_offer(tfrt_incoming_want_t* want) {
  tfrt_peer_t* peer = want->peer;
  const tfrt_type_t* type = NULL;
  tfrt_encoding_t encoding = {0};
  TFRT_RETURN_IF_ERROR(tfrt_incoming_want_encode(want, &type, &encoding));
  tfrt_lane_send_t send = {.want = want->want,
                           .value = tfrt_async_value_resolved(want->value),
                           .offset = want->offset,
                           .limit = want->window};
  if (type->streams) {
    TFRT_RETURN_IF_ERROR(type->streams->open_source(tfrt_async_value_payload(send.value),
                                                    want->node->options.host, &send.source));
  }
  tfrt_status_t status = tfrt_lane_manager_send(want->node->lanes, peer->incarnation, &send);
  if (status) {
    tfrt_payload_source_destroy(send.source);
    return status;
  }
  want->on_bulk = true;
  bool is_free = peer->transfers++ < TFRT_INCOMING_WANT_FREE_TRANSFERS;
  if (is_free && !want->has_credit_back) {
    want->has_credit_back = true;
    tfrt_peer_return_want_credit(peer);
  }
  tfrt_incoming_want_tell_on_bulk(want, type, &encoding);
  return NULL;
}

bool tfrt_incoming_want_resume(tfrt_peer_t* peer, const tfrt_job_t* job,
                               const tfrt_wire_want_t* wire) {
  tfrt_hash_node_t* found = tfrt_hash_table_find(&peer->incoming_wants, &wire->resumes);
  if (!found) return false;
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(found, tfrt_incoming_want_t, by_want);
  if (!want->on_bulk || want->job != job || !tfrt_wire_object_id_equal(want->id, wire->id)) {
    return false;
  }
  const tfrt_type_t* type = NULL;
  tfrt_encoding_t encoding = {0};
  tfrt_status_t status = tfrt_incoming_want_encode(want, &type, &encoding);
  if (!status) {
    status = tfrt_lane_manager_resume_send(want->node->lanes, peer->incarnation, wire->resumes,
                                           wire->want, wire->offset, wire->window);
  }
  if (status) {
    tfrt_status_release(status);
    tfrt_incoming_want_close(want);
    return false;
  }
  tfrt_hash_table_remove(&peer->incoming_wants, &want->by_want);
  want->want = wire->want;
  tfrt_hash_table_insert(&peer->incoming_wants, &want->want, &want->by_want);
  // Returns the credit of the new want; the credit of the old one stays as it was.
  tfrt_peer_return_want_credit(peer);
  tfrt_incoming_want_tell_on_bulk(want, type, &encoding);
  return true;
}
