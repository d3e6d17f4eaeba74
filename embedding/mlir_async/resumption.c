// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/resumption.h"

#include "embedding/mlir_async/pool.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/async/work_queue.h"

// Resumptions of coroutines that find resolved what they wait for go this deep on the stack.
#define MAX_DEPTH 32

// The coroutines that a thread is to resume.
typedef struct agenda_s {
  uint32_t depth;  // of resumptions that this thread is in
  tfrt_task_list_t ready;
  tfrt_task_t* collected;  // the newest first: as AsyncValues call those who wait
} agenda_t;

static _Thread_local agenda_t agenda __attribute__((tls_model("initial-exec")));

static tfrt_mlir_waiter_t* new_waiter(tfrt_task_fn_t run, void* frame,
                                      tfrt_mlir_resume_fn_t resume) {
  tfrt_mlir_waiter_t* waiter = &tfrt_mlir_slot_allocate(TFRT_MLIR_SLOT_64)->waiter;
  tfrt_task_initialize(&waiter->task, run);
  waiter->frame = frame;
  waiter->resume = resume;
  return waiter;
}

// Frees the waiter of |task| and resumes its frame.
static void resume_task(tfrt_task_t* task) {
  tfrt_mlir_waiter_t* waiter = TFRT_CONTAINER_OF(task, tfrt_mlir_waiter_t, task);
  void* frame = waiter->frame;
  tfrt_mlir_resume_fn_t resume = waiter->resume;
  tfrt_mlir_slot_free(TFRT_MLIR_SLOT_64, TFRT_CONTAINER_OF(waiter, tfrt_mlir_slot_t, waiter));
  resume(frame);
}

// Does what is ready, at the end of the outermost resumption.
static void leave(void) {
  while (agenda.depth == 1 && agenda.ready.first) {
    resume_task(tfrt_task_list_pop_front(&agenda.ready));
  }
  --agenda.depth;
}

// Runs on a thread of the pool.
static void run_in_pool(tfrt_task_t* task) {
  ++agenda.depth;
  resume_task(task);
  leave();
}

static void collect(tfrt_task_t* task) {
  task->next = agenda.collected;
  agenda.collected = task;
}

void tfrt_mlir_resume_in_pool(void* frame, tfrt_mlir_resume_fn_t resume) {
  tfrt_work_queue_add_task(tfrt_mlir_pool_queue(), &new_waiter(run_in_pool, frame, resume)->task);
}

void tfrt_mlir_resume_collected(void) {
  while (agenda.collected) {
    tfrt_task_t* task = agenda.collected;
    agenda.collected = task->next;
    tfrt_task_list_push_back(&agenda.ready, task);
  }
  if (agenda.depth > 0 || !agenda.ready.first) return;
  ++agenda.depth;
  leave();
}

void tfrt_mlir_resume_when_resolved(tfrt_async_value_t* value, void* frame,
                                    tfrt_mlir_resume_fn_t resume) {
  if (!tfrt_async_value_is_available(value)) {
    tfrt_async_value_watch(value, &new_waiter(collect, frame, resume)->task);
    // Resolved meanwhile.
    if (agenda.collected) tfrt_mlir_resume_collected();
  } else if (agenda.depth < MAX_DEPTH) {
    ++agenda.depth;
    resume(frame);
    leave();
  } else {
    tfrt_task_list_push_back(&agenda.ready, &new_waiter(collect, frame, resume)->task);
  }
}

// Lets the pool do what this thread was to do.
static void give_ready_to_pool(void) {
  tfrt_task_t* task;
  while ((task = tfrt_task_list_pop_front(&agenda.ready))) {
    task->run = run_in_pool;
    tfrt_work_queue_add_task(tfrt_mlir_pool_queue(), task);
  }
}

void tfrt_mlir_block_until_resolved(tfrt_async_value_t* value) {
  if (tfrt_async_value_is_available(value)) return;
  give_ready_to_pool();
  // If the pool runs tasks on this thread while it waits, these are outermost ones.
  const uint32_t depth = agenda.depth;
  agenda.depth = 0;
  tfrt_work_queue_await(tfrt_mlir_pool_queue(), &value, 1);
  agenda.depth = depth;
}
