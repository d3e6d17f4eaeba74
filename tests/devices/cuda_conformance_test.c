// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over the CUDA backend and the fake driver: with all that a driver can
// have, and, as another program (TFRT_TEST_OLD_DRIVER), with an older one, which has
// no pools and doesn't tell a kernel's parameters.
#include "devices/conformance/conformance.h"
#include "devices/cuda/cuda_platform.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

static tfrt_status_t test_open(const void* none, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  (void)none;
#ifdef TFRT_TEST_OLD_DRIVER
  tfrt_fake_cuda_control()->set_version(11010);
#endif
  tfrt_fake_cuda_control()->set_seed(42);
  tfrt_cuda_platform_options_t options = {.library_for_testing = TFRT_FAKE_CUDA_PATH};
  return tfrt_cuda_platform_create(&options, allocator, work_queue, out_platform);
}

static void test_check(void) {
  const tfrt_fake_cuda_control_t* control = tfrt_fake_cuda_control();
  char text[4096];
  int count = control->defects(text, sizeof(text));
  ck_assert_msg(count == 0, "%d defects:\n%s", count, text);
  ck_assert_int_eq(control->live(), 0);
}

Suite* tfrt_test_suite(void) {
  static const tfrt_conformance_backend_t backend = {
      .name = "cuda over a fake driver",
      .open = test_open,
      .check = test_check,
      .features = TFRT_CONFORMANCE_KERNELS | TFRT_CONFORMANCE_BLAS | TFRT_CONFORMANCE_DNN |
#ifndef TFRT_TEST_OLD_DRIVER
                  TFRT_CONFORMANCE_GRAPHS |
#endif
                  TFRT_CONFORMANCE_CCL | TFRT_CONFORMANCE_PEER | TFRT_CONFORMANCE_FAULTS,
  };
  return tfrt_conformance_suite(&backend);
}
