// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/work_queue_type.h"

#include <string.h>

#include "host_runtime/async/inline_work_queue.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* queue;

static void expect_queue(const char* text, const char* name, int parallelism) {
  ck_assert_ptr_null(tfrt_work_queue_create_by_name(text, NULL, tfrt_allocator_system(), &queue));
  ck_assert_str_eq(tfrt_work_queue_name(queue), name);
  if (parallelism > 0) ck_assert_int_eq(tfrt_work_queue_parallelism(queue), parallelism);
  tfrt_work_queue_release(queue);
}

static void expect_error(tfrt_status_t status, tfrt_status_code_t code, const char* message) {
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_int_eq(tfrt_status_code(status), code);
  tfrt_status_release(status);
}

static void expect_refused(const char* text, const char* message) {
  queue = (tfrt_work_queue_t*)&queue;
  expect_error(tfrt_work_queue_create_by_name(text, NULL, tfrt_allocator_system(), &queue),
               TFRT_STATUS_INVALID_ARGUMENT, message);
  ck_assert_ptr_null(queue);
}

START_TEST(the_queues_that_are_built_in_go_by_tfrts_names) {
  expect_queue("s", "single-threaded", 1);
  expect_queue("mstd:3,5", "Multi-threaded C++ work queue (3 threads, 5 blocking threads)", 3);
  expect_queue("mstd:2", "Multi-threaded C++ work queue (2 threads, 256 blocking threads)", 2);
  ck_assert_ptr_null(tfrt_work_queue_create_by_name("mstd", NULL, tfrt_allocator_system(), &queue));
  ck_assert_int_ge(tfrt_work_queue_parallelism(queue), 1);
  tfrt_work_queue_release(queue);
}
END_TEST

#define MSTD_USAGE                                                                    \
  "write mstd[:THREADS[,BLOCKING]], with 1 to 1024 threads and 1 to 65536 for tasks " \
  "that block"

START_TEST(what_makes_no_sense_is_refused_with_what_would) {
  expect_refused("steel",
                 "there is no type of work queues 'steel'; there are s, "
                 "mstd[:THREADS[,BLOCKING]]");
  expect_refused("", "there is no type of work queues ''; there are s, mstd[:THREADS[,BLOCKING]]");
  expect_refused("s:1", "'s:1' is not how a type of work queues is written: s");
  expect_refused("mstd:0", "work queue 'mstd:0': " MSTD_USAGE);
  expect_refused("mstd:2x", "work queue 'mstd:2x': " MSTD_USAGE);
  expect_refused("mstd:2,", "work queue 'mstd:2,': " MSTD_USAGE);
  expect_refused("mstd:2,0", "work queue 'mstd:2,0': " MSTD_USAGE);
  expect_refused("mstd:2,3,4", "work queue 'mstd:2,3,4': " MSTD_USAGE);
  expect_refused("mstd:99999", "work queue 'mstd:99999': " MSTD_USAGE);
}
END_TEST

static char seen_arguments[16];
static bool seen_pinning;

static tfrt_status_t create_mine(const char* arguments, const tfrt_work_queue_settings_t* settings,
                                 tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue) {
  strncpy(seen_arguments, arguments, sizeof(seen_arguments) - 1);
  seen_pinning = settings->pin_threads;
  return tfrt_inline_work_queue_create(allocator, out_queue);
}

static const tfrt_work_queue_type_t mine = {{"mine", "[:ANYTHING]"}, create_mine};

START_TEST(a_user_adds_a_type) {
  ck_assert_ptr_null(tfrt_work_queue_type_register(&mine));
  ck_assert_ptr_null(tfrt_work_queue_type_register(&mine));  // a library may be set up twice
  tfrt_work_queue_settings_t settings = {.pin_threads = true};
  ck_assert_ptr_null(
      tfrt_work_queue_create_by_name("mine:a:b", &settings, tfrt_allocator_system(), &queue));
  tfrt_work_queue_release(queue);
  ck_assert_str_eq(seen_arguments, "a:b");
  ck_assert(seen_pinning);
  expect_refused("steel",
                 "there is no type of work queues 'steel'; there are s, "
                 "mstd[:THREADS[,BLOCKING]], mine[:ANYTHING]");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("work_queue_type");
  TCase* cases = tcase_create("work_queue_type");
  tcase_add_test(cases, the_queues_that_are_built_in_go_by_tfrts_names);
  tcase_add_test(cases, what_makes_no_sense_is_refused_with_what_would);
  tcase_add_test(cases, a_user_adds_a_type);
  suite_add_tcase(suite, cases);
  return suite;
}
