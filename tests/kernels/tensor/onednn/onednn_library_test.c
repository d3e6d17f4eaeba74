// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_library.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

// Whether the library's file is mapped into this process. Each test has a process of its own.
static bool is_loaded(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  bool found = false;
  for (char line[1024]; !found && fgets(line, sizeof(line), maps);) {
    found = strstr(line, "/libdnnl.so") != NULL;
  }
  fclose(maps);
  return found;
}

START_TEST(the_library_is_loaded_when_it_is_opened_and_not_before) {
  ck_assert(!is_loaded());
  testing_ok(tfrt_onednn_library_open());
  ck_assert(is_loaded());
  testing_ok(tfrt_onednn_library_open());
}
END_TEST

START_TEST(its_functions_can_be_called_once_it_is_open) {
  testing_ok(tfrt_onednn_library_open());
  const float a[2] = {2, 3};
  const float b[2] = {5, 7};
  float c = 0;
  ck_assert_int_eq(tfrt_onednn()->dnnl_sgemm('N', 'N', 1, 1, 2, 1, a, 2, b, 1, 0, &c, 1),
                   dnnl_success);
  ck_assert_float_eq(c, 31);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("onednn_library");
  tcase_add_test(cases, the_library_is_loaded_when_it_is_opened_and_not_before);
  tcase_add_test(cases, its_functions_can_be_called_once_it_is_open);
  Suite* suite = suite_create("onednn_library");
  suite_add_tcase(suite, cases);
  return suite;
}
