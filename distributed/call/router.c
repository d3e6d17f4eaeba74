// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/router_impl.h"

#include "distributed/call/call_hooks.h"
#include "distributed/call/carried_call.h"
#include "distributed/call/local_call.h"
#include "distributed/call/outgoing_call_impl.h"
#include "distributed/delivery/mail.h"
#include "distributed/delivery/prefetched.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/settled_chain.h"
#include "host_runtime/base/plural.h"

static void tfrt_router_fail(const tfrt_routed_call_t* call, tfrt_status_t status) {
  tfrt_status_origin_t site;
  tfrt_routed_call_origin(call, &site);
  tfrt_status_t located = tfrt_status_with_origin(status, &site);
  for (uint32_t i = 0; i < call->function->result_count; ++i) {
    call->results[i] = tfrt_async_value_create_error(located);
  }
  tfrt_status_release(located);
  tfrt_status_release(status);
}

// The rank that runs |call|: the one that the program says, or another one if that host is lost
// already and the call has retries. Takes the lock.
static uint32_t tfrt_router_choose(tfrt_job_t* job, const tfrt_routed_call_t* call) {
  uint32_t rank = call->options->has_host ? call->options->host : job->rank;
  if (rank == job->rank || call->options->retries == 0) return rank;
  tfrt_node_lock_tables(job->node);
  if (tfrt_job_find_rank(job, rank)) rank = tfrt_job_find_living(job, rank);
  tfrt_node_unlock(job->node);
  return rank;
}

// Sets the callee, of |rank|, and the program (+0) of |request|. With the lock held.
static tfrt_status_t tfrt_router_find(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                      uint32_t rank, tfrt_outgoing_call_request_t* request) {
  const tfrt_job_member_t* member = tfrt_job_find_rank(job, rank);
  if (!member) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the call asks for host %u, the job has %u host%s", rank,
                              job->view.member_count, tfrt_plural(job->view.member_count));
  }
  request->callee = member->incarnation;
  if (request->image.size > 0) return NULL;
  request->program = tfrt_program_cache_find_program(job->node, call->function->program);
  if (request->program) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "@%s is of a program that was never announced",
                            call->function->name);
}

// Sets |*out_deadline_ns| to the deadline of |call|; returns true if it is its own, which is
// earlier than its request's.
static bool tfrt_router_find_deadline(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                      int64_t* out_deadline_ns) {
  *out_deadline_ns = call->context->request->options.deadline_ns;
  if (call->options->deadline_ms == 0) return false;
  int64_t own =
      tfrt_deadline_after(tfrt_node_now_ns(job->node),
                          (int64_t)call->options->deadline_ms * TFRT_NANOSECONDS_PER_MILLISECOND);
  if (own >= *out_deadline_ns) return false;
  *out_deadline_ns = own;
  return true;
}

static void tfrt_router_call_here(tfrt_job_t* job, const tfrt_routed_call_t* call) {
  int64_t deadline_ns = 0;
  if (tfrt_router_find_deadline(job, call, &deadline_ns)) {
    tfrt_local_call_execute(job, call, deadline_ns);
  } else {
    tfrt_execution_context_t context = *call->context;
    tfrt_call_options_place(call->options, &context);
    tfrt_function_execute(call->function, &context, call->arguments, call->results);
  }
}

// True if |request| has a chain among its arguments.
static bool tfrt_router_has_chain(const tfrt_outgoing_call_request_t* request) {
  for (uint32_t i = 0; i < request->argument_count; ++i) {
    if (tfrt_outgoing_arguments_is_chain(request->argument_types, i)) return true;
  }
  return false;
}

// Starts |request| with copies that host |rank| already has in the place of its arguments. A
// prefetched copy is what the value was then. A chain of the call may stand for a later write, so a
// call with a chain fetches mutable values anew.
static void tfrt_router_start_with_prefetched(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                              uint32_t rank,
                                              tfrt_outgoing_call_request_t* request) {
  tfrt_allocator_t allocator = job->node->options.allocator;
  size_t size = request->argument_count * sizeof(tfrt_async_value_t*);
  tfrt_async_value_t** arguments = size > 0 ? tfrt_allocator_allocate(allocator, size) : NULL;
  bool has_chain = tfrt_router_has_chain(request);
  for (uint32_t i = 0; arguments && i < request->argument_count; ++i) {
    bool is_old = has_chain && tfrt_outgoing_arguments_is_mutable(request->argument_types, i);
    arguments[i] = is_old ? NULL : tfrt_prefetched_find(call->context, rank, call->arguments[i]);
    if (!arguments[i]) arguments[i] = tfrt_async_value_retain(call->arguments[i]);
  }
  // Without memory they are fetched again.
  if (arguments) request->arguments = arguments;
  tfrt_outgoing_call_start(job->node, request);
  for (uint32_t i = 0; arguments && i < request->argument_count; ++i) {
    tfrt_async_value_release(arguments[i]);
  }
  tfrt_allocator_free(allocator, arguments, size);
}

// Starts |request| as a call with retries, or with prefetched arguments. Either takes the lock
// itself, when it knows the callee.
static void tfrt_router_start_in_steps(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                       uint32_t rank, tfrt_outgoing_call_request_t* request) {
  tfrt_node_lock_tables(job->node);
  tfrt_status_t status = tfrt_router_find(job, call, rank, request);
  if (request->program) tfrt_cached_program_retain(request->program);
  tfrt_node_unlock(job->node);
  if (status) {
    tfrt_router_fail(call, status);
    return;
  }
  if (call->options->retries > 0) {
    job->node->call_hooks->start_retried(job, call, request);
  } else {
    tfrt_router_start_with_prefetched(job, call, rank, request);
  }
  if (!request->program) return;
  tfrt_node_lock_tables(job->node);
  tfrt_cached_program_release(request->program);
  tfrt_node_unlock(job->node);
}

// Makes |call| one to |rank|, another host.
static void tfrt_router_call_there(tfrt_job_t* job, const tfrt_routed_call_t* call, uint32_t rank) {
  tfrt_outgoing_call_request_t request = {
      .job = job,
      .function = call->function->index,
      .request = call->context->request,
      .scope = call->context->scope,
      .name = call->function->name,
      .caller = call->caller,
      .site = call->site,
      .pure = call->options->pure,
      .device = call->options->device,
      .results_device = call->context->device,
      .arguments = call->arguments,
      .argument_count = call->function->argument_count,
      .results = call->results,
      .result_count = call->function->result_count,
      .argument_types = call->function->argument_types,
      .result_types = call->function->result_types,
      .gives_results = call->gives_results && !call->options->retries};
  request.has_own_deadline = tfrt_router_find_deadline(job, call, &request.deadline_ns);
  tfrt_status_origin_t site;
  tfrt_status_t status =
      call->caller ? NULL : tfrt_carried_call_describe(job, call, &site, &request);
  if (status) {
    tfrt_router_fail(call, status);
    return;
  }
  // A prefetched copy is in the host's memory, so a call on a device takes the value itself.
  bool uses_prefetched =
      !call->options->device && atomic_load_explicit(&job->has_prefetched, memory_order_relaxed);
  if (call->options->retries > 0 || uses_prefetched) {
    tfrt_router_start_in_steps(job, call, rank, &request);
    return;
  }
  tfrt_outgoing_call_t* outgoing = tfrt_outgoing_call_prepare(job->node, &request);
  if (!outgoing) return;
  tfrt_node_lock_tables(job->node);
  tfrt_status_t refusal = tfrt_router_find(job, call, rank, &request);
  tfrt_outgoing_call_start_prepared(outgoing, &request, refusal);
  tfrt_node_unlock(job->node);
}

// True if |call|, which has retries, was not made, since the host of |rank| died while it was being
// made: then its results are plain errors.
static bool tfrt_router_came_too_late(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                      uint32_t rank) {
  if (call->options->retries == 0 || call->function->result_count == 0) return false;
  if (tfrt_remote_value_cast(call->results[0])) return false;
  tfrt_node_lock_tables(job->node);
  const tfrt_job_member_t* member = tfrt_job_find_rank(job, rank);
  bool is_dead = member && member->death && !tfrt_job_is_closed(job);
  tfrt_node_unlock(job->node);
  return is_dead;
}

static void tfrt_router_call(tfrt_call_router_t* router, const tfrt_routed_call_t* call) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  // A host that is dead isn't chosen again.
  for (;;) {
    uint32_t rank = tfrt_router_choose(job, call);
    if (rank == job->rank) {
      tfrt_router_call_here(job, call);
      return;
    }
    tfrt_router_call_there(job, call, rank);
    if (!tfrt_router_came_too_late(job, call, rank)) return;
    for (uint32_t i = 0; i < call->function->result_count; ++i) {
      tfrt_async_value_release(call->results[i]);
    }
  }
}

static tfrt_call_place_t tfrt_router_place(tfrt_call_router_t* router) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  tfrt_node_lock_tables(job->node);
  tfrt_call_place_t place = {.rank = job->rank, .host_count = job->view.member_count};
  tfrt_node_unlock(job->node);
  return place;
}

tfrt_async_value_t* tfrt_router_error_take(tfrt_status_t status, const tfrt_status_origin_t* site) {
  tfrt_status_t located = tfrt_status_with_origin(status, site);
  tfrt_status_release(status);
  return tfrt_async_value_create_error_take(located);
}

tfrt_status_t tfrt_router_find_member(tfrt_job_t* job, uint32_t rank, uint64_t* out_incarnation) {
  *out_incarnation = 0;
  tfrt_node_lock_tables(job->node);
  const tfrt_job_member_t* member = tfrt_job_find_rank(job, rank);
  if (member) *out_incarnation = member->incarnation;
  uint32_t member_count = job->view.member_count;
  tfrt_node_unlock(job->node);
  if (member) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the message names host %u, the job has %u host%s", rank, member_count,
                            tfrt_plural(member_count));
}

static tfrt_async_value_t* tfrt_router_copy(tfrt_call_router_t* router,
                                            const tfrt_routed_copy_t* copy) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  if (copy->host == job->rank) {
    tfrt_async_value_demand(copy->value);
    return tfrt_async_value_retain(copy->value);
  }
  tfrt_async_value_t* result = NULL;
  tfrt_status_origin_t kept;
  tfrt_outgoing_call_request_t request = {
      .job = job,
      .function = TFRT_WIRE_BUILTIN_COPY,
      .request = copy->context->request,
      .scope = copy->context->scope,
      .name = "copy_to",
      .site = tfrt_carried_call_keep_site(job, copy->context, copy->site, &kept),
      .deadline_ns = copy->context->request->options.deadline_ns,
      .arguments = &copy->value,
      .argument_count = 1,
      .results = &result,
      .result_count = 1};
  tfrt_status_t status = tfrt_router_find_member(job, copy->host, &request.callee);
  if (status) return tfrt_router_error_take(status, copy->site);
  tfrt_outgoing_call_start(job->node, &request);
  return result;
}

static tfrt_async_value_t* tfrt_router_prefetch(tfrt_call_router_t* router,
                                                const tfrt_routed_copy_t* copy) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  tfrt_allocator_t allocator = job->node->options.allocator;
  // Here the copy is the value itself, which is settled as soon as its owner has it.
  if (copy->host == job->rank) return tfrt_settled_chain_create_here(copy->value, allocator);
  tfrt_async_value_t* there = tfrt_router_copy(router, copy);
  tfrt_async_value_t* chain = tfrt_settled_chain_create(there, allocator);
  tfrt_prefetched_note(copy, there, chain);
  // Relaxed: a call that is to find the note comes after it by the program's order.
  atomic_store_explicit(&job->has_prefetched, true, memory_order_relaxed);
  tfrt_async_value_release(there);
  return chain;
}

static tfrt_turn_table_t* tfrt_router_turns(tfrt_call_router_t* router) {
  return &TFRT_CONTAINER_OF(router, tfrt_job_t, router)->exchange.turns;
}

static tfrt_resource_context_t* tfrt_router_resources(tfrt_call_router_t* router) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  return job->node->options.is_encrypted ? NULL : &job->exchange.resources;
}

static const tfrt_call_router_vtable_t tfrt_router_vtable = {.send = tfrt_router_send,
                                                             .turns = tfrt_router_turns,
                                                             .resources = tfrt_router_resources,
                                                             .receive = tfrt_router_receive,
                                                             .call = tfrt_router_call,
                                                             .place = tfrt_router_place,
                                                             .copy = tfrt_router_copy,
                                                             .prefetch = tfrt_router_prefetch};

// --- Output ------------------------------------------------------------------

// The printing call is not over before the line is out, and so the job's results come after the
// line.
static tfrt_async_value_t* tfrt_router_print(tfrt_output_t* output, tfrt_string_view_t text,
                                             tfrt_call_scope_t* scope) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(output, tfrt_job_t, output);
  if (job->detachment.left) {
    job->printer.print(job->printer.self, job->rank, text);
    return tfrt_async_value_ready_chain();
  }
  tfrt_async_value_t* line = tfrt_async_value_create_string(text);
  tfrt_async_value_t* arguments[2] = {line, tfrt_async_value_ready_chain()};
  static const char* const argument_types[2] = {"!tfrt.string", "!tfrt.chain"};
  static const char* const result_types[1] = {"!tfrt.chain"};
  tfrt_async_value_t* result = NULL;
  tfrt_outgoing_call_request_t request = {.job = job,
                                          .callee = job->detachment.is_detached
                                                        ? job->view.members[0].incarnation
                                                        : job->client.incarnation,
                                          .function = TFRT_WIRE_BUILTIN_PRINT,
                                          .scope = scope,
                                          .name = "print",
                                          .deadline_ns = TFRT_TIME_INFINITE,
                                          .arguments = arguments,
                                          .argument_count = 2,
                                          .inline_limit = TFRT_ROUTER_OWED_INLINE,
                                          .results = &result,
                                          .result_count = 1,
                                          .argument_types = argument_types,
                                          .result_types = result_types};
  tfrt_outgoing_call_start(job->node, &request);
  tfrt_async_value_release(line);
  return result;
}

static const tfrt_output_vtable_t tfrt_router_output_vtable = {.print = tfrt_router_print};

static void tfrt_router_on_job_made(const tfrt_owner_end_t* end) {
  tfrt_job_t* job = end->job;
  job->router =
      (tfrt_call_router_t){.vtable = &tfrt_router_vtable, .sends_calls = true, .rank = job->rank};
  job->output.vtable = &tfrt_router_output_vtable;
  tfrt_mailbox_initialize(&job->exchange.mailbox, job->node->options.allocator, tfrt_mail_met);
  tfrt_turn_table_initialize(&job->exchange.turns, job->node->options.allocator);
  tfrt_resource_context_initialize(&job->exchange.resources);
}

static const tfrt_owner_rule_t tfrt_router_rules[] = {
    {TFRT_OWNER_JOB_MADE, TFRT_OWNER_CALLS, tfrt_router_on_job_made},
};

void tfrt_router_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_router_rules, TFRT_ARRAY_SIZE(tfrt_router_rules));
}
