// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the ops of the language, whose op-table entries say `syntax`: MLIR's own,
// each written by a function that is found by the op's name.

#include "compiler/parser/parser_impl.h"

typedef bool (*syntax_fn_t)(tfrt_parser_t* parser, tfrt_parser_op_t* op);

typedef struct syntax_s {
  const char* name;
  syntax_fn_t parse;
} syntax_t;

static const syntax_t syntaxes[] = {
    {"cf.br", tfrt_parser_branch},
    {"cf.cond_br", tfrt_parser_conditional_branch},
    {"cf.switch", tfrt_parser_switch},
    {"cf.assert", tfrt_parser_assertion},
};

bool tfrt_parser_take_operand(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                              const tfrt_ir_type_t* type) {
  tfrt_value_reference_t reference;
  if (!tfrt_parser_value_reference(parser, &reference)) return false;
  ++op->operand_count;
  return tfrt_parser_resolve(parser, &reference, type);
}

bool tfrt_parser_optional_dictionary(tfrt_parser_t* parser) {
  return !tfrt_parser_accept(parser, '{') || tfrt_parser_attribute_entries(parser);
}

bool tfrt_parser_add_segments(tfrt_parser_t* parser, const char* name, const int32_t* sizes,
                              uint32_t count) {
  const tfrt_ir_type_t* type = tfrt_parser_type_of_text(parser, "i32");
  return type &&
         tfrt_parser_add_attribute(
             parser, name, tfrt_ir_attribute_dense_array(parser->context, type, sizes, count));
}

bool tfrt_parser_syntax(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(syntaxes); ++i) {
    if (strcmp(syntaxes[i].name, op->descriptor->name) == 0) return syntaxes[i].parse(parser, op);
  }
  return tfrt_parser_fail_at(parser, op->place.offset,
                             "op '%s' has no custom form that is known here", op->name->data);
}
