// SPDX-License-Identifier: Apache-2.0
//
// The requirements for every backend of devices/, written once: order, copies, launches, lifetimes,
// refusals, lost devices, and that all memory comes back.
//
// A backend's test program fills in a tfrt_conformance_backend_t and runs the suite with libcheck;
// tools/device_conformance.c is such a program for the devices of a library. Each test has a
// platform and a work queue of its own.
//
// The kernels are those of devices/conformance/test_kernels.cu, and the variable there: as PTX, or
// as the backend says.
//
// Thread rule: one thread; the backends have theirs. Failure rule: a check fails.
#ifndef TFRT_DEVICES_CONFORMANCE_CONFORMANCE_H_
#define TFRT_DEVICES_CONFORMANCE_CONFORMANCE_H_

#include <check.h>

#include "devices/device_kind.h"

// The abilities that the suite may rely on; tests of the others are left out.
typedef enum tfrt_conformance_feature_e {
  // Kernels do their work.
  TFRT_CONFORMANCE_KERNELS = 1 << 0,
  // Work can be captured.
  TFRT_CONFORMANCE_GRAPHS = 1 << 1,
  // Linear algebra, neural networks, and groups of devices. Without the bit, their tests run only
  // where the library is found.
  TFRT_CONFORMANCE_BLAS = 1 << 2,
  TFRT_CONFORMANCE_DNN = 1 << 3,
  TFRT_CONFORMANCE_CCL = 1 << 4,
  // There is a peer, and the two devices reach each other.
  TFRT_CONFORMANCE_PEER = 1 << 5,
  // A faulting kernel may be run: on a real device it costs the process its context.
  TFRT_CONFORMANCE_FAULTS = 1 << 6,
} tfrt_conformance_feature_t;

typedef struct tfrt_conformance_backend_s {
  const char* name;
  // A new platform (+1).
  tfrt_device_open_fn_t open;
  const void* options;  // for |open|
  // Called when the platform and everything on it is gone; checks what is left. NULL: nothing is.
  void (*check)(void);
  uint32_t features;  // of tfrt_conformance_feature_t
  uint32_t ordinal;   // of the device under test; a peer is the first other one
  // The kernels in a form that the device takes, with a NUL behind the last byte; NULL: the PTX.
  const char* image;
  size_t image_size;
} tfrt_conformance_backend_t;

// The suite for |backend|, which is static. Called once.
Suite* tfrt_conformance_suite(const tfrt_conformance_backend_t* backend);

// The text of devices/conformance/test_kernels.ptx. Lives for ever.
const char* tfrt_conformance_ptx(void);

#endif  // TFRT_DEVICES_CONFORMANCE_CONFORMANCE_H_
