// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_waits.h"

#include "tests/support/test_main.h"

static tfrt_chain_waits_t either(uint64_t a, uint64_t b) {
  tfrt_chain_waits_t first = tfrt_chain_waits_of(a);
  tfrt_chain_waits_t second = tfrt_chain_waits_of(b);
  return tfrt_chain_waits_or(&first, &second);
}

START_TEST(one_of_two_masks_is_hit_only_if_both_are) {
  tfrt_chain_waits_t waits = either(1, 2);
  ck_assert_uint_eq(waits.count, 2);
  ck_assert(!tfrt_chain_waits_hit(&waits, 1));
  ck_assert(!tfrt_chain_waits_hit(&waits, 2));
  ck_assert(tfrt_chain_waits_hit(&waits, 3));
  ck_assert_uint_eq(tfrt_chain_waits_certain(&waits), 0);
}
END_TEST

START_TEST(a_mask_with_all_bits_of_another_says_nothing) {
  tfrt_chain_waits_t waits = either(UINT64_MAX, 6);
  tfrt_chain_waits_t six = tfrt_chain_waits_of(6);
  ck_assert(tfrt_chain_waits_equal(&waits, &six));
  waits = either(6, 2);
  tfrt_chain_waits_t two = tfrt_chain_waits_of(2);
  ck_assert(tfrt_chain_waits_equal(&waits, &two));
}
END_TEST

START_TEST(the_order_of_making_does_not_matter) {
  tfrt_chain_waits_t a = either(4, 1);
  tfrt_chain_waits_t b = either(1, 4);
  ck_assert(tfrt_chain_waits_equal(&a, &b));
}
END_TEST

START_TEST(both_are_waited_for_in_each_case) {
  tfrt_chain_waits_t a = either(1, 2);
  tfrt_chain_waits_t b = either(4, 8);
  tfrt_chain_waits_t both = tfrt_chain_waits_and(&a, &b);
  ck_assert_uint_eq(both.count, 4);
  ck_assert(tfrt_chain_waits_hit(&both, 3));
  ck_assert(tfrt_chain_waits_hit(&both, 12));
  ck_assert(!tfrt_chain_waits_hit(&both, 5));
}
END_TEST

// A turn of a loop waits for one of three values and one of four chains, as branches in it decide.
START_TEST(what_two_choices_wait_for_is_known_whole) {
  tfrt_chain_waits_t values = either(1, 2);
  tfrt_chain_waits_t value = tfrt_chain_waits_of(4);
  values = tfrt_chain_waits_or(&values, &value);
  tfrt_chain_waits_t chains = either(8, 16);
  tfrt_chain_waits_t others = either(32, 64);
  chains = tfrt_chain_waits_or(&chains, &others);
  tfrt_chain_waits_t both = tfrt_chain_waits_and(&values, &chains);
  ck_assert(tfrt_chain_waits_hit(&both, 1 | 2 | 4));
  ck_assert(tfrt_chain_waits_hit(&both, 8 | 16 | 32 | 64));
  ck_assert(!tfrt_chain_waits_hit(&both, 1 | 2 | 8 | 16 | 32));
}
END_TEST

START_TEST(too_many_masks_say_less_and_nothing_false) {
  tfrt_chain_waits_t waits = tfrt_chain_waits_of(1);
  uint64_t all = 1;
  for (int i = 1; i < 40; ++i) {
    tfrt_chain_waits_t more = tfrt_chain_waits_of((uint64_t)1 << i | (uint64_t)1 << 63);
    all |= (uint64_t)1 << i;
    waits = tfrt_chain_waits_or(&waits, &more);
    ck_assert_uint_le(waits.count, TFRT_CHAIN_WAITS_MAX);
    ck_assert_uint_ge(waits.count, 1);
  }
  ck_assert(!tfrt_chain_waits_hit(&waits, all & ~(uint64_t)1));
  ck_assert(tfrt_chain_waits_hit(&waits, (uint64_t)1 << 63 | 1));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* waits = tcase_create("waits");
  tcase_add_test(waits, one_of_two_masks_is_hit_only_if_both_are);
  tcase_add_test(waits, a_mask_with_all_bits_of_another_says_nothing);
  tcase_add_test(waits, the_order_of_making_does_not_matter);
  tcase_add_test(waits, both_are_waited_for_in_each_case);
  tcase_add_test(waits, what_two_choices_wait_for_is_known_whole);
  tcase_add_test(waits, too_many_masks_say_less_and_nothing_false);
  Suite* suite = suite_create("chain_waits");
  suite_add_tcase(suite, waits);
  return suite;
}
