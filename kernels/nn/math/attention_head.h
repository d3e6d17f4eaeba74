// SPDX-License-Identifier: Apache-2.0
//
// The two products of one head of attention, for some queries at a time: of queries and keys, whose
// results are the scores, and of scores and values. Queries, keys, values and the output may lie
// apart from each other, as they do when the heads of one place are neighbours.
//
//   pack --> scores --> (mask, softmax) --> values      the last three for each block of queries
//
// Processors with AVX-512 take loops of our own; others, products of small_product.h, with copies
// of what lies apart.
//
// Thread rule: thread-compatible (caller owns the scratch memory and the output).
// Failure rule: that of onednn.h.
#ifndef TFRT_KERNELS_NN_MATH_ATTENTION_HEAD_H_
#define TFRT_KERNELS_NN_MATH_ATTENTION_HEAD_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/status.h"

// Vectors of one head: vector i begins at data[i * stride].
typedef struct tfrt_nn_vectors_s {
  const float* data;
  int64_t stride;
} tfrt_nn_vectors_t;

typedef struct tfrt_nn_head_s {
  int64_t rows;        // queries, at least one
  int64_t columns;     // keys and values, at least one
  int64_t size;        // of a query and of a key
  int64_t value_size;  // of a value, and of a row of the output
  tfrt_nn_vectors_t q;
  tfrt_nn_vectors_t k;
  tfrt_nn_vectors_t v;
  float* out;
  int64_t out_stride;  // from one row of the output to the next
  bool is_wide;        // by loops of our own
} tfrt_nn_head_t;

// Whether |head| may be wide: the processor has AVX-512, and places of keys fit into 32 bits.
// Thread-safe.
bool tfrt_nn_head_can_be_wide(const tfrt_nn_head_t* head);

// The queries that are computed at once, and the floats from one row of their scores to the next.
// Thread-safe.
int64_t tfrt_nn_head_block(const tfrt_nn_head_t* head);
int64_t tfrt_nn_head_stride(const tfrt_nn_head_t* head);

// The floats of scratch memory that a head takes. Thread-safe.
int64_t tfrt_nn_head_scratch(const tfrt_nn_head_t* head);

// Prepares |scratch| for the functions below. Heads with the same keys and values, and sizes, may
// share it if they are wide. Thread-compatible.
void tfrt_nn_head_pack(const tfrt_nn_head_t* head, float* scratch);

// Sets |scores| to |scale| times the products of |count| queries, from |first| on, and all keys.
// Thread-compatible.
tfrt_status_t tfrt_nn_head_scores(const tfrt_nn_head_t* head, float* scratch, int64_t first,
                                  int64_t count, float scale, float* scores) TFRT_MUST_USE;

// Sets |count| rows of the output, from |first| on, to the products of |scores| and the values.
// Thread-compatible.
tfrt_status_t tfrt_nn_head_values(const tfrt_nn_head_t* head, float* scratch, int64_t first,
                                  int64_t count, const float* scores) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_ATTENTION_HEAD_H_
