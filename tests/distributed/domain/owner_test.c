// SPDX-License-Identifier: Apache-2.0
//
// The ends of owners: which rules are followed, and in which order.
#include "distributed/domain/domain.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

// The rules that were followed, a letter each.
static char followed[16];
static tfrt_status_t reason_seen;

static void follow(char letter, const tfrt_owner_end_t* end) {
  size_t size = strlen(followed);
  ck_assert_uint_lt(size + 1, sizeof(followed));
  followed[size] = letter;
  followed[size + 1] = '\0';
  reason_seen = end->reason;
}

static void follow_a(const tfrt_owner_end_t* end) { follow('a', end); }
static void follow_b(const tfrt_owner_end_t* end) { follow('b', end); }
static void follow_c(const tfrt_owner_end_t* end) { follow('c', end); }
static void follow_d(const tfrt_owner_end_t* end) { follow('d', end); }

static const tfrt_owner_rule_t objects[] = {
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_OBJECTS, follow_a},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_HOLDS, follow_b},
};

static const tfrt_owner_rule_t calls[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_CALLS, follow_c},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_OBJECTS, follow_d},
};

static const char* end_of(tfrt_node_t* node, tfrt_owner_event_t event) {
  followed[0] = '\0';
  tfrt_node_end(&(tfrt_owner_end_t){.event = event, .node = node});
  return followed;
}

START_TEST(rules_of_an_event_are_followed_by_phase) {
  tfrt_node_t node = {0};
  tfrt_owner_rules_add(&node.rules, objects, TFRT_ARRAY_SIZE(objects));
  tfrt_owner_rules_add(&node.rules, calls, TFRT_ARRAY_SIZE(calls));
  ck_assert_str_eq(end_of(&node, TFRT_OWNER_PEER_LOST), "cb");
}
END_TEST

START_TEST(rules_of_one_phase_are_followed_as_they_were_added) {
  tfrt_node_t node = {0};
  tfrt_owner_rules_add(&node.rules, objects, TFRT_ARRAY_SIZE(objects));
  tfrt_owner_rules_add(&node.rules, calls, TFRT_ARRAY_SIZE(calls));
  ck_assert_str_eq(end_of(&node, TFRT_OWNER_JOB_FINISHED), "ad");
  tfrt_node_t other = {0};
  tfrt_owner_rules_add(&other.rules, calls, TFRT_ARRAY_SIZE(calls));
  tfrt_owner_rules_add(&other.rules, objects, TFRT_ARRAY_SIZE(objects));
  ck_assert_str_eq(end_of(&other, TFRT_OWNER_JOB_FINISHED), "da");
}
END_TEST

START_TEST(an_event_without_rules_changes_nothing) {
  tfrt_node_t node = {0};
  tfrt_owner_rules_add(&node.rules, objects, TFRT_ARRAY_SIZE(objects));
  ck_assert_str_eq(end_of(&node, TFRT_OWNER_REQUEST_OVER), "");
}
END_TEST

START_TEST(a_rule_gets_the_event_as_it_is) {
  tfrt_node_t node = {0};
  tfrt_owner_rules_add(&node.rules, calls, TFRT_ARRAY_SIZE(calls));
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "over");
  followed[0] = '\0';
  tfrt_node_end(
      &(tfrt_owner_end_t){.event = TFRT_OWNER_PEER_LOST, .node = &node, .reason = reason});
  ck_assert_str_eq(followed, "c");
  ck_assert_ptr_eq(reason_seen, reason);
  tfrt_status_release(reason);
}
END_TEST

#ifndef NDEBUG
START_TEST(more_rules_than_fit_are_a_mistake) {
  static tfrt_node_t node;
  for (size_t i = 0; i <= TFRT_OWNER_MAX_RULES; ++i) tfrt_owner_rules_add(&node.rules, calls, 1);
}
END_TEST
#endif

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("owner");
  TCase* tests = tcase_create("owner");
  tcase_add_test(tests, rules_of_an_event_are_followed_by_phase);
  tcase_add_test(tests, rules_of_one_phase_are_followed_as_they_were_added);
  tcase_add_test(tests, an_event_without_rules_changes_nothing);
  tcase_add_test(tests, a_rule_gets_the_event_as_it_is);
#ifndef NDEBUG
  tcase_add_test_raise_signal(tests, more_rules_than_fit_are_a_mistake, SIGABRT);
#endif
  suite_add_tcase(suite, tests);
  return suite;
}
