// SPDX-License-Identifier: Apache-2.0
//
// A convolution, or a product with a matrix of weights, takes in the ops that follow it, as long as
// nobody else uses the values between:
//
//   conv -> add of another value -> relu, sigmoid ...               --> fused_conv
//   mat_mul -> add of a row -> add of another value -> gelu ...     --> fused_mat_mul
//   gemm -> ...                                                     --> fused_mat_mul
//
// The fused op stands where the last of them stood.
#include <math.h>
#include <string.h>

#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_rewriter.h"

// The op that is taken in last, and what the fused op says for it.
typedef struct activation_s {
  const char* name;
  float alpha;
  float beta;
} activation_t;

// The value of a constant of one f32; false if |value| is none.
static bool read_float(const tfrt_ir_value_t* value, float* out) {
  size_t count = 0;
  const float* floats = tfrt_nn_read_floats(value, &count);
  if (!floats || count != 1) return false;
  *out = floats[0];
  return true;
}

static bool read_clip(const tfrt_ir_operation_t* op, activation_t* out) {
  const tfrt_ir_value_t* low = tfrt_nn_operand(op, 1);
  const tfrt_ir_value_t* high = tfrt_nn_operand(op, 2);
  *out = (activation_t){"clip", -INFINITY, INFINITY};
  return (!low || read_float(low, &out->alpha)) && (!high || read_float(high, &out->beta)) &&
         out->alpha <= out->beta;
}

// Sets |*out| if |op| is a function of each element that a fused op may end with.
static bool read_activation(const tfrt_ir_operation_t* op, activation_t* out) {
  static const char* const plain[] = {"relu", "sigmoid", "tanh", "hard_swish"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(plain); ++i) {
    *out = (activation_t){plain[i], 0, 0};
    if (tfrt_nn_is(op, plain[i])) return true;
  }
  if (tfrt_nn_is(op, "leaky_relu")) {
    *out = (activation_t){"leaky_relu", tfrt_nn_attribute_f32(op, "alpha", 0.01f), 0};
    return true;
  }
  if (tfrt_nn_is(op, "gelu")) {
    bool is_exact = tfrt_nn_attribute_is(op, "approximate", "none");
    *out = (activation_t){is_exact ? "gelu" : "gelu_tanh", 0, 0};
    return is_exact || tfrt_nn_attribute_is(op, "approximate", "tanh");
  }
  return tfrt_nn_is(op, "clip") && read_clip(op, out);
}

// x * sigmoid(x): the product, if |op| has no other users than these two.
static tfrt_ir_operation_t* find_silu(const tfrt_ir_operation_t* op) {
  const tfrt_ir_value_t* x = &op->results[0];
  if (!x->first_use || !x->first_use->next || x->first_use->next != x->last_use) return NULL;
  tfrt_ir_operation_t* users[2] = {x->first_use->owner, x->last_use->owner};
  for (int i = 0; i < 2; ++i) {
    tfrt_ir_operation_t* sigmoid = users[i];
    tfrt_ir_operation_t* product = users[!i];
    if (!tfrt_nn_is(sigmoid, "sigmoid") || !tfrt_nn_is(product, "mul")) continue;
    if (tfrt_nn_only_user(sigmoid) == product && product->block == op->block) return product;
  }
  return NULL;
}

// --- Taking in --------------------------------------------------------------------------

// A fused op in the making: where its parts are, and what it has.
typedef struct fusion_s {
  tfrt_ir_operation_t* first;  // the convolution or the product
  tfrt_ir_operation_t* last;   // the op whose result it gives
  tfrt_ir_value_t* bias;       // NULL: none
  tfrt_ir_value_t* summand;    // NULL: none
  activation_t activation;
} fusion_t;

// The value that |*out_sum|, which alone uses the last op, adds to its result, or NULL.
static tfrt_ir_value_t* find_sum(const fusion_t* fusion, tfrt_ir_operation_t** out_sum) {
  tfrt_ir_operation_t* sum = *out_sum = tfrt_nn_only_user(fusion->last);
  if (!tfrt_nn_is(sum, "add") || sum->operand_count != 2 || sum->block != fusion->first->block) {
    return NULL;
  }
  return sum->operands[sum->operands[0].value == &fusion->last->results[0]].value;
}

static void take_sum(fusion_t* fusion) {
  tfrt_ir_operation_t* sum;
  tfrt_ir_value_t* other = find_sum(fusion, &sum);
  // Constants are of other shapes, mostly.
  if (!other || tfrt_nn_read_constant(other)) return;
  fusion->summand = other;
  fusion->last = sum;
}

// A row that is added to each row of a product with |columns| columns.
static void take_bias(fusion_t* fusion, int64_t columns) {
  tfrt_ir_operation_t* sum;
  size_t count = 0;
  tfrt_ir_value_t* other = find_sum(fusion, &sum);
  const tfrt_ir_attribute_t* row = tfrt_nn_read_constant(other);
  if (!row || row->type->rank != 1 || !tfrt_nn_read_floats(other, &count) ||
      (int64_t)count != columns) {
    return;
  }
  fusion->bias = other;
  fusion->last = sum;
}

static void take_activation(fusion_t* fusion) {
  activation_t activation;
  tfrt_ir_operation_t* user = tfrt_nn_only_user(fusion->last);
  bool is_near = user && user->block == fusion->first->block;
  if (is_near && read_activation(user, &activation) &&
      tfrt_nn_operand(user, 0) == &fusion->last->results[0]) {
    fusion->activation = activation;
    fusion->last = user;
    return;
  }
  tfrt_ir_operation_t* product = find_silu(fusion->last);
  if (!product) return;
  fusion->activation = (activation_t){"silu", 1, 0};
  fusion->last = product;
}

// Erases the ops from |op| back to |first| that nobody uses any more.
static void erase_taken(tfrt_ir_operation_t* first, tfrt_ir_operation_t* op) {
  // The product of x and sigmoid(x) goes before the sigmoid, and that before x.
  for (tfrt_ir_operation_t* at = op; at;) {
    tfrt_ir_operation_t* previous = at->previous;
    bool is_first = at == first;
    bool is_unused = true;
    for (uint32_t i = 0; i < at->result_count; ++i) is_unused &= !at->results[i].first_use;
    bool is_pure = at->descriptor && at->descriptor->flags & TFRT_KERNEL_PURE;
    if (is_unused && is_pure) tfrt_ir_operation_erase(at);
    at = is_first ? NULL : previous;
  }
}

// Makes the op |name| of what |fusion| has taken in.
static void finish(tfrt_nn_rewriter_t* rewriter, fusion_t* fusion, const char* name) {
  take_sum(fusion);
  take_activation(fusion);
  tfrt_ir_value_t* operands[4] = {tfrt_nn_operand(fusion->first, 0),
                                  tfrt_nn_operand(fusion->first, 1), fusion->bias, fusion->summand};
  const tfrt_nn_setting_t settings[] = {
      {"activation", tfrt_nn_rewriter_string(rewriter, fusion->activation.name)},
      {"alpha", tfrt_nn_rewriter_f32(rewriter, fusion->activation.alpha)},
      {"beta", tfrt_nn_rewriter_f32(rewriter, fusion->activation.beta)}};
  const tfrt_nn_recipe_t recipe = {.name = name,
                                   .before = fusion->last,
                                   .like = fusion->first,
                                   .operands = operands,
                                   .operand_count = fusion->summand ? 4
                                                    : fusion->bias  ? 3
                                                                    : 2,
                                   .result_count = 1,
                                   .settings = settings,
                                   .setting_count = TFRT_ARRAY_SIZE(settings)};
  tfrt_ir_operation_t* fused = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (!fused) return;
  tfrt_ir_value_replace_all_uses(&fusion->last->results[0], &fused->results[0]);
  erase_taken(fusion->first, fusion->last);
}

static void fuse_convolution(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  fusion_t fusion = {
      .first = op, .last = op, .bias = tfrt_nn_operand(op, 2), .activation = {"none", 0, 0}};
  finish(rewriter, &fusion, "fused_conv");
}

// The matrix of f32 that operand 1 of |op| is, or NULL.
static const tfrt_ir_type_t* read_matrix(const tfrt_ir_operation_t* op) {
  size_t count = 0;
  const tfrt_ir_value_t* weights = tfrt_nn_operand(op, 1);
  bool is_matrix = tfrt_nn_read_floats(weights, &count) && count > 0;
  const tfrt_ir_type_t* type = is_matrix ? tfrt_nn_read_constant(weights)->type : NULL;
  return type && type->rank == 2 ? type : NULL;
}

// A product alone stays, since nothing would be gained.
static void fuse_product(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  fusion_t fusion = {.first = op, .last = op, .activation = {"none", 0, 0}};
  const tfrt_ir_type_t* matrix = read_matrix(op);
  if (!matrix) return;
  take_bias(&fusion, matrix->dims[1]);
  if (fusion.bias) finish(rewriter, &fusion, "fused_mat_mul");
}

static void fuse_gemm(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op) {
  fusion_t fusion = {.first = op, .last = op, .activation = {"none", 0, 0}};
  const tfrt_ir_type_t* matrix = read_matrix(op);
  if (!matrix || tfrt_nn_attribute_i64(op, "transA", 0) != 0 ||
      tfrt_nn_attribute_f32(op, "alpha", 1) != 1.0f) {
    return;
  }
  size_t count = 0;
  int64_t columns = matrix->dims[tfrt_nn_attribute_i64(op, "transB", 0) == 0];
  fusion.bias = tfrt_nn_operand(op, 2);
  if (fusion.bias) {
    bool is_row = tfrt_nn_read_floats(fusion.bias, &count) && (int64_t)count == columns &&
                  tfrt_nn_read_constant(fusion.bias)->type->rank == 1;
    if (!is_row || tfrt_nn_attribute_f32(op, "beta", 1) != 1.0f) return;
  }
  finish(rewriter, &fusion, "fused_mat_mul");
}

static void fuse_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  // From the end, so that of two products that are added the later one takes the sum in.
  for (tfrt_ir_operation_t* op = block->last; op && !rewriter->failed;) {
    tfrt_ir_operation_t* previous = op->previous;
    if (tfrt_nn_is(op, "conv")) fuse_convolution(rewriter, op);
    if (tfrt_nn_is(op, "mat_mul")) fuse_product(rewriter, op);
    if (tfrt_nn_is(op, "gemm")) fuse_gemm(rewriter, op);
    op = previous;
  }
}

bool tfrt_nn_fuse(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, fuse_block);
}
