// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/stream_printer.h"

#include <inttypes.h>

#include "compiler/analysis/stream_analysis.h"
#include "compiler/passes/pass.h"

#define NO_STREAM UINT32_MAX

// One function. Ops are numbered as the analysis does; the root is one more, behind them.
typedef struct stream_printer_s {
  tfrt_stream_analysis_t analysis;
  tfrt_arena_t arena;
  tfrt_string_builder_t text;
  uint32_t* first_child;   // of each op: the first stream that it triggers, or NO_STREAM
  uint32_t* last_child;    // of each op
  uint32_t* next_sibling;  // of each stream
  bool* is_known;          // of each stream: it hangs from its op
} stream_printer_t;

// Hangs the stream of op |index| from the op that triggers it, if that is not done yet.
static void add_stream(stream_printer_t* printer, uint32_t index) {
  uint32_t id = tfrt_stream_analysis_op_stream(&printer->analysis, index);
  if (printer->is_known[id]) return;
  printer->is_known[id] = true;
  tfrt_stream_t stream = tfrt_stream_analysis_stream(&printer->analysis, id);
  if (stream.parent_id == TFRT_STREAM_NONE) return;
  uint32_t parent = stream.parent_op ? stream.parent_op->scratch : printer->analysis.op_count;
  if (printer->first_child[parent] == NO_STREAM) {
    printer->first_child[parent] = id;
  } else {
    printer->next_sibling[printer->last_child[parent]] = id;
  }
  printer->last_child[parent] = id;
}

static bool gather_streams(stream_printer_t* printer) {
  size_t size = (size_t)printer->analysis.op_count + 1;
  printer->first_child = tfrt_arena_allocate_array(&printer->arena, size, sizeof(uint32_t));
  printer->last_child = tfrt_arena_allocate_array(&printer->arena, size, sizeof(uint32_t));
  printer->next_sibling = tfrt_arena_allocate_array(&printer->arena, size, sizeof(uint32_t));
  printer->is_known = tfrt_arena_allocate_array(&printer->arena, size, sizeof(bool));
  if (!printer->first_child || !printer->last_child || !printer->next_sibling ||
      !printer->is_known) {
    return false;
  }
  for (size_t i = 0; i < size; ++i) {
    printer->first_child[i] = NO_STREAM;
    printer->next_sibling[i] = NO_STREAM;
  }
  for (uint32_t i = 0; i < printer->analysis.op_count; ++i) add_stream(printer, i);
  return true;
}

// Reports the stream of op |index| at |place|.
static void print_stream(stream_printer_t* printer, uint32_t index,
                         const tfrt_ir_operation_t* place, tfrt_diagnostics_t* diagnostics) {
  uint32_t id = tfrt_stream_analysis_op_stream(&printer->analysis, index);
  tfrt_stream_t stream = tfrt_stream_analysis_stream(&printer->analysis, id);
  int64_t parent = stream.parent_id == TFRT_STREAM_NONE ? -1 : (int64_t)stream.parent_id;
  tfrt_string_builder_clear(&printer->text);
  uint32_t child = printer->first_child[index];
  if (child != NO_STREAM) tfrt_string_builder_append_text(&printer->text, ", child streams: [");
  while (child != NO_STREAM) {
    uint32_t next = printer->next_sibling[child];
    tfrt_string_builder_append_format(&printer->text, "%" PRIu32 "%s", child,
                                      next == NO_STREAM ? "]" : ", ");
    child = next;
  }
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_REMARK, place,
                   "stream id: %" PRIu32 ", stream cost: %" PRId64 ", parent stream: %" PRId64 "%s",
                   id, stream.cost, parent, tfrt_string_builder_text(&printer->text));
}

static bool print_function(tfrt_ir_context_t* context, const tfrt_ir_operation_t* function,
                           tfrt_diagnostics_t* diagnostics) {
  const tfrt_ir_block_t* block = tfrt_ir_function_block(function);
  if (!block) return true;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  stream_printer_t printer;
  tfrt_status_t status = tfrt_stream_analysis_initialize(&printer.analysis, block, true, allocator);
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_arena_initialize(&printer.arena, allocator);
  tfrt_string_builder_initialize(&printer.text, allocator);
  bool ok = gather_streams(&printer);
  if (ok) {
    print_stream(&printer, printer.analysis.op_count, function, diagnostics);
    uint32_t index = 0;
    for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      print_stream(&printer, index++, op, diagnostics);
    }
  }
  tfrt_string_builder_deinitialize(&printer.text);
  tfrt_arena_deinitialize(&printer.arena);
  tfrt_stream_analysis_deinitialize(&printer.analysis);
  return ok;
}

bool tfrt_print_streams(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                        tfrt_diagnostics_t* diagnostics) {
  for (const tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op; op = op->next) {
    if (!tfrt_ir_is_function(op) || print_function(context, op, diagnostics)) continue;
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, op, "out of memory to analyse streams");
    return false;
  }
  return true;
}
