// SPDX-License-Identifier: Apache-2.0
//
// Declarations that the calls (cuda_dnn.c) and the plans (cuda_dnn_plan.c) of neural networks
// share. Private to this room.
//
// Thread rule: as devices/cuda/cuda_platform.h. Failure rule: as there.
#ifndef TFRT_DEVICES_CUDA_CUDA_DNN_H_
#define TFRT_DEVICES_CUDA_CUDA_DNN_H_

#include "devices/cuda/cuda_impl.h"
#include "devices/device_dnn_plan.h"

typedef struct tfrt_cuda_dnn_s {
  tfrt_device_dnn_t base;
  const tfrt_cudnn_api_t* api;
  tfrt_mutex_t mutex;  // held from the stream's choice to the end of the call
  tfrt_cudnn_handle_t handle;
} tfrt_cuda_dnn_t;

// The files of the library, newest first.
extern const char* const tfrt_cuda_dnn_names[];
extern const size_t tfrt_cuda_dnn_name_count;

// Converts |result| of the call |call| on |device| to a status with the library's name for the
// error. Thread-safe.
tfrt_status_t tfrt_cuda_dnn_status(const tfrt_cudnn_api_t* api, const tfrt_device_t* device,
                                   tfrt_cudnn_status_t result, const char* call) TFRT_MUST_USE;

// The library's number for |dtype|, which was checked. Thread-safe.
int tfrt_cuda_dnn_type(tfrt_dtype_t dtype);

// The entry `build` of the object's vtable. Thread-safe.
tfrt_status_t tfrt_cuda_dnn_build(tfrt_device_dnn_t* dnn, const tfrt_dnn_plan_form_t* form,
                                  const tfrt_dnn_engine_t* engine,
                                  tfrt_device_dnn_plan_t** out_plan);

#endif  // TFRT_DEVICES_CUDA_CUDA_DNN_H_
