// SPDX-License-Identifier: Apache-2.0
//
// Pure calls with retries on a host that has no memory for a record at the wrong moment, or loses
// another host at that. Nothing is left in any table (node_harness.h).
#include "distributed/call/outgoing_call.h"
#include "distributed/value/remote_value.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define MILLISECOND INT64_C(1000000)

static tfrt_node_world_t world;

// The hook for requests of host 0 for |watched_size| bytes: true if the host gets none.
static size_t watched_size;  // 0: nothing
static bool (*watch)(void);

static void* allocate(void* self, size_t size, size_t alignment) {
  (void)self;
  if (size == watched_size && watch()) return NULL;
  return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, alignment);
}

static void deallocate(void* self, void* memory, size_t size, size_t alignment) {
  (void)self;
  tfrt_allocator_free_aligned(tfrt_allocator_system(), memory, size, alignment);
}

static const tfrt_allocator_vtable_t watched = {allocate, deallocate};

static void configure(uint32_t index, tfrt_node_options_t* options) {
  if (index == 0) options->allocator = (tfrt_allocator_t){&watched, NULL};
}

static void start(const char* text, uint32_t host_count, uint32_t result_count) {
  tfrt_node_world_set_configure(configure);
  tfrt_node_world_initialize(&world, host_count, NULL);
  tfrt_node_world_start_i32(&world, text, 40, result_count);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_node_world_set_configure(NULL);
}

static uint32_t left_alone;  // the number of requests that are met before one is refused

static bool refuse_one(void) {
  if (left_alone-- > 0) return false;
  watched_size = 0;
  return true;
}

static bool refuse(void) { return true; }

// @work gives |x| and the rank of its host, but never ends on host |LAZY|.
#define WORK(LAZY)                                                 \
  "func.func @work(%x: i32) -> i32 {\n"                            \
  "  %me = tfrt_dist.rank\n"                                       \
  "  %lazy = tfrt.constant.i32 " LAZY                              \
  "\n"                                                             \
  "  %stays = \"tfrt.equal.i32\"(%lazy, %me) : (i32, i32) -> i1\n" \
  "  %r = tfrt.if %stays, %x, %me : (i32, i32) -> (i32) {\n"       \
  "    %ch = tfrt.new.chain\n"                                     \
  "    %h = tfrt_dist.host %me\n"                                  \
  "    %key = tfrt_dist.key \"never\"\n"                           \
  "    %v, %ch1 = tfrt_dist.recv %h, %key, %ch : i32\n"            \
  "    tfrt.return %v : i32\n"                                     \
  "  } else {\n"                                                   \
  "    %y = tfrt.add.i32 %x, %me\n"                                \
  "    tfrt.return %y : i32\n"                                     \
  "  }\n"                                                          \
  "  tfrt.return %r : i32\n"                                       \
  "}\n"

static const char lent_program[] =
    WORK("1")
    "func.func @pair(%x: i32) -> (i32, i32) {\n"
    "  %a = tfrt.call @work(%x) : (i32) -> i32\n"
    "  %me = tfrt_dist.rank\n"
    "  tfrt.return %a, %me : i32, i32\n"
    "}\n"
    "func.func @twice(%x: i32) -> i32 {\n"
    "  %y = tfrt.add.i32 %x, %x\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @next(%x: i32) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %y = tfrt.add.i32 %x, %one\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> (i32, i32, i32) {\n"
    "  %a, %b = tfrt.call @pair(%x) {host = 1 : i32, pure, retries = 1 : i32}\n"
    "      : (i32) -> (i32, i32)\n"
    "  %c = tfrt.call @twice(%a) {host = 3 : i32} : (i32) -> i32\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %two = tfrt.call @next(%one) {host = 4 : i32} : (i32) -> i32\n"
    "  %h = tfrt_dist.host %two\n"
    "  %e = tfrt_dist.call %h @next(%x) : (!tfrt_dist.host, i32) -> i32\n"
    "  tfrt.return %c, %b, %e : i32, i32, i32\n"
    "}\n";

static void set_cut(uint32_t from, uint32_t to, bool is_cut) {
  (is_cut ? tfrt_simulated_network_partition : tfrt_simulated_network_heal)(
      world.network, world.hosts[from].endpoint, world.hosts[to].endpoint, false);
}

// Host 3 has asked what host 1 was to make when host 0 hears of that loss. The run of host 2 is
// named, but never made; the next call to host 2 gets its number. Returns whether it came to that:
// request |number| of the size of a remote value's record, from 0, was for the run's.
static bool name_a_run_and_refuse(uint32_t number) {
  start(lent_program, 5, 3);
  tfrt_node_world_run_for(&world, 1 * MILLISECOND);
  set_cut(4, 0, true);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  set_cut(1, 0, true);
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_run_for(&world, 20 * MILLISECOND);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 3, 0, TFRT_WIRE_FRAME_LOST), 1);
  watched_size = sizeof(tfrt_remote_value_t);
  watch = refuse_one;
  left_alone = number;
  set_cut(1, 0, false);
  tfrt_node_world_run_for(&world, 20 * MILLISECOND);
  bool is_refused = watched_size == 0;
  watched_size = 0;
  set_cut(4, 0, false);
  tfrt_node_world_await(&world);
  bool is_named = tfrt_async_value_is_error(world.results[0]);
  if (is_named) {
    ck_assert_int_eq(tfrt_status_code(tfrt_node_world_error(&world, 0)),
                     TFRT_STATUS_RESOURCE_EXHAUSTED);
  } else {
    // The run was made on host 2, if later than it would have been.
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 84);
  }
  ck_assert(is_refused || !is_named);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 1), 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 2), 41);
  end();
  return is_named;
}

// Records of other kinds may have the size of a remote value's, and be made before it.
START_TEST(a_run_that_is_named_and_not_made_is_told_to_nobody) {
  uint32_t number = 0;
  while (number < 8 && !name_a_run_and_refuse(number)) ++number;
  ck_assert_uint_lt(number, 8);
}
END_TEST

// Without a record of that, host 0 gives back the result of the run before, whose host lives.
START_TEST(what_a_run_before_has_made_is_given_back_without_memory_too) {
  start(WORK("2")
        "func.func @outer(%x: i32) -> i32 {\n"
        "  %me = tfrt_dist.rank\n"
        "  %one = tfrt.constant.i32 1\n"
        "  %next = tfrt.add.i32 %me, %one\n"
        "  %h = tfrt_dist.host %next\n"
        "  %y = tfrt_dist.call %h @work(%x) : (!tfrt_dist.host, i32) -> (i32)\n"
        "  %z = tfrt.add.i32 %y, %one\n"
        "  tfrt.return %z : i32\n"
        "}\n"
        "func.func @main(%x: i32) -> i32 {\n"
        "  %y = tfrt.call @outer(%x) {host = 1 : i32, pure, retries = 1 : i32} : (i32) -> i32\n"
        "  tfrt.return %y : i32\n"
        "}\n",
        5, 1);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  watched_size = sizeof(tfrt_remote_value_past_t);
  watch = refuse;
  tfrt_node_world_kill(&world, 2);
  tfrt_node_world_await(&world);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  watched_size = 0;
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 45);
  // The program.
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).objects, 1);
  end();
}
END_TEST

// Host 0 loses host 2, which it has chosen for the next run.
static bool lose_host_2(void) {
  watched_size = 0;
  tfrt_node_t* node = world.hosts[0].node;
  tfrt_node_lock_tables(node);
  const tfrt_peer_t* peer = tfrt_peer_find(node, 0x1002);
  tfrt_session_close(peer->session, TFRT_WIRE_GOODBYE_DEAD, tfrt_string_view_of("gone"));
  tfrt_node_unlock(node);
  return false;
}

START_TEST(a_host_that_is_lost_before_the_run_leaves_is_no_run) {
  start(WORK("1")
        "func.func @main(%x: i32) -> i32 {\n"
        "  %a = tfrt.call @work(%x) {host = 1 : i32, pure, retries = 1 : i32} : (i32) -> i32\n"
        "  tfrt.return %a : i32\n"
        "}\n",
        4, 1);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  // The record of a call with one argument and one result.
  watched_size = sizeof(tfrt_outgoing_call_t) + 3 * sizeof(void*);
  watch = lose_host_2;
  tfrt_node_world_kill(&world, 1);
  tfrt_node_world_await(&world);
  ck_assert_uint_eq(watched_size, 0);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 43);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("retry_memory");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, a_run_that_is_named_and_not_made_is_told_to_nobody);
  tcase_add_test(tests, what_a_run_before_has_made_is_given_back_without_memory_too);
  tcase_add_test(tests, a_host_that_is_lost_before_the_run_leaves_is_no_run);
  Suite* suite = suite_create("retry_memory");
  suite_add_tcase(suite, tests);
  return suite;
}
