// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/call_graph.h"

#define NO_NUMBER UINT32_MAX

// --- Nodes and edges ----------------------------------------------------------------------

// The function of |graph| that |op| calls, or NO_NUMBER.
static uint32_t callee_of(const tfrt_call_graph_t* graph, const tfrt_ir_symbol_table_t* symbols,
                          const tfrt_ir_operation_t* op) {
  if (!op->descriptor || !tfrt_ir_operation_is(op, "tfrt.call")) return NO_NUMBER;
  const tfrt_ir_attribute_t* symbol = tfrt_ir_operation_attribute(op, "callee");
  if (!symbol || symbol->kind != TFRT_IR_ATTRIBUTE_SYMBOL || symbol->count != 1) return NO_NUMBER;
  const tfrt_ir_operation_t* callee =
      tfrt_ir_symbol_table_find(symbols, tfrt_ir_string_view(symbol->names[0]));
  if (!callee || !tfrt_ir_is_function(callee)) return NO_NUMBER;
  uint32_t number = callee->scratch;
  return number < graph->node_count && graph->nodes[number].function == callee ? number : NO_NUMBER;
}

typedef struct gathering_s {
  tfrt_call_graph_t* graph;
  const tfrt_ir_symbol_table_t* symbols;
} gathering_t;

// Counts the calls, and keeps them once there is room for them. Functions in functions don't
// belong to the module.
static bool gather_call(tfrt_ir_operation_t* op, void* user_data) {
  gathering_t* gathering = user_data;
  tfrt_call_graph_t* graph = gathering->graph;
  uint32_t callee = callee_of(graph, gathering->symbols, op);
  if (callee == NO_NUMBER) return true;
  if (graph->calls) graph->calls[graph->call_count] = (tfrt_call_edge_t){op, callee};
  ++graph->call_count;
  return true;
}

static void gather_calls(tfrt_call_graph_t* graph, const tfrt_ir_symbol_table_t* symbols) {
  gathering_t gathering = {graph, symbols};
  graph->call_count = 0;
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    tfrt_call_node_t* node = &graph->nodes[i];
    node->first_call = graph->call_count;
    tfrt_ir_operation_walk(node->function, gather_call, &gathering);
    node->call_count = graph->call_count - node->first_call;
  }
}

// --- Order ----------------------------------------------------------------------------------

// Tarjan's search for strongly connected components, with a path of its own instead of
// recursion: a text may chain any number of functions.
typedef struct search_s {
  tfrt_call_graph_t* graph;
  uint32_t* visit;      // of each node: when it was reached, from 1; 0: not yet
  uint32_t* low;        // of each node: the earliest visit on the path that it leads back to
  uint32_t* next_call;  // of each node: which of its calls is next
  uint32_t* path;       // the nodes that are being searched
  uint32_t* open;       // the nodes reached that are in no circle yet
  bool* is_open;
  uint32_t path_count;
  uint32_t open_count;
  uint32_t visit_count;
  uint32_t order_count;
} search_t;

static bool allocate_search(search_t* search, tfrt_call_graph_t* graph) {
  *search = (search_t){.graph = graph};
  size_t count = graph->node_count;
  uint32_t** arrays[] = {&search->visit, &search->low, &search->next_call, &search->path,
                         &search->open};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(arrays); ++i) {
    *arrays[i] = tfrt_arena_allocate_array(&graph->arena, count, sizeof(uint32_t));
    if (!*arrays[i]) return false;
  }
  search->is_open = tfrt_arena_allocate_array(&graph->arena, count, sizeof(bool));
  return search->is_open != NULL;
}

static void enter(search_t* search, uint32_t node) {
  search->visit[node] = search->low[node] = ++search->visit_count;
  search->path[search->path_count++] = node;
  search->open[search->open_count++] = node;
  search->is_open[node] = true;
}

// Leaves the last node of the path; if nothing leads from it further back, it and what is
// open behind it are a circle.
static void leave(search_t* search) {
  uint32_t node = search->path[--search->path_count];
  if (search->low[node] == search->visit[node]) {
    uint32_t member;
    do {
      member = search->open[--search->open_count];
      search->is_open[member] = false;
      search->graph->nodes[member].circle = node;
      search->graph->order[search->order_count++] = member;
    } while (member != node);
  }
  if (!search->path_count) return;
  uint32_t caller = search->path[search->path_count - 1];
  if (search->low[node] < search->low[caller]) search->low[caller] = search->low[node];
}

static void search_from(search_t* search, uint32_t start) {
  if (search->visit[start]) return;
  enter(search, start);
  while (search->path_count) {
    uint32_t node = search->path[search->path_count - 1];
    const tfrt_call_node_t* entry = &search->graph->nodes[node];
    if (search->next_call[node] == entry->call_count) {
      leave(search);
      continue;
    }
    uint32_t callee = search->graph->calls[entry->first_call + search->next_call[node]++].callee;
    if (!search->visit[callee]) {
      enter(search, callee);
    } else if (search->is_open[callee] && search->visit[callee] < search->low[node]) {
      search->low[node] = search->visit[callee];
    }
  }
}

// --- Interface --------------------------------------------------------------------------------

static bool read_module(tfrt_call_graph_t* graph, tfrt_ir_operation_t* module,
                        const tfrt_ir_symbol_table_t* symbols) {
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  uint32_t count = 0;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) count += tfrt_ir_is_function(op);
  graph->nodes = tfrt_arena_allocate_array(&graph->arena, count, sizeof(*graph->nodes));
  graph->order = tfrt_arena_allocate_array(&graph->arena, count, sizeof(*graph->order));
  if (!graph->nodes || !graph->order) return false;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (!tfrt_ir_is_function(op)) continue;
    op->scratch = graph->node_count;
    graph->nodes[graph->node_count++] = (tfrt_call_node_t){.function = op};
  }
  gather_calls(graph, symbols);
  graph->calls = tfrt_arena_allocate_array(&graph->arena, graph->call_count, sizeof(*graph->calls));
  if (!graph->calls) return false;
  gather_calls(graph, symbols);
  search_t search;
  if (!allocate_search(&search, graph)) return false;
  for (uint32_t i = 0; i < count; ++i) search_from(&search, i);
  return true;
}

tfrt_status_t tfrt_call_graph_initialize(tfrt_call_graph_t* graph, tfrt_ir_operation_t* module,
                                         const tfrt_ir_symbol_table_t* symbols,
                                         tfrt_allocator_t allocator) {
  *graph = (tfrt_call_graph_t){0};
  tfrt_arena_initialize(&graph->arena, allocator);
  if (read_module(graph, module, symbols)) return NULL;
  tfrt_arena_deinitialize(&graph->arena);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a call graph");
}

void tfrt_call_graph_deinitialize(tfrt_call_graph_t* graph) {
  tfrt_arena_deinitialize(&graph->arena);
}
