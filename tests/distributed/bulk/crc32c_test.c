// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/crc32c.h"

#include <string.h>

#include "host_runtime/base/random.h"
#include "tests/support/test_main.h"

// One bit at a time, as the polynomial says.
static uint32_t naive(const uint8_t* data, size_t size) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0);
  }
  return ~crc;
}

START_TEST(the_examples_of_the_iscsi_standard_are_right) {
  uint8_t bytes[32] = {0};
  ck_assert_uint_eq(tfrt_crc32c_extend(0, bytes, 32), 0x8a9136aau);
  memset(bytes, 0xff, 32);
  ck_assert_uint_eq(tfrt_crc32c_extend(0, bytes, 32), 0x62a8ab43u);
  for (uint8_t i = 0; i < 32; ++i) bytes[i] = i;
  ck_assert_uint_eq(tfrt_crc32c_extend(0, bytes, 32), 0x46dd794eu);
  ck_assert_uint_eq(tfrt_crc32c_extend(0, "123456789", 9), 0xe3069283u);
}
END_TEST

START_TEST(pieces_give_the_checksum_of_the_whole) {
  uint8_t bytes[300];
  tfrt_random_t random;
  tfrt_random_initialize(&random, 1);
  for (int round = 0; round < 200; ++round) {
    size_t size = tfrt_random_below(&random, sizeof(bytes) + 1);
    for (size_t i = 0; i < size; ++i) bytes[i] = (uint8_t)tfrt_random_next(&random);
    size_t cut = tfrt_random_below(&random, size + 1);
    uint32_t crc = tfrt_crc32c_extend(0, bytes, cut);
    ck_assert_uint_eq(tfrt_crc32c_extend(crc, bytes + cut, size - cut), naive(bytes, size));
  }
  ck_assert_uint_eq(tfrt_crc32c_extend(17, NULL, 0), 17);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("crc32c");
  TCase* values = tcase_create("values");
  tcase_add_test(values, the_examples_of_the_iscsi_standard_are_right);
  tcase_add_test(values, pieces_give_the_checksum_of_the_whole);
  suite_add_tcase(suite, values);
  return suite;
}
