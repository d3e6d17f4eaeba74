// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/tensor_kernels.h"

#include <string.h>

#include "host_runtime/executor/program/race_memory.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/ops/ops.h"
#include "kernels/tensor/sync_tensor_kernels.h"

static const tfrt_kernel_group_t* const groups[] = {
    &tfrt_shape_kernels,       &tfrt_dense_host_tensor_kernels, &tfrt_coo_host_tensor_kernels,
    &tfrt_tensor_file_kernels, &tfrt_example_kernels,           &tfrt_test_tensor_kernels,
    &tfrt_tensor_math_kernels, &tfrt_tensor_view_kernels,       &tfrt_tensor_type_kernels,
    &tfrt_print_text_kernels,  &tfrt_core_runtime_kernels,
};

// The tables of ops/ops.h.
static const tfrt_kernel_table_t* const tables[] = {
    &tfrt_dense_host_tensor_ops, &tfrt_test_tensor_ops, &tfrt_tensor_ops, &tfrt_core_runtime_ops};

// Registers the groups that |ops| describes as one, because they share it.
// |registrations| has room for those of all groups.
static tfrt_status_t register_table(tfrt_kernel_registry_t* registry,
                                    const tfrt_kernel_table_t* ops,
                                    tfrt_kernel_registration_t* registrations) {
  size_t count = 0;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(groups); ++i) {
    if (groups[i]->ops != ops) continue;
    memcpy(registrations + count, groups[i]->registrations,
           groups[i]->count * sizeof(*registrations));
    count += groups[i]->count;
  }
  return tfrt_kernel_registry_add_all(registry, ops, registrations, count);
}

// The memory of a tensor, for programs that are watched for races.
static const void* tensor_memory(const void* payload) {
  const tfrt_host_tensor_t* tensor = payload;
  if (tensor->layout == TFRT_TENSOR_LAYOUT_FOREIGN) return tensor->foreign.data;
  if (tensor->layout != TFRT_TENSOR_LAYOUT_DENSE) return tensor;
  return tfrt_host_buffer_root(tensor->dense.buffer);
}

static const void* host_buffer_memory(const void* payload) {
  return tfrt_host_buffer_root(*(tfrt_host_buffer_t* const*)payload);
}

tfrt_status_t tfrt_tensor_kernels_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_tensor_types_register());
  tfrt_race_watch_set_memory(tfrt_host_tensor_type_id(), tensor_memory);
  tfrt_race_watch_set_memory(tfrt_host_buffer_type_id(), host_buffer_memory);
  TFRT_RETURN_IF_ERROR(tfrt_example_type_register());
  TFRT_RETURN_IF_ERROR(tfrt_core_runtime_types_register());
  size_t count = 0;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(groups); ++i) count += groups[i]->count;
  size_t size = count * sizeof(tfrt_kernel_registration_t);
  tfrt_kernel_registration_t* registrations =
      tfrt_allocator_allocate(tfrt_allocator_system(), size);
  if (!registrations) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to register kernels");
  }
  tfrt_status_t status = NULL;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tables) && !status; ++i) {
    status = register_table(registry, tables[i], registrations);
  }
  tfrt_allocator_free(tfrt_allocator_system(), registrations, size);
  return status ? status : tfrt_sync_tensor_kernels_register(registry);
}
