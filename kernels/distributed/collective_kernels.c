// SPDX-License-Identifier: Apache-2.0
//
// Groups of hosts, and what they do together.

#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "kernels/distributed/collective.h"
#include "kernels/distributed/host_group.h"
#include "kernels/distributed/kernel_groups.h"

// --- Groups ----------------------------------------------------------------------

// Makes result 0 of |frame| the group of |ranks|.
static void set_group(tfrt_kernel_frame_t* frame, const uint32_t* ranks, uint32_t count,
                      uint32_t host_count) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  tfrt_string_view_t name = tfrt_bef_attribute_string(frame->attributes[0]);
  tfrt_status_t status = tfrt_host_group_check(ranks, count, name, host_count, allocator);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_group(ranks, count, name, allocator));
}

// A rank that no host can have becomes one that none has.
static uint32_t rank_of(const void* ranks, uint32_t index) {
  int64_t rank;
  memcpy(&rank, (const char*)ranks + index * sizeof(rank), sizeof(rank));
  return rank < INT32_MIN || rank > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)rank;
}

void tfrt_distributed_group(tfrt_kernel_frame_t* frame) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  tfrt_bef_array_t given = tfrt_bef_attribute_array(frame->attributes[1]);
  uint32_t* ranks = tfrt_allocator_allocate_array(allocator, given.count, sizeof(*ranks));
  if (!ranks && given.count > 0) {
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  for (uint32_t i = 0; i < given.count; ++i) ranks[i] = rank_of(given.data, i);
  set_group(frame, ranks, given.count, tfrt_distributed_place(frame).host_count);
  tfrt_allocator_free(allocator, ranks, given.count * sizeof(*ranks));
}

void tfrt_distributed_world(tfrt_kernel_frame_t* frame) {
  tfrt_allocator_t allocator = frame->context->host->allocator;
  uint32_t count = tfrt_distributed_place(frame).host_count;
  uint32_t* ranks = tfrt_allocator_allocate_array(allocator, count, sizeof(*ranks));
  if (!ranks) {
    tfrt_kernel_frame_fail_take(frame, tfrt_status_out_of_memory());
    return;
  }
  for (uint32_t i = 0; i < count; ++i) ranks[i] = i;
  set_group(frame, ranks, count, count);
  tfrt_allocator_free(allocator, ranks, count * sizeof(*ranks));
}

// --- Collectives -------------------------------------------------------------------

// Attributes come in the order of their names: "reduction" before "root".
static void start_reduction(tfrt_kernel_frame_t* frame, tfrt_collective_kind_t kind, int32_t root) {
  tfrt_string_view_t name = tfrt_bef_attribute_string(frame->attributes[0]);
  tfrt_reduction_t reduction = TFRT_REDUCTION_SUM;
  if (!tfrt_reduction_find(name, &reduction)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "there is no reduction \"%.*s\"; there are sum, prod, min, max, mean",
                           (int)name.size, name.data);
    return;
  }
  tfrt_collective_start(frame, kind, reduction, root);
}

static int32_t root_of(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[index]);
}

void tfrt_distributed_barrier(tfrt_kernel_frame_t* frame) {
  tfrt_collective_start(frame, TFRT_COLLECTIVE_BARRIER, TFRT_REDUCTION_SUM, 0);
}

void tfrt_distributed_all_reduce(tfrt_kernel_frame_t* frame) {
  start_reduction(frame, TFRT_COLLECTIVE_ALL_REDUCE, 0);
}

void tfrt_distributed_reduce(tfrt_kernel_frame_t* frame) {
  start_reduction(frame, TFRT_COLLECTIVE_REDUCE, root_of(frame, 1));
}

void tfrt_distributed_reduce_scatter(tfrt_kernel_frame_t* frame) {
  start_reduction(frame, TFRT_COLLECTIVE_REDUCE_SCATTER, 0);
}

void tfrt_distributed_all_gather(tfrt_kernel_frame_t* frame) {
  tfrt_collective_start(frame, TFRT_COLLECTIVE_ALL_GATHER, TFRT_REDUCTION_SUM, 0);
}

void tfrt_distributed_broadcast(tfrt_kernel_frame_t* frame) {
  tfrt_collective_start(frame, TFRT_COLLECTIVE_BROADCAST, TFRT_REDUCTION_SUM, root_of(frame, 0));
}

void tfrt_distributed_all_to_all(tfrt_kernel_frame_t* frame) {
  tfrt_collective_start(frame, TFRT_COLLECTIVE_ALL_TO_ALL, TFRT_REDUCTION_SUM, 0);
}
