// SPDX-License-Identifier: Apache-2.0
#include "distributed/recovery/retried_call.h"

#include <stdio.h>

#include "distributed/call/call_hooks.h"
#include "distributed/call/local_call.h"
#include "host_runtime/executor/request/call_scope.h"

struct tfrt_retried_call_s {
  tfrt_ref_count_t ref_count;  // one while it is open, one for a run that was put off
  tfrt_node_t* node;           // +1
  tfrt_job_t* job;             // +1
  tfrt_list_link_t link;       // in the job's list, while it is open
  tfrt_outgoing_call_request_t request;
  const tfrt_function_t* function;   // lives as long as the program
  tfrt_execution_context_t context;  // its request +1
  tfrt_call_site_t site;
  tfrt_async_value_t** arguments;      // +1 each
  tfrt_remote_value_t** results;       // +0; NULL: forgotten
  tfrt_async_value_t** given_results;  // +1 each, during a run
  // +1 each, or NULL: the newest run's values for results that were not lost then.
  tfrt_async_value_t** spare_results;
  uint32_t open_count;  // results that are not forgotten; and the start, in progress
  uint32_t host;        // rank of the newest run's
  uint32_t runs;
  uint32_t retries;          // how often it may run again
  uint32_t mended;           // losses that a callee told, and for which it did
  uint64_t told_lost;        // the last of those hosts; 0: none
  tfrt_status_t first_loss;  // +1; or NULL
  tfrt_status_t last_loss;   // +1; or NULL
  bool is_running_again;     // a run is put off, or being started
  bool is_named;             // that run has named its results
};

// --- Life ----------------------------------------------------------------------

static void retried_call_free_arrays(tfrt_retried_call_t* call) {
  tfrt_allocator_t allocator = call->node->options.allocator;
  size_t argument_count = call->request.argument_count + 1;
  size_t result_count = call->request.result_count + 1;
  tfrt_allocator_free(allocator, call->arguments, argument_count * sizeof(*call->arguments));
  tfrt_allocator_free(allocator, call->results, result_count * sizeof(*call->results));
  tfrt_allocator_free(allocator, call->given_results, result_count * sizeof(*call->given_results));
  tfrt_allocator_free(allocator, call->spare_results, result_count * sizeof(*call->spare_results));
}

static tfrt_retried_call_t* retried_call_allocate(tfrt_job_t* job,
                                                  const tfrt_outgoing_call_request_t* request) {
  tfrt_allocator_t allocator = job->node->options.allocator;
  tfrt_retried_call_t* call = tfrt_allocator_allocate_zeroed(allocator, sizeof(*call));
  if (!call) return NULL;
  tfrt_ref_count_initialize(&call->ref_count);
  tfrt_list_initialize(&call->link);
  call->node = job->node;
  call->job = job;
  call->request = *request;
  size_t argument_count = request->argument_count + 1;
  size_t result_count = request->result_count + 1;
  call->arguments =
      tfrt_allocator_allocate_zeroed(allocator, argument_count * sizeof(*call->arguments));
  call->results = tfrt_allocator_allocate_zeroed(allocator, result_count * sizeof(*call->results));
  call->given_results =
      tfrt_allocator_allocate_zeroed(allocator, result_count * sizeof(*call->given_results));
  call->spare_results =
      tfrt_allocator_allocate_zeroed(allocator, result_count * sizeof(*call->spare_results));
  bool is_whole = call->arguments && call->results && call->given_results && call->spare_results;
  if (is_whole) return call;
  retried_call_free_arrays(call);
  tfrt_allocator_free(allocator, call, sizeof(*call));
  return NULL;
}

// Runs with the lock open.
static void retried_call_free(void* argument) {
  tfrt_retried_call_t* call = argument;
  tfrt_node_t* node = call->node;
  for (uint32_t i = 0; i < call->request.argument_count; ++i) {
    tfrt_async_value_release(call->arguments[i]);
  }
  tfrt_request_context_release(call->context.request);
  tfrt_status_release(call->first_loss);
  tfrt_status_release(call->last_loss);
  retried_call_free_arrays(call);
  tfrt_node_lock_tables(node);
  tfrt_cached_program_release(call->request.program);
  tfrt_job_release(call->job);
  tfrt_node_unlock(node);
  tfrt_allocator_free(node->options.allocator, call, sizeof(*call));
  tfrt_node_release(node);
}

static void retried_call_release(tfrt_retried_call_t* call) {
  if (!tfrt_ref_count_decrement(&call->ref_count)) return;
  tfrt_action_queue_call(&call->node->actions, retried_call_free, call);
}

static void retried_call_set_spare(tfrt_retried_call_t* call, uint32_t index,
                                   tfrt_async_value_t* spare) {
  tfrt_action_queue_release(&call->node->actions, call->spare_results[index]);
  call->spare_results[index] = spare ? tfrt_async_value_retain(spare) : NULL;
}

// No result of |call| can be lost any more, or the call must not run again.
static void retried_call_close(tfrt_retried_call_t* call) {
  if (!tfrt_list_is_linked(&call->link)) return;
  tfrt_list_remove(&call->link);
  for (uint32_t i = 0; i < call->request.result_count; ++i) {
    if (call->results[i]) call->results[i]->rerun.call = NULL;
    call->results[i] = NULL;
    retried_call_set_spare(call, i, NULL);
  }
  retried_call_release(call);
}

// |value| is result |index| of a run of |call|.
static void retried_call_adopt(tfrt_retried_call_t* call, uint32_t index,
                               tfrt_remote_value_t* value) {
  // A result that another run makes once more is ignored: the first run told it.
  call->is_named = true;
  if (call->is_running_again) return;
  call->results[index] = value;
  ++call->open_count;
  value->rerun.call = call;
  value->rerun.index = index;
}

static void retried_call_leave(tfrt_retried_call_t* call) {
  if (--call->open_count == 0) retried_call_close(call);
}

// |value|, which has a call that may run again, doesn't need that any more.
static void retried_call_forget(tfrt_remote_value_t* value) {
  tfrt_retried_call_t* call = value->rerun.call;
  value->rerun.call = NULL;
  call->results[value->rerun.index] = NULL;
  retried_call_set_spare(call, value->rerun.index, NULL);
  retried_call_leave(call);
}

// The frame of |scope| is over: nothing that it called runs again.
static void retried_call_close_scope(tfrt_job_t* job, const tfrt_call_scope_t* scope) {
  for (tfrt_list_link_t* link = job->recovery.calls.next; link != &job->recovery.calls;) {
    tfrt_retried_call_t* call = TFRT_CONTAINER_OF(link, tfrt_retried_call_t, link);
    link = link->next;
    if (call->context.scope == scope) retried_call_close(call);
  }
}

// Result |index| (+1) of |call|, for whose run it gets another name, if it is lost; else NULL.
static tfrt_remote_value_t* retried_call_take_lost(tfrt_retried_call_t* call, uint32_t index) {
  tfrt_remote_value_t* value = call->results[index];
  bool is_lost = value && tfrt_remote_value_is_lost(value) && !value->peer;
  return is_lost && tfrt_async_value_try_retain(&value->base.base) ? value : NULL;
}

// Makes errors, |status| (+0), of the results that wait for another run.
static void retried_call_fail_lost(tfrt_retried_call_t* call, tfrt_status_t status) {
  for (uint32_t i = 0; i < call->request.result_count; ++i) {
    tfrt_remote_value_t* value = retried_call_take_lost(call, i);
    if (!value) continue;
    tfrt_remote_value_fail(value, status);
    tfrt_remote_value_release(value);
  }
}

static void retried_call_close_job(tfrt_job_t* job, tfrt_status_t reason) {
  while (!tfrt_list_is_empty(&job->recovery.calls)) {
    tfrt_retried_call_t* call =
        TFRT_CONTAINER_OF(job->recovery.calls.next, tfrt_retried_call_t, link);
    tfrt_ref_count_increment(&call->ref_count);
    retried_call_fail_lost(call, reason);
    retried_call_close(call);
    retried_call_release(call);
  }
}

// --- The next run --------------------------------------------------------------

// The host of the next run. This host may not have noticed yet a loss that a callee has reported.
static uint32_t retried_call_next_host(const tfrt_retried_call_t* call) {
  uint32_t next = tfrt_job_find_living(call->job, call->host + 1);
  bool is_lost = tfrt_job_find_rank(call->job, next)->incarnation == call->told_lost;
  return is_lost ? tfrt_job_find_living(call->job, next + 1) : next;
}

// Makes the call a plain one of this host.
static void retried_call_run_here(tfrt_retried_call_t* call) {
  tfrt_execution_context_t context = call->context;
  const tfrt_call_options_t options = {
      .has_host = true, .host = call->job->rank, .device = call->request.device};
  tfrt_call_options_place(&options, &context);
  tfrt_routed_call_t routed = {.options = &options,
                               .function = call->function,
                               .context = &context,
                               .caller = call->site.kernel,
                               .site = &call->site.origin,
                               .arguments = call->arguments,
                               .results = call->given_results};
  if (tfrt_outgoing_call_request_has_own_deadline(&call->request)) {
    tfrt_local_call_execute(call->job, &routed, call->request.deadline_ns);
  } else {
    tfrt_function_execute(call->function, &context, call->arguments, call->given_results);
  }
  tfrt_node_lock_tables(call->node);
  call->is_named = true;
  for (uint32_t i = 0; i < call->request.result_count; ++i) {
    tfrt_remote_value_t* value = retried_call_take_lost(call, i);
    if (!value) continue;
    tfrt_remote_value_forward(value, call->given_results[i]);
    tfrt_remote_value_release(value);
  }
  tfrt_node_unlock(call->node);
}

// Starts a run on another host with |prepared| (consumed; NULL: memory is out). A run that can't be
// started makes the waiting values errors. With the lock held.
static void retried_call_run_there(tfrt_retried_call_t* call, tfrt_outgoing_call_t* prepared) {
  call->is_named = false;
  if (prepared) tfrt_outgoing_call_start_prepared(prepared, &call->request, NULL);
  if (call->is_named) return;
  retried_call_fail_lost(call, tfrt_async_value_error(call->given_results[0]));
}

static void retried_call_run_soon(tfrt_retried_call_t* call);

// If an earlier run also made result |index| of |call|, which is lost now, has the result stand for
// that value.
static bool retried_call_use_spare(tfrt_retried_call_t* call, uint32_t index) {
  tfrt_async_value_t* spare = call->spare_results[index];
  if (!spare) return false;
  call->spare_results[index] = NULL;
  tfrt_remote_value_stand_for(call->results[index], spare);
  tfrt_action_queue_release(&call->node->actions, spare);
  return true;
}

// Keeps the values that a run has made for results that were not lost when it began. Some may be
// lost by now.
static void retried_call_keep_spares(tfrt_retried_call_t* call) {
  bool has_run = tfrt_list_is_linked(&call->link) && call->is_named;
  for (uint32_t i = 0; i < call->request.result_count && has_run; ++i) {
    const tfrt_remote_value_t* value = call->results[i];
    if (!value || call->given_results[i] == &value->base.base) continue;
    retried_call_set_spare(call, i, call->given_results[i]);
    if (tfrt_remote_value_is_lost(value) && !value->peer) {
      (void)retried_call_use_spare(call, i);
    }
  }
}

// Runs with the lock open.
static void retried_call_run(void* argument) {
  tfrt_retried_call_t* call = argument;
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_call_scope_t* scope = call->context.scope;
  tfrt_outgoing_call_t* prepared = tfrt_outgoing_call_prepare(node, &call->request);
  tfrt_node_lock_tables(node);
  call->host = retried_call_next_host(call);
  call->request.callee = tfrt_job_find_rank(call->job, call->host)->incarnation;
  bool is_open = tfrt_list_is_linked(&call->link);
  bool is_here = is_open && call->host == call->job->rank;
  if (is_open && !is_here) {
    retried_call_run_there(call, prepared);
  } else if (prepared) {
    tfrt_outgoing_call_discard(prepared, call->job);
  }
  tfrt_node_unlock(node);
  if (is_here) retried_call_run_here(call);
  tfrt_node_lock_tables(node);
  retried_call_keep_spares(call);
  for (uint32_t i = 0; i < call->request.result_count; ++i) {
    tfrt_action_queue_release(&node->actions, call->given_results[i]);
    call->given_results[i] = NULL;
  }
  call->is_running_again = false;
  retried_call_run_soon(call);
  retried_call_release(call);
  tfrt_node_unlock(node);
  tfrt_call_scope_leave(scope);
  tfrt_node_release(node);
}

// The error (+1) that says how often the call was tried, the last loss, and the first.
static tfrt_status_t retried_call_exhausted(const tfrt_retried_call_t* call) {
  tfrt_status_fields_t fields = *tfrt_status_fields(call->last_loss);
  const char* first = tfrt_status_message(call->first_loss);
  char message[TFRT_STATUS_MAX_TEXT_SIZE];
  if (call->runs > 1) {
    snprintf(message, sizeof(message), "%s; that was run %u, the first ended so: %s",
             fields.message, call->runs, first);
    fields.message = message;
    if (fields.cause_count < TFRT_STATUS_MAX_CAUSES) fields.causes[fields.cause_count++] = first;
  }
  return tfrt_status_create_from_fields(&fields);
}

static bool retried_call_has_lost(const tfrt_retried_call_t* call) {
  for (uint32_t i = 0; i < call->request.result_count; ++i) {
    if (call->results[i] && tfrt_remote_value_is_lost(call->results[i]) &&
        !call->results[i]->peer) {
      return true;
    }
  }
  return false;
}

// Has |call| run again when the lock is open, if it has lost something, and may.
static void retried_call_run_soon(tfrt_retried_call_t* call) {
  if (call->is_running_again || !retried_call_has_lost(call)) return;
  bool may = call->runs <= call->retries && tfrt_call_scope_try_enter(call->context.scope);
  if (!may) {
    tfrt_status_t status = retried_call_exhausted(call);
    retried_call_fail_lost(call, status);
    tfrt_status_release(status);
    return;
  }
  ++call->runs;
  call->is_running_again = true;
  tfrt_ref_count_increment(&call->ref_count);
  tfrt_action_queue_call(&call->node->actions, retried_call_run, call);
}

// True if |status| (+0), which came for |value|, a result of such a call, is the loss of another
// host than the result's, and the call may run again for that, or has.
static bool retried_call_may_mend(const tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_retried_call_t* call = value->rerun.call;
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  bool is_loss = fields->code == TFRT_STATUS_UNAVAILABLE &&
                 tfrt_job_find_incarnation(call->job, fields->root_key);
  if (!is_loss || !call->request.pure) return false;
  // A run is under way, or over, that makes this one, too.
  if (call->is_running_again || call->spare_results[value->rerun.index]) return true;
  if (call->runs > call->retries) return false;
  call->told_lost = fields->root_key;
  // An argument, or a value that the function asks for, may be lost for good. There are no more
  // hosts to lose than members, and after as many runs the last is on the own host.
  return call->mended++ < call->job->view.member_count;
}

// |value| is lost because of |status| (+0). False if its call must not run again.
static bool retried_call_lose(tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_retried_call_t* call = value->rerun.call;
  bool may_run = call->request.pure || !tfrt_status_fields(status)->may_have_run;
  if (tfrt_job_is_closed(call->job) || !may_run) return false;
  if (!call->first_loss) call->first_loss = tfrt_status_retain(status);
  tfrt_status_release(call->last_loss);
  call->last_loss = tfrt_status_retain(status);
  tfrt_ref_count_increment(&call->ref_count);
  if (!retried_call_use_spare(call, value->rerun.index)) retried_call_run_soon(call);
  retried_call_release(call);
  return true;
}

// --- Start ---------------------------------------------------------------------

// Starts |call|, whose options say how often it may run again. |request| describes it, and is
// complete but for the members that this sets; |prepared| (consumed) is its first run.
static void retried_call_start(const tfrt_routed_call_t* routed,
                               const tfrt_outgoing_call_request_t* request,
                               tfrt_outgoing_call_t* prepared) {
  tfrt_job_t* job = request->job;
  tfrt_retried_call_t* call = retried_call_allocate(job, request);
  if (!call) {
    tfrt_outgoing_call_start_prepared(prepared, request, NULL);
    return;
  }
  tfrt_node_retain(call->node);
  tfrt_job_retain(job);
  tfrt_cached_program_retain(request->program);
  call->function = routed->function;
  call->context = *routed->context;
  tfrt_request_context_retain(call->context.request);
  tfrt_call_site_set(&call->site, routed->caller, routed->site);
  for (uint32_t i = 0; i < request->argument_count; ++i) {
    call->arguments[i] = tfrt_async_value_retain(request->arguments[i]);
  }
  call->retries = routed->options->retries;
  call->runs = 1;
  call->open_count = 1;
  call->host = tfrt_job_rank_of(job, request->callee);
  call->request.retried = call;
  call->request.arguments = call->arguments;
  call->request.site = &call->site.origin;
  tfrt_list_push_back(&job->recovery.calls, &call->link);
  tfrt_outgoing_call_request_t first = call->request;
  call->request.results = call->given_results;
  tfrt_ref_count_increment(&call->ref_count);
  tfrt_outgoing_call_start_prepared(prepared, &first, NULL);
  if (tfrt_list_is_linked(&call->link)) retried_call_leave(call);
  retried_call_release(call);
}

// --- Owners --------------------------------------------------------------------

static void retried_call_on_job_finished(const tfrt_owner_end_t* end) {
  retried_call_close_job(end->job, end->reason);
}

static void retried_call_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_value_hooks_t* of_values = end->node->value_hooks;
  of_values->may_mend = retried_call_may_mend;
  of_values->run_again = retried_call_lose;
  of_values->forget_call = retried_call_forget;
  tfrt_call_hooks_t* of_calls = end->node->call_hooks;
  of_calls->start_retried = retried_call_start;
  of_calls->adopt_result = retried_call_adopt;
  of_calls->take_lost_result = retried_call_take_lost;
  of_calls->close_scope = retried_call_close_scope;
}

static const tfrt_owner_rule_t tfrt_retried_call_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_RECOVERY, retried_call_on_node_made},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_RECOVERY, retried_call_on_job_finished},
};

const tfrt_node_part_t tfrt_retried_call_part = {
    .rules = tfrt_retried_call_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_retried_call_rules),
};
