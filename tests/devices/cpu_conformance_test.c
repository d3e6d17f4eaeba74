// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over the CPU's devices, with pools and, as another program
// (TFRT_TEST_WITHOUT_POOLS), with the caching allocator.
#include "devices/cpu/cpu_platform.h"
#include "tests/devices/conformance.h"
#include "tests/devices/test_kernels.h"

static tfrt_status_t tfrt_test_create(tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                      tfrt_device_platform_t** out_platform) {
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

// All of the devices' memory is the allocator's, which the fixture counts.
static void tfrt_test_check(void) {}

Suite* tfrt_test_suite(void) {
  static const tfrt_conformance_backend_t backend = {
      .name = "cpu",
      .create = tfrt_test_create,
      .check = tfrt_test_check,
      .has_blas = true,
      .has_dnn = true,
      .has_ccl = true,
      .has_peer = true,
      .may_fault = true,
  };
  return tfrt_conformance_suite(&backend);
}
