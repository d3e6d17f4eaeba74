// SPDX-License-Identifier: Apache-2.0
#include "distributed/client/client_run.h"

#include <string.h>

#include "distributed/call/execution.h"
#include "distributed/call/job_program.h"
#include "distributed/value/remote_value.h"
#include "distributed/value/value_host.h"

// --- Life --------------------------------------------------------------------

static void tfrt_client_run_free(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_node_t* node = client->node;
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_list_remove(&run->link);
  for (uint32_t i = 0; run->arguments && i < run->argument_count; ++i) {
    tfrt_action_queue_release(&node->actions, run->arguments[i]);
  }
  for (uint32_t i = 0; run->results && i < run->result_count; ++i) {
    if (run->results[i]) tfrt_action_queue_release(&node->actions, &run->results[i]->base);
  }
  if (run->ended) tfrt_action_queue_release(&node->actions, &run->ended->base);
  if (run->program) tfrt_cached_program_release(run->program);
  tfrt_allocator_free(allocator, run->arguments,
                      (run->argument_count + 1) * sizeof(*run->arguments));
  tfrt_allocator_free(allocator, run->results, (run->result_count + 1) * sizeof(*run->results));
  tfrt_allocator_free(allocator, run, sizeof(*run));
}

static void tfrt_client_run_set_name(tfrt_client_run_t* run, tfrt_string_view_t name) {
  size_t size = name.size < sizeof(run->name) ? name.size : sizeof(run->name) - 1;
  if (size > 0) memcpy(run->name, name.data, size);
}

tfrt_client_run_t* tfrt_client_run_create(tfrt_client_t* client, const tfrt_client_start_t* start,
                                          tfrt_async_value_t** out_results) {
  tfrt_allocator_t allocator = client->node->options.allocator;
  tfrt_client_run_t* run = tfrt_allocator_allocate_zeroed(allocator, sizeof(*run));
  if (!run) return NULL;
  tfrt_list_initialize(&run->link);
  run->function = start->function;
  tfrt_client_run_set_name(run, start->name);
  run->argument_count = start->argument_count;
  run->result_count = start->result_count;
  run->arguments = tfrt_allocator_allocate_zeroed(
      allocator, (run->argument_count + 1) * sizeof(*run->arguments));
  run->results =
      tfrt_allocator_allocate_zeroed(allocator, (run->result_count + 1) * sizeof(*run->results));
  bool good = run->arguments && run->results;
  for (uint32_t i = 0; good && i < run->argument_count; ++i) {
    run->arguments[i] = tfrt_async_value_retain(start->arguments[i]);
  }
  for (uint32_t i = 0; good && i < run->result_count; ++i) {
    run->results[i] = tfrt_indirect_value_create();
    good = run->results[i] != NULL;
  }
  if (good && start->out_ended) {
    run->ended = tfrt_indirect_value_create();
    good = run->ended != NULL;
  }
  if (good && run->ended) *start->out_ended = tfrt_async_value_retain(&run->ended->base);
  for (uint32_t i = 0; good && i < run->result_count; ++i) {
    out_results[i] = tfrt_async_value_retain(&run->results[i]->base);
  }
  if (good) return run;
  tfrt_node_lock_tables(client->node);
  tfrt_client_run_free(client, run);
  tfrt_node_unlock(client->node);
  return NULL;
}

// --- Sending -----------------------------------------------------------------

static tfrt_status_t tfrt_client_run_pack(tfrt_client_t* client, const tfrt_client_run_t* run,
                                          tfrt_arena_t* arena, tfrt_wire_item_t* items) {
  tfrt_node_t* node = client->node;
  size_t room = TFRT_VALUE_ITEM_MAX_INLINE;
  for (uint32_t i = 0; i < run->argument_count; ++i) {
    tfrt_async_value_t* value = run->arguments[i];
    if (tfrt_async_value_is_available(value)) {
      TFRT_RETURN_IF_ERROR(tfrt_value_item_encode_within(value, node->options.inline_limit,
                                                         tfrt_value_item_host_of(client->job),
                                                         arena, &room, &items[i]));
    }
    if (items[i].kind != TFRT_WIRE_ITEM_NONE) continue;
    // The loan lasts as long as the job.
    tfrt_object_t* object = tfrt_object_table_export(node->objects, client->job, value);
    if (!object) return tfrt_status_out_of_memory();
    object->name = "argument";
    items[i].kind = TFRT_WIRE_ITEM_REFERENCE;
    items[i].reference = (tfrt_wire_reference_t){.id = object->id,
                                                 .owner = node->incarnation,
                                                 .owner_rank = TFRT_WIRE_NO_RANK,
                                                 .namer_rank = TFRT_WIRE_NO_RANK};
  }
  return NULL;
}

static tfrt_status_t tfrt_client_run_try_send(tfrt_client_t* client, tfrt_client_run_t* run,
                                              tfrt_arena_t* arena) {
  tfrt_peer_t* root = NULL;
  uint32_t program = 0;
  TFRT_RETURN_IF_ERROR(tfrt_job_reach(client->job, client->hosts[0].incarnation, &root));
  TFRT_RETURN_IF_ERROR(tfrt_job_announce_program(client->job, root, run->program, &program));
  tfrt_wire_item_t* items =
      tfrt_arena_allocate_array(arena, run->argument_count + 1, sizeof(*items));
  if (!items) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_client_run_pack(client, run, arena, items));
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_START,
                           .job_start = {.start = run->number,
                                         .program = program,
                                         .function = run->function,
                                         .arguments = items,
                                         .argument_count = run->argument_count,
                                         .detach = client->options.is_detached,
                                         .keep_results_ms = client->options.keep_results_ms}};
  tfrt_peer_frame_t frame = {.job = client->job, .deadline_ns = client->options.deadline_ns};
  return tfrt_peer_try_send(root, &frame, &body);
}

void tfrt_client_run_send(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_status_t status = tfrt_client_run_try_send(client, run, &arena);
  tfrt_arena_deinitialize(&arena);
  run->sent = true;
  if (status) tfrt_client_run_fail(client, run, 0, status);
  tfrt_status_release(status);
}

// --- The end -----------------------------------------------------------------

void tfrt_client_run_fail(tfrt_client_t* client, tfrt_client_run_t* run, uint32_t first,
                          tfrt_status_t status) {
  for (uint32_t i = first; i < run->result_count; ++i) {
    tfrt_action_queue_fail_take(&client->node->actions,
                                tfrt_async_value_retain(&run->results[i]->base), status);
  }
  if (run->ended) {
    tfrt_action_queue_fail_take(&client->node->actions, &run->ended->base, status);
    run->ended = NULL;
  }
  tfrt_client_run_free(client, run);
}

// Forwarded, not failed: what closes the client may be on another thread, and |opened| not an error
// yet.
void tfrt_client_run_leave_unopened(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_action_queue_t* actions = &client->node->actions;
  tfrt_async_value_t* opened = &client->opened->base;
  for (uint32_t i = 0; i < run->result_count; ++i) {
    tfrt_action_queue_forward_take(actions, tfrt_async_value_retain(&run->results[i]->base),
                                   tfrt_async_value_retain(opened));
  }
  if (run->ended) {
    tfrt_action_queue_forward_take(actions, &run->ended->base, tfrt_async_value_retain(opened));
    run->ended = NULL;
  }
  tfrt_client_run_free(client, run);
}

void tfrt_client_run_lose(tfrt_client_t* client, tfrt_client_run_t* run, const tfrt_peer_t* root) {
  const tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK, .function = run->name};
  tfrt_status_t status =
      run->name[0] ? tfrt_peer_lost_error(root, client->job, &site, "while it ran @%s", run->name)
                   : tfrt_peer_lost_error(root, client->job, NULL,
                                          "while it ran function %u of the program", run->function);
  tfrt_client_run_fail(client, run, 0, status);
  tfrt_status_release(status);
}

// The value (+1) of a result, which |root| holds for us if it is a reference.
static tfrt_async_value_t* tfrt_client_run_result(tfrt_client_t* client, tfrt_peer_t* root,
                                                  const tfrt_wire_item_t* item) {
  bool is_held =
      item->kind == TFRT_WIRE_ITEM_REFERENCE && item->reference.owner == root->incarnation;
  if (!is_held) return tfrt_execution_argument(client->job, item, NULL);
  tfrt_remote_value_t* remote =
      tfrt_remote_value_create_result(client->job, root, &item->reference);
  return remote ? &remote->base.base : tfrt_async_value_out_of_memory();
}

// True if |end| has an error that is none of its results'.
static bool tfrt_client_run_has_own_error(const tfrt_wire_job_end_t* end) {
  bool is_of_result = false;
  for (size_t i = 0; i < end->result_count; ++i) {
    is_of_result |= end->results[i].kind == TFRT_WIRE_ITEM_ERROR;
  }
  return end->error && !is_of_result;
}

void tfrt_client_run_end(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_peer_t* root,
                         const tfrt_wire_job_end_t* end) {
  uint32_t count =
      (uint32_t)(end->result_count < run->result_count ? end->result_count : run->result_count);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_action_queue_forward_take(&client->node->actions,
                                   tfrt_async_value_retain(&run->results[i]->base),
                                   tfrt_client_run_result(client, root, &end->results[i]));
  }
  if (run->ended && !tfrt_client_run_has_own_error(end)) {
    tfrt_action_queue_forward_take(&client->node->actions, &run->ended->base,
                                   tfrt_async_value_ready_chain());
    run->ended = NULL;
  }
  tfrt_status_t status =
      end->error ? tfrt_wire_error_to_status(end->error)
                 : tfrt_status_create(TFRT_STATUS_INTERNAL, "the root gave no such result");
  tfrt_client_run_fail(client, run, count, status);
  tfrt_status_release(status);
}

void tfrt_client_run_cancel(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_status_t reason) {
  if (!run->sent) {
    tfrt_client_run_fail(client, run, 0, reason);
    return;
  }
  tfrt_peer_t* root = tfrt_peer_find(client->node, client->hosts[0].incarnation);
  if (!root) return;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status = tfrt_wire_error_from_status(reason, TFRT_WIRE_NO_RANK,
                                                     client->node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_CANCEL_REQUEST,
      .cancel_request = {.start = run->number, .reason = status ? NULL : &error}};
  tfrt_peer_send(root, &(tfrt_peer_frame_t){.job = client->job}, &body);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}
