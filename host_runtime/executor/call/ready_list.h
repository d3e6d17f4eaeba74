// SPDX-License-Identifier: Apache-2.0
//
// The kernels that one sequential path of an execution may run next. Private to the
// executor.
//
// A path follows one stream at a time. Ready kernels of that stream are *inline*: the
// newest runs first, while its arguments are in the cache. Ready kernels of other streams are
// *outline*. When no inline kernel is left, the path goes on with the stream of the oldest outline
// kernel. The path hands each of the other streams to the work queue, in the order of their
// numbers. Streams that lead to a non-strict kernel go first: such a kernel should start before all
// of its arguments are set. If both the path's own stream and an outline stream are worth a thread
// (schedule_builder.h), the path hands the outline stream on as soon as the kernel that made it
// ready has ended. If all outline streams are cheap, none is handed on, because a task takes
// longer. They are *deferred*, and follow on this path, the latest first.
//
// A late value that a kernel of the path has made gets its waiter as soon as it is known whether
// the path goes on. If the path ends, it passes its own reference to the call to the waiter, and
// counts nothing. Until then the waiter is *held* here.
//
// A group that gets no memory stays deferred.
//
// Lists are linked through an array indexed by kernel, which belongs to the call; kernel
// 0 is never ready and ends a list.
//
// Thread rule: a list belongs to the thread that runs the path.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_READY_LIST_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_READY_LIST_H_

#include "host_runtime/executor/call/call_frame.h"
#include "host_runtime/executor/request/request_context.h"

typedef struct tfrt_ready_list_s {
  tfrt_call_frame_t* frame;
  uint32_t stream;
  uint32_t inline_first;   // newest
  uint32_t outline_first;  // oldest
  uint32_t outline_last;
  bool outline_expensive;   // some of them are worth a thread
  uint32_t deferred_first;  // of cheap streams, or of those on their way to the work queue
  uint32_t deferred_last;
  tfrt_register_waiter_t* held_waiter;  // not with its value yet; NULL: none
  tfrt_register_waiter_t* next_waiter;  // for the next late value (late_value.h); NULL: none yet
} tfrt_ready_list_t;

// True if |kernel| may be worth a thread. A call that another host runs is not, whatever it costs
// there; and made in their order, calls never wait for room at that host that those behind them
// have taken. The maker of a schedule has no request, and no router.
static inline bool tfrt_ready_list_is_expensive(const tfrt_ready_list_t* list, uint32_t kernel) {
  const tfrt_kernel_site_t* site = &list->frame->callable->sites[kernel];
  if (!site->expensive) return false;
  const tfrt_request_context_t* request = list->frame->context.request;
  return !request || !tfrt_call_router_sends(request->options.router, site->binding->call_options);
}

// An empty list of |frame| that follows |stream|.
static inline tfrt_ready_list_t tfrt_ready_list_make(tfrt_call_frame_t* frame, uint32_t stream) {
  return (tfrt_ready_list_t){.frame = frame, .stream = stream};
}

// Adds |kernel|, which has become ready. List's thread only.
static inline void tfrt_ready_list_push(tfrt_ready_list_t* list, uint32_t kernel) {
  uint32_t* next = list->frame->next;
  const tfrt_kernel_site_t* site = &list->frame->callable->sites[kernel];
  if (site->stream_id == list->stream) {
    next[kernel] = list->inline_first;
    list->inline_first = kernel;
    return;
  }
  next[kernel] = 0;
  if (list->outline_first) {
    next[list->outline_last] = kernel;
  } else {
    list->outline_first = kernel;
  }
  list->outline_last = kernel;
  list->outline_expensive |= tfrt_ready_list_is_expensive(list, kernel);
}

// Adds the linked kernels from |first| on, all of the list's stream, in their order.
void tfrt_ready_list_push_group(tfrt_ready_list_t* list, uint32_t first);

// Takes the newest inline kernel, or returns 0. List's thread only.
static inline uint32_t tfrt_ready_list_pop(tfrt_ready_list_t* list) {
  uint32_t kernel = list->inline_first;
  if (kernel) list->inline_first = list->frame->next[kernel];
  return kernel;
}

// Hands on the outline streams that don't have to wait for the own one, as told above, if the
// work queue has threads for them;
// |run_group| is the task function of groups in the work queue. List's thread only.
void tfrt_ready_list_share(tfrt_ready_list_t* list, tfrt_task_fn_t run_group);

// Goes on with another stream, as told above; |run_group| is the task function of the
// groups that go to the work queue. Returns false if there is none. List's thread only.
bool tfrt_ready_list_switch_stream(tfrt_ready_list_t* list, tfrt_task_fn_t run_group);

// Takes the kernel that is next where one thread does all: other streams don't go to the work
// queue, but follow when the path is at its end, in the order in which a queue would run them.
// Returns 0 if nothing is ready. List's thread only.
uint32_t tfrt_ready_list_pop_in_sequence(tfrt_ready_list_t* list);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_READY_LIST_H_
