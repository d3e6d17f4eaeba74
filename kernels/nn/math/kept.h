// SPDX-License-Identifier: Apache-2.0
//
// The objects that an operation keeps for its place in a program, from one run to the next:
// compiled primitives, and weights in the layout that these like best. Runs with other shapes need
// others, so a place keeps a few, the one that was used last in front.
//
//   place of an op --> kept --> kept --> ...      at most TFRT_NN_MAX_KEPT
//                       |
//                       +-- primitive, packed weights
//
// Weights that never change are those that lie in the program. When they are packed, the program's
// own copy leaves memory, if its file is mapped.
//
// Life of what is kept:
//  1. Made by a run that found none, and given to the place.
//  2. Found by later runs, of several threads at once.
//  3. Destroyed when it has left the place and no run uses it any more: others came, or the program
//     ended.
//
// Thread rule: everything is thread-safe, but for the begin and end of a place.
// Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_MATH_KEPT_H_
#define TFRT_KERNELS_NN_MATH_KEPT_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/bef/bef_file.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// The most that one place keeps.
#define TFRT_NN_MAX_KEPT 4

// Embedded in what an operation keeps.
typedef struct tfrt_nn_kept_s {
  tfrt_ref_count_t ref_count;
  struct tfrt_nn_kept_s* next;  // the place's
  void (*destroy)(struct tfrt_nn_kept_s* kept);
} tfrt_nn_kept_t;

// The place of an op in a program.
typedef struct tfrt_nn_place_s {
  tfrt_allocator_t allocator;   // of what is kept
  const tfrt_bef_file_t* file;  // the program, which has the constants; NULL: none
  tfrt_mutex_t mutex;
  tfrt_nn_kept_t* first;  // guarded by |mutex|
} tfrt_nn_place_t;

// Whether |kept| is what |key| asks for.
typedef bool (*tfrt_nn_matches_fn_t)(const tfrt_nn_kept_t* kept, const void* key);

// Makes |place| an empty one in the program |file|, which outlives it; NULL: in none.
// Thread-compatible.
void tfrt_nn_place_initialize(tfrt_nn_place_t* place, tfrt_allocator_t allocator,
                              const tfrt_bef_file_t* file);

// Gives back what |place| keeps. Thread-compatible.
void tfrt_nn_place_deinitialize(tfrt_nn_place_t* place);

// The object of |place| that |matches| |key| (+1), or NULL. Thread-safe.
tfrt_nn_kept_t* tfrt_nn_place_find(tfrt_nn_place_t* place, tfrt_nn_matches_fn_t matches,
                                   const void* key);

// Lets |place| keep |kept|, which was made at +1 and stays the caller's, too. Thread-safe.
void tfrt_nn_place_keep(tfrt_nn_place_t* place, tfrt_nn_kept_t* kept);

// Drops one reference. Thread-safe.
void tfrt_nn_kept_release(tfrt_nn_kept_t* kept);

// True if the elements of |tensor| lie in the program of |place| (NULL: there is none): they never
// change while it lives. Thread-safe.
bool tfrt_nn_place_is_constant(const tfrt_nn_place_t* place,
                               const tfrt_dense_host_tensor_t* tensor);

// For a constant of |place| that was packed: takes the memory of its elements (bef_file.h); they
// stay readable. Thread-safe.
void tfrt_nn_place_unload(const tfrt_nn_place_t* place, const tfrt_dense_host_tensor_t* tensor);

#endif  // TFRT_KERNELS_NN_MATH_KEPT_H_
