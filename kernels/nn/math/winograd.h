// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of f32 with the channels last and weights that stay, by the algorithm of Winograd,
// Toom and Cook along the rows of the picture. Some neighbouring results of a row depend on 8
// elements. These are turned into the values of a polynomial at 8 points; each point is a product
// of matrices, over all rows of the window; and the results are read off these values. A window of
// 3 takes 1.33 multiplications, one of 5 takes 2, for a result and a row of the window. The loops
// are compiled with the program, so that the first run waits for no code to be generated.
//
//   source [tiles, 8, channels] --> values [8, tiles, channels]
//                                             x weights [8, channels, filters]
//                                   values [8, tiles, filters]  --> target [tiles, step, filters]
//
// Results differ from those of plain sums in the last digits. An element that is not finite would
// spread to all results of its tile: such a run is left to the caller.
//
// Life: created once for a specification and weights, run any number of times, freed.
//
// Thread rule: thread-safe but for the end. Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_NN_MATH_WINOGRAD_H_
#define TFRT_KERNELS_NN_MATH_WINOGRAD_H_

#include <stdbool.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "kernels/tensor/onednn/onednn_convolution.h"

typedef struct tfrt_nn_winograd_s tfrt_nn_winograd_t;

// Sets |*out_winograd| to a new one, or to NULL if |spec|, these |weights|, [filters, channels,
// window...], or this processor are none for it. Keeps neither. Thread-safe.
tfrt_status_t tfrt_nn_winograd_create(const tfrt_onednn_convolution_spec_t* spec,
                                      const float* weights, tfrt_allocator_t allocator,
                                      tfrt_nn_winograd_t** out_winograd) TFRT_MUST_USE;

// Frees |winograd|; NULL is allowed. Thread-compatible.
void tfrt_nn_winograd_free(tfrt_nn_winograd_t* winograd);

// Computes |target|, with |bias| (NULL: none) and the epilogue. Sets |*out_is_done| to false, and
// leaves |target| as it was, if there is an element in |source| that is not finite, or one that is
// too large. Scratch memory comes from |allocator|. Thread-safe.
tfrt_status_t tfrt_nn_winograd_run(const tfrt_nn_winograd_t* winograd, const float* source,
                                   const float* bias, float* target, tfrt_allocator_t allocator,
                                   bool* out_is_done) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_WINOGRAD_H_
