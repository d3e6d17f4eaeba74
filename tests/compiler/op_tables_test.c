// SPDX-License-Identifier: Apache-2.0
//
// The op tables of all rooms, against the rules of their schema: what a table says is
// believed everywhere, so it may not contradict itself.

#include <string.h>

#include "compiler/parser/op_entry_check.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

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

// A library may leave that to the safe default; our own ops never wait longer than they must.
static void check_effects(const tfrt_kernel_descriptor_t* op) {
  const tfrt_kernel_flags_t silent =
      TFRT_KERNEL_PURE | TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_LANGUAGE;
  ck_assert_msg(op->effects || op->flags & silent, "%s doesn't say its effects", op->name);
}

START_TEST(entries_say_their_effects) { for_each_op(check_effects); }
END_TEST

static void check_entry(const tfrt_kernel_descriptor_t* op) {
  tfrt_status_t status = tfrt_op_entry_check(op);
  ck_assert_msg(!status, "%s", status ? tfrt_status_message(status) : "");
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  // The first entry of a name is this one: there is no other before it, so none twice.
  ck_assert_msg(tfrt_kernel_table_find(tables->tables, tables->count, op->name) == op,
                "%s is there twice", op->name);
}

START_TEST(entries_are_what_their_schema_says_and_none_is_there_twice) { for_each_op(check_entry); }
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

START_TEST(types_of_a_table_are_known_or_open) {
  ck_assert(tfrt_kernel_descriptor_type_is_known("!tfrt.chain"));
  ck_assert(!tfrt_kernel_descriptor_type_is_known(TFRT_TYPE_ANY));
  ck_assert(!tfrt_kernel_descriptor_type_is_known("%tensor"));
  ck_assert(!tfrt_kernel_descriptor_type_is_known("i32" TFRT_TYPE_OR "i64"));
  ck_assert(tfrt_kernel_descriptor_type_allows("i32", "i32"));
  ck_assert(!tfrt_kernel_descriptor_type_allows("i32", "i3"));
  ck_assert(!tfrt_kernel_descriptor_type_allows("i3", "i32"));
  ck_assert(tfrt_kernel_descriptor_type_allows(TFRT_TYPE_ANY, "i32"));
  ck_assert(tfrt_kernel_descriptor_type_allows("%tensor", "i32"));
  const char* choice = "i32" TFRT_TYPE_OR "!tfrt.chain" TFRT_TYPE_OR "i64";
  ck_assert(tfrt_kernel_descriptor_type_allows(choice, "i32"));
  ck_assert(tfrt_kernel_descriptor_type_allows(choice, "!tfrt.chain"));
  ck_assert(tfrt_kernel_descriptor_type_allows(choice, "i64"));
  ck_assert(!tfrt_kernel_descriptor_type_allows(choice, "i6"));
  ck_assert(!tfrt_kernel_descriptor_type_allows(choice, "i1"));
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
  // Another dialect has the op.
  ck_assert_str_eq(tfrt_op_index_suggest(&index, tfrt_string_view_of("tfrt.async_add.i32"))->name,
                   "tfrt_test.async_add.i32");
  ck_assert_ptr_null(tfrt_op_index_suggest(&index, tfrt_string_view_of("something.else")));
  ck_assert_ptr_null(tfrt_op_index_find(&index, tfrt_string_view_of("tfrt.ad.i32")));
  ck_assert_ptr_nonnull(tfrt_op_index_find(&index, tfrt_string_view_of("tfrt.add.i32")));
  tfrt_op_index_deinitialize(&index);
}
END_TEST

START_TEST(tables_are_read_as_far_as_somebody_asks) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  const tfrt_kernel_table_t* first = &tables->tables[0];
  const char* last_of_first = first->descriptors[first->count - 1].name;
  tfrt_op_index_t index;
  ck_assert_ptr_null(tfrt_op_index_initialize(&index, tables, tfrt_allocator_system()));
  ck_assert_uint_eq(index.known_count, 0);
  tfrt_op_index_entry_t* entry =
      tfrt_op_index_find_entry(&index, tfrt_string_view_of(last_of_first));
  ck_assert_ptr_eq(entry->descriptor, &first->descriptors[first->count - 1]);
  ck_assert_uint_eq(index.known_count, first->count);
  // The index has the descriptor itself, and the ones before it, already.
  ck_assert_ptr_eq(tfrt_op_index_find(&index, tfrt_string_view_of(first->descriptors[0].name)),
                   &first->descriptors[0]);
  ck_assert_ptr_eq(tfrt_op_index_find_entry(&index, entry->name), entry);
  ck_assert_uint_eq(index.known_count, first->count);
  ck_assert_ptr_null(tfrt_op_index_find(&index, tfrt_string_view_of("tfrt.nope")));
  ck_assert_uint_eq(index.known_count, index.count);
  ck_assert_ptr_eq(tfrt_op_index_find_entry(&index, entry->name), entry);
  tfrt_op_index_deinitialize(&index);
}
END_TEST

START_TEST(every_op_of_every_table_is_found) {
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  tfrt_op_index_t index;
  ck_assert_ptr_null(tfrt_op_index_initialize(&index, tables, tfrt_allocator_system()));
  for (size_t t = 0; t < tables->count; ++t) {
    for (size_t i = 0; i < tables->tables[t].count; ++i) {
      const tfrt_kernel_descriptor_t* op = &tables->tables[t].descriptors[i];
      ck_assert_ptr_eq(tfrt_op_index_find(&index, tfrt_string_view_of(op->name)), op);
    }
  }
  ck_assert_uint_eq(index.known_count, index.count);
  tfrt_op_index_deinitialize(&index);
}
END_TEST

START_TEST(of_two_ops_with_one_name_the_first_is_found) {
  static const tfrt_kernel_descriptor_t ops[] = {{.name = "a.b"}, {.name = "a.b"}, {.name = "a.c"}};
  static const tfrt_kernel_table_t of_ops[] = {{NULL, 0}, {ops, 3}, {NULL, 0}};
  tfrt_op_tables_t tables = {.tables = of_ops, .count = TFRT_ARRAY_SIZE(of_ops)};
  tfrt_op_index_t index;
  ck_assert_ptr_null(tfrt_op_index_initialize(&index, &tables, tfrt_allocator_system()));
  ck_assert_ptr_eq(tfrt_op_index_find(&index, tfrt_string_view_of("a.c")), &ops[2]);
  ck_assert_ptr_eq(tfrt_op_index_find(&index, tfrt_string_view_of("a.b")), &ops[0]);
  ck_assert_ptr_null(tfrt_op_index_find(&index, tfrt_string_view_of("a.d")));
  tfrt_op_index_deinitialize(&index);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tables = tcase_create("tables");
  tcase_add_test(tables, entries_are_what_their_schema_says_and_none_is_there_twice);
  tcase_add_test(tables, entries_say_their_effects);
  tcase_add_test(tables, entries_are_found_by_operand_and_result);
  tcase_add_test(tables, types_of_a_table_are_known_or_open);
  tcase_add_test(tables, tables_are_read_as_far_as_somebody_asks);
  tcase_add_test(tables, every_op_of_every_table_is_found);
  tcase_add_test(tables, of_two_ops_with_one_name_the_first_is_found);
  tcase_add_test(tables, slips_of_the_finger_get_a_suggestion);
  Suite* suite = suite_create("op_tables");
  suite_add_tcase(suite, tables);
  return suite;
}
