// SPDX-License-Identifier: Apache-2.0
//
// The main thread waits for what a host is asked: for one value, in its event loop.
//
//   value --resolved, on any thread--> wake --> turn ends --> tfrt_value_wait() returns
//   patience over, cancel: the client is closed, which resolves the value
//
// Thread rule: main thread only.
// Failure rule: without memory to wait, RESOURCE_EXHAUSTED; else the value says what went wrong.
#ifndef TFRT_TOOLS_COORDINATOR_VALUE_WAIT_H_
#define TFRT_TOOLS_COORDINATOR_VALUE_WAIT_H_

#include "distributed/client/client.h"
#include "tools/coordinator/run_loop.h"

// Waits until |value|, which |client| was asked for, is resolved. After |patience_ms| (0: never),
// or if |heeds_cancel| when |loop| is cancelled, closes |client|. Uses the alarm of |loop|. Main
// thread only.
tfrt_status_t tfrt_value_wait(tfrt_client_t* client, tfrt_async_value_t* value,
                              tfrt_run_loop_t* loop, uint64_t patience_ms, bool heeds_cancel)
    TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_VALUE_WAIT_H_
