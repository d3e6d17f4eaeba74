// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/wait_graph.h"

#include <stdio.h>
#include <string.h>

// --- Room ----------------------------------------------------------------------

// Makes room for one more element in |*array|.
static tfrt_status_t wait_graph_grow(void** array, uint32_t count, uint32_t* capacity,
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

static tfrt_status_t wait_graph_add_node(tfrt_wait_graph_t* graph, const tfrt_wait_node_t* node) {
  TFRT_RETURN_IF_ERROR(wait_graph_grow((void**)&graph->nodes, graph->node_count,
                                       &graph->node_capacity, sizeof(*node)));
  graph->nodes[graph->node_count++] = *node;
  return NULL;
}

static tfrt_status_t wait_graph_add_edge(tfrt_wait_graph_t* graph, uint32_t waiter,
                                         uint32_t awaited) {
  if (waiter == awaited) return NULL;
  TFRT_RETURN_IF_ERROR(wait_graph_grow((void**)&graph->edges, graph->edge_count,
                                       &graph->edge_capacity, sizeof(*graph->edges)));
  tfrt_wait_node_t* from = &graph->nodes[waiter];
  tfrt_wait_node_t* to = &graph->nodes[awaited];
  uint32_t edge = graph->edge_count++;
  graph->edges[edge] =
      (tfrt_wait_edge_t){waiter, awaited, TFRT_WAIT_GRAPH_NOBODY, to->first_waiter};
  to->first_waiter = edge;
  if (from->last_edge == TFRT_WAIT_GRAPH_NOBODY) {
    from->first_edge = edge;
  } else {
    graph->edges[from->last_edge].next_edge = edge;
  }
  from->last_edge = edge;
  from->is_leaf = false;
  return NULL;
}

void tfrt_wait_graph_deinitialize(tfrt_wait_graph_t* graph) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, graph->nodes, graph->node_capacity * sizeof(*graph->nodes));
  tfrt_allocator_free(allocator, graph->edges, graph->edge_capacity * sizeof(*graph->edges));
  tfrt_allocator_free(allocator, graph->operations,
                      graph->operation_capacity * sizeof(*graph->operations));
  size_t entry_count = graph->inventory->index.count;
  tfrt_allocator_free(allocator, graph->node_of_entry,
                      (entry_count + 1) * sizeof(*graph->node_of_entry));
}

// --- Nodes ---------------------------------------------------------------------

static bool wait_graph_is_call(const tfrt_inventory_line_t* line, const char* side) {
  return tfrt_inventory_line_is(line, "call") &&
         tfrt_inventory_line_has(line, "dir", tfrt_string_view_of(side));
}

// Sets what |node| is by its line; false if that is none.
static bool wait_graph_read_node(const tfrt_wait_graph_t* graph, tfrt_wait_node_t* node) {
  const tfrt_inventory_line_t* line = &node->line;
  uint32_t callee = 0;
  tfrt_inventory_line_t other;
  node->is_start = tfrt_inventory_line_is(line, "start");
  node->is_unreached =
      wait_graph_is_call(line, "out") &&
      !tfrt_cluster_inventory_find_callee(graph->inventory, node->host, line, &callee, &other);
  if (!node->is_start && !node->is_unreached && !wait_graph_is_call(line, "in")) return false;
  tfrt_string_view_t peer = tfrt_inventory_line_text(line, "peer");
  node->is_passing =
      node->is_unreached && tfrt_cluster_inventory_find(graph->inventory, peer) != UINT32_MAX;
  node->job = tfrt_inventory_line_text(line, "job");
  node->request = tfrt_inventory_line_text(line, "request");
  node->function = tfrt_inventory_line_text(line, "function");
  return true;
}

static tfrt_status_t wait_graph_add_nodes(tfrt_wait_graph_t* graph, uint32_t host) {
  tfrt_wait_node_t node = {.host = host,
                           .caller = TFRT_WAIT_GRAPH_NOBODY,
                           .first_edge = TFRT_WAIT_GRAPH_NOBODY,
                           .last_edge = TFRT_WAIT_GRAPH_NOBODY,
                           .first_waiter = TFRT_WAIT_GRAPH_NOBODY,
                           .is_leaf = true,
                           .waiter_count = 1};
  graph->hosts[host].first_node = graph->node_count;
  for (tfrt_string_view_t rest = graph->inventory->lines[host];
       tfrt_inventory_lines_next(&rest, &node.line);) {
    if (!wait_graph_read_node(graph, &node)) continue;
    tfrt_inventory_key_t key;
    bool has_key = tfrt_inventory_index_key(host, &node.line, &key);
    uint32_t entry = has_key ? tfrt_inventory_index_find(&graph->inventory->index, &key)
                             : TFRT_INVENTORY_INDEX_NONE;
    bool is_first =
        entry != TFRT_INVENTORY_INDEX_NONE && graph->node_of_entry[entry] == TFRT_WAIT_GRAPH_NOBODY;
    if (is_first) graph->node_of_entry[entry] = graph->node_count;
    TFRT_RETURN_IF_ERROR(wait_graph_add_node(graph, &node));
  }
  graph->hosts[host].node_end = graph->node_count;
  return NULL;
}

// The node of |host| that |about|, |first| and |number| say, or NOBODY.
static uint32_t wait_graph_find(const tfrt_wait_graph_t* graph, uint32_t host,
                                tfrt_inventory_about_t about, tfrt_string_view_t first,
                                tfrt_string_view_t number) {
  const tfrt_inventory_key_t key = {host, about, first, number};
  uint32_t entry = tfrt_inventory_index_find(&graph->inventory->index, &key);
  return entry == TFRT_INVENTORY_INDEX_NONE ? TFRT_WAIT_GRAPH_NOBODY : graph->node_of_entry[entry];
}

// The node of |host| whose work the call to others, or the kernel, |line| is, or NOBODY.
static uint32_t wait_graph_find_parent(const tfrt_wait_graph_t* graph, uint32_t host,
                                       const tfrt_inventory_line_t* line) {
  tfrt_string_view_t number = tfrt_inventory_line_text(line, "in");
  if (number.size == 0) return TFRT_WAIT_GRAPH_NOBODY;
  if (memchr(number.data, '.', number.size)) {
    tfrt_string_view_t peer = tfrt_inventory_lines_cut(&number, '.');
    return wait_graph_find(graph, host, TFRT_INVENTORY_CALL_IN, peer, number);
  }
  return wait_graph_find(graph, host, TFRT_INVENTORY_START, tfrt_inventory_line_text(line, "job"),
                         number);
}

// --- Edges ---------------------------------------------------------------------

// The call |out| of |host|: who made it waits for it.
static tfrt_status_t wait_graph_add_call(tfrt_wait_graph_t* graph, uint32_t host,
                                         const tfrt_inventory_line_t* out) {
  uint32_t parent = wait_graph_find_parent(graph, host, out);
  tfrt_string_view_t peer = tfrt_inventory_line_text(out, "peer");
  tfrt_string_view_t number = tfrt_inventory_line_text(out, "number");
  uint32_t callee = tfrt_cluster_inventory_find(graph->inventory, peer);
  uint32_t child = TFRT_WAIT_GRAPH_NOBODY;
  if (callee != UINT32_MAX) {
    child = wait_graph_find(graph, callee, TFRT_INVENTORY_CALL_IN,
                            graph->inventory->incarnations[host], number);
  }
  if (child == TFRT_WAIT_GRAPH_NOBODY) {
    child = wait_graph_find(graph, host, TFRT_INVENTORY_CALL_OUT, peer, number);
  }
  if (parent == TFRT_WAIT_GRAPH_NOBODY || child == TFRT_WAIT_GRAPH_NOBODY) return NULL;
  graph->nodes[child].caller = parent;
  return wait_graph_add_edge(graph, parent, child);
}

// Adds edges for the values that node |index| was given and does not have:
// OWNER/NAMER.NUMBER.INDEX,...
static tfrt_status_t wait_graph_add_needs(tfrt_wait_graph_t* graph, uint32_t index) {
  tfrt_string_view_t rest = tfrt_inventory_line_text(&graph->nodes[index].line, "needs");
  while (rest.size > 0) {
    tfrt_string_view_t need = tfrt_inventory_lines_cut(&rest, ',');
    tfrt_string_view_t owner = tfrt_inventory_lines_cut(&need, '/');
    tfrt_string_view_t namer = tfrt_inventory_lines_cut(&need, '.');
    tfrt_string_view_t number = tfrt_inventory_lines_cut(&need, '.');
    uint32_t host = tfrt_cluster_inventory_find(graph->inventory, owner);
    if (host == UINT32_MAX) continue;
    uint32_t maker = wait_graph_find(graph, host, TFRT_INVENTORY_CALL_IN, namer, number);
    if (maker == TFRT_WAIT_GRAPH_NOBODY) continue;
    TFRT_RETURN_IF_ERROR(wait_graph_add_edge(graph, index, maker));
  }
  return NULL;
}

// The host that sends what |receive| of |host| waits for, as |host| knows it, or UINT32_MAX.
static uint32_t wait_graph_find_sender(const tfrt_wait_graph_t* graph, uint32_t host,
                                       const tfrt_wait_operation_t* receive) {
  const tfrt_inventory_key_t key = {host, TFRT_INVENTORY_RANK, receive->job,
                                    tfrt_inventory_line_text(&receive->line, "sender")};
  const tfrt_inventory_index_t* index = &graph->inventory->index;
  uint32_t entry = tfrt_inventory_index_find(index, &key);
  if (entry == TFRT_INVENTORY_INDEX_NONE) return UINT32_MAX;
  return tfrt_cluster_inventory_find(
      graph->inventory, tfrt_inventory_line_text(&index->entries[entry].line, "incarnation"));
}

// True if node |index| runs for the same job and request as |operation|.
static bool wait_graph_serves(const tfrt_wait_graph_t* graph, uint32_t index,
                              const tfrt_wait_operation_t* operation) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  return !node->is_unreached && tfrt_string_view_equal(node->request, operation->request) &&
         tfrt_string_view_equal(node->job, operation->job);
}

static bool wait_graph_is_own(const tfrt_wait_graph_t* graph, uint32_t index,
                              const tfrt_wait_operation_t* operation) {
  return tfrt_string_view_equal(graph->nodes[index].function, operation->function);
}

// The nodes that wait for a node. A node is marked if its stamp is the latest; both arrays have an
// entry for each node.
typedef struct tfrt_wait_marks_s {
  uint32_t* stamps;
  uint32_t* queue;
  uint32_t stamp;
} tfrt_wait_marks_t;

static void wait_graph_mark(tfrt_wait_marks_t* marks, uint32_t node, uint32_t* count) {
  if (marks->stamps[node] == marks->stamp) return;
  marks->stamps[node] = marks->stamp;
  marks->queue[(*count)++] = node;
}

// Marks |awaited| and the nodes that wait for it by the first |edge_count| edges; returns their
// number.
static uint32_t wait_graph_mark_waiters(const tfrt_wait_graph_t* graph, uint32_t edge_count,
                                        uint32_t awaited, tfrt_wait_marks_t* marks) {
  uint32_t count = 0;
  ++marks->stamp;
  wait_graph_mark(marks, awaited, &count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t edge = graph->nodes[marks->queue[i]].first_waiter;
    for (; edge != TFRT_WAIT_GRAPH_NOBODY; edge = graph->edges[edge].next_waiter) {
      if (edge < edge_count) wait_graph_mark(marks, graph->edges[edge].waiter, &count);
    }
  }
  return count;
}

// Adds edges for a |receive| of |host|. The nodes in that receive are those of its function or, if
// there are none, those that may call that function. They wait for the nodes that run for the
// request at the sender, but not for nodes that wait for them by one of the |call_edge_count| edges
// of calls and values.
static tfrt_status_t wait_graph_add_receive(tfrt_wait_graph_t* graph, uint32_t host,
                                            const tfrt_wait_operation_t* receive,
                                            uint32_t call_edge_count, tfrt_wait_marks_t* marks) {
  uint32_t sender = wait_graph_find_sender(graph, host, receive);
  if (sender == UINT32_MAX) return NULL;
  const tfrt_wait_host_t* here = &graph->hosts[host];
  const tfrt_wait_host_t* there = &graph->hosts[sender];
  bool has_own = false;
  for (uint32_t i = here->first_node; i < here->node_end && !has_own; ++i) {
    has_own = wait_graph_serves(graph, i, receive) && wait_graph_is_own(graph, i, receive);
  }
  for (uint32_t i = here->first_node; i < here->node_end; ++i) {
    if (!wait_graph_serves(graph, i, receive)) continue;
    if (has_own && !wait_graph_is_own(graph, i, receive)) continue;
    wait_graph_mark_waiters(graph, call_edge_count, i, marks);
    for (uint32_t j = there->first_node; j < there->node_end; ++j) {
      bool may_send = wait_graph_serves(graph, j, receive) && marks->stamps[j] != marks->stamp &&
                      !graph->nodes[j].is_start;
      if (may_send) TFRT_RETURN_IF_ERROR(wait_graph_add_edge(graph, i, j));
    }
  }
  return NULL;
}

// By calls, and by what calls were given.
static tfrt_status_t wait_graph_add_call_edges(tfrt_wait_graph_t* graph) {
  for (uint32_t host = 0; host < graph->inventory->host_count; ++host) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = graph->inventory->lines[host];
         tfrt_inventory_lines_next(&rest, &line);) {
      if (!wait_graph_is_call(&line, "out")) continue;
      TFRT_RETURN_IF_ERROR(wait_graph_add_call(graph, host, &line));
    }
  }
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    TFRT_RETURN_IF_ERROR(wait_graph_add_needs(graph, i));
  }
  return NULL;
}

static tfrt_status_t wait_graph_add_receive_edges(tfrt_wait_graph_t* graph,
                                                  tfrt_wait_marks_t* marks) {
  uint32_t call_edge_count = graph->edge_count;
  for (uint32_t host = 0; host < graph->inventory->host_count; ++host) {
    const tfrt_wait_host_t* here = &graph->hosts[host];
    for (uint32_t i = here->first_operation; i < here->operation_end; ++i) {
      const tfrt_wait_operation_t* operation = &graph->operations[i];
      if (operation->kind != TFRT_WAIT_RECEIVE) continue;
      TFRT_RETURN_IF_ERROR(wait_graph_add_receive(graph, host, operation, call_edge_count, marks));
    }
  }
  return NULL;
}

// --- Operations ----------------------------------------------------------------

// Sets |*out_kind| to the kind of operation that |line| is; false if it is none.
static bool wait_graph_operation_kind(const tfrt_inventory_line_t* line,
                                      tfrt_wait_operation_kind_t* out_kind) {
  static const struct {
    const char* line;
    tfrt_wait_operation_kind_t kind;
  } kinds[] = {
      {"kernel", TFRT_WAIT_KERNEL}, {"receive", TFRT_WAIT_RECEIVE}, {"remote", TFRT_WAIT_PAYLOAD}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    if (!tfrt_inventory_line_is(line, kinds[i].line)) continue;
    *out_kind = kinds[i].kind;
    return kinds[i].kind != TFRT_WAIT_PAYLOAD ||
           tfrt_inventory_line_has(line, "state", tfrt_string_view_of("moving"));
  }
  return false;
}

static tfrt_status_t wait_graph_add_operations(tfrt_wait_graph_t* graph, uint32_t host) {
  tfrt_inventory_line_t line;
  graph->hosts[host].first_operation = graph->operation_count;
  for (tfrt_string_view_t rest = graph->inventory->lines[host];
       tfrt_inventory_lines_next(&rest, &line);) {
    tfrt_wait_operation_kind_t kind;
    if (!wait_graph_operation_kind(&line, &kind)) continue;
    TFRT_RETURN_IF_ERROR(wait_graph_grow((void**)&graph->operations, graph->operation_count,
                                         &graph->operation_capacity, sizeof(*graph->operations)));
    graph->operations[graph->operation_count++] =
        (tfrt_wait_operation_t){.line = line,
                                .job = tfrt_inventory_line_text(&line, "job"),
                                .request = tfrt_inventory_line_text(&line, "request"),
                                .function = tfrt_inventory_line_text(&line, "function"),
                                .owner = tfrt_inventory_line_text(&line, "owner"),
                                .id = tfrt_inventory_line_text(&line, "id"),
                                .runner = wait_graph_find_parent(graph, host, &line),
                                .kind = kind};
  }
  graph->hosts[host].operation_end = graph->operation_count;
  return NULL;
}

// True if the payload |operation| is of a value that a call was given which needs |needs|:
// OWNER/ID,...
static bool wait_graph_needs(tfrt_string_view_t needs, const tfrt_wait_operation_t* operation) {
  while (needs.size > 0) {
    tfrt_string_view_t id = tfrt_inventory_lines_cut(&needs, ',');
    tfrt_string_view_t owner = tfrt_inventory_lines_cut(&id, '/');
    if (tfrt_string_view_equal(operation->id, id) &&
        tfrt_string_view_equal(operation->owner, owner)) {
      return true;
    }
  }
  return false;
}

// How likely node |index| is in |operation|: the least rank is best. A kernel or a wait of the
// node's own function is better than one of another function, which it may have called. UINT32_MAX:
// the node is not in it. |needs| is what the node was given and doesn't have.
static uint32_t wait_graph_rank_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                          tfrt_string_view_t needs,
                                          const tfrt_wait_operation_t* operation) {
  bool is_own = wait_graph_is_own(graph, index, operation);
  if (operation->kind == TFRT_WAIT_PAYLOAD) {
    const tfrt_wait_node_t* node = &graph->nodes[index];
    if (!tfrt_string_view_equal(node->job, operation->job)) return UINT32_MAX;
    // Calls say which values they were given and don't have, but not which results they need.
    return wait_graph_needs(needs, operation) ? 1 : 5;
  }
  bool is_kernel = operation->kind == TFRT_WAIT_KERNEL;
  if (is_kernel && operation->job.size == 0) {
    // A worker of an older version doesn't say which job the kernel belongs to. Several jobs may
    // share the function, so a kernel of the node's own function is a weak hint; a kernel of
    // another function is none.
    return is_own ? 3 : UINT32_MAX;
  }
  if (is_kernel) return operation->runner != index ? UINT32_MAX : is_own ? 0 : 4;
  if (!wait_graph_serves(graph, index, operation)) return UINT32_MAX;
  return is_own ? 1 : 2;
}

bool tfrt_wait_graph_find_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                    tfrt_inventory_line_t* out_line) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  if (node->is_unreached) return false;
  const tfrt_wait_host_t* here = &graph->hosts[node->host];
  tfrt_string_view_t needs = tfrt_inventory_line_text(&node->line, "needs");
  uint32_t best = UINT32_MAX;
  for (uint32_t i = here->first_operation; i < here->operation_end && best > 0; ++i) {
    uint32_t rank = wait_graph_rank_operation(graph, index, needs, &graph->operations[i]);
    if (rank >= best) continue;
    best = rank;
    *out_line = graph->operations[i].line;
  }
  return best != UINT32_MAX;
}

// --- The one that all wait for -------------------------------------------------

static void wait_graph_judge(tfrt_wait_graph_t* graph, tfrt_wait_marks_t* marks) {
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    tfrt_wait_node_t* node = &graph->nodes[i];
    if (!node->is_leaf) continue;
    node->waiter_count = wait_graph_mark_waiters(graph, graph->edge_count, i, marks);
    const tfrt_wait_node_t* best =
        graph->culprit == TFRT_WAIT_GRAPH_NOBODY ? NULL : &graph->nodes[graph->culprit];
    bool is_older = best && tfrt_inventory_line_number(&node->line, "age_us") >
                                tfrt_inventory_line_number(&best->line, "age_us");
    bool is_worse = !best || node->waiter_count > best->waiter_count ||
                    (node->waiter_count == best->waiter_count && is_older);
    // A passing node is the culprit only if there is no other leaf.
    if (best && node->is_passing != best->is_passing) is_worse = best->is_passing;
    if (is_worse) graph->culprit = i;
  }
}

// --- All of it -----------------------------------------------------------------

static tfrt_status_t wait_graph_make_room(tfrt_wait_graph_t* graph) {
  size_t count = (size_t)graph->inventory->index.count + 1;
  graph->node_of_entry =
      tfrt_allocator_allocate(tfrt_allocator_system(), count * sizeof(*graph->node_of_entry));
  if (!graph->node_of_entry) return tfrt_status_out_of_memory();
  for (size_t i = 0; i < count; ++i) graph->node_of_entry[i] = TFRT_WAIT_GRAPH_NOBODY;
  return NULL;
}

tfrt_status_t tfrt_wait_graph_build(const tfrt_cluster_inventory_t* inventory,
                                    tfrt_wait_graph_t* out_graph) {
  *out_graph = (tfrt_wait_graph_t){.inventory = inventory, .culprit = TFRT_WAIT_GRAPH_NOBODY};
  TFRT_RETURN_IF_ERROR(wait_graph_make_room(out_graph));
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    TFRT_RETURN_IF_ERROR(wait_graph_add_nodes(out_graph, i));
  }
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    TFRT_RETURN_IF_ERROR(wait_graph_add_operations(out_graph, i));
  }
  TFRT_RETURN_IF_ERROR(wait_graph_add_call_edges(out_graph));
  tfrt_allocator_t allocator = tfrt_allocator_system();
  size_t size = 2 * ((size_t)out_graph->node_count + 1) * sizeof(uint32_t);
  uint32_t* room = tfrt_allocator_allocate_zeroed(allocator, size);
  if (!room) return tfrt_status_out_of_memory();
  tfrt_wait_marks_t marks = {.stamps = room, .queue = room + out_graph->node_count + 1};
  tfrt_status_t status = wait_graph_add_receive_edges(out_graph, &marks);
  if (!status) wait_graph_judge(out_graph, &marks);
  tfrt_allocator_free(allocator, room, size);
  return status;
}
