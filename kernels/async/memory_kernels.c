// SPDX-License-Identifier: Apache-2.0
//
// Memory as MLIR's `memref` has it, row by row. It lives as long as somebody refers to it.
#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/tensor/tensor_types.h"
#include "kernels/async/kernel_parts.h"

#define TFRT_ASYNC_MAX_RANK 8

typedef struct tfrt_async_memory_s {
  tfrt_host_buffer_t* buffer;  // +1
  void* data;                  // of |buffer|
  size_t size;                 // of |data|
  int64_t dims[TFRT_ASYNC_MAX_RANK];
  uint32_t rank;
  tfrt_type_id_t element;
  uint8_t element_size;
} tfrt_async_memory_t;

static tfrt_type_id_t tfrt_async_memory_type;

static void async_memory_destroy(void* payload) {
  tfrt_async_memory_t* memory = payload;
  tfrt_host_buffer_release(memory->buffer);
}

static const tfrt_type_t tfrt_async_memory_type_entry = {.name = "!tfrt_async.memory",
                                                         .size = sizeof(tfrt_async_memory_t),
                                                         .flags = TFRT_TYPE_FLAG_MUTABLE,
                                                         .destroy = async_memory_destroy};

tfrt_status_t tfrt_async_memory_register(void) {
  return tfrt_type_register(&tfrt_async_memory_type_entry, &tfrt_async_memory_type);
}

static const struct {
  const char* name;
  tfrt_type_id_t id;
  uint8_t size;
} tfrt_async_elements[] = {
    {"i1", TFRT_TYPE_I1, 1},   {"i8", TFRT_TYPE_I8, 1},   {"i16", TFRT_TYPE_I16, 2},
    {"i32", TFRT_TYPE_I32, 4}, {"i64", TFRT_TYPE_I64, 8}, {"f32", TFRT_TYPE_F32, 4},
    {"f64", TFRT_TYPE_F64, 8},
};

// Fills in the element type |name|; false if there is none.
static bool async_memory_set_element(tfrt_async_memory_t* memory, tfrt_string_view_t name) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_async_elements); ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(tfrt_async_elements[i].name))) continue;
    memory->element = tfrt_async_elements[i].id;
    memory->element_size = tfrt_async_elements[i].size;
    return true;
  }
  return false;
}

// Fills in the sizes, the unknown ones from the arguments; false if they are none.
static bool async_memory_set_dims(tfrt_async_memory_t* memory, tfrt_kernel_frame_t* frame) {
  tfrt_bef_array_t dims = tfrt_bef_attribute_array(frame->attributes[0]);
  uint32_t next = 1;
  size_t size = memory->element_size;
  if (dims.count > TFRT_ASYNC_MAX_RANK) return false;
  memory->rank = dims.count;
  for (uint32_t i = 0; i < dims.count; ++i) {
    int64_t dim;
    memcpy(&dim, (const char*)dims.data + i * sizeof(dim), sizeof(dim));
    if (dim < 0 && next >= frame->argument_count) return false;
    if (dim < 0) dim = tfrt_kernel_frame_i64(frame, next++);
    if (dim < 0 || !tfrt_size_multiply(size, (size_t)dim, &size)) return false;
    memory->dims[i] = dim;
  }
  memory->size = size;
  return next == frame->argument_count;
}

void tfrt_async_alloc(tfrt_kernel_frame_t* frame) {
  tfrt_async_memory_t memory = {0};
  if (!async_memory_set_element(&memory, tfrt_bef_attribute_string(frame->attributes[1])) ||
      !async_memory_set_dims(&memory, frame)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "no such memory");
    return;
  }
  tfrt_status_t status =
      tfrt_host_buffer_create(memory.size, tfrt_allocator_system(), &memory.buffer);
  tfrt_async_value_t* value =
      status ? NULL : tfrt_async_value_create_available(tfrt_async_memory_type);
  tfrt_status_release(status);
  if (!value) {
    tfrt_host_buffer_release(memory.buffer);
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for %zu bytes",
                           memory.size);
    return;
  }
  memory.data = memory.buffer->data;
  if (memory.size) memset(memory.data, 0, memory.size);
  *(tfrt_async_memory_t*)tfrt_async_value_payload(value) = memory;
  tfrt_kernel_frame_set(frame, 0, value);
}

// The memory that argument |index| is, or NULL after a failure.
static tfrt_async_memory_t* async_memory_of(tfrt_kernel_frame_t* frame, uint32_t index) {
  tfrt_async_value_t* value = frame->arguments[index];
  if (value->type_id == tfrt_async_memory_type) return tfrt_async_value_payload(value);
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "argument %u is no memory", index);
  return NULL;
}

// The element that the arguments from |first| on are the place of, or NULL after a failure.
static void* async_memory_at(tfrt_kernel_frame_t* frame, const tfrt_async_memory_t* memory,
                             uint32_t first) {
  size_t offset = 0;
  bool fits = frame->argument_count - first == memory->rank;
  for (uint32_t i = 0; fits && i < memory->rank; ++i) {
    int64_t index = tfrt_kernel_frame_i64(frame, first + i);
    fits = index >= 0 && index < memory->dims[i];
    offset = offset * (size_t)memory->dims[i] + (size_t)(fits ? index : 0);
  }
  if (fits) return (char*)memory->data + offset * memory->element_size;
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "an index that is not in the memory");
  return NULL;
}

void tfrt_async_load(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 1);
  const void* element = memory ? async_memory_at(frame, memory, 2) : NULL;
  if (!element) return;
  tfrt_kernel_frame_set_ready_chain(frame, 0);
  tfrt_kernel_frame_set(
      frame, 1, tfrt_async_value_create_copy(memory->element, element, memory->element_size));
}

void tfrt_async_store(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 2);
  void* element = memory ? async_memory_at(frame, memory, 3) : NULL;
  if (!element) return;
  if (frame->arguments[1]->type_id != memory->element) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "an element of another type");
    return;
  }
  memcpy(element, tfrt_kernel_frame_payload(frame, 1), memory->element_size);
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

void tfrt_async_fill(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 2);
  if (!memory) return;
  if (frame->arguments[1]->type_id != memory->element) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "elements of another type");
    return;
  }
  const void* value = tfrt_kernel_frame_payload(frame, 1);
  for (size_t at = 0; at < memory->size; at += memory->element_size) {
    memcpy((char*)memory->data + at, value, memory->element_size);
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

void tfrt_async_atomic_rmw(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 2);
  void* element = memory ? async_memory_at(frame, memory, 3) : NULL;
  if (!element) return;
  uint64_t kind = tfrt_bef_attribute_read_u64(frame->attributes[0]);
  uint64_t old = 0;
  if (frame->arguments[1]->type_id != memory->element ||
      !tfrt_async_atomic_change(element, memory->element, kind, tfrt_kernel_frame_payload(frame, 1),
                                &old)) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "change %llu of an element of another type", (unsigned long long)kind);
    return;
  }
  tfrt_kernel_frame_set_ready_chain(frame, 0);
  tfrt_kernel_frame_set(frame, 1,
                        tfrt_async_value_create_copy(memory->element, &old, memory->element_size));
}

// Appends the sizes of the dimensions, or, if |steps|, the steps between the elements of each.
static void async_append_sizes(tfrt_string_builder_t* text, const tfrt_async_memory_t* memory,
                               bool steps) {
  tfrt_string_builder_append_char(text, '[');
  for (uint32_t i = 0; i < memory->rank; ++i) {
    int64_t value = steps ? 1 : memory->dims[i];
    for (uint32_t k = i + 1; steps && k < memory->rank; ++k) value *= memory->dims[k];
    tfrt_string_builder_append_format(text, "%s%" PRId64, i ? ", " : "", value);
  }
  tfrt_string_builder_append_char(text, ']');
}

// Appends the elements from |*in_out_at| on that dimension |dim| and those behind it have. At most
// TFRT_ASYNC_MAX_RANK deep.
static void async_append_elements(tfrt_string_builder_t* text, const tfrt_async_memory_t* memory,
                                  uint32_t dim, const char** in_out_at) {
  if (dim == memory->rank) {
    tfrt_async_append_number(text, memory->element, *in_out_at);
    *in_out_at += memory->element_size;
    return;
  }
  bool is_last = dim + 1 == memory->rank;
  tfrt_string_builder_append_char(text, '[');
  for (int64_t i = 0; i < memory->dims[dim]; ++i) {
    if (i) tfrt_string_builder_append_text(text, is_last ? "," : ", \n");
    if (i) tfrt_string_builder_append_fill(text, ' ', is_last ? memory->rank + 1 : dim + 1);
    async_append_elements(text, memory, dim + 1, in_out_at);
  }
  tfrt_string_builder_append_char(text, ']');
}

void tfrt_async_print_memory(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 1);
  if (!memory) return;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_format(
      &text, "Unranked Memref base@ = %p rank = %u offset = 0 sizes = ", memory->data,
      memory->rank);
  async_append_sizes(&text, memory, false);
  tfrt_string_builder_append_text(&text, " strides = ");
  async_append_sizes(&text, memory, true);
  tfrt_string_builder_append_text(&text, " data = \n");
  const char* at = memory->data;
  if (memory->rank == 0) tfrt_string_builder_append_char(&text, '[');
  async_append_elements(&text, memory, 0, &at);
  tfrt_string_builder_append_text(&text, memory->rank ? "\n" : "]\n");
  if (text.failed) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to print %zu bytes",
                           memory->size);
  } else {
    tfrt_async_print_lines(frame, tfrt_string_builder_view(&text));
  }
  tfrt_string_builder_deinitialize(&text);
}

void tfrt_async_memory_cast(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
}

// Whether argument 0 is memory of a device, which the kernels of devices know.
static bool async_is_device_memory(const tfrt_kernel_frame_t* frame) {
  return strcmp(tfrt_type_get(frame->arguments[0]->type_id)->name, "!tfrt_gpu.buffer") == 0;
}

void tfrt_async_device_bytes(tfrt_kernel_frame_t* frame) {
  if (async_is_device_memory(frame)) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
    return;
  }
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                         "this memory is no device's: allocate it with gpu.alloc");
}

void tfrt_async_bytes(tfrt_kernel_frame_t* frame) {
  if (async_is_device_memory(frame)) {
    tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
    return;
  }
  const tfrt_async_memory_t* memory = async_memory_of(frame, 0);
  if (!memory) return;
  tfrt_host_buffer_t* buffer = tfrt_host_buffer_retain(memory->buffer);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_host_buffer_take(buffer));
}

void tfrt_async_device_size(tfrt_kernel_frame_t* frame) {
  bool is_wide = frame->arguments[0]->type_id == TFRT_TYPE_I64;
  if (!is_wide && frame->arguments[0]->type_id != TFRT_TYPE_I32) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT, "a size that is no i32 or i64");
    return;
  }
  int64_t number =
      is_wide ? tfrt_kernel_frame_i64(frame, 0) : *(int32_t*)tfrt_kernel_frame_payload(frame, 0);
  if (number < 0 || number > UINT32_MAX) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "a launch of size %lld",
                           (long long)number);
    return;
  }
  uint32_t size = (uint32_t)number;
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_copy(TFRT_TYPE_UI32, &size, sizeof(size)));
}

void tfrt_async_dim(tfrt_kernel_frame_t* frame) {
  const tfrt_async_memory_t* memory = async_memory_of(frame, 0);
  if (!memory) return;
  int64_t index = tfrt_kernel_frame_i64(frame, 1);
  if (index < 0 || index >= memory->rank) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_OUT_OF_RANGE, "no dimension %lld", (long long)index);
    return;
  }
  tfrt_kernel_frame_set_i64(frame, 0, memory->dims[index]);
}
