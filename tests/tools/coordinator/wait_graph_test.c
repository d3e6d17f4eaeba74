// SPDX-License-Identifier: Apache-2.0
//
// Graphs of inventories that are written here: hosts a, b and c with the incarnations aa, bb, cc.
#include "tools/coordinator/wait_graph.h"

#include <string.h>

#include "tests/support/test_main.h"

static tfrt_cluster_inventory_t inventory;
static tfrt_wait_graph_t graph;

static void build(const char* a, const char* b, const char* c) {
  const char* const lines[] = {a, b, c};
  static const char* const addresses[] = {"a:1", "b:1", "c:1"};
  static const char* const incarnations[] = {"aa", "bb", "cc"};
  memset(&inventory, 0, sizeof(inventory));
  inventory.host_count = 3;
  for (uint32_t i = 0; i < 3; ++i) {
    inventory.addresses[i] = tfrt_string_view_of(addresses[i]);
    inventory.lines[i] = tfrt_string_view_of(lines[i]);
    inventory.incarnations[i] = tfrt_string_view_of(lines[i][0] ? incarnations[i] : "");
  }
  ck_assert(tfrt_status_is_ok(tfrt_cluster_inventory_index(&inventory)));
  ck_assert(tfrt_status_is_ok(tfrt_wait_graph_build(&inventory, &graph)));
}

static void tear_down(void) {
  tfrt_wait_graph_deinitialize(&graph);
  tfrt_cluster_inventory_drop_index(&inventory);
}

static void expect_culprit(uint32_t host, const char* function, uint32_t waiters) {
  ck_assert_uint_ne(graph.culprit, TFRT_WAIT_GRAPH_NOBODY);
  const tfrt_wait_node_t* node = &graph.nodes[graph.culprit];
  ck_assert_uint_eq(node->host, host);
  ck_assert(tfrt_inventory_line_has(&node->line, "function", tfrt_string_view_of(function)));
  ck_assert_uint_eq(node->waiter_count, waiters);
}

static void expect_operation(const char* kind, const char* name, const char* value) {
  tfrt_inventory_line_t line;
  ck_assert(tfrt_wait_graph_find_operation(&graph, graph.culprit, &line));
  ck_assert(tfrt_inventory_line_is(&line, kind));
  ck_assert(tfrt_inventory_line_has(&line, name, tfrt_string_view_of(value)));
}

START_TEST(nothing_runs) {
  build("host incarnation=aa name=a serving=1\n", "host incarnation=bb name=b serving=1\n", "");
  ck_assert_uint_eq(graph.node_count, 0);
  ck_assert_uint_eq(graph.culprit, TFRT_WAIT_GRAPH_NOBODY);
}
END_TEST

START_TEST(a_chain_of_calls_waits_for_the_last_ones_kernel) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=4 request=1 function=f in=1 at=p.mlir:1:2 age_us=9\n",
      "host incarnation=bb\n"
      "call job=1 dir=in peer=aa number=4 request=1 function=f age_us=8 state=running\n"
      "call job=1 dir=out peer=cc number=4 request=1 function=g in=aa.4 at=p.mlir:3:4 age_us=7\n"
      "kernel name=tfrt.add.i32 function=f at=p.mlir:9:9\n",
      "host incarnation=cc\n"
      "call job=1 dir=in peer=bb number=4 request=1 function=g age_us=7 state=running\n"
      "kernel name=tfrt.other function=h at=p.mlir:6:6\n"
      "kernel name=tfrt_test.slow function=g at=p.mlir:5:6\n");
  ck_assert_uint_eq(graph.node_count, 3);
  expect_culprit(2, "g", 3);
  expect_operation("kernel", "at", "p.mlir:5:6");
  tfrt_inventory_line_t caller;
  ck_assert(
      tfrt_cluster_inventory_find_caller(&inventory, 2, &graph.nodes[graph.culprit].line, &caller));
  ck_assert(tfrt_inventory_line_has(&caller, "at", tfrt_string_view_of("p.mlir:3:4")));
}
END_TEST

START_TEST(who_was_given_a_value_waits_for_the_call_that_makes_it) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=1 function=make in=1\n"
      "call job=1 dir=out peer=cc number=1 function=use in=1\n",
      "host incarnation=bb\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=make age_us=8 state=running\n",
      "host incarnation=cc\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=use age_us=9 state=running "
      "needs=bb/aa.1.0\n");
  expect_culprit(1, "make", 3);
  tfrt_inventory_line_t line;
  ck_assert(!tfrt_wait_graph_find_operation(&graph, graph.culprit, &line));
}
END_TEST

START_TEST(who_receives_waits_for_who_runs_at_the_sender) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=1 function=f in=1\n"
      "call job=1 dir=out peer=cc number=1 function=f in=1\n",
      "host incarnation=bb\n"
      "member job=1 rank=2 incarnation=cc address=c:1\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=f age_us=8 state=running\n"
      "receive job=1 request=1 sender=2 key=k\n",
      "host incarnation=cc\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=f age_us=9 state=running\n"
      "receive job=1 request=1 sender=7 key=other\n");
  expect_culprit(2, "f", 3);
  expect_operation("receive", "key", "other");
}
END_TEST

// Host b receives from c, where all that runs waits for what b is to make.
START_TEST(who_waits_for_the_receiver_is_not_waited_for_as_a_sender) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=1 function=f in=1\n"
      "call job=1 dir=out peer=cc number=1 function=g in=1\n"
      "call job=1 dir=out peer=bb number=2 function=g in=1\n",
      "host incarnation=bb\n"
      "member job=1 rank=2 incarnation=cc address=c:1\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=f age_us=8 state=running\n"
      "call job=1 dir=in peer=aa number=2 request=1 function=g age_us=8 state=running "
      "needs=cc/aa.1.0\n"
      "receive job=1 request=1 sender=2 key=k name=tfrt_dist.recv function=f at=x:2:1\n",
      "host incarnation=cc\n"
      "call job=1 dir=in peer=aa number=1 request=1 function=g age_us=9 state=running "
      "needs=bb/aa.1.0\n");
  ck_assert_uint_eq(graph.node_count, 4);
  expect_culprit(1, "f", 4);
  expect_operation("receive", "key", "k");
}
END_TEST

START_TEST(a_wait_of_the_function_itself_is_its_operation) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "kernel thread=0 name=k function=other at=x:1:1\n"
      "receive job=1 request=1 sender=7 key=first name=tfrt_dist.recv function=g at=x:2:1\n"
      "receive job=1 request=1 sender=7 key=own name=tfrt_dist.barrier function=main at=x:3:1\n",
      "", "");
  expect_culprit(0, "main", 1);
  expect_operation("receive", "key", "own");
}
END_TEST

START_TEST(a_payload_on_its_way_is_what_a_call_without_a_kernel_waits_for) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=2 function=use in=1\n",
      "host incarnation=bb\n"
      "remote job=2 id=aa.9.0 owner=aa state=moving bytes=9 received=1\n"
      "remote job=1 id=aa.7.0 owner=aa state=there bytes=9\n"
      "remote job=1 id=aa.8.0 owner=aa state=moving bytes=9 received=2\n"
      "remote job=1 id=aa.1.0 owner=cc state=moving bytes=9 received=3\n"
      "call job=1 dir=in peer=aa number=2 request=1 function=use age_us=9 state=running "
      "needs=cc/aa.1.1,cc/aa.1.0\n",
      "host incarnation=cc\n");
  expect_culprit(1, "use", 2);
  expect_operation("remote", "received", "3");
  tear_down();
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "remote job=1 id=aa.7.0 owner=bb state=ready bytes=9\n"
      "remote job=1 id=aa.8.0 owner=bb state=moving bytes=9 received=2\n",
      "host incarnation=bb\n", "");
  expect_operation("remote", "received", "2");
}
END_TEST

// Two jobs run the same program; the kernel of the other one comes first.
START_TEST(a_kernel_of_another_job_is_not_blamed) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "start job=2 number=1 request=1 function=main age_us=3 state=running\n"
      "kernel job=2 request=1 in=1 name=theirs function=main at=x:1:1\n"
      "kernel job=1 request=1 in=1 name=ours function=called at=x:2:1\n",
      "", "");
  expect_culprit(0, "main", 1);
  expect_operation("kernel", "name", "ours");
  tear_down();
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "kernel job=2 request=1 in=1 name=theirs function=main at=x:1:1\n"
      "kernel name=nobodys function=other at=x:3:1\n",
      "", "");
  tfrt_inventory_line_t line;
  ck_assert(!tfrt_wait_graph_find_operation(&graph, graph.culprit, &line));
}
END_TEST

START_TEST(a_call_to_a_host_that_does_not_answer_is_what_is_waited_for) {
  build(
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=1 function=f in=1 age_us=3\n",
      "", "");
  expect_culprit(0, "f", 2);
  ck_assert(graph.nodes[graph.culprit].is_unreached);
}
END_TEST

START_TEST(a_call_that_its_callee_does_not_know_is_passing_and_rather_not_the_culprit) {
  static const char caller[] =
      "host incarnation=aa\n"
      "start job=1 number=1 request=1 function=main age_us=9 state=running\n"
      "call job=1 dir=out peer=bb number=1 function=f in=1 age_us=3\n"
      "call job=1 dir=out peer=bb number=2 function=g in=1 age_us=1\n";
  build(caller, "host incarnation=bb\n", "");
  expect_culprit(0, "f", 2);
  ck_assert(graph.nodes[graph.culprit].is_passing);
  tear_down();
  build(caller,
        "host incarnation=bb\n"
        "call job=1 dir=in peer=aa number=2 request=1 function=g age_us=1 state=running\n",
        "");
  expect_culprit(1, "g", 2);
  ck_assert(!graph.nodes[graph.culprit].is_passing);
}
END_TEST

START_TEST(those_who_wait_for_each_other_in_a_ring_have_no_culprit_but_are_shown) {
  build(
      "host incarnation=aa\n"
      "member job=1 rank=1 incarnation=bb address=b:1\n"
      "call job=1 dir=in peer=dd number=1 request=1 function=f age_us=8 state=running\n"
      "receive job=1 request=1 sender=1 key=k\n",
      "host incarnation=bb\n"
      "member job=1 rank=0 incarnation=aa address=a:1\n"
      "call job=1 dir=in peer=dd number=1 request=1 function=f age_us=9 state=running\n"
      "receive job=1 request=1 sender=0 key=k\n",
      "");
  ck_assert_uint_eq(graph.node_count, 2);
  ck_assert_uint_eq(graph.edge_count, 2);
  ck_assert_uint_eq(graph.culprit, TFRT_WAIT_GRAPH_NOBODY);
}
END_TEST

// Host a has made many calls of b, and one has a kernel; b does not know half of them.
START_TEST(very_many_calls_take_time_that_grows_with_their_number) {
  enum { count = 100000 };
  tfrt_string_builder_t a, b;
  tfrt_string_builder_initialize(&a, tfrt_allocator_system());
  tfrt_string_builder_initialize(&b, tfrt_allocator_system());
  tfrt_string_builder_append_text(
      &a, "host incarnation=aa\nstart job=1 number=1 request=1 function=main age_us=9\n");
  tfrt_string_builder_append_text(&b, "host incarnation=bb\n");
  for (int i = 0; i < count; ++i) {
    tfrt_string_builder_append_format(
        &a, "call job=1 dir=out peer=bb number=%d request=1 function=f in=1 at=p:1:2\n", i);
    if (i % 2 != 0) continue;
    tfrt_string_builder_append_format(
        &b, "call job=1 dir=in peer=aa number=%d request=1 function=f age_us=%d\n", i, count - i);
  }
  tfrt_string_builder_append_text(&b,
                                  "kernel job=1 request=1 in=aa.0 name=k function=f at=p:2:2\n");
  build(tfrt_string_builder_text(&a), tfrt_string_builder_text(&b), "");
  ck_assert_uint_eq(graph.node_count, count + 1);
  expect_culprit(1, "f", 2);
  expect_operation("kernel", "name", "k");
  for (uint32_t i = 0; i < graph.node_count; ++i) {
    tfrt_inventory_line_t line;
    bool is_found = tfrt_wait_graph_find_operation(&graph, i, &line);
    ck_assert_int_eq(is_found, i == graph.culprit);
  }
  tfrt_table_t table;
  tfrt_cluster_inventory_list_calls(&inventory, &table);
  ck_assert_uint_eq(tfrt_table_row_count(&table), count);
  tfrt_table_deinitialize(&table);
  tfrt_string_builder_deinitialize(&a);
  tfrt_string_builder_deinitialize(&b);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* graphs = tcase_create("graphs");
  tcase_add_checked_fixture(graphs, NULL, tear_down);
  tcase_add_test(graphs, nothing_runs);
  tcase_add_test(graphs, a_chain_of_calls_waits_for_the_last_ones_kernel);
  tcase_add_test(graphs, who_was_given_a_value_waits_for_the_call_that_makes_it);
  tcase_add_test(graphs, who_receives_waits_for_who_runs_at_the_sender);
  tcase_add_test(graphs, who_waits_for_the_receiver_is_not_waited_for_as_a_sender);
  tcase_add_test(graphs, a_wait_of_the_function_itself_is_its_operation);
  tcase_add_test(graphs, a_payload_on_its_way_is_what_a_call_without_a_kernel_waits_for);
  tcase_add_test(graphs, a_kernel_of_another_job_is_not_blamed);
  tcase_add_test(graphs, a_call_to_a_host_that_does_not_answer_is_what_is_waited_for);
  tcase_add_test(graphs, very_many_calls_take_time_that_grows_with_their_number);
  tcase_add_test(graphs,
                 a_call_that_its_callee_does_not_know_is_passing_and_rather_not_the_culprit);
  tcase_add_test(graphs, those_who_wait_for_each_other_in_a_ring_have_no_culprit_but_are_shown);
  Suite* suite = suite_create("wait_graph");
  suite_add_tcase(suite, graphs);
  return suite;
}
