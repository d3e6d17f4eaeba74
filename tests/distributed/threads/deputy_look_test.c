// SPDX-License-Identifier: Apache-2.0
//
// When the deputy of a reader pair looks, and what it does about a task that lasts. The pair's time
// stands still until the test lets the deputy look: then it is what the deputy has waited for.
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

static tfrt_clock_t fake_clock(void);
static bool wait_for_look(tfrt_condition_t* condition, tfrt_mutex_t* mutex, int64_t look_ns);
static void note_and_wait(tfrt_condition_t* condition, tfrt_mutex_t* mutex);
#define tfrt_clock_system fake_clock
#define tfrt_condition_wait_until wait_for_look
#define tfrt_condition_wait note_and_wait
// Behind them: the real code.
#include "distributed/threads/reader_pair.c"
#undef tfrt_clock_system
#undef tfrt_condition_wait_until
#undef tfrt_condition_wait
#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

// This many turns with short tasks are calm.
#define CALM_TURNS 20

static tfrt_reader_pair_t pair;
static tfrt_work_queue_t* queue;
static tfrt_fake_clock_t pair_clock;
static tfrt_mutex_t mutex;
static tfrt_condition_t changed;
// Guarded by |mutex|.
static tfrt_task_t task;         // that the next turn offers
static bool has_task;            // there is such a turn
static int task_count;           // that have run
static int64_t began_ns;         // when the last one began
static bool ran_on_reader;       // it did
static bool is_asked;            // somebody is to read on
static bool is_read;             // somebody has
static int64_t read_ns;          // when
static int wait_count;           // looks that the deputy has begun to wait for
static int look_count;           // how many of them are over
static int64_t wait_ns;          // what it waits for the last one of them
static tfrt_task_t other;        // that a task offers, for the slow queue
static bool is_adding;           // which is given it
static bool is_added;            // and has it
static bool is_drained_for;      // somebody waits for that
static bool is_over;             // the test is
static _Thread_local char self;  // its address tells threads apart
static const char* reader;       // who has taken the last turn

// --- Time ------------------------------------------------------------------------

static tfrt_clock_t fake_clock(void) { return tfrt_fake_clock_interface(&pair_clock); }

static int64_t now_ns(void) { return tfrt_clock_now_ns(fake_clock()); }

// In the place of the deputy's sleep: until the test lets it look.
static bool wait_for_look(tfrt_condition_t* condition, tfrt_mutex_t* pair_mutex, int64_t look_ns) {
  (void)condition;
  tfrt_mutex_unlock(pair_mutex);
  tfrt_mutex_lock(&mutex);
  ++wait_count;
  wait_ns = look_ns - now_ns();
  tfrt_condition_broadcast(&changed);
  while (look_count < wait_count && !is_over) tfrt_condition_wait(&changed, &mutex);
  tfrt_fake_clock_advance_to(&pair_clock, look_ns);
  tfrt_mutex_unlock(&mutex);
  tfrt_mutex_lock(pair_mutex);
  return false;
}

// Tells that the pair's drain has to wait: nothing else of it waits on a thread that is not its
// own.
static void note_and_wait(tfrt_condition_t* condition, tfrt_mutex_t* pair_mutex) {
  if (!tfrt_reader_pair_current) {
    tfrt_mutex_lock(&mutex);
    is_drained_for = is_adding;
    tfrt_condition_broadcast(&changed);
    tfrt_mutex_unlock(&mutex);
  }
  tfrt_condition_wait(condition, pair_mutex);
}

// Lets the deputy look; returns when it waits for its next look, or reads.
static void look(void) {
  tfrt_mutex_lock(&mutex);
  while (wait_count == look_count) tfrt_condition_wait(&changed, &mutex);
  ++look_count;
  tfrt_condition_broadcast(&changed);
  while (wait_count == look_count && !is_read) tfrt_condition_wait(&changed, &mutex);
  tfrt_mutex_unlock(&mutex);
}

// --- Turns and tasks ----------------------------------------------------------------

static bool take_turn(void* argument) {
  (void)argument;
  tfrt_mutex_lock(&mutex);
  reader = &self;
  while (!has_task && !is_asked && !is_over) tfrt_condition_wait(&changed, &mutex);
  const bool offers = has_task;
  has_task = false;
  if (is_asked && !offers) {
    is_asked = false;
    is_read = true;
    read_ns = now_ns();
    tfrt_condition_broadcast(&changed);
  }
  const bool goes_on = offers || !is_over;
  tfrt_mutex_unlock(&mutex);
  if (offers) tfrt_reader_pair_offer(queue, &task, TFRT_READER_PAIR_SOON);
  return goes_on;
}

// With the lock held.
static void note_begin(void) {
  began_ns = now_ns();
  ran_on_reader = reader == &self;
  ++task_count;
  tfrt_condition_broadcast(&changed);
}

static void run_short(tfrt_task_t* unused) {
  (void)unused;
  tfrt_mutex_lock(&mutex);
  note_begin();
  tfrt_mutex_unlock(&mutex);
}

static void run_half_a_look(tfrt_task_t* unused) {
  run_short(unused);
  tfrt_fake_clock_advance(&pair_clock, TFRT_READER_PAIR_LOOK_NS / 2);
}

// Lasts until somebody else has read.
static void run_until_read(tfrt_task_t* unused) {
  (void)unused;
  tfrt_mutex_lock(&mutex);
  note_begin();
  while (!is_read && !is_over) tfrt_condition_wait(&changed, &mutex);
  tfrt_mutex_unlock(&mutex);
}

// A work queue that takes a task only when somebody waits for that task.
static void add_slowly(tfrt_work_queue_t* slow_queue, tfrt_task_t* unused) {
  (void)slow_queue;
  (void)unused;
  tfrt_mutex_lock(&mutex);
  is_adding = true;
  tfrt_condition_broadcast(&changed);
  while (!is_drained_for && !is_over) tfrt_condition_wait(&changed, &mutex);
  is_added = true;
  tfrt_mutex_unlock(&mutex);
}

static const tfrt_work_queue_vtable_t slow_vtable = {.add_task = add_slowly};
static tfrt_work_queue_t slow_queue = {.vtable = &slow_vtable};

// Offers another task, and lasts until that is handed over.
static void run_until_handed_over(tfrt_task_t* unused) {
  tfrt_reader_pair_offer(&slow_queue, &other, TFRT_READER_PAIR_BEHIND);
  run_short(unused);
  tfrt_mutex_lock(&mutex);
  while (!is_adding && !is_over) tfrt_condition_wait(&changed, &mutex);
  tfrt_mutex_unlock(&mutex);
}

// Returns when a task has begun that a turn offers.
static void begin_task(tfrt_task_fn_t run) {
  tfrt_mutex_lock(&mutex);
  tfrt_task_initialize(&task, run);
  const int count = task_count;
  has_task = true;
  tfrt_condition_broadcast(&changed);
  while (task_count == count) tfrt_condition_wait(&changed, &mutex);
  tfrt_mutex_unlock(&mutex);
}

// Returns when it has ended.
static void run_task(tfrt_task_fn_t run) {
  begin_task(run);
  tfrt_reader_pair_drain(&pair);
  tfrt_work_queue_quiesce(queue);
}

// --- Tests -----------------------------------------------------------------------

static void set_up(void) {
  tfrt_fake_clock_initialize(&pair_clock, TFRT_NANOSECONDS_PER_SECOND);
  tfrt_mutex_initialize(&mutex);
  tfrt_condition_initialize(&changed);
  has_task = ran_on_reader = is_asked = is_read = is_over = false;
  is_adding = is_added = is_drained_for = false;
  task_count = wait_count = look_count = 0;
  tfrt_thread_pool_options_t options = {.thread_count = 1};
  tfrt_status_t status =
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue);
  ck_assert(!status);
  status = tfrt_reader_pair_start(&pair, "reader", take_turn, NULL);
  ck_assert(!status);
  // Before the deputy stands by, the reader takes no task.
  while (!ran_on_reader) run_task(run_short);
}

static void tear_down(void) {
  tfrt_mutex_lock(&mutex);
  is_over = true;
  tfrt_condition_broadcast(&changed);
  tfrt_mutex_unlock(&mutex);
  tfrt_reader_pair_join(&pair);
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_release(queue);
  tfrt_condition_deinitialize(&changed);
  tfrt_mutex_deinitialize(&mutex);
}

// Short tasks, until the deputy looks as seldom as it ever does.
static void be_calm(void) {
  for (int i = 0; i < CALM_TURNS; ++i) {
    run_task(run_short);
    ck_assert(ran_on_reader);
    look();
    ck_assert_int_le(wait_ns, TFRT_READER_PAIR_MAX_LOOK_NS);
  }
  ck_assert_int_eq(wait_ns, TFRT_READER_PAIR_MAX_LOOK_NS);
}

START_TEST(a_task_that_lasts_is_found_by_the_first_look_after_a_calm_time) {
  be_calm();
  begin_task(run_until_read);
  ck_assert(ran_on_reader);
  tfrt_mutex_lock(&mutex);
  is_asked = true;
  tfrt_mutex_unlock(&mutex);
  // The deputy sees it run, so it looks soon whether it is still the same one.
  look();
  ck_assert(!is_read);
  ck_assert_int_eq(wait_ns, TFRT_READER_PAIR_LOOK_NS);
  look();
  ck_assert(is_read);
  ck_assert_int_le(read_ns - began_ns, TFRT_READER_PAIR_MAX_LOOK_NS + TFRT_READER_PAIR_LOOK_NS);
}
END_TEST

START_TEST(a_task_that_is_not_short_ends_the_calm_time) {
  be_calm();
  run_task(run_half_a_look);
  ck_assert(ran_on_reader);
  look();
  ck_assert_int_eq(wait_ns, TFRT_READER_PAIR_LOOK_NS);
  be_calm();
}
END_TEST

// Else the queue's owner, which has drained the pair, frees what is handed over still.
START_TEST(draining_waits_for_what_the_deputy_hands_over) {
  be_calm();
  begin_task(run_until_handed_over);
  ck_assert(ran_on_reader);
  // The first one sees the task run, the second one that it lasts. The former reader, whose task
  // has ended, waits for the next one.
  look();
  look();
  tfrt_reader_pair_drain(&pair);
  tfrt_mutex_lock(&mutex);
  ck_assert(is_added);
  tfrt_mutex_unlock(&mutex);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("deputy look");
  TCase* all = tcase_create("all");
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, a_task_that_lasts_is_found_by_the_first_look_after_a_calm_time);
  tcase_add_test(all, a_task_that_is_not_short_ends_the_calm_time);
  tcase_add_test(all, draining_waits_for_what_the_deputy_hands_over);
  suite_add_tcase(suite, all);
  return suite;
}
