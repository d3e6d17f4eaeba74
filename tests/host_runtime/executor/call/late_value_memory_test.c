// SPDX-License-Identifier: Apache-2.0
//
// Values that come later than their kernel ends take memory one after the other, and none of it is
// missed without an error.
#include "host_runtime/async/value_storage.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/string_builder.h"
#include "tests/bench/bench_host.h"
#include "tests/support/test_main.h"

// A chain of this many kernels has a slab of two blocks.
#define LINKS 14000

// Registers, counters, links and uses: what a call has for each kernel, whatever waits.
#define SLAB_BYTES_OF_LINK 20

// Blocks that are alive at once beside the slab: values, tasks, waiters.
#define FEW_BLOCKS 40

static tfrt_counting_allocator_t counts;
static tfrt_bench_host_t host;

// Opens |host| with @main, of a result, whose body is |body|, and lets |counts| have all memory of
// calls and values.
static void open(int threads, const tfrt_string_builder_t* body) {
  tfrt_counting_allocator_initialize(&counts, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_value_storage_use(tfrt_counting_allocator_interface(&counts));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_text(&text, "func.func @main() -> i32 {\n");
  tfrt_string_builder_append_view(&text, tfrt_string_builder_view(body));
  tfrt_string_builder_append_text(&text, "}\n");
  ck_assert_ptr_null(tfrt_bench_host_open(&host, threads, tfrt_string_builder_view(&text)));
  tfrt_string_builder_deinitialize(&text);
}

static const char kBegin[] =
    "  %c = tfrt.constant.i32 1\n"
    "  %v0 = tfrt.constant.i32 0\n";

// Each link waits for the one before.
static void append_chain(tfrt_string_builder_t* body, int count) {
  tfrt_string_builder_append_text(body, kBegin);
  for (int i = 0; i < count; ++i) {
    tfrt_string_builder_append_format(
        body, "  %%v%d = \"tfrt_test.async_add.i32\"(%%v%d, %%c) : (i32, i32) -> i32\n", i + 1, i);
  }
  tfrt_string_builder_append_format(body, "  tfrt.return %%v%d : i32\n", count);
}

// Late values that wait for no other one, and their sum.
static void append_sum(tfrt_string_builder_t* body, int count) {
  tfrt_string_builder_append_text(body, kBegin);
  tfrt_string_builder_append_text(body, "  %s0 = tfrt.constant.i32 0\n");
  for (int i = 1; i <= count; ++i) {
    tfrt_string_builder_append_format(
        body, "  %%v%d = \"tfrt_test.async_add.i32\"(%%v0, %%c) : (i32, i32) -> i32\n", i);
  }
  for (int i = 1; i <= count; ++i) {
    tfrt_string_builder_append_format(body, "  %%s%d = tfrt.add.i32 %%s%d, %%v%d\n", i, i - 1, i);
  }
  tfrt_string_builder_append_format(body, "  tfrt.return %%s%d : i32\n", count);
}

START_TEST(late_values_that_follow_each_other_use_the_same_memory) {
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, tfrt_allocator_system());
  append_chain(&body, LINKS);
  open(_i, &body);
  const tfrt_allocation_counts_t before = tfrt_counting_allocator_counts(&counts);
  for (int round = 0; round < 2; ++round) {
    tfrt_async_value_t* result = NULL;
    tfrt_bench_host_call(&host, NULL, &result, 1);
    ck_assert_int_eq(*(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result)),
                     LINKS);
    tfrt_async_value_release(result);
  }
  const tfrt_allocation_counts_t after = tfrt_counting_allocator_counts(&counts);
  ck_assert_int_le(after.max_count, before.current_count + FEW_BLOCKS);
  ck_assert_int_le(after.max_bytes,
                   before.current_bytes + (int64_t)SLAB_BYTES_OF_LINK * LINKS + 16384);
  ck_assert_int_eq(after.current_count, before.current_count);
  tfrt_bench_host_close(&host);
  tfrt_string_builder_deinitialize(&body);
}
END_TEST

START_TEST(without_memory_for_a_late_value_its_users_get_an_error) {
  // The slab is never missed: that would cancel the request.
  enum { COUNT = 24, STEP = 40, SLAB_SIZE = 2048 };
  tfrt_string_builder_t body;
  tfrt_string_builder_initialize(&body, tfrt_allocator_system());
  append_sum(&body, COUNT);
  open(_i, &body);
  int failures = 0;
  int64_t room = SLAB_SIZE;
  bool is_done = false;
  while (!is_done) {
    const tfrt_allocation_counts_t before = tfrt_counting_allocator_counts(&counts);
    counts.limit_bytes = before.current_bytes + (room += STEP);
    tfrt_async_value_t* result = NULL;
    tfrt_bench_host_call(&host, NULL, &result, 1);
    counts.limit_bytes = TFRT_COUNTING_ALLOCATOR_UNLIMITED;
    tfrt_async_value_t* value = tfrt_async_value_resolved(result);
    is_done = !tfrt_async_value_is_error(value);
    if (is_done) {
      ck_assert_int_eq(*(const int32_t*)tfrt_async_value_payload(value), COUNT);
    } else {
      ++failures;
      ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(value)),
                       TFRT_STATUS_RESOURCE_EXHAUSTED);
    }
    tfrt_async_value_release(result);
    ck_assert_int_le(room, 1 << 20);
  }
  // Each late value was missed.
  ck_assert_int_ge(failures, COUNT);
  tfrt_bench_host_close(&host);
  tfrt_string_builder_deinitialize(&body);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("late_value_memory");
  TCase* cases = tcase_create("late_value_memory");
  // Without a thread, and with two.
  tcase_add_loop_test(cases, late_values_that_follow_each_other_use_the_same_memory, 0, 3);
  tcase_add_test(cases, without_memory_for_a_late_value_its_users_get_an_error);
  suite_add_tcase(suite, cases);
  return suite;
}
