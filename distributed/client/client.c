// SPDX-License-Identifier: Apache-2.0
#include "distributed/client/client.h"

#include <string.h>

#include "distributed/client/client_run.h"
#include "distributed/job/job_closing.h"

void tfrt_client_retain(tfrt_client_t* client) { tfrt_ref_count_increment(&client->ref_count); }

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

void tfrt_client_close_all(tfrt_node_t* node, tfrt_status_t reason) {
  while (!tfrt_list_is_empty(&node->clients)) {
    tfrt_client_close_locked(tfrt_client_of(node->clients.next), reason);
  }
}

// --- What comes from the hosts -----------------------------------------------

void tfrt_client_print(void* self, uint32_t rank, tfrt_string_view_t line) {
  tfrt_client_t* client = self;
  if (client->options.print) client->options.print(client->options.print_self, rank, line);
}

void tfrt_client_release_print(void* self) { tfrt_client_release_locked(self); }

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

void tfrt_client_on_job_end(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_job_end_t* end) {
  tfrt_client_t* client = job ? tfrt_client_find(peer->node, job) : NULL;
  for (tfrt_list_link_t* link = client ? client->runs.next : NULL; link && link != &client->runs;
       link = link->next) {
    tfrt_client_run_t* run = tfrt_client_run_of(link);
    if (run->number != end->start) continue;
    tfrt_client_run_end(client, run, peer, end);
    return;
  }
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
