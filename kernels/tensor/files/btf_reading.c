// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/files/btf_reading.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/btf.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/tensor/kernel_parts/compute.h"

// A reading on its way through the blocking queue.
typedef struct btf_job_s {
  tfrt_task_t task;
  tfrt_btf_reading_t reading;  // but for |path|
  tfrt_string_builder_t path;  // where the file is
  tfrt_allocator_t allocator;
  tfrt_request_context_t* request;  // +1
  const tfrt_kernel_site_t* site;   // +1
  uint32_t capacity;                // of |results|
  uint32_t result_count;            // created so far; all of them once it is queued
  tfrt_async_value_t* results[];    // +1 each
} btf_job_t;

static size_t job_size(uint32_t result_count) {
  return sizeof(btf_job_t) + result_count * sizeof(tfrt_async_value_t*);
}

// --- The file ----------------------------------------------------------------

static void free_contents(void* context, void* data, size_t size) {
  (void)data;
  (void)size;
  tfrt_file_contents_t* contents = context;
  tfrt_allocator_t allocator = contents->allocator;
  tfrt_file_contents_deinitialize(contents);
  tfrt_allocator_free(allocator, contents, sizeof(*contents));
}

// Sets |*out_file| (+1) to the bytes of the file |path|.
static tfrt_status_t read_file(const char* path, tfrt_allocator_t allocator,
                               tfrt_host_buffer_t** out_file) {
  tfrt_file_contents_t* contents = tfrt_allocator_allocate_zeroed(allocator, sizeof(*contents));
  if (!contents) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to read %s", path);
  }
  tfrt_status_t status = tfrt_file_read(path, allocator, contents);
  if (!status) {
    status = tfrt_host_buffer_create_external(contents->data, contents->size, free_contents,
                                              contents, allocator, out_file);
    if (status) tfrt_file_contents_deinitialize(contents);
  }
  if (!status) return NULL;
  tfrt_allocator_free(allocator, contents, sizeof(*contents));
  return tfrt_status_take_annotate(status, "failed to open file %s for reading", path);
}

static tfrt_status_t check_tensor(const tfrt_btf_reading_t* reading, uint64_t index,
                                  const tfrt_host_tensor_t* tensor) {
  tfrt_dtype_t dtype = tfrt_host_tensor_dtype(tensor);
  const tfrt_shape_t* shape = tfrt_host_tensor_shape(tensor);
  // A reading without a dtype takes all that there is.
  if (reading->dtype == TFRT_DTYPE_INVALID) return NULL;
  if (dtype == reading->dtype && shape->rank == (uint32_t)reading->rank &&
      tensor->layout == reading->layout) {
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "tensor %" PRIu64 " should be a %s of %s with %" PRId32
                            " axes, but is a %s of %s with the shape %s",
                            index, tfrt_tensor_layout_name(reading->layout),
                            tfrt_dtype_name(reading->dtype), reading->rank,
                            tfrt_tensor_layout_name(tensor->layout), tfrt_dtype_name(dtype),
                            tfrt_shape_text(shape).text);
}

// Constructs the payloads of the |count| values at |values| from |file|. After an error,
// |*out_done| of them are constructed.
static tfrt_status_t read_tensors(const tfrt_btf_reading_t* reading, tfrt_host_buffer_t* file,
                                  tfrt_allocator_t allocator, tfrt_async_value_t* const* values,
                                  uint32_t count, uint32_t* out_done) {
  *out_done = 0;
  uint64_t in_file;
  TFRT_RETURN_IF_ERROR(tfrt_btf_count(file, &in_file));
  if (reading->all && in_file != count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "it has %" PRIu64 " tensors, but %" PRIu32 " are asked for", in_file,
                              count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t index = (uint64_t)reading->first + i;
    tfrt_host_tensor_t* tensor = tfrt_async_value_payload(values[i]);
    TFRT_RETURN_IF_ERROR(tfrt_btf_read_any(file, index, allocator, tensor));
    *out_done = i + 1;
    TFRT_RETURN_IF_ERROR(check_tensor(reading, index, tensor));
  }
  return NULL;
}

// --- The job -----------------------------------------------------------------

static tfrt_status_t read_all(btf_job_t* job) {
  const char* path = tfrt_string_builder_text(&job->path);
  uint32_t first = job->reading.has_chain ? 1 : 0;
  tfrt_host_buffer_t* file;
  TFRT_RETURN_IF_ERROR(read_file(path, job->allocator, &file));
  uint32_t done;
  tfrt_status_t status = read_tensors(&job->reading, file, job->allocator, job->results + first,
                                      job->result_count - first, &done);
  tfrt_host_buffer_release(file);
  if (!status) return NULL;
  // Nobody sees the tensors of a reading that failed.
  for (uint32_t i = 0; i < done; ++i) {
    tfrt_host_tensor_deinitialize(tfrt_async_value_payload(job->results[first + i]));
  }
  return tfrt_status_take_annotate(status, "%s", path);
}

// Resolves from the last result to the first one, which may be the chain.
static void resolve(btf_job_t* job, tfrt_status_t status) {
  for (uint32_t i = job->result_count; i-- > 0;) {
    if (status) {
      tfrt_kernel_site_fail_take(job->site, job->results[i], tfrt_status_retain(status));
    } else {
      tfrt_async_value_set_available(job->results[i]);
    }
    tfrt_async_value_release(job->results[i]);
  }
}

static void free_job(btf_job_t* job) {
  tfrt_request_context_release(job->request);
  tfrt_kernel_site_release(job->site);
  tfrt_string_builder_deinitialize(&job->path);
  tfrt_allocator_free(job->allocator, job, job_size(job->capacity));
}

static void run_job(tfrt_task_t* task) {
  btf_job_t* job = TFRT_CONTAINER_OF(task, btf_job_t, task);
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(job->request);
  tfrt_status_t status =
      cancelled ? tfrt_status_retain(tfrt_async_value_error(cancelled)) : read_all(job);
  resolve(job, status);
  tfrt_status_release(status);
  free_job(job);
}

// Sets |*out_job| to a job for |reading|, still without results.
static tfrt_status_t create_job(const tfrt_kernel_frame_t* frame, const tfrt_btf_reading_t* reading,
                                btf_job_t** out_job) {
  *out_job = NULL;
  tfrt_allocator_t allocator = tfrt_kernel_frame_allocator(frame);
  btf_job_t* job = tfrt_allocator_allocate_zeroed(allocator, job_size(frame->result_count));
  if (!job) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "memory is out");
  job->reading = *reading;
  job->allocator = allocator;
  job->request = tfrt_request_context_retain(frame->context->request);
  job->site = tfrt_kernel_site_retain(frame->site);
  job->capacity = frame->result_count;
  tfrt_task_initialize(&job->task, run_job);
  tfrt_string_builder_initialize(&job->path, allocator);
  tfrt_host_context_resolve_path(frame->context->host, reading->path, &job->path);
  tfrt_status_t status = tfrt_string_builder_status(&job->path);
  if (status) {
    free_job(job);
  } else {
    *out_job = job;
  }
  return status;
}

// Makes the results: unavailable values, one reference for the frame and one for the job.
static tfrt_status_t create_results(tfrt_kernel_frame_t* frame, btf_job_t* job) {
  for (uint32_t i = 0; i < job->capacity; ++i) {
    bool is_chain = i == 0 && job->reading.has_chain;
    tfrt_type_id_t type = is_chain ? (tfrt_type_id_t)TFRT_TYPE_CHAIN : tfrt_host_tensor_type_id();
    job->results[i] = tfrt_async_value_create_unconstructed(type);
    if (!job->results[i]) {
      return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "memory is out");
    }
    job->result_count = i + 1;
    tfrt_kernel_frame_set(frame, i, tfrt_async_value_retain(job->results[i]));
  }
  return NULL;
}

void tfrt_btf_reading_start(tfrt_kernel_frame_t* frame, const tfrt_btf_reading_t* reading) {
  btf_job_t* job = NULL;
  tfrt_status_t status = create_job(frame, reading, &job);
  if (status) {
    tfrt_kernel_frame_fail_take(frame, status);
    return;
  }
  status = create_results(frame, job);
  if (!status) {
    if (tfrt_work_queue_add_blocking_task(frame->context->work_queue, &job->task, true)) return;
    status =
        tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "too many blocking tasks; can't read %s",
                           tfrt_string_builder_text(&job->path));
  }
  resolve(job, status);
  free_job(job);
  tfrt_kernel_frame_fail_take(frame, status);
}
