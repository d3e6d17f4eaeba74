// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/partial_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tfrt_status_t tfrt_partial_shape_make(const int64_t* dims, size_t rank,
                                      tfrt_partial_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  if (rank > TFRT_SHAPE_MAX_RANK) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a partial shape has %zu axes, but at most %d are supported", rank,
                              TFRT_SHAPE_MAX_RANK);
  }
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < TFRT_PARTIAL_SHAPE_UNKNOWN) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "axis %zu of a partial shape has the length %" PRId64
                                "; lengths are -1 (unknown) or not negative",
                                i, dims[i]);
    }
  }
  out_shape->ranked = true;
  out_shape->rank = (uint32_t)rank;
  for (size_t i = 0; i < rank; ++i) out_shape->dims[i] = dims[i];
  return NULL;
}

tfrt_partial_shape_t tfrt_partial_shape_unranked(void) {
  return (tfrt_partial_shape_t){.ranked = false};
}

tfrt_partial_shape_t tfrt_partial_shape_of(const tfrt_shape_t* shape) {
  tfrt_partial_shape_t partial = {.ranked = true, .rank = shape->rank};
  for (uint32_t i = 0; i < shape->rank; ++i) partial.dims[i] = shape->dims[i];
  return partial;
}

// The error for unknown lengths, which lists their axes.
static tfrt_status_t unknown_dimensions(const tfrt_partial_shape_t* partial) {
  char list[TFRT_SHAPE_MAX_RANK * 4 + 1] = "";
  size_t size = 0;
  for (uint32_t i = 0; i < partial->rank; ++i) {
    if (partial->dims[i] != TFRT_PARTIAL_SHAPE_UNKNOWN) continue;
    size +=
        (size_t)snprintf(list + size, sizeof(list) - size, "%s%" PRIu32, size > 0 ? ", " : "", i);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "Unknown dimensions at following indices = [%s]", list);
}

tfrt_status_t tfrt_partial_shape_to_shape(const tfrt_partial_shape_t* partial,
                                          tfrt_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  if (!partial->ranked) return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "Unknown rank");
  for (uint32_t i = 0; i < partial->rank; ++i) {
    if (partial->dims[i] == TFRT_PARTIAL_SHAPE_UNKNOWN) return unknown_dimensions(partial);
  }
  return tfrt_shape_make_unbounded(partial->dims, partial->rank, out_shape);
}

void tfrt_partial_shape_print(const tfrt_partial_shape_t* shape, tfrt_string_builder_t* out) {
  if (!shape->ranked) {
    tfrt_string_builder_append_text(out, "Unknown rank");
    return;
  }
  tfrt_string_builder_append_char(out, '[');
  for (uint32_t i = 0; i < shape->rank; ++i) {
    tfrt_string_builder_append_format(out, "%s%" PRId64, i > 0 ? ", " : "", shape->dims[i]);
  }
  tfrt_string_builder_append_char(out, ']');
}
