// SPDX-License-Identifier: Apache-2.0
//
// dense<literal> : type. The type comes last, so the literals are kept as tokens until
// it is known.

#include "compiler/parser/parser_impl.h"
#include "host_runtime/base/ascii.h"

// A splat makes any size out of a few bytes of text; this is what one may ask for.
#define MAX_DENSE_SIZE (UINT32_C(1) << 30)

// One leaf of the literal.
typedef struct literal_s {
  tfrt_token_t token;  // a number, `true` or `false`
  bool negative;
} literal_t;

const size_t tfrt_parser_literal_size = sizeof(literal_t);

// The shape that the nesting of brackets gives.
typedef struct shape_s {
  size_t dims[TFRT_PARSER_MAX_NESTING];
  uint32_t rank;
  bool leaf_seen;
} shape_t;

// A number or truth value, pushed on |literals|.
static bool parse_leaf(tfrt_parser_t* parser) {
  literal_t literal = {.negative = tfrt_parser_accept(parser, '-')};
  literal.token = parser->token;
  bool is_number =
      literal.token.kind == TFRT_TOKEN_INTEGER || literal.token.kind == TFRT_TOKEN_FLOAT;
  bool is_truth = tfrt_parser_at_word(parser, "true") || tfrt_parser_at_word(parser, "false");
  if (!is_number && (literal.negative || !is_truth)) {
    return tfrt_parser_miss(parser, "expected a number, 'true' or 'false' in a dense attribute");
  }
  tfrt_parser_advance(parser);
  return tfrt_scratch_push(&parser->literals, &literal);
}

// One element: a leaf, or two of them in parentheses for a complex number.
static bool parse_element(tfrt_parser_t* parser) {
  if (!tfrt_parser_accept(parser, '(')) return parse_leaf(parser);
  return parse_leaf(parser) && tfrt_parser_expect(parser, ',', "in a complex number") &&
         parse_leaf(parser) && tfrt_parser_expect(parser, ')', "at the end of a complex number");
}

// Notes that a list, or an element, ends at |level| with |count| entries.
static bool check_shape(tfrt_parser_t* parser, shape_t* shape, uint32_t level, size_t count,
                        bool is_leaf) {
  bool fits = true;
  if (is_leaf) {
    fits = !shape->leaf_seen || shape->rank == level;
    if (!shape->leaf_seen) shape->rank = level;
    shape->leaf_seen = true;
  } else if (shape->dims[level] == SIZE_MAX) {
    shape->dims[level] = count;
  } else {
    fits = shape->dims[level] == count;
  }
  if (fits) return true;
  return tfrt_parser_fail(parser, "the lists in a dense attribute have different lengths");
}

static bool parse_nested(tfrt_parser_t* parser, shape_t* shape, uint32_t level) {
  if (parser->token.kind != '[') {
    return check_shape(parser, shape, level, 0, true) && parse_element(parser);
  }
  if (!tfrt_parser_enter(parser)) return false;
  tfrt_parser_advance(parser);
  size_t count = 0;
  bool ok = true;
  if (parser->token.kind != ']') {
    do {
      ++count;
      ok = parse_nested(parser, shape, level + 1);
    } while (ok && tfrt_parser_accept(parser, ','));
  }
  if (!shape->leaf_seen && level + 1 > shape->rank) shape->rank = level + 1;
  ok = ok && tfrt_parser_expect(parser, ']', "at the end of a list") &&
       check_shape(parser, shape, level, count, false);
  tfrt_parser_leave(parser);
  return ok;
}

// Writes the leaf |literal| as the number type |type| to |target|.
static bool store_leaf(tfrt_parser_t* parser, const literal_t* literal, const tfrt_ir_type_t* type,
                       char* target) {
  uint64_t bits = 0;
  if (literal->token.kind == TFRT_TOKEN_WORD) {
    if (!tfrt_ir_type_is(type, "i1")) {
      return tfrt_parser_fail_at(parser, literal->token.offset, "expected a number of type '%s'",
                                 type->text->data);
    }
    bits = literal->token.text.data[0] == 't';
  } else if (!tfrt_parser_number_bits(parser, &literal->token, literal->negative, type, &bits)) {
    return false;
  }
  memcpy(target, &bits, tfrt_ir_type_byte_size(type));  // little-endian, as the machine is
  return true;
}

// Checks the |shape| of the literal against |type|.
static bool shape_fits(tfrt_parser_t* parser, size_t offset, const shape_t* shape,
                       const tfrt_ir_type_t* type) {
  bool fits = shape->rank == type->rank;
  for (uint32_t i = 0; fits && i < type->rank; ++i) {
    fits = shape->dims[i] == (size_t)type->dims[i] ||
           (shape->dims[i] == SIZE_MAX && i > 0 && shape->dims[i - 1] == 0);
  }
  if (fits) return true;
  return tfrt_parser_fail_at(parser, offset, "the shape of the elements doesn't match type '%s'",
                             type->text->data);
}

// The attribute of |type| from the literals from |mark| on.
static const tfrt_ir_attribute_t* build(tfrt_parser_t* parser, size_t offset, size_t mark,
                                        const tfrt_ir_type_t* type, const shape_t* shape) {
  const tfrt_ir_type_t* leaf = type->element;
  size_t leaves_per_element = 1;
  if (leaf->kind == TFRT_IR_TYPE_COMPLEX) {
    leaf = leaf->element;
    leaves_per_element = 2;
  }
  size_t width = tfrt_ir_type_byte_size(leaf);
  size_t count = 0;
  size_t leaf_count = parser->literals.count - mark;
  tfrt_ir_type_element_count(type, &count);
  bool is_splat = shape->rank == 0 && leaf_count == leaves_per_element;
  if (!is_splat && leaf_count && !shape_fits(parser, offset, shape, type)) return NULL;
  size_t total = 0;
  if ((!is_splat && leaf_count != count * leaves_per_element) ||
      !tfrt_size_multiply(count, width * leaves_per_element, &total) || total > MAX_DENSE_SIZE) {
    tfrt_parser_fail_at(parser, offset, "the number of elements doesn't match type '%s'",
                        type->text->data);
    return NULL;
  }
  char* bytes = tfrt_ir_context_allocate_array(parser->context, total + 16, 1);
  if (!bytes) return NULL;
  for (size_t i = 0; i < leaf_count; ++i) {
    literal_t literal = *(literal_t*)tfrt_scratch_at(&parser->literals, mark + i);
    if (!store_leaf(parser, &literal, leaf, bytes + i * width)) return NULL;
  }
  size_t element = width * leaves_per_element;
  for (size_t i = element; is_splat && i < total; i += element) {
    memcpy(bytes + i, bytes, element);
  }
  return tfrt_ir_attribute_dense(parser->context, type, bytes, total);
}

// The attribute of |type| from the bytes in hexadecimal of the string |hex|. An i1 takes
// one bit there, the lowest of each byte first.
static const tfrt_ir_attribute_t* build_hex(tfrt_parser_t* parser, size_t offset,
                                            const tfrt_ir_string_t* hex,
                                            const tfrt_ir_type_t* type) {
  size_t width = tfrt_ir_type_byte_size(type->element);
  bool is_bits = tfrt_ir_type_is(type->element, "i1");
  size_t count = 0;
  tfrt_ir_type_element_count(type, &count);
  size_t total = 0;
  bool fits = tfrt_size_multiply(count, width, &total) && total <= MAX_DENSE_SIZE;
  size_t given = (hex->size - 2) / 2;
  size_t wanted = is_bits ? (count + 7) / 8 : total;
  bool is_splat = fits && count > 1 && given == (is_bits ? 1 : width) && given != wanted;
  if (!fits || hex->size % 2 || (given != wanted && !is_splat)) {
    tfrt_parser_fail_at(parser, offset, "the number of bytes doesn't match type '%s'",
                        type->text->data);
    return NULL;
  }
  char* bytes = tfrt_ir_context_allocate_array(parser->context, total, 1);
  if (!bytes) return NULL;
  for (size_t i = 0; i < total; ++i) {
    size_t source = is_bits ? i / 8 : i;
    if (is_splat) source = is_bits ? 0 : i % width;
    int high = tfrt_ascii_hex_digit(hex->data[2 + 2 * source]);
    int low = tfrt_ascii_hex_digit(hex->data[3 + 2 * source]);
    if (high < 0 || low < 0) {
      tfrt_parser_fail_at(parser, offset, "expected hexadecimal digits behind 0x");
      return NULL;
    }
    int byte = high * 16 + low;
    bytes[i] = (char)(is_bits ? (byte >> (is_splat ? 0 : i % 8)) & 1 : byte);
  }
  return tfrt_ir_attribute_dense(parser->context, type, bytes, total);
}

// True if |type| can have dense elements; reports at |offset|.
static bool check_type(tfrt_parser_t* parser, size_t offset, const tfrt_ir_type_t* type) {
  size_t count = 0;
  bool is_shaped = type->kind == TFRT_IR_TYPE_TENSOR || type->kind == TFRT_IR_TYPE_VECTOR;
  if (is_shaped && tfrt_ir_type_has_static_shape(type) &&
      !tfrt_ir_type_element_count(type, &count)) {
    return tfrt_parser_fail_at(parser, offset, "the shape of '%s' has more than 2^63 - 1 elements",
                               type->text->data);
  }
  if (!is_shaped || !tfrt_ir_type_element_count(type, &count)) {
    return tfrt_parser_fail_at(parser, offset,
                               "a dense attribute needs a tensor or vector type of known shape");
  }
  if (!tfrt_ir_type_byte_size(type->element)) {
    return tfrt_parser_fail_at(parser, offset, "a dense attribute can't hold elements of type '%s'",
                               type->element->text->data);
  }
  return true;
}

// True if |type| is a scalable vector: it and its attributes are only carried along.
static bool is_scalable(const tfrt_ir_type_t* type) {
  return type->kind == TFRT_IR_TYPE_DIALECT &&
         tfrt_string_view_starts_with(tfrt_ir_string_view(type->text),
                                      tfrt_string_view_of("vector<"));
}

// The attribute from |word| up to the token at hand, which is only carried along.
static const tfrt_ir_attribute_t* carry_along(tfrt_parser_t* parser, const tfrt_token_t* word) {
  const char* begin = parser->lexer.text.data + word->offset;
  size_t size = parser->token.offset - word->offset;
  while (size && strchr(" \t\r\n", begin[size - 1])) --size;
  return tfrt_ir_attribute_opaque(parser->context, tfrt_string_view_make(begin, size));
}

// `> : type`; reports what is wrong with the type at its place.
static const tfrt_ir_type_t* parse_dense_type(tfrt_parser_t* parser, bool any_element) {
  if (!tfrt_parser_expect(parser, '>', "at the end of a dense attribute")) return NULL;
  if (!tfrt_parser_expect(parser, ':', "and a type behind a dense attribute")) return NULL;
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  if (!type || any_element || is_scalable(type)) return type;
  return check_type(parser, offset, type) ? type : NULL;
}

// dense<["a", "b"]> : type, which is only carried along: there are no strings in BEF's
// dense attributes.
static const tfrt_ir_attribute_t* parse_strings(tfrt_parser_t* parser, const tfrt_token_t* word) {
  size_t end = 0;
  if (!tfrt_parser_find_closing(parser, parser->token.offset, &end)) return NULL;
  tfrt_parser_move(parser, end);
  if (!parse_dense_type(parser, true)) return NULL;
  return carry_along(parser, word);
}

// True if the elements from the token at hand on are strings.
static bool is_string_list(const tfrt_parser_t* parser) {
  tfrt_string_view_t text = parser->lexer.text;
  size_t i = parser->token.offset;
  while (i < text.size && strchr("[ \t\r\n", text.data[i])) ++i;
  return i < text.size && text.data[i] == '"';
}

const tfrt_ir_attribute_t* tfrt_parser_dense(tfrt_parser_t* parser, const tfrt_token_t* word) {
  size_t mark = parser->literals.count;
  tfrt_parser_advance(parser);
  size_t offset = parser->token.offset;
  bool is_hex = parser->token.kind == TFRT_TOKEN_STRING && parser->token.text.size > 4 &&
                memcmp(parser->token.text.data, "\"0x", 3) == 0;
  if (is_hex) {
    const tfrt_ir_string_t* hex = tfrt_parser_string(parser);
    const tfrt_ir_type_t* type = hex ? parse_dense_type(parser, false) : NULL;
    if (type && is_scalable(type)) return carry_along(parser, word);
    return type ? build_hex(parser, offset, hex, type) : NULL;
  }
  if (is_string_list(parser)) return parse_strings(parser, word);
  shape_t shape = {.rank = 0};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(shape.dims); ++i) shape.dims[i] = SIZE_MAX;
  if (parser->token.kind != '>' && !parse_nested(parser, &shape, 0)) return NULL;
  const tfrt_ir_type_t* type = parse_dense_type(parser, false);
  if (!type) return NULL;
  const tfrt_ir_attribute_t* attribute =
      is_scalable(type) ? carry_along(parser, word) : build(parser, offset, mark, type, &shape);
  parser->literals.count = mark;
  return attribute;
}

const tfrt_ir_attribute_t* tfrt_parser_dense_array(tfrt_parser_t* parser) {
  size_t mark = parser->literals.count;
  tfrt_parser_advance(parser);
  size_t offset = parser->token.offset;
  const tfrt_ir_type_t* type = tfrt_parser_type(parser);
  if (!type) return NULL;
  size_t width = tfrt_ir_type_byte_size(type);
  if (!width || type->kind == TFRT_IR_TYPE_COMPLEX) {
    tfrt_parser_fail_at(parser, offset, "an array can't hold elements of type '%s'",
                        type->text->data);
    return NULL;
  }
  if (tfrt_parser_accept(parser, ':')) {
    do {
      if (!parse_leaf(parser)) return NULL;
    } while (tfrt_parser_accept(parser, ','));
  }
  if (!tfrt_parser_expect(parser, '>', "at the end of an array")) return NULL;
  size_t count = parser->literals.count - mark;
  char* bytes = tfrt_ir_context_allocate_array(parser->context, count + 1, width);
  if (!bytes) return NULL;
  for (size_t i = 0; i < count; ++i) {
    literal_t literal = *(literal_t*)tfrt_scratch_at(&parser->literals, mark + i);
    if (!store_leaf(parser, &literal, type, bytes + i * width)) return NULL;
  }
  parser->literals.count = mark;
  return tfrt_ir_attribute_dense_array(parser->context, type, bytes, (uint32_t)count);
}
