// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_branch.h"

#include <stdio.h>

#include "compiler/onnx/onnx_body.h"

// Makes the function |name| of the attribute |attribute|.
static bool build_branch(tfrt_onnx_builder_t* builder, const Onnx__AttributeProto* attribute,
                         const char* name, const tfrt_onnx_names_t* captured) {
  tfrt_onnx_body_t body;
  tfrt_onnx_body_signature_t signature = {.name = name, .result_count = builder->node->n_output};
  bool is_good = tfrt_onnx_body_open(builder, attribute, captured, &body);
  if (is_good && (body.graph->n_input > 0 || body.graph->n_output != builder->node->n_output)) {
    tfrt_onnx_report(builder, "its graph '%s' has other inputs or outputs", attribute->name);
    is_good = false;
  }
  is_good = is_good && tfrt_onnx_body_begin(&body, &signature) && tfrt_onnx_body_convert(&body) &&
            tfrt_onnx_return(builder, body.outputs, signature.result_count);
  tfrt_onnx_body_close(&body);
  return is_good;
}

// The call of one of two functions with the captured values.
static bool make_choice(tfrt_onnx_builder_t* builder, const char* names[2],
                        const tfrt_onnx_names_t* captured) {
  tfrt_ir_context_t* context = builder->context;
  uint32_t count = (uint32_t)builder->node->n_output;
  tfrt_ir_value_t** values =
      tfrt_ir_context_allocate_array(context, captured->count + 1, sizeof(*values));
  const tfrt_ir_string_t* symbols[2] = {tfrt_ir_string_of(context, names[0]),
                                        tfrt_ir_string_of(context, names[1])};
  tfrt_ir_value_t* condition = tfrt_onnx_input(builder, 0);
  if (!values || !symbols[0] || !symbols[1] || !condition) return false;
  values[0] = tfrt_onnx_make_condition(builder, condition);
  for (size_t i = 0; i < captured->count; ++i) {
    values[1 + i] = tfrt_onnx_entry(builder, captured->names[i])->value;
  }
  const tfrt_ir_named_attribute_t attributes[] = {
      {tfrt_ir_string_of(context, "a_true_fn"), tfrt_ir_attribute_symbol(context, &symbols[0], 1)},
      {tfrt_ir_string_of(context, "b_false_fn"), tfrt_ir_attribute_symbol(context, &symbols[1], 1)},
  };
  const tfrt_onnx_operands_t operands = {values, (uint32_t)captured->count + 1};
  tfrt_ir_operation_t* operation =
      tfrt_onnx_make_call(builder, "tfrt.cond", &operands, attributes, 2, count);
  if (!operation) return false;
  for (uint32_t i = 0; i < count; ++i) tfrt_onnx_define(builder, i, &operation->results[i]);
  return true;
}

bool tfrt_onnx_convert_if(tfrt_onnx_builder_t* builder, const char* op) {
  (void)op;
  const Onnx__AttributeProto* branches[2] = {
      tfrt_onnx_attribute(builder, "then_branch", TFRT_ONNX_GRAPH),
      tfrt_onnx_attribute(builder, "else_branch", TFRT_ONNX_GRAPH)};
  if (!branches[0] || !branches[1] || !branches[0]->has_g || !branches[1]->has_g ||
      builder->depth >= TFRT_ONNX_MAX_DEPTH) {
    tfrt_onnx_report(builder, "a branch is missing, or too deep");
    return false;
  }
  char texts[2][32];
  const char* names[2] = {texts[0], texts[1]};
  tfrt_onnx_names_t captured;
  bool is_good = tfrt_onnx_body_capture(builder, &captured);
  for (int i = 0; i < 2 && is_good; ++i) {
    snprintf(texts[i], sizeof(texts[i]), "%s_%u", i == 0 ? "then" : "else",
             builder->function_count + 1);
    is_good = build_branch(builder, branches[i], names[i], &captured);
  }
  return is_good && make_choice(builder, names, &captured);
}
