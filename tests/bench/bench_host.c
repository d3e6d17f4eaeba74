// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_host.h"

#include "compiler/translate.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "tools/kernels/kernel_rooms.h"
#include "tools/kernels/op_tables.h"

tfrt_status_t tfrt_bench_queue_create(int threads, tfrt_work_queue_t** out_queue) {
  if (threads == 0) return tfrt_inline_work_queue_create(tfrt_allocator_system(), out_queue);
  tfrt_thread_pool_options_t options = {.thread_count = threads, .blocking_thread_count = 1};
  return tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), out_queue);
}

tfrt_status_t tfrt_bench_translate(tfrt_string_view_t text, void** out_bytes, size_t* out_size) {
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_status_t status =
      tfrt_translate_text_to_bef("bench.mlir", text, tfrt_all_op_tables(), NULL,
                                 tfrt_allocator_system(), &report, out_bytes, out_size);
  tfrt_string_builder_deinitialize(&report);
  return status;
}

static tfrt_status_t load(tfrt_bench_host_t* host, tfrt_string_view_t text) {
  tfrt_allocator_t system = tfrt_allocator_system();
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_bench_translate(text, &bytes, &size));
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = tfrt_bef_file_create(bytes, size, system, &file);
  tfrt_allocator_free(system, bytes, size);
  if (!status) status = tfrt_program_create(file, host->host->registry, system, &host->program);
  tfrt_bef_file_release(file);
  if (status) return status;
  host->main = tfrt_program_find_function(host->program, "main");
  if (host->main) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no function 'main'");
}

static tfrt_status_t set_up(tfrt_bench_host_t* host, int threads, tfrt_string_view_t text) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_bench_queue_create(threads, &queue));
  TFRT_RETURN_IF_ERROR(tfrt_host_context_allocate(system, tfrt_clock_system(), queue, &host->host));
  TFRT_RETURN_IF_ERROR(tfrt_kernel_rooms_register(host->host->registry));
  tfrt_request_options_t options = tfrt_request_options_default();
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, system, &host->request));
  return text.size > 0 ? load(host, text) : NULL;
}

tfrt_status_t tfrt_bench_host_open(tfrt_bench_host_t* host, int threads, tfrt_string_view_t text) {
  *host = (tfrt_bench_host_t){0};
  tfrt_status_t status = set_up(host, threads, text);
  if (status) tfrt_bench_host_close(host);
  return status;
}

void tfrt_bench_host_call(tfrt_bench_host_t* host, tfrt_async_value_t* const* arguments,
                          tfrt_async_value_t** results, size_t count) {
  tfrt_execution_context_t context = tfrt_host_context_execution(host->host, host->request);
  tfrt_function_execute_here(host->main, &context, arguments, results);
  tfrt_work_queue_await(host->host->work_queue, results, count);
  tfrt_work_queue_quiesce(host->host->work_queue);
}

void tfrt_bench_host_close(tfrt_bench_host_t* host) {
  tfrt_request_context_release(host->request);
  tfrt_program_release(host->program);
  tfrt_host_context_free(host->host);
  *host = (tfrt_bench_host_t){0};
}
