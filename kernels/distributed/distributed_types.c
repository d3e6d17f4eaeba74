// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/distributed_types.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "kernels/distributed/host_group.h"

// --- Hosts ---------------------------------------------------------------------

static tfrt_status_t encode_host(const void* payload, tfrt_encoding_t* out_encoding) {
  out_encoding->header_size = 0;
  out_encoding->body = payload;
  out_encoding->body_size = sizeof(uint32_t);
  return NULL;
}

static tfrt_status_t decode_host(const uint8_t* header, size_t header_size, size_t body_size,
                                 tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header, (void)allocator;
  *out_body = NULL;
  if (header_size != 0 || body_size != sizeof(uint32_t)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a host came as %zu and %zu bytes; it has 0 and 4", header_size,
                              body_size);
  }
  *out_body = payload;
  return NULL;
}

static void print_host(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "host %u", *(const uint32_t*)payload);
}

static const tfrt_codec_t host_codec = {encode_host, decode_host, NULL};

// --- Lists ---------------------------------------------------------------------

static void destroy_list(void* payload) {
  tfrt_value_list_t* list = payload;
  for (uint32_t i = 0; i < list->count; ++i) tfrt_async_value_release(list->elements[i]);
  tfrt_allocator_free(list->allocator, list->elements, list->count * sizeof(*list->elements));
}

static tfrt_async_value_t* const* list_elements(const void* payload, uint32_t* out_count) {
  const tfrt_value_list_t* list = payload;
  *out_count = list->count;
  return list->elements;
}

static tfrt_status_t construct_list(uint32_t count, tfrt_allocator_t allocator, void* payload,
                                    tfrt_async_value_t*** out_elements) {
  size_t size = count * sizeof(tfrt_async_value_t*);
  *out_elements = count > 0 ? tfrt_allocator_allocate_zeroed(allocator, size) : NULL;
  if (!*out_elements && count > 0) return tfrt_status_out_of_memory();
  *(tfrt_value_list_t*)payload =
      (tfrt_value_list_t){.elements = *out_elements, .count = count, .allocator = allocator};
  return NULL;
}

static const tfrt_aggregate_t list_aggregate = {list_elements, construct_list};

static void print_list(const void* payload, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "list of %u", ((const tfrt_value_list_t*)payload)->count);
}

// --- The table -----------------------------------------------------------------

// Atomic, as two threads may register at the same time; both write the same.
static _Atomic tfrt_type_id_t host_id;
static _Atomic tfrt_type_id_t list_id;

static tfrt_status_t register_type(const tfrt_type_t* type, _Atomic tfrt_type_id_t* id) {
  tfrt_type_id_t found = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_type_register(type, &found));
  atomic_store_explicit(id, found, memory_order_relaxed);
  return NULL;
}

tfrt_status_t tfrt_distributed_types_register(void) {
  static const tfrt_type_t host = {.name = "!tfrt_dist.host",
                                   .size = sizeof(uint32_t),
                                   .codec = &host_codec,
                                   .print = print_host};
  // Mutable, as its elements may be: it is fetched behind the chains that say that they are filled.
  static const tfrt_type_t list = {.name = "!tfrt_dist.list",
                                   .size = sizeof(tfrt_value_list_t),
                                   .flags = TFRT_TYPE_FLAG_MUTABLE,
                                   .destroy = destroy_list,
                                   .print = print_list,
                                   .aggregate = &list_aggregate};
  TFRT_RETURN_IF_ERROR(register_type(&host, &host_id));
  TFRT_RETURN_IF_ERROR(register_type(&list, &list_id));
  return tfrt_host_group_register();
}

tfrt_type_id_t tfrt_host_type_id(void) {
  return atomic_load_explicit(&host_id, memory_order_relaxed);
}

tfrt_type_id_t tfrt_value_list_type_id(void) {
  return atomic_load_explicit(&list_id, memory_order_relaxed);
}

// --- Values --------------------------------------------------------------------

tfrt_async_value_t* tfrt_async_value_create_host(uint32_t rank) {
  return tfrt_async_value_create_copy(tfrt_host_type_id(), &rank, sizeof(rank));
}

tfrt_async_value_t* tfrt_async_value_create_list(uint32_t count, tfrt_allocator_t allocator,
                                                 tfrt_async_value_t*** out_elements) {
  *out_elements = NULL;
  tfrt_value_list_t list;
  tfrt_status_t status = construct_list(count, allocator, &list, out_elements);
  if (status) return tfrt_async_value_create_error_take(status);
  tfrt_async_value_t* value = tfrt_async_value_create_available(tfrt_value_list_type_id());
  if (!value) {
    tfrt_allocator_free(allocator, list.elements, count * sizeof(*list.elements));
    *out_elements = NULL;
    return tfrt_async_value_out_of_memory();
  }
  *(tfrt_value_list_t*)tfrt_async_value_payload(value) = list;
  return value;
}
