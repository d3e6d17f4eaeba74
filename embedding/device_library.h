// SPDX-License-Identifier: Apache-2.0
//
// All that a library with devices needs: one include for the author of a backend. Such a library is
// a kernel library (kernel_library.h), with or without kernels, whose `set_up` registers its kinds
// of devices:
//
//   static tfrt_status_t set_up(void) {
//     static const tfrt_device_kind_t kind = {.name = "mine", .open = my_platform_open};
//     return tfrt_device_kind_register(&kind);
//   }
//
//   const tfrt_kernel_library_t tfrt_kernel_library = {TFRT_KERNEL_LIBRARY_HEADER("mine"),
//                                                      .set_up = set_up};
//
// The functions declared here may be called by a library in each program that has devices:
// bef_executor, tfrt, tfrt_worker, tfrt_device_conformance (--device_libs=libmine.so), and whatever
// links libtfrt. Programs that only translate have none.
//
// Thread rule and failure rule: those of each header.
#ifndef TFRT_EMBEDDING_DEVICE_LIBRARY_H_
#define TFRT_EMBEDDING_DEVICE_LIBRARY_H_

#include "devices/device.h"
#include "devices/device_absent.h"
#include "devices/device_allocator.h"
#include "devices/device_blas.h"
#include "devices/device_buffer.h"
#include "devices/device_ccl.h"
#include "devices/device_dnn.h"
#include "devices/device_dnn_plan.h"
#include "devices/device_event.h"
#include "devices/device_graph.h"
#include "devices/device_image.h"
#include "devices/device_kind.h"
#include "devices/device_module.h"
#include "devices/device_platform.h"
#include "devices/device_stream.h"
#include "embedding/kernel_library.h"

#endif  // TFRT_EMBEDDING_DEVICE_LIBRARY_H_
