// SPDX-License-Identifier: Apache-2.0
//
// Long computations: many at once on a pool of threads, on shared operands; and one in a queue
// without threads.
#include "kernels/tensor/kernel_parts/compute.h"

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/math/matmul.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

#define JOB_COUNT 64

static tfrt_status_t multiply(const tfrt_compute_t* compute, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_result) {
  return tfrt_tensor_matmul(tfrt_compute_tensor(compute, 0), tfrt_compute_tensor(compute, 1), NULL,
                            compute->relu, allocator, out_result);
}

static tfrt_async_value_t* random_value(uint64_t seed, int64_t rows, int64_t columns) {
  tfrt_dense_host_tensor_t tensor = testing_random(&seed, DIMS(rows, columns));
  return tfrt_async_value_create_tensor_take(&tensor);
}

// A host with the queue that is tested, and a request.
typedef struct fixture_s {
  tfrt_host_context_t* host;
  tfrt_request_context_t* request;
  tfrt_execution_context_t context;
  tfrt_async_value_t* operands[2];
} fixture_t;

// |queue| is consumed.
static void set_up(fixture_t* fixture, tfrt_work_queue_t* queue) {
  testing_ok(tfrt_tensor_types_register());
  testing_ok(tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue,
                                        &fixture->host));
  tfrt_request_options_t options = tfrt_request_options_default();
  testing_ok(tfrt_request_context_create(&options, tfrt_allocator_system(), &fixture->request));
  fixture->context = tfrt_host_context_execution(fixture->host, fixture->request);
  fixture->operands[0] = random_value(1, 30, 40);
  fixture->operands[1] = random_value(2, 40, 50);
}

static void tear_down(fixture_t* fixture) {
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(fixture->operands[i]);
  tfrt_work_queue_quiesce(fixture->host->work_queue);
  tfrt_request_context_release(fixture->request);
  tfrt_host_context_free(fixture->host);
}

static void start(fixture_t* fixture, bool relu, tfrt_async_value_t** out_result) {
  tfrt_kernel_frame_t frame = {.arguments = fixture->operands,
                               .argument_count = 2,
                               .results = out_result,
                               .result_count = 1,
                               .context = &fixture->context};
  const tfrt_compute_t compute = {
      .run = multiply, .operands = fixture->operands, .operand_count = 2, .relu = relu};
  tfrt_compute_start(&frame, &compute, TFRT_COMPUTE_LONG_WORK);
}

START_TEST(parallel_computations_give_what_one_gives) {
  tfrt_work_queue_t* queue;
  const tfrt_thread_pool_options_t options = {.thread_count = 4, .blocking_thread_count = 1};
  testing_ok(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  fixture_t fixture;
  set_up(&fixture, queue);
  // Two settings in turn, so that threads meet at the cache of primitives.
  tfrt_async_value_t* results[JOB_COUNT] = {NULL};
  for (size_t i = 0; i < JOB_COUNT; ++i) start(&fixture, i % 2, &results[i]);
  tfrt_work_queue_await(queue, results, JOB_COUNT);
  for (size_t i = 2; i < JOB_COUNT; ++i) {
    ck_assert(!tfrt_async_value_is_error(results[i]));
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(results[i]);
    const tfrt_host_tensor_t* other = tfrt_async_value_payload(results[i % 2]);
    ck_assert_int_eq(tensor->layout, TFRT_TENSOR_LAYOUT_DENSE);
    ck_assert(tfrt_dense_host_tensor_equal(&tensor->dense, &other->dense));
  }
  for (size_t i = 0; i < JOB_COUNT; ++i) tfrt_async_value_release(results[i]);
  tear_down(&fixture);
}
END_TEST

// A task that starts a computation.
typedef struct starter_s {
  tfrt_task_t task;
  fixture_t* fixture;
  tfrt_async_value_t* result;
} starter_t;

static void run_starter(tfrt_task_t* task) {
  starter_t* starter = TFRT_CONTAINER_OF(task, starter_t, task);
  start(starter->fixture, false, &starter->result);
}

START_TEST(without_threads_it_is_a_task_unless_the_caller_is_of_the_queue) {
  tfrt_work_queue_t* queue;
  testing_ok(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  fixture_t fixture;
  set_up(&fixture, queue);
  starter_t starter = {.fixture = &fixture};
  tfrt_task_initialize(&starter.task, run_starter);
  run_starter(&starter.task);
  ck_assert(!tfrt_async_value_is_available(starter.result));
  tfrt_work_queue_await(queue, &starter.result, 1);
  tfrt_async_value_release(starter.result);
  starter.result = NULL;
  tfrt_work_queue_run_here(queue, &starter.task);
  ck_assert(tfrt_async_value_is_available(starter.result));
  tfrt_async_value_release(starter.result);
  tear_down(&fixture);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("compute");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, parallel_computations_give_what_one_gives);
  tcase_add_test(cases, without_threads_it_is_a_task_unless_the_caller_is_of_the_queue);
  Suite* suite = suite_create("compute");
  suite_add_tcase(suite, cases);
  return suite;
}
