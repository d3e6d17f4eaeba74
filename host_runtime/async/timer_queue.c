// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/timer_queue.h"

#include <assert.h>

// --- The heap ----------------------------------------------------------------
//
// A pairing heap needs neither an array nor a balance: starting a timer is one
// comparison, taking one out is logarithmic over a series of them.

static bool is_earlier(const tfrt_timer_t* a, const tfrt_timer_t* b) {
  if (a->deadline_ns != b->deadline_ns) return a->deadline_ns < b->deadline_ns;
  return a->sequence < b->sequence;
}

// Makes the later of two roots the first child of the earlier, which is returned.
static tfrt_timer_t* meld(tfrt_timer_t* a, tfrt_timer_t* b) {
  if (!a) return b;
  if (!b) return a;
  tfrt_timer_t* parent = is_earlier(a, b) ? a : b;
  tfrt_timer_t* child = parent == a ? b : a;
  child->next_sibling = parent->first_child;
  if (child->next_sibling) child->next_sibling->previous = child;
  child->previous = parent;
  parent->first_child = child;
  return parent;
}

static tfrt_timer_t* detach(tfrt_timer_t* timer) {
  timer->next_sibling = NULL;
  timer->previous = NULL;
  return timer;
}

// Melds the siblings from |first| on into one heap: in pairs from left to right, then
// the pairs from right to left. That order is what makes it logarithmic.
static tfrt_timer_t* meld_siblings(tfrt_timer_t* first) {
  tfrt_timer_t* pairs = NULL;  // linked by |next_sibling|, the last one first
  while (first) {
    tfrt_timer_t* a = first;
    tfrt_timer_t* b = a->next_sibling;
    first = b ? b->next_sibling : NULL;
    tfrt_timer_t* pair = meld(detach(a), b ? detach(b) : NULL);
    pair->next_sibling = pairs;
    pairs = pair;
  }
  tfrt_timer_t* root = NULL;
  while (pairs) {
    tfrt_timer_t* next = pairs->next_sibling;
    root = meld(root, detach(pairs));
    pairs = next;
  }
  return root;
}

static void remove_locked(tfrt_timer_queue_t* queue, tfrt_timer_t* timer) {
  tfrt_timer_t* children = meld_siblings(timer->first_child);
  if (timer == queue->root) {
    queue->root = children;
  } else {
    if (timer->previous->first_child == timer) {
      timer->previous->first_child = timer->next_sibling;
    } else {
      timer->previous->next_sibling = timer->next_sibling;
    }
    if (timer->next_sibling) timer->next_sibling->previous = timer->previous;
    queue->root = meld(queue->root, children);
  }
  timer->first_child = NULL;
  detach(timer);
  timer->is_waiting = false;
}

// --- The queue ---------------------------------------------------------------

void tfrt_timer_queue_initialize(tfrt_timer_queue_t* queue, tfrt_clock_t clock) {
  *queue = (tfrt_timer_queue_t){.clock = clock};
  tfrt_mutex_initialize(&queue->mutex);
  tfrt_condition_initialize(&queue->condition);
}

static int64_t next_deadline_locked(const tfrt_timer_queue_t* queue) {
  return queue->root ? queue->root->deadline_ns : TFRT_TIME_INFINITE;
}

// Runs what is due, with the lock held before and after, but not meanwhile.
static size_t run_due_locked(tfrt_timer_queue_t* queue) {
  int64_t now_ns = tfrt_clock_now_ns(queue->clock);
  size_t count = 0;
  while (queue->root && queue->root->deadline_ns <= now_ns) {
    tfrt_timer_t* timer = queue->root;
    remove_locked(queue, timer);
    // Read with the lock held: from here on its owner may start it again.
    tfrt_timer_fn_t run = timer->run;
    tfrt_mutex_unlock(&queue->mutex);
    run(timer);
    ++count;
    tfrt_mutex_lock(&queue->mutex);
  }
  return count;
}

static void run_thread(void* argument) {
  tfrt_timer_queue_t* queue = argument;
  tfrt_mutex_lock(&queue->mutex);
  while (!queue->is_stopping) {
    if (run_due_locked(queue) > 0) continue;
    int64_t deadline_ns = next_deadline_locked(queue);
    if (deadline_ns == TFRT_TIME_INFINITE) {
      tfrt_condition_wait(&queue->condition, &queue->mutex);
    } else {
      (void)tfrt_condition_wait_until(&queue->condition, &queue->mutex, deadline_ns);
    }
  }
  tfrt_mutex_unlock(&queue->mutex);
}

tfrt_status_t tfrt_timer_queue_start_thread(tfrt_timer_queue_t* queue) {
  assert(!queue->has_thread);
  TFRT_RETURN_IF_ERROR(tfrt_thread_create("tfrt-timer", run_thread, queue, &queue->thread));
  queue->has_thread = true;
  return NULL;
}

void tfrt_timer_queue_deinitialize(tfrt_timer_queue_t* queue) {
  tfrt_mutex_lock(&queue->mutex);
  queue->is_stopping = true;
  tfrt_condition_broadcast(&queue->condition);
  tfrt_mutex_unlock(&queue->mutex);
  if (queue->has_thread) tfrt_thread_join(&queue->thread);
  assert(!queue->root);
  tfrt_condition_deinitialize(&queue->condition);
  tfrt_mutex_deinitialize(&queue->mutex);
}

void tfrt_timer_start(tfrt_timer_queue_t* queue, tfrt_timer_t* timer, int64_t deadline_ns,
                      tfrt_timer_fn_t run) {
  tfrt_mutex_lock(&queue->mutex);
  *timer = (tfrt_timer_t){
      .deadline_ns = deadline_ns,
      .sequence = queue->next_sequence++,
      .run = run,
      .is_waiting = true,
  };
  queue->root = meld(queue->root, timer);
  // The thread sleeps until the deadline that was first; this one is earlier now.
  if (queue->root == timer) tfrt_condition_signal(&queue->condition);
  tfrt_mutex_unlock(&queue->mutex);
}

bool tfrt_timer_cancel(tfrt_timer_queue_t* queue, tfrt_timer_t* timer) {
  tfrt_mutex_lock(&queue->mutex);
  bool was_waiting = timer->is_waiting;
  if (was_waiting) remove_locked(queue, timer);
  tfrt_mutex_unlock(&queue->mutex);
  return was_waiting;
}

int64_t tfrt_timer_queue_next_deadline(tfrt_timer_queue_t* queue) {
  tfrt_mutex_lock(&queue->mutex);
  int64_t deadline_ns = next_deadline_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
  return deadline_ns;
}

size_t tfrt_timer_queue_run_due(tfrt_timer_queue_t* queue) {
  tfrt_mutex_lock(&queue->mutex);
  size_t count = run_due_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
  return count;
}
