// SPDX-License-Identifier: Apache-2.0
//
// Pictures with the channels last, [N, H, W, C], are what convolutions of the maths library read
// and write fastest. Each convolution of pictures gets that layout, between two transposes; then
// the transpose behind moves down, over all ops that can work on the other layout, until it meets
// the one in front of the next convolution, and both vanish.
//
//   conv, relu, max_pool, conv
//   T conv T', relu, max_pool, T conv T'      T: [N, C, H, W] --> [N, H, W, C]
//   T conv, relu, max_pool, T' T conv T'
//   T conv, relu, max_pool, conv, T'
#include <string.h>

#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_rewriter.h"

enum { AXES = 4 };

static const int64_t to_last[AXES] = {0, 2, 3, 1};
static const int64_t to_first[AXES] = {0, 3, 1, 2};

// --- Transposes -------------------------------------------------------------------------

// Sets |out_order| to the order of |op|, a transpose of four axes, counted from the front; false if
// it is none.
static bool read_order(const tfrt_ir_operation_t* op, int64_t out_order[AXES]) {
  const tfrt_ir_attribute_t* order = op ? tfrt_ir_operation_attribute(op, "perm") : NULL;
  if (!order || order->kind != TFRT_IR_ATTRIBUTE_ARRAY || order->count != AXES) return false;
  for (uint32_t i = 0; i < AXES; ++i) {
    if (order->elements[i]->kind != TFRT_IR_ATTRIBUTE_INTEGER) return false;
    out_order[i] = tfrt_ir_attribute_integer_value(order->elements[i]);
    if (out_order[i] < 0 || out_order[i] >= AXES) return false;
  }
  return true;
}

// |value| with its four axes in the |order|. A transpose of a transpose is one, or nothing.
static tfrt_ir_value_t* transpose(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                  tfrt_ir_value_t* value, const int64_t order[AXES]) {
  int64_t inner[AXES], joined[AXES];
  const tfrt_ir_operation_t* maker = tfrt_nn_maker(value, "transpose");
  bool is_same = true;
  if (!read_order(maker, inner)) {
    return tfrt_nn_rewriter_transpose(rewriter, before, value, order, AXES);
  }
  for (uint32_t i = 0; i < AXES; ++i) {
    joined[i] = inner[order[i]];
    is_same &= joined[i] == (int64_t)i;
  }
  tfrt_ir_value_t* x = maker->operands[0].value;
  return is_same ? x : tfrt_nn_rewriter_transpose(rewriter, before, x, joined, AXES);
}

// The value with the channels last that |value| is a transpose of, or NULL.
static tfrt_ir_value_t* channels_last_of(const tfrt_ir_value_t* value) {
  int64_t order[AXES];
  const tfrt_ir_operation_t* maker = tfrt_nn_maker(value, "transpose");
  bool is_it = read_order(maker, order) && memcmp(order, to_first, sizeof(order)) == 0;
  return is_it ? maker->operands[0].value : NULL;
}

// Puts an op like |op| before it, on |operands| with the channels last, and lets the users of |op|
// use its results with the channels first.
static void replace(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op,
                    tfrt_ir_value_t* const* operands, uint32_t operand_count,
                    const tfrt_nn_setting_t* settings, size_t setting_count) {
  const tfrt_nn_recipe_t recipe = {.name = op->name->data + sizeof("tfrt_nn.") - 1,
                                   .before = op,
                                   .like = op,
                                   .operands = operands,
                                   .operand_count = operand_count,
                                   .result_count = op->result_count,
                                   .settings = settings,
                                   .setting_count = setting_count};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &recipe);
  for (uint32_t i = 0; made && i < op->result_count; ++i) {
    tfrt_ir_value_t* result =
        tfrt_nn_rewriter_transpose(rewriter, op, &made->results[i], to_first, AXES);
    if (!result) return;
    tfrt_ir_value_replace_all_uses(&op->results[i], result);
  }
  if (made) tfrt_ir_operation_erase(op);
}

// --- Convolutions and windows -------------------------------------------------------------

// A convolution of pictures, whose weights have four axes.
static bool convert_convolution(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  const tfrt_ir_attribute_t* weights = tfrt_nn_read_constant(tfrt_nn_operand(op, 1));
  if (!tfrt_nn_attribute_is(op, "layout", "NCHW") || !weights || weights->type->rank != AXES) {
    return false;
  }
  tfrt_ir_value_t* operands[4] = {NULL};
  uint32_t count = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    operands[i] = tfrt_nn_operand(op, i);
    if (operands[i]) count = i + 1;
  }
  // How many axes a summand has is known of transposes alone.
  if (operands[3]) {
    operands[3] = channels_last_of(operands[3]);
    if (!operands[3]) return false;
  }
  operands[0] = transpose(rewriter, op, operands[0], to_last);
  const tfrt_nn_setting_t layout = {"layout", tfrt_nn_rewriter_string(rewriter, "NHWC")};
  if (!rewriter->failed) replace(rewriter, op, operands, count, &layout, 1);
  return true;
}

static bool move_over_window(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* x = channels_last_of(op->operands[0].value);
  if (!x || op->result_count != 1 || !tfrt_nn_attribute_is(op, "layout", "NCHW")) return false;
  const tfrt_nn_setting_t layout = {"layout", tfrt_nn_rewriter_string(rewriter, "NHWC")};
  replace(rewriter, op, &x, 1, &layout, 1);
  return true;
}

// --- Each element by itself -----------------------------------------------------------------

// The constant |value| with the channels last, if no element has to move for that; NULL if it is
// no constant, or one has to.
static tfrt_ir_value_t* turn_constant(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                      tfrt_ir_value_t* value) {
  const tfrt_ir_attribute_t* elements = tfrt_nn_read_constant(value);
  if (!elements || elements->type->rank > AXES) return NULL;
  int64_t dims[AXES] = {1, 1, 1, 1}, turned[AXES];
  int long_axes = 0;
  for (uint32_t i = 0; i < elements->type->rank; ++i) {
    dims[AXES - elements->type->rank + i] = elements->type->dims[i];
    long_axes += elements->type->dims[i] != 1;
  }
  if (long_axes == 0) return value;
  if (long_axes > 1) return NULL;
  for (uint32_t i = 0; i < AXES; ++i) turned[i] = dims[to_last[i]];
  const tfrt_ir_type_t* type = tfrt_ir_type_shaped(rewriter->context, TFRT_IR_TYPE_TENSOR, true,
                                                   turned, AXES, elements->type->element, NULL);
  if (!type) {
    rewriter->failed = true;
    return NULL;
  }
  return tfrt_nn_rewriter_constant(
      rewriter, before,
      tfrt_ir_attribute_dense(rewriter->context, type, elements->bytes, elements->size));
}

// Ops that stretch their operands to each other: all must be transposes, or constants.
static bool move_over_elements(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* operands[TFRT_NN_REWRITER_POSITIONS];
  bool has_picture = false;
  if (op->operand_count > TFRT_NN_REWRITER_POSITIONS || op->result_count != 1) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    operands[i] = channels_last_of(op->operands[i].value);
    has_picture |= operands[i] != NULL;
  }
  if (!has_picture) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!operands[i]) operands[i] = turn_constant(rewriter, op, op->operands[i].value);
    if (!operands[i]) return false;
  }
  replace(rewriter, op, operands, op->operand_count, NULL, 0);
  return true;
}

// Ops of one picture; further operands, of one element each, stay.
static bool move_over_map(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* operands[TFRT_NN_REWRITER_POSITIONS];
  tfrt_ir_value_t* x = channels_last_of(tfrt_nn_operand(op, 0));
  if (!x || op->result_count != 1) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < TFRT_NN_REWRITER_POSITIONS; ++i) {
    operands[i] = tfrt_nn_operand(op, i);
    if (operands[i]) count = i + 1;
  }
  operands[0] = x;
  replace(rewriter, op, operands, count, NULL, 0);
  return true;
}

// --- Axes -------------------------------------------------------------------------------------

// Axis |axis| of a picture with the channels first, where it is with the channels last; -1: there
// is none.
static int64_t turn_axis(int64_t axis) {
  static const int64_t places[AXES] = {0, 3, 1, 2};
  if (axis < 0) axis += AXES;
  return axis >= 0 && axis < AXES ? places[axis] : -1;
}

// Ops along the attribute axis: `concat`, of pictures alone, and `split`, whose other operand is no
// picture.
static bool move_over_axis(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  bool is_split = tfrt_nn_is(op, "split");
  int64_t axis = turn_axis(tfrt_nn_attribute_i64(op, "axis", 0));
  tfrt_ir_value_t** operands =
      tfrt_ir_context_allocate_array(rewriter->context, op->operand_count + 1, sizeof(*operands));
  if (!operands || axis < 0 || op->operand_count == 0 ||
      op->result_count > TFRT_NN_REWRITER_POSITIONS) {
    return false;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    bool is_picture = i == 0 || !is_split;
    operands[i] = is_picture ? channels_last_of(op->operands[i].value) : op->operands[i].value;
    if (!operands[i]) return false;
  }
  const tfrt_nn_setting_t setting = {"axis", tfrt_nn_rewriter_i64(rewriter, axis)};
  replace(rewriter, op, operands, op->operand_count, &setting, 1);
  return true;
}

// Reductions along axes that are known: the result keeps its axes, or loses both lengths, so that
// the others keep their order.
static bool move_over_reduction(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  size_t count = 0;
  int64_t axes[AXES];
  tfrt_ir_value_t* x = channels_last_of(op->operands[0].value);
  const int64_t* given =
      op->operand_count == 2 ? tfrt_nn_read_numbers_of(op->operands[1].value, &count) : NULL;
  if (!x || !given || count == 0 || count > AXES) return false;
  bool keeps = tfrt_nn_attribute_i64(op, "keepdims", 1) != 0;
  bool is_pixel = count == 2;
  for (size_t i = 0; i < count; ++i) {
    axes[i] = turn_axis(given[i]);
    if (axes[i] < 0) return false;
    is_pixel &= axes[i] == 1 || axes[i] == 2;
  }
  if (!keeps && (!is_pixel || axes[0] == axes[1])) return false;
  tfrt_ir_value_t* operands[2] = {x, tfrt_nn_rewriter_numbers(rewriter, op, axes, (uint32_t)count)};
  if (!operands[1]) return false;
  if (keeps) {
    replace(rewriter, op, operands, 2, NULL, 0);
    return true;
  }
  const tfrt_nn_recipe_t recipe = {.name = op->name->data + sizeof("tfrt_nn.") - 1,
                                   .before = op,
                                   .like = op,
                                   .operands = operands,
                                   .operand_count = 2,
                                   .result_count = 1};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (made) tfrt_nn_rewriter_replace(op, &made->results[0]);
  return true;
}

// Axis numbers |given| of a picture with the channels first, as a constant for the other order;
// NULL if there is no such axis.
static tfrt_ir_value_t* turn_axes(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                  const int64_t* given, size_t count) {
  int64_t axes[AXES];
  if (count == 0 || count > AXES) return NULL;
  for (size_t i = 0; i < count; ++i) {
    axes[i] = turn_axis(given[i]);
    if (axes[i] < 0) return NULL;
  }
  return tfrt_nn_rewriter_numbers(rewriter, before, axes, (uint32_t)count);
}

// The elements of the list |list| at the places |order|, of |count|.
static tfrt_ir_value_t* reorder(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                tfrt_ir_value_t* list, const int64_t* order, uint32_t count) {
  tfrt_ir_value_t* operands[2] = {list, tfrt_nn_rewriter_numbers(rewriter, before, order, count)};
  if (!operands[1]) return NULL;
  const tfrt_nn_recipe_t recipe = {.name = "gather",
                                   .before = before,
                                   .operands = operands,
                                   .operand_count = 2,
                                   .result_count = 1};
  tfrt_ir_operation_t* op = tfrt_nn_rewriter_make(rewriter, &recipe);
  return op ? &op->results[0] : NULL;
}

// Sizes of all four axes, or scales, but not both.
static bool move_over_resize(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  enum { PICTURE, REGION, SCALES, SIZES };
  const tfrt_ir_attribute_t* axes = tfrt_ir_operation_attribute(op, "axes");
  const tfrt_ir_attribute_t* scales = tfrt_nn_read_constant(tfrt_nn_operand(op, SCALES));
  tfrt_ir_value_t* x = channels_last_of(tfrt_nn_operand(op, PICTURE));
  // Other programs than those of models may have lists of other lengths.
  bool has_scales = scales && scales->size == AXES * sizeof(float);
  bool is_plain = !scales || has_scales || scales->size == 0;
  bool names_axes = axes && axes->kind == TFRT_IR_ATTRIBUTE_ARRAY && axes->count > 0;
  if (!x || names_axes || !is_plain || (tfrt_nn_operand(op, SCALES) && !scales) ||
      tfrt_nn_attribute_is(op, "coordinate_transformation_mode", "tf_crop_and_resize")) {
    return false;
  }
  // The region counts in the mode that was refused alone.
  tfrt_ir_value_t* operands[4] = {x, NULL, NULL, NULL};
  if (has_scales) {
    operands[SCALES] = reorder(rewriter, op, tfrt_nn_operand(op, SCALES), to_last, AXES);
  }
  if (tfrt_nn_operand(op, SIZES)) {
    operands[SIZES] = reorder(rewriter, op, tfrt_nn_operand(op, SIZES), to_last, AXES);
  }
  if (rewriter->failed || !operands[SCALES] == !operands[SIZES]) return false;
  replace(rewriter, op, operands, operands[SIZES] ? 4 : 3, NULL, 0);
  return true;
}

// Elements in front of all axes and behind them, or of those that operand 3 names.
static bool move_over_pad(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  enum { PICTURE, COUNTS, NUMBER, NAMES };
  static const int64_t order[2 * AXES] = {0, 2, 3, 1, 4, 6, 7, 5};
  size_t count = 0;
  tfrt_ir_value_t* operands[4] = {channels_last_of(tfrt_nn_operand(op, PICTURE)),
                                  tfrt_nn_operand(op, COUNTS), tfrt_nn_operand(op, NUMBER), NULL};
  if (!operands[PICTURE] || !operands[COUNTS]) return false;
  if (tfrt_nn_operand(op, NAMES)) {
    const int64_t* names = tfrt_nn_read_numbers_of(tfrt_nn_operand(op, NAMES), &count);
    operands[NAMES] = names ? turn_axes(rewriter, op, names, count) : NULL;
    if (!operands[NAMES]) return false;
  } else {
    operands[COUNTS] = reorder(rewriter, op, operands[COUNTS], order, 2 * AXES);
    if (!operands[COUNTS]) return false;
  }
  replace(rewriter, op, operands, operands[NAMES] ? 4 : operands[NUMBER] ? 3 : 2, NULL, 0);
  return true;
}

// Parts along axes that are known.
static bool move_over_slice(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  enum { PICTURE, BEGINS, ENDS, NAMES, STEPS };
  static const int64_t all[AXES] = {0, 1, 2, 3};
  size_t count = 0;
  tfrt_ir_value_t* operands[5] = {NULL};
  for (uint32_t i = 0; i < 5; ++i) operands[i] = tfrt_nn_operand(op, i);
  operands[PICTURE] = channels_last_of(operands[PICTURE]);
  if (!operands[PICTURE] || !operands[BEGINS] || !operands[ENDS]) return false;
  // Without names, the first axes are meant, one for each begin.
  const int64_t* names = all;
  if (operands[NAMES]) {
    names = tfrt_nn_read_numbers_of(operands[NAMES], &count);
  } else if (!tfrt_nn_read_numbers_of(operands[BEGINS], &count)) {
    return false;
  }
  operands[NAMES] = names ? turn_axes(rewriter, op, names, count) : NULL;
  if (!operands[NAMES]) return false;
  replace(rewriter, op, operands, operands[STEPS] ? 5 : 4, NULL, 0);
  return true;
}

static bool join_transposes(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  int64_t order[AXES];
  const tfrt_ir_operation_t* maker = tfrt_nn_maker(op->operands[0].value, "transpose");
  if (!read_order(maker, order) || !read_order(op, order)) return false;
  tfrt_ir_value_t* x = transpose(rewriter, op, op->operands[0].value, order);
  if (x) tfrt_nn_rewriter_replace(op, x);
  return true;
}

// The lengths of a transpose are those of its operand, in another order.
static bool read_shape_before(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  tfrt_ir_value_t* x = channels_last_of(op->operands[0].value);
  if (!x || tfrt_nn_attribute_i64(op, "start", 0) != 0 ||
      tfrt_nn_attribute_i64(op, "end", 0) < AXES) {
    return false;
  }
  const tfrt_nn_recipe_t shape = {.name = "shape",
                                  .before = op,
                                  .like = op,
                                  .operands = &x,
                                  .operand_count = 1,
                                  .result_count = 1};
  tfrt_ir_operation_t* lengths = tfrt_nn_rewriter_make(rewriter, &shape);
  tfrt_ir_value_t* order = tfrt_nn_rewriter_numbers(rewriter, op, to_first, AXES);
  if (!lengths || !order) return true;
  tfrt_ir_value_t* operands[2] = {&lengths->results[0], order};
  const tfrt_nn_recipe_t gather = {
      .name = "gather", .before = op, .operands = operands, .operand_count = 2, .result_count = 1};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &gather);
  if (made) tfrt_nn_rewriter_replace(op, &made->results[0]);
  return true;
}

// --- The table --------------------------------------------------------------------------------

typedef bool (*move_fn_t)(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op);

static const struct {
  const char* op;
  move_fn_t move;
} moves[] = {
    {"fused_conv", convert_convolution},
    {"max_pool", move_over_window},
    {"average_pool", move_over_window},
    {"global_average_pool", move_over_window},
    {"add", move_over_elements},
    {"sub", move_over_elements},
    {"mul", move_over_elements},
    {"div", move_over_elements},
    {"max", move_over_elements},
    {"min", move_over_elements},
    {"sum", move_over_elements},
    {"prelu", move_over_elements},
    {"relu", move_over_map},
    {"sigmoid", move_over_map},
    {"tanh", move_over_map},
    {"leaky_relu", move_over_map},
    {"hard_swish", move_over_map},
    {"hard_sigmoid", move_over_map},
    {"clip", move_over_map},
    {"elu", move_over_map},
    {"gelu", move_over_map},
    {"softplus", move_over_map},
    {"mish", move_over_map},
    {"exp", move_over_map},
    {"sqrt", move_over_map},
    {"neg", move_over_map},
    {"abs", move_over_map},
    {"identity", move_over_map},
    {"concat", move_over_axis},
    {"split", move_over_axis},
    {"reduce_mean", move_over_reduction},
    {"reduce_sum", move_over_reduction},
    {"reduce_max", move_over_reduction},
    {"resize", move_over_resize},
    {"pad", move_over_pad},
    {"slice", move_over_slice},
    {"transpose", join_transposes},
    {"shape", read_shape_before},
};

static void turn_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed;) {
    tfrt_ir_operation_t* next = op->next;
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(moves); ++i) {
      if (!tfrt_nn_is(op, moves[i].op)) continue;
      (void)moves[i].move(rewriter, op);
      break;
    }
    op = next;
  }
}

bool tfrt_nn_choose_layout(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                           tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, turn_block);
}
