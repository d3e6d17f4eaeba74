// SPDX-License-Identifier: Apache-2.0
#include "devices/device_manager.h"

#include "devices/cpu/cpu_platform.h"
#include "devices/device.h"
#include "host_runtime/async/inline_work_queue.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* work_queue;
static tfrt_device_manager_t* manager;
static int open_count;

static tfrt_status_t test_open(const void* options, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* queue, tfrt_device_platform_t** out_platform) {
  ++open_count;
  return tfrt_cpu_platform_create(options, allocator, queue, out_platform);
}

static tfrt_status_t test_refuse(const void* options, tfrt_allocator_t allocator,
                                 tfrt_work_queue_t* queue, tfrt_device_platform_t** out_platform) {
  (void)options;
  (void)allocator;
  (void)queue;
  (void)out_platform;
  ++open_count;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no driver");
}

static void test_set_up(void) {
  static const tfrt_cpu_platform_options_t options = {.device_count = 2, .memory_size = 1 << 20};
  ck_assert(!tfrt_inline_work_queue_create(tfrt_allocator_system(), &work_queue));
  ck_assert(!tfrt_device_manager_allocate(tfrt_allocator_system(), work_queue, &manager));
  static const tfrt_device_kind_t cpu = {"cpu", test_open, &options};
  static const tfrt_device_kind_t broken = {"broken", test_refuse, NULL};
  ck_assert(!tfrt_device_manager_add(manager, &cpu));
  ck_assert(!tfrt_device_manager_add(manager, &broken));
  open_count = 0;
}

static void test_tear_down(void) {
  tfrt_device_manager_free(manager);
  tfrt_work_queue_release(work_queue);
}

static tfrt_status_t test_find(const char* name, tfrt_device_platform_t** out_platform) {
  return tfrt_device_manager_platform(manager, tfrt_string_view_of(name), out_platform);
}

START_TEST(a_platform_is_opened_once_when_it_is_first_asked_for) {
  tfrt_device_platform_t* platform;
  tfrt_device_platform_t* same;
  ck_assert_int_eq(open_count, 0);
  ck_assert(!test_find("cpu", &platform));
  ck_assert(!test_find("CPU", &same));
  ck_assert_ptr_eq(platform, same);
  ck_assert_int_eq(open_count, 1);
  tfrt_device_t* device;
  ck_assert(!tfrt_device_platform_device(platform, 1, &device));
  ck_assert_str_eq(device->name, "cpu:1");
  tfrt_device_release(device);
  tfrt_device_manager_drain(manager);
}
END_TEST

START_TEST(what_can_not_be_opened_says_so_each_time) {
  tfrt_device_platform_t* platform;
  for (int i = 0; i < 2; ++i) {
    tfrt_status_t status = test_find("broken", &platform);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAVAILABLE);
    ck_assert_ptr_null(platform);
    tfrt_status_release(status);
  }
  ck_assert_int_eq(open_count, 1);
}
END_TEST

START_TEST(a_name_that_nobody_added_is_not_found_and_the_others_are_named) {
  tfrt_device_platform_t* platform;
  tfrt_status_t status = test_find("cp", &platform);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "'cp', only of: cpu, broken"));
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_name_is_added_once_and_there_is_room_for_as_many_as_can_be_registered) {
  static const tfrt_device_kind_t again = {"CPU", test_open, NULL};
  tfrt_status_t status = tfrt_device_manager_add(manager, &again);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_ALREADY_EXISTS);
  tfrt_status_release(status);
  static char names[TFRT_DEVICE_KIND_MAX_COUNT][2];
  static tfrt_device_kind_t others[TFRT_DEVICE_KIND_MAX_COUNT];
  for (size_t i = 2; i < TFRT_DEVICE_KIND_MAX_COUNT; ++i) {
    names[i][0] = (char)('a' + (int)i);
    others[i] = (tfrt_device_kind_t){names[i], test_refuse, NULL};
    ck_assert(!tfrt_device_manager_add(manager, &others[i]));
  }
  static const tfrt_device_kind_t last = {"z", test_refuse, NULL};
  status = tfrt_device_manager_add(manager, &last);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("manager");
  tcase_add_checked_fixture(tests, test_set_up, test_tear_down);
  tcase_add_test(tests, a_platform_is_opened_once_when_it_is_first_asked_for);
  tcase_add_test(tests, what_can_not_be_opened_says_so_each_time);
  tcase_add_test(tests, a_name_that_nobody_added_is_not_found_and_the_others_are_named);
  tcase_add_test(tests, a_name_is_added_once_and_there_is_room_for_as_many_as_can_be_registered);
  Suite* suite = suite_create("device_manager");
  suite_add_tcase(suite, tests);
  return suite;
}
