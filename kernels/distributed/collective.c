// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective.h"

#include <string.h>

#include "host_runtime/executor/hosts/turn_table.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"
#include "kernels/distributed/collective_keys.h"

// --- Life ------------------------------------------------------------------------

tfrt_collective_t* tfrt_collective_retain(tfrt_collective_t* collective) {
  tfrt_ref_count_increment(&collective->ref_count);
  return collective;
}

static void give_back(tfrt_collective_t* collective) {
  tfrt_collective_agreement_deinitialize(collective);
  tfrt_collective_transfer_deinitialize(collective);
  tfrt_collective_free_seat(collective);
  tfrt_collective_record_deinitialize(&collective->record);
  tfrt_string_builder_deinitialize(&collective->series);
  tfrt_async_value_release(collective->group_value);
  tfrt_async_value_release(collective->operand);
  tfrt_async_value_release(collective->staged);
  tfrt_async_value_release(collective->before);
  if (collective->result) tfrt_async_value_release(&collective->result->base);
  if (collective->chain) tfrt_async_value_release(&collective->chain->base);
  tfrt_status_release(collective->status);
  tfrt_mutex_deinitialize(&collective->mutex);
}

void tfrt_collective_release(tfrt_collective_t* collective) {
  if (!tfrt_ref_count_decrement(&collective->ref_count)) return;
  tfrt_request_context_t* request = collective->context.request;
  tfrt_call_scope_t* scope = collective->context.scope;
  const tfrt_kernel_site_t* site = collective->site;
  give_back(collective);
  tfrt_allocator_free(collective->allocator, collective, sizeof(*collective));
  tfrt_request_context_release(request);
  tfrt_kernel_site_release(site);
  tfrt_call_scope_leave(scope);
}

// --- Messages --------------------------------------------------------------------

static tfrt_async_value_t* key_of(tfrt_collective_t* collective, char phase, uint32_t number) {
  tfrt_string_builder_t key;
  tfrt_string_builder_initialize(&key, collective->allocator);
  tfrt_collective_keys_append_prefix(collective->context.request->options.id,
                                     tfrt_string_builder_view(&collective->series), &key);
  tfrt_string_builder_append_format(&key, "%llu:%c%u", (unsigned long long)collective->turn, phase,
                                    number);
  return tfrt_collective_keys_take(&key);
}

// Sends |value|, or receives if that is NULL, under |key| (consumed).
static tfrt_async_value_t* pass(tfrt_collective_t* collective, uint32_t member,
                                tfrt_async_value_t* key, tfrt_async_value_t* value,
                                bool is_unawaited) {
  if (tfrt_async_value_is_error(key)) return key;
  tfrt_status_origin_t site;
  tfrt_kernel_site_origin(collective->site, &site);
  tfrt_routed_message_t message = {.host = collective->group->ranks[member],
                                   .context = &collective->context,
                                   .site = &site,
                                   .key = key,
                                   .value = value,
                                   .is_owed = true,
                                   .is_unawaited = is_unawaited};
  tfrt_call_router_t* router = collective->router;
  tfrt_async_value_t* passed =
      value ? router->vtable->send(router, &message) : router->vtable->receive(router, &message);
  tfrt_async_value_release(key);
  return passed;
}

// Closes the keys of the group on all members, or if they |all_know| only here: later turns that
// have begun wait for members where none begins any more.
static void close_group(tfrt_collective_t* collective, tfrt_status_t status, bool all_know) {
  uint32_t count = collective->group->count;
  if (count == 1) return;
  tfrt_status_origin_t site;
  tfrt_kernel_site_origin(collective->site, &site);
  tfrt_async_value_t* error = tfrt_async_value_create_error(status);
  for (uint32_t i = 0; i < count; ++i) {
    if (all_know && i != collective->position) continue;
    tfrt_collective_keys_close(&collective->context, &site,
                               tfrt_string_builder_view(&collective->series),
                               collective->group->ranks[i], error);
  }
  tfrt_async_value_release(error);
}

// --- Errors ----------------------------------------------------------------------

tfrt_status_t tfrt_collective_locate_take(const tfrt_collective_t* collective,
                                          tfrt_status_t status) {
  tfrt_status_origin_t site;
  tfrt_kernel_site_origin(collective->site, &site);
  tfrt_status_t located = tfrt_status_with_origin(status, &site);
  tfrt_status_release(status);
  tfrt_status_fields_t fields = *tfrt_status_fields(located);
  if (fields.origin.rank != TFRT_STATUS_NO_RANK) return located;
  fields.origin.rank = collective->rank;
  tfrt_status_t ranked = tfrt_status_create_from_fields(&fields);
  tfrt_status_release(located);
  return ranked;
}

// The turn is over before anybody can know that it is.
static void end_turn(tfrt_collective_t* collective) {
  tfrt_mutex_lock(&collective->mutex);
  bool had_turn = collective->has_turn;
  collective->has_turn = false;
  tfrt_mutex_unlock(&collective->mutex);
  if (!had_turn) return;
  tfrt_turn_table_end(collective->router->vtable->turns(collective->router),
                      collective->context.request->options.id,
                      tfrt_string_builder_view(&collective->series));
}

// Later collectives of the group would wait for members that have given up: none begins here.
static void break_series(tfrt_collective_t* collective, tfrt_status_t status) {
  if (collective->group->count == 1) return;
  tfrt_turn_table_break(collective->router->vtable->turns(collective->router),
                        collective->context.request->options.id,
                        tfrt_string_builder_view(&collective->series), status);
}

static void fail(tfrt_collective_t* collective, tfrt_status_t status, bool all_know) {
  tfrt_status_t located = tfrt_collective_locate_take(collective, status);
  tfrt_mutex_lock(&collective->mutex);
  bool is_first = !collective->status;
  if (is_first) collective->status = tfrt_status_retain(located);
  bool tells_result = is_first && !collective->told_result;
  bool tells_chain = is_first && !collective->told_chain;
  if (is_first) collective->told_result = collective->told_chain = true;
  tfrt_mutex_unlock(&collective->mutex);
  if (is_first) break_series(collective, located);
  end_turn(collective);
  if (is_first) close_group(collective, located, all_know);
  if (tells_result && collective->result) {
    tfrt_async_value_set_error(&collective->result->base, located);
  }
  if (tells_chain) tfrt_async_value_set_error(&collective->chain->base, located);
  tfrt_status_release(located);
}

void tfrt_collective_fail_take(tfrt_collective_t* collective, tfrt_status_t status) {
  fail(collective, status, false);
}

void tfrt_collective_fail_all_know_take(tfrt_collective_t* collective, tfrt_status_t status) {
  fail(collective, status, true);
}

tfrt_status_t tfrt_collective_failure(tfrt_collective_t* collective) {
  tfrt_mutex_lock(&collective->mutex);
  tfrt_status_t status = tfrt_status_retain(collective->status);
  tfrt_mutex_unlock(&collective->mutex);
  return status;
}

// --- Results ---------------------------------------------------------------------

void tfrt_collective_tell_result_take(tfrt_collective_t* collective, tfrt_async_value_t* value) {
  tfrt_mutex_lock(&collective->mutex);
  bool is_told = collective->told_result;
  collective->told_result = true;
  tfrt_mutex_unlock(&collective->mutex);
  if (is_told) {
    tfrt_async_value_release(value);
    return;
  }
  end_turn(collective);
  tfrt_indirect_value_forward_take(collective->result, value);
}

void tfrt_collective_tell_chain(tfrt_collective_t* collective) {
  tfrt_mutex_lock(&collective->mutex);
  bool is_told = collective->told_chain;
  collective->told_chain = true;
  tfrt_mutex_unlock(&collective->mutex);
  if (is_told) return;
  end_turn(collective);
  tfrt_indirect_value_forward_take(collective->chain, tfrt_async_value_ready_chain());
}

void tfrt_collective_tell_tensor_take(tfrt_collective_t* collective,
                                      tfrt_dense_host_tensor_t* tensor) {
  if (collective->record.is_on_device) {
    tfrt_collective_land_take(collective, tensor);
  } else {
    tfrt_collective_tell_result_take(collective, tfrt_async_value_create_tensor_take(tensor));
  }
}

const tfrt_dense_host_tensor_t* tfrt_collective_operand(const tfrt_collective_t* collective) {
  tfrt_async_value_t* operand = collective->staged ? collective->staged : collective->operand;
  tfrt_async_value_t* value = tfrt_async_value_resolved(operand);
  return &((const tfrt_host_tensor_t*)tfrt_async_value_payload(value))->dense;
}

tfrt_async_value_t* tfrt_collective_send(tfrt_collective_t* collective, uint32_t member, char phase,
                                         uint32_t number, tfrt_async_value_t* value) {
  return pass(collective, member, key_of(collective, phase, number), value, false);
}

void tfrt_collective_post(tfrt_collective_t* collective, uint32_t member, char phase,
                          uint32_t number, tfrt_async_value_t* value) {
  tfrt_async_value_release(
      pass(collective, member, key_of(collective, phase, number), value, true));
}

tfrt_async_value_t* tfrt_collective_receive(tfrt_collective_t* collective, uint32_t member,
                                            char phase, uint32_t number) {
  return pass(collective, member, key_of(collective, phase, number), NULL, false);
}

// --- The beginning ---------------------------------------------------------------

static tfrt_status_t overlap(const tfrt_collective_t* collective) {
  return tfrt_status_create(
      TFRT_STATUS_FAILED_PRECONDITION,
      "this %s began while another collective of the same group was under way; order them by "
      "their chains, or give the groups different names",
      tfrt_collective_kind_name(collective->record.kind));
}

// A group of one has nobody to ask.
static void run_alone(tfrt_collective_t* collective) {
  tfrt_status_t status = tfrt_status_retain(collective->record.error);
  if (status) {
    tfrt_collective_fail_take(collective, status);
  } else {
    if (collective->result) {
      tfrt_collective_tell_result_take(collective, tfrt_async_value_retain(collective->operand));
    }
    tfrt_collective_tell_chain(collective);
  }
  tfrt_collective_release(collective);
}

// Completes this member's record with its operand and seat.
static void run_seated(tfrt_task_t* task) {
  tfrt_collective_t* collective = TFRT_CONTAINER_OF(task, tfrt_collective_t, task);
  tfrt_status_t status = NULL;
  if (collective->record.error) {
    // Known already.
  } else if (tfrt_async_value_is_error(collective->before)) {
    status = tfrt_status_retain(tfrt_async_value_error(collective->before));
  } else if (collective->overlaps) {
    status = overlap(collective);
  } else if (collective->operand && !tfrt_collective_ignores_operand(collective)) {
    status = tfrt_collective_describe_operand(collective);
  }
  tfrt_collective_describe_seat(collective);
  if (status) {
    collective->record.error = tfrt_collective_locate_take(collective, status);
  } else if (collective->record.dtype != TFRT_DTYPE_INVALID) {
    tfrt_collective_add_elements(collective);
  }
  if (collective->group->count == 1) {
    run_alone(collective);
  } else {
    tfrt_collective_agree_take(collective);
  }
}

// Takes the turn, and a seat if the operand is on a device.
static void run_ready(tfrt_task_t* task) {
  tfrt_collective_t* collective = TFRT_CONTAINER_OF(task, tfrt_collective_t, task);
  tfrt_turn_t turn = {0};
  tfrt_status_t status = NULL;
  if (collective->group->count > 1) {
    status = tfrt_turn_table_begin(collective->router->vtable->turns(collective->router),
                                   collective->context.request->options.id,
                                   tfrt_string_builder_view(&collective->series), &turn);
    collective->has_turn = !status;
    collective->turn = turn.number;
    collective->overlaps = turn.overlaps;
  }
  if (status) {
    bool is_broken = tfrt_status_code(status) != TFRT_STATUS_RESOURCE_EXHAUSTED;
    fail(collective, status, is_broken);
    tfrt_collective_release(collective);
    return;
  }
  tfrt_collective_describe_place(collective, tfrt_collective_ignores_operand(collective));
  if (!tfrt_collective_sit(collective, run_seated)) run_seated(task);
}

// The chain is here. Waits for an ignored operand, too, because it may depend on the collective
// before this one.
static void run_ordered(tfrt_task_t* task) {
  tfrt_collective_t* collective = TFRT_CONTAINER_OF(task, tfrt_collective_t, task);
  if (!collective->operand) {
    run_ready(task);
    return;
  }
  tfrt_task_initialize(&collective->task, run_ready);
  if (tfrt_collective_ignores_operand(collective)) {
    tfrt_async_value_await(collective->operand, &collective->task);
  } else {
    tfrt_async_value_and_then(collective->operand, &collective->task);
  }
}

static tfrt_status_t no_member(const tfrt_collective_t* collective) {
  const char* series = tfrt_string_builder_text(&collective->series);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "host %u is no member of the group of hosts %.*s", collective->rank,
                            (int)strcspn(series, ":"), series);
}

// Fills in the group, or says why this host can't take part.
static tfrt_status_t join_group(tfrt_collective_t* collective, int32_t root) {
  const tfrt_host_group_t* group = tfrt_async_value_payload(collective->group_value);
  collective->group = group;
  tfrt_call_router_t* router = collective->router;
  tfrt_call_place_t place = {.rank = 0, .host_count = 1};
  if (router) place = router->vtable->place(router);
  collective->rank = place.rank;
  TFRT_RETURN_IF_ERROR(tfrt_host_group_check(group->ranks, group->count,
                                             tfrt_host_group_name(group), place.host_count,
                                             collective->allocator));
  tfrt_collective_keys_append_series(group, &collective->series);
  if (collective->series.failed) return tfrt_status_out_of_memory();
  collective->position = tfrt_host_group_position(group, place.rank);
  if (collective->position == TFRT_HOST_GROUP_NOBODY) return no_member(collective);
  if (place.knows_trees && group->count > TFRT_COLLECTIVE_MAX_ROUND_MEMBERS) {
    collective->agreement.tree = tfrt_collective_tree_find(group->count, collective->position);
  }
  if (!tfrt_collective_kind_has_root(collective->record.kind)) return NULL;
  collective->record.root =
      root < 0 ? TFRT_HOST_GROUP_NOBODY : tfrt_host_group_position(group, (uint32_t)root);
  if (collective->record.root != TFRT_HOST_GROUP_NOBODY) return NULL;
  // The others may have another root and wait, so the record carries the error to them.
  collective->record.root = 0;
  collective->record.error = tfrt_collective_locate_take(
      collective, tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                     "the root, host %d, is no member of the group", root));
  return NULL;
}

static tfrt_collective_t* allocate(tfrt_kernel_frame_t* frame) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  tfrt_collective_t* collective = tfrt_allocator_allocate_zeroed(allocator, sizeof(*collective));
  if (!collective) return NULL;
  tfrt_ref_count_initialize(&collective->ref_count);
  collective->allocator = allocator;
  collective->context = *frame->context;
  tfrt_request_context_retain(collective->context.request);
  tfrt_call_scope_enter(collective->context.scope);
  collective->site = tfrt_kernel_site_retain(frame->site);
  collective->router = frame->context->request->options.router;
  collective->group_value = tfrt_async_value_retain(frame->arguments[0]);
  collective->before = tfrt_async_value_retain(frame->arguments[frame->argument_count - 1]);
  tfrt_string_builder_initialize(&collective->series, allocator);
  tfrt_string_builder_initialize(&collective->agreement.own, allocator);
  tfrt_mutex_initialize(&collective->mutex);
  collective->chain = tfrt_indirect_value_create();
  bool is_whole = collective->chain;
  if (frame->argument_count == 3) {
    collective->operand = tfrt_async_value_retain(frame->arguments[1]);
    collective->result = tfrt_indirect_value_create();
    is_whole = is_whole && collective->result;
  }
  if (is_whole) return collective;
  tfrt_collective_release(collective);
  return NULL;
}

void tfrt_collective_start(tfrt_kernel_frame_t* frame, tfrt_collective_kind_t kind,
                           tfrt_reduction_t reduction, int32_t root) {
  tfrt_collective_t* collective = allocate(frame);
  if (!collective) {
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  collective->record.kind = kind;
  collective->record.reduction = reduction;
  collective->record.knows_large_chunks = true;
  collective->record.knows_pairs = true;
  tfrt_status_t status = join_group(collective, root);
  if (status) {
    tfrt_collective_release(collective);
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  if (collective->result) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&collective->result->base));
  }
  tfrt_kernel_frame_set(frame, collective->result ? 1 : 0,
                        tfrt_async_value_retain(&collective->chain->base));
  tfrt_task_initialize(&collective->task, run_ordered);
  tfrt_async_value_and_then(collective->before, &collective->task);
}
