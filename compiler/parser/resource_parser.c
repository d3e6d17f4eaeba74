// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/parser_impl.h"
#include "host_runtime/base/ascii.h"

// Where an entry belongs.
typedef struct section_s {
  bool is_dialect;
  const tfrt_ir_string_t* owner;
} section_t;

// A name, in quotes if it needs them; NULL, with an error that says |what| is expected, if there is
// none.
static const tfrt_ir_string_t* parse_name(tfrt_parser_t* parser, const char* what) {
  if (parser->token.kind == TFRT_TOKEN_STRING) return tfrt_parser_string(parser);
  if (parser->token.kind != TFRT_TOKEN_WORD) {
    tfrt_parser_miss(parser, "expected %s", what);
    return NULL;
  }
  const tfrt_ir_string_t* name = tfrt_ir_string_get(parser->context, parser->token.text);
  tfrt_parser_advance(parser);
  return name;
}

// The same in front of a colon.
static const tfrt_ir_string_t* parse_key(tfrt_parser_t* parser, const char* what) {
  const tfrt_ir_string_t* name = parse_name(parser, what);
  return name && tfrt_parser_expect(parser, ':', "behind a name among resources") ? name : NULL;
}

// True if |text|, without quotes, is written as bytes.
static bool is_blob(tfrt_string_view_t text) {
  return text.size >= 2 && text.data[0] == '0' && text.data[1] == 'x';
}

// Checks the bytes |text| and adds them.
static bool add_blob(tfrt_parser_t* parser, const section_t* section, const tfrt_ir_string_t* name,
                     tfrt_string_view_t text, size_t offset) {
  tfrt_string_view_t digits = tfrt_string_view_make(text.data + 2, text.size - 2);
  if (digits.size < 8 || digits.size % 2) {
    return tfrt_parser_fail_at(parser, offset,
                               "expected an even number of hexadecimal digits for resource '%s', "
                               "eight for its alignment before those of its bytes",
                               name->data);
  }
  uint32_t alignment = 0;
  char* upper = tfrt_ir_context_allocate_room(parser->context, digits.size);
  if (!upper) return false;
  for (size_t i = 0; i < digits.size; ++i) {
    int value = tfrt_ascii_hex_digit(digits.data[i]);
    if (value < 0) {
      return tfrt_parser_fail_at(parser, offset + 3 + i,
                                 "expected hexadecimal digits for resource '%s'", name->data);
    }
    // Two digits are a byte, the least significant one of the alignment first.
    if (i < 8) alignment |= (uint32_t)value << (i % 2 ? 4 * (i - 1) : 4 * (i + 1));
    upper[i] = "0123456789ABCDEF"[value];
  }
  bool has_bytes = digits.size > 8;
  if (alignment & (alignment - 1) || (!alignment && has_bytes)) {
    return tfrt_parser_fail_at(parser, offset,
                               "the alignment of resource '%s' is %u, not a power of two",
                               name->data, alignment);
  }
  tfrt_ir_resource_t model = {.name = name,
                              .kind = TFRT_IR_RESOURCE_BLOB,
                              .bytes = tfrt_string_view_make(upper, digits.size)};
  return tfrt_ir_resource_add(parser->context, section->owner, section->is_dialect, &model);
}

// `name: true`, `name: "text"` or `name: "0x..."`.
static bool parse_resource(tfrt_parser_t* parser, void* argument) {
  const section_t* section = argument;
  const tfrt_ir_string_t* name = parse_key(parser, "the name of a resource");
  if (!name) return false;
  tfrt_ir_resource_t model = {.name = name};
  size_t offset = parser->token.offset;
  tfrt_string_view_t text = parser->token.text;
  if (parser->token.kind == TFRT_TOKEN_STRING) {
    tfrt_string_view_t inside = tfrt_string_view_make(text.data + 1, text.size - 2);
    if (is_blob(inside)) {
      tfrt_parser_advance(parser);
      return add_blob(parser, section, name, inside, offset);
    }
    if (section->is_dialect) {
      return tfrt_parser_fail(parser, "expected bytes \"0x...\" for resource '%s'", name->data);
    }
    const tfrt_ir_string_t* string = tfrt_parser_string(parser);
    if (!string) return false;
    model.kind = TFRT_IR_RESOURCE_STRING;
    model.bytes = tfrt_ir_string_view(string);
  } else if (!section->is_dialect && tfrt_parser_at_word(parser, "true")) {
    tfrt_parser_advance(parser);
    model.truth = true;
  } else if (!section->is_dialect && tfrt_parser_at_word(parser, "false")) {
    tfrt_parser_advance(parser);
  } else {
    return tfrt_parser_miss(
        parser, "expected %s for resource '%s'",
        section->is_dialect ? "bytes \"0x...\"" : "a string, \"0x...\", true or false", name->data);
  }
  return tfrt_ir_resource_add(parser->context, section->owner, section->is_dialect, &model);
}

// `{ part, part ... }`
static bool parse_braces(tfrt_parser_t* parser, const char* where,
                         bool (*parse_part)(tfrt_parser_t*, void*), void* argument) {
  if (!tfrt_parser_expect(parser, '{', where)) return false;
  if (tfrt_parser_accept(parser, '}')) return true;
  do {
    if (!parse_part(parser, argument)) return false;
  } while (tfrt_parser_accept(parser, ','));
  return tfrt_parser_expect(parser, '}', "or ',' behind a resource");
}

// `owner: { ... }`
static bool parse_owner(tfrt_parser_t* parser, void* argument) {
  section_t* section = argument;
  size_t offset = parser->token.offset;
  section->owner =
      parse_key(parser, section->is_dialect ? "the name of a dialect" : "the name of a tool");
  if (!section->owner) return false;
  if (section->is_dialect && !tfrt_ir_string_is(section->owner, "builtin")) {
    return tfrt_parser_fail_at(parser, offset,
                               "dialect '%s' has no resources here: only 'builtin' has",
                               section->owner->data);
  }
  return parse_braces(parser, "before the resources of a dialect or tool", parse_resource, section);
}

bool tfrt_parser_resources(tfrt_parser_t* parser) {
  tfrt_parser_advance(parser);
  if (tfrt_parser_accept(parser, TFRT_TOKEN_RESOURCES_END)) return true;
  do {
    section_t section = {.is_dialect = tfrt_parser_at_word(parser, "dialect_resources")};
    if (!section.is_dialect && !tfrt_parser_at_word(parser, "external_resources")) {
      return tfrt_parser_miss(parser, "expected 'dialect_resources' or 'external_resources'");
    }
    tfrt_parser_advance(parser);
    if (!tfrt_parser_expect(parser, ':', "behind the kind of resources") ||
        !parse_braces(parser, "before resources", parse_owner, &section)) {
      return false;
    }
  } while (tfrt_parser_accept(parser, ','));
  if (tfrt_parser_accept(parser, TFRT_TOKEN_RESOURCES_END)) return true;
  return tfrt_parser_miss(parser, "expected '#-}' at the end of the resources");
}

const tfrt_ir_attribute_t* tfrt_parser_resource_reference(tfrt_parser_t* parser) {
  if (!tfrt_parser_expect(parser, '<', "behind 'dense_resource'")) return NULL;
  const tfrt_ir_string_t* name = parse_name(parser, "the name of a resource");
  if (!name || !tfrt_parser_expect(parser, '>', "behind the name of a resource") ||
      !tfrt_parser_expect(parser, ':', "and a type behind 'dense_resource<...>'")) {
    return NULL;
  }
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  if (!type) return NULL;
  bool is_shaped = type->kind == TFRT_IR_TYPE_TENSOR || type->kind == TFRT_IR_TYPE_VECTOR ||
                   type->kind == TFRT_IR_TYPE_MEMREF;
  if (!is_shaped) {
    tfrt_parser_fail_at(parser, offset, "expected a tensor, vector or memref type, not '%s'",
                        type->text->data);
    return NULL;
  }
  return tfrt_ir_attribute_resource(parser->context, name, type);
}
