// SPDX-License-Identifier: Apache-2.0
//
// The end of networks that find things in pictures: of boxes that cover each other the best is
// kept.
#include <stdlib.h>
#include <string.h>

#include "kernels/nn/math/ops.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST_SCORE };

typedef struct box_s {
  float low[2], high[2];
} box_t;

typedef struct candidate_s {
  float score;
  int64_t index;
} candidate_t;

typedef struct suppression_s {
  int64_t batch, classes, boxes;
  int64_t most;
  float overlap, least_score;
  bool has_least_score;
  bool is_centered;         // boxes are centres and lengths, not corners
  candidate_t* candidates;  // [boxes]
  box_t* kept;              // [boxes], of one class
  int64_t* chosen;          // [capacity, 3]
  int64_t count, capacity;
} suppression_t;

static box_t read_box(const suppression_t* s, const float* numbers) {
  box_t box;
  for (int i = 0; i < 2; ++i) {
    float a = numbers[i], b = numbers[2 + i];
    box.low[i] = s->is_centered ? a - b / 2 : a < b ? a : b;
    box.high[i] = s->is_centered ? a + b / 2 : a < b ? b : a;
  }
  return box;
}

static float area_of(const box_t* box) {
  return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

// Whether what both cover is more than |limit| of what one of them does.
static bool overlaps(const box_t* a, const box_t* b, float limit) {
  box_t both;
  for (int i = 0; i < 2; ++i) {
    both.low[i] = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
    both.high[i] = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
    if (both.high[i] <= both.low[i]) return false;
  }
  float shared = area_of(&both), first = area_of(a), second = area_of(b);
  float all = first + second - shared;
  if (!(first > 0 && second > 0 && all > 0)) return false;
  return shared / all > limit;
}

// The greatest score first; of equal ones, the first box.
static int compare_candidates(const void* first, const void* second) {
  const candidate_t* a = first;
  const candidate_t* b = second;
  if (a->score != b->score) return a->score > b->score ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static tfrt_status_t choose(const tfrt_nn_call_t* call, suppression_t* s, int64_t part,
                            int64_t class_number, int64_t index) {
  if (s->count == s->capacity) {
    int64_t capacity = s->capacity ? 2 * s->capacity : 64;
    size_t row_size = 3 * sizeof(int64_t);
    int64_t* chosen = tfrt_allocator_reallocate(
        call->allocator, s->chosen, (size_t)s->capacity * row_size, (size_t)capacity * row_size);
    if (!chosen) return tfrt_status_out_of_memory();
    s->chosen = chosen;
    s->capacity = capacity;
  }
  int64_t* row = s->chosen + 3 * s->count++;
  row[0] = part;
  row[1] = class_number;
  row[2] = index;
  return NULL;
}

static tfrt_status_t run_class(const tfrt_nn_call_t* call, suppression_t* s, int64_t part,
                               int64_t class_number) {
  const float* scores = (const float*)tfrt_nn_input_data(call, SCORES) +
                        (part * s->classes + class_number) * s->boxes;
  const float* boxes = (const float*)tfrt_nn_input_data(call, BOXES) + part * s->boxes * 4;
  int64_t count = 0, kept = 0;
  for (int64_t i = 0; i < s->boxes; ++i) {
    // No numbers are no scores: they could not be put in order.
    if (!(scores[i] == scores[i]) || (s->has_least_score && !(scores[i] > s->least_score)))
      continue;
    s->candidates[count++] = (candidate_t){scores[i], i};
  }
  qsort(s->candidates, (size_t)count, sizeof(candidate_t), compare_candidates);
  for (int64_t i = 0; i < count && kept < s->most; ++i) {
    box_t box = read_box(s, boxes + 4 * s->candidates[i].index);
    bool is_free = true;
    for (int64_t k = 0; k < kept && is_free; ++k)
      is_free = !overlaps(&s->kept[k], &box, s->overlap);
    if (!is_free) continue;
    s->kept[kept++] = box;
    TFRT_RETURN_IF_ERROR(choose(call, s, part, class_number, s->candidates[i].index));
  }
  return NULL;
}

// Sets |*out_value| to the one f32 of operand |index|, if that is there.
static tfrt_status_t read_number(const tfrt_nn_call_t* call, uint32_t index, float* out_value) {
  const tfrt_dense_host_tensor_t* x = tfrt_nn_input(call, index);
  if (!x || tfrt_dense_host_tensor_element_count(x) == 0) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, index, TFRT_DTYPE_F32));
  memcpy(out_value, tfrt_dense_host_tensor_data(x), sizeof(*out_value));
  return NULL;
}

static tfrt_status_t read_suppression(const tfrt_nn_call_t* call, suppression_t* s) {
  tfrt_nn_numbers_t most = {.count = 0};
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, BOXES, TFRT_DTYPE_F32));
  TFRT_RETURN_IF_ERROR(tfrt_nn_check_dtype(call, SCORES, TFRT_DTYPE_F32));
  const tfrt_shape_t* boxes = &call->inputs[BOXES]->shape;
  const tfrt_shape_t* scores = &call->inputs[SCORES]->shape;
  if (boxes->rank != 3 || boxes->dims[2] != 4 || scores->rank != 3 ||
      scores->dims[0] != boxes->dims[0] || scores->dims[2] != boxes->dims[1]) {
    return tfrt_nn_error(call, "the boxes %s and the scores %s don't fit",
                         tfrt_shape_text(boxes).text, tfrt_shape_text(scores).text);
  }
  if (tfrt_nn_input(call, MOST)) {
    TFRT_RETURN_IF_ERROR(tfrt_nn_read_numbers(call, call->inputs[MOST], &most));
  }
  TFRT_RETURN_IF_ERROR(read_number(call, OVERLAP, &s->overlap));
  TFRT_RETURN_IF_ERROR(read_number(call, LEAST_SCORE, &s->least_score));
  s->has_least_score = tfrt_nn_input(call, LEAST_SCORE) != NULL;
  s->batch = boxes->dims[0];
  s->classes = scores->dims[1];
  s->boxes = boxes->dims[1];
  s->most = most.count ? most.values[0] : 0;
  s->is_centered = tfrt_nn_i64(call, "center_point_box") != 0;
  return NULL;
}

tfrt_status_t tfrt_nn_non_max_suppression(const tfrt_nn_call_t* call) {
  suppression_t s = {.batch = 0};
  TFRT_RETURN_IF_ERROR(read_suppression(call, &s));
  size_t size = (size_t)s.boxes * (sizeof(candidate_t) + sizeof(box_t));
  tfrt_status_t status = NULL;
  if (size > 0) {
    s.candidates = tfrt_allocator_allocate(call->allocator, size);
    if (!s.candidates) return tfrt_status_out_of_memory();
    s.kept = (box_t*)(void*)(s.candidates + s.boxes);
    for (int64_t i = 0; i < s.batch * s.classes && !status; ++i) {
      status = run_class(call, &s, i / s.classes, i % s.classes);
    }
    tfrt_allocator_free(call->allocator, s.candidates, size);
  }
  const int64_t dims[] = {s.count, 3};
  if (!status) status = tfrt_nn_make_dims(call, 0, TFRT_DTYPE_I64, dims, 2);
  size_t bytes = (size_t)s.count * 3 * sizeof(int64_t);
  if (!status && bytes) memcpy(tfrt_nn_result_data(call, 0), s.chosen, bytes);
  tfrt_allocator_free(call->allocator, s.chosen, (size_t)s.capacity * 3 * sizeof(int64_t));
  return status;
}
