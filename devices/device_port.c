// SPDX-License-Identifier: Apache-2.0
#include "devices/device_port.h"

static void device_port_free(tfrt_device_port_t* port) {
  tfrt_device_t* device = port->device;
  tfrt_device_stream_release(port->in);
  tfrt_device_stream_release(port->out);
  tfrt_device_allocator_release(port->staging);
  tfrt_device_allocator_release(port->memory);
  tfrt_allocator_free(device->platform->allocator, port, sizeof(*port));
  tfrt_device_release(device);
}

tfrt_status_t tfrt_device_port_create(tfrt_device_t* device, tfrt_device_port_t** out_port) {
  *out_port = NULL;
  tfrt_device_port_t* port =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*port));
  if (!port) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&port->ref_count);
  port->device = tfrt_device_retain(device);
  tfrt_status_t status = tfrt_device_allocator_create(device, &port->memory);
  if (!status) {
    status = tfrt_device_allocator_create_caching(device, TFRT_DEVICE_SPACE_HOST, &port->staging);
  }
  if (!status) status = tfrt_device_create_stream(device, &port->out);
  if (!status) status = tfrt_device_create_stream(device, &port->in);
  if (status) {
    device_port_free(port);
    return status;
  }
  *out_port = port;
  return NULL;
}

tfrt_device_port_t* tfrt_device_port_retain(tfrt_device_port_t* port) {
  tfrt_ref_count_increment(&port->ref_count);
  return port;
}

void tfrt_device_port_release(tfrt_device_port_t* port) {
  if (port && tfrt_ref_count_decrement(&port->ref_count)) device_port_free(port);
}

tfrt_status_t tfrt_device_port_follow(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer) {
  return tfrt_device_buffer_join(buffer, port->out);
}

tfrt_status_t tfrt_device_port_read(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer,
                                    size_t offset, size_t size, tfrt_device_buffer_t** out_staging,
                                    tfrt_async_value_t** out_ready) {
  *out_ready = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_device_port_stage(port, size, out_staging));
  tfrt_status_t status = tfrt_device_stream_copy(port->out, *out_staging, 0, buffer, offset, size);
  if (status) {
    tfrt_device_buffer_release(*out_staging);
    *out_staging = NULL;
    return status;
  }
  *out_ready = tfrt_device_stream_await(port->out);
  return NULL;
}

tfrt_async_value_t* tfrt_device_port_await_reads(tfrt_device_port_t* port) {
  return tfrt_device_stream_await(port->out);
}

tfrt_status_t tfrt_device_port_allocate(tfrt_device_port_t* port, size_t size,
                                        tfrt_device_buffer_t** out_buffer) {
  return tfrt_device_allocator_allocate(port->memory, port->in, size, out_buffer);
}

tfrt_status_t tfrt_device_port_stage(tfrt_device_port_t* port, size_t size,
                                     tfrt_device_buffer_t** out_staging) {
  return tfrt_device_allocator_allocate(port->staging, NULL, size, out_staging);
}

tfrt_status_t tfrt_device_port_write(tfrt_device_port_t* port, tfrt_device_buffer_t* buffer,
                                     size_t offset, tfrt_device_buffer_t* staging, size_t size) {
  return tfrt_device_stream_copy(port->in, buffer, offset, staging, 0, size);
}

tfrt_async_value_t* tfrt_device_port_await_writes(tfrt_device_port_t* port) {
  return tfrt_device_stream_await(port->in);
}
