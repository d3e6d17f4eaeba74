// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/coo_host_tensor.h"

#include <inttypes.h>
#include <string.h>

tfrt_status_t tfrt_coo_host_tensor_compute_size(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                int64_t count, size_t* out_size) {
  *out_size = 0;
  // The dense tensor must be possible too: places in it are counted in int64_t.
  size_t dense_size;
  TFRT_RETURN_IF_ERROR(tfrt_dense_host_tensor_compute_size(dtype, shape, &dense_size));
  size_t element_size = sizeof(int64_t) * shape->rank + tfrt_dtype_size(dtype);
  if (count < 0 || !tfrt_size_multiply((size_t)count, element_size, out_size) ||
      *out_size > PTRDIFF_MAX) {
    *out_size = 0;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a sparse tensor of %s with the shape %s cannot list %" PRId64
                              " elements",
                              tfrt_dtype_name(dtype), tfrt_shape_text(shape).text, count);
  }
  return NULL;
}

tfrt_status_t tfrt_coo_host_tensor_initialize(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                              int64_t count, tfrt_allocator_t allocator,
                                              tfrt_coo_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  size_t size;
  TFRT_RETURN_IF_ERROR(tfrt_coo_host_tensor_compute_size(dtype, shape, count, &size));
  tfrt_host_buffer_t* buffer;
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(size, allocator, &buffer));
  *out_tensor =
      (tfrt_coo_host_tensor_t){.dtype = dtype, .shape = *shape, .count = count, .buffer = buffer};
  return NULL;
}

void tfrt_coo_host_tensor_deinitialize(tfrt_coo_host_tensor_t* tensor) {
  tfrt_host_buffer_release(tensor->buffer);
  memset(tensor, 0, sizeof(*tensor));
}

int64_t* tfrt_coo_host_tensor_indices(const tfrt_coo_host_tensor_t* tensor) {
  return tensor->buffer->data;
}

void* tfrt_coo_host_tensor_values(const tfrt_coo_host_tensor_t* tensor) {
  char* data = tensor->buffer->data;
  return data ? data + sizeof(int64_t) * (size_t)tensor->count * tensor->shape.rank : NULL;
}

// The length that coordinate |axis| stays below.
static int64_t extent(const tfrt_coo_host_tensor_t* tensor, uint32_t axis) {
  return tensor->shape.dims[tensor->reversed ? tensor->shape.rank - 1 - axis : axis];
}

// The place in row-major order that the coordinates at |index| say.
static int64_t place_of(const tfrt_coo_host_tensor_t* tensor, const int64_t* index) {
  int64_t place = 0;
  for (uint32_t i = 0; i < tensor->shape.rank; ++i) place = place * extent(tensor, i) + index[i];
  return place;
}

static void split_place(const tfrt_coo_host_tensor_t* tensor, int64_t place, int64_t* index) {
  for (uint32_t i = tensor->shape.rank; i-- > 0;) {
    index[i] = place % extent(tensor, i);
    place /= extent(tensor, i);
  }
}

void tfrt_coo_host_tensor_index(const tfrt_coo_host_tensor_t* tensor, int64_t element,
                                int64_t* out_index) {
  uint32_t rank = tensor->shape.rank;
  if (rank == 0) return;
  tfrt_coo_host_tensor_t usual = *tensor;
  usual.reversed = false;
  const int64_t* index = tfrt_coo_host_tensor_indices(tensor) + (size_t)element * rank;
  split_place(&usual, place_of(tensor, index), out_index);
}

// --- From and to dense tensors -----------------------------------------------

static bool is_zero(tfrt_dtype_t dtype, const char* element) {
  switch (dtype) {
    case TFRT_DTYPE_F32:
      return *(const float*)element == 0;
    case TFRT_DTYPE_F64:
      return *(const double*)element == 0;
    case TFRT_DTYPE_F16:
    case TFRT_DTYPE_BF16:
      return (*(const uint16_t*)element & 0x7FFF) == 0;
    case TFRT_DTYPE_COMPLEX64:
      return ((const float*)element)[0] == 0 && ((const float*)element)[1] == 0;
    case TFRT_DTYPE_COMPLEX128:
      return ((const double*)element)[0] == 0 && ((const double*)element)[1] == 0;
    default:
      for (size_t i = 0; i < tfrt_dtype_size(dtype); ++i) {
        if (element[i] != 0) return false;
      }
      return true;
  }
}

tfrt_status_t tfrt_coo_host_tensor_initialize_from_dense(const tfrt_dense_host_tensor_t* dense,
                                                         tfrt_allocator_t allocator,
                                                         tfrt_coo_host_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  size_t size = tfrt_dtype_size(dense->dtype);
  int64_t total = tfrt_dense_host_tensor_element_count(dense);
  const char* elements = tfrt_dense_host_tensor_data(dense);
  int64_t count = 0;
  for (int64_t i = 0; i < total; ++i) {
    if (!is_zero(dense->dtype, elements + (size_t)i * size)) ++count;
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_coo_host_tensor_initialize(dense->dtype, &dense->shape, count, allocator, out_tensor));
  out_tensor->reversed = true;
  int64_t* index = tfrt_coo_host_tensor_indices(out_tensor);
  char* value = tfrt_coo_host_tensor_values(out_tensor);
  // The tensor may be written to meanwhile only by a program with a race in it; even then
  // no more is listed than there is room for, and no coordinate lies outside.
  for (int64_t i = 0; i < total && count > 0; ++i) {
    if (is_zero(dense->dtype, elements + (size_t)i * size)) continue;
    split_place(out_tensor, i, index);
    memcpy(value, elements + (size_t)i * size, size);
    index += dense->shape.rank;
    value += size;
    --count;
  }
  // Less is listed than was counted, too: what is left over says that element 0 is 0.
  if (count > 0) {
    memset(index, 0, (size_t)count * dense->shape.rank * sizeof(*index));
    memset(value, 0, (size_t)count * size);
  }
  return NULL;
}

tfrt_status_t tfrt_coo_host_tensor_to_dense(const tfrt_coo_host_tensor_t* tensor,
                                            tfrt_allocator_t allocator,
                                            tfrt_dense_host_tensor_t* out_dense) {
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(tensor->dtype, &tensor->shape, allocator, out_dense));
  size_t total = tfrt_dense_host_tensor_size(out_dense);
  char* elements = tfrt_dense_host_tensor_data(out_dense);
  if (total > 0) memset(elements, 0, total);
  size_t size = tfrt_dtype_size(tensor->dtype);
  const int64_t* index = tfrt_coo_host_tensor_indices(tensor);
  const char* value = tfrt_coo_host_tensor_values(tensor);
  for (int64_t i = 0; i < tensor->count; ++i) {
    memcpy(elements + (size_t)place_of(tensor, index) * size, value, size);
    index += tensor->shape.rank;
    value += size;
  }
  return NULL;
}

// --- Looking -------------------------------------------------------------------

tfrt_status_t tfrt_coo_host_tensor_check(const tfrt_coo_host_tensor_t* tensor) {
  const int64_t* index = tfrt_coo_host_tensor_indices(tensor);
  for (int64_t i = 0; i < tensor->count; ++i) {
    for (uint32_t j = 0; j < tensor->shape.rank; ++j, ++index) {
      if (*index >= 0 && *index < extent(tensor, j)) continue;
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "coordinate %" PRIu32 " of element %" PRId64
                                " of a sparse tensor is %" PRId64
                                ", which does not lie in the shape %s",
                                j, i, *index, tfrt_shape_text(&tensor->shape).text);
    }
  }
  // A tensor without elements can't list any, also where there are no coordinates.
  if (tensor->count > 0 && tfrt_shape_element_count(&tensor->shape) == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a sparse tensor lists %" PRId64
                              " elements, but its shape %s has none",
                              tensor->count, tfrt_shape_text(&tensor->shape).text);
  }
  return NULL;
}

bool tfrt_coo_host_tensor_equal(const tfrt_coo_host_tensor_t* a, const tfrt_coo_host_tensor_t* b) {
  if (a->dtype != b->dtype || !tfrt_shape_equal(&a->shape, &b->shape) || a->count != b->count) {
    return false;
  }
  const int64_t* in_a = tfrt_coo_host_tensor_indices(a);
  const int64_t* in_b = tfrt_coo_host_tensor_indices(b);
  for (int64_t i = 0; i < a->count; ++i, in_a += a->shape.rank, in_b += a->shape.rank) {
    if (place_of(a, in_a) != place_of(b, in_b)) return false;
  }
  // The values are compared as the elements of dense tensors are.
  tfrt_shape_t shape = {.rank = 1, .dims = {a->count}};
  tfrt_dense_host_tensor_t values[2] = {
      {.dtype = a->dtype, .shape = shape, .buffer = a->buffer},
      {.dtype = b->dtype, .shape = shape, .buffer = b->buffer},
  };
  size_t offset = sizeof(int64_t) * (size_t)a->count * a->shape.rank;
  values[0].offset = offset;
  values[1].offset = offset;
  return tfrt_dense_host_tensor_equal(&values[0], &values[1]);
}

void tfrt_coo_host_tensor_print(const tfrt_coo_host_tensor_t* tensor, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out, "CooHostTensor dtype = %s, shape = ", tfrt_dtype_name(tensor->dtype));
  tfrt_shape_print(&tensor->shape, out);
  tfrt_string_builder_append_text(out, ", indices = [");
  const int64_t* index = tfrt_coo_host_tensor_indices(tensor);
  int64_t index_count = tensor->count * tensor->shape.rank;
  for (int64_t i = 0; i < index_count; ++i) {
    tfrt_string_builder_append_format(out, "%s%" PRId64, i > 0 ? ", " : "", index[i]);
  }
  tfrt_string_builder_append_text(out, "], values = [");
  size_t size = tfrt_dtype_size(tensor->dtype);
  const char* value = tfrt_coo_host_tensor_values(tensor);
  for (int64_t i = 0; i < tensor->count; ++i) {
    if (i > 0) tfrt_string_builder_append_text(out, ", ");
    tfrt_dtype_print_element(tensor->dtype, value + (size_t)i * size, out);
  }
  tfrt_string_builder_append_text(out, "]\n");
}
