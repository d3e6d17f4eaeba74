// SPDX-License-Identifier: Apache-2.0
//
// Code of devices: loading it, finding things in it, running it.
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/host_context.h"
#include "kernels/device/device_job.h"
#include "kernels/device/kernel_groups.h"

#define TFRT_GPU_MAX_NAME_SIZE 512

// The first of the arguments that a kernel on the device gets: of a plain launch, with a priority,
// and with clusters.
#define TFRT_GPU_LAUNCH_FIRST_ARGUMENT 10
#define TFRT_GPU_PRIORITY_FIRST_ARGUMENT 11
#define TFRT_GPU_CLUSTER_FIRST_ARGUMENT 13

// --- Modules -------------------------------------------------------------------------

// Loads |image| for |job|.
static tfrt_status_t gpu_load_image(tfrt_gpu_job_t* job, tfrt_string_view_t image,
                                    tfrt_async_value_t** out_value) {
  tfrt_gpu_context_t* context = *(tfrt_gpu_context_t**)tfrt_gpu_job_payload(job, 0);
  tfrt_device_module_t* module;
  TFRT_RETURN_IF_ERROR(tfrt_device_load_module(context->device, image.data, image.size, &module));
  *out_value = tfrt_gpu_value_create_take(TFRT_GPU_MODULE, module);
  return NULL;
}

static tfrt_status_t gpu_keep_module(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  return gpu_load_image(job, tfrt_bef_attribute_string(job->attributes[0]), out_value);
}

void tfrt_gpu_module_load(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_module);
}

static tfrt_status_t gpu_keep_module_of_file(tfrt_gpu_job_t* job, tfrt_async_value_t** out_value) {
  tfrt_string_builder_t path;
  tfrt_file_contents_t file = {0};
  tfrt_string_builder_initialize(&path, tfrt_allocator_system());
  tfrt_host_context_resolve_path(job->host, tfrt_bef_attribute_string(job->attributes[0]), &path);
  tfrt_status_t status = tfrt_string_builder_status(&path);
  if (!status) {
    status = tfrt_file_read(tfrt_string_builder_text(&path), tfrt_allocator_system(), &file);
  }
  tfrt_string_builder_deinitialize(&path);
  if (!status) {
    status =
        gpu_load_image(job, tfrt_string_view_make((const char*)file.data, file.size), out_value);
  }
  tfrt_file_contents_deinitialize(&file);
  return status;
}

void tfrt_gpu_module_load_file(tfrt_kernel_frame_t* frame) {
  tfrt_gpu_job_start(frame, gpu_keep_module_of_file);
}

// Copies the attribute `name` of |frame|, with a NUL, to |out_name|, which has room for
// TFRT_GPU_MAX_NAME_SIZE bytes; fails the frame if it is too long.
static bool gpu_read_name(tfrt_kernel_frame_t* frame, char* out_name) {
  tfrt_string_view_t name = tfrt_bef_attribute_string(frame->attributes[0]);
  if (name.size >= TFRT_GPU_MAX_NAME_SIZE) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a name of %zu bytes", name.size);
    return false;
  }
  memcpy(out_name, name.data, name.size);
  out_name[name.size] = '\0';
  return true;
}

void tfrt_gpu_module_get_global(tfrt_kernel_frame_t* frame) {
  char name[TFRT_GPU_MAX_NAME_SIZE];
  if (!gpu_read_name(frame, name)) return;
  tfrt_device_buffer_t* buffer;
  tfrt_status_t status = tfrt_device_module_global(tfrt_gpu_argument(frame, 0), name, &buffer);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_BUFFER, buffer));
}

void tfrt_gpu_module_get_function(tfrt_kernel_frame_t* frame) {
  char name[TFRT_GPU_MAX_NAME_SIZE];
  if (!gpu_read_name(frame, name)) return;
  tfrt_device_function_t* function;
  tfrt_status_t status = tfrt_device_module_function(tfrt_gpu_argument(frame, 0), name, &function);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_gpu_value_create_take(TFRT_GPU_FUNCTION, function));
}

// --- Launches ------------------------------------------------------------------------

static uint32_t gpu_ui32(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const uint32_t*)tfrt_kernel_frame_payload(frame, index);
}

// Converts argument |index| of |frame| to an argument of the device's kernel, whose first argument
// is |first|.
static tfrt_status_t gpu_get_argument(const tfrt_kernel_frame_t* frame, uint32_t first,
                                      uint32_t index, tfrt_device_argument_t* out_argument) {
  tfrt_type_id_t type = frame->arguments[index]->type_id;
  *out_argument = (tfrt_device_argument_t){0};
  if (type == tfrt_gpu_type_id(TFRT_GPU_BUFFER)) {
    out_argument->buffer = tfrt_gpu_argument(frame, index);
    return NULL;
  }
  if (type >= TFRT_TYPE_I1 && type <= TFRT_TYPE_F64) {
    out_argument->bytes = tfrt_kernel_frame_payload(frame, index);
    out_argument->size = tfrt_type_get(type)->size;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "argument %u is %s: kernels of devices take buffers and numbers",
                            index - first, tfrt_type_get(type)->name);
}

// Launches as |launch| says, whose grid, block and shared size are those of |frame|; its arguments
// for the device begin with |first|.
static void gpu_launch(tfrt_kernel_frame_t* frame, tfrt_device_launch_t launch, uint32_t first) {
  tfrt_device_argument_t arguments[TFRT_DEVICE_MAX_PARAMETERS];
  uint32_t count = frame->argument_count - first;
  if (count > TFRT_DEVICE_MAX_PARAMETERS) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "%u arguments for a kernel", count);
    return;
  }
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < count && !status; ++i) {
    status = gpu_get_argument(frame, first, first + i, &arguments[i]);
  }
  launch.shared_size = gpu_ui32(frame, first - 2);
  for (uint32_t i = 0; i < 3; ++i) {
    launch.grid[i] = gpu_ui32(frame, 2 + i);
    launch.block[i] = gpu_ui32(frame, 5 + i);
  }
  if (!status) {
    status = tfrt_device_stream_launch(tfrt_gpu_stream_argument(frame, 0)->stream,
                                       tfrt_gpu_argument(frame, 1), &launch, arguments, count);
  }
  tfrt_gpu_finish_take(frame, status);
}

void tfrt_gpu_function_launch(tfrt_kernel_frame_t* frame) {
  gpu_launch(frame, (tfrt_device_launch_t){0}, TFRT_GPU_LAUNCH_FIRST_ARGUMENT);
}

void tfrt_gpu_function_launch_cooperative(tfrt_kernel_frame_t* frame) {
  gpu_launch(frame, (tfrt_device_launch_t){.is_cooperative = true}, TFRT_GPU_LAUNCH_FIRST_ARGUMENT);
}

void tfrt_gpu_function_launch_priority(tfrt_kernel_frame_t* frame) {
  int32_t priority = *(const int32_t*)tfrt_kernel_frame_payload(frame, 8);
  gpu_launch(frame, (tfrt_device_launch_t){.priority = priority}, TFRT_GPU_PRIORITY_FIRST_ARGUMENT);
}

void tfrt_gpu_function_launch_cluster(tfrt_kernel_frame_t* frame) {
  tfrt_device_launch_t launch = {0};
  for (uint32_t i = 0; i < 3; ++i) {
    launch.cluster[i] = gpu_ui32(frame, 8 + i);
    // An axis of none would be a launch without clusters.
    if (launch.cluster[i] > 0) continue;
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a cluster of 0 blocks");
    return;
  }
  gpu_launch(frame, launch, TFRT_GPU_CLUSTER_FIRST_ARGUMENT);
}
