// SPDX-License-Identifier: Apache-2.0
//
// A pool of large blocks for the results of operations. The same network makes tensors of the same
// sizes again and again; the system's heap would give their pages back and clear new ones each
// time, which takes as long as a tenth of a network of convolutions.
//
//   allocate --> a free block of the size's class, else the host's allocator
//   free     --> kept, unless TFRT_NN_POOL_LIMIT bytes are; else back to the host's allocator
//
// Smaller blocks pass through.
//
// Life:
//  1. Made when the host's first operation runs; a resource of the host.
//  2. Blocks are taken and given back.
//  3. Destroyed with the host, or with the last block that is out, whichever comes last.
//
// Thread rule: thread-safe. Failure rule: none; without a pool the host's allocator serves.
#ifndef TFRT_KERNELS_NN_NN_POOL_H_
#define TFRT_KERNELS_NN_NN_POOL_H_

#include "host_runtime/host_context.h"

// Blocks of fewer bytes pass through: the heap keeps them itself.
#define TFRT_NN_POOL_SMALLEST ((size_t)64 * 1024)

// The most bytes that are kept free: some layers of a large network.
#define TFRT_NN_POOL_LIMIT ((size_t)64 * 1024 * 1024)

// The allocator of results on |host|, which lives as long as its blocks. Thread-safe.
tfrt_allocator_t tfrt_nn_pool_allocator(tfrt_host_context_t* host);

// The most bytes of results and scratch memory that were out at once on |host| so far; 0 before its
// first operation. Thread-safe.
size_t tfrt_nn_pool_peak(tfrt_host_context_t* host);

#endif  // TFRT_KERNELS_NN_NN_POOL_H_
