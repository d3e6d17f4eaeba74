// SPDX-License-Identifier: Apache-2.0
//
// Runs ops one by one from C: a matrix product, what is negative in it cut off, and its
// softmax; then the same three as one composite op, a function of a program.
//
//   eager LAYER.bef
//
// LAYER.bef is layer.mlir, translated. The last line is what an error looks like.
#include <stdio.h>

#include "embedding/tfrt.h"

// A process that can run ops: made once.
typedef struct runtime_s {
  tfrt_host_context_t* host;
  tfrt_request_context_t* request;
  tfrt_execution_context_t context;
} runtime_t;

static tfrt_status_t open_runtime(runtime_t* runtime) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_inline_work_queue_create(system, &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(system, tfrt_clock_system(), queue, &runtime->host));
  TFRT_RETURN_IF_ERROR(tfrt_standard_kernels_register(runtime->host->registry));
  tfrt_request_options_t options = tfrt_request_options_default();
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, system, &runtime->request));
  runtime->context = tfrt_host_context_execution(runtime->host, runtime->request);
  return NULL;
}

static void close_runtime(runtime_t* runtime) {
  tfrt_request_context_release(runtime->request);
  tfrt_host_context_free(runtime->host);
}

// --- Tensors -------------------------------------------------------------------------

// Sets |*out_tensor| to a tensor of |rows| times |columns| numbers: the op that makes it gets
// them as an attribute.
static tfrt_status_t make_matrix(runtime_t* runtime, int64_t rows, int64_t columns,
                                 const float* numbers, tfrt_async_value_t** out_tensor) {
  int64_t dims[] = {rows, columns};
  tfrt_eager_attribute_t value = tfrt_eager_attribute_dense(
      "value", TFRT_BEF_DTYPE_F32, dims, 2, numbers, (size_t)(rows * columns) * sizeof(*numbers));
  tfrt_eager_op_options_t options = {.name = "tfrt_tensor.constant",
                                     .attributes = &value,
                                     .attribute_count = 1,
                                     .place = TFRT_EAGER_HERE};
  return tfrt_eager_run(&runtime->context, &options, NULL, 0, out_tensor, 1);
}

// Waits for |value| and prints it, or the error that it is, behind |name|.
static void print_value(runtime_t* runtime, const char* name, tfrt_async_value_t* value) {
  tfrt_work_queue_await(runtime->host->work_queue, &value, 1);
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  if (tfrt_async_value_is_error(resolved)) {
    char text[512];
    tfrt_status_format(tfrt_async_value_error(resolved), text, sizeof(text));
    printf("%s: %s\n", name, text);
    return;
  }
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(resolved);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_dense_host_tensor_print(&tensor->dense, &text);
  printf("%s: %s\n", name, tfrt_string_builder_text(&text));
  tfrt_string_builder_deinitialize(&text);
}

// --- Op by op ------------------------------------------------------------------------

// Runs one op that gives one value.
static tfrt_status_t run(runtime_t* runtime, const char* name, tfrt_eager_place_t place,
                         tfrt_async_value_t* const* arguments, uint32_t count,
                         tfrt_async_value_t** out_result) {
  tfrt_eager_op_options_t options = {.name = name, .place = place};
  return tfrt_eager_run(&runtime->context, &options, arguments, count, out_result, 1);
}

// No op waits for the one before it: what it gets is a value that may still be made.
static tfrt_status_t run_ops(runtime_t* runtime, tfrt_async_value_t* const* matrices) {
  tfrt_async_value_t* product = NULL;
  tfrt_async_value_t* positive = NULL;
  tfrt_async_value_t* result = NULL;
  tfrt_status_t status = run(runtime, "tfrt_tensor.matmul", TFRT_EAGER_HERE, matrices, 2, &product);
  if (!status) status = run(runtime, "tfrt_tensor.relu", TFRT_EAGER_HERE, &product, 1, &positive);
  if (!status) status = run(runtime, "tfrt_tensor.softmax", TFRT_EAGER_HERE, &positive, 1, &result);
  if (!status) {
    print_value(runtime, "matmul", product);
    print_value(runtime, "relu", positive);
    print_value(runtime, "softmax", result);
  }
  tfrt_async_value_release(result);
  tfrt_async_value_release(positive);
  tfrt_async_value_release(product);
  return status;
}

// A handle is made once and run often; a run borrows its arguments.
static tfrt_status_t add_many_times(runtime_t* runtime) {
  tfrt_eager_op_options_t options = {.name = "tfrt.add.i32", .place = TFRT_EAGER_HERE};
  tfrt_eager_op_t* add = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_eager_op_create(runtime->host->registry, &options, &add));
  tfrt_async_value_t* sum = tfrt_async_value_create_i32(0);
  tfrt_status_t status = NULL;
  for (int32_t i = 1; i <= 100 && !status; ++i) {
    tfrt_async_value_t* arguments[] = {sum, tfrt_async_value_create_i32(i)};
    sum = NULL;
    status = tfrt_eager_op_run(add, &runtime->context, arguments, 2, &sum, 1);
    for (int k = 0; k < 2; ++k) tfrt_async_value_release(arguments[k]);
  }
  if (!status) printf("1 + 2 + ... + 100: %d\n", *(const int32_t*)tfrt_async_value_payload(sum));
  tfrt_async_value_release(sum);
  tfrt_eager_op_release(add);
  return status;
}

// --- A function as an op ---------------------------------------------------------------

static tfrt_status_t load_program(runtime_t* runtime, const char* path,
                                  tfrt_program_t** out_program) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, system);
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = NULL;
  FILE* stream = fopen(path, "rb");
  if (stream) {
    for (int byte; (byte = fgetc(stream)) != EOF;) {
      tfrt_string_builder_append_char(&bytes, (char)byte);
    }
    fclose(stream);
    status = tfrt_bef_file_create(bytes.data, bytes.size, system, &file);
  } else {
    status = tfrt_status_create(TFRT_STATUS_NOT_FOUND, "%s can't be read", path);
  }
  if (!status) status = tfrt_program_create(file, runtime->host->registry, system, out_program);
  tfrt_bef_file_release(file);
  tfrt_string_builder_deinitialize(&bytes);
  return status;
}

static tfrt_status_t run_layer(runtime_t* runtime, const char* path,
                               tfrt_async_value_t* const* matrices) {
  tfrt_program_t* program = NULL;
  TFRT_RETURN_IF_ERROR(load_program(runtime, path, &program));
  tfrt_eager_op_t* layer = NULL;
  tfrt_status_t status = tfrt_eager_op_create_composite(program, "layer", &layer);
  tfrt_program_release(program);  // the handle has it
  if (status) return status;
  printf("@%s takes %u arguments: %s, %s\n", tfrt_eager_op_name(layer),
         tfrt_eager_op_argument_count(layer), tfrt_eager_op_argument_type(layer, 0),
         tfrt_eager_op_argument_type(layer, 1));
  tfrt_async_value_t* result = NULL;
  status = tfrt_eager_op_run(layer, &runtime->context, matrices, 2, &result, 1);
  if (!status) print_value(runtime, "@layer", result);
  tfrt_async_value_release(result);
  tfrt_eager_op_release(layer);
  return status;
}

// ---------------------------------------------------------------------------------------

// Two matrices that don't fit: the result is the error, with the place of this line.
static tfrt_status_t run_mistake(runtime_t* runtime, tfrt_async_value_t* matrix) {
  tfrt_async_value_t* matrices[] = {matrix, matrix};
  tfrt_async_value_t* result = NULL;
  TFRT_RETURN_IF_ERROR(run(runtime, "tfrt_tensor.matmul", TFRT_EAGER_HERE, matrices, 2, &result));
  print_value(runtime, "mistake", result);
  tfrt_async_value_release(result);
  return NULL;
}

static tfrt_status_t run_all(runtime_t* runtime, const char* path) {
  static const float input[] = {1, 2, 3, 100, -5, 100};
  static const float weights[] = {1, 0, 0, 2, 1, 0};
  tfrt_async_value_t* matrices[2] = {NULL, NULL};
  tfrt_status_t status = make_matrix(runtime, 2, 3, input, &matrices[0]);
  if (!status) status = make_matrix(runtime, 3, 2, weights, &matrices[1]);
  if (!status) status = run_ops(runtime, matrices);
  if (!status) status = add_many_times(runtime);
  if (!status) status = run_layer(runtime, path, matrices);
  if (!status) status = run_mistake(runtime, matrices[0]);
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(matrices[i]);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: eager LAYER.bef\n");
    return 2;
  }
  runtime_t runtime = {0};
  tfrt_status_t status = open_runtime(&runtime);
  if (!status) status = run_all(&runtime, argv[1]);
  close_runtime(&runtime);
  if (!status) return 0;
  char text[512];
  tfrt_status_format(status, text, sizeof(text));
  fprintf(stderr, "eager: %s\n", text);
  tfrt_status_release(status);
  return 1;
}
