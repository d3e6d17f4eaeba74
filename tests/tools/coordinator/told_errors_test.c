// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/told_errors.h"

#include "tests/support/test_main.h"

static tfrt_told_errors_t told;

static void set_up(void) { tfrt_told_errors_initialize(&told, tfrt_allocator_system()); }

static void tear_down(void) { tfrt_told_errors_deinitialize(&told); }

// An error (+1) of the event |root_key|.
static tfrt_status_t make(uint64_t root_key, const char* message, uint32_t line) {
  const tfrt_status_fields_t fields = {
      .code = TFRT_STATUS_INTERNAL,
      .message = message,
      .origin = {.rank = TFRT_STATUS_NO_RANK, .file = "a.mlir", .line = line, .column = 1},
      .root_key = root_key};
  return tfrt_status_create_from_fields(&fields);
}

START_TEST(an_error_is_told_once_with_its_event_and_its_words) {
  tfrt_status_t first = make(1, "no", 1);
  tfrt_status_t same = make(1, "no", 1);
  tfrt_status_t others[] = {make(2, "no", 1), make(1, "never", 1), make(1, "no", 2)};
  ck_assert(tfrt_told_errors_add(&told, first));
  ck_assert(!tfrt_told_errors_add(&told, first));
  ck_assert(!tfrt_told_errors_add(&told, same));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(others); ++i) {
    ck_assert(tfrt_told_errors_add(&told, others[i]));
    ck_assert(!tfrt_told_errors_add(&told, others[i]));
    tfrt_status_release(others[i]);
  }
  tfrt_status_release(same);
  tfrt_status_release(first);
}
END_TEST

START_TEST(as_many_as_there_are) {
  static tfrt_status_t errors[10000];
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(errors); ++i) {
    errors[i] = make(1, "no", i + 1);
    ck_assert(tfrt_told_errors_add(&told, errors[i]));
  }
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(errors); ++i) {
    ck_assert(!tfrt_told_errors_add(&told, errors[i]));
  }
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(errors); ++i) tfrt_status_release(errors[i]);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* errors = tcase_create("told errors");
  tcase_add_checked_fixture(errors, set_up, tear_down);
  tcase_add_test(errors, an_error_is_told_once_with_its_event_and_its_words);
  tcase_add_test(errors, as_many_as_there_are);
  Suite* suite = suite_create("told_errors");
  suite_add_tcase(suite, errors);
  return suite;
}
