// SPDX-License-Identifier: Apache-2.0
#include "kernels/async/async_kernels.h"

#include <string.h>

#include "kernels/async/kernel_ops.h"
#include "kernels/async/kernel_parts.h"

#define MAX_KERNELS 128

static const tfrt_kernel_registration_t others[] = {
    {"tfrt_async.execute", tfrt_async_execute},
    {"tfrt_async.run", tfrt_async_run_blocks},
    {"tfrt_async.assert", tfrt_async_assert},
    {"tfrt_async.settled", tfrt_async_settled},
    {"tfrt_async.is_error", tfrt_async_is_error},
    {"tfrt_async.drop_ref", tfrt_async_drop_ref},
    {"tfrt_async.create_group", tfrt_async_create_group},
    {"tfrt_async.add_to_group", tfrt_async_add_to_group},
    {"tfrt_async.await_all", tfrt_async_await_all},
    {"tfrt_async.print", tfrt_async_print},
    {"tfrt_async.print_text", tfrt_async_print_text},
    {"tfrt_async.end_line", tfrt_async_end_line},
    {"tfrt_async.alloc", tfrt_async_alloc},
    {"tfrt_async.load", tfrt_async_load},
    {"tfrt_async.store", tfrt_async_store},
    {"tfrt_async.print_thread", tfrt_async_print_thread},
    {"tfrt_async.fill", tfrt_async_fill},
    {"tfrt_async.print_memory", tfrt_async_print_memory},
    {"tfrt_async.atomic_rmw", tfrt_async_atomic_rmw},
    {"tfrt_async.memory_cast", tfrt_async_memory_cast},
    {"tfrt_async.bytes", tfrt_async_bytes},
    {"tfrt_async.device_bytes", tfrt_async_device_bytes},
    {"tfrt_async.device_memory", tfrt_async_device_bytes},
    {"tfrt_async.device_size", tfrt_async_device_size},
    {"tfrt_async.dim", tfrt_async_dim},
};

tfrt_status_t tfrt_async_kernels_register(tfrt_kernel_registry_t* registry) {
  tfrt_kernel_registration_t all[MAX_KERNELS];
  size_t count = tfrt_async_scalar_kernel_count + TFRT_ARRAY_SIZE(others);
  if (count > MAX_KERNELS) {
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "more than %d kernels", MAX_KERNELS);
  }
  TFRT_RETURN_IF_ERROR(tfrt_async_group_register());
  TFRT_RETURN_IF_ERROR(tfrt_async_memory_register());
  memcpy(all, tfrt_async_scalar_kernels, tfrt_async_scalar_kernel_count * sizeof(all[0]));
  memcpy(all + tfrt_async_scalar_kernel_count, others, sizeof(others));
  return tfrt_kernel_registry_add_all(registry, &tfrt_async_ops, all, count);
}
