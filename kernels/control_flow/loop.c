// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/loop.h"
#include "host_runtime/async/value_storage.h"

#include <string.h>

#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/control_flow/function_call.h"
#include "kernels/control_flow/loop_judge.h"

// Turns that may be under way before a carried value is waited for: the first one of a repeat,
// any of a while, which without that would go on for ever where a late value is to end it.
#define TFRT_LOOP_BLOCK 32

typedef struct tfrt_loop_s {
  tfrt_task_t task;
  const tfrt_function_t* body;
  tfrt_execution_context_t context;
  size_t size;
  uint32_t carried_count;
  bool is_while;
  int32_t remaining;     // turns of a repeat
  uint32_t block_turns;  // turns since the last look at the carried values
  tfrt_loop_judge_t judge;
  tfrt_async_value_t* room;      // +1; what the loop waits for if it makes too many calls, or NULL
  tfrt_async_value_t** results;  // [carried_count]; indirects, once the kernel has returned
  tfrt_async_value_t** next;     // [carried_count + 1]; what a turn gives
  tfrt_async_value_t* values[];  // [carried_count + 1]; a while's condition is the last
} tfrt_loop_t;

static tfrt_loop_t* loop_allocate(tfrt_kernel_frame_t* frame, uint32_t carried_count) {
  size_t size = sizeof(tfrt_loop_t) + (3 * (size_t)carried_count + 2) * sizeof(void*);
  tfrt_loop_t* loop = tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), size);
  if (!loop) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a loop");
    return NULL;
  }
  loop->body = frame->functions[0];
  tfrt_loop_judge_initialize(&loop->judge, loop->body, carried_count);
  loop->context = *frame->context;
  loop->size = size;
  loop->carried_count = carried_count;
  loop->next = loop->values + carried_count + 1;
  loop->results = loop->next + carried_count + 1;
  for (uint32_t i = 0; i < carried_count; ++i) {
    loop->values[i] = tfrt_async_value_retain(frame->arguments[i + 1]);
  }
  return loop;
}

// The number of values that a turn gives.
static uint32_t loop_value_count(const tfrt_loop_t* loop) {
  return loop->carried_count + loop->is_while;
}

// Makes every carried value |error| (+0).
static void loop_fail(tfrt_loop_t* loop, tfrt_async_value_t* error) {
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    tfrt_async_value_t* old = loop->values[i];
    loop->values[i] = tfrt_async_value_retain(error);
    tfrt_async_value_release(old);
  }
}

static void loop_turn(tfrt_loop_t* loop) {
  // The body owns what it gets, so that it may reuse payloads; the condition stays here.
  tfrt_function_execute_take(loop->body, &loop->context, loop->values, loop->next);
  if (loop->is_while) tfrt_async_value_release(loop->values[loop->carried_count]);
  uint32_t count = loop_value_count(loop);
  for (uint32_t i = 0; i < count; ++i) loop->values[i] = loop->next[i];
}

// A carried value (+0) that isn't there yet, or NULL.
static tfrt_async_value_t* loop_late_value(const tfrt_loop_t* loop) {
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    if (!tfrt_async_value_is_available(loop->values[i])) return loop->values[i];
  }
  return NULL;
}

// Decides on the next turn. Sets |*out_late| to a value (+0) that the loop must await before it, or
// to NULL. Returns false when there is no next turn.
static bool loop_wants_turn(tfrt_loop_t* loop, tfrt_async_value_t** out_late) {
  *out_late = NULL;
  if (!loop->is_while) {
    if (loop->remaining <= 0) return false;
    if (loop->block_turns == TFRT_LOOP_BLOCK && loop->carried_count > 0 &&
        !tfrt_async_value_is_available(loop->values[0])) {
      *out_late = loop->values[0];
    }
    return true;
  }
  tfrt_async_value_t* condition = loop->values[loop->carried_count];
  switch (tfrt_async_value_state(condition)) {
    case TFRT_ASYNC_VALUE_AVAILABLE:
      if (loop->block_turns == TFRT_LOOP_BLOCK) *out_late = loop_late_value(loop);
      return *(const bool*)tfrt_async_value_payload(tfrt_async_value_resolved(condition));
    case TFRT_ASYNC_VALUE_FAILED:
      loop_fail(loop, tfrt_async_value_resolved(condition));
      return false;
    default:
      *out_late = condition;
      return true;
  }
}

// A value (+0) that the loop must await before it makes more calls to other hosts, or NULL.
static tfrt_async_value_t* loop_await_room(tfrt_loop_t* loop) {
  tfrt_call_router_t* router = loop->context.request->options.router;
  if (!router || !atomic_load_explicit(&router->is_crowded, memory_order_relaxed)) return NULL;
  loop->room = router->vtable->room(router);
  return loop->room;
}

// Frees the memory of |loop|.
static void loop_free(tfrt_loop_t* loop) {
  tfrt_loop_judge_deinitialize(&loop->judge);
  tfrt_allocator_free(tfrt_value_storage_allocator(), loop, loop->size);
}

static void loop_drop_room(tfrt_loop_t* loop) {
  tfrt_async_value_release(loop->room);
  loop->room = NULL;
}

// Runs turns until the end, and returns NULL then, or until a value is late, and returns
// that (+0).
static tfrt_async_value_t* loop_run(tfrt_loop_t* loop) {
  tfrt_async_value_t* late = NULL;
  while (loop_wants_turn(loop, &late)) {
    tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(loop->context.request);
    if (cancelled) {
      loop_fail(loop, cancelled);
      return NULL;
    }
    if (!late) late = loop_await_room(loop);
    if (late) return late;
    if (loop->block_turns == TFRT_LOOP_BLOCK) loop->block_turns = 0;
    ++loop->block_turns;
    if (!loop->is_while) --loop->remaining;
    tfrt_loop_judge_begin_turn(&loop->judge, loop->values);
    loop_turn(loop);
    if (tfrt_loop_judge_end_turn(&loop->judge, loop->values)) return NULL;
  }
  return NULL;
}

// Gives the carried values to the results of a suspended loop and frees it.
static void loop_finish(tfrt_loop_t* loop) {
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)loop->results[i], loop->values[i]);
    tfrt_async_value_release(loop->results[i]);
  }
  if (loop->is_while) tfrt_async_value_release(loop->values[loop->carried_count]);
  tfrt_execution_context_t context = loop->context;
  tfrt_program_t* program = (tfrt_program_t*)loop->body->program;
  loop_free(loop);
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

static void loop_resume(tfrt_task_t* task) {
  tfrt_loop_t* loop = TFRT_CONTAINER_OF(task, tfrt_loop_t, task);
  loop->block_turns = 0;
  loop_drop_room(loop);
  tfrt_async_value_t* late = loop_run(loop);
  if (late) {
    tfrt_async_value_and_then(late, &loop->task);
  } else {
    loop_finish(loop);
  }
}

// Makes |loop| go on by itself once |late| is there: the frame gets indirect results.
// Returns false when memory is out; then nothing has changed.
static bool loop_suspend(tfrt_loop_t* loop, tfrt_kernel_frame_t* frame, tfrt_async_value_t* late) {
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    tfrt_indirect_value_t* result = tfrt_indirect_value_create();
    if (!result) {
      for (uint32_t k = 0; k < i; ++k) tfrt_async_value_release(loop->results[k]);
      return false;
    }
    loop->results[i] = &result->base;
  }
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(loop->results[i]));
  }
  tfrt_program_retain((tfrt_program_t*)loop->body->program);
  tfrt_request_context_retain(loop->context.request);
  tfrt_call_scope_enter(loop->context.scope);
  tfrt_task_initialize(&loop->task, loop_resume);
  tfrt_async_value_and_then(late, &loop->task);
  return true;
}

// Runs |loop| (consumed) as far as it gets and sets the frame's results.
static void loop_start(tfrt_loop_t* loop, tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* late = loop_run(loop);
  if (late && loop_suspend(loop, frame, late)) return;
  if (late) loop_fail(loop, tfrt_async_value_out_of_memory());
  loop_drop_room(loop);
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    tfrt_kernel_frame_set(frame, i, loop->values[i]);
  }
  if (loop->is_while) tfrt_async_value_release(loop->values[loop->carried_count]);
  loop_free(loop);
}

void tfrt_loop_repeat(tfrt_kernel_frame_t* frame, int32_t count) {
  uint32_t carried_count = frame->argument_count - 1;
  if (frame->result_count != carried_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a repeat of %u values has %u results", carried_count,
                           frame->result_count);
    return;
  }
  if (!tfrt_function_call_fits(frame, frame->functions[0], carried_count, carried_count)) return;
  tfrt_loop_t* loop = loop_allocate(frame, carried_count);
  if (!loop) return;
  loop->remaining = count;
  loop_start(loop, frame);
}

// The loop reads the condition as an i1, so its type is checked here: a file may come from any
// writer.
static bool loop_gives_condition(tfrt_kernel_frame_t* frame, const tfrt_function_t* body) {
  if (strcmp(body->result_types[body->result_count - 1], "i1") == 0) return true;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "the last result of '%s' must be the next condition, an i1", body->name);
  return false;
}

void tfrt_loop_while(tfrt_kernel_frame_t* frame) {
  uint32_t carried_count = frame->argument_count - 1;
  const tfrt_function_t* body = frame->functions[0];
  if (frame->result_count != carried_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a while of %u values has %u results", carried_count,
                           frame->result_count);
    return;
  }
  if (!tfrt_function_call_fits(frame, body, carried_count, carried_count + 1) ||
      !loop_gives_condition(frame, body)) {
    return;
  }
  tfrt_loop_t* loop = loop_allocate(frame, carried_count);
  if (!loop) return;
  loop->is_while = true;
  loop->values[carried_count] = tfrt_async_value_retain(frame->arguments[0]);
  loop_start(loop, frame);
}
