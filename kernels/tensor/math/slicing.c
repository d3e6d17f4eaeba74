// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/slicing.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/tensor/math/check_tensor.h"

static tfrt_status_t view(const tfrt_dense_host_tensor_t* x, const tfrt_shape_t* shape,
                          size_t offset, tfrt_dense_host_tensor_t* out_result) {
  return tfrt_dense_host_tensor_initialize_view(x->dtype, shape, x->buffer, x->offset + offset,
                                                out_result);
}

// Replaces the one -1 in |dims| by what is left of |total| elements; false if that is no
// whole number, or if there are several of them.
static bool infer_length(int64_t total, int64_t* dims, size_t rank) {
  size_t unknown = rank;
  int64_t known = 1;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] != -1) {
      if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) return false;
    } else if (unknown != rank) {
      return false;
    } else {
      unknown = i;
    }
  }
  if (unknown == rank) return known == total;
  if (known == 0 || total % known != 0) return false;
  dims[unknown] = total / known;
  return true;
}

tfrt_status_t tfrt_tensor_reshape(const tfrt_dense_host_tensor_t* x, const int64_t* dims,
                                  size_t rank, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_shape_t shape = {.rank = (uint32_t)rank};
  if (rank > TFRT_SHAPE_MAX_RANK) return tfrt_shape_make(dims, rank, &shape);
  for (size_t i = 0; i < rank; ++i) shape.dims[i] = dims[i];
  if (!infer_length(tfrt_dense_host_tensor_element_count(x), shape.dims, rank)) {
    tfrt_shape_t asked = {.rank = (uint32_t)rank};
    for (size_t i = 0; i < rank; ++i) asked.dims[i] = dims[i];
    return tfrt_shapes_mismatch("reshape", "both must have as many elements, and one -1 at most",
                                &x->shape, &asked);
  }
  tfrt_shape_t good;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(shape.dims, rank, &good));
  return view(x, &good, 0, out_result);
}

tfrt_status_t tfrt_tensor_slice(const tfrt_dense_host_tensor_t* x, int64_t start, int64_t count,
                                tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(tfrt_check_axis(x, 0, "the input of slice"));
  int64_t length = x->shape.dims[0];
  if (start < 0 || count < 0 || start > length || count > length - start) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "slice asks for %" PRId64 " steps from %" PRId64
                              " of a tensor with the shape %s",
                              count, start, tfrt_shape_text(&x->shape).text);
  }
  tfrt_shape_t shape = x->shape;
  shape.dims[0] = count;
  size_t step = (size_t)tfrt_shape_stride(&x->shape, 0) * tfrt_dtype_size(x->dtype);
  return view(x, &shape, (size_t)start * step, out_result);
}

tfrt_status_t tfrt_tensor_batch(const tfrt_dense_host_tensor_t* x, int64_t index, int64_t size,
                                tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TFRT_RETURN_IF_ERROR(tfrt_check_axis(x, 0, "the input of batch"));
  int64_t length = x->shape.dims[0];
  int64_t start;
  if (size < 1 || index < 0 || __builtin_mul_overflow(index, size, &start) || start >= length) {
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "batch asks for number %" PRId64 " of size %" PRId64
                              " of a tensor with the shape %s",
                              index, size, tfrt_shape_text(&x->shape).text);
  }
  return tfrt_tensor_slice(x, start, size < length - start ? size : length - start, out_result);
}

// Sets |*out_shape| to the shape of all |tensors| together.
static tfrt_status_t concat_shape(const tfrt_dense_host_tensor_t* const* tensors, size_t count,
                                  tfrt_shape_t* out_shape) {
  TFRT_RETURN_IF_ERROR(tfrt_check_axis(tensors[0], 0, "the first operand of concat"));
  tfrt_shape_t shape = tensors[0]->shape;
  for (size_t i = 1; i < count; ++i) {
    const tfrt_dense_host_tensor_t* next = tensors[i];
    if (next->dtype != tensors[0]->dtype) return tfrt_dtypes_mismatch("concat", tensors[0], next);
    bool fits =
        next->shape.rank == shape.rank &&
        memcmp(next->shape.dims + 1, shape.dims + 1, (shape.rank - 1) * sizeof(shape.dims[0])) == 0;
    if (!fits) {
      return tfrt_shapes_mismatch("concat", "only the first axis may differ", &tensors[0]->shape,
                                  &next->shape);
    }
    if (__builtin_add_overflow(shape.dims[0], next->shape.dims[0], &shape.dims[0])) {
      return tfrt_shapes_mismatch("concat", "the result would be too long", &tensors[0]->shape,
                                  &next->shape);
    }
  }
  return tfrt_shape_make(shape.dims, shape.rank, out_shape);
}

tfrt_status_t tfrt_tensor_concat(const tfrt_dense_host_tensor_t* const* tensors, size_t count,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(concat_shape(tensors, count, &shape));
  if (count == 1) {
    tfrt_dense_host_tensor_initialize_alias(tensors[0], out_result);
    return NULL;
  }
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(tensors[0]->dtype, &shape, allocator, out_result));
  char* target = tfrt_dense_host_tensor_data(out_result);
  for (size_t i = 0; i < count; ++i) {
    size_t size = tfrt_dense_host_tensor_size(tensors[i]);
    if (size > 0) memcpy(target, tfrt_dense_host_tensor_data(tensors[i]), size);
    target += size;
  }
  return NULL;
}

static tfrt_status_t check_block(const tfrt_dense_host_tensor_t* x, const int64_t* begin,
                                 const tfrt_dense_host_tensor_t* target) {
  if (x->dtype != target->dtype) return tfrt_dtypes_mismatch("slice", x, target);
  if (x->shape.rank != target->shape.rank) {
    return tfrt_shapes_mismatch("slice", "both must have as many axes", &x->shape, &target->shape);
  }
  for (uint32_t i = 0; i < x->shape.rank; ++i) {
    int64_t length = x->shape.dims[i];
    if (begin[i] >= 0 && begin[i] <= length && target->shape.dims[i] <= length - begin[i]) continue;
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE,
                              "slice asks for the shape %s from %" PRId64 " on along axis %" PRIu32
                              " of a tensor with the shape %s",
                              tfrt_shape_text(&target->shape).text, begin[i], i,
                              tfrt_shape_text(&x->shape).text);
  }
  return NULL;
}

tfrt_status_t tfrt_tensor_block_into(const tfrt_dense_host_tensor_t* x, const int64_t* begin,
                                     const tfrt_dense_host_tensor_t* target) {
  TFRT_RETURN_IF_ERROR(check_block(x, begin, target));
  const tfrt_shape_t* shape = &target->shape;
  // Lines along the last axis; a scalar is one line of one element.
  uint32_t outer = shape->rank > 0 ? shape->rank - 1 : 0;
  int64_t length = shape->rank > 0 ? shape->dims[outer] : 1;
  size_t size = tfrt_dtype_size(x->dtype);
  int64_t total = tfrt_dense_host_tensor_element_count(target);
  const char* source = tfrt_dense_host_tensor_data(x);
  char* element = tfrt_dense_host_tensor_data(target);
  int64_t index[TFRT_SHAPE_MAX_RANK] = {0};
  for (int64_t done = 0; done < total; done += length) {
    int64_t place = 0;
    for (uint32_t i = 0; i < shape->rank; ++i) {
      place += (begin[i] + index[i]) * tfrt_shape_stride(&x->shape, i);
    }
    memmove(element + (size_t)done * size, source + (size_t)place * size, (size_t)length * size);
    for (uint32_t i = outer; i-- > 0 && ++index[i] == shape->dims[i];) index[i] = 0;
  }
  return NULL;
}

tfrt_status_t tfrt_tensor_transpose_into(const tfrt_dense_host_tensor_t* x,
                                         const tfrt_dense_host_tensor_t* target) {
  if (x->dtype != target->dtype) return tfrt_dtypes_mismatch("transpose", x, target);
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(x, 2, "the input of transpose"));
  TFRT_RETURN_IF_ERROR(tfrt_check_rank(target, 2, "the output of transpose"));
  int64_t rows = x->shape.dims[0];
  int64_t columns = x->shape.dims[1];
  if (target->shape.dims[0] != columns || target->shape.dims[1] != rows) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "TensorTranspose output shape %s does not match the input shape %s",
                              tfrt_shape_text(&target->shape).text,
                              tfrt_shape_text(&x->shape).text);
  }
  TFRT_RETURN_IF_ERROR(tfrt_check_disjoint("transpose", x, target));
  size_t size = tfrt_dtype_size(x->dtype);
  const char* source = tfrt_dense_host_tensor_data(x);
  char* element = tfrt_dense_host_tensor_data(target);
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t j = 0; j < rows; ++j, element += size) {
      memcpy(element, source + (size_t)(j * columns + i) * size, size);
    }
  }
  return NULL;
}
