// SPDX-License-Identifier: Apache-2.0
//
// The types of tensors by name: which way of keeping elements a tensor has. Not to be taken for
// tensor_types.h, the types of values: all tensors of this host are values of one type, so that a
// program need not know how the tensor at hand is kept.
//
//   "DenseHost"  "CooHost"  "StringHost"  "ScalarHost"     built in, one for each layout
//   "MyHost"                                               brought by a kernel library
//
// A tensor of a library's type is a *foreign* one: dtype and shape are known here, everything else
// is the library's. It passes through all kernels that take any tensor (shape, print, convert);
// those that want another type refuse it by name.
//
// Life: a type is registered once per process, by the `set_up` of a kernel library, and stays.
//
// Thread rule: everything is thread-safe.
// Failure rule: an unknown name is INVALID_ARGUMENT with the names that there are.
#ifndef TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPE_H_
#define TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPE_H_

#include "host_runtime/base/choice.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/tensor/host_tensor.h"

TFRT_API_BEGIN

// The longest name.
#define TFRT_TENSOR_TYPE_MAX_NAME 63

typedef struct tfrt_tensor_type_s {
  tfrt_choice_t choice;  // its name, without usage
  // A library's description of its tensor type; NULL for the built-in ones, which say it
  // themselves. Gives back what |tensor| holds. Called once, on the thread that drops the last
  // reference.
  void (*destroy)(tfrt_foreign_tensor_t* tensor);
  // Appends |tensor| in one line, as the other types do: "MyHostTensor dtype = ..., shape = ...".
  void (*print)(const tfrt_foreign_tensor_t* tensor, tfrt_string_builder_t* out);
} tfrt_tensor_type_t;

// Registers |type|, which must be static. The same again is fine; INVALID_ARGUMENT if its name is
// none or too long or a function is missing, ALREADY_EXISTS if there is another of that name,
// RESOURCE_EXHAUSTED if the table is full. Thread-safe.
tfrt_status_t tfrt_tensor_type_register(const tfrt_tensor_type_t* type) TFRT_MUST_USE;

// Sets |*out_type| to the type named |name|. Errors: see above. Thread-safe.
tfrt_status_t tfrt_tensor_type_find(tfrt_string_view_t name, const tfrt_tensor_type_t** out_type)
    TFRT_MUST_USE;

// The type of tensors with |layout|, which is not the foreign one. Thread-safe.
const tfrt_tensor_type_t* tfrt_tensor_type_of_layout(tfrt_tensor_layout_t layout);

// The type of |tensor|. Thread-safe.
const tfrt_tensor_type_t* tfrt_tensor_type_of(const tfrt_host_tensor_t* tensor);

// The name of |type|. Lives as long as that. Thread-safe.
static inline const char* tfrt_tensor_type_name(const tfrt_tensor_type_t* type) {
  return type->choice.name;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_TENSOR_TYPE_H_
