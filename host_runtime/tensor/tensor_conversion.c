// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_conversion.h"

#include "host_runtime/base/sync.h"
#include "host_runtime/tensor/tensor_types.h"

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;  // guards the next two
static size_t conversion_count;
static const tfrt_tensor_conversion_t* conversions[TFRT_TENSOR_CONVERSION_MAX_COUNT];

// --- What is built in ------------------------------------------------------------

static const tfrt_host_tensor_t* tensor_of(tfrt_async_value_t* value) {
  return tfrt_async_value_payload(tfrt_async_value_resolved(value));
}

// The value of |dense| (consumed), or of the error |status| (consumed).
static tfrt_async_value_t* dense_value(tfrt_status_t status, tfrt_dense_host_tensor_t* dense) {
  return status ? tfrt_async_value_create_error_take(status)
                : tfrt_async_value_create_tensor_take(dense);
}

static tfrt_async_value_t* coo_to_dense(tfrt_async_value_t* value,
                                        const tfrt_tensor_conversion_context_t* context) {
  tfrt_dense_host_tensor_t dense;
  return dense_value(
      tfrt_coo_host_tensor_to_dense(&tensor_of(value)->coo, context->allocator, &dense), &dense);
}

static tfrt_async_value_t* scalar_to_dense(tfrt_async_value_t* value,
                                           const tfrt_tensor_conversion_context_t* context) {
  tfrt_dense_host_tensor_t dense;
  return dense_value(
      tfrt_scalar_host_tensor_to_dense(&tensor_of(value)->scalar, context->allocator, &dense),
      &dense);
}

static tfrt_async_value_t* dense_to_coo(tfrt_async_value_t* value,
                                        const tfrt_tensor_conversion_context_t* context) {
  tfrt_coo_host_tensor_t coo;
  tfrt_status_t status = tfrt_coo_host_tensor_initialize_from_dense(&tensor_of(value)->dense,
                                                                    context->allocator, &coo);
  return status ? tfrt_async_value_create_error_take(status)
                : tfrt_async_value_create_coo_tensor_take(&coo);
}

static tfrt_async_value_t* dense_to_scalar(tfrt_async_value_t* value,
                                           const tfrt_tensor_conversion_context_t* context) {
  (void)context;
  tfrt_scalar_host_tensor_t scalar;
  tfrt_status_t status = tfrt_scalar_host_tensor_from_dense(&tensor_of(value)->dense, &scalar);
  return status ? tfrt_async_value_create_error_take(status)
                : tfrt_async_value_create_scalar_tensor(&scalar);
}

// The built-in conversion from |from| to |to|, or NULL.
static tfrt_tensor_convert_fn_t find_built_in(const tfrt_tensor_type_t* from,
                                              const tfrt_tensor_type_t* to) {
  const tfrt_tensor_type_t* dense = tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_DENSE);
  const tfrt_tensor_type_t* coo = tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_COO);
  const tfrt_tensor_type_t* scalar = tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_SCALAR);
  if (to == dense && from == coo) return coo_to_dense;
  if (to == dense && from == scalar) return scalar_to_dense;
  if (from == dense && to == coo) return dense_to_coo;
  if (from == dense && to == scalar) return dense_to_scalar;
  return NULL;
}

// --- The table -------------------------------------------------------------------

static const tfrt_tensor_conversion_t* find_locked(const tfrt_tensor_type_t* from,
                                                   const tfrt_tensor_type_t* to) {
  for (size_t i = 0; i < conversion_count; ++i) {
    if (conversions[i]->from == from && conversions[i]->to == to) return conversions[i];
  }
  return NULL;
}

static tfrt_status_t add_locked(const tfrt_tensor_conversion_t* conversion) {
  const tfrt_tensor_conversion_t* known = find_locked(conversion->from, conversion->to);
  if (known == conversion) return NULL;
  const char* from = tfrt_tensor_type_name(conversion->from);
  const char* to = tfrt_tensor_type_name(conversion->to);
  if (known || find_built_in(conversion->from, conversion->to)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "there is a conversion [%s]->[%s] already", from, to);
  }
  if (conversion_count == TFRT_TENSOR_CONVERSION_MAX_COUNT) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no room for a conversion [%s]->[%s]: there are %d already", from, to,
                              TFRT_TENSOR_CONVERSION_MAX_COUNT);
  }
  conversions[conversion_count++] = conversion;
  return NULL;
}

tfrt_status_t tfrt_tensor_conversion_register(const tfrt_tensor_conversion_t* conversion) {
  if (!conversion->from || !conversion->to || !conversion->convert ||
      conversion->from == conversion->to) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a conversion of tensors needs two types and a function");
  }
  tfrt_mutex_lock(&mutex);
  tfrt_status_t status = add_locked(conversion);
  tfrt_mutex_unlock(&mutex);
  return status;
}

static tfrt_tensor_convert_fn_t find(const tfrt_tensor_type_t* from, const tfrt_tensor_type_t* to) {
  tfrt_tensor_convert_fn_t convert = find_built_in(from, to);
  if (convert) return convert;
  tfrt_mutex_lock(&mutex);
  const tfrt_tensor_conversion_t* conversion = find_locked(from, to);
  tfrt_mutex_unlock(&mutex);
  return conversion ? conversion->convert : NULL;
}

tfrt_async_value_t* tfrt_tensor_convert(tfrt_async_value_t* value, const tfrt_tensor_type_t* to,
                                        const tfrt_tensor_conversion_context_t* context) {
  const tfrt_tensor_type_t* from = tfrt_tensor_type_of(tensor_of(value));
  if (from == to) return tfrt_async_value_retain(value);
  tfrt_tensor_convert_fn_t convert = find(from, to);
  if (convert) return convert(value, context);
  return tfrt_async_value_create_error_take(tfrt_status_create(
      TFRT_STATUS_UNIMPLEMENTED, "cannot find conversion function for [%s]->[%s]",
      tfrt_tensor_type_name(from), tfrt_tensor_type_name(to)));
}
