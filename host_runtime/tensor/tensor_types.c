// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_types.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_codec.h"

// Relaxed throughout: who uses a type was started after the registration, and the ids
// of a second registration are the same.
static _Atomic tfrt_type_id_t tensor_id;
static _Atomic tfrt_type_id_t shape_id;
static _Atomic tfrt_type_id_t partial_shape_id;
static _Atomic tfrt_type_id_t fixed_rank_shape_ids[TFRT_FIXED_RANK_SHAPE_MAX_RANK + 1];
static _Atomic tfrt_type_id_t tensor_type_id;
static _Atomic tfrt_type_id_t host_buffer_id;

static void destroy_tensor(void* payload) {
  tfrt_host_tensor_t* tensor = payload;
  if (TFRT_LIKELY(tensor->layout == TFRT_TENSOR_LAYOUT_DENSE)) {
    // Nobody sees it empty.
    tfrt_host_buffer_release(tensor->dense.buffer);
  } else {
    tfrt_host_tensor_deinitialize(tensor);
  }
}

static void destroy_host_buffer(void* payload) {
  tfrt_host_buffer_release(*(tfrt_host_buffer_t**)payload);
}

// Results of these types are printed as "TYPE value", as TFRT does; their content is
// printed by kernels.
static const tfrt_type_t tensor_type = {
    .name = "!tfrt_tensor.tensor",
    .size = sizeof(tfrt_host_tensor_t),
    .flags = TFRT_TYPE_FLAG_MUTABLE,
    .destroy = destroy_tensor,
    .codec = &tfrt_host_tensor_codec,
};

static const tfrt_type_t shape_type = {
    .name = "!ts.shape",
    .size = sizeof(tfrt_shape_t),
    .codec = &tfrt_shape_codec,
};

static const tfrt_type_t partial_shape_type = {
    .name = "!ts.partial_shape",
    .size = sizeof(tfrt_partial_shape_t),
    .codec = &tfrt_partial_shape_codec,
};

// Only the names differ. A peer's shape of another rank is as good as any: who reads it
// looks at the rank.
static const tfrt_type_t fixed_rank_shape_types[TFRT_FIXED_RANK_SHAPE_MAX_RANK + 1] = {
    {.name = "!ts.fixed_rank_shape.0", .size = sizeof(tfrt_shape_t), .codec = &tfrt_shape_codec},
    {.name = "!ts.fixed_rank_shape.1", .size = sizeof(tfrt_shape_t), .codec = &tfrt_shape_codec},
    {.name = "!ts.fixed_rank_shape.2", .size = sizeof(tfrt_shape_t), .codec = &tfrt_shape_codec},
    {.name = "!ts.fixed_rank_shape.3", .size = sizeof(tfrt_shape_t), .codec = &tfrt_shape_codec},
};

static const tfrt_type_t tensor_type_type = {
    .name = "!tfrt.tensor_type",
    .size = sizeof(const tfrt_tensor_type_t*),
    .codec = &tfrt_tensor_type_codec,
};

static const tfrt_type_t host_buffer_type = {
    .name = "!ht.host_buffer",
    .size = sizeof(tfrt_host_buffer_t*),
    .flags = TFRT_TYPE_FLAG_MUTABLE,
    .destroy = destroy_host_buffer,
};

static tfrt_status_t register_type(const tfrt_type_t* type, _Atomic tfrt_type_id_t* id) {
  tfrt_type_id_t new_id;
  TFRT_RETURN_IF_ERROR(tfrt_type_register(type, &new_id));
  atomic_store_explicit(id, new_id, memory_order_relaxed);
  return NULL;
}

tfrt_status_t tfrt_tensor_types_register(void) {
  TFRT_RETURN_IF_ERROR(register_type(&tensor_type, &tensor_id));
  TFRT_RETURN_IF_ERROR(register_type(&shape_type, &shape_id));
  TFRT_RETURN_IF_ERROR(register_type(&partial_shape_type, &partial_shape_id));
  for (uint32_t rank = 0; rank <= TFRT_FIXED_RANK_SHAPE_MAX_RANK; ++rank) {
    TFRT_RETURN_IF_ERROR(register_type(&fixed_rank_shape_types[rank], &fixed_rank_shape_ids[rank]));
  }
  TFRT_RETURN_IF_ERROR(register_type(&tensor_type_type, &tensor_type_id));
  return register_type(&host_buffer_type, &host_buffer_id);
}

tfrt_type_id_t tfrt_host_tensor_type_id(void) {
  return atomic_load_explicit(&tensor_id, memory_order_relaxed);
}

tfrt_type_id_t tfrt_shape_type_id(void) {
  return atomic_load_explicit(&shape_id, memory_order_relaxed);
}

tfrt_type_id_t tfrt_partial_shape_type_id(void) {
  return atomic_load_explicit(&partial_shape_id, memory_order_relaxed);
}

tfrt_type_id_t tfrt_fixed_rank_shape_type_id(uint32_t rank) {
  return atomic_load_explicit(&fixed_rank_shape_ids[rank], memory_order_relaxed);
}

tfrt_type_id_t tfrt_tensor_type_type_id(void) {
  return atomic_load_explicit(&tensor_type_id, memory_order_relaxed);
}

tfrt_type_id_t tfrt_host_buffer_type_id(void) {
  return atomic_load_explicit(&host_buffer_id, memory_order_relaxed);
}

// Programs make dense tensors more often than all others, so that they are copied once.
tfrt_async_value_t* tfrt_async_value_create_tensor_take(tfrt_dense_host_tensor_t* tensor) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_host_tensor_type_id());
  if (!value) {
    tfrt_dense_host_tensor_deinitialize(tensor);
    return tfrt_async_value_out_of_memory();
  }
  tfrt_host_tensor_t* host_tensor = tfrt_async_value_payload(value);
  host_tensor->layout = TFRT_TENSOR_LAYOUT_DENSE;
  host_tensor->dense = *tensor;
  memset(tensor, 0, sizeof(*tensor));
  return value;
}

static tfrt_async_value_t* create_tensor_take(tfrt_host_tensor_t* tensor) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_host_tensor_type_id());
  if (!value) {
    tfrt_host_tensor_deinitialize(tensor);
    return tfrt_async_value_out_of_memory();
  }
  memcpy(tfrt_async_value_payload(value), tensor, sizeof(*tensor));
  return value;
}

tfrt_async_value_t* tfrt_async_value_create_coo_tensor_take(tfrt_coo_host_tensor_t* tensor) {
  tfrt_host_tensor_t host_tensor = {.layout = TFRT_TENSOR_LAYOUT_COO, .coo = *tensor};
  memset(tensor, 0, sizeof(*tensor));
  return create_tensor_take(&host_tensor);
}

tfrt_async_value_t* tfrt_async_value_create_string_tensor_take(tfrt_string_host_tensor_t* tensor) {
  tfrt_host_tensor_t host_tensor = {.layout = TFRT_TENSOR_LAYOUT_STRING, .string = *tensor};
  memset(tensor, 0, sizeof(*tensor));
  return create_tensor_take(&host_tensor);
}

tfrt_async_value_t* tfrt_async_value_create_foreign_tensor_take(tfrt_foreign_tensor_t* tensor) {
  tfrt_host_tensor_t host_tensor = {.layout = TFRT_TENSOR_LAYOUT_FOREIGN, .foreign = *tensor};
  memset(tensor, 0, sizeof(*tensor));
  return create_tensor_take(&host_tensor);
}

tfrt_async_value_t* tfrt_async_value_create_tensor_type(const tfrt_tensor_type_t* type) {
  return tfrt_async_value_create_copy(tfrt_tensor_type_type_id(), &type, sizeof(type));
}

tfrt_async_value_t* tfrt_async_value_create_scalar_tensor(const tfrt_scalar_host_tensor_t* tensor) {
  tfrt_host_tensor_t host_tensor = {.layout = TFRT_TENSOR_LAYOUT_SCALAR, .scalar = *tensor};
  return create_tensor_take(&host_tensor);
}

tfrt_async_value_t* tfrt_async_value_create_shape(const tfrt_shape_t* shape) {
  return tfrt_async_value_create_copy(tfrt_shape_type_id(), shape, sizeof(*shape));
}

tfrt_async_value_t* tfrt_async_value_create_fixed_rank_shape(const tfrt_shape_t* shape) {
  return tfrt_async_value_create_copy(tfrt_fixed_rank_shape_type_id(shape->rank), shape,
                                      sizeof(*shape));
}

tfrt_async_value_t* tfrt_async_value_create_partial_shape(const tfrt_partial_shape_t* shape) {
  return tfrt_async_value_create_copy(tfrt_partial_shape_type_id(), shape, sizeof(*shape));
}

tfrt_async_value_t* tfrt_async_value_create_host_buffer_take(tfrt_host_buffer_t* buffer) {
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_host_buffer_type_id());
  if (!value) {
    tfrt_host_buffer_release(buffer);
    return tfrt_async_value_out_of_memory();
  }
  *(tfrt_host_buffer_t**)tfrt_async_value_payload(value) = buffer;
  return value;
}
