// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_result.h"

#include <string.h>

// --- Parts -----------------------------------------------------------------------

// The first of |rows| rows that belongs to |member| of |count|.
static int64_t first_row(int64_t rows, uint32_t count, uint32_t member) {
  int64_t extra = rows % count;
  return rows / count * member + (member < extra ? member : extra);
}

static int64_t row_count(int64_t rows, uint32_t count, uint32_t member) {
  return first_row(rows, count, member + 1) - first_row(rows, count, member);
}

static const tfrt_collective_record_t* own(const tfrt_collective_view_t* view) {
  return &view->records[view->position];
}

// The record that says what the result's elements are.
static const tfrt_collective_record_t* model(const tfrt_collective_view_t* view) {
  const tfrt_collective_record_t* record = own(view);
  return record->kind == TFRT_COLLECTIVE_BROADCAST ? &view->records[record->root] : record;
}

// The bytes of one row of |record|, which has an axis 0.
static size_t row_size(const tfrt_collective_record_t* record) {
  return (size_t)tfrt_shape_stride(&record->shape, 0) * tfrt_dtype_size(record->dtype);
}

bool tfrt_collective_result_is_operand(const tfrt_collective_view_t* view) {
  const tfrt_collective_record_t* record = own(view);
  if (view->count == 1) return true;
  if (record->kind == TFRT_COLLECTIVE_REDUCE) return view->position != record->root;
  return record->kind == TFRT_COLLECTIVE_BROADCAST && view->position == record->root;
}

bool tfrt_collective_result_is_here(const tfrt_collective_view_t* view) {
  const tfrt_collective_record_t* record = own(view);
  if (record->kind == TFRT_COLLECTIVE_BARRIER) return true;
  if (record->kind == TFRT_COLLECTIVE_BROADCAST) return view->records[record->root].has_elements;
  for (uint32_t i = 0; i < view->count; ++i) {
    if (!view->records[i].has_elements) return false;
  }
  return true;
}

// --- Shapes ----------------------------------------------------------------------

// How many rows the result has.
static tfrt_status_t result_rows(const tfrt_collective_view_t* view, int64_t* out_rows) {
  const tfrt_collective_record_t* record = own(view);
  if (record->kind == TFRT_COLLECTIVE_REDUCE_SCATTER) {
    *out_rows = row_count(record->shape.dims[0], view->count, view->position);
    return NULL;
  }
  *out_rows = 0;
  for (uint32_t i = 0; i < view->count; ++i) {
    int64_t rows = view->records[i].shape.dims[0];
    if (record->kind == TFRT_COLLECTIVE_ALL_TO_ALL) {
      rows = row_count(rows, view->count, view->position);
    }
    if (__builtin_add_overflow(*out_rows, rows, out_rows)) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the result has too many rows");
    }
  }
  return NULL;
}

tfrt_status_t tfrt_collective_result_describe(const tfrt_collective_view_t* view,
                                              tfrt_dtype_t* out_dtype, tfrt_shape_t* out_shape) {
  const tfrt_collective_record_t* record = model(view);
  *out_dtype = record->dtype;
  *out_shape = record->shape;
  return tfrt_collective_kind_is_about_rows(record->kind) ? result_rows(view, &out_shape->dims[0])
                                                          : NULL;
}

tfrt_status_t tfrt_collective_result_initialize(const tfrt_collective_view_t* view,
                                                tfrt_allocator_t allocator,
                                                tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_collective_result_describe(view, &dtype, &shape));
  return tfrt_dense_host_tensor_initialize(dtype, &shape, allocator, out_tensor);
}

// --- Elements that came with the records -----------------------------------------

// Writes |size| bytes from |offset| of the elements of |record| to |*target|, and moves that on.
static void append_elements(const tfrt_collective_record_t* record, size_t offset, size_t size,
                            char** target) {
  if (size == 0) return;
  memcpy(*target, record->elements.data + offset, size);
  *target += size;
}

// Combines the |size| bytes from |offset| of all operands at |target|. Elements in records lie
// anywhere, so they are brought into line first.
static tfrt_status_t combine(const tfrt_collective_view_t* view, size_t offset, size_t size,
                             tfrt_allocator_t allocator, void* target) {
  if (size == 0) return NULL;
  const tfrt_collective_record_t* record = own(view);
  tfrt_host_buffer_t* aligned = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(size, allocator, &aligned));
  int64_t count = (int64_t)(size / tfrt_dtype_size(record->dtype));
  memcpy(target, view->records[0].elements.data + offset, size);
  for (uint32_t i = 1; i < view->count; ++i) {
    memcpy(aligned->data, view->records[i].elements.data + offset, size);
    tfrt_reduction_apply(record->reduction, record->dtype, target, target, aligned->data, count);
  }
  tfrt_reduction_finish(record->reduction, record->dtype, target, count, view->count);
  tfrt_host_buffer_release(aligned);
  return NULL;
}

tfrt_status_t tfrt_collective_result_fill(const tfrt_collective_view_t* view,
                                          tfrt_allocator_t allocator,
                                          tfrt_dense_host_tensor_t* result) {
  const tfrt_collective_record_t* record = own(view);
  size_t size = tfrt_dense_host_tensor_size(result);
  char* target = tfrt_dense_host_tensor_data(result);
  switch (record->kind) {
    case TFRT_COLLECTIVE_ALL_REDUCE:
    case TFRT_COLLECTIVE_REDUCE:
      return combine(view, 0, size, allocator, target);
    case TFRT_COLLECTIVE_REDUCE_SCATTER: {
      int64_t row = first_row(record->shape.dims[0], view->count, view->position);
      return combine(view, (size_t)row * row_size(record), size, allocator, target);
    }
    case TFRT_COLLECTIVE_BROADCAST:
      append_elements(model(view), 0, size, &target);
      return NULL;
    default:
      break;
  }
  for (uint32_t i = 0; i < view->count; ++i) {
    const tfrt_collective_record_t* other = &view->records[i];
    int64_t rows = other->shape.dims[0];
    int64_t begin = 0;
    if (record->kind == TFRT_COLLECTIVE_ALL_TO_ALL) {
      begin = first_row(rows, view->count, view->position);
      rows = row_count(rows, view->count, view->position);
    }
    append_elements(other, (size_t)begin * row_size(other), (size_t)rows * row_size(other),
                    &target);
  }
  return NULL;
}

// --- Plans -----------------------------------------------------------------------

size_t tfrt_collective_result_chunk(const tfrt_collective_view_t* view) {
  size_t greatest = 0;
  bool may_grow = true;
  for (uint32_t i = 0; i < view->count; ++i) {
    size_t size = tfrt_collective_record_size(&view->records[i]);
    if (size > greatest) greatest = size;
    may_grow = may_grow && view->records[i].knows_large_chunks;
  }
  size_t chunk = TFRT_COLLECTIVE_MIN_CHUNK;
  while (may_grow && chunk < TFRT_COLLECTIVE_MAX_CHUNK &&
         greatest / (2 * chunk) >= TFRT_COLLECTIVE_MIN_CHUNKS) {
    chunk *= 2;
  }
  return chunk;
}

// Where the parts of a ring begin: elements of the whole for an all_reduce, rows of the operand
// for a reduce_scatter, operands for an all_gather.
static void fill_parts(const tfrt_collective_view_t* view, size_t* parts) {
  const tfrt_collective_record_t* record = own(view);
  uint32_t count = view->count;
  size_t unit = record->kind == TFRT_COLLECTIVE_ALL_REDUCE ? tfrt_dtype_size(record->dtype)
                                                           : row_size(record);
  int64_t units = record->kind == TFRT_COLLECTIVE_ALL_REDUCE
                      ? tfrt_shape_element_count(&record->shape)
                      : record->shape.dims[0];
  size_t gathered = 0;
  for (uint32_t i = 0; i <= count; ++i) {
    if (record->kind != TFRT_COLLECTIVE_ALL_GATHER) {
      parts[i] = (size_t)first_row(units, count, i) * unit;
      continue;
    }
    parts[i] = gathered;
    if (i < count) gathered += tfrt_collective_record_size(&view->records[i]);
  }
}

static tfrt_status_t plan_ring(const tfrt_collective_view_t* view, tfrt_collective_plan_t* plan) {
  size_t size = (view->count + 1) * sizeof(size_t);
  size_t* parts = tfrt_allocator_allocate(plan->allocator, size);
  if (!parts) return tfrt_status_out_of_memory();
  fill_parts(view, parts);
  switch (own(view)->kind) {
    case TFRT_COLLECTIVE_ALL_REDUCE:
      tfrt_collective_plan_all_reduce(plan, parts);
      break;
    case TFRT_COLLECTIVE_REDUCE_SCATTER:
      tfrt_collective_plan_reduce_scatter(plan, parts);
      break;
    default:
      tfrt_collective_plan_all_gather(plan, parts);
      break;
  }
  tfrt_allocator_free(plan->allocator, parts, size);
  return NULL;
}

static tfrt_status_t plan_exchange(const tfrt_collective_view_t* view,
                                   tfrt_collective_plan_t* plan) {
  size_t count = view->count;
  size_t* sizes = tfrt_allocator_allocate_array(plan->allocator, count * count, sizeof(size_t));
  if (!sizes) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < count; ++i) {
    const tfrt_collective_record_t* record = &view->records[i];
    for (uint32_t j = 0; j < count; ++j) {
      sizes[i * count + j] =
          (size_t)row_count(record->shape.dims[0], view->count, j) * row_size(record);
    }
  }
  tfrt_collective_plan_all_to_all(plan, sizes);
  tfrt_allocator_free(plan->allocator, sizes, count * count * sizeof(size_t));
  return NULL;
}

// Whether few elements go in pairs; not if a member is of a version that knows only rings.
static bool is_paired(const tfrt_collective_view_t* view) {
  bool knows_pairs = true;
  for (uint32_t i = 0; i < view->count; ++i) {
    knows_pairs = knows_pairs && view->records[i].knows_pairs;
  }
  return knows_pairs && tfrt_collective_record_size(own(view)) <= TFRT_COLLECTIVE_MAX_PAIRS;
}

tfrt_status_t tfrt_collective_result_plan(const tfrt_collective_view_t* view,
                                          tfrt_collective_plan_t* plan) {
  const tfrt_collective_record_t* record = model(view);
  switch (record->kind) {
    case TFRT_COLLECTIVE_BARRIER:
      break;
    case TFRT_COLLECTIVE_REDUCE:
      tfrt_collective_plan_reduce(plan, record->root, tfrt_collective_record_size(record));
      break;
    case TFRT_COLLECTIVE_BROADCAST:
      tfrt_collective_plan_broadcast(plan, record->root, tfrt_collective_record_size(record));
      break;
    case TFRT_COLLECTIVE_ALL_TO_ALL:
      TFRT_RETURN_IF_ERROR(plan_exchange(view, plan));
      break;
    case TFRT_COLLECTIVE_ALL_REDUCE:
      if (is_paired(view)) {
        tfrt_collective_plan_all_reduce_in_pairs(plan, tfrt_collective_record_size(record));
      } else {
        TFRT_RETURN_IF_ERROR(plan_ring(view, plan));
      }
      break;
    default:
      TFRT_RETURN_IF_ERROR(plan_ring(view, plan));
      break;
  }
  return plan->failed ? tfrt_status_out_of_memory() : NULL;
}
