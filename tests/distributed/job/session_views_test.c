// SPDX-License-Identifier: Apache-2.0
//
// The next job, on hosts that live and reach each other again, after a fault that left the two with
// different views of their session: each pair of views, each host as the root, each direction of
// calls.
#include <stdio.h>

#include "distributed/domain/domain.h"
#include "distributed/host/node.h"
#include "distributed/session/session.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

// The view that one host has of its session with the other.
typedef enum view_e {
  UNAWARE,   // it has noticed nothing
  BROKEN,    // it has lost the connection, and dials
  GIVEN_UP,  // the session is over
  VIEW_COUNT,
} view_t;

static const char* const view_names[] = {"unaware", "broken", "given up"};

#define TO_HOST(RANK)                          \
  "func.func @inner(%x: i32) -> i32 {\n"       \
  "  %y = tfrt.add.i32 %x, %x\n"               \
  "  tfrt.return %y : i32\n"                   \
  "}\n"                                        \
  "func.func @main(%x: i32) -> i32 {\n"        \
  "  %y = tfrt.call @inner(%x) {host = " #RANK \
  " : i32} : (i32) -> i32\n"                   \
  "  tfrt.return %y : i32\n"                   \
  "}\n"

// The root, rank 0, calls rank 1; rank 1, called by the root, calls rank 2; both call each other.
static const char to_1[] = TO_HOST(1);
static const char over_1_to_2[] =
    "func.func @inner(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @outer(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @outer(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";
static const char crossing[] =
    "func.func @inner(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @to_1(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @to_2(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @to_2(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @to_1(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %y = tfrt.add.i32 %a, %b\n"
    "  tfrt.return %y : i32\n"
    "}\n";

// The jobs that follow: the hosts by rank, and what they do. |a| and |b| are the two.
typedef struct job_s {
  const char* name;
  int ranks[3];  // 0: a, 1: b, 2: the third host
  uint32_t count;
  const char* text;
  int32_t right;  // for 7
} job_t;

static const job_t jobs[] = {
    {"a, the root, calls b", {0, 1}, 2, to_1, 14},
    {"b, the root, calls a", {1, 0}, 2, to_1, 14},
    {"a calls b for a third host", {2, 0, 1}, 3, over_1_to_2, 14},
    {"b calls a for a third host", {2, 1, 0}, 3, over_1_to_2, 14},
    {"both call each other", {2, 0, 1}, 3, crossing, 28},
};

static tfrt_simulated_endpoint_t* endpoint(uint32_t host) { return world.hosts[host].endpoint; }

// |host| gives up its session with |other|, as it does when that seems dead to it.
static void give_up(uint32_t host, uint32_t other) {
  tfrt_node_t* node = world.hosts[host].node;
  tfrt_node_lock_tables(node);
  tfrt_session_t* session =
      tfrt_session_manager_find(node->sessions, world.hosts[other].node->incarnation);
  ck_assert_ptr_nonnull(session);
  tfrt_session_close(session, TFRT_WIRE_GOODBYE_DEAD, tfrt_string_view_of("no sign of life"));
  tfrt_node_unlock(node);
}

// Hosts 0 and 1 are cut off from each other, and get their views |a| and |b|.
static void set_views(view_t a, view_t b) {
  tfrt_simulated_network_partition(world.network, endpoint(0), endpoint(1), true);
  if (a != UNAWARE && b != UNAWARE) {
    tfrt_simulated_network_break(world.network, endpoint(0), endpoint(1));
  } else if (a != UNAWARE) {
    tfrt_simulated_network_forget(world.network, endpoint(0), endpoint(1), TFRT_TRANSPORT_CONTROL);
  } else if (b != UNAWARE) {
    tfrt_simulated_network_forget(world.network, endpoint(1), endpoint(0), TFRT_TRANSPORT_CONTROL);
  }
  if (a == GIVEN_UP) give_up(0, 1);
  if (b == GIVEN_UP) give_up(1, 0);
}

static void run_job(const job_t* job, const char* what) {
  const char* addresses[3];
  for (uint32_t i = 0; i < job->count; ++i) addresses[i] = world.hosts[job->ranks[i]].address;
  tfrt_job_open_client(&world, addresses, job->count, TFRT_TIME_INFINITE);
  tfrt_status_t refused = tfrt_job_await_open(&world);
  ck_assert_msg(!refused, "%s: %s", what, tfrt_status_message(refused));
  tfrt_job_start(&world, job->text, 7);
  tfrt_node_world_await(&world);
  if (tfrt_async_value_is_error(world.results[0])) {
    ck_abort_msg("%s: %s", what, tfrt_status_message(tfrt_node_world_error(&world, 0)));
  }
  ck_assert_msg(tfrt_node_world_i32(&world, 0) == job->right, "%s: a wrong result", what);
  tfrt_job_drop_client(&world);
}

// |pause_ns| from the moment at which all is well to that at which the job is opened.
static void run_case(view_t a, view_t b, const job_t* job, int64_t pause_ns) {
  char what[160];
  snprintf(what, sizeof(what), "%s, %s; %s, after %lld ms", view_names[a], view_names[b], job->name,
           (long long)(pause_ns / TFRT_NANOSECONDS_PER_MILLISECOND));
  tfrt_node_world_initialize(&world, 3, NULL);
  // The hosts meet in a job, whose client goes.
  ck_assert_ptr_null(tfrt_job_await_open(&world));
  tfrt_job_expect(&world, crossing, 7, 28);
  tfrt_job_expect(&world, to_1, 7, 14);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  set_views(a, b);
  tfrt_node_world_run_for(&world, 10 * TFRT_NANOSECONDS_PER_MILLISECOND);
  tfrt_simulated_network_heal(world.network, endpoint(0), endpoint(1), true);
  tfrt_node_world_run_for(&world, pause_ns);
  run_job(job, what);
  // And the one behind it.
  run_job(job, what);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}

START_TEST(the_next_job_runs_whatever_two_hosts_think_of_their_session) {
  const view_t a = (view_t)(_i / VIEW_COUNT);
  const view_t b = (view_t)(_i % VIEW_COUNT);
  const int64_t pauses_ns[] = {0, TFRT_NANOSECONDS_PER_MILLISECOND / 2,
                               150 * TFRT_NANOSECONDS_PER_MILLISECOND};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(jobs); ++i) {
    for (size_t p = 0; p < TFRT_ARRAY_SIZE(pauses_ns); ++p) {
      run_case(a, b, &jobs[i], pauses_ns[p]);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("session_views");
  TCase* test = tcase_create("session_views");
  tcase_add_loop_test(test, the_next_job_runs_whatever_two_hosts_think_of_their_session, 0,
                      VIEW_COUNT * VIEW_COUNT);
  tcase_set_timeout(test, 60);
  suite_add_tcase(suite, test);
  return suite;
}
