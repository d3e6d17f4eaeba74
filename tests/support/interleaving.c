// SPDX-License-Identifier: Apache-2.0
#include "tests/support/interleaving.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define INTERLEAVING_MAX_POINTS 4096
#define INTERLEAVING_STACK_SIZE ((size_t)256 << 10)
#define INTERLEAVING_MAX_LOCAL 64

typedef struct interleaving_thread_s {
  ucontext_t context;
  _Alignas(16) char stack[INTERLEAVING_STACK_SIZE];
  bool finished;
  bool (*is_over)(void);  // what it sleeps for; NULL: it is awake
  unsigned char local[INTERLEAVING_MAX_LOCAL];
} interleaving_thread_t;

// One point of a run: how many threads could go on, and which of them did.
typedef struct interleaving_choice_s {
  uint8_t count;
  uint8_t taken;  // 0: the one that was running, if it could
} interleaving_choice_t;

static struct {
  const interleaving_scenario_t* scenario;
  interleaving_thread_t threads[INTERLEAVING_MAX_THREADS];
  int thread_count;
  int current;  // -1: none
  bool running;
  ucontext_t explorer;
  interleaving_choice_t path[INTERLEAVING_MAX_POINTS];
  size_t path_length;  // choices that are fixed
  size_t position;     // of this run
  int32_t preemptions;
  const volatile void* ignored;
} state;

static void interleaving_die(const char* message) {
  fprintf(stderr, "interleaving: %s\n", message);
  abort();
}

// Gives the memory that each thread has its own of to thread |to|, and keeps that of |from|.
static void interleaving_swap_local(int from, int to) {
  const interleaving_scenario_t* scenario = state.scenario;
  if (!scenario->thread_local_state || from == to) return;
  if (from >= 0) {
    memcpy(state.threads[from].local, scenario->thread_local_state, scenario->thread_local_size);
  }
  if (to >= 0) {
    memcpy(scenario->thread_local_state, state.threads[to].local, scenario->thread_local_size);
  }
}

static bool interleaving_can_go_on(int index) {
  const interleaving_thread_t* thread = &state.threads[index];
  return !thread->finished && (!thread->is_over || thread->is_over());
}

static bool interleaving_can_stay(void) {
  return state.current >= 0 && interleaving_can_go_on(state.current);
}

// The threads that can go on, the running one first.
static uint8_t interleaving_candidates(int* out_threads) {
  uint8_t count = 0;
  bool can_stay = interleaving_can_stay();
  if (can_stay) out_threads[count++] = state.current;
  if (can_stay && state.preemptions == state.scenario->max_preemptions) return count;
  for (int i = 0; i < state.thread_count; ++i) {
    if (i != state.current && interleaving_can_go_on(i)) out_threads[count++] = i;
  }
  return count;
}

// Decides who goes on: as the path says, and behind its end the first one.
static int interleaving_choose(void) {
  int threads[INTERLEAVING_MAX_THREADS];
  uint8_t count = interleaving_candidates(threads);
  if (count == 0) {
    for (int i = 0; i < state.thread_count; ++i) {
      if (!state.threads[i].finished) interleaving_die("all threads sleep, and nobody wakes them");
    }
    return -1;
  }
  if (state.position == INTERLEAVING_MAX_POINTS) interleaving_die("a run is too long");
  interleaving_choice_t* choice = &state.path[state.position];
  if (state.position == state.path_length) {
    *choice = (interleaving_choice_t){.count = count};
    ++state.path_length;
  }
  if (choice->count != count) interleaving_die("a run is not the same when it is run again");
  ++state.position;
  int chosen = threads[choice->taken];
  if (interleaving_can_stay() && chosen != state.current) ++state.preemptions;
  return chosen;
}

static void interleaving_switch(ucontext_t* from, int to) {
  int before = state.current;
  interleaving_swap_local(before, to);
  state.current = to;
  swapcontext(from, to >= 0 ? &state.threads[to].context : &state.explorer);
}

void interleaving_point(const volatile void* object) {
  if (!state.running || object == state.ignored) return;
  int chosen = interleaving_choose();
  if (chosen != state.current) interleaving_switch(&state.threads[state.current].context, chosen);
}

void interleaving_sleep(bool (*is_over)(void)) {
  interleaving_thread_t* self = &state.threads[state.current];
  self->is_over = is_over;
  int chosen = interleaving_choose();
  if (chosen != state.current) interleaving_switch(&self->context, chosen);
  self->is_over = NULL;
}

void interleaving_ignore(const volatile void* object) { state.ignored = object; }

static void interleaving_run_thread(void) {
  int self = state.current;
  state.scenario->threads[self]();
  state.threads[self].finished = true;
  interleaving_switch(&state.threads[self].context, interleaving_choose());
}

static void interleaving_prepare_thread(interleaving_thread_t* thread) {
  thread->finished = false;
  thread->is_over = NULL;
  memset(thread->local, 0, sizeof(thread->local));
  if (getcontext(&thread->context) != 0) interleaving_die("no context");
  thread->context.uc_stack.ss_sp = thread->stack;
  thread->context.uc_stack.ss_size = INTERLEAVING_STACK_SIZE;
  thread->context.uc_link = NULL;
  makecontext(&thread->context, interleaving_run_thread, 0);
}

static void interleaving_run(void) {
  state.scenario->set_up();
  for (int i = 0; i < state.thread_count; ++i) interleaving_prepare_thread(&state.threads[i]);
  state.position = 0;
  state.preemptions = 0;
  state.current = -1;
  state.running = true;
  interleaving_switch(&state.explorer, interleaving_choose());
  state.running = false;
  state.scenario->check();
}

// Takes the next way at the last point where there is one. Returns false if there is none.
static bool interleaving_backtrack(void) {
  while (state.path_length > 0) {
    interleaving_choice_t* last = &state.path[state.path_length - 1];
    if (++last->taken < last->count) return true;
    --state.path_length;
  }
  return false;
}

uint64_t interleaving_explore(const interleaving_scenario_t* scenario) {
  if (scenario->thread_local_size > INTERLEAVING_MAX_LOCAL) interleaving_die("too much state");
  state.scenario = scenario;
  state.path_length = 0;
  state.thread_count = 0;
  while (state.thread_count < INTERLEAVING_MAX_THREADS && scenario->threads[state.thread_count]) {
    ++state.thread_count;
  }
  uint64_t runs = 0;
  do {
    interleaving_run();
    ++runs;
  } while (interleaving_backtrack());
  return runs;
}
