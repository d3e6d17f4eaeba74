// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/dump_command.h"

#include <stdio.h>

#include "host_runtime/base/plural.h"
#include "tools/coordinator/wait_graph.h"
#include "tools/output/json.h"

// Calls below calls are shown to this depth.
#define TFRT_DUMP_MAX_DEPTH 256

typedef tfrt_string_builder_t tfrt_dump_out_t;

static void dump_append_view(tfrt_dump_out_t* out, const char* before, tfrt_string_view_t text) {
  if (text.size == 0) return;
  tfrt_string_builder_append_text(out, before);
  tfrt_string_builder_append_view(out, text);
}

// --- For people ----------------------------------------------------------------

// "@f on 127.0.0.1:4001, 2.1 s, running, called at a.mlir:3:4"
static void dump_append_node(const tfrt_wait_graph_t* graph, uint32_t index, tfrt_dump_out_t* out) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  const tfrt_inventory_line_t* line = &node->line;
  tfrt_inventory_line_t caller = *line;
  char name[64];
  if (node->is_start) {
    tfrt_string_builder_append_text(out, "start ");
    tfrt_string_builder_append_view(out, tfrt_inventory_line_text(line, "number"));
  } else {
    tfrt_cluster_inventory_call_name(graph->inventory, node->host, line, name, sizeof(name));
    tfrt_string_builder_append_format(out, "call %s", name);
    if (!node->is_unreached) {
      tfrt_cluster_inventory_find_caller(graph->inventory, node->host, line, &caller);
    }
  }
  dump_append_view(out, " of @", tfrt_inventory_line_text(line, "function"));
  tfrt_string_view_t host = graph->inventory->addresses[node->host];
  if (node->is_unreached) {
    host = tfrt_cluster_inventory_name(graph->inventory, tfrt_inventory_line_text(line, "peer"));
  }
  dump_append_view(out, " on ", host);
  tfrt_string_builder_append_format(out, ", %.1f s, ",
                                    (double)tfrt_inventory_line_number(line, "age_us") / 1e6);
  if (node->is_unreached) {
    tfrt_string_builder_append_text(out, node->is_passing
                                             ? "on its way, or over by now"
                                             : "which was not asked or does not answer");
  } else {
    tfrt_string_builder_append_view(out, tfrt_inventory_line_text(line, "state"));
  }
  dump_append_view(out, ", called at ", tfrt_inventory_line_text(&caller, "at"));
}

// "kernel tfrt.add.i32 of @f at a.mlir:3:4"
static void dump_append_kernel(const tfrt_inventory_line_t* line, tfrt_dump_out_t* out) {
  dump_append_view(out, "kernel ", tfrt_inventory_line_text(line, "name"));
  dump_append_view(out, " of @", tfrt_inventory_line_text(line, "function"));
  dump_append_view(out, " at ", tfrt_inventory_line_text(line, "at"));
}

// "the transfer of a payload, from 127.0.0.1:4001: 65536 of 5242880 bytes have come"; of a result
// of a call of this host, "the transfer of a payload, a result of @f at a.mlir:3:4, from ..."
static void dump_append_payload(const tfrt_wait_graph_t* graph, const tfrt_inventory_line_t* line,
                                tfrt_dump_out_t* out) {
  tfrt_string_builder_append_text(out, "the transfer of a payload");
  dump_append_view(out, ", a result of @", tfrt_inventory_line_text(line, "function"));
  dump_append_view(out, " at ", tfrt_inventory_line_text(line, "at"));
  dump_append_view(
      out, ", from ",
      tfrt_cluster_inventory_name(graph->inventory, tfrt_inventory_line_text(line, "owner")));
  tfrt_string_builder_append_format(
      out, ": %llu", (unsigned long long)tfrt_inventory_line_number(line, "received"));
  // The owner of a value that has not come yet may not have said how large it is.
  uint64_t size = tfrt_inventory_line_number(line, "bytes");
  if (size > 0) tfrt_string_builder_append_format(out, " of %llu", (unsigned long long)size);
  tfrt_string_builder_append_text(out, " bytes have come");
}

// "kernel tfrt_dist.recv of @f at a.mlir:3:4, which waits for a message from host 2 under the
// key k"
static void dump_append_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                  tfrt_dump_out_t* out) {
  tfrt_inventory_line_t line;
  if (!tfrt_wait_graph_find_operation(graph, index, &line)) {
    const tfrt_wait_node_t* node = &graph->nodes[index];
    bool is_unreached = node->is_unreached && !node->is_passing;
    tfrt_string_builder_append_text(out, is_unreached
                                             ? "a host that was not asked or does not answer"
                                             : "no kernel at the moment: a timer, or memory, disk "
                                               "or processor time");
  } else if (tfrt_inventory_line_is(&line, "kernel")) {
    dump_append_kernel(&line, out);
    double age_s = (double)tfrt_inventory_line_number(&line, "age_us") / 1e6;
    if (age_s >= 1) tfrt_string_builder_append_format(out, ", for %.1f s", age_s);
  } else if (tfrt_inventory_line_is(&line, "remote")) {
    dump_append_payload(graph, &line, out);
  } else {
    dump_append_kernel(&line, out);
    // Older workers don't say which kernel it is.
    bool has_name = tfrt_inventory_line_text(&line, "name").size > 0;
    tfrt_string_builder_append_text(out, has_name ? ", which waits for " : "");
    dump_append_view(out, "a message from host ", tfrt_inventory_line_text(&line, "sender"));
    dump_append_view(out, " under the key ", tfrt_inventory_line_text(&line, "key"));
  }
}

// The tree below a node is shown once, however many nodes wait for it.
static void dump_append_tree(tfrt_wait_graph_t* graph, uint32_t index, uint32_t depth,
                             tfrt_dump_out_t* out) {
  tfrt_wait_node_t* node = &graph->nodes[index];
  tfrt_string_builder_append_fill(out, ' ', 2 * depth);
  dump_append_node(graph, index, out);
  tfrt_string_builder_append_text(out, node->is_shown ? " (see above)\n" : "\n");
  if (node->is_shown) return;
  node->is_shown = true;
  if (node->is_leaf) {
    tfrt_string_builder_append_fill(out, ' ', 2 * depth + 2);
    tfrt_string_builder_append_text(out, "in ");
    dump_append_operation(graph, index, out);
    tfrt_string_builder_append_char(out, '\n');
  }
  if (depth >= TFRT_DUMP_MAX_DEPTH) return;
  for (uint32_t edge = node->first_edge; edge != TFRT_WAIT_GRAPH_NOBODY;
       edge = graph->edges[edge].next_edge) {
    dump_append_tree(graph, graph->edges[edge].awaited, depth + 1, out);
  }
}

static void dump_append_text(tfrt_wait_graph_t* graph, tfrt_dump_out_t* out) {
  if (graph->node_count == 0) {
    tfrt_string_builder_append_text(out, "nothing runs\n");
    return;
  }
  if (graph->culprit == TFRT_WAIT_GRAPH_NOBODY) {
    tfrt_string_builder_append_text(out, "all wait for each other, in a ring:\n");
    dump_append_tree(graph, 0, 1, out);
    return;
  }
  const tfrt_wait_node_t* culprit = &graph->nodes[graph->culprit];
  tfrt_string_builder_append_format(out, "%u of %u call%s %s for ", culprit->waiter_count,
                                    graph->node_count, tfrt_plural(graph->node_count),
                                    culprit->waiter_count == 1 ? "waits" : "wait");
  dump_append_node(graph, graph->culprit, out);
  tfrt_string_builder_append_text(out, "\n  in ");
  dump_append_operation(graph, graph->culprit, out);
  tfrt_string_builder_append_text(out, "\n\nCalls and what they wait for:\n");
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    bool is_awaited = graph->nodes[i].first_waiter != TFRT_WAIT_GRAPH_NOBODY;
    if (!is_awaited) dump_append_tree(graph, i, 1, out);
  }
}

// --- For programs --------------------------------------------------------------

static void dump_append_member(tfrt_dump_out_t* out, const char* name, tfrt_string_view_t text) {
  if (text.size == 0) return;
  tfrt_string_builder_append_format(out, ",\"%s\":", name);
  tfrt_json_append_string(out, text);
}

static void dump_append_json_operation(const tfrt_wait_graph_t* graph, uint32_t index,
                                       tfrt_dump_out_t* out) {
  static const char* const names[] = {"name", "function", "at", "sender", "key"};
  tfrt_inventory_line_t line;
  if (!tfrt_wait_graph_find_operation(graph, index, &line)) return;
  tfrt_string_builder_append_text(out, ",\"operation\":{\"kind\":");
  tfrt_json_append_string(out, line.kind);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    dump_append_member(out, names[i], tfrt_inventory_line_text(&line, names[i]));
  }
  if (tfrt_inventory_line_is(&line, "remote")) {
    dump_append_member(
        out, "from",
        tfrt_cluster_inventory_name(graph->inventory, tfrt_inventory_line_text(&line, "owner")));
    tfrt_string_builder_append_format(
        out, ",\"received\":%llu,\"bytes\":%llu",
        (unsigned long long)tfrt_inventory_line_number(&line, "received"),
        (unsigned long long)tfrt_inventory_line_number(&line, "bytes"));
  }
  if (tfrt_inventory_line_is(&line, "kernel")) {
    tfrt_string_builder_append_text(out, ",\"for_s\":");
    tfrt_json_append_number(out, (double)tfrt_inventory_line_number(&line, "age_us") / 1e6);
  }
  tfrt_string_builder_append_char(out, '}');
}

static void dump_append_json_node(const tfrt_wait_graph_t* graph, uint32_t index,
                                  tfrt_dump_out_t* out) {
  const tfrt_wait_node_t* node = &graph->nodes[index];
  const char* kind = node->is_start       ? "start"
                     : node->is_passing   ? "passing"
                     : node->is_unreached ? "unreached"
                                          : "call";
  tfrt_inventory_line_t caller = node->line;
  tfrt_string_builder_append_format(out, "{\"index\":%u,\"kind\":\"%s\"", index, kind);
  char name[64];
  tfrt_cluster_inventory_call_name(graph->inventory, node->host, &node->line, name, sizeof(name));
  if (!node->is_start) dump_append_member(out, "call", tfrt_string_view_of(name));
  dump_append_member(out, "function", tfrt_inventory_line_text(&node->line, "function"));
  dump_append_member(out, "host",
                     node->is_unreached
                         ? tfrt_cluster_inventory_name(
                               graph->inventory, tfrt_inventory_line_text(&node->line, "peer"))
                         : graph->inventory->addresses[node->host]);
  dump_append_member(out, "job", tfrt_inventory_line_text(&node->line, "job"));
  dump_append_member(out, "state", tfrt_inventory_line_text(&node->line, "state"));
  if (!node->is_start && !node->is_unreached) {
    tfrt_cluster_inventory_find_caller(graph->inventory, node->host, &node->line, &caller);
  }
  dump_append_member(out, "at", tfrt_inventory_line_text(&caller, "at"));
  tfrt_string_builder_append_text(out, ",\"age_s\":");
  tfrt_json_append_number(out, (double)tfrt_inventory_line_number(&node->line, "age_us") / 1e6);
  if (node->is_leaf) {
    tfrt_string_builder_append_format(out, ",\"waiters\":%u", node->waiter_count);
    dump_append_json_operation(graph, index, out);
  }
  tfrt_string_builder_append_text(out, ",\"waits_for\":[");
  const char* separator = "";
  for (uint32_t edge = node->first_edge; edge != TFRT_WAIT_GRAPH_NOBODY;
       edge = graph->edges[edge].next_edge) {
    tfrt_string_builder_append_format(out, "%s%u", separator, graph->edges[edge].awaited);
    separator = ",";
  }
  tfrt_string_builder_append_text(out, "]}");
}

static void dump_append_json(const tfrt_wait_graph_t* graph, tfrt_dump_out_t* out) {
  tfrt_string_builder_append_text(out, "{\"waits_for\":");
  if (graph->culprit == TFRT_WAIT_GRAPH_NOBODY) {
    tfrt_string_builder_append_text(out, "null");
  } else {
    dump_append_json_node(graph, graph->culprit, out);
  }
  tfrt_string_builder_append_text(out, ",\n\"nodes\":[");
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    if (i > 0) tfrt_string_builder_append_text(out, ",\n");
    dump_append_json_node(graph, i, out);
  }
  tfrt_string_builder_append_text(out, "]}\n");
}

// --- The verb ------------------------------------------------------------------

static tfrt_status_t dump_check(tfrt_host_query_t* query) {
  if (query->rest.count == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is no flag of tfrt dump",
                            query->rest.values[0]);
}

static tfrt_status_t dump_write(const tfrt_cluster_inventory_t* inventory, bool is_json,
                                tfrt_dump_out_t* out) {
  static tfrt_wait_graph_t graph;
  tfrt_status_t status = tfrt_wait_graph_build(inventory, &graph);
  if (!status && is_json) dump_append_json(&graph, out);
  if (!status && !is_json) dump_append_text(&graph, out);
  tfrt_wait_graph_deinitialize(&graph);
  return status ? status : tfrt_string_builder_status(out);
}

static tfrt_status_t dump_run(tfrt_host_query_t* query) {
  static tfrt_cluster_inventory_t inventory;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_gather(query, TFRT_CLIENT_INVENTORY_ALL, &inventory));
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(query));
  tfrt_host_query_stop_asking(query);
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_status_t status = tfrt_cluster_inventory_index(&inventory);
  if (!status) status = dump_write(&inventory, query->is_json, &out);
  if (!status) fputs(tfrt_string_builder_text(&out), stdout);
  tfrt_string_builder_deinitialize(&out);
  tfrt_cluster_inventory_report_more(&inventory, 0);
  tfrt_cluster_inventory_drop_index(&inventory);
  tfrt_host_query_report_errors(query);
  return status;
}

tfrt_exit_code_t tfrt_dump_command(int argument_count, char* const* arguments) {
  static const tfrt_host_query_verb_t verb = {
      .name = "dump",
      .usage = "tfrt dump --hosts A:P,B:P [FLAGS]",
      .summary =
          "Says what each call waits for, and which kernel, on which host, all wait for in the "
          "end.\nWorkers answer even when no kernel of theirs gets on.",
      .footer =
          "Name all workers of a job: what a worker that is not asked does can't be seen.\n"
          "Exit codes: see tfrt run --help."};
  return tfrt_host_query_command(&verb, dump_check, dump_run, argument_count, arguments);
}
