// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over the CPU's devices, with pools and, as another program
// (TFRT_TEST_WITHOUT_POOLS), with the caching allocator.
#include "devices/conformance/conformance.h"
#include "devices/cpu/cpu_platform.h"
#include "tests/devices/test_kernels.h"
#include "tests/support/test_main.h"

static tfrt_status_t test_open(const void* none, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  (void)none;
  tfrt_cpu_platform_options_t options = {
      .device_count = 2,
      .memory_size = 1 << 24,
      .kernels = tfrt_test_kernels,
      .kernel_count = TFRT_TEST_KERNEL_COUNT,
#ifndef TFRT_TEST_WITHOUT_POOLS
      .has_pools = true,
#endif
  };
  return tfrt_cpu_platform_create(&options, allocator, work_queue, out_platform);
}

Suite* tfrt_test_suite(void) {
  static const tfrt_conformance_backend_t backend = {
      .name = "cpu",
      .open = test_open,
      .features = TFRT_CONFORMANCE_KERNELS | TFRT_CONFORMANCE_BLAS | TFRT_CONFORMANCE_DNN |
                  TFRT_CONFORMANCE_CCL | TFRT_CONFORMANCE_PEER | TFRT_CONFORMANCE_FAULTS,
  };
  return tfrt_conformance_suite(&backend);
}
