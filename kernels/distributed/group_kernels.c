// SPDX-License-Identifier: Apache-2.0
//
// Kernels that make groups of hosts and withdraw from them.

#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/distributed/group_withdrawal.h"
#include "kernels/distributed/host_group.h"
#include "kernels/distributed/kernel_groups.h"

// The group (+1) of |ranks|, of |host_count| hosts, or why there is none.
static tfrt_async_value_t* make_group(const uint32_t* ranks, uint32_t count,
                                      tfrt_string_view_t name, uint32_t host_count,
                                      tfrt_allocator_t allocator) {
  tfrt_status_t status = tfrt_host_group_check(ranks, count, name, host_count, allocator);
  return status ? tfrt_async_value_create_error_take(status)
                : tfrt_async_value_create_group(ranks, count, name, allocator);
}

// A rank that no host can have becomes one that none has.
static uint32_t rank_of(const void* ranks, uint32_t index) {
  int64_t rank;
  memcpy(&rank, (const char*)ranks + index * sizeof(rank), sizeof(rank));
  return rank < INT32_MIN || rank > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)rank;
}

// The group (+1) that a tfrt_dist.group with |attributes| makes in |context|.
static tfrt_async_value_t* create_group(const tfrt_execution_context_t* context,
                                        const void* const* attributes) {
  tfrt_allocator_t allocator = context->host->allocator;
  tfrt_bef_array_t given = tfrt_bef_attribute_array(attributes[1]);
  uint32_t* ranks = tfrt_allocator_allocate_array(allocator, given.count, sizeof(*ranks));
  if (!ranks && given.count > 0) return tfrt_async_value_out_of_memory();
  for (uint32_t i = 0; i < given.count; ++i) ranks[i] = rank_of(given.data, i);
  tfrt_async_value_t* group =
      make_group(ranks, given.count, tfrt_bef_attribute_string(attributes[0]),
                 tfrt_distributed_place(context).host_count, allocator);
  tfrt_allocator_free(allocator, ranks, given.count * sizeof(*ranks));
  return group;
}

// The same for a tfrt_dist.world.
static tfrt_async_value_t* create_world(const tfrt_execution_context_t* context,
                                        const void* const* attributes) {
  tfrt_allocator_t allocator = context->host->allocator;
  uint32_t count = tfrt_distributed_place(context).host_count;
  uint32_t* ranks = tfrt_allocator_allocate_array(allocator, count, sizeof(*ranks));
  if (!ranks) return tfrt_async_value_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) ranks[i] = i;
  tfrt_async_value_t* group =
      make_group(ranks, count, tfrt_bef_attribute_string(attributes[0]), count, allocator);
  tfrt_allocator_free(allocator, ranks, count * sizeof(*ranks));
  return group;
}

// Makes |group| (consumed) the result of |frame|, or its error that of the kernel.
static void set_group_take(tfrt_kernel_frame_t* frame, tfrt_async_value_t* group) {
  if (!tfrt_async_value_is_error(group)) {
    tfrt_kernel_frame_set(frame, 0, group);
    return;
  }
  tfrt_kernel_frame_fail_take(frame, tfrt_status_retain(tfrt_async_value_error(group)));
  tfrt_async_value_release(group);
}

void tfrt_distributed_group(tfrt_kernel_frame_t* frame) {
  set_group_take(frame, create_group(frame->context, frame->attributes));
}

void tfrt_distributed_world(tfrt_kernel_frame_t* frame) {
  set_group_take(frame, create_world(frame->context, frame->attributes));
}

// --- Withdrawals -------------------------------------------------------------------

// Tells the members of |group| (consumed), or nobody if that is an error.
static void withdraw_take(const tfrt_kernel_withdrawal_t* withdrawal, tfrt_async_value_t* group) {
  if (!tfrt_async_value_is_error(group)) {
    tfrt_group_withdraw(tfrt_async_value_payload(group), withdrawal);
  }
  tfrt_async_value_release(group);
}

void tfrt_distributed_group_withdraw(const tfrt_kernel_withdrawal_t* withdrawal) {
  withdraw_take(withdrawal, create_group(withdrawal->context, withdrawal->attributes));
}

void tfrt_distributed_world_withdraw(const tfrt_kernel_withdrawal_t* withdrawal) {
  withdraw_take(withdrawal, create_world(withdrawal->context, withdrawal->attributes));
}
