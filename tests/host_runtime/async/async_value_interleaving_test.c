// SPDX-License-Identifier: Apache-2.0
//
// AsyncValues in every order that those who resolve, forward, demand, wait for and release
// them can have.
#include "host_runtime/async/value_storage.h"
#include "tests/support/interleaving_atomics.h"
// Behind it: the real code, with its atomic operations as points, and with its thread's state
// as an object that the explorer can see.
#define _Thread_local
#include "host_runtime/async/async_value.c"
#include "host_runtime/async/indirect_value.c"
#undef _Thread_local
#include "tests/support/test_main.h"

// --- What the scenarios are made of --------------------------------------------------

#define WAITERS 3

typedef struct waiter_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;
  int runs;
  tfrt_async_value_state_t seen;  // the value's, when it ran
} waiter_t;

static waiter_t waiters[WAITERS];
static tfrt_async_value_t* value;     // concrete
static tfrt_indirect_value_t* first;  // indirect
static tfrt_indirect_value_t* second;
static int destroyed;
static int forwards;  // that were first
static int demands;

static void run_waiter(tfrt_task_t* task) {
  waiter_t* waiter = TFRT_CONTAINER_OF(task, waiter_t, task);
  ++waiter->runs;
  waiter->seen = tfrt_async_value_state(waiter->value);
  // The waiter's own reference.
  tfrt_async_value_release(waiter->value);
}

static void count_destroy(void* payload) {
  (void)payload;
  ++destroyed;
}

static tfrt_type_id_t counted_type(void) {
  static const tfrt_type_t type = {.name = "!test.counted", .size = 4, .destroy = count_destroy};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return id;
}

static void reset(void) {
  memset(waiters, 0, sizeof(waiters));
  memset(&pending, 0, sizeof(pending));
  value = NULL;
  first = second = NULL;
  destroyed = forwards = demands = 0;
}

// Waits for |awaited| with waiter |index|, which gets the caller's reference.
static void wait_for(int index, tfrt_async_value_t* awaited) {
  waiters[index].value = awaited;
  tfrt_task_initialize(&waiters[index].task, run_waiter);
  tfrt_async_value_and_then(awaited, &waiters[index].task);
}

static void expect_waiters(int count, tfrt_async_value_state_t state) {
  for (int i = 0; i < WAITERS; ++i) {
    ck_assert_int_eq(waiters[i].runs, i < count);
    if (i < count) ck_assert_int_eq(waiters[i].seen, state);
  }
}

// Explores |scenario|, whose orders are at least |least|.
static void explore(interleaving_scenario_t scenario, uint64_t least) {
  scenario.thread_local_state = &pending;
  scenario.thread_local_size = sizeof(pending);
  interleaving_ignore(&live_count);
  ck_assert_uint_ge(interleaving_explore(&scenario), least);
}

// --- A concrete value -------------------------------------------------------------------

static void set_up_value(void) {
  reset();
  value = tfrt_async_value_create_unconstructed(counted_type());
  tfrt_async_value_retain_n(value, 2);
}
static void resolve_value(void) {
  tfrt_async_value_set_available(value);
  tfrt_async_value_release(value);
}
static void wait_0(void) { wait_for(0, value); }
static void wait_1(void) { wait_for(1, value); }
static void check_value(void) {
  expect_waiters(2, TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(each_waiter_runs_once_and_the_last_reference_destroys) {
  explore((interleaving_scenario_t){.set_up = set_up_value,
                                    .threads = {resolve_value, wait_0, wait_1},
                                    .check = check_value,
                                    .max_preemptions = 4},
          10000);
}
END_TEST

static void fail_value(void) {
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_ABORTED, "it broke");
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
  tfrt_async_value_release(value);
}
static void set_up_failing_value(void) {
  reset();
  value = tfrt_async_value_create_keeping(counted_type());
  tfrt_async_value_retain(value);
}
static void check_failed_value(void) {
  expect_waiters(1, TFRT_ASYNC_VALUE_FAILED);
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(an_error_reaches_a_waiter_in_every_order) {
  explore((interleaving_scenario_t){.set_up = set_up_failing_value,
                                    .threads = {fail_value, wait_0},
                                    .check = check_failed_value,
                                    .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS},
          30);
}
END_TEST

// --- An indirect value ------------------------------------------------------------------

// |first| has a reference for the forwarder and one for the waiter; |value| one for its
// resolver and one for the forwarder, who gives it away.
static void set_up_indirect(void) {
  reset();
  value = tfrt_async_value_create_unconstructed(counted_type());
  tfrt_async_value_retain(value);
  first = tfrt_indirect_value_create();
  tfrt_async_value_retain(&first->base);
}
static void forward_to_value(void) {
  forwards += tfrt_indirect_value_forward_take(first, value);
  tfrt_async_value_release(&first->base);
}
static void wait_for_first(void) { wait_for(0, &first->base); }
static void check_indirect(void) {
  expect_waiters(1, TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_int_eq(forwards, 1);
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(forwarding_resolving_and_waiting_meet_in_any_order) {
  explore((interleaving_scenario_t){.set_up = set_up_indirect,
                                    .threads = {forward_to_value, resolve_value, wait_for_first},
                                    .check = check_indirect,
                                    .max_preemptions = 3},
          10000);
}
END_TEST

// Two forward |first|, to values that are there: one wins.
static tfrt_async_value_t* offers[2];
static void set_up_two_forwarders(void) {
  reset();
  for (int i = 0; i < 2; ++i) offers[i] = tfrt_async_value_create_available(counted_type());
  first = tfrt_indirect_value_create();
  tfrt_async_value_retain_n(&first->base, 2);
}
static void offer_0(void) {
  forwards += tfrt_indirect_value_forward_take(first, offers[0]);
  tfrt_async_value_release(&first->base);
}
static void offer_1(void) {
  forwards += tfrt_indirect_value_forward_take(first, offers[1]);
  tfrt_async_value_release(&first->base);
}
static void check_two_forwarders(void) {
  expect_waiters(1, TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_int_eq(forwards, 1);
  ck_assert_int_eq(destroyed, 2);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(the_first_to_forward_wins_and_the_other_is_dropped) {
  explore((interleaving_scenario_t){.set_up = set_up_two_forwarders,
                                    .threads = {offer_0, offer_1, wait_for_first},
                                    .check = check_two_forwarders,
                                    .max_preemptions = 3},
          10000);
}
END_TEST

// --- Chains of indirect values ------------------------------------------------------------

// |first| goes to |second|, and that to |value|, which is there.
static void set_up_chain(void) {
  reset();
  value = tfrt_async_value_create_available(counted_type());
  first = tfrt_indirect_value_create();
  tfrt_async_value_retain(&first->base);
  second = tfrt_indirect_value_create();
  tfrt_async_value_retain(&second->base);
}
static void forward_first(void) {
  forwards += tfrt_indirect_value_forward_take(first, &second->base);
  tfrt_async_value_release(&first->base);
}
static void forward_second(void) {
  forwards += tfrt_indirect_value_forward_take(second, value);
  tfrt_async_value_release(&second->base);
}
static void await_first(void) {
  waiters[0].value = &first->base;
  tfrt_task_initialize(&waiters[0].task, run_waiter);
  tfrt_async_value_await(&first->base, &waiters[0].task);
}
static void check_chain(void) {
  expect_waiters(1, TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_int_eq(forwards, 2);
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(a_chain_collapses_under_those_who_look_along_it) {
  explore((interleaving_scenario_t){.set_up = set_up_chain,
                                    .threads = {forward_first, forward_second, await_first},
                                    .check = check_chain,
                                    .max_preemptions = 3},
          10000);
}
END_TEST

// --- Demands --------------------------------------------------------------------------------

// |second| is owned elsewhere: it counts demands.
static void destroy_remote(tfrt_indirect_value_t* remote) {
  tfrt_allocator_free(tfrt_allocator_system(), remote, sizeof(*remote));
}
static void demand_remote(tfrt_indirect_value_t* remote) {
  (void)remote;
  ++demands;
}
static tfrt_async_value_t* settlement_of_remote(tfrt_indirect_value_t* remote) {
  return &remote->base;
}
static void set_up_remote(void) {
  static const tfrt_resolver_vtable_t resolver = {destroy_remote, demand_remote,
                                                  settlement_of_remote};
  reset();
  first = tfrt_indirect_value_create();
  tfrt_async_value_retain(&first->base);
  second = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*second));
  tfrt_indirect_value_initialize(second, &resolver);
  tfrt_async_value_retain(&second->base);
}
static void check_demanded(void) {
  ck_assert_int_ge(demands, 1);
  ck_assert_int_eq(waiters[0].runs, 0);
  // Nobody else is left: what is owned elsewhere comes, and all goes.
  tfrt_indirect_value_forward_take(second, tfrt_async_value_create_available(counted_type()));
  tfrt_async_value_release(&second->base);
  expect_waiters(1, TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(no_demand_is_lost_between_asking_and_forwarding) {
  explore((interleaving_scenario_t){.set_up = set_up_remote,
                                    .threads = {forward_first, wait_for_first},
                                    .check = check_demanded,
                                    .max_preemptions = 5},
          1000);
}
END_TEST

// --- Abandoned values ---------------------------------------------------------------------

// |first| waits for |second|, and that for |value|, which is not there.
static void set_up_waiting_chain(void) {
  reset();
  value = tfrt_async_value_create_unconstructed(counted_type());
  first = tfrt_indirect_value_create();
  second = tfrt_indirect_value_create();
  tfrt_indirect_value_forward(second, value);
  tfrt_indirect_value_forward(first, &second->base);
}
static void drop_first(void) { tfrt_async_value_release(&first->base); }
static void drop_second(void) { tfrt_async_value_release(&second->base); }
static void drop_value(void) { tfrt_async_value_release(value); }
static void check_resolved_chain(void) {
  ck_assert_int_eq(destroyed, 1);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(a_chain_is_dropped_while_its_end_is_resolved) {
  explore((interleaving_scenario_t){.set_up = set_up_waiting_chain,
                                    .threads = {drop_first, drop_second, resolve_value},
                                    .check = check_resolved_chain,
                                    .max_preemptions = 2},
          500);
}
END_TEST

static void check_dropped_chain(void) {
  ck_assert_int_eq(destroyed, 0);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

START_TEST(a_chain_goes_with_its_last_reference_though_its_end_is_never_resolved) {
  explore((interleaving_scenario_t){.set_up = set_up_waiting_chain,
                                    .threads = {drop_first, drop_second, drop_value},
                                    .check = check_dropped_chain,
                                    .max_preemptions = 2},
          100);
}
END_TEST

// |first| has a waiter that drops the last reference while |first| is being resolved.
static void set_up_awaited_first(void) {
  set_up_waiting_chain();
  wait_for(0, &first->base);
}
static void check_awaited_first(void) {
  expect_waiters(1, TFRT_ASYNC_VALUE_AVAILABLE);
  check_resolved_chain();
}

START_TEST(a_waiter_drops_the_last_reference_to_a_value_that_is_being_resolved) {
  explore((interleaving_scenario_t){.set_up = set_up_awaited_first,
                                    .threads = {drop_second, resolve_value},
                                    .check = check_awaited_first,
                                    .max_preemptions = 2},
          10);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("async_value_interleaving");
  TCase* cases = tcase_create("async_value_interleaving");
  tcase_add_test(cases, each_waiter_runs_once_and_the_last_reference_destroys);
  tcase_add_test(cases, an_error_reaches_a_waiter_in_every_order);
  tcase_add_test(cases, forwarding_resolving_and_waiting_meet_in_any_order);
  tcase_add_test(cases, the_first_to_forward_wins_and_the_other_is_dropped);
  tcase_add_test(cases, a_chain_collapses_under_those_who_look_along_it);
  tcase_add_test(cases, no_demand_is_lost_between_asking_and_forwarding);
  tcase_add_test(cases, a_chain_is_dropped_while_its_end_is_resolved);
  tcase_add_test(cases, a_chain_goes_with_its_last_reference_though_its_end_is_never_resolved);
  tcase_add_test(cases, a_waiter_drops_the_last_reference_to_a_value_that_is_being_resolved);
  suite_add_tcase(suite, cases);
  return suite;
}
