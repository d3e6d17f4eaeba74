// SPDX-License-Identifier: Apache-2.0
//
// How tensors, and shapes alone, travel as bytes (see tfrt_codec_t in async/type.h).
// All numbers are little-endian.
//
//   byte 0       1       2          8
//        +-------+-------+----------+--------------------------+
//        | dtype | rank  | zero     | dims: rank x u64         |   header
//        +-------+-------+----------+--------------------------+
//        | elements, row-major, without gaps                   |   body, borrowed
//        +-----------------------------------------------------+
//
// A shape has the dtype 0 and no body. Headers come from strangers: every number is
// checked, and the size of the body must be exactly what dtype and shape say, before
// any memory is asked for.
//
// Thread rule: constant data.
// Failure rule: see tfrt_codec_t; decode tells what is wrong with the header.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_

#include "host_runtime/async/type.h"

// The codec of tfrt_dense_host_tensor_t. Thread-safe.
extern const tfrt_codec_t tfrt_dense_host_tensor_codec;

// The codec of tfrt_shape_t. Thread-safe.
extern const tfrt_codec_t tfrt_shape_codec;

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_
