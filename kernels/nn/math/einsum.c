// SPDX-License-Identifier: Apache-2.0
//
// Sums of products over named axes: "ij,jk->ik". Letters name axes; "..." stands for any axes in
// front that are stretched to each other.
#include <string.h>

#include "kernels/nn/math/ops.h"

enum {
  MAX_OPERANDS = 8,
  LETTERS = 52,
  // The axes of the ellipsis come behind the letters, the last one first.
  LABELS = LETTERS + TFRT_SHAPE_MAX_RANK,
};

// The labels of one operand or the result.
typedef struct term_s {
  uint32_t rank;
  uint8_t labels[TFRT_SHAPE_MAX_RANK];
} term_t;

typedef struct equation_s {
  uint32_t operand_count;
  term_t operands[MAX_OPERANDS];
  term_t result;
  int64_t lengths[LABELS];  // -1: no operand has it
  uint8_t uses[LABELS];
  uint32_t ellipsis_rank;
} equation_t;

static int label_of(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

// Reads one term, up to ',' or '-' or the end, for a tensor of |rank| axes; of the result (|rank|
// is UINT32_MAX) the ellipsis has as many as the operands'.
static tfrt_status_t parse_term(const tfrt_nn_call_t* call, const char** text, const char* end,
                                uint32_t rank, equation_t* equation, term_t* term) {
  uint32_t letters = 0;
  for (const char* c = *text; c < end && *c != ',' && *c != '-'; ++c) letters += label_of(*c) >= 0;
  for (; *text < end && **text != ',' && **text != '-'; ++*text) {
    char c = **text;
    if (c == ' ') continue;
    uint32_t hidden = 0;
    if (c == '.') {
      if (end - *text < 3 || (*text)[1] != '.' || (*text)[2] != '.') {
        return tfrt_nn_error(call, "a single dot in the equation");
      }
      *text += 2;
      hidden = rank == UINT32_MAX ? equation->ellipsis_rank : rank >= letters ? rank - letters : 0;
      if (hidden > equation->ellipsis_rank) equation->ellipsis_rank = hidden;
    } else if (label_of(c) < 0) {
      return tfrt_nn_error(call, "the equation has a '%c'", c);
    }
    if (term->rank + hidden + (c != '.') > TFRT_SHAPE_MAX_RANK) {
      return tfrt_nn_error(call, "a term has too many axes");
    }
    for (; hidden > 0; --hidden) term->labels[term->rank++] = (uint8_t)(LETTERS + hidden - 1);
    if (c != '.') term->labels[term->rank++] = (uint8_t)label_of(c);
  }
  if (rank == UINT32_MAX || term->rank == rank) return NULL;
  return tfrt_nn_error(call, "an operand has %u axes, its term %u", rank, term->rank);
}

// Without "->": all labels that occur once, in alphabetical order, behind the ellipsis.
static tfrt_status_t imply_result(const tfrt_nn_call_t* call, equation_t* equation) {
  for (uint32_t i = equation->ellipsis_rank; i-- > 0;) {
    equation->result.labels[equation->result.rank++] = (uint8_t)(LETTERS + i);
  }
  static const char order[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (const char* c = order; *c; ++c) {
    uint8_t label = (uint8_t)(label_of(*c) & 63);
    if (equation->uses[label] != 1) continue;
    if (equation->result.rank == TFRT_SHAPE_MAX_RANK) {
      return tfrt_nn_error(call, "the result has too many axes");
    }
    equation->result.labels[equation->result.rank++] = label;
  }
  return NULL;
}

static tfrt_status_t set_length(const tfrt_nn_call_t* call, equation_t* equation, uint8_t label,
                                int64_t length) {
  int64_t* known = &equation->lengths[label];
  if (*known < 0 || *known == 1) *known = length;
  if (*known == length || length == 1) return NULL;
  return tfrt_nn_error(call, "one label names axes of %lld and %lld", (long long)*known,
                       (long long)length);
}

static tfrt_status_t parse(const tfrt_nn_call_t* call, equation_t* equation) {
  tfrt_string_view_t source = tfrt_nn_string(call, "equation");
  const char* text = source.data;
  const char* end = text + source.size;
  memset(equation->lengths, 0xff, sizeof(equation->lengths));
  for (uint32_t i = 0; i < call->input_count; ++i) {
    term_t* term = &equation->operands[i];
    const tfrt_shape_t* shape = &call->inputs[i]->shape;
    if (i > 0 && (text == end || *text++ != ',')) return tfrt_nn_error(call, "too few terms");
    TFRT_RETURN_IF_ERROR(parse_term(call, &text, end, shape->rank, equation, term));
    for (uint32_t a = 0; a < term->rank; ++a) {
      TFRT_RETURN_IF_ERROR(set_length(call, equation, term->labels[a], shape->dims[a]));
      if (equation->uses[term->labels[a]] < 255) ++equation->uses[term->labels[a]];
    }
  }
  if (text == end) return imply_result(call, equation);
  if (end - text < 2 || text[0] != '-' || text[1] != '>') {
    return tfrt_nn_error(call, "too many terms, or no '->'");
  }
  text += 2;
  TFRT_RETURN_IF_ERROR(parse_term(call, &text, end, UINT32_MAX, equation, &equation->result));
  for (uint32_t a = 0; a < equation->result.rank; ++a) {
    if (equation->uses[equation->result.labels[a]] > 0) continue;
    return tfrt_nn_error(call, "the result has a label that no operand has");
  }
  return text == end ? NULL : tfrt_nn_error(call, "something follows the result");
}

// --- Running ----------------------------------------------------------------------

// The labels that are walked over: those of the result first, then those that are summed up.
typedef struct walk_s {
  uint32_t rank;
  uint32_t result_rank;
  int64_t dims[LABELS];
  int64_t strides[MAX_OPERANDS][LABELS];
} walk_t;

static void add_label(const tfrt_nn_call_t* call, const equation_t* equation, uint8_t label,
                      walk_t* walk) {
  walk->dims[walk->rank] = equation->lengths[label];
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const tfrt_shape_t* shape = &call->inputs[i]->shape;
    for (uint32_t a = 0; a < equation->operands[i].rank; ++a) {
      // A label that an operand has twice goes along the diagonal.
      if (equation->operands[i].labels[a] != label || shape->dims[a] == 1) continue;
      walk->strides[i][walk->rank] += tfrt_shape_stride(shape, a);
    }
  }
  ++walk->rank;
}

static void plan_walk(const tfrt_nn_call_t* call, const equation_t* equation, walk_t* walk) {
  bool is_added[LABELS] = {false};
  for (uint32_t a = 0; a < equation->result.rank; ++a) {
    add_label(call, equation, equation->result.labels[a], walk);
    is_added[equation->result.labels[a]] = true;
  }
  walk->result_rank = walk->rank;
  for (uint32_t label = 0; label < LABELS; ++label) {
    if (equation->uses[label] > 0 && !is_added[label]) {
      add_label(call, equation, (uint8_t)label, walk);
    }
  }
}

// The product of the operands' elements at |index| of the walk.
static double product_at(const tfrt_nn_call_t* call, const walk_t* walk, int64_t index,
                         const int64_t* offsets, uint32_t first) {
  double product = 1;
  int64_t places[MAX_OPERANDS];
  memcpy(places, offsets, sizeof(places));
  for (uint32_t a = walk->rank; a-- > first;) {
    int64_t position = index % walk->dims[a];
    index /= walk->dims[a];
    for (uint32_t i = 0; i < call->input_count; ++i) places[i] += position * walk->strides[i][a];
  }
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const void* data = tfrt_nn_input_data(call, i);
    product *= call->inputs[i]->dtype == TFRT_DTYPE_F32 ? (double)((const float*)data)[places[i]]
                                                        : ((const double*)data)[places[i]];
  }
  return product;
}

static void run(const tfrt_nn_call_t* call, const walk_t* walk) {
  int64_t summed = 1;
  for (uint32_t a = walk->result_rank; a < walk->rank; ++a) summed *= walk->dims[a];
  int64_t count = tfrt_dense_host_tensor_element_count(&call->results[0]);
  void* out = tfrt_nn_result_data(call, 0);
  for (int64_t r = 0; r < count; ++r) {
    int64_t offsets[MAX_OPERANDS] = {0};
    int64_t rest = r;
    for (uint32_t a = walk->result_rank; a-- > 0; rest /= walk->dims[a]) {
      for (uint32_t i = 0; i < call->input_count; ++i) {
        offsets[i] += rest % walk->dims[a] * walk->strides[i][a];
      }
    }
    double sum = 0;
    for (int64_t s = 0; s < summed; ++s) {
      sum += product_at(call, walk, s, offsets, walk->result_rank);
    }
    if (call->results[0].dtype == TFRT_DTYPE_F32) {
      ((float*)out)[r] = (float)sum;
    } else {
      ((double*)out)[r] = sum;
    }
  }
}

tfrt_status_t tfrt_nn_einsum(const tfrt_nn_call_t* call) {
  if (call->input_count < 1 || call->input_count > MAX_OPERANDS) {
    return tfrt_nn_error(call, "it takes 1 to %d operands", MAX_OPERANDS);
  }
  for (uint32_t i = 0; i < call->input_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, i, call->inputs[0]->dtype));
  }
  if (!tfrt_nn_is_float(call->inputs[0]->dtype)) {
    return tfrt_nn_dtype_error(call, call->inputs[0]->dtype);
  }
  equation_t equation = {.operand_count = call->input_count};
  walk_t walk = {.rank = 0};
  TFRT_RETURN_IF_ERROR(parse(call, &equation));
  plan_walk(call, &equation, &walk);
  TFRT_RETURN_IF_ERROR(
      tfrt_nn_make_dims(call, 0, call->inputs[0]->dtype, walk.dims, walk.result_rank));
  run(call, &walk);
  return NULL;
}
