// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/open_calls.h"

#include "tests/support/test_main.h"

static void check(const char* inventory, const char* expected) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_open_calls_append(tfrt_string_view_of(inventory), tfrt_string_view_of("1a"),
                         tfrt_string_view_of("ee"), &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), expected);
  tfrt_string_builder_deinitialize(&out);
}

#define MEMBERS                                          \
  "host incarnation=aa name=vm serving=1\n"              \
  "job job=1a name=p rank=0 hosts=3 root=aa client=ff\n" \
  "member job=1a rank=0 incarnation=aa address=h:1\n"    \
  "member job=2b rank=7 incarnation=bb address=h:2\n"    \
  "member job=1a rank=1 incarnation=bb address=h:2\n"    \
  "member job=1a rank=2 incarnation=cc address=h:3\n"

#define CALL(peer, line)                                                                 \
  "call job=1a dir=out peer=" peer " number=4 request=1 function=f in=1 at=a.mlir:" line \
  ":3 age_us=7 state=running\n"

START_TEST(calls_are_named_by_function_host_and_line) {
  check(MEMBERS CALL("cc", "5"), "@f on host 2, called at a.mlir:5:3");
  check(MEMBERS CALL("cc", "5") CALL("bb", "6") CALL("cc", "7"),
        "@f on host 2, called at a.mlir:5:3; @f on host 1, called at a.mlir:6:3; "
        "@f on host 2, called at a.mlir:7:3");
}
END_TEST

START_TEST(of_many_calls_the_first_are_named) {
  check(MEMBERS CALL("cc", "5") CALL("bb", "6") CALL("cc", "7") CALL("cc", "8"),
        "@f on host 2, called at a.mlir:5:3; @f on host 1, called at a.mlir:6:3; "
        "@f on host 2, called at a.mlir:7:3; and 1 more call");
  check(MEMBERS CALL("cc", "5") CALL("bb", "6") CALL("cc", "7") CALL("cc", "8") CALL("bb", "9"),
        "@f on host 2, called at a.mlir:5:3; @f on host 1, called at a.mlir:6:3; "
        "@f on host 2, called at a.mlir:7:3; and 2 more calls");
}
END_TEST

START_TEST(calls_of_other_jobs_and_from_others_are_left_out) {
  check(MEMBERS
        "call job=2b dir=out peer=bb number=1 request=1 function=g in=1 at=b.mlir:1:1\n"
        "call job=1a dir=in peer=cc number=1 depth=1 request=1 function=g state=running\n",
        "");
}
END_TEST

START_TEST(calls_to_the_lost_host_are_left_out) {
  check(MEMBERS CALL("ee", "5") CALL("bb", "6"), "@f on host 1, called at a.mlir:6:3");
}
END_TEST

START_TEST(without_calls_the_oldest_kernel_is_named) {
  check(MEMBERS
        "kernel job=1a request=1 in=1 name=tfrt.add.i32 function=main at=a.mlir:9:1 age_us=5\n"
        "kernel job=2b request=1 in=1 name=tfrt.mul.i32 function=main at=b.mlir:9:1 age_us=90\n"
        "kernel job=1a request=1 in=1 name=tfrt.print.i32 function=g at=a.mlir:8:1 age_us=6\n",
        "tfrt.print.i32 of @g at a.mlir:8:1");
}
END_TEST

// An older host leaves properties out.
START_TEST(what_is_not_known_is_left_out) {
  check("call job=1a dir=out peer=dd function=f\n", "@f");
  check("", "");
  check("call job=1a dir=out peer=- number=1 function=f at=-\n", "@f");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* calls = tcase_create("open calls");
  tcase_add_test(calls, calls_are_named_by_function_host_and_line);
  tcase_add_test(calls, of_many_calls_the_first_are_named);
  tcase_add_test(calls, calls_of_other_jobs_and_from_others_are_left_out);
  tcase_add_test(calls, calls_to_the_lost_host_are_left_out);
  tcase_add_test(calls, without_calls_the_oldest_kernel_is_named);
  tcase_add_test(calls, what_is_not_known_is_left_out);
  Suite* suite = suite_create("open_calls");
  suite_add_tcase(suite, calls);
  return suite;
}
