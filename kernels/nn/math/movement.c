// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/movement.h"

#include <string.h>

// The axes that are left when those of length 1 are dropped and neighbours are merged.
typedef struct axes_s {
  uint32_t rank;
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t strides[TFRT_SHAPE_MAX_RANK];
} axes_t;

static void merge(uint32_t rank, const int64_t* dims, const int64_t* strides, axes_t* axes) {
  axes->rank = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 1) continue;
    uint32_t last = axes->rank - 1;
    if (axes->rank > 0 && axes->strides[last] == strides[i] * dims[i]) {
      axes->dims[last] *= dims[i];
      axes->strides[last] = strides[i];
      continue;
    }
    axes->dims[axes->rank] = dims[i];
    axes->strides[axes->rank++] = strides[i];
  }
  if (axes->rank > 0) return;
  axes->rank = 1;
  axes->dims[0] = 1;
  axes->strides[0] = 1;
}

#define COPY_ROW(type)                                   \
  for (int64_t i = 0; i < count; ++i) {                  \
    ((type*)out)[i] = ((const type*)source)[i * stride]; \
  }                                                      \
  break;

static void copy_row(const char* source, size_t size, int64_t count, int64_t stride, char* out) {
  if (stride == 1) {
    memcpy(out, source, (size_t)count * size);
    return;
  }
  switch (size) {
    case 1:
      COPY_ROW(uint8_t)
    case 2:
      COPY_ROW(uint16_t)
    case 4:
      COPY_ROW(uint32_t)
    case 8:
      COPY_ROW(uint64_t)
    default:
      for (int64_t i = 0; i < count; ++i) {
        memcpy(out + i * (int64_t)size, source + i * stride * (int64_t)size, size);
      }
  }
}

// The last two axes are exchanged: in tiles, so that both sides stay in the cache.
static void transpose_tiles(const uint32_t* source, int64_t rows, int64_t row_stride,
                            int64_t columns, int64_t column_stride, uint32_t* out) {
  enum { TILE = 16 };
  for (int64_t r = 0; r < rows; r += TILE) {
    int64_t row_end = r + TILE < rows ? r + TILE : rows;
    for (int64_t c = 0; c < columns; c += TILE) {
      int64_t column_end = c + TILE < columns ? c + TILE : columns;
      for (int64_t i = r; i < row_end; ++i) {
        for (int64_t j = c; j < column_end; ++j) {
          out[i * columns + j] = source[i * row_stride + j * column_stride];
        }
      }
    }
  }
}

static void copy_axes(const char* source, size_t size, const axes_t* axes, uint32_t axis,
                      char** out) {
  int64_t count = axes->dims[axis];
  int64_t stride = axes->strides[axis];
  if (axis + 1 == axes->rank) {
    copy_row(source, size, count, stride, *out);
    *out += (size_t)count * size;
    return;
  }
  if (axis + 2 == axes->rank && size == 4 && axes->strides[axis + 1] != 1) {
    int64_t columns = axes->dims[axis + 1];
    transpose_tiles((const uint32_t*)(const void*)source, count, stride, columns,
                    axes->strides[axis + 1], (uint32_t*)(void*)*out);
    *out += (size_t)(count * columns) * size;
    return;
  }
  // Recursion is bounded by the number of axes.
  for (int64_t i = 0; i < count; ++i) {
    copy_axes(source + i * stride * (int64_t)size, size, axes, axis + 1, out);
  }
}

void tfrt_nn_copy_strided(const void* source, size_t size, uint32_t rank, const int64_t* dims,
                          const int64_t* strides, void* out) {
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) return;
  }
  axes_t axes;
  char* target = out;
  merge(rank, dims, strides, &axes);
  copy_axes(source, size, &axes, 0, &target);
}

tfrt_status_t tfrt_nn_permute(const tfrt_nn_call_t* call, uint32_t index,
                              const tfrt_dense_host_tensor_t* source, const uint32_t* order) {
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t strides[TFRT_SHAPE_MAX_RANK];
  uint32_t rank = source->shape.rank;
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = source->shape.dims[order[i]];
    strides[i] = tfrt_shape_stride(&source->shape, order[i]);
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, index, source->dtype, dims, rank));
  tfrt_nn_copy_strided(tfrt_dense_host_tensor_data(source), tfrt_dtype_size(source->dtype), rank,
                       dims, strides, tfrt_nn_result_data(call, index));
  return NULL;
}
