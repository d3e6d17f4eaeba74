// SPDX-License-Identifier: Apache-2.0
//
// Layers of neural networks, by the library of a device. Descriptors are plain data of ours.
#include <string.h>

#include "devices/device_dnn.h"
#include "host_runtime/bef/bef_attribute.h"
#include "kernels/device/device_job.h"
#include "kernels/device/kernel_groups.h"
#include "kernels/device/named_number.h"
#include "kernels/device/ops.h"

// --- Names -----------------------------------------------------------------------------

#define NAMES(text, table) \
  { text, table, TFRT_ARRAY_SIZE(table) }

static const tfrt_named_number_t type_names[] = {
    {"CUDNN_DATA_FLOAT", TFRT_DTYPE_F32},
    {"CUDNN_DATA_DOUBLE", TFRT_DTYPE_F64},
    {"CUDNN_DATA_HALF", TFRT_DTYPE_F16},
    {"CUDNN_DATA_BFLOAT16", TFRT_DTYPE_BF16},
};
static const tfrt_named_number_t mode_names[] = {{"CUDNN_CONVOLUTION", 0},
                                                 {"CUDNN_CROSS_CORRELATION", 1}};
static const tfrt_named_number_t math_names[] = {
    {"CUDNN_DEFAULT_MATH", TFRT_DNN_MATH_DEFAULT},
    {"CUDNN_TENSOR_OP_MATH", TFRT_DNN_MATH_TENSOR_CORES},
    {"CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION", TFRT_DNN_MATH_TENSOR_CORES_ROUNDED},
    {"CUDNN_FMA_MATH", TFRT_DNN_MATH_EXACT},
};

static const tfrt_named_number_t activation_names[] = {
    {"CUDNN_ACTIVATION_SIGMOID", TFRT_DNN_SIGMOID},
    {"CUDNN_ACTIVATION_RELU", TFRT_DNN_RELU},
    {"CUDNN_ACTIVATION_TANH", TFRT_DNN_TANH},
    {"CUDNN_ACTIVATION_CLIPPED_RELU", TFRT_DNN_CLIPPED_RELU},
    {"CUDNN_ACTIVATION_ELU", TFRT_DNN_ELU},
    {"CUDNN_ACTIVATION_IDENTITY", TFRT_DNN_IDENTITY},
};

static const tfrt_named_numbers_t types = NAMES("type of elements", type_names);
static const tfrt_named_numbers_t modes = NAMES("kind of convolution", mode_names);
static const tfrt_named_numbers_t maths = NAMES("kind of maths", math_names);
static const tfrt_named_numbers_t activations = NAMES("activation", activation_names);

// --- Descriptors -----------------------------------------------------------------------

// Copies the attribute |index|, an array of numbers, to |out_numbers|, which has room for |most|.
static tfrt_status_t gpu_dnn_numbers(const tfrt_kernel_frame_t* frame, uint32_t index,
                                     uint32_t most, int32_t* out_numbers, uint32_t* out_count) {
  tfrt_bef_array_t array = tfrt_bef_attribute_array(frame->attributes[index]);
  *out_count = array.count;
  if (array.count > most) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%u axes where there are at most %u",
                              array.count, most);
  }
  if (array.count > 0) memcpy(out_numbers, array.data, array.count * sizeof(int32_t));
  return NULL;
}

// The same for an attribute with |count| numbers, for which there is room.
static tfrt_status_t gpu_dnn_as_many(const tfrt_kernel_frame_t* frame, uint32_t index,
                                     uint32_t count, int32_t* out_numbers) {
  uint32_t found;
  TFRT_RETURN_IF_ERROR(gpu_dnn_numbers(frame, index, count, out_numbers, &found));
  if (found == count) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "numbers of %u and of %u axes together",
                            count, found);
}

static tfrt_status_t gpu_dnn_type(const tfrt_kernel_frame_t* frame, uint32_t index,
                                  tfrt_dtype_t* out_dtype) {
  int number = TFRT_DTYPE_INVALID;
  tfrt_status_t status = tfrt_named_number_read(&types, frame->attributes[index], &number);
  *out_dtype = (tfrt_dtype_t)number;
  return status;
}

// Sets the result of |frame| to the |size| bytes at |description|, of |type|, or fails it with
// |status| (consumed).
static void gpu_dnn_describe_take(tfrt_kernel_frame_t* frame, tfrt_status_t status,
                                  tfrt_gpu_type_t type, const void* description, size_t size) {
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_gpu_type_id(type));
  if (value) memcpy(tfrt_async_value_payload(value), description, size);
  tfrt_kernel_frame_set(frame, 0, value ? value : tfrt_async_value_out_of_memory());
}

static tfrt_status_t gpu_dnn_read_tensor(const tfrt_kernel_frame_t* frame,
                                         tfrt_dnn_tensor_t* tensor) {
  TFRT_RETURN_IF_ERROR(gpu_dnn_type(frame, 0, &tensor->dtype));
  TFRT_RETURN_IF_ERROR(gpu_dnn_numbers(frame, 1, TFRT_DNN_MAX_RANK, tensor->sizes, &tensor->rank));
  TFRT_RETURN_IF_ERROR(gpu_dnn_as_many(frame, 2, tensor->rank, tensor->steps));
  return tfrt_dnn_tensor_check(tensor);
}

static void gpu_dnn_create_tensor(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_tensor_t tensor = {0};
  tfrt_status_t status = gpu_dnn_read_tensor(frame, &tensor);
  gpu_dnn_describe_take(frame, status, TFRT_GPU_DNN_TENSOR, &tensor, sizeof(tensor));
}

static tfrt_status_t gpu_dnn_read_filter(const tfrt_kernel_frame_t* frame,
                                         tfrt_dnn_filter_t* filter) {
  int32_t format = *(const int32_t*)frame->attributes[2];
  if (format != 0 && format != 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%d is no format of a filter, which is 0 or 1", format);
  }
  filter->has_channels_last = format == 1;
  TFRT_RETURN_IF_ERROR(gpu_dnn_type(frame, 0, &filter->dtype));
  TFRT_RETURN_IF_ERROR(gpu_dnn_numbers(frame, 1, TFRT_DNN_MAX_RANK, filter->sizes, &filter->rank));
  return tfrt_dnn_filter_check(filter);
}

static void gpu_dnn_create_filter(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_filter_t filter = {0};
  tfrt_status_t status = gpu_dnn_read_filter(frame, &filter);
  gpu_dnn_describe_take(frame, status, TFRT_GPU_DNN_FILTER, &filter, sizeof(filter));
}

static tfrt_status_t gpu_dnn_read_pooling(const tfrt_kernel_frame_t* frame,
                                          tfrt_dnn_pooling_t* pooling) {
  uint32_t mode = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 1);
  uint32_t nan_propagation = *(const uint32_t*)tfrt_kernel_frame_payload(frame, 2);
  if (mode > TFRT_DNN_POOLING_MAX_DETERMINISTIC || nan_propagation > 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "pooling has a mode of 0 to 3 (here %u) and a propagation of 0 or 1 "
                              "(here %u)",
                              mode, nan_propagation);
  }
  pooling->mode = (tfrt_dnn_pooling_mode_t)mode;
  pooling->propagates_nan = nan_propagation == 1;
  TFRT_RETURN_IF_ERROR(
      gpu_dnn_numbers(frame, 2, TFRT_DNN_MAX_SPACE, pooling->window, &pooling->space));
  TFRT_RETURN_IF_ERROR(gpu_dnn_as_many(frame, 0, pooling->space, pooling->padding));
  TFRT_RETURN_IF_ERROR(gpu_dnn_as_many(frame, 1, pooling->space, pooling->steps));
  return tfrt_dnn_pooling_check(pooling);
}

static void gpu_dnn_create_pooling(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_pooling_t pooling = {0};
  tfrt_status_t status = gpu_dnn_read_pooling(frame, &pooling);
  gpu_dnn_describe_take(frame, status, TFRT_GPU_DNN_POOLING, &pooling, sizeof(pooling));
}

static tfrt_status_t gpu_dnn_read_convolution(const tfrt_kernel_frame_t* frame,
                                              tfrt_dnn_convolution_t* convolution) {
  int mode;
  int math;
  TFRT_RETURN_IF_ERROR(gpu_dnn_type(frame, 0, &convolution->compute));
  TFRT_RETURN_IF_ERROR(tfrt_named_number_read(&modes, frame->attributes[1], &mode));
  TFRT_RETURN_IF_ERROR(tfrt_named_number_read(&maths, frame->attributes[4], &math));
  convolution->is_cross_correlation = mode == 1;
  convolution->math = (tfrt_dnn_math_t)math;
  TFRT_RETURN_IF_ERROR(
      gpu_dnn_numbers(frame, 5, TFRT_DNN_MAX_SPACE, convolution->padding, &convolution->space));
  TFRT_RETURN_IF_ERROR(gpu_dnn_as_many(frame, 3, convolution->space, convolution->steps));
  TFRT_RETURN_IF_ERROR(gpu_dnn_as_many(frame, 2, convolution->space, convolution->dilation));
  return tfrt_dnn_convolution_check(convolution);
}

static void gpu_dnn_create_convolution(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_convolution_t convolution = {0};
  tfrt_status_t status = gpu_dnn_read_convolution(frame, &convolution);
  gpu_dnn_describe_take(frame, status, TFRT_GPU_DNN_CONVOLUTION, &convolution, sizeof(convolution));
}

static void gpu_dnn_create_activation(tfrt_kernel_frame_t* frame) {
  int mode;
  tfrt_status_t status = tfrt_named_number_read(&activations, frame->attributes[0], &mode);
  tfrt_dnn_activation_t activation = {
      .mode = (tfrt_dnn_activation_mode_t)(status ? 0 : mode),
      .propagates_nan = *(const uint8_t*)frame->attributes[1] != 0,
      .coefficient = *(const double*)tfrt_kernel_frame_payload(frame, 0)};
  gpu_dnn_describe_take(frame, status, TFRT_GPU_DNN_ACTIVATION, &activation, sizeof(activation));
}

static void gpu_dnn_algorithm(tfrt_kernel_frame_t* frame) {
  gpu_dnn_describe_take(frame, NULL, TFRT_GPU_DNN_ALGORITHM, frame->attributes[0], sizeof(int32_t));
}

// --- Handles ---------------------------------------------------------------------------

static tfrt_status_t gpu_keep_dnn(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  tfrt_device_dnn_t* dnn;
  TFRT_RETURN_IF_ERROR(tfrt_device_create_dnn(context->device, &dnn));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_DNN, dnn);
  return NULL;
}

static void gpu_dnn_create(tfrt_kernel_frame_t* frame) { tfrt_gpu_job_start(frame, gpu_keep_dnn); }

// --- Layers ----------------------------------------------------------------------------

static float gpu_dnn_f32(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const float*)tfrt_kernel_frame_payload(frame, index);
}

static tfrt_dnn_tensor_t gpu_dnn_tensor(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const tfrt_dnn_tensor_t*)tfrt_kernel_frame_payload(frame, index);
}

static tfrt_dnn_memory_t gpu_dnn_memory(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return (tfrt_dnn_memory_t){.buffer = tfrt_gpu_argument(frame, index)};
}

static void gpu_dnn_pooling_forward(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_pool_t call = {
      .pooling = *(const tfrt_dnn_pooling_t*)tfrt_kernel_frame_payload(frame, 2),
      .alpha = gpu_dnn_f32(frame, 3),
      .x_form = gpu_dnn_tensor(frame, 4),
      .x = gpu_dnn_memory(frame, 5),
      .beta = gpu_dnn_f32(frame, 6),
      .y_form = gpu_dnn_tensor(frame, 7),
      .y = gpu_dnn_memory(frame, 8),
  };
  tfrt_gpu_finish_take(frame,
                       tfrt_device_dnn_pool(tfrt_gpu_argument(frame, 0),
                                            tfrt_gpu_stream_argument(frame, 1)->stream, &call));
}

static void gpu_dnn_pooling_backward(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_unpool_t call = {
      .pooling = *(const tfrt_dnn_pooling_t*)tfrt_kernel_frame_payload(frame, 2),
      .alpha = gpu_dnn_f32(frame, 3),
      .y_form = gpu_dnn_tensor(frame, 4),
      .y = gpu_dnn_memory(frame, 5),
      .dy_form = gpu_dnn_tensor(frame, 6),
      .dy = gpu_dnn_memory(frame, 7),
      .x_form = gpu_dnn_tensor(frame, 8),
      .x = gpu_dnn_memory(frame, 9),
      .beta = gpu_dnn_f32(frame, 10),
      .dx_form = gpu_dnn_tensor(frame, 11),
      .dx = gpu_dnn_memory(frame, 12),
  };
  tfrt_gpu_finish_take(frame,
                       tfrt_device_dnn_unpool(tfrt_gpu_argument(frame, 0),
                                              tfrt_gpu_stream_argument(frame, 1)->stream, &call));
}

// Sets |*out_call| to a convolution in |direction|. Its description, algorithm and workspace are
// the arguments from |form| on. The arguments |x|, |w| and |y| describe the tensors; the memory of
// each follows its description.
static tfrt_status_t gpu_dnn_read_convolve(const tfrt_kernel_frame_t* frame,
                                           tfrt_dnn_direction_t direction, uint32_t form,
                                           uint32_t x, uint32_t w, uint32_t y,
                                           tfrt_dnn_convolve_t* out_call) {
  *out_call = (tfrt_dnn_convolve_t){
      .direction = direction,
      .convolution = *(const tfrt_dnn_convolution_t*)tfrt_kernel_frame_payload(frame, form),
      .algorithm = *(const int32_t*)tfrt_kernel_frame_payload(frame, form + 1),
      .workspace = gpu_dnn_memory(frame, form + 2),
      .x_form = gpu_dnn_tensor(frame, x),
      .x = gpu_dnn_memory(frame, x + 1),
      .w_form = *(const tfrt_dnn_filter_t*)tfrt_kernel_frame_payload(frame, w),
      .w = gpu_dnn_memory(frame, w + 1),
      .y_form = gpu_dnn_tensor(frame, y),
      .y = gpu_dnn_memory(frame, y + 1),
  };
  tfrt_dtype_t scale;
  TFRT_RETURN_IF_ERROR(gpu_dnn_type(frame, 0, &scale));
  if (scale == out_call->convolution.compute) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the scale_type of a convolution is its compute_type");
}

static void gpu_dnn_convolve(tfrt_kernel_frame_t* frame, tfrt_dnn_direction_t direction, uint32_t x,
                             uint32_t w, uint32_t y) {
  tfrt_dnn_convolve_t call;
  tfrt_status_t status = gpu_dnn_read_convolve(frame, direction, 6, x, w, y, &call);
  if (!status) {
    status = tfrt_device_dnn_convolve(tfrt_gpu_argument(frame, 0),
                                      tfrt_gpu_stream_argument(frame, 1)->stream, &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

static void gpu_dnn_convolution_forward(tfrt_kernel_frame_t* frame) {
  gpu_dnn_convolve(frame, TFRT_DNN_FORWARD, 2, 4, 9);
}

static void gpu_dnn_convolution_backward_data(tfrt_kernel_frame_t* frame) {
  gpu_dnn_convolve(frame, TFRT_DNN_BACKWARD_DATA, 9, 2, 4);
}

static void gpu_dnn_convolution_backward_filter(tfrt_kernel_frame_t* frame) {
  gpu_dnn_convolve(frame, TFRT_DNN_BACKWARD_FILTER, 2, 9, 4);
}

// Sets |*out_number| to argument |index|, which scales a convolution with sums of |compute|.
static tfrt_status_t gpu_dnn_scale(const tfrt_kernel_frame_t* frame, uint32_t index,
                                   tfrt_dtype_t compute, double* out_number) {
  const void* payload = tfrt_kernel_frame_payload(frame, index);
  tfrt_type_id_t type = frame->arguments[index]->type_id;
  bool is_f64 = compute == TFRT_DTYPE_F64;
  *out_number = 0;
  if (type != (is_f64 ? TFRT_TYPE_F64 : TFRT_TYPE_F32)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "what scales a convolution is of its compute_type");
  }
  *out_number = is_f64 ? *(const double*)payload : (double)*(const float*)payload;
  return NULL;
}

static tfrt_status_t gpu_dnn_read_fuse(const tfrt_kernel_frame_t* frame, tfrt_dnn_fuse_t* call) {
  TFRT_RETURN_IF_ERROR(
      gpu_dnn_read_convolve(frame, TFRT_DNN_FORWARD, 7, 3, 5, 16, &call->convolve));
  tfrt_dtype_t compute = call->convolve.convolution.compute;
  TFRT_RETURN_IF_ERROR(gpu_dnn_scale(frame, 2, compute, &call->alpha));
  TFRT_RETURN_IF_ERROR(gpu_dnn_scale(frame, 10, compute, &call->beta));
  call->z_form = gpu_dnn_tensor(frame, 11);
  call->z = gpu_dnn_memory(frame, 12);
  call->bias_form = gpu_dnn_tensor(frame, 13);
  call->bias = gpu_dnn_memory(frame, 14);
  call->activation = *(const tfrt_dnn_activation_t*)tfrt_kernel_frame_payload(frame, 15);
  return NULL;
}

static void gpu_dnn_convolution_bias_activation_forward(tfrt_kernel_frame_t* frame) {
  tfrt_dnn_fuse_t call;
  tfrt_status_t status = gpu_dnn_read_fuse(frame, &call);
  if (!status) {
    status = tfrt_device_dnn_fuse(tfrt_gpu_argument(frame, 0),
                                  tfrt_gpu_stream_argument(frame, 1)->stream, &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

// --- Registration ----------------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt_gpu.dnn.create", gpu_dnn_create},
    {"tfrt_gpu.dnn.create_tensor_descriptor", gpu_dnn_create_tensor},
    {"tfrt_gpu.dnn.create_filter_descriptor", gpu_dnn_create_filter},
    {"tfrt_gpu.dnn.create_pooling_descriptor", gpu_dnn_create_pooling},
    {"tfrt_gpu.dnn.create_convolution_descriptor", gpu_dnn_create_convolution},
    {"tfrt_gpu.dnn.create_activation_descriptor", gpu_dnn_create_activation},
    {"tfrt_gpu.dnn.convolution_forward_algorithm", gpu_dnn_algorithm},
    {"tfrt_gpu.dnn.convolution_backward_data_algorithm", gpu_dnn_algorithm},
    {"tfrt_gpu.dnn.convolution_backward_filter_algorithm", gpu_dnn_algorithm},
    {"tfrt_gpu.dnn.pooling_forward", gpu_dnn_pooling_forward},
    {"tfrt_gpu.dnn.pooling_backward", gpu_dnn_pooling_backward},
    {"tfrt_gpu.dnn.convolution_forward", gpu_dnn_convolution_forward},
    {"tfrt_gpu.dnn.convolution_backward_data", gpu_dnn_convolution_backward_data},
    {"tfrt_gpu.dnn.convolution_backward_filter", gpu_dnn_convolution_backward_filter},
    {"tfrt_gpu.dnn.convolution_bias_activation_forward",
     gpu_dnn_convolution_bias_activation_forward},
    {"tfrt_gpu.dnn.build_convolution", tfrt_gpu_dnn_build_convolution},
    {"tfrt_gpu.dnn.build_fused_convolution", tfrt_gpu_dnn_build_fused_convolution},
    {"tfrt_gpu.dnn.run_convolution", tfrt_gpu_dnn_run_convolution},
    {"tfrt_gpu.dnn.run_fused_convolution", tfrt_gpu_dnn_run_fused_convolution},
};

tfrt_status_t tfrt_dnn_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_kernel_registry_add_all(registry, &tfrt_dnn_ops, kernels, TFRT_ARRAY_SIZE(kernels));
}
