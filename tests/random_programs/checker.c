// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/random.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/host_context.h"
#include "kernels/basic/basic_kernels.h"
#include "kernels/control_flow/control_flow_kernels.h"
#include "kernels/test/test_kernels.h"
#include "tests/random_programs/generator.h"
#include "tests/random_programs/image.h"
#include "tests/random_programs/interpreter.h"
#include "tests/random_programs/shuffling_work_queue.h"

enum { TFRT_CHECKER_QUEUES = 5, TFRT_CHECKER_MAX_STEPS = 1500, TFRT_CHECKER_SPANS = 64 };

enum { TFRT_CHECKER_INLINE = 0, TFRT_CHECKER_SHUFFLING = -1 };

// The threads of the pools among the queues.
static const int tfrt_checker_threads[TFRT_CHECKER_QUEUES] = {TFRT_CHECKER_INLINE,
                                                              TFRT_CHECKER_SHUFFLING, 1, 2, 4};

struct tfrt_model_checker_s {
  tfrt_host_context_t* hosts[TFRT_CHECKER_QUEUES];
  tfrt_counting_allocator_t counts;  // of file, program, request
  tfrt_model_t* model;
  uint64_t steps;
};

// How a program is run; each of these costs and orders something else.
typedef struct tfrt_checker_way_s {
  bool has_scope;
  bool has_trace;          // the way without a schedule
  bool resolves_in_queue;  // late arguments, and a cancel, come from a thread of the queue
  bool is_cancelled;       // from outside, at any time
  enum { TFRT_CHECKER_LEND, TFRT_CHECKER_GIVE, TFRT_CHECKER_IN_QUEUE } entry;
} tfrt_checker_way_t;

// An argument of the main function.
typedef struct tfrt_checker_argument_s {
  tfrt_task_t resolve;
  const tfrt_model_t* model;
  uint32_t index;
  tfrt_async_value_t* value;  // +1
} tfrt_checker_argument_t;

// One run of a program in one queue.
typedef struct tfrt_checker_run_s {
  tfrt_model_checker_t* checker;
  const tfrt_model_function_t* main;
  tfrt_host_context_t* host;
  tfrt_request_context_t* request;
  tfrt_task_t cancel;
  tfrt_program_t* program;
  tfrt_call_scope_t scope;
  tfrt_task_t scope_done;
  _Atomic uint32_t scope_ends;
  tfrt_trace_t* trace;
  tfrt_checker_argument_t arguments[TFRT_MODEL_MAX_RESULTS];
  tfrt_async_value_t* results[TFRT_MODEL_MAX_RESULTS];
} tfrt_checker_run_t;

// Ends the process if |status| (consumed) is an error: then this test can't say anything.
static void checker_must(tfrt_status_t status, const char* what) {
  if (tfrt_status_is_ok(status)) return;
  printf("%s: %s\n", what, tfrt_status_message(status));
  fflush(stdout);
  abort();
}

static tfrt_work_queue_t* checker_make_queue(int threads) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_work_queue_t* queue = NULL;
  if (threads == TFRT_CHECKER_SHUFFLING) {
    queue = tfrt_shuffling_work_queue_create(system);
  } else if (threads == TFRT_CHECKER_INLINE) {
    checker_must(tfrt_inline_work_queue_create(system, &queue), "queue");
  } else {
    tfrt_thread_pool_options_t options = {.thread_count = threads, .blocking_thread_count = 1};
    checker_must(tfrt_thread_pool_work_queue_create(&options, system, &queue), "queue");
  }
  if (!queue) abort();
  return queue;
}

tfrt_model_checker_t* tfrt_model_checker_allocate(void) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_model_checker_t* checker = tfrt_allocator_allocate_zeroed(system, sizeof(*checker));
  tfrt_model_t* model = tfrt_allocator_allocate_zeroed(system, sizeof(*model));
  if (!checker || !model) abort();
  checker->model = model;
  tfrt_counting_allocator_initialize(&checker->counts, system, TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  for (int i = 0; i < TFRT_CHECKER_QUEUES; ++i) {
    tfrt_work_queue_t* queue = checker_make_queue(tfrt_checker_threads[i]);
    checker_must(tfrt_host_context_allocate(system, tfrt_clock_system(), queue, &checker->hosts[i]),
                 "host");
    tfrt_kernel_registry_t* registry = checker->hosts[i]->registry;
    checker_must(tfrt_basic_kernels_register(registry), "kernels");
    checker_must(tfrt_control_flow_kernels_register(registry), "kernels");
    checker_must(tfrt_test_kernels_register(registry), "kernels");
  }
  return checker;
}

void tfrt_model_checker_free(tfrt_model_checker_t* checker) {
  for (int i = 0; i < TFRT_CHECKER_QUEUES; ++i) tfrt_host_context_free(checker->hosts[i]);
  tfrt_allocator_free(tfrt_allocator_system(), checker->model, sizeof(*checker->model));
  tfrt_allocator_free(tfrt_allocator_system(), checker, sizeof(*checker));
}

uint64_t tfrt_model_checker_steps(const tfrt_model_checker_t* checker) { return checker->steps; }

// --- Arguments -----------------------------------------------------------------

static tfrt_status_t checker_argument_error(uint32_t index) {
  tfrt_status_t plain = tfrt_status_create(TFRT_STATUS_INTERNAL, "the argument is an error");
  tfrt_status_origin_t origin = {
      .rank = TFRT_STATUS_NO_RANK, .file = "arguments", .line = tfrt_model_argument_line(index)};
  tfrt_status_t located = tfrt_status_with_origin(plain, &origin);
  tfrt_status_release(plain);
  return located;
}

static tfrt_async_value_t* checker_make_argument(const tfrt_model_t* model, uint32_t index) {
  switch (model->arguments[index]) {
    case TFRT_MODEL_ARGUMENT_READY:
      return tfrt_async_value_create_i32(model->numbers[index]);
    case TFRT_MODEL_ARGUMENT_ERROR:
      return tfrt_async_value_create_error_take(checker_argument_error(index));
    case TFRT_MODEL_ARGUMENT_LATE_INDIRECT:
    case TFRT_MODEL_ARGUMENT_LATE_INDIRECT_ERROR:
      return &tfrt_indirect_value_create()->base;
    default:
      return tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  }
}

// Resolves an argument that was late, if it was.
static void checker_resolve_argument(const tfrt_model_t* model, uint32_t index,
                                     tfrt_async_value_t* argument) {
  switch (model->arguments[index]) {
    case TFRT_MODEL_ARGUMENT_LATE:
      *(int32_t*)tfrt_async_value_payload(argument) = model->numbers[index];
      tfrt_async_value_set_available(argument);
      break;
    case TFRT_MODEL_ARGUMENT_LATE_ERROR: {
      tfrt_status_t status = checker_argument_error(index);
      tfrt_async_value_set_error(argument, status);
      tfrt_status_release(status);
      break;
    }
    case TFRT_MODEL_ARGUMENT_LATE_INDIRECT:
      tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)argument,
                                       tfrt_async_value_create_i32(model->numbers[index]));
      break;
    case TFRT_MODEL_ARGUMENT_LATE_INDIRECT_ERROR:
      tfrt_indirect_value_forward_take(
          (tfrt_indirect_value_t*)argument,
          tfrt_async_value_create_error_take(checker_argument_error(index)));
      break;
    default:
      break;
  }
}

static void checker_on_resolve(tfrt_task_t* task) {
  tfrt_checker_argument_t* argument = TFRT_CONTAINER_OF(task, tfrt_checker_argument_t, resolve);
  checker_resolve_argument(argument->model, argument->index, argument->value);
  tfrt_async_value_release(argument->value);
}

// --- A run -----------------------------------------------------------------------

static void checker_on_scope_done(tfrt_task_t* task) {
  tfrt_checker_run_t* run = TFRT_CONTAINER_OF(task, tfrt_checker_run_t, scope_done);
  // Relaxed: read once the queue is quiescent.
  atomic_fetch_add_explicit(&run->scope_ends, 1, memory_order_relaxed);
}

// The output of kernels is no result.
static tfrt_async_value_t* checker_print(tfrt_output_t* output, tfrt_string_view_t text,
                                         tfrt_call_scope_t* scope) {
  (void)output;
  (void)text;
  (void)scope;
  return tfrt_async_value_ready_chain();
}

static void checker_load(tfrt_checker_run_t* run, bool has_trace) {
  static const tfrt_output_vtable_t silent_vtable = {.print = checker_print};
  static tfrt_output_t silent = {.vtable = &silent_vtable};
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&run->checker->counts);
  void* bytes = NULL;
  size_t size = 0;
  checker_must(tfrt_model_write_image(run->checker->model, allocator, &bytes, &size), "image");
  tfrt_bef_file_t* file = NULL;
  checker_must(tfrt_bef_file_create_take(bytes, size, allocator, &file), "file");
  checker_must(tfrt_program_create(file, run->host->registry, allocator, &run->program), "program");
  tfrt_bef_file_release(file);
  tfrt_request_options_t options = tfrt_request_options_default();
  options.output = &silent;
  if (has_trace) {
    checker_must(tfrt_trace_create(TFRT_CHECKER_SPANS, allocator, &run->trace), "trace");
    options.trace = run->trace;
  }
  checker_must(tfrt_request_context_create(&options, allocator, &run->request), "request");
}

static void checker_start(tfrt_checker_run_t* run, tfrt_checker_way_t way) {
  const tfrt_model_t* model = run->checker->model;
  const tfrt_function_t* function = tfrt_program_function(run->program, model->main);
  tfrt_execution_context_t context = tfrt_host_context_execution(run->host, run->request);
  tfrt_task_initialize(&run->scope_done, checker_on_scope_done);
  tfrt_call_scope_initialize(&run->scope, &run->scope_done);
  if (way.has_scope) context.scope = &run->scope;
  tfrt_async_value_t* arguments[TFRT_MODEL_MAX_RESULTS];
  for (uint32_t i = 0; i < run->main->argument_count; ++i) {
    tfrt_checker_argument_t* argument = &run->arguments[i];
    *argument = (tfrt_checker_argument_t){
        .model = model, .index = i, .value = checker_make_argument(model, i)};
    tfrt_task_initialize(&argument->resolve, checker_on_resolve);
    arguments[i] = argument->value;
  }
  if (way.entry == TFRT_CHECKER_LEND) {
    tfrt_function_execute(function, &context, arguments, run->results);
  } else if (way.entry == TFRT_CHECKER_IN_QUEUE) {
    tfrt_function_execute_in_queue(function, &context, arguments, run->results);
  } else {
    for (uint32_t i = 0; i < run->main->argument_count; ++i) {
      tfrt_async_value_retain(arguments[i]);
    }
    tfrt_function_execute_take(function, &context, arguments, run->results);
  }
  tfrt_call_scope_leave(&run->scope);
}

static void checker_cancel(tfrt_checker_run_t* run) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "Cancelled");
  tfrt_request_context_cancel(run->request, reason);
  tfrt_status_release(reason);
}

static void checker_on_cancel(tfrt_task_t* task) {
  tfrt_checker_run_t* run = TFRT_CONTAINER_OF(task, tfrt_checker_run_t, cancel);
  checker_cancel(run);
  tfrt_request_context_release(run->request);
}

// Runs the program to its end.
static void checker_execute(tfrt_checker_run_t* run, tfrt_checker_way_t way) {
  tfrt_work_queue_t* queue = run->host->work_queue;
  if (way.is_cancelled && way.resolves_in_queue) {
    tfrt_request_context_retain(run->request);
    tfrt_task_initialize(&run->cancel, checker_on_cancel);
    tfrt_work_queue_add_task(queue, &run->cancel);
  }
  checker_start(run, way);
  for (uint32_t i = run->main->argument_count; i-- > 0;) {
    tfrt_task_t* resolve = &run->arguments[i].resolve;
    if (way.resolves_in_queue) {
      tfrt_work_queue_add_task(queue, resolve);
    } else {
      resolve->run(resolve);
    }
  }
  if (way.is_cancelled && !way.resolves_in_queue) checker_cancel(run);
  // The request may go first: what still runs keeps it.
  tfrt_work_queue_await(queue, run->results, run->main->result_count);
  tfrt_request_context_release(run->request);
  tfrt_program_release(run->program);
  tfrt_work_queue_quiesce(queue);
  tfrt_trace_release(run->trace);
}

// Describes |value|, and returns whether it is |expected|, or, if that |may_be_cancelled|,
// Cancelled.
static bool checker_compare(tfrt_async_value_t* value, tfrt_model_type_t type,
                            const tfrt_model_value_t* expected, bool may_be_cancelled, char* text,
                            size_t size) {
  if (!tfrt_async_value_is_available(value)) {
    snprintf(text, size, "unresolved");
    return false;
  }
  if (tfrt_async_value_is_error(value)) {
    const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_async_value_error(value));
    snprintf(text, size, "error '%s' of line %u", fields->message, fields->origin.line);
    if (expected->error == TFRT_MODEL_ERROR_ANY) return true;
    if (may_be_cancelled && strcmp(fields->message, "Cancelled") == 0) return true;
    char message[128];
    tfrt_model_value_message(expected, message, sizeof(message));
    return expected->error && strcmp(message, fields->message) == 0 &&
           fields->origin.line == expected->line;
  }
  int32_t number = 0;
  void* payload = tfrt_async_value_payload(tfrt_async_value_resolved(value));
  if (type == TFRT_MODEL_I32) number = *(int32_t*)payload;
  if (type == TFRT_MODEL_I1) number = *(bool*)payload;
  snprintf(text, size, "%d", number);
  return !expected->error && number == expected->number;
}

// Compares the results of |run|, prints those that differ, and drops them.
static bool checker_compare_all(tfrt_checker_run_t* run, bool may_be_cancelled,
                                const tfrt_model_value_t* expected) {
  bool same = true;
  for (uint32_t i = 0; i < run->main->result_count; ++i) {
    char text[512];
    tfrt_model_type_t type = (tfrt_model_type_t)run->main->types[run->main->results[i]];
    if (!checker_compare(run->results[i], type, &expected[i], may_be_cancelled, text,
                         sizeof(text))) {
      char message[128];
      tfrt_model_value_message(&expected[i], message, sizeof(message));
      printf("result %u: expected %d (%s, line %u), got %s\n", i, expected[i].number, message,
             expected[i].line, text);
      same = false;
    }
    tfrt_async_value_release(run->results[i]);
  }
  return same;
}

static bool checker_run(tfrt_model_checker_t* checker, int queue, tfrt_checker_way_t way,
                        const tfrt_model_value_t* expected) {
  tfrt_checker_run_t run = {.checker = checker,
                            .main = &checker->model->functions[checker->model->main],
                            .host = checker->hosts[queue]};
  int64_t live = tfrt_async_value_live_count();
  checker_load(&run, way.has_trace);
  checker_execute(&run, way);
  bool same = checker_compare_all(&run, way.is_cancelled, expected);
  uint32_t ends = atomic_load_explicit(&run.scope_ends, memory_order_relaxed);
  if (ends != 1) printf("the call ended %u times\n", ends);
  int64_t leaked = tfrt_async_value_live_count() - live;
  if (leaked != 0) printf("%lld values are left\n", (long long)leaked);
  tfrt_allocation_counts_t counts = tfrt_counting_allocator_counts(&checker->counts);
  if (counts.current_count != 0) printf("%lld blocks are left\n", (long long)counts.current_count);
  return same && ends == 1 && leaked == 0 && counts.current_count == 0;
}

// --- A program ---------------------------------------------------------------------

static void checker_print_values(const char* title, const uint16_t* values, uint32_t count) {
  printf("%s", title);
  for (uint32_t i = 0; i < count; ++i) printf(" v%u", values[i]);
}

// One line per op, as plain as the model.
static void checker_print_function(const tfrt_model_t* model, uint32_t index) {
  const tfrt_model_function_t* body = &model->functions[index];
  const char* native = tfrt_model_form_native_name(body->form);
  printf("%s%s %u%s, arguments v0 to v%d\n",
         body->form == TFRT_MODEL_FORM_SYNC ? "synchronous " : "",
         native            ? native
         : body->is_region ? "region"
                           : "function",
         index, index == model->main ? " (main)" : "", (int)body->argument_count - 1);
  for (uint32_t i = 0; i < body->op_count; ++i) {
    const tfrt_model_op_t* op = &body->ops[i];
    printf("  line %u: ", op->line);
    for (uint32_t k = 0; k < op->result_count; ++k) printf("v%u ", op->first_result + k);
    printf("= %s", tfrt_model_kind_name(op->kind));
    checker_print_values("", op->operands, op->operand_count);
    for (uint32_t k = 0; k < op->callee_count; ++k) printf(" @%u", op->callees[k]);
    printf(" {%d} stream %u%s\n", op->number, op->stream, op->nonstrict ? ", non-strict" : "");
  }
  checker_print_values("  return", body->results, body->result_count);
  printf("\n");
}

static void checker_print_program(const tfrt_model_t* model) {
  static const char* const kinds[] = {"ready",      "error",         "late",
                                      "late error", "late indirect", "late indirect error"};
  for (uint32_t i = 0; i < model->functions[model->main].argument_count; ++i) {
    printf("argument %u: %d, %s\n", i, model->numbers[i], kinds[model->arguments[i]]);
  }
  for (uint32_t i = 0; i < model->function_count; ++i) checker_print_function(model, i);
}

// The way for program |seed|, so that all of them, and all pairs, come up.
static tfrt_checker_way_t checker_choose_way(uint64_t seed) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, ~seed);
  tfrt_checker_way_t way = {.has_scope = tfrt_random_below(&random, 2) == 0,
                            .has_trace = tfrt_random_below(&random, 6) == 0,
                            .resolves_in_queue = tfrt_random_below(&random, 2) == 0,
                            .is_cancelled = tfrt_random_below(&random, 12) == 0};
  uint64_t entry = tfrt_random_below(&random, 4);
  if (entry == 0) way.entry = TFRT_CHECKER_GIVE;
  if (entry == 1) way.entry = TFRT_CHECKER_IN_QUEUE;
  return way;
}

bool tfrt_model_checker_check(tfrt_model_checker_t* checker, uint64_t seed) {
  tfrt_model_generate(seed, TFRT_CHECKER_MAX_STEPS, checker->model);
  tfrt_model_value_t expected[TFRT_MODEL_MAX_RESULTS];
  checker->steps += tfrt_model_interpret(checker->model, TFRT_CHECKER_MAX_STEPS, expected);
  for (int queue = 0; queue < TFRT_CHECKER_QUEUES; ++queue) {
    // Two of four programs check all types, which costs something else too.
    tfrt_kernel_registry_set_type_checks(checker->hosts[queue]->registry, seed / 2 % 2);
    tfrt_work_queue_t* work_queue = checker->hosts[queue]->work_queue;
    if (tfrt_checker_threads[queue] == TFRT_CHECKER_SHUFFLING) {
      tfrt_shuffling_work_queue_set_seed(work_queue, seed);
    }
    if (checker_run(checker, queue, checker_choose_way(seed), expected)) continue;
    printf("Program %llu differs in the %s queue. Again with:\n", (unsigned long long)seed,
           tfrt_work_queue_name(work_queue));
    printf("  random_programs --seed=%llu --count=1\n", (unsigned long long)seed);
    checker_print_program(checker->model);
    fflush(stdout);
    return false;
  }
  return true;
}
