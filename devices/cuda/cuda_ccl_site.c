// SPDX-License-Identifier: Apache-2.0
//
// Where a GPU is among all GPUs of all machines, and which NCCL its process has. The library wants
// the same version for all members and each on a GPU of its own, which it tells, as this does, by
// the machine and the bus ("Duplicate GPU detected"): parts of one GPU are one GPU.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "devices/cuda/cuda_nccl.h"

// As long as the bus id of a device, with its NUL.
#define TFRT_CUDA_BUS_ID_SIZE 20

// Fits into a site's place beside the bus id.
#define TFRT_CUDA_MACHINE_SIZE 48

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
static char machine[TFRT_CUDA_MACHINE_SIZE];  // constant after that

// Another text for each machine, the same in all of its containers: of its present run, or else its
// name.
static void tfrt_cuda_read_machine(void) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : read(file, machine, sizeof(machine) - 1);
  if (file >= 0) close(file);
  if (size <= 0) gethostname(machine, sizeof(machine) - 1);
  machine[strcspn(machine, "\n")] = 0;
}

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
  tfrt_once_run(&once, tfrt_cuda_read_machine);
  snprintf(out_site->library, sizeof(out_site->library), "nccl %d", version);
  snprintf(out_site->place, sizeof(out_site->place), "%s/%s", machine, bus_id);
  return NULL;
}
