// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/operation.h"

#include "compiler/ir/module.h"
#include "host_runtime/base/string_builder.h"
#include "tests/support/test_main.h"

static tfrt_ir_context_t* context;
static const tfrt_ir_location_t* location;
static const tfrt_ir_type_t* i32;

static void set_up(void) {
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  location = tfrt_ir_location_unknown(context);
  i32 = tfrt_ir_type_integer(context, 32, TFRT_IR_SIGNLESS);
}

static void tear_down(void) { tfrt_ir_context_free(context); }

// An op in |block| that uses |operand| (if not NULL) and has one result.
static tfrt_ir_operation_t* make(const char* name, tfrt_ir_block_t* block, tfrt_ir_value_t* operand,
                                 uint32_t region_count) {
  tfrt_ir_operation_parts_t parts = {.name = tfrt_ir_string_of(context, name),
                                     .location = location,
                                     .operands = &operand,
                                     .operand_count = operand ? 1 : 0,
                                     .result_types = &i32,
                                     .result_count = 1,
                                     .region_count = region_count};
  tfrt_ir_operation_t* operation = tfrt_ir_operation_create(context, &parts);
  if (block) tfrt_ir_block_append(block, operation);
  return operation;
}

static size_t use_count(const tfrt_ir_value_t* value) {
  size_t count = 0;
  for (const tfrt_ir_operand_t* use = value->first_use; use; use = use->next) ++count;
  return count;
}

START_TEST(uses_follow_their_value) {
  tfrt_ir_operation_t* module = tfrt_ir_module_create(context, location);
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  tfrt_ir_operation_t* a = make("a", block, NULL, 0);
  tfrt_ir_operation_t* b = make("b", block, NULL, 0);
  tfrt_ir_operation_t* x = make("x", block, &a->results[0], 0);
  tfrt_ir_operation_t* y = make("y", block, &a->results[0], 0);
  ck_assert_uint_eq(use_count(&a->results[0]), 2);
  ck_assert_ptr_eq(a->results[0].first_use->owner, x);
  ck_assert_ptr_eq(a->results[0].first_use->next->owner, y);
  tfrt_ir_operand_set(&x->operands[0], &b->results[0]);
  ck_assert_uint_eq(use_count(&a->results[0]), 1);
  ck_assert_ptr_eq(a->results[0].first_use->owner, y);
  tfrt_ir_value_replace_all_uses(&a->results[0], &b->results[0]);
  ck_assert_uint_eq(use_count(&a->results[0]), 0);
  ck_assert_ptr_null(a->results[0].first_use);
  ck_assert_uint_eq(use_count(&b->results[0]), 2);
  ck_assert_ptr_eq(b->results[0].last_use->owner, y);
  tfrt_ir_value_replace_all_uses(&b->results[0], &b->results[0]);
  ck_assert_uint_eq(use_count(&b->results[0]), 2);
}
END_TEST

START_TEST(ops_are_inserted_and_removed) {
  tfrt_ir_operation_t* module = tfrt_ir_module_create(context, location);
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  tfrt_ir_operation_t* b = make("b", block, NULL, 0);
  tfrt_ir_operation_t* a = make("a", NULL, NULL, 0);
  tfrt_ir_block_insert_before(b, a);
  ck_assert_ptr_eq(block->first, a);
  ck_assert_ptr_eq(a->next, b);
  ck_assert_ptr_eq(b->previous, a);
  ck_assert_ptr_eq(tfrt_ir_operation_parent(a), module);
  ck_assert_uint_eq(block->op_count, 2);
  tfrt_ir_operation_t* c = make("c", block, NULL, 0);
  tfrt_ir_block_number_ops(block);
  ck_assert(a->place < b->place && b->place < c->place);
  tfrt_ir_block_remove(c);
  tfrt_ir_block_remove(b);
  ck_assert_uint_eq(block->op_count, 1);
  ck_assert_ptr_eq(block->last, a);
  ck_assert_ptr_null(tfrt_ir_operation_parent(b));
  tfrt_ir_block_remove(a);
  ck_assert_ptr_null(block->first);
  tfrt_ir_block_remove(a);
  ck_assert_uint_eq(block->op_count, 0);
}
END_TEST

static bool note_name(tfrt_ir_operation_t* operation, void* user_data) {
  tfrt_string_builder_t* names = user_data;
  tfrt_string_builder_append_view(names, tfrt_ir_string_view(operation->name));
  tfrt_string_builder_append_char(names, ' ');
  return !tfrt_ir_operation_is(operation, "stop");
}

START_TEST(a_walk_visits_regions_before_the_op_that_has_them) {
  tfrt_ir_operation_t* module = tfrt_ir_module_create(context, location);
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  tfrt_ir_operation_t* outer = make("outer", block, NULL, 2);
  make("in0", tfrt_ir_block_create(context, &outer->regions[0]), NULL, 0);
  make("in1", tfrt_ir_block_create(context, &outer->regions[1]), NULL, 0);
  make("last", block, NULL, 0);
  tfrt_string_builder_t names;
  tfrt_string_builder_initialize(&names, tfrt_allocator_system());
  ck_assert(tfrt_ir_operation_walk(module, note_name, &names));
  ck_assert_str_eq(names.data, "in0 in1 outer last builtin.module ");
  make("stop", block, NULL, 0);
  make("never", block, NULL, 0);
  tfrt_string_builder_clear(&names);
  ck_assert(!tfrt_ir_operation_walk(module, note_name, &names));
  ck_assert_str_eq(names.data, "in0 in1 outer last stop ");
  tfrt_string_builder_deinitialize(&names);
}
END_TEST

START_TEST(attributes_are_set_replaced_and_removed) {
  tfrt_ir_operation_t* op = make("a", NULL, NULL, 0);
  const tfrt_ir_string_t* z = tfrt_ir_string_of(context, "z");
  const tfrt_ir_string_t* k = tfrt_ir_string_of(context, "k");
  ck_assert(tfrt_ir_operation_set_attribute(context, op, z, tfrt_ir_attribute_unit(context)));
  ck_assert(tfrt_ir_operation_set_attribute(context, op, k, tfrt_ir_attribute_unit(context)));
  ck_assert_ptr_eq(op->attributes[0].name, k);
  const tfrt_ir_attribute_t* one = tfrt_ir_attribute_integer(context, i32, 1);
  ck_assert(tfrt_ir_operation_set_attribute(context, op, z, one));
  ck_assert_uint_eq(op->attribute_count, 2);
  ck_assert_ptr_eq(tfrt_ir_operation_attribute(op, "z"), one);
  ck_assert(tfrt_ir_operation_set_attribute(context, op, z, NULL));
  ck_assert_ptr_null(tfrt_ir_operation_attribute(op, "z"));
}
END_TEST

START_TEST(blocks_can_be_taken_over) {
  tfrt_ir_operation_t* op = make("a", NULL, NULL, 2);
  tfrt_ir_block_t* first = tfrt_ir_block_create(context, &op->regions[0]);
  tfrt_ir_block_t* second = tfrt_ir_block_create(context, &op->regions[1]);
  tfrt_ir_region_take_blocks(&op->regions[0], &op->regions[1]);
  ck_assert_ptr_eq(first->next, second);
  ck_assert_ptr_eq(second->region, &op->regions[0]);
  ck_assert_ptr_eq(op->regions[0].last_block, second);
  ck_assert_ptr_null(op->regions[1].first_block);
  ck_assert_ptr_null(tfrt_ir_region_single_block(&op->regions[0]));
  tfrt_ir_region_take_blocks(&op->regions[0], &op->regions[1]);
  ck_assert_ptr_eq(op->regions[0].last_block, second);
}
END_TEST

START_TEST(symbols_are_found_also_in_nested_modules) {
  tfrt_ir_operation_t* module = tfrt_ir_module_create(context, location);
  const tfrt_ir_type_t* type = tfrt_ir_type_function(context, NULL, 0, NULL, 0);
  const tfrt_ir_string_t* names[] = {tfrt_ir_string_of(context, "k"),
                                     tfrt_ir_string_of(context, "main")};
  tfrt_ir_operation_t* inner = tfrt_ir_module_create(context, location);
  tfrt_ir_operation_set_attribute(
      context, inner, tfrt_ir_string_of(context, "sym_name"),
      tfrt_ir_attribute_string(context, tfrt_string_view_of("k"), NULL));
  tfrt_ir_operation_t* outer_main = tfrt_ir_function_create(context, location, names[1], type);
  tfrt_ir_operation_t* inner_main = tfrt_ir_function_create(context, location, names[1], type);
  tfrt_ir_operation_t* again = tfrt_ir_function_create(context, location, names[1], type);
  tfrt_ir_block_append(tfrt_ir_module_block(module), inner);
  tfrt_ir_block_append(tfrt_ir_module_block(module), outer_main);
  tfrt_ir_block_append(tfrt_ir_module_block(module), again);
  tfrt_ir_block_append(tfrt_ir_module_block(inner), inner_main);
  const tfrt_ir_symbol_table_t* table = tfrt_ir_symbol_table_create(context, module);
  ck_assert_ptr_eq(tfrt_ir_symbol_table_find(table, tfrt_string_view_of("main")), outer_main);
  ck_assert_ptr_eq(tfrt_ir_symbol_table_find(table, tfrt_string_view_of("k")), inner);
  ck_assert_ptr_null(tfrt_ir_symbol_table_find(table, tfrt_string_view_of("z")));
  ck_assert_ptr_eq(tfrt_ir_symbol_table_resolve(table, tfrt_ir_attribute_symbol(context, names, 2)),
                   inner_main);
  ck_assert_ptr_null(
      tfrt_ir_symbol_table_resolve(table, tfrt_ir_attribute_symbol(context, names + 1, 1))
          ->regions[0]
          .first_block);
  // A repeated look-up gives the same operation, and an absent one is still absent.
  const tfrt_ir_string_t* unknown = tfrt_ir_string_of(context, "z");
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_eq(
        tfrt_ir_symbol_table_resolve(table, tfrt_ir_attribute_symbol(context, names, 1)), inner);
    ck_assert_ptr_eq(
        tfrt_ir_symbol_table_resolve(table, tfrt_ir_attribute_symbol(context, names, 2)),
        inner_main);
    ck_assert_ptr_null(
        tfrt_ir_symbol_table_resolve(table, tfrt_ir_attribute_symbol(context, &unknown, 1)));
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* operations = tcase_create("operations");
  tcase_add_checked_fixture(operations, set_up, tear_down);
  tcase_add_test(operations, uses_follow_their_value);
  tcase_add_test(operations, ops_are_inserted_and_removed);
  tcase_add_test(operations, a_walk_visits_regions_before_the_op_that_has_them);
  tcase_add_test(operations, attributes_are_set_replaced_and_removed);
  tcase_add_test(operations, blocks_can_be_taken_over);
  tcase_add_test(operations, symbols_are_found_also_in_nested_modules);
  Suite* suite = suite_create("operation");
  suite_add_tcase(suite, operations);
  return suite;
}
