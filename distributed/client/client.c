// SPDX-License-Identifier: Apache-2.0
#include "distributed/client/client.h"

#include <string.h>

#include "distributed/call/execution.h"
#include "distributed/call/job_program.h"
#include "distributed/client/client_record.h"
#include "distributed/domain/program_cache.h"
#include "distributed/job/job_life.h"
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

static inline tfrt_client_run_t* tfrt_client_run_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
}

void tfrt_client_retain(tfrt_client_t* client) { tfrt_ref_count_increment(&client->ref_count); }

// --- The life of a start -----------------------------------------------------

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

// Makes a run of |start|, without number and program, and sets its results (+1 each); NULL
// when memory is out, and no result is set. Takes the lock itself.
static tfrt_client_run_t* tfrt_client_run_create(tfrt_client_t* client,
                                                 const tfrt_client_start_t* start,
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

// --- The end of a start ------------------------------------------------------

// Ends |run|, whose results from |first| on are the error |status| (+0), and frees it.
static void tfrt_client_run_fail(tfrt_client_t* client, tfrt_client_run_t* run, uint32_t first,
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

// Ends |run|, whose results are the error of |opened| once that has it, and frees it: the client is
// closed, and its job was never open.
// The error is forwarded, not set: what closes the client may be on another thread, and |opened|
// not an error yet.
static void tfrt_client_run_leave_unopened(tfrt_client_t* client, tfrt_client_run_t* run) {
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

// Fails all results of |run|, because |root| is lost: the error names it and the function.
static void tfrt_client_run_lose(tfrt_client_t* client, tfrt_client_run_t* run,
                                 const tfrt_peer_t* root) {
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

// Ends |run| as |end|, which |root| has sent, says, and frees it.
static void tfrt_client_run_end(tfrt_client_t* client, tfrt_client_run_t* run, tfrt_peer_t* root,
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

// Stops |run| because of |reason| (+0): at once if it was not sent, else the root is asked to.
static void tfrt_client_run_cancel(tfrt_client_t* client, tfrt_client_run_t* run,
                                   tfrt_status_t reason) {
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

// --- Sending a start ---------------------------------------------------------

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

// Sends |run| to the root of the open job; if that can't be done it fails.
static void tfrt_client_run_send(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_status_t status = tfrt_client_run_try_send(client, run, &arena);
  tfrt_arena_deinitialize(&arena);
  run->sent = true;
  if (status) tfrt_client_run_fail(client, run, 0, status);
  tfrt_status_release(status);
}

// --- The end -----------------------------------------------------------------

static void tfrt_client_free(void* argument) {
  tfrt_client_t* client = argument;
  tfrt_node_t* node = client->node;
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_async_value_release(&client->opened->base);
  tfrt_status_release(client->end);
  tfrt_allocator_free(allocator, client->hosts,
                      client->options.host_count * sizeof(*client->hosts));
  tfrt_allocator_free(allocator, client, sizeof(*client));
  tfrt_node_release(node);
}

void tfrt_client_release_locked(tfrt_client_t* client) {
  if (!tfrt_ref_count_decrement(&client->ref_count)) return;
  tfrt_action_queue_call(&client->node->actions, tfrt_client_free, client);
}

void tfrt_client_release(tfrt_client_t* client) {
  if (client && tfrt_ref_count_decrement(&client->ref_count)) tfrt_client_free(client);
}

static void tfrt_client_stop_timer(tfrt_client_t* client) {
  if (!client->is_timer_waiting) return;
  // If it runs right now it waits for the lock, and will see that the client is closed.
  if (!tfrt_timer_cancel(client->node->options.timers, &client->timer)) return;
  client->is_timer_waiting = false;
  tfrt_client_release_locked(client);
}

// Tells each host that may know of the job that it is over: the root, which tells the others, too,
// may come later there than the end of this process.
static void tfrt_client_send_close(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_wire_error_t error = {0};
  if (reason) {
    tfrt_status_release(tfrt_wire_error_from_status(reason, TFRT_WIRE_NO_RANK,
                                                    client->node->incarnation, &arena, &error));
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_CLOSE,
                           .job_close = {.error = error.code != TFRT_STATUS_OK ? &error : NULL}};
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_peer_t* peer = tfrt_peer_find(client->node, client->hosts[i].incarnation);
    if (peer) tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = client->job}, &body);
  }
  tfrt_arena_deinitialize(&arena);
}

// Ends |run| of |client|, which is closed, and frees it. If the job was never open, |opened| says
// why its results failed.
static void tfrt_client_end_run(tfrt_client_t* client, tfrt_client_run_t* run) {
  if (tfrt_client_was_opened(client)) {
    tfrt_client_run_fail(client, run, 0, client->end);
  } else {
    tfrt_client_run_leave_unopened(client, run);
  }
}

void tfrt_client_close_locked(tfrt_client_t* client, tfrt_status_t reason) {
  if (tfrt_client_is_closed(client)) return;
  client->state = tfrt_client_was_opened(client) ? TFRT_CLIENT_CLOSED : TFRT_CLIENT_GIVEN_UP;
  tfrt_node_t* node = client->node;
  tfrt_status_t status = reason ? tfrt_status_retain(reason)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  client->end = tfrt_status_retain(status);
  tfrt_client_retain(client);
  tfrt_list_remove(&client->link);
  // A job that has ended by itself, with the loss of its root, has said so already.
  bool is_said =
      client->leaves || client->said_over || (client->job && tfrt_job_is_over(client->job));
  if (client->job && !is_said) tfrt_client_send_close(client, reason);
  if (!tfrt_client_was_opened(client)) {
    tfrt_action_queue_fail_take(&node->actions, tfrt_async_value_retain(&client->opened->base),
                                status);
  }
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&client->runs));) {
    tfrt_client_end_run(client, tfrt_client_run_of(link));
  }
  if (client->job) {
    tfrt_job_close(client->job, reason);
    tfrt_job_release(client->job);
    client->job = NULL;
  }
  tfrt_client_forget_hosts(client);
  tfrt_client_stop_timer(client);
  tfrt_status_release(status);
  tfrt_client_release_locked(client);
  // The node's.
  tfrt_client_release_locked(client);
}

void tfrt_client_end_job(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  if (!tfrt_client_was_opened(client)) {
    tfrt_client_close_locked(client, reason);
  } else if (!tfrt_client_is_closed(client) && !client->said_over &&
             !tfrt_job_is_over(client->job)) {
    client->said_over = true;
    tfrt_client_send_close(client, reason);
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_client_close(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  tfrt_client_close_locked(client, reason);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_client_leave(tfrt_client_t* client) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  client->leaves = client->options.is_detached;
  tfrt_client_close_locked(client, NULL);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_client_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_list_initialize(&end->node->clients);
}

static void tfrt_client_on_node_closing(const tfrt_owner_end_t* end) {
  const tfrt_list_link_t* clients = &end->node->clients;
  while (!tfrt_list_is_empty(clients)) {
    tfrt_client_close_locked(tfrt_client_of(clients->next), end->reason);
  }
}

// --- What comes from the hosts -----------------------------------------------

tfrt_client_t* tfrt_client_find(tfrt_node_t* node, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients; link = link->next) {
    if (tfrt_client_of(link)->job == job) return tfrt_client_of(link);
  }
  return NULL;
}

void tfrt_client_note_open(tfrt_client_t* client) {
  client->state = TFRT_CLIENT_OPEN;
  tfrt_action_queue_forward_take(&client->node->actions,
                                 tfrt_async_value_retain(&client->opened->base),
                                 tfrt_async_value_ready_chain());
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = tfrt_client_run_of(link);
    link = link->next;
    tfrt_client_run_send(client, run);
  }
}

// A JobEnd came.
static tfrt_status_t tfrt_client_on_job_end(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_job_end_t* end = &in->body->job_end;
  tfrt_client_t* client = in->job ? tfrt_client_find(in->peer->node, in->job) : NULL;
  for (tfrt_list_link_t* link = client ? client->runs.next : NULL; link && link != &client->runs;
       link = link->next) {
    tfrt_client_run_t* run = tfrt_client_run_of(link);
    if (run->number != end->start) continue;
    tfrt_client_run_end(client, run, in->peer, end);
    break;
  }
  return NULL;
}

// --- The root is lost --------------------------------------------------------

void tfrt_client_lose_root(tfrt_client_t* client, const tfrt_peer_t* root) {
  for (tfrt_list_link_t* link;
       tfrt_client_was_opened(client) && (link = tfrt_list_pop_front(&client->runs));) {
    tfrt_client_run_lose(client, tfrt_client_run_of(link), root);
  }
  const char* doing = client->options.asks_only ? "before it answered" : "while it ran the job";
  tfrt_status_t status = tfrt_peer_lost_error(root, client->job, NULL, "%s", doing);
  tfrt_client_close_locked(client, status);
  tfrt_status_release(status);
}

// --- The deadline ------------------------------------------------------------

// Gives up a job that isn't open by now. The hosts of an open job know the deadline; the client's
// cancel follows in case a clock stands still somewhere.
static void tfrt_client_on_deadline(tfrt_client_t* client) {
  if (tfrt_client_is_closed(client)) return;
  tfrt_status_t status =
      tfrt_client_was_opened(client)
          ? tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "the deadline of the job has passed")
          : tfrt_client_late_error(client);
  if (!tfrt_client_was_opened(client)) tfrt_client_close_locked(client, status);
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = tfrt_client_run_of(link);
    link = link->next;
    tfrt_client_run_cancel(client, run, status);
  }
  tfrt_status_release(status);
}

static void tfrt_client_run_timer(tfrt_timer_t* timer) {
  tfrt_client_t* client = TFRT_CONTAINER_OF(timer, tfrt_client_t, timer);
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  client->is_timer_waiting = false;
  tfrt_client_on_deadline(client);
  tfrt_client_release_locked(client);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_client_start_timer(tfrt_client_t* client) {
  int64_t deadline_ns = client->options.deadline_ns;
  if (deadline_ns == TFRT_TIME_INFINITE || tfrt_client_is_closed(client)) return;
  client->is_timer_waiting = true;
  tfrt_client_retain(client);
  tfrt_timer_start(client->node->options.timers, &client->timer, deadline_ns,
                   tfrt_client_run_timer);
}

// --- From outside ------------------------------------------------------------

static tfrt_status_t tfrt_client_check_options(const tfrt_client_options_t* options) {
  for (uint32_t i = 0; i < options->host_count; ++i) {
    size_t size = options->addresses[i].size;
    if (size == 0 || size >= TFRT_TRANSPORT_ADDRESS_SIZE) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the address of host %u has %zu bytes; it needs 1 to %d", i, size,
                                TFRT_TRANSPORT_ADDRESS_SIZE - 1);
    }
  }
  if (options->host_count == 0 || options->name.size >= TFRT_WIRE_MAX_NAME_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a job needs a host, and a name below %u bytes",
                              TFRT_WIRE_MAX_NAME_SIZE);
  }
  return NULL;
}

// A client that doesn't dial yet, or NULL when memory is out.
static tfrt_client_t* tfrt_client_allocate(tfrt_node_t* node,
                                           const tfrt_client_options_t* options) {
  tfrt_allocator_t allocator = node->options.allocator;
  size_t hosts_size = options->host_count * sizeof(tfrt_client_host_t);
  tfrt_client_t* client = tfrt_allocator_allocate_zeroed(allocator, sizeof(*client));
  if (!client) return NULL;
  client->hosts = tfrt_allocator_allocate_zeroed(allocator, hosts_size);
  client->opened = tfrt_indirect_value_create();
  if (!client->hosts || !client->opened) {
    tfrt_allocator_free(allocator, client->hosts, hosts_size);
    tfrt_async_value_release(client->opened ? &client->opened->base : NULL);
    tfrt_allocator_free(allocator, client, sizeof(*client));
    return NULL;
  }
  tfrt_ref_count_initialize(&client->ref_count);
  client->node = tfrt_node_retain(node);
  client->options = *options;
  client->options.addresses = NULL;
  if (client->options.deadline_ns == 0) client->options.deadline_ns = TFRT_TIME_INFINITE;
  if (options->name.size > 0) memcpy(client->name, options->name.data, options->name.size);
  tfrt_list_initialize(&client->runs);
  client->next_run = 1;
  for (uint32_t i = 0; i < options->host_count; ++i) {
    memcpy(client->hosts[i].address, options->addresses[i].data, options->addresses[i].size);
  }
  return client;
}

tfrt_status_t tfrt_client_create(tfrt_node_t* node, const tfrt_client_options_t* options,
                                 tfrt_client_t** out_client) {
  *out_client = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_client_check_options(options));
  tfrt_client_t* client = tfrt_client_allocate(node, options);
  if (!client) return tfrt_status_out_of_memory();
  // One for the node, until the client is closed.
  tfrt_client_retain(client);
  tfrt_node_lock_tables(node);
  tfrt_list_push_back(&node->clients, &client->link);
  tfrt_status_t status = tfrt_client_dial_hosts(client);
  if (status) tfrt_client_close_locked(client, status);
  tfrt_client_start_timer(client);
  tfrt_node_unlock(node);
  if (status) {
    tfrt_client_release(client);
  } else {
    *out_client = client;
  }
  return status;
}

tfrt_async_value_t* tfrt_client_opened(tfrt_client_t* client) { return &client->opened->base; }

uint64_t tfrt_client_start(tfrt_client_t* client, const tfrt_client_start_t* start,
                           tfrt_async_value_t** out_results) {
  tfrt_client_run_t* run = tfrt_client_run_create(client, start, out_results);
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
    tfrt_client_run_fail(client, run, 0, status);
  } else if (tfrt_client_is_closed(client)) {
    tfrt_client_end_run(client, run);
  } else {
    tfrt_list_push_back(&client->runs, &run->link);
    if (tfrt_client_was_opened(client)) tfrt_client_run_send(client, run);
  }
  tfrt_node_unlock(client->node);
  tfrt_status_release(status);
  return number;
}

void tfrt_client_cancel(tfrt_client_t* client, uint64_t number, tfrt_status_t reason) {
  tfrt_node_lock_tables(client->node);
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = tfrt_client_run_of(link);
    link = link->next;
    if (number == 0 || run->number == number) tfrt_client_run_cancel(client, run, reason);
  }
  tfrt_node_unlock(client->node);
}

static const tfrt_owner_rule_t tfrt_client_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_JOBS, tfrt_client_on_node_made},
    {TFRT_OWNER_NODE_CLOSING, TFRT_OWNER_JOBS, tfrt_client_on_node_closing},
};

static const tfrt_frame_handler_t tfrt_client_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_END, tfrt_client_on_job_end},
};

const tfrt_node_part_t tfrt_client_part = {
    .rules = tfrt_client_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_client_rules),
    .handlers = tfrt_client_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_client_handlers),
};
