// SPDX-License-Identifier: Apache-2.0
//
// Kernels of collectives, which the hosts of a group do together.

#include "host_runtime/bef/bef_attribute.h"
#include "kernels/distributed/collective.h"
#include "kernels/distributed/kernel_groups.h"

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
