// SPDX-License-Identifier: Apache-2.0
//
// Attention of transformers, as of opset 25: scaled products of queries and keys, a mask, their
// softmax, and the products of that with the values, for each head. Operands: queries, keys,
// values, mask, past keys, past values, how many keys are no padding.
//
//   Q [b, h, m, d]    K [b, g, t, d] --.          h heads share g heads of keys and values
//   3 axes: [b, m, h * d]              |- with those of the past in front
//                     V [b, g, t, e] --'
//
// `places_first` says which of queries (1), keys (2), values (4) and the output (8), if they have 4
// axes, are [b, m, h, d], as products with weights leave and take them. All are read and written
// where they are; only keys and values behind those of the past are copied.
#include <math.h>
#include <string.h>

#include "kernels/nn/math/attention_head.h"
#include "kernels/nn/math/ops.h"
#include "kernels/nn/math/softmax_row.h"
#include "kernels/tensor/math/elementwise.h"

enum { QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, VALID_COUNT };

// The kinds of result 3.
enum { SCORES, CAPPED_SCORES, MASKED_SCORES, SHARES };

// The bit of `places_first` for the output; those of operands are 1 << their number.
#define OUTPUT_BIT 8

// Heads where they lie: that of part p, head h begins at data[p * part + h * head], and its place i
// is i * place further.
typedef struct heads_s {
  int64_t parts, heads, places, size;
  int64_t part, head, place;      // strides, in elements
  float* data;                    // not written to, if it is an operand's
  tfrt_dense_host_tensor_t made;  // the memory, if it is no operand's: [part, head, place, size]
} heads_t;

typedef struct attention_s {
  int64_t batch, heads, key_heads;
  int64_t rows;              // queries
  int64_t columns;           // keys, with those of the past
  int64_t past;              // keys of the past
  int64_t size, value_size;  // of a head
  float scale, cap;
  bool is_causal, stretches_mask;
  int64_t left, right;  // how far each query sees; -1: all
  int64_t kept;         // the kind of result 3
  heads_t q, k, v, out;
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

// --- Heads ------------------------------------------------------------------------

// Where the heads of |x| lie, of [part, head, place, element], of [part, place, head, element] if
// |has_places_first|, or of [part, place, head * element].
static heads_t view_heads(const tfrt_dense_host_tensor_t* x, int64_t heads, bool has_places_first) {
  const int64_t* dims = x->shape.dims;
  const bool is_split = x->shape.rank == 4;
  has_places_first |= !is_split;
  heads_t view = {.parts = dims[0],
                  .heads = heads,
                  .places = is_split ? dims[has_places_first ? 1 : 2] : dims[1],
                  .size = is_split ? dims[3] : dims[2] / heads,
                  .data = tfrt_dense_host_tensor_data(x)};
  view.place = has_places_first ? heads * view.size : view.size;
  view.head = has_places_first ? view.size : view.places * view.size;
  view.part = heads * view.places * view.size;
  return view;
}

// Copies |from| to |to|, from the place |first| on.
static void copy_heads(const heads_t* from, int64_t first, const heads_t* to) {
  size_t bytes = (size_t)from->size * sizeof(float);
  for (int64_t i = 0; i < from->parts * from->heads && bytes; ++i) {
    const int64_t part = i / from->heads, head = i % from->heads;
    const float* source = from->data + part * from->part + head * from->head;
    float* target = to->data + part * to->part + head * to->head + first * to->place;
    for (int64_t j = 0; j < from->places; ++j) {
      memcpy(target + j * to->place, source + j * from->place, bytes);
    }
  }
}

// Replaces |*heads| by a copy that begins with |past| (NULL: nothing).
static tfrt_status_t copy_behind(const tfrt_nn_call_t* call, const tfrt_dense_host_tensor_t* past,
                                 heads_t* heads) {
  const int64_t before = past ? past->shape.dims[2] : 0;
  const int64_t dims[] = {heads->parts, heads->heads, before + heads->places, heads->size};
  tfrt_shape_t shape;
  tfrt_dense_host_tensor_t made;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 4, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, call->allocator, &made));
  heads_t copy = view_heads(&made, heads->heads, false);
  copy.made = made;
  if (past) {
    const heads_t old = view_heads(past, heads->heads, false);
    copy_heads(&old, 0, &copy);
  }
  copy_heads(heads, before, &copy);
  *heads = copy;
  return NULL;
}

// Sets |*out| to the heads of operand |index|, which are |heads|, behind those of operand
// |past_index| (0: there is none).
static tfrt_status_t take_heads(const tfrt_nn_call_t* call, uint32_t index, uint32_t past_index,
                                int64_t heads, heads_t* out) {
  const tfrt_dense_host_tensor_t* x = call->inputs[index];
  const tfrt_dense_host_tensor_t* past = past_index ? tfrt_nn_input(call, past_index) : NULL;
  const bool is_split = x->shape.rank == 4;
  const bool has_places_first = tfrt_nn_i64(call, "places_first") >> index & 1;
  if (heads <= 0 || (is_split ? x->shape.dims[has_places_first ? 2 : 1] != heads
                              : x->shape.dims[2] % heads != 0)) {
    return tfrt_nn_error(call, "operand %u, %s, has not %lld heads", index,
                         tfrt_shape_text(&x->shape).text, (long long)heads);
  }
  *out = view_heads(x, heads, has_places_first);
  if (!past) return NULL;
  const int64_t* old = past->shape.dims;
  if (old[0] != out->parts || old[1] != heads || old[3] != out->size) {
    return tfrt_nn_error(call, "%s of the past doesn't fit %s", tfrt_shape_text(&past->shape).text,
                         tfrt_shape_text(&x->shape).text);
  }
  return copy_behind(call, past, out);
}

// --- Operands ---------------------------------------------------------------------

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

// The number of heads of operand |index|; |name| is the attribute that says it for 3 axes.
static int64_t head_count(const tfrt_nn_call_t* call, uint32_t index, const char* name) {
  const tfrt_shape_t* shape = &call->inputs[index]->shape;
  if (shape->rank != 4) return tfrt_nn_i64(call, name);
  return shape->dims[tfrt_nn_i64(call, "places_first") >> index & 1 ? 2 : 1];
}

static tfrt_status_t take_operands(const tfrt_nn_call_t* call, attention_t* a) {
  a->heads = head_count(call, QUERY, "q_num_heads");
  a->key_heads = head_count(call, KEY, "kv_num_heads");
  TFRT_RETURN_IF_ERROR(take_heads(call, QUERY, 0, a->heads, &a->q));
  TFRT_RETURN_IF_ERROR(take_heads(call, KEY, PAST_KEY, a->key_heads, &a->k));
  TFRT_RETURN_IF_ERROR(take_heads(call, VALUE, PAST_VALUE, a->key_heads, &a->v));
  a->batch = a->q.parts;
  a->rows = a->q.places;
  a->columns = a->k.places;
  a->size = a->q.size;
  a->value_size = a->v.size;
  const tfrt_dense_host_tensor_t* past = tfrt_nn_input(call, PAST_KEY);
  a->past = past ? past->shape.dims[2] : 0;
  if (a->k.parts != a->batch || a->v.parts != a->batch || a->k.size != a->size ||
      a->v.places != a->columns || a->heads % a->key_heads != 0) {
    return tfrt_nn_error(call, "queries %s, keys %s and values %s don't fit",
                         tfrt_shape_text(&call->inputs[QUERY]->shape).text,
                         tfrt_shape_text(&call->inputs[KEY]->shape).text,
                         tfrt_shape_text(&call->inputs[VALUE]->shape).text);
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

// Makes the scores of |count| rows of a head, from |first| on and |stride| apart, their shares.
// Copies what result 3 wants to |kept|, the rows of this head, unless that is NULL.
static void finish_scores(const tfrt_nn_call_t* call, const attention_t* a, int64_t part,
                          int64_t head, int64_t first, int64_t count, float* scores, int64_t stride,
                          float* kept) {
  const size_t bytes = (size_t)a->columns * sizeof(float);
  for (int64_t row = first; row < first + count; ++row, scores += stride) {
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

static tfrt_nn_vectors_t vectors_of(const heads_t* heads, int64_t part, int64_t head) {
  return (tfrt_nn_vectors_t){heads->data + part * heads->part + head * heads->head, heads->place};
}

static tfrt_nn_head_t head_of(const attention_t* a, int64_t part, int64_t head) {
  const int64_t shared = head / (a->heads / a->key_heads);
  tfrt_nn_head_t one = {.rows = a->rows,
                        .columns = a->columns,
                        .size = a->size,
                        .value_size = a->value_size,
                        .q = vectors_of(&a->q, part, head),
                        .k = vectors_of(&a->k, part, shared),
                        .v = vectors_of(&a->v, part, shared),
                        .out = a->out.data + part * a->out.part + head * a->out.head,
                        .out_stride = a->out.place};
  one.is_wide = tfrt_nn_head_can_be_wide(&one);
  return one;
}

// Computes head |head| of the part |part| of the batch; |scores| has room for a block.
static tfrt_status_t run_head(const tfrt_nn_call_t* call, const attention_t* a, int64_t part,
                              int64_t head, float* scratch, float* scores) {
  const tfrt_nn_head_t one = head_of(a, part, head);
  const int64_t block = tfrt_nn_head_block(&one);
  const int64_t own = (part * a->heads + head) * a->rows * a->columns;
  float* kept = call->result_count > 3 ? (float*)tfrt_nn_result_data(call, 3) + own : NULL;
  // Heads that share their keys and values come one after the other.
  if (!one.is_wide || head % (a->heads / a->key_heads) == 0) tfrt_nn_head_pack(&one, scratch);
  for (int64_t first = 0; first < a->rows; first += block) {
    const int64_t count = a->rows - first < block ? a->rows - first : block;
    TFRT_RETURN_IF_ERROR(tfrt_nn_head_scores(&one, scratch, first, count, a->scale, scores));
    finish_scores(call, a, part, head, first, count, scores, tfrt_nn_head_stride(&one), kept);
    TFRT_RETURN_IF_ERROR(tfrt_nn_head_values(&one, scratch, first, count, scores));
  }
  return NULL;
}

// --- All heads --------------------------------------------------------------------

// Makes result |index| the keys or values with those of the past, [part, head, place, element].
static tfrt_status_t make_present(const tfrt_nn_call_t* call, uint32_t index, heads_t* heads) {
  const uint32_t operand = index == 1 ? KEY : VALUE;
  if (!heads->made.buffer) {
    const tfrt_dense_host_tensor_t* x = call->inputs[operand];
    const bool has_places_first = tfrt_nn_i64(call, "places_first") >> operand & 1;
    if (x->shape.rank == 4 && !has_places_first) return tfrt_nn_alias(call, index, x, NULL);
    TFRT_RETURN_IF_ERROR(copy_behind(call, NULL, heads));
  }
  return tfrt_nn_alias(call, index, &heads->made, NULL);
}

static tfrt_status_t make_results(const tfrt_nn_call_t* call, attention_t* a) {
  const bool is_split = call->inputs[QUERY]->shape.rank == 4;
  const bool has_places_first = (tfrt_nn_i64(call, "places_first") & OUTPUT_BIT) != 0;
  const int64_t split[] = {a->batch, a->heads, a->rows, a->value_size};
  const int64_t turned[] = {a->batch, a->rows, a->heads, a->value_size};
  const int64_t joined[] = {a->batch, a->rows, a->heads * a->value_size};
  const int64_t scores[] = {a->batch, a->heads, a->rows, a->columns};
  const int64_t* dims = !is_split ? joined : has_places_first ? turned : split;
  TFRT_RETURN_IF_ERROR(tfrt_nn_make_dims(call, 0, TFRT_DTYPE_F32, dims, is_split ? 4 : 3));
  a->out = view_heads(&call->results[0], a->heads, has_places_first);
  if (call->result_count > 1) TFRT_RETURN_IF_ERROR(make_present(call, 1, &a->k));
  if (call->result_count > 2) TFRT_RETURN_IF_ERROR(make_present(call, 2, &a->v));
  if (call->result_count <= 3) return NULL;
  return tfrt_nn_make_dims(call, 3, TFRT_DTYPE_F32, scores, 4);
}

static tfrt_status_t run_heads(const tfrt_nn_call_t* call, attention_t* a) {
  TFRT_RETURN_IF_ERROR(make_results(call, a));
  if (a->batch == 0 || a->rows == 0) return NULL;
  const size_t output_size = tfrt_dense_host_tensor_size(&call->results[0]);
  if (a->columns == 0) {
    if (output_size) memset(tfrt_nn_result_data(call, 0), 0, output_size);
    return NULL;
  }
  // The products fit into memory, for tensors of them, or of their factors, are there.
  const tfrt_nn_head_t one = head_of(a, 0, 0);
  const int64_t scores = tfrt_nn_head_block(&one) * tfrt_nn_head_stride(&one);
  const int64_t dims[] = {scores + tfrt_nn_head_scratch(&one)};
  tfrt_dense_host_tensor_t scratch;
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 1, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, call->allocator, &scratch));
  float* floats = tfrt_dense_host_tensor_data(&scratch);
  tfrt_status_t status = NULL;
  for (int64_t i = 0; i < a->batch * a->heads && !status; ++i) {
    status = run_head(call, a, i / a->heads, i % a->heads, floats + scores, floats);
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
  tfrt_dense_host_tensor_deinitialize(&attention.k.made);
  tfrt_dense_host_tensor_deinitialize(&attention.v.made);
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
