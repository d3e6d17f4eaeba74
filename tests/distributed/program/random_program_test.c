// SPDX-License-Identifier: Apache-2.0
//
// Random programs under random faults: what comes is right or the error of a fault, the oracles
// find nothing wrong on the way (node_harness.h), and nothing is left at the end. The number of a
// failed test is its seed; with TFRT_RANDOM_PROGRAM_SEED set to that and CK_RUN_CASE to its case,
// only it is run, and its program printed. TFRT_RANDOM_PROGRAM_COUNT is how many seeds each case
// has, instead of those that every run of all tests can afford.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/distributed/program/random_program.h"
#include "tests/support/test_main.h"

#define MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND
#define NOBODY UINT32_MAX

static tfrt_node_world_t world;
static tfrt_random_program_t program;
static tfrt_random_t dice;  // of the test; the network has its own, from the same seed
static tfrt_random_value_t right[2];
static uint64_t text_size;

// The faults of a run.
typedef struct faults_s {
  uint32_t killed[2];  // NOBODY: none
  bool is_cancelled;
  bool is_parted;  // for long enough that sessions may die
} faults_t;

static const faults_t nothing = {.killed = {NOBODY, NOBODY}};

static uint64_t chosen_seed(void) {
  const char* text = getenv("TFRT_RANDOM_PROGRAM_SEED");
  return text ? strtoull(text, NULL, 10) : 0;
}

static int chosen_count(int usual) {
  const char* text = getenv("TFRT_RANDOM_PROGRAM_COUNT");
  return text ? atoi(text) : usual;
}

static uint64_t below(uint64_t limit) { return tfrt_random_below(&dice, limit); }

// Some hosts of some runs know no pushes: bit n of a third of the seed is host n.
static uint64_t run_seed;

// The credit that each host grants each other at once; 0: the default.
static uint64_t call_room;
static uint64_t want_room;

static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (call_room) options->session.first_call_limit = call_room;
  if (want_room) options->session.first_want_limit = want_room;
  bool is_old = run_seed % 3 == 0 && run_seed / 3 >> index & 1;
  if (is_old) options->session.features &= ~(tfrt_wire_features_t)TFRT_WIRE_FEATURE_PUSH;
}

// The network of the run.
static tfrt_simulated_options_t options;

// Begins the run of |seed|, with the faults of the network that need no hand.
static void begin_program(uint64_t seed, bool has_faults, bool has_messages) {
  tfrt_random_initialize(&dice, seed);
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = (int64_t)below(20) * options.delay_ns;
  if (has_faults && below(3) == 0) options.break_chance = (uint32_t)below(15000);
  static const uint64_t sizes[] = {3, 3000, 70000};
  text_size = sizes[below(3)];
  // Bulk channels, for which nothing is short enough then, rely on streams as they should be.
  bool has_channels = text_size > 3;
  if (has_faults && !has_channels && below(2)) options.duplicate_chance = (uint32_t)below(15000);
  if (has_faults && !has_channels && below(2)) options.reorder_chance = (uint32_t)below(15000);
  if (below(2) == 0) options.clock_offset_ns = 600 * TFRT_NODE_WORLD_SECOND;
  uint32_t host_count = 2 + (uint32_t)below(4);
  tfrt_random_program_generate(&program, host_count, has_messages, &dice);
  if (chosen_seed()) fprintf(stderr, "%s", program.source);
  uint32_t x = (uint32_t)below(1000);
  tfrt_random_program_evaluate(&program, x, right);
  run_seed = seed;
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, host_count, &options);
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), text_size);
  memset(bytes, 'a', text_size);
  tfrt_async_value_t* arguments[2] = {
      tfrt_async_value_create_i32((int32_t)x),
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, text_size))};
  tfrt_allocator_free(tfrt_allocator_system(), bytes, text_size);
  tfrt_node_world_start(&world, program.source, arguments, 2, 2);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(arguments[i]);
}

static void begin(uint64_t seed, bool has_faults) { begin_program(seed, has_faults, true); }

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Result |index| is an error that the program makes, or that one of |faults| is the cause of.
static void expect_cause(uint32_t index, const faults_t* faults) {
  tfrt_status_t status = tfrt_node_world_error(&world, index);
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  char text[1024];
  tfrt_status_format(status, text, sizeof(text));
  if (fields->code == TFRT_STATUS_INTERNAL) {
    ck_assert_msg(right[index].is_error, "%s", text);
  } else if (fields->code == TFRT_STATUS_CANCELLED) {
    // A host that has lost the client closes the job, and says so to the others.
    ck_assert_msg(faults->is_cancelled || faults->is_parted, "%s", text);
  } else {
    ck_assert_msg(fields->code == TFRT_STATUS_UNAVAILABLE, "%s", text);
    ck_assert_msg(faults->killed[0] != NOBODY || faults->is_parted, "%s", text);
    // Every host gives one loss the same name, as soon as the loss was known by that name.
    bool met = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
    bool is_known = met && !faults->is_parted;
    bool is_named = fields->root_key == 0x1000 + faults->killed[0] ||
                    fields->root_key == 0x1000 + faults->killed[1];
    ck_assert_msg(!is_known || is_named, "%s", text);
  }
}

// Each result that is no error is right.
static void expect_values(void) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(world.results[i])) continue;
    ck_assert_msg(!right[i].is_error, "an error is lost");
    if (i == 0) {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), (int32_t)right[0].value);
    } else {
      ck_assert_uint_eq(tfrt_node_world_text(&world, 1).size, text_size * right[1].value);
    }
  }
}

static void expect_results(const faults_t* faults) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(world.results[i])) expect_cause(i, faults);
  }
  expect_values();
}

START_TEST(without_faults_results_are_right) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  begin(seed, false);
  tfrt_node_world_await(&world);
  expect_results(&nothing);
  end();
}
END_TEST

START_TEST(broken_connections_change_nothing) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  begin(seed, true);
  for (int i = 0; i < 4; ++i) {
    tfrt_node_world_run_for(&world, (int64_t)below(3 * (uint64_t)MILLISECOND));
    uint32_t a = (uint32_t)below(world.host_count + 1);
    tfrt_node_world_break(&world, a, (a + 1) % (world.host_count + 1));
  }
  tfrt_node_world_await(&world);
  expect_results(&nothing);
  end();
}
END_TEST

// Parts two processes, for long or short.
static void part(faults_t* faults) {
  uint32_t a = (uint32_t)below(world.host_count + 1);
  uint32_t b = (a + 1 + (uint32_t)below(world.host_count)) % (world.host_count + 1);
  bool both_ways = below(2) == 0;
  tfrt_simulated_endpoint_t* from = world.hosts[a].endpoint;
  tfrt_simulated_endpoint_t* to = world.hosts[b].endpoint;
  tfrt_simulated_network_partition(world.network, from, to, both_ways);
  faults->is_parted = below(2) == 0;
  int64_t most_ns = faults->is_parted ? 15 * TFRT_NODE_WORLD_SECOND : 2 * TFRT_NODE_WORLD_SECOND;
  tfrt_node_world_run_for(&world, (int64_t)below((uint64_t)most_ns));
  tfrt_simulated_network_heal(world.network, from, to, both_ways);
}

// Lets a process, perhaps the client, stand still, for long or short.
static void freeze(faults_t* faults) {
  tfrt_simulated_endpoint_t* endpoint = world.hosts[below(world.host_count + 1)].endpoint;
  tfrt_simulated_endpoint_freeze(endpoint);
  faults->is_parted = below(2) == 0;
  int64_t most_ns = faults->is_parted ? 15 * TFRT_NODE_WORLD_SECOND : 2 * TFRT_NODE_WORLD_SECOND;
  tfrt_node_world_run_for(&world, (int64_t)below((uint64_t)most_ns));
  tfrt_simulated_endpoint_thaw(endpoint);
}

// Ends the process of a host that lives.
static void kill(faults_t* faults) {
  uint32_t rank = (uint32_t)below(world.host_count);
  if (rank == faults->killed[0]) return;
  faults->killed[faults->killed[0] == NOBODY ? 0 : 1] = rank;
  tfrt_node_world_kill(&world, rank);
}

// Lets something happen first: for a while, or until a random number of things have happened.
static void let_pass(void) {
  if (below(2) == 0) {
    tfrt_node_world_run_for(&world, (int64_t)below(4 * (uint64_t)MILLISECOND));
    return;
  }
  for (uint64_t left = below(1500); left > 0; --left) tfrt_simulated_network_step(world.network);
}

static void cancel(faults_t* faults) {
  faults->is_cancelled = true;
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
}

START_TEST(faults_leave_right_results_or_their_own_errors_and_nothing_else) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  begin(seed, true);
  faults_t faults = nothing;
  let_pass();
  switch (below(8)) {
    case 0:
      part(&faults);
      break;
    case 1:
      freeze(&faults);
      break;
    case 2:
      cancel(&faults);
      break;
    case 3:
      kill(&faults);
      let_pass();
      cancel(&faults);
      break;
    case 4:
      kill(&faults);
      let_pass();
      kill(&faults);
      break;
    case 5:
      cancel(&faults);
      let_pass();
      kill(&faults);
      break;
    default:
      kill(&faults);
      break;
  }
  tfrt_node_world_await(&world);
  expect_results(&faults);
  end();
}
END_TEST

// --- Cut off from each other --------------------------------------------------

#define MAX_CUTS 6

// Processes that see nothing of each other for a while, or one that stands still; or both.
typedef struct cut_s {
  tfrt_simulated_endpoint_t* a;
  tfrt_simulated_endpoint_t* b;  // NULL: |a| stands still
  bool both_ways;
} cut_t;

// Which processes were of a cut, by number.
static bool was_cut[TFRT_NODE_WORLD_MAX_HOSTS + 1];

static cut_t make_cut(void) {
  uint32_t a = (uint32_t)below(world.host_count + 1);
  uint32_t b = (a + 1 + (uint32_t)below(world.host_count)) % (world.host_count + 1);
  cut_t cut = {.a = world.hosts[a].endpoint, .both_ways = below(3) > 0};
  if (below(4) == 0) {
    // It may lose all others, and each of them it.
    for (uint32_t i = 0; i <= world.host_count; ++i) was_cut[i] = true;
    tfrt_simulated_endpoint_freeze(cut.a);
    return cut;
  }
  was_cut[a] = true;
  was_cut[b] = true;
  cut.b = world.hosts[b].endpoint;
  tfrt_simulated_network_partition(world.network, cut.a, cut.b, cut.both_ways);
  return cut;
}

static void mend_cut(const cut_t* cut) {
  if (cut->b) {
    tfrt_simulated_network_heal(world.network, cut->a, cut->b, cut->both_ways);
  } else {
    tfrt_simulated_endpoint_thaw(cut->a);
  }
}

// Cuts that begin and end at any moments, most of them longer than silence may be.
static void cut_at_random(void) {
  cut_t cuts[MAX_CUTS];
  uint32_t count = 1 + (uint32_t)below(MAX_CUTS);
  for (uint32_t i = 0; i < count; ++i) {
    cuts[i] = make_cut();
    tfrt_node_world_run_for(&world, (int64_t)below(3 * (uint64_t)TFRT_NODE_WORLD_SECOND));
  }
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_node_world_run_for(&world, (int64_t)below(4 * (uint64_t)TFRT_NODE_WORLD_SECOND));
    mend_cut(&cuts[i]);
  }
}

// Result |index| is an error of the program, or the loss of a process that was cut off, by name and
// with its place in the program.
static void expect_loss_by_cut(uint32_t index) {
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, index));
  char text[1024];
  tfrt_status_format(tfrt_node_world_error(&world, index), text, sizeof(text));
  if (fields->code == TFRT_STATUS_INTERNAL) {
    ck_assert_msg(right[index].is_error, "%s", text);
    return;
  }
  bool is_closed = fields->code == TFRT_STATUS_CANCELLED;
  ck_assert_msg(is_closed || fields->code == TFRT_STATUS_UNAVAILABLE, "%s", text);
  // A client that never met a process has no name for it but its address.
  bool met = !tfrt_async_value_is_error(tfrt_client_opened(world.client));
  if (is_closed || !met) return;
  uint64_t number = fields->root_key - 0x1000;
  ck_assert_msg(number <= world.host_count && was_cut[number], "root key %#" PRIx64 ": %s",
                fields->root_key, text);
  ck_assert_msg(strstr(text, "lost "), "%s", text);
  // The client has no place for a result that is elsewhere, and that it has not fetched yet. A host
  // that has lost the client ends the whole job, which is at no place. The body of a loop has no
  // name.
  bool has_place =
      fields->origin.function && (fields->origin.function[0] || fields->origin.file[0]);
  bool is_fetched = strstr(text, "a value of it was needed") ||
                    strstr(text, "before it was asked") ||
                    strstr(text, "before it made a call it had named");
  bool is_of_job = strstr(text, "lost the client without which the job can't go on");
  ck_assert_msg(has_place || is_fetched || is_of_job, "%s", text);
}

START_TEST(who_is_cut_off_from_some_is_lost_to_them_and_nobody_waits) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  memset(was_cut, 0, sizeof(was_cut));
  begin(seed, true);
  let_pass();
  cut_at_random();
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(world.results[i])) {
      expect_loss_by_cut(i);
    } else {
      ck_assert_msg(!right[i].is_error, "an error is lost");
    }
  }
  if (!tfrt_async_value_is_error(world.results[0])) {
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), (int32_t)right[0].value);
  }
  end();
}
END_TEST

// --- Where payloads get lost ----------------------------------------------------

// A stream breaks when its sender has waited for so long for what a hole has taken.
#define HOLE_NS (10 * TFRT_NODE_WORLD_SECOND)

// From now on, for ever or for a while, the network loses what is longer than some packet; returns
// whether for longer than a payload may take.
static bool open_hole(void) {
  options.hole_bytes = 200 + (size_t)below(40000);
  options.hole_ns = HOLE_NS;
  tfrt_simulated_network_set_faults(world.network, &options);
  const bool is_for_ever = below(2) == 0;
  const bool has_cut = below(2) == 0;
  if (has_cut) cut_at_random();
  if (is_for_ever) return true;
  tfrt_node_world_run_for(&world, (int64_t)below((uint64_t)HOLE_NS));
  options.hole_bytes = 0;
  tfrt_simulated_network_set_faults(world.network, &options);
  return has_cut;
}

START_TEST(what_the_network_never_brings_is_an_error_that_says_so_and_nobody_waits) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  memset(was_cut, 0, sizeof(was_cut));
  begin(seed, true);
  let_pass();
  const bool is_long = open_hole();
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    if (!tfrt_async_value_is_error(world.results[i])) continue;
    char text[1024];
    tfrt_status_format(tfrt_node_world_error(&world, i), text, sizeof(text));
    if (strstr(text, "the network loses its payload")) {
      ck_assert_msg(is_long, "%s", text);
    } else {
      expect_loss_by_cut(i);
    }
  }
  expect_values();
  end();
}
END_TEST

// --- With little credit --------------------------------------------------------

// Calls and wants that wait hold no credit, so little of it changes no result.
START_TEST(with_little_credit_results_are_right) {
  uint64_t seed = chosen_seed() ? chosen_seed() : (uint64_t)_i;
  static const uint64_t rooms[][2] = {{0, 1}, {0, 2}, {1, 0}, {4, 1}, {4, 4}};
  call_room = rooms[seed % TFRT_ARRAY_SIZE(rooms)][0];
  want_room = rooms[seed % TFRT_ARRAY_SIZE(rooms)][1];
  begin_program(seed, false, false);
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(world.results[i])) expect_cause(i, &nothing);
  }
  expect_values();
  end();
}
END_TEST

// Adds |count| seeds, and |found| (0: none), programs in which something was wrong once.
static void add(Suite* suite, const char* name, const TTest* test, int count, const int found[3]) {
  TCase* seeds = tcase_create(name);
  tcase_set_timeout(seeds, 60);
  tcase_add_loop_test(seeds, test, 1, 1 + (chosen_seed() ? 1 : chosen_count(count)));
  for (int i = 0; i < 3 && !chosen_seed(); ++i) {
    if (found[i]) tcase_add_loop_test(seeds, test, found[i], found[i] + 1);
  }
  suite_add_tcase(suite, seeds);
}

// The programs in all. With a sanitizer each takes many times as long.
#ifdef TFRT_SANITIZED
#define SEEDS 480
#else
#define SEEDS 1024
#endif

// One case each, so that CK_RUN_CASE can choose.
Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("random_program");
  add(suite, "whole", without_faults_results_are_right, SEEDS / 4, (int[]){535, 4172, 8080});
  add(suite, "broken", broken_connections_change_nothing, SEEDS / 8, (int[]){0, 0, 0});
  add(suite, "faulty", faults_leave_right_results_or_their_own_errors_and_nothing_else,
      SEEDS * 5 / 16, (int[]){539, 0, 0});
  add(suite, "little", with_little_credit_results_are_right, SEEDS / 8, (int[]){1577, 3559, 0});
  add(suite, "holed", what_the_network_never_brings_is_an_error_that_says_so_and_nobody_waits,
      SEEDS * 3 / 32, (int[]){0, 0, 0});
  add(suite, "parted", who_is_cut_off_from_some_is_lost_to_them_and_nobody_waits, SEEDS * 3 / 32,
      (int[]){0, 0, 0});
  return suite;
}
