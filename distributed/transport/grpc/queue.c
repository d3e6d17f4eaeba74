// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/queue.h"

#include <stdlib.h>

#include "distributed/transport/grpc/grpc_functions.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/parker.h"

void tfrt_grpc_event_initialize(tfrt_grpc_event_t* event, tfrt_grpc_event_fn_t run) {
  event->run = run;
  atomic_init(&event->hand_over, 0);
}

// --- The thread --------------------------------------------------------------

static int64_t next_timer_ns(const tfrt_grpc_queue_t* queue) {
  return tfrt_list_is_empty(&queue->timers) ? TFRT_TIME_INFINITE : queue->earliest_ns;
}

static gpr_timespec next_deadline(const tfrt_grpc_queue_t* queue) {
  const int64_t timer_ns = next_timer_ns(queue);
  if (timer_ns == TFRT_TIME_INFINITE) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_from_nanos(timer_ns, GPR_CLOCK_MONOTONIC);
}

static void expire_timers(tfrt_grpc_queue_t* queue) {
  int64_t now_ns = tfrt_clock_now_ns(tfrt_clock_system());
  if (now_ns < queue->earliest_ns) return;
  tfrt_list_link_t due;
  tfrt_list_initialize(&due);
  queue->earliest_ns = TFRT_TIME_INFINITE;
  for (tfrt_list_link_t *link = queue->timers.next, *next; link != &queue->timers; link = next) {
    next = link->next;
    tfrt_grpc_timer_t* timer = TFRT_CONTAINER_OF(link, tfrt_grpc_timer_t, link);
    if (timer->deadline_ns <= now_ns) {
      tfrt_list_remove(link);
      tfrt_list_push_back(&due, link);
    } else if (timer->deadline_ns < queue->earliest_ns) {
      queue->earliest_ns = timer->deadline_ns;
    }
  }
  // One that expires may take another one out of |due|: so the first one, again and again.
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&due));) {
    tfrt_grpc_timer_t* timer = TFRT_CONTAINER_OF(link, tfrt_grpc_timer_t, link);
    timer->expire(timer);
  }
}

// Looks for the next event for a while, if the turn before had one: where one has come the next is
// mostly near, and where a part of a message has, its rest. A timeout if the thread shall sleep.
static grpc_event look_for_event(tfrt_grpc_queue_t* queue, int64_t now_ns, int64_t timer_ns) {
  const tfrt_clock_t clock = tfrt_clock_system();
  const int64_t linger_ns = queue->is_near ? TFRT_TUNING_NEAR_LINGER_NS : TFRT_TUNING_LINGER_NS;
  int64_t end_ns = now_ns + linger_ns;
  bool has_waited = false;
  while (queue->lingers && now_ns < end_ns && now_ns < timer_ns) {
    const int64_t begin_ns = now_ns;
    grpc_event event = grpc_completion_queue_next(queue->completion_queue,
                                                  gpr_inf_past(GPR_CLOCK_MONOTONIC), NULL);
    if (event.type != GRPC_QUEUE_TIMEOUT) {
      // An event that is there at once is mostly the end of a write of ours, and says nothing about
      // peers.
      if (has_waited) queue->is_near = true;
      return event;
    }
    has_waited = true;
    now_ns = tfrt_clock_now_ns(clock);
    if (now_ns - begin_ns > TFRT_TUNING_READING_NS) end_ns = now_ns + linger_ns;
    if (!tfrt_parker_linger()) break;
    now_ns = tfrt_clock_now_ns(clock);
  }
  return (grpc_event){.type = GRPC_QUEUE_TIMEOUT};
}

// The next event, or that of the next timer's time.
static grpc_event await_event(tfrt_grpc_queue_t* queue) {
  const tfrt_clock_t clock = tfrt_clock_system();
  const int64_t begin_ns = tfrt_clock_now_ns(clock);
  grpc_event event = look_for_event(queue, begin_ns, next_timer_ns(queue));
  if (event.type != GRPC_QUEUE_TIMEOUT) return event;
  event = grpc_completion_queue_next(queue->completion_queue, next_deadline(queue), NULL);
  queue->is_near =
      event.type == GRPC_OP_COMPLETE && tfrt_clock_now_ns(clock) - begin_ns < TFRT_TUNING_NEAR_NS;
  return event;
}

// Takes one event; false after the last.
static bool run_turn(void* argument) {
  tfrt_grpc_queue_t* queue = argument;
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&queue->next_turn));) task->run(task);
  grpc_event completion = await_event(queue);
  queue->lingers = completion.type == GRPC_OP_COMPLETE;
  if (completion.type == GRPC_QUEUE_SHUTDOWN) return false;
  if (completion.type == GRPC_OP_COMPLETE) {
    tfrt_grpc_event_t* event = completion.tag;
    // Acquire: pairs with the release store of tfrt_grpc_event_hand_over().
    (void)atomic_load_explicit(&event->hand_over, memory_order_acquire);
    event->run(event, completion.success != 0);
  }
  // Not only when |next| says that the time is up: it does not while events keep coming.
  if (!tfrt_list_is_empty(&queue->timers)) expire_timers(queue);
  return true;
}

// --- Life --------------------------------------------------------------------

static void free_queue(tfrt_grpc_queue_t* queue) {
  tfrt_allocator_t allocator = queue->allocator;
  tfrt_mutex_deinitialize(&queue->mutex);
  tfrt_allocator_free(allocator, queue->spans,
                      queue->span_capacity * sizeof(tfrt_transport_span_t));
  tfrt_allocator_free(allocator, queue, sizeof(*queue));
}

static void open_queue(tfrt_grpc_queue_t* queue) {
  queue->completion_queue = grpc_completion_queue_create_for_next(NULL);
  queue->post_channel =
      grpc_lame_client_channel_create("post", GRPC_STATUS_UNAVAILABLE, "leads nowhere");
  queue->post_call = grpc_channel_create_call(
      queue->post_channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue->completion_queue,
      grpc_slice_from_static_string("/post"), NULL, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  queue->is_open = true;
}

static void stop_posting(tfrt_grpc_queue_t* queue) {
  tfrt_mutex_lock(&queue->mutex);
  queue->is_open = false;
  tfrt_mutex_unlock(&queue->mutex);
  grpc_call_unref(queue->post_call);
  grpc_channel_destroy(queue->post_channel);
  grpc_completion_queue_shutdown(queue->completion_queue);
}

tfrt_status_t tfrt_grpc_queue_create(const char* name, tfrt_allocator_t allocator,
                                     tfrt_grpc_queue_t** out_queue) {
  *out_queue = NULL;
  tfrt_grpc_queue_t* queue = tfrt_allocator_allocate_zeroed(allocator, sizeof(*queue));
  if (!queue) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&queue->ref_count);
  queue->allocator = allocator;
  tfrt_mutex_initialize(&queue->mutex);
  tfrt_list_initialize(&queue->timers);
  queue->earliest_ns = TFRT_TIME_INFINITE;
  open_queue(queue);
  tfrt_status_t status = tfrt_reader_pair_start(&queue->threads, name, run_turn, queue);
  if (tfrt_status_is_ok(status)) {
    *out_queue = queue;
    return NULL;
  }
  stop_posting(queue);
  while (run_turn(queue)) {
    // Nothing is in it but its end.
  }
  grpc_completion_queue_destroy(queue->completion_queue);
  free_queue(queue);
  return status;
}

void tfrt_grpc_queue_release(tfrt_grpc_queue_t* queue) {
  if (!queue || !tfrt_ref_count_decrement(&queue->ref_count)) return;
  free_queue(queue);
}

void tfrt_grpc_queue_shut_down(tfrt_grpc_queue_t* queue) {
  stop_posting(queue);
  tfrt_reader_pair_join(&queue->threads);
  grpc_completion_queue_destroy(queue->completion_queue);
}

// --- Events ------------------------------------------------------------------

void tfrt_grpc_queue_start_batch(grpc_call* call, const grpc_op* operations, size_t count,
                                 tfrt_grpc_event_t* event) {
  tfrt_grpc_event_hand_over(event);
  grpc_call_error error = grpc_call_start_batch(call, operations, count, event, NULL);
  if (error == GRPC_CALL_OK) return;
  // No event would ever come, and its owner would wait for ever.
  tfrt_log(TFRT_LOG_ERROR, NULL, "gRPC does not take an operation: %s",
           grpc_call_error_to_string(error));
  abort();
}

bool tfrt_grpc_queue_post(tfrt_grpc_queue_t* queue, tfrt_grpc_event_t* event) {
  tfrt_mutex_lock(&queue->mutex);
  bool is_open = queue->is_open;
  // Under the lock, so that the call is not given up meanwhile. Nothing runs inside of an
  // empty batch that could come back here.
  if (is_open) tfrt_grpc_queue_start_batch(queue->post_call, NULL, 0, event);
  tfrt_mutex_unlock(&queue->mutex);
  return is_open;
}

// --- The thread's own --------------------------------------------------------

void tfrt_grpc_queue_add_timer(tfrt_grpc_queue_t* queue, tfrt_grpc_timer_t* timer) {
  // With no timer left, |earliest_ns| may be that of one that is gone.
  bool is_first = tfrt_list_is_empty(&queue->timers) || timer->deadline_ns < queue->earliest_ns;
  if (is_first) queue->earliest_ns = timer->deadline_ns;
  tfrt_list_push_back(&queue->timers, &timer->link);
}

void tfrt_grpc_queue_remove_timer(tfrt_grpc_timer_t* timer) { tfrt_list_remove(&timer->link); }
