// SPDX-License-Identifier: Apache-2.0
//
// A kernel library that brings what programs need without knowing of it: a type of tensors with a
// conversion, and a file system; and that works in the queue without tasks of its own.
#include <string.h>

#include "embedding/kernel_library.h"

// --- The type "RangeHost": start, start + 1, ... ; only the start is kept ------------------------

static void range_destroy(tfrt_foreign_tensor_t* tensor) {
  tfrt_allocator_free(tfrt_allocator_system(), tensor->data, sizeof(int32_t));
}

static void range_print(const tfrt_foreign_tensor_t* tensor, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "RangeHostTensor shape = %s, start = %d",
                                    tfrt_shape_text(&tensor->shape).text,
                                    *(const int32_t*)tensor->data);
}

static const tfrt_tensor_type_t range_type = {{"RangeHost", ""}, range_destroy, range_print};

// The trace shows a scope for each range, beside the kernel itself.
static void range_trace(tfrt_kernel_frame_t* frame, int64_t begin_ns) {
  const tfrt_request_options_t* options = &frame->context->request->options;
  if (!options->trace) return;
  tfrt_trace_add(options->trace, "range", "a range", begin_ns,
                 tfrt_clock_now_ns(frame->context->host->clock), options->id);
}

static void range_make(tfrt_kernel_frame_t* frame) {
  int64_t begin_ns = tfrt_clock_now_ns(frame->context->host->clock);
  const int64_t dims[] = {tfrt_kernel_frame_i32(frame, 1)};
  tfrt_foreign_tensor_t tensor = {.type = &range_type, .dtype = TFRT_DTYPE_I32};
  tfrt_status_t status = tfrt_shape_make(dims, 1, &tensor.shape);
  if (!status) {
    int32_t* start = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*start));
    if (!start) {
      status = tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a range");
    } else {
      *start = tfrt_kernel_frame_i32(frame, 0);
      tensor.data = start;
      tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_foreign_tensor_take(&tensor));
    }
  }
  if (status) tfrt_kernel_frame_fail_take(frame, status);
  range_trace(frame, begin_ns);
}

// A conversion in the queue: the blocks of the tensor are filled in parallel.
typedef struct range_fill_s {
  tfrt_async_value_t* range;  // +1
  tfrt_dense_host_tensor_t dense;
  tfrt_work_queue_t* queue;
} range_fill_t;

static tfrt_async_value_t* range_fill_block(void* argument, size_t start, size_t end) {
  const range_fill_t* fill = (const range_fill_t*)argument;
  const tfrt_host_tensor_t* range = tfrt_async_value_payload(fill->range);
  int32_t* elements = tfrt_dense_host_tensor_data(&fill->dense);
  int32_t first = *(const int32_t*)range->foreign.data;
  for (size_t i = start; i < end; ++i) elements[i] = first + (int32_t)i;
  return NULL;
}

// When all blocks have ended; there is nothing that could fail in them.
static tfrt_async_value_t* range_filled(void* argument) {
  range_fill_t* fill = (range_fill_t*)argument;
  tfrt_async_value_t* result = tfrt_async_value_create_tensor_take(&fill->dense);
  tfrt_async_value_release(fill->range);
  tfrt_allocator_free(tfrt_allocator_system(), fill, sizeof(*fill));
  return result;
}

// Makes the tensor of |argument| in the queue.
static tfrt_async_value_t* range_run(void* argument) {
  range_fill_t* fill = (range_fill_t*)argument;
  tfrt_async_value_t* filled = NULL;
  size_t count = (size_t)tfrt_dense_host_tensor_element_count(&fill->dense);
  tfrt_status_t status =
      tfrt_parallel_for(fill->queue, count, tfrt_block_sizes_min(2), range_fill_block, fill,
                        tfrt_allocator_system(), &filled);
  if (status) {
    // No block has run: it is done here, in one.
    tfrt_status_release(status);
    range_fill_block(fill, 0, count);
    return range_filled(fill);
  }
  tfrt_async_value_t* result = NULL;
  status = tfrt_work_queue_run_after(fill->queue, filled, range_filled, fill,
                                     tfrt_allocator_system(), &result);
  tfrt_async_value_release(filled);
  return status ? tfrt_async_value_create_error_take(status) : result;
}

static tfrt_async_value_t* range_to_dense(tfrt_async_value_t* value,
                                          const tfrt_tensor_conversion_context_t* context) {
  const tfrt_host_tensor_t* range = tfrt_async_value_payload(value);
  range_fill_t* fill = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*fill));
  if (!fill) return tfrt_async_value_out_of_memory();
  tfrt_async_value_t* result = NULL;
  tfrt_status_t status = tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &range->foreign.shape,
                                                           context->allocator, &fill->dense);
  if (!status) {
    fill->queue = context->work_queue;
    fill->range = tfrt_async_value_retain(value);
    status = tfrt_work_queue_run(fill->queue, range_run, fill, tfrt_allocator_system(), &result);
  }
  if (!status) return result;
  tfrt_async_value_release(fill->range);
  tfrt_dense_host_tensor_deinitialize(&fill->dense);
  tfrt_allocator_free(tfrt_allocator_system(), fill, sizeof(*fill));
  return tfrt_async_value_create_error_take(status);
}

static tfrt_tensor_conversion_t range_conversion = {.from = &range_type, .convert = range_to_dense};

// --- The file system "greetings": each file is a greeting of the person that its name says -------

static tfrt_status_t greetings_read(const char* path, tfrt_file_contents_t* out_contents) {
  if (strlen(path) == 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is nobody to greet");
  }
  TFRT_RETURN_IF_ERROR(tfrt_file_contents_append(out_contents, "func.func @", 11));
  TFRT_RETURN_IF_ERROR(tfrt_file_contents_append(out_contents, path, strlen(path)));
  static const char body[] = "() {\n  tfrt.return\n}\n";
  return tfrt_file_contents_append(out_contents, body, strlen(body));
}

static const tfrt_file_system_t greetings = {
    {"greetings", "://PATH"}, greetings_read, tfrt_file_system_refuse_write};

// --- The library ---------------------------------------------------------------------------------

static const tfrt_operand_descriptor_t start_and_length[] = {
    {"start", "i32", TFRT_OPERAND_DEMANDED}, {"length", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t tensor[] = {{"range", "!tfrt_tensor.tensor"}};

static const tfrt_kernel_descriptor_t ops[] = {{.name = "range.make",
                                                .summary = "So many numbers from a start on.",
                                                .assembly = "operands",
                                                TFRT_OPERANDS(start_and_length),
                                                TFRT_RESULTS(tensor)}};

static const tfrt_kernel_registration_t kernels[] = {{"range.make", range_make}};

static tfrt_status_t set_up(void) {
  range_conversion.to = tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_DENSE);
  TFRT_RETURN_IF_ERROR(tfrt_tensor_type_register(&range_type));
  TFRT_RETURN_IF_ERROR(tfrt_tensor_conversion_register(&range_conversion));
  return tfrt_file_system_register(&greetings);
}

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("providers"),
    TFRT_KERNEL_LIBRARY_OPS(ops),
    TFRT_KERNEL_LIBRARY_KERNELS(kernels),
    .set_up = set_up,
};
