// SPDX-License-Identifier: Apache-2.0
//
// The digits' network of examples/mnist by the maths library alone: its six primitives, made once
// with their arguments' memory, and run in a plain loop. The remaining time is the library's own:
// the least that the same network can take as a program.
//
//   pixels [N, 1, 28, 28] -> conv 5x5, 16 -> pool -> conv 5x5, 32 -> pool -> 128 -> 10 scores
//
// Thread rule: thread-compatible. Failure rule: INTERNAL with the number of the library's error.
#ifndef TFRT_TESTS_KERNELS_TENSOR_ONEDNN_PLAIN_NETWORK_H_
#define TFRT_TESTS_KERNELS_TENSOR_ONEDNN_PLAIN_NETWORK_H_

#include <stdint.h>

#include "host_runtime/base/status.h"

#define PLAIN_NETWORK_WEIGHT_COUNT 8
#define PLAIN_NETWORK_PIXELS (28 * 28)
#define PLAIN_NETWORK_SCORES 10

typedef struct plain_network_s plain_network_t;

// Sets |*out_network| to the network for |batch| digits with |weights|, of each layer those of its
// inputs, then its bias; all must outlive it.
tfrt_status_t plain_network_allocate(int64_t batch, const float* const* weights,
                                     plain_network_t** out_network) TFRT_MUST_USE;

// Computes the scores ([batch, 10]) of |pixels| ([batch, 28, 28], from 0 to 1), on this thread
// alone. The scores live until the next run.
tfrt_status_t plain_network_run(plain_network_t* network, const float* pixels,
                                const float** out_scores) TFRT_MUST_USE;

// Gives back |network|; NULL is allowed.
void plain_network_free(plain_network_t* network);

#endif  // TFRT_TESTS_KERNELS_TENSOR_ONEDNN_PLAIN_NETWORK_H_
