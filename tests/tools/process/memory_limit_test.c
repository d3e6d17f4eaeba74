// SPDX-License-Identifier: Apache-2.0
//
// The memory that a process may take: tools/process/memory_limit.h.
#include "tools/process/memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/test_main.h"

#define MIB (UINT64_C(1) << 20)

START_TEST(a_limit_of_the_process_counts_where_it_is_the_least) {
  const uint64_t before = tfrt_memory_limit();
  ck_assert_uint_gt(before, 0);
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_DATA, &limit), 0);
  limit.rlim_cur = 64 * MIB;
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
  ck_assert_uint_eq(tfrt_memory_limit(), 64 * MIB);
}
END_TEST

// The limit of a group whose file holds |text|.
static uint64_t limit_of_group(const char* text) {
  char path[] = "memory_limit_XXXXXX";
  int descriptor = mkstemp(path);
  ck_assert_int_ge(descriptor, 0);
  ck_assert_int_ge(dprintf(descriptor, "%s", text), 0);
  ck_assert_int_eq(close(descriptor), 0);
  uint64_t limit = tfrt_memory_limit_of_group(path);
  ck_assert_int_eq(unlink(path), 0);
  return limit;
}

START_TEST(a_group_may_have_a_limit) {
  ck_assert_uint_eq(limit_of_group("536870912\n"), 512 * MIB);
  ck_assert_uint_eq(limit_of_group("max\n"), UINT64_MAX);
  ck_assert_uint_eq(limit_of_group(""), UINT64_MAX);
  ck_assert_uint_eq(tfrt_memory_limit_of_group("no/such/file"), UINT64_MAX);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* limits = tcase_create("limits");
  tcase_add_test(limits, a_limit_of_the_process_counts_where_it_is_the_least);
  tcase_add_test(limits, a_group_may_have_a_limit);
  Suite* suite = suite_create("memory_limit");
  suite_add_tcase(suite, limits);
  return suite;
}
