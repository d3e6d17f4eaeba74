// SPDX-License-Identifier: Apache-2.0
//
// Sessions under random faults, thousands of seeds of them. The harness checks that every frame
// comes exactly once, in order and within a living session (S1, S10). At the end of a seed, when
// the network is whole again, the test checks that
//  - no session is left waiting: each is OPEN or DEAD, and if OPEN, it is so on both sides
//    and has delivered everything;
//  - hosts that live agree about which sessions are dead, and have agreed within two
//    budgets (L5), a process's own sleep not counted;
//  - nothing is left when all is closed.
//
// A failing seed is shown, and runs alone with TFRT_TEST_SEED=N; TFRT_TEST_SEED_COUNT=N runs more,
// or fewer, of them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/distributed/session/session_harness.h"
#include "tests/support/test_main.h"

#define HOSTS 3
#define BUDGET_NS (5 * TFRT_HARNESS_SECOND)
// The longest sleep that a seed puts a process to.
#define MAX_SLEEP_MS 7000

typedef struct run_s {
  tfrt_harness_world_t world;
  tfrt_harness_host_t* hosts[HOSTS];  // the living one at each place
  char addresses[HOSTS][TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_random_t* random;
  uint64_t next_incarnation;
  uint64_t resumes;
  uint64_t deaths;
  uint64_t duplicates;
  uint64_t frames;
} run_t;

static uint64_t below(run_t* run, uint64_t limit) { return tfrt_random_below(run->random, limit); }

static void start_host(run_t* run, size_t place) {
  // Which of two incarnations is the smaller one is a matter of chance.
  uint64_t incarnation = (tfrt_random_next(run->random) << 8) | ++run->next_incarnation;
  const tfrt_session_options_t options = tfrt_harness_options(incarnation);
  const char* address = run->addresses[place][0] != '\0' ? run->addresses[place] : "host:0";
  run->hosts[place] = tfrt_harness_add_host(&run->world, &options, address);
  snprintf(run->addresses[place], sizeof(run->addresses[place]), "%s", run->hosts[place]->address);
}

static void count(run_t* run, tfrt_harness_host_t* host) {
  tfrt_session_counters_t counters;
  tfrt_session_manager_counters(host->manager, &counters);
  run->resumes += counters.resumes;
  run->deaths += counters.deaths;
  run->duplicates += counters.duplicates;
  run->frames += counters.frames_received;
}

static tfrt_harness_host_t* any_host(run_t* run) { return run->hosts[below(run, HOSTS)]; }

static tfrt_harness_host_t* any_other(run_t* run, const tfrt_harness_host_t* host) {
  for (;;) {
    tfrt_harness_host_t* other = any_host(run);
    if (other != host) return other;
  }
}

// Sends something from somebody to somebody.
static void act_send(run_t* run) {
  tfrt_harness_host_t* from = any_host(run);
  tfrt_harness_record_t* record = tfrt_harness_dial(from, any_other(run, from));
  tfrt_harness_send(record, 1 + below(run, 40));
}

static void act_partition(run_t* run) {
  tfrt_harness_host_t* from = any_host(run);
  tfrt_simulated_network_partition(run->world.network, from->endpoint,
                                   any_other(run, from)->endpoint, below(run, 2) == 0);
}

static void act_heal(run_t* run) {
  for (size_t i = 0; i < HOSTS; ++i) {
    for (size_t j = i + 1; j < HOSTS; ++j) {
      tfrt_simulated_network_heal(run->world.network, run->hosts[i]->endpoint,
                                  run->hosts[j]->endpoint, true);
    }
  }
}

static void act_break(run_t* run) {
  tfrt_harness_host_t* from = any_host(run);
  tfrt_simulated_network_break(run->world.network, from->endpoint, any_other(run, from)->endpoint);
}

static void act_sleep(run_t* run) {
  tfrt_harness_host_t* host = any_host(run);
  tfrt_simulated_endpoint_freeze(host->endpoint);
  tfrt_harness_run_for(&run->world, (int64_t)below(run, MAX_SLEEP_MS) * TFRT_HARNESS_MILLISECOND);
  tfrt_simulated_endpoint_thaw(host->endpoint);
}

static void act_restart(run_t* run) {
  if (run->world.host_count == TFRT_HARNESS_MAX_HOSTS) return;
  size_t place = below(run, HOSTS);
  count(run, run->hosts[place]);
  tfrt_harness_kill(run->hosts[place]);
  start_host(run, place);
}

static void act_close(run_t* run) {
  tfrt_harness_host_t* host = any_host(run);
  tfrt_node_lock_lock(&host->lock);
  tfrt_session_t* session = tfrt_session_manager_first(host->manager);
  if (session) {
    tfrt_session_close(session, TFRT_WIRE_GOODBYE_SHUTDOWN, tfrt_string_view_of("by chance"));
  }
  tfrt_node_lock_unlock_and_run(&host->lock);
}

static void act(run_t* run) {
  uint64_t choice = below(run, 100);
  if (choice < 60) {
    act_send(run);
  } else if (choice < 72) {
    act_break(run);
  } else if (choice < 80) {
    act_partition(run);
  } else if (choice < 90) {
    act_heal(run);
  } else if (choice < 94) {
    act_sleep(run);
  } else if (choice < 97) {
    act_restart(run);
  } else {
    act_close(run);
  }
}

static void pass_time(run_t* run) {
  // Mostly the time of a few messages, sometimes of a few heartbeats.
  int64_t most_us = below(run, 8) == 0 ? 3000000 : 2000;
  tfrt_harness_run_for(&run->world, (int64_t)below(run, (uint64_t)most_us) * 1000);
}

// --- The end of a seed -------------------------------------------------------

static const tfrt_harness_host_t* find_host(const run_t* run, uint64_t incarnation) {
  for (size_t i = 0; i < HOSTS; ++i) {
    if (run->hosts[i]->incarnation == incarnation) return run->hosts[i];
  }
  return NULL;
}

// The record of the same session at the other side, or NULL.
static const tfrt_harness_record_t* find_counterpart(const tfrt_harness_host_t* peer,
                                                     uint64_t incarnation, uint32_t number) {
  for (const tfrt_harness_record_t* r = peer->records; r; r = r->next) {
    if (tfrt_session_peer_incarnation(r->session) == incarnation &&
        tfrt_session_number(r->session) == number) {
      return r;
    }
  }
  return NULL;
}

static void check_record(const run_t* run, const tfrt_harness_record_t* record) {
  tfrt_session_state_t state = tfrt_harness_state(record);
  ck_assert_msg(state == TFRT_SESSION_OPEN || state == TFRT_SESSION_DEAD, "a session is left %s",
                tfrt_session_state_name(state));
  const tfrt_harness_host_t* peer = find_host(run, tfrt_session_peer_incarnation(record->session));
  const tfrt_harness_record_t* counterpart =
      peer ? find_counterpart(peer, record->host->incarnation, tfrt_session_number(record->session))
           : NULL;
  if (state == TFRT_SESSION_OPEN) {
    ck_assert_msg(peer, "a session with a process that was killed is OPEN");
    ck_assert_msg(counterpart && tfrt_harness_state(counterpart) == TFRT_SESSION_OPEN,
                  "session %" PRIu32 " is OPEN at one side only",
                  tfrt_session_number(record->session));
    ck_assert_uint_eq(counterpart->received, record->sent);
    return;
  }
  // Nothing comes of what was not sent.
  if (counterpart) ck_assert_uint_le(counterpart->received, record->sent);
  if (!counterpart || !record->was_opened || !counterpart->was_opened) return;
  ck_assert_msg(counterpart->is_dead, "session %" PRIu32 " is dead at one side only",
                tfrt_session_number(record->session));
  int64_t apart_ns = record->dead_ns - counterpart->dead_ns;
  if (apart_ns < 0) apart_ns = -apart_ns;
  ck_assert_msg(
      apart_ns <= 2 * BUDGET_NS + MAX_SLEEP_MS * TFRT_HARNESS_MILLISECOND + 2 * TFRT_HARNESS_SECOND,
      "they learnt %.1f s apart that a session is dead", (double)apart_ns / 1e9);
}

static void run_seed(uint64_t seed, bool breaks_streams, run_t* run) {
  *run = (run_t){0};
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.break_chance = seed % 3 == 0 ? 20000 : 0;
  options.duplicate_chance = breaks_streams ? 50000 : 0;
  options.reorder_chance = breaks_streams ? 50000 : 0;
  tfrt_harness_initialize(&run->world, &options);
  run->random = tfrt_simulated_network_random(run->world.network);
  for (size_t i = 0; i < HOSTS; ++i) start_host(run, i);
  for (int i = 0; i < 60; ++i) {
    act(run);
    pass_time(run);
  }
  options.break_chance = options.duplicate_chance = options.reorder_chance = 0;
  tfrt_simulated_network_set_faults(run->world.network, &options);
  act_heal(run);
  tfrt_harness_run_for(&run->world, 2 * BUDGET_NS + 2 * TFRT_HARNESS_SECOND);
  for (size_t i = 0; i < HOSTS; ++i) {
    count(run, run->hosts[i]);
    for (tfrt_harness_record_t* r = run->hosts[i]->records; r; r = r->next) check_record(run, r);
  }
  tfrt_harness_deinitialize(&run->world);
}

// The seeds of one test: |first| to |first| + |number| - 1, or the one that is asked for.
static void run_seeds(uint64_t first, uint64_t number, bool breaks_streams) {
  const char* only = getenv("TFRT_TEST_SEED");
  const char* more = getenv("TFRT_TEST_SEED_COUNT");
  if (more) number = strtoull(more, NULL, 10);
  if (only) {
    first = strtoull(only, NULL, 10);
    number = 1;
  }
  run_t sum = {0};
  for (uint64_t seed = first; seed < first + number; ++seed) {
    // Check shows what was said before a failure only if it was written out.
    static run_t run;
    fprintf(stderr, "\rseed %" PRIu64 " ", seed);
    run_seed(seed, breaks_streams, &run);
    sum.resumes += run.resumes;
    sum.deaths += run.deaths;
    sum.duplicates += run.duplicates;
    sum.frames += run.frames;
  }
  fprintf(stderr,
          "\n%" PRIu64 " seeds: %" PRIu64 " frames, %" PRIu64 " resumes, %" PRIu64
          " deaths, %" PRIu64 " duplicates\n",
          number, sum.frames, sum.resumes, sum.deaths, sum.duplicates);
  if (only) return;
  // A run in which nothing went wrong would have shown nothing.
  ck_assert_uint_gt(sum.resumes, number);
  ck_assert_uint_gt(sum.deaths, number);
  if (breaks_streams) ck_assert_uint_gt(sum.duplicates, number);
}

START_TEST(whatever_breaks_each_frame_comes_once_and_hosts_agree) { run_seeds(1, 1000, false); }
END_TEST

START_TEST(even_streams_that_double_and_swap_do_no_harm) { run_seeds(1000001, 1000, true); }
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session faults");
  TCase* seeds = tcase_create("seeds");
  tcase_set_timeout(seeds, 600);
  tcase_add_test(seeds, whatever_breaks_each_frame_comes_once_and_hosts_agree);
  tcase_add_test(seeds, even_streams_that_double_and_swap_do_no_harm);
  suite_add_tcase(suite, seeds);
  return suite;
}
