// SPDX-License-Identifier: Apache-2.0
//
// The built-in function that says whether a host has a device. A launcher asks before it starts a
// program whose calls are placed on devices, so that it reports a missing device at once.
//
//   Invoke("cuda:0") --> the host's hook, which opens the driver where it may block --> Result
//
// Thread rule: as the function says. Failure rule: an error of the hook is the result.
#ifndef TFRT_DISTRIBUTED_SERVICE_DEVICE_CHECK_H_
#define TFRT_DISTRIBUTED_SERVICE_DEVICE_CHECK_H_

#include "distributed/call/execution.h"

// Runs the built-in function as |execution|, which has one argument and one result. Needs the
// node's lock.
void tfrt_device_check_start(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_DEVICE_CHECK_H_
