// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/piecewise_parser.h"

#include "compiler/parser/parser_impl.h"

// The longest text of a function that is read for itself: bigger ones are most of their text.
#define MAX_PIECE_TEXT ((size_t)16 * 1024 * 1024)

typedef enum state_e {
  STATE_AROUND,   // parsing what is around functions
  STATE_HEAD,     // at the head of one, in a piece; then its body is skipped:
  STATE_SKIPPED,  // behind it, in the same piece; then AROUND again, or, at the text's end:
  STATE_READING,  // functions are read again
} state_t;

struct tfrt_piecewise_parser_s {
  tfrt_parser_t parser;
  state_t state;
  bool has_functions;  // heads were met
  // These belong to the text around the piece that is open.
  tfrt_hash_table_t blocks;
  size_t unmeasured_mark;
};

// --- One piece ----------------------------------------------------------------------------

static void open_piece(tfrt_piecewise_parser_t* self) {
  tfrt_parser_t* parser = &self->parser;
  tfrt_ir_context_open_piece(parser->context);
  self->unmeasured_mark = parser->unmeasured.count;
  self->blocks = parser->blocks;
  tfrt_hash_table_initialize(&parser->blocks, &tfrt_parser_block_vtable,
                             tfrt_ir_context_allocator(parser->context));
}

// Forgets what the parser knows of the piece, and the piece.
static void close_piece(tfrt_piecewise_parser_t* self) {
  tfrt_parser_t* parser = &self->parser;
  tfrt_value_scopes_forget_piece(&parser->scopes);
  tfrt_hash_table_deinitialize(&parser->blocks);
  parser->blocks = self->blocks;
  parser->unmeasured.count = self->unmeasured_mark;
  // A scope to come may have the address of one that is gone.
  parser->plain.scope = NULL;
  tfrt_ir_context_close_piece(parser->context);
}

// --- What is around the bodies ----------------------------------------------------------------

void tfrt_parser_begin_piece(tfrt_parser_t* parser, tfrt_parser_op_t* op) {
  tfrt_piecewise_parser_t* self = parser->pieces;
  if (!self || self->state != STATE_AROUND || parser->scopes.top != parser->module_scope) return;
  if (!tfrt_ir_string_is(op->name, "func.func") && !tfrt_ir_string_is(op->name, "async.func")) {
    return;
  }
  op->is_piece = true;
  self->state = STATE_HEAD;
  self->has_functions = true;
  open_piece(self);
}

// Moves |cursor|, behind a `{`, to the `}` for it, or to the text's end. Braces in strings and in
// comments don't count. Where that is a mistake, as it is for the text of an opaque attribute that
// looks like a comment, the body is found to end elsewhere when it is read.
static void skip_braces(tfrt_text_cursor_t* cursor) {
  static const bool counts[256] = {
      ['"'] = true, ['\n'] = true, ['/'] = true, ['{'] = true, ['}'] = true};
  size_t depth = 0;
  for (;;) {
    // In a variable of its own, which stays in a register.
    const char* at = cursor->at;
    while (at < cursor->end && !counts[(unsigned char)*at]) ++at;
    cursor->at = at;
    if (at >= cursor->end) break;
    switch (*at) {
      case '"':
        do {
          at += *at == '\\' ? 2 : 1;
        } while (at < cursor->end && *at != '"' && *at != '\n');
        cursor->at = at;
        break;
      case '\n':
        tfrt_text_cursor_end_line(cursor);
        continue;
      case '/':
        cursor->at = tfrt_text_end_of_comment(cursor->at, cursor->end);
        if (cursor->at < cursor->end && *cursor->at == '/') break;
        continue;
      case '{':
        ++depth;
        break;
      case '}':
        if (!depth--) return;
        break;
    }
    ++cursor->at;
  }
  cursor->at = cursor->end;
}

bool tfrt_parser_skip_body(tfrt_parser_t* parser) {
  tfrt_piecewise_parser_t* self = parser->pieces;
  if (self->state != STATE_HEAD || parser->token.kind != '{') return false;
  self->state = STATE_SKIPPED;
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(&parser->lexer);
  skip_braces(&cursor);
  tfrt_lexer_follow(&parser->lexer, &cursor);
  tfrt_lexer_next(&parser->lexer, &parser->token);
  ++parser->brace_depth;  // of the `{` that was skipped
  tfrt_parser_accept(parser, '}');
  return true;
}

bool tfrt_parser_alias_is_for_all(const tfrt_parser_t* parser, const tfrt_ir_string_t* name,
                                  bool is_location) {
  const tfrt_piecewise_parser_t* self = parser->pieces;
  if (!self || !self->has_functions) return true;
  // Others are known only behind their definition.
  return is_location && strncmp(name->data, "loc", 3) == 0;
}

// The head of |function|, whose text has |text_size| bytes, as an op that stays.
static tfrt_ir_operation_t* make_head(tfrt_parser_t* parser, const tfrt_parser_op_t* op,
                                      const tfrt_ir_operation_t* function, size_t text_size) {
  tfrt_ir_operation_parts_t parts = {.name = function->name,
                                     .descriptor = function->descriptor,
                                     .file = parser->file,
                                     .line = op->place.line,
                                     .column = op->place.column,
                                     .attributes = function->attributes,
                                     .attribute_count = function->attribute_count,
                                     .region_count = 1};
  tfrt_ir_operation_t* head = tfrt_ir_operation_create(parser->context, &parts);
  tfrt_ir_unread_body_t* body = tfrt_ir_context_allocate_kept(parser->context, sizeof(*body));
  if (!head || !body) return NULL;
  *body = (tfrt_ir_unread_body_t){.offset = op->place.offset,
                                  .size = text_size,
                                  .line = op->place.line,
                                  .column = op->place.column,
                                  .depth = parser->depth - 1};
  head->text_offset = function->text_offset;
  head->regions[0].unread = body;
  return head;
}

bool tfrt_parser_end_piece(tfrt_parser_t* parser, const tfrt_parser_op_t* op,
                           tfrt_ir_operation_t* function) {
  tfrt_piecewise_parser_t* self = parser->pieces;
  size_t text_size = parser->previous_end - op->place.offset;
  bool fits = function->region_count == 1 && !function->operand_count && !function->result_count &&
              !function->successor_count && !function->regions[0].first_block &&
              text_size <= MAX_PIECE_TEXT;
  if (!fits) return tfrt_parser_fail(parser, "this text can't be parsed piece by piece");
  tfrt_ir_block_t* block = function->block;
  tfrt_ir_block_remove(function);
  tfrt_ir_context_leave_piece(parser->context);
  tfrt_ir_operation_t* head = make_head(parser, op, function, text_size);
  if (!head) return false;
  tfrt_ir_block_append(block, head);
  close_piece(self);
  self->state = STATE_AROUND;
  return true;
}

tfrt_ir_operation_t* tfrt_piecewise_parser_open(tfrt_ir_context_t* context,
                                                const tfrt_op_tables_t* tables,
                                                tfrt_diagnostics_t* diagnostics,
                                                tfrt_piecewise_parser_t** out_parser) {
  *out_parser = NULL;
  tfrt_allocator_t allocator = tfrt_ir_context_allocator(context);
  tfrt_piecewise_parser_t* self = tfrt_allocator_allocate(allocator, sizeof(*self));
  if (!self) return NULL;
  self->state = STATE_AROUND;
  self->has_functions = false;
  tfrt_parser_t* parser = &self->parser;
  tfrt_status_t status = tfrt_parser_initialize(parser, context, tables, diagnostics);
  parser->pieces = self;
  tfrt_ir_operation_t* module = status ? NULL : tfrt_parser_text(parser);
  tfrt_status_release(status);
  // The functions that are read stand alone in what isolates them.
  bool ok = module && self->state == STATE_AROUND && !context->failed &&
            tfrt_value_scopes_push(&parser->scopes, true);
  if (!ok) {
    if (self->state != STATE_AROUND) close_piece(self);
    self->state = STATE_AROUND;
    tfrt_piecewise_parser_close(self);
    return NULL;
  }
  *out_parser = self;
  return module;
}

void tfrt_piecewise_parser_close(tfrt_piecewise_parser_t* self) {
  if (!self) return;
  tfrt_ir_context_t* context = self->parser.context;
  if (self->state == STATE_READING) close_piece(self);
  tfrt_parser_deinitialize(&self->parser);
  tfrt_allocator_free(tfrt_ir_context_allocator(context), self, sizeof(*self));
}

// --- One function -------------------------------------------------------------------------------

// Lets the token at hand be the first one of |body|'s function.
static void move(tfrt_parser_t* parser, const tfrt_ir_unread_body_t* body) {
  const char* at = parser->lexer.text.data + body->offset;
  tfrt_text_cursor_t cursor = {.at = at,
                               .end = parser->lexer.text.data + parser->lexer.text.size,
                               .line_begin = at + 1 - body->column,
                               .line = body->line};
  tfrt_lexer_follow(&parser->lexer, &cursor);
  tfrt_lexer_next(&parser->lexer, &parser->token);
}

bool tfrt_parser_reads_bodies(const tfrt_parser_t* parser) {
  return parser->pieces && parser->pieces->state == STATE_READING;
}

tfrt_ir_operation_t* tfrt_piecewise_parser_read(tfrt_piecewise_parser_t* self,
                                                const tfrt_ir_operation_t* head) {
  tfrt_parser_t* parser = &self->parser;
  const tfrt_ir_unread_body_t* body = head->regions[0].unread;
  if (self->state == STATE_READING) close_piece(self);
  self->state = STATE_READING;
  open_piece(self);
  move(parser, body);
  parser->depth = body->depth;
  tfrt_ir_block_t* block = tfrt_ir_block_make(parser->context);
  if (!block) return NULL;
  block->region = head->block->region;
  bool ok = tfrt_parser_operation(parser, block) && !parser->context->failed &&
            parser->previous_end == body->offset + body->size;
  return ok ? block->last : NULL;
}
