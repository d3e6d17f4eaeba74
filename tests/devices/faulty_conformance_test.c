// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over the faulty platform while it has no faults: so what its tests
// find, it didn't bring in itself.
#include "devices/conformance/conformance.h"
#include "devices/cpu/cpu_platform.h"
#include "tests/devices/test_kernels.h"
#include "tests/fakes/faulty_platform.h"
#include "tests/support/test_main.h"

static tfrt_status_t test_open(const void* none, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  (void)none;
  tfrt_cpu_platform_options_t options = {.device_count = 2,
                                         .memory_size = 1 << 24,
                                         .kernels = tfrt_test_kernels,
                                         .kernel_count = TFRT_TEST_KERNEL_COUNT};
  tfrt_device_platform_t* cpu;
  TFRT_RETURN_IF_ERROR(tfrt_cpu_platform_create(&options, allocator, work_queue, &cpu));
  tfrt_status_t status = tfrt_faulty_platform_create(cpu, out_platform);
  tfrt_device_platform_release(cpu);
  return status;
}

Suite* tfrt_test_suite(void) {
  // Without loss: an error names the device under the faulty one.
  static const tfrt_conformance_backend_t backend = {
      .name = "faulty",
      .open = test_open,
      .features = TFRT_CONFORMANCE_KERNELS | TFRT_CONFORMANCE_BLAS | TFRT_CONFORMANCE_DNN |
                  TFRT_CONFORMANCE_CCL | TFRT_CONFORMANCE_PEER,
  };
  return tfrt_conformance_suite(&backend);
}
