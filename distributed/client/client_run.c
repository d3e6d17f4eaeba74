// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "distributed/call/execution.h"
#include "distributed/call/job_program.h"
#include "distributed/client/client_record.h"
#include "distributed/domain/program_cache.h"
#include "distributed/value/remote_value.h"
#include "distributed/value/value_item.h"

// One start of a client: a function with its arguments, until its results are known.
//
//   WAITING --job is open--> SENT (JobStart) --JobEnd--> results forwarded, freed
//      |cancel                 |cancel: CancelRequest, the root still answers
//      +-----------------------+--closed, root lost--> results are errors, freed
//
// Life:
//  1. Created from the user's start; in its client's list.
//  2. Sent when the job is open.
//  3. Freed with its end: each result has been given a value or an error by then.
typedef struct tfrt_client_run_s {
  tfrt_list_link_t link;  // in the client's runs
  uint64_t number;        // from 1
  uint32_t function;
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];  // of the function, for errors; "": not known
  tfrt_cached_program_t* program;          // +1
  uint32_t argument_count;
  tfrt_async_value_t** arguments;  // +1 each
  uint32_t result_count;
  tfrt_indirect_value_t** results;  // +1 each
  tfrt_indirect_value_t* ended;     // +1; NULL: nobody asks
  bool sent;
} tfrt_client_run_t;

static inline tfrt_client_run_t* client_run_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
}

// --- The life of a start -----------------------------------------------------

static void client_run_free(tfrt_client_t* client, tfrt_client_run_t* run) {
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

static void client_run_set_name(tfrt_client_run_t* run, tfrt_string_view_t name) {
  size_t size = name.size < sizeof(run->name) ? name.size : sizeof(run->name) - 1;
  if (size > 0) memcpy(run->name, name.data, size);
}

// Makes a run of |start|, without number and program, and sets its results (+1 each); NULL
// when memory is out, and no result is set. Takes the lock itself.
static tfrt_client_run_t* client_run_create(tfrt_client_t* client, const tfrt_client_start_t* start,
                                            tfrt_async_value_t** out_results) {
  tfrt_allocator_t allocator = client->node->options.allocator;
  tfrt_client_run_t* run = tfrt_allocator_allocate_zeroed(allocator, sizeof(*run));
  if (!run) return NULL;
  tfrt_list_initialize(&run->link);
  run->function = start->function;
  client_run_set_name(run, start->name);
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
  client_run_free(client, run);
  tfrt_node_unlock(client->node);
  return NULL;
}

// --- The end of a start ------------------------------------------------------

// Ends |run|, whose results from |first| on are the error |status| (+0), and frees it.
static void client_run_fail(tfrt_client_t* client, tfrt_client_run_t* run, uint32_t first,
                            tfrt_status_t status) {
  for (uint32_t i = first; i < run->result_count; ++i) {
    tfrt_action_queue_fail_take(&client->node->actions,
                                tfrt_async_value_retain(&run->results[i]->base), status);
  }
  if (run->ended) {
    tfrt_action_queue_fail_take(&client->node->actions, &run->ended->base, status);
    run->ended = NULL;
  }
  client_run_free(client, run);
}

// Ends |run|, whose results are the error of |opened| once that has it, and frees it: the client is
// closed, and its job was never open.
// The error is forwarded, not set: what closes the client may be on another thread, and |opened|
// not an error yet.
static void client_run_leave_unopened(tfrt_client_t* client, tfrt_client_run_t* run) {
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
  client_run_free(client, run);
}

// Fails all results of |run|, because |root| is lost: the error names it and the function.
static void client_run_lose(tfrt_client_t* client, tfrt_client_run_t* run,
                            const tfrt_peer_t* root) {
  const tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK, .function = run->name};
  tfrt_status_t status =
      run->name[0] ? tfrt_peer_lost_error(root, client->job, &site, "while it ran @%s", run->name)
                   : tfrt_peer_lost_error(root, client->job, NULL,
                                          "while it ran function %u of the program", run->function);
  client_run_fail(client, run, 0, status);
  tfrt_status_release(status);
}

// The value (+1) of a result, which |root| holds for us if it is a reference.
static tfrt_async_value_t* client_run_result(tfrt_client_t* client, tfrt_peer_t* root,
                                             const tfrt_wire_item_t* item) {
  bool is_held =
      item->kind == TFRT_WIRE_ITEM_REFERENCE && item->reference.owner == root->incarnation;
  if (!is_held) return tfrt_execution_argument(client->job, item, NULL);
  tfrt_remote_value_t* remote =
      tfrt_remote_value_create_result(client->job, root, &item->reference);
  return remote ? &remote->base.base : tfrt_async_value_out_of_memory();
}

// True if |end| has an error that is none of its results'.
static bool client_run_has_own_error(const tfrt_wire_job_end_t* end) {
  bool is_of_result = false;
  for (size_t i = 0; i < end->result_count; ++i) {
    is_of_result |= end->results[i].kind == TFRT_WIRE_ITEM_ERROR;
  }
  return end->error && !is_of_result;
}

// Ends |run| as |end|, which |root| has sent, says, and frees it.
static void client_run_end(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_peer_t* root,
                           const tfrt_wire_job_end_t* end) {
  uint32_t count =
      (uint32_t)(end->result_count < run->result_count ? end->result_count : run->result_count);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_action_queue_forward_take(&client->node->actions,
                                   tfrt_async_value_retain(&run->results[i]->base),
                                   client_run_result(client, root, &end->results[i]));
  }
  if (run->ended && !client_run_has_own_error(end)) {
    tfrt_action_queue_forward_take(&client->node->actions, &run->ended->base,
                                   tfrt_async_value_ready_chain());
    run->ended = NULL;
  }
  tfrt_status_t status =
      end->error ? tfrt_wire_error_to_status(end->error)
                 : tfrt_status_create(TFRT_STATUS_INTERNAL, "the root gave no such result");
  client_run_fail(client, run, count, status);
  tfrt_status_release(status);
}

// Stops |run| because of |reason| (+0): at once if it was not sent, else the root is asked to.
static void client_run_cancel(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_status_t reason) {
  if (!run->sent) {
    client_run_fail(client, run, 0, reason);
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

// --- Sending a start ---------------------------------------------------------

static tfrt_status_t client_run_pack(tfrt_client_t* client, const tfrt_client_run_t* run,
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

static tfrt_status_t client_run_try_send(tfrt_client_t* client, tfrt_client_run_t* run,
                                         tfrt_arena_t* arena) {
  tfrt_peer_t* root = NULL;
  uint32_t program = 0;
  TFRT_RETURN_IF_ERROR(tfrt_job_reach(client->job, client->hosts[0].incarnation, &root));
  TFRT_RETURN_IF_ERROR(tfrt_job_announce_program(client->job, root, run->program, &program));
  tfrt_wire_item_t* items =
      tfrt_arena_allocate_array(arena, run->argument_count + 1, sizeof(*items));
  if (!items) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(client_run_pack(client, run, arena, items));
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

// Sends |run| to the root of the open job; if that can't be done it fails.
static void client_run_send(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_status_t status = client_run_try_send(client, run, &arena);
  tfrt_arena_deinitialize(&arena);
  run->sent = true;
  if (status) client_run_fail(client, run, 0, status);
  tfrt_status_release(status);
}

// --- All starts of a client ----------------------------------------------------

// Ends |run| of |client|, which is closed, and frees it. If the job was never open, |opened| says
// why its results failed.
static void client_end_run(tfrt_client_t* client, tfrt_client_run_t* run) {
  if (tfrt_client_was_opened(client)) {
    client_run_fail(client, run, 0, client->end);
  } else {
    client_run_leave_unopened(client, run);
  }
}

void tfrt_client_runs_follow(tfrt_client_t* client, tfrt_client_runs_event_t event,
                             tfrt_status_t reason, const tfrt_peer_t* root) {
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = client_run_of(link);
    link = link->next;
    switch (event) {
      case TFRT_CLIENT_RUNS_OPENED:
        client_run_send(client, run);
        break;
      case TFRT_CLIENT_RUNS_LATE:
        client_run_cancel(client, run, reason);
        break;
      case TFRT_CLIENT_RUNS_ROOT_LOST:
        client_run_lose(client, run, root);
        break;
      case TFRT_CLIENT_RUNS_CLOSED:
        client_end_run(client, run);
        break;
    }
  }
}

// --- From outside ------------------------------------------------------------

uint64_t tfrt_client_start(tfrt_client_t* client, const tfrt_client_start_t* start,
                           tfrt_async_value_t** out_results) {
  tfrt_client_run_t* run = client_run_create(client, start, out_results);
  if (!run) {
    for (uint32_t i = 0; i < start->result_count; ++i) {
      out_results[i] = tfrt_async_value_out_of_memory();
    }
    if (start->out_ended) *start->out_ended = tfrt_async_value_out_of_memory();
    return 0;
  }
  tfrt_status_t status = tfrt_program_cache_add_bytes(client->node, start->program, &run->program);
  tfrt_node_lock_tables(client->node);
  uint64_t number = client->next_run++;
  run->number = number;
  if (status) {
    client_run_fail(client, run, 0, status);
  } else if (tfrt_client_is_closed(client)) {
    client_end_run(client, run);
  } else {
    tfrt_list_push_back(&client->runs, &run->link);
    if (tfrt_client_was_opened(client)) client_run_send(client, run);
  }
  tfrt_node_unlock(client->node);
  tfrt_status_release(status);
  return number;
}

void tfrt_client_cancel(tfrt_client_t* client, uint64_t number, tfrt_status_t reason) {
  tfrt_node_lock_tables(client->node);
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = client_run_of(link);
    link = link->next;
    if (number == 0 || run->number == number) client_run_cancel(client, run, reason);
  }
  tfrt_node_unlock(client->node);
}

// A JobEnd came.
static tfrt_status_t client_on_job_end(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_job_end_t* end = &in->body->job_end;
  tfrt_client_t* client = in->job ? tfrt_client_find(in->peer->node, in->job) : NULL;
  for (tfrt_list_link_t* link = client ? client->runs.next : NULL; link && link != &client->runs;
       link = link->next) {
    tfrt_client_run_t* run = client_run_of(link);
    if (run->number != end->start) continue;
    client_run_end(client, run, in->peer, end);
    break;
  }
  return NULL;
}

static const tfrt_frame_handler_t tfrt_client_run_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_END, client_on_job_end},
};

const tfrt_node_part_t tfrt_client_run_part = {
    .handlers = tfrt_client_run_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_client_run_handlers),
};
