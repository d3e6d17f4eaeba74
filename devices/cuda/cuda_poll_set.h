// SPDX-License-Identifier: Apache-2.0
//
// A set of points in streams, and of other things, that the driver tells about when it is asked;
// and when to ask.
//
//   stream 7    point 3 --> point 5 --> point 9      asked in this order, up to the first that
//   isn't stream 9    point 1                              over: those behind it can't be of none
//   something                            asked by itself
//
// A stream is asked again after a part of the time that its first point has been waited for: short
// work is noticed soon, long work is not asked for often. The time is counted from when the point
// was added or, behind another one, from when that was over.
//
//   waited          0    12 us       300 us
//   pause           2 us, a sixth of it, 50 us
//   in a hurry      none for 50 us, then the same
//
// Pauses are longer or shorter than that by up to a quarter, at random: work that always takes the
// same time would else always be met at the same point of a pause.
//
// Life:
//  1. Initialised in its owner's storage.
//  2. Polls are added; each look returns those that are over, which then belong to their owners
//     again.
//  3. Needs no end when it is empty.
//
// Thread rule: thread-compatible.
// Failure rule: nothing fails.
#ifndef TFRT_DEVICES_CUDA_CUDA_POLL_SET_H_
#define TFRT_DEVICES_CUDA_CUDA_POLL_SET_H_

#include "host_runtime/async/task.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/random.h"

#define TFRT_CUDA_POLL_MIN_PAUSE_NS (2 * TFRT_NANOSECONDS_PER_MICROSECOND)
#define TFRT_CUDA_POLL_MAX_PAUSE_NS (50 * TFRT_NANOSECONDS_PER_MICROSECOND)
// The pause is this part of the time waited.
#define TFRT_CUDA_POLL_PART 6
#define TFRT_CUDA_POLL_HURRY_NS (50 * TFRT_NANOSECONDS_PER_MICROSECOND)

typedef struct tfrt_cuda_poll_s tfrt_cuda_poll_t;

// Something that is asked for; embedded in what its owner allocates.
struct tfrt_cuda_poll_s {
  // Whether it is over, for good or bad. Called by tfrt_cuda_poll_set_look(); must not block.
  bool (*is_over)(tfrt_cuda_poll_t* poll);
  uint64_t stream;  // a number that no other stream has, from 1; 0: of no stream
  uint64_t place;   // of the point in its stream: points of greater places are reached later
  bool in_hurry;
  // The task may run on the poller's thread, too.
  bool may_run_here;
  // Run or queued when it is over; the storage is the owner's again.
  tfrt_task_t task;
  // The set's:
  tfrt_list_link_t link;
  tfrt_list_link_t behind;  // those of its stream, if this is the first of them
  int64_t since_ns;         // the wait counts from here
  int64_t next_ns;          // it is asked then
  int64_t hurry_until_ns;   // and without a pause until then
};

typedef struct tfrt_cuda_poll_set_s {
  tfrt_list_link_t firsts;  // of each stream
  tfrt_random_t random;
} tfrt_cuda_poll_set_t;

// Makes |set| an empty one. Thread-compatible.
void tfrt_cuda_poll_set_initialize(tfrt_cuda_poll_set_t* set);

// Adds |poll| (+0, alive until it is over) at the time |now_ns|. Thread-compatible.
void tfrt_cuda_poll_set_add(tfrt_cuda_poll_set_t* set, tfrt_cuda_poll_t* poll, int64_t now_ns);

// When to look next; TFRT_TIME_INFINITE if there is nothing to look at. Thread-compatible.
int64_t tfrt_cuda_poll_set_next(const tfrt_cuda_poll_set_t* set);

// Asks those whose time has come by |now_ns|, and moves what is over, linked by |link|, to the end
// of the list |over|. Thread-compatible.
void tfrt_cuda_poll_set_look(tfrt_cuda_poll_set_t* set, int64_t now_ns, tfrt_list_link_t* over);

#endif  // TFRT_DEVICES_CUDA_CUDA_POLL_SET_H_
