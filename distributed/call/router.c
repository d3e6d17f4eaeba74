// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/router.h"

#include "distributed/call/call_hooks.h"
#include "distributed/call/local_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/delivery/mail.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/value/job_budget.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/settled_chain.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

// A message that the receiver waits for, or a line, travels unasked up to this size: to ask for it
// takes two more hops and six more frames.
#define TFRT_ROUTER_OWED_INLINE TFRT_WIRE_MAX_INLINE_SIZE

// --- Calls that carry their program ------------------------------------------

// A call of a function that the other hosts of the job don't have: its program goes with it. Single
// ops (host_runtime/eager) are such: a job may run any number of different ones, so they are not
// announced, and nobody keeps them for the job. Their names and places are kept in the node's pool
// of texts (domain.h), because records that live as long as the job use them.
//
//   caller                                   callee
//     Invoke BUILTIN_RUN(image, arguments) --> program cache, by SHA-256 --> call as any other

// The image of the program of |call|.
static tfrt_status_t carried_call_find_image(const tfrt_routed_call_t* call,
                                             tfrt_string_view_t* out_image) {
  const tfrt_function_t* function = call->function;
  tfrt_bef_file_t* file = function->program ? tfrt_program_file(function->program) : NULL;
  size_t size = 0;
  const char* bytes = file ? tfrt_bef_file_bytes(file, &size) : NULL;
  if (!bytes || size > TFRT_WIRE_MAX_IMAGE_SIZE || function->index != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "@%s is of a program that is not the job's: of such, only function 0 "
                              "of a BEF file of at most %u bytes can be called on other hosts",
                              function->name, TFRT_WIRE_MAX_IMAGE_SIZE);
  }
  if (call->options->retries > 0) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "@%s is of a program that is not the job's: a call of it is not tried "
        "again, so leave retries out",
        function->name);
  }
  *out_image = tfrt_string_view_make(bytes, size);
  return NULL;
}

// Sets |*out_site| to |site| (NULL: unknown) with texts of |texts|. With the lock held.
static void carried_call_copy_site(tfrt_text_pool_t* texts, const tfrt_status_origin_t* site,
                                   tfrt_status_origin_t* out_site) {
  *out_site = (tfrt_status_origin_t){.rank = TFRT_STATUS_NO_RANK};
  if (site) *out_site = *site;
  out_site->function = tfrt_text_pool_keep(texts, out_site->function);
  out_site->kernel = tfrt_text_pool_keep(texts, out_site->kernel);
  out_site->file = tfrt_text_pool_keep(texts, out_site->file);
}

static void carried_call_keep_texts(tfrt_text_pool_t* texts, const tfrt_routed_call_t* call,
                                    tfrt_status_origin_t* out_site,
                                    tfrt_outgoing_call_request_t* request) {
  carried_call_copy_site(texts, call->site, out_site);
  request->site = out_site;
  request->name = tfrt_text_pool_keep(texts, call->function->name);
  request->device = tfrt_text_pool_keep(texts, call->options->device);
  request->results_device = tfrt_text_pool_keep(texts, call->context->device);
}

// Completes |request| for |call|, whose calling kernel is not known. The names in |request| then
// live as long as the node, and its site is |out_site|. If the program is not one of the job's, its
// image goes with the request. INVALID_ARGUMENT for a program without a small image, for another
// function of it than the first, and for retries. With the lock held.
static tfrt_status_t carried_call_describe(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                           tfrt_status_origin_t* out_site,
                                           tfrt_outgoing_call_request_t* request) {
  carried_call_keep_texts(&job->node->texts, call, out_site, request);
  if (tfrt_program_cache_find_program(job->node, call->function->program)) return NULL;
  request->function = TFRT_WIRE_BUILTIN_RUN;
  return carried_call_find_image(call, &request->image);
}

// The place |site| at which a kernel in |context| asks |job| for something, with texts that live as
// long as |job|: |site| itself, or |out_site| if the kernel's program may be freed earlier. Takes
// the lock.
static const tfrt_status_origin_t* carried_call_keep_site(tfrt_job_t* job,
                                                          const tfrt_execution_context_t* context,
                                                          const tfrt_status_origin_t* site,
                                                          tfrt_status_origin_t* out_site) {
  if (!context->request->options.names_are_short_lived) return site;
  tfrt_node_lock_tables(job->node);
  carried_call_copy_site(&job->node->texts, site, out_site);
  tfrt_node_unlock(job->node);
  return out_site;
}

// --- Copies that are sent ahead ---------------------------------------------

// *Prefetched* is what a program has sent ahead to other hosts (tfrt_dist.prefetch). The value
// still belongs to its owner. But later calls to that host, from the same run of a function on this
// host, take the copy there instead of the value.
//
//   prefetch h, v  --> copy on h (BUILTIN_COPY), noted here
//   call on h (v)  --> Invoke (copy), which h has
//
// A copy is what the value was when it was made. The caller must not use it for a value that may
// have been written since. A copy is noted with its request, and dropped with it; one for which
// there is no memory is fetched again. The node's lock is neither needed nor taken.

static const char tfrt_prefetched_name[] = "tfrt_dist.prefetched";

typedef struct tfrt_prefetched_entry_s {
  tfrt_list_link_t link;
  uint32_t rank;
  tfrt_async_value_t* value;  // +1
  tfrt_async_value_t* there;  // +1
  tfrt_async_value_t* chain;  // +1
} tfrt_prefetched_entry_t;

// The copies of one request.
typedef struct tfrt_prefetched_s {
  tfrt_resource_t base;
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;        // guards |entries|
  tfrt_list_link_t entries;  // newest first
} tfrt_prefetched_t;

static tfrt_prefetched_entry_t* prefetched_entry_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_prefetched_entry_t, link);
}

static void prefetched_destroy(tfrt_resource_t* resource) {
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&all->entries));) {
    tfrt_prefetched_entry_t* entry = prefetched_entry_of(link);
    tfrt_async_value_release(entry->value);
    tfrt_async_value_release(entry->there);
    tfrt_async_value_release(entry->chain);
    tfrt_allocator_free(all->allocator, entry, sizeof(*entry));
  }
  tfrt_mutex_deinitialize(&all->mutex);
  tfrt_allocator_free(all->allocator, all, sizeof(*all));
}

static tfrt_status_t prefetched_create(void* argument, tfrt_resource_t** out_resource) {
  tfrt_allocator_t allocator = *(tfrt_allocator_t*)argument;
  tfrt_prefetched_t* all = tfrt_allocator_allocate_zeroed(allocator, sizeof(*all));
  if (!all) return tfrt_status_out_of_memory();
  all->base.name = tfrt_prefetched_name;
  all->base.destroy = prefetched_destroy;
  all->allocator = allocator;
  tfrt_mutex_initialize(&all->mutex);
  tfrt_list_initialize(&all->entries);
  *out_resource = &all->base;
  return NULL;
}

// Notes that |value| of |copy| is |there| on that host as soon as |chain| is available (all +0).
static void prefetched_note(const tfrt_routed_copy_t* copy, tfrt_async_value_t* there,
                            tfrt_async_value_t* chain) {
  tfrt_allocator_t allocator = copy->context->host->allocator;
  tfrt_resource_context_t* resources = &copy->context->request->resources;
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(
      resources, tfrt_prefetched_name, prefetched_create, &allocator, &resource);
  tfrt_prefetched_entry_t* entry =
      status ? NULL : tfrt_allocator_allocate_zeroed(allocator, sizeof(*entry));
  tfrt_status_release(status);
  if (!entry) return;
  entry->rank = copy->host;
  entry->value = tfrt_async_value_retain(copy->value);
  entry->there = tfrt_async_value_retain(there);
  entry->chain = tfrt_async_value_retain(chain);
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  tfrt_mutex_lock(&all->mutex);
  tfrt_list_push_front(&all->entries, &entry->link);
  tfrt_mutex_unlock(&all->mutex);
}

// True if |a| and |b| are one value; one may stand for the other.
static bool prefetched_is_same(tfrt_async_value_t* a, tfrt_async_value_t* b) {
  if (a == b) return true;
  return tfrt_async_value_is_available(a) && tfrt_async_value_is_available(b) &&
         tfrt_async_value_resolved(a) == tfrt_async_value_resolved(b);
}

// True if the copy of |entry| is as good as its value, even if nobody needs the payload. The copy
// is there, or it is on its way and only a loss can stop it.
static bool prefetched_is_good(const tfrt_prefetched_entry_t* entry) {
  if (tfrt_async_value_is_available(entry->chain)) return !tfrt_async_value_is_error(entry->chain);
  if (!tfrt_async_value_is_available(entry->value) || tfrt_async_value_is_error(entry->value)) {
    return false;
  }
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(entry->value)->type_id);
  return type->codec || type->aggregate;
}

// The copy (+1) that host |rank| gets in the place of |value|, or NULL: there is none.
static tfrt_async_value_t* prefetched_find(const tfrt_execution_context_t* context, uint32_t rank,
                                           tfrt_async_value_t* value) {
  tfrt_resource_t* resource =
      tfrt_resource_context_find(&context->request->resources, tfrt_prefetched_name);
  if (!resource) return NULL;
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  tfrt_async_value_t* found = NULL;
  tfrt_mutex_lock(&all->mutex);
  for (tfrt_list_link_t* link = all->entries.next; link != &all->entries && !found;
       link = link->next) {
    const tfrt_prefetched_entry_t* entry = prefetched_entry_of(link);
    bool fits = entry->rank == rank && prefetched_is_same(entry->value, value);
    if (fits && prefetched_is_good(entry)) found = tfrt_async_value_retain(entry->there);
  }
  tfrt_mutex_unlock(&all->mutex);
  return found;
}

// --- Calls -------------------------------------------------------------------

typedef enum tfrt_call_target_e {
  TFRT_CALL_TARGET_HERE = 0,
  TFRT_CALL_TARGET_THERE,
  TFRT_CALL_TARGET_NONE,  // |refusal| says why
} tfrt_call_target_t;

// The host that runs a call, and the call as that host gets it. Resolved once, in the critical
// section in which the call is started: no host can be lost in between.
typedef struct tfrt_call_plan_s {
  tfrt_job_t* job;
  const tfrt_routed_call_t* call;
  tfrt_call_target_t target;
  tfrt_status_t refusal;                 // +1; or NULL
  tfrt_outgoing_call_request_t request;  // its callee and program are known once it is resolved
  tfrt_status_origin_t site;             // of a call whose kernel is not known
} tfrt_call_plan_t;

// The deadline of |call|: its own, if that is earlier than its request's.
static int64_t router_find_deadline(tfrt_job_t* job, const tfrt_routed_call_t* call) {
  int64_t outer = call->context->request->options.deadline_ns;
  if (call->options->deadline_ms == 0) return outer;
  int64_t own =
      tfrt_deadline_after(tfrt_node_now_ns(job->node),
                          (int64_t)call->options->deadline_ms * TFRT_NANOSECONDS_PER_MILLISECOND);
  return own < outer ? own : outer;
}

static void router_call_here(tfrt_job_t* job, const tfrt_routed_call_t* call) {
  int64_t deadline_ns = router_find_deadline(job, call);
  if (deadline_ns < call->context->request->options.deadline_ns) {
    tfrt_local_call_execute(job, call, deadline_ns);
  } else {
    tfrt_execution_context_t context = *call->context;
    tfrt_call_options_place(call->options, &context);
    tfrt_function_execute(call->function, &context, call->arguments, call->results);
  }
}

// Makes |plan| one for |call|, without its target. Takes no lock.
static void call_plan_initialize(tfrt_call_plan_t* plan, tfrt_job_t* job,
                                 const tfrt_routed_call_t* call) {
  *plan = (tfrt_call_plan_t){
      .job = job,
      .call = call,
      .request = {.job = job,
                  .function = call->function->index,
                  .request = call->context->request,
                  .scope = call->context->scope,
                  .name = call->function->name,
                  .caller = call->caller,
                  .site = call->site,
                  .deadline_ns = router_find_deadline(job, call),
                  .pure = call->options->pure,
                  .device = call->options->device,
                  .results_device = call->context->device,
                  .arguments = call->arguments,
                  .argument_count = call->function->argument_count,
                  .results = call->results,
                  .result_count = call->function->result_count,
                  .argument_types = call->function->argument_types,
                  .result_types = call->function->result_types,
                  .gives_results = call->gives_results && !call->options->retries}};
}

// Sets the callee and the program of |plan|, or returns why it has none. With the lock held.
static tfrt_status_t call_plan_find(tfrt_call_plan_t* plan, uint32_t rank) {
  tfrt_job_t* job = plan->job;
  const tfrt_routed_call_t* call = plan->call;
  tfrt_outgoing_call_request_t* request = &plan->request;
  if (!call->caller) {
    TFRT_RETURN_IF_ERROR(carried_call_describe(job, call, &plan->site, request));
  }
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

// Finds the target of |plan|: the host that the program says, or another one if that host is lost
// already and the call has retries. With the lock held.
static void call_plan_resolve(tfrt_call_plan_t* plan) {
  tfrt_job_t* job = plan->job;
  uint32_t rank = plan->call->options->host;
  if (plan->call->options->retries > 0 && tfrt_job_find_rank(job, rank)) {
    rank = tfrt_job_find_living(job, rank);
  }
  plan->target = TFRT_CALL_TARGET_HERE;
  if (rank == job->rank) return;
  plan->refusal = call_plan_find(plan, rank);
  plan->target = plan->refusal ? TFRT_CALL_TARGET_NONE : TFRT_CALL_TARGET_THERE;
}

// Starts the call of |plan|, for which |prepared| (consumed) is ready. The caller does that for a
// call that stays here. With the lock held.
static void call_plan_start(const tfrt_call_plan_t* plan, tfrt_outgoing_call_t* prepared) {
  if (plan->target == TFRT_CALL_TARGET_HERE) {
    tfrt_outgoing_call_discard(prepared, plan->job);
  } else if (plan->target == TFRT_CALL_TARGET_THERE && plan->call->options->retries > 0) {
    plan->job->node->call_hooks->start_retried(plan->call, &plan->request, prepared);
  } else {
    tfrt_outgoing_call_start_prepared(prepared, &plan->request, plan->refusal);
  }
}

// True if |request| has a chain among its arguments.
static bool router_has_chain(const tfrt_outgoing_call_request_t* request) {
  for (uint32_t i = 0; i < request->argument_count; ++i) {
    if (tfrt_outgoing_arguments_is_chain(request->argument_types, i)) return true;
  }
  return false;
}

// Prepares the call of |plan| with copies that its host already has in the place of its arguments.
// A prefetched copy is what the value was then. A chain of the call may stand for a later write, so
// a call with a chain fetches mutable values anew.
static tfrt_outgoing_call_t* call_plan_prepare_with_copies(tfrt_call_plan_t* plan) {
  const tfrt_routed_call_t* call = plan->call;
  tfrt_outgoing_call_request_t request = plan->request;
  tfrt_allocator_t allocator = plan->job->node->options.allocator;
  size_t size = request.argument_count * sizeof(tfrt_async_value_t*);
  tfrt_async_value_t** arguments = size > 0 ? tfrt_allocator_allocate(allocator, size) : NULL;
  bool has_chain = router_has_chain(&request);
  for (uint32_t i = 0; arguments && i < request.argument_count; ++i) {
    bool is_old = has_chain && tfrt_outgoing_arguments_is_mutable(request.argument_types, i);
    arguments[i] =
        is_old ? NULL : prefetched_find(call->context, call->options->host, call->arguments[i]);
    if (!arguments[i]) arguments[i] = tfrt_async_value_retain(call->arguments[i]);
  }
  // Without memory they are fetched again.
  if (arguments) request.arguments = arguments;
  tfrt_outgoing_call_t* prepared = tfrt_outgoing_call_prepare(plan->job->node, &request);
  for (uint32_t i = 0; arguments && i < request.argument_count; ++i) {
    tfrt_async_value_release(arguments[i]);
  }
  tfrt_allocator_free(allocator, arguments, size);
  return prepared;
}

// The record of the call of |plan|; NULL when memory is out: then its results say so. Takes no
// lock.
static tfrt_outgoing_call_t* call_plan_prepare(tfrt_call_plan_t* plan) {
  // A prefetched copy is in the host's memory, so a call on a device takes the value itself.
  bool uses_copies = !plan->call->options->device && plan->call->options->retries == 0 &&
                     atomic_load_explicit(&plan->job->has_prefetched, memory_order_relaxed);
  return uses_copies ? call_plan_prepare_with_copies(plan)
                     : tfrt_outgoing_call_prepare(plan->job->node, &plan->request);
}

static void router_call(tfrt_call_router_t* router, const tfrt_routed_call_t* call) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  if (!call->options->has_host || call->options->host == job->rank) {
    router_call_here(job, call);
    return;
  }
  tfrt_call_plan_t plan;
  call_plan_initialize(&plan, job, call);
  tfrt_outgoing_call_t* prepared = call_plan_prepare(&plan);
  if (!prepared) return;
  tfrt_node_lock_tables(job->node);
  call_plan_resolve(&plan);
  call_plan_start(&plan, prepared);
  tfrt_node_unlock(job->node);
  if (plan.target == TFRT_CALL_TARGET_HERE) router_call_here(job, call);
}

// --- Places, copies ----------------------------------------------------------

static tfrt_call_place_t router_place(tfrt_call_router_t* router) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  tfrt_node_lock_tables(job->node);
  tfrt_call_place_t place = {.rank = job->rank,
                             .host_count = job->view.member_count,
                             .knows_trees = job->view.features & TFRT_WIRE_FEATURE_TREES};
  tfrt_node_unlock(job->node);
  return place;
}

// The error |status| (consumed) with the place |site|, as a value (+1).
static tfrt_async_value_t* router_error_take(tfrt_status_t status,
                                             const tfrt_status_origin_t* site) {
  tfrt_status_t located = tfrt_status_with_origin(status, site);
  tfrt_status_release(status);
  return tfrt_async_value_create_error_take(located);
}

// Sets |*out_incarnation| to the member of |job| with |rank|; INVALID_ARGUMENT if there is none.
static tfrt_status_t router_find_member(tfrt_job_t* job, uint32_t rank, uint64_t* out_incarnation) {
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

static tfrt_async_value_t* router_copy(tfrt_call_router_t* router, const tfrt_routed_copy_t* copy) {
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
      .site = carried_call_keep_site(job, copy->context, copy->site, &kept),
      .deadline_ns = copy->context->request->options.deadline_ns,
      .arguments = &copy->value,
      .argument_count = 1,
      .results = &result,
      .result_count = 1};
  tfrt_status_t status = router_find_member(job, copy->host, &request.callee);
  if (status) return router_error_take(status, copy->site);
  tfrt_outgoing_call_start(job->node, &request);
  return result;
}

static tfrt_async_value_t* router_prefetch(tfrt_call_router_t* router,
                                           const tfrt_routed_copy_t* copy) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  tfrt_allocator_t allocator = job->node->options.allocator;
  // Here the copy is the value itself, which is settled as soon as its owner has it.
  if (copy->host == job->rank) return tfrt_settled_chain_create_here(copy->value, allocator);
  tfrt_async_value_t* there = router_copy(router, copy);
  tfrt_async_value_t* chain = tfrt_settled_chain_create(there, allocator);
  prefetched_note(copy, there, chain);
  // Relaxed: a call that is to find the note comes after it by the program's order.
  atomic_store_explicit(&job->has_prefetched, true, memory_order_relaxed);
  tfrt_async_value_release(there);
  return chain;
}

// --- Messages by key ---------------------------------------------------------

static tfrt_async_value_t* router_send_here(tfrt_job_t* job, const tfrt_routed_message_t* message) {
  tfrt_status_t status = tfrt_mail_send_here(job, message);
  return status ? router_error_take(status, message->site) : tfrt_async_value_ready_chain();
}

// True if a kernel may write to the value of |message| once the chain of the send is there. A value
// that is not here yet may be a tensor. No kernel writes to a list. The sender of an owed message
// sees to that itself.
static bool router_may_be_written(const tfrt_routed_message_t* message) {
  if (message->is_owed || tfrt_async_value_is_error(message->value)) return false;
  if (!tfrt_async_value_is_available(message->value)) return true;
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(message->value)->type_id);
  return (type->flags & TFRT_TYPE_FLAG_MUTABLE) && !type->aggregate;
}

static tfrt_async_value_t* router_send(tfrt_call_router_t* router,
                                       const tfrt_routed_message_t* message) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  if (message->host == job->rank) return router_send_here(job, message);
  static const char* const result_types[1] = {"!tfrt.chain"};
  tfrt_async_value_t* arguments[2] = {message->key, message->value};
  tfrt_async_value_t* result = NULL;
  const tfrt_request_context_t* of = message->context->request;
  tfrt_status_origin_t kept;
  tfrt_outgoing_call_request_t request = {
      .job = job,
      .function = TFRT_WIRE_BUILTIN_SEND,
      .request = message->is_owed ? NULL : message->context->request,
      .scope = message->context->scope,
      .name = "send",
      .site = carried_call_keep_site(job, message->context, message->site, &kept),
      .deadline_ns = message->is_owed ? TFRT_TIME_INFINITE : of->options.deadline_ns,
      .results_can_wait = message->is_unawaited,
      .arguments = arguments,
      .argument_count = 2,
      // The receiver waits for the message, so the value goes inline, and need not be asked for.
      .inline_limit = message->is_owed ? TFRT_ROUTER_OWED_INLINE : 0,
      .results = &result,
      .result_count = 1,
      .message =
          router_may_be_written(message) ? TFRT_OUTGOING_MUTABLE_MESSAGE : TFRT_OUTGOING_MESSAGE,
      .result_types = result_types};
  tfrt_status_t status = router_find_member(job, message->host, &request.callee);
  if (status) return router_error_take(status, message->site);
  tfrt_outgoing_call_start(job->node, &request);
  return result;
}

// Sees to it that this host learns of the death of |rank|, and of its end of the job, or says why
// nothing can come.
static tfrt_status_t router_watch(tfrt_job_t* job, uint32_t rank, uint64_t incarnation) {
  if (rank == job->rank) return NULL;
  tfrt_peer_t* peer = NULL;
  tfrt_node_lock_tables(job->node);
  tfrt_status_t status = tfrt_job_reach(job, incarnation, &peer);
  if (!status) status = tfrt_job_attachment_send(job, peer);
  tfrt_node_unlock(job->node);
  return status;
}

// The wait begins before the check that the sender lives: the death of the sender in between ends
// the wait.
static tfrt_async_value_t* router_receive(tfrt_call_router_t* router,
                                          const tfrt_routed_message_t* message) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  uint64_t incarnation = 0;
  tfrt_status_t status = router_find_member(job, message->host, &incarnation);
  if (status) return router_error_take(status, message->site);
  tfrt_request_context_t* request = message->context->request;
  tfrt_status_origin_t kept;
  tfrt_mailbox_receiver_t receiver = {
      .request = request,
      .site = carried_call_keep_site(job, message->context, message->site, &kept)};
  tfrt_async_value_t* value =
      tfrt_mailbox_receive(&job->exchange.mailbox, &receiver, tfrt_mailbox_number(message, request),
                           message->host, tfrt_async_value_string(message->key));
  status = router_watch(job, message->host, incarnation);
  tfrt_node_lock_tables(job->node);
  if (status) tfrt_mail_end(job, message->host, status);
  if (tfrt_job_is_closed(job)) tfrt_mail_end(job, TFRT_MAILBOX_ANY_SENDER, job->closing.reason);
  tfrt_node_unlock(job->node);
  tfrt_status_release(status);
  return value;
}

// --- The hooks ---------------------------------------------------------------

static tfrt_turn_table_t* router_turns(tfrt_call_router_t* router) {
  return &TFRT_CONTAINER_OF(router, tfrt_job_t, router)->exchange.turns;
}

static tfrt_resource_context_t* router_resources(tfrt_call_router_t* router) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  return job->node->options.is_encrypted ? NULL : &job->exchange.resources;
}

static tfrt_async_value_t* router_room(tfrt_call_router_t* router) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  tfrt_node_lock_tables(job->node);
  tfrt_async_value_t* room = tfrt_job_budget_room(job);
  tfrt_node_unlock(job->node);
  return room;
}

static const tfrt_call_router_vtable_t tfrt_router_vtable = {.send = router_send,
                                                             .turns = router_turns,
                                                             .resources = router_resources,
                                                             .receive = router_receive,
                                                             .call = router_call,
                                                             .place = router_place,
                                                             .copy = router_copy,
                                                             .prefetch = router_prefetch,
                                                             .room = router_room};

// --- Output ------------------------------------------------------------------

// The printing call is not over before the line is out, and so the job's results come after the
// line.
static tfrt_async_value_t* router_print(tfrt_output_t* output, tfrt_string_view_t text,
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

static const tfrt_output_vtable_t tfrt_router_output_vtable = {.print = router_print};

static void router_on_job_made(const tfrt_owner_end_t* end) {
  tfrt_job_t* job = end->job;
  job->router =
      (tfrt_call_router_t){.vtable = &tfrt_router_vtable, .sends_calls = true, .rank = job->rank};
  job->output.vtable = &tfrt_router_output_vtable;
  tfrt_turn_table_initialize(&job->exchange.turns, job->node->options.allocator);
  tfrt_resource_context_initialize(&job->exchange.resources);
}

static const tfrt_owner_rule_t tfrt_router_rules[] = {
    {TFRT_OWNER_JOB_MADE, TFRT_OWNER_CALLS, router_on_job_made},
};

const tfrt_node_part_t tfrt_router_part = {
    .rules = tfrt_router_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_router_rules),
};
