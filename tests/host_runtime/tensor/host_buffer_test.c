// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/host_buffer.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(owned_data_is_aligned_and_given_back) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_host_buffer_t* buffer;
  testing_ok(tfrt_host_buffer_create(100, tfrt_counting_allocator_interface(&books), &buffer));
  ck_assert_uint_eq((uintptr_t)buffer->data % TFRT_HOST_BUFFER_ALIGNMENT, 0);
  ck_assert_uint_eq(buffer->size, 100);
  memset(buffer->data, 7, 100);
  tfrt_host_buffer_retain(buffer);
  tfrt_host_buffer_release(buffer);
  ck_assert_int_eq(((char*)buffer->data)[99], 7);
  tfrt_host_buffer_release(buffer);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

START_TEST(a_budget_that_is_out_is_an_error) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1024);
  tfrt_host_buffer_t* buffer;
  testing_fails(tfrt_host_buffer_create(1024, tfrt_counting_allocator_interface(&books), &buffer),
                TFRT_STATUS_RESOURCE_EXHAUSTED, "1024", NULL);
  ck_assert_ptr_null(buffer);
  testing_fails(
      tfrt_host_buffer_create(SIZE_MAX, tfrt_counting_allocator_interface(&books), &buffer),
      TFRT_STATUS_RESOURCE_EXHAUSTED, NULL);
}
END_TEST

static int given_back;
static void give_back(void* context, void* data, size_t size) {
  ck_assert_ptr_eq(context, &given_back);
  ck_assert_str_eq(data, "hello");
  ck_assert_uint_eq(size, 5);
  ++given_back;
}

START_TEST(a_slice_keeps_its_parent_alive) {
  char data[] = "hello";
  tfrt_host_buffer_t* parent;
  testing_ok(tfrt_host_buffer_create_external(data, 5, give_back, &given_back,
                                              tfrt_allocator_system(), &parent));
  tfrt_host_buffer_t* slice;
  testing_ok(tfrt_host_buffer_create_slice(parent, 1, 4, tfrt_allocator_system(), &slice));
  tfrt_host_buffer_t* inner;
  testing_ok(tfrt_host_buffer_create_slice(slice, 4, 0, tfrt_allocator_system(), &inner));
  tfrt_host_buffer_release(parent);
  tfrt_host_buffer_release(slice);
  ck_assert_int_eq(given_back, 0);
  ck_assert_ptr_eq(inner->data, data + 5);
  tfrt_host_buffer_release(inner);
  ck_assert_int_eq(given_back, 1);
}
END_TEST

START_TEST(a_slice_beyond_its_parent_is_refused) {
  tfrt_host_buffer_t* parent;
  testing_ok(tfrt_host_buffer_create(8, tfrt_allocator_system(), &parent));
  tfrt_host_buffer_t* slice;
  const size_t ranges[][2] = {{0, 9}, {8, 1}, {9, 0}, {SIZE_MAX, 2}, {2, SIZE_MAX}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(ranges); ++i) {
    testing_fails(tfrt_host_buffer_create_slice(parent, ranges[i][0], ranges[i][1],
                                                tfrt_allocator_system(), &slice),
                  TFRT_STATUS_OUT_OF_RANGE, NULL);
    ck_assert_ptr_null(slice);
  }
  tfrt_host_buffer_release(parent);
  tfrt_host_buffer_release(NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("host_buffer");
  tcase_add_test(cases, owned_data_is_aligned_and_given_back);
  tcase_add_test(cases, a_budget_that_is_out_is_an_error);
  tcase_add_test(cases, a_slice_keeps_its_parent_alive);
  tcase_add_test(cases, a_slice_beyond_its_parent_is_refused);
  Suite* suite = suite_create("host_buffer");
  suite_add_tcase(suite, cases);
  return suite;
}
