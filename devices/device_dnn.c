// SPDX-License-Identifier: Apache-2.0
#include "devices/device_dnn.h"

#include <string.h>

#include "devices/device_graph.h"

void tfrt_device_dnn_initialize(tfrt_device_dnn_t* dnn, const tfrt_device_dnn_vtable_t* vtable,
                                tfrt_device_t* device) {
  dnn->vtable = vtable;
  tfrt_ref_count_initialize(&dnn->ref_count);
  dnn->device = tfrt_device_retain(device);
}

tfrt_status_t tfrt_device_create_dnn(tfrt_device_t* device, tfrt_device_dnn_t** out_dnn) {
  *out_dnn = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  return device->vtable->create_dnn(device, out_dnn);
}

tfrt_device_dnn_t* tfrt_device_dnn_retain(tfrt_device_dnn_t* dnn) {
  tfrt_ref_count_increment(&dnn->ref_count);
  return dnn;
}

void tfrt_device_dnn_release(tfrt_device_dnn_t* dnn) {
  if (!dnn || !tfrt_ref_count_decrement(&dnn->ref_count)) return;
  tfrt_device_t* device = dnn->device;
  dnn->vtable->destroy(dnn);
  tfrt_device_release(device);
}

// --- Descriptions ------------------------------------------------------------------------

static tfrt_status_t dnn_refuse(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s", what);
}

static bool dnn_is_dtype(tfrt_dtype_t dtype) {
  return dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F64 || dtype == TFRT_DTYPE_F16 ||
         dtype == TFRT_DTYPE_BF16;
}

// Whether all |count| |numbers| are |least| or more.
static bool dnn_are_least(const int32_t* numbers, uint32_t count, int32_t least) {
  bool are = true;
  for (uint32_t i = 0; i < count; ++i) are &= numbers[i] >= least;
  return are;
}

// Whether all elements together, each of these sizes apart, can be counted.
static bool dnn_can_count(const int32_t* sizes, uint32_t rank) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(count, (int64_t)sizes[i], &count)) return false;
  }
  return count < INT64_MAX / 16;
}

tfrt_status_t tfrt_dnn_tensor_check(const tfrt_dnn_tensor_t* tensor) {
  if (!dnn_is_dtype(tensor->dtype)) return dnn_refuse("a tensor of unknown elements");
  if (tensor->rank < 4 || tensor->rank > TFRT_DNN_MAX_RANK ||
      !dnn_are_least(tensor->sizes, tensor->rank, 1) ||
      !dnn_are_least(tensor->steps, tensor->rank, 1) ||
      !dnn_can_count(tensor->sizes, tensor->rank)) {
    return dnn_refuse(
        "a tensor has a batch, channels and 2 or 3 axes of space, each with a size and a step of 1 "
        "or more");
  }
  return NULL;
}

tfrt_status_t tfrt_dnn_filter_check(const tfrt_dnn_filter_t* filter) {
  if (!dnn_is_dtype(filter->dtype)) return dnn_refuse("a filter of unknown elements");
  if (filter->rank < 4 || filter->rank > TFRT_DNN_MAX_RANK ||
      !dnn_are_least(filter->sizes, filter->rank, 1) ||
      !dnn_can_count(filter->sizes, filter->rank)) {
    return dnn_refuse(
        "a filter has outputs, inputs and 2 or 3 axes of space, each with a size of 1 or more");
  }
  return NULL;
}

static bool dnn_is_space(uint32_t space) { return space == 2 || space == 3; }

tfrt_status_t tfrt_dnn_pooling_check(const tfrt_dnn_pooling_t* pooling) {
  if (!dnn_is_space(pooling->space) || !dnn_are_least(pooling->window, pooling->space, 1) ||
      !dnn_are_least(pooling->padding, pooling->space, 0) ||
      !dnn_are_least(pooling->steps, pooling->space, 1)) {
    return dnn_refuse(
        "pooling has 2 or 3 axes, with windows and steps of 1 or more and paddings of 0 or more");
  }
  for (uint32_t i = 0; i < pooling->space; ++i) {
    if (pooling->padding[i] < pooling->window[i]) continue;
    return dnn_refuse("pooling has a window that may lie in the padding alone");
  }
  return NULL;
}

tfrt_status_t tfrt_dnn_convolution_check(const tfrt_dnn_convolution_t* convolution) {
  if (convolution->compute != TFRT_DTYPE_F32 && convolution->compute != TFRT_DTYPE_F64) {
    return dnn_refuse("sums of a convolution are f32 or f64");
  }
  if (!dnn_is_space(convolution->space) ||
      !dnn_are_least(convolution->padding, convolution->space, 0) ||
      !dnn_are_least(convolution->steps, convolution->space, 1) ||
      !dnn_are_least(convolution->dilation, convolution->space, 1)) {
    return dnn_refuse(
        "a convolution has 2 or 3 axes, with paddings of 0 or more, and steps and dilations of 1 "
        "or more");
  }
  return NULL;
}

// --- Checks of calls ---------------------------------------------------------------------

tfrt_status_t tfrt_device_dnn_check_stream(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(stream->device));
  if (stream->device != dnn->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a stream of %s gets layers of neural networks of %s",
                              stream->device->name, dnn->device->name);
  }
  return tfrt_device_capture_refuse(stream, "a call of a library");
}

tfrt_status_t tfrt_device_dnn_check_memory(tfrt_device_dnn_t* dnn, tfrt_dnn_memory_t* memory,
                                           uint64_t count, tfrt_dtype_t dtype) {
  tfrt_device_buffer_t* buffer = memory->buffer;
  if (buffer->device != dnn->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "layers of neural networks of %s get a buffer of %s",
                              dnn->device->name, buffer->device->name);
  }
  memory->address = buffer->address;
  uint64_t size;
  if (__builtin_mul_overflow(count, (uint64_t)tfrt_dtype_size(dtype), &size)) size = SIZE_MAX;
  return tfrt_device_buffer_check(buffer, 0, (size_t)size);
}

static tfrt_status_t device_dnn_check_tensor(tfrt_device_dnn_t* dnn, const tfrt_dnn_tensor_t* form,
                                             tfrt_dnn_memory_t* memory) {
  // At most 5 products of 31 bits each.
  uint64_t last = 0;
  for (uint32_t i = 0; i < form->rank; ++i) {
    last += ((uint64_t)form->sizes[i] - 1) * (uint64_t)form->steps[i];
  }
  return tfrt_device_dnn_check_memory(dnn, memory, last + 1, form->dtype);
}

static tfrt_status_t device_dnn_check_filter(tfrt_device_dnn_t* dnn, const tfrt_dnn_filter_t* form,
                                             tfrt_dnn_memory_t* memory) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < form->rank; ++i) count *= (uint64_t)form->sizes[i];
  return tfrt_device_dnn_check_memory(dnn, memory, count, form->dtype);
}

// Whether |y| has the sizes in space that windows of |reach| make of |x|.
static bool device_dnn_follows(const tfrt_dnn_tensor_t* x, const tfrt_dnn_tensor_t* y,
                               uint32_t space, const int32_t* padding, const int32_t* steps,
                               const int64_t* reach) {
  if (x->rank != space + 2 || y->rank != space + 2 || x->dtype != y->dtype ||
      x->sizes[0] != y->sizes[0]) {
    return false;
  }
  bool follows = true;
  for (uint32_t i = 0; i < space; ++i) {
    int64_t room = (int64_t)x->sizes[2 + i] + 2 * (int64_t)padding[i] - reach[i];
    follows &= room >= 0 && y->sizes[2 + i] == 1 + room / steps[i];
  }
  return follows;
}

static tfrt_status_t device_dnn_check_pooling(const tfrt_dnn_pooling_t* pooling,
                                              const tfrt_dnn_tensor_t* x,
                                              const tfrt_dnn_tensor_t* y) {
  int64_t reach[TFRT_DNN_MAX_SPACE];
  for (uint32_t i = 0; i < pooling->space; ++i) reach[i] = pooling->window[i];
  if (device_dnn_follows(x, y, pooling->space, pooling->padding, pooling->steps, reach) &&
      x->sizes[1] == y->sizes[1]) {
    return NULL;
  }
  return dnn_refuse("the tensors of a pooling don't have the types or sizes that follow");
}

static bool dnn_tensor_equals(const tfrt_dnn_tensor_t* a, const tfrt_dnn_tensor_t* b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->sizes, b->sizes, a->rank * sizeof(int32_t)) == 0;
}

static tfrt_status_t device_dnn_check_convolution(const tfrt_dnn_convolve_t* call) {
  const tfrt_dnn_convolution_t* convolution = &call->convolution;
  const tfrt_dnn_filter_t* w = &call->w_form;
  bool is_f64 = call->x_form.dtype == TFRT_DTYPE_F64;
  bool fits = w->dtype == call->x_form.dtype && w->rank == convolution->space + 2 &&
              w->sizes[1] == call->x_form.sizes[1] && w->sizes[0] == call->y_form.sizes[1] &&
              (convolution->compute == TFRT_DTYPE_F64) == is_f64;
  int64_t reach[TFRT_DNN_MAX_SPACE];
  for (uint32_t i = 0; i < convolution->space && fits; ++i) {
    reach[i] = 1 + ((int64_t)w->sizes[2 + i] - 1) * convolution->dilation[i];
  }
  if (fits && device_dnn_follows(&call->x_form, &call->y_form, convolution->space,
                                 convolution->padding, convolution->steps, reach)) {
    return NULL;
  }
  return dnn_refuse("the tensors of a convolution don't have the types or sizes that follow");
}

// --- Calls -------------------------------------------------------------------------------

tfrt_status_t tfrt_device_dnn_use(tfrt_device_stream_t* stream, const tfrt_dnn_memory_t* memories,
                                  size_t count) {
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(memories[i].buffer, stream));
  }
  return NULL;
}

tfrt_status_t tfrt_device_dnn_pool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_pool_t* given) {
  tfrt_dnn_pool_t call = *given;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_stream(dnn, stream));
  TFRT_RETURN_IF_ERROR(device_dnn_check_pooling(&call.pooling, &call.x_form, &call.y_form));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.x_form, &call.x));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.y_form, &call.y));
  tfrt_dnn_memory_t memories[] = {call.x, call.y};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_use(stream, memories, TFRT_ARRAY_SIZE(memories)));
  return dnn->vtable->pool(dnn, stream, &call);
}

tfrt_status_t tfrt_device_dnn_unpool(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                     const tfrt_dnn_unpool_t* given) {
  tfrt_dnn_unpool_t call = *given;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_stream(dnn, stream));
  TFRT_RETURN_IF_ERROR(device_dnn_check_pooling(&call.pooling, &call.x_form, &call.y_form));
  if (!dnn_tensor_equals(&call.y_form, &call.dy_form) ||
      !dnn_tensor_equals(&call.x_form, &call.dx_form)) {
    return dnn_refuse("a gradient of a pooling doesn't look like what it is the gradient of");
  }
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.x_form, &call.x));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.dx_form, &call.dx));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.y_form, &call.y));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.dy_form, &call.dy));
  tfrt_dnn_memory_t memories[] = {call.x, call.dx, call.y, call.dy};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_use(stream, memories, TFRT_ARRAY_SIZE(memories)));
  return dnn->vtable->unpool(dnn, stream, &call);
}

// Checks |call| and fills it in.
static tfrt_status_t device_dnn_check_convolve(tfrt_device_dnn_t* dnn, tfrt_dnn_convolve_t* call) {
  TFRT_RETURN_IF_ERROR(device_dnn_check_convolution(call));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call->x_form, &call->x));
  TFRT_RETURN_IF_ERROR(device_dnn_check_filter(dnn, &call->w_form, &call->w));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call->y_form, &call->y));
  return tfrt_device_dnn_check_memory(dnn, &call->workspace, 0, TFRT_DTYPE_UI8);
}

tfrt_status_t tfrt_device_dnn_convolve(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                       const tfrt_dnn_convolve_t* given) {
  tfrt_dnn_convolve_t call = *given;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_stream(dnn, stream));
  TFRT_RETURN_IF_ERROR(device_dnn_check_convolve(dnn, &call));
  tfrt_dnn_memory_t memories[] = {call.x, call.w, call.y, call.workspace};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_use(stream, memories, TFRT_ARRAY_SIZE(memories)));
  return dnn->vtable->convolve(dnn, stream, &call);
}

// Checks what |call| has beside its convolution, without its memory.
static tfrt_status_t device_dnn_check_fused(const tfrt_dnn_fuse_t* call) {
  const tfrt_dnn_tensor_t* y = &call->convolve.y_form;
  tfrt_dnn_tensor_t bias = {.dtype = y->dtype, .rank = y->rank, .sizes = {1, y->sizes[1], 1, 1, 1}};
  if (call->convolve.direction != TFRT_DNN_FORWARD) {
    return dnn_refuse("a convolution with a bias goes forward");
  }
  if (call->activation.mode != TFRT_DNN_RELU && call->activation.mode != TFRT_DNN_IDENTITY) {
    return dnn_refuse("behind a convolution with a bias there is a relu or the identity");
  }
  if (!dnn_tensor_equals(&call->z_form, y) || !dnn_tensor_equals(&call->bias_form, &bias)) {
    return dnn_refuse(
        "what is added to a convolution looks like its result, and a bias has its channels and one "
        "place");
  }
  return NULL;
}

tfrt_status_t tfrt_device_dnn_fuse(tfrt_device_dnn_t* dnn, tfrt_device_stream_t* stream,
                                   const tfrt_dnn_fuse_t* given) {
  tfrt_dnn_fuse_t call = *given;
  tfrt_dnn_convolve_t* convolve = &call.convolve;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_check_stream(dnn, stream));
  TFRT_RETURN_IF_ERROR(device_dnn_check_fused(&call));
  TFRT_RETURN_IF_ERROR(device_dnn_check_convolve(dnn, convolve));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.z_form, &call.z));
  TFRT_RETURN_IF_ERROR(device_dnn_check_tensor(dnn, &call.bias_form, &call.bias));
  tfrt_dnn_memory_t memories[] = {convolve->x,         convolve->w, convolve->y,
                                  convolve->workspace, call.z,      call.bias};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_use(stream, memories, TFRT_ARRAY_SIZE(memories)));
  return dnn->vtable->fuse(dnn, stream, &call);
}
