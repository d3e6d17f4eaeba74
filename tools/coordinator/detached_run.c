// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/detached_run.h"

#include <stdio.h>

#include "host_runtime/async/builtin_types.h"
#include "tools/coordinator/value_wait.h"

// Between two looks at how far the upload is.
#define TFRT_DETACHED_RUN_PERIOD_MS 5

// Waits for |value| and says why it is an error.
static tfrt_status_t detached_run_await(tfrt_cluster_run_t* run, tfrt_async_value_t* value) {
  TFRT_RETURN_IF_ERROR(tfrt_value_wait(run->client, value, run->loop, 0, true));
  return tfrt_async_value_is_error(value) ? tfrt_status_retain(tfrt_async_value_error(value))
                                          : NULL;
}

// No line is asked for.
static void detached_run_ignore_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  (void)self;
  (void)rank;
  (void)text;
}

// Sets |*out_is_through| if the root needs nothing more from here.
static tfrt_status_t detached_run_look(tfrt_cluster_run_t* run, const char* id,
                                       bool* out_is_through) {
  tfrt_client_following_t following = {0};
  const tfrt_client_question_t question = {
      .kind = TFRT_CLIENT_ASK_FOLLOW, .about = tfrt_string_view_of(id), .number = UINT64_MAX};
  tfrt_async_value_t* value = tfrt_client_ask(run->client, 0, &question);
  tfrt_status_t status = detached_run_await(run, value);
  if (!status) {
    status = tfrt_client_read_following(value, detached_run_ignore_line, NULL, &following);
  }
  *out_is_through = !status && !following.is_starting;
  tfrt_async_value_release(value);
  return status;
}

// Why there is no start (+0), or OK. If there is one, the root says how it goes on.
static tfrt_status_t detached_run_refusal(const tfrt_run_plan_t* plan) {
  tfrt_async_value_t* ended = plan->ended ? *plan->ended : NULL;
  return ended && tfrt_async_value_is_error(ended) ? tfrt_async_value_error(ended) : NULL;
}

static tfrt_status_t detached_run_begin(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan,
                                        char id[TFRT_CLIENT_JOB_ID_SIZE]) {
  TFRT_RETURN_IF_ERROR(detached_run_await(run, tfrt_client_opened(run->client)));
  TFRT_RETURN_IF_ERROR(tfrt_cluster_run_check_devices(run, plan));
  tfrt_client_job_id(run->client, id);
  tfrt_cluster_run_start(run, plan);
  for (;;) {
    // Before the look: a start that was made is seen by that, also if it has ended since.
    tfrt_status_t refusal = detached_run_refusal(plan);
    bool is_through = false;
    TFRT_RETURN_IF_ERROR(detached_run_look(run, id, &is_through));
    if (is_through) return NULL;
    if (refusal) return tfrt_status_retain(refusal);
    tfrt_run_loop_start_alarm(run->loop, TFRT_DETACHED_RUN_PERIOD_MS);
    while (!run->loop->alarm_is_over && !run->loop->cancelled) tfrt_run_loop_turn(run->loop);
  }
}

tfrt_status_t tfrt_detached_run_execute(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan,
                                        tfrt_exit_code_t* out_exit_code) {
  char id[TFRT_CLIENT_JOB_ID_SIZE];
  tfrt_status_t status = tfrt_cluster_run_create_client(run);
  if (!status) status = detached_run_begin(run, plan, id);
  if (!status) {
    printf(run->options->is_json ? "{\"job\":\"%s\"}\n" : "%s\n", id);
    // The job runs on. If its id can't be printed on the standard output, the user still needs the
    // id to end the job.
    if (fflush(stdout) != 0 || ferror(stdout)) fprintf(stderr, "tfrt: the job is %s\n", id);
    tfrt_client_end(run->client, TFRT_CLIENT_LEAVES_JOB, NULL);
  }
  *out_exit_code = TFRT_EXIT_SUCCESS;
  if (!status) return NULL;
  if (run->client && tfrt_client_has_lost(run->client, status)) {
    *out_exit_code = tfrt_exit_code_of_loss(status);
  } else if (status == detached_run_refusal(plan)) {
    *out_exit_code = tfrt_exit_code_of_result(status);
  } else {
    *out_exit_code = tfrt_exit_code_of_cluster(status);
  }
  return status;
}
