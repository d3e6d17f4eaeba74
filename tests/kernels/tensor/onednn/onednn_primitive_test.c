// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_primitive.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"
#include "kernels/tensor/math/matmul.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

// oneDNN has variables of its own for each thread, whose memory the loader takes. AddressSanitizer
// looks for the size of that memory in front of it, where a thread that has ended may have left
// anything, and LeakSanitizer then reads where nothing is. Without that look the memory is found as
// any other is. Source: compiler-rt 14, sanitizer_common/sanitizer_tls_get_addr.cpp.
__attribute__((visibility("default"))) const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "intercept_tls_get_addr=0"; }

// The number of threads that this process has.
static int thread_count(void) {
  DIR* folder = opendir("/proc/self/task");
  ck_assert_ptr_nonnull(folder);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void multiply(int64_t rows, int64_t inner) {
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(rows, inner));
  tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, DIMS(inner, 64));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_matmul(&a, &b, NULL, false, tfrt_allocator_system(), &result));
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&result);
}

START_TEST(a_primitive_is_built_once_and_the_cache_is_bounded) {
  multiply(3, 4);
  size_t size = tfrt_onednn_cache_size();
  multiply(3, 4);
  ck_assert_uint_eq(tfrt_onednn_cache_size(), size);
  for (int64_t rows = 1; rows < 2 * TFRT_ONEDNN_CACHE_CAPACITY; ++rows) multiply(rows, 5);
  ck_assert_uint_eq(tfrt_onednn_cache_size(), TFRT_ONEDNN_CACHE_CAPACITY);
  multiply(3, 4);
  ck_assert_uint_eq(tfrt_onednn_cache_size(), TFRT_ONEDNN_CACHE_CAPACITY);
}
END_TEST

static void multiply_often(void* seen) {
  for (int64_t i = 0; i < 20; ++i) multiply(200 + i % 3, 300);
  *(int*)seen = thread_count();
}

static void do_nothing(void* argument) { (void)argument; }

// Large products, so that the library would like helpers; more threads than ours would show.
START_TEST(no_thread_is_started_behind_our_back) {
  tfrt_thread_t threads[4];
  int seen[4];
  // A sanitizer starts a thread of its own with our first one.
  testing_ok(tfrt_thread_create("first", do_nothing, NULL, &threads[0]));
  tfrt_thread_join(&threads[0]);
  int before = thread_count();
  for (size_t i = 0; i < 4; ++i) {
    testing_ok(tfrt_thread_create("multiplier", multiply_often, &seen[i], &threads[i]));
  }
  for (size_t i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
  for (size_t i = 0; i < 4; ++i) ck_assert_int_le(seen[i], before + 4);
  multiply(200, 300);
  ck_assert_int_le(thread_count(), before);
}
END_TEST

static void fill(tfrt_dense_host_tensor_t* tensor, float value) {
  float* data = tfrt_dense_host_tensor_data(tensor);
  for (int64_t i = 0; i < tfrt_shape_element_count(&tensor->shape); ++i) data[i] = value;
}

// Products of one shape, so runs of one primitive, each time in other memory.
static void multiply_values(void* factor) {
  const float of_thread = *(const float*)factor;
  for (int i = 0; i < 50; ++i) {
    tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(8, 16));
    tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, DIMS(16, 8));
    fill(&a, of_thread);
    fill(&b, (float)i);
    tfrt_dense_host_tensor_t result;
    testing_ok(tfrt_tensor_matmul(&a, &b, NULL, false, tfrt_allocator_system(), &result));
    const float* data = tfrt_dense_host_tensor_data(&result);
    for (int k = 0; k < 64; ++k) ck_assert_float_eq(data[k], 16 * of_thread * (float)i);
    tfrt_dense_host_tensor_deinitialize(&a);
    tfrt_dense_host_tensor_deinitialize(&b);
    tfrt_dense_host_tensor_deinitialize(&result);
  }
}

START_TEST(runs_of_one_primitive_at_once_have_their_own_arguments) {
  tfrt_thread_t threads[4];
  float factors[4];
  for (size_t i = 0; i < 4; ++i) {
    factors[i] = (float)(i + 1);
    testing_ok(tfrt_thread_create("multiplier", multiply_values, &factors[i], &threads[i]));
  }
  for (size_t i = 0; i < 4; ++i) tfrt_thread_join(&threads[i]);
}
END_TEST

static void multiply_many(void* argument) {
  (void)argument;
  for (int64_t rows = 1; rows < 2 * TFRT_ONEDNN_CACHE_CAPACITY; ++rows) multiply(rows, 6);
}

START_TEST(a_thread_keeps_a_primitive_that_has_left_the_cache) {
  float factor = 2;
  multiply_values(&factor);
  tfrt_thread_t other;
  testing_ok(tfrt_thread_create("multiplier", multiply_many, NULL, &other));
  tfrt_thread_join(&other);
  size_t size = tfrt_onednn_cache_size();
  multiply_values(&factor);
  ck_assert_uint_eq(tfrt_onednn_cache_size(), size);
}
END_TEST

// Products that differ in the bias and the cut: a thread has fewer places for them than there are.
START_TEST(keys_that_share_places_take_turns) {
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(4, 4));
  tfrt_dense_host_tensor_t bias = testing_zeros(TFRT_DTYPE_F32, DIMS(4));
  fill(&a, -1);
  fill(&bias, 100);
  for (int i = 0; i < 12; ++i) {
    tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, DIMS(4, 4));
    fill(&b, (float)(i + 1));
    const bool is_cut = i % 2 != 0;
    const bool has_bias = i % 3 != 0;
    float expected = (has_bias ? 100.0f : 0.0f) - 4 * (float)(i + 1);
    if (is_cut && expected < 0) expected = 0;
    tfrt_dense_host_tensor_t result;
    testing_ok(tfrt_tensor_matmul(&a, &b, has_bias ? &bias : NULL, is_cut, tfrt_allocator_system(),
                                  &result));
    const float* data = tfrt_dense_host_tensor_data(&result);
    for (int k = 0; k < 16; ++k) ck_assert_float_eq(data[k], expected);
    tfrt_dense_host_tensor_deinitialize(&b);
    tfrt_dense_host_tensor_deinitialize(&result);
  }
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&bias);
}
END_TEST

static dnnl_status_t describe_nothing(const tfrt_onednn_key_t* key,
                                      const_dnnl_primitive_attr_t attributes, dnnl_engine_t engine,
                                      dnnl_primitive_desc_t* out_description) {
  (void)attributes;
  (void)engine;
  *out_description = NULL;
  return key->bias ? dnnl_out_of_memory : dnnl_unimplemented;
}

START_TEST(what_cannot_be_built_is_an_error_and_not_cached) {
  size_t size = tfrt_onednn_cache_size();
  const tfrt_onednn_key_t plain = {.kind = 99};
  testing_fails(tfrt_onednn_run(&plain, describe_nothing, NULL, 0, tfrt_allocator_system(), NULL),
                TFRT_STATUS_INTERNAL, "not implemented", NULL);
  const tfrt_onednn_key_t cut = {.kind = 99, .bias = 1};
  testing_fails(tfrt_onednn_run(&cut, describe_nothing, NULL, 0, tfrt_allocator_system(), NULL),
                TFRT_STATUS_RESOURCE_EXHAUSTED, "memory is out", NULL);
  ck_assert_uint_eq(tfrt_onednn_cache_size(), size);
}
END_TEST

// With one thread asked for, as the environment of tests does, a helper that we don't prevent
// would not show. The library's runtime reads that at its start, so the program starts anew.
static void ask_for_helpers(void) {
  const char* asked = getenv("OMP_NUM_THREADS");
  if (asked && strcmp(asked, "4") == 0) return;
  setenv("OMP_NUM_THREADS", "4", 1);
  execl("/proc/self/exe", "onednn_primitive_test", NULL);
  perror("onednn_primitive_test");
  abort();
}

Suite* tfrt_test_suite(void) {
  ask_for_helpers();
  TCase* cases = tcase_create("onednn_primitive");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, a_primitive_is_built_once_and_the_cache_is_bounded);
  tcase_add_test(cases, no_thread_is_started_behind_our_back);
  tcase_add_test(cases, runs_of_one_primitive_at_once_have_their_own_arguments);
  tcase_add_test(cases, a_thread_keeps_a_primitive_that_has_left_the_cache);
  tcase_add_test(cases, keys_that_share_places_take_turns);
  tcase_add_test(cases, what_cannot_be_built_is_an_error_and_not_cached);
  Suite* suite = suite_create("onednn_primitive");
  suite_add_tcase(suite, cases);
  return suite;
}
