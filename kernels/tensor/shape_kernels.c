// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_groups.h"
#include "kernels/tensor/kernel_parts/compute.h"
#include "kernels/tensor/kernel_parts/printing.h"
#include "kernels/tensor/ops/ops.h"

static const tfrt_shape_t* shape_argument(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return tfrt_kernel_frame_payload(frame, index);
}

static void build_shape(tfrt_kernel_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_shape_make_unbounded(dims.data, dims.count, &shape);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_shape(&shape));
}

static void print_shape(tfrt_kernel_frame_t* frame) {
  tfrt_print_shape(frame, shape_argument(frame, 0));
}

static void equal_shape(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0,
                           tfrt_shape_equal(shape_argument(frame, 0), shape_argument(frame, 1)));
}

static void get_num_elements(tfrt_kernel_frame_t* frame) {
  int64_t count;
  tfrt_status_t status = tfrt_shape_count_elements(shape_argument(frame, 0), &count);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set_i64(frame, 0, count);
  }
}

static void get_dimension(tfrt_kernel_frame_t* frame) {
  const tfrt_shape_t* shape = shape_argument(frame, 0);
  int32_t index = tfrt_kernel_frame_i32(frame, 1);
  if (index < 0 || (uint32_t)index >= shape->rank) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "axis %" PRId32
                           " is asked for, but the shape %s has the axes 0 to "
                           "%" PRId64,
                           index, tfrt_shape_text(shape).text, (int64_t)shape->rank - 1);
    return;
  }
  tfrt_kernel_frame_set_i64(frame, 0, shape->dims[index]);
}

// --- Shapes with a rank that their type says -----------------------------------

static void as_fixed_rank(tfrt_kernel_frame_t* frame, uint32_t rank) {
  const tfrt_shape_t* shape = shape_argument(frame, 0);
  if (shape->rank != rank) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the shape %s has %" PRIu32 " axes, but the kernel's name says %" PRIu32,
                           tfrt_shape_text(shape).text, shape->rank, rank);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_fixed_rank_shape(shape));
}

static void as_fixed_rank_0(tfrt_kernel_frame_t* frame) { as_fixed_rank(frame, 0); }
static void as_fixed_rank_1(tfrt_kernel_frame_t* frame) { as_fixed_rank(frame, 1); }
static void as_fixed_rank_2(tfrt_kernel_frame_t* frame) { as_fixed_rank(frame, 2); }
static void as_fixed_rank_3(tfrt_kernel_frame_t* frame) { as_fixed_rank(frame, 3); }

static void print_fixed_rank(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_string_builder_append_text(&line, "fixed_rank_shape = ");
  tfrt_shape_print(shape_argument(frame, 0), &line);
  tfrt_print_line_take(frame, &line);
}

// --- Partial shapes --------------------------------------------------------------

static void build_partial(tfrt_kernel_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  tfrt_partial_shape_t shape;
  tfrt_status_t status = tfrt_partial_shape_make(dims.data, dims.count, &shape);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_partial_shape(&shape));
  }
}

static void build_unranked(tfrt_kernel_frame_t* frame) {
  tfrt_partial_shape_t shape = tfrt_partial_shape_unranked();
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_partial_shape(&shape));
}

static void print_partial(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_kernel_frame_allocator(frame));
  tfrt_string_builder_append_text(&line, "partial_tensor_shape = ");
  tfrt_partial_shape_print(tfrt_kernel_frame_payload(frame, 0), &line);
  tfrt_print_line_take(frame, &line);
}

static void to_shape(tfrt_kernel_frame_t* frame) {
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_partial_shape_to_shape(tfrt_kernel_frame_payload(frame, 0), &shape);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
  } else {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_shape(&shape));
  }
}

static void to_partial(tfrt_kernel_frame_t* frame) {
  tfrt_partial_shape_t shape = tfrt_partial_shape_of(shape_argument(frame, 0));
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_partial_shape(&shape));
}

static const tfrt_kernel_registration_t registrations[] = {
    {"ts.build_shape", build_shape},
    {"ts.print_shape", print_shape},
    {"ts.equal_shape", equal_shape},
    {"ts.get_num_elements", get_num_elements},
    {"ts.get_dimension", get_dimension},
    {"ts.as_fixed_rank_shape.0", as_fixed_rank_0},
    {"ts.print_fixed_rank_shape.0", print_fixed_rank},
    {"ts.as_fixed_rank_shape.1", as_fixed_rank_1},
    {"ts.print_fixed_rank_shape.1", print_fixed_rank},
    {"ts.as_fixed_rank_shape.2", as_fixed_rank_2},
    {"ts.print_fixed_rank_shape.2", print_fixed_rank},
    {"ts.as_fixed_rank_shape.3", as_fixed_rank_3},
    {"ts.print_fixed_rank_shape.3", print_fixed_rank},
    {"ts.build_partial_shape", build_partial},
    {"ts.build_unranked_partial_shape", build_unranked},
    {"ts.print_partial_shape", print_partial},
    {"ts.to_shape", to_shape},
    {"ts.to_partial_shape", to_partial},
};

const tfrt_kernel_group_t tfrt_shape_kernels = {&tfrt_tensor_ops, registrations,
                                                TFRT_ARRAY_SIZE(registrations)};
