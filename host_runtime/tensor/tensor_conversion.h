// SPDX-License-Identifier: Apache-2.0
//
// From one type of tensors to another: a table of functions, by the two types.
//
//   tensor value --tfrt_tensor_convert()--> table [CooHost]->[DenseHost] --> tensor value
//
// Built in: [CooHost]->[DenseHost], [DenseHost]->[CooHost], [ScalarHost]->[DenseHost],
// [DenseHost]->[ScalarHost]. A kernel library adds those of its own types, and may so lead data
// into and out of whatever it wraps. There are no detours: a conversion that is not in the table
// is not made of two others.
//
// Life: a conversion is registered once per process, after its types, by the `set_up` of a kernel
// library, and stays.
//
// Thread rule: everything is thread-safe.
// Failure rule: a conversion that there is not gives an error value that names both types.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_CONVERSION_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_CONVERSION_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/tensor_type.h"

TFRT_API_BEGIN

// At most this many conversions are in the table.
#define TFRT_TENSOR_CONVERSION_MAX_COUNT 128

// The context of a conversion.
typedef struct tfrt_tensor_conversion_context_s {
  tfrt_allocator_t allocator;     // for the new tensor; outlives it
  tfrt_work_queue_t* work_queue;  // for work that is long; +0, retain it to keep it
} tfrt_tensor_conversion_context_t;

// Returns a tensor value (+1) of the wanted type with the elements of |value| (+0), an available
// tensor of the type that the function is registered for. The result may be unavailable: then its
// resolver has retained |value|. An error is an error value. Thread-safe.
typedef tfrt_async_value_t* (*tfrt_tensor_convert_fn_t)(
    tfrt_async_value_t* value, const tfrt_tensor_conversion_context_t* context);

typedef struct tfrt_tensor_conversion_s {
  const tfrt_tensor_type_t* from;
  const tfrt_tensor_type_t* to;
  tfrt_tensor_convert_fn_t convert;
} tfrt_tensor_conversion_t;

// Registers |conversion|, which must be static. The same again is fine; INVALID_ARGUMENT if
// something is missing or both types are one, ALREADY_EXISTS if there is another one between these
// types, RESOURCE_EXHAUSTED if the table is full. Thread-safe.
tfrt_status_t tfrt_tensor_conversion_register(const tfrt_tensor_conversion_t* conversion)
    TFRT_MUST_USE;

// Returns (+1) |value| (+0), an available tensor, as one of type |to|: itself if it is one, else
// what the conversion gives; UNIMPLEMENTED if there is none. Thread-safe.
tfrt_async_value_t* tfrt_tensor_convert(tfrt_async_value_t* value, const tfrt_tensor_type_t* to,
                                        const tfrt_tensor_conversion_context_t* context);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_CONVERSION_H_
