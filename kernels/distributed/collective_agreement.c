// SPDX-License-Identifier: Apache-2.0
//
// Sends each member's record to all members, in ceil(log2 n) rounds for any number n of members:
//
//   known at p before round r   the records of p, p + 1, ... p + 2^r - 1, mod n
//   round r                     sends the first of them to p - 2^r, receives more from p + 2^r
//
// The record of one member comes to another along one path. So if a member on the path is lost, the
// members behind it get an error instead, and no member takes some of the records for all. Large
// groups use a tree instead (collective_gathering.c), along which the same holds.
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/collective_impl.h"

// The phases in the keys of these messages: of the records at first, and at the end.
#define PHASE 'a'
#define PHASE_TREE 't'
#define PHASE_END 'e'

static uint32_t distance_of(const tfrt_collective_t* collective) {
  return 1u << collective->agreement.round;
}

// How many records go in this round.
static uint32_t passed_count(const tfrt_collective_t* collective) {
  uint32_t distance = distance_of(collective);
  uint32_t rest = collective->group->count - distance;
  return distance < rest ? distance : rest;
}

static uint32_t member_at(const tfrt_collective_t* collective, uint32_t distance) {
  return (collective->position + distance) % collective->group->count;
}

// --- Rounds ----------------------------------------------------------------------

// The value to send (+1): the records of |count| members from |begin| on, mod n, or the error of
// this collective.
static tfrt_async_value_t* outgoing(tfrt_collective_t* collective, uint32_t begin, uint32_t count) {
  tfrt_status_t status = tfrt_collective_failure(collective);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, collective->allocator);
  const tfrt_collective_agreement_t* agreement = &collective->agreement;
  const tfrt_collective_range_t range = {begin, count, collective->group->count};
  if (agreement->tree.size > 0) {
    tfrt_collective_runs_encode(agreement->bytes, &range, &text);
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t member = tfrt_collective_range_member(&range, i);
      tfrt_string_builder_append_view(&text, agreement->bytes[member]);
    }
  }
  tfrt_async_value_t* value = text.failed
                                  ? tfrt_async_value_out_of_memory()
                                  : tfrt_async_value_create_string(tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  return value;
}

// Doesn't check whether the target lives: its loss shows in messages that don't come.
void tfrt_collective_post_records(tfrt_collective_t* collective, uint32_t member, uint32_t number,
                                  uint32_t begin, uint32_t count) {
  tfrt_async_value_t* value = outgoing(collective, begin, count);
  tfrt_collective_post(collective, member, collective->agreement.phase, number, value);
  tfrt_async_value_release(value);
}

// Takes the records of |count| members from |begin| on out of |arrival|.
static tfrt_status_t read_records(tfrt_collective_t* collective, tfrt_async_value_t* arrival,
                                  uint32_t begin, uint32_t count) {
  if (tfrt_async_value_is_error(arrival)) {
    return tfrt_status_retain(tfrt_async_value_error(arrival));
  }
  if (tfrt_async_value_resolved(arrival)->type_id != TFRT_TYPE_STRING) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a host sent something else than what it has for a collective");
  }
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_string_view_t rest = tfrt_async_value_string(arrival);
  const tfrt_collective_range_t range = {begin, count, collective->group->count};
  if (agreement->tree.size > 0) {
    return tfrt_collective_runs_decode(rest, &range, agreement->records, agreement->bytes);
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t member = tfrt_collective_range_member(&range, i);
    const char* bytes = rest.data;
    TFRT_RETURN_IF_ERROR(tfrt_collective_record_decode(&rest, &agreement->records[member]));
    agreement->bytes[member] = tfrt_string_view_make(bytes, (size_t)(rest.data - bytes));
  }
  return NULL;
}

void tfrt_collective_take_records(tfrt_collective_t* collective, tfrt_async_value_t* arrival,
                                  uint32_t begin, uint32_t count) {
  // After a failure, values that still come are only taken out of the mailbox.
  tfrt_status_t status = tfrt_collective_failure(collective);
  if (!status) {
    status = read_records(collective, arrival, begin, count);
    if (status) tfrt_collective_fail_take(collective, tfrt_status_retain(status));
  }
  tfrt_status_release(status);
}

static void send_round(tfrt_collective_t* collective) {
  uint32_t target = member_at(collective, collective->group->count - distance_of(collective));
  tfrt_collective_post_records(collective, target, collective->agreement.round,
                               collective->position, passed_count(collective));
}

// The awaited value has come: one round is over.
static void end_round(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_async_value_t* arrival = agreement->awaited;
  agreement->awaited = NULL;
  tfrt_collective_take_records(collective, arrival, member_at(collective, distance_of(collective)),
                               passed_count(collective));
  agreement->arrivals[agreement->round++] = arrival;
  agreement->arrival_count = agreement->round;
}

// --- The end ---------------------------------------------------------------------

// Few elements: they are all here.
static tfrt_status_t finish_here(tfrt_collective_t* collective,
                                 const tfrt_collective_view_t* view) {
  if (!collective->result) return NULL;
  if (tfrt_collective_result_is_operand(view)) {
    tfrt_collective_tell_result_take(collective, tfrt_async_value_retain(collective->operand));
    return NULL;
  }
  tfrt_dense_host_tensor_t result;
  TFRT_RETURN_IF_ERROR(tfrt_collective_result_initialize(view, collective->allocator, &result));
  tfrt_status_t status = tfrt_collective_result_fill(view, collective->allocator, &result);
  if (status) {
    tfrt_dense_host_tensor_deinitialize(&result);
    return status;
  }
  tfrt_collective_tell_tensor_take(collective, &result);
  return NULL;
}

// The records agree, and the operands are on devices: who carries it out?
static void finish_on_devices(tfrt_collective_t* collective) {
  bool can = false;
  tfrt_status_t status = tfrt_collective_check_devices(collective, &can);
  if (status) {
    tfrt_collective_fail_take(collective, status);
    tfrt_collective_transfer_refuse(collective);
    tfrt_collective_release(collective);
  } else if (can) {
    tfrt_collective_run_devices_take(collective);
  } else {
    tfrt_collective_leave_seat(collective);
    tfrt_collective_stage_take(collective);
  }
}

static void finish_records(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_collective_view_t view = {.records = agreement->records,
                                 .count = collective->group->count,
                                 .position = collective->position};
  tfrt_status_t status = tfrt_collective_failure(collective);
  if (status) {
    tfrt_status_release(status);
    tfrt_collective_transfer_refuse(collective);
    tfrt_collective_release(collective);
    return;
  }
  status = tfrt_collective_records_check(agreement->records, collective->group->ranks,
                                         collective->group->count);
  if (collective->record.is_anywhere) {
    collective->record.is_on_device = agreement->records[collective->record.root].is_on_device;
  }
  if (!status && collective->record.is_on_device) {
    finish_on_devices(collective);
    return;
  }
  if (!status && !tfrt_collective_result_is_here(&view)) {
    tfrt_collective_transfer_take(collective);
    return;
  }
  if (status) {
    // The same records gave every member the same verdict.
    tfrt_collective_fail_all_know_take(collective, status);
    tfrt_collective_release(collective);
    return;
  }
  status = finish_here(collective, &view);
  if (status) {
    tfrt_collective_fail_take(collective, status);
  } else {
    tfrt_collective_tell_chain(collective);
  }
  tfrt_collective_release(collective);
}

// The first error (+0) of a member at the end, or NULL. Any other code goes before ABORTED, which
// only follows from another error.
static tfrt_status_t cause_of(const tfrt_collective_t* collective) {
  tfrt_status_t cause = NULL;
  for (uint32_t i = 0; i < collective->group->count; ++i) {
    tfrt_status_t error = collective->agreement.records[i].error;
    bool follows = cause && tfrt_status_code(cause) == TFRT_STATUS_ABORTED;
    if (error && (!cause || (follows && tfrt_status_code(error) != TFRT_STATUS_ABORTED))) {
      cause = error;
    }
  }
  return cause;
}

// Devices have done it everywhere, or all fail for the same reason.
static void finish_end(tfrt_collective_t* collective) {
  tfrt_status_t status = tfrt_collective_failure(collective);
  tfrt_status_t cause = status ? NULL : cause_of(collective);
  if (cause) tfrt_collective_fail_all_know_take(collective, tfrt_status_retain(cause));
  tfrt_status_release(status);
  tfrt_collective_release(collective);
}

static void run_arrival(tfrt_task_t* task);

// The value that comes in this round (+1).
static tfrt_async_value_t* incoming(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_async_value_t* first = agreement->first;
  agreement->first = NULL;
  if (first) return first;
  return tfrt_collective_receive(collective, member_at(collective, distance_of(collective)),
                                 agreement->phase, agreement->round);
}

// A loop rather than a chain of tasks, because the awaited value has often come already.
static void run_rounds(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  while (distance_of(collective) < collective->group->count) {
    send_round(collective);
    agreement->awaited = incoming(collective);
    if (!tfrt_async_value_is_available(agreement->awaited)) {
      tfrt_task_initialize(&collective->task, run_arrival);
      tfrt_async_value_and_then(agreement->awaited, &collective->task);
      return;
    }
    end_round(collective);
  }
  agreement->finish(collective);
}

static void run_arrival(tfrt_task_t* task) {
  tfrt_collective_t* collective = TFRT_CONTAINER_OF(task, tfrt_collective_t, task);
  end_round(collective);
  run_rounds(collective);
}

// --- Life ------------------------------------------------------------------------

static void agree_take(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_allocator_t allocator = collective->allocator;
  uint32_t count = collective->group->count;
  agreement->bytes = tfrt_allocator_allocate_zeroed(allocator, count * sizeof(*agreement->bytes));
  agreement->records =
      tfrt_allocator_allocate_zeroed(allocator, count * sizeof(*agreement->records));
  tfrt_collective_record_encode(&collective->record, &agreement->own);
  if (agreement->bytes && agreement->records && !agreement->own.failed) {
    agreement->records[collective->position] = collective->record;
    agreement->bytes[collective->position] = tfrt_string_builder_view(&agreement->own);
  } else {
    tfrt_collective_fail_take(collective, tfrt_status_out_of_memory());
  }
  if (agreement->tree.size > 0) {
    tfrt_collective_gather_take(collective);
  } else {
    run_rounds(collective);
  }
}

void tfrt_collective_agree_take(tfrt_collective_t* collective) {
  collective->agreement.phase = collective->agreement.tree.size > 0 ? PHASE_TREE : PHASE;
  collective->agreement.finish = finish_records;
  agree_take(collective);
}

void tfrt_collective_agree_on_end_take(tfrt_collective_t* collective, tfrt_async_value_t* first,
                                       tfrt_status_t trouble) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_collective_agreement_deinitialize(collective);
  *agreement =
      (tfrt_collective_agreement_t){.phase = PHASE_END, .finish = finish_end, .first = first};
  tfrt_string_builder_initialize(&agreement->own, collective->allocator);
  if (trouble) collective->record.error = tfrt_collective_locate_take(collective, trouble);
  agree_take(collective);
}

tfrt_async_value_t* tfrt_collective_receive_end(tfrt_collective_t* collective) {
  return tfrt_collective_receive(collective, member_at(collective, 1), PHASE_END, 0);
}

bool tfrt_collective_is_trouble(tfrt_async_value_t* message) {
  if (tfrt_async_value_resolved(message)->type_id != TFRT_TYPE_STRING) return false;
  tfrt_string_view_t bytes = tfrt_async_value_string(message);
  tfrt_collective_record_t record;
  tfrt_status_t status = tfrt_collective_record_decode(&bytes, &record);
  bool is_trouble = !status && record.error;
  tfrt_status_release(status);
  tfrt_collective_record_deinitialize(&record);
  return is_trouble;
}

void tfrt_collective_agreement_deinitialize(tfrt_collective_t* collective) {
  tfrt_collective_agreement_t* agreement = &collective->agreement;
  tfrt_allocator_t allocator = collective->allocator;
  uint32_t count = collective->group ? collective->group->count : 0;
  for (uint32_t i = 0; i < count && agreement->records; ++i) {
    // Our own error is the collective's.
    if (i != collective->position) tfrt_collective_record_deinitialize(&agreement->records[i]);
  }
  for (uint32_t i = 0; i < agreement->arrival_count; ++i) {
    tfrt_async_value_release(agreement->arrivals[i]);
  }
  tfrt_async_value_release(agreement->first);
  tfrt_allocator_free(allocator, agreement->bytes, count * sizeof(*agreement->bytes));
  tfrt_allocator_free(allocator, agreement->records, count * sizeof(*agreement->records));
  tfrt_string_builder_deinitialize(&agreement->own);
}
