// SPDX-License-Identifier: Apache-2.0
//
// Entries of a backend's vtables for the things that its devices lack: libraries, groups, graphs.
// Each one refuses, and names the device.
//
// Thread rule: thread-safe.
// Failure rule: UNAVAILABLE where a library is absent, UNIMPLEMENTED for graphs; always.
#ifndef TFRT_DEVICES_DEVICE_ABSENT_H_
#define TFRT_DEVICES_DEVICE_ABSENT_H_

#include "devices/device_ccl.h"
#include "devices/device_stream.h"

TFRT_API_BEGIN

// For tfrt_device_platform_vtable_t. Thread-safe.
tfrt_status_t tfrt_device_absent_ccl_id(tfrt_device_platform_t* platform, tfrt_ccl_id_t* out_id);

// For tfrt_device_vtable_t. Thread-safe.
tfrt_status_t tfrt_device_absent_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas);
tfrt_status_t tfrt_device_absent_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn);
tfrt_status_t tfrt_device_absent_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                                     int32_t size, tfrt_device_ccl_t** out_ccl);
tfrt_status_t tfrt_device_absent_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site);

// For tfrt_device_stream_vtable_t. Thread-safe.
tfrt_status_t tfrt_device_absent_begin_capture(tfrt_device_stream_t* stream);
tfrt_status_t tfrt_device_absent_end_capture(tfrt_device_stream_t* stream,
                                             tfrt_device_graph_t** out_graph);

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_ABSENT_H_
