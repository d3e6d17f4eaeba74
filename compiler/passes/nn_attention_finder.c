// SPDX-License-Identifier: Apache-2.0
//
// Attention that was written with products, a mask and a softmax becomes one op, which doesn't
// write the scores between these steps:
//
//   softmax(q * k' + mask) * v                   --> attention
//   s = softmax(...), where(is_nan(s), 0, s)     --> the same: torch's softmax of hidden rows
//
// q, k' and v are transposes of [batch, place, head, element]; numbers may be factors of q, k' and
// their product. Rows whose keys the mask hides all give 0.
#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

enum { AXES = 4 };

typedef struct attention_s {
  tfrt_ir_value_t* query;  // [batch, head, place, element]
  tfrt_ir_value_t* key;    // [batch, head, element, place], a transpose
  tfrt_ir_value_t* value;  // [batch, head, place, element]
  tfrt_ir_value_t* mask;   // NULL: none
  float scale;
} attention_t;

// The value that |value| is a transpose of, in the order |wanted|, or NULL.
static tfrt_ir_value_t* turned_operand(const tfrt_ir_value_t* value, const int64_t wanted[AXES]) {
  const tfrt_ir_operation_t* op = tfrt_nn_maker(value, "transpose");
  const tfrt_ir_attribute_t* order = op ? tfrt_ir_operation_attribute(op, "perm") : NULL;
  if (!order || order->kind != TFRT_IR_ATTRIBUTE_ARRAY || order->count != AXES) return NULL;
  for (uint32_t i = 0; i < AXES; ++i) {
    if (order->elements[i]->kind != TFRT_IR_ATTRIBUTE_INTEGER ||
        tfrt_ir_attribute_integer_value(order->elements[i]) != wanted[i]) {
      return NULL;
    }
  }
  return tfrt_nn_operand(op, 0);
}

static const int64_t heads_first[AXES] = {0, 2, 1, 3};
static const int64_t keys_last[AXES] = {0, 2, 3, 1};
static const int64_t last_turned[AXES] = {0, 1, 3, 2};

// The softmax along the last axis that |shares| is, perhaps with zeros where it is no number.
static const tfrt_ir_operation_t* find_softmax(const tfrt_ir_value_t* shares) {
  float zero;
  const tfrt_ir_operation_t* choice = tfrt_nn_maker(shares, "where");
  if (choice) {
    const tfrt_ir_operation_t* test = tfrt_nn_maker(tfrt_nn_operand(choice, 0), "is_nan");
    shares = tfrt_nn_operand(choice, 2);
    if (!test || tfrt_nn_operand(test, 0) != shares ||
        !tfrt_nn_read_number(tfrt_nn_operand(choice, 1), &zero) || zero != 0) {
      return NULL;
    }
  }
  const tfrt_ir_operation_t* softmax = tfrt_nn_maker(shares, "softmax");
  if (!softmax) return NULL;
  int64_t axis = tfrt_nn_attribute_i64(softmax, "axis", -1);
  return axis == -1 || axis == AXES - 1 ? softmax : NULL;
}

// Takes the scores |scores| apart.
static bool read_scores(tfrt_ir_value_t* scores, attention_t* out) {
  float factors[3];
  const tfrt_ir_operation_t* product =
      tfrt_nn_maker(tfrt_nn_unscaled(scores, &factors[0]), "mat_mul");
  if (!product) return false;
  out->query = tfrt_nn_unscaled(tfrt_nn_operand(product, 0), &factors[1]);
  out->key = tfrt_nn_unscaled(tfrt_nn_operand(product, 1), &factors[2]);
  out->scale = factors[0] * factors[1] * factors[2];
  bool has_key = turned_operand(out->key, keys_last) || turned_operand(out->key, last_turned);
  // The op takes 0 for the usual scale.
  return turned_operand(out->query, heads_first) && has_key && out->scale != 0;
}

static bool read_attention(const tfrt_ir_operation_t* op, attention_t* out) {
  *out = (attention_t){.value = tfrt_nn_operand(op, 1)};
  if (!tfrt_nn_is(op, "mat_mul") || !turned_operand(out->value, heads_first)) return false;
  const tfrt_ir_operation_t* softmax = find_softmax(tfrt_nn_operand(op, 0));
  tfrt_ir_value_t* masked = softmax ? tfrt_nn_operand(softmax, 0) : NULL;
  const tfrt_ir_operation_t* sum = tfrt_nn_maker(masked, "add");
  if (!sum) return masked && read_scores(masked, out);
  for (uint32_t i = 0; sum->operand_count == 2 && i < 2; ++i) {
    if (!read_scores(sum->operands[i].value, out)) continue;
    out->mask = sum->operands[!i].value;
    return true;
  }
  return false;
}

// Keys as [batch, head, place, element], before |before|.
static tfrt_ir_value_t* turn_keys(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                  const attention_t* attention) {
  tfrt_ir_value_t* turned = turned_operand(attention->key, last_turned);
  if (turned) return turned;
  tfrt_ir_value_t* x = turned_operand(attention->key, keys_last);
  return tfrt_nn_rewriter_transpose(rewriter, before, x, heads_first, AXES);
}

static void replace(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op,
                    const attention_t* attention) {
  tfrt_ir_value_t* key = turn_keys(rewriter, op, attention);
  if (!key) return;
  tfrt_ir_value_t* operands[4] = {attention->query, key, attention->value, attention->mask};
  const tfrt_nn_setting_t settings[] = {{"scale", tfrt_nn_rewriter_f32(rewriter, attention->scale)},
                                        {"stretch_mask", tfrt_nn_rewriter_i64(rewriter, 1)}};
  const tfrt_nn_recipe_t recipe = {.name = "attention",
                                   .before = op,
                                   .operands = operands,
                                   .operand_count = attention->mask ? 4 : 3,
                                   .result_count = 1,
                                   .settings = settings,
                                   .setting_count = TFRT_ARRAY_SIZE(settings)};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (made) tfrt_ir_value_replace_all_uses(&op->results[0], &made->results[0]);
}

static void find_in_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed; op = op->next) {
    attention_t attention;
    if (read_attention(op, &attention)) replace(rewriter, op, &attention);
  }
  tfrt_nn_sweep(block);
}

bool tfrt_nn_find_attention(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                            tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, find_in_block);
}
