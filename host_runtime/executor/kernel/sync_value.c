// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/sync_value.h"
#include "host_runtime/async/value_storage.h"

#include <string.h>

#include "host_runtime/base/allocator.h"

// A value in place is copied when it is borrowed: values of mutable types are never in place.
static bool sync_value_fits_in_place(const tfrt_type_t* type) {
  return !type->destroy && !(type->flags & TFRT_TYPE_FLAG_MUTABLE) &&
         type->size <= sizeof(((tfrt_sync_value_t*)0)->as);
}

void* tfrt_sync_value_construct(tfrt_sync_value_t* value, tfrt_type_id_t type_id) {
  if (TFRT_UNLIKELY(type_id == TFRT_TYPE_NONE)) tfrt_type_abort_none();
  const tfrt_type_t* type = tfrt_type_get(type_id);
  *value = (tfrt_sync_value_t){.type_id = type_id, .kind = TFRT_SYNC_VALUE_PLAIN};
  if (sync_value_fits_in_place(type)) return value->as.bytes;
  value->as.pointer = tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), type->size);
  value->kind = value->as.pointer ? TFRT_SYNC_VALUE_OWNED : TFRT_SYNC_VALUE_EMPTY;
  return value->as.pointer;
}

void tfrt_sync_value_clear_owned(tfrt_sync_value_t* value) {
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  if (type->destroy) type->destroy(value->as.pointer);
  tfrt_allocator_free(tfrt_value_storage_allocator(), value->as.pointer, type->size);
  value->kind = TFRT_SYNC_VALUE_EMPTY;
}

tfrt_sync_value_t tfrt_sync_value_borrow_async(tfrt_async_value_t* value) {
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(resolved->type_id);
  tfrt_sync_value_t borrowed = {.type_id = resolved->type_id};
  if (sync_value_fits_in_place(type)) {
    borrowed.kind = TFRT_SYNC_VALUE_PLAIN;
    memcpy(borrowed.as.bytes, tfrt_async_value_payload(resolved), type->size);
  } else {
    borrowed.kind = TFRT_SYNC_VALUE_BORROWED;
    borrowed.as.pointer = tfrt_async_value_payload(resolved);
  }
  return borrowed;
}

tfrt_async_value_t* tfrt_sync_value_take_async(tfrt_sync_value_t* value) {
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  tfrt_async_value_t* result = value->type_id == TFRT_TYPE_CHAIN
                                   ? tfrt_async_value_ready_chain()
                                   : tfrt_async_value_create_available(value->type_id);
  if (!result) {
    tfrt_sync_value_clear(value);
    return tfrt_async_value_out_of_memory();
  }
  if (type->size > 0) {
    memcpy(tfrt_async_value_payload(result), tfrt_sync_value_payload(value), type->size);
  }
  if (value->kind == TFRT_SYNC_VALUE_OWNED) {
    tfrt_allocator_free(tfrt_value_storage_allocator(), value->as.pointer, type->size);
  }
  value->kind = TFRT_SYNC_VALUE_EMPTY;
  return result;
}
