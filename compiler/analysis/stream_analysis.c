// SPDX-License-Identifier: Apache-2.0

#include "compiler/analysis/stream_analysis.h"

#define NO_INDEX UINT32_MAX

// One op, or the root. Children are linked in the order in which they were found.
typedef struct tfrt_stream_op_s {
  const tfrt_ir_operation_t* op;  // NULL: the root
  int64_t cost_from_root;         // of the path that triggers it, itself included
  uint32_t cost;
  uint32_t first_child;
  uint32_t last_child;
  uint32_t next_child;  // of the same parent
  uint32_t parent;      // what triggers it
  uint32_t stream;
} stream_op_t;

typedef struct tfrt_stream_build_s {
  int64_t cost;
  uint32_t parent_op;    // index of what triggers it
  uint32_t merged_into;  // NO_INDEX: it is itself
  uint32_t first_link;   // what it needs besides what triggers it
  uint32_t last_link;
  uint32_t candidate_of;  // the op that looks for streams to put together, or NO_INDEX
  bool has_return;
} stream_build_t;

// A value, no chain, that an op of a stream takes from an op that doesn't trigger it.
typedef struct tfrt_stream_link_s {
  uint32_t producer;
  uint32_t next;  // of the same stream
} stream_link_t;

static bool is_return(const tfrt_ir_operation_t* op) { return tfrt_ir_operation_is_return(op); }

// --- Options ------------------------------------------------------------------------

// The integer or truth value |name| of the function around |block|, or else of a module around
// that.
static int64_t find_option(const tfrt_ir_block_t* block, const char* name) {
  const tfrt_ir_operation_t* op = block->region->owner;
  if (!tfrt_ir_is_function(op)) {
    // A region's block listens to the module alone.
    while (op && !tfrt_ir_is_module(op)) op = tfrt_ir_operation_parent(op);
  }
  while (op) {
    const tfrt_ir_attribute_t* option = tfrt_ir_operation_attribute(op, name);
    if (option && option->kind == TFRT_IR_ATTRIBUTE_INTEGER) {
      return tfrt_ir_attribute_integer_value(option);
    }
    op = tfrt_ir_operation_parent(op);
  }
  return 0;
}

static int64_t op_cost(const tfrt_stream_analysis_t* analysis, const tfrt_ir_operation_t* op) {
  if (is_return(op) || tfrt_ir_operation_is(op, "tfrt.merge.chains")) return 1;
  const tfrt_ir_attribute_t* cost = tfrt_ir_operation_attribute(op, "_tfrt_cost");
  if (cost && cost->kind == TFRT_IR_ATTRIBUTE_INTEGER) {
    int64_t value = tfrt_ir_attribute_integer_value(cost);
    return value > 0 ? value : 1;
  }
  int64_t usual = analysis->threshold > 0 ? analysis->threshold : 1;
  bool is_known = analysis->uses_table && op->descriptor;
  if (!is_known || op->descriptor->cost <= TFRT_STREAM_HEAVY_COST) return usual;
  int64_t own = op->descriptor->cost / TFRT_STREAM_USUAL_COST;
  return own > usual ? own : usual;
}

uint32_t tfrt_stream_unknown_cost(const tfrt_ir_operation_t* op) {
  const tfrt_kernel_descriptor_t* descriptor = op->descriptor;
  const tfrt_ir_attribute_t* attribute = tfrt_ir_operation_attribute(op, "_tfrt_cost");
  bool has_both = attribute && attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER && descriptor;
  // All others count as expensive.
  if (!has_both || !(descriptor->flags & TFRT_KERNEL_PURE) ||
      descriptor->cost == TFRT_KERNEL_COST_UNKNOWN) {
    return 0;
  }
  int64_t cost = tfrt_ir_attribute_integer_value(attribute);
  if (cost > UINT32_MAX / TFRT_STREAM_USUAL_COST) return UINT32_MAX;
  cost *= TFRT_STREAM_USUAL_COST;
  return cost >= TFRT_STREAM_NOTED_COST && cost > descriptor->cost ? (uint32_t)cost : 0;
}

// --- Forward ------------------------------------------------------------------------

static void add_child(tfrt_stream_analysis_t* analysis, uint32_t parent, uint32_t child) {
  stream_op_t* entry = &analysis->ops[parent];
  if (entry->last_child == NO_INDEX) {
    entry->first_child = child;
    --analysis->leaf_count;
  } else {
    analysis->ops[entry->last_child].next_child = child;
  }
  entry->last_child = child;
}

// Sums don't overflow: a path of 2^31 ops of the highest cost is still below 2^63.
static int64_t bounded(int64_t cost) { return cost < UINT32_MAX ? cost : UINT32_MAX; }

// Numbers |op|, before which all others of its block have been scheduled, and finds what triggers
// it.
static void schedule(tfrt_stream_analysis_t* analysis, tfrt_ir_operation_t* op, uint32_t index) {
  stream_op_t* ops = analysis->ops;
  stream_op_t* entry = &ops[index];
  uint32_t root = analysis->op_count;
  uint32_t parent = root;
  int64_t parent_cost = 0;
  op->scratch = index;
  *entry = (stream_op_t){
      .op = op, .first_child = NO_INDEX, .last_child = NO_INDEX, .next_child = NO_INDEX};
  analysis->operand_count += op->operand_count;
  analysis->result_count += op->result_count;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_operation_t* producer = op->operands[i].value->producer;
    uint32_t candidate = producer ? producer->scratch : root;
    // A producer that stands behind its user has no number yet.
    if (producer && candidate >= index) continue;
    if (ops[candidate].cost_from_root <= parent_cost) continue;
    parent = candidate;
    parent_cost = ops[candidate].cost_from_root;
  }
  entry->cost = (uint32_t)bounded(op_cost(analysis, op));
  entry->cost_from_root = entry->cost + parent_cost;
  entry->parent = parent;
  if (entry->cost_from_root > analysis->critical_path) {
    analysis->critical_path = entry->cost_from_root;
  }
  add_child(analysis, parent, index);
}

// --- Backward -----------------------------------------------------------------------

static uint32_t current_stream(const tfrt_stream_analysis_t* analysis, uint32_t stream) {
  while (analysis->streams[stream].merged_into != NO_INDEX) {
    stream = analysis->streams[stream].merged_into;
  }
  return stream;
}

// Appends the links from |first| to |last| to those of |stream|.
static void append_links(tfrt_stream_analysis_t* analysis, stream_build_t* stream, uint32_t first,
                         uint32_t last) {
  if (first == NO_INDEX) return;
  if (stream->first_link == NO_INDEX) {
    stream->first_link = first;
  } else {
    analysis->links[stream->last_link].next = first;
  }
  stream->last_link = last;
}

static void merge_streams(tfrt_stream_analysis_t* analysis, uint32_t from, uint32_t to) {
  stream_build_t* source = &analysis->streams[from];
  analysis->streams[to].cost += source->cost;
  analysis->streams[to].has_return |= source->has_return;
  append_links(analysis, &analysis->streams[to], source->first_link, source->last_link);
  source->merged_into = to;
}

// --- Streams that need each other's values --------------------------------------------

// Notes what op |index|, now of |stream|, needs besides what triggers it.
static void add_links(tfrt_stream_analysis_t* analysis, uint32_t index, uint32_t stream) {
  const stream_op_t* entry = &analysis->ops[index];
  if (!entry->op) return;
  for (uint32_t i = 0; i < entry->op->operand_count; ++i) {
    const tfrt_ir_value_t* value = entry->op->operands[i].value;
    if (!value->producer || value->producer->scratch == entry->parent ||
        tfrt_ir_string_is(value->type->text, "!tfrt.chain")) {
      continue;
    }
    uint32_t link = analysis->link_count++;
    analysis->links[link] = (stream_link_t){.producer = value->producer->scratch, .next = NO_INDEX};
    append_links(analysis, &analysis->streams[stream], link, link);
  }
}

// Lets |stream|, a candidate of op |index|, take in other candidates below |limit| that make
// values for it, until it has reached |limit|.
static void take_in_producers(tfrt_stream_analysis_t* analysis, uint32_t index, uint32_t stream,
                              int64_t limit) {
  stream_build_t* streams = analysis->streams;
  // The loop doesn't look at the links that come with the streams that it takes in.
  uint32_t last = streams[stream].last_link;
  uint32_t link = streams[stream].first_link;
  while (link != NO_INDEX) {
    uint32_t producer = analysis->links[link].producer;
    uint32_t next = link == last ? NO_INDEX : analysis->links[link].next;
    link = next;
    // Streams are built from the end: what stands before the op has none yet.
    if (producer <= index && index != analysis->op_count) continue;
    uint32_t other = current_stream(analysis, analysis->ops[producer].stream);
    if (other == stream || streams[other].candidate_of != index) continue;
    if (streams[other].cost >= limit) continue;
    merge_streams(analysis, other, stream);
    if (streams[stream].cost >= limit) return;
  }
}

// Puts those streams of the children of op |index| together that need each other's values.
static void join_linked_children(tfrt_stream_analysis_t* analysis, uint32_t index, int64_t limit) {
  const stream_op_t* ops = analysis->ops;
  for (uint32_t child = ops[index].first_child; child != NO_INDEX; child = ops[child].next_child) {
    analysis->streams[ops[child].stream].candidate_of = index;
  }
  for (uint32_t child = ops[index].first_child; child != NO_INDEX; child = ops[child].next_child) {
    uint32_t stream = ops[child].stream;
    if (analysis->streams[stream].merged_into != NO_INDEX) continue;
    take_in_producers(analysis, index, stream, limit);
  }
}

// The streams of the children of op |index| that are cheap join their neighbours. Returns the
// last group if it stayed cheap, or NO_INDEX.
static uint32_t group_children(tfrt_stream_analysis_t* analysis, uint32_t index) {
  bool automatic = analysis->threshold <= 0;
  int64_t limit = automatic ? analysis->critical_path - analysis->ops[index].cost_from_root
                            : analysis->threshold;
  if (analysis->links) join_linked_children(analysis, index, limit);
  uint32_t group = NO_INDEX;
  for (uint32_t child = analysis->ops[index].first_child; child != NO_INDEX;
       child = analysis->ops[child].next_child) {
    uint32_t stream = analysis->ops[child].stream;
    if (analysis->streams[stream].merged_into != NO_INDEX) continue;
    int64_t cost = analysis->streams[stream].cost;
    analysis->streams[stream].parent_op = index;
    if (cost >= limit) continue;
    int64_t group_cost = group == NO_INDEX ? limit : analysis->streams[group].cost;
    bool joins = automatic ? group_cost + cost < limit : group_cost < limit;
    if (joins) {
      merge_streams(analysis, stream, group);
    } else {
      group = stream;
    }
  }
  if (group == NO_INDEX || analysis->streams[group].cost >= limit) return NO_INDEX;
  return group;
}

// The stream that holds the return, or else the most expensive one, among those of the
// children of op |index|.
static uint32_t choose_stream(const tfrt_stream_analysis_t* analysis, uint32_t index) {
  uint32_t best = NO_INDEX;
  for (uint32_t child = analysis->ops[index].first_child; child != NO_INDEX;
       child = analysis->ops[child].next_child) {
    uint32_t stream = current_stream(analysis, analysis->ops[child].stream);
    if (analysis->streams[stream].has_return) return stream;
    if (best == NO_INDEX || analysis->streams[stream].cost > analysis->streams[best].cost) {
      best = stream;
    }
  }
  return best;
}

static uint32_t open_stream(tfrt_stream_analysis_t* analysis) {
  uint32_t stream = analysis->stream_count++;
  analysis->streams[stream] = (stream_build_t){.merged_into = NO_INDEX,
                                               .first_link = NO_INDEX,
                                               .last_link = NO_INDEX,
                                               .candidate_of = NO_INDEX};
  return stream;
}

// The stream that op |index|, which has several children, joins once the cheap ones among theirs
// are put together.
static TFRT_NO_INLINE uint32_t join_children(tfrt_stream_analysis_t* analysis, uint32_t index) {
  uint32_t rest = group_children(analysis, index);
  uint32_t stream = choose_stream(analysis, index);
  // With a threshold, what stayed below it isn't worth a stream of its own.
  if (analysis->threshold > 0 && rest != NO_INDEX && rest != stream) {
    merge_streams(analysis, rest, stream);
  }
  return stream;
}

TFRT_ALWAYS_INLINE void build_stream(tfrt_stream_analysis_t* analysis, uint32_t index) {
  stream_op_t* entry = &analysis->ops[index];
  uint32_t stream;
  if (entry->first_child == NO_INDEX) {
    stream = open_stream(analysis);
  } else if (entry->first_child == entry->last_child) {
    // As most have: an only child has no neighbours.
    stream = analysis->ops[entry->first_child].stream;
  } else {
    stream = join_children(analysis, index);
  }
  entry->stream = stream;
  analysis->streams[stream].cost += entry->cost;
  analysis->streams[stream].parent_op = NO_INDEX;
  if (analysis->links) add_links(analysis, index, stream);
}

// Backward, and the root at the end.
static void build_streams(tfrt_stream_analysis_t* analysis) {
  uint32_t index = analysis->op_count;
  if (index > 0) {
    build_stream(analysis, --index);
    const stream_op_t* last = &analysis->ops[index];
    analysis->streams[last->stream].has_return = is_return(last->op);
  }
  while (index > 0) build_stream(analysis, --index);
  build_stream(analysis, analysis->op_count);
}

// Lets every stream point to what it became at once: paths can be as long as the block.
static void shorten_paths(tfrt_stream_analysis_t* analysis) {
  for (uint32_t i = 0; i < analysis->stream_count; ++i) {
    uint32_t last = current_stream(analysis, i);
    for (uint32_t stream = i; stream != last;) {
      uint32_t next = analysis->streams[stream].merged_into;
      analysis->streams[stream].merged_into = last;
      stream = next;
    }
  }
}

// --- Interface ------------------------------------------------------------------------

// Room for the ops and, behind them, the root: all of them are leaves at first.
static bool allocate_ops(tfrt_stream_analysis_t* analysis) {
  size_t count = (size_t)analysis->op_count + 1;
  tfrt_arena_reserve(&analysis->arena, count * sizeof(*analysis->ops) + 1024);
  analysis->ops = tfrt_arena_allocate_room(&analysis->arena, count, sizeof(*analysis->ops));
  analysis->leaf_count = analysis->op_count + 1;
  return analysis->ops != NULL;
}

static bool allocate_streams(tfrt_stream_analysis_t* analysis) {
  analysis->streams =
      tfrt_arena_allocate_room(&analysis->arena, analysis->leaf_count, sizeof(*analysis->streams));
  return analysis->streams != NULL;
}

// Room for what streams need of each other, if |block| wants that to count.
static bool allocate_links(tfrt_stream_analysis_t* analysis, const tfrt_ir_block_t* block) {
  if (find_option(block, "tfrt.merge_inter_dependent_streams") == 0) return true;
  analysis->links = tfrt_arena_allocate_array(&analysis->arena, analysis->operand_count + 1,
                                              sizeof(*analysis->links));
  return analysis->links != NULL;
}

// Forward; false when memory is out.
static bool schedule_all(tfrt_stream_analysis_t* analysis, const tfrt_ir_block_t* block) {
  if (!allocate_ops(analysis)) return false;
  stream_op_t* root = &analysis->ops[analysis->op_count];
  *root = (stream_op_t){.cost_from_root = 1,
                        .cost = 1,
                        .first_child = NO_INDEX,
                        .last_child = NO_INDEX,
                        .next_child = NO_INDEX};
  uint32_t index = 0;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) schedule(analysis, op, index++);
  return allocate_streams(analysis) && allocate_links(analysis, block);
}

tfrt_status_t tfrt_stream_analysis_initialize(tfrt_stream_analysis_t* analysis,
                                              const tfrt_ir_block_t* block, bool uses_table,
                                              tfrt_allocator_t allocator) {
  *analysis = (tfrt_stream_analysis_t){.op_count = block->op_count,
                                       .uses_table = uses_table,
                                       .threshold = find_option(block, "tfrt.cost_threshold")};
  tfrt_arena_initialize(&analysis->arena, allocator);
  analysis->threshold = bounded(analysis->threshold);
  if (!schedule_all(analysis, block)) {
    tfrt_arena_deinitialize(&analysis->arena);
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to analyse streams");
  }
  build_streams(analysis);
  shorten_paths(analysis);
  return NULL;
}

void tfrt_stream_analysis_deinitialize(tfrt_stream_analysis_t* analysis) {
  tfrt_arena_deinitialize(&analysis->arena);
}

void tfrt_stream_analysis_list_streams(const tfrt_stream_analysis_t* analysis,
                                       uint32_t* out_streams) {
  for (uint32_t i = 0; i < analysis->op_count; ++i) {
    uint32_t stream = analysis->ops[i].stream;
    uint32_t merged_into = analysis->streams[stream].merged_into;
    // A path is one step at most since all were shortened.
    out_streams[i] = merged_into == NO_INDEX ? stream : merged_into;
  }
}

uint32_t tfrt_stream_analysis_op_stream(const tfrt_stream_analysis_t* analysis, uint32_t index) {
  return current_stream(analysis, analysis->ops[index].stream);
}

uint32_t tfrt_stream_analysis_root_stream(const tfrt_stream_analysis_t* analysis) {
  return tfrt_stream_analysis_op_stream(analysis, analysis->op_count);
}

tfrt_stream_t tfrt_stream_analysis_stream(const tfrt_stream_analysis_t* analysis, uint32_t id) {
  const stream_build_t* build = &analysis->streams[id];
  tfrt_stream_t stream = {.id = id, .cost = build->cost, .parent_id = TFRT_STREAM_NONE};
  if (build->parent_op != NO_INDEX) {
    stream.parent_op = analysis->ops[build->parent_op].op;
    stream.parent_id = tfrt_stream_analysis_op_stream(analysis, build->parent_op);
  }
  return stream;
}
