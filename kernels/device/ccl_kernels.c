// SPDX-License-Identifier: Apache-2.0
//
// Groups of devices that exchange data. A handle is a member, and the calls that it was given since
// it was executed last; execute gives them to the device as one list.
#include "devices/device_ccl.h"
#include "host_runtime/bef/bef_attribute.h"
#include "kernels/device/ccl_wait.h"
#include "kernels/device/device_job.h"
#include "kernels/device/host_devices.h"
#include "kernels/device/kernel_groups.h"
#include "kernels/device/named_number.h"
#include "kernels/device/ops.h"

struct tfrt_gpu_ccl_s {
  tfrt_device_ccl_t* ccl;  // +1
  tfrt_mutex_t mutex;      // guards all below
  tfrt_ccl_call_t* calls;  // with +1 of each buffer; owned
  size_t count;
  size_t capacity;
};

// --- Names -----------------------------------------------------------------------------

static const tfrt_named_number_t type_names[] = {
    {"ncclInt8", TFRT_DTYPE_I8},     {"ncclUint8", TFRT_DTYPE_UI8},
    {"ncclInt32", TFRT_DTYPE_I32},   {"ncclUint32", TFRT_DTYPE_UI32},
    {"ncclInt64", TFRT_DTYPE_I64},   {"ncclUint64", TFRT_DTYPE_UI64},
    {"ncclFloat16", TFRT_DTYPE_F16}, {"ncclFloat32", TFRT_DTYPE_F32},
    {"ncclFloat64", TFRT_DTYPE_F64}, {"ncclBfloat16", TFRT_DTYPE_BF16},
    {"ncclChar", TFRT_DTYPE_I8},     {"ncclInt", TFRT_DTYPE_I32},
    {"ncclHalf", TFRT_DTYPE_F16},    {"ncclFloat", TFRT_DTYPE_F32},
    {"ncclDouble", TFRT_DTYPE_F64},
};
static const tfrt_named_number_t reduction_names[] = {
    {"ncclSum", TFRT_CCL_SUM}, {"ncclProd", TFRT_CCL_PRODUCT}, {"ncclMax", TFRT_CCL_MAX},
    {"ncclMin", TFRT_CCL_MIN}, {"ncclAvg", TFRT_CCL_AVERAGE},
};
static const tfrt_named_numbers_t types = {"type of elements", type_names,
                                           TFRT_ARRAY_SIZE(type_names)};
static const tfrt_named_numbers_t reductions = {"way to reduce", reduction_names,
                                                TFRT_ARRAY_SIZE(reduction_names)};

// --- Ids -------------------------------------------------------------------------------

static tfrt_status_t gpu_keep_ccl_id(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_device_manager_t* manager = tfrt_host_devices_find(job->host);
  if (!manager) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices");
  tfrt_device_platform_t* platform;
  tfrt_ccl_id_t id;
  TFRT_RETURN_IF_ERROR(tfrt_device_manager_platform(
      manager, tfrt_bef_attribute_string(job->attributes[0]), &platform));
  TFRT_RETURN_IF_ERROR(tfrt_device_platform_create_ccl_id(platform, &id));
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_gpu_type_id(TFRT_GPU_CCL_ID));
  if (!value) return tfrt_status_out_of_memory();
  *(tfrt_ccl_id_t*)tfrt_async_value_payload(value) = id;
  *out_value = value;
  return NULL;
}

static void gpu_ccl_unique_id(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_ccl_id);
}

// --- Members -----------------------------------------------------------------------------

// Releases the buffers of the |count| calls at |calls|, and frees the array, which has room for
// |capacity|.
static void gpu_ccl_free_calls(tfrt_ccl_call_t* calls, size_t count, size_t capacity) {
  for (size_t i = 0; i < count; ++i) {
    tfrt_device_buffer_release(calls[i].input);
    tfrt_device_buffer_release(calls[i].output);
  }
  tfrt_allocator_free(tfrt_allocator_system(), calls, capacity * sizeof(*calls));
}

void tfrt_gpu_ccl_free(tfrt_gpu_ccl_t* handle) {
  if (!handle) return;
  gpu_ccl_free_calls(handle->calls, handle->count, handle->capacity);
  tfrt_mutex_deinitialize(&handle->mutex);
  tfrt_device_ccl_release(handle->ccl);
  tfrt_allocator_free(tfrt_allocator_system(), handle, sizeof(*handle));
}

// Sets |*out_value| (+1) to a new handle of |ccl| (retained) that isn't available yet.
static tfrt_status_t gpu_ccl_create_value(tfrt_device_ccl_t* ccl, tfrt_async_value_t** out_value) {
  tfrt_async_value_t* value = tfrt_async_value_create_constructed(tfrt_gpu_type_id(TFRT_GPU_CCL));
  if (!value) return tfrt_status_out_of_memory();
  tfrt_gpu_ccl_t* handle = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*handle));
  *(tfrt_gpu_ccl_t**)tfrt_async_value_payload(value) = handle;
  if (!handle) {
    tfrt_async_value_set_error(value, tfrt_status_out_of_memory());
    tfrt_async_value_release(value);
    return tfrt_status_out_of_memory();
  }
  tfrt_mutex_initialize(&handle->mutex);
  handle->ccl = tfrt_device_ccl_retain(ccl);
  *out_value = value;
  return NULL;
}

// The result is there when the member can be used.
static tfrt_status_t gpu_keep_ccl(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  int32_t rank = *(const int32_t*)tfrt_gpu_job_payload(job, 1);
  int32_t size = *(const int32_t*)tfrt_gpu_job_payload(job, 2);
  tfrt_device_ccl_t* ccl;
  TFRT_RETURN_IF_ERROR(
      tfrt_device_create_ccl(context->device, tfrt_gpu_job_payload(job, 3), rank, size, &ccl));
  tfrt_status_t status = gpu_ccl_create_value(ccl, out_value);
  if (!status) {
    tfrt_async_value_t* joined = tfrt_device_ccl_join(ccl);
    tfrt_ccl_wait_start(ccl, joined, job->request, job->program, job->site,
                        tfrt_async_value_retain(*out_value));
    tfrt_async_value_release(joined);
  }
  tfrt_device_ccl_release(ccl);
  return status;
}

static void gpu_ccl_create(tfrt_kernel_frame_t* frame) { tfrt_gpu_job_start(frame, gpu_keep_ccl); }

// --- Calls -------------------------------------------------------------------------------

// Makes room for one more call. With the mutex.
static tfrt_status_t gpu_ccl_reserve(tfrt_gpu_ccl_t* handle) {
  if (handle->count < handle->capacity) return NULL;
  size_t capacity = handle->capacity > 0 ? 2 * handle->capacity : 4;
  tfrt_ccl_call_t* calls =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), capacity, sizeof(*calls));
  if (!calls) return tfrt_status_out_of_memory();
  for (size_t i = 0; i < handle->count; ++i) calls[i] = handle->calls[i];
  tfrt_allocator_free(tfrt_allocator_system(), handle->calls, handle->capacity * sizeof(*calls));
  handle->calls = calls;
  handle->capacity = capacity;
  return NULL;
}

static tfrt_status_t gpu_ccl_add(tfrt_gpu_ccl_t* handle, const tfrt_ccl_call_t* call) {
  TFRT_RETURN_IF_ERROR(tfrt_device_ccl_check(handle->ccl, call));
  tfrt_mutex_lock(&handle->mutex);
  tfrt_status_t status = gpu_ccl_reserve(handle);
  if (!status) {
    if (call->input) tfrt_device_buffer_retain(call->input);
    if (call->output) tfrt_device_buffer_retain(call->output);
    handle->calls[handle->count++] = *call;
  }
  tfrt_mutex_unlock(&handle->mutex);
  return status;
}

// Gives |call| to the frame's handle, with the type and the way to reduce that the attributes name.
static void gpu_ccl_give(tfrt_kernel_frame_t* frame, tfrt_ccl_call_t call) {
  int type;
  int reduction = 0;
  tfrt_status_t status = tfrt_named_number_read(&types, frame->attributes[0], &type);
  if (!status && frame->attribute_count > 1) {
    status = tfrt_named_number_read(&reductions, frame->attributes[1], &reduction);
  }
  if (!status) {
    call.dtype = (tfrt_dtype_t)type;
    call.reduction = (tfrt_ccl_reduction_t)reduction;
    status = gpu_ccl_add(tfrt_gpu_argument(frame, 0), &call);
  }
  tfrt_gpu_finish_take(frame, status);
}

// A call of all members: arguments 1 and 2 are its buffers.
static void gpu_ccl_give_to_all(tfrt_kernel_frame_t* frame, tfrt_ccl_kind_t kind) {
  gpu_ccl_give(frame, (tfrt_ccl_call_t){.kind = kind,
                                        .input = tfrt_gpu_argument(frame, 1),
                                        .output = tfrt_gpu_argument(frame, 2)});
}

static void gpu_ccl_all_gather(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give_to_all(frame, TFRT_CCL_ALL_GATHER);
}
static void gpu_ccl_all_reduce(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give_to_all(frame, TFRT_CCL_ALL_REDUCE);
}
static void gpu_ccl_reduce_scatter(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give_to_all(frame, TFRT_CCL_REDUCE_SCATTER);
}
static void gpu_ccl_all_to_all(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give_to_all(frame, TFRT_CCL_ALL_TO_ALL);
}

static void gpu_ccl_send(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give(frame, (tfrt_ccl_call_t){.kind = TFRT_CCL_SEND,
                                        .peer = *(int32_t*)tfrt_kernel_frame_payload(frame, 2),
                                        .input = tfrt_gpu_argument(frame, 1)});
}

static void gpu_ccl_recv(tfrt_kernel_frame_t* frame) {
  gpu_ccl_give(frame, (tfrt_ccl_call_t){.kind = TFRT_CCL_RECEIVE,
                                        .peer = *(int32_t*)tfrt_kernel_frame_payload(frame, 2),
                                        .output = tfrt_gpu_argument(frame, 1)});
}

// --- Execution -----------------------------------------------------------------------------

static tfrt_status_t gpu_keep_executed(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  (void)job;
  *out_value = tfrt_async_value_ready_chain();
  return NULL;
}

static void gpu_ccl_execute(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_ccl_t* handle = tfrt_gpu_argument(frame, 1);
  tfrt_mutex_lock(&handle->mutex);
  tfrt_ccl_call_t* calls = handle->calls;
  size_t count = handle->count;
  size_t capacity = handle->capacity;
  handle->calls = NULL;
  handle->count = 0;
  handle->capacity = 0;
  tfrt_mutex_unlock(&handle->mutex);
  tfrt_async_value_t* chain = tfrt_device_ccl_execute(
      handle->ccl, tfrt_gpu_stream_argument(frame, 0)->stream, calls, count);
  gpu_ccl_free_calls(calls, count, capacity);
  tfrt_ccl_wait_start(handle->ccl, chain, frame->context->request,
                      tfrt_kernel_site_program(frame->site), frame->site, NULL);
  tfrt_gpu_job_start_after_take(frame, chain, NULL, gpu_keep_executed);
}

// --- Registration ----------------------------------------------------------------------

static const tfrt_kernel_registration_t kernels[] = {
    {"tfrt_gpu.ccl.unique_id", gpu_ccl_unique_id},
    {"tfrt_gpu.ccl.create", gpu_ccl_create},
    {"tfrt_gpu.ccl.all_gather", gpu_ccl_all_gather},
    {"tfrt_gpu.ccl.all_reduce", gpu_ccl_all_reduce},
    {"tfrt_gpu.ccl.reduce_scatter", gpu_ccl_reduce_scatter},
    {"tfrt_gpu.ccl.all_to_all", gpu_ccl_all_to_all},
    {"tfrt_gpu.ccl.send", gpu_ccl_send},
    {"tfrt_gpu.ccl.recv", gpu_ccl_recv},
    {"tfrt_gpu.ccl.execute", gpu_ccl_execute},
};

tfrt_status_t tfrt_ccl_kernels_register(tfrt_kernel_registry_t* registry) {
  return tfrt_kernel_registry_add_all(registry, &tfrt_ccl_ops, kernels, TFRT_ARRAY_SIZE(kernels));
}
