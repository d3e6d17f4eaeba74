// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/blocking_wait.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static tfrt_async_value_t* values[50];

static void resolve_backwards(void* argument) {
  (void)argument;
  for (int i = 49; i >= 0; --i) {
    tfrt_thread_yield();
    tfrt_async_value_set_available(values[i]);
  }
}

START_TEST(a_thread_waits_for_all_values) {
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 50; ++i) values[i] = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
    tfrt_thread_t thread;
    ck_assert_ptr_null(tfrt_thread_create("resolve", resolve_backwards, NULL, &thread));
    tfrt_blocking_wait(values, 50);
    for (int i = 0; i < 50; ++i) {
      ck_assert(tfrt_async_value_is_available(values[i]));
      tfrt_async_value_release(values[i]);
    }
    tfrt_thread_join(&thread);
  }
}
END_TEST

START_TEST(nothing_to_wait_for_returns_at_once) {
  tfrt_async_value_t* chain = tfrt_async_value_ready_chain();
  tfrt_blocking_wait(&chain, 1);
  tfrt_blocking_wait(NULL, 0);
  ck_assert(tfrt_async_value_is_available(chain));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("blocking_wait");
  tcase_add_test(tests, a_thread_waits_for_all_values);
  tcase_add_test(tests, nothing_to_wait_for_returns_at_once);
  Suite* suite = suite_create("blocking_wait");
  suite_add_tcase(suite, tests);
  return suite;
}
