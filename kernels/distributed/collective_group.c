// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_group.h"

#include <stdlib.h>
#include <string.h>

static const tfrt_tensor_reduction_t reductions[TFRT_REDUCTION_COUNT] = {
    [TFRT_REDUCTION_SUM] = TFRT_TENSOR_SUM,
    [TFRT_REDUCTION_PRODUCT] = TFRT_TENSOR_PRODUCT,
    [TFRT_REDUCTION_MINIMUM] = TFRT_TENSOR_MINIMUM,
    [TFRT_REDUCTION_MAXIMUM] = TFRT_TENSOR_MAXIMUM,
    [TFRT_REDUCTION_MEAN] = TFRT_TENSOR_MEAN};

static const tfrt_collective_record_t* own(const tfrt_collective_view_t* view) {
  return &view->records[view->position];
}

// --- Seats -----------------------------------------------------------------------

static int compare(tfrt_string_view_t a, tfrt_string_view_t b) {
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_places(const void* a, const void* b) {
  return compare(*(const tfrt_string_view_t*)a, *(const tfrt_string_view_t*)b);
}

// Each member has a seat that is free, and all are of one library.
static bool have_seats(const tfrt_collective_view_t* view) {
  for (uint32_t i = 0; i < view->count; ++i) {
    const tfrt_collective_record_t* record = &view->records[i];
    bool fits = record->library.size > 0 && !record->is_taken &&
                compare(record->library, view->records[0].library) == 0;
    if (!fits) return false;
  }
  return true;
}

// Sets |*out_are| to whether no two members are at the same place.
static tfrt_status_t are_apart(const tfrt_collective_view_t* view, tfrt_allocator_t allocator,
                               bool* out_are) {
  tfrt_string_view_t* places =
      tfrt_allocator_allocate_array(allocator, view->count, sizeof(*places));
  if (!places) return tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < view->count; ++i) places[i] = view->records[i].place;
  qsort(places, view->count, sizeof(*places), compare_places);
  *out_are = true;
  for (uint32_t i = 1; i < view->count; ++i) {
    *out_are &= places[i].size == 0 || compare(places[i - 1], places[i]) != 0;
  }
  tfrt_allocator_free(allocator, places, view->count * sizeof(*places));
  return NULL;
}

// --- Elements --------------------------------------------------------------------

static bool have_same_rows(const tfrt_collective_view_t* view) {
  for (uint32_t i = 1; i < view->count; ++i) {
    if (view->records[i].shape.dims[0] != view->records[0].shape.dims[0]) return false;
  }
  return true;
}

// Whether a library takes elements so.
static bool fits(const tfrt_collective_view_t* view, const tfrt_tensor_groups_t* groups) {
  const tfrt_collective_record_t* record = own(view);
  bool has_parts = record->shape.rank > 0 && record->shape.dims[0] % view->count == 0;
  if (tfrt_collective_kind_reduces(record->kind) &&
      !groups->reduces(record->library, reductions[record->reduction], record->dtype)) {
    return false;
  }
  switch (record->kind) {
    case TFRT_COLLECTIVE_BARRIER:
      return false;
    case TFRT_COLLECTIVE_BROADCAST:
      record = &view->records[record->root];
      break;
    case TFRT_COLLECTIVE_REDUCE_SCATTER:
      if (!has_parts) return false;
      break;
    case TFRT_COLLECTIVE_ALL_TO_ALL:
      if (!has_parts || !have_same_rows(view)) return false;
      break;
    case TFRT_COLLECTIVE_ALL_GATHER:
      if (!have_same_rows(view)) return false;
      break;
    default:
      break;
  }
  return tfrt_collective_record_size(record) > 0;
}

// --- The group -------------------------------------------------------------------

uint64_t tfrt_collective_group_token(const tfrt_collective_view_t* view) {
  uint64_t token = view->records[0].token;
  for (uint32_t i = 1; i < view->count; ++i) {
    if (view->records[i].token != token) return 0;
  }
  return token;
}

tfrt_status_t tfrt_collective_group_can(const tfrt_collective_view_t* view,
                                        const tfrt_tensor_groups_t* groups, bool* out_can) {
  *out_can = groups && have_seats(view) && fits(view, groups);
  // A group that was joined has shown it.
  if (!*out_can || tfrt_collective_group_token(view) != 0) return NULL;
  return are_apart(view, tfrt_allocator_system(), out_can);
}

tfrt_status_t tfrt_collective_group_exchange(const tfrt_collective_view_t* view,
                                             tfrt_tensor_exchange_t* out_exchange) {
  static const tfrt_tensor_exchange_kind_t kinds[TFRT_COLLECTIVE_KIND_COUNT] = {
      [TFRT_COLLECTIVE_ALL_REDUCE] = TFRT_TENSOR_ALL_REDUCE,
      [TFRT_COLLECTIVE_REDUCE] = TFRT_TENSOR_REDUCE,
      [TFRT_COLLECTIVE_REDUCE_SCATTER] = TFRT_TENSOR_REDUCE_SCATTER,
      [TFRT_COLLECTIVE_ALL_GATHER] = TFRT_TENSOR_ALL_GATHER,
      [TFRT_COLLECTIVE_BROADCAST] = TFRT_TENSOR_BROADCAST,
      [TFRT_COLLECTIVE_ALL_TO_ALL] = TFRT_TENSOR_ALL_TO_ALL};
  const tfrt_collective_record_t* record = own(view);
  *out_exchange = (tfrt_tensor_exchange_t){.kind = kinds[record->kind],
                                           .reduction = reductions[record->reduction],
                                           .root = record->root,
                                           .has_result = !tfrt_collective_result_is_operand(view)};
  return tfrt_collective_result_describe(view, &out_exchange->dtype, &out_exchange->shape);
}
