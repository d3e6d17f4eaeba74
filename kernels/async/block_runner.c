// SPDX-License-Identifier: Apache-2.0
//
// Runs a function of several blocks, each a function of its own:
//
//   block(chain, arguments...) -> (chain, selector if it has several successors, values...)
//
//   1. A block is called.
//   2. Once its chain is there, and its selector, the successor that this names gets those of the
//      block's results that |edges| lists. With an error there, all results are that error.
//   3. A block without successors hands its results on as the function's, in any state.
//
// |edges| begins with the place of each block in it. At that place stands the number of successors.
// For each successor follow its block, the number of its arguments, and the place of each argument
// among the results of the block before. A return has no successors: the number of results follows,
// and their places.
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/async/kernel_parts.h"

typedef struct tfrt_block_runner_s {
  tfrt_task_t task;
  tfrt_execution_context_t context;
  const tfrt_function_t* const* blocks;  // of the program
  const int32_t* edges;                  // likewise
  uint32_t block;                        // the one that is running, or comes next
  uint32_t result_count;
  size_t size;
  tfrt_async_value_t** given;    // what the block is called with: +1 each
  tfrt_async_value_t** gotten;   // what it gave: +1 each
  tfrt_async_value_t** results;  // [result_count]
  bool is_suspended;             // the results are indirects that the frame has
  bool is_called;                // |gotten| is set
  tfrt_async_value_t* values[];
} tfrt_block_runner_t;

static const int32_t* block_runner_edges(const tfrt_block_runner_t* runner) {
  return runner->edges + runner->edges[runner->block];
}

// --- Life -------------------------------------------------------------------------------------

static bool block_runner_is_sound(tfrt_kernel_frame_t* frame) {
  const tfrt_bef_array_t edges = tfrt_bef_attribute_array(frame->attributes[0]);
  const int32_t* data = edges.data;
  uint32_t blocks = frame->function_count;
  bool sound = blocks > 0 && edges.count >= blocks &&
               frame->functions[0]->argument_count == frame->argument_count;
  for (uint32_t b = 0; sound && b < blocks; ++b) {
    uint32_t results = frame->functions[b]->result_count;
    int64_t at = data[b];
    sound =
        at >= blocks && at < edges.count && frame->functions[b]->argument_count > 0 && results > 0;
    int64_t successors = sound ? data[at++] : 0;
    bool is_return = successors == 0;
    sound = sound && successors >= 0 && (successors < 2 || results >= 2);
    for (int64_t s = 0; sound && s < (is_return ? 1 : successors); ++s) {
      int64_t target = is_return ? 0 : at < edges.count ? data[at++] : -1;
      int64_t count = at < edges.count ? data[at++] : -1;
      sound = target >= 0 && target < blocks && count >= 0 && at + count <= edges.count;
      uint32_t wanted = !sound      ? 0
                        : is_return ? frame->result_count
                                    : frame->functions[target]->argument_count - 1;
      sound = sound && count == wanted;
      for (int64_t i = 0; sound && i < count; ++i) {
        // The chain goes to the next block by itself.
        int32_t first = is_return ? 0 : 1;
        sound = data[at + i] >= first && (uint32_t)data[at + i] < results;
      }
      at += sound ? count : 0;
    }
  }
  if (!sound) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "the edges fit no such blocks");
  }
  return sound;
}

static tfrt_block_runner_t* block_runner_allocate(tfrt_kernel_frame_t* frame) {
  size_t given = 0;
  size_t gotten = 0;
  for (uint32_t i = 0; i < frame->function_count; ++i) {
    const tfrt_function_t* block = frame->functions[i];
    if (block->argument_count > given) given = block->argument_count;
    if (block->result_count > gotten) gotten = block->result_count;
  }
  size_t size =
      sizeof(tfrt_block_runner_t) + (given + gotten + frame->result_count) * sizeof(void*);
  tfrt_block_runner_t* runner = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  if (!runner) return NULL;
  runner->size = size;
  runner->context = *frame->context;
  runner->blocks = frame->functions;
  runner->edges = tfrt_bef_attribute_array(frame->attributes[0]).data;
  runner->result_count = frame->result_count;
  runner->given = runner->values;
  runner->gotten = runner->given + given;
  runner->results = runner->gotten + gotten;
  for (uint32_t i = 0; i < frame->argument_count; ++i) {
    runner->given[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  return runner;
}

static void block_runner_release(tfrt_async_value_t** values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_async_value_release(values[i]);
    values[i] = NULL;
  }
}

// --- Results ------------------------------------------------------------------------------------

// Sets result |index| to |value| (+1).
static void block_runner_set(tfrt_block_runner_t* runner, uint32_t index,
                             tfrt_async_value_t* value) {
  if (!runner->is_suspended) {
    runner->results[index] = value;
    return;
  }
  tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)runner->results[index], value);
  tfrt_async_value_release(runner->results[index]);
}

// Makes all results |error| (+0), and drops what is under way.
static void block_runner_fail(tfrt_block_runner_t* runner, tfrt_async_value_t* error) {
  for (uint32_t i = 0; i < runner->result_count; ++i) {
    block_runner_set(runner, i, tfrt_async_value_retain(error));
  }
  const tfrt_function_t* block = runner->blocks[runner->block];
  if (runner->is_called) {
    block_runner_release(runner->gotten, block->result_count);
  } else {
    block_runner_release(runner->given, block->argument_count);
  }
}

static void block_runner_return(tfrt_block_runner_t* runner) {
  const int32_t* edges = block_runner_edges(runner) + 2;
  for (uint32_t i = 0; i < runner->result_count; ++i) {
    // Retained: a result that is set may be gone, and another one may be the same value.
    block_runner_set(runner, i, tfrt_async_value_retain(runner->gotten[edges[i]]));
  }
  block_runner_release(runner->gotten, runner->blocks[runner->block]->result_count);
}

// --- Turns -------------------------------------------------------------------------------------

// The number of the successor that the block's selector names: an i1 is 0 where it is true.
static uint32_t block_runner_choice(const tfrt_block_runner_t* runner, int32_t count) {
  if (count == 1) return 0;
  tfrt_async_value_t* selector = tfrt_async_value_resolved(runner->gotten[1]);
  const void* payload = tfrt_async_value_payload(selector);
  if (selector->type_id == TFRT_TYPE_I1) return *(const bool*)payload ? 0 : 1;
  uint32_t choice = selector->type_id == TFRT_TYPE_I32 ? *(const uint32_t*)payload : 0;
  return choice < (uint32_t)count ? choice : 0;
}

// Moves |count| results of the block, at |places|, to |given|, and drops the others.
static void block_runner_hand_on(tfrt_block_runner_t* runner, const int32_t* places, uint32_t count,
                                 tfrt_async_value_t** given) {
  tfrt_async_value_t** gotten = runner->gotten;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_async_value_t* value = gotten[places[i]];
    // Moved already: a place may be listed more than once.
    for (uint32_t j = 0; !value; ++j) {
      if (places[j] == places[i]) value = tfrt_async_value_retain(given[j]);
    }
    given[i] = value;
    gotten[places[i]] = NULL;
  }
  block_runner_release(gotten, runner->blocks[runner->block]->result_count);
}

// Gives the successor what it is called with.
static void block_runner_go_on(tfrt_block_runner_t* runner) {
  const int32_t* edges = block_runner_edges(runner);
  int32_t successors = *edges++;
  uint32_t choice = block_runner_choice(runner, successors);
  for (uint32_t i = 0; i < choice; ++i) edges += 2 + edges[1];
  runner->given[0] = runner->gotten[0];
  runner->gotten[0] = NULL;
  block_runner_hand_on(runner, edges + 2, (uint32_t)edges[1], runner->given + 1);
  runner->block = (uint32_t)edges[0];
  runner->is_called = false;
}

// A result of the block (+0) that has to be waited for, or NULL. Sets |*out_error| to an error (+0)
// among what was waited for, or NULL.
static tfrt_async_value_t* block_runner_late(const tfrt_block_runner_t* runner,
                                             tfrt_async_value_t** out_error) {
  int32_t successors = *block_runner_edges(runner);
  *out_error = NULL;
  for (int i = 0; i < (successors > 1 ? 2 : 1); ++i) {
    tfrt_async_value_t* value = runner->gotten[i];
    if (!tfrt_async_value_is_available(value)) return value;
    if (!*out_error && tfrt_async_value_is_error(value)) {
      *out_error = tfrt_async_value_resolved(value);
    }
  }
  return NULL;
}

// Runs blocks until the end, and returns NULL then, or until something is late, and returns
// that (+0).
static tfrt_async_value_t* block_runner_run(tfrt_block_runner_t* runner) {
  for (;;) {
    if (!runner->is_called) {
      tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(runner->context.request);
      if (cancelled) {
        block_runner_fail(runner, cancelled);
        return NULL;
      }
      tfrt_function_execute_take(runner->blocks[runner->block], &runner->context, runner->given,
                                 runner->gotten);
      runner->is_called = true;
    }
    if (*block_runner_edges(runner) == 0) {
      block_runner_return(runner);
      return NULL;
    }
    tfrt_async_value_t* error = NULL;
    tfrt_async_value_t* late = block_runner_late(runner, &error);
    if (late) return late;
    if (error) {
      block_runner_fail(runner, error);
      return NULL;
    }
    block_runner_go_on(runner);
  }
}

static void block_runner_resume(tfrt_task_t* task) {
  tfrt_block_runner_t* runner = TFRT_CONTAINER_OF(task, tfrt_block_runner_t, task);
  tfrt_async_value_t* late = block_runner_run(runner);
  if (late) {
    tfrt_async_value_and_then(late, &runner->task);
    return;
  }
  tfrt_execution_context_t context = runner->context;
  tfrt_program_t* program = (tfrt_program_t*)runner->blocks[0]->program;
  tfrt_allocator_free(tfrt_allocator_system(), runner, runner->size);
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

// Makes |runner| go on by itself once |late| is there: the frame gets indirect results.
static bool block_runner_suspend(tfrt_block_runner_t* runner, tfrt_kernel_frame_t* frame,
                                 tfrt_async_value_t* late) {
  for (uint32_t i = 0; i < runner->result_count; ++i) {
    tfrt_indirect_value_t* result = tfrt_indirect_value_create();
    if (!result) {
      block_runner_release(runner->results, i);
      return false;
    }
    runner->results[i] = &result->base;
  }
  for (uint32_t i = 0; i < runner->result_count; ++i) {
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(runner->results[i]));
  }
  runner->is_suspended = true;
  tfrt_program_retain((tfrt_program_t*)runner->blocks[0]->program);
  tfrt_request_context_retain(runner->context.request);
  tfrt_call_scope_enter(runner->context.scope);
  tfrt_task_initialize(&runner->task, block_runner_resume);
  tfrt_async_value_and_then(late, &runner->task);
  return true;
}

void tfrt_async_run_blocks(tfrt_kernel_frame_t* frame) {
  if (!block_runner_is_sound(frame)) return;
  tfrt_block_runner_t* runner = block_runner_allocate(frame);
  if (!runner) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for blocks");
    return;
  }
  tfrt_async_value_t* late = block_runner_run(runner);
  if (late && block_runner_suspend(runner, frame, late)) return;
  if (late) block_runner_fail(runner, tfrt_async_value_out_of_memory());
  for (uint32_t i = 0; i < runner->result_count; ++i) {
    tfrt_kernel_frame_set(frame, i, runner->results[i]);
  }
  tfrt_allocator_free(tfrt_allocator_system(), runner, runner->size);
}
