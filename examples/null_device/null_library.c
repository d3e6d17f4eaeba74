// SPDX-License-Identifier: Apache-2.0
//
// The description of the shared library, which brings one kind of devices and no kernels.
#include "null_device.h"

static tfrt_status_t null_set_up(void) {
  static const tfrt_device_kind_t kind = {.name = "null", .open = null_platform_open};
  return tfrt_device_kind_register(&kind);
}

const tfrt_kernel_library_t tfrt_kernel_library = {TFRT_KERNEL_LIBRARY_HEADER("null device"),
                                                   .set_up = null_set_up};
