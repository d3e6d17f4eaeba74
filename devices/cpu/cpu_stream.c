// SPDX-License-Identifier: Apache-2.0
//
// A stream on the CPU: a queue of ops that one task of the work queue at a time runs.
//
//   idle --an op is given--> running --no op left--> idle
//                              |  ^
//             an op waits for  v  | the value is there
//             an event       suspended
//
// A stream that isn't idle keeps its device; its last user may be gone.
#include <string.h>

#include "devices/cpu/cpu_impl.h"
#include "devices/device_absent.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_cpu_stream_s {
  tfrt_device_stream_t base;
  tfrt_task_t task;      // runs the ops
  tfrt_mutex_t mutex;    // guards all below
  tfrt_list_link_t ops;  // in order
  bool is_idle;
  bool is_released;  // by its last user
} tfrt_cpu_stream_t;

typedef enum tfrt_cpu_op_kind_e {
  TFRT_CPU_OP_COPY,
  TFRT_CPU_OP_FILL,
  TFRT_CPU_OP_LAUNCH,
  TFRT_CPU_OP_CALL,
  TFRT_CPU_OP_RECORD,
  TFRT_CPU_OP_WAIT,
  TFRT_CPU_OP_DEALLOCATE,
} tfrt_cpu_op_kind_t;

// One piece of work. A launch has |parameters| behind it, and then their bytes; a call its
// argument.
typedef struct tfrt_cpu_op_s {
  tfrt_list_link_t link;
  tfrt_cpu_op_kind_t kind;
  size_t size;  // of this block
  tfrt_cpu_stream_t* stream;
  union {
    tfrt_device_copy_t copy;
    tfrt_device_fill_t fill;
    struct {
      tfrt_cpu_function_t* function;  // +1
      tfrt_device_launch_t launch;
    };
    void (*call)(const void* argument);
    struct {
      tfrt_async_value_t* value;   // +1
      tfrt_device_event_t* event;  // +1, of a record that asks for the time, or NULL
      tfrt_task_t task;            // of a wait
    };
    struct {
      tfrt_device_address_t address;
      size_t memory_size;
    };
  };
  _Alignas(16) void* parameters[];
} tfrt_cpu_op_t;

static tfrt_cpu_stream_t* cpu_stream_of(tfrt_device_stream_t* stream) {
  return TFRT_CONTAINER_OF(stream, tfrt_cpu_stream_t, base);
}

// --- Running -------------------------------------------------------------------

static void cpu_op_fill(const tfrt_device_fill_t* fill) {
  char* target = (char*)(uintptr_t)fill->target;
  if (fill->width == 1) {
    memset(target, (int)(fill->pattern & 0xff), fill->count);
    return;
  }
  uint16_t half = (uint16_t)fill->pattern;
  for (size_t i = 0; i < fill->count; ++i) {
    memcpy(target + i * fill->width, fill->width == 2 ? (void*)&half : (void*)&fill->pattern,
           fill->width);
  }
}

// Does the work of |op| on a device that is alive.
static void cpu_op_work(tfrt_cpu_op_t* op) {
  if (op->kind == TFRT_CPU_OP_COPY) {
    memcpy((void*)(uintptr_t)op->copy.target, (void*)(uintptr_t)op->copy.source, op->copy.size);
  } else if (op->kind == TFRT_CPU_OP_FILL) {
    cpu_op_fill(&op->fill);
  } else if (op->kind == TFRT_CPU_OP_CALL) {
    op->call(op->parameters);
  } else if (op->kind == TFRT_CPU_OP_LAUNCH) {
    tfrt_status_t status = op->function->kernel->run(&op->launch, op->parameters);
    if (!status) return;
    tfrt_device_t* device = op->stream->base.device;
    status = tfrt_status_take_annotate(status, "%s: launch of %s failed: CPU_ERROR_LAUNCH_FAILED",
                                       device->name, op->function->base.name);
    tfrt_device_lose(device, status);
    tfrt_status_release(status);
  }
}

// Does |op|, or what a lost device leaves of it, and frees it.
static void cpu_op_finish(tfrt_cpu_op_t* op) {
  tfrt_device_t* device = op->stream->base.device;
  tfrt_status_t lost = tfrt_device_check(device);
  if (!lost) cpu_op_work(op);
  if (op->kind == TFRT_CPU_OP_LAUNCH) {
    tfrt_device_function_release(&op->function->base);
  } else if (op->kind == TFRT_CPU_OP_RECORD) {
    tfrt_cpu_event_finish(op->event, op->value, lost);
  } else if (op->kind == TFRT_CPU_OP_WAIT) {
    tfrt_async_value_release(op->value);
  } else if (op->kind == TFRT_CPU_OP_DEALLOCATE) {
    tfrt_status_release(
        tfrt_cpu_device_deallocate(device, TFRT_DEVICE_SPACE_DEVICE, op->address, op->memory_size));
  }
  tfrt_status_release(lost);
  tfrt_allocator_free(device->platform->allocator, op, op->size);
}

static void cpu_stream_free(tfrt_cpu_stream_t* stream) {
  tfrt_mutex_deinitialize(&stream->mutex);
  tfrt_allocator_free(stream->base.device->platform->allocator, stream, sizeof(*stream));
}

// The first op, or NULL: then the stream is idle, and gone if nobody else has it.
static tfrt_cpu_op_t* cpu_stream_next(tfrt_cpu_stream_t* stream) {
  tfrt_device_t* device = stream->base.device;
  tfrt_mutex_lock(&stream->mutex);
  tfrt_list_link_t* link = tfrt_list_pop_front(&stream->ops);
  bool is_last = !link && stream->is_released;
  if (!link) stream->is_idle = true;
  tfrt_mutex_unlock(&stream->mutex);
  if (link) return TFRT_CONTAINER_OF(link, tfrt_cpu_op_t, link);
  if (is_last) cpu_stream_free(stream);
  tfrt_device_release(device);
  return NULL;
}

// An error that was waited for is another stream's, or the same as ours: order is all that
// is asked of it.
static void cpu_stream_resume(tfrt_task_t* task) {
  tfrt_cpu_op_t* op = TFRT_CONTAINER_OF(task, tfrt_cpu_op_t, task);
  tfrt_cpu_stream_t* stream = op->stream;
  cpu_op_finish(op);
  tfrt_work_queue_add_task(stream->base.device->platform->work_queue, &stream->task);
}

static void cpu_stream_run(tfrt_task_t* task) {
  tfrt_cpu_stream_t* stream = TFRT_CONTAINER_OF(task, tfrt_cpu_stream_t, task);
  for (tfrt_cpu_op_t* op; (op = cpu_stream_next(stream));) {
    if (op->kind == TFRT_CPU_OP_WAIT && !tfrt_async_value_is_available(op->value)) {
      // The op may be gone when this returns, and the stream run by another thread.
      tfrt_async_value_and_then(op->value, &op->task);
      return;
    }
    cpu_op_finish(op);
  }
}

// --- Giving --------------------------------------------------------------------

static tfrt_status_t cpu_op_allocate(tfrt_device_stream_t* stream, tfrt_cpu_op_kind_t kind,
                                     size_t extra, tfrt_cpu_op_t** out_op) {
  size_t size = sizeof(tfrt_cpu_op_t) + extra;
  tfrt_cpu_op_t* op = tfrt_allocator_allocate_zeroed(stream->device->platform->allocator, size);
  *out_op = op;
  if (!op) return tfrt_status_out_of_memory();
  op->kind = kind;
  op->size = size;
  op->stream = cpu_stream_of(stream);
  return NULL;
}

static tfrt_status_t cpu_stream_give(tfrt_cpu_op_t* op) {
  tfrt_cpu_stream_t* stream = op->stream;
  tfrt_device_t* device = stream->base.device;
  tfrt_mutex_lock(&stream->mutex);
  bool was_idle = stream->is_idle;
  tfrt_list_push_back(&stream->ops, &op->link);
  if (was_idle) {
    stream->is_idle = false;
    tfrt_device_retain(device);
  }
  tfrt_mutex_unlock(&stream->mutex);
  if (was_idle) tfrt_work_queue_add_task(device->platform->work_queue, &stream->task);
  return NULL;
}

static tfrt_status_t cpu_stream_copy(tfrt_device_stream_t* stream, const tfrt_device_copy_t* copy) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_COPY, 0, &op));
  op->copy = *copy;
  return cpu_stream_give(op);
}

static tfrt_status_t cpu_stream_fill(tfrt_device_stream_t* stream, const tfrt_device_fill_t* fill) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_FILL, 0, &op));
  op->fill = *fill;
  return cpu_stream_give(op);
}

// The bytes that |size| bytes of a parameter take, aligned for any.
static size_t cpu_parameter_room(size_t size) { return (size + 15) / 16 * 16; }

static tfrt_status_t cpu_stream_launch(tfrt_device_stream_t* stream,
                                       tfrt_device_function_t* function,
                                       const tfrt_device_launch_t* launch, void* const* parameters,
                                       const size_t* sizes, uint32_t parameter_count) {
  size_t pointers = cpu_parameter_room(parameter_count * sizeof(void*));
  size_t extra = pointers;
  for (uint32_t i = 0; i < parameter_count; ++i) extra += cpu_parameter_room(sizes[i]);
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_LAUNCH, extra, &op));
  char* bytes = (char*)op->parameters + pointers;
  for (uint32_t i = 0; i < parameter_count; ++i) {
    memcpy(bytes, parameters[i], sizes[i]);
    op->parameters[i] = bytes;
    bytes += cpu_parameter_room(sizes[i]);
  }
  tfrt_device_function_retain(function);
  op->function = TFRT_CONTAINER_OF(function, tfrt_cpu_function_t, base);
  op->launch = *launch;
  return cpu_stream_give(op);
}

tfrt_status_t tfrt_cpu_stream_call(tfrt_device_stream_t* stream, void (*run)(const void* argument),
                                   const void* argument, size_t size) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_CALL, size, &op));
  memcpy(op->parameters, argument, size);
  op->call = run;
  return cpu_stream_give(op);
}

static tfrt_status_t cpu_stream_record(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_RECORD, 0, &op));
  op->value = tfrt_cpu_event_begin(event);
  if (!op->value) {
    tfrt_allocator_free(stream->device->platform->allocator, op, op->size);
    return tfrt_status_out_of_memory();
  }
  op->event = event->with_timing ? tfrt_device_event_retain(event) : NULL;
  return cpu_stream_give(op);
}

static tfrt_status_t cpu_stream_wait(tfrt_device_stream_t* stream, tfrt_device_event_t* event) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_WAIT, 0, &op));
  op->value = event->vtable->await(event, false);
  tfrt_task_initialize(&op->task, cpu_stream_resume);
  return cpu_stream_give(op);
}

static tfrt_status_t cpu_stream_allocate(tfrt_device_stream_t* stream, size_t size,
                                         tfrt_device_address_t* out_address) {
  return tfrt_cpu_device_allocate(stream->device, TFRT_DEVICE_SPACE_DEVICE, size, out_address);
}

static tfrt_status_t cpu_stream_deallocate(tfrt_device_stream_t* stream,
                                           tfrt_device_address_t address, size_t size) {
  tfrt_cpu_op_t* op;
  TFRT_RETURN_IF_ERROR(cpu_op_allocate(stream, TFRT_CPU_OP_DEALLOCATE, 0, &op));
  op->address = address;
  op->memory_size = size;
  return cpu_stream_give(op);
}

// --- Life ----------------------------------------------------------------------

static void cpu_stream_destroy(tfrt_device_stream_t* base) {
  tfrt_cpu_stream_t* stream = cpu_stream_of(base);
  tfrt_mutex_lock(&stream->mutex);
  bool is_last = stream->is_idle;
  stream->is_released = true;
  tfrt_mutex_unlock(&stream->mutex);
  if (is_last) cpu_stream_free(stream);
}

static const tfrt_device_stream_vtable_t stream_vtable = {
    .destroy = cpu_stream_destroy,
    .copy = cpu_stream_copy,
    .fill = cpu_stream_fill,
    .launch = cpu_stream_launch,
    .record = cpu_stream_record,
    .wait = cpu_stream_wait,
    .allocate = cpu_stream_allocate,
    .deallocate = cpu_stream_deallocate,
    .begin_capture = tfrt_device_absent_begin_capture,
    .end_capture = tfrt_device_absent_end_capture,
};

tfrt_status_t tfrt_cpu_device_create_stream(tfrt_device_t* device,
                                            tfrt_device_stream_t** out_stream) {
  tfrt_cpu_stream_t* stream =
      tfrt_allocator_allocate_zeroed(device->platform->allocator, sizeof(*stream));
  if (!stream) return tfrt_status_out_of_memory();
  tfrt_device_stream_initialize(&stream->base, &stream_vtable, device);
  tfrt_task_initialize(&stream->task, cpu_stream_run);
  tfrt_mutex_initialize(&stream->mutex);
  tfrt_list_initialize(&stream->ops);
  stream->is_idle = true;
  *out_stream = &stream->base;
  return NULL;
}
