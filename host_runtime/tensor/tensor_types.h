// SPDX-License-Identifier: Apache-2.0
//
// The value types of this room, their ids, and short ways to make such values.
//
//   "!tfrt_tensor.tensor"      tfrt_host_tensor_t      mutable, has a codec
//   "!ts.shape"                tfrt_shape_t            immutable, has a codec
//   "!ts.partial_shape"        tfrt_partial_shape_t    immutable, has a codec
//   "!ts.fixed_rank_shape.N"   tfrt_shape_t, N axes    immutable, has a codec; N up to 3
//   "!tfrt.tensor_type"        tfrt_tensor_type_t*     immutable, has a codec
//   "!ht.host_buffer"          tfrt_host_buffer_t*     mutable, stays on its host
//
// Life: tfrt_tensor_types_register() once per process, before any program is loaded;
// again is harmless. The ids are 0 before that.
//
// Thread rule: thread-safe.
// Failure rule: registration fails as tfrt_type_register() does. Values can't fail: when
// memory is out they are the error for that.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPES_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPES_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/host_tensor.h"
#include "host_runtime/tensor/partial_shape.h"
#include "host_runtime/tensor/tensor_type.h"

TFRT_API_BEGIN

// The highest rank that has a type for shapes of just that rank.
#define TFRT_FIXED_RANK_SHAPE_MAX_RANK 3

// Registers the types above. Thread-safe.
tfrt_status_t tfrt_tensor_types_register(void) TFRT_MUST_USE;

// The ids of the types above. Thread-safe.
tfrt_type_id_t tfrt_host_tensor_type_id(void);
tfrt_type_id_t tfrt_shape_type_id(void);
tfrt_type_id_t tfrt_partial_shape_type_id(void);
tfrt_type_id_t tfrt_fixed_rank_shape_type_id(uint32_t rank);
tfrt_type_id_t tfrt_tensor_type_type_id(void);
tfrt_type_id_t tfrt_host_buffer_type_id(void);

// A new available tensor value (+1) whose payload is |tensor|, which is consumed and
// left empty. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_tensor_take(tfrt_dense_host_tensor_t* tensor);
tfrt_async_value_t* tfrt_async_value_create_coo_tensor_take(tfrt_coo_host_tensor_t* tensor);
tfrt_async_value_t* tfrt_async_value_create_string_tensor_take(tfrt_string_host_tensor_t* tensor);
tfrt_async_value_t* tfrt_async_value_create_foreign_tensor_take(tfrt_foreign_tensor_t* tensor);

// A new available tensor value (+1) whose payload is a copy of |tensor|. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_scalar_tensor(const tfrt_scalar_host_tensor_t* tensor);

// A new available value (+1) that is |type|, which is static. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_tensor_type(const tfrt_tensor_type_t* type);

// A new available shape value (+1). Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_shape(const tfrt_shape_t* shape);

// A new available value (+1) of the type for shapes with the rank of |shape|, which is at
// most TFRT_FIXED_RANK_SHAPE_MAX_RANK. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_fixed_rank_shape(const tfrt_shape_t* shape);

// A new available partial shape value (+1). Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_partial_shape(const tfrt_partial_shape_t* shape);

// A new available host buffer value (+1); |buffer| is consumed. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_host_buffer_take(tfrt_host_buffer_t* buffer);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPES_H_
