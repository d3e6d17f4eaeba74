// SPDX-License-Identifier: Apache-2.0
#include "devices/device_buffer.h"

#include "devices/device_graph.h"

// --- Making ------------------------------------------------------------------

tfrt_status_t tfrt_device_buffer_create(tfrt_device_t* device, tfrt_device_space_t space,
                                        tfrt_device_address_t address, size_t size,
                                        const tfrt_device_buffer_source_t* source,
                                        tfrt_device_stream_t* home,
                                        tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  tfrt_device_buffer_t* buffer =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*buffer));
  if (!buffer) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&buffer->ref_count);
  buffer->space = space;
  atomic_init(&buffer->is_freed, false);
  buffer->device = tfrt_device_retain(device);
  buffer->address = address;
  buffer->size = size;
  buffer->source = source;
  buffer->home = home ? tfrt_device_stream_retain(home) : NULL;
  tfrt_mutex_initialize(&buffer->mutex);
  *out_buffer = buffer;
  return NULL;
}

static void device_buffer_destroy(tfrt_device_buffer_t* buffer) {
  tfrt_device_t* device = buffer->device;
  tfrt_device_stream_release(buffer->home);
  tfrt_mutex_deinitialize(&buffer->mutex);
  tfrt_allocator_free(device->platform->allocator, buffer, sizeof(*buffer));
  tfrt_device_release(device);
}

tfrt_status_t tfrt_device_buffer_create_view(tfrt_device_buffer_t* buffer, size_t offset,
                                             size_t size, tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_check(buffer, offset, size));
  TFRT_RETURN_IF_ERROR(tfrt_device_buffer_create(buffer->device, buffer->space,
                                                 buffer->address + offset, size, buffer->source,
                                                 NULL, out_buffer));
  // A view of a view is one of the whole: freeing is asked of that.
  (*out_buffer)->parent = tfrt_device_buffer_retain(buffer->parent ? buffer->parent : buffer);
  return NULL;
}

// --- External memory -----------------------------------------------------------

// The state for ending an external buffer; made with the buffer, so that the end needs no memory.
typedef struct tfrt_device_buffer_end_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;  // +1, what |task| waits for
  tfrt_device_buffer_release_fn_t release;
  void* context;
  tfrt_device_t* device;  // +1
  size_t size;
} tfrt_device_buffer_end_t;

static void device_buffer_end_run(tfrt_task_t* task) {
  tfrt_device_buffer_end_t* end = TFRT_CONTAINER_OF(task, tfrt_device_buffer_end_t, task);
  tfrt_device_t* device = end->device;
  tfrt_status_t lost = tfrt_device_check(device);
  if (lost || !tfrt_async_value_is_error(end->value)) {
    end->release(end->context);
  } else {
    tfrt_status_t why = tfrt_async_value_error(end->value);
    tfrt_device_report_kept(device, end->size, tfrt_status_retain(why));
  }
  tfrt_status_release(lost);
  tfrt_async_value_release(end->value);
  tfrt_allocator_free(device->platform->allocator, end, sizeof(*end));
  tfrt_device_release(device);
}

// Work can only be awaited, not put behind the stream: the host takes the memory back. On a
// lost device nothing runs any more, so there is nothing to wait for.
static void device_buffer_free_external(tfrt_device_buffer_t* buffer,
                                        tfrt_device_stream_t* stream) {
  tfrt_device_buffer_end_t* end = buffer->owner;
  end->value = stream ? tfrt_device_stream_await(stream) : tfrt_async_value_ready_chain();
  tfrt_async_value_and_then(end->value, &end->task);
}

static void device_buffer_forget_external(tfrt_device_buffer_t* buffer) {
  tfrt_device_buffer_end_t* end = buffer->owner;
  tfrt_allocator_free(buffer->device->platform->allocator, end, sizeof(*end));
  tfrt_device_release(buffer->device);
}

static const tfrt_device_buffer_source_t external_source = {device_buffer_free_external,
                                                            device_buffer_forget_external};

tfrt_status_t tfrt_device_buffer_create_external(tfrt_device_t* device, tfrt_device_space_t space,
                                                 tfrt_device_address_t address, size_t size,
                                                 tfrt_device_buffer_release_fn_t release,
                                                 void* context, tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_device_buffer_end_t* end = tfrt_allocator_allocate_zeroed(allocator, sizeof(*end));
  if (!end) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_device_buffer_create(device, space, address, size, &external_source, NULL, out_buffer);
  if (status) {
    tfrt_allocator_free(allocator, end, sizeof(*end));
    return status;
  }
  tfrt_task_initialize(&end->task, device_buffer_end_run);
  end->release = release;
  end->context = context;
  end->size = size;
  end->device = tfrt_device_retain(device);
  (*out_buffer)->owner = end;
  return NULL;
}

// Memory of the host that a device has pinned.
typedef struct tfrt_device_pinned_s {
  tfrt_device_t* device;            // +1
  tfrt_host_buffer_t* host_buffer;  // +1
} tfrt_device_pinned_t;

static void device_pinned_release(void* context) {
  tfrt_device_pinned_t* pinned = context;
  tfrt_device_t* device = pinned->device;
  tfrt_host_buffer_t* host_buffer = pinned->host_buffer;
  tfrt_status_t status = device->vtable->unpin(device, host_buffer->data, host_buffer->size);
  // Ignores an error: a lost device has released everything already.
  tfrt_status_release(status);
  tfrt_host_buffer_release(host_buffer);
  tfrt_allocator_free(device->platform->allocator, pinned, sizeof(*pinned));
  tfrt_device_release(device);
}

tfrt_status_t tfrt_device_buffer_create_pinned(tfrt_device_t* device,
                                               tfrt_host_buffer_t* host_buffer,
                                               tfrt_device_buffer_t** out_buffer) {
  *out_buffer = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_check(device));
  if (host_buffer->size == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: 0 bytes can't be pinned",
                              device->name);
  }
  tfrt_device_pinned_t* pinned =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*pinned));
  if (!pinned) return tfrt_status_out_of_memory();
  tfrt_status_t status = device->vtable->pin(device, host_buffer->data, host_buffer->size);
  if (status) {
    tfrt_allocator_free(device->platform->allocator, pinned, sizeof(*pinned));
    return status;
  }
  pinned->device = tfrt_device_retain(device);
  pinned->host_buffer = tfrt_host_buffer_retain(host_buffer);
  status = tfrt_device_buffer_create_external(
      device, TFRT_DEVICE_SPACE_HOST, (tfrt_device_address_t)(uintptr_t)host_buffer->data,
      host_buffer->size, device_pinned_release, pinned, out_buffer);
  if (status) device_pinned_release(pinned);
  return status;
}

// --- Using ---------------------------------------------------------------------

static const tfrt_device_buffer_t* device_buffer_root(const tfrt_device_buffer_t* buffer) {
  return buffer->parent ? buffer->parent : buffer;
}

tfrt_status_t tfrt_device_buffer_check(const tfrt_device_buffer_t* buffer, size_t offset,
                                       size_t size) {
  // Relaxed: the caller orders freeing with all uses; this finds where it didn't.
  if (atomic_load_explicit(&((tfrt_device_buffer_t*)device_buffer_root(buffer))->is_freed,
                           memory_order_relaxed)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s: a buffer of %zu bytes is used after it was freed",
                              buffer->device->name, buffer->size);
  }
  if (offset <= buffer->size && size <= buffer->size - offset) return NULL;
  return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                            "%s: %zu bytes from byte %zu on are beyond a buffer of %zu bytes",
                            buffer->device->name, size, offset, buffer->size);
}

// The mutex is held across one event of the driver, and only where a buffer is used by more
// streams than there is room for.
tfrt_status_t tfrt_device_buffer_use(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream) {
  tfrt_device_buffer_t* root = (tfrt_device_buffer_t*)device_buffer_root(buffer);
  if (stream == root->home) return NULL;
  tfrt_mutex_lock(&root->mutex);
  bool is_known = false;
  for (uint32_t i = 0; i < root->user_count; ++i) is_known |= root->users[i] == stream;
  tfrt_status_t status = NULL;
  if (!is_known && root->user_count < TFRT_DEVICE_BUFFER_MAX_USERS) {
    root->users[root->user_count++] = tfrt_device_stream_retain(stream);
  } else if (!is_known) {
    // From here on |stream| stands for the user that it waits for, too.
    status = tfrt_device_stream_join(stream, root->users[0]);
    if (!status) {
      tfrt_device_stream_release(root->users[0]);
      root->users[0] = tfrt_device_stream_retain(stream);
    }
  }
  tfrt_mutex_unlock(&root->mutex);
  return status;
}

// The streams are looked up first: a join is some calls of the driver.
tfrt_status_t tfrt_device_buffer_join(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream) {
  tfrt_device_buffer_t* root = (tfrt_device_buffer_t*)device_buffer_root(buffer);
  tfrt_device_stream_t* streams[TFRT_DEVICE_BUFFER_MAX_USERS + 1];
  uint32_t count = 0;
  if (root->home) streams[count++] = tfrt_device_stream_retain(root->home);
  tfrt_mutex_lock(&root->mutex);
  for (uint32_t i = 0; i < root->user_count; ++i) {
    streams[count++] = tfrt_device_stream_retain(root->users[i]);
  }
  tfrt_mutex_unlock(&root->mutex);
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    if (!status) status = tfrt_device_stream_join(stream, streams[i]);
    tfrt_device_stream_release(streams[i]);
  }
  return status;
}

// --- Ending --------------------------------------------------------------------

// Gives the memory back behind all work that uses it, and behind |stream|, if not NULL. The
// caller has made sure that this happens once.
static void device_buffer_finish(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream) {
  tfrt_device_stream_t* last = stream ? stream : buffer->home;
  if (!last && buffer->user_count > 0) last = buffer->users[0];
  tfrt_status_t status = NULL;
  if (last && buffer->home && last != buffer->home) {
    status = tfrt_device_stream_join(last, buffer->home);
  }
  for (uint32_t i = 0; i < buffer->user_count; ++i) {
    if (!status && buffer->users[i] != last) {
      status = tfrt_device_stream_join(last, buffer->users[i]);
    }
  }
  // On a lost device nothing runs, so that there is nothing to wait for.
  tfrt_status_t lost = tfrt_device_check(buffer->device);
  if (!status || lost) {
    buffer->source->free(buffer, lost ? NULL : last);
  } else {
    buffer->source->forget(buffer);
    tfrt_device_report_kept(buffer->device, buffer->size, tfrt_status_retain(status));
  }
  tfrt_status_release(lost);
  tfrt_status_release(status);
  for (uint32_t i = 0; i < buffer->user_count; ++i) tfrt_device_stream_release(buffer->users[i]);
  buffer->user_count = 0;
}

tfrt_device_buffer_t* tfrt_device_buffer_retain(tfrt_device_buffer_t* buffer) {
  tfrt_ref_count_increment(&buffer->ref_count);
  return buffer;
}

void tfrt_device_buffer_release(tfrt_device_buffer_t* buffer) {
  if (!buffer || !tfrt_ref_count_decrement(&buffer->ref_count)) return;
  tfrt_device_buffer_t* parent = buffer->parent;
  // Relaxed: the count ordered everybody else's uses before this.
  if (!parent && !atomic_load_explicit(&buffer->is_freed, memory_order_relaxed)) {
    device_buffer_finish(buffer, NULL);
  }
  device_buffer_destroy(buffer);
  tfrt_device_buffer_release(parent);
}

tfrt_status_t tfrt_device_buffer_free(tfrt_device_buffer_t* buffer, tfrt_device_stream_t* stream) {
  if (buffer->parent || (stream && stream->device != buffer->device)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %s", buffer->device->name,
                              buffer->parent ? "a view can't be freed, only the whole buffer"
                                             : "a buffer is freed in a stream of its own device");
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_capture_refuse(stream, "the end of memory"));
  // Relaxed: of two that free, one wins; the caller has ordered the uses before.
  if (atomic_exchange_explicit(&buffer->is_freed, true, memory_order_relaxed)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s: a buffer of %zu bytes is freed twice", buffer->device->name,
                              buffer->size);
  }
  device_buffer_finish(buffer, stream);
  return NULL;
}
