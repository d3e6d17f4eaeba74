// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/device_platforms.h"

#include "embedding/device_library.h"
#include "embedding/gpu.h"
#include "tools/kernels/shared_libraries.h"

// Registers the kinds of devices that |library| brings.
static tfrt_status_t device_platforms_set_up(const tfrt_kernel_library_t* library) {
  size_t known = tfrt_device_kind_count();
  if (library->set_up) TFRT_RETURN_IF_ERROR(library->set_up());
  if (tfrt_device_kind_count() > known) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "registers no kind of devices in its set_up "
                            "(see <tfrt/device_library.h>; one with kernels alone is for "
                            "--" TFRT_SHARED_LIBRARIES_FLAG ")");
}

tfrt_status_t tfrt_device_platforms_load(const char* list) {
  // First, so that a library that takes one of their names is refused, and named.
  TFRT_RETURN_IF_ERROR(tfrt_gpu_kinds_register());
  size_t known = tfrt_shared_libraries_count();
  TFRT_RETURN_IF_ERROR(tfrt_shared_libraries_load_of(TFRT_DEVICE_LIBRARIES_FLAG, list));
  for (size_t i = known; i < tfrt_shared_libraries_count(); ++i) {
    const tfrt_shared_library_t* entry = tfrt_shared_libraries_get(i);
    tfrt_status_t status = device_platforms_set_up(entry->library);
    if (status) return tfrt_status_take_annotate(status, "shared library '%s'", entry->path);
  }
  return NULL;
}

tfrt_status_t tfrt_device_platforms_add(tfrt_host_context_t* host,
                                        const char* cuda_library_for_testing) {
  return tfrt_gpu_devices_add(host, cuda_library_for_testing);
}
