// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite on real GPUs.
#include <dirent.h>

#include "devices/conformance/conformance.h"
#include "devices/cuda/cuda_platform.h"
#include "tests/support/test_main.h"

static tfrt_status_t test_open(const void* none, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  (void)none;
  tfrt_cuda_platform_options_t options = {0};
  return tfrt_cuda_platform_create(&options, allocator, work_queue, out_platform);
}

// The number of GPUs, found without the driver: each test is a process of its own, and the
// driver doesn't survive a fork.
static int test_count_gpus(void) {
  DIR* folder = opendir("/proc/driver/nvidia/gpus");
  int count = 0;
  if (!folder) return 0;
  for (struct dirent* entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

Suite* tfrt_test_suite(void) {
  static tfrt_conformance_backend_t backend = {
      .name = "cuda",
      .open = test_open,
      .features = TFRT_CONFORMANCE_KERNELS | TFRT_CONFORMANCE_GRAPHS | TFRT_CONFORMANCE_FAULTS,
  };
  if (test_count_gpus() >= 2) backend.features |= TFRT_CONFORMANCE_PEER;
  return tfrt_conformance_suite(&backend);
}
