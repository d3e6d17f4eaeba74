// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/dominance.h"

#include "compiler/ir/ir.h"
#include "tests/support/test_main.h"

#define MAX_BLOCKS 24

// A region whose blocks end in an op with the given edges.
typedef struct graph_s {
  tfrt_ir_context_t* context;
  tfrt_ir_operation_t* owner;
  tfrt_ir_block_t* blocks[MAX_BLOCKS];
  uint32_t block_count;
  bool edges[MAX_BLOCKS][MAX_BLOCKS];
} graph_t;

static void graph_begin(graph_t* graph, uint32_t block_count) {
  *graph = (graph_t){.block_count = block_count};
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &graph->context));
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(graph->context, "test.graph"),
                                     .location = tfrt_ir_location_unknown(graph->context),
                                     .region_count = 1};
  graph->owner = tfrt_ir_operation_create(graph->context, &parts);
  for (uint32_t i = 0; i < block_count; ++i) {
    graph->blocks[i] = tfrt_ir_block_create(graph->context, &graph->owner->regions[0]);
  }
}

static void graph_finish(graph_t* graph) {
  for (uint32_t i = 0; i < graph->block_count; ++i) {
    tfrt_ir_block_t* successors[MAX_BLOCKS];
    tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(graph->context, "test.go"),
                                       .location = tfrt_ir_location_unknown(graph->context),
                                       .successors = successors};
    for (uint32_t k = 0; k < graph->block_count; ++k) {
      if (graph->edges[i][k]) successors[parts.successor_count++] = graph->blocks[k];
    }
    tfrt_ir_block_append(graph->blocks[i], tfrt_ir_operation_create(graph->context, &parts));
  }
}

// Marks what can be reached from |from| without |without|.
static void reach(const graph_t* graph, uint32_t from, uint32_t without, bool* reached) {
  if (from == without || reached[from]) return;
  reached[from] = true;
  for (uint32_t k = 0; k < graph->block_count; ++k) {
    if (graph->edges[from][k]) reach(graph, k, without, reached);
  }
}

// Compares with the definition: without a dominator there is no path.
static void check_graph(graph_t* graph) {
  tfrt_dominance_t dominance;
  bool can_be_reached[MAX_BLOCKS] = {false};
  reach(graph, 0, MAX_BLOCKS, can_be_reached);
  ck_assert_ptr_null(
      tfrt_dominance_initialize(&dominance, &graph->owner->regions[0], tfrt_allocator_system()));
  for (uint32_t i = 0; i < graph->block_count; ++i) {
    bool without[MAX_BLOCKS] = {false};
    reach(graph, 0, i, without);
    ck_assert_int_eq(tfrt_dominance_is_reachable(&dominance, graph->blocks[i]), can_be_reached[i]);
    for (uint32_t k = 0; k < graph->block_count; ++k) {
      bool expected = !can_be_reached[k] || (can_be_reached[i] && !without[k]);
      ck_assert_msg(
          tfrt_dominance_holds(&dominance, graph->blocks[i], graph->blocks[k]) == expected,
          "block %u and block %u of %u", i, k, graph->block_count);
    }
  }
  tfrt_dominance_deinitialize(&dominance);
  tfrt_ir_context_free(graph->context);
}

START_TEST(a_diamond_is_dominated_by_its_top) {
  graph_t graph;
  graph_begin(&graph, 4);
  graph.edges[0][1] = graph.edges[0][2] = graph.edges[1][3] = graph.edges[2][3] = true;
  graph_finish(&graph);
  check_graph(&graph);
}
END_TEST

START_TEST(one_block_dominates_itself) {
  graph_t graph;
  graph_begin(&graph, 1);
  graph_finish(&graph);
  check_graph(&graph);
}
END_TEST

// Irreducible ones and blocks without a path to them among them.
START_TEST(random_graphs_are_as_the_definition_says) {
  uint64_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    graph_t graph;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    graph_begin(&graph, 1 + (uint32_t)(seed >> 33) % MAX_BLOCKS);
    uint32_t edge_count = graph.block_count * 3 / 2;
    for (uint32_t i = 0; i < edge_count; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      uint32_t from = (uint32_t)(seed >> 33) % graph.block_count;
      uint32_t to = (uint32_t)(seed >> 45) % graph.block_count;
      graph.edges[from][to] = true;
    }
    graph_finish(&graph);
    check_graph(&graph);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* graphs = tcase_create("graphs");
  tcase_add_test(graphs, a_diamond_is_dominated_by_its_top);
  tcase_add_test(graphs, one_block_dominates_itself);
  tcase_add_test(graphs, random_graphs_are_as_the_definition_says);
  Suite* suite = suite_create("dominance");
  suite_add_tcase(suite, graphs);
  return suite;
}
