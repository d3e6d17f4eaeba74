// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this folder, by source. Private to this folder. The op table, ops.c, describes
// each kernel.
//
// Thread rule: a frame's thread only. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_DISTRIBUTED_KERNEL_GROUPS_H_
#define TFRT_KERNELS_DISTRIBUTED_KERNEL_GROUPS_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/withdrawal.h"

// host_kernels.c
tfrt_call_place_t tfrt_distributed_place(const tfrt_execution_context_t* context);
void tfrt_distributed_rank(tfrt_kernel_frame_t* frame);
void tfrt_distributed_num_hosts(tfrt_kernel_frame_t* frame);
void tfrt_distributed_host(tfrt_kernel_frame_t* frame);
void tfrt_distributed_call(tfrt_kernel_frame_t* frame);
void tfrt_distributed_call_all(tfrt_kernel_frame_t* frame);
void tfrt_distributed_fetch(tfrt_kernel_frame_t* frame);
void tfrt_distributed_copy_to(tfrt_kernel_frame_t* frame);
void tfrt_distributed_prefetch(tfrt_kernel_frame_t* frame);

// message_kernels.c
void tfrt_distributed_key(tfrt_kernel_frame_t* frame);
void tfrt_distributed_send(tfrt_kernel_frame_t* frame);
void tfrt_distributed_recv(tfrt_kernel_frame_t* frame);

// group_kernels.c
void tfrt_distributed_group(tfrt_kernel_frame_t* frame);
void tfrt_distributed_world(tfrt_kernel_frame_t* frame);
void tfrt_distributed_group_withdraw(const tfrt_kernel_withdrawal_t* withdrawal);
void tfrt_distributed_world_withdraw(const tfrt_kernel_withdrawal_t* withdrawal);

// collective_kernels.c
void tfrt_distributed_barrier(tfrt_kernel_frame_t* frame);
void tfrt_distributed_all_reduce(tfrt_kernel_frame_t* frame);
void tfrt_distributed_reduce(tfrt_kernel_frame_t* frame);
void tfrt_distributed_reduce_scatter(tfrt_kernel_frame_t* frame);
void tfrt_distributed_all_gather(tfrt_kernel_frame_t* frame);
void tfrt_distributed_broadcast(tfrt_kernel_frame_t* frame);
void tfrt_distributed_all_to_all(tfrt_kernel_frame_t* frame);

// list_kernels.c
void tfrt_distributed_list_size(tfrt_kernel_frame_t* frame);
void tfrt_distributed_list_get(tfrt_kernel_frame_t* frame);
void tfrt_distributed_list_sum(tfrt_kernel_frame_t* frame);
void tfrt_distributed_list_concat(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_DISTRIBUTED_KERNEL_GROUPS_H_
