// SPDX-License-Identifier: Apache-2.0
//
// Plans of convolutions, by the library of a device. A library may compile code for a plan, so
// plans are built in the blocking queue.
#include <string.h>

#include "devices/device_dnn_plan.h"
#include "host_runtime/bef/bef_attribute.h"
#include "kernels/device/device_job.h"
#include "kernels/device/kernel_groups.h"
#include "kernels/device/named_number.h"

static const tfrt_named_number_t type_names[] = {
    {"CUDNN_DATA_FLOAT", TFRT_DTYPE_F32}, {"CUDNN_DATA_DOUBLE", TFRT_DTYPE_F64},
    {"CUDNN_DATA_HALF", TFRT_DTYPE_F16},  {"CUDNN_DATA_BFLOAT16", TFRT_DTYPE_BF16},
    {"CUDNN_DATA_INT8", TFRT_DTYPE_I8},   {"CUDNN_DATA_INT32", TFRT_DTYPE_I32},
};
static const tfrt_named_number_t mode_names[] = {{"CUDNN_CONVOLUTION", false},
                                                 {"CUDNN_CROSS_CORRELATION", true}};
static const tfrt_named_numbers_t types = {"type of a plan's elements", type_names,
                                           TFRT_ARRAY_SIZE(type_names)};
static const tfrt_named_numbers_t modes = {"kind of convolution", mode_names,
                                           TFRT_ARRAY_SIZE(mode_names)};

// --- Attributes ------------------------------------------------------------------------

// Where attributes are in the order of names: those of a plan alone, and those of a fused one,
// behind which the others are.
enum { BACKEND_TYPE = 0, PLAN_ATTRIBUTES = 1 };
enum { FUSED_ACTIVATION, FUSED_BACKEND_TYPE, BIAS_DIMS, BIAS_STRIDES, BIAS_TYPE, FUSED_ATTRIBUTES };
enum {
  CONV_DILATIONS,
  CONV_DIM,
  CONV_MODE,
  CONV_PADDING,
  CONV_STRIDES,
  ENGINE_ID,
  FILTER_DIMS,
  FILTER_STRIDES,
  INPUT_DIMS,
  INPUT_STRIDES,
  INPUT_TYPE,
  OUTPUT_DIMS,
  OUTPUT_STRIDES,
  OUTPUT_TYPE,
  KNOB_IDS,
  KNOB_VALUES,
};

// Attributes on their way into a form.
typedef struct tfrt_gpu_plan_reader_s {
  const void* const* attributes;
  const void* const* shared;  // those that both kinds of plan have
  tfrt_status_t status;       // +1, of the first mistake
  tfrt_dnn_plan_form_t form;
  tfrt_dnn_engine_t engine;
} tfrt_gpu_plan_reader_t;

static int32_t gpu_plan_number(const void* attribute) { return *(const int32_t*)attribute; }

// Copies the |count| numbers that |attribute| has to |out_numbers|.
static void gpu_plan_numbers(tfrt_gpu_plan_reader_t* r, const char* name, const void* attribute,
                             uint32_t count, int64_t* out_numbers) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(attribute);
  if (r->status) return;
  if (array.count != count) {
    r->status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                   "%s has %u numbers; with a conv_dim of %u give %u", name,
                                   array.count, r->form.space, count);
    return;
  }
  memcpy(out_numbers, array.data, count * sizeof(*out_numbers));
}

static int gpu_plan_named(tfrt_gpu_plan_reader_t* r, const char* name,
                          const tfrt_named_numbers_t* numbers, const void* attribute) {
  int number = 0;
  if (r->status) return number;
  r->status =
      tfrt_status_take_annotate(tfrt_named_number_read(numbers, attribute, &number), "%s", name);
  return number;
}

static void gpu_plan_layout(tfrt_gpu_plan_reader_t* r, const char* const* names, int dtype,
                            const void* sizes, const void* steps, tfrt_dnn_layout_t* out_layout) {
  out_layout->dtype = (tfrt_dtype_t)dtype;
  out_layout->rank = r->form.space + 2;
  gpu_plan_numbers(r, names[0], sizes, out_layout->rank, out_layout->sizes);
  gpu_plan_numbers(r, names[1], steps, out_layout->rank, out_layout->steps);
}

static void gpu_plan_direction(tfrt_gpu_plan_reader_t* r, int32_t type) {
  // The library's numbers of its descriptors.
  static const tfrt_dnn_direction_t directions[] = {TFRT_DNN_FORWARD, TFRT_DNN_BACKWARD_FILTER,
                                                    TFRT_DNN_BACKWARD_DATA};
  if (type >= 10 && type <= 12) {
    r->form.direction = directions[type - 10];
  } else if (!r->status) {
    r->status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                   "backend_type is %d; give 10 (forward), 11 (backward filter) or "
                                   "12 (backward data)",
                                   type);
  }
}

static void gpu_plan_engine(tfrt_gpu_plan_reader_t* r) {
  tfrt_bef_array_t ids = tfrt_bef_attribute_array(r->shared[KNOB_IDS]);
  tfrt_bef_array_t values = tfrt_bef_attribute_array(r->shared[KNOB_VALUES]);
  r->engine = (tfrt_dnn_engine_t){.index = gpu_plan_number(r->shared[ENGINE_ID]),
                                  .knob_count = ids.count,
                                  .knob_types = ids.data,
                                  .knob_values = values.data};
  if (r->status || ids.count == values.count) return;
  r->status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                 "tuning_knob_ids has %u numbers and tuning_knob_values %u; give "
                                 "one value for each id",
                                 ids.count, values.count);
}

// Reads what both kinds of plan have.
static void gpu_plan_read_shared(tfrt_gpu_plan_reader_t* r) {
  static const char* const input[] = {"input_dims", "input_strides"};
  static const char* const output[] = {"output_dims", "output_strides"};
  static const char* const filter[] = {"filter_dims", "filter_strides"};
  tfrt_dnn_plan_form_t* form = &r->form;
  const void* const* a = r->shared;
  int32_t space = gpu_plan_number(a[CONV_DIM]);
  form->space = (uint32_t)space;
  if (space != 2 && space != 3) {
    r->status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "conv_dim is %d; give 2 or 3", space);
  }
  int input_type = gpu_plan_named(r, "input_type", &types, a[INPUT_TYPE]);
  int output_type = gpu_plan_named(r, "output_type", &types, a[OUTPUT_TYPE]);
  form->is_cross_correlation = gpu_plan_named(r, "conv_mode", &modes, a[CONV_MODE]) != 0;
  gpu_plan_layout(r, input, input_type, a[INPUT_DIMS], a[INPUT_STRIDES], &form->x);
  gpu_plan_layout(r, output, output_type, a[OUTPUT_DIMS], a[OUTPUT_STRIDES], &form->y);
  gpu_plan_layout(r, filter, input_type, a[FILTER_DIMS], a[FILTER_STRIDES], &form->w);
  gpu_plan_numbers(r, "conv_strides", a[CONV_STRIDES], form->space, form->steps);
  gpu_plan_numbers(r, "conv_padding", a[CONV_PADDING], form->space, form->padding);
  gpu_plan_numbers(r, "conv_dilations", a[CONV_DILATIONS], form->space, form->dilation);
  gpu_plan_engine(r);
}

// --- Building --------------------------------------------------------------------------

// Builds what |r| has read with the handle of |job|; errors begin with |kernel|.
static tfrt_status_t gpu_plan_build(tfrt_gpu_job_t* job, tfrt_gpu_plan_reader_t* r,
                                    const char* kernel, tfrt_async_value_t** out_value) {
  tfrt_device_dnn_t* dnn = *(tfrt_device_dnn_t**)tfrt_gpu_job_payload(job, 0);
  tfrt_device_dnn_plan_t* plan = NULL;
  tfrt_status_t status = r->status;
  if (!status) status = tfrt_device_dnn_build(dnn, &r->form, &r->engine, &plan);
  if (status) return tfrt_status_take_annotate(status, "%s", kernel);
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_DNN_PLAN, plan);
  return NULL;
}

static tfrt_status_t gpu_keep_plan(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_plan_reader_t r = {.attributes = job->attributes,
                              .shared = job->attributes + PLAN_ATTRIBUTES};
  gpu_plan_read_shared(&r);
  gpu_plan_direction(&r, gpu_plan_number(r.attributes[BACKEND_TYPE]));
  return gpu_plan_build(job, &r, "tfrt_gpu.dnn.build_convolution", out_value);
}

static tfrt_status_t gpu_keep_fused_plan(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  static const char* const bias[] = {"bias_dims", "bias_strides"};
  tfrt_gpu_plan_reader_t r = {.attributes = job->attributes,
                              .shared = job->attributes + FUSED_ATTRIBUTES};
  const void* const* a = r.attributes;
  gpu_plan_read_shared(&r);
  gpu_plan_direction(&r, gpu_plan_number(a[FUSED_BACKEND_TYPE]));
  r.form.is_fused = true;
  r.form.alpha = *(const double*)tfrt_gpu_job_payload(job, 1);
  r.form.alpha2 = *(const double*)tfrt_gpu_job_payload(job, 2);
  r.form.activation = (tfrt_dnn_activation_mode_t)gpu_plan_number(a[FUSED_ACTIVATION]);
  int type = gpu_plan_named(&r, "bias_type", &types, a[BIAS_TYPE]);
  gpu_plan_layout(&r, bias, type, a[BIAS_DIMS], a[BIAS_STRIDES], &r.form.bias);
  return gpu_plan_build(job, &r, "tfrt_gpu.dnn.build_fused_convolution", out_value);
}

void tfrt_gpu_dnn_build_convolution(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_plan);
}

void tfrt_gpu_dnn_build_fused_convolution(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_fused_plan);
}

// --- Running ---------------------------------------------------------------------------

static tfrt_dnn_memory_t gpu_plan_memory(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return (tfrt_dnn_memory_t){.buffer = tfrt_gpu_argument(frame, index)};
}

static void gpu_plan_run(tfrt_kernel_frame_t* frame, const char* kernel,
                         const tfrt_dnn_plan_memory_t* memory) {
  tfrt_status_t status =
      tfrt_device_dnn_plan_run(tfrt_gpu_argument(frame, 2), tfrt_gpu_argument(frame, 0),
                               tfrt_gpu_stream_argument(frame, 1)->stream, memory);
  tfrt_gpu_finish_take(frame, tfrt_status_take_annotate(status, "%s", kernel));
}

void tfrt_gpu_dnn_run_convolution(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_plan_memory_t memory = {.x = gpu_plan_memory(frame, 3),
                                   .y = gpu_plan_memory(frame, 4),
                                   .w = gpu_plan_memory(frame, 5),
                                   .workspace = gpu_plan_memory(frame, 6)};
  gpu_plan_run(frame, "tfrt_gpu.dnn.run_convolution", &memory);
}

void tfrt_gpu_dnn_run_fused_convolution(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_plan_memory_t memory = {.x = gpu_plan_memory(frame, 3),
                                   .y = gpu_plan_memory(frame, 4),
                                   .w = gpu_plan_memory(frame, 5),
                                   .z = gpu_plan_memory(frame, 6),
                                   .bias = gpu_plan_memory(frame, 7),
                                   .workspace = gpu_plan_memory(frame, 8)};
  gpu_plan_run(frame, "tfrt_gpu.dnn.run_fused_convolution", &memory);
}
