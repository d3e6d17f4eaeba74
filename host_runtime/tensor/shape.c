// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tfrt_status_t tfrt_shape_make_unbounded(const int64_t* dims, size_t rank, tfrt_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  if (rank > TFRT_SHAPE_MAX_RANK) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a shape has %zu axes, but at most %d are supported", rank,
                              TFRT_SHAPE_MAX_RANK);
  }
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "axis %zu of a shape has the negative length %" PRId64, i, dims[i]);
    }
  }
  out_shape->rank = (uint32_t)rank;
  for (size_t i = 0; i < rank; ++i) out_shape->dims[i] = dims[i];
  return NULL;
}

static tfrt_status_t overflow(const tfrt_shape_t* shape) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the number of elements of the shape %s overflows",
                            tfrt_shape_text(shape).text);
}

tfrt_status_t tfrt_shape_check(const tfrt_shape_t* shape) {
  int64_t product = 1;
  for (uint32_t i = 0; i < shape->rank; ++i) {
    // Zeros are left out, so that the shape's parts (strides) are bounded as well.
    int64_t length = shape->dims[i] != 0 ? shape->dims[i] : 1;
    if (__builtin_mul_overflow(product, length, &product)) return overflow(shape);
  }
  return NULL;
}

tfrt_status_t tfrt_shape_make(const int64_t* dims, size_t rank, tfrt_shape_t* out_shape) {
  TFRT_RETURN_IF_ERROR(tfrt_shape_make_unbounded(dims, rank, out_shape));
  tfrt_status_t status = tfrt_shape_check(out_shape);
  if (status) memset(out_shape, 0, sizeof(*out_shape));
  return status;
}

tfrt_status_t tfrt_shape_count_elements(const tfrt_shape_t* shape, int64_t* out_count) {
  *out_count = 0;
  for (uint32_t i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] == 0) return NULL;
  }
  TFRT_RETURN_IF_ERROR(tfrt_shape_check(shape));
  *out_count = tfrt_shape_element_count(shape);
  return NULL;
}

int64_t tfrt_shape_element_count(const tfrt_shape_t* shape) {
  int64_t count = 1;
  for (uint32_t i = 0; i < shape->rank; ++i) count *= shape->dims[i];
  return count;
}

int64_t tfrt_shape_stride(const tfrt_shape_t* shape, uint32_t axis) {
  int64_t stride = 1;
  for (uint32_t i = axis + 1; i < shape->rank; ++i) stride *= shape->dims[i];
  return stride;
}

bool tfrt_shape_equal(const tfrt_shape_t* a, const tfrt_shape_t* b) {
  if (a->rank != b->rank) return false;
  return memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

tfrt_status_t tfrt_shape_broadcast(const tfrt_shape_t* a, const tfrt_shape_t* b,
                                   tfrt_shape_t* out_shape) {
  memset(out_shape, 0, sizeof(*out_shape));
  uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
  int64_t dims[TFRT_SHAPE_MAX_RANK] = {0};
  for (uint32_t from_end = 1; from_end <= rank; ++from_end) {
    int64_t in_a = from_end <= a->rank ? a->dims[a->rank - from_end] : 1;
    int64_t in_b = from_end <= b->rank ? b->dims[b->rank - from_end] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "the shapes %s and %s cannot be broadcast to each other",
                                tfrt_shape_text(a).text, tfrt_shape_text(b).text);
    }
    dims[rank - from_end] = in_a == 1 ? in_b : in_a;
  }
  // Stretching may go beyond what either shape alone had room for.
  return tfrt_shape_make(dims, rank, out_shape);
}

tfrt_shape_text_t tfrt_shape_text(const tfrt_shape_t* shape) {
  tfrt_shape_text_t text = {"["};
  size_t size = 1;
  for (uint32_t i = 0; i < shape->rank; ++i) {
    size += (size_t)snprintf(text.text + size, sizeof(text.text) - size, "%s%" PRId64,
                             i > 0 ? ", " : "", shape->dims[i]);
  }
  text.text[size] = ']';
  text.text[size + 1] = '\0';
  return text;
}

void tfrt_shape_print(const tfrt_shape_t* shape, tfrt_string_builder_t* out) {
  tfrt_shape_text_t text = tfrt_shape_text(shape);
  tfrt_string_builder_append_text(out, text.text);
}
