// SPDX-License-Identifier: Apache-2.0
//
// Runs models of the ONNX format in this process, for tests: imports, loads, executes.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: a status that says what
// failed.
#ifndef TFRT_TESTS_COMPILER_ONNX_MODEL_RUNNER_H_
#define TFRT_TESTS_COMPILER_ONNX_MODEL_RUNNER_H_

#include "compiler/onnx/onnx_import.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// Sets |*out_host| to a host that runs everything on the calling thread.
tfrt_status_t tfrt_test_model_host(tfrt_host_context_t** out_host) TFRT_MUST_USE;

// Imports the model in the file |path| and runs it with |inputs| (consumed, also on failure). Sets
// |results|, with room for |result_room|, and |*out_count|; the caller deinitialises them. The
// status says what is wrong with the model.
tfrt_status_t tfrt_test_model_run(tfrt_host_context_t* host, const char* path,
                                  const tfrt_onnx_options_t* options,
                                  tfrt_dense_host_tensor_t* inputs, uint32_t input_count,
                                  tfrt_dense_host_tensor_t* results, uint32_t result_room,
                                  uint32_t* out_count) TFRT_MUST_USE;

// Imports the model in the file |path| alone.
tfrt_status_t tfrt_test_model_import(tfrt_host_context_t* host, const char* path) TFRT_MUST_USE;

// Makes |*out_tensor| the tensor of the file |path|, a TensorProto. UNIMPLEMENTED for anything that
// is no tensor of numbers.
tfrt_status_t tfrt_test_model_read_tensor(const char* path, tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

#endif  // TFRT_TESTS_COMPILER_ONNX_MODEL_RUNNER_H_
