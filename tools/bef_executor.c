// SPDX-License-Identifier: Apache-2.0
//
// Runs the functions of a BEF file on this host and prints what they return, in the form
// that TFRT's program of this name prints. Built with TFRT_BEF_EXECUTOR_PRINTS_SCOPES it is
// bef_executor_debug_tracing, which prints what it traces while it runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/value_storage.h"
#include "host_runtime/async/work_queue_type.h"
#include "host_runtime/base/allocator_type.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/metric_table.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/base/version.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"
#include "tools/command_line/flags.h"
#include "tools/executor/announcing_allocator.h"
#include "tools/executor/function_runner.h"
#include "tools/executor/scope_printer.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/kernel_rooms.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/output/kernel_profile.h"
#include "tools/process/memory_limit.h"
#include "tools/process/process_memory.h"
#include "tools/process/standard_streams.h"
#include "tools/translation/diagnostic_verifier.h"

#ifndef TFRT_BEF_EXECUTOR_PRINTS_SCOPES
#define TFRT_BEF_EXECUTOR_PRINTS_SCOPES 0
#endif

// A year; more would not fit a clock.
#define TFRT_BEF_EXECUTOR_MAX_DEADLINE_MS ((int64_t)365 * 24 * 3600 * 1000)

enum { TFRT_EXIT_OK = 0, TFRT_EXIT_FAILED = 1, TFRT_EXIT_USAGE = 2 };

typedef struct tfrt_bef_executor_s {
  // Flags
  const char* functions;
  const char* test_init_function;
  const char* work_queue_type;
  const char* cuda_library;
  const char* allocator_name;
  const char* tracing_level;
  const char* shared_libs;
  const char* device_libs;
  bool enable_tracing;
  bool pin_threads;
  bool check_types;
  bool check_races;
  const char* metrics_file;  // "": none
  const char* profile_path;  // NULL: none
  // The parts that a run needs.
  tfrt_metric_table_t metrics;
  tfrt_timer_queue_t timers;
  tfrt_function_runner_t runner;
  tfrt_allocator_t allocator;  // the one that was chosen
  const tfrt_allocator_type_t* allocator_type;
  tfrt_counting_allocator_t values;  // of a profile
  tfrt_scope_printer_t scopes;
  tfrt_host_context_t* host;
  tfrt_program_t* program;
  // Compares errors with the comments `expected-error` of the texts that they come from.
  tfrt_diagnostic_verifier_t errors;
  tfrt_mutex_t errors_mutex;  // guards |errors|
} tfrt_bef_executor_t;

// --- Errors ------------------------------------------------------------------

// Compares |error|, which is said with |prefix|, with what its place in the text expects.
static void bef_executor_verify(tfrt_bef_executor_t* executor, const char* prefix,
                                tfrt_status_t error) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(error);
  char message[TFRT_STATUS_MAX_TEXT_SIZE + 32];
  snprintf(message, sizeof(message), "%s%s", prefix, fields->message);
  tfrt_mutex_lock(&executor->errors_mutex);
  tfrt_diagnostic_verifier_check(&executor->errors, "error", fields->origin.file,
                                 (uint32_t)fields->origin.line, (uint32_t)fields->origin.column,
                                 message);
  tfrt_mutex_unlock(&executor->errors_mutex);
}

// A kernel made |error|, on any thread.
static void bef_executor_on_error(void* executor, tfrt_status_t error) {
  bef_executor_verify(executor, "runtime error: ", error);
}

// --- Metrics -----------------------------------------------------------------

// From a microsecond on, by factors of ten.
#define TFRT_BEF_EXECUTOR_BUCKETS 9

static void bef_executor_start_metrics(tfrt_bef_executor_t* executor) {
  double bounds[TFRT_BEF_EXECUTOR_BUCKETS];
  tfrt_buckets_fill_exponential(1e-6, 10, TFRT_BEF_EXECUTOR_BUCKETS, bounds);
  tfrt_buckets_t buckets = {.bounds = bounds, .count = TFRT_BEF_EXECUTOR_BUCKETS};
  tfrt_metric_table_initialize(&executor->metrics, tfrt_allocator_system());
  if (executor->metrics_file[0]) tfrt_metrics_set_registry(&executor->metrics.base);
  tfrt_gauge_set_text(tfrt_metrics_gauge("tfrt_version"), tfrt_version());
  executor->runner.seconds = tfrt_metrics_histogram("tfrt_function_seconds", &buckets);
}

// Writes the metrics of the run to the file that the user named.
static tfrt_status_t bef_executor_finish_metrics(tfrt_bef_executor_t* executor) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_metric_table_append(&executor->metrics, &text);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status && executor->metrics_file[0]) {
    status = tfrt_file_write(executor->metrics_file, tfrt_string_builder_text(&text), text.size);
  }
  tfrt_string_builder_deinitialize(&text);
  tfrt_metrics_set_registry(NULL);
  tfrt_metric_table_deinitialize(&executor->metrics);
  return status;
}

// --- Profile -----------------------------------------------------------------

// The most runs of ops that are kept for a profile; those that come later don't count.
#define TFRT_BEF_EXECUTOR_PROFILE_SPANS ((size_t)1 << 22)

static tfrt_status_t bef_executor_start_profile(tfrt_bef_executor_t* executor) {
  if (!executor->profile_path) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_file_check_writable(executor->profile_path));
  return tfrt_trace_create(TFRT_BEF_EXECUTOR_PROFILE_SPANS, tfrt_process_memory(),
                           &executor->runner.profile);
}

// Writes the profile of a run that ended well.
static tfrt_status_t bef_executor_finish_profile(tfrt_bef_executor_t* executor, bool ok) {
  tfrt_trace_t* trace = executor->runner.profile;
  if (!trace) return NULL;
  tfrt_status_t status = NULL;
  if (ok) {
    status = tfrt_kernel_profile_write(executor->profile_path, &trace, 1,
                                       tfrt_program_file(executor->program));
  }
  tfrt_trace_release(trace);
  return status;
}

// --- Set-up ------------------------------------------------------------------

static tfrt_status_t bef_executor_choose_allocator(tfrt_bef_executor_t* executor) {
  TFRT_RETURN_IF_ERROR(tfrt_allocator_type_register(tfrt_announcing_allocator_type()));
  tfrt_status_t status = tfrt_allocator_create_by_name(
      executor->allocator_name, &executor->allocator, &executor->allocator_type);
  if (status) return tfrt_status_take_annotate(status, "--host_allocator_type");
  if (executor->allocator_type == tfrt_profiled_allocator_type()) {
    tfrt_counting_allocator_initialize(&executor->values, tfrt_allocator_system(),
                                       TFRT_COUNTING_ALLOCATOR_UNLIMITED);
    tfrt_value_storage_use(tfrt_counting_allocator_interface(&executor->values));
  }
  if (executor->allocator_type->announcement) {
    puts(executor->allocator_type->announcement);
  } else {
    printf("Choosing %s.\n", executor->allocator_type->choice.name);
  }
  return NULL;
}

static tfrt_status_t bef_executor_choose_queue(tfrt_bef_executor_t* executor,
                                               tfrt_work_queue_t** out_queue) {
  tfrt_work_queue_settings_t settings = {.pin_threads = executor->pin_threads};
  tfrt_status_t status = tfrt_work_queue_create_by_name(executor->work_queue_type, &settings,
                                                        tfrt_allocator_system(), out_queue);
  if (status) return tfrt_status_take_annotate(status, "--work_queue_type");
  printf("Choosing %s work queue.\n", tfrt_work_queue_name(*out_queue));
  return NULL;
}

static tfrt_status_t bef_executor_load(tfrt_bef_executor_t* executor, const char* path) {
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_map(path, TFRT_BEF_MAX_SIZE, tfrt_process_memory(), &contents));
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = tfrt_bef_file_create_take_contents(&contents, &file);
  if (status) return tfrt_status_take_annotate(status, "%s", path);
  status = tfrt_program_create(file, executor->host->registry, tfrt_process_memory(),
                               &executor->program);
  tfrt_bef_file_release(file);
  if (status) return status;
  tfrt_error_listener_t listener = {.on_error = bef_executor_on_error, .data = executor};
  tfrt_program_set_error_listener(executor->program, listener);
  return NULL;
}

// Gives the runner, whose flags are set, what it runs functions with.
static void bef_executor_set_runner(tfrt_bef_executor_t* executor) {
  executor->runner.host = executor->host;
  executor->runner.scopes = &executor->scopes;
  executor->runner.timers = &executor->timers;
}

static tfrt_status_t bef_executor_set_up(tfrt_bef_executor_t* executor, const char* path) {
  TFRT_RETURN_IF_ERROR(tfrt_device_platforms_load(executor->device_libs));
  TFRT_RETURN_IF_ERROR(tfrt_shared_libraries_load(executor->shared_libs));
  TFRT_RETURN_IF_ERROR(tfrt_shared_libraries_set_up());
  if (executor->metrics_file[0]) {
    TFRT_RETURN_IF_ERROR(tfrt_file_check_writable(executor->metrics_file));
  }
  TFRT_RETURN_IF_ERROR(bef_executor_choose_allocator(executor));
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(bef_executor_choose_queue(executor, &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(executor->allocator, tfrt_clock_system(), queue, &executor->host));
  bef_executor_set_runner(executor);
  if (executor->runner.deadline_ms > 0) {
    TFRT_RETURN_IF_ERROR(tfrt_timer_queue_start_thread(&executor->timers));
  }
  TFRT_RETURN_IF_ERROR(bef_executor_start_profile(executor));
  if (executor->enable_tracing) {
    TFRT_RETURN_IF_ERROR(tfrt_scope_printer_start(&executor->scopes, executor->tracing_level,
                                                  TFRT_BEF_EXECUTOR_PRINTS_SCOPES));
  }
  TFRT_RETURN_IF_ERROR(tfrt_kernel_rooms_register(executor->host->registry));
  TFRT_RETURN_IF_ERROR(tfrt_device_platforms_add(executor->host, executor->cuda_library));
  tfrt_kernel_registry_set_type_checks(executor->host->registry, executor->check_types);
  tfrt_kernel_registry_set_race_checks(executor->host->registry, executor->check_races);
  return bef_executor_load(executor, path);
}

// --- Running -----------------------------------------------------------------

// Returns true if the comma-separated |list| names |name|; an empty list names all.
static bool bef_executor_is_selected(const char* list, const char* name) {
  if (list[0] == '\0') return true;
  size_t length = strlen(name);
  for (const char* item = list; item; item = strchr(item, ',')) {
    if (*item == ',') ++item;
    if (strncmp(item, name, length) == 0 && (item[length] == ',' || item[length] == '\0')) {
      return length > 0;
    }
  }
  return false;
}

// Every name that the user gave must be that of a function.
static tfrt_status_t bef_executor_check_names(const tfrt_bef_executor_t* executor) {
  const char* list = executor->functions;
  while (list[0] != '\0') {
    size_t length = strcspn(list, ",");
    char name[512];
    snprintf(name, sizeof(name), "%.*s", (int)length, list);
    if (!tfrt_program_find_function(executor->program, name)) {
      return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no function '%s'", name);
    }
    list += length + (list[length] == ',');
  }
  return NULL;
}

static tfrt_status_t bef_executor_run_init(tfrt_bef_executor_t* executor) {
  if (executor->test_init_function[0] == '\0') return NULL;
  const tfrt_function_t* function =
      tfrt_program_find_function(executor->program, executor->test_init_function);
  if (!function || function->argument_count > 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no function '%s' without arguments",
                              executor->test_init_function);
  }
  return tfrt_function_runner_run(&executor->runner, function);
}

static tfrt_status_t bef_executor_run_all(tfrt_bef_executor_t* executor) {
  TFRT_RETURN_IF_ERROR(bef_executor_check_names(executor));
  TFRT_RETURN_IF_ERROR(bef_executor_run_init(executor));
  uint32_t count = tfrt_program_function_count(executor->program);
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_function_t* function = tfrt_program_function(executor->program, i);
    if (executor->test_init_function[0] != '\0' &&
        strcmp(function->name, executor->test_init_function) == 0) {
      continue;
    }
    if (!bef_executor_is_selected(executor->functions, function->name)) continue;
    if (function->argument_count > 0) {
      printf("--- Not running '%s' because it has arguments.\n", function->name);
    } else if (function->name[0] != '\0') {
      TFRT_RETURN_IF_ERROR(tfrt_function_runner_run(&executor->runner, function));
    }
  }
  return NULL;
}

// --- The end -----------------------------------------------------------------

// Lets the chosen allocator go; with |tell|, or if memory leaked, prints what it has to say.
// Returns false if memory leaked.
static bool bef_executor_finish_allocator(tfrt_bef_executor_t* executor, bool tell) {
  if (!executor->allocator_type) return true;
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  bool ok = executor->allocator_type->finish(executor->allocator, &report);
  if (executor->allocator_type == tfrt_profiled_allocator_type()) {
    tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&executor->values);
    tfrt_allocation_counts_append_as("AsyncValue and call", &counts, &report);
  }
  if (tell || !ok) fputs(tfrt_string_builder_text(&report), stdout);
  tfrt_string_builder_deinitialize(&report);
  return ok;
}

// Prints what was wrong with the errors of the run; returns false if anything was.
static bool bef_executor_finish_errors(tfrt_bef_executor_t* executor) {
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  bool ok = tfrt_diagnostic_verifier_finish(&executor->errors, &report);
  fputs(tfrt_string_builder_text(&report), stderr);
  tfrt_string_builder_deinitialize(&report);
  tfrt_diagnostic_verifier_deinitialize(&executor->errors);
  tfrt_mutex_deinitialize(&executor->errors_mutex);
  return ok;
}

// Returns the first of two errors, which may both be OK, and consumes both.
static tfrt_status_t bef_executor_first_of(tfrt_status_t first, tfrt_status_t second) {
  if (!first) return second;
  tfrt_status_release(second);
  return first;
}

static int bef_executor_main(tfrt_bef_executor_t* executor, const char* path) {
  tfrt_diagnostic_verifier_initialize(&executor->errors, true, tfrt_allocator_system());
  tfrt_mutex_initialize(&executor->errors_mutex);
  tfrt_timer_queue_initialize(&executor->timers, tfrt_clock_system());
  tfrt_end_watch_initialize(&executor->runner.end_watch);
  bef_executor_start_metrics(executor);
  tfrt_status_t status = bef_executor_set_up(executor, path);
  // A comment at the op of the file may expect this error.
  if (status && tfrt_status_fields(status)->origin.line > 0) {
    bef_executor_verify(executor, "", status);
    tfrt_status_release(status);
    status = NULL;
  } else if (tfrt_status_is_ok(status)) {
    status = bef_executor_run_all(executor);
  }
  tfrt_scope_printer_end(&executor->scopes);
  bool has_run = tfrt_status_is_ok(status) && executor->program;
  tfrt_status_t unprofiled = bef_executor_finish_profile(executor, has_run);
  status = bef_executor_first_of(status, unprofiled);
  tfrt_program_release(executor->program);
  tfrt_host_context_free(executor->host);
  tfrt_timer_queue_deinitialize(&executor->timers);
  bool ok = tfrt_status_is_ok(status);
  if (!bef_executor_finish_allocator(executor, ok)) ok = false;
  tfrt_status_t unwritten =
      bef_executor_first_of(bef_executor_finish_metrics(executor), tfrt_standard_streams_flush());
  if (unwritten) ok = false;
  status = bef_executor_first_of(status, unwritten);
  if (!bef_executor_finish_errors(executor)) ok = false;
  if (status) {
    char text[2048];
    tfrt_status_format(status, text, sizeof(text));
    fprintf(stderr, "bef_executor: %s\n", text);
    tfrt_status_release(status);
  }
  return ok ? TFRT_EXIT_OK : TFRT_EXIT_FAILED;
}

static const char tfrt_bef_executor_summary[] =
    "Runs the functions without arguments of a BEF file, in their order, on this\n"
    "host, and prints what they return.";
static const char tfrt_bef_executor_footer[] =
    "Errors of ops are compared with the comments 'expected-error {{...}}' of the texts\n"
    "that the file was made of, which are looked for by the names in it.\n"
    "\n"
    "Exit codes: 0 all ran; 1 the file can't be run, an op failed and its text doesn't\n"
    "expect that, memory leaked, or a function didn't end within 5 s after its deadline;\n"
    "2 wrong usage.";

static tfrt_status_t bef_executor_take_path(const tfrt_flag_list_t* files, const char** out_path) {
  *out_path = files->count == 1 ? files->values[0] : TFRT_FILE_STANDARD_INPUT;
  if (files->count <= 1) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "one file at a time, not %zu",
                            files->count);
}

static tfrt_status_t bef_executor_parse(tfrt_bef_executor_t* executor, int argc, char** argv,
                                        const char** out_path, bool* out_help) {
  const tfrt_flag_t flags[] = {
      {"functions", TFRT_FLAG_TEXT, &executor->functions, "A,B", "run these only", 0, 0},
      {"test_init_function", TFRT_FLAG_TEXT, &executor->test_init_function, "NAME",
       "run this one first, and not again", 0, 0},
      {"work_queue_type", TFRT_FLAG_TEXT, &executor->work_queue_type, "TYPE",
       "s (default), mstd[:THREADS[,BLOCKING]], or what a library brings", 0, 0},
      {"pin_threads", TFRT_FLAG_BOOL, &executor->pin_threads, NULL,
       "bind each compute thread to a processor", 0, 0},
      {"host_allocator_type", TFRT_FLAG_TEXT, &executor->allocator_name, "TYPE",
       "malloc, test_fixed_size_1k, profiled_allocator, leak_check_allocator (default), or what a "
       "library brings",
       0, 0},
      {"print_error_code", TFRT_FLAG_BOOL, &executor->runner.print_error_code, NULL,
       "print the code of errors too", 0, 0},
      {"deadline_ms", TFRT_FLAG_NUMBER, &executor->runner.deadline_ms, "MS",
       "cancel a function after so many milliseconds", 1, TFRT_BEF_EXECUTOR_MAX_DEADLINE_MS},
      {"max_open_calls", TFRT_FLAG_NUMBER, &executor->runner.most_open_calls, "N",
       "calls of functions that a function may have open at once (default 1048576, or one for each "
       "8 KiB of memory)",
       1, UINT32_MAX},
      {"enable_tracing", TFRT_FLAG_BOOL, &executor->enable_tracing, NULL, "trace what runs", 0, 0},
      {"tracing_level", TFRT_FLAG_TEXT, &executor->tracing_level, "LEVEL",
       "default (functions), verbose or debug (kernels)", 0, 0},
      {"check_types", TFRT_FLAG_BOOL, &executor->check_types, NULL,
       "check the types of all arguments and results of kernels", 0, 0},
      {"check_races", TFRT_FLAG_BOOL, &executor->check_races, NULL,
       "report kernels whose accesses of the same memory no chain orders, as errors of ops", 0, 0},
      {"metrics_file", TFRT_FLAG_PATH, &executor->metrics_file, "FILE",
       "write the metrics of the run there, as Prometheus reads them", 0, 0},
      {TFRT_PROFILE_FLAG, TFRT_FLAG_PATH, &executor->profile_path, "FILE", TFRT_PROFILE_HELP, 0, 0},
      {TFRT_DEVICE_PLATFORMS_FLAG, TFRT_FLAG_TEXT, &executor->cuda_library,
       TFRT_DEVICE_PLATFORMS_VALUE, TFRT_DEVICE_PLATFORMS_HELP, 0, 0},
      {TFRT_SHARED_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &executor->shared_libs,
       TFRT_SHARED_LIBRARIES_VALUE, TFRT_SHARED_LIBRARIES_HELP, 0, 0},
      {TFRT_DEVICE_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &executor->device_libs,
       TFRT_DEVICE_LIBRARIES_VALUE, TFRT_DEVICE_LIBRARIES_HELP, 0, 0},
  };
  const tfrt_flag_table_t table = {.usage = "bef_executor [FLAGS] [FILE.bef | -]",
                                   .summary = tfrt_bef_executor_summary,
                                   .footer = tfrt_bef_executor_footer,
                                   .flags = flags,
                                   .flag_count = TFRT_ARRAY_SIZE(flags)};
  tfrt_flag_list_t files;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, argc - 1, argv + 1, &files, out_help));
  if (*out_help) return NULL;
  if (executor->profile_path && executor->enable_tracing) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--" TFRT_PROFILE_FLAG
                              " and --enable_tracing: one of them at a time");
  }
  return bef_executor_take_path(&files, out_path);
}

int main(int argc, char** argv) {
  tfrt_standard_streams_open();
  static tfrt_bef_executor_t executor = {
      .functions = "",
      .test_init_function = "",
      .work_queue_type = "s",
      .tracing_level = "default",
      .metrics_file = "",
      .cuda_library = "",
      .allocator_name = "leak_check_allocator",
      .runner = {.tool = "bef_executor", .exit_code = TFRT_EXIT_FAILED},
  };
  executor.runner.most_open_calls = tfrt_memory_limit_calls();
  const char* path = NULL;
  bool help = false;
  tfrt_status_t status = bef_executor_parse(&executor, argc, argv, &path, &help);
  if (status) {
    fprintf(stderr, "bef_executor: %s\n", tfrt_status_message(status));
    tfrt_status_release(status);
    return TFRT_EXIT_USAGE;
  }
  return help ? TFRT_EXIT_OK : bef_executor_main(&executor, path);
}
