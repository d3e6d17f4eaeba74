// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_end.h"

#include "distributed/value/value_host.h"
#include "distributed/value/value_item.h"
#include "distributed/wire/text.h"

// A JobEnd that is being made.
typedef struct tfrt_job_end_s {
  tfrt_execution_t* execution;
  tfrt_arena_t* arena;
  size_t room;                    // for what goes inline
  const tfrt_wire_error_t* root;  // of the first result that is an error
} tfrt_job_end_t;

// The most bytes of the message of a shortened error. A JobEnd with 4,096 of them still has room
// for items that go whole (TFRT_VALUE_ITEM_MAX_INLINE).
#define TFRT_JOB_END_SHORT_MESSAGE 48

// Shortens the error in |item| to the parts that a program needs: the root cause has the text.
static tfrt_status_t tfrt_job_end_shorten(const tfrt_job_end_t* end, tfrt_wire_item_t* item) {
  const tfrt_wire_error_t* whole = item->error;
  char* buffer = tfrt_arena_allocate(end->arena, TFRT_JOB_END_SHORT_MESSAGE);
  tfrt_wire_error_t* error = tfrt_arena_allocate(end->arena, sizeof(*error));
  if (!buffer || !error) return tfrt_status_out_of_memory();
  *error = (tfrt_wire_error_t){
      .code = whole->code,
      .message = tfrt_wire_text_fit(whole->message, buffer, TFRT_JOB_END_SHORT_MESSAGE),
      .call = whole->call,
      .root_key = whole->root_key,
      .derived = whole->derived,
      .may_have_run = whole->may_have_run,
      .truncated = true};
  item->error = error;
  return NULL;
}

// Sets |*out_item| to a reference to |value|, which stays here, held by the client.
static tfrt_status_t tfrt_job_end_lend(const tfrt_job_end_t* end, tfrt_async_value_t* value,
                                       tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_node_t* node = execution->node;
  tfrt_object_t* object = tfrt_object_table_export(node->objects, execution->job, value);
  if (!object) return tfrt_status_out_of_memory();
  // The hold keeps the value, wherever its payload is, until the client gives it back.
  bool is_held = tfrt_object_table_hold(node->objects, object, execution->job->client.incarnation);
  if (!is_held) {
    tfrt_object_table_end_loan(node->objects, object);
    return tfrt_status_out_of_memory();
  }
  tfrt_object_set_maker(object, execution->program, execution->function);
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                                 .reference = {.id = object->id,
                                               .owner = node->incarnation,
                                               .owner_rank = execution->job->rank,
                                               .namer_rank = execution->job->rank}};
  tfrt_object_table_end_loan(node->objects, object);
  return NULL;
}

// True if |item| goes inline. The first error always does: it says why the start has failed.
static bool tfrt_job_end_takes(tfrt_job_end_t* end, const tfrt_wire_item_t* item) {
  if (item->kind == TFRT_WIRE_ITEM_NONE) return false;
  if (item->kind == TFRT_WIRE_ITEM_ERROR && !end->root) {
    end->root = item->error;
    return true;
  }
  return tfrt_value_item_take_room(item, &end->room);
}

// Sets |*out_item| to the reason for which the job or its start has ended. It stands for a result
// that is not known, or that nobody could fetch any more.
static tfrt_status_t tfrt_job_end_cut_off(tfrt_job_end_t* end, tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_status_t reason =
      execution->cancelled ? execution->cancelled : execution->job->closing.reason;
  if (!reason) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the job is closed on host %u",
                              execution->job->rank);
  }
  tfrt_wire_error_t* error = tfrt_arena_allocate(end->arena, sizeof(*error));
  if (!error) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_wire_error_from_status(
      reason, execution->job->rank, execution->node->incarnation, end->arena, error));
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = error};
  return tfrt_job_end_takes(end, out_item) ? NULL : tfrt_job_end_shorten(end, out_item);
}

// Sets |*out_item| to a result, if it is known. A result that is not small stays here.
static tfrt_status_t tfrt_job_end_describe(tfrt_job_end_t* end, uint32_t index,
                                           tfrt_wire_item_t* out_item) {
  const tfrt_execution_t* execution = end->execution;
  tfrt_node_t* node = execution->node;
  tfrt_async_value_t* value = execution->results[index].value;
  if (tfrt_async_value_is_available(value)) {
    TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(value, node->options.inline_limit,
                                                tfrt_value_item_host_of(execution->job), end->arena,
                                                out_item));
    if (tfrt_job_end_takes(end, out_item)) return NULL;
  }
  if (!tfrt_job_is_closed(execution->job)) return tfrt_job_end_lend(end, value, out_item);
  // Nothing can be asked for any more.
  if (out_item->kind == TFRT_WIRE_ITEM_ERROR) return tfrt_job_end_shorten(end, out_item);
  return tfrt_job_end_cut_off(end, out_item);
}

void tfrt_job_end_send(tfrt_execution_t* execution, uint64_t start, tfrt_peer_t* client) {
  tfrt_node_t* node = execution->node;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_job_end_t end = {
      .execution = execution, .arena = &arena, .room = TFRT_VALUE_ITEM_MAX_INLINE};
  tfrt_wire_item_t* results =
      tfrt_arena_allocate_array(&arena, execution->result_count + 1, sizeof(*results));
  tfrt_status_t status =
      results ? tfrt_status_retain(execution->failure) : tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < execution->result_count && !status; ++i) {
    status = tfrt_job_end_describe(&end, i, &results[i]);
  }
  // If all results are values, no result tells that a cancel has cut off other work.
  tfrt_status_t told = status || end.root ? status : execution->cancelled;
  tfrt_wire_error_t error = {0};
  if (told) {
    tfrt_status_release(
        tfrt_wire_error_from_status(told, execution->job->rank, node->incarnation, &arena, &error));
    if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
    end.root = &error;
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_END,
                           .job_end = {.start = start,
                                       .request = execution->request_id,
                                       .results = results,
                                       .result_count = status ? 0 : execution->result_count,
                                       .error = end.root}};
  tfrt_peer_send(client, &(tfrt_peer_frame_t){.job = execution->job}, &body);
  // Its text was borrowed until here.
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}
