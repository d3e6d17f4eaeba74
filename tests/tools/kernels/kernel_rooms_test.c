// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/kernel_rooms.h"

#include "tests/support/test_main.h"

static void run(tfrt_kernel_frame_t* frame) { (void)frame; }

// The rooms are trusted to have no name twice. Descriptors added behind the rooms aren't trusted,
// so the check compares all of their names.
START_TEST(no_name_is_in_the_rooms_twice) {
  static const tfrt_kernel_descriptor_t own[] = {{.name = "own.kernel", .summary = "Own."}};
  static const tfrt_kernel_table_t table = {own, TFRT_ARRAY_SIZE(own)};
  static const tfrt_kernel_registration_t kernels[] = {{"own.kernel", run}};
  tfrt_kernel_registry_t* registry = NULL;
  ck_assert_ptr_null(tfrt_kernel_registry_allocate(tfrt_allocator_system(), &registry));
  ck_assert_ptr_null(tfrt_kernel_rooms_register(registry));
  tfrt_status_t status = tfrt_kernel_registry_add_all(registry, &table, kernels, 1);
  ck_assert_msg(!status, "%s", status ? tfrt_status_message(status) : "");
  tfrt_kernel_registry_free(registry);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* rooms = tcase_create("rooms");
  tcase_add_test(rooms, no_name_is_in_the_rooms_twice);
  Suite* suite = suite_create("kernel_rooms");
  suite_add_tcase(suite, rooms);
  return suite;
}
