// SPDX-License-Identifier: Apache-2.0
//
// One call of one BEF function: a single slab with all that the call needs as long as it lasts, so
// that running a kernel allocates nothing but its results. Waiters for values that come later, and
// groups, which are tasks, are blocks of their own, which the next value uses again: a long chain
// of late values needs one or two at a time. Private to the executor.
//
//   slab: frame | registers[R] | pending[K] | passed[K] | next[K] | remaining[R]
//
// That of a big function is two blocks, which fit into smaller gaps: |next| begins the second one.
// As long as its kernels follow each other in the order of the file, records of a mapped file that
// they have passed leave memory.
//
//   registers  the value of each register, NULL until it is set. It holds one reference
//              for each use that has not happened yet.
//   pending    how many waited-for arguments a kernel still lacks; it is ready at 0.
//   passed     how many of its PASSED arguments are not set yet (non-strict kernels). All
//              of them together count as one in |pending|.
//   next       links kernels in ready lists.
//   remaining  uses of a register that are left when a scheduled call goes on here.
//
// Life:
//  1. Created with count 1 by the thread that calls; private to it until it *escapes*.
//  2. Escapes when something else may touch it: a waiter, a task. It retains its program
//     and its request from then on.
//  3. Each waiter and task holds one reference. The last one frees the slab and leaves
//     the call's scope.
//
// Thread rule: thread-safe once escaped; the executor says which thread writes which field.
// Failure rule: creation gives NULL when memory is out.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_FRAME_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_FRAME_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "host_runtime/bef/bef_walk.h"
#include "host_runtime/executor/program/program_impl.h"

typedef struct tfrt_call_frame_s tfrt_call_frame_t;

// Waits for the value of one register, whose users it knows. From the storage of values.
typedef struct tfrt_register_waiter_s {
  tfrt_task_t task;
  tfrt_call_frame_t* frame;  // +1
  tfrt_async_value_t* value;
  const uint32_t* users;
  const uint8_t* passed_users;  // NULL: none of them is PASSED
  uint32_t user_count;
  uint32_t stream : 30;        // at most the number of kernels
  uint32_t owns_value : 1;     // +1; else the register's uses keep |value| until all users have it
  uint32_t demands_value : 1;  // else it only awaits it
} tfrt_register_waiter_t;

// A list of ready kernels of one stream, as a task. From the storage of values.
typedef struct tfrt_kernel_group_s {
  tfrt_task_t task;
  tfrt_call_frame_t* frame;  // +1
  uint32_t first;            // kernel; the others follow by |next|
} tfrt_kernel_group_t;

struct tfrt_call_frame_s {
  tfrt_ref_count_t ref_count;
  bool escaped;  // written by the calling thread before anybody else knows the frame
  const tfrt_bef_callable_t* callable;
  tfrt_execution_context_t context;
  tfrt_allocator_t allocator;
  size_t size;                   // of the slab, or of its first block
  size_t second_size;            // of its second block; 0: there is none
  _Atomic(uintptr_t) read_from;  // the records from here on are in memory; 0: all may be
  _Atomic(tfrt_async_value_t*)* registers;
  _Atomic uint32_t* pending;
  _Atomic uint32_t* passed;  // NULL if the function has no non-strict kernel
  uint32_t* next;
  uint32_t* remaining;
};

// In |read_from|: no record was read yet.
#define TFRT_CALL_FRAME_NOTHING_READ ((uintptr_t)1)

// Set in |passed| once a kernel no longer waits for its PASSED arguments.
#define TFRT_CALL_FRAME_FORCED (1u << 31)

// A new frame (+1) for a call of |callable|, or NULL. Enters the scope of |context|.
// Thread-safe.
tfrt_call_frame_t* tfrt_call_frame_create(const tfrt_bef_callable_t* callable,
                                          const tfrt_execution_context_t* context);

// The initial |pending| of a kernel with |binding|, before any argument is there. Thread-safe.
static inline uint32_t tfrt_call_frame_first_pending(const tfrt_kernel_binding_t* binding) {
  uint32_t pending = binding->waited_count + binding->nonstrict;
  // A kernel without arguments waits for the start of the function.
  return pending > 0 ? pending : 1;
}

// Sets |frame->pending| to what it is before anything is there. Thread-compatible.
void tfrt_call_frame_set_pending(tfrt_call_frame_t* frame);

// Sets |frame->passed|, which isn't NULL, to what it is before anything is there.
// Thread-compatible.
void tfrt_call_frame_set_passed(tfrt_call_frame_t* frame);

// Lets records before |at|, which a kernel has, leave memory. Thread-safe.
void tfrt_call_frame_leave_records(tfrt_call_frame_t* frame, uintptr_t from, uintptr_t at);

// The record of |site|, whose kernel runs next. Thread-safe.
static inline const tfrt_bef_record_t* tfrt_call_frame_read_record(tfrt_call_frame_t* frame,
                                                                   const tfrt_kernel_site_t* site) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  // Relaxed: what another thread lets go too early is read again.
  const uintptr_t from = atomic_load_explicit(&frame->read_from, memory_order_relaxed);
  if (TFRT_LIKELY(!from)) return record;
  const uintptr_t distance = (uintptr_t)record - from + TFRT_BEF_WALK_WINDOW;
  if (TFRT_UNLIKELY(distance >= 2 * TFRT_BEF_WALK_WINDOW)) {
    tfrt_call_frame_leave_records(frame, from, (uintptr_t)record);
  }
  return record;
}

// Lets |frame| escape, so that the caller's reference may go to a waiter. Thread-compatible.
void tfrt_call_frame_escape(tfrt_call_frame_t* frame);

// Adds one reference, for a waiter or a task, and returns |frame|. Thread-safe.
tfrt_call_frame_t* tfrt_call_frame_retain(tfrt_call_frame_t* frame);

// Drops one reference. Thread-safe.
void tfrt_call_frame_release(tfrt_call_frame_t* frame);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_FRAME_H_
