// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_conversion.h"

#include "host_runtime/tensor/tensor_types.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

static tfrt_tensor_conversion_context_t context;

static void set_up(void) {
  context = (tfrt_tensor_conversion_context_t){.allocator = tfrt_allocator_system()};
  testing_ok(tfrt_tensor_types_register());
}

static const tfrt_tensor_type_t* named(const char* name) {
  const tfrt_tensor_type_t* type;
  testing_ok(tfrt_tensor_type_find(tfrt_string_view_of(name), &type));
  return type;
}

// Converts |value| (consumed) to the type |name|; the result must print as |text|.
static tfrt_async_value_t* converted_take(tfrt_async_value_t* value, const char* name,
                                          const char* text) {
  tfrt_async_value_t* result = tfrt_tensor_convert(value, named(name), &context);
  tfrt_async_value_release(value);
  ck_assert(tfrt_async_value_is_available(result) && !tfrt_async_value_is_error(result));
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(result);
  ck_assert_ptr_eq(tfrt_tensor_type_of(tensor), named(name));
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
  return result;
}

// Converts |value| (+0) to |type|: that must be an error.
static void refused(tfrt_async_value_t* value, const tfrt_tensor_type_t* type,
                    tfrt_status_code_t code, const char* text) {
  tfrt_async_value_t* result = tfrt_tensor_convert(value, type, &context);
  ck_assert(tfrt_async_value_is_error(result));
  testing_fails(tfrt_status_retain(tfrt_async_value_error(result)), code, text, NULL);
  tfrt_async_value_release(result);
}

START_TEST(the_built_in_ones_lead_to_dense_tensors_and_back) {
  tfrt_shape_t shape = testing_shape(DIMS(2));
  tfrt_scalar_host_tensor_t two;
  testing_ok(tfrt_scalar_host_tensor_make(TFRT_DTYPE_I32, &shape, &(int32_t){2}, &two));
  tfrt_async_value_t* value = tfrt_async_value_create_scalar_tensor(&two);
  value = converted_take(value, "DenseHost",
                         "DenseHostTensor dtype = i32, shape = [2], values = [2, 2]");
  value =
      converted_take(value, "CooHost",
                     "CooHostTensor dtype = i32, shape = [2], indices = [0, 1], values = [2, 2]\n");
  value = converted_take(value, "DenseHost",
                         "DenseHostTensor dtype = i32, shape = [2], values = [2, 2]");
  value =
      converted_take(value, "ScalarHost", "ScalarHostTensor dtype = i32, shape = [2], value = 2");
  // One of that type is itself.
  tfrt_async_value_t* same = tfrt_tensor_convert(value, named("ScalarHost"), &context);
  ck_assert_ptr_eq(same, value);
  tfrt_async_value_release(same);
  refused(value, named("CooHost"), TFRT_STATUS_UNIMPLEMENTED,
          "cannot find conversion function for [ScalarHost]->[CooHost]");
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(what_does_not_fit_is_the_error_of_the_conversion) {
  tfrt_dense_host_tensor_t dense = testing_tensor(TFRT_DTYPE_I8, (int8_t[]){1, 2}, DIMS(2));
  tfrt_async_value_t* value = tfrt_async_value_create_tensor_take(&dense);
  refused(value, named("ScalarHost"), TFRT_STATUS_INVALID_ARGUMENT, "element 1");
  tfrt_async_value_release(value);
}
END_TEST

// --- A type of somebody else: the numbers from 0 on -----------------------------------

static void destroy_range(tfrt_foreign_tensor_t* tensor) { (void)tensor; }
static void print_range(const tfrt_foreign_tensor_t* tensor, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "RangeHostTensor shape = ");
  tfrt_shape_print(&tensor->shape, out);
}
static const tfrt_tensor_type_t range = {{"RangeHost", ""}, destroy_range, print_range};

static tfrt_async_value_t* pending;

// Is there later, as what asks another machine would be.
static tfrt_async_value_t* range_to_dense(tfrt_async_value_t* value,
                                          const tfrt_tensor_conversion_context_t* conversion) {
  (void)value;
  (void)conversion;
  pending = tfrt_async_value_create_unconstructed(tfrt_host_tensor_type_id());
  return tfrt_async_value_retain(pending);
}

static const tfrt_tensor_conversion_t to_dense = {.from = &range, .convert = range_to_dense};

START_TEST(a_library_adds_conversions_which_may_take_their_time) {
  testing_ok(tfrt_tensor_type_register(&range));
  static tfrt_tensor_conversion_t conversion;
  conversion = to_dense;
  testing_fails(tfrt_tensor_conversion_register(&conversion), TFRT_STATUS_INVALID_ARGUMENT,
                "two types", NULL);
  conversion.to = named("DenseHost");
  testing_ok(tfrt_tensor_conversion_register(&conversion));
  testing_ok(tfrt_tensor_conversion_register(&conversion));
  static tfrt_tensor_conversion_t again;
  again = conversion;
  testing_fails(tfrt_tensor_conversion_register(&again), TFRT_STATUS_ALREADY_EXISTS,
                "[RangeHost]->[DenseHost]", NULL);
  again.from = named("CooHost");
  testing_fails(tfrt_tensor_conversion_register(&again), TFRT_STATUS_ALREADY_EXISTS,
                "[CooHost]->[DenseHost]", NULL);

  tfrt_foreign_tensor_t tensor = {
      .type = &range, .dtype = TFRT_DTYPE_I32, .shape = testing_shape(DIMS(2))};
  tfrt_async_value_t* value = tfrt_async_value_create_foreign_tensor_take(&tensor);
  refused(value, named("StringHost"), TFRT_STATUS_UNIMPLEMENTED, "[RangeHost]->[StringHost]");
  tfrt_async_value_t* result = tfrt_tensor_convert(value, named("DenseHost"), &context);
  ck_assert(!tfrt_async_value_is_available(result));
  tfrt_host_tensor_t* payload = tfrt_async_value_payload(pending);
  payload->layout = TFRT_TENSOR_LAYOUT_DENSE;
  payload->dense = testing_tensor(TFRT_DTYPE_I32, (int32_t[]){0, 1}, DIMS(2));
  tfrt_async_value_set_available(pending);
  tfrt_async_value_release(pending);
  testing_prints(&((tfrt_host_tensor_t*)tfrt_async_value_payload(result))->dense,
                 "DenseHostTensor dtype = i32, shape = [2], values = [0, 1]");
  tfrt_async_value_release(result);
  tfrt_async_value_release(value);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_conversion");
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_test(cases, the_built_in_ones_lead_to_dense_tensors_and_back);
  tcase_add_test(cases, what_does_not_fit_is_the_error_of_the_conversion);
  tcase_add_test(cases, a_library_adds_conversions_which_may_take_their_time);
  Suite* suite = suite_create("tensor_conversion");
  suite_add_tcase(suite, cases);
  return suite;
}
