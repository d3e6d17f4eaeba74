// SPDX-License-Identifier: Apache-2.0
//
// Runs a model over and over, as models.py asks for it:
//
//   model_peer MODEL.bef THREADS NAME=FILE.npy ...
//
// The inputs are in the order of the model's. Lines of the input, and what is printed for them:
//   run          the nanoseconds of one inference by the clock, and of the processor
//   write FILE   "written", when result 0 of the last inference is in FILE
// At the end of the input it prints the KiB of its peak memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "embedding/standard_kernels.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/npy.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/bench/bench_memory.h"

enum { MAX_INPUTS = 64, MAX_RESULTS = 64, LINE_SIZE = 4096 };

typedef struct peer_s {
  tfrt_host_context_t* host;
  tfrt_program_t* program;
  tfrt_async_value_t* arguments[MAX_INPUTS];
  uint32_t argument_count;
  tfrt_dense_host_tensor_t results[MAX_RESULTS];
  uint32_t result_count;
} peer_t;

static tfrt_status_t make_host(int threads, tfrt_host_context_t** out_host) {
  const tfrt_thread_pool_options_t options = {.thread_count = threads};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, out_host));
  return tfrt_standard_kernels_register((*out_host)->registry);
}

static tfrt_status_t read_input(const char* path, tfrt_async_value_t** out_value) {
  tfrt_file_contents_t contents;
  tfrt_dense_host_tensor_t tensor = {0};
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_status_t status =
      tfrt_npy_read(contents.data, contents.size, tfrt_allocator_system(), &tensor);
  tfrt_file_contents_deinitialize(&contents);
  if (!status) *out_value = tfrt_async_value_create_tensor_take(&tensor);
  return status;
}

static tfrt_status_t load(const tfrt_host_context_t* host, const char* path,
                          tfrt_program_t** out_program) {
  tfrt_file_contents_t contents;
  tfrt_bef_file_t* file = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_file_map(path, TFRT_BEF_MAX_SIZE, tfrt_allocator_system(), &contents));
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create_take_contents(&contents, &file));
  tfrt_status_t status =
      tfrt_program_create(file, host->registry, tfrt_allocator_system(), out_program);
  tfrt_bef_file_release(file);
  return status;
}

static tfrt_status_t start(peer_t* peer, int count, char** words) {
  TFRT_RETURN_IF_ERROR(make_host(atoi(words[1]), &peer->host));
  TFRT_RETURN_IF_ERROR(load(peer->host, words[0], &peer->program));
  for (int i = 2; i < count && peer->argument_count < MAX_INPUTS; ++i) {
    const char* path = strchr(words[i], '=');
    TFRT_RETURN_IF_ERROR(
        read_input(path ? path + 1 : words[i], &peer->arguments[peer->argument_count]));
    ++peer->argument_count;
  }
  return NULL;
}

static void drop_results(peer_t* peer) {
  for (uint32_t i = 0; i < MAX_RESULTS; ++i) {
    tfrt_dense_host_tensor_deinitialize(&peer->results[i]);
  }
  memset(peer->results, 0, sizeof(peer->results));
}

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Keeps the results, or returns the first that is an error.
static tfrt_status_t take_results(peer_t* peer, tfrt_async_value_t** values) {
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < peer->result_count; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_resolved(values[i]);
    if (tfrt_async_value_is_error(value)) {
      if (!status) status = tfrt_status_retain(tfrt_async_value_error(value));
    } else {
      const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
      tfrt_dense_host_tensor_initialize_alias(&tensor->dense, &peer->results[i]);
    }
    tfrt_async_value_release(values[i]);
  }
  return status;
}

static tfrt_status_t execute(peer_t* peer) {
  const tfrt_request_options_t options = tfrt_request_options_default();
  const tfrt_function_t* function = tfrt_program_find_function(peer->program, "main");
  tfrt_request_context_t* request = NULL;
  tfrt_async_value_t* values[MAX_RESULTS] = {NULL};
  if (!function || function->argument_count != peer->argument_count ||
      function->result_count > MAX_RESULTS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the model has other inputs");
  }
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(peer->host, request);
  tfrt_function_execute(function, &context, peer->arguments, values);
  tfrt_work_queue_await(peer->host->work_queue, values, function->result_count);
  peer->result_count = function->result_count;
  tfrt_status_t status = take_results(peer, values);
  tfrt_request_context_release(request);
  return status;
}

static tfrt_status_t run(peer_t* peer) {
  drop_results(peer);
  long long clock = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
  TFRT_RETURN_IF_ERROR(execute(peer));
  printf("%lld %lld\n", now(CLOCK_MONOTONIC) - clock, now(CLOCK_PROCESS_CPUTIME_ID) - processor);
  return NULL;
}

static tfrt_status_t write_result(const peer_t* peer, const char* path) {
  if (peer->result_count == 0) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "nothing has run yet");
  }
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_status_t status = tfrt_npy_write(&peer->results[0], &out);
  FILE* file = status ? NULL : fopen(path, "wb");
  bool is_written = file && fwrite(tfrt_string_builder_text(&out), 1, out.size, file) == out.size;
  if (file) is_written = fclose(file) == 0 && is_written;
  if (!status && !is_written) {
    status = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "can't write %s", path);
  }
  if (!status) printf("written\n");
  tfrt_string_builder_deinitialize(&out);
  return status;
}

static tfrt_status_t serve(peer_t* peer) {
  char line[LINE_SIZE];
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin)) {
    line[strcspn(line, "\n")] = '\0';
    bool is_write = strncmp(line, "write ", 6) == 0;
    TFRT_RETURN_IF_ERROR(is_write ? write_result(peer, line + 6) : run(peer));
    fflush(stdout);
  }
  printf("%ld\n", tfrt_bench_peak_memory(getpid()));
  return NULL;
}

int main(int count, char** words) {
  peer_t peer = {.host = NULL};
  if (count < 3) {
    fprintf(stderr, "model_peer MODEL.bef THREADS NAME=FILE.npy ...\n");
    return 2;
  }
  tfrt_status_t status = start(&peer, count - 1, words + 1);
  if (!status) status = serve(&peer);
  if (status) fprintf(stderr, "%s\n", tfrt_status_message(status));
  drop_results(&peer);
  for (uint32_t i = 0; i < peer.argument_count; ++i) tfrt_async_value_release(peer.arguments[i]);
  tfrt_program_release(peer.program);
  tfrt_host_context_free(peer.host);
  bool is_good = !status;
  tfrt_status_release(status);
  return is_good ? 0 : 1;
}
