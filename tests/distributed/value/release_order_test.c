// SPDX-License-Identifier: Apache-2.0
//
// The users of a value that was lent may release it in any order: only the last one counts. Here
// they do so in each order that there is.
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/domain/job.h"
#include "distributed/value/remote_value.h"
#include "distributed/value/value_item.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

static tfrt_node_world_t world;

#define MAX_USES 6

// --- Orders --------------------------------------------------------------------

// Makes |order|, a permutation of |count| numbers, the next one; false if it was the last.
static bool next_order(int* order, int count) {
  int i = count - 2;
  while (i >= 0 && order[i] > order[i + 1]) --i;
  if (i < 0) return false;
  int j = count - 1;
  while (order[j] < order[i]) --j;
  int swapped = order[i];
  order[i] = order[j];
  order[j] = swapped;
  for (int a = i + 1, b = count - 1; a < b; ++a, --b) {
    swapped = order[a];
    order[a] = order[b];
    order[b] = swapped;
  }
  return true;
}

static void first_order(int* order, int count) {
  for (int i = 0; i < count; ++i) order[i] = i;
}

// --- One value -------------------------------------------------------------------

static const char idle_program[] =
    "func.func @main(%x: i32) -> i32 {\n"
    "  tfrt.return %x : i32\n"
    "}\n";

// A job, and host 1 in it.
static tfrt_node_t* borrower;
static tfrt_job_t* job;

static void begin(void) {
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_node_world_start_i32(&world, idle_program, 1, 1);
  tfrt_node_world_await(&world);
  borrower = world.hosts[1].node;
  job = TFRT_CONTAINER_OF(borrower->jobs.next, tfrt_job_t, link);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
}

// The name of a value that host 0 exports.
static tfrt_wire_reference_t name_of(uint64_t number) {
  const tfrt_job_member_t* owner = tfrt_job_find_rank(job, 0);
  return (tfrt_wire_reference_t){.id = {.namer = owner->incarnation, .number = number},
                                 .owner = owner->incarnation};
}

// A value (+1) that host 0 lends to host 1 under |number|.
static tfrt_remote_value_t* borrow(uint64_t number) {
  tfrt_node_lock_tables(borrower);
  tfrt_wire_reference_t name = name_of(number);
  const tfrt_remote_value_loan_t loan = {.lender = name.owner};
  tfrt_remote_value_t* value = tfrt_remote_value_create(job, &name, &loan);
  tfrt_node_unlock(borrower);
  ck_assert_ptr_nonnull(value);
  return value;
}

static bool is_used(const tfrt_remote_value_watch_t* watch) {
  tfrt_node_lock_tables(borrower);
  tfrt_remote_value_t* value = tfrt_remote_value_watched(watch);
  if (value) tfrt_remote_value_release(value);
  tfrt_node_unlock(borrower);
  tfrt_work_queue_quiesce(world.hosts[1].context->work_queue);
  return value != NULL;
}

// A placeholder (+1) that leads to |value| (+0).
static tfrt_async_value_t* stand_for(tfrt_async_value_t* value) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  ck_assert(tfrt_indirect_value_forward(indirect, value));
  return &indirect->base;
}

// A list (+1) of this host with |element| (+0) in it, twice.
static tfrt_async_value_t* list_of(tfrt_async_value_t* element) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_value_item_find_type(tfrt_string_view_of("!tfrt_dist.list"), &id));
  tfrt_async_value_t* list = tfrt_async_value_create_available(id);
  tfrt_async_value_t** elements = NULL;
  ck_assert_ptr_null(tfrt_type_get(id)->aggregate->construct(
      2, tfrt_allocator_system(), tfrt_async_value_payload(list), &elements));
  for (int i = 0; i < 2; ++i) elements[i] = tfrt_async_value_retain(element);
  return list;
}

// Releases |uses|, which are all that |watch| looks at, in |order|.
static void release_in_order(tfrt_async_value_t** uses, int count, const int* order,
                             const tfrt_remote_value_watch_t* watch) {
  for (int i = 0; i < count; ++i) {
    ck_assert_msg(is_used(watch), "the value went before its users %d of %d", i, count);
    tfrt_async_value_release(uses[order[i]]);
    tfrt_work_queue_quiesce(world.hosts[1].context->work_queue);
  }
  ck_assert_msg(!is_used(watch), "the value is there, and nobody uses it");
}

START_TEST(a_value_goes_with_its_last_user_whoever_that_is) {
  begin();
  int order[MAX_USES];
  first_order(order, MAX_USES);
  int orders = 0;
  do {
    tfrt_async_value_t* value = &borrow(1)->base.base;
    tfrt_remote_value_watch_t watch = {0};
    tfrt_node_lock_tables(borrower);
    tfrt_remote_value_watch(tfrt_remote_value_cast(value), &watch);
    tfrt_node_unlock(borrower);
    tfrt_async_value_t* placeholder = stand_for(value);
    tfrt_async_value_t* uses[MAX_USES] = {value,          tfrt_async_value_retain(value),
                                          placeholder,    stand_for(placeholder),
                                          list_of(value), list_of(placeholder)};
    release_in_order(uses, MAX_USES, order, &watch);
    ++orders;
  } while (next_order(order, MAX_USES));
  ck_assert_int_eq(orders, 720);
  end();
}
END_TEST

// --- A list --------------------------------------------------------------------------

// Says that |value| is a list of two values of host 0.
static void receive_list(tfrt_remote_value_t* value) {
  tfrt_node_lock_tables(borrower);
  const tfrt_wire_item_t elements[2] = {
      {.kind = TFRT_WIRE_ITEM_REFERENCE, .reference = name_of(2)},
      {.kind = TFRT_WIRE_ITEM_REFERENCE, .reference = name_of(3)}};
  const tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_LIST,
                                 .list = {.type = tfrt_string_view_of("!tfrt_dist.list"),
                                          .elements = elements,
                                          .element_count = 2}};
  tfrt_remote_value_on_item(value, &item);
  tfrt_node_unlock(borrower);
  tfrt_work_queue_quiesce(world.hosts[1].context->work_queue);
  ck_assert(tfrt_async_value_is_available(&value->base.base));
}

// The loan of a list that came is that of its elements, too. The watch begins before the list
// comes.
START_TEST(a_list_is_lent_as_long_as_it_or_an_element_is_used) {
  begin();
  const int count = 5;
  int order[MAX_USES];
  first_order(order, count);
  int orders = 0;
  do {
    tfrt_remote_value_t* value = borrow(1);
    tfrt_remote_value_watch_t watch = {0};
    tfrt_node_lock_tables(borrower);
    tfrt_remote_value_watch(value, &watch);
    tfrt_node_unlock(borrower);
    receive_list(value);
    tfrt_async_value_t* list = tfrt_async_value_resolved(&value->base.base);
    uint32_t element_count = 0;
    tfrt_async_value_t* const* elements =
        tfrt_type_get(list->type_id)
            ->aggregate->elements(tfrt_async_value_payload(list), &element_count);
    ck_assert_uint_eq(element_count, 2);
    tfrt_async_value_t* uses[MAX_USES] = {&value->base.base, tfrt_async_value_retain(list),
                                          tfrt_async_value_retain(elements[0]),
                                          stand_for(elements[1]), list_of(elements[0])};
    release_in_order(uses, count, order, &watch);
    ++orders;
  } while (next_order(order, count));
  ck_assert_int_eq(orders, 120);
  end();
}
END_TEST

// --- A call ----------------------------------------------------------------------------

// @keep keeps its argument by several uses: %t, placeholders %p and %q, and a list.
#define USES 4
static tfrt_async_value_t* kept[USES];
static int kept_order[USES];
static int dropped;  // that many of them, in that order
static int dropped_within;

static void drop_until(int count) {
  while (dropped < count) tfrt_async_value_release(kept[kept_order[dropped++]]);
}

static void keep_kernel(tfrt_kernel_frame_t* frame) {
  for (uint32_t i = 0; i < USES - 1; ++i) {
    kept[i] = tfrt_async_value_retain(frame->arguments[i]);
  }
  kept[USES - 1] = list_of(frame->arguments[0]);
  tfrt_kernel_frame_set_i32(frame, 0, 1);
}

static void drop_kernel(tfrt_kernel_frame_t* frame) {
  drop_until(dropped_within);
  tfrt_kernel_frame_set_i32(frame, 0, 1);
}

static const tfrt_operand_descriptor_t passed[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t number[] = {{"x", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t result[] = {{"r", "i32"}};
static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "test.keep",
     .operands = passed,
     .operand_count = 1,
     .results = result,
     .result_count = 1,
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS,
     .cost = 1},
    {.name = "test.drop",
     .operands = number,
     .operand_count = 1,
     .results = result,
     .result_count = 1,
     .cost = 1},
};
static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
static const tfrt_kernel_registration_t kernels[] = {{"test.keep", keep_kernel},
                                                     {"test.drop", drop_kernel}};

static void add_kernels(uint32_t index, tfrt_node_options_t* options) {
  (void)index;
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(options->host->registry, &table, kernels,
                                                  TFRT_ARRAY_SIZE(kernels)));
}

static const char keeping_program[] =
    "func.func @keep(%t: !tfrt.string) -> (!tfrt.string, !tfrt.string, i32) {\n"
    "  %p = \"tfrt_test.stand_for\"(%t) : (!tfrt.string) -> !tfrt.string\n"
    "  %q = \"tfrt_test.stand_for\"(%p) : (!tfrt.string) -> !tfrt.string\n"
    "  %kept = \"test.keep\"(%t, %p, %q) {bef.nonstrict}\n"
    "      : (!tfrt.string, !tfrt.string, !tfrt.string) -> i32\n"
    "  %dropped = \"test.drop\"(%kept) : (i32) -> i32\n"
    "  tfrt.return %t, %q, %dropped : !tfrt.string, !tfrt.string, i32\n"
    "}\n"
    "func.func @main(%t: !tfrt.string) -> i32 {\n"
    "  %u = \"tfrt_test.append_string\"(%t, %t)\n"
    "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n"
    "  %r:3 = tfrt.call @keep(%u) {host = 1 : i32}\n"
    "      : (!tfrt.string) -> (!tfrt.string, !tfrt.string, i32)\n"
    "  tfrt.return %r#2 : i32\n"
    "}\n";

// Host 1 keeps the argument of a call, and drops |dropped_within| uses of it within the call.
static void begin_keeping(void) {
  dropped = 0;
  tfrt_node_world_set_configure(add_kernels);
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_node_world_set_configure(NULL);
  char bytes[5000];
  memset(bytes, 'a', sizeof(bytes));
  tfrt_async_value_t* argument =
      tfrt_async_value_create_string(tfrt_string_view_make(bytes, sizeof(bytes)));
  tfrt_node_world_start(&world, keeping_program, &argument, 1, 1);
  tfrt_async_value_release(argument);
  tfrt_node_world_await(&world);
  tfrt_async_value_release(world.results[0]);
  world.result_count = 0;
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
}

// Host 0 lends |count| values, and the program.
static void expect_lent(uint64_t count) {
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[0].node).objects, count + 1);
  ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).remote_values, count);
}

// |_i| is how many uses end within the call.
START_TEST(an_argument_is_held_until_its_last_use_ends_in_whatever_order_they_end) {
  dropped_within = _i;
  first_order(kept_order, USES);
  int orders = 0;
  do {
    begin_keeping();
    // The owner is asked to hold the argument if it is used beyond the call, and only then.
    ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 1, 0, TFRT_WIRE_FRAME_RETAIN),
                      dropped_within < USES);
    ck_assert_uint_eq(tfrt_node_counts(world.hosts[1].node).incoming_calls, 0);
    for (int i = dropped_within; i < USES; ++i) {
      expect_lent(1);
      drop_until(i + 1);
    }
    expect_lent(0);
    end();
    ++orders;
  } while (next_order(kept_order, USES));
  ck_assert_int_eq(orders, 24);
}
END_TEST

// --- The gate ----------------------------------------------------------------------------

// A call of host 0 that has run on host 1, where it was lent one argument. Its caller knows its
// only result.
static tfrt_incoming_call_t call;
static tfrt_async_value_t* arguments[1];
static tfrt_execution_result_t results[1];
static uint8_t result_states[1] = {TFRT_INCOMING_RESULT_TOLD};
static uint32_t same_as[1];
static tfrt_incoming_gate_wait_t waits[1];
static tfrt_remote_value_watch_t watches[1];

// The state of the gate when the result was released; the number of states: it wasn't.
static int state_at_release;

static void note_release(void* payload) {
  (void)payload;
  state_at_release = (int)call.gate.state;
}

static tfrt_async_value_t* make_result(void) {
  static const tfrt_type_t type = {.name = "!test.noted", .size = 8, .destroy = note_release};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  return tfrt_async_value_create_available(id);
}

// |argument| is consumed.
static void make_retired_call(tfrt_async_value_t* argument) {
  state_at_release = TFRT_INCOMING_GATE_PASSED + 1;
  results[0] = (tfrt_execution_result_t){.value = make_result(), .known = true};
  memset(&call, 0, sizeof(call));
  memset(waits, 0, sizeof(waits));
  memset(watches, 0, sizeof(watches));
  arguments[0] = argument;
  tfrt_ref_count_initialize(&call.execution.ref_count);
  call.execution.node = borrower;
  call.execution.job = job;
  call.execution.state = TFRT_EXECUTION_RETIRED;
  call.execution.arguments = arguments;
  call.execution.argument_count = 1;
  call.execution.results = results;
  call.execution.result_count = 1;
  call.states = result_states;
  call.same_as = same_as;
  call.peer = tfrt_peer_find(borrower, tfrt_job_find_rank(job, 0)->incarnation);
  call.gate.waits = waits;
  call.gate.watches = watches;
}

// The call leaves its argument, and another thread flushes the call before the releases have run;
// then they run. The call counts as done: its caller, which made no call, must hear nothing.
static void leave_and_flush_before_the_releases(void) {
  tfrt_node_lock_tables(borrower);
  tfrt_incoming_gate_note(&call, TFRT_INCOMING_GATE_ON_TOLD);
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_LEAVING);
  tfrt_incoming_gate_note(&call, TFRT_INCOMING_GATE_ON_FLUSH);
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_LEAVING);
  call.execution.state = TFRT_EXECUTION_FINISHED;
  tfrt_node_unlock(borrower);
  tfrt_work_queue_quiesce(world.hosts[1].context->work_queue);
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_DUE);
  ck_assert_int_eq(state_at_release, TFRT_INCOMING_GATE_LEAVING);
  call.execution.state = TFRT_EXECUTION_RETIRED;
}

static void flush(void) {
  tfrt_node_lock_tables(borrower);
  tfrt_incoming_gate_note(&call, TFRT_INCOMING_GATE_ON_FLUSH);
  call.execution.state = TFRT_EXECUTION_FINISHED;
  tfrt_node_unlock(borrower);
}

START_TEST(a_gate_waits_for_the_releases_of_its_call) {
  begin();
  make_retired_call(&borrow(1)->base.base);
  leave_and_flush_before_the_releases();
  flush();
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_PASSED);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 1, 0, TFRT_WIRE_FRAME_RETAIN), 0);
  end();
}
END_TEST

START_TEST(a_gate_has_held_what_others_use_when_the_releases_have_run) {
  begin();
  tfrt_async_value_t* argument = &borrow(1)->base.base;
  make_retired_call(tfrt_async_value_retain(argument));
  leave_and_flush_before_the_releases();
  flush();
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_HOLDING);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND / 10);
  ck_assert_int_eq(call.gate.state, TFRT_INCOMING_GATE_PASSED);
  ck_assert_uint_eq(tfrt_frame_oracle_count(world.frames, 1, 0, TFRT_WIRE_FRAME_RETAIN), 1);
  tfrt_async_value_release(argument);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("release_order");
  TCase* orders = tcase_create("orders");
  tcase_set_timeout(orders, 60);
  tcase_add_test(orders, a_value_goes_with_its_last_user_whoever_that_is);
  tcase_add_test(orders, a_list_is_lent_as_long_as_it_or_an_element_is_used);
  tcase_add_loop_test(
      orders, an_argument_is_held_until_its_last_use_ends_in_whatever_order_they_end, 0, USES + 1);
  tcase_add_test(orders, a_gate_waits_for_the_releases_of_its_call);
  tcase_add_test(orders, a_gate_has_held_what_others_use_when_the_releases_have_run);
  suite_add_tcase(suite, orders);
  return suite;
}
