// SPDX-License-Identifier: Apache-2.0
//
// Operations of text decoders: rotary embeddings of positions, and caches of keys and values.
#include <string.h>

#include "kernels/nn/math/ops.h"

// --- Rotary embeddings --------------------------------------------------------------

enum { INPUT, COSINES, SINES, POSITIONS };

typedef struct rotation_s {
  int64_t batch, heads, length;
  int64_t size;               // of a head
  int64_t half;               // pairs that are turned
  int64_t pair, step;         // from one of a pair to the other; from pair to pair
  bool is_split;              // the heads are an axis of their own, before the places
  int64_t row_count;          // of the tables
  const int64_t* positions;   // rows of the tables; NULL: those of the batch and the place
  bool positions_are_shared;  // by the parts of the batch
} rotation_t;

static tfrt_status_t read_rotation(const tfrt_nn_call_t* call, rotation_t* r) {
  for (uint32_t i = INPUT; i <= SINES; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, TFRT_DTYPE_F32));
  }
  const tfrt_shape_t* x = &call->inputs[INPUT]->shape;
  if (x->rank != 3 && x->rank != 4) return tfrt_nn_error(call, "it takes 3 or 4 axes");
  r->is_split = x->rank == 4;
  r->batch = x->dims[0];
  r->heads = r->is_split ? x->dims[1] : tfrt_nn_i64(call, "num_heads");
  r->length = r->is_split ? x->dims[2] : x->dims[1];
  if (r->heads < (r->is_split ? 0 : 1) || (!r->is_split && x->dims[2] % r->heads != 0)) {
    return tfrt_nn_error(call, "%s has not %lld heads", tfrt_shape_text(x).text,
                         (long long)r->heads);
  }
  r->size = r->is_split ? x->dims[3] : x->dims[2] / r->heads;
  int64_t turned = tfrt_nn_i64(call, "rotary_embedding_dim");
  if (turned == 0) turned = r->size;
  if (turned < 0 || turned > r->size || turned % 2 != 0) {
    return tfrt_nn_error(call, "%lld of %lld elements can't be turned", (long long)turned,
                         (long long)r->size);
  }
  r->half = turned / 2;
  bool is_interleaved = tfrt_nn_i64(call, "interleaved") != 0;
  r->pair = is_interleaved ? 1 : r->half;
  r->step = is_interleaved ? 2 : 1;
  return NULL;
}

// Checks the tables and the positions, which point into them.
static tfrt_status_t read_tables(const tfrt_nn_call_t* call, rotation_t* r) {
  const tfrt_dense_host_tensor_t* positions = tfrt_nn_input(call, POSITIONS);
  const tfrt_shape_t* cosines = &call->inputs[COSINES]->shape;
  uint32_t rank = positions ? 2 : 3;
  if (!tfrt_shape_equal(cosines, &call->inputs[SINES]->shape) || cosines->rank != rank ||
      cosines->dims[rank - 1] != r->half) {
    return tfrt_nn_error(call, "the tables %s and %s don't fit %lld pairs",
                         tfrt_shape_text(cosines).text,
                         tfrt_shape_text(&call->inputs[SINES]->shape).text, (long long)r->half);
  }
  if (!positions) {
    if (cosines->dims[0] == r->batch && cosines->dims[1] == r->length) return NULL;
    return tfrt_nn_error(call, "the tables %s don't fit a batch of %lld, and %lld places",
                         tfrt_shape_text(cosines).text, (long long)r->batch, (long long)r->length);
  }
  const tfrt_shape_t* shape = &positions->shape;
  r->row_count = cosines->dims[0];
  r->positions_are_shared = shape->rank == 2 && shape->dims[0] == 1;
  if (positions->dtype != TFRT_DTYPE_I64 || shape->rank != 2 || shape->dims[1] != r->length ||
      (shape->dims[0] != r->batch && shape->dims[0] != 1)) {
    return tfrt_nn_error(call, "the positions %s %s don't fit", tfrt_dtype_name(positions->dtype),
                         tfrt_shape_text(shape).text);
  }
  r->positions = tfrt_dense_host_tensor_data(positions);
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(positions); ++i) {
    if (r->positions[i] >= 0 && r->positions[i] < r->row_count) continue;
    return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE, "%s: position %lld of %lld", call->op->name,
                              (long long)r->positions[i], (long long)r->row_count);
  }
  return NULL;
}

// Turns the head at |x| by the angles of one row of the tables.
static void turn(const rotation_t* r, const float* x, const float* cosines, const float* sines,
                 float* out) {
  for (int64_t i = 0; i < r->half; ++i) {
    float a = x[i * r->step], b = x[i * r->step + r->pair];
    out[i * r->step] = cosines[i] * a - sines[i] * b;
    out[i * r->step + r->pair] = sines[i] * a + cosines[i] * b;
  }
  for (int64_t i = 2 * r->half; i < r->size; ++i) out[i] = x[i];
}

tfrt_status_t tfrt_nn_rotary_embedding(const tfrt_nn_call_t* call) {
  rotation_t r = {.batch = 0};
  TFRT_RETURN_IF_ERROR(read_rotation(call, &r));
  TFRT_RETURN_IF_ERROR(read_tables(call, &r));
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, TFRT_DTYPE_F32, &call->inputs[INPUT]->shape));
  if (tfrt_dense_host_tensor_size(&call->results[0]) == 0) return NULL;
  const float* x = tfrt_nn_input_data(call, INPUT);
  const float* cosines = tfrt_nn_input_data(call, COSINES);
  const float* sines = tfrt_nn_input_data(call, SINES);
  float* out = tfrt_nn_result_data(call, 0);
  for (int64_t i = 0; i < r.batch * r.heads * r.length; ++i) {
    // In memory: batch, heads, places; or batch, places, heads.
    int64_t part = i / (r.heads * r.length);
    int64_t place = r.is_split ? i % r.length : i / r.heads % r.length;
    int64_t row = part * r.length + place;
    if (r.positions) row = r.positions[r.positions_are_shared ? place : row];
    turn(&r, x + i * r.size, cosines + row * r.half, sines + row * r.half, out + i * r.size);
  }
  return NULL;
}

// --- Caches -----------------------------------------------------------------------

// Operand 0 with operand 1 written along `axis`, for each part of the batch from operand 2 on.
tfrt_status_t tfrt_nn_tensor_scatter(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* cache = tfrt_nn_input(call, 0);
  const tfrt_dense_host_tensor_t* update = tfrt_nn_input(call, 1);
  const tfrt_dense_host_tensor_t* places = tfrt_nn_input(call, 2);
  bool is_circular = tfrt_nn_string_is(call, "mode", "circular");
  uint32_t axis;
  if (!cache || !update || cache->shape.rank < 2 || cache->shape.rank != update->shape.rank) {
    return tfrt_nn_error(call, "it takes a cache and as many axes of new elements");
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, 1, cache->dtype));
  TFRT_RETURN_IF_ERROR(tfrt_nn_axis(call, tfrt_nn_i64(call, "axis"), cache->shape.rank, &axis));
  bool fits = axis > 0 && update->shape.dims[axis] <= cache->shape.dims[axis];
  for (uint32_t i = 0; i < cache->shape.rank; ++i) {
    fits &= i == axis || cache->shape.dims[i] == update->shape.dims[i];
  }
  int64_t batch = cache->shape.dims[0];
  if (places) {
    fits &= places->dtype == TFRT_DTYPE_I64 && places->shape.rank == 1 &&
            places->shape.dims[0] == batch;
  }
  if (!fits) {
    return tfrt_nn_error(call, "%s doesn't fit into %s", tfrt_shape_text(&update->shape).text,
                         tfrt_shape_text(&cache->shape).text);
  }
  TFRT_RETURN_IF_ERROR(tfrt_nn_make(call, 0, cache->dtype, &cache->shape));
  size_t bytes = tfrt_dense_host_tensor_size(cache);
  if (bytes == 0) return NULL;
  char* out = tfrt_nn_result_data(call, 0);
  memcpy(out, tfrt_dense_host_tensor_data(cache), bytes);
  int64_t length = cache->shape.dims[axis], count = update->shape.dims[axis];
  size_t row = (size_t)tfrt_shape_stride(&cache->shape, axis) * tfrt_dtype_size(cache->dtype);
  int64_t outer = (int64_t)(bytes / row) / length;
  for (int64_t i = 0; i < outer * count; ++i) {
    int64_t first =
        places ? ((const int64_t*)tfrt_dense_host_tensor_data(places))[i / count / (outer / batch)]
               : 0;
    int64_t place = is_circular ? (first % length + length + i % count) % length : first;
    if (!is_circular && first >= 0 && first <= length) place = first + i % count;
    if (place < 0 || place >= length) {
      return tfrt_status_create(TFRT_STATUS_OUT_OF_RANGE, "%s: place %lld of %lld", call->op->name,
                                (long long)place, (long long)length);
    }
    memcpy(out + (size_t)(i / count * length + place) * row,
           (const char*)tfrt_dense_host_tensor_data(update) + (size_t)i * row, row);
  }
  return NULL;
}
