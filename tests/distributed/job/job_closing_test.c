// SPDX-License-Identifier: Apache-2.0
//
// A job with very many open calls ends in slices (job_life.h), and whatever comes between two of
// them leaves nothing behind.
#include "distributed/job/job_life.h"

#include <string.h>

#include "distributed/host/node.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/host_context.h"
#include "tests/distributed/job/job_harness.h"
#include "tests/support/test_main.h"

// More than host 1 grants credit for at once, so that at first some are on their way and some wait.
#define CALL_COUNT 4000u
#define CALL_CREDIT 3072u

// Each of them has one result.
#define SLICE_CALLS (TFRT_JOB_CLOSING_SLICE / 2)

static tfrt_node_world_t world;
static tfrt_node_t* root;

// Host 0 makes CALL_COUNT calls of host 1; no call ends by itself.
static void start_many_calls(void) {
  static const char head[] =
      "func.func @f(%x: i32) -> i32 {\n"
      "  %ch = tfrt.new.chain\n"
      "  %me = tfrt_dist.rank\n"
      "  %h = tfrt_dist.host %me\n"
      "  %key = tfrt_dist.key \"never\"\n"
      "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"
      "  tfrt.return %v : i32\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 {\n";
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_view(&text, tfrt_string_view_of(head));
  for (uint32_t i = 0; i < CALL_COUNT; ++i) {
    tfrt_string_builder_append_format(
        &text, "  %%y%u = tfrt.call @f(%%x) {host = 1 : i32} : (i32) -> i32\n", i);
  }
  tfrt_string_builder_append_view(&text, tfrt_string_view_of("  tfrt.return %y0 : i32\n}\n"));
  tfrt_string_builder_append(&text, "", 1);
  tfrt_job_start(&world, tfrt_string_builder_view(&text).data, 7);
  tfrt_string_builder_deinitialize(&text);
}

static uint64_t open_calls(void) { return tfrt_node_counts(root).outgoing_calls; }

static tfrt_job_t* first_job(void) { return TFRT_CONTAINER_OF(root->jobs.next, tfrt_job_t, link); }

static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->session.first_call_limit = CALL_CREDIT;
}

// Stops before host 1 has granted more credit.
static void start(void) {
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, 2, NULL);
  root = world.hosts[0].node;
  start_many_calls();
  for (int step = 0; step < 10000 && open_calls() < CALL_COUNT; ++step) {
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10000);
  }
  ck_assert_uint_eq(open_calls(), CALL_COUNT);
}

// With the lock held. The thread that opens the lock runs no slice: the others are for the host's
// work queue.
static void close_job(void) {
  tfrt_frame_oracle_expect_end(world.frames);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_job_close(first_job(), reason);
  tfrt_status_release(reason);
  ck_assert_uint_eq(root->counts.outgoing_calls, CALL_COUNT - SLICE_CALLS);
}

static void end(void) {
  tfrt_node_world_await(&world);
  tfrt_job_expect_error(tfrt_node_world_error(&world, 0), TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}

// --- Slices ------------------------------------------------------------------

static uint64_t calls_seen;
static uint64_t look_count;

// A thread that wants the lock while the job ends gets it between two slices.
static void look(tfrt_task_t* task) {
  uint64_t calls = open_calls();
  ck_assert_uint_le(calls_seen - calls, SLICE_CALLS);
  calls_seen = calls;
  ++look_count;
  if (calls > 0) tfrt_work_queue_add_task(world.hosts[0].context->work_queue, task);
}

START_TEST(calls_end_in_slices_and_the_lock_is_open_in_between) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  // Those that were not written have ended with their request, each by itself.
  calls_seen = open_calls();
  ck_assert_uint_gt(calls_seen, 2 * SLICE_CALLS);
  ck_assert_uint_lt(calls_seen, CALL_COUNT - SLICE_CALLS);
  uint64_t slice_count = (calls_seen + SLICE_CALLS - 1) / SLICE_CALLS;
  look_count = 0;
  tfrt_task_t task;
  tfrt_task_initialize(&task, look);
  tfrt_work_queue_add_task(world.hosts[0].context->work_queue, &task);
  tfrt_work_queue_quiesce(world.hosts[0].context->work_queue);
  ck_assert_uint_eq(calls_seen, 0);
  ck_assert_uint_eq(look_count, slice_count);
  end();
}
END_TEST

START_TEST(what_was_not_written_becomes_void_and_nothing_runs_after_it) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  uint64_t invokes = tfrt_frame_oracle_count(world.frames, 0, 1, TFRT_WIRE_FRAME_INVOKE);
  uint64_t voids = tfrt_frame_oracle_count(world.frames, 0, 1, TFRT_WIRE_FRAME_VOID);
  ck_assert_uint_gt(voids, 0);
  ck_assert_uint_eq(invokes + voids, CALL_COUNT);
  ck_assert_uint_eq(open_calls(), 0);
  end();
}
END_TEST

// --- Between two slices ------------------------------------------------------

START_TEST(a_second_close_changes_nothing) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  tfrt_node_lock_tables(root);
  tfrt_job_close(first_job(), NULL);
  tfrt_node_unlock(root);
  end();
}
END_TEST

START_TEST(the_callee_may_be_lost_meanwhile) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  ck_assert_uint_gt(open_calls(), 0);
  uint64_t incarnation = world.hosts[1].node->incarnation;
  tfrt_node_world_kill(&world, 1);
  // Before time passes, and with it what is left of the close.
  tfrt_node_lock_tables(root);
  tfrt_peer_t* callee = tfrt_peer_find(root, incarnation);
  tfrt_session_close(callee->session, TFRT_WIRE_GOODBYE_DEAD, tfrt_string_view_of("test"));
  ck_assert_uint_eq(root->counts.outgoing_calls, 0);
  ck_assert(!tfrt_list_is_empty(&root->jobs));
  tfrt_node_unlock(root);
  end();
}
END_TEST

START_TEST(the_client_may_be_lost_meanwhile) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  tfrt_node_world_kill(&world, 2);
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}
END_TEST

START_TEST(the_host_may_leave_meanwhile) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  ck_assert_uint_gt(open_calls(), 0);
  tfrt_node_world_kill(&world, 0);
  tfrt_node_world_await(&world);
  ck_assert(tfrt_async_value_is_error(world.results[0]));
  tfrt_job_drop_client(&world);
  tfrt_job_await_count(&world, 0);
  tfrt_node_world_deinitialize(&world);
}
END_TEST

START_TEST(another_job_goes_on_meanwhile) {
  start();
  tfrt_node_lock_tables(root);
  close_job();
  tfrt_node_unlock(root);
  tfrt_client_t* first = world.client;
  tfrt_async_value_t* error = world.results[0];
  world.result_count = 0;
  tfrt_job_open_client(&world, NULL, 0, TFRT_TIME_INFINITE);
  tfrt_job_expect(&world, tfrt_job_simple_program, 21, 42);
  tfrt_job_drop_client(&world);
  world.client = first;
  world.results[0] = error;
  world.result_count = 1;
  end();
}
END_TEST

// --- After it ----------------------------------------------------------------

static const char waiting_program[] =
    "func.func @main(%x: i32) -> i32 {\n"
    "  %ch = tfrt.new.chain\n"
    "  %h = tfrt_dist.host %x\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"
    "  tfrt.return %v : i32\n"
    "}\n";

// Sends |job| a number from its own host, as a kernel does that was in the middle of that when the
// job was closed.
static void send_here(tfrt_job_t* job) {
  tfrt_host_context_t* host = root->options.host;
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = 1;
  options.router = &job->router;
  tfrt_request_context_t* request = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_status_origin_t site = {.rank = TFRT_STATUS_NO_RANK};
  tfrt_routed_message_t message = {.host = job->rank,
                                   .context = &context,
                                   .site = &site,
                                   .key = tfrt_async_value_create_string(tfrt_string_view_of("k")),
                                   .value = tfrt_async_value_create_i32(3)};
  tfrt_async_value_release(job->router.vtable->send(&job->router, &message));
  tfrt_async_value_release(message.key);
  tfrt_async_value_release(message.value);
  tfrt_request_context_release(request);
}

// That nothing is left is seen at the end: also no message.
START_TEST(what_is_sent_here_after_the_close_goes_with_the_job) {
  tfrt_node_world_initialize(&world, 1, NULL);
  root = world.hosts[0].node;
  tfrt_job_start(&world, waiting_program, 0);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_job_t* job = first_job();
  tfrt_node_lock_tables(root);
  tfrt_job_retain(job);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_job_close(job, reason);
  tfrt_status_release(reason);
  tfrt_node_unlock(root);
  send_here(job);
  tfrt_node_lock_tables(root);
  tfrt_job_release(job);
  tfrt_node_unlock(root);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("job_closing");
  TCase* slices = tcase_create("slices");
  tcase_add_test(slices, calls_end_in_slices_and_the_lock_is_open_in_between);
  tcase_add_test(slices, what_was_not_written_becomes_void_and_nothing_runs_after_it);
  tcase_add_test(slices, a_second_close_changes_nothing);
  tcase_add_test(slices, the_callee_may_be_lost_meanwhile);
  tcase_add_test(slices, the_client_may_be_lost_meanwhile);
  tcase_add_test(slices, the_host_may_leave_meanwhile);
  tcase_add_test(slices, another_job_goes_on_meanwhile);
  suite_add_tcase(suite, slices);
  TCase* after = tcase_create("after");
  tcase_add_test(after, what_is_sent_here_after_the_close_goes_with_the_job);
  suite_add_tcase(suite, after);
  return suite;
}
