// SPDX-License-Identifier: Apache-2.0
//
// The op tables of all rooms, against the rules of their schema: what a table says is
// believed everywhere, so it may not contradict itself.

#include <string.h>

#include "compiler/assembly.h"
#include "compiler/schema.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"
#include "tools/common/op_tables.h"

typedef void (*check_fn_t)(const tfrt_kernel_descriptor_t* op);

static void for_each_op(check_fn_t check) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  size_t count = 0;
  for (size_t t = 0; t < tables->count; ++t) {
    for (size_t i = 0; i < tables->tables[t].count; ++i, ++count) {
      check(&tables->tables[t].descriptors[i]);
    }
  }
  ck_assert_uint_gt(count, 100);
}

static void check_name(const tfrt_kernel_descriptor_t* op) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  ck_assert_msg(strchr(op->name, '.') != NULL, "%s has no dialect", op->name);
  // The first entry of a name is this one: there is no other before it, so none twice.
  ck_assert_msg(tfrt_kernel_table_find(tables->tables, tables->count, op->name) == op,
                "%s is there twice", op->name);
  ck_assert_msg(op->summary && strlen(op->summary) > 3, "%s has no summary", op->name);
}

START_TEST(names_are_unique_and_have_a_dialect_and_a_summary) { for_each_op(check_name); }
END_TEST

static void check_attributes(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 1; i < op->attribute_count; ++i) {
    ck_assert_msg(strcmp(op->attributes[i - 1].name, op->attributes[i].name) < 0,
                  "%s: attributes %s and %s are not in order", op->name, op->attributes[i - 1].name,
                  op->attributes[i].name);
  }
}

START_TEST(attributes_are_sorted_as_kernels_get_them) { for_each_op(check_attributes); }
END_TEST

// Fails unless |type| is "any" or a type that is printed just so.
static void check_type(const tfrt_kernel_descriptor_t* op, const char* type) {
  if (strcmp(type, TFRT_TYPE_ANY) == 0) return;
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_view_of(type),
                              tfrt_allocator_system());
  const tfrt_ir_type_t* parsed = tfrt_parse_type(context, &diagnostics);
  ck_assert_msg(parsed && strcmp(parsed->text->data, type) == 0, "%s: type %s", op->name, type);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
}

static void check_types(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) check_type(op, op->operands[i].type);
  for (uint32_t i = 0; i < op->result_count; ++i) check_type(op, op->results[i].type);
  if (op->flags & TFRT_KERNEL_VARIADIC_OPERANDS) ck_assert_uint_gt(op->operand_count, 0);
  if (op->flags & TFRT_KERNEL_VARIADIC_RESULTS) ck_assert_uint_gt(op->result_count, 0);
  if (op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) {
    ck_assert(op->flags & TFRT_KERNEL_VARIADIC_OPERANDS);
    ck_assert(op->flags & TFRT_KERNEL_VARIADIC_RESULTS);
  }
  for (uint32_t i = 0; i < op->region_count; ++i) {
    uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op);
    ck_assert_msg(op->regions[i].lead_mask >> fixed_count == 0, "%s: lead_mask", op->name);
    ck_assert_ptr_nonnull(op->regions[i].name);
  }
}

START_TEST(types_are_what_mlir_prints) { for_each_op(check_types); }
END_TEST

// What the words of a custom form have said so far.
typedef struct form_s {
  uint32_t next_operand;
  bool rest;          // all other operands
  bool types;         // of variadic operands
  bool results;       // types of variadic results
  bool open_results;  // types of fixed results that the table leaves open
  bool attributes;    // any that no word names
  bool regions;
} form_t;

static void check_operand_word(const tfrt_kernel_descriptor_t* op, form_t* form,
                               tfrt_string_view_t name) {
  // In their order: parser and printer count on it.
  ck_assert_msg(!form->rest && form->next_operand < tfrt_kernel_descriptor_fixed_operands(op),
                "%s: %%%.*s", op->name, TFRT_STRING_VIEW_ARGUMENTS(name));
  const char* wanted = op->operands[form->next_operand++].name;
  ck_assert_msg(tfrt_string_view_equal(name, tfrt_string_view_of(wanted)),
                "%s: %%%.*s stands where %%%s does in the table", op->name,
                TFRT_STRING_VIEW_ARGUMENTS(name), wanted);
}

static void check_attribute_word(const tfrt_kernel_descriptor_t* op,
                                 const tfrt_assembly_word_t* word) {
  const tfrt_attribute_descriptor_t* entry = tfrt_schema_find_attribute(op, word->name);
  ck_assert_msg(entry != NULL, "%s has no attribute %.*s", op->name,
                TFRT_STRING_VIEW_ARGUMENTS(word->name));
  if (word->kind == TFRT_ASSEMBLY_SYMBOL) ck_assert_int_eq(entry->kind, TFRT_ATTRIBUTE_SYMBOL);
  if (word->kind == TFRT_ASSEMBLY_SYMBOL_ARRAY) {
    ck_assert_int_eq(entry->kind, TFRT_ATTRIBUTE_SYMBOL_ARRAY);
  }
}

static void check_text_word(const tfrt_kernel_descriptor_t* op, tfrt_string_view_t text) {
  bool is_punctuation = text.size == 1 && strchr("(),", text.data[0]);
  for (size_t i = 0; i < text.size && !is_punctuation; ++i) {
    bool is_plain = (text.data[i] >= 'a' && text.data[i] <= 'z') || text.data[i] == '_';
    ck_assert_msg(is_plain, "%s: the word %.*s means nothing", op->name,
                  TFRT_STRING_VIEW_ARGUMENTS(text));
  }
}

static void note_types(form_t* form, tfrt_assembly_kind_t kind) {
  if (kind == TFRT_ASSEMBLY_RESULT_TYPES) {
    form->open_results = true;
    return;
  }
  form->types = true;
  form->results = form->results || kind != TFRT_ASSEMBLY_TYPES;
}

static void check_word(const tfrt_kernel_descriptor_t* op, const tfrt_assembly_word_t* word,
                       form_t* form) {
  switch (word->kind) {
    case TFRT_ASSEMBLY_OPERAND:
      check_operand_word(op, form, word->name);
      return;
    case TFRT_ASSEMBLY_TYPED_OPERANDS:
    case TFRT_ASSEMBLY_OPERANDS:
    case TFRT_ASSEMBLY_COMMA_OPERANDS:
      form->types = form->types || word->kind == TFRT_ASSEMBLY_TYPED_OPERANDS;
      form->rest = true;
      return;
    case TFRT_ASSEMBLY_ATTRIBUTE:
    case TFRT_ASSEMBLY_TYPED_ATTRIBUTE:
    case TFRT_ASSEMBLY_SYMBOL:
    case TFRT_ASSEMBLY_SYMBOL_ARRAY:
      check_attribute_word(op, word);
      return;
    case TFRT_ASSEMBLY_SETTINGS:
    case TFRT_ASSEMBLY_ATTRIBUTES:
      form->attributes = true;
      return;
    case TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY:
      // Its brace would be a region's.
      ck_assert_uint_eq(op->region_count, 0);
      form->attributes = true;
      return;
    case TFRT_ASSEMBLY_FUNCTION:
    case TFRT_ASSEMBLY_SIGNATURE:
    case TFRT_ASSEMBLY_WHOLE_SIGNATURE:
    case TFRT_ASSEMBLY_TYPES:
    case TFRT_ASSEMBLY_RESULT_TYPES:
      note_types(form, word->kind);
      return;
    case TFRT_ASSEMBLY_REGIONS:
      form->regions = true;
      return;
    case TFRT_ASSEMBLY_TEXT:
      check_text_word(op, word->name);
      return;
  }
}

static void check_form(const tfrt_kernel_descriptor_t* op) {
  if (!op->assembly) return;
  form_t form = {0};
  tfrt_assembly_t words;
  tfrt_assembly_word_t word;
  tfrt_assembly_begin(&words, op->assembly);
  while (tfrt_assembly_next(&words, &word)) check_word(op, &word, &form);
  uint32_t fixed_operands = tfrt_kernel_descriptor_fixed_operands(op);
  bool variadic_operands = fixed_operands < op->operand_count;
  bool variadic_results = tfrt_kernel_descriptor_fixed_results(op) < op->result_count;
  ck_assert_msg(form.rest || (form.next_operand == op->operand_count), "%s: operands", op->name);
  // A type that the table knows needs no word.
  bool any_operands =
      variadic_operands && strcmp(op->operands[fixed_operands].type, TFRT_TYPE_ANY) == 0;
  ck_assert_msg(!any_operands || form.types, "%s: types of operands", op->name);
  ck_assert_msg(
      !variadic_results || form.results || (op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) != 0,
      "%s: types of results", op->name);
  for (uint32_t i = 0; i < tfrt_kernel_descriptor_fixed_results(op); ++i) {
    bool is_open = strcmp(op->results[i].type, TFRT_TYPE_ANY) == 0;
    ck_assert_msg(!is_open || form.open_results, "%s: the type of a result", op->name);
  }
  ck_assert_msg(form.regions == (op->region_count > 0), "%s: regions", op->name);
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    tfrt_string_view_t name = tfrt_string_view_of(op->attributes[i].name);
    ck_assert_msg(form.attributes || tfrt_assembly_names_attribute(op->assembly, name),
                  "%s: attribute %s", op->name, op->attributes[i].name);
  }
}

START_TEST(custom_forms_say_all_there_is_and_name_real_things) { for_each_op(check_form); }
END_TEST

static void check_default(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->attributes[i];
    if (!entry->default_value) continue;
    // An op that leaves it out gets it, and it fits.
    tfrt_string_builder_t text;
    tfrt_string_builder_initialize(&text, tfrt_allocator_system());
    tfrt_string_builder_append_format(&text, "\"%s\"() : () -> ()\n", op->name);
    test_program_t program;
    test_program_parse(&program, text.data);
    ck_assert_msg(program.module != NULL, "%s: default of %s", op->name, entry->name);
    const tfrt_ir_attribute_t* value =
        tfrt_ir_operation_attribute(tfrt_ir_module_block(program.module)->first, entry->name);
    ck_assert_ptr_nonnull(value);
    ck_assert_msg(tfrt_schema_attribute_fits(entry->kind, value), "%s: default of %s", op->name,
                  entry->name);
    test_program_free(&program);
    tfrt_string_builder_deinitialize(&text);
  }
}

START_TEST(defaults_are_of_their_attributes_kind) { for_each_op(check_default); }
END_TEST

START_TEST(entries_are_found_by_operand_and_result) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  const tfrt_kernel_descriptor_t* branch =
      tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.if");
  ck_assert_uint_eq(tfrt_kernel_descriptor_fixed_operands(branch), 1);
  ck_assert_uint_eq(tfrt_kernel_descriptor_fixed_results(branch), 0);
  ck_assert_str_eq(tfrt_kernel_descriptor_operand(branch, 0)->name, "condition");
  ck_assert_int_eq(tfrt_kernel_descriptor_operand(branch, 7)->use, TFRT_OPERAND_PASSED);
  ck_assert_str_eq(tfrt_kernel_descriptor_result(branch, 3)->type, TFRT_TYPE_ANY);
  const tfrt_kernel_descriptor_t* add =
      tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.add.i32");
  ck_assert_ptr_null(tfrt_kernel_descriptor_operand(add, 2));
  ck_assert_ptr_null(tfrt_kernel_descriptor_result(add, 1));
  ck_assert_ptr_null(tfrt_kernel_table_find(tables->tables, tables->count, "tfrt.nope"));
}
END_TEST

START_TEST(slips_of_the_finger_get_a_suggestion) {
  tfrt_op_index_t index;
  ck_assert_ptr_null(
      tfrt_op_index_initialize(&index, tfrt_all_op_tables(), tfrt_allocator_system()));
  ck_assert_str_eq(tfrt_op_index_suggest(&index, tfrt_string_view_of("tfrt.ad.i32"))->name,
                   "tfrt.add.i32");
  ck_assert_str_eq(tfrt_op_index_suggest(&index, tfrt_string_view_of("tfrt.merge.chain"))->name,
                   "tfrt.merge.chains");
  ck_assert_ptr_null(tfrt_op_index_suggest(&index, tfrt_string_view_of("something.else")));
  ck_assert_ptr_null(tfrt_op_index_find(&index, tfrt_string_view_of("tfrt.ad.i32")));
  ck_assert_ptr_nonnull(tfrt_op_index_find(&index, tfrt_string_view_of("tfrt.add.i32")));
  tfrt_op_index_deinitialize(&index);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tables = tcase_create("tables");
  tcase_add_test(tables, names_are_unique_and_have_a_dialect_and_a_summary);
  tcase_add_test(tables, attributes_are_sorted_as_kernels_get_them);
  tcase_add_test(tables, types_are_what_mlir_prints);
  tcase_add_test(tables, custom_forms_say_all_there_is_and_name_real_things);
  tcase_add_test(tables, defaults_are_of_their_attributes_kind);
  tcase_add_test(tables, entries_are_found_by_operand_and_result);
  tcase_add_test(tables, slips_of_the_finger_get_a_suggestion);
  Suite* suite = suite_create("op_tables");
  suite_add_tcase(suite, tables);
  return suite;
}
