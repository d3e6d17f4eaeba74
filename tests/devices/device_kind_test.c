// SPDX-License-Identifier: Apache-2.0
#include "devices/device_kind.h"

#include "devices/cpu/cpu_platform.h"
#include "host_runtime/async/inline_work_queue.h"
#include "tests/support/test_main.h"

static tfrt_status_t test_open(const void* options, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* queue, tfrt_device_platform_t** out_platform) {
  return tfrt_cpu_platform_create(options, allocator, queue, out_platform);
}

// Says that all is well, and gives nothing.
static tfrt_status_t test_open_nothing(const void* options, tfrt_allocator_t allocator,
                                       tfrt_work_queue_t* queue,
                                       tfrt_device_platform_t** out_platform) {
  (void)options, (void)allocator, (void)queue, (void)out_platform;
  return NULL;
}

static tfrt_status_t test_open_never(const void* options, tfrt_allocator_t allocator,
                                     tfrt_work_queue_t* queue,
                                     tfrt_device_platform_t** out_platform) {
  (void)options, (void)allocator, (void)queue, (void)out_platform;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no driver");
}

static void test_destroy(tfrt_device_platform_t* platform) {
  tfrt_device_platform_deinitialize(platform);
}

// A platform whose vtable has a gap.
static tfrt_status_t test_open_gap(const void* options, tfrt_allocator_t allocator,
                                   tfrt_work_queue_t* queue,
                                   tfrt_device_platform_t** out_platform) {
  static const tfrt_device_platform_vtable_t vtable = {.destroy = test_destroy};
  static tfrt_device_platform_t platform;
  (void)options;
  tfrt_device_platform_initialize(&platform, &vtable, "gap", 1, allocator, queue);
  *out_platform = &platform;
  return NULL;
}

static const tfrt_cpu_platform_options_t options = {.device_count = 1, .memory_size = 1 << 20};
static const tfrt_device_kind_t cpu = {"cpu", test_open, &options};

static void test_refused(const tfrt_device_kind_t* kind, tfrt_status_code_t code,
                         const char* part) {
  tfrt_status_t status = tfrt_device_kind_register(kind);
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

START_TEST(a_kind_is_registered_once_and_the_same_again_is_fine) {
  ck_assert_uint_eq(tfrt_device_kind_count(), 0);
  ck_assert(!tfrt_device_kind_register(&cpu));
  ck_assert(!tfrt_device_kind_register(&cpu));
  ck_assert_uint_eq(tfrt_device_kind_count(), 1);
  ck_assert_ptr_eq(tfrt_device_kind_get(0), &cpu);
  static const tfrt_device_kind_t other = {"cpu", test_open, NULL};
  test_refused(&other, TFRT_STATUS_ALREADY_EXISTS, "a kind of devices 'cpu' already");
}
END_TEST

START_TEST(what_is_no_kind_is_refused) {
  static const char* const names[] = {
      "", "Cpu", "1a", "a:0", "a b", "_a", "sixteen_letters_",
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    const tfrt_device_kind_t kind = {names[i], test_open, NULL};
    test_refused(&kind, TFRT_STATUS_INVALID_ARGUMENT, "is no name for a kind of devices");
  }
  const tfrt_device_kind_t nameless = {NULL, test_open, NULL};
  test_refused(&nameless, TFRT_STATUS_INVALID_ARGUMENT, "is no name");
  const tfrt_device_kind_t closed = {"fifteen_letters", NULL, NULL};
  test_refused(&closed, TFRT_STATUS_INVALID_ARGUMENT, "lacks its function `open`");
  ck_assert_uint_eq(tfrt_device_kind_count(), 0);
}
END_TEST

START_TEST(there_is_an_end_to_the_room) {
  static char names[TFRT_DEVICE_KIND_MAX_COUNT + 1][2];
  static tfrt_device_kind_t kinds[TFRT_DEVICE_KIND_MAX_COUNT + 1];
  for (size_t i = 0; i <= TFRT_DEVICE_KIND_MAX_COUNT; ++i) {
    names[i][0] = (char)('a' + (int)i);
    kinds[i] = (tfrt_device_kind_t){names[i], test_open, NULL};
    if (i < TFRT_DEVICE_KIND_MAX_COUNT) ck_assert(!tfrt_device_kind_register(&kinds[i]));
  }
  test_refused(&kinds[TFRT_DEVICE_KIND_MAX_COUNT], TFRT_STATUS_RESOURCE_EXHAUSTED,
               "no room for a kind of devices 'q'");
}
END_TEST

// The text of the error with which |kind| doesn't open; "": it opens.
static void test_open_kind(const tfrt_device_kind_t* kind, const char* expected) {
  tfrt_work_queue_t* queue;
  tfrt_device_platform_t* platform;
  ck_assert(!tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  tfrt_status_t status = tfrt_device_kind_open(kind, tfrt_allocator_system(), queue, &platform);
  ck_assert_str_eq(status ? tfrt_status_message(status) : "", expected);
  ck_assert_int_eq(platform == NULL, status != NULL);
  tfrt_status_release(status);
  tfrt_device_platform_release(platform);
  tfrt_work_queue_release(queue);
}

START_TEST(a_kind_opens_or_says_why_not) {
  test_open_kind(&cpu, "");
  static const tfrt_device_kind_t never = {"never", test_open_never, NULL};
  test_open_kind(&never, "no driver");
  static const tfrt_device_kind_t nothing = {"nothing", test_open_nothing, NULL};
  test_open_kind(&nothing,
                 "kind of devices 'nothing': its `open` gives no platform, and no "
                 "error");
  static const tfrt_device_kind_t alias = {"alias", test_open, &options};
  test_open_kind(&alias, "kind of devices 'alias': its platform has another name");
  static const tfrt_device_kind_t gap = {"gap", test_open_gap, NULL};
  test_open_kind(&gap,
                 "kind of devices 'gap': its platform lacks an entry of "
                 "tfrt_device_platform_vtable_t");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("kinds");
  tcase_add_test(tests, a_kind_is_registered_once_and_the_same_again_is_fine);
  tcase_add_test(tests, what_is_no_kind_is_refused);
  tcase_add_test(tests, there_is_an_end_to_the_room);
  tcase_add_test(tests, a_kind_opens_or_says_why_not);
  Suite* suite = suite_create("device_kind");
  suite_add_tcase(suite, tests);
  return suite;
}
