// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/late_value.h"

#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/request/call_scope.h"

bool tfrt_late_value_reserve_slow(tfrt_ready_list_t* ready) {
  ready->next_waiter = tfrt_value_storage_allocate(sizeof(*ready->next_waiter));
  return ready->next_waiter != NULL;
}

void tfrt_late_value_free_waiter(tfrt_register_waiter_t* waiter) {
  tfrt_value_storage_free(waiter, sizeof(*waiter));
}

// Puts the waiter that |ready| holds with its value; it has a reference to the call.
static void place_waiter(tfrt_ready_list_t* ready) {
  tfrt_register_waiter_t* waiter = ready->held_waiter;
  ready->held_waiter = NULL;
  if (waiter->demands_value) {
    tfrt_async_value_and_then(waiter->value, &waiter->task);
  } else {
    tfrt_async_value_await(waiter->value, &waiter->task);
  }
}

void tfrt_late_value_place(tfrt_ready_list_t* ready) {
  tfrt_call_frame_retain(ready->frame);
  place_waiter(ready);
}

void tfrt_late_value_end_path(tfrt_ready_list_t* ready) {
  if (TFRT_UNLIKELY(ready->next_waiter)) tfrt_late_value_free_waiter(ready->next_waiter);
  if (!ready->held_waiter) {
    tfrt_call_frame_release(ready->frame);
    return;
  }
  tfrt_call_frame_escape(ready->frame);
  place_waiter(ready);
}

// True if |value| is, or is known to stand for, a value that another host makes.
static bool is_owned_elsewhere(tfrt_async_value_t* value) {
  tfrt_async_value_t* held = tfrt_async_value_retain(value);
  bool is_elsewhere = false;
  while (held && held->kind == TFRT_ASYNC_VALUE_INDIRECT && !is_elsewhere) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)held;
    is_elsewhere = indirect->resolver != NULL;
    tfrt_async_value_t* target = is_elsewhere ? NULL : tfrt_indirect_value_target(indirect);
    tfrt_async_value_release(held);
    held = target;
  }
  tfrt_async_value_release(held);
  return is_elsewhere;
}

void tfrt_late_value_wait(tfrt_ready_list_t* ready, uint32_t register_index, const uint32_t* users,
                          const uint8_t* passed_users, uint32_t user_count,
                          tfrt_async_value_t* value, tfrt_task_fn_t on_value) {
  tfrt_call_frame_t* frame = ready->frame;
  uint8_t flags = frame->callable->register_flags[register_index];
  bool waited_for = flags & (TFRT_REGISTER_DEMANDED | TFRT_REGISTER_AWAITED);
  // A call is over only when all of its values are settled; who has no scope doesn't ask. A value
  // that is owned elsewhere is no work of this call: its maker has entered the scope itself.
  if (!waited_for && !frame->context.scope) return;
  if (!waited_for && is_owned_elsewhere(value)) return;
  tfrt_late_value_let_wait(ready);
  tfrt_register_waiter_t* waiter = ready->next_waiter;
  ready->next_waiter = NULL;
  tfrt_task_initialize(&waiter->task, on_value);
  waiter->frame = frame;
  waiter->value = value;
  // The register keeps its uses until its users have been visited, unless it is anticipated.
  waiter->owns_value = user_count == 0 || (flags & TFRT_REGISTER_ANTICIPATED);
  if (waiter->owns_value) tfrt_async_value_retain(value);
  waiter->demands_value = (flags & TFRT_REGISTER_DEMANDED) != 0;
  waiter->users = users;
  waiter->passed_users = passed_users;
  waiter->user_count = user_count;
  waiter->stream = ready->stream;
  ready->held_waiter = waiter;
}
