// SPDX-License-Identifier: Apache-2.0
//
// Devices whose calls fail when a test says so: a platform around another one, to which each
// call goes on unless it is the N-th of its kind since the test asked for that.
//
//   test --> devices/ (checks) --> faulty platform --> the platform under it
//                                     \-- N-th call: an error, and nothing happens
//
// Life:
//  1. Created over a platform, which it retains.
//  2. Told which call is to fail, once or several times.
//  3. Released like any platform.
//
// Thread rule: thread-safe, but which of two calls at once is the N-th is open.
// Failure rule: a call that fails on purpose is INTERNAL, or RESOURCE_EXHAUSTED where memory is
// asked for, and names FAULT_ERROR_INJECTED and the kind.
#ifndef TFRT_TESTS_FAKES_FAULTY_PLATFORM_H_
#define TFRT_TESTS_FAKES_FAULTY_PLATFORM_H_

#include "devices/device_platform.h"

typedef enum tfrt_fault_kind_e {
  TFRT_FAULT_ALLOCATE = 0,
  TFRT_FAULT_PIN,
  TFRT_FAULT_CREATE_STREAM,
  TFRT_FAULT_CREATE_EVENT,
  TFRT_FAULT_LOAD_MODULE,
  TFRT_FAULT_GET_FUNCTION,
  TFRT_FAULT_GET_GLOBAL,
  TFRT_FAULT_COPY,
  TFRT_FAULT_FILL,
  TFRT_FAULT_LAUNCH,
  TFRT_FAULT_RECORD,
  TFRT_FAULT_WAIT,
  TFRT_FAULT_QUERY,
  TFRT_FAULT_AWAIT,
  TFRT_FAULT_DEALLOCATE,
  TFRT_FAULT_CREATE_BLAS,
  TFRT_FAULT_BLAS,
  TFRT_FAULT_CREATE_DNN,
  TFRT_FAULT_DNN,
  TFRT_FAULT_CREATE_CCL,
  TFRT_FAULT_CCL,
  TFRT_FAULT_KIND_COUNT,
} tfrt_fault_kind_t;

// Sets |*out_platform| (+1) to a new platform over |inner| (retained), none of whose calls
// fails yet. Thread-safe.
tfrt_status_t tfrt_faulty_platform_create(tfrt_device_platform_t* inner,
                                          tfrt_device_platform_t** out_platform) TFRT_MUST_USE;

// Lets the |n|-th call of |kind| from now on, counted from 1, fail; 0: none. Thread-safe.
void tfrt_faulty_platform_fail(tfrt_device_platform_t* platform, tfrt_fault_kind_t kind,
                               uint32_t n);

// The name of |kind|, for messages. Thread-safe.
const char* tfrt_fault_kind_name(tfrt_fault_kind_t kind);

#endif  // TFRT_TESTS_FAKES_FAULTY_PLATFORM_H_
