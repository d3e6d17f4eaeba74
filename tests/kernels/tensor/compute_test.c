// SPDX-License-Identifier: Apache-2.0
//
// Many long computations at once on a pool of threads, on shared operands.

#include "kernels/tensor/compute.h"

#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/executor/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/matmul.h"
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

START_TEST(parallel_computations_give_what_one_gives) {
  testing_ok(tfrt_tensor_types_register());
  tfrt_work_queue_t* queue;
  const tfrt_thread_pool_options_t options = {.thread_count = 4, .blocking_thread_count = 1};
  testing_ok(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  tfrt_host_context_t* host;
  testing_ok(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  tfrt_request_context_t* request;
  tfrt_request_options_t request_options = tfrt_request_options_default();
  testing_ok(tfrt_request_context_create(&request_options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);

  // Two settings in turn, so that threads meet at the cache of primitives.
  tfrt_async_value_t* operands[] = {random_value(1, 30, 40), random_value(2, 40, 50)};
  tfrt_async_value_t* results[JOB_COUNT] = {NULL};
  for (size_t i = 0; i < JOB_COUNT; ++i) {
    tfrt_kernel_frame_t frame = {.arguments = operands,
                                 .argument_count = 2,
                                 .results = &results[i],
                                 .result_count = 1,
                                 .context = &context};
    const tfrt_compute_t compute = {
        .run = multiply, .operands = operands, .operand_count = 2, .relu = i % 2};
    tfrt_compute_start(&frame, &compute, TFRT_COMPUTE_LONG_WORK);
  }
  tfrt_work_queue_await(queue, results, JOB_COUNT);
  for (size_t i = 2; i < JOB_COUNT; ++i) {
    ck_assert(!tfrt_async_value_is_error(results[i]));
    const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(results[i]);
    const tfrt_host_tensor_t* other = tfrt_async_value_payload(results[i % 2]);
    ck_assert_int_eq(tensor->layout, TFRT_TENSOR_LAYOUT_DENSE);
    ck_assert(tfrt_dense_host_tensor_equal(&tensor->dense, &other->dense));
  }
  for (size_t i = 0; i < JOB_COUNT; ++i) tfrt_async_value_release(results[i]);
  tfrt_async_value_release(operands[0]);
  tfrt_async_value_release(operands[1]);
  tfrt_work_queue_quiesce(queue);
  tfrt_request_context_release(request);
  tfrt_host_context_free(host);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("compute");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, parallel_computations_give_what_one_gives);
  Suite* suite = suite_create("compute");
  suite_add_tcase(suite, cases);
  return suite;
}
