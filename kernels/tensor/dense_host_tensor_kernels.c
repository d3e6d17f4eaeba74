// SPDX-License-Identifier: Apache-2.0
//
// Kernels that create, fill and read tensors under chains. A family of them, one per
// dtype (and rank), shares one function; each member only says which it is.

#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/compute.h"
#include "kernels/tensor/elementwise.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/printing.h"
#include "kernels/tensor/reduction.h"

#define CLOSE_ULPS 2

static tfrt_host_buffer_t* buffer_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(tfrt_host_buffer_t**)tfrt_kernel_frame_payload(frame, index);
}

// Returns true if operand |index| is of |dtype|; else fails the kernel.
static bool has_dtype(tfrt_kernel_frame_t* frame, uint32_t index, tfrt_dtype_t dtype) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, index);
  if (tensor->dtype == dtype) return true;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "operand %" PRIu32 " must be %s, but is %s with the shape %s", index,
                         tfrt_dtype_name(dtype), tfrt_dtype_name(tensor->dtype),
                         tfrt_shape_text(&tensor->shape).text);
  return false;
}

// --- Families ----------------------------------------------------------------

static void create(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  if (dims.count != rank) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "a shape with %" PRIu32
                           " axes is given, but the kernel's name says "
                           "%" PRIu32,
                           dims.count, rank);
    return;
  }
  tfrt_shape_t shape;
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_shape_make(dims.data, dims.count, &shape);
  if (!status) {
    status = tfrt_dense_host_tensor_initialize(dtype, &shape, tfrt_kernel_frame_allocator(frame),
                                               &tensor);
  }
  if (tfrt_status_code(status) == TFRT_STATUS_RESOURCE_EXHAUSTED) {
    tfrt_status_release(status);
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "Cannot allocate tensor");
  } else if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(&tensor));
  }
}

static void fill(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype)) return;
  tfrt_tensor_fill(tfrt_kernel_frame_tensor(frame, 0), frame->attributes[0]);
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void set(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype)) return;
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, 0);
  tfrt_bef_array_t values = tfrt_bef_attribute_array(frame->attributes[0]);
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  if (count != (int64_t)values.count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "Incorrect number of values for the tensor: %" PRIu32
                           ", but expected %" PRId64,
                           values.count, count);
    return;
  }
  if (count > 0) {
    memcpy(tfrt_dense_host_tensor_data(tensor), values.data, tfrt_dense_host_tensor_size(tensor));
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void make(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_host_buffer_t* buffer = buffer_argument(frame, 0);
  const tfrt_shape_t* shape = tfrt_kernel_frame_payload(frame, 1);
  size_t size;
  tfrt_status_t status = tfrt_dense_host_tensor_compute_size(dtype, shape, &size);
  if (!status && size != buffer->size) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "dht.make_tensor failed: buffer_size (%zu) is not equal to the "
                                "number of elements in shape (%s) times element size (%zu)",
                                buffer->size, tfrt_shape_text(shape).text, tfrt_dtype_size(dtype));
  }
  tfrt_dense_host_tensor_t tensor;
  if (!status) status = tfrt_dense_host_tensor_initialize_view(dtype, shape, buffer, 0, &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(&tensor));
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void equal(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype) || !has_dtype(frame, 1, dtype)) return;
  bool result = tfrt_dense_host_tensor_equal(tfrt_kernel_frame_tensor(frame, 0),
                                             tfrt_kernel_frame_tensor(frame, 1));
  tfrt_kernel_frame_set_i1(frame, 0, result);
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void all_close(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype) || !has_dtype(frame, 1, dtype)) return;
  bool result = tfrt_tensor_all_close(tfrt_kernel_frame_tensor(frame, 0),
                                      tfrt_kernel_frame_tensor(frame, 1), CLOSE_ULPS);
  tfrt_kernel_frame_set_i1(frame, 0, result);
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

// The members: suffix of the kernel's name, and dtype.
#define FOR_EACH_DTYPE(action)                                                                \
  action(bool, TFRT_DTYPE_I1) action(ui8, TFRT_DTYPE_UI8) action(ui16, TFRT_DTYPE_UI16)       \
      action(ui32, TFRT_DTYPE_UI32) action(ui64, TFRT_DTYPE_UI64) action(i8, TFRT_DTYPE_I8)   \
          action(i16, TFRT_DTYPE_I16) action(i32, TFRT_DTYPE_I32) action(i64, TFRT_DTYPE_I64) \
              action(f32, TFRT_DTYPE_F32) action(f64, TFRT_DTYPE_F64)

#define DEFINE_MEMBERS(suffix, dtype)                                                      \
  static void create_##suffix##_0(tfrt_kernel_frame_t* frame) { create(frame, dtype, 0); } \
  static void create_##suffix##_1(tfrt_kernel_frame_t* frame) { create(frame, dtype, 1); } \
  static void create_##suffix##_2(tfrt_kernel_frame_t* frame) { create(frame, dtype, 2); } \
  static void create_##suffix##_3(tfrt_kernel_frame_t* frame) { create(frame, dtype, 3); } \
  static void create_##suffix##_4(tfrt_kernel_frame_t* frame) { create(frame, dtype, 4); } \
  static void fill_##suffix(tfrt_kernel_frame_t* frame) { fill(frame, dtype); }            \
  static void make_##suffix(tfrt_kernel_frame_t* frame) { make(frame, dtype); }            \
  static void equal_##suffix(tfrt_kernel_frame_t* frame) { equal(frame, dtype); }          \
  static void all_close_##suffix(tfrt_kernel_frame_t* frame) { all_close(frame, dtype); }

FOR_EACH_DTYPE(DEFINE_MEMBERS)

static void set_i32(tfrt_kernel_frame_t* frame) { set(frame, TFRT_DTYPE_I32); }
static void set_i64(tfrt_kernel_frame_t* frame) { set(frame, TFRT_DTYPE_I64); }
static void set_f32(tfrt_kernel_frame_t* frame) { set(frame, TFRT_DTYPE_F32); }

// --- Tensors of any dtype ----------------------------------------------------

static void print_tensor(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_dense_host_tensor_print(tfrt_kernel_frame_tensor(frame, 0), &line);
  tfrt_print_line_take(frame, &line);
}

static void print_tensor_shape(tfrt_kernel_frame_t* frame) {
  tfrt_print_shape(frame, &tfrt_kernel_frame_tensor(frame, 0)->shape);
}

static void get_tensor_shape(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_shape(&tfrt_kernel_frame_tensor(frame, 0)->shape));
}

// --- Buffers -----------------------------------------------------------------

static void allocate_buffer(tfrt_kernel_frame_t* frame) {
  int64_t size = tfrt_kernel_frame_i64(frame, 0);
  int64_t alignment = tfrt_kernel_frame_i64(frame, 1);
  if (size < 0 || alignment < 1 || alignment > TFRT_HOST_BUFFER_ALIGNMENT ||
      (alignment & (alignment - 1)) != 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "cannot allocate %" PRId64 " bytes aligned to %" PRId64
                           "; the alignment must be a power of two up to %d",
                           size, alignment, TFRT_HOST_BUFFER_ALIGNMENT);
    return;
  }
  tfrt_host_buffer_t* buffer;
  tfrt_status_t status =
      tfrt_host_buffer_create((size_t)size, tfrt_kernel_frame_allocator(frame), &buffer);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_host_buffer_take(buffer));
}

// Makes result 0 of |frame| a slice of |buffer|.
static void set_slice(tfrt_kernel_frame_t* frame, tfrt_host_buffer_t* buffer, size_t offset,
                      size_t size) {
  tfrt_host_buffer_t* slice;
  tfrt_status_t status = tfrt_host_buffer_create_slice(buffer, offset, size,
                                                       tfrt_kernel_frame_allocator(frame), &slice);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_host_buffer_take(slice));
}

static void get_buffer(tfrt_kernel_frame_t* frame) {
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, 0);
  set_slice(frame, tensor->buffer, tensor->offset, tfrt_dense_host_tensor_size(tensor));
  if (!frame->results[1]) tfrt_kernel_frame_set_ready_chain(frame, 1);
}

static void get_buffer_slice(tfrt_kernel_frame_t* frame) {
  // A negative number becomes one that is larger than any buffer.
  set_slice(frame, buffer_argument(frame, 0), (size_t)tfrt_kernel_frame_i64(frame, 1),
            (size_t)tfrt_kernel_frame_i64(frame, 2));
}

static void print_buffer(tfrt_kernel_frame_t* frame) {
  const tfrt_host_buffer_t* buffer = buffer_argument(frame, 0);
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_string_builder_append_format(&line, "HostBuffer<pointer=%p, size=%zu>", buffer->data,
                                    buffer->size);
  tfrt_print_line_take(frame, &line);
}

#define REGISTER_MEMBERS(suffix, dtype)                                            \
  {"tfrt_dht.create_uninitialized_tensor." #suffix ".0", create_##suffix##_0},     \
      {"tfrt_dht.create_uninitialized_tensor." #suffix ".1", create_##suffix##_1}, \
      {"tfrt_dht.create_uninitialized_tensor." #suffix ".2", create_##suffix##_2}, \
      {"tfrt_dht.create_uninitialized_tensor." #suffix ".3", create_##suffix##_3}, \
      {"tfrt_dht.create_uninitialized_tensor." #suffix ".4", create_##suffix##_4}, \
      {"tfrt_dht.fill_tensor_with_constant." #suffix, fill_##suffix},              \
      {"tfrt_dht.make_tensor." #suffix, make_##suffix},                            \
      {"tfrt_dht.tensor_equal." #suffix, equal_##suffix},                          \
      {"tfrt_dht.tensor_allclose." #suffix, all_close_##suffix},

static const tfrt_kernel_registration_t registrations[] = {
    FOR_EACH_DTYPE(REGISTER_MEMBERS)  //
    {"tfrt_dht.set_tensor_with_constant_values.i32", set_i32},
    {"tfrt_dht.set_tensor_with_constant_values.i64", set_i64},
    {"tfrt_dht.set_tensor_with_constant_values.f32", set_f32},
    {"tfrt_dht.print_tensor", print_tensor},
    {"tfrt_dht.print_tensor_shape", print_tensor_shape},
    {"tfrt_dht.get_tensor_shape", get_tensor_shape},
    {"tfrt_dht.allocate_buffer", allocate_buffer},
    {"tfrt_dht.get_buffer", get_buffer},
    {"tfrt_dht.get_buffer_slice", get_buffer_slice},
    {"tfrt_dht.print_buffer", print_buffer},
};

const tfrt_kernel_group_t tfrt_dense_host_tensor_kernels = {registrations,
                                                            TFRT_ARRAY_SIZE(registrations)};
