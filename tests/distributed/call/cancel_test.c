// SPDX-License-Identifier: Apache-2.0
//
// After a cancel no kernel of the request starts on any host, in whatever order messages come; who
// waited takes no message any more, and nothing is remembered for longer than that takes
// (node_harness.h).
#include "distributed/domain/job.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define MICROSECONDS INT64_C(1000)
#define MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND

static tfrt_node_world_t world;

// Host 1 calls host 2, which prints. Host 0 never ends by itself.
static const char program[] =
    "func.func @inner(%x: i32) -> i32 {\n"
    "  %ch = tfrt.new.chain\n"
    "  %ch1 = tfrt.print.i32 %x, %ch\n"
    "  tfrt.return %x : i32\n"
    "}\n"
    "func.func @outer(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @inner(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @outer(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  %ch = tfrt.new.chain\n"
    "  %me = tfrt_dist.rank\n"
    "  %h = tfrt_dist.host %me\n"
    "  %key = tfrt_dist.key \"never\"\n"
    "  %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"
    "  %z = tfrt.add.i32 %y, %v\n"
    "  tfrt.return %z : i32\n"
    "}\n";

static void start(void) {
  tfrt_node_world_initialize(&world, 3, NULL);
  tfrt_node_world_start_i32(&world, program, 7, 1);
}

static void cancel(void) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_client_cancel(world.client, world.start, reason);
  tfrt_status_release(reason);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Ends, or begins, the way of messages from |from| to |to|.
static void set_way(uint32_t from, uint32_t to, bool is_open) {
  tfrt_simulated_endpoint_t* a = world.hosts[from].endpoint;
  tfrt_simulated_endpoint_t* b = world.hosts[to].endpoint;
  if (is_open) {
    tfrt_simulated_network_heal(world.network, a, b, false);
  } else {
    tfrt_simulated_network_partition(world.network, a, b, false);
  }
}

static uint64_t count(size_t from, size_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

// The tombstones of host |rank|.
static uint32_t remembered(uint32_t rank) {
  const tfrt_list_link_t* jobs = &world.hosts[rank].node->jobs;
  uint32_t result = 0;
  for (const tfrt_list_link_t* link = jobs->next; link != jobs; link = link->next) {
    result += TFRT_CONTAINER_OF(link, tfrt_job_t, link)->cancelled_requests.count;
  }
  return result;
}

START_TEST(a_call_that_comes_after_the_cancel_of_its_request_is_refused) {
  start();
  // Nothing from host 1 to host 2 for a while; then nothing from host 0 to host 1, which so hears
  // of no cancel and sends none on.
  tfrt_node_world_run_for(&world, 1400 * MICROSECONDS);
  set_way(1, 2, false);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  ck_assert_uint_eq(count(0, 1, TFRT_WIRE_FRAME_INVOKE), 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_INVOKE), 0);
  set_way(0, 1, false);
  cancel();
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  ck_assert_uint_eq(count(0, 2, TFRT_WIRE_FRAME_CANCEL_REQUEST), 1);
  ck_assert_uint_eq(remembered(2), 1);
  set_way(1, 2, true);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_INVOKE), 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_CANCEL), 0);
  ck_assert_str_eq(world.printed, "");
  set_way(0, 1, true);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_CANCELLED);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  for (uint32_t rank = 0; rank < 3; ++rank) ck_assert_uint_eq(remembered(rank), 0);
  ck_assert_str_eq(world.printed, "");
  end();
}
END_TEST

START_TEST(a_cancel_of_a_request_says_when_it_is_over) {
  start();
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  ck_assert_str_eq(world.printed, "2: int32 = 7\n");
  cancel();
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  for (size_t to = 1; to < 3; ++to) {
    ck_assert_uint_eq(count(0, to, TFRT_WIRE_FRAME_CANCEL_REQUEST), 1);
    ck_assert_uint_eq(count(0, to, TFRT_WIRE_FRAME_END_REQUEST), 1);
  }
  for (uint32_t rank = 0; rank < 3; ++rank) ck_assert_uint_eq(remembered(rank), 0);
  end();
}
END_TEST

START_TEST(tombstones_have_a_bound) {
  start();
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  tfrt_node_t* node = world.hosts[2].node;
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
  tfrt_node_lock_tables(node);
  tfrt_job_t* job = TFRT_CONTAINER_OF(node->jobs.next, tfrt_job_t, link);
  for (uint64_t request = 100; request < 100 + 2 * TFRT_WIRE_MAX_TOMBSTONES; ++request) {
    tfrt_allocator_t allocator = node->options.allocator;
    ck_assert(tfrt_cancelled_requests_add(&job->cancelled_requests, request, reason, allocator));
    ck_assert(!tfrt_cancelled_requests_add(&job->cancelled_requests, request, reason, allocator));
  }
  ck_assert_ptr_null(tfrt_cancelled_requests_find(&job->cancelled_requests, 100));
  ck_assert_ptr_nonnull(
      tfrt_cancelled_requests_find(&job->cancelled_requests, 99 + 2 * TFRT_WIRE_MAX_TOMBSTONES));
  tfrt_cancelled_requests_remove(&job->cancelled_requests, 99 + 2 * TFRT_WIRE_MAX_TOMBSTONES);
  tfrt_node_unlock(node);
  ck_assert_uint_eq(remembered(2), TFRT_WIRE_MAX_TOMBSTONES - 1);
  tfrt_status_release(reason);
  cancel();
  tfrt_node_world_await(&world);
  end();
}
END_TEST

// At each moment, with messages in any order: nothing is left, and what is printed is printed once.
START_TEST(a_cancel_at_any_moment_leaves_nothing) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    options.seed = seed;
    options.jitter_ns = 10 * options.delay_ns;
    tfrt_node_world_initialize(&world, 3, &options);
    tfrt_async_value_t* argument = tfrt_async_value_create_i32(7);
    tfrt_node_world_start(&world, program, &argument, 1, 1);
    tfrt_async_value_release(argument);
    tfrt_node_world_run_for(&world, (int64_t)seed * 400 * MICROSECONDS);
    cancel();
    tfrt_node_world_await(&world);
    ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)), TFRT_STATUS_CANCELLED);
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    for (uint32_t rank = 0; rank < 3; ++rank) ck_assert_uint_eq(remembered(rank), 0);
    end();
  }
}
END_TEST

// --- Messages ----------------------------------------------------------------

#define TAKE                                      \
  "func.func @take(%x: i32) -> i32 {\n"           \
  "  %c = tfrt.new.chain\n"                       \
  "  %from = tfrt.constant.i32 2\n"               \
  "  %h = tfrt_dist.host %from\n"                 \
  "  %k = tfrt_dist.key \"k\"\n"                  \
  "  %v, %c1 = tfrt_dist.recv %h, %k, %c : i32\n" \
  "  tfrt.return %v : i32\n"                      \
  "}\n"

#define GIVE                                \
  "func.func @give(%x: i32) -> i32 {\n"     \
  "  %c = tfrt.new.chain\n"                 \
  "  %to = tfrt.constant.i32 3\n"           \
  "  %h = tfrt_dist.host %to\n"             \
  "  %k = tfrt_dist.key \"k\"\n"            \
  "  %c1 = tfrt_dist.send %h, %k, %x, %c\n" \
  "  tfrt.return %x : i32\n"                \
  "}\n"

static const char two_takes_program[] = TAKE GIVE
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a = tfrt.call @take(%x) {host = 3 : i32, deadline_ms = 400 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @take(%x) {host = 3 : i32} : (i32) -> i32\n"
    "  %c = tfrt.call @give(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  tfrt.return %a, %b, %c : i32, i32, i32\n"
    "}\n";

static void count_entry(void* self, const tfrt_mailbox_entry_t* entry) {
  (void)entry;
  ++*(uint32_t*)self;
}

// The number of messages in the mailbox of host |rank|.
static uint32_t mailbox_count(uint32_t rank) {
  uint32_t result = 0;
  tfrt_job_t* job = TFRT_CONTAINER_OF(world.hosts[rank].node->jobs.next, tfrt_job_t, link);
  tfrt_mailbox_visit(&job->exchange.mailbox, count_entry, &result);
  return result;
}

START_TEST(a_receive_whose_call_is_over_leaves_the_message_to_the_next) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  // Host 2 hears of its call when the first receive has ended.
  set_way(0, 2, false);
  tfrt_node_world_start_i32(&world, two_takes_program, 7, 3);
  tfrt_node_world_run_for(&world, 200 * MILLISECOND);
  ck_assert_uint_eq(mailbox_count(3), 2);
  tfrt_node_world_run_for(&world, 400 * MILLISECOND);
  ck_assert_uint_eq(mailbox_count(3), 1);
  set_way(0, 2, true);
  tfrt_node_world_await(&world);
  ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)),
                   TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 7);
  ck_assert_uint_eq(mailbox_count(3), 0);
  end();
}
END_TEST

static const char give_program[] = TAKE GIVE
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @give(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %v = tfrt.call @take(%a) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %v : i32\n"
    "}\n";

START_TEST(what_a_cancelled_request_was_sent_goes_with_it) {
  tfrt_node_world_initialize(&world, 4, NULL);
  tfrt_node_world_start_i32(&world, give_program, 7, 1);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  ck_assert_uint_eq(mailbox_count(1), 1);
  ck_assert_uint_eq(mailbox_count(3), 1);
  cancel();
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, 500 * MILLISECOND);
  for (uint32_t rank = 0; rank < 4; ++rank) ck_assert_uint_eq(mailbox_count(rank), 0);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("cancel");
  TCase* cancels = tcase_create("cancel");
  tcase_set_timeout(cancels, 60);
  tcase_add_test(cancels, a_call_that_comes_after_the_cancel_of_its_request_is_refused);
  tcase_add_test(cancels, a_cancel_of_a_request_says_when_it_is_over);
  tcase_add_test(cancels, tombstones_have_a_bound);
  tcase_add_test(cancels, a_cancel_at_any_moment_leaves_nothing);
  tcase_add_test(cancels, a_receive_whose_call_is_over_leaves_the_message_to_the_next);
  tcase_add_test(cancels, what_a_cancelled_request_was_sent_goes_with_it);
  suite_add_tcase(suite, cancels);
  return suite;
}
