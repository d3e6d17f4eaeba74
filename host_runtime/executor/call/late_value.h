// SPDX-License-Identifier: Apache-2.0
//
// How a path waits for a value that one of its kernels has made before it is available. Private
// to the executor.
//
//   kernel --wait--> held by the path --+-- the path goes on: waits with a reference of its own
//                                       \-- the path ends: waits with the path's reference
//
// A path holds one value at most: it lets the last one wait before its next kernel runs.
//
// The memory for the waiter is reserved before anybody sees the value: if there is none, an error
// takes the place of the value.
//
// Thread rule: a list belongs to the thread that runs the path.
// Failure rule: as said.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_LATE_VALUE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_LATE_VALUE_H_

#include "host_runtime/executor/call/ready_list.h"

// Gets the memory of the next waiter; false if there is none. List's thread only.
bool tfrt_late_value_reserve_slow(tfrt_ready_list_t* ready);

// The same; nothing happens if there is a waiter already. List's thread only.
static inline bool tfrt_late_value_reserve(tfrt_ready_list_t* ready) {
  return ready->next_waiter || tfrt_late_value_reserve_slow(ready);
}

// Gives back |waiter|, whose task runs. Thread-safe.
void tfrt_late_value_free_waiter(tfrt_register_waiter_t* waiter);

// Holds |value| (+0), which isn't available, with the waiter that is reserved, for the |user_count|
// |users| of |register_index|; what |passed_users| says of them goes with them. |on_value| is the
// task that gets the register's waiter, with its reference to the call, when the value is there. A
// value without waiters is not held. List's thread only.
void tfrt_late_value_wait(tfrt_ready_list_t* ready, uint32_t register_index, const uint32_t* users,
                          const uint8_t* passed_users, uint32_t user_count,
                          tfrt_async_value_t* value, tfrt_task_fn_t on_value);

// Lets what |ready| holds wait with a reference of its own. List's thread only.
void tfrt_late_value_place(tfrt_ready_list_t* ready);

// The path goes on. List's thread only.
static inline void tfrt_late_value_let_wait(tfrt_ready_list_t* ready) {
  if (TFRT_UNLIKELY(ready->held_waiter)) tfrt_late_value_place(ready);
}

// Ends the path, and with it its reference to the call, which may be gone then. List's thread only.
void tfrt_late_value_end_path(tfrt_ready_list_t* ready);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_LATE_VALUE_H_
