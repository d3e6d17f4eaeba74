// SPDX-License-Identifier: Apache-2.0
//
// Entries whose texts are not what the parser makes of them, each with one mistake.

#include "compiler/parser/op_entry_check.h"

#include <string.h>

#include "tests/support/test_main.h"

static tfrt_operand_descriptor_t operand;
static tfrt_attribute_descriptor_t attribute;
static tfrt_kernel_descriptor_t op;

static void reset(void) {
  operand = (tfrt_operand_descriptor_t){"first", "!my.type", TFRT_OPERAND_PASSED};
  attribute = (tfrt_attribute_descriptor_t){"a", TFRT_ATTRIBUTE_I32, "7"};
  op = (tfrt_kernel_descriptor_t){.name = "my.op",
                                  .summary = "An op.",
                                  .assembly = "operands attr-dict",
                                  .operands = &operand,
                                  .operand_count = 1,
                                  .attributes = &attribute,
                                  .attribute_count = 1};
}

// Fails unless the entry is refused with |reason|; makes it good again.
static void expect_defect(const char* reason) {
  tfrt_status_t status = tfrt_op_entry_check(&op);
  ck_assert_ptr_nonnull(status);
  const char* message = tfrt_status_message(status);
  ck_assert_msg(strstr(message, op.name) && strstr(message, reason), "%s", message);
  tfrt_status_release(status);
  reset();
}

START_TEST(a_good_entry_passes) {
  ck_assert_ptr_null(tfrt_op_entry_check(&op));
  operand.type = "i32" TFRT_TYPE_OR "!my.type";
  ck_assert_ptr_null(tfrt_op_entry_check(&op));
  operand.type = "i32";
  attribute.default_value = NULL;
  ck_assert_ptr_null(tfrt_op_entry_check(&op));
}
END_TEST

START_TEST(what_the_runtime_refuses_is_refused) {
  op.name = "op";
  expect_defect("dialect.op");
  op.assembly = "attr-dict";
  expect_defect("lacks operand 'first'");
}
END_TEST

START_TEST(types_are_spelt_as_they_are_printed) {
  operand.type = "i 32";
  expect_defect("'i 32'");
  operand.type = "";
  expect_defect("'first'");
  operand.type = "i32" TFRT_TYPE_OR "i 64";
  expect_defect("'i 64'");
  operand.type = "i32" TFRT_TYPE_OR;
  expect_defect("'first'");
  operand.type = "i32" TFRT_TYPE_OR TFRT_TYPE_ANY;
  expect_defect("'any'");
}
END_TEST

START_TEST(defaults_are_of_their_kind) {
  attribute.default_value = "nonsense";
  expect_defect("default 'nonsense'");
  attribute.default_value = "\"text\"";
  expect_defect("is not a 32-bit integer");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* entries = tcase_create("entries");
  tcase_add_checked_fixture(entries, reset, NULL);
  tcase_add_test(entries, a_good_entry_passes);
  tcase_add_test(entries, what_the_runtime_refuses_is_refused);
  tcase_add_test(entries, types_are_spelt_as_they_are_printed);
  tcase_add_test(entries, defaults_are_of_their_kind);
  Suite* suite = suite_create("op_entry_check");
  suite_add_tcase(suite, entries);
  return suite;
}
