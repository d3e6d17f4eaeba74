// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_poller.h"

#include "host_runtime/base/clock.h"

#define TFRT_CUDA_POLLER_MIN_PAUSE_NS (5 * TFRT_NANOSECONDS_PER_MICROSECOND)
#define TFRT_CUDA_POLLER_MAX_PAUSE_NS (500 * TFRT_NANOSECONDS_PER_MICROSECOND)

void tfrt_cuda_poller_initialize(tfrt_cuda_poller_t* poller, tfrt_work_queue_t* work_queue) {
  *poller = (tfrt_cuda_poller_t){.work_queue = work_queue};
  tfrt_mutex_initialize(&poller->mutex);
  tfrt_condition_initialize(&poller->condition);
  tfrt_list_initialize(&poller->incoming);
}

void tfrt_cuda_poller_deinitialize(tfrt_cuda_poller_t* poller) {
  tfrt_mutex_lock(&poller->mutex);
  poller->is_stopping = true;
  tfrt_condition_signal(&poller->condition);
  bool has_thread = poller->has_thread;
  tfrt_mutex_unlock(&poller->mutex);
  if (has_thread) tfrt_thread_join(&poller->thread);
  tfrt_condition_deinitialize(&poller->condition);
  tfrt_mutex_deinitialize(&poller->mutex);
}

// Queues what of |pending| is over; returns whether there was any.
static bool tfrt_cuda_poller_ask(tfrt_cuda_poller_t* poller, tfrt_list_link_t* pending) {
  bool any = false;
  for (tfrt_list_link_t* l = pending->next; l != pending;) {
    tfrt_cuda_poll_t* poll = TFRT_CONTAINER_OF(l, tfrt_cuda_poll_t, link);
    l = l->next;
    if (!poll->is_over(poll)) continue;
    tfrt_list_remove(&poll->link);
    tfrt_work_queue_add_task(poller->work_queue, &poll->task);
    any = true;
  }
  return any;
}

// Waits for |pause_ns|, or, when nothing is pending, for something to do; moves what has come
// to |pending|. Returns false when the thread is to end.
static bool tfrt_cuda_poller_wait(tfrt_cuda_poller_t* poller, tfrt_list_link_t* pending,
                                  int64_t* pause_ns) {
  int64_t until_ns = tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), *pause_ns);
  bool in_time = true;
  tfrt_mutex_lock(&poller->mutex);
  while (in_time && !poller->is_stopping && tfrt_list_is_empty(&poller->incoming)) {
    if (tfrt_list_is_empty(pending)) {
      tfrt_condition_wait(&poller->condition, &poller->mutex);
    } else {
      in_time = tfrt_condition_wait_until(&poller->condition, &poller->mutex, until_ns);
    }
  }
  if (!tfrt_list_is_empty(&poller->incoming)) *pause_ns = TFRT_CUDA_POLLER_MIN_PAUSE_NS;
  tfrt_list_move_all(pending, &poller->incoming);
  bool goes_on = !poller->is_stopping || !tfrt_list_is_empty(pending);
  tfrt_mutex_unlock(&poller->mutex);
  return goes_on;
}

static void tfrt_cuda_poller_run(void* argument) {
  tfrt_cuda_poller_t* poller = argument;
  tfrt_list_link_t pending;
  tfrt_list_initialize(&pending);
  int64_t pause_ns = TFRT_CUDA_POLLER_MIN_PAUSE_NS;
  while (tfrt_cuda_poller_wait(poller, &pending, &pause_ns)) {
    if (tfrt_cuda_poller_ask(poller, &pending)) {
      pause_ns = TFRT_CUDA_POLLER_MIN_PAUSE_NS;
    } else if (pause_ns < TFRT_CUDA_POLLER_MAX_PAUSE_NS) {
      pause_ns *= 2;
    }
  }
}

tfrt_status_t tfrt_cuda_poller_add(tfrt_cuda_poller_t* poller, tfrt_cuda_poll_t* poll) {
  tfrt_mutex_lock(&poller->mutex);
  tfrt_status_t status = NULL;
  if (!poller->has_thread) {
    status = tfrt_thread_create("tfrt-cuda", tfrt_cuda_poller_run, poller, &poller->thread);
    poller->has_thread = status == NULL;
  }
  if (!status) {
    tfrt_list_push_back(&poller->incoming, &poll->link);
    tfrt_condition_signal(&poller->condition);
  }
  tfrt_mutex_unlock(&poller->mutex);
  return status;
}
