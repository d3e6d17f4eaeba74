// SPDX-License-Identifier: Apache-2.0
#include "distributed/client.h"

#include <string.h>

#include "distributed/client_impl.h"
#include "distributed/execution.h"
#include "distributed/server.h"
#include "host_runtime/base/random.h"

// One host of the job.
typedef struct tfrt_client_host_s {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_session_t* session;  // +1
  uint64_t incarnation;     // 0: not known yet
  bool opened;
} tfrt_client_host_t;

// One start.
typedef struct tfrt_client_run_s {
  tfrt_list_link_t link;
  uint64_t number;
  uint32_t function;
  tfrt_cached_program_t* program;  // +1
  uint32_t argument_count;
  tfrt_async_value_t** arguments;  // +1 each
  uint32_t result_count;
  tfrt_indirect_value_t** results;  // +1 each
  bool sent;
} tfrt_client_run_t;

struct tfrt_client_s {
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;  // +1
  tfrt_client_options_t options;
  char name[TFRT_WIRE_MAX_NAME_SIZE];
  tfrt_indirect_value_t* opened;  // +1
  // Guarded by the node's lock from here on.
  tfrt_list_link_t link;  // in the node's clients, until closed
  tfrt_client_host_t* hosts;
  tfrt_job_t* job;  // +1; NULL before all hosts are known
  tfrt_list_link_t runs;
  uint64_t next_run;
  bool is_open;
  bool closed;
};

static void tfrt_client_retain(tfrt_client_t* client) {
  tfrt_ref_count_increment(&client->ref_count);
}

// --- Runs --------------------------------------------------------------------

static void tfrt_client_free_run(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_node_t* node = client->node;
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_list_remove(&run->link);
  for (uint32_t i = 0; run->arguments && i < run->argument_count; ++i) {
    tfrt_action_queue_release(&node->actions, run->arguments[i]);
  }
  for (uint32_t i = 0; run->results && i < run->result_count; ++i) {
    if (run->results[i]) tfrt_action_queue_release(&node->actions, &run->results[i]->base);
  }
  if (run->program) tfrt_cached_program_release(run->program);
  tfrt_allocator_free(allocator, run->arguments,
                      (run->argument_count + 1) * sizeof(*run->arguments));
  tfrt_allocator_free(allocator, run->results, (run->result_count + 1) * sizeof(*run->results));
  tfrt_allocator_free(allocator, run, sizeof(*run));
}

// Ends |run| with the error |status| (+0) for each result from |first| on.
static void tfrt_client_fail_run(tfrt_client_t* client, tfrt_client_run_t* run, uint32_t first,
                                 tfrt_status_t status) {
  for (uint32_t i = first; i < run->result_count; ++i) {
    tfrt_action_queue_fail_take(&client->node->actions,
                                tfrt_async_value_retain(&run->results[i]->base), status);
  }
  tfrt_client_free_run(client, run);
}

static tfrt_status_t tfrt_client_pack(tfrt_client_t* client, const tfrt_client_run_t* run,
                                      tfrt_arena_t* arena, tfrt_wire_item_t* items) {
  tfrt_node_t* node = client->node;
  size_t inline_size = 0;
  for (uint32_t i = 0; i < run->argument_count; ++i) {
    tfrt_async_value_t* value = run->arguments[i];
    size_t limit = inline_size < (256u << 10) ? node->options.inline_limit : 0;
    if (tfrt_async_value_is_available(value)) {
      TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(value, limit, tfrt_node_host(node, client->job),
                                                  arena, &items[i]));
    }
    if (items[i].kind == TFRT_WIRE_ITEM_INLINE) inline_size += items[i].value.body.size;
    if (items[i].kind != TFRT_WIRE_ITEM_NONE) continue;
    // The loan lasts as long as the job.
    tfrt_object_t* object = tfrt_object_table_export(&node->objects, client->job, value);
    if (!object) return tfrt_status_out_of_memory();
    items[i].kind = TFRT_WIRE_ITEM_REFERENCE;
    items[i].reference = (tfrt_wire_reference_t){.id = object->id,
                                                 .owner = node->incarnation,
                                                 .owner_rank = TFRT_WIRE_NO_RANK,
                                                 .namer_rank = TFRT_WIRE_NO_RANK};
  }
  return NULL;
}

static tfrt_status_t tfrt_client_try_send_run(tfrt_client_t* client, tfrt_client_run_t* run,
                                              tfrt_arena_t* arena) {
  tfrt_peer_t* root = NULL;
  uint32_t program = 0;
  TFRT_RETURN_IF_ERROR(tfrt_job_reach(client->job, client->hosts[0].incarnation, &root));
  TFRT_RETURN_IF_ERROR(tfrt_job_announce_program(client->job, root, run->program, &program));
  tfrt_wire_item_t* items =
      tfrt_arena_allocate_array(arena, run->argument_count + 1, sizeof(*items));
  if (!items) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_client_pack(client, run, arena, items));
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_JOB_START,
                           .job_start = {.start = run->number,
                                         .program = program,
                                         .function = run->function,
                                         .arguments = items,
                                         .argument_count = run->argument_count}};
  tfrt_peer_frame_t frame = {.job = client->job, .deadline_ns = client->options.deadline_ns};
  return tfrt_peer_try_send(root, &frame, &body);
}

static void tfrt_client_send_run(tfrt_client_t* client, tfrt_client_run_t* run) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_status_t status = tfrt_client_try_send_run(client, run, &arena);
  tfrt_arena_deinitialize(&arena);
  run->sent = true;
  if (status) tfrt_client_fail_run(client, run, 0, status);
  tfrt_status_release(status);
}

// --- The end -----------------------------------------------------------------

static void tfrt_client_free(void* argument) {
  tfrt_client_t* client = argument;
  tfrt_node_t* node = client->node;
  tfrt_allocator_t allocator = node->options.allocator;
  tfrt_async_value_release(&client->opened->base);
  tfrt_allocator_free(allocator, client->hosts,
                      client->options.host_count * sizeof(*client->hosts));
  tfrt_allocator_free(allocator, client, sizeof(*client));
  tfrt_node_release(node);
}

static void tfrt_client_release_locked(tfrt_client_t* client) {
  if (!tfrt_ref_count_decrement(&client->ref_count)) return;
  tfrt_action_queue_call(&client->node->actions, tfrt_client_free, client);
}

void tfrt_client_release(tfrt_client_t* client) {
  if (client && tfrt_ref_count_decrement(&client->ref_count)) tfrt_client_free(client);
}

// Tells the root that the job is over; without an open job, each host that may know of it.
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
  tfrt_peer_t* root = tfrt_peer_find(client->node, client->hosts[0].incarnation);
  uint32_t count = client->is_open && root && root->session ? 1 : client->options.host_count;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_peer_t* peer = tfrt_peer_find(client->node, client->hosts[i].incarnation);
    if (peer) tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = client->job}, &body);
  }
  tfrt_arena_deinitialize(&arena);
}

static void tfrt_client_close_locked(tfrt_client_t* client, tfrt_status_t reason) {
  if (client->closed) return;
  client->closed = true;
  tfrt_node_t* node = client->node;
  tfrt_status_t status = reason ? tfrt_status_retain(reason)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  tfrt_client_retain(client);
  tfrt_list_remove(&client->link);
  if (client->job) tfrt_client_send_close(client, reason);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&client->runs));) {
    tfrt_client_fail_run(client, TFRT_CONTAINER_OF(link, tfrt_client_run_t, link), 0, status);
  }
  if (!client->is_open) {
    tfrt_action_queue_fail_take(&node->actions, tfrt_async_value_retain(&client->opened->base),
                                status);
  }
  if (client->job) {
    tfrt_job_close(client->job, reason);
    tfrt_job_release(client->job);
    client->job = NULL;
  }
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_session_release(client->hosts[i].session);
    client->hosts[i].session = NULL;
  }
  tfrt_status_release(status);
  tfrt_client_release_locked(client);
  // The node's.
  tfrt_client_release_locked(client);
}

void tfrt_client_close(tfrt_client_t* client, tfrt_status_t reason) {
  tfrt_node_t* node = tfrt_node_retain(client->node);
  tfrt_node_lock_tables(node);
  tfrt_client_close_locked(client, reason);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_client_close_all(tfrt_node_t* node, tfrt_status_t reason) {
  while (!tfrt_list_is_empty(&node->clients)) {
    tfrt_client_close_locked(TFRT_CONTAINER_OF(node->clients.next, tfrt_client_t, link), reason);
  }
}

// --- Opening -----------------------------------------------------------------

static void tfrt_client_print(void* self, uint32_t rank, tfrt_string_view_t line) {
  tfrt_client_t* client = self;
  if (client->options.print) client->options.print(client->options.print_self, rank, line);
}

static void tfrt_client_release_print(void* self) { tfrt_client_release_locked(self); }

// All hosts are known: opens the job on each.
static tfrt_status_t tfrt_client_open_job(tfrt_client_t* client, tfrt_arena_t* arena) {
  uint32_t count = client->options.host_count;
  tfrt_wire_member_t* members = tfrt_arena_allocate_array(arena, count, sizeof(*members));
  tfrt_string_view_t* addresses = tfrt_arena_allocate_array(arena, count, sizeof(*addresses));
  if (!members || !addresses) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    addresses[i] = tfrt_string_view_of(client->hosts[i].address);
    members[i] = (tfrt_wire_member_t){.rank = i,
                                      .incarnation = client->hosts[i].incarnation,
                                      .addresses = &addresses[i],
                                      .address_count = 1};
  }
  uint8_t secrets[TFRT_WIRE_JOB_ID_SIZE + TFRT_WIRE_KEY_SIZE];
  tfrt_random_entropy(secrets, sizeof(secrets));
  const char* id = (const char*)secrets;
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_OPEN,
      .job_open = {.job_id = tfrt_string_view_make(id, TFRT_WIRE_JOB_ID_SIZE),
                   .key = tfrt_string_view_make(id + TFRT_WIRE_JOB_ID_SIZE, TFRT_WIRE_KEY_SIZE),
                   .view = {.epoch = 1, .members = members, .member_count = count},
                   .name = tfrt_string_view_of(client->name)}};
  tfrt_job_t* job = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_job_create(client->node, &body.job_open, TFRT_WIRE_NO_RANK,
                                       client->node->incarnation, &job));
  client->job = tfrt_job_retain(job);
  job->print = tfrt_client_print;
  job->print_self = client;
  job->print_release = tfrt_client_release_print;
  tfrt_client_retain(client);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_peer_t* peer = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_job_reach(job, client->hosts[i].incarnation, &peer));
    tfrt_peer_job_t* known = tfrt_peer_find_or_create_job(peer, job);
    if (!known) return tfrt_status_out_of_memory();
    tfrt_peer_frame_t frame = {.job = job, .deadline_ns = client->options.deadline_ns};
    TFRT_RETURN_IF_ERROR(tfrt_peer_try_send(peer, &frame, &body));
    known->attached = true;
  }
  return NULL;
}

// Goes on when a session is open, or one more incarnation is known.
static void tfrt_client_advance(tfrt_client_t* client) {
  if (client->job || client->closed) return;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    if (client->hosts[i].incarnation == 0) return;
    for (uint32_t j = 0; j < i; ++j) {
      if (client->hosts[i].incarnation != client->hosts[j].incarnation) continue;
      tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                                "the addresses %s and %s are the same host",
                                                client->hosts[j].address, client->hosts[i].address);
      tfrt_client_close_locked(client, status);
      tfrt_status_release(status);
      return;
    }
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, client->node->options.allocator);
  tfrt_status_t status = tfrt_client_open_job(client, &arena);
  tfrt_arena_deinitialize(&arena);
  if (status) tfrt_client_close_locked(client, status);
  tfrt_status_release(status);
}

static tfrt_client_t* tfrt_client_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_client_t, link);
}

void tfrt_client_on_session_opened(tfrt_node_t* node, tfrt_session_t* session) {
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients;) {
    tfrt_client_t* client = tfrt_client_of(link);
    link = link->next;
    for (uint32_t i = 0; i < client->options.host_count; ++i) {
      if (client->hosts[i].session == session) {
        client->hosts[i].incarnation = tfrt_session_peer_incarnation(session);
      }
    }
    tfrt_client_advance(client);
  }
}

// A session of |client| died: a host that is known otherwise is no loss.
static void tfrt_client_lose_session(tfrt_client_t* client, tfrt_client_host_t* host,
                                     tfrt_session_t* session, tfrt_status_t reason) {
  uint64_t incarnation = tfrt_session_peer_incarnation(session);
  if (tfrt_status_code(reason) == TFRT_STATUS_ALREADY_EXISTS && incarnation != 0) {
    tfrt_session_t* other = tfrt_session_manager_find(client->node->sessions, incarnation);
    if (other && other != session) {
      tfrt_session_release(host->session);
      host->session = tfrt_session_retain(other);
      host->incarnation = incarnation;
      tfrt_client_advance(client);
      return;
    }
  }
  if (client->is_open && host != &client->hosts[0]) return;
  tfrt_peer_t* peer = client->is_open ? tfrt_peer_find(client->node, incarnation) : NULL;
  tfrt_status_t status =
      peer ? tfrt_peer_lost_error(peer, client->job, NULL, "while it ran the job")
           : tfrt_status_annotate(reason, "host %u (%s)", (uint32_t)(host - client->hosts),
                                  host->address);
  tfrt_client_close_locked(client, status);
  tfrt_status_release(status);
}

void tfrt_client_on_session_dead(tfrt_node_t* node, tfrt_session_t* session, tfrt_status_t reason) {
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients;) {
    tfrt_client_t* client = tfrt_client_of(link);
    link = link->next;
    for (uint32_t i = 0; i < client->options.host_count; ++i) {
      if (client->hosts[i].session != session) continue;
      tfrt_client_lose_session(client, &client->hosts[i], session, reason);
      break;
    }
  }
}

static tfrt_client_t* tfrt_client_find(tfrt_node_t* node, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = node->clients.next; link != &node->clients; link = link->next) {
    if (tfrt_client_of(link)->job == job) return tfrt_client_of(link);
  }
  return NULL;
}

void tfrt_client_on_job_opened(tfrt_peer_t* peer, tfrt_job_t* job,
                               const tfrt_wire_job_opened_t* opened) {
  tfrt_client_t* client = job ? tfrt_client_find(peer->node, job) : NULL;
  if (!client || client->is_open) return;
  if (opened->error) {
    tfrt_status_t status = tfrt_wire_error_to_status(opened->error);
    tfrt_client_close_locked(client, status);
    tfrt_status_release(status);
    return;
  }
  bool all = true;
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    if (client->hosts[i].incarnation == peer->incarnation) client->hosts[i].opened = true;
    all = all && client->hosts[i].opened;
  }
  if (!all) return;
  client->is_open = true;
  tfrt_action_queue_forward_take(&client->node->actions,
                                 tfrt_async_value_retain(&client->opened->base),
                                 tfrt_async_value_ready_chain());
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
    link = link->next;
    tfrt_client_send_run(client, run);
  }
}

void tfrt_client_on_job_end(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_end_t* end) {
  tfrt_client_t* client = job ? tfrt_client_find(peer->node, job) : NULL;
  tfrt_client_run_t* run = NULL;
  for (tfrt_list_link_t* link = client ? client->runs.next : NULL; link && link != &client->runs;
       link = link->next) {
    tfrt_client_run_t* candidate = TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
    if (candidate->number == end->start) run = candidate;
  }
  if (!run) return;
  uint32_t count =
      (uint32_t)(end->result_count < run->result_count ? end->result_count : run->result_count);
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_action_queue_forward_take(&client->node->actions,
                                   tfrt_async_value_retain(&run->results[i]->base),
                                   tfrt_execution_argument(job, &end->results[i]));
  }
  tfrt_status_t status =
      end->error ? tfrt_wire_error_to_status(end->error)
                 : tfrt_status_create(TFRT_STATUS_INTERNAL, "the root gave no such result");
  tfrt_client_fail_run(client, run, count, status);
  tfrt_status_release(status);
}

// --- From outside ------------------------------------------------------------

// Dials all hosts. With the lock held.
static tfrt_status_t tfrt_client_dial(tfrt_client_t* client) {
  for (uint32_t i = 0; i < client->options.host_count; ++i) {
    tfrt_client_host_t* host = &client->hosts[i];
    TFRT_RETURN_IF_ERROR(tfrt_session_manager_dial(
        client->node->sessions, tfrt_string_view_of(host->address), 0, &host->session));
    tfrt_session_set_peer_rank(host->session, i);
  }
  return NULL;
}

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
  tfrt_status_t status = tfrt_client_dial(client);
  if (status) tfrt_client_close_locked(client, status);
  tfrt_node_unlock(node);
  if (status) {
    tfrt_client_release(client);
  } else {
    *out_client = client;
  }
  return status;
}

tfrt_async_value_t* tfrt_client_opened(tfrt_client_t* client) { return &client->opened->base; }

// A run with room for its values, or NULL.
static tfrt_client_run_t* tfrt_client_create_run(tfrt_client_t* client,
                                                 const tfrt_client_start_t* start,
                                                 tfrt_async_value_t** out_results) {
  tfrt_allocator_t allocator = client->node->options.allocator;
  tfrt_client_run_t* run = tfrt_allocator_allocate_zeroed(allocator, sizeof(*run));
  if (!run) return NULL;
  tfrt_list_initialize(&run->link);
  run->function = start->function;
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
  for (uint32_t i = 0; good && i < run->result_count; ++i) {
    out_results[i] = tfrt_async_value_retain(&run->results[i]->base);
  }
  if (good) return run;
  tfrt_node_lock_tables(client->node);
  tfrt_client_free_run(client, run);
  tfrt_node_unlock(client->node);
  return NULL;
}

uint64_t tfrt_client_start(tfrt_client_t* client, const tfrt_client_start_t* start,
                           tfrt_async_value_t** out_results) {
  tfrt_client_run_t* run = tfrt_client_create_run(client, start, out_results);
  if (!run) {
    for (uint32_t i = 0; i < start->result_count; ++i) {
      out_results[i] = tfrt_async_value_out_of_memory();
    }
    return 0;
  }
  tfrt_status_t status = tfrt_program_cache_add_bytes(client->node, start->program, &run->program);
  tfrt_node_lock_tables(client->node);
  if (!status && client->closed) {
    status = tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  }
  uint64_t number = client->next_run++;
  run->number = number;
  if (status) {
    tfrt_client_fail_run(client, run, 0, status);
  } else {
    tfrt_list_push_back(&client->runs, &run->link);
    if (client->is_open) tfrt_client_send_run(client, run);
  }
  tfrt_node_unlock(client->node);
  tfrt_status_release(status);
  return number;
}

// With the lock held.
static void tfrt_client_cancel_run(tfrt_client_t* client, tfrt_client_run_t* run,
                                   tfrt_status_t reason) {
  if (!run->sent) {
    tfrt_client_fail_run(client, run, 0, reason);
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

void tfrt_client_cancel(tfrt_client_t* client, uint64_t number, tfrt_status_t reason) {
  tfrt_node_lock_tables(client->node);
  for (tfrt_list_link_t* link = client->runs.next; link != &client->runs;) {
    tfrt_client_run_t* run = TFRT_CONTAINER_OF(link, tfrt_client_run_t, link);
    link = link->next;
    if (number == 0 || run->number == number) tfrt_client_cancel_run(client, run, reason);
  }
  tfrt_node_unlock(client->node);
}
