// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"

// The parameters of a function while they are parsed; the lists end on the parser's
// stacks, one entry per parameter.
typedef struct parameters_s {
  tfrt_value_reference_t* names;
  const tfrt_ir_type_t* const* types;
  const tfrt_ir_location_t* const* locations;
  const tfrt_ir_attribute_t* const* attributes;
  uint32_t count;
  bool named;           // the text gives names: it must, where there is a body
  bool has_attributes;  // for any of them
} parameters_t;

// `{...}` behind a parameter or a result, or an empty dictionary.
static const tfrt_ir_attribute_t* parse_dictionary(tfrt_parser_t* parser, bool* in_out_any) {
  if (parser->token.kind != '{') {
    return tfrt_ir_attribute_dictionary(parser->context, NULL, 0);
  }
  *in_out_any = true;
  return tfrt_parser_attribute(parser);
}

// Splits the |count| groups of |stride| pointers from |mark| on into |stride| lists.
static bool split(tfrt_parser_t* parser, size_t mark, uint32_t stride, const void*** lists,
                  uint32_t* out_count) {
  uint32_t count = (uint32_t)(parser->pointers.count - mark) / stride;
  for (uint32_t k = 0; k < stride; ++k) {
    lists[k] = tfrt_ir_context_allocate_array(parser->context, count, sizeof(void*));
    if (!lists[k]) return false;
    for (uint32_t i = 0; i < count; ++i) {
      lists[k][i] = *(const void**)tfrt_scratch_at(&parser->pointers, mark + i * stride + k);
    }
  }
  parser->pointers.count = mark;
  *out_count = count;
  return true;
}

// `%name: type {attributes} loc(...)`, or in a declaration `type {attributes}`; pushes
// type, attributes and location.
static bool parse_parameter(tfrt_parser_t* parser, parameters_t* parameters) {
  bool is_named = parser->token.kind == TFRT_TOKEN_PERCENT;
  if (parameters->count++ && is_named != parameters->named) {
    return tfrt_parser_fail(parser, "either all parameters have names, or none");
  }
  parameters->named = is_named;
  if (is_named) {
    tfrt_value_reference_t reference;
    if (!tfrt_parser_value_reference(parser, &reference)) return false;
    if (!tfrt_scratch_push(&parser->operands, &reference)) return false;
    if (!tfrt_parser_expect(parser, ':', "and a type behind a parameter")) return false;
  }
  if (!tfrt_parser_push_pointer(parser, tfrt_parser_type(parser))) return false;
  const tfrt_ir_attribute_t* dictionary = parse_dictionary(parser, &parameters->has_attributes);
  if (!tfrt_parser_push_pointer(parser, dictionary)) return false;
  const tfrt_ir_location_t* location = NULL;
  if (tfrt_parser_at_word(parser, "loc")) {
    location = tfrt_parser_location(parser);
    if (!location) return false;
  }
  return tfrt_scratch_push(&parser->pointers, &location);
}

static bool parse_parameters(tfrt_parser_t* parser, parameters_t* parameters) {
  size_t mark = parser->pointers.count;
  size_t name_mark = parser->operands.count;
  if (!tfrt_parser_expect(parser, '(', "and parameters behind a function's name")) return false;
  if (!tfrt_parser_accept(parser, ')')) {
    do {
      if (!parse_parameter(parser, parameters)) return false;
    } while (tfrt_parser_accept(parser, ','));
    if (!tfrt_parser_expect(parser, ')', "behind a function's parameters")) return false;
  }
  const void** lists[3];
  if (!split(parser, mark, 3, lists, &parameters->count)) return false;
  parameters->types = (const tfrt_ir_type_t* const*)lists[0];
  parameters->attributes = (const tfrt_ir_attribute_t* const*)lists[1];
  parameters->locations = (const tfrt_ir_location_t* const*)lists[2];
  size_t name_count = parser->operands.count - name_mark;
  parameters->names =
      tfrt_ir_context_allocate_array(parser->context, name_count, sizeof(*parameters->names));
  if (!parameters->names) return false;
  for (size_t i = 0; i < name_count; ++i) {
    parameters->names[i] =
        *(tfrt_value_reference_t*)tfrt_scratch_at(&parser->operands, name_mark + i);
  }
  parser->operands.count = name_mark;
  return true;
}

// `-> T` or `-> (T {attributes}, ...)`, if there.
static bool parse_results(tfrt_parser_t* parser, parameters_t* results) {
  const void** lists[2];
  size_t mark = parser->pointers.count;
  if (tfrt_parser_accept(parser, TFRT_TOKEN_ARROW)) {
    bool is_list = tfrt_parser_accept(parser, '(');
    bool is_empty = is_list && parser->token.kind == ')';
    if (!is_empty) {
      do {
        if (!tfrt_parser_push_pointer(parser, tfrt_parser_type(parser))) return false;
        // Without parentheses a brace begins the body.
        const tfrt_ir_attribute_t* dictionary =
            is_list ? parse_dictionary(parser, &results->has_attributes)
                    : tfrt_ir_attribute_dictionary(parser->context, NULL, 0);
        if (!tfrt_parser_push_pointer(parser, dictionary)) return false;
      } while (is_list && tfrt_parser_accept(parser, ','));
    }
    if (is_list && !tfrt_parser_expect(parser, ')', "behind a function's results")) return false;
  }
  if (!split(parser, mark, 2, lists, &results->count)) return false;
  results->types = (const tfrt_ir_type_t* const*)lists[0];
  results->attributes = (const tfrt_ir_attribute_t* const*)lists[1];
  return true;
}

static bool add_string(tfrt_parser_t* parser, const char* name, tfrt_string_view_t text) {
  return tfrt_parser_add_attribute(parser, name,
                                   tfrt_ir_attribute_string(parser->context, text, NULL));
}

// Adds what the head of a function says as attributes.
static bool add_attributes(tfrt_parser_t* parser, const tfrt_ir_string_t* name,
                           const parameters_t* parameters, const parameters_t* results) {
  tfrt_ir_context_t* context = parser->context;
  const tfrt_ir_type_t* type = tfrt_ir_type_function(context, parameters->types, parameters->count,
                                                     results->types, results->count);
  if (!type) return false;
  bool ok =
      tfrt_parser_add_attribute(parser, "function_type", tfrt_ir_attribute_type(context, type)) &&
      add_string(parser, "sym_name", tfrt_ir_string_view(name));
  if (ok && parameters->has_attributes) {
    ok = tfrt_parser_add_attribute(
        parser, "arg_attrs",
        tfrt_ir_attribute_array(context, parameters->attributes, parameters->count));
  }
  if (ok && results->has_attributes) {
    ok = tfrt_parser_add_attribute(
        parser, "res_attrs", tfrt_ir_attribute_array(context, results->attributes, results->count));
  }
  return ok;
}

// `attributes {...}`, if there.
static bool parse_attributes(tfrt_parser_t* parser) {
  if (!tfrt_parser_accept_word(parser, "attributes")) return true;
  return tfrt_parser_expect(parser, '{', "behind 'attributes'") &&
         tfrt_parser_attribute_entries(parser);
}

bool tfrt_parser_function(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  static const char* const visibilities[] = {"private", "public", "nested"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(visibilities); ++i) {
    if (!tfrt_parser_accept_word(parser, visibilities[i])) continue;
    tfrt_string_view_t text = tfrt_string_view_of(visibilities[i]);
    if (!add_string(parser, "sym_visibility", text)) return false;
  }
  const tfrt_ir_string_t* name = tfrt_parser_symbol_name(parser);
  parameters_t parameters = {.named = true};
  parameters_t results = {.named = false};
  if (!name || !parse_parameters(parser, &parameters) || !parse_results(parser, &results)) {
    return false;
  }
  if (!parse_attributes(parser)) return false;
  if (!add_attributes(parser, name, &parameters, &results)) return false;
  if (!tfrt_parser_make_regions(parser, op, 1)) return false;
  if (parser->token.kind != '{') return true;
  if (parameters.count && !parameters.named) {
    return tfrt_parser_fail(parser, "a function with a body needs names for its parameters");
  }
  tfrt_parser_region_style_t style = {.isolated = true,
                                      .argument_names = parameters.names,
                                      .argument_types = parameters.types,
                                      .argument_locations = parameters.locations,
                                      .argument_count = parameters.count};
  const char* outer_dialect = parser->default_dialect;
  parser->default_dialect = op->descriptor ? "async" : "func";
  bool ok = tfrt_parser_region(parser, &op->regions[0], &style);
  parser->default_dialect = outer_dialect;
  return ok;
}

bool tfrt_parser_nested_module(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  op->name = tfrt_ir_string_of(parser->context, "builtin.module");
  if (!op->name) return false;
  if (parser->token.kind == TFRT_TOKEN_AT) {
    const tfrt_ir_string_t* name = tfrt_parser_symbol_name(parser);
    if (!name || !add_string(parser, "sym_name", tfrt_ir_string_view(name))) return false;
  }
  if (!parse_attributes(parser)) return false;
  if (!tfrt_parser_make_regions(parser, op, 1)) return false;
  tfrt_parser_region_style_t style = {.isolated = true, .is_module = true};
  if (!tfrt_parser_region(parser, &op->regions[0], &style)) return false;
  return op->regions[0].first_block || tfrt_ir_block_create(parser->context, &op->regions[0]);
}
