// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/async_value.h"

#include <signal.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/sync.h"
#include "tests/fakes/failing_malloc.h"
#include "tests/support/test_main.h"

// --- What the tests are made of ----------------------------------------------

// Writes down that it ran, and in which place.
typedef struct probe_s {
  tfrt_task_t task;
  int place;  // 1 for the first probe that ran; 0: has not run
} probe_t;

static int next_place = 1;

static void run_probe(tfrt_task_t* task) {
  TFRT_CONTAINER_OF(task, probe_t, task)->place = next_place++;
}

static probe_t* prepare(probe_t* probe) {
  probe->place = 0;
  tfrt_task_initialize(&probe->task, run_probe);
  return probe;
}

static tfrt_async_value_t* new_i32(void) {
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  ck_assert_ptr_nonnull(value);
  return value;
}

static void resolve_i32(tfrt_async_value_t* value, int32_t number) {
  *(int32_t*)tfrt_async_value_payload(value) = number;
  tfrt_async_value_set_available(value);
}

static int32_t read_i32(tfrt_async_value_t* value) {
  ck_assert_int_eq(tfrt_async_value_state(value), TFRT_ASYNC_VALUE_AVAILABLE);
  return *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
}

// A type whose destructor counts.
static int destroy_count;
static void count_destroy(void* payload) {
  (void)payload;
  ++destroy_count;
}
static tfrt_type_id_t counted_type(void) {
  static const tfrt_type_t type = {.name = "!test.counted", .size = 4, .destroy = count_destroy};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return id;
}

// A value that is owned elsewhere.
typedef struct remote_s {
  tfrt_indirect_value_t base;
  tfrt_async_value_t* settlement;
  _Atomic int demand_count;
  tfrt_async_value_t* resolve_on_demand;  // +1; NULL: the demand is only counted
} remote_t;

static int remote_destroy_count;

static void remote_destroy(tfrt_indirect_value_t* value) {
  remote_t* remote = (remote_t*)value;
  tfrt_async_value_release(remote->settlement);
  tfrt_allocator_free(tfrt_allocator_system(), remote, sizeof *remote);
  ++remote_destroy_count;
}

static void remote_demand(tfrt_indirect_value_t* value) {
  remote_t* remote = (remote_t*)value;
  atomic_fetch_add(&remote->demand_count, 1);
  if (remote->resolve_on_demand) {
    tfrt_indirect_value_forward_take(value, remote->resolve_on_demand);
  }
}

static tfrt_async_value_t* remote_settlement(tfrt_indirect_value_t* value) {
  return ((remote_t*)value)->settlement;
}

static const tfrt_resolver_vtable_t remote_resolver = {remote_destroy, remote_demand,
                                                       remote_settlement};

static remote_t* new_remote(void) {
  remote_t* remote = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof *remote);
  tfrt_indirect_value_initialize(&remote->base, &remote_resolver);
  remote->settlement = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  return remote;
}

static tfrt_status_t an_error(void) { return tfrt_status_create(TFRT_STATUS_ABORTED, "it broke"); }

// --- Concrete values ---------------------------------------------------------

START_TEST(waiters_run_once_and_newest_first) {
  tfrt_async_value_t* value = new_i32();
  probe_t probes[3];
  for (int i = 0; i < 3; ++i) tfrt_async_value_and_then(value, &prepare(&probes[i])->task);
  ck_assert_int_eq(probes[0].place + probes[1].place + probes[2].place, 0);
  resolve_i32(value, 5);
  ck_assert_int_eq(probes[2].place, 1);
  ck_assert_int_eq(probes[1].place, 2);
  ck_assert_int_eq(probes[0].place, 3);
  ck_assert_int_eq(read_i32(value), 5);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(a_waiter_for_an_available_value_runs_at_once) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(3);
  probe_t probes[3];
  tfrt_async_value_and_then(value, &prepare(&probes[0])->task);
  tfrt_async_value_await(value, &prepare(&probes[1])->task);
  tfrt_async_value_watch(value, &prepare(&probes[2])->task);
  for (int i = 0; i < 3; ++i) ck_assert_int_eq(probes[i].place, i + 1);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(a_payload_is_destroyed_exactly_when_it_was_constructed) {
  tfrt_type_id_t type = counted_type();
  tfrt_async_value_release(tfrt_async_value_create_unconstructed(type));
  ck_assert_int_eq(destroy_count, 0);
  tfrt_async_value_release(tfrt_async_value_create_constructed(type));
  ck_assert_int_eq(destroy_count, 1);
  tfrt_async_value_release(tfrt_async_value_create_available(type));
  ck_assert_int_eq(destroy_count, 2);
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(type);
  tfrt_async_value_set_available(value);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroy_count, 3);
}
END_TEST

START_TEST(an_error_takes_the_place_of_a_constructed_payload) {
  tfrt_async_value_t* value = tfrt_async_value_create_constructed(counted_type());
  tfrt_status_t status = an_error();
  probe_t probe;
  tfrt_async_value_and_then(value, &prepare(&probe)->task);
  tfrt_async_value_set_error(value, status);
  ck_assert_int_eq(destroy_count, 1);
  ck_assert_int_eq(probe.place, 1);
  ck_assert(tfrt_async_value_is_available(value));
  ck_assert(tfrt_async_value_is_error(value));
  ck_assert_ptr_eq(tfrt_async_value_error(value), status);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroy_count, 1);
  tfrt_status_release(status);
}
END_TEST

START_TEST(an_error_fits_into_the_smallest_payload) {
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_status_t status = an_error();
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(value)), "it broke");
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(an_error_value_is_an_error_from_birth) {
  tfrt_async_value_t* value = tfrt_async_value_create_error_take(an_error());
  ck_assert_int_eq(tfrt_async_value_state(value), TFRT_ASYNC_VALUE_FAILED);
  ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(value)), TFRT_STATUS_ABORTED);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(immortal_values_outlive_every_release) {
  tfrt_async_value_t* chain = tfrt_async_value_ready_chain();
  ck_assert_int_eq(tfrt_async_value_state(chain), TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_uint_eq(chain->type_id, TFRT_TYPE_CHAIN);
  tfrt_async_value_release_n(chain, 1);
  tfrt_async_value_release_n(chain, 1);
  ck_assert_ptr_eq(tfrt_async_value_retain(chain), chain);
  ck_assert(!tfrt_async_value_is_unique(chain));
  ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(tfrt_async_value_out_of_memory())),
                   TFRT_STATUS_RESOURCE_EXHAUSTED);
}
END_TEST

START_TEST(many_references_are_taken_and_dropped_at_once) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(counted_type());
  tfrt_async_value_retain_n(value, 5);
  ck_assert(!tfrt_async_value_is_unique(value));
  tfrt_async_value_release_n(value, 5);
  ck_assert(tfrt_async_value_is_unique(value));
  tfrt_async_value_retain_n(value, 2);
  tfrt_async_value_release_n(value, 3);
  ck_assert_int_eq(destroy_count, 1);
}
END_TEST

START_TEST(without_memory_creation_says_so) {
  tfrt_status_t status = an_error();
  tfrt_failing_malloc_arm(0);
  tfrt_async_value_t* concrete = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* error = tfrt_async_value_create_error(status);
  tfrt_async_value_t* i32 = tfrt_async_value_create_i32(1);
  tfrt_failing_malloc_disarm();
  ck_assert_ptr_null(concrete);
  ck_assert_ptr_null(indirect);
  ck_assert_ptr_eq(error, tfrt_async_value_out_of_memory());
  ck_assert_ptr_eq(i32, tfrt_async_value_out_of_memory());
  tfrt_status_release(status);
}
END_TEST

// --- Forwarding --------------------------------------------------------------

START_TEST(an_indirect_stands_for_an_available_target_at_once) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  probe_t probe;
  tfrt_async_value_and_then(&indirect->base, &prepare(&probe)->task);
  ck_assert(tfrt_indirect_value_forward_take(indirect, tfrt_async_value_create_i32(8)));
  ck_assert_int_eq(probe.place, 1);
  ck_assert_int_eq(read_i32(&indirect->base), 8);
  ck_assert(tfrt_async_value_is_unique(&indirect->base));
  tfrt_async_value_retain(tfrt_async_value_resolved(&indirect->base));
  tfrt_async_value_t* target = tfrt_async_value_resolved(&indirect->base);
  ck_assert(!tfrt_async_value_is_unique(&indirect->base));
  tfrt_async_value_release(target);
  tfrt_async_value_release(&indirect->base);
}
END_TEST

START_TEST(an_indirect_is_claimed_until_its_target_is_resolved) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* target = new_i32();
  probe_t before, after;
  tfrt_async_value_and_then(&indirect->base, &prepare(&before)->task);
  ck_assert(tfrt_indirect_value_forward(indirect, target));
  ck_assert_int_eq(tfrt_async_value_state(&indirect->base), TFRT_ASYNC_VALUE_CLAIMED);
  tfrt_async_value_and_then(&indirect->base, &prepare(&after)->task);
  resolve_i32(target, 4);
  ck_assert_int_eq(after.place, 1);
  ck_assert_int_eq(before.place, 2);
  ck_assert_int_eq(read_i32(&indirect->base), 4);
  tfrt_async_value_release(target);
  tfrt_async_value_release(&indirect->base);
}
END_TEST

START_TEST(the_first_forward_wins) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* target = new_i32();
  tfrt_status_t status = an_error();
  ck_assert(tfrt_indirect_value_forward(indirect, target));
  ck_assert(!tfrt_indirect_value_forward_take(indirect, tfrt_async_value_create_i32(1)));
  ck_assert(!tfrt_indirect_value_forward_take(indirect, new_i32()));
  tfrt_async_value_set_error(&indirect->base, status);
  ck_assert_int_eq(tfrt_async_value_state(&indirect->base), TFRT_ASYNC_VALUE_CLAIMED);
  resolve_i32(target, 2);
  tfrt_async_value_set_error(&indirect->base, status);
  ck_assert_int_eq(read_i32(&indirect->base), 2);
  tfrt_async_value_release(target);
  tfrt_async_value_release(&indirect->base);
  tfrt_status_release(status);
}
END_TEST

START_TEST(an_error_follows_the_forward) {
  tfrt_indirect_value_t* first = tfrt_indirect_value_create();
  tfrt_indirect_value_t* second = tfrt_indirect_value_create();
  tfrt_async_value_t* target = new_i32();
  tfrt_status_t status = an_error();
  tfrt_indirect_value_forward(first, &second->base);
  tfrt_indirect_value_forward(second, target);
  tfrt_async_value_set_error(target, status);
  ck_assert_int_eq(tfrt_async_value_state(&first->base), TFRT_ASYNC_VALUE_FAILED);
  ck_assert_ptr_eq(tfrt_async_value_error(&first->base), status);
  tfrt_async_value_release(target);
  tfrt_async_value_release(&second->base);
  tfrt_async_value_release(&first->base);
  tfrt_status_release(status);
}
END_TEST

START_TEST(an_indirect_can_become_an_error_itself) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_status_t status = an_error();
  tfrt_async_value_set_error(&indirect->base, status);
  ck_assert_ptr_eq(tfrt_async_value_error(&indirect->base), status);
  tfrt_async_value_release(&indirect->base);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_claimed_value_may_be_dropped_before_it_is_resolved) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* target = new_i32();
  tfrt_indirect_value_forward(indirect, target);
  tfrt_async_value_release(&indirect->base);
  resolve_i32(target, 1);
  ck_assert(tfrt_async_value_is_unique(target));
  tfrt_async_value_release(target);
}
END_TEST

START_TEST(an_indirect_that_nobody_has_keeps_its_target_no_longer) {
  remote_t* remote = new_remote();
  tfrt_indirect_value_t* first = tfrt_indirect_value_create();
  tfrt_indirect_value_t* second = tfrt_indirect_value_create();
  tfrt_indirect_value_forward(first, &remote->base.base);
  tfrt_indirect_value_forward(second, &first->base);
  const int before = remote_destroy_count;
  tfrt_async_value_release(&remote->base.base);
  tfrt_async_value_release(&first->base);
  ck_assert_int_eq(remote_destroy_count, before);
  tfrt_async_value_release(&second->base);
  ck_assert_int_eq(remote_destroy_count, before + 1);
}
END_TEST

#define CHAIN_LENGTH 100000

START_TEST(a_long_chain_that_nobody_has_goes_without_stack) {
  tfrt_async_value_t* target = new_i32();
  tfrt_async_value_t* end = target;
  for (int i = 0; i < CHAIN_LENGTH; ++i) {
    tfrt_indirect_value_t* link = tfrt_indirect_value_create();
    ck_assert(tfrt_indirect_value_forward_take(link, end));
    end = &link->base;
  }
  tfrt_async_value_release(end);
}
END_TEST

START_TEST(a_long_chain_of_forwards_collapses_without_stack) {
  tfrt_indirect_value_t** chain =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), CHAIN_LENGTH, sizeof *chain);
  for (int i = 0; i < CHAIN_LENGTH; ++i) chain[i] = tfrt_indirect_value_create();
  // From the front and from the back in turn: each value's target is unresolved.
  for (int i = 0; i + 1 < CHAIN_LENGTH; i += 2) {
    tfrt_indirect_value_forward(chain[i], &chain[i + 1]->base);
  }
  for (int i = CHAIN_LENGTH - 3; i > 0; i -= 2) {
    tfrt_indirect_value_forward(chain[i], &chain[i + 1]->base);
  }
  probe_t probe;
  tfrt_async_value_and_then(&chain[0]->base, &prepare(&probe)->task);
  ck_assert(tfrt_async_value_flags(&chain[CHAIN_LENGTH - 1]->base) &
            TFRT_ASYNC_VALUE_FLAG_DEMANDED);
  tfrt_async_value_t* target = new_i32();
  ck_assert(tfrt_indirect_value_forward(chain[CHAIN_LENGTH - 1], target));
  resolve_i32(target, 6);
  ck_assert_int_eq(probe.place, 1);
  for (int i = 0; i < CHAIN_LENGTH; ++i) {
    ck_assert_ptr_eq(tfrt_async_value_resolved(&chain[i]->base), target);
    tfrt_async_value_release(&chain[i]->base);
  }
  ck_assert(tfrt_async_value_is_unique(target));
  tfrt_async_value_release(target);
  tfrt_allocator_free(tfrt_allocator_system(), chain, CHAIN_LENGTH * sizeof *chain);
}
END_TEST

// --- Questions ---------------------------------------------------------------

START_TEST(and_then_demands_and_watch_does_not) {
  remote_t* remote = new_remote();
  probe_t watcher, asker;
  tfrt_async_value_watch(&remote->base.base, &prepare(&watcher)->task);
  ck_assert_int_eq(remote->demand_count, 0);
  tfrt_async_value_and_then(&remote->base.base, &prepare(&asker)->task);
  ck_assert_int_eq(remote->demand_count, 1);
  tfrt_indirect_value_forward_take(&remote->base, tfrt_async_value_create_i32(1));
  ck_assert_int_ne(watcher.place, 0);
  ck_assert_int_ne(asker.place, 0);
  tfrt_async_value_demand(&remote->base.base);
  ck_assert_int_eq(remote->demand_count, 1);
  tfrt_async_value_release(&remote->base.base);
  ck_assert_int_eq(remote_destroy_count, 1);
}
END_TEST

START_TEST(await_asks_for_the_settlement_and_not_for_the_payload) {
  remote_t* remote = new_remote();
  probe_t probe;
  tfrt_async_value_await(&remote->base.base, &prepare(&probe)->task);
  ck_assert_int_eq(probe.place, 0);
  tfrt_async_value_set_available(remote->settlement);
  ck_assert_int_eq(probe.place, 1);
  ck_assert_int_eq(remote->demand_count, 0);
  ck_assert(!tfrt_async_value_is_available(&remote->base.base));
  tfrt_async_value_release(&remote->base.base);
}
END_TEST

// Looks at its value, as a task that awaited does.
typedef struct looker_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;
  tfrt_async_value_state_t seen;
} looker_t;

static void look(tfrt_task_t* task) {
  looker_t* looker = TFRT_CONTAINER_OF(task, looker_t, task);
  looker->seen = tfrt_async_value_state(looker->value);
}

START_TEST(a_task_that_awaited_finds_the_error_in_its_value) {
  tfrt_indirect_value_t* outer = tfrt_indirect_value_create();
  remote_t* remote = new_remote();
  tfrt_status_t status = an_error();
  looker_t looker = {.value = &outer->base};
  tfrt_task_initialize(&looker.task, look);
  tfrt_indirect_value_forward(outer, &remote->base.base);
  tfrt_async_value_await(&outer->base, &looker.task);
  tfrt_async_value_set_error(&remote->base.base, status);
  tfrt_async_value_set_error(remote->settlement, status);
  ck_assert_int_eq(looker.seen, TFRT_ASYNC_VALUE_FAILED);
  tfrt_async_value_release(&remote->base.base);
  tfrt_async_value_release(&outer->base);
  tfrt_status_release(status);
}
END_TEST

START_TEST(await_of_a_plain_indirect_demands) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  remote_t* remote = new_remote();
  probe_t probe;
  tfrt_async_value_await(&indirect->base, &prepare(&probe)->task);
  tfrt_indirect_value_forward(indirect, &remote->base.base);
  ck_assert_int_eq(remote->demand_count, 1);
  tfrt_async_value_set_available(remote->settlement);
  ck_assert_int_eq(probe.place, 0);
  tfrt_indirect_value_forward_take(&remote->base, tfrt_async_value_create_i32(1));
  ck_assert_int_eq(probe.place, 1);
  tfrt_async_value_release(&remote->base.base);
  tfrt_async_value_release(&indirect->base);
}
END_TEST

START_TEST(await_of_a_claimed_value_goes_to_the_targets_question) {
  tfrt_indirect_value_t* outer = tfrt_indirect_value_create();
  tfrt_indirect_value_t* inner = tfrt_indirect_value_create();
  remote_t* remote = new_remote();
  tfrt_indirect_value_forward(outer, &inner->base);
  tfrt_indirect_value_forward(inner, &remote->base.base);
  probe_t probe;
  tfrt_async_value_await(&outer->base, &prepare(&probe)->task);
  tfrt_async_value_set_available(remote->settlement);
  ck_assert_int_eq(probe.place, 1);
  ck_assert_int_eq(remote->demand_count, 0);
  tfrt_async_value_demand(&outer->base);
  ck_assert_int_eq(remote->demand_count, 1);
  tfrt_indirect_value_forward_take(&remote->base, tfrt_async_value_create_i32(1));
  ck_assert_int_eq(read_i32(&outer->base), 1);
  tfrt_async_value_release(&outer->base);
  tfrt_async_value_release(&inner->base);
  tfrt_async_value_release(&remote->base.base);
}
END_TEST

START_TEST(a_demand_may_resolve_the_value_on_the_spot) {
  tfrt_indirect_value_t* outer = tfrt_indirect_value_create();
  remote_t* remote = new_remote();
  remote->resolve_on_demand = tfrt_async_value_create_i32(9);
  tfrt_indirect_value_forward_take(outer, &remote->base.base);
  probe_t probe;
  tfrt_async_value_and_then(&outer->base, &prepare(&probe)->task);
  ck_assert_int_eq(probe.place, 1);
  ck_assert_int_eq(read_i32(&outer->base), 9);
  tfrt_async_value_release(&outer->base);
  ck_assert_int_eq(remote_destroy_count, 1);
}
END_TEST

START_TEST(no_value_is_left_alive) {
  int64_t before = tfrt_async_value_live_count();
  tfrt_async_value_t* value = new_i32();
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
#ifndef NDEBUG
  ck_assert_int_eq(tfrt_async_value_live_count(), before + 2);
#endif
  tfrt_indirect_value_forward_take(indirect, value);
  resolve_i32(value, 1);
  tfrt_async_value_release(&indirect->base);
  ck_assert_int_eq(tfrt_async_value_live_count(), before);
}
END_TEST

// --- Depth -------------------------------------------------------------------

#define NESTED_COUNT 1000000

// Resolves the next value of a chain of waiters.
typedef struct domino_s {
  tfrt_task_t task;
  tfrt_async_value_t* next;
} domino_t;

static void push_domino(tfrt_task_t* task) {
  tfrt_async_value_t* next = TFRT_CONTAINER_OF(task, domino_t, task)->next;
  if (next) resolve_i32(next, 1);
}

START_TEST(a_million_nested_resolutions_need_no_stack) {
  domino_t* dominoes =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), NESTED_COUNT, sizeof *dominoes);
  tfrt_async_value_t* next = NULL;
  for (int i = 0; i < NESTED_COUNT; ++i) {
    tfrt_async_value_t* value = new_i32();
    dominoes[i].next = next;
    tfrt_task_initialize(&dominoes[i].task, push_domino);
    tfrt_async_value_and_then(value, &dominoes[i].task);
    next = value;
  }
  resolve_i32(next, 1);
  ck_assert(tfrt_async_value_is_available(dominoes[1].next));
  tfrt_async_value_release(next);
  for (int i = 0; i < NESTED_COUNT; ++i) tfrt_async_value_release(dominoes[i].next);
  tfrt_allocator_free(tfrt_allocator_system(), dominoes, NESTED_COUNT * sizeof *dominoes);
}
END_TEST

// Waits again, for a value that is there: each wait runs inside of the one before.
typedef struct looper_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;
  int remaining;
} looper_t;

static void loop_again(tfrt_task_t* task) {
  looper_t* looper = TFRT_CONTAINER_OF(task, looper_t, task);
  if (--looper->remaining > 0) tfrt_async_value_and_then(looper->value, &looper->task);
}

START_TEST(waiting_in_a_loop_for_what_is_there_needs_no_stack) {
  looper_t looper = {.value = tfrt_async_value_ready_chain(), .remaining = NESTED_COUNT};
  tfrt_task_initialize(&looper.task, loop_again);
  tfrt_async_value_and_then(looper.value, &looper.task);
  ck_assert_int_eq(looper.remaining, 0);
}
END_TEST

// --- Races -------------------------------------------------------------------

#define ROUNDS 2000
#define WAITERS 8

// Both threads meet at the start of each round and at its end.
typedef struct race_s {
  _Atomic int arrived;
  tfrt_async_value_t* value;
  tfrt_indirect_value_t* indirect[3];
  remote_t* remote;
  _Atomic int run_count;
} race_t;

static race_t race;

static void meet(int* round) {
  // A barrier for two: each meeting counts two arrivals.
  ++*round;
  atomic_fetch_add(&race.arrived, 1);
  while (atomic_load(&race.arrived) < 2 * *round) tfrt_thread_yield();
}

typedef struct race_waiter_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;
} race_waiter_t;

static void count_run(tfrt_task_t* task) {
  // Reads the payload, so that a missing order is seen.
  ck_assert_int_eq(read_i32(TFRT_CONTAINER_OF(task, race_waiter_t, task)->value), 7);
  atomic_fetch_add(&race.run_count, 1);
}

static void add_race_waiters(tfrt_async_value_t* value, race_waiter_t* waiters) {
  for (int i = 0; i < WAITERS; ++i) {
    waiters[i].value = value;
    tfrt_task_initialize(&waiters[i].task, count_run);
    tfrt_async_value_and_then(value, &waiters[i].task);
  }
}

static void wait_side(void* argument) {
  (void)argument;
  race_waiter_t waiters[WAITERS];
  int round = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    meet(&round);
    add_race_waiters(race.value, waiters);
    meet(&round);
  }
}

START_TEST(no_waiter_is_lost_when_it_races_with_the_resolution) {
  tfrt_thread_t thread;
  race_waiter_t waiters[WAITERS];
  int round = 0;
  ck_assert_ptr_null(tfrt_thread_create("waiters", wait_side, NULL, &thread));
  for (int i = 0; i < ROUNDS; ++i) {
    race.value = new_i32();
    atomic_store(&race.run_count, 0);
    meet(&round);
    add_race_waiters(race.value, waiters);
    resolve_i32(race.value, 7);
    meet(&round);
    ck_assert_int_eq(atomic_load(&race.run_count), 2 * WAITERS);
    tfrt_async_value_release(race.value);
  }
  tfrt_thread_join(&thread);
}
END_TEST

// Forwards the middle of a chain, whose ends the other side works on.
static void forward_side(void* argument) {
  (void)argument;
  int round = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    meet(&round);
    tfrt_indirect_value_forward(race.indirect[1], &race.indirect[2]->base);
    tfrt_indirect_value_forward(race.indirect[2], &race.remote->base.base);
    meet(&round);
  }
}

START_TEST(no_demand_is_lost_when_it_races_with_a_forward) {
  tfrt_thread_t thread;
  int round = 0;
  ck_assert_ptr_null(tfrt_thread_create("forward", forward_side, NULL, &thread));
  for (int i = 0; i < ROUNDS; ++i) {
    race.remote = new_remote();
    for (int k = 0; k < 3; ++k) race.indirect[k] = tfrt_indirect_value_create();
    tfrt_indirect_value_forward(race.indirect[0], &race.indirect[1]->base);
    meet(&round);
    tfrt_async_value_demand(&race.indirect[0]->base);
    meet(&round);
    ck_assert_int_ge(atomic_load(&race.remote->demand_count), 1);
    tfrt_indirect_value_forward_take(&race.remote->base, tfrt_async_value_create_i32(7));
    for (int k = 0; k < 3; ++k) {
      ck_assert_int_eq(read_i32(&race.indirect[k]->base), 7);
      tfrt_async_value_release(&race.indirect[k]->base);
    }
    tfrt_async_value_release(&race.remote->base.base);
  }
  tfrt_thread_join(&thread);
}
END_TEST

// Resolves the end of a chain while the other side walks along it. From the second
// line on, only the first value of the chain keeps the second one alive.
static void resolve_side(void* argument) {
  (void)argument;
  int round = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    tfrt_async_value_t* last = new_i32();
    meet(&round);
    tfrt_indirect_value_forward(race.indirect[1], last);
    tfrt_async_value_release(&race.indirect[1]->base);
    resolve_i32(last, 7);
    tfrt_async_value_release(last);
    meet(&round);
  }
}

START_TEST(a_target_is_not_pulled_from_under_a_visitor) {
  tfrt_thread_t thread;
  int round = 0;
  ck_assert_ptr_null(tfrt_thread_create("resolve", resolve_side, NULL, &thread));
  for (int i = 0; i < ROUNDS; ++i) {
    atomic_store(&race.run_count, 0);
    for (int k = 0; k < 2; ++k) race.indirect[k] = tfrt_indirect_value_create();
    tfrt_async_value_t* first = &race.indirect[0]->base;
    tfrt_indirect_value_forward(race.indirect[0], &race.indirect[1]->base);
    meet(&round);
    tfrt_async_value_demand(first);
    race_waiter_t waiters[WAITERS];
    for (int k = 0; k < WAITERS; ++k) {
      waiters[k].value = first;
      tfrt_task_initialize(&waiters[k].task, count_run);
      tfrt_async_value_await(first, &waiters[k].task);
    }
    meet(&round);
    ck_assert_int_eq(atomic_load(&race.run_count), WAITERS);
    tfrt_async_value_release(first);
  }
  tfrt_thread_join(&thread);
#ifndef NDEBUG
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
#endif
}
END_TEST

START_TEST(a_payload_that_is_kept_outlives_the_error) {
  destroy_count = 0;
  tfrt_async_value_t* value = tfrt_async_value_create_keeping(counted_type());
  memcpy(tfrt_async_value_payload(value), "kept", 4);
  tfrt_status_t error = tfrt_status_create(TFRT_STATUS_INTERNAL, "too late");
  tfrt_async_value_set_error(value, error);
  tfrt_status_release(error);
  ck_assert(tfrt_async_value_is_error(value));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(value)), "too late");
  ck_assert_int_eq(destroy_count, 0);
  ck_assert_mem_eq(tfrt_async_value_payload(value), "kept", 4);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroy_count, 1);
}
END_TEST

START_TEST(a_value_that_would_keep_its_payload_may_also_become_available) {
  destroy_count = 0;
  tfrt_async_value_t* value = tfrt_async_value_create_keeping(counted_type());
  tfrt_async_value_set_available(value);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroy_count, 1);
  tfrt_async_value_release(tfrt_async_value_create_keeping(counted_type()));
  ck_assert_int_eq(destroy_count, 2);
}
END_TEST

START_TEST(a_value_of_no_type_is_not_made) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(TFRT_TYPE_NONE);
  ck_abort_msg("made %p", (void*)value);
}
END_TEST

// --- Embedded values ---------------------------------------------------------

typedef struct object_s {
  tfrt_async_value_t base;
  tfrt_status_t error;
  int number;
} object_t;

static int object_count;
static void destroy_object(void* payload) {
  object_t* object = TFRT_CONTAINER_OF(payload, object_t, error);
  --object_count;
  tfrt_allocator_free(tfrt_allocator_system(), object, sizeof(*object));
}

static object_t* new_object(int number) {
  static const tfrt_type_t type = {
      .name = "!test.object", .size = sizeof(tfrt_status_t), .destroy = destroy_object};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  object_t* object = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*object));
  tfrt_async_value_initialize_embedded(&object->base, id);
  object->number = number;
  ++object_count;
  return object;
}

START_TEST(an_embedded_value_gives_back_its_object_in_each_state) {
  probe_t probes[2];
  object_t* available = new_object(1);
  tfrt_async_value_and_then(&available->base, &prepare(&probes[0])->task);
  tfrt_async_value_set_available(&available->base);
  ck_assert_int_eq(probes[0].place, 1);
  ck_assert_int_eq(available->number, 1);
  object_t* failed = new_object(2);
  tfrt_async_value_and_then(&failed->base, &prepare(&probes[1])->task);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_ABORTED, "no");
  tfrt_async_value_set_error(&failed->base, status);
  ck_assert_int_eq(probes[1].place, 2);
  ck_assert_ptr_eq(tfrt_async_value_error(&failed->base), status);
  tfrt_status_release(status);
  ck_assert_int_eq(failed->number, 2);
  object_t* unresolved = new_object(3);
  ck_assert_int_eq(object_count, 3);
  tfrt_async_value_release(tfrt_async_value_retain(&available->base));
  tfrt_async_value_release(&available->base);
  tfrt_async_value_release(&failed->base);
  tfrt_async_value_release(&unresolved->base);
  ck_assert_int_eq(object_count, 0);
}
END_TEST

START_TEST(a_payload_is_got_by_its_type_alone) {
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  ck_assert_ptr_null(tfrt_async_value_get(value, TFRT_TYPE_I32));
  int32_t number = 5;
  tfrt_async_value_emplace(value, &number, sizeof(number));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_get(value, TFRT_TYPE_I32), 5);
  ck_assert_ptr_null(tfrt_async_value_get(value, TFRT_TYPE_F32));
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  ck_assert(tfrt_indirect_value_forward_take(indirect, value));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_get(&indirect->base, TFRT_TYPE_I32), 5);
  tfrt_async_value_release(&indirect->base);
  ck_assert_ptr_null(tfrt_async_value_get(tfrt_async_value_out_of_memory(), TFRT_TYPE_I32));
}
END_TEST

static void add_payload(tfrt_async_value_t* value, void* argument) {
  const int32_t* number = tfrt_async_value_get(value, TFRT_TYPE_I32);
  *(int32_t*)argument += number ? *number : -1;
}

START_TEST(a_function_that_waits_keeps_its_value) {
  int32_t sum = 0;
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  ck_assert(tfrt_async_value_and_then_run(value, add_payload, &sum));
  int32_t number = 4;
  // The producer's is the last reference but that of the wait.
  tfrt_async_value_emplace(value, &number, sizeof(number));
  ck_assert_int_eq(sum, 4);
  ck_assert(tfrt_async_value_and_then_run(value, add_payload, &sum));
  ck_assert_int_eq(sum, 8);
  tfrt_async_value_release(value);
  ck_assert(tfrt_async_value_and_then_run(tfrt_async_value_out_of_memory(), add_payload, &sum));
  ck_assert_int_eq(sum, 7);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("async_value");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, waiters_run_once_and_newest_first);
  tcase_add_test(tests, a_waiter_for_an_available_value_runs_at_once);
  tcase_add_test(tests, a_payload_is_destroyed_exactly_when_it_was_constructed);
  tcase_add_test(tests, an_error_takes_the_place_of_a_constructed_payload);
  tcase_add_test(tests, an_error_fits_into_the_smallest_payload);
  tcase_add_test(tests, an_error_value_is_an_error_from_birth);
  tcase_add_test(tests, immortal_values_outlive_every_release);
  tcase_add_test(tests, many_references_are_taken_and_dropped_at_once);
  tcase_add_test(tests, without_memory_creation_says_so);
  tcase_add_test(tests, an_indirect_stands_for_an_available_target_at_once);
  tcase_add_test(tests, an_indirect_is_claimed_until_its_target_is_resolved);
  tcase_add_test(tests, the_first_forward_wins);
  tcase_add_test(tests, an_error_follows_the_forward);
  tcase_add_test(tests, an_indirect_can_become_an_error_itself);
  tcase_add_test(tests, a_claimed_value_may_be_dropped_before_it_is_resolved);
  tcase_add_test(tests, an_indirect_that_nobody_has_keeps_its_target_no_longer);
  tcase_add_test(tests, a_long_chain_that_nobody_has_goes_without_stack);
  tcase_add_test(tests, a_long_chain_of_forwards_collapses_without_stack);
  tcase_add_test(tests, and_then_demands_and_watch_does_not);
  tcase_add_test(tests, await_asks_for_the_settlement_and_not_for_the_payload);
  tcase_add_test(tests, a_task_that_awaited_finds_the_error_in_its_value);
  tcase_add_test(tests, await_of_a_plain_indirect_demands);
  tcase_add_test(tests, await_of_a_claimed_value_goes_to_the_targets_question);
  tcase_add_test(tests, a_demand_may_resolve_the_value_on_the_spot);
  tcase_add_test(tests, no_value_is_left_alive);
  tcase_add_test(tests, a_million_nested_resolutions_need_no_stack);
  tcase_add_test(tests, waiting_in_a_loop_for_what_is_there_needs_no_stack);
  tcase_add_test(tests, no_waiter_is_lost_when_it_races_with_the_resolution);
  tcase_add_test(tests, no_demand_is_lost_when_it_races_with_a_forward);
  tcase_add_test(tests, a_target_is_not_pulled_from_under_a_visitor);
  tcase_add_test(tests, an_embedded_value_gives_back_its_object_in_each_state);
  tcase_add_test(tests, a_payload_that_is_kept_outlives_the_error);
  tcase_add_test(tests, a_value_that_would_keep_its_payload_may_also_become_available);
  tcase_add_test(tests, a_payload_is_got_by_its_type_alone);
  tcase_add_test(tests, a_function_that_waits_keeps_its_value);
  tcase_add_test_raise_signal(tests, a_value_of_no_type_is_not_made, SIGABRT);
  Suite* suite = suite_create("async_value");
  suite_add_tcase(suite, tests);
  return suite;
}
