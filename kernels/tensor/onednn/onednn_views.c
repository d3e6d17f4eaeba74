// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_views.h"

#include <assert.h>

#include "kernels/tensor/onednn/onednn_library.h"

#define SCRATCH_ALIGNMENT 64

void tfrt_onednn_views_free(tfrt_onednn_views_t* views) {
  for (int i = 0; i < views->count; ++i) {
    tfrt_onednn()->dnnl_memory_destroy(views->arguments[i].memory);
  }
  if (views->stream) tfrt_onednn()->dnnl_stream_destroy(views->stream);
  tfrt_allocator_free_aligned(tfrt_allocator_system(), views->scratch, views->scratch_size,
                              SCRATCH_ALIGNMENT);
  tfrt_allocator_free(tfrt_allocator_system(), views, sizeof(*views));
}

static dnnl_status_t add_view(tfrt_onednn_views_t* views, const dnnl_memory_desc_t* layout,
                              int index, dnnl_engine_t engine) {
  dnnl_exec_arg_t* argument = &views->arguments[views->count];
  dnnl_status_t result =
      tfrt_onednn()->dnnl_memory_create(&argument->memory, layout, engine, DNNL_MEMORY_NONE);
  if (result != dnnl_success) return result;
  argument->arg = index;
  ++views->count;
  return dnnl_success;
}

static dnnl_status_t add_scratch(tfrt_onednn_views_t* views,
                                 const_dnnl_primitive_desc_t description, dnnl_engine_t engine) {
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  views->scratch_size = layout ? tfrt_onednn()->dnnl_memory_desc_get_size(layout) : 0;
  if (views->scratch_size == 0) return dnnl_success;
  if (views->scratch_size <= TFRT_ONEDNN_KEPT_SCRATCH) {
    views->scratch = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), views->scratch_size,
                                                     SCRATCH_ALIGNMENT);
    if (!views->scratch) return dnnl_out_of_memory;
  }
  return add_view(views, layout, DNNL_ARG_SCRATCHPAD, engine);
}

// Adds the view that is argument |index| of the primitive that |description| describes.
static dnnl_status_t add_argument(tfrt_onednn_views_t* views,
                                  const_dnnl_primitive_desc_t description, int index,
                                  dnnl_engine_t engine) {
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, index);
  return add_view(views, layout, index, engine);
}

static dnnl_status_t fill_views(tfrt_onednn_views_t* views, const_dnnl_primitive_t primitive,
                                const tfrt_onednn_input_t* inputs, size_t count,
                                dnnl_engine_t engine) {
  const_dnnl_primitive_desc_t description;
  dnnl_status_t result = tfrt_onednn()->dnnl_primitive_get_primitive_desc(primitive, &description);
  for (size_t i = 0; result == dnnl_success && i < count; ++i) {
    result = add_argument(views, description, inputs[i].index, engine);
  }
  if (result == dnnl_success) result = add_argument(views, description, DNNL_ARG_DST, engine);
  if (result == dnnl_success) result = add_scratch(views, description, engine);
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_stream_create(&views->stream, engine, dnnl_stream_default_flags);
}

dnnl_status_t tfrt_onednn_views_create(const_dnnl_primitive_t primitive,
                                       const tfrt_onednn_input_t* inputs, size_t count,
                                       dnnl_engine_t engine, tfrt_onednn_views_t** out_views) {
  tfrt_onednn_views_t* views =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*views));
  if (!views) return dnnl_out_of_memory;
  dnnl_status_t result = fill_views(views, primitive, inputs, count, engine);
  if (result == dnnl_success) {
    *out_views = views;
  } else {
    tfrt_onednn_views_free(views);
  }
  return result;
}

// Lets view |index| show |data|; the same come again and again, such as weights.
static dnnl_status_t point_view(tfrt_onednn_views_t* views, size_t index, const void* data) {
  if (views->data[index] == data) return dnnl_success;
  // The library has one type for what it reads and what it writes.
  dnnl_status_t result = tfrt_onednn()->dnnl_memory_set_data_handle(views->arguments[index].memory,
                                                                    (void*)(uintptr_t)data);
  views->data[index] = result == dnnl_success ? data : NULL;
  return result;
}

// Runs on |inputs|, which are those that the views were made for.
static dnnl_status_t execute(tfrt_onednn_views_t* views, const_dnnl_primitive_t primitive,
                             const tfrt_onednn_input_t* inputs, size_t count, void* target,
                             void* scratch) {
  dnnl_status_t result = dnnl_success;
  for (size_t i = 0; result == dnnl_success && i < count; ++i) {
    assert(views->arguments[i].arg == inputs[i].index);
    result = point_view(views, i, inputs[i].data);
  }
  if (result == dnnl_success) result = point_view(views, count, target);
  if (result == dnnl_success && scratch) result = point_view(views, count + 1, scratch);
  if (result != dnnl_success) return result;
  result = tfrt_onednn()->dnnl_primitive_execute(primitive, views->stream, views->count,
                                                 views->arguments);
  return result == dnnl_success ? tfrt_onednn()->dnnl_stream_wait(views->stream) : result;
}

dnnl_status_t tfrt_onednn_views_execute(tfrt_onednn_views_t* views,
                                        const_dnnl_primitive_t primitive,
                                        const tfrt_onednn_input_t* inputs, size_t count,
                                        tfrt_allocator_t allocator, void* target) {
  if (views->scratch || views->scratch_size == 0) {
    return execute(views, primitive, inputs, count, target, views->scratch);
  }
  void* scratch =
      tfrt_allocator_allocate_aligned(allocator, views->scratch_size, SCRATCH_ALIGNMENT);
  if (!scratch) return dnnl_out_of_memory;
  dnnl_status_t result = execute(views, primitive, inputs, count, target, scratch);
  tfrt_allocator_free_aligned(allocator, scratch, views->scratch_size, SCRATCH_ALIGNMENT);
  return result;
}
