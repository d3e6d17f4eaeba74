// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/sync.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "host_runtime/base/clock.h"
#include "tests/support/test_main.h"

typedef struct shared_s {
  tfrt_mutex_t mutex;
  tfrt_condition_t condition;
  int turn;
  int64_t total;
} shared_t;

static shared_t shared;

static void initialize_shared(void) {
  tfrt_mutex_initialize(&shared.mutex);
  tfrt_condition_initialize(&shared.condition);
}

static void deinitialize_shared(void) {
  tfrt_condition_deinitialize(&shared.condition);
  tfrt_mutex_deinitialize(&shared.mutex);
}

static void add_many(void* argument) {
  for (int i = 0; i < 10000; ++i) {
    tfrt_mutex_lock(&shared.mutex);
    shared.total += *(int*)argument;
    tfrt_mutex_unlock(&shared.mutex);
  }
}

// 0: mutexes as they are mostly; 1: those that spin.
static void (*const initialize_mutex[])(tfrt_mutex_t*) = {tfrt_mutex_initialize,
                                                          tfrt_mutex_initialize_spinning};

START_TEST(a_mutex_lets_one_in_at_a_time) {
  initialize_mutex[_i](&shared.mutex);
  tfrt_thread_t threads[4];
  int amount = 1;
  for (int i = 0; i < 4; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("adder", add_many, &amount, &threads[i]));
  }
  for (int i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(shared.total, 40000);
  tfrt_mutex_deinitialize(&shared.mutex);
}
END_TEST

// Takes every second turn, up to 1000.
static void take_turns(void* argument) {
  int mine = *(int*)argument;
  tfrt_mutex_lock(&shared.mutex);
  while (shared.turn < 1000) {
    if (shared.turn % 2 == mine) {
      ++shared.turn;
      tfrt_condition_broadcast(&shared.condition);
    } else {
      tfrt_condition_wait(&shared.condition, &shared.mutex);
    }
  }
  tfrt_mutex_unlock(&shared.mutex);
}

START_TEST(a_condition_wakes_who_waits) {
  initialize_shared();
  int even = 0, odd = 1;
  tfrt_thread_t other;
  ck_assert_ptr_null(tfrt_thread_create("turns", take_turns, &odd, &other));
  take_turns(&even);
  tfrt_thread_join(&other);
  ck_assert_int_eq(shared.turn, 1000);
  deinitialize_shared();
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline_by_the_monotonic_clock) {
  initialize_shared();
  int64_t deadline_ns = tfrt_clock_now_ns(tfrt_clock_system()) + TFRT_NANOSECONDS_PER_MILLISECOND;
  tfrt_mutex_lock(&shared.mutex);
  while (tfrt_condition_wait_until(&shared.condition, &shared.mutex, deadline_ns)) {
  }
  ck_assert(!tfrt_condition_wait_until(&shared.condition, &shared.mutex, -1));
  tfrt_mutex_unlock(&shared.mutex);
  ck_assert_int_ge(tfrt_clock_now_ns(tfrt_clock_system()), deadline_ns);
  deinitialize_shared();
}
END_TEST

static void read_mask(void* argument) { sigprocmask(SIG_BLOCK, NULL, argument); }

static void be_woken_in_time(void* argument) {
  tfrt_thread_wake_in_time();
  *(int*)argument = prctl(PR_GET_TIMERSLACK);
}

START_TEST(a_thread_may_ask_to_be_woken_in_time) {
  int before = prctl(PR_GET_TIMERSLACK);
  int slack_ns = 0;
  tfrt_thread_t thread;
  ck_assert(!tfrt_thread_create("in-time", be_woken_in_time, &slack_ns, &thread));
  tfrt_thread_join(&thread);
  ck_assert_int_eq(slack_ns, 1);
  ck_assert_int_eq(prctl(PR_GET_TIMERSLACK), before);
}
END_TEST

START_TEST(a_thread_blocks_signals_but_not_its_own_faults) {
  sigset_t mask;
  sigemptyset(&mask);
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("a name that is much too long", read_mask, &mask, &thread));
  tfrt_thread_join(&thread);
  ck_assert_int_eq(sigismember(&mask, SIGINT), 1);
  ck_assert_int_eq(sigismember(&mask, SIGTERM), 1);
  ck_assert_int_eq(sigismember(&mask, SIGCHLD), 1);
  ck_assert_int_eq(sigismember(&mask, SIGSEGV), 0);
  sigset_t own;
  sigprocmask(SIG_BLOCK, NULL, &own);
  ck_assert_int_eq(sigismember(&own, SIGINT), 0);
}
END_TEST

static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
static _Atomic int once_count;
static void count_once(void) { atomic_fetch_add(&once_count, 1); }
static void run_once(void* argument) {
  (void)argument;
  tfrt_once_run(&once, count_once);
  ck_assert_int_eq(atomic_load(&once_count), 1);
}

START_TEST(once_is_once) {
  tfrt_thread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("once", run_once, NULL, &threads[i]));
  }
  run_once(NULL);
  for (int i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(atomic_load(&once_count), 1);
}
END_TEST

START_TEST(a_static_mutex_needs_no_initialisation) {
  static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
  tfrt_mutex_lock(&mutex);
  tfrt_mutex_unlock(&mutex);
  ck_assert_int_ge(tfrt_processor_count(), 1);
}
END_TEST

// --- What a thread does at its end -------------------------------------------

typedef struct exit_probe_s {
  tfrt_thread_exit_hook_t hook;
  int place;  // 1 for the first one that ran; 0: has not run
} exit_probe_t;

static exit_probe_t exit_probes[3];
static int exit_places;

static void note_exit(tfrt_thread_exit_hook_t* hook) {
  TFRT_CONTAINER_OF(hook, exit_probe_t, hook)->place = ++exit_places;
}

static void note_exit_and_add(tfrt_thread_exit_hook_t* hook) {
  note_exit(hook);
  exit_probes[2].hook.run = note_exit;
  if (!tfrt_thread_at_exit(&exit_probes[2].hook)) exit_places = 100;
}

static void add_exit_hooks(void* argument) {
  bool* added = argument;
  exit_probes[0].hook.run = note_exit_and_add;
  exit_probes[1].hook.run = note_exit;
  *added = tfrt_thread_at_exit(&exit_probes[0].hook) && tfrt_thread_at_exit(&exit_probes[1].hook);
  if (exit_places != 0) *added = false;
}

START_TEST(hooks_run_at_the_end_of_their_thread_the_last_one_first) {
  tfrt_thread_t thread;
  bool added = false;
  ck_assert_ptr_null(tfrt_thread_create("test", add_exit_hooks, &added, &thread));
  tfrt_thread_join(&thread);
  ck_assert(added);
  ck_assert_int_eq(exit_probes[1].place, 1);
  ck_assert_int_eq(exit_probes[0].place, 2);
  // Added by a hook.
  ck_assert_int_eq(exit_probes[2].place, 3);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("sync");
  tcase_add_loop_test(tests, a_mutex_lets_one_in_at_a_time, 0, 2);
  tcase_add_test(tests, a_condition_wakes_who_waits);
  tcase_add_test(tests, a_wait_ends_at_its_deadline_by_the_monotonic_clock);
  tcase_add_test(tests, a_thread_may_ask_to_be_woken_in_time);
  tcase_add_test(tests, a_thread_blocks_signals_but_not_its_own_faults);
  tcase_add_test(tests, once_is_once);
  tcase_add_test(tests, a_static_mutex_needs_no_initialisation);
  tcase_add_test(tests, hooks_run_at_the_end_of_their_thread_the_last_one_first);
  Suite* suite = suite_create("sync");
  suite_add_tcase(suite, tests);
  return suite;
}
