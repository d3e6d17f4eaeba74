// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/wait_graph.h"

#include <stdio.h>
#include <string.h>

// --- Room ----------------------------------------------------------------------

// Makes room for one more element in |*array|.
static tfrt_status_t tfrt_wait_graph_grow(void** array, uint32_t count, uint32_t* capacity,
                                          size_t size) {
  if (count < *capacity) return NULL;
  uint32_t more = *capacity > 0 ? 2 * *capacity : 64;
  void* grown =
      tfrt_allocator_reallocate(tfrt_allocator_system(), *array, *capacity * size, more * size);
  if (!grown) return tfrt_status_out_of_memory();
  *array = grown;
  *capacity = more;
  return NULL;
}

static tfrt_status_t tfrt_wait_graph_add_node(tfrt_wait_graph_t* graph,
                                              const tfrt_wait_node_t* node) {
  TFRT_RETURN_IF_ERROR(tfrt_wait_graph_grow((void**)&graph->nodes, graph->node_count,
                                            &graph->node_capacity, sizeof(*node)));
  graph->nodes[graph->node_count++] = *node;
  return NULL;
}

static tfrt_status_t tfrt_wait_graph_add_edge(tfrt_wait_graph_t* graph, uint32_t waiter,
                                              uint32_t awaited) {
  if (waiter == awaited) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_wait_graph_grow((void**)&graph->edges, graph->edge_count,
                                            &graph->edge_capacity, sizeof(*graph->edges)));
  graph->edges[graph->edge_count++] = (tfrt_wait_edge_t){waiter, awaited};
  graph->nodes[waiter].is_leaf = false;
  return NULL;
}

void tfrt_wait_graph_deinitialize(tfrt_wait_graph_t* graph) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, graph->nodes, graph->node_capacity * sizeof(*graph->nodes));
  tfrt_allocator_free(allocator, graph->edges, graph->edge_capacity * sizeof(*graph->edges));
}

// --- Nodes ---------------------------------------------------------------------

static bool tfrt_wait_graph_is_call(const tfrt_inventory_line_t* line, const char* side) {
  return tfrt_inventory_line_is(line, "call") &&
         tfrt_inventory_line_has(line, "dir", tfrt_string_view_of(side));
}

static tfrt_status_t tfrt_wait_graph_add_nodes(tfrt_wait_graph_t* graph, uint32_t host) {
  tfrt_wait_node_t node = {
      .host = host, .caller = TFRT_WAIT_GRAPH_NOBODY, .is_leaf = true, .waiter_count = 1};
  for (tfrt_string_view_t rest = graph->inventory->lines[host];
       tfrt_inventory_lines_next(&rest, &node.line);) {
    node.is_start = tfrt_inventory_line_is(&node.line, "start");
    bool is_in = tfrt_wait_graph_is_call(&node.line, "in");
    uint32_t callee = 0;
    tfrt_inventory_line_t other;
    node.is_unreached =
        tfrt_wait_graph_is_call(&node.line, "out") &&
        !tfrt_cluster_inventory_find_callee(graph->inventory, host, &node.line, &callee, &other);
    tfrt_string_view_t peer = tfrt_inventory_line_text(&node.line, "peer");
    node.is_passing =
        node.is_unreached && tfrt_cluster_inventory_find(graph->inventory, peer) != UINT32_MAX;
    if (!node.is_start && !is_in && !node.is_unreached) continue;
    TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_node(graph, &node));
  }
  return NULL;
}

// The node of |host| that is the call |number| of |peer|, or NOBODY.
static uint32_t tfrt_wait_graph_find_call(const tfrt_wait_graph_t* graph, uint32_t host,
                                          tfrt_string_view_t peer, tfrt_string_view_t number) {
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    const tfrt_wait_node_t* node = &graph->nodes[i];
    if (node->host == host && !node->is_start && !node->is_unreached &&
        tfrt_inventory_line_has(&node->line, "peer", peer) &&
        tfrt_inventory_line_has(&node->line, "number", number)) {
      return i;
    }
  }
  return TFRT_WAIT_GRAPH_NOBODY;
}

// The node of |host| whose work the call |out| is, or NOBODY.
static uint32_t tfrt_wait_graph_find_parent(const tfrt_wait_graph_t* graph, uint32_t host,
                                            const tfrt_inventory_line_t* out) {
  tfrt_string_view_t number = tfrt_inventory_line_text(out, "in");
  tfrt_string_view_t job = tfrt_inventory_line_text(out, "job");
  if (memchr(number.data, '.', number.size)) {
    tfrt_string_view_t peer = tfrt_inventory_lines_cut(&number, '.');
    return tfrt_wait_graph_find_call(graph, host, peer, number);
  }
  for (uint32_t i = 0; i < graph->node_count && number.size > 0; ++i) {
    const tfrt_wait_node_t* node = &graph->nodes[i];
    if (node->host == host && node->is_start && tfrt_inventory_line_has(&node->line, "job", job) &&
        tfrt_inventory_line_has(&node->line, "number", number)) {
      return i;
    }
  }
  return TFRT_WAIT_GRAPH_NOBODY;
}

// --- Edges ---------------------------------------------------------------------

static bool tfrt_wait_graph_is_same_line(const tfrt_inventory_line_t* a,
                                         const tfrt_inventory_line_t* b) {
  return a->properties.data == b->properties.data;
}

// The call |out| of |host|: who made it waits for it.
static tfrt_status_t tfrt_wait_graph_add_call(tfrt_wait_graph_t* graph, uint32_t host,
                                              const tfrt_inventory_line_t* out) {
  uint32_t parent = tfrt_wait_graph_find_parent(graph, host, out);
  uint32_t callee =
      tfrt_cluster_inventory_find(graph->inventory, tfrt_inventory_line_text(out, "peer"));
  uint32_t child = TFRT_WAIT_GRAPH_NOBODY;
  if (callee != UINT32_MAX) {
    child = tfrt_wait_graph_find_call(graph, callee, graph->inventory->incarnations[host],
                                      tfrt_inventory_line_text(out, "number"));
  }
  for (uint32_t i = 0; i < graph->node_count && child == TFRT_WAIT_GRAPH_NOBODY; ++i) {
    if (tfrt_wait_graph_is_same_line(&graph->nodes[i].line, out)) child = i;
  }
  if (parent == TFRT_WAIT_GRAPH_NOBODY || child == TFRT_WAIT_GRAPH_NOBODY) return NULL;
  graph->nodes[child].caller = parent;
  return tfrt_wait_graph_add_edge(graph, parent, child);
}

// What node |index| was given and does not have: OWNER/NAMER.NUMBER.INDEX,...
static tfrt_status_t tfrt_wait_graph_add_needs(tfrt_wait_graph_t* graph, uint32_t index) {
  tfrt_string_view_t rest = tfrt_inventory_line_text(&graph->nodes[index].line, "needs");
  while (rest.size > 0) {
    tfrt_string_view_t need = tfrt_inventory_lines_cut(&rest, ',');
    tfrt_string_view_t owner = tfrt_inventory_lines_cut(&need, '/');
    tfrt_string_view_t namer = tfrt_inventory_lines_cut(&need, '.');
    tfrt_string_view_t number = tfrt_inventory_lines_cut(&need, '.');
    uint32_t host = tfrt_cluster_inventory_find(graph->inventory, owner);
    if (host == UINT32_MAX) continue;
    uint32_t maker = tfrt_wait_graph_find_call(graph, host, namer, number);
    if (maker == TFRT_WAIT_GRAPH_NOBODY) continue;
    TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_edge(graph, index, maker));
  }
  return NULL;
}

// The host that has |rank| in |job|, as |host| knows it, or UINT32_MAX.
static uint32_t tfrt_wait_graph_find_rank(const tfrt_wait_graph_t* graph, uint32_t host,
                                          tfrt_string_view_t job, tfrt_string_view_t rank) {
  tfrt_inventory_line_t line;
  for (tfrt_string_view_t rest = graph->inventory->lines[host];
       tfrt_inventory_lines_next(&rest, &line);) {
    if (tfrt_inventory_line_is(&line, "member") && tfrt_inventory_line_has(&line, "job", job) &&
        tfrt_inventory_line_has(&line, "rank", rank)) {
      return tfrt_cluster_inventory_find(graph->inventory,
                                         tfrt_inventory_line_text(&line, "incarnation"));
    }
  }
  return UINT32_MAX;
}

// True if node |index| runs on |host| for the same job and request as |line| says.
static bool tfrt_wait_graph_serves(const tfrt_wait_graph_t* graph, uint32_t index, uint32_t host,
                                   const tfrt_inventory_line_t* line) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  return node->host == host && !node->is_unreached &&
         tfrt_inventory_line_has(&node->line, "job", tfrt_inventory_line_text(line, "job")) &&
         tfrt_inventory_line_has(&node->line, "request", tfrt_inventory_line_text(line, "request"));
}

// Marks who waits for |awaited| by the first |edge_count| edges and returns how many that are.
// |marks| has a place for each node.
static uint32_t tfrt_wait_graph_mark_waiters(const tfrt_wait_graph_t* graph, uint32_t edge_count,
                                             uint32_t awaited, uint8_t* marks) {
  memset(marks, 0, graph->node_count);
  marks[awaited] = 1;
  uint32_t count = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < edge_count; ++i) {
      const tfrt_wait_edge_t* edge = &graph->edges[i];
      if (!marks[edge->awaited] || marks[edge->waiter]) continue;
      marks[edge->waiter] = 1;
      changed = true;
      ++count;
    }
  }
  return count;
}

// True if node |index| may be in the |receive| of |host|: it is of the same function, or calls
// that.
static bool tfrt_wait_graph_is_in(const tfrt_wait_graph_t* graph, uint32_t index, uint32_t host,
                                  const tfrt_inventory_line_t* receive) {
  if (!tfrt_wait_graph_serves(graph, index, host, receive)) return false;
  tfrt_string_view_t function = tfrt_inventory_line_text(receive, "function");
  if (tfrt_inventory_line_has(&graph->nodes[index].line, "function", function)) return true;
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    if (tfrt_wait_graph_serves(graph, i, host, receive) &&
        tfrt_inventory_line_has(&graph->nodes[i].line, "function", function)) {
      return false;
    }
  }
  return true;
}

// A receive of |host|: who is in it waits for whoever runs for the request at the sender, unless
// that waits for it by one of the |call_edge_count| edges of calls and values. |marks| has a place
// for each node.
static tfrt_status_t tfrt_wait_graph_add_receive(tfrt_wait_graph_t* graph, uint32_t host,
                                                 const tfrt_inventory_line_t* receive,
                                                 uint32_t call_edge_count, uint8_t* marks) {
  uint32_t sender = tfrt_wait_graph_find_rank(graph, host, tfrt_inventory_line_text(receive, "job"),
                                              tfrt_inventory_line_text(receive, "sender"));
  for (uint32_t i = 0; i < graph->node_count && sender != UINT32_MAX; ++i) {
    if (!tfrt_wait_graph_is_in(graph, i, host, receive)) continue;
    tfrt_wait_graph_mark_waiters(graph, call_edge_count, i, marks);
    for (uint32_t j = 0; j < graph->node_count; ++j) {
      bool may_send = tfrt_wait_graph_serves(graph, j, sender, receive) && !marks[j] &&
                      !graph->nodes[j].is_start;
      if (may_send) TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_edge(graph, i, j));
    }
  }
  return NULL;
}

// By calls, and by what calls were given.
static tfrt_status_t tfrt_wait_graph_add_call_edges(tfrt_wait_graph_t* graph) {
  for (uint32_t host = 0; host < graph->inventory->host_count; ++host) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = graph->inventory->lines[host];
         tfrt_inventory_lines_next(&rest, &line);) {
      if (!tfrt_wait_graph_is_call(&line, "out")) continue;
      TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_call(graph, host, &line));
    }
  }
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_needs(graph, i));
  }
  return NULL;
}

static tfrt_status_t tfrt_wait_graph_add_receive_edges(tfrt_wait_graph_t* graph, uint8_t* marks) {
  uint32_t call_edge_count = graph->edge_count;
  for (uint32_t host = 0; host < graph->inventory->host_count; ++host) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = graph->inventory->lines[host];
         tfrt_inventory_lines_next(&rest, &line);) {
      if (!tfrt_inventory_line_is(&line, "receive")) continue;
      TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_receive(graph, host, &line, call_edge_count, marks));
    }
  }
  return NULL;
}

// --- The one that all wait for -------------------------------------------------

static void tfrt_wait_graph_judge(tfrt_wait_graph_t* graph, uint8_t* marks) {
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    tfrt_wait_node_t* node = &graph->nodes[i];
    if (!node->is_leaf) continue;
    node->waiter_count = tfrt_wait_graph_mark_waiters(graph, graph->edge_count, i, marks);
    const tfrt_wait_node_t* best =
        graph->culprit == TFRT_WAIT_GRAPH_NOBODY ? NULL : &graph->nodes[graph->culprit];
    bool is_older = best && tfrt_inventory_line_number(&node->line, "age_us") >
                                tfrt_inventory_line_number(&best->line, "age_us");
    bool is_worse = !best || node->waiter_count > best->waiter_count ||
                    (node->waiter_count == best->waiter_count && is_older);
    // Who is passing holds up nobody, if there is anybody else.
    if (best && node->is_passing != best->is_passing) is_worse = best->is_passing;
    if (is_worse) graph->culprit = i;
  }
}

// How well |line| tells what node |index| is in: the least is best. A kernel or a wait of the
// function itself is better than one of another, which it may have called. UINT32_MAX: not at all.
static uint32_t tfrt_wait_graph_rank_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                               const tfrt_inventory_line_t* line) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  bool is_own =
      tfrt_inventory_line_has(line, "function", tfrt_inventory_line_text(&node->line, "function"));
  if (tfrt_inventory_line_is(line, "kernel")) return is_own ? 0 : 3;
  bool is_receive = tfrt_inventory_line_is(line, "receive") &&
                    tfrt_wait_graph_serves(graph, index, node->host, line);
  if (!is_receive) return UINT32_MAX;
  return is_own ? 1 : 2;
}

bool tfrt_wait_graph_find_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                    tfrt_inventory_line_t* out_line) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  if (node->is_unreached) return false;
  uint32_t best = UINT32_MAX;
  tfrt_inventory_line_t line;
  for (tfrt_string_view_t rest = graph->inventory->lines[node->host];
       tfrt_inventory_lines_next(&rest, &line);) {
    uint32_t rank = tfrt_wait_graph_rank_operation(graph, index, &line);
    if (rank >= best) continue;
    best = rank;
    *out_line = line;
  }
  return best != UINT32_MAX;
}

tfrt_status_t tfrt_wait_graph_build(const tfrt_cluster_inventory_t* inventory,
                                    tfrt_wait_graph_t* out_graph) {
  *out_graph = (tfrt_wait_graph_t){.inventory = inventory, .culprit = TFRT_WAIT_GRAPH_NOBODY};
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_nodes(out_graph, i));
  }
  TFRT_RETURN_IF_ERROR(tfrt_wait_graph_add_call_edges(out_graph));
  tfrt_allocator_t allocator = tfrt_allocator_system();
  uint8_t* marks = tfrt_allocator_allocate(allocator, out_graph->node_count + 1);
  if (!marks) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_wait_graph_add_receive_edges(out_graph, marks);
  if (!status) tfrt_wait_graph_judge(out_graph, marks);
  tfrt_allocator_free(allocator, marks, out_graph->node_count + 1);
  return status;
}
