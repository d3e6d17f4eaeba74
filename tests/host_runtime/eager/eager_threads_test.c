// SPDX-License-Identifier: Apache-2.0
//
// One handle that runs on two threads at once, with arguments that come from the work queue's.
#include <stdatomic.h>

#include "host_runtime/base/sync.h"
#include "tests/host_runtime/eager/eager_fixture.h"
#include "tests/support/test_main.h"

enum { THREADS = 2, RUNS = 500 };

static tfrt_eager_op_t* add;
static tfrt_eager_op_t* copy;
static tfrt_eager_op_t* next;
static atomic_int total;

static tfrt_async_value_t* run(const tfrt_eager_op_t* op, tfrt_async_value_t** arguments,
                               uint32_t count) {
  tfrt_async_value_t* result = NULL;
  tfrt_status_t status =
      tfrt_eager_op_run_take(op, &eager_fixture_context, arguments, count, &result, 1);
  tfrt_status_release(status);
  return status ? tfrt_async_value_out_of_memory() : result;
}

// next(1 + copy(i)), where the copy is made by another thread: half of the adds find it late.
static void run_all(void* unused) {
  (void)unused;
  for (int i = 0; i < RUNS; ++i) {
    tfrt_async_value_t* number = tfrt_async_value_create_i32(i);
    tfrt_async_value_t* arguments[] = {tfrt_async_value_create_i32(1), run(copy, &number, 1)};
    tfrt_async_value_t* sum = run(add, arguments, 2);
    tfrt_async_value_t* result = run(next, &sum, 1);
    tfrt_work_queue_await(eager_fixture_host->work_queue, &result, 1);
    tfrt_async_value_t* value = tfrt_async_value_resolved(result);
    if (!tfrt_async_value_is_error(value)) {
      atomic_fetch_add(&total, *(int32_t*)tfrt_async_value_payload(value));
    }
    tfrt_async_value_release(result);
  }
}

START_TEST(one_handle_runs_on_two_threads_at_once) {
  eager_fixture_set_up_with_threads(2);
  tfrt_program_t* program = eager_fixture_load(
      "func.func @next(%x: i32) -> i32 {\n"
      "  %one = tfrt.constant.i32 1\n"
      "  %y = tfrt.add.i32 %x, %one\n"
      "  tfrt.return %y : i32\n"
      "}\n");
  add = eager_fixture_op("tfrt.add.i32");
  copy = eager_fixture_op("tfrt_test.async_copy.i32");
  ck_assert_ptr_null(tfrt_eager_op_create_composite(program, "next", &next));
  tfrt_program_release(program);
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("eager", run_all, NULL, &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(atomic_load(&total), THREADS * (RUNS * (RUNS - 1) / 2 + 2 * RUNS));
  tfrt_work_queue_quiesce(eager_fixture_host->work_queue);
  tfrt_eager_op_release(add);
  tfrt_eager_op_release(copy);
  tfrt_eager_op_release(next);
  eager_fixture_tear_down();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("eager_threads");
  TCase* cases = tcase_create("eager_threads");
  tcase_add_test(cases, one_handle_runs_on_two_threads_at_once);
  suite_add_tcase(suite, cases);
  return suite;
}
