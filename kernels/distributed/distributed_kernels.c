// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/distributed_kernels.h"

#include "host_runtime/tensor/tensor_types.h"
#include "kernels/distributed/distributed_types.h"
#include "kernels/distributed/kernel_groups.h"
#include "kernels/distributed/ops.h"

tfrt_status_t tfrt_distributed_kernels_register(tfrt_kernel_registry_t* registry) {
  static const tfrt_kernel_registration_t kernels[] = {
      {"tfrt_dist.rank", tfrt_distributed_rank},
      {"tfrt_dist.num_hosts", tfrt_distributed_num_hosts},
      {"tfrt_dist.host", tfrt_distributed_host},
      {"tfrt_dist.call", tfrt_distributed_call},
      {"tfrt_dist.call_all", tfrt_distributed_call_all},
      {"tfrt_dist.list.size", tfrt_distributed_list_size},
      {"tfrt_dist.list.get", tfrt_distributed_list_get},
      {"tfrt_dist.list.sum", tfrt_distributed_list_sum},
      {"tfrt_dist.list.concat", tfrt_distributed_list_concat},
      {"tfrt_dist.fetch", tfrt_distributed_fetch},
      {"tfrt_dist.copy_to", tfrt_distributed_copy_to},
      {"tfrt_dist.prefetch", tfrt_distributed_prefetch},
      {"tfrt_dist.key", tfrt_distributed_key},
      {"tfrt_dist.send", tfrt_distributed_send},
      {"tfrt_dist.recv", tfrt_distributed_recv},
      {"tfrt_dist.group", tfrt_distributed_group},
      {"tfrt_dist.world", tfrt_distributed_world},
      {"tfrt_dist.barrier", tfrt_distributed_barrier},
      {"tfrt_dist.all_reduce", tfrt_distributed_all_reduce},
      {"tfrt_dist.reduce", tfrt_distributed_reduce},
      {"tfrt_dist.reduce_scatter", tfrt_distributed_reduce_scatter},
      {"tfrt_dist.all_gather", tfrt_distributed_all_gather},
      {"tfrt_dist.broadcast", tfrt_distributed_broadcast},
      {"tfrt_dist.all_to_all", tfrt_distributed_all_to_all},
  };
  static const tfrt_withdrawal_registration_t withdrawals[] = {
      {"tfrt_dist.group", tfrt_distributed_group_withdraw},
      {"tfrt_dist.world", tfrt_distributed_world_withdraw},
  };
  TFRT_RETURN_IF_ERROR(tfrt_tensor_types_register());
  TFRT_RETURN_IF_ERROR(tfrt_distributed_types_register());
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add_all(registry, &tfrt_distributed_ops, kernels,
                                                    TFRT_ARRAY_SIZE(kernels)));
  return tfrt_kernel_registry_add_withdrawals(registry, &tfrt_distributed_ops, withdrawals,
                                              TFRT_ARRAY_SIZE(withdrawals));
}
