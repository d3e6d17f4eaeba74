// SPDX-License-Identifier: Apache-2.0
//
// `Loop` and `Scan` as a tfrt.while. Its turns hand on, in this order:
//
//   captured values, parts' tensors, limit   the same in each turn
//   turn                                     an i64, from 0 on
//   states                                   as the model's body gives them
//   rows                                     one more row each turn
#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_body.h"
#include "compiler/onnx/onnx_branch.h"
#include "compiler/onnx/onnx_model.h"
#include "compiler/onnx/onnx_summary.h"

typedef tfrt_ir_value_t* value_t;

typedef struct loop_s {
  tfrt_onnx_builder_t* builder;
  const char* op_type;
  const Onnx__AttributeProto* attribute;  // the body
  tfrt_onnx_names_t captured;
  value_t condition;  // of the first turn; NULL: none
  value_t limit;      // of the number of turns; NULL: none
  size_t part_count;  // tensors; each turn gets a part of each; the last inputs of the node
  size_t first_state, state_count;       // inputs of the node
  size_t row_count;                      // tensors; each turn appends a row to each
  const Onnx__AttributeProto* lists[4];  // of `Scan`, in the order of list_names; NULL: zeros
  const tfrt_ir_attribute_t** starts;    // [row_count], what the rows begin with
} loop_t;

enum { INPUT_AXES, INPUT_DIRECTIONS, OUTPUT_AXES, OUTPUT_DIRECTIONS };

static const char* const list_names[] = {"scan_input_axes", "scan_input_directions",
                                         "scan_output_axes", "scan_output_directions"};

static bool is_scan(const loop_t* loop) { return strcmp(loop->op_type, "Scan") == 0; }

static size_t own_count(const loop_t* loop) {
  return loop->part_count + (loop->limit ? 1 : 0) + 1 + loop->state_count + loop->row_count;
}

static int64_t list_value(const loop_t* loop, int list, size_t index) {
  return loop->lists[list] ? loop->lists[list]->ints[index] : 0;
}

// Appends |value| to |values|.
static void push(tfrt_onnx_operands_t* values, value_t value) {
  values->values[values->count++] = value;
}

// --- The body ---------------------------------------------------------------------

// The attribute of the empty tensor that the rows |info| begin with; axes of unknown length are
// empty.
static const tfrt_ir_attribute_t* empty_rows(tfrt_onnx_builder_t* builder,
                                             const Onnx__ValueInfoProto* info) {
  tfrt_onnx_signature_t signature;
  tfrt_status_release(tfrt_onnx_signature_read(info, NULL, &signature));
  int64_t dims[TFRT_ONNX_MAX_AXES + 1] = {0};
  uint32_t rank = 1;
  // Tensors have at most as many axes as a model's inputs.
  for (uint32_t i = 0; i < signature.rank && rank < TFRT_ONNX_MAX_AXES; ++i) {
    dims[rank++] = signature.dims[i] > 0 ? signature.dims[i] : 0;
  }
  const int32_t f32 = 1;
  int32_t number = signature.element_type ? signature.element_type : f32;
  const tfrt_ir_type_t* element = tfrt_onnx_element_type(builder->context, number);
  if (!element) {
    tfrt_onnx_report(builder, "elements of %s are not supported", tfrt_onnx_element_name(number));
    return NULL;
  }
  const tfrt_ir_type_t* type =
      tfrt_ir_type_shaped(builder->context, TFRT_IR_TYPE_TENSOR, true, dims, rank, element, NULL);
  return type ? tfrt_ir_attribute_dense(builder->context, type, "", 0) : NULL;
}

// Checks what the body takes and gives, and sets the number of rows and what they begin with.
static bool read_rows(loop_t* loop, const tfrt_onnx_body_t* body) {
  tfrt_onnx_builder_t* builder = loop->builder;
  size_t extra_inputs = is_scan(loop) ? loop->part_count : 2;
  size_t extra_outputs = is_scan(loop) ? 0 : 1;
  size_t output_count = body->graph->n_output;
  if (body->graph->n_input != extra_inputs + loop->state_count ||
      output_count < extra_outputs + loop->state_count) {
    tfrt_onnx_report(builder, "its body takes %zu values and gives %zu, but there are %zu states",
                     body->graph->n_input, output_count, loop->state_count);
    return false;
  }
  loop->row_count = output_count - extra_outputs - loop->state_count;
  loop->starts =
      tfrt_ir_context_allocate_array(builder->context, loop->row_count, sizeof(*loop->starts));
  if (builder->node->n_output > loop->state_count + loop->row_count) {
    tfrt_onnx_report(builder, "it has more outputs than its body");
    return false;
  }
  for (int i = OUTPUT_AXES; i <= OUTPUT_DIRECTIONS; ++i) {
    if (!loop->lists[i] || loop->lists[i]->n_ints == loop->row_count) continue;
    tfrt_onnx_report(builder, "its '%s' must have %zu numbers", list_names[i], loop->row_count);
    return false;
  }
  for (size_t i = 0; loop->starts && i < loop->row_count; ++i) {
    loop->starts[i] =
        empty_rows(builder, body->graph->output[extra_outputs + loop->state_count + i]);
    if (!loop->starts[i]) return false;
  }
  return loop->starts != NULL;
}

// Sets the inputs of the graph of |body| for the turn |turn|; |own| are the function's parameters
// behind the captured ones.
static bool set_inputs(loop_t* loop, tfrt_onnx_body_t* body, value_t* own, value_t turn,
                       value_t* states) {
  tfrt_onnx_builder_t* builder = loop->builder;
  size_t first = is_scan(loop) ? 0 : 2;
  for (size_t i = 0; i < loop->state_count; ++i) {
    tfrt_onnx_body_set_input(body, first + i, states[i]);
  }
  if (!is_scan(loop)) {
    value_t truth = tfrt_onnx_truth(builder);
    tfrt_onnx_body_set_input(body, 0, turn);
    tfrt_onnx_body_set_input(body, 1, truth);
    return truth != NULL;
  }
  for (size_t i = 0; i < loop->part_count; ++i) {
    const tfrt_onnx_setting_t axis = {"axis",
                                      tfrt_onnx_i64(builder, list_value(loop, INPUT_AXES, i))};
    value_t place = turn;
    if (list_value(loop, INPUT_DIRECTIONS, i) != 0) {
      // -1 - turn: from the end.
      place = tfrt_onnx_make_one(builder, "bitwise_not", turn, NULL, NULL, 0);
    }
    value_t part = place ? tfrt_onnx_make_one(builder, "gather", own[i], place, &axis, 1) : NULL;
    if (!part) return false;
    tfrt_onnx_body_set_input(body, loop->state_count + i, part);
  }
  return true;
}

// Whether there is a turn |turn|, whose condition is |condition| (NULL: none), as an i1.
static value_t wants_turn(tfrt_onnx_builder_t* builder, value_t turn, value_t limit,
                          value_t condition) {
  value_t is_below = limit ? tfrt_onnx_make_one(builder, "less", turn, limit, NULL, 0) : NULL;
  if (limit && !is_below) return NULL;
  value_t both = is_below && condition
                     ? tfrt_onnx_make_one(builder, "and", is_below, condition, NULL, 0)
                 : is_below ? is_below
                            : condition;
  return tfrt_onnx_make_condition(builder, both ? both : tfrt_onnx_truth(builder));
}

// Converts the body and returns what the next turn gets.
static bool build_turn(loop_t* loop, tfrt_onnx_body_t* body) {
  tfrt_onnx_builder_t* builder = loop->builder;
  size_t captured = loop->captured.count;
  value_t* own = body->parameters + captured;
  value_t limit = loop->limit ? own[loop->part_count] : NULL;
  value_t* at_turn = own + loop->part_count + (loop->limit ? 1 : 0);
  if (!set_inputs(loop, body, own, *at_turn, at_turn + 1) || !tfrt_onnx_body_convert(body)) {
    return false;
  }
  value_t* outputs = body->outputs + (is_scan(loop) ? 0 : 1);
  value_t* rows = at_turn + 1 + loop->state_count;
  tfrt_onnx_operands_t next = {.count = 0};
  next.values = tfrt_ir_context_allocate_array(builder->context, captured + own_count(loop) + 1,
                                               sizeof(*next.values));
  if (!next.values) return false;
  for (value_t* p = body->parameters; p < at_turn; ++p) push(&next, *p);
  value_t one = tfrt_onnx_number(builder, 1);
  value_t next_turn = one ? tfrt_onnx_make_one(builder, "add", *at_turn, one, NULL, 0) : NULL;
  if (!next_turn) return false;
  push(&next, next_turn);
  for (size_t i = 0; i < loop->state_count; ++i) push(&next, outputs[i]);
  for (size_t i = 0; i < loop->row_count; ++i) {
    push(&next,
         tfrt_onnx_make_one(builder, "append", rows[i], outputs[loop->state_count + i], NULL, 0));
  }
  push(&next, wants_turn(builder, next_turn, limit, is_scan(loop) ? NULL : body->outputs[0]));
  for (uint32_t i = 0; i < next.count; ++i) {
    if (!next.values[i]) return false;
  }
  return tfrt_onnx_return(builder, next.values, next.count);
}

static bool build_body(loop_t* loop, const char* name) {
  tfrt_onnx_body_t body;
  bool is_good = tfrt_onnx_body_open(loop->builder, loop->attribute, &loop->captured, &body) &&
                 read_rows(loop, &body);
  const tfrt_onnx_body_signature_t signature = {
      .name = name,
      .parameter_count = own_count(loop),
      .result_count = loop->captured.count + own_count(loop) + 1,
      .gives_condition = true};
  is_good = is_good && tfrt_onnx_body_begin(&body, &signature) && build_turn(loop, &body);
  tfrt_onnx_body_close(&body);
  return is_good;
}

// --- The call ---------------------------------------------------------------------

// The rows |value| as output |index| of the rows has them: along another axis, or in reverse.
static value_t turn_rows(const loop_t* loop, size_t index, value_t value) {
  tfrt_onnx_builder_t* builder = loop->builder;
  if (list_value(loop, OUTPUT_DIRECTIONS, index) != 0) {
    value_t values[5] = {value};
    const int64_t bounds[] = {-1, INT64_MIN, 0, -1};
    for (int i = 0; i < 4; ++i) values[1 + i] = tfrt_onnx_numbers(builder, &bounds[i], 1);
    const tfrt_onnx_operands_t operands = {values, 5};
    value = tfrt_onnx_make(builder, "slice", &operands, NULL, 0, 1);
  }
  int64_t axis = list_value(loop, OUTPUT_AXES, index);
  const tfrt_onnx_setting_t setting = {"axis", tfrt_onnx_i64(builder, axis)};
  return axis == 0 ? value : tfrt_onnx_make_one(builder, "move_axis", value, NULL, &setting, 1);
}

static bool define_results(const loop_t* loop, value_t first) {
  value_t states = first + loop->captured.count + loop->part_count + (loop->limit ? 1 : 0) + 1;
  for (size_t i = 0; i < loop->state_count; ++i) {
    tfrt_onnx_define(loop->builder, i, states + i);
  }
  for (size_t i = 0; i < loop->row_count; ++i) {
    if (loop->state_count + i >= loop->builder->node->n_output) break;
    value_t rows = turn_rows(loop, i, states + loop->state_count + i);
    if (!rows) return false;
    tfrt_onnx_define(loop->builder, loop->state_count + i, rows);
  }
  return true;
}

// The call of the function |name| for the first turn and those after it.
static bool make_loop(loop_t* loop, const char* name) {
  tfrt_onnx_builder_t* builder = loop->builder;
  tfrt_ir_context_t* context = builder->context;
  const tfrt_ir_string_t* symbol = tfrt_ir_string_of(context, name);
  uint32_t count = (uint32_t)(loop->captured.count + own_count(loop));
  tfrt_onnx_operands_t operands = {.count = 0};
  operands.values = tfrt_ir_context_allocate_array(context, count + 1, sizeof(*operands.values));
  value_t turn = tfrt_onnx_number(builder, 0);
  if (!symbol || !operands.values || !turn) return false;
  push(&operands, wants_turn(builder, turn, loop->limit, loop->condition));
  for (size_t i = 0; i < loop->captured.count; ++i) {
    push(&operands, tfrt_onnx_entry(builder, loop->captured.names[i])->value);
  }
  for (size_t i = 0; i < loop->part_count; ++i) {
    push(&operands, tfrt_onnx_input(builder, loop->first_state + loop->state_count + i));
  }
  if (loop->limit) push(&operands, loop->limit);
  push(&operands, turn);
  for (size_t i = 0; i < loop->state_count; ++i) {
    push(&operands, tfrt_onnx_input(builder, loop->first_state + i));
  }
  for (size_t i = 0; i < loop->row_count; ++i) {
    push(&operands, tfrt_onnx_constant(builder, loop->starts[i]));
  }
  const tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "body_fn"), tfrt_ir_attribute_symbol(context, &symbol, 1)},
      {tfrt_ir_string_of(context, "parallel_iterations"), tfrt_onnx_i64(builder, 1)},
  };
  tfrt_ir_operation_t* operation =
      tfrt_onnx_make_call(builder, "tfrt.while", &operands, attributes, 2, count);
  return operation && define_results(loop, &operation->results[0]);
}

// Makes |loop|, which has all that the node says.
static bool build_loop(loop_t* loop, const char* kind) {
  char name[32];
  tfrt_onnx_builder_t* builder = loop->builder;
  loop->attribute = tfrt_onnx_attribute(builder, "body", TFRT_ONNX_GRAPH);
  if (!loop->attribute || !loop->attribute->has_g || builder->depth >= TFRT_ONNX_MAX_DEPTH) {
    tfrt_onnx_report(builder, "its body is missing, or too deep");
    return false;
  }
  snprintf(name, sizeof(name), "%s_%u", kind, builder->function_count + 1);
  return tfrt_onnx_body_capture(builder, &loop->captured) && build_body(loop, name) &&
         make_loop(loop, name);
}

// --- The nodes --------------------------------------------------------------------

// Sets |*out_value| to input |index|, NULL if it is left out; false if it was reported.
static bool take_optional(tfrt_onnx_builder_t* builder, size_t index, value_t* out_value) {
  *out_value = tfrt_onnx_input(builder, index);
  bool is_named = index < builder->node->n_input && builder->node->input[index][0];
  return *out_value || !is_named;
}

bool tfrt_onnx_convert_loop(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  loop_t loop = {.builder = builder, .op_type = "Loop", .first_state = 2};
  size_t count = builder->node->n_input;
  loop.state_count = count > 2 ? count - 2 : 0;
  return take_optional(builder, 0, &loop.limit) && take_optional(builder, 1, &loop.condition) &&
         build_loop(&loop, "loop");
}

// Sets the lists of |loop|; those of the parts must be as many as there are parts.
static bool take_lists(loop_t* loop) {
  for (int i = 0; i < 4; ++i) {
    loop->lists[i] = tfrt_onnx_attribute(loop->builder, list_names[i], TFRT_ONNX_INTS);
    bool is_of_parts = i <= INPUT_DIRECTIONS;
    if (!loop->lists[i] || !is_of_parts || loop->lists[i]->n_ints == loop->part_count) continue;
    tfrt_onnx_report(loop->builder, "its '%s' must have %zu numbers", list_names[i],
                     loop->part_count);
    return false;
  }
  return true;
}

// How many turns the parts make.
static value_t count_parts(loop_t* loop) {
  tfrt_onnx_builder_t* builder = loop->builder;
  tfrt_onnx_operands_t operands = {.count = 0};
  operands.values =
      tfrt_ir_context_allocate_array(builder->context, loop->part_count, sizeof(value_t));
  const tfrt_ir_attribute_t** axes =
      tfrt_ir_context_allocate_array(builder->context, loop->part_count, sizeof(*axes));
  if (!operands.values || !axes) return NULL;
  for (size_t i = 0; i < loop->part_count; ++i) {
    value_t part = tfrt_onnx_input(builder, loop->state_count + i);
    axes[i] = tfrt_onnx_i64(builder, list_value(loop, INPUT_AXES, i));
    if (!part || !axes[i]) return NULL;
    push(&operands, part);
  }
  const tfrt_onnx_setting_t setting = {
      "axes", tfrt_ir_attribute_array(builder->context, axes, (uint32_t)loop->part_count)};
  return tfrt_onnx_make(builder, "common_length", &operands, &setting, 1, 1);
}

bool tfrt_onnx_convert_scan(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  loop_t loop = {.builder = builder, .op_type = "Scan"};
  const Onnx__AttributeProto* parts =
      tfrt_onnx_attribute(builder, "num_scan_inputs", TFRT_ONNX_INT);
  size_t count = builder->node->n_input;
  if (builder->opset < 9) {
    tfrt_onnx_report(builder, "its form of opset 8 is not supported");
    return false;
  }
  if (!parts || parts->i < 1 || (uint64_t)parts->i > count) {
    tfrt_onnx_report(builder, "its 'num_scan_inputs' must be from 1 to %zu", count);
    return false;
  }
  loop.part_count = (size_t)parts->i;
  loop.state_count = count - loop.part_count;
  if (!take_lists(&loop)) return false;
  loop.limit = count_parts(&loop);
  return loop.limit && build_loop(&loop, "scan");
}
