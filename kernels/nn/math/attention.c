// SPDX-License-Identifier: Apache-2.0
//
// Attention of transformers, as of opset 25: scaled products of queries and keys, a mask, their
// softmax, and the products of that with the values, for each head. Operands: queries, keys,
// values, mask, past keys, past values, how many keys are no padding.
//
//   Q [b, h, m, d]    K [b, g, t, d] --.          h heads share g heads of keys and values
//   3 axes: [b, m, h * d]              |- with those of the past in front
//                     V [b, g, t, e] --'
#include <math.h>
#include <string.h>

#include "kernels/nn/math/movement.h"
#include "kernels/nn/math/normalization.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/small_product.h"
#include "kernels/tensor/math/elementwise.h"

enum { QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, VALID_COUNT };

// The kinds of result 3.
enum { SCORES, CAPPED_SCORES, MASKED_SCORES, SHARES };

typedef struct attention_s {
  int64_t batch, heads, key_heads;
  int64_t rows;              // queries
  int64_t columns;           // keys, with those of the past
  int64_t past;              // keys of the past
  int64_t size, value_size;  // of a head
  float scale, cap;
  bool is_causal, stretches_mask;
  int64_t left, right;               // how far each query sees; -1: all
  int64_t kept;                      // the kind of result 3
  tfrt_dense_host_tensor_t q, k, v;  // [batch, heads, rows or columns, size]
  float* scores;                     // [rows, columns]
  float* output;                     // [rows, value_size]; of joined heads alone
} attention_t;

static tfrt_status_t check_operands(const tfrt_nn_call_t* call) {
  for (uint32_t i = QUERY; i <= PAST_VALUE; ++i) {
    const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, i);
    bool is_truth = i == MASK && x && x->dtype == TFRT_DTYPE_I1;
    if (!is_truth && (x || i <= VALUE)) {
      TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, TFRT_DTYPE_F32));
    }
  }
  uint32_t rank = call->inputs[QUERY]->shape.rank;
  bool is_good = rank == 3 || rank == 4;
  for (uint32_t i = KEY; i <= VALUE; ++i) is_good &= call->inputs[i]->shape.rank == rank;
  for (uint32_t i = PAST_KEY; i <= PAST_VALUE; ++i) {
    const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, i);
    is_good &= !x || x->shape.rank == 4;
  }
  if (!is_good) return tfrt_nn_error(call, "queries, keys and values must have 3 or 4 axes");
  if (!tfrt_nn_input(call, PAST_KEY) == !tfrt_nn_input(call, PAST_VALUE)) return NULL;
  return tfrt_nn_error(call, "keys and values of the past go together");
}

// Copies |x|, of [batch, length, heads * size] or [batch, heads, length, size], to |out|, of
// [batch, heads, total, size], from the place |first| on.
static void place_heads(const tfrt_dense_host_tensor_t* x, int64_t heads, int64_t first,
                        const tfrt_dense_host_tensor_t* out) {
  const int64_t* dims = out->shape.dims;
  int64_t length = x->shape.rank == 4 ? x->shape.dims[2] : x->shape.dims[1];
  int64_t size = dims[3];
  const int64_t part[] = {length, size};
  const int64_t wide[] = {heads * size, 1}, dense[] = {size, 1};
  const float* source = tfrt_dense_host_tensor_data(x);
  float* target = tfrt_dense_host_tensor_data(out);
  for (int64_t i = 0; i < dims[0] * heads && length * size > 0; ++i) {
    int64_t place = x->shape.rank == 4 ? i * length * size
                                       : i / heads * length * heads * size + i % heads * size;
    tfrt_nn_copy_strided(source + place, sizeof(float), 2, part, x->shape.rank == 4 ? dense : wide,
                         target + (i * dims[2] + first) * size);
  }
}

// Makes |*out| operand |index| by |heads| heads, behind those of the past, operand |past_index| (0:
// there is none).
static tfrt_status_t take_heads(const tfrt_nn_call_t* call, uint32_t index, uint32_t past_index,
                                int64_t heads, tfrt_dense_host_tensor_t* out) {
  const tfrt_dense_host_tensor_t* x = call->inputs[index];
  const tfrt_dense_host_tensor_t* past = past_index ? tfrt_nn_input(call, past_index) : NULL;
  bool is_split = x->shape.rank == 4;
  int64_t width = is_split ? x->shape.dims[3] : x->shape.dims[2];
  int64_t length = is_split ? x->shape.dims[2] : x->shape.dims[1];
  if (heads <= 0 || (is_split ? x->shape.dims[1] != heads : width % heads != 0)) {
    return tfrt_nn_error(call, "operand %u, %s, has not %lld heads", index,
                         tfrt_shape_text(&x->shape).text, (long long)heads);
  }
  if (is_split && !past) {
    tfrt_dense_host_tensor_initialize_alias(x, out);
    return NULL;
  }
  int64_t size = is_split ? width : width / heads;
  const int64_t dims[] = {x->shape.dims[0], heads, length + (past ? past->shape.dims[2] : 0), size};
  if (past && (past->shape.dims[0] != dims[0] || past->shape.dims[1] != heads ||
               past->shape.dims[3] != size)) {
    return tfrt_nn_error(call, "%s of the past doesn't fit %s", tfrt_shape_text(&past->shape).text,
                         tfrt_shape_text(&x->shape).text);
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 4, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, call->allocator, out));
  if (past) place_heads(past, heads, 0, out);
  place_heads(x, heads, past ? past->shape.dims[2] : 0, out);
  return NULL;
}

// Whether operand |index| is stretched to [batch, heads, rows, columns]; columns may be missing at
// its end.
static bool is_mask(const attention_t* a, const tfrt_shape_t* shape) {
  const int64_t dims[] = {a->batch, a->heads, a->rows};
  int64_t length = shape->rank ? shape->dims[shape->rank - 1] : 1;
  if (shape->rank > 4 || length > a->columns || (shape->rank == 0 && !a->stretches_mask) ||
      (a->stretches_mask && length != 1 && length != a->columns)) {
    return false;
  }
  for (uint32_t i = 0; i + 1 < shape->rank; ++i) {
    int64_t length = shape->dims[i];
    if (length != 1 && length != dims[4 - shape->rank + i]) return false;
  }
  return true;
}

static tfrt_status_t take_operands(const tfrt_nn_call_t* call, attention_t* a) {
  const tfrt_shape_t* q = &call->inputs[QUERY]->shape;
  bool is_split = q->rank == 4;
  a->heads = is_split ? q->dims[1] : tfrt_nn_i64(call, "q_num_heads");
  a->key_heads = is_split ? call->inputs[KEY]->shape.dims[1] : tfrt_nn_i64(call, "kv_num_heads");
  TFRT_RETURN_IF_ERROR(take_heads(call, QUERY, 0, a->heads, &a->q));
  TFRT_RETURN_IF_ERROR(take_heads(call, KEY, PAST_KEY, a->key_heads, &a->k));
  TFRT_RETURN_IF_ERROR(take_heads(call, VALUE, PAST_VALUE, a->key_heads, &a->v));
  a->batch = q->dims[0];
  a->rows = a->q.shape.dims[2];
  a->columns = a->k.shape.dims[2];
  a->size = a->q.shape.dims[3];
  a->value_size = a->v.shape.dims[3];
  const tfrt_dense_host_tensor_t* past = tfrt_nn_input(call, PAST_KEY);
  a->past = past ? past->shape.dims[2] : 0;
  if (a->k.shape.dims[0] != a->batch || a->v.shape.dims[0] != a->batch ||
      a->k.shape.dims[3] != a->size || a->v.shape.dims[2] != a->columns ||
      a->heads % a->key_heads != 0) {
    return tfrt_nn_error(call, "queries %s, keys %s and values %s don't fit",
                         tfrt_shape_text(&a->q.shape).text, tfrt_shape_text(&a->k.shape).text,
                         tfrt_shape_text(&a->v.shape).text);
  }
  a->stretches_mask = tfrt_nn_i64(call, "stretch_mask") != 0;
  const tfrt_dense_host_tensor_t* mask = tfrt_nn_input(call, MASK);
  if (mask && !is_mask(a, &mask->shape)) {
    return tfrt_nn_error(call, "the mask %s doesn't fit [%lld, %lld, %lld, %lld]",
                         tfrt_shape_text(&mask->shape).text, (long long)a->batch,
                         (long long)a->heads, (long long)a->rows, (long long)a->columns);
  }
  const tfrt_dense_host_tensor_t* valid = tfrt_nn_input(call, VALID_COUNT);
  if (!valid || (valid->dtype == TFRT_DTYPE_I64 && valid->shape.rank == 1 &&
                 valid->shape.dims[0] == a->batch)) {
    return NULL;
  }
  return tfrt_nn_error(call, "operand 6 must have an i64 for each part of the batch");
}

// The attribute |name|; -1 if it is negative, or more than any tensor has.
static int64_t window_of(const tfrt_nn_call_t* call, const char* name) {
  int64_t width = tfrt_nn_i64(call, name);
  return width < 0 || width > INT32_MAX ? -1 : width;
}

static void take_attributes(const tfrt_nn_call_t* call, attention_t* a) {
  float scale = tfrt_nn_f32(call, "scale");
  // 0 stands for the usual one.
  a->scale = scale != 0 ? scale : a->size > 0 ? 1.0f / sqrtf((float)a->size) : 0;
  a->cap = tfrt_nn_f32(call, "softcap");
  a->is_causal = tfrt_nn_i64(call, "is_causal") != 0;
  a->left = window_of(call, "left_window_size");
  a->right = window_of(call, "right_window_size");
  a->kept = tfrt_nn_i64(call, "qk_matmul_output_mode");
}

// --- One head ---------------------------------------------------------------------

// Adds |mask| to the scores of the row at |position|: part, head and row. Returns false if it hides
// all keys from |begin| to |end|; the others are hidden already.
static bool add_mask(const attention_t* a, const tfrt_dense_host_tensor_t* mask,
                     const int64_t position[3], int64_t begin, int64_t end, float* scores) {
  const tfrt_shape_t* shape = &mask->shape;
  int64_t place = 0, length = shape->rank ? shape->dims[shape->rank - 1] : 1;
  for (uint32_t i = 0; i + 1 < shape->rank; ++i) {
    place = place * shape->dims[i] + (shape->dims[i] == 1 ? 0 : position[4 - shape->rank + i]);
  }
  const void* data = tfrt_dense_host_tensor_data(mask);
  const uint8_t* truths = (const uint8_t*)data + place * length;
  const float* numbers = (const float*)data + place * length;
  // A mask with fewer columns hides the others; one column may be that of all.
  bool is_stretched = a->stretches_mask && length == 1;
  int64_t known = is_stretched || length > end ? end : length;
  int sees_any = 0;
  if (mask->dtype != TFRT_DTYPE_F32) {
    for (int64_t j = begin; j < known; ++j) {
      uint8_t truth = truths[is_stretched ? 0 : j];
      scores[j] = truth ? scores[j] : -INFINITY;
      sees_any |= truth;
    }
  } else if (is_stretched) {
    for (int64_t j = begin; j < known; ++j) scores[j] += numbers[0];
    sees_any = begin < known && numbers[0] != -INFINITY;
  } else {
    // A NaN hides nothing.
    for (int64_t j = begin; j < known; ++j) {
      scores[j] += numbers[j];
      sees_any |= numbers[j] != -INFINITY;
    }
  }
  for (int64_t j = known > begin ? known : begin; j < end; ++j) scores[j] = -INFINITY;
  return sees_any != 0;
}

// Hides the keys that the row |row| doesn't see from its scores; returns false if those are all.
static bool hide_keys(const tfrt_nn_call_t* call, const attention_t* a, int64_t part, int64_t head,
                      int64_t row, float* scores) {
  const tfrt_dense_host_tensor_t* mask = tfrt_nn_input(call, MASK);
  const tfrt_dense_host_tensor_t* valid = tfrt_nn_input(call, VALID_COUNT);
  int64_t count = valid ? ((const int64_t*)tfrt_dense_host_tensor_data(valid))[part] : a->columns;
  if (count < 0) count = 0;
  if (count > a->columns) count = a->columns;
  bool has_past = tfrt_nn_input(call, PAST_KEY) != NULL;
  int64_t place = row + (has_past ? a->past : valid ? count - a->rows : 0);
  int64_t begin = a->left >= 0 && place > a->left ? place - a->left : 0;
  int64_t end = count;
  if (a->is_causal && place < end - 1) end = place + 1;
  if (a->right >= 0 && place + a->right < end - 1) end = place + a->right + 1;
  if (end < 0) end = 0;
  for (int64_t j = 0; j < begin && j < a->columns; ++j) scores[j] = -INFINITY;
  for (int64_t j = end; j < a->columns; ++j) scores[j] = -INFINITY;
  const int64_t position[] = {part, head, row};
  return begin < end && (!mask || add_mask(a, mask, position, begin, end, scores));
}

// Makes the scores of one head its shares. Copies what result 3 wants to |kept|, unless that is
// NULL.
static void finish_scores(const tfrt_nn_call_t* call, const attention_t* a, int64_t part,
                          int64_t head, float* kept) {
  for (int64_t row = 0; row < a->rows; ++row) {
    float* scores = a->scores + row * a->columns;
    size_t bytes = (size_t)a->columns * sizeof(float);
    float* target = kept ? kept + row * a->columns : NULL;
    if (target && a->kept == SCORES) memcpy(target, scores, bytes);
    if (a->cap != 0) {
      for (int64_t j = 0; j < a->columns; ++j) scores[j] = a->cap * tanhf(scores[j] / a->cap);
    }
    if (target && a->kept == CAPPED_SCORES) memcpy(target, scores, bytes);
    bool sees_any = hide_keys(call, a, part, head, row, scores);
    if (target && a->kept == MASKED_SCORES) memcpy(target, scores, bytes);
    if (sees_any) {
      tfrt_nn_softmax_row(scores, scores, a->columns);
    } else {
      memset(scores, 0, bytes);
    }
    if (target && a->kept == SHARES) memcpy(target, scores, bytes);
  }
}

// Computes head |head| of the part |part| of the batch into |a->output|.
static tfrt_status_t run_head(const tfrt_nn_call_t* call, const attention_t* a, int64_t part,
                              int64_t head) {
  int64_t own = part * a->heads + head;
  int64_t shared = part * a->key_heads + head / (a->heads / a->key_heads);
  const float* q = (const float*)tfrt_dense_host_tensor_data(&a->q) + own * a->rows * a->size;
  const float* k = (const float*)tfrt_dense_host_tensor_data(&a->k) + shared * a->columns * a->size;
  const float* v =
      (const float*)tfrt_dense_host_tensor_data(&a->v) + shared * a->columns * a->value_size;
  int64_t count = a->rows * a->columns;
  if (a->size > 0) {
    const tfrt_nn_product_t scores = {
        .m = a->rows, .n = a->columns, .k = a->size, .b_is_transposed = true};
    TFRT_RETURN_IF_ERROR(tfrt_nn_product_f32(&scores, a->scale, q, k, 0.0f, a->scores));
  } else {
    memset(a->scores, 0, (size_t)count * sizeof(float));
  }
  float* kept = call->result_count > 3 ? (float*)tfrt_nn_result_data(call, 3) + own * count : NULL;
  finish_scores(call, a, part, head, kept);
  if (a->value_size == 0) return NULL;
  // Heads of their own are written where they belong.
  bool is_split = call->inputs[QUERY]->shape.rank == 4;
  float* out =
      is_split ? (float*)tfrt_nn_result_data(call, 0) + own * a->rows * a->value_size : a->output;
  const tfrt_nn_product_t shares = {.m = a->rows, .n = a->value_size, .k = a->columns};
  return tfrt_nn_product_f32(&shares, 1.0f, a->scores, v, 0.0f, out);
}

// --- All heads --------------------------------------------------------------------

static tfrt_status_t make_results(const tfrt_nn_call_t* call, const attention_t* a) {
  bool is_split = call->inputs[QUERY]->shape.rank == 4;
  const int64_t split[] = {a->batch, a->heads, a->rows, a->value_size};
  const int64_t joined[] = {a->batch, a->rows, a->heads * a->value_size};
  const int64_t scores[] = {a->batch, a->heads, a->rows, a->columns};
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make_dims(call, 0, TFRT_DTYPE_F32, is_split ? split : joined, is_split ? 4 : 3));
  if (call->result_count > 1) TFRT_RETURN_IF_ERROR(tfrt_nn_alias(call, 1, &a->k, NULL));
  if (call->result_count > 2) TFRT_RETURN_IF_ERROR(tfrt_nn_alias(call, 2, &a->v, NULL));
  if (call->result_count <= 3) return NULL;
  return tfrt_nn_make_dims(call, 3, TFRT_DTYPE_F32, scores, 4);
}

// Puts the output of the head among those of the others.
static void place_output(const tfrt_nn_call_t* call, const attention_t* a, int64_t part,
                         int64_t head) {
  float* out = tfrt_nn_result_data(call, 0);
  size_t bytes = (size_t)a->value_size * sizeof(float);
  for (int64_t row = 0; bytes && row < a->rows; ++row) {
    int64_t place = (part * a->rows + row) * a->heads + head;
    memcpy(out + place * a->value_size, a->output + row * a->value_size, bytes);
  }
}

static tfrt_status_t run_heads(const tfrt_nn_call_t* call, attention_t* a) {
  TFRT_RETURN_IF_ERROR(make_results(call, a));
  if (a->batch == 0 || a->rows == 0) return NULL;
  size_t output_size = tfrt_dense_host_tensor_size(&call->results[0]);
  if (a->columns == 0) {
    if (output_size) memset(tfrt_nn_result_data(call, 0), 0, output_size);
    return NULL;
  }
  // The products fit into memory, for tensors of them, or of their factors, are there.
  tfrt_dense_host_tensor_t scratch;
  tfrt_shape_t shape;
  bool is_split = call->inputs[QUERY]->shape.rank == 4;
  const int64_t dims[] = {a->rows, a->columns + (is_split ? 0 : a->value_size)};
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 2, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, call->allocator, &scratch));
  a->scores = tfrt_dense_host_tensor_data(&scratch);
  a->output = a->scores + a->rows * a->columns;
  tfrt_status_t status = NULL;
  for (int64_t i = 0; i < a->batch * a->heads && !status; ++i) {
    status = run_head(call, a, i / a->heads, i % a->heads);
    if (!status && !is_split) place_output(call, a, i / a->heads, i % a->heads);
  }
  tfrt_dense_host_tensor_deinitialize(&scratch);
  return status;
}

static tfrt_status_t run_f32(const tfrt_nn_call_t* call) {
  attention_t attention = {.batch = 0};
  TFRT_RETURN_IF_ERROR(check_operands(call));
  tfrt_status_t status = take_operands(call, &attention);
  if (!status) {
    take_attributes(call, &attention);
    status = run_heads(call, &attention);
  }
  tfrt_dense_host_tensor_deinitialize(&attention.q);
  tfrt_dense_host_tensor_deinitialize(&attention.k);
  tfrt_dense_host_tensor_deinitialize(&attention.v);
  return status;
}

// --- f64 --------------------------------------------------------------------------

// Makes each result one of |dtype|.
static tfrt_status_t cast_results(const tfrt_nn_call_t* call, tfrt_dtype_t dtype) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_dense_host_tensor_t cast = {0};
    TFRT_RETURN_IF_ERROR(tfrt_tensor_cast(&call->results[i], dtype, call->allocator, &cast));
    tfrt_dense_host_tensor_deinitialize(&call->results[i]);
    call->results[i] = cast;
  }
  return NULL;
}

// f64 is computed as f32.
static tfrt_status_t run_f64(const tfrt_nn_call_t* call) {
  tfrt_dense_host_tensor_t narrow[VALID_COUNT + 1] = {{0}};
  const tfrt_dense_host_tensor_t* inputs[VALID_COUNT + 1] = {NULL};
  tfrt_nn_call_t inner = *call;
  inner.inputs = inputs;
  inner.unique_inputs = 0;
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i < call->input_count && i <= VALID_COUNT && !status; ++i) {
    inputs[i] = call->inputs[i];
    if (!inputs[i] || inputs[i]->dtype != TFRT_DTYPE_F64) continue;
    status = tfrt_tensor_cast(inputs[i], TFRT_DTYPE_F32, call->allocator, &narrow[i]);
    inputs[i] = &narrow[i];
  }
  if (!status) status = run_f32(&inner);
  if (!status) status = cast_results(call, TFRT_DTYPE_F64);
  for (uint32_t i = 0; i <= VALID_COUNT; ++i) tfrt_dense_host_tensor_deinitialize(&narrow[i]);
  return status;
}

tfrt_status_t tfrt_nn_attention(const tfrt_nn_call_t* call) {
  const tfrt_dense_host_tensor_t* query = tfrt_nn_input(call, QUERY);
  if (call->input_count > VALID_COUNT + 1 || call->result_count > 4) {
    return tfrt_nn_error(call, "it takes up to 7 operands, and gives up to 4 results");
  }
  return query && query->dtype == TFRT_DTYPE_F64 ? run_f64(call) : run_f32(call);
}
