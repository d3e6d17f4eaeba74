// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/snapshot.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/type.h"
#include "host_runtime/base/macros.h"

// One whose value is not there yet.
typedef struct pending_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;     // +1
  tfrt_indirect_value_t* copy;   // +1
  tfrt_indirect_value_t* chain;  // +1
  tfrt_allocator_t allocator;
} pending_t;

// --- Copying ----------------------------------------------------------------------

// Makes |*out_copy| (+1) of what |encoding| says.
static tfrt_status_t decode(tfrt_type_id_t id, const tfrt_encoding_t* encoding,
                            tfrt_allocator_t allocator, tfrt_async_value_t** out_copy) {
  const tfrt_codec_t* codec = tfrt_type_get(id)->codec;
  tfrt_async_value_t* copy = tfrt_async_value_create_unconstructed(id);
  if (!copy) return tfrt_status_out_of_memory();
  void* body = NULL;
  tfrt_status_t status = codec->decode(encoding->header, encoding->header_size, encoding->body_size,
                                       allocator, tfrt_async_value_payload(copy), &body);
  if (status) {
    tfrt_async_value_release(copy);
    return status;
  }
  // Nobody else knows the copy yet: from here on its payload is destroyed with it.
  atomic_store_explicit(&copy->flags, TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED, memory_order_relaxed);
  if (encoding->body_size > 0) memcpy(body, encoding->body, encoding->body_size);
  tfrt_async_value_set_available(copy);
  *out_copy = copy;
  return NULL;
}

// The copy (+1) of the resolved |value| as it is now.
static tfrt_async_value_t* copy_of(tfrt_async_value_t* value, tfrt_allocator_t allocator) {
  if (tfrt_async_value_is_error(value)) return tfrt_async_value_retain(value);
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(concrete->type_id);
  tfrt_encoding_t encoding;
  bool is_copied = (type->flags & TFRT_TYPE_FLAG_MUTABLE) && type->codec && !type->streams;
  tfrt_status_t status =
      is_copied ? tfrt_type_encode(type, tfrt_async_value_payload(concrete), &encoding) : NULL;
  if (!is_copied || status) {
    tfrt_status_release(status);
    return tfrt_async_value_retain(concrete);
  }
  tfrt_async_value_t* copy = NULL;
  status = decode(concrete->type_id, &encoding, allocator, &copy);
  return status ? tfrt_async_value_create_error_take(status) : copy;
}

// --- Waiting ----------------------------------------------------------------------

static void free_pending(pending_t* pending) {
  tfrt_async_value_release(pending->value);
  if (pending->copy) tfrt_async_value_release(&pending->copy->base);
  if (pending->chain) tfrt_async_value_release(&pending->chain->base);
  tfrt_allocator_free(pending->allocator, pending, sizeof(*pending));
}

static pending_t* allocate_pending(tfrt_async_value_t* value, tfrt_allocator_t allocator) {
  pending_t* pending = tfrt_allocator_allocate_zeroed(allocator, sizeof(*pending));
  if (!pending) return NULL;
  *pending = (pending_t){.value = tfrt_async_value_retain(value),
                         .copy = tfrt_indirect_value_create(),
                         .chain = tfrt_indirect_value_create(),
                         .allocator = allocator};
  if (pending->copy && pending->chain) return pending;
  free_pending(pending);
  return NULL;
}

static void run_pending(tfrt_task_t* task) {
  pending_t* pending = TFRT_CONTAINER_OF(task, pending_t, task);
  tfrt_indirect_value_forward_take(pending->copy, copy_of(pending->value, pending->allocator));
  tfrt_indirect_value_forward_take(pending->chain, tfrt_async_value_ready_chain());
  free_pending(pending);
}

void tfrt_snapshot_take(tfrt_async_value_t* value, tfrt_allocator_t allocator,
                        tfrt_snapshot_t* out_snapshot) {
  if (tfrt_async_value_is_available(value)) {
    *out_snapshot = (tfrt_snapshot_t){.value = copy_of(value, allocator),
                                      .chain = tfrt_async_value_ready_chain()};
    return;
  }
  pending_t* pending = allocate_pending(value, allocator);
  if (!pending) {
    *out_snapshot = (tfrt_snapshot_t){.value = tfrt_async_value_out_of_memory(),
                                      .chain = tfrt_async_value_out_of_memory()};
    return;
  }
  *out_snapshot = (tfrt_snapshot_t){.value = tfrt_async_value_retain(&pending->copy->base),
                                    .chain = tfrt_async_value_retain(&pending->chain->base)};
  tfrt_task_initialize(&pending->task, run_pending);
  tfrt_async_value_and_then(value, &pending->task);
}
