// SPDX-License-Identifier: Apache-2.0
#include "devices/device_ccl.h"

#include "devices/device_graph.h"

void tfrt_device_ccl_initialize(tfrt_device_ccl_t* ccl, const tfrt_device_ccl_vtable_t* vtable,
                                tfrt_device_t* device, int32_t rank, int32_t size) {
  ccl->vtable = vtable;
  tfrt_ref_count_initialize(&ccl->ref_count);
  ccl->device = tfrt_device_retain(device);
  ccl->rank = rank;
  ccl->size = size;
}

tfrt_status_t tfrt_device_platform_create_ccl_id(tfrt_device_platform_t* platform,
                                                 tfrt_ccl_id_t* out_id) {
  *out_id = (tfrt_ccl_id_t){{0}};
  return platform->vtable->create_ccl_id(platform, out_id);
}

static tfrt_status_t device_ccl_check_rank(const tfrt_device_t* device, int32_t rank,
                                           int32_t size) {
  if (rank >= 0 && rank < size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: there is no member %d of a group of %d: ranks count from 0",
                            device->name, rank, size);
}

tfrt_status_t tfrt_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                                     int32_t size, tfrt_device_ccl_t** out_ccl) {
  *out_ccl = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  if (size < 1 || size > TFRT_CCL_MAX_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a group of %d devices: groups have 1 to %d", device->name, size,
                              TFRT_CCL_MAX_SIZE);
  }
  TFRT_RETURN_IF_ERROR(device_ccl_check_rank(device, rank, size));
  return device->vtable->create_ccl(device, id, rank, size, out_ccl);
}

tfrt_status_t tfrt_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) {
  *out_site = (tfrt_ccl_site_t){{0}, {0}};
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  return device->vtable->ccl_site(device, out_site);
}

tfrt_device_ccl_t* tfrt_device_ccl_retain(tfrt_device_ccl_t* ccl) {
  tfrt_ref_count_increment(&ccl->ref_count);
  return ccl;
}

void tfrt_device_ccl_release(tfrt_device_ccl_t* ccl) {
  if (!ccl || !tfrt_ref_count_decrement(&ccl->ref_count)) return;
  tfrt_device_t* device = ccl->device;
  ccl->vtable->destroy(ccl);
  tfrt_device_release(device);
}

tfrt_async_value_t* tfrt_device_ccl_join(tfrt_device_ccl_t* ccl) { return ccl->vtable->join(ccl); }

void tfrt_device_ccl_abort(tfrt_device_ccl_t* ccl, tfrt_status_t reason) {
  ccl->vtable->abort(ccl, reason);
}

void tfrt_device_ccl_watch(tfrt_device_ccl_t* ccl) { ccl->vtable->watch(ccl); }

tfrt_status_t tfrt_device_ccl_unwatch(tfrt_device_ccl_t* ccl) { return ccl->vtable->unwatch(ccl); }

// --- Checks ------------------------------------------------------------------------------

bool tfrt_device_ccl_takes(tfrt_dtype_t dtype) {
  switch (dtype) {
    case TFRT_DTYPE_I8:
    case TFRT_DTYPE_UI8:
    case TFRT_DTYPE_I32:
    case TFRT_DTYPE_UI32:
    case TFRT_DTYPE_I64:
    case TFRT_DTYPE_UI64:
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
    case TFRT_DTYPE_F32:
    case TFRT_DTYPE_F64:
      return true;
    default:
      return false;
  }
}

static tfrt_status_t device_ccl_check_buffer(tfrt_device_ccl_t* ccl,
                                             const tfrt_device_buffer_t* buffer,
                                             tfrt_dtype_t dtype) {
  if (!buffer) return NULL;
  if (buffer->device != ccl->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a member of a group on %s gets a buffer of %s", ccl->device->name,
                              buffer->device->name);
  }
  if (buffer->size % tfrt_dtype_size(dtype) != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: a buffer of %zu bytes is no whole number of %s",
                              ccl->device->name, buffer->size, tfrt_dtype_name(dtype));
  }
  return tfrt_device_buffer_check(buffer, 0, buffer->size);
}

// Whether |call|, to or from one member, has the buffers that the member |rank| brings.
static bool device_ccl_fits_root(int32_t rank, const tfrt_ccl_call_t* call) {
  if (call->kind == TFRT_CCL_BROADCAST) {
    return rank == call->peer ? call->input && !call->output : !call->input && call->output;
  }
  if (!call->input) return false;
  return rank == call->peer ? call->output && call->output->size == call->input->size
                            : !call->output;
}

// Whether the buffers of |call| have the sizes that go with it.
static bool device_ccl_fits(const tfrt_device_ccl_t* ccl, const tfrt_ccl_call_t* call) {
  size_t members = (size_t)ccl->size;
  size_t input = call->input ? call->input->size : 0;
  size_t output = call->output ? call->output->size : 0;
  switch (call->kind) {
    case TFRT_CCL_ALL_GATHER:
      return output / members == input && output % members == 0;
    case TFRT_CCL_REDUCE_SCATTER:
      return input / members == output && input % members == 0;
    case TFRT_CCL_ALL_TO_ALL:
      return input == output && input % (members * tfrt_dtype_size(call->dtype)) == 0;
    case TFRT_CCL_REDUCE:
    case TFRT_CCL_BROADCAST:
      return device_ccl_fits_root(ccl->rank, call);
    default:
      return call->kind != TFRT_CCL_ALL_REDUCE || input == output;
  }
}

tfrt_status_t tfrt_device_ccl_check(tfrt_device_ccl_t* ccl, const tfrt_ccl_call_t* call) {
  const char* name = ccl->device->name;
  if (!tfrt_device_ccl_takes(call->dtype)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: groups of devices don't exchange elements of %s", name,
                              tfrt_dtype_name(call->dtype));
  }
  TFRT_RETURN_IF_ERROR(device_ccl_check_buffer(ccl, call->input, call->dtype));
  TFRT_RETURN_IF_ERROR(device_ccl_check_buffer(ccl, call->output, call->dtype));
  bool is_between_two = call->kind == TFRT_CCL_SEND || call->kind == TFRT_CCL_RECEIVE;
  if (is_between_two || call->kind == TFRT_CCL_REDUCE || call->kind == TFRT_CCL_BROADCAST) {
    TFRT_RETURN_IF_ERROR(device_ccl_check_rank(ccl->device, call->peer, ccl->size));
  }
  if (is_between_two) return NULL;
  if (device_ccl_fits(ccl, call)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: an input of %zu bytes doesn't go with an output of %zu in a group "
                            "of %d",
                            name, call->input ? call->input->size : 0,
                            call->output ? call->output->size : 0, ccl->size);
}

// --- Work --------------------------------------------------------------------------------

static size_t ccl_work_size(size_t count) {
  return sizeof(tfrt_ccl_work_t) + count * sizeof(tfrt_ccl_call_t);
}

static void ccl_work_free(tfrt_ccl_work_t* work) {
  tfrt_device_ccl_t* ccl = work->ccl;
  for (size_t i = 0; i < work->count; ++i) {
    tfrt_device_buffer_release(work->calls[i].input);
    tfrt_device_buffer_release(work->calls[i].output);
  }
  tfrt_device_stream_release(work->stream);
  tfrt_async_value_release(work->value);
  tfrt_allocator_free(ccl->device->platform->allocator, work, ccl_work_size(work->count));
  tfrt_device_ccl_release(ccl);
}

void tfrt_ccl_work_finish_take(tfrt_ccl_work_t* work, tfrt_status_t status) {
  if (status) {
    tfrt_async_value_set_error(work->value, status);
  } else {
    tfrt_async_value_set_available(work->value);
  }
  tfrt_status_release(status);
  ccl_work_free(work);
}

// Adds |call|, which was checked, to |work|, with |skipped| elements of both buffers left out.
static void ccl_work_add(tfrt_ccl_work_t* work, const tfrt_ccl_call_t* call, size_t count,
                         size_t skipped) {
  tfrt_ccl_call_t* added = &work->calls[work->count++];
  size_t offset = skipped * tfrt_dtype_size(call->dtype);
  *added = *call;
  added->count = count;
  if (call->input) {
    tfrt_device_buffer_retain(call->input);
    added->source = call->input->address + offset;
  }
  if (call->output) {
    tfrt_device_buffer_retain(call->output);
    added->target = call->output->address + offset;
  }
}

// Adds what |call| is to backends.
static void ccl_work_expand(tfrt_ccl_work_t* work, const tfrt_ccl_call_t* call) {
  size_t width = tfrt_dtype_size(call->dtype);
  if (call->kind != TFRT_CCL_ALL_TO_ALL) {
    bool is_output = call->kind == TFRT_CCL_REDUCE_SCATTER || !call->input;
    ccl_work_add(work, call, (is_output ? call->output : call->input)->size / width, 0);
    return;
  }
  size_t count = call->input->size / width / (size_t)work->ccl->size;
  for (int32_t peer = 0; peer < work->ccl->size; ++peer) {
    tfrt_ccl_call_t send = {
        .kind = TFRT_CCL_SEND, .dtype = call->dtype, .peer = peer, .input = call->input};
    tfrt_ccl_call_t receive = {
        .kind = TFRT_CCL_RECEIVE, .dtype = call->dtype, .peer = peer, .output = call->output};
    ccl_work_add(work, &send, count, (size_t)peer * count);
    ccl_work_add(work, &receive, count, (size_t)peer * count);
  }
}

static tfrt_status_t ccl_work_create(tfrt_device_ccl_t* ccl, tfrt_device_stream_t* stream,
                                     const tfrt_ccl_call_t* calls, size_t count,
                                     tfrt_ccl_work_t** out_work) {
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    total += calls[i].kind == TFRT_CCL_ALL_TO_ALL ? 2 * (size_t)ccl->size : 1;
  }
  tfrt_ccl_work_t* work =
      tfrt_allocator_allocate_zeroed(ccl->device->platform->allocator, ccl_work_size(total));
  if (!work) return tfrt_status_out_of_memory();
  work->value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!work->value) {
    tfrt_allocator_free(ccl->device->platform->allocator, work, ccl_work_size(total));
    return tfrt_status_out_of_memory();
  }
  // Behind the work: its size is a multiple of what a call's place must be.
  work->calls = (tfrt_ccl_call_t*)(work + 1);
  work->ccl = tfrt_device_ccl_retain(ccl);
  work->stream = tfrt_device_stream_retain(stream);
  for (size_t i = 0; i < count; ++i) ccl_work_expand(work, &calls[i]);
  *out_work = work;
  return NULL;
}

static tfrt_status_t device_ccl_check_all(tfrt_device_ccl_t* ccl, tfrt_device_stream_t* stream,
                                          const tfrt_ccl_call_t* calls, size_t count) {
  TFRT_RETURN_IF_ERROR(tfrt_device_check(ccl->device));
  if (stream->device != ccl->device) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a stream of %s gets work of a member of a group on %s",
                              stream->device->name, ccl->device->name);
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "a call of a library"));
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_device_ccl_check(ccl, &calls[i]));
  }
  return NULL;
}

// The memory of buffers comes back behind the stream from here on, also if the work fails later.
static tfrt_status_t ccl_work_use_buffers(tfrt_ccl_work_t* work) {
  for (size_t i = 0; i < work->count; ++i) {
    const tfrt_ccl_call_t* call = &work->calls[i];
    if (call->input) TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call->input, work->stream));
    if (call->output) TFRT_RETURN_IF_ERROR(tfrt_device_buffer_use(call->output, work->stream));
  }
  return NULL;
}

tfrt_async_value_t* tfrt_device_ccl_execute(tfrt_device_ccl_t* ccl, tfrt_device_stream_t* stream,
                                            const tfrt_ccl_call_t* calls, size_t count) {
  tfrt_ccl_work_t* work = NULL;
  tfrt_status_t status = device_ccl_check_all(ccl, stream, calls, count);
  if (!status && count == 0) return tfrt_async_value_ready_chain();
  if (!status) status = ccl_work_create(ccl, stream, calls, count, &work);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* value = tfrt_async_value_retain(work->value);
  status = ccl_work_use_buffers(work);
  if (status) {
    tfrt_ccl_work_finish_take(work, status);
  } else {
    ccl->vtable->execute(ccl, work);
  }
  return value;
}
