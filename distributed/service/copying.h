// SPDX-License-Identifier: Apache-2.0
//
// The built-in function that moves a value to another host. It is called on that host with the
// value, fetches the payload, and returns the same value. So the callee owns the result, and a host
// that passes the result on passes on the callee's name.
//
//   caller                          callee                     owner of the value
//     Invoke BUILTIN_COPY(value) ---> Want --------------------->
//                                     <------------- Resolve, payload
//     <------- Result (available, or inline if it is small)
//
// Thread rule: needs the node's lock.
// Failure rule: a value that can't be fetched is an error as the call's result.
#ifndef TFRT_DISTRIBUTED_SERVICE_COPYING_H_
#define TFRT_DISTRIBUTED_SERVICE_COPYING_H_

#include "distributed/call/execution.h"

// Runs the built-in function as |execution|.
void tfrt_copying_start(tfrt_execution_t* execution);

#endif  // TFRT_DISTRIBUTED_SERVICE_COPYING_H_
