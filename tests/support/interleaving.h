// SPDX-License-Identifier: Apache-2.0
//
// Runs a few threads in every order that their atomic operations can have. The threads are
// coroutines of one real thread; each atomic operation of the code under test, compiled with
// interleaving_atomics.h, is a point where another thread may go on. A scenario is run
// again and again, each time with another choice at the last point where one is left, until
// none is: a search in depth, exhaustive, and the same on each machine.
//
//   run 1:  A A A | B B B        run 2:  A A | B B B | A        run 3:  A A | B B | A | B  ...
//
// The orders grow fast: two threads of ten operations each have 184,756 of them. Scenarios of three
// threads bound the number of *preemptions*, places where a thread stops though it could go on;
// most defects need two at most.
//
// The search does not show effects of weak memory orders: it tries the orders of sequential
// consistency. ThreadSanitizer and the comments at each operation cover weak orders.
//
// Life: one call runs one scenario to the end.
//
// Thread rule: one at a time in a process. Failure rule: a failed check fails the test.
#ifndef TFRT_TESTS_SUPPORT_INTERLEAVING_H_
#define TFRT_TESTS_SUPPORT_INTERLEAVING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERLEAVING_MAX_THREADS 4
#define INTERLEAVING_ALL_PREEMPTIONS INT32_MAX

typedef struct interleaving_scenario_s {
  void (*set_up)(void);                             // before each run
  void (*threads[INTERLEAVING_MAX_THREADS])(void);  // up to the first NULL
  void (*check)(void);       // after each run; fails the test if something is wrong
  int32_t max_preemptions;   // INTERLEAVING_ALL_PREEMPTIONS: no bound
  void* thread_local_state;  // memory, a copy for each thread; NULL: none
  size_t thread_local_size;
} interleaving_scenario_t;

// Runs |scenario| in all of its orders and returns how many there were. Thread-compatible.
uint64_t interleaving_explore(const interleaving_scenario_t* scenario);

// The thread sleeps until |is_over|, which has no points of its own, says so: the others go on. A
// run in which all sleep for ever ends the process with a message. Only within a run.
void interleaving_sleep(bool (*is_over)(void));

// An atomic operation on |object| comes next: another thread may go on here. Outside of a
// run it does nothing.
void interleaving_point(const volatile void* object);

// Operations on |object| are no points from now on: it is no part of the code under test.
void interleaving_ignore(const volatile void* object);

#endif  // TFRT_TESTS_SUPPORT_INTERLEAVING_H_
