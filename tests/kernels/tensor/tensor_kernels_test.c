// SPDX-License-Identifier: Apache-2.0
//
// The kernels as the executor calls them: through their names, with a frame.

#include "kernels/tensor/tensor_kernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/file.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/btf.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/ops/ops.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

#define MAX_VALUES 12

// --- A host, a request, and an output that remembers ---------------------------

typedef struct remembering_output_s {
  tfrt_output_t base;
  char last[512];
} remembering_output_t;

static tfrt_async_value_t* remember(tfrt_output_t* base, tfrt_string_view_t text,
                                    tfrt_call_scope_t* scope) {
  (void)scope;
  remembering_output_t* output = TFRT_CONTAINER_OF(base, remembering_output_t, base);
  ck_assert_uint_lt(text.size, sizeof(output->last));
  memcpy(output->last, text.data, text.size);
  output->last[text.size] = '\0';
  return tfrt_async_value_ready_chain();
}

static const tfrt_output_vtable_t remembering_vtable = {.print = remember};

static tfrt_counting_allocator_t books;
static remembering_output_t output = {.base.vtable = &remembering_vtable};
static tfrt_host_context_t* host;
static tfrt_request_context_t* request;
static tfrt_execution_context_t context;

static void set_up(void) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_work_queue_t* queue;
  testing_ok(tfrt_inline_work_queue_create(allocator, &queue));
  testing_ok(tfrt_host_context_allocate(allocator, tfrt_clock_system(), queue, &host));
  testing_ok(tfrt_tensor_kernels_register(host->registry));
  tfrt_request_options_t options = tfrt_request_options_default();
  options.output = &output.base;
  testing_ok(tfrt_request_context_create(&options, allocator, &request));
  context = tfrt_host_context_execution(host, request);
}

static void tear_down(void) {
  tfrt_request_context_release(request);
  tfrt_host_context_free(host);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}

// --- One call --------------------------------------------------------------------

// A call of a kernel: filled in, run once, looked at, given back.
typedef struct call_s {
  tfrt_async_value_t* arguments[MAX_VALUES];  // +1, consumed by end()
  uint32_t argument_count;
  const void* attributes[MAX_VALUES];
  uint32_t attribute_count;
  tfrt_async_value_t* results[MAX_VALUES];
  uint32_t result_count;
} call_t;

static void add_argument(call_t* call, tfrt_async_value_t* value) {
  call->arguments[call->argument_count++] = value;
}

static void add_tensor(call_t* call, tfrt_dense_host_tensor_t tensor) {
  add_argument(call, tfrt_async_value_create_tensor_take(&tensor));
}

static void add_attribute(call_t* call, const void* attribute) {
  call->attributes[call->attribute_count++] = attribute;
}

static tfrt_kernel_t find_kernel(const char* name) {
  tfrt_kernel_t kernel;
  bool is_there = tfrt_kernel_registry_find(host->registry, tfrt_string_view_of(name), &kernel);
  ck_assert_msg(is_there, "no kernel %s", name);
  return kernel;
}

// Runs the kernel |name| and waits for what it does later.
static void run(call_t* call, const char* name, uint32_t result_count) {
  tfrt_kernel_t kernel = find_kernel(name);
  ck_assert_uint_eq(kernel.descriptor->attribute_count, call->attribute_count);
  call->result_count = result_count;
  tfrt_kernel_frame_t frame = {.arguments = call->arguments,
                               .argument_count = call->argument_count,
                               .results = call->results,
                               .result_count = result_count,
                               .attributes = call->attributes,
                               .attribute_count = call->attribute_count,
                               .context = &context};
  kernel.function(&frame);
  for (uint32_t i = 0; i < result_count; ++i) ck_assert_ptr_nonnull(call->results[i]);
  tfrt_work_queue_await(host->work_queue, call->results, result_count);
}

static void end(call_t* call) {
  for (uint32_t i = 0; i < call->argument_count; ++i) tfrt_async_value_release(call->arguments[i]);
  for (uint32_t i = 0; i < call->result_count; ++i) tfrt_async_value_release(call->results[i]);
  memset(call, 0, sizeof(*call));
}

static const tfrt_dense_host_tensor_t* tensor_result(call_t* call, uint32_t index) {
  tfrt_async_value_t* value = call->results[index];
  if (tfrt_async_value_is_error(value)) {
    testing_ok(tfrt_status_retain(tfrt_async_value_error(value)));
  }
  ck_assert_uint_eq(value->type_id, tfrt_host_tensor_type_id());
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
  ck_assert_int_eq(tensor->layout, TFRT_TENSOR_LAYOUT_DENSE);
  return &tensor->dense;
}

// Expects all results to be the error, and gives the call back.
static void end_with_error(call_t* call, tfrt_status_code_t code, const char* text) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    ck_assert(tfrt_async_value_is_error(call->results[i]));
    testing_fails(tfrt_status_retain(tfrt_async_value_error(call->results[i])), code, text, NULL);
  }
  end(call);
}

// Arrays and strings as BEF has them: the count first.
typedef struct i64_array_s {
  _Alignas(8) char padding[4];
  uint32_t count;
  int64_t values[4];
} i64_array_t;

typedef struct text_attribute_s {
  uint32_t size;
  char text[200];
} text_attribute_t;

static text_attribute_t text_attribute(const char* text) {
  text_attribute_t attribute = {.size = (uint32_t)strlen(text)};
  strcpy(attribute.text, text);
  return attribute;
}

// --- Tests ------------------------------------------------------------------------

static void has_kernels(const tfrt_kernel_table_t* ops) {
  for (size_t i = 0; i < ops->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &ops->descriptors[i];
    ck_assert_ptr_eq(find_kernel(descriptor->name).descriptor, descriptor);
    for (uint32_t k = 1; k < descriptor->attribute_count; ++k) {
      ck_assert_int_lt(strcmp(descriptor->attributes[k - 1].name, descriptor->attributes[k].name),
                       0);
    }
  }
}

START_TEST(every_entry_of_the_op_tables_has_a_kernel) {
  has_kernels(&tfrt_dense_host_tensor_ops);
  has_kernels(&tfrt_sync_tensor_ops);
  has_kernels(&tfrt_test_tensor_ops);
  has_kernels(&tfrt_tensor_ops);
  has_kernels(&tfrt_core_runtime_ops);
}
END_TEST

START_TEST(a_tensor_is_created_filled_and_printed) {
  call_t call = {0};
  const i64_array_t shape = {.count = 2, .values = {2, 2}};
  add_attribute(&call, &shape.count);
  run(&call, "tfrt_dht.create_uninitialized_tensor.i32.2", 1);
  tensor_result(&call, 0);
  tfrt_async_value_t* tensor = tfrt_async_value_retain(call.results[0]);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(tensor));
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &(int32_t){1});
  run(&call, "tfrt_dht.fill_tensor_with_constant.i32", 1);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(tensor));
  add_argument(&call, tfrt_async_value_ready_chain());
  run(&call, "tfrt_dht.print_tensor", 1);
  ck_assert_str_eq(output.last,
                   "DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]");
  end(&call);
  add_argument(&call, tfrt_async_value_retain(tensor));
  add_argument(&call, tfrt_async_value_ready_chain());
  run(&call, "tfrt_dht.print_tensor_shape", 1);
  ck_assert_str_eq(output.last, "shape = [2, 2]");
  end(&call);
  add_argument(&call, tensor);
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &(float){1});
  run(&call, "tfrt_dht.fill_tensor_with_constant.f32", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT,
                 "dense tensor of f32, but is a DenseHostTensor of i32");
  add_attribute(&call, &shape.count);
  run(&call, "tfrt_dht.create_uninitialized_tensor.i32.3", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "2 axes");
}
END_TEST

START_TEST(values_are_set_and_compared) {
  call_t call = {0};
  const struct {
    uint32_t count;
    float values[2];
  } values = {2, {1, 2}};
  tfrt_dense_host_tensor_t zeros = testing_zeros(TFRT_DTYPE_F32, DIMS(2));
  tfrt_async_value_t* tensor = tfrt_async_value_create_tensor_take(&zeros);
  add_argument(&call, tfrt_async_value_retain(tensor));
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &values);
  run(&call, "tfrt_dht.set_tensor_with_constant_values.f32", 1);
  end(&call);
  const char* const names[] = {"tfrt_dht.tensor_equal.f32", "tfrt_dht.tensor_allclose.f32"};
  for (int i = 0; i < 2; ++i) {
    add_argument(&call, tfrt_async_value_retain(tensor));
    add_tensor(&call, testing_tensor(TFRT_DTYPE_F32, values.values, DIMS(2)));
    add_argument(&call, tfrt_async_value_ready_chain());
    run(&call, names[i], 2);
    ck_assert(*(bool*)tfrt_async_value_payload(call.results[0]));
    end(&call);
  }
  tfrt_dense_host_tensor_t three = testing_zeros(TFRT_DTYPE_F32, DIMS(3));
  add_argument(&call, tfrt_async_value_create_tensor_take(&three));
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &values);
  run(&call, "tfrt_dht.set_tensor_with_constant_values.f32", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "2, but expected 3");
  tfrt_async_value_release(tensor);
}
END_TEST

START_TEST(a_budget_that_is_out_says_so_in_the_reference_words) {
  tfrt_counting_allocator_t small;
  tfrt_counting_allocator_initialize(&small, tfrt_allocator_system(), 1024);
  tfrt_allocator_t before = host->allocator;
  host->allocator = tfrt_counting_allocator_interface(&small);
  call_t call = {0};
  const i64_array_t few = {.count = 1, .values = {32}};
  const i64_array_t many = {.count = 1, .values = {1024}};
  add_attribute(&call, &few.count);
  run(&call, "tfrt_dht.create_uninitialized_tensor.f32.1", 1);
  tensor_result(&call, 0);
  // The reference's number for 32 floats: its tests read it.
  ck_assert_int_eq(tfrt_counting_allocator_counts(&small).current_bytes, 192);
  end(&call);
  add_attribute(&call, &many.count);
  run(&call, "tfrt_dht.create_uninitialized_tensor.f32.1", 1);
  end_with_error(&call, TFRT_STATUS_RESOURCE_EXHAUSTED, "Cannot allocate tensor");
  host->allocator = before;
}
END_TEST

START_TEST(shapes_are_built_compared_and_printed) {
  call_t call = {0};
  const i64_array_t dims = {.count = 3, .values = {1, 57, 92}};
  add_attribute(&call, &dims.count);
  run(&call, "ts.build_shape", 1);
  tfrt_async_value_t* shape = tfrt_async_value_retain(call.results[0]);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(shape));
  add_argument(&call, tfrt_async_value_ready_chain());
  run(&call, "ts.print_shape", 1);
  ck_assert_str_eq(output.last, "shape = [1, 57, 92]");
  end(&call);
  add_argument(&call, tfrt_async_value_retain(shape));
  run(&call, "ts.get_num_elements", 1);
  ck_assert_int_eq(*(int64_t*)tfrt_async_value_payload(call.results[0]), 57 * 92);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(shape));
  add_argument(&call, shape);
  run(&call, "ts.equal_shape", 1);
  ck_assert(*(bool*)tfrt_async_value_payload(call.results[0]));
  end(&call);
  const i64_array_t bad = {.count = 1, .values = {-4}};
  add_attribute(&call, &bad.count);
  run(&call, "ts.build_shape", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "-4");
}
END_TEST

START_TEST(buffers_are_made_cut_and_become_tensors) {
  call_t call = {0};
  add_argument(&call, tfrt_async_value_create_i64(16));
  add_argument(&call, tfrt_async_value_create_i64(8));
  run(&call, "tfrt_dht.allocate_buffer", 1);
  tfrt_async_value_t* buffer = tfrt_async_value_retain(call.results[0]);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(buffer));
  add_argument(&call, tfrt_async_value_create_i64(8));
  add_argument(&call, tfrt_async_value_create_i64(8));
  run(&call, "tfrt_dht.get_buffer_slice", 1);
  tfrt_async_value_t* slice = tfrt_async_value_retain(call.results[0]);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(buffer));
  add_argument(&call, tfrt_async_value_create_i64(-8));
  add_argument(&call, tfrt_async_value_create_i64(8));
  run(&call, "tfrt_dht.get_buffer_slice", 1);
  end_with_error(&call, TFRT_STATUS_OUT_OF_RANGE, "slice");
  tfrt_shape_t two = testing_shape(DIMS(2));
  add_argument(&call, tfrt_async_value_retain(slice));
  add_argument(&call, tfrt_async_value_create_shape(&two));
  add_argument(&call, tfrt_async_value_ready_chain());
  run(&call, "tfrt_dht.make_tensor.f32", 2);
  ck_assert_uint_eq(tfrt_dense_host_tensor_size(tensor_result(&call, 0)), 8);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(buffer));
  add_argument(&call, tfrt_async_value_create_shape(&two));
  add_argument(&call, tfrt_async_value_ready_chain());
  run(&call, "tfrt_dht.make_tensor.f32", 2);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "buffer_size (16)");
  tfrt_async_value_release(buffer);
  tfrt_async_value_release(slice);
}
END_TEST

// Multiplies [rows, 64] by [64, 64].
static void start_product(call_t* call, int64_t rows) {
  uint64_t seed = 5;
  add_tensor(call, testing_random(&seed, DIMS(rows, 64)));
  add_tensor(call, testing_random(&seed, DIMS(64, 64)));
}

START_TEST(long_computations_are_queued_and_short_ones_are_not) {
  tfrt_kernel_t kernel = find_kernel("tfrt_tensor.matmul");
  const int64_t rows[] = {2, 2000};
  for (int i = 0; i < 2; ++i) {
    call_t call = {.result_count = 1};
    start_product(&call, rows[i]);
    tfrt_kernel_frame_t frame = {.arguments = call.arguments,
                                 .argument_count = 2,
                                 .results = call.results,
                                 .result_count = 1,
                                 .context = &context};
    kernel.function(&frame);
    ck_assert_int_eq(tfrt_async_value_is_available(call.results[0]), i == 0);
    tfrt_work_queue_await(host->work_queue, call.results, 1);
    ck_assert_int_eq(tensor_result(&call, 0)->shape.dims[0], rows[i]);
    end(&call);
  }
}
END_TEST

START_TEST(a_cancelled_request_does_not_start_long_computations) {
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "enough");
  tfrt_request_context_cancel(request, reason);
  tfrt_status_release(reason);
  call_t call = {0};
  start_product(&call, 2000);
  run(&call, "tfrt_tensor.matmul", 1);
  end_with_error(&call, TFRT_STATUS_CANCELLED, "enough");
}
END_TEST

START_TEST(an_error_of_a_long_computation_arrives) {
  call_t call = {0};
  start_product(&call, 2000);
  add_tensor(&call, testing_zeros(TFRT_DTYPE_F32, DIMS(63)));
  add_attribute(&call, &(bool){false});
  run(&call, "tfrt_tensor.linear", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "[63] and [64, 64]");
}
END_TEST

START_TEST(convolutions_take_their_settings_from_attributes) {
  call_t call = {0};
  uint64_t seed = 6;
  const i64_array_t padding = {.count = 2, .values = {1, 0}};
  const i64_array_t strides = {.count = 2, .values = {2, 1}};
  const i64_array_t three = {.count = 3, .values = {2, 1, 1}};
  add_tensor(&call, testing_random(&seed, DIMS(1, 2, 6, 6)));
  add_tensor(&call, testing_random(&seed, DIMS(3, 2, 3, 3)));
  add_tensor(&call, testing_random(&seed, DIMS(3)));
  add_attribute(&call, &padding.count);
  add_attribute(&call, &(bool){true});
  add_attribute(&call, &strides.count);
  run(&call, "tfrt_tensor.conv2d", 1);
  const tfrt_dense_host_tensor_t* result = tensor_result(&call, 0);
  ck_assert_str_eq(tfrt_shape_text(&result->shape).text, "[1, 3, 3, 4]");
  for (int64_t i = 0; i < 36; ++i) ck_assert_float_ge(testing_f32(result, i), 0);
  end(&call);
  add_tensor(&call, testing_random(&seed, DIMS(1, 1, 4, 4)));
  add_attribute(&call, &padding.count);
  add_attribute(&call, &strides.count);
  add_attribute(&call, &three.count);
  run(&call, "tfrt_tensor.max_pool2d", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "'window' has 3 values");
}
END_TEST

START_TEST(small_kernels_do_what_their_names_say) {
  const int64_t numbers[] = {4, 5, 6};
  call_t call = {0};
  add_tensor(&call, testing_tensor(TFRT_DTYPE_I64, numbers, DIMS(3)));
  add_argument(&call, tfrt_async_value_create_i32(1));
  add_argument(&call, tfrt_async_value_create_i32(1));
  run(&call, "tfrt_tensor.slice", 1);
  tfrt_async_value_t* five = tfrt_async_value_retain(call.results[0]);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(five));
  run(&call, "tfrt_tensor.item.i64", 1);
  ck_assert_int_eq(*(int64_t*)tfrt_async_value_payload(call.results[0]), 5);
  end(&call);
  add_argument(&call, tfrt_async_value_retain(five));
  run(&call, "tfrt_tensor.item.f32", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "i64 with the shape [1]");
  add_argument(&call, tfrt_async_value_retain(five));
  add_argument(&call, tfrt_async_value_retain(five));
  add_argument(&call, five);
  run(&call, "tfrt_tensor.concat", 1);
  testing_prints(tensor_result(&call, 0),
                 "DenseHostTensor dtype = i64, shape = [3], values = [5, 5, 5]");
  end(&call);
  add_tensor(&call, testing_tensor(TFRT_DTYPE_I64, numbers, DIMS(3)));
  add_attribute(&call, &(uint8_t){TFRT_DTYPE_F32});
  run(&call, "tfrt_tensor.cast", 1);
  ck_assert_float_eq(testing_f32(tensor_result(&call, 0), 2), 6);
  end(&call);
  add_tensor(&call, testing_tensor(TFRT_DTYPE_I64, numbers, DIMS(3)));
  add_tensor(&call, testing_tensor(TFRT_DTYPE_I64, numbers, DIMS(3)));
  run(&call, "tfrt_tensor.count_equal", 1);
  ck_assert_int_eq(*(int64_t*)tfrt_async_value_payload(call.results[0]), 3);
  end(&call);
}
END_TEST

START_TEST(lengths_are_read_and_compared) {
  call_t call = {0};
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(7, 2)));
  add_attribute(&call, &(int32_t){1});
  run(&call, "tfrt_tensor.dim", 1);
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(call.results[0]), 2);
  end(&call);
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(7, 2)));
  add_attribute(&call, &(int32_t){2});
  run(&call, "tfrt_tensor.dim", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "no axis 2");
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(7, 2)));
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(7)));
  add_attribute(&call, &(int32_t){0});
  run(&call, "tfrt_tensor.common_dim", 1);
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_payload(call.results[0]), 7);
  end(&call);
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(7, 2)));
  add_tensor(&call, testing_zeros(TFRT_DTYPE_UI8, DIMS(6)));
  add_attribute(&call, &(int32_t){0});
  run(&call, "tfrt_tensor.common_dim", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "[7, 2] and [6]");
}
END_TEST

// Writes a BTF file with one i32 tensor into the test's temporary folder.
static void write_btf(const char* path) {
  const int32_t numbers[] = {1, 2, 3, 4};
  tfrt_dense_host_tensor_t tensor = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(2, 2));
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  const tfrt_host_tensor_t whole = {.layout = TFRT_TENSOR_LAYOUT_DENSE, .dense = tensor};
  testing_ok(tfrt_btf_write(&whole, 1, &out));
  testing_ok(tfrt_file_write(path, out.data, out.size));
  tfrt_string_builder_deinitialize(&out);
  tfrt_dense_host_tensor_deinitialize(&tensor);
}

START_TEST(files_are_read_from_the_data_directory) {
  char folder[] = "/tmp/tensor_kernels_test_XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof(path), "%s/t.btf", folder);
  write_btf(path);
  host->data_directory = folder;
  call_t call = {0};
  text_attribute_t name = text_attribute("t.btf");
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &name);
  run(&call, "tfrt_tensor.read_btf", 2);
  testing_prints(tensor_result(&call, 1),
                 "DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 2, 3, 4]");
  end(&call);
  // An absolute path is taken as it is.
  add_argument(&call, tfrt_async_value_create_string(tfrt_string_view_of(path)));
  add_argument(&call, tfrt_async_value_create_i32(0));
  run(&call, "btf.read_dense_tensor.i32.2", 1);
  ck_assert_int_eq(tensor_result(&call, 0)->shape.dims[1], 2);
  end(&call);
  const char* const wrong[] = {"btf.read_dense_tensor.f32.2", "btf.read_dense_tensor.i32.1"};
  for (int i = 0; i < 2; ++i) {
    add_argument(&call, tfrt_async_value_create_string(tfrt_string_view_of("t.btf")));
    add_argument(&call, tfrt_async_value_create_i32(0));
    run(&call, wrong[i], 1);
    end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "t.btf: tensor 0 should be");
  }
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &name);
  run(&call, "tfrt_tensor.read_btf", 3);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "1 tensors, but 2 are asked for");
  unlink(path);
  host->data_directory = NULL;
  rmdir(folder);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_an_error_with_its_path) {
  call_t call = {0};
  text_attribute_t name = text_attribute("no/such/file.btf");
  add_argument(&call, tfrt_async_value_ready_chain());
  add_attribute(&call, &name);
  run(&call, "tfrt_tensor.read_btf", 4);
  end_with_error(&call, TFRT_STATUS_NOT_FOUND, "no/such/file.btf");
  add_argument(&call, tfrt_async_value_create_string(tfrt_string_view_of("x")));
  add_argument(&call, tfrt_async_value_create_i32(-1));
  run(&call, "btf.read_dense_tensor.i32.2", 1);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "tensor -1");
}
END_TEST

// Prints |format| with a chain and the values up to NULL (+1 each).
static void print(call_t* call, const char* format, ...) {
  text_attribute_t attribute = text_attribute(format);
  add_argument(call, tfrt_async_value_ready_chain());
  va_list values;
  va_start(values, format);
  for (tfrt_async_value_t* value; (value = va_arg(values, tfrt_async_value_t*)) != NULL;) {
    add_argument(call, value);
  }
  va_end(values);
  add_attribute(call, &attribute);
  run(call, "tfrt.print_text", 1);
}

START_TEST(text_is_printed_with_values) {
  call_t call = {0};
  print(&call, "accuracy: %.2f %% (%d of %d)", tfrt_async_value_create_f64(98.7),
        tfrt_async_value_create_i32(987), tfrt_async_value_create_i64(1000), NULL);
  ck_assert_str_eq(output.last, "accuracy: 98.70 % (987 of 1000)");
  end(&call);
  print(&call, "[%5d|%-5d|%05d|%+d] %e %g <%6s|%-6s|%.2s> %i", tfrt_async_value_create_i32(42),
        tfrt_async_value_create_i32(42), tfrt_async_value_create_i32(42),
        tfrt_async_value_create_i32(42), tfrt_async_value_create_f32(1.5f),
        tfrt_async_value_create_f64(0.25),
        tfrt_async_value_create_string(tfrt_string_view_of("abc")),
        tfrt_async_value_create_string(tfrt_string_view_of("abc")),
        tfrt_async_value_create_string(tfrt_string_view_of("abc")),
        tfrt_async_value_create_i1(true), NULL);
  ck_assert_str_eq(output.last, "[   42|42   |00042|+42] 1.500000e+00 0.25 <   abc|abc   |ab> 1");
  end(&call);
  print(&call, "", NULL);
  ck_assert_str_eq(output.last, "");
  end(&call);
  print(&call, "%d", tfrt_async_value_create_copy(TFRT_TYPE_UI64, &(uint64_t){UINT64_MAX}, 8),
        NULL);
  ck_assert_str_eq(output.last, "18446744073709551615");
  end(&call);
}
END_TEST

START_TEST(formats_that_do_not_fit_their_values_are_refused) {
  call_t call = {0};
  print(&call, "%d", tfrt_async_value_create_f32(1), NULL);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "%d for value 0, which is of type f32");
  print(&call, "%f", tfrt_async_value_create_i32(1), NULL);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "%f for value 0, which is of type i32");
  print(&call, "%s", tfrt_async_value_create_i32(1), NULL);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "%s for value 0");
  print(&call, "%d %d", tfrt_async_value_create_i32(1), NULL);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "more values than the 1");
  print(&call, "%d", tfrt_async_value_create_i32(1), tfrt_async_value_create_i32(1), NULL);
  end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "asks for 1 values, but there are 2");
  const char* const formats[] = {"%n",      "%",    "abc %",     "%*d", "%ld",  "%99999999999d",
                                 "%.9999f", "%.-3", "%-------d", "%p",  "%5$d", "% "};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(formats); ++i) {
    print(&call, formats[i], tfrt_async_value_create_i32(1), NULL);
    end_with_error(&call, TFRT_STATUS_INVALID_ARGUMENT, "something other than");
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_kernels");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, every_entry_of_the_op_tables_has_a_kernel);
  tcase_add_test(cases, a_tensor_is_created_filled_and_printed);
  tcase_add_test(cases, values_are_set_and_compared);
  tcase_add_test(cases, a_budget_that_is_out_says_so_in_the_reference_words);
  tcase_add_test(cases, shapes_are_built_compared_and_printed);
  tcase_add_test(cases, buffers_are_made_cut_and_become_tensors);
  tcase_add_test(cases, long_computations_are_queued_and_short_ones_are_not);
  tcase_add_test(cases, a_cancelled_request_does_not_start_long_computations);
  tcase_add_test(cases, an_error_of_a_long_computation_arrives);
  tcase_add_test(cases, convolutions_take_their_settings_from_attributes);
  tcase_add_test(cases, small_kernels_do_what_their_names_say);
  tcase_add_test(cases, lengths_are_read_and_compared);
  tcase_add_test(cases, files_are_read_from_the_data_directory);
  tcase_add_test(cases, a_file_that_is_not_there_is_an_error_with_its_path);
  tcase_add_test(cases, text_is_printed_with_values);
  tcase_add_test(cases, formats_that_do_not_fit_their_values_are_refused);
  Suite* suite = suite_create("tensor_kernels");
  suite_add_tcase(suite, cases);
  return suite;
}
