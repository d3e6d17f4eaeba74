// SPDX-License-Identifier: Apache-2.0
//
// Kernels that create, fill and read tensors under chains. A family of them, one per
// dtype (and rank), shares one function; each member only says which it is.

#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/printing.h"
#include "kernels/tensor/kernel_parts/tensor_making.h"
#include "kernels/tensor/math/elementwise.h"
#include "kernels/tensor/math/reduction.h"
#include "kernels/tensor/ops/ops.h"

static tfrt_host_buffer_t* buffer_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(tfrt_host_buffer_t**)tfrt_kernel_frame_payload(frame, index);
}

// Returns true if operand |index| is dense and of |dtype|; else fails the kernel.
static bool has_dtype(tfrt_kernel_frame_t* frame, uint32_t index, tfrt_dtype_t dtype) {
  tfrt_status_t status = tfrt_check_dense(tfrt_kernel_frame_payload(frame, index), index, dtype);
  if (status) tfrt_kernel_frame_fail_take(frame, status);
  return !status;
}

// Makes result 0 of |frame| the chain of what ended with |status| (consumed).
static void set_chain(tfrt_kernel_frame_t* frame, tfrt_status_t status) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
  }
}

// Makes result 0 of |frame| the buffer (consumed) that was made with |status| (consumed).
static void set_buffer(tfrt_kernel_frame_t* frame, tfrt_status_t status,
                       tfrt_host_buffer_t* buffer) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_host_buffer_take(buffer));
  }
}

// --- Families ----------------------------------------------------------------

static void create(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_uninitialized(dtype, rank, frame->attributes[0],
                                                 tfrt_kernel_frame_allocator(frame), &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_tensor_take(&tensor));
  }
}

static void fill(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype)) return;
  const void* element;
  tfrt_status_t status = tfrt_read_element(dtype, frame->attributes[0], &element);
  if (!status) tfrt_dense_host_tensor_fill(tfrt_kernel_frame_tensor(frame, 0), element);
  set_chain(frame, status);
}

static void create_scalar(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_scalar_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_scalar(dtype, frame->attributes[0], frame->attributes[1], &tensor);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_scalar_tensor(&tensor));
  }
}

static void set(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype)) return;
  set_chain(frame, tfrt_set_elements(tfrt_kernel_frame_tensor(frame, 0), frame->attributes[0]));
}

// The values are the operands behind the chain, scalars of |dtype|, whose payloads are as
// elements lie in tensors.
static void set_values(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  if (!has_dtype(frame, 0, dtype)) return;
  const tfrt_dense_host_tensor_t* tensor = tfrt_kernel_frame_tensor(frame, 0);
  uint32_t given = frame->argument_count - 2;
  int64_t count = tfrt_dense_host_tensor_element_count(tensor);
  if (count != (int64_t)given) {
    tfrt_kernel_frame_fail_take(frame, tfrt_wrong_value_count(given, count));
    return;
  }
  size_t size = tfrt_dtype_size(dtype);
  char* element = tfrt_dense_host_tensor_data(tensor);
  for (uint32_t i = 0; i < given; ++i) {
    memcpy(element + i * size, tfrt_kernel_frame_payload(frame, 2 + i), size);
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void make(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_in_buffer(dtype, buffer_argument(frame, 0),
                                             tfrt_kernel_frame_payload(frame, 1), &tensor);
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

static void all_close(tfrt_kernel_frame_t* frame, tfrt_dtype_t dtype, uint64_t ulps) {
  if (!has_dtype(frame, 0, dtype) || !has_dtype(frame, 1, dtype)) return;
  bool result = tfrt_tensor_all_close(tfrt_kernel_frame_tensor(frame, 0),
                                      tfrt_kernel_frame_tensor(frame, 1), ulps);
  tfrt_kernel_frame_set_i1(frame, 0, result);
  tfrt_kernel_frame_set_ready_chain(frame, 1);
}

// The members: a word for C, the suffix of the kernel's name, and the dtype. Those that scalars
// have, too, and those that only tensors have.
// clang-format off
#define FOR_EACH_SCALAR_DTYPE(action) \
  action(i1, "bool", TFRT_DTYPE_I1)       \
  action(ui8, "ui8", TFRT_DTYPE_UI8)         \
  action(ui16, "ui16", TFRT_DTYPE_UI16)       \
  action(ui32, "ui32", TFRT_DTYPE_UI32)       \
  action(ui64, "ui64", TFRT_DTYPE_UI64)       \
  action(i8, "i8", TFRT_DTYPE_I8)           \
  action(i16, "i16", TFRT_DTYPE_I16)         \
  action(i32, "i32", TFRT_DTYPE_I32)         \
  action(i64, "i64", TFRT_DTYPE_I64)         \
  action(f32, "f32", TFRT_DTYPE_F32)         \
  action(f64, "f64", TFRT_DTYPE_F64)

#define FOR_EACH_TENSOR_DTYPE(action)                \
  action(f16, "f16", TFRT_DTYPE_F16)                 \
  action(bf16, "bf16", TFRT_DTYPE_BF16)               \
  action(complex64, "complex64", TFRT_DTYPE_COMPLEX64)     \
  action(complex128, "complex128", TFRT_DTYPE_COMPLEX128)

#define FOR_EACH_DTYPE(action)  \
  FOR_EACH_SCALAR_DTYPE(action) \
  FOR_EACH_TENSOR_DTYPE(action)
// clang-format on

#define DEFINE_CLOSE(word, dtype, ulps)                               \
  static void all_close_##ulps##_##word(tfrt_kernel_frame_t* frame) { \
    all_close(frame, dtype, ulps);                                    \
  }

#define DEFINE_MEMBERS(word, suffix, dtype)                                              \
  static void create_##word##_0(tfrt_kernel_frame_t* frame) { create(frame, dtype, 0); } \
  static void create_##word##_1(tfrt_kernel_frame_t* frame) { create(frame, dtype, 1); } \
  static void create_##word##_2(tfrt_kernel_frame_t* frame) { create(frame, dtype, 2); } \
  static void create_##word##_3(tfrt_kernel_frame_t* frame) { create(frame, dtype, 3); } \
  static void create_##word##_4(tfrt_kernel_frame_t* frame) { create(frame, dtype, 4); } \
  static void create_##word##_5(tfrt_kernel_frame_t* frame) { create(frame, dtype, 5); } \
  static void fill_##word(tfrt_kernel_frame_t* frame) { fill(frame, dtype); }            \
  static void scalar_##word(tfrt_kernel_frame_t* frame) { create_scalar(frame, dtype); } \
  static void set_##word(tfrt_kernel_frame_t* frame) { set(frame, dtype); }              \
  static void make_##word(tfrt_kernel_frame_t* frame) { make(frame, dtype); }            \
  static void equal_##word(tfrt_kernel_frame_t* frame) { equal(frame, dtype); }          \
  DEFINE_CLOSE(word, dtype, 2)                                                           \
  DEFINE_CLOSE(word, dtype, 3)                                                           \
  DEFINE_CLOSE(word, dtype, 1000)                                                        \
  DEFINE_CLOSE(word, dtype, 2000)                                                        \
  DEFINE_CLOSE(word, dtype, 100000)

FOR_EACH_DTYPE(DEFINE_MEMBERS)

#define DEFINE_SCALAR_MEMBERS(word, suffix, dtype) \
  static void set_values_##word(tfrt_kernel_frame_t* frame) { set_values(frame, dtype); }

FOR_EACH_SCALAR_DTYPE(DEFINE_SCALAR_MEMBERS)

// --- Tensors of any dtype ----------------------------------------------------

static void print_tensor(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_host_tensor_print(tfrt_kernel_frame_payload(frame, 0), &line);
  tfrt_print_line_take(frame, &line);
}

static void print_tensor_shape(tfrt_kernel_frame_t* frame) {
  tfrt_print_shape(frame, tfrt_host_tensor_shape(tfrt_kernel_frame_payload(frame, 0)));
}

static void get_tensor_shape(tfrt_kernel_frame_t* frame) {
  const tfrt_shape_t* shape = tfrt_host_tensor_shape(tfrt_kernel_frame_payload(frame, 0));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_shape(shape));
}

static void no_op(tfrt_kernel_frame_t* frame) { tfrt_kernel_frame_set_ready_chain(frame, 0); }

// --- Buffers -----------------------------------------------------------------

static void allocate_buffer(tfrt_kernel_frame_t* frame) {
  tfrt_host_buffer_t* buffer;
  tfrt_status_t status =
      tfrt_make_buffer(tfrt_kernel_frame_i64(frame, 0), tfrt_kernel_frame_i64(frame, 1),
                       tfrt_kernel_frame_allocator(frame), &buffer);
  set_buffer(frame, status, buffer);
}

// Makes result 0 of |frame| a slice of |buffer|.
static void set_slice(tfrt_kernel_frame_t* frame, tfrt_host_buffer_t* buffer, size_t offset,
                      size_t size) {
  tfrt_host_buffer_t* slice;
  tfrt_status_t status = tfrt_host_buffer_create_slice(buffer, offset, size,
                                                       tfrt_kernel_frame_allocator(frame), &slice);
  set_buffer(frame, status, slice);
}

static void get_buffer(tfrt_kernel_frame_t* frame) {
  if (!tfrt_kernel_frame_has_dense_tensors(frame)) return;
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

#define REGISTER_MEMBERS(word, suffix, dtype)                                   \
  {"tfrt_dht.create_uninitialized_tensor." suffix ".0", create_##word##_0},     \
      {"tfrt_dht.create_uninitialized_tensor." suffix ".1", create_##word##_1}, \
      {"tfrt_dht.create_uninitialized_tensor." suffix ".2", create_##word##_2}, \
      {"tfrt_dht.create_uninitialized_tensor." suffix ".3", create_##word##_3}, \
      {"tfrt_dht.create_uninitialized_tensor." suffix ".4", create_##word##_4}, \
      {"tfrt_dht.create_uninitialized_tensor." suffix ".5", create_##word##_5}, \
      {"tfrt_dht.create_from_scalar." suffix, scalar_##word},                   \
      {"tfrt_dht.fill_tensor_with_constant." suffix, fill_##word},              \
      {"tfrt_dht.set_tensor_with_constant_values." suffix, set_##word},         \
      {"tfrt_dht.make_tensor." suffix, make_##word},                            \
      {"tfrt_dht.tensor_equal." suffix, equal_##word},                          \
      {"tfrt_dht.tensor_allclose." suffix, all_close_2_##word},                 \
      {"tfrt_dht.tensor_allclose.3ulp." suffix, all_close_3_##word},            \
      {"tfrt_dht.tensor_allclose.1000ulp." suffix, all_close_1000_##word},      \
      {"tfrt_dht.tensor_allclose.2000ulp." suffix, all_close_2000_##word},      \
      {"tfrt_dht.tensor_allclose.100000ulp." suffix, all_close_100000_##word},

#define REGISTER_SCALAR_MEMBERS(word, suffix, dtype)                               \
  REGISTER_MEMBERS(word, suffix, dtype){"tfrt_dht.set_tensor_with_values." suffix, \
                                        set_values_##word},

static const tfrt_kernel_registration_t registrations[] = {
    // In the order of the op table, where each is looked for first.
    FOR_EACH_SCALAR_DTYPE(REGISTER_SCALAR_MEMBERS)  //
    FOR_EACH_TENSOR_DTYPE(REGISTER_MEMBERS)         //
    {"tfrt_dht.print_tensor", print_tensor},
    {"tfrt_tensor.print", print_tensor},
    {"tfrt_dht.print_tensor_shape", print_tensor_shape},
    {"tfrt_dht.get_tensor_shape", get_tensor_shape},
    {"tfrt_dht.allocate_buffer", allocate_buffer},
    {"tfrt_dht.get_buffer", get_buffer},
    {"tfrt_dht.get_buffer_slice", get_buffer_slice},
    {"tfrt_dht.print_buffer", print_buffer},
    {"tfrt_dht.no_op_ht", no_op},
};

const tfrt_kernel_group_t tfrt_dense_host_tensor_kernels = {
    &tfrt_dense_host_tensor_ops, registrations, TFRT_ARRAY_SIZE(registrations)};
