// SPDX-License-Identifier: Apache-2.0
//
// The inside of the parser, shared by its sources: one struct with the token at hand,
// and one function for each thing that can be parsed.
//
//   parser.c                  the whole: aliases, the module, what the header promises
//   token_parser.c            single tokens, free text in brackets, errors, nesting
//   type_parser.c             types
//   attribute_parser.c        attributes but for
//   number_parser.c           numbers, and
//   dense_parser.c            dense<...> and array<...>
//   location_parser.c         loc(...)
//   resource_parser.c         {-# ... #-} and dense_resource<...>
//   operation_parser.c        one op, its results, the generic form, errors within a block
//   plain_operation_parser.c  the same in one go, for most of them
//   assembly_parser.c         custom forms, as the op table writes them
//   syntax_parser.c           custom forms of the ops of the language, found by name, and
//   cf_parser.c               those of branches
//   region_parser.c           regions and blocks
//   function_parser.c         func.func and module
//   piecewise_parser.c        functions one after another, without the memory of all
//
// All functions report errors and then return NULL or false. The token is then somewhere in the op,
// and tfrt_parser_recover() finds the next op. Lists are gathered on the stacks of the parser. The
// function that begins a list sets the count back; after an error tfrt_parser_operation() does.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as above; also NULL or false when memory is out, without a report.
#ifndef TFRT_COMPILER_PARSER_PARSER_IMPL_H_
#define TFRT_COMPILER_PARSER_PARSER_IMPL_H_

#include "compiler/ir/scratch.h"
#include "compiler/op_table/op_form.h"
#include "compiler/parser/lexer.h"
#include "compiler/parser/parser.h"
#include "compiler/parser/value_scope.h"

// Bounds for what aliases can make small texts mean.
#define TFRT_PARSER_MAX_LOCATION_WEIGHT 4096
#define TFRT_PARSER_MAX_ATTRIBUTE_WEIGHT (1u << 24)
#define TFRT_PARSER_MAX_ALIAS_TYPE_TEXT 1024

#define TFRT_PARSER_RECENT_COUNT 16
#define TFRT_PARSER_RECENT_NAME_COUNT 64
#define TFRT_PARSER_RECENT_SIGNATURE_COUNT 64
#define TFRT_PARSER_RECENT_ATTRIBUTE_COUNT 256
#define TFRT_PARSER_MAX_FEW 4

// `#name = ...` or `!name = ...`. A location may be used before it is defined: then
// |location| is a placeholder, filled in later.
typedef struct tfrt_parser_alias_s {
  tfrt_hash_node_t node;
  const tfrt_ir_string_t* name;
  const tfrt_ir_type_t* type;
  const tfrt_ir_attribute_t* attribute;
  tfrt_ir_location_t* location;
  size_t offset;  // of the definition, or the first use
  bool is_defined;
} tfrt_parser_alias_t;

// The value of a name for as long as its scope is open; NULL: none yet.
typedef struct tfrt_parser_known_value_s {
  const tfrt_ir_string_t* name;
  tfrt_ir_value_t* value;
} tfrt_parser_known_value_t;

// The form of the plain op before, its operands, by their place, and its result: the next one has
// often some of them. The values are those of |scope|.
typedef struct tfrt_parser_known_plain_s {
  const tfrt_op_form_t* form;
  tfrt_parser_known_value_t operands[TFRT_OP_FORM_MAX_PLAIN];
  tfrt_parser_known_value_t result;
  const struct tfrt_value_scope_s* scope;
} tfrt_parser_known_plain_t;

// A function type that was read, and its text.
typedef struct tfrt_parser_known_signature_s {
  tfrt_string_view_t text;
  const tfrt_ir_type_t* type;  // NULL: none yet
} tfrt_parser_known_signature_t;

// An op that is written in generic form, and its entry.
typedef struct tfrt_parser_known_op_s {
  const tfrt_ir_string_t* name;
  const tfrt_kernel_descriptor_t* descriptor;  // NULL: it is in no table
  bool has_defaults;                           // for attributes that the text leaves out
  const tfrt_ir_string_t* only_default;        // the attribute with the only one; NULL: several
  bool has_chains;                             // among its fixed operands and results
  tfrt_parser_known_signature_t signature;     // of the op before of that name
} tfrt_parser_known_op_t;

// The attributes of an op that has few.
typedef struct tfrt_parser_few_attributes_s {
  tfrt_ir_named_attribute_t entries[TFRT_PARSER_MAX_FEW];
  uint32_t count;
} tfrt_parser_few_attributes_t;

// The attribute of an op that was read, and its text.
typedef struct tfrt_parser_known_attribute_s {
  tfrt_string_view_t text;
  const tfrt_ir_attribute_t* attribute;  // NULL: none yet
} tfrt_parser_known_attribute_t;

// In generic form each op has its name, names of attributes and a signature written out. Most are
// like one before. Names and signatures: at the place that their text gives them; ops: at that of
// their name's address.
typedef struct tfrt_parser_known_generic_s {
  const tfrt_ir_string_t* names[TFRT_PARSER_RECENT_NAME_COUNT];
  tfrt_parser_known_signature_t signatures[TFRT_PARSER_RECENT_SIGNATURE_COUNT];
  tfrt_parser_known_attribute_t attributes[TFRT_PARSER_RECENT_ATTRIBUTE_COUNT];
  tfrt_parser_known_op_t ops[TFRT_PARSER_RECENT_COUNT];
} tfrt_parser_known_generic_t;

typedef struct tfrt_parser_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t* diagnostics;
  tfrt_lexer_t lexer;
  tfrt_token_t token;   // the next one that nobody has consumed
  size_t previous_end;  // of the token before it
  tfrt_op_index_t index;
  // Entries of it that were met lately, each at the place that its name gives it.
  tfrt_op_index_entry_t* recent[TFRT_PARSER_RECENT_COUNT];
  tfrt_parser_known_generic_t generic;  // of ops in generic form
  tfrt_parser_known_plain_t plain;
  tfrt_value_scopes_t scopes;
  tfrt_hash_table_t attribute_aliases;
  tfrt_hash_table_t type_aliases;
  const tfrt_ir_string_t* file;
  const char* default_dialect;  // of ops that are named without one; NULL: there is none
  tfrt_string_builder_t text;   // one decoded string at a time
  tfrt_scratch_t pointers;      // const void*
  tfrt_scratch_t named;         // tfrt_ir_named_attribute_t
  tfrt_scratch_t result_names;  // tfrt_parser_result_name_t
  tfrt_scratch_t operands;      // tfrt_value_reference_t
  tfrt_scratch_t values;        // tfrt_ir_value_t*
  tfrt_scratch_t dims;          // int64_t
  tfrt_scratch_t literals;      // leaves of dense attributes
  tfrt_scratch_t unmeasured;    // tfrt_ir_location_t*: with aliases not yet known
  tfrt_hash_table_t blocks;     // those with a label, by region and label
  tfrt_scratch_t early_blocks;  // tfrt_parser_early_block_t: referred to before their label
  // The scope of the innermost region that is open, if it and all around it are those of modules;
  // NULL: none.
  const struct tfrt_value_scope_s* module_scope;
  struct tfrt_piecewise_parser_s* pieces;  // NULL: the text is parsed as a whole
  uint32_t depth;                          // of nesting
  int64_t brace_depth;                     // of { that are open
} tfrt_parser_t;

// The results that a line names: `%a, %b:2 =`.
typedef struct tfrt_parser_result_name_s {
  tfrt_value_reference_t reference;
  uint32_t count;
} tfrt_parser_result_name_t;

// A block that was referred to before its label, and where.
typedef struct tfrt_parser_early_block_s {
  tfrt_ir_block_t* block;
  size_t offset;
} tfrt_parser_early_block_t;

// Where a token stands.
typedef struct tfrt_parser_place_s {
  size_t offset;
  uint32_t line;
  uint32_t column;
} tfrt_parser_place_t;

static inline tfrt_parser_place_t tfrt_parser_place_of(const tfrt_token_t* token) {
  return (tfrt_parser_place_t){token->offset, token->line, token->column};
}

// An op while it is parsed. Marks are counts of the parser's stacks.
typedef struct tfrt_parser_op_s {
  tfrt_parser_place_t place;  // of the name
  const tfrt_ir_string_t* name;
  const tfrt_kernel_descriptor_t* descriptor;
  const tfrt_op_form_t* form;             // of an op in custom form
  const tfrt_ir_attribute_t* properties;  // of an op that no table knows
  size_t result_name_mark;                // on |result_names|
  size_t operand_mark;                    // references, on |operands|
  size_t value_mark;                      // resolved operands, on |values|
  size_t attribute_mark;                  // on |named|
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t region_count;
  uint32_t successor_count;
  bool lacks_chain_results;
  bool is_piece;  // a function, for whose text the context has a piece open
  const tfrt_ir_type_t* const* result_types;
  tfrt_ir_block_t** successors;
  tfrt_ir_region_t* regions;  // detached; in the context
  tfrt_ir_region_t* region;   // the one that the op stands in
} tfrt_parser_op_t;

// How the blocks of a region begin and end.
typedef struct tfrt_parser_region_style_s {
  bool isolated;
  bool is_module;
  // Arguments of the first block that the text doesn't write: names and types.
  const tfrt_value_reference_t* argument_names;
  const tfrt_ir_type_t* const* argument_types;
  const tfrt_ir_location_t* const* argument_locations;  // NULL, or NULL entries: none
  uint32_t argument_count;
} tfrt_parser_region_style_t;

// --- token_parser.c -------------------------------------------------------------

// Consumes the token. The next one is then at hand.
static inline void tfrt_parser_advance(tfrt_parser_t* parser) {
  if (parser->token.kind == '{') ++parser->brace_depth;
  if (parser->token.kind == '}') --parser->brace_depth;
  parser->previous_end = parser->lexer.position;
  tfrt_lexer_next(&parser->lexer, &parser->token);
}
// Lets the next token begin at byte |position|, not before the token at hand.
void tfrt_parser_move(tfrt_parser_t* parser, size_t position);
// Reports at the token at hand, or at |offset|, and returns false. Says nothing if that
// token is one that the lexer has reported.
bool tfrt_parser_fail(tfrt_parser_t* parser, const char* format, ...) TFRT_PRINTF(2, 3);
bool tfrt_parser_fail_at(tfrt_parser_t* parser, size_t offset, const char* format, ...)
    TFRT_PRINTF(3, 4);
// Reports what is missing before the token at hand: there, or, if that begins a line, behind the
// token before it. Returns false.
bool tfrt_parser_miss(tfrt_parser_t* parser, const char* format, ...) TFRT_PRINTF(2, 3);
// True if the token at hand is the first one of its line.
bool tfrt_parser_begins_line(const tfrt_parser_t* parser);
// Consumes the token if it is of |kind|, or is the word |word|.
static inline bool tfrt_parser_accept(tfrt_parser_t* parser, int kind) {
  if (parser->token.kind != kind) return false;
  tfrt_parser_advance(parser);
  return true;
}
bool tfrt_parser_accept_word(tfrt_parser_t* parser, const char* word);
bool tfrt_parser_at_word(const tfrt_parser_t* parser, const char* word);
// The same, and reports if it isn't: "expected ',' |where|".
bool tfrt_parser_miss_kind(tfrt_parser_t* parser, int kind, const char* where);
static inline bool tfrt_parser_expect(tfrt_parser_t* parser, int kind, const char* where) {
  return tfrt_parser_accept(parser, kind) || tfrt_parser_miss_kind(parser, kind, where);
}
// Enters one level of nesting; a report if there are too many. Each success is followed
// by a leave.
bool tfrt_parser_enter(tfrt_parser_t* parser);
void tfrt_parser_leave(tfrt_parser_t* parser);
// Finds the end of the free text that begins at byte |begin|: the first closing bracket
// that none inside opens. Strings and `->` are respected.
bool tfrt_parser_find_closing(tfrt_parser_t* parser, size_t begin, size_t* out_end);
// The string |text|, which may be one of those met lately; or NULL.
const tfrt_ir_string_t* tfrt_parser_name(tfrt_parser_t* parser, tfrt_string_view_t text);
// Decodes a string token, or the name of an AT token, and consumes it.
const tfrt_ir_string_t* tfrt_parser_string(tfrt_parser_t* parser);
const tfrt_ir_string_t* tfrt_parser_symbol_name(tfrt_parser_t* parser);
// A decimal number below 2^31 in the token at hand, which is consumed.
bool tfrt_parser_small_number(tfrt_parser_t* parser, uint32_t* out_value);
// Copies the pointers behind |mark| of |pointers| to the context and takes them off.
const void* tfrt_parser_take_pointers(tfrt_parser_t* parser, size_t mark, uint32_t* out_count);
bool tfrt_parser_push_pointer(tfrt_parser_t* parser, const void* pointer);

// --- type_parser.c ----------------------------------------------------------------

const tfrt_ir_type_t* tfrt_parser_type(tfrt_parser_t* parser);
// True if the token at hand can begin a type.
bool tfrt_parser_at_type(const tfrt_parser_t* parser);
// `T, T, ...` (at least one), pushed on |pointers|.
bool tfrt_parser_type_list(tfrt_parser_t* parser);
// `(T, ...) -> R` or `(T, ...) -> (R, ...)`.
const tfrt_ir_type_t* tfrt_parser_function_type(tfrt_parser_t* parser);
// The same behind the `:` at hand, which is consumed too: the signature of an op.
const tfrt_ir_type_t* tfrt_parser_signature(tfrt_parser_t* parser);
// The signature of an op that was met lately with the same text, at which |cursor| is, behind the
// `:`. Sets |*out_known| if it is one, and moves the cursor to its end.
bool tfrt_parser_take_known_signature(const tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                      tfrt_parser_known_signature_t* out_known);
// The type with printed text |text|, e.g. from the op table.
const tfrt_ir_type_t* tfrt_parser_type_of_text(tfrt_parser_t* parser, const char* text);

// --- attribute_parser.c, number_parser.c, dense_parser.c ---------------------------

const tfrt_ir_attribute_t* tfrt_parser_attribute(tfrt_parser_t* parser);
// A literal without its type, whose |kind| the op table knows.
const tfrt_ir_attribute_t* tfrt_parser_literal(tfrt_parser_t* parser, tfrt_attribute_kind_t kind);
// `@a` or `@a::@b`.
const tfrt_ir_attribute_t* tfrt_parser_symbol(tfrt_parser_t* parser);
// The entries of `{ name = attribute, ... }` behind its brace, pushed on |named|.
bool tfrt_parser_attribute_entries(tfrt_parser_t* parser);
// The same at |cursor|, added to |few|, if each value is one whose text is known, or an integer,
// and no name occurs twice; false for any others. The cursor is moved behind the `}`.
bool tfrt_parser_take_few_entries(tfrt_parser_t* parser, tfrt_text_cursor_t* cursor,
                                  tfrt_parser_few_attributes_t* few);
// Reports a name that occurs twice in the |named| entries from |mark| on.
bool tfrt_parser_check_names(tfrt_parser_t* parser, size_t mark, size_t offset);
// The number in |token| (INTEGER or FLOAT), behind a minus if |negative|, as |type|.
const tfrt_ir_attribute_t* tfrt_parser_number(tfrt_parser_t* parser, const tfrt_token_t* token,
                                              bool negative, const tfrt_ir_type_t* type);
// The same as bits of the type's width.
bool tfrt_parser_number_bits(tfrt_parser_t* parser, const tfrt_token_t* token, bool negative,
                             const tfrt_ir_type_t* type, uint64_t* out_bits);
// The size of the elements of |literals|, which dense_parser.c knows.
extern const size_t tfrt_parser_literal_size;
// Behind the words `dense` and `array`.
const tfrt_ir_attribute_t* tfrt_parser_dense(tfrt_parser_t* parser, const tfrt_token_t* word);
const tfrt_ir_attribute_t* tfrt_parser_dense_array(tfrt_parser_t* parser);

// --- resource_parser.c ---------------------------------------------------------------

// `{-# ... #-}`, with its first token at hand: the resources go to the context.
bool tfrt_parser_resources(tfrt_parser_t* parser);
// `<name> : type` behind the word `dense_resource`.
const tfrt_ir_attribute_t* tfrt_parser_resource_reference(tfrt_parser_t* parser);

// --- location_parser.c ---------------------------------------------------------------

// The location of |place| in the text.
const tfrt_ir_location_t* tfrt_parser_location_here(tfrt_parser_t* parser,
                                                    const tfrt_parser_place_t* place);
// `loc(...)`, with the word at hand.
const tfrt_ir_location_t* tfrt_parser_location(tfrt_parser_t* parser);
// `#name`, which may be defined later: then a placeholder stands for it.
tfrt_ir_location_t* tfrt_parser_location_alias(tfrt_parser_t* parser);
// The alias |name| in |table|, made if need be; or NULL.
tfrt_parser_alias_t* tfrt_parser_alias(tfrt_parser_t* parser, tfrt_hash_table_t* table,
                                       const tfrt_ir_string_t* name);
tfrt_parser_alias_t* tfrt_parser_find_alias(tfrt_hash_table_t* table, const tfrt_ir_string_t* name);
// `loc(...)` or `#name` as an attribute.
const tfrt_ir_attribute_t* tfrt_parser_location_attribute(tfrt_parser_t* parser);
// Once all aliases are known: reports missing ones, cycles, and what is too big.
bool tfrt_parser_check_locations(tfrt_parser_t* parser);

// --- parser.c ------------------------------------------------------------------------

// The empty parser of the text of |diagnostics|. It is deinitialised also after an error.
tfrt_status_t tfrt_parser_initialize(tfrt_parser_t* parser, tfrt_ir_context_t* context,
                                     const tfrt_op_tables_t* tables,
                                     tfrt_diagnostics_t* diagnostics);
void tfrt_parser_deinitialize(tfrt_parser_t* parser);
// The module of the text.
tfrt_ir_operation_t* tfrt_parser_text(tfrt_parser_t* parser);

// --- piecewise_parser.c ----------------------------------------------------------------

// Opens a piece of the context for the function |op|, whose name was parsed, if functions are
// parsed piece by piece and this is one of a module.
void tfrt_parser_begin_piece(tfrt_parser_t* parser, tfrt_parser_op_t* op);
// True if the region that begins at the token at hand is the body of that function, which is not
// read yet; then it is skipped.
bool tfrt_parser_skip_body(tfrt_parser_t* parser);
// Puts the head of |function|, which is the last op of its block, into its place.
bool tfrt_parser_end_piece(tfrt_parser_t* parser, const tfrt_parser_op_t* op,
                           tfrt_ir_operation_t* function);
// True if it is bodies that are parsed, when all that is around them is known.
bool tfrt_parser_reads_bodies(const tfrt_parser_t* parser);
// True if what an alias called |name| stands for (|is_location|: a location) may be known to the
// functions before it.
bool tfrt_parser_alias_is_for_all(const tfrt_parser_t* parser, const tfrt_ir_string_t* name,
                                  bool is_location);

// --- operation_parser.c, assembly_parser.c, region_parser.c, function_parser.c ------

// One op, appended to |block|. After an error its results are poisoned.
bool tfrt_parser_operation(tfrt_parser_t* parser, tfrt_ir_block_t* block);
// Parses plain ops from the token at hand on. Stops in front of the first op that isn't plain or
// that has anything unusual. False if memory is out.
bool tfrt_parser_plain_operations(tfrt_parser_t* parser, tfrt_ir_block_t* block);
// The entry of the op table for |name|, which is not empty, or NULL.
tfrt_op_index_entry_t* tfrt_parser_op_entry(tfrt_parser_t* parser, tfrt_string_view_t name);
// Moves on to the next token that can begin an op or ends the block whose brace depth is
// |brace_depth|.
void tfrt_parser_recover(tfrt_parser_t* parser, int64_t brace_depth);
// `%name` or `%name#3`.
bool tfrt_parser_value_reference(tfrt_parser_t* parser, tfrt_value_reference_t* out_reference);
// Pushes the attribute |name| of the op that is parsed.
bool tfrt_parser_add_attribute(tfrt_parser_t* parser, const char* name,
                               const tfrt_ir_attribute_t* value);
// Pushes the value that |reference| names, as |type|; the references stay where they are.
bool tfrt_parser_resolve(tfrt_parser_t* parser, const tfrt_value_reference_t* reference,
                         const tfrt_ir_type_t* type);
// Pushes a value that stands for a chain that the op lacks.
bool tfrt_parser_add_missing_chain(tfrt_parser_t* parser);
// The number of chains among the fixed operands, or results, of |descriptor|.
uint32_t tfrt_parser_operand_chains(const tfrt_kernel_descriptor_t* descriptor);
uint32_t tfrt_parser_result_chains(const tfrt_kernel_descriptor_t* descriptor);
// The entry of the op that is called |name| in generic form, and more.
tfrt_parser_known_op_t* tfrt_parser_known_op(tfrt_parser_t* parser, const tfrt_ir_string_t* name);
// The custom form of |entry|, which has one; NULL when memory is out.
const tfrt_op_form_t* tfrt_parser_op_form(tfrt_parser_t* parser, tfrt_op_index_entry_t* entry);
// The custom form of |op|, behind its name.
bool tfrt_parser_assembly(tfrt_parser_t* parser, tfrt_parser_op_t* op);
// The custom form of |op|, an op of the language, behind its name.
bool tfrt_parser_syntax(tfrt_parser_t* parser, tfrt_parser_op_t* op);
// Adds the attributes that MLIR gives |op|, an op of the language in generic form, by default.
bool tfrt_parser_language_defaults(tfrt_parser_t* parser, const tfrt_parser_op_t* op);
// The number of attributes that get a default if the text of an op of |descriptor| leaves them out:
// these, and those that the table has one for. |*out_name| is the name of the last one.
uint32_t tfrt_parser_count_defaults(const tfrt_kernel_descriptor_t* descriptor,
                                    const char** out_name);
// One for each family of ops, behind the op's name (arith_parser.c, cf_parser.c, scf_parser.c,
// async_parser.c, memref_parser.c, gpu_parser.c).
bool tfrt_parser_same_types(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_cast(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_constant(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_comparison(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_selection(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_branch(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_conditional_branch(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_switch(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_assertion(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_call(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_yield(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_condition(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_if(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_for(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_while(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_parallel(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_reduce(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_execute(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_await(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_create_group(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_add_to_group(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_await_all(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_create(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_await_and_resume(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_coro(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_runtime_load(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_runtime_store(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_suspend(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_alloc(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_load(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_store(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_atomic(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_dim(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_fill(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_print(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_gpu_binary(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_gpu_wait(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_gpu_alloc(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_gpu_memory(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_gpu_launch(tfrt_parser_t* parser, tfrt_parser_op_t* op);
// For these: one operand of |type| (NULL: that of its definition), resolved at once.
bool tfrt_parser_take_operand(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                              const tfrt_ir_type_t* type);
// `%a, %b`, pushed on |operands|; none if the token |closing| is at hand.
bool tfrt_parser_take_references(tfrt_parser_t* parser, int closing);
// Resolves the references from |mark| on as |type|, and takes them off.
bool tfrt_parser_resolve_all(tfrt_parser_t* parser, tfrt_parser_op_t* op, size_t mark,
                             const tfrt_ir_type_t* type);
// Makes |type| the type of the only result.
bool tfrt_parser_one_result(tfrt_parser_t* parser, tfrt_parser_op_t* op,
                            const tfrt_ir_type_t* type);
// `: T`
const tfrt_ir_type_t* tfrt_parser_colon_type(tfrt_parser_t* parser);
// `{...}`, and `attributes {...}`, if there.
bool tfrt_parser_optional_dictionary(tfrt_parser_t* parser);
bool tfrt_parser_optional_attributes(tfrt_parser_t* parser);
// The attribute |name| that says how the operands are split: |count| |sizes|.
bool tfrt_parser_add_segments(tfrt_parser_t* parser, const char* name, const int32_t* sizes,
                              uint32_t count);
// Ends |region| of |op|, if nothing does, with the op |name|, which hands nothing on.
bool tfrt_parser_end_region(tfrt_parser_t* parser, tfrt_parser_op_t* op, tfrt_ir_region_t* region,
                            const char* name);
// A region in braces.
bool tfrt_parser_region(tfrt_parser_t* parser, tfrt_ir_region_t* region,
                        const tfrt_parser_region_style_t* style);
// How blocks are found.
extern const tfrt_hash_table_vtable_t tfrt_parser_block_vtable;
// The block of |region| whose label is at hand, which is consumed; it may be defined later. NULL
// after a report.
tfrt_ir_block_t* tfrt_parser_successor(tfrt_parser_t* parser, tfrt_ir_region_t* region);
// The ops of |block| up to what ends it: `}`, a label, or the text's end.
bool tfrt_parser_block_body(tfrt_parser_t* parser, tfrt_ir_block_t* block);
// Behind the words `func.func`, or another function's that is the name of |op|, and `module`.
bool tfrt_parser_function(tfrt_parser_t* parser, tfrt_parser_op_t* op);
bool tfrt_parser_nested_module(tfrt_parser_t* parser, tfrt_parser_op_t* op);
// An empty region list of |count| for |op|.
bool tfrt_parser_make_regions(tfrt_parser_t* parser, tfrt_parser_op_t* op, uint32_t count);

#endif  // TFRT_COMPILER_PARSER_PARSER_IMPL_H_
