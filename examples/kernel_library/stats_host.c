// SPDX-License-Identifier: Apache-2.0
//
// A program that has the runtime inside: it loads a host program, calls its functions with values
// of its own, and reports errors with their place in the text.
//
//   stats_host PROGRAM.mlir|PROGRAM.bef [LIBRARY.so]
//
// Without a library the kernels that are linked into this program are used.
#include <inttypes.h>
#include <stdio.h>
#include <tfrt/tfrt.h>

// Prints |status| (consumed), if it is an error, with all that is known of it.
static int report_take(tfrt_status_t status) {
  if (!status) return 0;
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  if (fields->origin.line > 0) {
    fprintf(stderr, "%s:%u:%u: %s: ", fields->origin.file, fields->origin.line,
            fields->origin.column, fields->origin.kernel);
  }
  fprintf(stderr, "%s (%s)\n", fields->message, tfrt_status_code_name(fields->code));
  tfrt_status_release(status);
  return 1;
}

// --- Set-up -------------------------------------------------------------------------------------

// Sets |*out_host| to a runtime with two compute threads, and the kernels that programs may use.
static tfrt_status_t make_host(const char* library_path, tfrt_host_context_t** out_host) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_thread_pool_work_queue_create(&options, allocator, &queue));
  TFRT_RETURN_IF_ERROR(tfrt_host_context_allocate(allocator, tfrt_clock_system(), queue, out_host));
  tfrt_kernel_registry_t* registry = (*out_host)->registry;
  TFRT_RETURN_IF_ERROR(tfrt_standard_kernels_register(registry));
  const tfrt_kernel_library_t* library = &tfrt_kernel_library;
  if (library_path) TFRT_RETURN_IF_ERROR(tfrt_kernel_library_load(library_path, &library));
  return tfrt_kernel_library_register(registry, library);
}

// Loads the text or BEF file |path|; prints what is wrong with a text.
static tfrt_status_t load_program(const tfrt_host_context_t* host, const char* path,
                                  tfrt_program_t** out_program) {
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_status_t status = tfrt_program_create_from_file(
      path, host->registry, tfrt_allocator_system(), &report, out_program);
  fputs(tfrt_string_builder_text(&report), stderr);
  tfrt_string_builder_deinitialize(&report);
  return status;
}

// --- One call -----------------------------------------------------------------------------------

// Prints the |count| results of |function|; returns how many of them are errors.
static int print_results(const tfrt_function_t* function, tfrt_async_value_t* const* results) {
  int failures = 0;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    if (tfrt_async_value_is_error(results[i])) {
      failures += report_take(tfrt_status_retain(tfrt_async_value_error(results[i])));
      continue;
    }
    tfrt_async_value_t* value = tfrt_async_value_resolved(results[i]);
    const tfrt_type_t* type = tfrt_type_get(value->type_id);
    tfrt_string_builder_t text;
    tfrt_string_builder_initialize(&text, tfrt_allocator_system());
    if (type->print) type->print(tfrt_async_value_payload(value), &text);
    printf("%s: result %" PRIu32 " is %s: %s\n", function->name, i, type->name,
           tfrt_string_builder_text(&text));
    tfrt_string_builder_deinitialize(&text);
  }
  return failures;
}

// Calls |function| with |arguments| (+0) in |request| and waits for its results, at most two here.
static int call(tfrt_host_context_t* host, tfrt_request_context_t* request,
                const tfrt_function_t* function, tfrt_async_value_t* const* arguments) {
  tfrt_async_value_t* results[2] = {NULL, NULL};
  if (function->result_count > 2) {
    fprintf(stderr, "%s has more than two results\n", function->name);
    return 1;
  }
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_function_execute(function, &context, arguments, results);
  tfrt_blocking_wait(results, function->result_count);
  int failures = print_results(function, results);
  for (uint32_t i = 0; i < function->result_count; ++i) tfrt_async_value_release(results[i]);
  return failures;
}

// Calls the function |name| in a request of its own, which is cancelled after ten seconds.
static int call_by_name(tfrt_host_context_t* host, const tfrt_program_t* program,
                        tfrt_timer_queue_t* timers, const char* name,
                        tfrt_async_value_t* const* arguments, uint32_t argument_count) {
  const tfrt_function_t* function = tfrt_program_find_function(program, name);
  if (!function || function->argument_count != argument_count) {
    fprintf(stderr, "there is no function '%s' with %" PRIu32 " arguments\n", name, argument_count);
    return 1;
  }
  tfrt_request_options_t options = tfrt_request_options_default();
  options.deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), INT64_C(10000000000));
  tfrt_request_context_t* request = NULL;
  tfrt_request_deadline_t* deadline = NULL;
  tfrt_status_t status = tfrt_request_context_create(&options, tfrt_allocator_system(), &request);
  if (!status) status = tfrt_request_deadline_start(request, timers, &deadline);
  int failures = status ? report_take(status) : call(host, request, function, arguments);
  tfrt_request_deadline_stop(deadline);
  tfrt_request_context_release(request);
  return failures;
}

// --- The whole ----------------------------------------------------------------------------------

static int run(tfrt_host_context_t* host, const tfrt_program_t* program,
               tfrt_timer_queue_t* timers) {
  tfrt_async_value_t* numbers[2] = {tfrt_async_value_create_f64(2.0),
                                    tfrt_async_value_create_f64(3.0)};
  int failures = call_by_name(host, program, timers, "main", NULL, 0);
  failures += call_by_name(host, program, timers, "mean_of", numbers, 2);
  // This one is an error, and nothing else is harmed by it.
  if (call_by_name(host, program, timers, "no_mean", NULL, 0) != 1) ++failures;
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(numbers[i]);
  return failures;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: stats_host PROGRAM.mlir|PROGRAM.bef [LIBRARY.so]\n");
    return 2;
  }
  tfrt_host_context_t* host = NULL;
  tfrt_program_t* program = NULL;
  tfrt_timer_queue_t timers;
  tfrt_timer_queue_initialize(&timers, tfrt_clock_system());
  tfrt_status_t status = tfrt_timer_queue_start_thread(&timers);
  if (!status) status = make_host(argc == 3 ? argv[2] : NULL, &host);
  if (!status) status = load_program(host, argv[1], &program);
  int failures = status ? report_take(status) : run(host, program, &timers);
  // Everything has ended when the host is gone; then the rest goes, in any order.
  tfrt_host_context_free(host);
  tfrt_program_release(program);
  tfrt_timer_queue_deinitialize(&timers);
  return failures ? 1 : 0;
}
