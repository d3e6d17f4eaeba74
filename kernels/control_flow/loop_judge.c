// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/loop_judge.h"

#include <string.h>

void tfrt_loop_judge_initialize(tfrt_loop_judge_t* judge, const tfrt_function_t* body,
                                uint32_t carried_count) {
  *judge = (tfrt_loop_judge_t){.body = body, .carried_count = carried_count};
}

static void loop_judge_drop_held(tfrt_loop_judge_t* judge) {
  for (uint32_t i = 0; judge->held && i < judge->carried_count; ++i) {
    tfrt_status_release(judge->held[i]);
    judge->held[i] = NULL;
  }
}

void tfrt_loop_judge_deinitialize(tfrt_loop_judge_t* judge) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  const size_t count = judge->body->result_count;
  loop_judge_drop_held(judge);
  tfrt_allocator_free(allocator, judge->held, judge->carried_count * sizeof(*judge->held));
  tfrt_allocator_free(allocator, judge->now, count * sizeof(*judge->now));
  tfrt_allocator_free(allocator, judge->end, count * sizeof(*judge->end));
}

static bool loop_judge_has_error(const tfrt_loop_judge_t* judge,
                                 tfrt_async_value_t* const* values) {
  for (uint32_t i = 0; i < judge->carried_count; ++i) {
    if (tfrt_async_value_is_error(values[i])) return true;
  }
  return false;
}

// False without memory.
static bool loop_judge_make_room(tfrt_loop_judge_t* judge) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  const size_t count = judge->body->result_count;
  if (!judge->held) {
    judge->held =
        tfrt_allocator_allocate_zeroed(allocator, judge->carried_count * sizeof(*judge->held));
  }
  if (!judge->now) {
    judge->now = tfrt_allocator_allocate_zeroed(allocator, count * sizeof(*judge->now));
  }
  if (!judge->end) {
    judge->end = tfrt_allocator_allocate_zeroed(allocator, count * sizeof(*judge->end));
  }
  return judge->held && judge->now && judge->end;
}

static tfrt_forecast_t loop_judge_state(const tfrt_loop_judge_t* judge, uint32_t index,
                                        tfrt_async_value_t* value) {
  if (!tfrt_async_value_is_available(value)) return TFRT_FORECAST_OPEN;
  if (tfrt_async_value_is_error(value)) return TFRT_FORECAST_ERROR;
  return tfrt_call_forecast_is_argument(judge->body, index, index) ? TFRT_FORECAST_SAME
                                                                   : TFRT_FORECAST_OPEN;
}

// The most looks between two forecasts.
#define TFRT_LOOP_JUDGE_MAX_WAIT 2048

// Notes what |values| are. Returns true if a forecast is due: others are errors now, or it is some
// time since the last forecast, which came to nothing.
static bool loop_judge_note(tfrt_loop_judge_t* judge, tfrt_async_value_t* const* values) {
  bool is_new = false;
  for (uint32_t i = 0; i < judge->carried_count; ++i) {
    bool was_error = judge->now[i] == TFRT_FORECAST_ERROR;
    judge->now[i] = loop_judge_state(judge, i, values[i]);
    is_new |= was_error != (judge->now[i] == TFRT_FORECAST_ERROR);
  }
  if (!is_new && ++judge->looks < judge->wait) return false;
  judge->looks = 0;
  judge->wait = is_new || judge->wait == 0               ? 1
                : judge->wait < TFRT_LOOP_JUDGE_MAX_WAIT ? 2 * judge->wait
                                                         : judge->wait;
  return true;
}

// Whether, by the forecast, turns change nothing, and do nothing.
static bool loop_judge_is_idle(tfrt_loop_judge_t* judge) {
  const tfrt_function_t* body = judge->body;
  for (bool is_settled = false; !is_settled;) {
    if (!tfrt_call_forecast(body, judge->now, judge->end)) return false;
    is_settled = true;
    for (uint32_t i = 0; i < judge->carried_count; ++i) {
      if (judge->now[i] == judge->end[i]) continue;
      if (judge->now[i] != TFRT_FORECAST_OPEN || judge->end[i] != TFRT_FORECAST_SAME) return false;
      // From the next turn on it is what the body makes of constants.
      judge->now[i] = TFRT_FORECAST_SAME;
      is_settled = false;
    }
  }
  for (uint32_t i = 0; i < body->result_count; ++i) {
    if (judge->end[i] == TFRT_FORECAST_OPEN) return false;
  }
  return true;
}

void tfrt_loop_judge_look(tfrt_loop_judge_t* judge, tfrt_async_value_t* const* values) {
  judge->turns = 0;
  if (!loop_judge_has_error(judge, values) || !loop_judge_make_room(judge)) return;
  if (!loop_judge_note(judge, values) || !loop_judge_is_idle(judge)) return;
  judge->is_proving = true;
  for (uint32_t i = 0; i < judge->carried_count; ++i) {
    if (!tfrt_async_value_is_error(values[i])) continue;
    judge->held[i] = tfrt_status_retain(tfrt_async_value_error(values[i]));
  }
}

static bool loop_judge_same_text(const char* a, const char* b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

// Whether nobody can tell |a| and |b| apart.
static bool loop_judge_same_error(tfrt_status_t a, tfrt_status_t b) {
  if (a == b) return true;
  const tfrt_status_fields_t* f = tfrt_status_fields(a);
  const tfrt_status_fields_t* g = tfrt_status_fields(b);
  return f->code == g->code && f->root_key == g->root_key && f->cause_count == g->cause_count &&
         f->origin.rank == g->origin.rank && f->origin.incarnation == g->origin.incarnation &&
         f->origin.line == g->origin.line && f->origin.column == g->origin.column &&
         loop_judge_same_text(f->message, g->message) &&
         loop_judge_same_text(f->origin.function, g->origin.function) &&
         loop_judge_same_text(f->origin.kernel, g->origin.kernel) &&
         loop_judge_same_text(f->origin.file, g->origin.file);
}

bool tfrt_loop_judge_conclude(tfrt_loop_judge_t* judge, tfrt_async_value_t* const* values) {
  bool is_same = true;
  for (uint32_t i = 0; i < judge->carried_count; ++i) {
    bool is_error =
        tfrt_async_value_is_available(values[i]) && tfrt_async_value_is_error(values[i]);
    is_same =
        is_same && is_error == (judge->held[i] != NULL) &&
        (!is_error || loop_judge_same_error(judge->held[i], tfrt_async_value_error(values[i])));
  }
  judge->is_proving = false;
  loop_judge_drop_held(judge);
  return is_same;
}
