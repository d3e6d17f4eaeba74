// SPDX-License-Identifier: Apache-2.0
//
// The requirements for every backend of devices/, written once: order, copies, launches, lifetimes,
// refusals, lost devices, and that all memory comes back.
//
// A backend's test program fills in a tfrt_conformance_backend_t and returns the suite from
// its tfrt_test_suite(). Each test has a platform and a work queue of its own.
//
// The kernels are those of tests/devices/test_kernels.cu.
//
// Thread rule: one thread; the backends have theirs. Failure rule: a check fails.
#ifndef TFRT_TESTS_DEVICES_CONFORMANCE_H_
#define TFRT_TESTS_DEVICES_CONFORMANCE_H_

#include "devices/device_platform.h"
#include "tests/support/test_main.h"

typedef struct tfrt_conformance_backend_s {
  const char* name;
  // A new platform (+1). The tests with two devices need two or more, and the first two must reach
  // each other; otherwise these tests are left out.
  tfrt_status_t (*create)(tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                          tfrt_device_platform_t** out_platform);
  // Called when the platform and everything on it is gone; checks what is left. Not NULL.
  void (*check)(void);
  // Whether work can be captured.
  bool has_graphs;
  // Whether there is linear algebra, neural networks, and groups of devices; if not, their tests
  // run only where the library is found.
  bool has_blas;
  bool has_dnn;
  bool has_ccl;
  // Whether there are two devices.
  bool has_peer;
  // Whether a faulting kernel may be run: on a real device it costs the process its context.
  bool may_fault;
} tfrt_conformance_backend_t;

// The suite for |backend|, which is static. Called once.
Suite* tfrt_conformance_suite(const tfrt_conformance_backend_t* backend);

// The text of tests/devices/test_kernels.ptx; lives for ever.
const char* tfrt_conformance_image(void);

#endif  // TFRT_TESTS_DEVICES_CONFORMANCE_H_
