// SPDX-License-Identifier: Apache-2.0
#include "embedding/gpu.h"

#include "devices/cpu/cpu_kernels.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/device_kind.h"
#include "kernels/device/device_kernels.h"
#include "kernels/device/host_devices.h"

static const tfrt_cpu_platform_options_t cpu_options = {
    .device_count = 1,
    .memory_size = (uint64_t)1 << 36,
    .has_pools = true,
    .kernels = tfrt_cpu_kernels,
    .kernel_count = TFRT_CPU_KERNEL_COUNT,
};

static tfrt_status_t gpu_open_cpu(const void* options, tfrt_allocator_t allocator,
                                  tfrt_work_queue_t* work_queue,
                                  tfrt_device_platform_t** out_platform) {
  return tfrt_cpu_platform_create(options, allocator, work_queue, out_platform);
}

static tfrt_status_t gpu_open_cuda(const void* options, tfrt_allocator_t allocator,
                                   tfrt_work_queue_t* work_queue,
                                   tfrt_device_platform_t** out_platform) {
  return tfrt_cuda_platform_create(options, allocator, work_queue, out_platform);
}

// One per process, because the managers keep it.
static tfrt_cuda_platform_options_t cuda_options;

static const tfrt_device_kind_t cpu_kind = {"cpu", gpu_open_cpu, &cpu_options};
static const tfrt_device_kind_t cuda_kind = {"cuda", gpu_open_cuda, &cuda_options};

tfrt_status_t tfrt_gpu_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_device_kernels_register(registry);
}

tfrt_status_t tfrt_gpu_kinds_register(void) {
  TFRT_RETURN_IF_ERROR(tfrt_device_kind_register(&cpu_kind));
  return tfrt_device_kind_register(&cuda_kind);
}

tfrt_status_t tfrt_gpu_devices_add(tfrt_host_context_t* host,
                                   const char* cuda_library_for_testing) {
  TFRT_RETURN_IF_ERROR(tfrt_gpu_kinds_register());
  if (cuda_library_for_testing && cuda_library_for_testing[0]) {
    cuda_options.library_for_testing = cuda_library_for_testing;
  }
  tfrt_device_manager_t* manager;
  TFRT_RETURN_IF_ERROR(
      tfrt_device_manager_allocate(tfrt_allocator_system(), host->work_queue, &manager));
  tfrt_status_t status = tfrt_device_manager_add_all(manager);
  if (status) {
    tfrt_device_manager_free(manager);
    return status;
  }
  return tfrt_host_devices_add_take(host, manager);
}

void tfrt_gpu_devices_drain(tfrt_host_context_t* host) { tfrt_host_devices_drain(host); }
