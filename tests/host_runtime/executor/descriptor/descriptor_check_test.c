// SPDX-License-Identifier: Apache-2.0
//
// Entries that contradict themselves or the schema, each with one mistake.

#include "host_runtime/executor/descriptor/descriptor_check.h"

#include <string.h>

#include "tests/support/test_main.h"

static tfrt_operand_descriptor_t operands[2];
static tfrt_result_descriptor_t results[1];
static tfrt_attribute_descriptor_t attributes[2];
static tfrt_region_descriptor_t regions[1];
static tfrt_kernel_descriptor_t op;

// Makes |op| a good entry with two operands, one result and two attributes.
static void reset(void) {
  operands[0] = (tfrt_operand_descriptor_t){"first", "i32", TFRT_OPERAND_DEMANDED};
  operands[1] = (tfrt_operand_descriptor_t){"second", "!my.type", TFRT_OPERAND_PASSED};
  results[0] = (tfrt_result_descriptor_t){"result", "f32"};
  attributes[0] = (tfrt_attribute_descriptor_t){"a", TFRT_ATTRIBUTE_I32, "7"};
  attributes[1] = (tfrt_attribute_descriptor_t){"b", TFRT_ATTRIBUTE_STRING, NULL};
  regions[0] = (tfrt_region_descriptor_t){.name = "body"};
  op = (tfrt_kernel_descriptor_t){.name = "my.op",
                                  .summary = "An op.",
                                  .assembly = "#b , operands attr-dict",
                                  TFRT_OPERANDS(operands),
                                  TFRT_RESULTS(results),
                                  TFRT_ATTRIBUTES(attributes)};
}

// Fails unless |op| is refused with its name and |reason|; makes it good again.
static void expect_defect(const char* reason) {
  tfrt_status_t status = tfrt_descriptor_check_op(&op);
  ck_assert_msg(status != NULL, "not seen: %s", reason);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  const char* message = tfrt_status_message(status);
  ck_assert_msg(strstr(message, op.name) && strstr(message, reason), "%s", message);
  tfrt_status_release(status);
  reset();
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
}

START_TEST(good_entries_pass) {
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  op.assembly = NULL;
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  op.assembly = "#a #b:type ( %first and %second )";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  results[0].type = "%second";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  reset();
  op.assembly = "operands settings result-types";
  results[0].type = TFRT_TYPE_ANY;
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  results[0].type = "i32" TFRT_TYPE_OR "i64";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  reset();
  op.assembly = "$b , blocks in ( %first , %second ) settings : type(%second)";
  operands[1].type = TFRT_TYPE_ANY;
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  op.assembly = "$b , %first ,args attr-dict";
  op.flags = TFRT_KERNEL_VARIADIC_OPERANDS;
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
}
END_TEST

START_TEST(a_form_with_operands_needs_some) {
  op.operand_count = 0;
  op.assembly = "#b operands attr-dict";
  expect_defect("its custom form has 'operands', and it has none");
}
END_TEST

START_TEST(effects) {
  op.effects = TFRT_EFFECT_OUTPUT | TFRT_EFFECT_FILE_READ;
  op.shares = "second";
  op.orders = "first second";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  op.shares = "third";
  expect_defect("shares the memory of 'third', which is no operand");
  op.orders = "first thi";
  expect_defect("keeps the order of 'thi', which is no operand");
  op.effects = 1u << 20;
  expect_defect("a bit that means nothing");
  op.effects = TFRT_EFFECT_NONE | TFRT_EFFECT_OUTPUT;
  expect_defect("it says that it has effects and that it has none");
  op.effects = TFRT_EFFECT_OUTPUT;
  op.flags = TFRT_KERNEL_PURE;
  expect_defect("it is pure, and has effects");
  op.effects = TFRT_EFFECT_READS_NO_CONTENTS;
  expect_defect("add TFRT_EFFECT_NONE");
  op.effects = TFRT_EFFECT_IN_ANY_ORDER;
  expect_defect("add TFRT_EFFECT_NONE");
}
END_TEST

START_TEST(silence_means_every_effect) {
  ck_assert_uint_eq(tfrt_kernel_descriptor_effects(&op), TFRT_EFFECT_EVERYTHING);
  op.flags = TFRT_KERNEL_PURE;
  ck_assert_uint_eq(tfrt_kernel_descriptor_effects(&op), TFRT_EFFECT_NONE);
  op.effects = TFRT_EFFECT_READS_NO_CONTENTS;
  ck_assert_uint_eq(tfrt_kernel_descriptor_effects(&op), TFRT_EFFECT_READS_NO_CONTENTS);
  ck_assert(tfrt_kernel_descriptor_list_has("a bc d", "bc"));
  ck_assert(!tfrt_kernel_descriptor_list_has("a bc d", "b"));
  ck_assert(!tfrt_kernel_descriptor_list_has(NULL, "a"));
}
END_TEST

START_TEST(names_arrays_and_flags) {
  op.name = "op";
  expect_defect("dialect.op");
  op.name = ".op";
  expect_defect("dialect.op");
  op.name = "my.";
  expect_defect("dialect.op");
  op.summary = "";
  expect_defect("summary");
  operands[0].type = NULL;
  expect_defect("operand 0 lacks name or type");
  operands[1].use = (tfrt_operand_use_t)77;
  expect_defect("operand 'second' has no use that there is");
  results[0].name = NULL;
  expect_defect("result 0 lacks name or type");
  results[0].type = "%third";
  expect_defect("result 'result' has the type of '%third'");
  results[0].type = "%first";
  op.flags = TFRT_KERNEL_VARIADIC_RESULTS;
  op.assembly = NULL;
  expect_defect("both must be fixed");
  op.region_count = 1;
  expect_defect("a count without an array");
  op.result_count = 0;
  op.flags = TFRT_KERNEL_VARIADIC_RESULTS;
  expect_defect("variadic results");
  op.operand_count = 0;
  op.flags = TFRT_KERNEL_VARIADIC_OPERANDS;
  expect_defect("variadic operands");
  op.flags = TFRT_KERNEL_RESULTS_AS_OPERANDS;
  expect_defect("both must be variadic");
}
END_TEST

START_TEST(attributes_have_names_kinds_and_an_order) {
  attributes[1].name = "a";
  expect_defect("order of their names");
  attributes[1].kind = (tfrt_attribute_kind_t)99;
  expect_defect("no kind");
  attributes[1].name = NULL;
  expect_defect("attribute 1 has no name");
}
END_TEST

START_TEST(custom_forms_name_what_is_there) {
  op.assembly = "%second , %first attr-dict";
  expect_defect("where operand 'first' comes next");
  op.assembly = "operands %first attr-dict";
  expect_defect("one operand too many");
  op.assembly = "operands #c attr-dict";
  expect_defect("'c', which is no attribute");
  op.assembly = "operands @a attr-dict";
  expect_defect("'a' as a symbol");
  op.assembly = "operands [@a] attr-dict";
  expect_defect("'a' as a symbol");
  op.assembly = "operands $a attr-dict";
  expect_defect("'a' as a name, and it is no string");
  op.assembly = "operands $c attr-dict";
  expect_defect("'c', which is no attribute");
  op.assembly = "operands attr-dict : type(%third)";
  expect_defect("the type of 'third', which is no fixed operand");
  op.assembly = "operands BY attr-dict";
  expect_defect("'BY'");
}
END_TEST

START_TEST(custom_forms_say_all_there_is) {
  op.assembly = "%first attr-dict";
  expect_defect("lacks operand 'second'");
  op.assembly = "operands #b";
  expect_defect("lacks attribute 'a'");
  results[0].type = TFRT_TYPE_ANY;
  expect_defect("the type of result 'result'");
  results[0].type = "i32" TFRT_TYPE_OR "i64";
  expect_defect("the type of result 'result'");
  op.flags = TFRT_KERNEL_VARIADIC_RESULTS;
  expect_defect("types of the variadic results");
  operands[1].type = TFRT_TYPE_ANY;
  op.flags = TFRT_KERNEL_VARIADIC_OPERANDS;
  expect_defect("types of the variadic operands");
  operands[1].type = "i32" TFRT_TYPE_OR "i64";
  op.flags = TFRT_KERNEL_VARIADIC_OPERANDS;
  expect_defect("types of the variadic operands");
}
END_TEST

START_TEST(custom_forms_can_be_read_back) {
  op.assembly = "operands settings attr-dict";
  expect_defect("the attributes twice");
  op.assembly = "operands attr-dict attr-dict";
  expect_defect("the attributes twice");
  op.assembly = "operands operands attr-dict";
  expect_defect("the operands twice");
  op.assembly = "%first ,operands operands attr-dict";
  expect_defect("the operands twice");
  op.assembly = "#b #b operands attr-dict";
  expect_defect("attribute 'b' twice");
  op.assembly = "#b operands #a #b:type";
  expect_defect("attribute 'b' twice");
  op.assembly = "%first ,args operands attr-dict";
  expect_defect("the operands twice");
  op.assembly = "$b operands #a #b";
  expect_defect("attribute 'b' twice");
  op.assembly = "operands attr-dict result-types result-types";
  expect_defect("types of the results twice");
  op.assembly = "operands attr-dict function whole-signature";
  expect_defect("types twice");
  op.assembly = "operands , #a #b";
  expect_defect("',' behind a list");
  op.assembly = "operands attr-dict , #b";  // the braces may be left out
  expect_defect("',' behind a list");
  op.assembly = "operands settings , #b";
  expect_defect("',' behind a list");
  op.assembly = "( operands ) , #a , #b";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
  op.assembly = "operands by #a , #b";
  ck_assert_ptr_null(tfrt_descriptor_check_op(&op));
}
END_TEST

START_TEST(regions_are_in_the_form_and_name_operands_that_there_are) {
  op.regions = regions;
  op.region_count = 1;
  op.assembly = "#b , operands attributes";
  expect_defect("lacks 'regions'");
  op.assembly = "#b , operands attributes regions";
  expect_defect("it has none");
  op.regions = regions;
  op.region_count = 1;
  expect_defect("'attr-dict' is 'attributes'");
  op.regions = regions;
  op.region_count = 1;
  regions[0].lead_mask = 4;
  expect_defect("lead_mask of region 'body'");
}
END_TEST

START_TEST(names_of_native_functions_are_free) {
  op.name = "plus";
  op.assembly = NULL;
  ck_assert_ptr_null(tfrt_descriptor_check_native(&op));
  operands[0].use = (tfrt_operand_use_t)77;
  tfrt_status_t status = tfrt_descriptor_check_native(&op);
  ck_assert_ptr_nonnull(status);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* entries = tcase_create("entries");
  tcase_add_checked_fixture(entries, reset, NULL);
  tcase_add_test(entries, good_entries_pass);
  tcase_add_test(entries, names_arrays_and_flags);
  tcase_add_test(entries, effects);
  tcase_add_test(entries, a_form_with_operands_needs_some);
  tcase_add_test(entries, silence_means_every_effect);
  tcase_add_test(entries, attributes_have_names_kinds_and_an_order);
  tcase_add_test(entries, custom_forms_name_what_is_there);
  tcase_add_test(entries, custom_forms_say_all_there_is);
  tcase_add_test(entries, custom_forms_can_be_read_back);
  tcase_add_test(entries, regions_are_in_the_form_and_name_operands_that_there_are);
  tcase_add_test(entries, names_of_native_functions_are_free);
  Suite* suite = suite_create("descriptor_check");
  suite_add_tcase(suite, entries);
  return suite;
}
