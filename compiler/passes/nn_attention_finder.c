// SPDX-License-Identifier: Apache-2.0
//
// Attention that was written with products, a mask and a softmax becomes one op, which doesn't
// write the scores between these steps:
//
//   softmax(q * k' + mask) * v                   --> attention
//   s = softmax(...), where(is_nan(s), 0, s)     --> the same: torch's softmax of hidden rows
//
// Numbers may be factors of q, k' and their product. Rows whose keys the mask hides all give 0.
// q, k' and v are often transposes of [batch, place, head, element], and the result is turned back
// so: the op reads and writes these without the transposes. Heads that were repeated, for several
// heads of queries to share them, are given to the op as they are (`share_heads`).
#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

enum { AXES = 4 };

// The bits of `places_first`.
enum { QUERY = 1, KEY = 2, VALUE = 4, OUTPUT = 8 };

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

// Whether |value| has four axes, when something with four is computed from it.
static bool has_axes(const tfrt_ir_value_t* value) { return tfrt_nn_least_rank(value) == AXES; }

// The transpose that gives the result of |op| its places first, or NULL.
static tfrt_ir_operation_t* find_turn(const tfrt_ir_operation_t* op) {
  tfrt_ir_operation_t* user = tfrt_nn_only_user(op);
  bool is_turn = user && user->block == op->block && tfrt_nn_is(user, "transpose") &&
                 turned_operand(&user->results[0], heads_first);
  return is_turn ? user : NULL;
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
  return has_key && out->scale != 0;
}

static bool read_parts(const tfrt_ir_operation_t* op, attention_t* out) {
  *out = (attention_t){.value = tfrt_nn_operand(op, 1)};
  if (!tfrt_nn_is(op, "mat_mul")) return false;
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

// Operands of more than four axes would give the op's result more.
static bool read_attention(const tfrt_ir_operation_t* op, attention_t* out) {
  if (!read_parts(op, out)) return false;
  if (turned_operand(out->query, heads_first) && turned_operand(out->value, heads_first)) {
    return true;
  }
  return find_turn(op) && has_axes(out->query) && has_axes(out->value);
}

// --- The op -------------------------------------------------------------------------

// |value|, [batch, head, place, element], or what it is a transpose of; then |bit| is added to
// |*places_first|.
static tfrt_ir_value_t* turn_back(tfrt_ir_value_t* value, int64_t bit, int64_t* places_first) {
  tfrt_ir_value_t* source = turned_operand(value, heads_first);
  if (source) *places_first |= bit;
  return source ? source : value;
}

// The keys or values that the heads |value| are repetitions of, before |before|, or |value|.
static tfrt_ir_value_t* share_heads(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                    tfrt_ir_value_t* value) {
  size_t count = 0;
  const tfrt_ir_operation_t* joined = tfrt_nn_maker(value, "reshape");
  const tfrt_ir_operation_t* repeated =
      joined ? tfrt_nn_maker(tfrt_nn_operand(joined, 0), "expand") : NULL;
  const tfrt_ir_operation_t* split =
      repeated ? tfrt_nn_maker(tfrt_nn_operand(repeated, 0), "unsqueeze") : NULL;
  const int64_t* axes = split ? tfrt_nn_read_numbers_of(tfrt_nn_operand(split, 1), &count) : NULL;
  if (!axes || count != 1 || axes[0] != 2) return value;
  tfrt_ir_value_t* operands[3] = {tfrt_nn_operand(split, 0), tfrt_nn_operand(repeated, 1),
                                  tfrt_nn_operand(joined, 1)};
  const tfrt_nn_recipe_t recipe = {.name = "share_heads",
                                   .before = before,
                                   .like = joined,
                                   .operands = operands,
                                   .operand_count = TFRT_ARRAY_SIZE(operands),
                                   .result_count = 1};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &recipe);
  return made ? &made->results[0] : NULL;
}

// The keys for the op, before |before|; they are transposes of [batch, place, head, element] or
// [batch, head, place, element].
static tfrt_ir_value_t* find_keys(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* before,
                                  const attention_t* attention, int64_t* places_first) {
  tfrt_ir_value_t* turned = turned_operand(attention->key, keys_last);
  if (turned) {
    *places_first |= KEY;
    return turned;
  }
  turned = turn_back(turned_operand(attention->key, last_turned), KEY, places_first);
  return share_heads(rewriter, before, turned);
}

static void replace(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op,
                    const attention_t* attention) {
  int64_t places_first = 0;
  tfrt_ir_value_t* operands[4] = {turn_back(attention->query, QUERY, &places_first), NULL,
                                  turn_back(attention->value, VALUE, &places_first),
                                  attention->mask};
  operands[1] = find_keys(rewriter, op, attention, &places_first);
  operands[2] = share_heads(rewriter, op, operands[2]);
  if (!operands[1] || !operands[2]) return;
  const tfrt_ir_operation_t* last = find_turn(op);
  if (last) places_first |= OUTPUT;
  const tfrt_nn_setting_t settings[] = {
      {"places_first", tfrt_nn_rewriter_i64(rewriter, places_first)},
      {"scale", tfrt_nn_rewriter_f32(rewriter, attention->scale)},
      {"stretch_mask", tfrt_nn_rewriter_i64(rewriter, 1)}};
  const tfrt_nn_recipe_t recipe = {.name = "attention",
                                   .before = op,
                                   .operands = operands,
                                   .operand_count = attention->mask ? 4 : 3,
                                   .result_count = 1,
                                   .settings = settings,
                                   .setting_count = TFRT_ARRAY_SIZE(settings)};
  tfrt_ir_operation_t* made = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (!made) return;
  if (!last) last = op;
  tfrt_ir_value_replace_all_uses(&last->results[0], &made->results[0]);
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
