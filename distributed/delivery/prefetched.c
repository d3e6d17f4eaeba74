// SPDX-License-Identifier: Apache-2.0
#include "distributed/delivery/prefetched.h"

#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"

static const char tfrt_prefetched_name[] = "tfrt_dist.prefetched";

typedef struct tfrt_prefetched_entry_s {
  tfrt_list_link_t link;
  uint32_t rank;
  tfrt_async_value_t* value;  // +1
  tfrt_async_value_t* there;  // +1
  tfrt_async_value_t* chain;  // +1
} tfrt_prefetched_entry_t;

// The copies of one request.
typedef struct tfrt_prefetched_s {
  tfrt_resource_t base;
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;        // guards |entries|
  tfrt_list_link_t entries;  // newest first
} tfrt_prefetched_t;

static tfrt_prefetched_entry_t* tfrt_prefetched_entry_of(tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_prefetched_entry_t, link);
}

static void tfrt_prefetched_destroy(tfrt_resource_t* resource) {
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&all->entries));) {
    tfrt_prefetched_entry_t* entry = tfrt_prefetched_entry_of(link);
    tfrt_async_value_release(entry->value);
    tfrt_async_value_release(entry->there);
    tfrt_async_value_release(entry->chain);
    tfrt_allocator_free(all->allocator, entry, sizeof(*entry));
  }
  tfrt_mutex_deinitialize(&all->mutex);
  tfrt_allocator_free(all->allocator, all, sizeof(*all));
}

static tfrt_status_t tfrt_prefetched_create(void* argument, tfrt_resource_t** out_resource) {
  tfrt_allocator_t allocator = *(tfrt_allocator_t*)argument;
  tfrt_prefetched_t* all = tfrt_allocator_allocate_zeroed(allocator, sizeof(*all));
  if (!all) return tfrt_status_out_of_memory();
  all->base.name = tfrt_prefetched_name;
  all->base.destroy = tfrt_prefetched_destroy;
  all->allocator = allocator;
  tfrt_mutex_initialize(&all->mutex);
  tfrt_list_initialize(&all->entries);
  *out_resource = &all->base;
  return NULL;
}

void tfrt_prefetched_note(const tfrt_routed_copy_t* copy, tfrt_async_value_t* there,
                          tfrt_async_value_t* chain) {
  tfrt_allocator_t allocator = copy->context->host->allocator;
  tfrt_resource_context_t* resources = &copy->context->request->resources;
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(
      resources, tfrt_prefetched_name, tfrt_prefetched_create, &allocator, &resource);
  tfrt_prefetched_entry_t* entry =
      status ? NULL : tfrt_allocator_allocate_zeroed(allocator, sizeof(*entry));
  tfrt_status_release(status);
  if (!entry) return;
  entry->rank = copy->host;
  entry->value = tfrt_async_value_retain(copy->value);
  entry->there = tfrt_async_value_retain(there);
  entry->chain = tfrt_async_value_retain(chain);
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  tfrt_mutex_lock(&all->mutex);
  tfrt_list_push_front(&all->entries, &entry->link);
  tfrt_mutex_unlock(&all->mutex);
}

// True if |a| and |b| are one value; one may stand for the other.
static bool tfrt_prefetched_is_same(tfrt_async_value_t* a, tfrt_async_value_t* b) {
  if (a == b) return true;
  return tfrt_async_value_is_available(a) && tfrt_async_value_is_available(b) &&
         tfrt_async_value_resolved(a) == tfrt_async_value_resolved(b);
}

// True if the copy of |entry| is as good as its value, even if nobody needs the payload. The copy
// is there, or it is on its way and only a loss can stop it.
static bool tfrt_prefetched_is_good(const tfrt_prefetched_entry_t* entry) {
  if (tfrt_async_value_is_available(entry->chain)) return !tfrt_async_value_is_error(entry->chain);
  if (!tfrt_async_value_is_available(entry->value) || tfrt_async_value_is_error(entry->value)) {
    return false;
  }
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(entry->value)->type_id);
  return type->codec || type->aggregate;
}

tfrt_async_value_t* tfrt_prefetched_find(const tfrt_execution_context_t* context, uint32_t rank,
                                         tfrt_async_value_t* value) {
  tfrt_resource_t* resource =
      tfrt_resource_context_find(&context->request->resources, tfrt_prefetched_name);
  if (!resource) return NULL;
  tfrt_prefetched_t* all = TFRT_CONTAINER_OF(resource, tfrt_prefetched_t, base);
  tfrt_async_value_t* found = NULL;
  tfrt_mutex_lock(&all->mutex);
  for (tfrt_list_link_t* link = all->entries.next; link != &all->entries && !found;
       link = link->next) {
    const tfrt_prefetched_entry_t* entry = tfrt_prefetched_entry_of(link);
    bool fits = entry->rank == rank && tfrt_prefetched_is_same(entry->value, value);
    if (fits && tfrt_prefetched_is_good(entry)) found = tfrt_async_value_retain(entry->there);
  }
  tfrt_mutex_unlock(&all->mutex);
  return found;
}
