// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/executor/program/race_watch.h"
#include "kernels/nn/nn_pool.h"
#include "tools/coordinator/cluster_run.h"
#include "tools/coordinator/detached_run.h"
#include "tools/coordinator/in_process_run.h"
#include "tools/coordinator/run_report.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/op_tables.h"
#include "tools/output/chrome_trace.h"
#include "tools/output/kernel_profile.h"
#include "tools/output/npy_results.h"
#include "tools/output/top_results.h"
#include "tools/process/standard_streams.h"

// The most spans that --trace keeps of one host.
#define TFRT_RUN_TRACE_LIMIT 1000000

// Reports what went wrong, if |status| (+1, taken) says so, after the results were reported: the
// program succeeded, and yet the user lacks something.
static void run_take_late_error(tfrt_status_t status, tfrt_exit_code_t* exit_code) {
  if (!status) return;
  tfrt_run_report_error(status);
  tfrt_status_release(status);
  if (*exit_code == TFRT_EXIT_SUCCESS) *exit_code = TFRT_EXIT_PROGRAM_ERROR;
}

// Whether the run was given up, and says so, since nobody takes what is printed. It may have been
// over by then, and well: then nothing was said.
static bool run_is_told(const tfrt_run_loop_t* loop, tfrt_exit_code_t exit_code) {
  return tfrt_status_code(loop->cancelled) == TFRT_STATUS_DATA_LOSS &&
         exit_code != TFRT_EXIT_SUCCESS;
}

// Reports |status| (+1, taken), if it is an error, and, unless that |is_told|, what could not be
// written; and adjusts |*exit_code|.
static void run_finish(tfrt_status_t status, const tfrt_run_options_t* options, bool is_told,
                       tfrt_exit_code_t* exit_code) {
  if (status) {
    bool is_about_trust = tfrt_status_code(status) == TFRT_STATUS_UNAUTHENTICATED;
    if (is_about_trust) *exit_code = TFRT_EXIT_AUTHENTICATION;
    tfrt_run_report_failure(status, options->is_json);
    tfrt_status_release(status);
  }
  tfrt_status_t unsaid = tfrt_standard_streams_flush();
  if (!is_told) {
    run_take_late_error(unsaid, exit_code);
  } else {
    tfrt_status_release(unsaid);
  }
}

// Loads |plan|. The program and its tensors may be pipes, whose other end may keep us waiting.
static tfrt_status_t run_load(tfrt_run_plan_t* plan, const tfrt_run_options_t* options,
                              const tfrt_kernel_registry_t* registry, tfrt_run_loop_t* loop) {
  tfrt_run_loop_begin_blocking(loop, options->is_json);
  tfrt_status_t status = tfrt_run_plan_load(plan, options, registry);
  tfrt_run_loop_end_blocking(loop);
  return status;
}

// Whether |file| is a model: TFRT, which has none, prints no element of a result.
static bool run_is_model(const tfrt_bef_file_t* file) {
  const uint32_t count = tfrt_bef_file_kernel_name_count(file);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = tfrt_bef_file_kernel_name(file, i);
    if (strncmp(name, "tfrt_nn.argument", strlen("tfrt_nn.argument")) == 0) return true;
  }
  return false;
}

static tfrt_run_shown_t run_choose_shown(const tfrt_run_plan_t* plan,
                                         const tfrt_run_options_t* options) {
  if (options->results.directory || options->results.top > 0) return TFRT_RUN_SHOWN_ERRORS;
  return run_is_model(plan->file) ? TFRT_RUN_SHOWN_TENSORS : TFRT_RUN_SHOWN_VALUES;
}

// Prints how |plan| has ended, and returns the error that decides the exit code (+0), or OK.
// |told| (+0) was printed while it ran, or is OK.
static tfrt_status_t run_report(const tfrt_run_plan_t* plan, const tfrt_run_options_t* options,
                                const tfrt_run_loop_t* loop, tfrt_status_t told) {
  // If the reader of the output has left, nothing is reported, as by any program that SIGPIPE ends.
  bool is_given_up = tfrt_status_code(loop->cancelled) == TFRT_STATUS_DATA_LOSS;
  if (is_given_up && tfrt_standard_streams_is_cut()) return loop->cancelled;
  const tfrt_run_outcome_t outcome = {.function = plan->function->name,
                                      .results = plan->results,
                                      .result_count = plan->function->result_count,
                                      .ended = *plan->ended,
                                      .cancelled = loop->cancelled,
                                      .told = told};
  const tfrt_run_style_t style = {.is_json = options->is_json,
                                  .print_error_code = options->print_error_code,
                                  .is_verbose = options->is_verbose,
                                  .shown = run_choose_shown(plan, options)};
  return tfrt_run_report_results(&outcome, &style);
}

// Prints the best scores among the results of |plan|.
static tfrt_status_t run_print_top(const tfrt_run_plan_t* plan, const tfrt_run_options_t* options) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_status_t status =
      tfrt_top_results_append(plan->results, plan->function->result_count,
                              (uint32_t)options->results.top, options->results.labels_path, &out);
  if (!status) status = tfrt_string_builder_status(&out);
  if (!status) fputs(tfrt_string_builder_text(&out), stdout);
  tfrt_string_builder_deinitialize(&out);
  return status;
}

// Writes the results of |plan| to files, or the best of them, if the user wants that and the run
// was a success.
static void run_write_results(const tfrt_run_plan_t* plan, const tfrt_run_options_t* options,
                              tfrt_exit_code_t* exit_code) {
  if (*exit_code != TFRT_EXIT_SUCCESS) return;
  if (options->results.top > 0) run_take_late_error(run_print_top(plan, options), exit_code);
  if (!options->results.directory) return;
  run_take_late_error(tfrt_npy_results_write(options->results.directory, plan->results,
                                             plan->function->result_count),
                      exit_code);
}

// A race is the end of a run that has no other error.
static void run_note_race(tfrt_exit_code_t* exit_code) {
  if (*exit_code == TFRT_EXIT_SUCCESS) *exit_code = TFRT_EXIT_RACE;
}

// --- In this process -----------------------------------------------------------

static tfrt_status_t run_write_trace(const tfrt_run_options_t* options, const tfrt_run_plan_t* plan,
                                     tfrt_trace_t* trace) {
  if (options->records.trace) {
    tfrt_chrome_trace_host_t host = {.name = "host 0", .trace = trace};
    TFRT_RETURN_IF_ERROR(tfrt_chrome_trace_write(options->records.trace, &host, 1));
  }
  if (!options->records.profile) return NULL;
  return tfrt_kernel_profile_write(options->records.profile, &trace, 1, plan->file);
}

// Ends the process, whose threads still use what would be given back; |status| is taken.
static void run_abandon(tfrt_status_t status, const tfrt_run_options_t* options,
                        const tfrt_run_loop_t* loop, tfrt_exit_code_t exit_code) {
  run_finish(status, options, run_is_told(loop, exit_code), &exit_code);
  if (!tfrt_standard_streams_is_cut()) {
    fputs("tfrt: ended at once; a kernel was still running\n", stderr);
  }
  tfrt_standard_streams_pass_on_cut();
  _Exit(exit_code);
}

// Says how much memory the ops of a network took for what they gave each other, if any ran.
static void run_tell_memory(tfrt_host_context_t* host) {
  char text[32];
  size_t peak = tfrt_nn_pool_peak(host);
  tfrt_number_text_format(text, sizeof(text), "%.1f", (double)peak / 1e6);
  if (peak > 0) fprintf(stderr, "peak activation memory: %s MB\n", text);
}

// Runs and reports. |host| and |trace| are the caller's.
static tfrt_status_t run_on(tfrt_host_context_t* host, tfrt_trace_t* trace,
                            const tfrt_run_options_t* options, tfrt_run_loop_t* loop,
                            tfrt_exit_code_t* out_exit_code) {
  tfrt_run_plan_t plan;
  bool is_abandoned = false;
  tfrt_status_t status = run_load(&plan, options, host->registry, loop);
  uint32_t host_count = (uint32_t)options->in_process_count;
  if (!status) {
    status = tfrt_in_process_run_check_devices(host, &plan, host_count);
    if (status) *out_exit_code = TFRT_EXIT_CLUSTER;
  }
  if (!status) {
    status = tfrt_in_process_run(host, &plan, host_count, trace, loop, &is_abandoned);
  }
  if (!status) {
    *out_exit_code = tfrt_exit_code_of_result(run_report(&plan, options, loop, NULL));
    run_write_results(&plan, options, out_exit_code);
    if (options->is_verbose) run_tell_memory(host);
    tfrt_run_loop_bound_end(loop, TFRT_RUN_LOOP_END_SECONDS);
    run_take_late_error(run_write_trace(options, &plan, trace), out_exit_code);
  }
  if (tfrt_race_watch_found()) run_note_race(out_exit_code);
  if (is_abandoned) run_abandon(status, options, loop, *out_exit_code);
  tfrt_run_plan_deinitialize(&plan);
  return status;
}

static tfrt_status_t run_here(const tfrt_run_options_t* options, tfrt_run_loop_t* loop,
                              tfrt_exit_code_t* out_exit_code) {
  tfrt_host_context_t* host = NULL;
  tfrt_trace_t* trace = NULL;
  tfrt_status_t status = tfrt_in_process_run_make_host(options, &host);
  if (!status && (options->records.trace || options->records.profile)) {
    status = tfrt_trace_create(TFRT_RUN_TRACE_LIMIT, tfrt_allocator_system(), &trace);
  }
  if (!status) status = run_on(host, trace, options, loop, out_exit_code);
  tfrt_host_context_free(host);
  tfrt_trace_release(trace);
  return status;
}

// --- On a cluster --------------------------------------------------------------

static tfrt_status_t run_on_cluster(const tfrt_run_options_t* options, tfrt_run_loop_t* loop,
                                    tfrt_exit_code_t* out_exit_code) {
  // Threads may use it to the end of the process.
  static tfrt_cluster_run_t run;
  tfrt_run_plan_t plan;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_run_initialize(&run, options, loop));
  tfrt_status_t status = run_load(&plan, options, run.process.host->registry, loop);
  if (!status && options->detach) {
    status = tfrt_detached_run_execute(&run, &plan, out_exit_code);
  } else if (!status) {
    status = tfrt_cluster_run_execute(&run, &plan, out_exit_code);
    if (!status) {
      tfrt_status_t error = run_report(&plan, options, loop, run.loss.told);
      *out_exit_code = tfrt_client_has_lost(run.client, error) ? tfrt_exit_code_of_loss(error)
                                                               : tfrt_exit_code_of_result(error);
      run_write_results(&plan, options, out_exit_code);
      tfrt_run_loop_bound_end(loop, TFRT_RUN_LOOP_END_SECONDS);
      run_take_late_error(tfrt_cluster_run_write_traces(&run, &plan), out_exit_code);
    }
  }
  tfrt_cluster_run_shut_down(&run, &plan);
  if (run.workers.found_races) run_note_race(out_exit_code);
  return status;
}

// --- The verb ------------------------------------------------------------------

// Sets |*out_is_told| as run_is_told() says.
static tfrt_status_t run_with(const tfrt_run_options_t* options, bool* out_is_told,
                              tfrt_exit_code_t* out_exit_code) {
  const tfrt_cluster_file_t* file = &options->cluster_file;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      file, options->libraries.devices, tfrt_device_platforms_load(options->libraries.devices)));
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      file, options->libraries.kernels, tfrt_op_tables_load_libraries(options->libraries.kernels)));
  const char* const written[] = {options->records.trace, options->records.profile};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(written); ++i) {
    if (!written[i]) continue;
    TFRT_RETURN_IF_ERROR(
        tfrt_cluster_file_locate(file, written[i], tfrt_file_check_writable(written[i])));
  }
  tfrt_run_loop_t loop;
  TFRT_RETURN_IF_ERROR(tfrt_run_loop_initialize(&loop, options->timeout_ms));
  bool is_cluster = options->local_count > 0 || options->hosts.count > 0;
  tfrt_status_t status = is_cluster ? run_on_cluster(options, &loop, out_exit_code)
                                    : run_here(options, &loop, out_exit_code);
  *out_is_told = run_is_told(&loop, *out_exit_code);
  tfrt_run_loop_deinitialize(&loop);
  return status;
}

tfrt_exit_code_t tfrt_run_command(int argument_count, char* const* arguments) {
  static tfrt_run_options_t options;
  bool help = false;
  bool is_told = false;
  tfrt_exit_code_t exit_code = TFRT_EXIT_USAGE;
  tfrt_status_t status = tfrt_run_options_parse(argument_count, arguments, &options, &help);
  if (!status && help) exit_code = TFRT_EXIT_SUCCESS;
  if (!status && !help) {
    // No log is needed: an error between hosts is the error of a result, or of the run.
    bool tells = options.is_verbose || options.checks.races;
    tfrt_log_set_level(tells ? TFRT_LOG_WARNING : TFRT_LOG_SILENT);
    status = run_with(&options, &is_told, &exit_code);
  }
  run_finish(status, &options, is_told, &exit_code);
  return exit_code;
}
