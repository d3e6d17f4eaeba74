// SPDX-License-Identifier: Apache-2.0
//
// The final state of a value, for tests in which it may be an error.
//
// Thread rule: the test's thread. Failure rule: the value's error is the status.
#ifndef TFRT_TESTS_DEVICES_AWAITING_H_
#define TFRT_TESTS_DEVICES_AWAITING_H_

#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/base/status.h"

// Waits until |value| (consumed) is resolved; returns its error (+1), or NULL. Thread-safe.
static inline tfrt_status_t tfrt_test_await(tfrt_async_value_t* value) {
  tfrt_blocking_wait(&value, 1);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(value)) {
    status = tfrt_status_retain(tfrt_async_value_error(value));
  }
  tfrt_async_value_release(value);
  return status;
}

#endif  // TFRT_TESTS_DEVICES_AWAITING_H_
