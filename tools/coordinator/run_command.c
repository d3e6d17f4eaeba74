// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/executor/program.h"
#include "host_runtime/host_context.h"
#include "tools/common/argument_values.h"
#include "tools/common/chrome_trace.h"
#include "tools/common/flags.h"
#include "tools/common/json.h"
#include "tools/common/kernel_rooms.h"
#include "tools/common/program_loader.h"
#include "tools/common/result_printer.h"
#include "tools/coordinator/execution.h"

// The most spans that --trace keeps.
#define TFRT_RUN_TRACE_LIMIT 1000000

typedef struct tfrt_run_s {
  // Flags
  const char* path;
  const char* function_name;
  const char* output;
  const char* trace_path;
  int64_t timeout_ms;
  int64_t threads;
  bool print_error_code;
  tfrt_flag_list_t arguments;
  // What a run needs
  tfrt_bef_file_t* file;
  tfrt_trace_t* trace;
  tfrt_host_context_t* host;
  tfrt_program_t* program;
  const tfrt_function_t* function;
  tfrt_async_value_t** values;  // arguments, then results
  char directory[PATH_MAX];     // of the program
} tfrt_run_t;

// --- Flags -------------------------------------------------------------------

// Sets |*out_help| if the user only wanted that.
static tfrt_status_t tfrt_run_parse(tfrt_run_t* run, int argument_count, char* const* arguments,
                                    bool* out_help) {
  const tfrt_flag_t flags[] = {
      {"function", TFRT_FLAG_TEXT, &run->function_name, "NAME", "call this one, not main", 0, 0},
      {"arg", TFRT_FLAG_LIST, &run->arguments, "NAME=VALUE",
       "a parameter, by name or position; a tensor's VALUE is a file", 0, 0},
      {"timeout", TFRT_FLAG_NUMBER, &run->timeout_ms, "MS", "cancel after so many milliseconds", 1,
       INT32_MAX},
      {"threads", TFRT_FLAG_NUMBER, &run->threads, "N",
       "compute threads (default: one per processor)", 1, 1024},
      {"o", TFRT_FLAG_TEXT, &run->output, "FORMAT", "text (default) or json", 0, 0},
      {"trace", TFRT_FLAG_TEXT, &run->trace_path, "FILE",
       "write what ran when, in Chrome's trace format", 0, 0},
      {"print_error_code", TFRT_FLAG_BOOL, &run->print_error_code, NULL,
       "print the code of errors too", 0, 0},
  };
  const tfrt_flag_table_t table = {
      .usage = "tfrt run [FLAGS] FILE.mlir|FILE.bef",
      .summary =
          "Runs the function `main` of a program in this process and prints what it returns.\n"
          "A call with a host on it runs here, too.",
      .footer =
          "Exit codes: 0 success; 1 the program returned an error; 2 wrong usage, or the\n"
          "program can't be loaded; 5 cancelled; 6 deadline.",
      .flags = flags,
      .flag_count = TFRT_ARRAY_SIZE(flags)};
  tfrt_flag_list_t files;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, argument_count, arguments, &files, out_help));
  if (*out_help) {
    tfrt_flags_print_help(&table);
    return NULL;
  }
  if (files.count != 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "give one program, FILE.mlir or FILE.bef; --help says more");
  }
  if (strcmp(run->output, "text") != 0 && strcmp(run->output, "json") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "-o %s: there are text and json",
                              run->output);
  }
  run->path = files.values[0];
  return NULL;
}

// --- Set-up ------------------------------------------------------------------

static tfrt_status_t tfrt_run_make_host(tfrt_run_t* run) {
  if (run->trace_path) {
    TFRT_RETURN_IF_ERROR(
        tfrt_trace_create(TFRT_RUN_TRACE_LIMIT, tfrt_allocator_system(), &run->trace));
  }
  tfrt_thread_pool_options_t options = {.thread_count = (int)run->threads};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &run->host));
  return tfrt_kernel_rooms_register(run->host->registry);
}

static tfrt_status_t tfrt_run_load(tfrt_run_t* run) {
  tfrt_string_builder_t diagnostics;
  tfrt_string_builder_initialize(&diagnostics, tfrt_allocator_system());
  tfrt_status_t status = tfrt_program_loader_load(run->path, &diagnostics, &run->file);
  fputs(tfrt_string_builder_text(&diagnostics), stderr);
  tfrt_string_builder_deinitialize(&diagnostics);
  if (status) return status;
  return tfrt_program_create(run->file, run->host->registry, tfrt_allocator_system(),
                             &run->program);
}

static tfrt_status_t tfrt_run_find_function(tfrt_run_t* run) {
  run->function = tfrt_program_find_function(run->program, run->function_name);
  if (!run->function) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "%s: there is no function '%s'; --function names another", run->path,
                              run->function_name);
  }
  size_t count = (size_t)run->function->argument_count + run->function->result_count;
  run->values = tfrt_allocator_allocate_array(tfrt_allocator_system(), count, sizeof(void*));
  if (!run->values) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for %zu values", count);
  }
  return tfrt_argument_values_parse(tfrt_bef_file_function(run->file, run->function->index),
                                    &run->arguments, run->values);
}

static tfrt_status_t tfrt_run_set_up(tfrt_run_t* run) {
  TFRT_RETURN_IF_ERROR(tfrt_run_make_host(run));
  TFRT_RETURN_IF_ERROR(tfrt_run_load(run));
  return tfrt_run_find_function(run);
}

// Relative paths in the program start where the program lies.
static void tfrt_run_set_directory(tfrt_run_t* run) {
  const char* slash = strrchr(run->path, '/');
  int length = slash == run->path ? 1 : slash ? (int)(slash - run->path) : 0;
  snprintf(run->directory, sizeof(run->directory), "%.*s", length, run->path);
  run->host->data_directory = length > 0 ? run->directory : ".";
}

// --- Results -----------------------------------------------------------------

static tfrt_async_value_t** tfrt_run_results(const tfrt_run_t* run) {
  return run->values + run->function->argument_count;
}

static void tfrt_run_print_text(const tfrt_run_t* run) {
  if (run->function->result_count == 0) return;
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_result_printer_append(run->function->name, tfrt_run_results(run),
                             run->function->result_count, run->print_error_code, &line);
  puts(tfrt_string_builder_text(&line));
  tfrt_string_builder_deinitialize(&line);
}

// {"function":"main","results":[{"value":"1"},{"error":{...}}]}
static void tfrt_run_print_json(const tfrt_run_t* run) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_string_builder_append_text(&out, "{\"function\":");
  tfrt_json_append_string(&out, tfrt_string_view_of(run->function->name));
  tfrt_string_builder_append_text(&out, ",\"results\":[");
  for (uint32_t i = 0; i < run->function->result_count; ++i) {
    if (i > 0) tfrt_string_builder_append_char(&out, ',');
    tfrt_result_printer_append_json(tfrt_run_results(run)[i], &out);
  }
  tfrt_string_builder_append_text(&out, "]}");
  puts(tfrt_string_builder_text(&out));
  tfrt_string_builder_deinitialize(&out);
}

// The error that decides how the run ends: of the first result that is one.
static tfrt_status_t tfrt_run_first_error(const tfrt_run_t* run) {
  for (uint32_t i = 0; i < run->function->result_count; ++i) {
    tfrt_async_value_t* result = tfrt_run_results(run)[i];
    if (tfrt_async_value_is_error(result)) return tfrt_async_value_error(result);
  }
  return NULL;
}

static void tfrt_run_print_error(tfrt_status_t status) {
  char text[2048];
  tfrt_status_format(status, text, sizeof(text));
  fprintf(stderr, "tfrt: %s\n", text);
}

static tfrt_exit_code_t tfrt_run_report(tfrt_run_t* run) {
  tfrt_output_flush_standard();
  if (strcmp(run->output, "json") == 0) {
    tfrt_run_print_json(run);
  } else {
    tfrt_run_print_text(run);
  }
  fflush(stdout);
  tfrt_status_t error = tfrt_run_first_error(run);
  if (error) tfrt_run_print_error(error);
  if (run->trace) {
    tfrt_chrome_trace_host_t host = {.name = "host 0", .trace = run->trace};
    tfrt_status_t status = tfrt_chrome_trace_write(run->trace_path, &host, 1);
    if (status) tfrt_run_print_error(status);
    tfrt_status_release(status);
  }
  return tfrt_exit_code_of_result(error);
}

// --- The run -----------------------------------------------------------------

static tfrt_status_t tfrt_run_execute(tfrt_run_t* run) {
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = 1;
  options.trace = run->trace;
  tfrt_request_context_t* request = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_run_set_directory(run);
  tfrt_status_t status = tfrt_execution_run(run->host, request, run->function, run->values,
                                            run->timeout_ms, tfrt_run_results(run));
  tfrt_request_context_release(request);
  return status;
}

static void tfrt_run_tear_down(tfrt_run_t* run) {
  size_t count =
      run->values ? (size_t)run->function->argument_count + run->function->result_count : 0;
  for (size_t i = 0; i < count; ++i) tfrt_async_value_release(run->values[i]);
  tfrt_allocator_free(tfrt_allocator_system(), run->values, count * sizeof(void*));
  tfrt_program_release(run->program);
  tfrt_bef_file_release(run->file);
  tfrt_host_context_free(run->host);
  tfrt_trace_release(run->trace);
}

tfrt_exit_code_t tfrt_run_command(int argument_count, char* const* arguments) {
  static tfrt_run_t run = {.function_name = "main", .output = "text"};
  bool help = false;
  tfrt_exit_code_t exit_code = TFRT_EXIT_SUCCESS;
  tfrt_status_t status = tfrt_run_parse(&run, argument_count, arguments, &help);
  if (!status && !help) {
    status = tfrt_run_set_up(&run);
    if (!status) status = tfrt_run_execute(&run);
    if (!status) exit_code = tfrt_run_report(&run);
  }
  if (status) {
    tfrt_run_print_error(status);
    tfrt_status_release(status);
    exit_code = TFRT_EXIT_USAGE;
  }
  tfrt_run_tear_down(&run);
  return exit_code;
}
