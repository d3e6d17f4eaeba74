// SPDX-License-Identifier: Apache-2.0
//
// How tensors, and shapes alone, travel as bytes (see tfrt_codec_t in async/type.h).
// All numbers are little-endian.
//
//   byte 0       1       2        3          4      8
//        +-------+-------+--------+----------+------+-------------------+-----------+
//        | dtype | rank  | layout | reversed | zero | dims: rank x u64  | count:u64 |  header
//        +-------+-------+--------+----------+------+-------------------+-----------+
//        | what lies in the tensor's buffer                                         |  body
//        +--------------------------------------------------------------------------+
//
// The layout is that of host_tensor.h; |reversed| (0 or 1) and |count| are there for sparse
// tensors only. The body is borrowed: elements, or coordinates and values, or ends and
// strings, or one element. A shape has the dtype 0 and no body; so has a partial shape, whose
// layout is 1 if it is unranked. Headers come from strangers: every number is checked, and so is,
// before any memory is asked for, that the body has exactly the size that dtype and shape say;
// coordinates, ends and truth values are checked when they are there.
//
// A type of tensors travels as its name, in the header alone.
//
// Thread rule: constant data.
// Failure rule: see tfrt_codec_t; decode tells what is wrong with the header.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_

#include "host_runtime/async/type.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/shape.h"

// The codec of tfrt_host_tensor_t. Thread-safe.
extern const tfrt_codec_t tfrt_host_tensor_codec;

// Makes |*out_encoding| one with the header of a dense tensor of |dtype| and |shape|, and no body:
// for tensors whose elements are elsewhere. Thread-safe.
void tfrt_tensor_header_encode(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                               tfrt_encoding_t* out_encoding);

// Reads the untrusted header of a dense tensor whose elements take |body_size| bytes.
// INVALID_ARGUMENT says what is wrong with it. Thread-safe.
tfrt_status_t tfrt_tensor_header_decode(const uint8_t* header, size_t header_size, size_t body_size,
                                        tfrt_dtype_t* out_dtype, tfrt_shape_t* out_shape)
    TFRT_MUST_USE;

// The codec of tfrt_shape_t. Thread-safe.
extern const tfrt_codec_t tfrt_shape_codec;

// The codec of const tfrt_tensor_type_t*. Thread-safe.
extern const tfrt_codec_t tfrt_tensor_type_codec;

// The codec of tfrt_partial_shape_t. Thread-safe.
extern const tfrt_codec_t tfrt_partial_shape_codec;

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_CODEC_H_
