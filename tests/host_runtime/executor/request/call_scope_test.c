// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/executor/request/call_scope.h"

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

// A call whose end is counted.
typedef struct call_s {
  tfrt_call_scope_t scope;
  tfrt_task_t done;
  int ends;
} call_t;

static void end(tfrt_task_t* task) { ++TFRT_CONTAINER_OF(task, call_t, done)->ends; }

static void begin(call_t* call) {
  *call = (call_t){.ends = 0};
  tfrt_task_initialize(&call->done, end);
  tfrt_call_scope_initialize(&call->scope, &call->done);
}

START_TEST(a_call_is_over_when_all_of_it_is) {
  call_t call;
  begin(&call);
  tfrt_call_scope_enter(&call.scope);
  ck_assert(tfrt_call_scope_try_enter(&call.scope));
  tfrt_call_scope_leave(&call.scope);
  tfrt_call_scope_leave(&call.scope);
  ck_assert_int_eq(call.ends, 0);
  tfrt_call_scope_leave(&call.scope);
  ck_assert_int_eq(call.ends, 1);
}
END_TEST

START_TEST(what_is_over_cannot_be_entered) {
  call_t call;
  begin(&call);
  tfrt_call_scope_leave(&call.scope);
  ck_assert_int_eq(call.ends, 1);
  ck_assert(!tfrt_call_scope_try_enter(&call.scope));
}
END_TEST

START_TEST(no_scope_is_always_open) {
  tfrt_call_scope_enter(NULL);
  ck_assert(tfrt_call_scope_try_enter(NULL));
  tfrt_call_scope_leave(NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("call_scope");
  tcase_add_test(cases, a_call_is_over_when_all_of_it_is);
  tcase_add_test(cases, what_is_over_cannot_be_entered);
  tcase_add_test(cases, no_scope_is_always_open);
  Suite* suite = suite_create("call_scope");
  suite_add_tcase(suite, cases);
  return suite;
}
