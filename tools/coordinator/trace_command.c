// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/trace_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/plural.h"
#include "tools/coordinator/clock_comparison.h"
#include "tools/coordinator/cluster_inventory.h"
#include "tools/coordinator/run_report.h"
#include "tools/output/chrome_trace.h"
#include "tools/output/json.h"

// How long, unless a flag says otherwise.
#define TFRT_TRACE_COMMAND_DEFAULT_MS 1000

// The most spans that are kept of one worker.
#define TFRT_TRACE_COMMAND_LIMIT 1000000

// The state of one worker.
typedef struct tfrt_trace_command_host_s {
  bool is_meant;  // it has the job
  tfrt_chrome_trace_host_t row;
  char name[TFRT_TRANSPORT_ADDRESS_SIZE + 24];
  tfrt_clock_comparison_t clock;
  int64_t since_ns;  // of its clock
  uint64_t dropped;
} tfrt_trace_command_host_t;

typedef struct tfrt_trace_command_s {
  tfrt_host_query_t* query;
  int64_t for_ms;
  const char* file;
  char job[TFRT_CLIENT_JOB_ID_SIZE];  // "-": all
  const char* verb;
  tfrt_trace_command_host_t hosts[TFRT_HOST_LIST_MAX];
} tfrt_trace_command_t;

static tfrt_trace_command_t tfrt_trace_command_state = {.for_ms = TFRT_TRACE_COMMAND_DEFAULT_MS,
                                                        .file = "trace.json"};

// --- Hosts ---------------------------------------------------------------------

static tfrt_status_t trace_command_check(tfrt_host_query_t* query) {
  if (query->rest.count <= 1) return tfrt_file_check_writable(tfrt_trace_command_state.file);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "name one job, as `tfrt list jobs` does, or none: then what runs for "
                            "any job is traced");
}

// Takes |line|, which worker |host| says, for the job that is meant if |name| begins it.
static bool trace_command_match(tfrt_trace_command_t* trace, const tfrt_inventory_line_t* line,
                                uint32_t host, const char* name, uint32_t* matches) {
  tfrt_string_view_t id = tfrt_inventory_line_text(line, "job");
  bool fits = tfrt_inventory_line_is(line, "job") && id.size >= strlen(name) &&
              memcmp(id.data, name, strlen(name)) == 0;
  if (!fits || tfrt_inventory_line_has(line, "state", tfrt_string_view_of("kept"))) return false;
  bool is_known =
      *matches > 0 && strlen(trace->job) == id.size && memcmp(trace->job, id.data, id.size) == 0;
  if (!is_known && ++*matches > 1) return false;
  snprintf(trace->job, sizeof(trace->job), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(id));
  trace->hosts[host].is_meant = true;
  trace->hosts[host].row.rank = (uint32_t)tfrt_inventory_line_number(line, "rank");
  return true;
}

// Finds the job that is meant, and its ranks.
static tfrt_status_t trace_command_find(tfrt_trace_command_t* trace) {
  static tfrt_cluster_inventory_t inventory;
  const char* name = trace->query->rest.count > 0 ? trace->query->rest.values[0] : NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_cluster_inventory_gather(trace->query, TFRT_CLIENT_INVENTORY_JOBS, &inventory));
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(trace->query));
  snprintf(trace->job, sizeof(trace->job), "-");
  uint32_t matches = 0;
  for (uint32_t i = 0; i < inventory.host_count; ++i) {
    trace->hosts[i].row.rank = i;
    trace->hosts[i].is_meant = !name;
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory.lines[i];
         name && tfrt_inventory_lines_next(&rest, &line);) {
      if (trace_command_match(trace, &line, i, name, &matches)) break;
    }
  }
  if (name && matches == 0) return tfrt_host_query_not_found(trace->query, "running job", name);
  tfrt_host_query_report_errors(trace->query);
  if (matches > 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' fits %u jobs; give more digits",
                              name, matches);
  }
  return NULL;
}

// --- Questions -----------------------------------------------------------------

static tfrt_async_value_t* trace_command_ask(void* self, tfrt_client_t* client, uint32_t index) {
  const tfrt_trace_command_t* trace = self;
  if (!trace->hosts[index].is_meant) return NULL;
  char what[TFRT_CLIENT_JOB_ID_SIZE + 48];
  if (strcmp(trace->verb, "begin") == 0) {
    snprintf(what, sizeof(what), "begin %s %" PRId64, trace->job, trace->for_ms);
  } else if (strcmp(trace->verb, "end") == 0) {
    snprintf(what, sizeof(what), "end %s 0", trace->job);
  } else if (strcmp(trace->verb, "read") == 0) {
    snprintf(what, sizeof(what), "read %s %" PRId64, trace->job, trace->hosts[index].since_ns);
  } else {
    snprintf(what, sizeof(what), "clock");
  }
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_RECORD,
                                           .about = tfrt_string_view_of(what)};
  return tfrt_client_ask(client, 0, &question);
}

// Asks all workers |verb| and takes what they say.
static tfrt_status_t trace_command_question(tfrt_trace_command_t* trace, const char* verb) {
  trace->verb = verb;
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask(trace->query, trace_command_ask, trace));
  for (uint32_t i = 0; i < trace->query->hosts.count; ++i) {
    tfrt_trace_command_host_t* host = &trace->hosts[i];
    const tfrt_host_query_host_t* asked = &trace->query->host[i];
    if (!asked->answer || tfrt_async_value_is_error(asked->answer)) continue;
    int64_t clock_ns = 0;
    TFRT_RETURN_IF_ERROR(
        tfrt_client_read_trace(asked->answer, host->row.trace, &clock_ns, &host->dropped));
    tfrt_clock_comparison_note(&host->clock, asked->asked_ns, asked->answered_ns, clock_ns);
    host->row.clock_offset_ns = host->clock.offset_ns;
    if (strcmp(verb, "begin") == 0) host->since_ns = clock_ns;
  }
  return NULL;
}

// --- The report ----------------------------------------------------------------

// The counts of a trace.
typedef struct tfrt_trace_command_count_s {
  size_t spans;
  size_t arrows;  // ends of them
} tfrt_trace_command_count_t;

static tfrt_trace_command_count_t trace_command_count(tfrt_trace_t* trace) {
  static tfrt_trace_span_t spans[64];
  tfrt_trace_command_count_t count = {0};
  size_t first = 0;
  for (size_t read; (read = tfrt_trace_read(trace, first, spans, TFRT_ARRAY_SIZE(spans))) > 0;
       first += read) {
    for (size_t i = 0; i < read; ++i) {
      bool is_end = strcmp(spans[i].category, "flow.in") == 0;
      bool is_flow = is_end || strcmp(spans[i].category, "flow.out") == 0;
      count.arrows += is_end;
      count.spans += !is_flow;
    }
  }
  return count;
}

static void trace_command_append_json(const tfrt_trace_command_t* trace, uint32_t index,
                                      tfrt_trace_command_count_t count,
                                      tfrt_string_builder_t* out) {
  const tfrt_trace_command_host_t* host = &trace->hosts[index];
  tfrt_string_builder_append_text(out, "{\"host\":");
  tfrt_json_append_string(out, trace->query->hosts.addresses[index]);
  tfrt_status_t error = tfrt_host_query_error(trace->query, index);
  tfrt_string_builder_append_format(out, ",\"row\":%u", host->row.rank);
  if (error) {
    tfrt_string_builder_append_text(out, ",\"error\":");
    tfrt_json_append_string(out, tfrt_string_view_of(tfrt_status_message(error)));
  } else {
    tfrt_string_builder_append_format(out, ",\"spans\":%zu,\"calls\":%zu,\"dropped\":%" PRIu64,
                                      count.spans, count.arrows, host->dropped);
    tfrt_string_builder_append_text(out, ",\"clock_offset_us\":");
    tfrt_json_append_number(out, (double)host->clock.offset_ns / 1e3);
    tfrt_string_builder_append_text(out, ",\"clock_error_us\":");
    tfrt_json_append_number(out, (double)host->clock.error_ns / 1e3);
  }
  tfrt_string_builder_append_char(out, '}');
}

static void trace_command_report(const tfrt_trace_command_t* trace) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_trace_command_count_t all = {0};
  tfrt_string_builder_append_text(&out, "{\"file\":");
  tfrt_json_append_string(&out, tfrt_string_view_of(trace->file));
  tfrt_string_builder_append_text(&out, ",\"hosts\":[");
  const char* separator = "";
  for (uint32_t i = 0; i < trace->query->hosts.count; ++i) {
    if (!trace->hosts[i].is_meant) continue;
    tfrt_trace_command_count_t count = trace_command_count(trace->hosts[i].row.trace);
    tfrt_string_builder_append_text(&out, separator);
    trace_command_append_json(trace, i, count, &out);
    separator = ",\n";
    all.spans += count.spans;
    all.arrows += count.arrows;
    if (trace->hosts[i].dropped == 0) continue;
    fprintf(stderr, "tfrt: the trace lacks %" PRIu64 " span%s of %s, which had no room\n",
            trace->hosts[i].dropped, tfrt_plural(trace->hosts[i].dropped), trace->hosts[i].name);
  }
  tfrt_string_builder_append_text(&out, "]}\n");
  if (trace->query->is_json) {
    fputs(tfrt_string_builder_text(&out), stdout);
  } else {
    printf("%s: %zu span%s and %zu call%s between hosts; open it in https://ui.perfetto.dev\n",
           trace->file, all.spans, tfrt_plural(all.spans), all.arrows, tfrt_plural(all.arrows));
  }
  tfrt_string_builder_deinitialize(&out);
}

// --- The verb ------------------------------------------------------------------

static tfrt_status_t trace_command_prepare(tfrt_trace_command_t* trace) {
  for (uint32_t i = 0; i < trace->query->hosts.count; ++i) {
    tfrt_trace_command_host_t* host = &trace->hosts[i];
    TFRT_RETURN_IF_ERROR(
        tfrt_trace_create(TFRT_TRACE_COMMAND_LIMIT, tfrt_allocator_system(), &host->row.trace));
    snprintf(host->name, sizeof(host->name), "host %u (%.*s)", host->row.rank,
             TFRT_STRING_VIEW_ARGUMENTS(trace->query->hosts.addresses[i]));
    host->row.name = host->name;
  }
  return NULL;
}

static tfrt_status_t trace_command_record(tfrt_trace_command_t* trace) {
  for (int i = 0; i < TFRT_CLOCK_COMPARISON_QUESTIONS; ++i) {
    TFRT_RETURN_IF_ERROR(trace_command_question(trace, "clock"));
  }
  TFRT_RETURN_IF_ERROR(trace_command_question(trace, "begin"));
  tfrt_run_loop_t* loop = &trace->query->loop;
  if (!trace->query->is_json) {
    fprintf(stderr, "tfrt: recording for %" PRId64 ".%" PRId64 " s; SIGINT ends it\n",
            trace->for_ms / 1000, trace->for_ms % 1000 / 100);
  }
  tfrt_run_loop_start_alarm(loop, (uint64_t)trace->for_ms);
  while (!loop->alarm_is_over && !loop->cancelled) tfrt_run_loop_turn(loop);
  if (loop->cancelled) {
    // SIGINT only says that this is enough.
    tfrt_run_loop_forget_cancel(loop);
    TFRT_RETURN_IF_ERROR(trace_command_question(trace, "end"));
  }
  TFRT_RETURN_IF_ERROR(trace_command_question(trace, "read"));
  // Reports the hosts that were lost meanwhile.
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(trace->query));
  tfrt_host_query_report_errors(trace->query);
  return NULL;
}

static tfrt_status_t trace_command_write(tfrt_trace_command_t* trace) {
  static tfrt_chrome_trace_host_t rows[TFRT_HOST_LIST_MAX];
  size_t count = 0;
  for (uint32_t i = 0; i < trace->query->hosts.count; ++i) {
    if (trace->hosts[i].is_meant) rows[count++] = trace->hosts[i].row;
  }
  tfrt_status_t status = tfrt_chrome_trace_write(trace->file, rows, count);
  if (!status) return NULL;
  // The user's mistake, not the cluster's.
  tfrt_run_report_failure(status, trace->query->is_json);
  tfrt_status_release(status);
  trace->query->exit_code = TFRT_EXIT_USAGE;
  tfrt_host_query_forget_failure(trace->query);
  return NULL;
}

static tfrt_status_t trace_command_run(tfrt_host_query_t* query) {
  tfrt_trace_command_t* trace = &tfrt_trace_command_state;
  trace->query = query;
  tfrt_status_t status = trace_command_find(trace);
  if (!status) status = trace_command_prepare(trace);
  if (!status) status = trace_command_record(trace);
  // The file may be a pipe that nobody reads.
  tfrt_host_query_stop_asking(query);
  if (!status) status = trace_command_write(trace);
  if (!status && query->exit_code == TFRT_EXIT_SUCCESS) trace_command_report(trace);
  for (uint32_t i = 0; i < query->hosts.count; ++i) tfrt_trace_release(trace->hosts[i].row.trace);
  return status;
}

tfrt_exit_code_t tfrt_trace_command(int argument_count, char* const* arguments) {
  static const tfrt_flag_t flags[] = {
      {"for", TFRT_FLAG_NUMBER, &tfrt_trace_command_state.for_ms, "MS",
       "how long to record (default 1000); SIGINT ends it earlier", 1, INT32_MAX},
      {"file", TFRT_FLAG_PATH, &tfrt_trace_command_state.file, "FILE",
       "where to write it (default trace.json)", 0, 0},
  };
  static const tfrt_host_query_verb_t verb = {
      .name = "trace",
      .usage = "tfrt trace [JOB] --hosts A:P,B:P [FLAGS]",
      .summary =
          "Has workers record for a while what runs on them, of one job or of all, and writes "
          "it for\n"
          "Perfetto or chrome://tracing: a row for each host, a line for each of its threads, and "
          "an\n"
          "arrow for each call from one host to another.",
      .footer =
          "Kernels and calls that begin and end in that time are in it. What runs need not have "
          "been\n"
          "started with `tfrt run --trace`, which records all of one run from its begin.\n"
          "\n"
          "Exit codes: see tfrt run --help.",
      .flags = flags,
      .flag_count = TFRT_ARRAY_SIZE(flags)};
  return tfrt_host_query_command(&verb, trace_command_check, trace_command_run, argument_count,
                                 arguments);
}
