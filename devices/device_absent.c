// SPDX-License-Identifier: Apache-2.0
#include "devices/device_absent.h"

static tfrt_status_t device_absent_library(const char* name, const char* library) {
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "%s: this kind of device has no library of %s",
                            name, library);
}

tfrt_status_t tfrt_device_absent_ccl_id(tfrt_device_platform_t* platform, tfrt_ccl_id_t* out_id) {
  (void)out_id;
  return device_absent_library(platform->name, "groups");
}

tfrt_status_t tfrt_device_absent_blas(tfrt_device_t* device, tfrt_device_blas_t** out_blas) {
  (void)out_blas;
  return device_absent_library(device->name, "linear algebra");
}

tfrt_status_t tfrt_device_absent_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn) {
  (void)out_dnn;
  return device_absent_library(device->name, "neural networks");
}

tfrt_status_t tfrt_device_absent_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                                     int32_t size, tfrt_device_ccl_t** out_ccl) {
  (void)id;
  (void)rank;
  (void)size;
  (void)out_ccl;
  return device_absent_library(device->name, "groups");
}

tfrt_status_t tfrt_device_absent_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) {
  (void)out_site;
  return device_absent_library(device->name, "groups");
}

tfrt_status_t tfrt_device_absent_begin_capture(tfrt_device_stream_t* stream) {
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "%s: this kind of device has no graphs",
                            stream->device->name);
}

tfrt_status_t tfrt_device_absent_end_capture(tfrt_device_stream_t* stream,
                                             tfrt_device_graph_t** out_graph) {
  (void)out_graph;
  return tfrt_device_absent_begin_capture(stream);
}
