// SPDX-License-Identifier: Apache-2.0
//
// A loaded program takes few bytes for each op, and little more while it is loaded.
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/string_builder.h"
#include "tests/bench/bench_host.h"
#include "tests/support/test_main.h"

#define OPS 20000

// For what doesn't depend on the number of ops, and for room in blocks that are not full.
#define SLACK_BYTES 160000

typedef struct loaded_s {
  double op_bytes;       // of the loaded program for each op, without its file
  double peak_op_bytes;  // the most while it was loaded
} loaded_t;

// Loads @main, whose op number i is |op| with a name for its result and that of the one before.
static loaded_t load(const char* functions, const char* op) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_text(&text, functions);
  tfrt_string_builder_append_text(&text,
                                  "func.func @main() -> i32 {\n"
                                  "  %c = tfrt.constant.i32 1\n"
                                  "  %v0 = tfrt.constant.i32 0\n");
  for (int i = 0; i < OPS; ++i) tfrt_string_builder_append_format(&text, op, i + 1, i);
  tfrt_string_builder_append_format(&text, "  tfrt.return %%v%d : i32\n}\n", OPS);
  tfrt_bench_host_t host;
  ck_assert_ptr_null(tfrt_bench_host_open(&host, 0, tfrt_string_view_make(NULL, 0)));
  void* bytes = NULL;
  size_t size = 0;
  ck_assert_ptr_null(tfrt_bench_translate(tfrt_string_builder_view(&text), &bytes, &size));
  tfrt_counting_allocator_t counts;
  tfrt_counting_allocator_initialize(&counts, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&counts);
  tfrt_bef_file_t* file = NULL;
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(tfrt_bef_file_create(bytes, size, allocator, &file));
  ck_assert_ptr_null(tfrt_program_create(file, host.host->registry, allocator, &program));
  tfrt_bef_file_release(file);
  const tfrt_allocation_counts_t found = tfrt_counting_allocator_counts(&counts);
  tfrt_program_release(program);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&counts).current_bytes, 0);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  tfrt_bench_host_close(&host);
  tfrt_string_builder_deinitialize(&text);
  const double fixed = (double)size + SLACK_BYTES;
  return (loaded_t){((double)found.current_bytes - fixed) / OPS,
                    ((double)found.max_bytes - fixed) / OPS};
}

#define EXPECT_AT_MOST(FIGURE, MOST) \
  ck_assert_msg((FIGURE) <= (MOST), #FIGURE " is %.1f, more than %.1f", (FIGURE), (double)(MOST))

static const char kFunction[] =
    "func.func @inc(%a: i32) -> i32 {\n"
    "  %o = tfrt.constant.i32 1\n"
    "  %b = tfrt.add.i32 %a, %o\n"
    "  tfrt.return %b : i32\n"
    "}\n";

// The place of its record takes 4 bytes, its uses 4, its site 16, its step 8, the step's slots
// 16, the flags of its register 1.
START_TEST(an_add_takes_its_site_its_step_and_its_register) {
  const loaded_t add = load("", "  %%v%d = tfrt.add.i32 %%v%d, %%c\n");
  EXPECT_AT_MOST(add.op_bytes, 50);
  EXPECT_AT_MOST(add.peak_op_bytes, 66);
}
END_TEST

// Calls of one function share what they are bound to. They have 9 bytes more, and 4 for a stream.
START_TEST(a_call_takes_little_more) {
  const loaded_t call = load(kFunction, "  %%v%d = tfrt.call @inc(%%v%d) : (i32) -> (i32)\n");
  EXPECT_AT_MOST(call.op_bytes, 62);
  EXPECT_AT_MOST(call.peak_op_bytes, 78);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("program_memory");
  TCase* cases = tcase_create("program_memory");
  tcase_add_test(cases, an_add_takes_its_site_its_step_and_its_register);
  tcase_add_test(cases, a_call_takes_little_more);
  suite_add_tcase(suite, cases);
  return suite;
}
