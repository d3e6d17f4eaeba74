// SPDX-License-Identifier: Apache-2.0
//
// Short ways to make and compare tensors in tests. Everything that fails here ends the
// test that it is in.
//
// Threads: one.
#ifndef TFRT_TESTS_HOST_RUNTIME_TENSOR_TENSOR_TESTING_H_
#define TFRT_TESTS_HOST_RUNTIME_TENSOR_TENSOR_TESTING_H_

#include "host_runtime/tensor/dense_host_tensor.h"
#include "tests/support/test_main.h"

// The lengths of a shape, for the functions below: DIMS(2, 3).
#define DIMS(...) (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8

// Ends the test, with the message, unless |status| is OK. Consumes it.
void testing_ok(tfrt_status_t status);

// Ends the test unless |status| is an error with |code| and its message contains all of the texts;
// NULL ends the list. Consumes it.
void testing_fails(tfrt_status_t status, tfrt_status_code_t code, ...);

// A good shape.
tfrt_shape_t testing_shape(const int64_t* dims, size_t rank);

// A tensor with elements of 0.
tfrt_dense_host_tensor_t testing_zeros(tfrt_dtype_t dtype, const int64_t* dims, size_t rank);

// A tensor with a copy of the elements at |elements|.
tfrt_dense_host_tensor_t testing_tensor(tfrt_dtype_t dtype, const void* elements,
                                        const int64_t* dims, size_t rank);

// A f32 tensor with elements between -1 and 1 that depend on |*seed|, which is advanced.
tfrt_dense_host_tensor_t testing_random(uint64_t* seed, const int64_t* dims, size_t rank);

// A number from |low| to |high| that depends on |*seed|, which is advanced.
int64_t testing_random_number(uint64_t* seed, int64_t low, int64_t high);

// Element |index| of a f32 tensor.
float testing_f32(const tfrt_dense_host_tensor_t* tensor, int64_t index);

// Ends the test unless |tensor| prints as |text|.
void testing_prints(const tfrt_dense_host_tensor_t* tensor, const char* text);

// The bytes of the file |path|, below the root of the project, in a buffer (+1).
tfrt_host_buffer_t* testing_file(const char* path);

#endif  // TFRT_TESTS_HOST_RUNTIME_TENSOR_TENSOR_TESTING_H_
