// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/cancel_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/coordinator/cluster_inventory.h"
#include "tools/coordinator/run_report.h"

// Room for what a worker is asked to end. A longer place in a program is left away.
#define TFRT_CANCEL_MAX_TEXT 1088

// The job or call to end, and its hosts.
typedef struct tfrt_cancel_target_s {
  const char* name;  // as the user has it
  uint32_t matches;  // different things that it fits
  // The first of them: "job ID" or "call CALLER NUMBER @FUNCTION PLACE".
  char found[TFRT_CANCEL_MAX_TEXT];
  bool is_there[TFRT_HOST_LIST_MAX];
  uint32_t root;  // the one of them that is host 0 of the job that it is; UINT32_MAX: none
} tfrt_cancel_target_t;

static bool cancel_begins(tfrt_string_view_t text, const char* start, size_t size) {
  return size > 0 && size <= text.size && memcmp(text.data, start, size) == 0;
}

// True if |line| of |host| is the call that |name| stands for: CALLER.NUMBER@CALLEE.
static bool cancel_fits_call(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                             const tfrt_inventory_line_t* line, const char* name) {
  const char* dot = strchr(name, '.');
  const char* at = strchr(name, '@');
  if (!dot || !at || at < dot) return false;
  if (!tfrt_inventory_line_is(line, "call") ||
      !tfrt_inventory_line_has(line, "dir", tfrt_string_view_of("in"))) {
    return false;
  }
  return cancel_begins(tfrt_inventory_line_text(line, "peer"), name, (size_t)(dot - name)) &&
         cancel_begins(inventory->incarnations[host], at + 1, strlen(at + 1)) &&
         tfrt_inventory_line_has(line, "number",
                                 tfrt_string_view_make(dot + 1, (size_t)(at - dot - 1)));
}

static void cancel_note(tfrt_cancel_target_t* target, uint32_t host, const char* found) {
  if (target->matches > 0 && strcmp(target->found, found) == 0) {
    target->is_there[host] = true;
    return;
  }
  if (++target->matches > 1) return;
  snprintf(target->found, sizeof(target->found), "%s", found);
  target->is_there[host] = true;
}

// Writes what the worker |host| is to end, which runs the call that is |line|, to |out|.
static void cancel_describe_call(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                 const tfrt_inventory_line_t* line,
                                 char out[TFRT_CANCEL_MAX_TEXT]) {
  int size = snprintf(out, TFRT_CANCEL_MAX_TEXT, "call %.*s %" PRIu64,
                      TFRT_STRING_VIEW_ARGUMENTS(tfrt_inventory_line_text(line, "peer")),
                      tfrt_inventory_line_number(line, "number"));
  tfrt_inventory_line_t caller;
  if (!tfrt_cluster_inventory_find_caller(inventory, host, line, &caller)) return;
  tfrt_string_view_t function = tfrt_inventory_line_text(&caller, "from");
  tfrt_string_view_t place = tfrt_inventory_line_text(&caller, "at");
  size_t most = (size_t)size + strlen(" @ ") + function.size + place.size;
  if (place.size == 0 || most >= TFRT_CANCEL_MAX_TEXT) return;
  snprintf(out + size, TFRT_CANCEL_MAX_TEXT - (size_t)size, " %s%.*s%s%.*s",
           function.size > 0 ? "@" : "", TFRT_STRING_VIEW_ARGUMENTS(function),
           function.size > 0 ? " " : "", TFRT_STRING_VIEW_ARGUMENTS(place));
}

static void cancel_search(const tfrt_cluster_inventory_t* inventory, tfrt_cancel_target_t* target) {
  char found[TFRT_CANCEL_MAX_TEXT];
  target->root = UINT32_MAX;
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory->lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      tfrt_string_view_t job = tfrt_inventory_line_text(&line, "job");
      if (tfrt_inventory_line_is(&line, "job") &&
          !tfrt_inventory_line_has(&line, "state", tfrt_string_view_of("closed")) &&
          cancel_begins(job, target->name, strlen(target->name))) {
        snprintf(found, sizeof(found), "job %.*s", TFRT_STRING_VIEW_ARGUMENTS(job));
        cancel_note(target, i, found);
        if (tfrt_inventory_line_number(&line, "rank") == 0) target->root = i;
      }
      if (!cancel_fits_call(inventory, i, &line, target->name)) continue;
      cancel_describe_call(inventory, i, &line, found);
      cancel_note(target, i, found);
    }
  }
}

static tfrt_async_value_t* cancel_ask(void* self, tfrt_client_t* client, uint32_t index) {
  const tfrt_cancel_target_t* target = self;
  // Host 0 tells the others, and why its own part ends: what they end by themselves may come first.
  bool is_asked = target->root == UINT32_MAX || index == target->root;
  if (!target->is_there[index] || !is_asked) return NULL;
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_CANCEL,
                                           .about = tfrt_string_view_of(target->found)};
  return tfrt_client_ask(client, 0, &question);
}

// A host that knows nothing of it any more has been told by another one.
static bool cancel_has_ended(const tfrt_host_query_t* query) {
  bool any = false;
  tfrt_string_view_t text;
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    any = any || tfrt_host_query_answer(query, i, &text);
  }
  return any;
}

// Nobody has ended it. The error (+1) of a host that has not said so itself, as it was lost or
// silent after it had told what it has; that |target| was over if all of them have.
static tfrt_status_t cancel_missed(tfrt_host_query_t* query, const tfrt_cancel_target_t* target) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_status_t error = tfrt_host_query_error(query, i);
    bool is_answer = !error || tfrt_status_code(error) == TFRT_STATUS_NOT_FOUND;
    if (is_answer || !target->is_there[i]) continue;
    tfrt_status_t named = tfrt_host_query_named_error(query, i);
    if (!tfrt_client_has_lost(query->host[i].client, error)) return named;
    query->exit_code = tfrt_exit_code_of_loss(error);
    tfrt_host_query_forget_failure(query);
    tfrt_run_report_failure(named, query->is_json);
    tfrt_status_release(named);
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' was over already", target->name);
}

// Says what was done.
static void cancel_print(const tfrt_host_query_t* query, const tfrt_cancel_target_t* target) {
  if (query->is_json) {
    printf("{\"cancelled\":\"%s\"}\n", target->name);
  } else if (strncmp(target->found, "call ", strlen("call ")) == 0) {
    printf(
        "told %s to stop: it starts no kernel any more; results that are known, or that a kernel "
        "gives which runs, stay\n",
        target->name);
  } else {
    printf("cancelled %s\n", target->name);
  }
}

static tfrt_status_t cancel_check(tfrt_host_query_t* query) {
  if (query->rest.count == 1 && query->rest.values[0][0] != '\0') return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "name one job or call, as `tfrt list jobs` and `tfrt list calls` do");
}

static tfrt_status_t cancel_run(tfrt_host_query_t* query) {
  static tfrt_cluster_inventory_t inventory;
  static tfrt_cancel_target_t target;
  target.name = query->rest.values[0];
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_gather(query, TFRT_CLIENT_INVENTORY_ALL, &inventory));
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(query));
  cancel_search(&inventory, &target);
  if (target.matches == 0) return tfrt_host_query_not_found(query, "job or call", target.name);
  tfrt_host_query_report_errors(query);
  if (target.matches > 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s' fits %u jobs or calls; give more digits", target.name,
                              target.matches);
  }
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask(query, cancel_ask, &target));
  if (!cancel_has_ended(query)) return cancel_missed(query, &target);
  tfrt_host_query_forget_failure(query);
  cancel_print(query, &target);
  return NULL;
}

tfrt_exit_code_t tfrt_cancel_command(int argument_count, char* const* arguments) {
  static const tfrt_host_query_verb_t verb = {
      .name = "cancel",
      .usage = "tfrt cancel JOB|CALL --hosts A:P,B:P [FLAGS]",
      .summary =
          "Ends a job, or one call of it, also one of another client: no kernel of it starts any "
          "more,\n"
          "and results that need one are errors. What is known by then stays, and so does what a\n"
          "kernel gives that runs.",
      .footer =
          "JOB and CALL are what `tfrt list jobs` and `tfrt list calls` print; the first digits "
          "of\n"
          "each number do if they fit one only. Name the worker that runs a call, and all workers\n"
          "of a job, or at least its root. The `tfrt run` of the job ends with exit code 5; so\n"
          "does `tfrt attach`. A detached job that is over is forgotten.\n"
          "\n"
          "Exit codes: 0 the hosts were asked; 2 there is no such job or call; else as tfrt run,\n"
          "as 3 if a worker that may have it is not there, 6 if it takes the connection and does "
          "not\n"
          "answer within --timeout."};
  return tfrt_host_query_command(&verb, cancel_check, cancel_run, argument_count, arguments);
}
