// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/call_frame.h"
#include "host_runtime/async/value_storage.h"

#include <string.h>

#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/host_context.h"

// From this size on a slab is two blocks, taken from where its program lies.
#define BIG_SLAB_SIZE ((size_t)256 * 1024)

// Where the parts of a slab begin; all multiples of 8.
typedef struct tfrt_call_frame_layout_s {
  size_t registers;
  size_t pending;
  size_t passed;
  size_t next;
  size_t remaining;
  size_t size;
} tfrt_call_frame_layout_t;

static size_t call_frame_align(size_t size) { return (size + 7) & ~(size_t)7; }

// The counts are those of a loaded file, which holds several words for each register
// and kernel, so no sum here can overflow.
static tfrt_call_frame_layout_t call_frame_layout(const tfrt_bef_callable_t* callable) {
  size_t register_count = callable->bef->register_count;
  size_t kernel_count = callable->bef->kernel_count;
  size_t counters = call_frame_align(kernel_count * sizeof(uint32_t));
  tfrt_call_frame_layout_t layout;
  layout.registers = call_frame_align(sizeof(tfrt_call_frame_t));
  layout.pending = layout.registers + register_count * sizeof(tfrt_async_value_t*);
  layout.passed = layout.pending + counters;
  layout.next = layout.passed + (callable->nonstrict_count > 0 ? counters : 0);
  layout.remaining = layout.next + counters;
  layout.size = layout.remaining + call_frame_align(register_count * sizeof(uint32_t));
  return layout;
}

void tfrt_call_frame_set_pending(tfrt_call_frame_t* frame) {
  const tfrt_bef_callable_t* callable = frame->callable;
  for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
    atomic_init(&frame->pending[k], tfrt_call_frame_first_pending(callable->sites[k].binding));
  }
}

void tfrt_call_frame_set_passed(tfrt_call_frame_t* frame) {
  const tfrt_bef_callable_t* callable = frame->callable;
  for (uint32_t k = 1; k < callable->bef->kernel_count; ++k) {
    const tfrt_kernel_site_t* site = &callable->sites[k];
    atomic_init(&frame->passed[k],
                tfrt_kernel_site_record(site)->argument_count - site->binding->waited_count);
  }
}

// Where a slab of |size| bytes comes from. The loader of a big program has given back about as much
// as a slab of it takes, and mostly there is no other call of it.
static tfrt_allocator_t call_frame_allocator(const tfrt_bef_callable_t* callable, size_t size) {
  tfrt_allocator_t allocator = tfrt_value_storage_allocator();
  bool is_named = allocator.vtable != tfrt_allocator_system().vtable;
  return size < BIG_SLAB_SIZE || is_named ? allocator : callable->owner->allocator;
}

void tfrt_call_frame_leave_records(tfrt_call_frame_t* frame, uintptr_t from, uintptr_t at) {
  const bool is_first = from == TFRT_CALL_FRAME_NOTHING_READ;
  // Where kernels jump to and fro, all that they read stays from now on.
  const bool jumps = !is_first && (at < from || at - from >= 2 * TFRT_BEF_WALK_WINDOW);
  atomic_store_explicit(&frame->read_from, jumps ? 0 : at, memory_order_relaxed);
  if (is_first || jumps) return;
  tfrt_bef_file_unload(frame->callable->owner->file, (const void*)from, at - from);
}

// Allocates the slab of |layout|, as one block or two; NULL if memory is out.
static tfrt_call_frame_t* call_frame_allocate(const tfrt_call_frame_layout_t* layout,
                                              const tfrt_bef_callable_t* callable) {
  const bool is_big = layout->size >= BIG_SLAB_SIZE;
  const size_t first_size = is_big ? layout->next : layout->size;
  const size_t second_size = layout->size - first_size;
  tfrt_allocator_t allocator = call_frame_allocator(callable, layout->size);
  char* slab = tfrt_allocator_allocate(allocator, first_size);
  if (!slab) return NULL;
  char* second = slab + first_size;
  if (is_big) second = tfrt_allocator_allocate(allocator, second_size);
  if (!second) {
    tfrt_allocator_free(allocator, slab, first_size);
    return NULL;
  }
  tfrt_call_frame_t* frame = (tfrt_call_frame_t*)slab;
  frame->allocator = allocator;
  frame->size = first_size;
  frame->second_size = second_size;
  frame->next = (void*)(is_big ? second : slab + layout->next);
  frame->remaining = frame->next + (layout->remaining - layout->next) / sizeof(*frame->next);
  const bool leaves_records = is_big && callable->owner->file;
  atomic_init(&frame->read_from, leaves_records ? TFRT_CALL_FRAME_NOTHING_READ : 0);
  return frame;
}

tfrt_call_frame_t* tfrt_call_frame_create(const tfrt_bef_callable_t* callable,
                                          const tfrt_execution_context_t* context) {
  tfrt_call_frame_layout_t layout = call_frame_layout(callable);
  tfrt_call_frame_t* frame = call_frame_allocate(&layout, callable);
  if (!frame) return NULL;
  char* slab = (char*)frame;
  tfrt_ref_count_initialize(&frame->ref_count);
  frame->escaped = false;
  frame->callable = callable;
  frame->context = *context;
  frame->registers = (void*)(slab + layout.registers);
  frame->pending = (void*)(slab + layout.pending);
  frame->passed = callable->nonstrict_count > 0 ? (void*)(slab + layout.passed) : NULL;
  memset(slab + layout.registers, 0, layout.pending - layout.registers);
  tfrt_call_frame_set_pending(frame);
  if (frame->passed) tfrt_call_frame_set_passed(frame);
  tfrt_call_scope_enter(frame->context.scope);
  return frame;
}

void tfrt_call_frame_escape(tfrt_call_frame_t* frame) {
  if (frame->escaped) return;
  frame->escaped = true;
  tfrt_program_retain(frame->callable->owner);
  tfrt_request_context_retain(frame->context.request);
}

tfrt_call_frame_t* tfrt_call_frame_retain(tfrt_call_frame_t* frame) {
  tfrt_call_frame_escape(frame);
  tfrt_ref_count_increment(&frame->ref_count);
  return frame;
}

void tfrt_call_frame_release(tfrt_call_frame_t* frame) {
  if (frame->escaped && !tfrt_ref_count_decrement(&frame->ref_count)) return;
  tfrt_call_scope_t* scope = frame->context.scope;
  tfrt_program_t* program = frame->escaped ? frame->callable->owner : NULL;
  tfrt_request_context_t* request = frame->escaped ? frame->context.request : NULL;
  if (frame->second_size) {
    tfrt_allocator_free(frame->allocator, frame->next, frame->second_size);
  }
  tfrt_allocator_free(frame->allocator, frame, frame->size);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(scope);
}
