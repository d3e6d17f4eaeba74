// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/sync_tensor_kernels.h"

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_parts/tensor_making.h"
#include "kernels/tensor/ops/ops.h"

static tfrt_allocator_t allocator_of(const tfrt_sync_frame_t* frame) {
  return frame->context->host->allocator;
}

// --- Results -------------------------------------------------------------------
//
// Each makes result 0 of |frame| what was made with |status| (both consumed).

static void set_tensor(tfrt_sync_frame_t* frame, tfrt_status_t status, tfrt_host_tensor_t tensor) {
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
    return;
  }
  tfrt_host_tensor_t* result = tfrt_sync_frame_construct(frame, 0, tfrt_host_tensor_type_id());
  if (result) {
    *result = tensor;
  } else {
    tfrt_host_tensor_deinitialize(&tensor);
  }
}

static void set_dense(tfrt_sync_frame_t* frame, tfrt_status_t status,
                      const tfrt_dense_host_tensor_t* tensor) {
  set_tensor(frame, status,
             (tfrt_host_tensor_t){.layout = TFRT_TENSOR_LAYOUT_DENSE, .dense = *tensor});
}

static void set_strings(tfrt_sync_frame_t* frame, tfrt_status_t status,
                        const tfrt_string_host_tensor_t* tensor) {
  set_tensor(frame, status,
             (tfrt_host_tensor_t){.layout = TFRT_TENSOR_LAYOUT_STRING, .string = *tensor});
}

static void set_buffer(tfrt_sync_frame_t* frame, tfrt_status_t status, tfrt_host_buffer_t* buffer) {
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
    return;
  }
  tfrt_host_buffer_t** result = tfrt_sync_frame_construct(frame, 0, tfrt_host_buffer_type_id());
  if (result) {
    *result = buffer;
  } else {
    tfrt_host_buffer_release(buffer);
  }
}

static void set_shape(tfrt_sync_frame_t* frame, tfrt_status_t status, const tfrt_shape_t* shape) {
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
    return;
  }
  tfrt_shape_t* result = tfrt_sync_frame_construct(frame, 0, tfrt_shape_type_id());
  if (result) *result = *shape;
}

static void set_partial_shape(tfrt_sync_frame_t* frame, tfrt_status_t status,
                              const tfrt_partial_shape_t* shape) {
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
    return;
  }
  tfrt_partial_shape_t* result = tfrt_sync_frame_construct(frame, 0, tfrt_partial_shape_type_id());
  if (result) *result = *shape;
}

// --- Shapes --------------------------------------------------------------------

static void build_shape(tfrt_sync_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_shape_make_unbounded(dims.data, dims.count, &shape);
  set_shape(frame, status, &shape);
}

static void get_num_elements(tfrt_sync_frame_t* frame) {
  int64_t count;
  tfrt_status_t status = tfrt_shape_count_elements(tfrt_sync_frame_payload(frame, 0), &count);
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
  } else {
    tfrt_sync_frame_set_i64(frame, 0, count);
  }
}

static void build_partial_shape(tfrt_sync_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_partial_shape_t shape;
  tfrt_status_t status = tfrt_partial_shape_make(dims.data, dims.count, &shape);
  set_partial_shape(frame, status, &shape);
}

static void to_shape(tfrt_sync_frame_t* frame) {
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_partial_shape_to_shape(tfrt_sync_frame_payload(frame, 0), &shape);
  set_shape(frame, status, &shape);
}

static void to_partial_shape(tfrt_sync_frame_t* frame) {
  tfrt_partial_shape_t shape = tfrt_partial_shape_of(tfrt_sync_frame_payload(frame, 0));
  set_partial_shape(frame, NULL, &shape);
}

// --- Tensors -------------------------------------------------------------------

static void create(tfrt_sync_frame_t* frame, tfrt_dtype_t dtype, uint32_t rank) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_uninitialized(dtype, rank, frame->attributes[0], allocator_of(frame), &tensor);
  set_dense(frame, status, &tensor);
}

static void create_dense(tfrt_sync_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_dense(dtype, frame->attributes[0], frame->attributes[1],
                                         allocator_of(frame), &tensor);
  set_dense(frame, status, &tensor);
}

static void create_scalar(tfrt_sync_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_host_tensor_t tensor = {.layout = TFRT_TENSOR_LAYOUT_SCALAR};
  tfrt_status_t status =
      tfrt_make_scalar(dtype, frame->attributes[0], frame->attributes[1], &tensor.scalar);
  set_tensor(frame, status, tensor);
}

static void set(tfrt_sync_frame_t* frame, tfrt_dtype_t dtype) {
  const tfrt_host_tensor_t* tensor = tfrt_sync_frame_payload(frame, 0);
  tfrt_status_t status = tfrt_check_dense(tensor, 0, dtype);
  if (!status) status = tfrt_set_elements(&tensor->dense, frame->attributes[0]);
  if (status) tfrt_sync_frame_fail_take(frame, status);
}

static tfrt_host_buffer_t* buffer_argument(const tfrt_sync_frame_t* frame, uint32_t index) {
  return *(tfrt_host_buffer_t**)tfrt_sync_frame_payload(frame, index);
}

static void make(tfrt_sync_frame_t* frame, tfrt_dtype_t dtype) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_in_buffer(dtype, buffer_argument(frame, 0),
                                             tfrt_sync_frame_payload(frame, 1), &tensor);
  set_dense(frame, status, &tensor);
}

static void constant(tfrt_sync_frame_t* frame) {
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_make_constant(frame->attributes[0], allocator_of(frame), &tensor);
  set_dense(frame, status, &tensor);
}

static void create_strings(tfrt_sync_frame_t* frame) {
  tfrt_string_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_strings(frame->attributes[0], frame->attributes[1], allocator_of(frame), &tensor);
  set_strings(frame, status, &tensor);
}

static void create_empty_strings(tfrt_sync_frame_t* frame) {
  tfrt_string_host_tensor_t tensor;
  tfrt_status_t status =
      tfrt_make_empty_strings(frame->attributes[0], allocator_of(frame), &tensor);
  set_strings(frame, status, &tensor);
}

static void get_tensor_shape(tfrt_sync_frame_t* frame) {
  set_shape(frame, NULL, tfrt_host_tensor_shape(tfrt_sync_frame_payload(frame, 0)));
}

// Nobody waits for the line; the output keeps lines in the order in which they come.
static void print_tensor(tfrt_sync_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, allocator_of(frame));
  tfrt_host_tensor_print(tfrt_sync_frame_payload(frame, 0), &line);
  tfrt_status_t status = tfrt_string_builder_status(&line);
  if (status) {
    tfrt_sync_frame_fail_take(frame, status);
  } else {
    tfrt_async_value_release(
        tfrt_execution_context_print(frame->context, tfrt_string_builder_view(&line)));
  }
  tfrt_string_builder_deinitialize(&line);
}

// --- Buffers -------------------------------------------------------------------

static void allocate_buffer(tfrt_sync_frame_t* frame) {
  tfrt_host_buffer_t* buffer;
  tfrt_status_t status = tfrt_make_buffer(
      tfrt_sync_frame_i64(frame, 0), tfrt_sync_frame_i64(frame, 1), allocator_of(frame), &buffer);
  set_buffer(frame, status, buffer);
}

static void get_buffer_slice(tfrt_sync_frame_t* frame) {
  // A negative number becomes one that is larger than any buffer.
  tfrt_host_buffer_t* slice;
  tfrt_status_t status = tfrt_host_buffer_create_slice(
      buffer_argument(frame, 0), (size_t)tfrt_sync_frame_i64(frame, 1),
      (size_t)tfrt_sync_frame_i64(frame, 2), allocator_of(frame), &slice);
  set_buffer(frame, status, slice);
}

// --- The members of the families ---------------------------------------------------

// A word for C, the suffix of the kernel's name, and the dtype.
// clang-format off
#define FOR_EACH_DTYPE(action)                           \
  action(i1, "bool", TFRT_DTYPE_I1)                      \
  action(ui8, "ui8", TFRT_DTYPE_UI8) \
  action(ui16, "ui16", TFRT_DTYPE_UI16) \
  action(ui32, "ui32", TFRT_DTYPE_UI32) \
  action(ui64, "ui64", TFRT_DTYPE_UI64) \
  action(i8, "i8", TFRT_DTYPE_I8) \
  action(i16, "i16", TFRT_DTYPE_I16) \
  action(i32, "i32", TFRT_DTYPE_I32) \
  action(i64, "i64", TFRT_DTYPE_I64) \
  action(f32, "f32", TFRT_DTYPE_F32) \
  action(f64, "f64", TFRT_DTYPE_F64) \
  action(f16, "f16", TFRT_DTYPE_F16) \
  action(bf16, "bf16", TFRT_DTYPE_BF16) \
  action(complex64, "complex64", TFRT_DTYPE_COMPLEX64) \
  action(complex128, "complex128", TFRT_DTYPE_COMPLEX128)
// clang-format on

#define DEFINE_MEMBERS(word, suffix, dtype)                                            \
  static void create_##word##_0(tfrt_sync_frame_t* frame) { create(frame, dtype, 0); } \
  static void create_##word##_1(tfrt_sync_frame_t* frame) { create(frame, dtype, 1); } \
  static void create_##word##_2(tfrt_sync_frame_t* frame) { create(frame, dtype, 2); } \
  static void create_##word##_3(tfrt_sync_frame_t* frame) { create(frame, dtype, 3); } \
  static void create_##word##_4(tfrt_sync_frame_t* frame) { create(frame, dtype, 4); } \
  static void create_##word##_5(tfrt_sync_frame_t* frame) { create(frame, dtype, 5); } \
  static void dense_##word(tfrt_sync_frame_t* frame) { create_dense(frame, dtype); }   \
  static void scalar_##word(tfrt_sync_frame_t* frame) { create_scalar(frame, dtype); } \
  static void set_##word(tfrt_sync_frame_t* frame) { set(frame, dtype); }              \
  static void make_##word(tfrt_sync_frame_t* frame) { make(frame, dtype); }

FOR_EACH_DTYPE(DEFINE_MEMBERS)

#define REGISTER_MEMBERS(word, suffix, dtype)                                        \
  {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".0", create_##word##_0},     \
      {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".1", create_##word##_1}, \
      {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".2", create_##word##_2}, \
      {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".3", create_##word##_3}, \
      {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".4", create_##word##_4}, \
      {"tfrt_dht_sync.create_uninitialized_tensor." suffix ".5", create_##word##_5}, \
      {"tfrt_dht_sync.create_dense_tensor." suffix, dense_##word},                   \
      {"tfrt_dht_sync.create_from_scalar." suffix, scalar_##word},                   \
      {"tfrt_dht_sync.set_tensor_with_constant_values." suffix, set_##word},         \
      {"tfrt_dht_sync.make_tensor." suffix, make_##word},

static const tfrt_sync_kernel_registration_t registrations[] = {
    FOR_EACH_DTYPE(REGISTER_MEMBERS)  //
    {"tfrt_dht_sync.print_tensor", print_tensor},
    {"tfrt_dht_sync.allocate_buffer", allocate_buffer},
    {"tfrt_dht_sync.get_buffer_slice", get_buffer_slice},
    {"tfrt_dht_sync.get_tensor_shape", get_tensor_shape},
    {"tfrt_sht_sync.create_tensor", create_strings},
    {"tfrt_sht_sync.create_uninitialized_tensor", create_empty_strings},
    {"tfrt_test.sync.const_dense_attr", constant},
    {"ts_sync.build_shape", build_shape},
    {"ts_sync.get_num_elements", get_num_elements},
    {"ts_sync.build_partial_shape", build_partial_shape},
    {"ts_sync.to_shape", to_shape},
    {"ts_sync.to_partial_shape", to_partial_shape},
};

tfrt_status_t tfrt_sync_tensor_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_kernel_registry_add_sync(registry, &tfrt_sync_tensor_ops, registrations,
                                       TFRT_ARRAY_SIZE(registrations));
}
