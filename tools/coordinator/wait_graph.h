// SPDX-License-Identifier: Apache-2.0
//
// The graph of waits on a cluster: calls and starts, the nodes that each waits for, and the node
// that all wait for in the end.
//
//   start 1 of @main, host 0 --waits for--> call of @f, host 1 --> call of @g, host 2 --> kernel
//                                      \--> value that a call of @h, host 3, has not made yet
//
// A node waits for the calls that it has made. It also waits for the calls whose results it was
// given and does not have. If it receives a message from a host, it waits for the nodes of the same
// request there, but not for those that wait for it. A node that waits for no other is a *leaf*: a
// kernel of it runs, or it waits for a message or a payload, or the inventories show nothing.
//
// Life: built from inventories, which it borrows, and which are indexed; deinitialised.
//
// Thread rule: main thread only. Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_TOOLS_COORDINATOR_WAIT_GRAPH_H_
#define TFRT_TOOLS_COORDINATOR_WAIT_GRAPH_H_

#include "tools/coordinator/cluster_inventory.h"

#define TFRT_WAIT_GRAPH_NOBODY UINT32_MAX

typedef struct tfrt_wait_node_s {
  uint32_t host;  // whose line it is
  // A start, a call that runs, or a call to a host that does not answer or knows nothing of it.
  tfrt_inventory_line_t line;
  bool is_start;
  bool is_unreached;
  bool is_passing;  // its callee answers, and does not know it: it is on its way, or just over
  tfrt_string_view_t job;
  tfrt_string_view_t request;
  tfrt_string_view_t function;
  uint32_t caller;      // another node, or NOBODY
  uint32_t first_edge;  // to the nodes that it waits for, in their order; NOBODY: none
  uint32_t last_edge;
  uint32_t first_waiter;  // the newest edge from a node that waits for it; NOBODY: none
  uint32_t waiter_count;  // of a leaf: nodes that wait for it, however indirectly, and itself
  bool is_leaf;
  bool is_shown;  // the printer of the graph has shown the nodes below it
} tfrt_wait_node_t;

typedef struct tfrt_wait_edge_s {
  uint32_t waiter;
  uint32_t awaited;
  uint32_t next_edge;    // of the same waiter, or NOBODY
  uint32_t next_waiter;  // an older one of the same awaited, or NOBODY
} tfrt_wait_edge_t;

typedef enum tfrt_wait_operation_kind_e {
  TFRT_WAIT_KERNEL,
  TFRT_WAIT_RECEIVE,
  TFRT_WAIT_PAYLOAD,  // of another host's value, on its way here
} tfrt_wait_operation_kind_t;

// An operation that a node may be in, or may wait for.
typedef struct tfrt_wait_operation_s {
  tfrt_inventory_line_t line;
  tfrt_string_view_t job;
  tfrt_string_view_t request;
  tfrt_string_view_t function;
  tfrt_string_view_t owner;  // of a payload: the incarnation and the name of the value
  tfrt_string_view_t id;
  uint32_t runner;  // of a kernel whose worker says it: the node; NOBODY
  tfrt_wait_operation_kind_t kind;
} tfrt_wait_operation_t;

// Where the nodes and operations of a host are among the others'.
typedef struct tfrt_wait_host_s {
  uint32_t first_node;
  uint32_t node_end;
  uint32_t first_operation;
  uint32_t operation_end;
} tfrt_wait_host_t;

typedef struct tfrt_wait_graph_s {
  const tfrt_cluster_inventory_t* inventory;
  tfrt_wait_node_t* nodes;
  uint32_t node_count;
  uint32_t node_capacity;
  tfrt_wait_edge_t* edges;
  uint32_t edge_count;
  uint32_t edge_capacity;
  tfrt_wait_operation_t* operations;
  uint32_t operation_count;
  uint32_t operation_capacity;
  uint32_t* node_of_entry;  // by place in the inventory's index; NOBODY
  tfrt_wait_host_t hosts[TFRT_HOST_LIST_MAX];
  uint32_t culprit;  // the leaf that most wait for, the oldest of these; NOBODY: nothing runs
} tfrt_wait_graph_t;

// Makes |out_graph| that of |inventory|, which has its index. It must be deinitialised whatever
// this returns. Main thread only.
tfrt_status_t tfrt_wait_graph_build(const tfrt_cluster_inventory_t* inventory,
                                    tfrt_wait_graph_t* out_graph) TFRT_MUST_USE;
void tfrt_wait_graph_deinitialize(tfrt_wait_graph_t* graph);

// Finds the operation that node |index|, a leaf, is in; false if the inventories show none. It is
// the line of a kernel, of a receive, or of a remote value whose payload is on its way to the
// node's host. Main thread only.
bool tfrt_wait_graph_find_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                    tfrt_inventory_line_t* out_line);

#endif  // TFRT_TOOLS_COORDINATOR_WAIT_GRAPH_H_
