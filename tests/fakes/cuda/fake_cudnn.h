// SPDX-License-Identifier: Apache-2.0
//
// Shared by the two parts of the fake driver's cuDNN: layers (fake_cudnn.c) and the backend
// (fake_cudnn_backend.c). Private to the fake.
//
// Thread rule: as fake_library.h. Failure rule: as there.
#ifndef TFRT_TESTS_FAKES_CUDA_FAKE_CUDNN_H_
#define TFRT_TESTS_FAKES_CUDA_FAKE_CUDNN_H_

#include "devices/cpu/cpu_dnn_math.h"
#include "devices/cuda/cudnn_backend_api.h"
#include "tests/fakes/cuda/fake_library.h"

// The numbers of cuDNN 9.
#define FAKE_BAD_PARAM 2000
#define FAKE_NOT_INITIALIZED 1001
#define FAKE_NOT_SUPPORTED 3000
#define FAKE_EXECUTION_FAILED 5000

// The bytes that each convolution asks for, more for a greater algorithm or engine.
#define FAKE_WORKSPACE_SIZE 16

struct tfrt_cudnn_handle_s {
  tfrt_fake_library_t base;
};

extern const tfrt_fake_library_errors_t tfrt_fake_cudnn_errors;

// Our dtype for the library's |type|; TFRT_DTYPE_INVALID for an unknown type.
tfrt_dtype_t tfrt_fake_cudnn_dtype(int type);

#endif  // TFRT_TESTS_FAKES_CUDA_FAKE_CUDNN_H_
