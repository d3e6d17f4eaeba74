// SPDX-License-Identifier: Apache-2.0
//
// The value types of this room, their ids, and short ways to make such values.
//
//   "!tfrt_tensor.tensor"   tfrt_dense_host_tensor_t   mutable, has a codec
//   "!ts.shape"             tfrt_shape_t               immutable, has a codec
//   "!ht.host_buffer"       tfrt_host_buffer_t*        mutable, stays on its host
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
#include "host_runtime/tensor/dense_host_tensor.h"

// Registers the types above. Thread-safe.
tfrt_status_t tfrt_tensor_types_register(void) TFRT_MUST_USE;

// The ids of the types above. Thread-safe.
tfrt_type_id_t tfrt_dense_host_tensor_type_id(void);
tfrt_type_id_t tfrt_shape_type_id(void);
tfrt_type_id_t tfrt_host_buffer_type_id(void);

// A new available tensor value (+1) whose payload is |tensor|, which is consumed and
// left empty. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_tensor_take(tfrt_dense_host_tensor_t* tensor);

// A new available shape value (+1). Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_shape(const tfrt_shape_t* shape);

// A new available host buffer value (+1); |buffer| is consumed. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_host_buffer_take(tfrt_host_buffer_t* buffer);

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPES_H_
