// SPDX-License-Identifier: Apache-2.0
//
// The ABI, called directly, by coroutines whose frames are written by hand: each makes the calls
// that MLIR's lowering makes, in their order.
#include "embedding/mlir_async/mlir_async_runtime.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "embedding/mlir_async/misuse.h"
#include "embedding/mlir_async/object.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

// --- What the tests are made of ----------------------------------------------

static int64_t misuse_total(void) {
  int64_t total = 0;
  for (int i = 0; i < TFRT_MLIR_MISUSE_COUNT; ++i) {
    total += (int64_t)tfrt_mlir_misuse_count((tfrt_mlir_misuse_t)i);
  }
  return total;
}

// Ends the pool; nothing may be left, and nothing may have gone wrong but |misuses| calls.
static void end(int64_t misuses) {
  __mlir_execution_engine_destroy();
  ck_assert_int_eq(tfrt_mlir_object_live_count(), 0);
  ck_assert_int_eq(misuse_total(), misuses);
}

static void drop(void* object) { mlirAsyncRuntimeDropRef(object, 1); }

// A coroutine: awaits a token, if it has one, and settles another one.
typedef struct coroutine_s {
  void* awaited;
  void* token;
  int place;  // in the order of those that ended; from 1 on
} coroutine_t;

static _Atomic int ended_count;

static void finish(coroutine_t* self) {
  self->place = atomic_fetch_add(&ended_count, 1) + 1;
  bool is_failed = false;
  if (self->awaited) {
    is_failed = mlirAsyncRuntimeIsTokenError(self->awaited);
    drop(self->awaited);
  }
  if (is_failed) {
    mlirAsyncRuntimeSetTokenError(self->token);
  } else {
    mlirAsyncRuntimeEmplaceToken(self->token);
  }
}

static void resume_at_end(void* frame) { finish(frame); }

static void resume_at_start(void* frame) {
  coroutine_t* self = frame;
  if (!self->awaited) {
    finish(self);
    return;
  }
  mlirAsyncRuntimeAwaitTokenAndExecute(self->awaited, frame, resume_at_end);
}

// Does as a lowered async.execute: returns the token (1 reference), and takes one to |awaited|.
static void* start(coroutine_t* self, void* awaited) {
  *self = (coroutine_t){.awaited = awaited, .token = mlirAsyncRuntimeCreateToken()};
  void* token = self->token;
  mlirAsyncRuntimeExecute(self, resume_at_start);
  return token;
}

static coroutine_t* new_coroutines(size_t count) {
  coroutine_t* coroutines =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), count, sizeof(*coroutines));
  ck_assert_ptr_nonnull(coroutines);
  return coroutines;
}

static void free_coroutines(coroutine_t* coroutines, size_t count) {
  tfrt_allocator_free(tfrt_allocator_system(), coroutines, count * sizeof(*coroutines));
}

static void note_place(void* frame) { *(int*)frame = atomic_fetch_add(&ended_count, 1) + 1; }

// --- Tokens and values -------------------------------------------------------

START_TEST(a_token_is_settled_once_and_goes_with_its_last_reference) {
  void* token = mlirAsyncRuntimeCreateToken();
  ck_assert(!mlirAsyncRuntimeIsTokenError(token));
  mlirAsyncRuntimeAddRef(token, 3);
  mlirAsyncRuntimeDropRef(token, 3);
  mlirAsyncRuntimeEmplaceToken(token);
  ck_assert(!mlirAsyncRuntimeIsTokenError(token));
  mlirAsyncRuntimeAwaitToken(token);
  ck_assert_int_eq(tfrt_mlir_object_live_count(), 1);
  drop(token);
  ck_assert_int_eq(tfrt_mlir_object_live_count(), 0);
  token = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeSetTokenError(token);
  ck_assert(mlirAsyncRuntimeIsTokenError(token));
  mlirAsyncRuntimeAwaitToken(token);
  drop(token);
  // The creator's reference may go first.
  token = mlirAsyncRuntimeCreateToken();
  drop(token);
  ck_assert_int_eq(tfrt_mlir_object_live_count(), 1);
  mlirAsyncRuntimeEmplaceToken(token);
  end(0);
}
END_TEST

START_TEST(a_value_has_room_of_any_size_at_one_place) {
  const int64_t sizes[] = {0, 1, 8, 64, 65, 4096, 1000000};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sizes); ++i) {
    void* value = mlirAsyncRuntimeCreateValue(sizes[i]);
    unsigned char* storage = mlirAsyncRuntimeGetValueStorage(value);
    ck_assert_uint_eq((uintptr_t)storage % 64, 0);
    memset(storage, (int)i + 1, (size_t)sizes[i]);
    mlirAsyncRuntimeEmplaceValue(value);
    mlirAsyncRuntimeAwaitValue(value);
    ck_assert(!mlirAsyncRuntimeIsValueError(value));
    ck_assert_ptr_eq(mlirAsyncRuntimeGetValueStorage(value), storage);
    if (sizes[i] > 0) ck_assert_uint_eq(storage[sizes[i] - 1], i + 1);
    drop(value);
    value = mlirAsyncRuntimeCreateValue(sizes[i]);
    mlirAsyncRuntimeSetValueError(value);
    ck_assert(mlirAsyncRuntimeIsValueError(value));
    drop(value);
  }
  end(0);
}
END_TEST

// --- Waiting -----------------------------------------------------------------

START_TEST(who_awaits_a_settled_object_is_resumed_at_once) {
  int places[3] = {0};
  void* token = mlirAsyncRuntimeCreateToken();
  void* value = mlirAsyncRuntimeCreateValue(8);
  void* group = mlirAsyncRuntimeCreateGroup(0);
  mlirAsyncRuntimeEmplaceToken(token);
  mlirAsyncRuntimeSetValueError(value);
  mlirAsyncRuntimeAwaitTokenAndExecute(token, &places[0], note_place);
  ck_assert_int_eq(places[0], 1);
  mlirAsyncRuntimeAwaitValueAndExecute(value, &places[1], note_place);
  ck_assert_int_eq(places[1], 2);
  mlirAsyncRuntimeAwaitAllInGroupAndExecute(group, &places[2], note_place);
  ck_assert_int_eq(places[2], 3);
  drop(token);
  drop(value);
  drop(group);
  end(0);
}
END_TEST

START_TEST(who_awaits_a_pending_object_is_resumed_in_turn_by_who_settles_it) {
  int places[5] = {0};
  void* token = mlirAsyncRuntimeCreateToken();
  for (int i = 0; i < 5; ++i) mlirAsyncRuntimeAwaitTokenAndExecute(token, &places[i], note_place);
  ck_assert_int_eq(atomic_load(&ended_count), 0);
  mlirAsyncRuntimeEmplaceToken(token);
  for (int i = 0; i < 5; ++i) ck_assert_int_eq(places[i], i + 1);
  drop(token);
  end(0);
}
END_TEST

static tfrt_thread_t settler;
static void emplace_elsewhere(void* token) { mlirAsyncRuntimeEmplaceToken(token); }

START_TEST(a_thread_may_wait_for_what_another_one_settles) {
  void* token = mlirAsyncRuntimeCreateToken();
  ck_assert_ptr_null(tfrt_thread_create("settler", emplace_elsewhere, token, &settler));
  mlirAsyncRuntimeAwaitToken(token);
  tfrt_thread_join(&settler);
  drop(token);
  end(0);
}
END_TEST

static _Thread_local bool is_main_thread;
static void note_thread(void* frame) { *(bool*)frame = is_main_thread; }

START_TEST(what_is_executed_never_runs_in_the_caller) {
  is_main_thread = true;
  bool was_main[100];
  memset(was_main, true, sizeof(was_main));
  for (int i = 0; i < 100; ++i) mlirAsyncRuntimeExecute(&was_main[i], note_thread);
  end(0);
  for (int i = 0; i < 100; ++i) ck_assert(!was_main[i]);
  ck_assert_int_ge(mlirAsyncRuntimGetNumWorkerThreads(), 1);
  end(0);
}
END_TEST

// Awaits the same token twice, one time after the other.
static void resume_second_wait(void* frame) {
  coroutine_t* self = frame;
  mlirAsyncRuntimeAwaitTokenAndExecute(self->awaited, frame, resume_at_end);
}
static void resume_first_wait(void* frame) {
  coroutine_t* self = frame;
  mlirAsyncRuntimeAwaitTokenAndExecute(self->awaited, frame, resume_second_wait);
}

START_TEST(one_coroutine_may_await_a_token_twice) {
  void* token = mlirAsyncRuntimeCreateToken();
  coroutine_t coroutine = {.awaited = token, .token = mlirAsyncRuntimeCreateToken()};
  void* done = coroutine.token;
  resume_first_wait(&coroutine);
  mlirAsyncRuntimeEmplaceToken(token);
  mlirAsyncRuntimeAwaitToken(done);
  drop(done);
  end(0);
}
END_TEST

#ifdef TFRT_SANITIZED
#define MANY 100000
#else
#define MANY 1000000
#endif

START_TEST(a_chain_of_any_length_behind_a_late_head_needs_no_stack) {
  coroutine_t* chain = new_coroutines(MANY);
  void* head = mlirAsyncRuntimeCreateToken();
  void* last = head;
  for (int i = 0; i < MANY; ++i) last = start(&chain[i], last);
  mlirAsyncRuntimeSetTokenError(head);
  mlirAsyncRuntimeAwaitToken(last);
  ck_assert(mlirAsyncRuntimeIsTokenError(last));
  drop(last);
  end(0);
  ck_assert_int_eq(atomic_load(&ended_count), MANY);
  free_coroutines(chain, MANY);
}
END_TEST

// Awaits a settled token again and again, from inside of each resumption.
typedef struct loop_s {
  void* token;
  int left;
} loop_t;
static void resume_loop(void* frame) {
  loop_t* loop = frame;
  if (loop->left-- > 0) mlirAsyncRuntimeAwaitTokenAndExecute(loop->token, frame, resume_loop);
}

START_TEST(a_loop_of_ready_awaits_needs_no_stack) {
  void* token = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeEmplaceToken(token);
  loop_t loop = {.token = token, .left = MANY};
  resume_loop(&loop);
  ck_assert_int_eq(loop.left, -1);
  drop(token);
  end(0);
}
END_TEST

// --- Groups ------------------------------------------------------------------

START_TEST(a_group_is_complete_with_its_last_member) {
  void* group = mlirAsyncRuntimeCreateGroup(3);
  void* tokens[3];
  int place = 0;
  for (int i = 0; i < 3; ++i) tokens[i] = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeEmplaceToken(tokens[0]);
  for (int i = 0; i < 3; ++i) {
    ck_assert_int_eq(mlirAsyncRuntimeAddTokenToGroup(tokens[i], group), i);
  }
  mlirAsyncRuntimeAwaitAllInGroupAndExecute(group, &place, note_place);
  mlirAsyncRuntimeEmplaceToken(tokens[2]);
  ck_assert(!mlirAsyncRuntimeIsGroupError(group));
  ck_assert_int_eq(place, 0);
  mlirAsyncRuntimeSetTokenError(tokens[1]);
  ck_assert_int_eq(place, 1);
  ck_assert(mlirAsyncRuntimeIsGroupError(group));
  mlirAsyncRuntimeAwaitAllInGroup(group);
  for (int i = 0; i < 3; ++i) drop(tokens[i]);
  drop(group);
  end(0);
}
END_TEST

START_TEST(a_token_may_be_in_several_groups) {
  void* token = mlirAsyncRuntimeCreateToken();
  void* groups[3];
  for (int i = 0; i < 3; ++i) {
    groups[i] = mlirAsyncRuntimeCreateGroup(1);
    ck_assert_int_eq(mlirAsyncRuntimeAddTokenToGroup(token, groups[i]), 0);
  }
  mlirAsyncRuntimeEmplaceToken(token);
  for (int i = 0; i < 3; ++i) {
    mlirAsyncRuntimeAwaitAllInGroup(groups[i]);
    drop(groups[i]);
  }
  drop(token);
  end(0);
}
END_TEST

START_TEST(a_group_without_a_handle_lasts_until_its_members_are_settled) {
  void* group = mlirAsyncRuntimeCreateGroup(5);
  void* tokens[2];
  for (int i = 0; i < 2; ++i) {
    tokens[i] = mlirAsyncRuntimeCreateToken();
    mlirAsyncRuntimeAddTokenToGroup(tokens[i], group);
  }
  drop(group);
  for (int i = 0; i < 2; ++i) {
    drop(tokens[i]);
    mlirAsyncRuntimeEmplaceToken(tokens[i]);
  }
  end(0);
}
END_TEST

START_TEST(many_tasks_in_a_group_are_awaited_by_a_coroutine_and_a_thread) {
  enum { COUNT = 20000 };
  coroutine_t* coroutines = new_coroutines(COUNT);
  void* group = mlirAsyncRuntimeCreateGroup(COUNT);
  for (int i = 0; i < COUNT; ++i) {
    void* token = start(&coroutines[i], NULL);
    ck_assert_int_eq(mlirAsyncRuntimeAddTokenToGroup(token, group), i);
    drop(token);
  }
  int place = 0;
  mlirAsyncRuntimeAwaitAllInGroupAndExecute(group, &place, note_place);
  mlirAsyncRuntimeAwaitAllInGroup(group);
  ck_assert_int_ge(atomic_load(&ended_count), COUNT);
  ck_assert(!mlirAsyncRuntimeIsGroupError(group));
  drop(group);
  end(0);
  ck_assert_int_eq(place, COUNT + 1);
  free_coroutines(coroutines, COUNT);
}
END_TEST

// --- Waits that hold a thread ------------------------------------------------

// A number of Fibonacci by two coroutines, for which a plain function waits, on the pool's threads.
typedef struct fibonacci_s {
  int n;
  int64_t result;
  void* token;
} fibonacci_t;

static void resume_fibonacci(void* frame) {
  fibonacci_t* self = frame;
  self->result = self->n;
  if (self->n > 1) {
    fibonacci_t parts[2];
    void* tokens[2];
    for (int i = 0; i < 2; ++i) {
      tokens[i] = mlirAsyncRuntimeCreateToken();
      parts[i] = (fibonacci_t){.n = self->n - 1 - i, .token = tokens[i]};
      mlirAsyncRuntimeExecute(&parts[i], resume_fibonacci);
    }
    for (int i = 0; i < 2; ++i) {
      mlirAsyncRuntimeAwaitToken(tokens[i]);
      drop(tokens[i]);
    }
    self->result = parts[0].result + parts[1].result;
  }
  mlirAsyncRuntimeEmplaceToken(self->token);
}

START_TEST(waits_on_threads_of_the_pool_do_not_starve_it) {
  for (int threads = 1; threads <= 4; ++threads) {
    const char text[] = {(char)('0' + threads), '\0'};
    ck_assert_int_eq(setenv("TFRT_MLIR_ASYNC_THREADS", text, 1), 0);
    void* token = mlirAsyncRuntimeCreateToken();
    fibonacci_t whole = {.n = 12, .token = token};
    mlirAsyncRuntimeExecute(&whole, resume_fibonacci);
    mlirAsyncRuntimeAwaitToken(token);
    ck_assert_int_eq(whole.result, 144);
    drop(token);
    ck_assert_int_eq(mlirAsyncRuntimGetNumWorkerThreads(), threads);
    end(0);
  }
}
END_TEST

// The first waiter of a token holds its thread until the second one, on the same thread, has run.
static void resume_and_hold(void* frame) {
  coroutine_t* self = frame;
  mlirAsyncRuntimeAwaitToken(self->awaited);
  finish(self);
}

START_TEST(a_wait_does_not_hold_up_other_waiters_of_its_thread) {
  void* head = mlirAsyncRuntimeCreateToken();
  coroutine_t second = {.token = mlirAsyncRuntimeCreateToken()};
  coroutine_t first = {.awaited = second.token, .token = mlirAsyncRuntimeCreateToken()};
  void* done = first.token;
  mlirAsyncRuntimeAwaitTokenAndExecute(head, &first, resume_and_hold);
  mlirAsyncRuntimeAwaitTokenAndExecute(head, &second, resume_at_start);
  mlirAsyncRuntimeEmplaceToken(head);
  ck_assert(!mlirAsyncRuntimeIsTokenError(done));
  mlirAsyncRuntimeAwaitToken(done);
  drop(done);
  drop(head);
  end(0);
}
END_TEST

// --- Several threads ---------------------------------------------------------

enum { PRODUCERS = 3, PER_PRODUCER = 2000 };

static void produce(void* argument) {
  void* group = argument;
  coroutine_t* coroutines = new_coroutines(PER_PRODUCER);
  void* own = mlirAsyncRuntimeCreateGroup(PER_PRODUCER);
  void* before = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeEmplaceToken(before);
  for (int i = 0; i < PER_PRODUCER; ++i) {
    void* token = start(&coroutines[i], i % 7 == 0 ? NULL : before);
    if (i % 7 == 0) drop(before);
    mlirAsyncRuntimeAddTokenToGroup(token, group);
    mlirAsyncRuntimeAddTokenToGroup(token, own);
    mlirAsyncRuntimeAddRef(token, 1);
    if (i % 50 == 0) mlirAsyncRuntimeAwaitToken(token);
    drop(token);
    before = token;
  }
  drop(before);
  mlirAsyncRuntimeAwaitAllInGroup(own);
  drop(own);
  free_coroutines(coroutines, PER_PRODUCER);
}

START_TEST(several_threads_share_a_group) {
  for (int round = 0; round < 3; ++round) {
    void* group = mlirAsyncRuntimeCreateGroup(PRODUCERS * PER_PRODUCER);
    tfrt_thread_t threads[PRODUCERS];
    for (int i = 0; i < PRODUCERS; ++i) {
      ck_assert_ptr_null(tfrt_thread_create("producer", produce, group, &threads[i]));
    }
    mlirAsyncRuntimeAwaitAllInGroup(group);
    for (int i = 0; i < PRODUCERS; ++i) tfrt_thread_join(&threads[i]);
    drop(group);
  }
  end(0);
}
END_TEST

// --- Life --------------------------------------------------------------------

START_TEST(the_hook_waits_for_what_is_outstanding_and_the_pool_starts_anew) {
  enum { COUNT = 1000 };
  coroutine_t* coroutines = new_coroutines(COUNT);
  __mlir_runner_init(NULL);
  __mlir_execution_engine_init(NULL);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < COUNT; ++i) drop(start(&coroutines[i], NULL));
    __mlir_runner_destroy();
    ck_assert_int_eq(atomic_load(&ended_count), round * COUNT);
  }
  end(0);
  free_coroutines(coroutines, COUNT);
}
END_TEST

START_TEST(a_bad_number_of_threads_is_not_followed) {
  const char* const texts[] = {"none", "0", "-1", "5000", "2x"};
  tfrt_log_set_level(TFRT_LOG_SILENT);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(texts); ++i) {
    ck_assert_int_eq(setenv("TFRT_MLIR_ASYNC_THREADS", texts[i], 1), 0);
    ck_assert_int_eq(mlirAsyncRuntimGetNumWorkerThreads(), tfrt_processor_count());
    end(0);
  }
}
END_TEST

// --- Counts that are wrong ---------------------------------------------------

START_TEST(a_reference_dropped_too_often_leaves_the_failed_token_readable) {
  tfrt_log_set_level(TFRT_LOG_SILENT);
  // MLIR's pass makes this of a coroutine with two awaits: its result is dropped before it fails.
  for (int spurious = 1; spurious <= 2; ++spurious) {
    void* token = mlirAsyncRuntimeCreateToken();
    int place = 0;
    mlirAsyncRuntimeAwaitTokenAndExecute(token, &place, note_place);
    mlirAsyncRuntimeDropRef(token, spurious);
    mlirAsyncRuntimeSetTokenError(token);
    ck_assert_int_eq(place, spurious);
    ck_assert_int_eq(tfrt_mlir_object_live_count(), 0);
    // Others, meanwhile.
    for (int i = 0; i < 1000; ++i) {
      void* other = mlirAsyncRuntimeCreateToken();
      mlirAsyncRuntimeEmplaceToken(other);
      drop(other);
    }
    ck_assert(mlirAsyncRuntimeIsTokenError(token));
    mlirAsyncRuntimeAwaitToken(token);
    drop(token);
  }
  // The last three of each round; in the second, also the drop of a pending object's last one.
  end(7);
  ck_assert_uint_eq(tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_OVER_DROP), 3);
  ck_assert_uint_eq(tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_STALE), 4);
}
END_TEST

START_TEST(a_handle_of_an_object_that_is_gone_does_nothing_to_the_next_one_in_its_place) {
  tfrt_log_set_level(TFRT_LOG_SILENT);
  void* old = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeEmplaceToken(old);
  drop(old);
  void* next = mlirAsyncRuntimeCreateToken();
  ck_assert_ptr_ne(old, next);
  void* group = mlirAsyncRuntimeCreateGroup(1);
  int place = 0;
  drop(old);
  mlirAsyncRuntimeAddRef(old, 1);
  mlirAsyncRuntimeEmplaceToken(old);
  mlirAsyncRuntimeSetTokenError(old);
  mlirAsyncRuntimeAwaitToken(old);
  ck_assert(mlirAsyncRuntimeIsTokenError(old));
  mlirAsyncRuntimeAwaitTokenAndExecute(old, &place, note_place);
  ck_assert_int_eq(place, 1);
  mlirAsyncRuntimeAddTokenToGroup(old, group);
  ck_assert(mlirAsyncRuntimeIsGroupError(group));
  ck_assert(!mlirAsyncRuntimeIsTokenError(next));
  mlirAsyncRuntimeEmplaceToken(next);
  drop(next);
  drop(group);
  ck_assert(mlirAsyncRuntimeIsGroupError(group));
  mlirAsyncRuntimeAddTokenToGroup(next, group);
  end(10);
}
END_TEST

START_TEST(an_object_settled_twice_stays_as_it_was_first) {
  tfrt_log_set_level(TFRT_LOG_SILENT);
  void* token = mlirAsyncRuntimeCreateToken();
  mlirAsyncRuntimeAddRef(token, 1);
  mlirAsyncRuntimeEmplaceToken(token);
  mlirAsyncRuntimeSetTokenError(token);
  mlirAsyncRuntimeEmplaceToken(token);
  ck_assert(!mlirAsyncRuntimeIsTokenError(token));
  mlirAsyncRuntimeDropRef(token, 2);
  end(2);
  ck_assert_uint_eq(tfrt_mlir_misuse_count(TFRT_MLIR_MISUSE_SETTLED_TWICE), 2);
}
END_TEST

START_TEST(failed_objects_are_given_back_when_enough_others_have_failed) {
  for (int i = 0; i < 3 * TFRT_MLIR_QUARANTINE_LENGTH; ++i) {
    void* value = mlirAsyncRuntimeCreateValue(1000);
    mlirAsyncRuntimeSetValueError(value);
    drop(value);
  }
  end(0);
}
END_TEST

static void add_waiting_tests(TCase* tests) {
  tcase_add_test(tests, who_awaits_a_settled_object_is_resumed_at_once);
  tcase_add_test(tests, who_awaits_a_pending_object_is_resumed_in_turn_by_who_settles_it);
  tcase_add_test(tests, a_thread_may_wait_for_what_another_one_settles);
  tcase_add_test(tests, what_is_executed_never_runs_in_the_caller);
  tcase_add_test(tests, one_coroutine_may_await_a_token_twice);
  tcase_add_test(tests, a_chain_of_any_length_behind_a_late_head_needs_no_stack);
  tcase_add_test(tests, a_loop_of_ready_awaits_needs_no_stack);
  tcase_add_test(tests, waits_on_threads_of_the_pool_do_not_starve_it);
  tcase_add_test(tests, a_wait_does_not_hold_up_other_waiters_of_its_thread);
}

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("mlir_async");
  tcase_add_test(tests, a_token_is_settled_once_and_goes_with_its_last_reference);
  tcase_add_test(tests, a_value_has_room_of_any_size_at_one_place);
  add_waiting_tests(tests);
  tcase_add_test(tests, a_group_is_complete_with_its_last_member);
  tcase_add_test(tests, a_token_may_be_in_several_groups);
  tcase_add_test(tests, a_group_without_a_handle_lasts_until_its_members_are_settled);
  tcase_add_test(tests, many_tasks_in_a_group_are_awaited_by_a_coroutine_and_a_thread);
  tcase_add_test(tests, several_threads_share_a_group);
  tcase_add_test(tests, the_hook_waits_for_what_is_outstanding_and_the_pool_starts_anew);
  tcase_add_test(tests, a_bad_number_of_threads_is_not_followed);
  tcase_add_test(tests, a_reference_dropped_too_often_leaves_the_failed_token_readable);
  tcase_add_test(tests,
                 a_handle_of_an_object_that_is_gone_does_nothing_to_the_next_one_in_its_place);
  tcase_add_test(tests, an_object_settled_twice_stays_as_it_was_first);
  tcase_add_test(tests, failed_objects_are_given_back_when_enough_others_have_failed);
  Suite* suite = suite_create("mlir_async");
  suite_add_tcase(suite, tests);
  return suite;
}
