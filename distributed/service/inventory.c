// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/inventory.h"

#include <inttypes.h>

#include "distributed/call/incoming_call_impl.h"
#include "distributed/call/outgoing_call_impl.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/server.h"
#include "distributed/service/inventory_line.h"

// --- Calls ---------------------------------------------------------------------

// The value at the end of |value|'s chain of forwards, as far as it is known: only to be compared.
static const tfrt_async_value_t* tfrt_inventory_end_of(tfrt_inventory_t* inventory,
                                                       tfrt_async_value_t* value) {
  tfrt_async_value_t* end = tfrt_async_value_retain(value);
  while (end->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(end)) {
    tfrt_async_value_t* target = tfrt_indirect_value_target((tfrt_indirect_value_t*)end);
    if (!target) break;
    tfrt_action_queue_release(&inventory->node->actions, end);
    end = target;
  }
  tfrt_action_queue_release(&inventory->node->actions, end);
  return end;
}

// The slot of this host that |value|, which is not there yet, has turned out to be, or NULL.
static const tfrt_object_t* tfrt_inventory_find_slot(tfrt_inventory_t* inventory,
                                                     tfrt_async_value_t* value) {
  const tfrt_async_value_t* end = tfrt_inventory_end_of(inventory, value);
  tfrt_hash_table_t* objects = &inventory->node->objects->by_id;
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(objects); node;
       node = tfrt_hash_table_next(objects, node)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(node, tfrt_object_t, by_id);
    bool is_slot = object->id.namer != inventory->node->incarnation;
    if (!is_slot || !object->value) continue;
    if (tfrt_inventory_end_of(inventory, object->value) == end) return object;
  }
  return NULL;
}

// The placeholder that |value| itself is, also when its end is known and on its way, or NULL.
static const tfrt_remote_value_t* tfrt_inventory_find_remote(const tfrt_inventory_t* inventory,
                                                             const tfrt_async_value_t* value) {
  const tfrt_list_link_t* head = &inventory->job->remote_values;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    const tfrt_remote_value_t* remote = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_job);
    if (&remote->base.base == value) return remote;
  }
  return NULL;
}

static void tfrt_inventory_add_need(tfrt_inventory_t* inventory, uint64_t owner,
                                    tfrt_wire_object_id_t id, bool is_first) {
  tfrt_string_builder_append_format(inventory->out, "%s%016" PRIx64 "/", is_first ? " needs=" : ",",
                                    owner);
  tfrt_inventory_append_id(inventory, id);
}

// The names of the arguments of |execution| that are not here yet.
static void tfrt_inventory_add_needs(tfrt_inventory_t* inventory,
                                     const tfrt_execution_t* execution) {
  bool is_first = true;
  for (uint32_t i = 0; i < execution->argument_count; ++i) {
    tfrt_async_value_t* value = execution->arguments[i];
    if (!value || tfrt_async_value_is_available(value)) continue;
    const tfrt_remote_value_t* remote = tfrt_inventory_find_remote(inventory, value);
    const tfrt_object_t* slot = remote ? NULL : tfrt_inventory_find_slot(inventory, value);
    if (remote) {
      tfrt_inventory_add_need(inventory, remote->location.owner, remote->location.id, is_first);
    } else if (slot) {
      tfrt_inventory_add_need(inventory, inventory->node->incarnation, slot->id, is_first);
    }
    is_first = is_first && !remote && !slot;
  }
}

static void tfrt_inventory_add_execution(tfrt_inventory_t* inventory,
                                         const tfrt_execution_t* execution) {
  const char* state = execution->cancelled                   ? "cancelled"
                      : tfrt_execution_is_retired(execution) ? "ending"
                      : !execution->program                  ? "running"
                      : !execution->program->program         ? "loading"
                                                             : "running";
  tfrt_inventory_add_number(inventory, "request", execution->request_id);
  tfrt_inventory_add_text(inventory, "function", tfrt_execution_function_name(execution));
  tfrt_inventory_add_age(inventory, execution->since_ns);
  tfrt_inventory_add_text(inventory, "state", state);
  tfrt_inventory_add_needs(inventory, execution);
}

static void tfrt_inventory_add_start(void* self, uint64_t number,
                                     const tfrt_execution_t* execution) {
  tfrt_inventory_t* inventory = self;
  tfrt_inventory_begin(inventory, "start");
  tfrt_inventory_add_number(inventory, "number", number);
  tfrt_inventory_add_execution(inventory, execution);
  tfrt_inventory_end(inventory);
}

static void tfrt_inventory_add_incoming(tfrt_inventory_t* inventory,
                                        const tfrt_incoming_call_t* call, uint64_t peer) {
  tfrt_inventory_begin(inventory, "call");
  tfrt_inventory_add_text(inventory, "dir", "in");
  tfrt_inventory_add_incarnation(inventory, "peer", peer);
  tfrt_inventory_add_number(inventory, "number", call->number);
  tfrt_inventory_add_number(inventory, "depth", call->execution.depth);
  tfrt_inventory_add_execution(inventory, &call->execution);
  tfrt_inventory_end(inventory);
}

// The execution that a call to others belongs to: a start here (by its number) or a call
// (`PEER.NUMBER`).
typedef struct tfrt_inventory_parent_s {
  tfrt_inventory_t* inventory;
  const tfrt_request_context_t* request;
} tfrt_inventory_parent_t;

static void tfrt_inventory_add_start_as_parent(void* self, uint64_t number,
                                               const tfrt_execution_t* execution) {
  tfrt_inventory_parent_t* parent = self;
  if (execution->request != parent->request) return;
  tfrt_inventory_add_number(parent->inventory, "in", number);
}

static void tfrt_inventory_add_parent(tfrt_inventory_t* inventory,
                                      const tfrt_request_context_t* request) {
  if (!request) return;
  tfrt_inventory_parent_t parent = {.inventory = inventory, .request = request};
  tfrt_server_visit_starts(inventory->job, tfrt_inventory_add_start_as_parent, &parent);
  tfrt_hash_table_t* peers = &inventory->node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
         node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
      tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
      if (call->execution.request != request) continue;
      tfrt_string_builder_append_format(inventory->out, " in=%016" PRIx64 ".%" PRIu64,
                                        peer->incarnation, call->number);
    }
  }
}

static void tfrt_inventory_add_outgoing(tfrt_inventory_t* inventory,
                                        const tfrt_outgoing_call_t* call) {
  tfrt_inventory_begin(inventory, "call");
  tfrt_inventory_add_text(inventory, "dir", "out");
  tfrt_inventory_add_incarnation(inventory, "peer", call->peer->incarnation);
  tfrt_inventory_add_number(inventory, "number", call->number);
  tfrt_inventory_add_number(inventory, "request", call->request ? call->request->options.id : 0);
  tfrt_inventory_add_text(inventory, "function", call->name);
  tfrt_inventory_add_parent(inventory, call->request);
  tfrt_status_origin_t place = tfrt_call_site_origin(&call->site);
  tfrt_inventory_add_text(inventory, "from", place.function);
  tfrt_inventory_add_place(inventory, &place);
  tfrt_inventory_add_age(inventory, call->since_ns);
  tfrt_inventory_add_text(inventory, "state", call->cancelled ? "cancelled" : "open");
  tfrt_inventory_end(inventory);
}

static void tfrt_inventory_add_calls(tfrt_inventory_t* inventory, const tfrt_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->incoming_calls); node;
       node = tfrt_hash_table_next(&peer->incoming_calls, node)) {
    tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
    if (call->execution.job != inventory->job) continue;
    tfrt_inventory_add_incoming(inventory, call, peer->incarnation);
  }
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing_calls); node;
       node = tfrt_hash_table_next(&peer->outgoing_calls, node)) {
    tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
    if (call->job == inventory->job) tfrt_inventory_add_outgoing(inventory, call);
  }
}

// --- Values --------------------------------------------------------------------

static void tfrt_inventory_add_object(tfrt_inventory_t* inventory, const tfrt_object_t* object) {
  tfrt_inventory_begin(inventory, "object");
  tfrt_inventory_add_id(inventory, object->id);
  tfrt_inventory_add_value(inventory, object->value);
  tfrt_inventory_add_age(inventory, object->since_ns);
  const char* name = object->name;
  const tfrt_program_t* program = object->program ? object->program->program : NULL;
  if (program && object->function < tfrt_program_function_count(program)) {
    name = tfrt_program_function(program, object->function)->name;
  }
  tfrt_inventory_add_text(inventory, "function", name);
  const char* separator = " holders=";
  for (tfrt_object_holder_t* holder = object->holders; holder; holder = holder->next) {
    tfrt_string_builder_append_format(inventory->out, "%s%016" PRIx64, separator,
                                      holder->incarnation);
    separator = ",";
  }
  tfrt_inventory_add_number(inventory, "loans", object->loans);
  tfrt_inventory_end(inventory);
}

// One whose last reference is gone is on its way out of the list, and its payload may be gone.
static void tfrt_inventory_add_remote(tfrt_inventory_t* inventory, tfrt_remote_value_t* value) {
  if (!tfrt_async_value_try_retain(&value->base.base)) return;
  tfrt_inventory_begin(inventory, "remote");
  tfrt_inventory_add_id(inventory, value->name.id);
  tfrt_inventory_add_incarnation(inventory, "owner", value->location.owner);
  if (tfrt_async_value_is_available(&value->base.base)) {
    tfrt_inventory_add_value(inventory, &value->base.base);
  } else {
    bool is_moving = value->question.want != 0 && value->question.level == TFRT_WIRE_WANT_VALUE;
    tfrt_inventory_add_text(inventory, "state",
                            is_moving                           ? "moving"
                            : tfrt_remote_value_is_there(value) ? "there"
                                                                : "waiting");
    tfrt_inventory_add_number(inventory, "bytes", value->bytes.there);
  }
  tfrt_inventory_add_age(inventory, value->since_ns);
  tfrt_inventory_add_text(inventory, "function", value->place.function);
  tfrt_inventory_add_site(inventory, &value->place.site);
  tfrt_inventory_end(inventory);
  tfrt_remote_value_release(value);
}

static void tfrt_inventory_add_message(void* self, const tfrt_mailbox_entry_t* entry) {
  tfrt_inventory_t* inventory = self;
  tfrt_inventory_begin(inventory, entry->is_sent ? "message" : "receive");
  tfrt_inventory_add_number(inventory, "request", entry->request);
  tfrt_inventory_add_number(inventory, "sender", entry->sender);
  tfrt_inventory_add_word(inventory, "key", entry->key);
  if (entry->site) {
    tfrt_inventory_add_text(inventory, "name", entry->site->kernel);
    tfrt_inventory_add_text(inventory, "function", entry->site->function);
    tfrt_inventory_add_place(inventory, entry->site);
  }
  tfrt_inventory_end(inventory);
}

static void tfrt_inventory_add_values(tfrt_inventory_t* inventory) {
  tfrt_job_t* job = inventory->job;
  tfrt_hash_table_t* objects = &inventory->node->objects->by_id;
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(objects); node;
       node = tfrt_hash_table_next(objects, node)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(node, tfrt_object_t, by_id);
    if (object->job == job) tfrt_inventory_add_object(inventory, object);
  }
  for (tfrt_list_link_t* link = job->remote_values.next; link != &job->remote_values;
       link = link->next) {
    tfrt_inventory_add_remote(inventory, TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_job));
  }
  tfrt_mailbox_visit(&job->exchange.mailbox, tfrt_inventory_add_message, inventory);
}

// --- All of it -----------------------------------------------------------------

static void tfrt_inventory_add_members(tfrt_inventory_t* inventory) {
  const tfrt_job_t* job = inventory->job;
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    tfrt_inventory_begin(inventory, "member");
    tfrt_inventory_add_number(inventory, "rank", job->view.members[i].rank);
    tfrt_inventory_add_incarnation(inventory, "incarnation", job->view.members[i].incarnation);
    tfrt_inventory_add_text(inventory, "address", job->view.members[i].address);
    tfrt_inventory_add_text(inventory, "state", job->view.members[i].death ? "lost" : "alive");
    tfrt_inventory_end(inventory);
  }
}

// The state of |job|, which says whether a client can follow it, attach to it, or neither.
static const char* tfrt_inventory_job_state(const tfrt_job_t* job) {
  const tfrt_detached_job_t* detached = job->detachment.is_detached && job->rank == 0
                                            ? tfrt_detached_job_find(job->node, job->identity.id)
                                            : NULL;
  if (detached) return tfrt_detached_job_is_kept(detached) ? "kept" : "detached";
  return tfrt_job_is_closed(job) ? "closed" : job->detachment.is_detached ? "detached" : "open";
}

static void tfrt_inventory_add_job(tfrt_inventory_t* inventory) {
  const tfrt_job_t* job = inventory->job;
  tfrt_inventory_begin(inventory, "job");
  tfrt_inventory_add_text(inventory, "name", job->name);
  tfrt_inventory_add_number(inventory, "rank", job->rank);
  tfrt_inventory_add_number(inventory, "hosts", job->view.member_count);
  tfrt_inventory_add_incarnation(inventory, "root", job->view.members[0].incarnation);
  tfrt_inventory_add_incarnation(inventory, "client", job->client.incarnation);
  tfrt_inventory_add_age(inventory, job->since_ns);
  tfrt_inventory_add_text(inventory, "state", tfrt_inventory_job_state(job));
  tfrt_inventory_end(inventory);
  tfrt_inventory_add_members(inventory);
  tfrt_server_visit_starts(job, tfrt_inventory_add_start, inventory);
  tfrt_hash_table_t* peers = &inventory->node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_inventory_add_calls(inventory, TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation));
  }
  tfrt_inventory_add_values(inventory);
}

// Adds detached jobs that are over and have left their results.
static void tfrt_inventory_add_kept(tfrt_inventory_t* inventory) {
  const tfrt_list_link_t* head = &inventory->node->detached;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    const tfrt_detached_job_t* kept = tfrt_detached_job_of(link);
    if (kept->job) continue;
    tfrt_inventory_begin_job(inventory, "job", kept->id);
    tfrt_inventory_add_text(inventory, "name", kept->name);
    tfrt_inventory_add_number(inventory, "rank", 0);
    tfrt_inventory_add_number(inventory, "hosts", kept->host_count);
    tfrt_inventory_add_incarnation(inventory, "root", inventory->node->incarnation);
    tfrt_inventory_add_incarnation(inventory, "client", kept->client);
    tfrt_inventory_add_age(inventory, kept->since_ns);
    tfrt_inventory_add_text(inventory, "state", "kept");
    tfrt_inventory_end(inventory);
  }
}

// Looks for the execution of the request that a thread has marked. That request may be gone: its
// pointer is only compared.
typedef struct tfrt_inventory_runner_s {
  const void* request;
  const tfrt_execution_t* found;  // NULL: nobody
} tfrt_inventory_runner_t;

static void tfrt_inventory_compare_start(void* self, uint64_t number,
                                         const tfrt_execution_t* execution) {
  (void)number;
  tfrt_inventory_runner_t* runner = self;
  if (execution->request == runner->request) runner->found = execution;
}

static const tfrt_execution_t* tfrt_inventory_find_runner(tfrt_inventory_t* inventory,
                                                          const void* request) {
  tfrt_inventory_runner_t runner = {.request = request};
  if (!request) return NULL;
  for (tfrt_list_link_t* link = inventory->node->jobs.next; link != &inventory->node->jobs;
       link = link->next) {
    tfrt_server_visit_starts(TFRT_CONTAINER_OF(link, tfrt_job_t, link),
                             tfrt_inventory_compare_start, &runner);
  }
  tfrt_hash_table_t* peers = &inventory->node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found && !runner.found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_hash_table_t* calls =
        &TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation)->incoming_calls;
    for (tfrt_hash_node_t* node = tfrt_hash_table_first(calls); node && !runner.found;
         node = tfrt_hash_table_next(calls, node)) {
      const tfrt_incoming_call_t* call = TFRT_CONTAINER_OF(node, tfrt_incoming_call_t, by_number);
      if (call->execution.request == request) runner.found = &call->execution;
    }
  }
  return runner.found;
}

// Begins the line of a kernel that runs in the marked |request|.
static void tfrt_inventory_begin_kernel(tfrt_inventory_t* inventory, const void* request) {
  const tfrt_execution_t* runner = tfrt_inventory_find_runner(inventory, request);
  inventory->job = runner ? runner->job : NULL;
  tfrt_inventory_begin(inventory, "kernel");
  if (!runner) return;
  tfrt_inventory_add_number(inventory, "request", runner->request_id);
  tfrt_inventory_add_parent(inventory, runner->request);
  inventory->job = NULL;
}

// Adds the kernels that threads are in. A mark is followed only if its program is in the cache,
// which is not freed while the lock is held.
static void tfrt_inventory_add_kernels(tfrt_inventory_t* inventory) {
  tfrt_node_look_at_threads(inventory->node, inventory->now_ns);
  const tfrt_progress_t* progress = &inventory->node->progress;
  for (size_t i = 0; i < progress->count; ++i) {
    const tfrt_progress_thread_t* thread = &progress->threads[i];
    const tfrt_kernel_site_t* site = tfrt_program_cache_find_site(inventory->node, thread->in.site);
    if (!site) continue;
    tfrt_status_origin_t place;
    tfrt_kernel_site_origin(site, &place);
    tfrt_inventory_begin_kernel(inventory, thread->in.request);
    tfrt_inventory_add_text(inventory, "name", place.kernel);
    tfrt_inventory_add_text(inventory, "function", place.function);
    tfrt_inventory_add_place(inventory, &place);
    tfrt_inventory_add_age(inventory, thread->since_ns);
    tfrt_inventory_end(inventory);
  }
}

tfrt_status_t tfrt_inventory_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_inventory_t inventory = {.node = node, .out = out, .now_ns = tfrt_node_now_ns(node)};
  tfrt_node_lock_tables(node);
  tfrt_inventory_begin(&inventory, "host");
  tfrt_inventory_add_incarnation(&inventory, "incarnation", node->incarnation);
  tfrt_inventory_add_word(&inventory, "name", tfrt_session_manager_name(node->sessions));
  tfrt_inventory_add_number(&inventory, "serving", !node->refuses_jobs && !node->closed);
  tfrt_inventory_end(&inventory);
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    inventory.job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (inventory.job != execution->job) tfrt_inventory_add_job(&inventory);
  }
  inventory.job = NULL;
  tfrt_inventory_add_kept(&inventory);
  tfrt_inventory_add_kernels(&inventory);
  tfrt_node_unlock(node);
  return NULL;
}
