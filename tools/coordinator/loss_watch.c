// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/loss_watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "host_runtime/async/builtin_types.h"
#include "tools/coordinator/open_calls.h"
#include "tools/coordinator/run_report.h"

// How long host 0 may take to end the run by the loss. It dials the lost host once more 5 ms behind
// the first time.
#define TFRT_LOSS_WATCH_TELL_MS 15

// How long its answer is waited for behind that. It comes in some milliseconds, or host 0 is busy.
#define TFRT_LOSS_WATCH_ANSWER_MS 1000

// Whether some call of |plan| names hosts to try again on.
static bool loss_watch_has_retries(const tfrt_run_plan_t* plan) {
  for (uint32_t i = 0; i < tfrt_bef_file_function_count(plan->file); ++i) {
    const tfrt_bef_function_t* function = tfrt_bef_file_function(plan->file, i);
    for (uint32_t c = 0; c < function->call_options_count; ++c) {
      if (function->call_options[c].options.retries > 0) return true;
    }
  }
  return false;
}

static void loss_watch_on_loss(tfrt_task_t* task) {
  tfrt_run_loop_wake(TFRT_CONTAINER_OF(task, tfrt_loss_watch_t, on_loss)->loop);
}

static void loss_watch_on_answer(tfrt_task_t* task) {
  tfrt_run_loop_wake(TFRT_CONTAINER_OF(task, tfrt_loss_watch_t, on_answer)->loop);
}

void tfrt_loss_watch_start(tfrt_loss_watch_t* watch, tfrt_client_t* client, tfrt_run_loop_t* loop,
                           const tfrt_run_plan_t* plan, bool ends_run) {
  const bool has_retries = loss_watch_has_retries(plan);
  *watch = (tfrt_loss_watch_t){.client = client,
                               .loop = loop,
                               .plan = plan,
                               .ends_run = ends_run && !has_retries,
                               .has_retries = has_retries};
  tfrt_task_initialize(&watch->on_loss, loss_watch_on_loss);
  tfrt_async_value_and_then(tfrt_client_first_loss(client), &watch->on_loss);
}

// Asks host 0 what it waits for.
static void loss_watch_ask(tfrt_loss_watch_t* watch) {
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_INVENTORY};
  watch->inventory = tfrt_client_ask(watch->client, 0, &question);
  tfrt_task_initialize(&watch->on_answer, loss_watch_on_answer);
  tfrt_async_value_and_then(watch->inventory, &watch->on_answer);
}

// Prints what is waited for, as far as host 0 has said it.
static void loss_watch_tell_waiting(const tfrt_loss_watch_t* watch) {
  char id[TFRT_CLIENT_JOB_ID_SIZE];
  tfrt_client_job_id(watch->client, id);
  tfrt_async_value_t* lines = NULL;
  tfrt_string_builder_t open;
  tfrt_string_builder_initialize(&open, tfrt_allocator_system());
  if (tfrt_async_value_is_available(watch->inventory)) {
    lines = tfrt_client_lines_take(tfrt_async_value_retain(watch->inventory));
  }
  if (lines && !tfrt_async_value_is_error(lines)) {
    char lost[17];
    snprintf(lost, sizeof(lost), "%016" PRIx64, tfrt_status_fields(watch->told)->root_key);
    tfrt_open_calls_append(tfrt_async_value_string(lines), tfrt_string_view_of(id),
                           tfrt_string_view_of(lost), &open);
  }
  // Names come from programs and peers.
  tfrt_string_builder_t shown;
  tfrt_string_builder_initialize(&shown, tfrt_allocator_system());
  tfrt_string_builder_append_shown(&shown, tfrt_string_builder_view(&open));
  fprintf(stderr, "tfrt: still waiting for @%s%s%s%s\n", watch->plan->function->name,
          shown.size > 0 ? ", for " : "", tfrt_string_builder_text(&shown),
          watch->has_retries ? " (calls that have retries are made again)"
                             : " (--stop-on-loss would end it)");
  tfrt_string_builder_deinitialize(&shown);
  tfrt_string_builder_deinitialize(&open);
  tfrt_async_value_release(lines);
}

// Prints |loss|, and ends the run if the user wants that.
static void loss_watch_tell(tfrt_loss_watch_t* watch, tfrt_status_t loss) {
  watch->told = loss;
  tfrt_run_report_error(loss);
  if (watch->ends_run) {
    watch->step = TFRT_LOSS_WATCH_DONE;
    tfrt_run_loop_end_early(watch->loop, loss);
    return;
  }
  watch->step = TFRT_LOSS_WATCH_TOLD;
  loss_watch_ask(watch);
  tfrt_run_loop_start_alarm(watch->loop, TFRT_LOSS_WATCH_ANSWER_MS);
}

void tfrt_loss_watch_look(tfrt_loss_watch_t* watch) {
  tfrt_async_value_t* loss = tfrt_client_first_loss(watch->client);
  if (watch->step == TFRT_LOSS_WATCH_NONE && tfrt_async_value_is_error(loss)) {
    watch->step = TFRT_LOSS_WATCH_SEEN;
    tfrt_run_loop_start_alarm(watch->loop, TFRT_LOSS_WATCH_TELL_MS);
  }
  if (watch->step == TFRT_LOSS_WATCH_SEEN && watch->loop->alarm_is_over) {
    loss_watch_tell(watch, tfrt_async_value_error(loss));
  }
  bool is_answered = watch->loop->alarm_is_over ||
                     (watch->inventory && tfrt_async_value_is_available(watch->inventory));
  if (watch->step == TFRT_LOSS_WATCH_TOLD && is_answered) {
    watch->step = TFRT_LOSS_WATCH_DONE;
    loss_watch_tell_waiting(watch);
  }
}

void tfrt_loss_watch_deinitialize(tfrt_loss_watch_t* watch) {
  tfrt_async_value_release(watch->inventory);
  watch->inventory = NULL;
}
