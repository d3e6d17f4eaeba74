// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/attach_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tools/coordinator/cluster_inventory.h"
#include "tools/coordinator/line_printer.h"
#include "tools/coordinator/run_report.h"

// Between two questions to a job that has nothing new to say; from the first to the second number,
// twice as long each time.
#define TFRT_ATTACH_MIN_PERIOD_MS 10u
#define TFRT_ATTACH_MAX_PERIOD_MS 160u

// The job, and what is asked of its root.
typedef struct tfrt_attach_s {
  tfrt_host_query_t* query;
  char id[TFRT_CLIENT_JOB_ID_SIZE];
  uint32_t root;  // which host of the query
  uint32_t matches;
  bool is_detached;
  bool is_over;     // its root answers; if that doesn't have it, nobody has
  bool has_ended;   // what it returns is fetched
  uint64_t from;    // the line that is asked for
  uint32_t result;  // the result that is
  char function[TFRT_CLIENT_FUNCTION_SIZE];
  bool is_loss;
  bool is_silent;  // it is not found, and a worker that may have it did not answer
  bool is_deaf;    // nobody takes the lines
} tfrt_attach_t;

// --- Finding -------------------------------------------------------------------

static tfrt_status_t attach_check(tfrt_host_query_t* query) {
  if (query->rest.count == 1 && query->rest.values[0][0] != '\0') return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "name one job, as `tfrt run --detach` and `tfrt list jobs` do");
}

// Notes the job of |line|, which host |host| says, if it begins with |name|.
static void attach_match(tfrt_attach_t* attach, const tfrt_cluster_inventory_t* inventory,
                         const tfrt_inventory_line_t* line, uint32_t host, const char* name) {
  tfrt_string_view_t id = tfrt_inventory_line_text(line, "job");
  size_t size = strlen(name);
  if (!tfrt_inventory_line_is(line, "job") || id.size < size || memcmp(id.data, name, size) != 0) {
    return;
  }
  // Over, but for what this host has still to put away.
  if (tfrt_inventory_line_has(line, "state", tfrt_string_view_of("closed"))) return;
  bool is_known = attach->matches > 0 && strlen(attach->id) == id.size &&
                  memcmp(attach->id, id.data, id.size) == 0;
  if (!is_known && ++attach->matches == 1) {
    snprintf(attach->id, sizeof(attach->id), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(id));
  }
  bool is_kept = tfrt_inventory_line_has(line, "state", tfrt_string_view_of("kept"));
  if (is_kept || tfrt_inventory_line_has(line, "state", tfrt_string_view_of("detached"))) {
    attach->is_detached = true;
  }
  if (tfrt_inventory_line_number(line, "rank") == 0) attach->root = host;
  tfrt_string_view_t root = tfrt_inventory_line_text(line, "root");
  if (tfrt_cluster_inventory_find(inventory, root) != UINT32_MAX) attach->is_over = true;
}

// The error (+1) of a worker that was met and lost before it had said what it has, or OK.
static tfrt_status_t attach_lost_worker(const tfrt_host_query_t* query) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_status_t error = tfrt_host_query_error(query, i);
    if (!error || !tfrt_client_has_lost(query->host[i].client, error)) continue;
    return tfrt_host_query_named_error(query, i);
  }
  return NULL;
}

static tfrt_status_t attach_forgotten(const char* name) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "there is no job '%s' any more: its host 0 has forgotten it", name);
}

// The error (+1) for the job |name| if no worker has reported to be host 0 of the job. That host
// may not have answered.
static tfrt_status_t attach_missing_root(tfrt_attach_t* attach, const char* name) {
  tfrt_host_query_t* query = attach->query;
  if (query->loop.cancelled) return tfrt_status_retain(query->loop.cancelled);
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    if (!tfrt_host_query_error(query, i)) continue;
    attach->is_silent = true;
    return tfrt_host_query_named_error(query, i);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "host 0 of the job '%s' is not among the workers: name all of them",
                            name);
}

static tfrt_status_t attach_find(tfrt_attach_t* attach) {
  static tfrt_cluster_inventory_t inventory;
  const char* name = attach->query->rest.values[0];
  attach->root = UINT32_MAX;
  TFRT_RETURN_IF_ERROR(
      tfrt_cluster_inventory_gather(attach->query, TFRT_CLIENT_INVENTORY_JOBS, &inventory));
  for (uint32_t i = 0; i < inventory.host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory.lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      attach_match(attach, &inventory, &line, i, name);
    }
  }
  // It may have been host 0.
  if (attach->root == UINT32_MAX) TFRT_RETURN_IF_ERROR(attach_lost_worker(attach->query));
  if (attach->matches == 0) {
    tfrt_status_t silence = tfrt_host_query_check_answered(attach->query);
    attach->is_silent = true;
    return silence ? silence : tfrt_host_query_not_found(attach->query, "job", name);
  }
  if (attach->matches > 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' fits %u jobs; give more digits",
                              name, attach->matches);
  }
  if (attach->root == UINT32_MAX && attach->is_over) return attach_forgotten(name);
  if (!attach->is_detached) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the job '%s' was not started with --detach: only its own `tfrt run` "
                              "has what it prints",
                              name);
  }
  return attach->root != UINT32_MAX ? NULL : attach_missing_root(attach, name);
}

// --- Following -----------------------------------------------------------------

static tfrt_async_value_t* attach_ask_follow(void* self, tfrt_client_t* client, uint32_t index) {
  const tfrt_attach_t* attach = self;
  if (index != attach->root) return NULL;
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_FOLLOW,
                                           .about = tfrt_string_view_of(attach->id),
                                           .number = attach->from};
  return tfrt_client_ask(client, 0, &question);
}

static tfrt_async_value_t* attach_ask_result(void* self, tfrt_client_t* client, uint32_t index) {
  const tfrt_attach_t* attach = self;
  if (index != attach->root) return NULL;
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_KEPT_RESULT,
                                           .about = tfrt_string_view_of(attach->id),
                                           .number = attach->result};
  return tfrt_client_ask(client, 0, &question);
}

// An answer that is printed.
typedef struct tfrt_attach_answer_s {
  tfrt_attach_t* attach;
  tfrt_client_following_t following;
} tfrt_attach_answer_t;

// Prints, once, how many lines are missing before those of |answer|.
static void attach_print_gap(tfrt_attach_answer_t* answer) {
  tfrt_attach_t* attach = answer->attach;
  uint64_t from = answer->following.from;
  if (from <= attach->from) return;
  fprintf(stderr, "tfrt: %" PRIu64 " older lines were dropped: host 0 keeps the last MiB\n",
          from - attach->from);
  attach->from = from;
}

static void attach_print_line(void* self, uint32_t rank, tfrt_string_view_t text) {
  tfrt_attach_answer_t* answer = self;
  attach_print_gap(answer);
  if (!answer->attach->is_deaf) answer->attach->is_deaf = !tfrt_line_printer_print(rank, text);
}

// Asks once, and prints what is new.
static tfrt_status_t attach_look(tfrt_attach_t* attach, tfrt_client_following_t* out_following) {
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask(attach->query, attach_ask_follow, attach));
  tfrt_status_t error = tfrt_host_query_error(attach->query, attach->root);
  if (error) return tfrt_status_retain(error);
  tfrt_attach_answer_t answer = {.attach = attach};
  TFRT_RETURN_IF_ERROR(tfrt_client_read_following(attach->query->host[attach->root].answer,
                                                  attach_print_line, &answer, &answer.following));
  attach_print_gap(&answer);
  fflush(stdout);
  attach->from = answer.following.next;
  snprintf(attach->function, sizeof(attach->function), "%s", answer.following.function);
  attach->is_loss = answer.following.is_loss;
  *out_following = answer.following;
  return NULL;
}

static void attach_pause(tfrt_run_loop_t* loop, uint64_t period_ms) {
  tfrt_run_loop_start_alarm(loop, period_ms);
  while (!loop->alarm_is_over && !loop->cancelled) tfrt_run_loop_turn(loop);
}

// Prints what comes until the job has ended. Sets |*out_result_count|.
static tfrt_status_t attach_follow(tfrt_attach_t* attach, uint32_t* out_result_count) {
  tfrt_run_loop_t* loop = &attach->query->loop;
  uint64_t period_ms = TFRT_ATTACH_MIN_PERIOD_MS;
  tfrt_client_following_t answer = {0};
  while (!answer.has_ended || answer.has_more) {
    uint64_t from = attach->from;
    TFRT_RETURN_IF_ERROR(attach_look(attach, &answer));
    if (attach->is_deaf) tfrt_run_loop_give_up(loop);
    if (loop->cancelled) return tfrt_status_retain(loop->cancelled);
    *out_result_count = answer.result_count;
    if (attach->from != from) period_ms = TFRT_ATTACH_MIN_PERIOD_MS;
    if (answer.has_ended || answer.has_more) continue;
    attach_pause(loop, period_ms);
    if (loop->cancelled) return tfrt_status_retain(loop->cancelled);
    if (period_ms < TFRT_ATTACH_MAX_PERIOD_MS) period_ms *= 2;
  }
  return NULL;
}

// --- The end -------------------------------------------------------------------

// Fetches all results, and the end behind them, into |values| (+1 each). The root has them until
// this process leaves. CANCELLED if nobody waits for them any more.
static tfrt_status_t attach_fetch(tfrt_attach_t* attach, uint32_t count,
                                  tfrt_async_value_t** values) {
  const tfrt_run_loop_t* loop = &attach->query->loop;
  attach->has_ended = true;
  for (attach->result = 0; attach->result <= count; ++attach->result) {
    TFRT_RETURN_IF_ERROR(tfrt_host_query_ask(attach->query, attach_ask_result, attach));
    // An answer that did not come any more says nothing of the job.
    if (loop->cancelled) return tfrt_status_retain(loop->cancelled);
    values[attach->result] = tfrt_async_value_retain(attach->query->host[attach->root].answer);
  }
  // The program decides what the results are: an error among them is no failure of the query.
  tfrt_host_query_forget_failure(attach->query);
  return NULL;
}

static tfrt_status_t attach_report(tfrt_attach_t* attach, uint32_t count) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  size_t size = ((size_t)count + 1) * sizeof(tfrt_async_value_t*);
  tfrt_async_value_t** values = tfrt_allocator_allocate_zeroed(allocator, size);
  if (!values) return tfrt_status_out_of_memory();
  tfrt_status_t status = attach_fetch(attach, count, values);
  if (!status) {
    const tfrt_run_outcome_t outcome = {.function = attach->function,
                                        .results = values,
                                        .result_count = count,
                                        .ended = values[count]};
    const tfrt_run_style_t style = {.is_json = attach->query->is_json};
    tfrt_host_query_stop_asking(attach->query);
    tfrt_status_t error = tfrt_run_report_results(&outcome, &style);
    bool is_loss =
        attach->is_loss || tfrt_client_has_lost(attach->query->host[attach->root].client, error);
    attach->query->exit_code =
        is_loss ? tfrt_exit_code_of_loss(error) : tfrt_exit_code_of_result(error);
  }
  for (uint32_t i = 0; i <= count; ++i) tfrt_async_value_release(values[i]);
  tfrt_allocator_free(allocator, values, size);
  return status;
}

static tfrt_status_t attach_run(tfrt_host_query_t* query) {
  static tfrt_attach_t attach;
  attach.query = query;
  uint32_t count = 0;
  tfrt_status_t status = attach_find(&attach);
  // Some workers may be gone; the job is not.
  tfrt_host_query_forget_failure(query);
  bool is_found = !status;
  if (is_found) tfrt_host_query_leave_others(query, attach.root);
  if (!status) status = attach_follow(&attach, &count);
  if (!status) status = attach_report(&attach, count);
  if (!status) return NULL;
  tfrt_host_query_forget_failure(query);
  if (is_found && query->loop.cancelled) {
    return tfrt_status_take_annotate(
        status, "%s",
        attach.has_ended ? "host 0 keeps what the job has returned" : "the job goes on");
  }
  if (is_found && tfrt_status_code(status) == TFRT_STATUS_NOT_FOUND) {
    tfrt_status_release(status);
    return attach_forgotten(query->rest.values[0]);
  }
  if (attach.is_silent || tfrt_status_code(status) != TFRT_STATUS_UNAVAILABLE) return status;
  if (is_found) status = tfrt_status_take_annotate(status, "the job is lost with its host 0");
  tfrt_run_report_failure(status, query->is_json);
  tfrt_status_release(status);
  query->exit_code = TFRT_EXIT_HOST_LOST;
  return NULL;
}

tfrt_exit_code_t tfrt_attach_command(int argument_count, char* const* arguments) {
  static const tfrt_host_query_verb_t verb = {
      .name = "attach",
      .usage = "tfrt attach JOB --hosts A:P,B:P [FLAGS]",
      .summary =
          "Shows what a job that was started with `tfrt run --detach` has printed and prints, "
          "waits\n"
          "for its end, and prints what it returns. The job does not mind: as many may attach as\n"
          "like, one after the other or together, also when it is over.",
      .footer =
          "JOB is what `tfrt run --detach` has printed, or its first digits; `tfrt list jobs` has\n"
          "it, too. Host 0 keeps the last MiB of lines and, for the --keep-ms of `tfrt run`, the\n"
          "results. SIGINT ends this, not the job; `tfrt cancel JOB` ends the job.\n"
          "\n"
          "Exit codes: as tfrt run would have ended; 2 there is no such job (any more); 3 a "
          "worker\n"
          "that may have it is not there; 6 it takes the connection and does not answer within\n"
          "--timeout. `tfrt attach` learns how the job ends, also when it is cancelled twice or\n"
          "kept for no time."};
  return tfrt_host_query_command(&verb, attach_check, attach_run, argument_count, arguments);
}
