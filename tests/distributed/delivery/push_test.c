// SPDX-License-Identifier: Apache-2.0
//
// Small results that the owner pushes before the consumer asks; and the cases that a push comes
// late, early, twice, or not at all. The oracles of node_harness.h look on.
#include <stdio.h>
#include <string.h>

#include "distributed/delivery/push_inbox.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/value/remote_value.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

#define MILLISECOND TFRT_NANOSECONDS_PER_MILLISECOND

static tfrt_node_world_t world;

static uint64_t count(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count(world.frames, from, to, kind);
}

static uint64_t count_all(tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_count_all(world.frames, kind);
}

static int64_t last_ns(uint32_t from, uint32_t to, tfrt_wire_frame_kind_t kind) {
  return tfrt_frame_oracle_last_ns(world.frames, from, to, kind);
}

static void drop_results(void) {
  for (uint32_t i = 0; i < world.result_count; ++i) tfrt_async_value_release(world.results[i]);
  world.result_count = 0;
}

// Makes a world and runs |program| once, after which all sessions are open; from there on is
// counted.
static void begin(uint32_t host_count, const tfrt_simulated_options_t* options, const char* program,
                  uint32_t result_count) {
  tfrt_node_world_initialize(&world, host_count, options);
  tfrt_node_world_start_i32(&world, program, 1, result_count);
  tfrt_node_world_await(&world);
  drop_results();
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
  tfrt_frame_oracle_reset_counts(world.frames);
}

// Every message takes |delay_ns|.
static void begin_with_delay(uint32_t host_count, int64_t delay_ns, const char* program,
                             uint32_t result_count) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.delay_ns = delay_ns;
  options.jitter_ns = 0;
  begin(host_count, &options, program, result_count);
}

static void run(const char* program, int32_t x, uint32_t result_count) {
  tfrt_node_world_start_i32(&world, program, x, result_count);
  tfrt_node_world_await(&world);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// Makes a world of four hosts and runs |program|, which has one result, of 5. Messages overtake
// each other as |seed| says, by up to |delays| delays.
static void run_in_an_order(const char* program, uint64_t seed, int64_t delays) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.seed = seed;
  options.jitter_ns = delays * options.delay_ns;
  begin(4, &options, program, 1);
  run(program, 5, 1);
}

// True if what |from| pushed to |to| came before the call of host 0 that needs it.
static bool was_early(uint32_t from, uint32_t to) {
  return last_ns(from, to, TFRT_WIRE_FRAME_PUSH) < last_ns(0, to, TFRT_WIRE_FRAME_INVOKE);
}

#define TWICE                            \
  "func.func @twice(%x: i32) -> i32 {\n" \
  "  %y = tfrt.add.i32 %x, %x\n"         \
  "  tfrt.return %y : i32\n"             \
  "}\n"
#define CALL "tfrt.call @twice"
#define TYPE " : (i32) -> i32\n"

static const char chain_program[] = TWICE
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = " CALL "(%x) {host = 1 : i32}" TYPE "  %b = " CALL "(%a) {host = 2 : i32}" TYPE
    "  %c = " CALL "(%b) {host = 3 : i32}" TYPE
    "  tfrt.return %c : i32\n"
    "}\n";

// --- In time, early and late ---------------------------------------------------

START_TEST(a_push_that_overtakes_the_call_that_needs_it_is_kept_for_it) {
  uint32_t early = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    run_in_an_order(chain_program, seed, 20);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 40);
    ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 1);
    ck_assert_uint_eq(count(2, 3, TFRT_WIRE_FRAME_PUSH), 1);
    ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_WANT), 0);
    early += was_early(1, 2);
    early += was_early(2, 3);
    end();
  }
  ck_assert_uint_gt(early, 0);
}
END_TEST

// @slow waits for host 3 as often as it says.
#define SLOW_ONCE                             \
  TWICE                                       \
  "func.func @slow(%x: i32) -> i32 {\n"       \
  "  %y = " CALL "(%x) {host = 3 : i32}" TYPE \
  "  %z = tfrt.add.i32 %y, %x\n"              \
  "  tfrt.return %z : i32\n"                  \
  "}\n"
#define SLOW_TWICE                            \
  TWICE                                       \
  "func.func @slow(%x: i32) -> i32 {\n"       \
  "  %w = " CALL "(%x) {host = 3 : i32}" TYPE \
  "  %v = tfrt.add.i32 %w, %x\n"              \
  "  %y = " CALL "(%v) {host = 3 : i32}" TYPE \
  "  %z = tfrt.add.i32 %y, %x\n"              \
  "  tfrt.return %z : i32\n"                  \
  "}\n"
#define SLOW_MAIN                                                                                \
  "func.func @main(%x: i32) -> i32 {\n"                                                          \
  "  %a = tfrt.call @slow(%x) {host = 1 : i32}" TYPE "  %b = " CALL "(%a) {host = 2 : i32}" TYPE \
  "  tfrt.return %b : i32\n"                                                                     \
  "}\n"

static const char late_program[] = SLOW_ONCE SLOW_MAIN;
static const char too_late_program[] = SLOW_TWICE SLOW_MAIN;

// Host 2 has the call after one delay, and asks 10 ms later; the Push is on its way by then.
START_TEST(who_has_waited_for_long_asks_and_takes_the_push_all_the_same) {
  begin_with_delay(4, 4 * MILLISECOND, late_program, 1);
  run(late_program, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 30);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 1);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_WANT), 1);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_UNWANT), 1);
  ck_assert_int_lt(last_ns(2, 0, TFRT_WIRE_FRAME_RESULT), last_ns(1, 2, TFRT_WIRE_FRAME_RESOLVE));
  end();
}
END_TEST

START_TEST(who_has_asked_before_the_value_is_known_gets_it_once) {
  begin_with_delay(4, 4 * MILLISECOND, too_late_program, 1);
  run(too_late_program, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 70);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 0);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_WANT), 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_RESOLVE), 1);
  end();
}
END_TEST

// Hosts 2 and 4 are to get it pushed, and each asks for it; nothing is left of its own Push.
static const char shared_program[] = SLOW_TWICE
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @slow(%x) {host = 1 : i32}" TYPE "  %b = " CALL "(%a) {host = 2 : i32}" TYPE
    "  %c = " CALL "(%a) {host = 4 : i32}" TYPE
    "  %d = tfrt.add.i32 %b, %c\n"
    "  tfrt.return %d : i32\n"
    "}\n";

START_TEST(each_that_has_asked_before_the_value_is_known_gets_it_once) {
  begin_with_delay(5, 4 * MILLISECOND, shared_program, 1);
  run(shared_program, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 140);
  tfrt_node_world_run_for(&world, 100 * MILLISECOND);
  for (uint32_t host = 2; host <= 4; host += 2) {
    ck_assert_uint_eq(count(1, host, TFRT_WIRE_FRAME_PUSH), 0);
    ck_assert_uint_eq(count(host, 1, TFRT_WIRE_FRAME_WANT), 1);
    ck_assert_uint_eq(count(1, host, TFRT_WIRE_FRAME_RESOLVE), 1);
  }
  end();
}
END_TEST

// --- What is pushed ------------------------------------------------------------

static const char error_program[] = TWICE
    "func.func @divide(%x: i32) -> i32 {\n"
    "  %zero = tfrt.constant.i32 0\n"
    "  %y, %r = tfrt.div.i32 %x, %zero\n"
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @divide(%x) {host = 1 : i32}" TYPE "  %b = " CALL "(%a) {host = 2 : i32}" TYPE
    "  tfrt.return %b : i32\n"
    "}\n";

START_TEST(an_error_is_pushed_as_a_value_is) {
  begin_with_delay(3, 100000, error_program, 1);
  run(error_program, 5, 1);
  const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
  ck_assert_int_eq(fields->code, TFRT_STATUS_INTERNAL);
  ck_assert_str_eq(fields->origin.function, "divide");
  ck_assert_uint_eq(fields->origin.rank, 1);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 1);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_WANT), 0);
  end();
}
END_TEST

// Host 1 says at once that its result is host 3's.
static const char forward_program[] = TWICE
    "func.func @forward(%x: i32) -> i32 {\n"
    "  %y = " CALL "(%x) {host = 3 : i32}" TYPE
    "  tfrt.return %y : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @forward(%x) {host = 1 : i32}" TYPE "  %b = " CALL
    "(%a) {host = 2 : i32}" TYPE
    "  tfrt.return %b : i32\n"
    "}\n";

START_TEST(who_needs_what_is_elsewhere_is_sent_there_at_once) {
  uint32_t early = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    run_in_an_order(forward_program, seed, 10);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 20);
    ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 1);
    ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_WANT), 0);
    ck_assert_uint_eq(count(2, 3, TFRT_WIRE_FRAME_WANT), 1);
    early += was_early(1, 2);
    end();
  }
  ck_assert_uint_gt(early, 0);
}
END_TEST

// One result for six calls; two of them are on one host.
static const char fan_program[] = TWICE
    "func.func @main(%x: i32) -> (i32, i32, i32, i32, i32, i32) {\n"
    "  %a = " CALL "(%x) {host = 1 : i32}" TYPE "  %b = " CALL "(%a) {host = 2 : i32}" TYPE
    "  %c = " CALL "(%a) {host = 2 : i32}" TYPE "  %d = " CALL "(%a) {host = 3 : i32}" TYPE
    "  %e = " CALL "(%a) {host = 4 : i32}" TYPE "  %f = " CALL "(%a) {host = 5 : i32}" TYPE
    "  %g = " CALL "(%a) {host = 1 : i32}" TYPE
    "  tfrt.return %b, %c, %d, %e, %f, %g : i32, i32, i32, i32, i32, i32\n"
    "}\n";

START_TEST(each_call_gets_a_push_of_its_own_and_beyond_a_few_it_asks) {
  begin_with_delay(6, 100000, fan_program, 6);
  run(fan_program, 5, 6);
  for (uint32_t i = 0; i < 6; ++i) ck_assert_int_eq(tfrt_node_world_i32(&world, i), 20);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PUSH) + count_all(TFRT_WIRE_FRAME_WANT), 5);
  ck_assert_uint_eq(count_all(TFRT_WIRE_FRAME_PUSH), TFRT_REMOTE_VALUE_MAX_PUSHED);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH) + count(2, 1, TFRT_WIRE_FRAME_WANT), 2);
  end();
}
END_TEST

#define TENSOR "!tfrt_tensor.tensor"
// The chain is small, and says when the tensor may be fetched.
static const char tensor_program[] =
    "func.func @make(%x: i32) -> (" TENSOR
    ", !tfrt.chain) {\n"
    "  %c0 = tfrt.new.chain\n"
    "  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [64 : i64]\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 3 : i32\n"
    "  tfrt.return %t, %c1 : " TENSOR
    ", !tfrt.chain\n"
    "}\n"
    "func.func @size(%t: " TENSOR
    ", %c: !tfrt.chain) -> i32 {\n"
    "  %n = tfrt_tensor.dim %t axis 0\n"
    "  tfrt.return %n : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %t, %c = tfrt.call @make(%x) {host = 1 : i32} : (i32) -> (" TENSOR
    ", !tfrt.chain)\n"
    "  %n = tfrt.call @size(%t, %c) {host = 2 : i32} : (" TENSOR
    ", !tfrt.chain) -> i32\n"
    "  tfrt.return %n : i32\n"
    "}\n";

START_TEST(chains_are_pushed_and_tensors_are_asked_for) {
  begin_with_delay(3, 100000, tensor_program, 1);
  run(tensor_program, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 64);
  ck_assert_uint_eq(count(1, 2, TFRT_WIRE_FRAME_PUSH), 1);
  ck_assert_uint_eq(count(2, 1, TFRT_WIRE_FRAME_WANT), 1);
  end();
}
END_TEST

// --- Who knows no pushes -------------------------------------------------------

static uint32_t old_host;

static void forget_pushes(uint32_t index, tfrt_node_options_t* options) {
  if (index == old_host) options->session.features &= ~(tfrt_wire_features_t)TFRT_WIRE_FEATURE_PUSH;
}

START_TEST(who_knows_no_pushes_is_asked_and_asks) {
  for (old_host = 0; old_host < 4; ++old_host) {
    tfrt_node_world_set_configure(forget_pushes);
    begin_with_delay(4, 100000, chain_program, 1);
    tfrt_node_world_set_configure(NULL);
    run(chain_program, 5, 1);
    ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 40);
    for (uint32_t host = 1; host < 3; ++host) {
      bool is_old = old_host == 0 || old_host == host || old_host == host + 1;
      ck_assert_uint_eq(count(host, host + 1, TFRT_WIRE_FRAME_PUSH), !is_old);
      ck_assert_uint_eq(count(host + 1, host, TFRT_WIRE_FRAME_WANT), is_old);
    }
    // Nobody waits for what can't come: who asks has it one delay later, and that is all.
    int64_t begun_ns = last_ns(4, 0, TFRT_WIRE_FRAME_JOB_START);
    ck_assert_int_le(last_ns(3, 0, TFRT_WIRE_FRAME_RESULT) - begun_ns, 5 * 100000 + 10000);
    end();
  }
}
END_TEST

// --- Losses and cancels --------------------------------------------------------

START_TEST(the_loss_of_who_was_to_push_is_told_at_once_and_by_its_name) {
  uint32_t losses = 0;
  for (int64_t ms = 0; ms < 26; ms += 1) {
    begin_with_delay(4, 4 * MILLISECOND, late_program, 1);
    tfrt_node_world_start_i32(&world, late_program, 5, 1);
    tfrt_node_world_run_for(&world, ms * MILLISECOND);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    if (tfrt_async_value_is_error(world.results[0])) {
      const tfrt_status_fields_t* fields = tfrt_status_fields(tfrt_node_world_error(&world, 0));
      ck_assert_int_eq(fields->code, TFRT_STATUS_UNAVAILABLE);
      ck_assert_uint_eq(fields->root_key, 0x1001);
      ++losses;
    } else {
      ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 30);
    }
    end();
  }
  ck_assert_uint_gt(losses, 0);
}
END_TEST

// @middle, on host 1, has host 2 push to host 3.
static const char middle_program[] = TWICE
    "func.func @middle(%x: i32) -> i32 {\n"
    "  %a = tfrt.call @twice(%x) {host = 2 : i32} : (i32) -> i32\n"
    "  %b = tfrt.call @twice(%a) {host = 3 : i32} : (i32) -> i32\n"
    "  tfrt.return %b : i32\n"
    "}\n"
    "func.func @main(%x: i32) -> i32 {\n"
    "  %y = tfrt.call @middle(%x) {host = 1 : i32} : (i32) -> i32\n"
    "  tfrt.return %y : i32\n"
    "}\n";

// The other hosts still process the frames that the lost host sent before.
START_TEST(who_has_asked_for_a_push_may_be_lost_at_any_time) {
  uint64_t pushed = 0;
  for (int64_t moment = 0; moment < 24; ++moment) {
    begin_with_delay(4, MILLISECOND, middle_program, 1);
    tfrt_node_world_start_i32(&world, middle_program, 1, 1);
    tfrt_node_world_run_for(&world, moment * MILLISECOND / 4);
    tfrt_node_world_kill(&world, 1);
    tfrt_node_world_await(&world);
    pushed += count(2, 3, TFRT_WIRE_FRAME_PUSH);
    end();
  }
  ck_assert_uint_gt(pushed, 0);
}
END_TEST

START_TEST(what_is_cancelled_is_pushed_to_nobody_who_minds) {
  for (int64_t ms = 0; ms < 26; ms += 1) {
    begin_with_delay(4, 4 * MILLISECOND, late_program, 1);
    tfrt_node_world_start_i32(&world, late_program, 5, 1);
    tfrt_node_world_run_for(&world, ms * MILLISECOND);
    tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough of that");
    tfrt_client_cancel(world.client, world.start, reason);
    tfrt_status_release(reason);
    tfrt_node_world_await(&world);
    drop_results();
    tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
    ck_assert_uint_eq(tfrt_frame_oracle_open_calls(world.frames), 0);
    for (uint32_t i = 0; i < 4; ++i) {
      tfrt_node_counts_t counts = tfrt_node_counts(world.hosts[i].node);
      ck_assert_uint_eq(counts.incoming_wants + counts.incoming_calls, 0);
    }
    end();
  }
}
END_TEST

// --- What nobody expects -------------------------------------------------------

// Has host 2 get |times| pushes of number |number| of host 1, of a text of |size| bytes.
static void push(uint64_t number, size_t size, uint32_t times) {
  static char text[TFRT_WIRE_DEFAULT_INLINE_SIZE + 1];
  tfrt_node_t* node = world.hosts[2].node;
  const tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_PUSH,
      .push = {.id = {.namer = 0x1000, .number = number},
               .item = {.kind = TFRT_WIRE_ITEM_INLINE,
                        .value = {.type = tfrt_string_view_of("!tfrt.string"),
                                  .body = tfrt_string_view_make(text, size)}}}};
  tfrt_node_lock_tables(node);
  tfrt_job_t* job = TFRT_CONTAINER_OF(node->jobs.next, tfrt_job_t, link);
  for (uint32_t i = 0; i < times; ++i) {
    const tfrt_incoming_frame_t in = {
        .peer = tfrt_peer_find(node, 0x1001), .job = job, .body = &body};
    ck_assert_ptr_null(tfrt_push_inbox_part.handlers[0].serve(&in));
  }
  tfrt_node_unlock(node);
}

static uint32_t early_count(void) {
  tfrt_node_t* node = world.hosts[2].node;
  tfrt_node_lock_tables(node);
  const tfrt_push_inbox_t* pushes = tfrt_peer_find(node, 0x1001)->pushes;
  uint32_t early = pushes ? pushes->early_count : 0;
  tfrt_node_unlock(node);
  return early;
}

START_TEST(what_nobody_comes_for_takes_little_room_for_a_short_time) {
  begin_with_delay(4, 100000, chain_program, 1);
  push(1000, 10, 1);
  ck_assert_uint_eq(early_count(), 1);
  push(1000, 10, 1);
  ck_assert_uint_eq(early_count(), 2);
  push(1001, TFRT_WIRE_DEFAULT_INLINE_SIZE + 1, 1);
  ck_assert_uint_eq(early_count(), 2);
  push(1002, TFRT_WIRE_DEFAULT_INLINE_SIZE, 1000);
  ck_assert_uint_eq(early_count(), TFRT_PUSH_INBOX_MAX_EARLY);
  run(chain_program, 5, 1);
  ck_assert_int_eq(tfrt_node_world_i32(&world, 0), 40);
  ck_assert_uint_eq(early_count(), TFRT_PUSH_INBOX_MAX_EARLY);
  tfrt_node_world_run_for(&world, (TFRT_PUSH_INBOX_KEPT_MS + 1) * MILLISECOND);
  ck_assert_uint_eq(early_count(), 0);
  // Those that are there when the job ends go with it.
  push(1003, 10, 3);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* pushes = tcase_create("push");
  tcase_set_timeout(pushes, 60);
  tcase_add_test(pushes, a_push_that_overtakes_the_call_that_needs_it_is_kept_for_it);
  tcase_add_test(pushes, who_has_waited_for_long_asks_and_takes_the_push_all_the_same);
  tcase_add_test(pushes, who_has_asked_before_the_value_is_known_gets_it_once);
  tcase_add_test(pushes, each_that_has_asked_before_the_value_is_known_gets_it_once);
  tcase_add_test(pushes, an_error_is_pushed_as_a_value_is);
  tcase_add_test(pushes, who_needs_what_is_elsewhere_is_sent_there_at_once);
  tcase_add_test(pushes, each_call_gets_a_push_of_its_own_and_beyond_a_few_it_asks);
  tcase_add_test(pushes, chains_are_pushed_and_tensors_are_asked_for);
  tcase_add_test(pushes, who_knows_no_pushes_is_asked_and_asks);
  tcase_add_test(pushes, the_loss_of_who_was_to_push_is_told_at_once_and_by_its_name);
  tcase_add_test(pushes, who_has_asked_for_a_push_may_be_lost_at_any_time);
  tcase_add_test(pushes, what_is_cancelled_is_pushed_to_nobody_who_minds);
  tcase_add_test(pushes, what_nobody_comes_for_takes_little_room_for_a_short_time);
  Suite* suite = suite_create("push");
  suite_add_tcase(suite, pushes);
  return suite;
}
