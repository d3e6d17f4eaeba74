// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cuda_poller.h"

static _Thread_local const tfrt_cuda_poller_t* poller_of_thread;

void tfrt_cuda_poller_initialize(tfrt_cuda_poller_t* poller, tfrt_work_queue_t* work_queue) {
  *poller = (tfrt_cuda_poller_t){.work_queue = work_queue};
  tfrt_mutex_initialize(&poller->mutex);
  tfrt_condition_initialize(&poller->condition);
  tfrt_condition_initialize(&poller->turn);
  tfrt_list_initialize(&poller->incoming);
  tfrt_cuda_poll_set_initialize(&poller->set);
}

bool tfrt_cuda_poller_is_here(const tfrt_cuda_poller_t* poller) {
  return poller_of_thread == poller;
}

void tfrt_cuda_poller_deinitialize(tfrt_cuda_poller_t* poller) {
  tfrt_mutex_lock(&poller->mutex);
  poller->is_stopping = true;
  tfrt_condition_signal(&poller->condition);
  tfrt_condition_broadcast(&poller->turn);
  int count = poller->thread_count;
  tfrt_mutex_unlock(&poller->mutex);
  for (int i = 0; i < count; ++i) tfrt_thread_join(&poller->threads[i]);
  tfrt_condition_deinitialize(&poller->turn);
  tfrt_condition_deinitialize(&poller->condition);
  tfrt_mutex_deinitialize(&poller->mutex);
}

static int64_t cuda_poller_now(void) { return tfrt_clock_now_ns(tfrt_clock_system()); }

// Moves what has come to the set, with the mutex held; returns when to look at it.
static int64_t cuda_poller_take(tfrt_cuda_poller_t* poller) {
  if (!tfrt_list_is_empty(&poller->incoming)) {
    int64_t now_ns = cuda_poller_now();
    for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&poller->incoming));) {
      tfrt_cuda_poll_set_add(&poller->set, TFRT_CONTAINER_OF(l, tfrt_cuda_poll_t, link), now_ns);
    }
  }
  return tfrt_cuda_poll_set_next(&poller->set);
}

// Waits until it is time to look at the set. Returns false when there is nothing more to look at,
// ever.
static bool cuda_poller_wait(tfrt_cuda_poller_t* poller) {
  bool in_time = true;
  tfrt_mutex_lock(&poller->mutex);
  int64_t next_ns = cuda_poller_take(poller);
  while (in_time && next_ns > cuda_poller_now()) {
    poller->wakes_ns = next_ns;
    if (next_ns < TFRT_TIME_INFINITE) {
      in_time = tfrt_condition_wait_until(&poller->condition, &poller->mutex, next_ns);
    } else if (!poller->is_stopping) {
      tfrt_condition_wait(&poller->condition, &poller->mutex);
    } else {
      break;
    }
    next_ns = cuda_poller_take(poller);
  }
  poller->wakes_ns = 0;
  tfrt_mutex_unlock(&poller->mutex);
  return next_ns < TFRT_TIME_INFINITE;
}

// Asks until something is over, and moves it to |over|; nothing, if nothing more will be.
static void cuda_poller_ask(tfrt_cuda_poller_t* poller, tfrt_list_link_t* over) {
  while (cuda_poller_wait(poller)) {
    int64_t now_ns = cuda_poller_now();
    tfrt_cuda_poll_set_look(&poller->set, now_ns, over);
    if (!tfrt_list_is_empty(over)) return;
    // Between two looks without a pause others get a turn.
    if (tfrt_cuda_poll_set_next(&poller->set) <= now_ns) tfrt_thread_yield();
  }
}

// Lets the calling thread be the one that asks, when no other one is. Returns false when it is to
// end.
static bool cuda_poller_begin(tfrt_cuda_poller_t* poller) {
  tfrt_mutex_lock(&poller->mutex);
  ++poller->free_count;
  while (poller->is_asking && !poller->is_stopping) {
    tfrt_condition_wait(&poller->turn, &poller->mutex);
  }
  --poller->free_count;
  // Another thread that asks does what is left.
  bool goes_on = !poller->is_asking;
  if (goes_on) poller->is_asking = true;
  tfrt_mutex_unlock(&poller->mutex);
  return goes_on;
}

// Lets another thread ask. Returns whether there is one that is free.
static bool cuda_poller_end(tfrt_cuda_poller_t* poller) {
  tfrt_mutex_lock(&poller->mutex);
  bool is_free = poller->free_count > 0;
  bool is_needed = tfrt_cuda_poll_set_next(&poller->set) < TFRT_TIME_INFINITE ||
                   !tfrt_list_is_empty(&poller->incoming);
  poller->is_asking = false;
  if (is_needed) tfrt_condition_signal(&poller->turn);
  tfrt_mutex_unlock(&poller->mutex);
  return is_free;
}

static void cuda_poller_run(void* argument) {
  tfrt_cuda_poller_t* poller = argument;
  tfrt_list_link_t over;
  tfrt_list_initialize(&over);
  poller_of_thread = poller;
  tfrt_thread_wake_in_time();
  while (cuda_poller_begin(poller)) {
    cuda_poller_ask(poller, &over);
    bool runs = cuda_poller_end(poller);
    if (tfrt_list_is_empty(&over)) return;
    for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&over));) {
      tfrt_cuda_poll_t* poll = TFRT_CONTAINER_OF(l, tfrt_cuda_poll_t, link);
      if (runs && poll->may_run_here) {
        tfrt_work_queue_run_or_add(poller->work_queue, &poll->task);
      } else {
        tfrt_work_queue_add_task(poller->work_queue, &poll->task);
      }
    }
  }
}

// Starts the threads; one of them is enough.
static tfrt_status_t cuda_poller_start(tfrt_cuda_poller_t* poller) {
  tfrt_status_t status = NULL;
  while (!status && poller->thread_count < TFRT_CUDA_POLLER_THREAD_COUNT) {
    status = tfrt_thread_create("tfrt-cuda", cuda_poller_run, poller,
                                &poller->threads[poller->thread_count]);
    if (!status) ++poller->thread_count;
  }
  if (poller->thread_count == 0) return status;
  tfrt_status_release(status);
  return NULL;
}

tfrt_status_t tfrt_cuda_poller_add(tfrt_cuda_poller_t* poller, tfrt_cuda_poll_t* poll) {
  tfrt_mutex_lock(&poller->mutex);
  tfrt_status_t status = poller->thread_count == 0 ? cuda_poller_start(poller) : NULL;
  if (!status) {
    tfrt_list_push_back(&poller->incoming, &poll->link);
    // Not worth a call of the system if the thread that asks wakes by itself as soon as that.
    bool wakes_soon = poller->is_asking && poller->wakes_ns < TFRT_TIME_INFINITE &&
                      poller->wakes_ns <= cuda_poller_now() + TFRT_CUDA_POLL_MIN_PAUSE_NS;
    if (!wakes_soon) {
      tfrt_condition_signal(poller->is_asking ? &poller->condition : &poller->turn);
    }
  }
  tfrt_mutex_unlock(&poller->mutex);
  return status;
}
