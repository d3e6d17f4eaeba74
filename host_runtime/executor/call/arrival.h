// SPDX-License-Identifier: Apache-2.0
//
// How a call learns that something is there, and what becomes ready by that: the counters of
// its kernels go down, and a kernel that lacks nothing goes into the ready list of the path.
// Private to the executor: it does it while it runs, the builder of schedules (schedule_builder.h)
// does the same when a program is loaded, so that both have one order.
//
//   a value --> its users: pending[k] or passed[k] --0--> ready list
//
// Thread rule: thread-safe on the counters; a ready list belongs to its thread.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_ARRIVAL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_ARRIVAL_H_

#include "host_runtime/executor/call/ready_list.h"

// One of the things that |kernel| waits for is there. List's thread only.
static inline void tfrt_arrival_of_one(tfrt_ready_list_t* ready, uint32_t kernel) {
  _Atomic uint32_t* pending = &ready->frame->pending[kernel];
  // The last one to arrive sees what all others did: its acquire, in the load or in the
  // subtraction, pairs with the release in their subtractions. A thread that reads 1 is the only
  // one left and need not write.
  uint32_t left = atomic_load_explicit(pending, memory_order_acquire);
  if (left > 1 && ready->frame->escaped) {
    left = atomic_fetch_sub_explicit(pending, 1, memory_order_acq_rel);
  } else if (left > 1) {
    // Nobody else counts yet.
    atomic_store_explicit(pending, left - 1, memory_order_relaxed);
  }
  if (left == 1) tfrt_ready_list_push(ready, kernel);
}

// One of the PASSED arguments of |kernel| is set. List's thread only.
static inline void tfrt_arrival_of_passed(tfrt_ready_list_t* ready, uint32_t kernel) {
  // Release and acquire: the last one to arrive sees the registers that the others set;
  // its partners are this operation in other threads.
  uint32_t before =
      atomic_fetch_sub_explicit(&ready->frame->passed[kernel], 1, memory_order_acq_rel);
  if (before == 1) tfrt_arrival_of_one(ready, kernel);
}

// Tells |user_count| users that their value is there: those that wait for it
// (|passed| false), or those to which it is only handed on. List's thread only.
static inline void tfrt_arrival_tell(tfrt_ready_list_t* ready, const uint32_t* users,
                                     const uint8_t* passed_users, uint32_t user_count,
                                     bool passed) {
  for (uint32_t i = 0; i < user_count; ++i) {
    bool is_passed = passed_users && passed_users[i];
    if (is_passed != passed) continue;
    if (passed) {
      tfrt_arrival_of_passed(ready, users[i]);
    } else {
      tfrt_arrival_of_one(ready, users[i]);
    }
  }
}

// tfrt_arrival_tell_all() where the results of |record| are only passed to some users, as
// |passed_users| says of those from |users| on. List's thread only.
static inline void tfrt_arrival_tell_all_passed(tfrt_ready_list_t* ready,
                                                const tfrt_bef_record_t* record,
                                                const uint32_t* users, const uint8_t* passed_users,
                                                uint32_t first_result) {
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  for (uint32_t i = first_result; i < record->result_count; ++i) {
    tfrt_arrival_tell(ready, users, passed_users, user_counts[i], true);
    tfrt_arrival_tell(ready, users, passed_users, user_counts[i], false);
    users += user_counts[i];
    passed_users += user_counts[i];
  }
}

// Tells the users of the results of |site| from number |first_result| on, 0 or 1, that they are
// there. List's thread only.
static inline void tfrt_arrival_tell_all(tfrt_ready_list_t* ready, const tfrt_kernel_site_t* site,
                                         uint32_t first_result) {
  const tfrt_bef_record_t* record = tfrt_kernel_site_record(site);
  const uint8_t* passed_users = tfrt_bef_callable_passed_users(ready->frame->callable, site);
  const uint32_t* user_counts = tfrt_bef_record_user_counts(record);
  const uint32_t first_user = first_result > 0 ? user_counts[0] : 0;
  const uint32_t* users = tfrt_bef_record_users(record) + first_user;
  if (TFRT_UNLIKELY(passed_users)) {
    tfrt_arrival_tell_all_passed(ready, record, users, passed_users + first_user, first_result);
    return;
  }
  for (uint32_t i = first_result; i < record->result_count; ++i) {
    for (uint32_t u = 0; u < user_counts[i]; ++u) tfrt_arrival_of_one(ready, *users++);
  }
}

// Starts the kernels without arguments of the list's call. List's thread only.
static inline void tfrt_arrival_start(tfrt_ready_list_t* ready) {
  const tfrt_bef_record_t* start = tfrt_kernel_site_record(&ready->frame->callable->sites[0]);
  const uint32_t* users = tfrt_bef_record_users(start);
  const uint32_t count = tfrt_bef_record_user_counts(start)[0];
  for (uint32_t i = 0; i < count; ++i) tfrt_arrival_of_one(ready, users[i]);
}

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_ARRIVAL_H_
