// SPDX-License-Identifier: Apache-2.0
//
// Where a GPU is among all GPUs of all machines, and which NCCL its process has. The library wants
// the same version for all members and each on a GPU of its own, which it tells, as this does, by
// the machine and the bus ("Duplicate GPU detected"): parts of one GPU are one GPU.
#include <stdio.h>

#include "devices/cuda/cuda_nccl.h"
#include "host_runtime/base/machine.h"

// As long as the bus id of a device, with its NUL.
#define TFRT_CUDA_BUS_ID_SIZE 20

tfrt_status_t tfrt_cuda_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) {
  const tfrt_nccl_api_t* nccl;
  TFRT_RETURN_IF_ERROR(tfrt_cuda_nccl_open(tfrt_cuda_platform_of(device), &nccl));
  int version = 0;
  TFRT_RETURN_IF_ERROR(
      tfrt_cuda_nccl_status(device->name, nccl->GetVersion(&version), "ncclGetVersion"));
  char bus_id[TFRT_CUDA_BUS_ID_SIZE] = {0};
  TFRT_RETURN_IF_ERROR(tfrt_cuda_enter(device));
  tfrt_cuda_result_t result = tfrt_cuda_api_of(device)->DeviceGetPCIBusId(
      bus_id, sizeof(bus_id), tfrt_cuda_device_of(device)->id);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_leave(device, result, "cuDeviceGetPCIBusId"));
  snprintf(out_site->library, sizeof(out_site->library), "nccl %d", version);
  snprintf(out_site->place, sizeof(out_site->place), "%s/%s", tfrt_machine_id(), bus_id);
  return NULL;
}
