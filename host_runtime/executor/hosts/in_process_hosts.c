// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/in_process_hosts.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/settled_chain.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/executor/hosts/in_process_call.h"
#include "host_runtime/executor/hosts/mailbox.h"
#include "host_runtime/executor/hosts/turn_table.h"
#include "host_runtime/executor/kernel/kernel_frame.h"

typedef struct tfrt_in_process_host_s {
  tfrt_call_router_t router;
  tfrt_output_t output;
  tfrt_in_process_hosts_t* all;
  tfrt_mailbox_t mailbox;
  tfrt_turn_table_t turns;
  tfrt_resource_context_t resources;
  uint32_t rank;
} tfrt_in_process_host_t;

struct tfrt_in_process_hosts_s {
  tfrt_allocator_t allocator;
  tfrt_output_t* output;            // takes the lines of all
  tfrt_request_context_t* request;  // +1; of the entry function, on host 0
  uint32_t host_count;
  bool takes_all_calls;  // also those that name other hosts
  tfrt_in_process_host_t hosts[];
};

static size_t in_process_hosts_size(uint32_t host_count) {
  return sizeof(tfrt_in_process_hosts_t) + host_count * sizeof(tfrt_in_process_host_t);
}

// --- Calls -------------------------------------------------------------------

static void in_process_hosts_fail(const tfrt_routed_call_t* call, uint32_t host_count) {
  tfrt_status_t plain = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "the call asks for host %u, the job has %u host%s",
      call->options->host, host_count, tfrt_plural(host_count));
  tfrt_status_origin_t site;
  tfrt_routed_call_origin(call, &site);
  tfrt_status_t located = tfrt_status_with_origin(plain, &site);
  for (uint32_t i = 0; i < call->function->result_count; ++i) {
    call->results[i] = tfrt_async_value_create_error(located);
  }
  tfrt_status_release(located);
  tfrt_status_release(plain);
}

static void in_process_hosts_call(tfrt_call_router_t* router, const tfrt_routed_call_t* call) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router);
  tfrt_in_process_hosts_t* all = host->all;
  uint32_t rank = call->options->has_host ? call->options->host : host->rank;
  if (all->takes_all_calls) rank = 0;
  if (rank >= all->host_count) {
    in_process_hosts_fail(call, all->host_count);
    return;
  }
  if (rank != host->rank) {
    tfrt_in_process_host_t* callee = &all->hosts[rank];
    tfrt_in_process_call_execute(call, &callee->router, &callee->output, all->allocator);
    return;
  }
  tfrt_execution_context_t context = *call->context;
  tfrt_call_options_place(call->options, &context);
  tfrt_function_execute(call->function, &context, call->arguments, call->results);
}

static tfrt_call_place_t in_process_hosts_place(tfrt_call_router_t* router) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router);
  return (tfrt_call_place_t){
      .rank = host->rank, .host_count = host->all->host_count, .knows_trees = true};
}

// An error (+1) that says that there is no host |rank|.
static tfrt_async_value_t* in_process_hosts_no_host(const tfrt_in_process_hosts_t* all,
                                                    uint32_t rank,
                                                    const tfrt_status_origin_t* site) {
  tfrt_status_t plain = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                           "the message names host %u, the job has %u host%s", rank,
                                           all->host_count, tfrt_plural(all->host_count));
  tfrt_status_t located = tfrt_status_with_origin(plain, site);
  tfrt_status_release(plain);
  return tfrt_async_value_create_error_take(located);
}

// The hosts share their memory, so every value is on each of them.
static tfrt_async_value_t* in_process_hosts_copy(tfrt_call_router_t* router,
                                                 const tfrt_routed_copy_t* copy) {
  (void)router;
  return tfrt_async_value_retain(copy->value);
}

static tfrt_async_value_t* in_process_hosts_prefetch(tfrt_call_router_t* router,
                                                     const tfrt_routed_copy_t* copy) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router);
  return tfrt_settled_chain_create(copy->value, host->all->allocator);
}

static tfrt_async_value_t* in_process_hosts_send(tfrt_call_router_t* router,
                                                 const tfrt_routed_message_t* message) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router);
  if (message->host >= host->all->host_count) {
    return in_process_hosts_no_host(host->all, message->host, message->site);
  }
  tfrt_request_context_t* request = message->context->request;
  tfrt_status_t status = tfrt_mailbox_send(&host->all->hosts[message->host].mailbox,
                                           tfrt_mailbox_number(message, request), host->rank,
                                           tfrt_async_value_string(message->key), message->value);
  return status ? tfrt_async_value_create_error_take(status) : tfrt_async_value_ready_chain();
}

static tfrt_async_value_t* in_process_hosts_receive(tfrt_call_router_t* router,
                                                    const tfrt_routed_message_t* message) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router);
  if (message->host >= host->all->host_count) {
    return in_process_hosts_no_host(host->all, message->host, message->site);
  }
  tfrt_request_context_t* request = message->context->request;
  tfrt_mailbox_receiver_t receiver = {.request = request, .site = message->site};
  return tfrt_mailbox_receive(&host->mailbox, &receiver, tfrt_mailbox_number(message, request),
                              message->host, tfrt_async_value_string(message->key));
}

static tfrt_turn_table_t* in_process_hosts_turns(tfrt_call_router_t* router) {
  return &TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router)->turns;
}

static tfrt_resource_context_t* in_process_hosts_resources(tfrt_call_router_t* router) {
  return &TFRT_CONTAINER_OF(router, tfrt_in_process_host_t, router)->resources;
}

// Its calls are this process's own, so it is never crowded.
static tfrt_async_value_t* in_process_hosts_room(tfrt_call_router_t* router) {
  (void)router;
  return NULL;
}

static const tfrt_call_router_vtable_t tfrt_in_process_hosts_router_vtable = {
    .call = in_process_hosts_call,
    .place = in_process_hosts_place,
    .copy = in_process_hosts_copy,
    .prefetch = in_process_hosts_prefetch,
    .send = in_process_hosts_send,
    .receive = in_process_hosts_receive,
    .turns = in_process_hosts_turns,
    .resources = in_process_hosts_resources,
    .room = in_process_hosts_room,
};

// --- Lines -------------------------------------------------------------------

// Each line with the rank in front, where it is not the entry host's.
static tfrt_async_value_t* in_process_hosts_print(tfrt_output_t* output, tfrt_string_view_t text,
                                                  tfrt_call_scope_t* scope) {
  tfrt_in_process_host_t* host = TFRT_CONTAINER_OF(output, tfrt_in_process_host_t, output);
  tfrt_in_process_hosts_t* all = host->all;
  if (host->rank == 0) return all->output->vtable->print(all->output, text, scope);
  tfrt_string_builder_t lines;
  tfrt_string_builder_initialize(&lines, all->allocator);
  for (size_t begin = 0; begin <= text.size;) {
    const char* line = text.data + begin;
    const char* end = text.size > begin ? memchr(line, '\n', text.size - begin) : NULL;
    size_t size = end ? (size_t)(end - line) : text.size - begin;
    tfrt_string_builder_append_format(&lines, "%s[%u] ", begin > 0 ? "\n" : "", host->rank);
    tfrt_string_builder_append_view(&lines, tfrt_string_view_make(line, size));
    begin += size + 1;
  }
  tfrt_async_value_t* chain =
      lines.failed
          ? tfrt_async_value_out_of_memory()
          : all->output->vtable->print(all->output, tfrt_string_builder_view(&lines), scope);
  tfrt_string_builder_deinitialize(&lines);
  return chain;
}

static const tfrt_output_vtable_t tfrt_in_process_hosts_output_vtable = {
    .print = in_process_hosts_print,
};

// --- Life --------------------------------------------------------------------

tfrt_status_t tfrt_in_process_hosts_allocate(uint32_t host_count,
                                             const tfrt_request_options_t* options,
                                             tfrt_allocator_t allocator,
                                             tfrt_in_process_hosts_t** out_hosts) {
  *out_hosts = NULL;
  bool takes_all_calls = host_count == 0;
  if (takes_all_calls) host_count = 1;
  tfrt_in_process_hosts_t* all =
      tfrt_allocator_allocate_zeroed(allocator, in_process_hosts_size(host_count));
  if (!all) return tfrt_status_out_of_memory();
  all->allocator = allocator;
  all->output = options->output ? options->output : tfrt_output_standard();
  all->host_count = host_count;
  all->takes_all_calls = takes_all_calls;
  for (uint32_t rank = 0; rank < host_count; ++rank) {
    tfrt_in_process_host_t* host = &all->hosts[rank];
    host->all = all;
    host->rank = rank;
    tfrt_mailbox_initialize(&host->mailbox, allocator, NULL);
    tfrt_turn_table_initialize(&host->turns, allocator);
    tfrt_resource_context_initialize(&host->resources);
    host->router.vtable = &tfrt_in_process_hosts_router_vtable;
    host->output.vtable = &tfrt_in_process_hosts_output_vtable;
  }
  tfrt_request_options_t entry = *options;
  entry.router = &all->hosts[0].router;
  entry.output = &all->hosts[0].output;
  tfrt_status_t status = tfrt_request_context_create(&entry, allocator, &all->request);
  if (status) {
    tfrt_in_process_hosts_free(all);
    return status;
  }
  *out_hosts = all;
  return NULL;
}

// Nobody sends or receives any more: drops what only one side has come for.
static void in_process_hosts_empty(tfrt_mailbox_t* mailbox) {
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_CANCELLED, "the program ended before this was sent");
  bool waits = false;
  for (tfrt_async_value_t* value;
       (value = tfrt_mailbox_take(mailbox, TFRT_MAILBOX_ANY_SENDER, false, &waits));) {
    if (waits) tfrt_async_value_set_error(value, status);
    tfrt_async_value_release(value);
  }
  tfrt_status_release(status);
  tfrt_mailbox_deinitialize(mailbox);
}

void tfrt_in_process_hosts_free(tfrt_in_process_hosts_t* hosts) {
  if (!hosts) return;
  for (uint32_t rank = 0; rank < hosts->host_count; ++rank) {
    in_process_hosts_empty(&hosts->hosts[rank].mailbox);
    tfrt_turn_table_deinitialize(&hosts->hosts[rank].turns);
  }
  tfrt_request_context_release(hosts->request);
  for (uint32_t rank = 0; rank < hosts->host_count; ++rank) {
    tfrt_resource_context_deinitialize(&hosts->hosts[rank].resources);
  }
  tfrt_allocator_free(hosts->allocator, hosts, in_process_hosts_size(hosts->host_count));
}

tfrt_request_context_t* tfrt_in_process_hosts_request(tfrt_in_process_hosts_t* hosts) {
  return hosts->request;
}
