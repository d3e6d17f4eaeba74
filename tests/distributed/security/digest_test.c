// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/digest.h"

#include <stdio.h>

#include "tests/support/test_main.h"

static void to_text(const uint8_t digest[TFRT_SHA256_SIZE], char text[2 * TFRT_SHA256_SIZE + 1]) {
  for (int i = 0; i < TFRT_SHA256_SIZE; ++i) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

START_TEST(sha256_gives_the_standards_example) {
  uint8_t digest[TFRT_SHA256_SIZE];
  char text[2 * TFRT_SHA256_SIZE + 1];
  ck_assert_ptr_null(tfrt_sha256(tfrt_string_view_of("abc"), digest));
  to_text(digest, text);
  ck_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  ck_assert_ptr_null(tfrt_sha256((tfrt_string_view_t){0}, digest));
  to_text(digest, text);
  ck_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
END_TEST

START_TEST(hmac_gives_the_standards_example) {
  uint8_t proof[TFRT_SHA256_SIZE];
  char text[2 * TFRT_SHA256_SIZE + 1];
  ck_assert_ptr_null(tfrt_hmac_sha256(tfrt_string_view_of("Jefe"),
                                      tfrt_string_view_of("what do ya want for nothing?"), proof));
  to_text(proof, text);
  ck_assert_str_eq(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* digest = tcase_create("digest");
  tcase_add_test(digest, sha256_gives_the_standards_example);
  tcase_add_test(digest, hmac_gives_the_standards_example);
  Suite* suite = suite_create("digest");
  suite_add_tcase(suite, digest);
  return suite;
}
