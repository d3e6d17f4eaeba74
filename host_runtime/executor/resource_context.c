// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/resource_context.h"

#include <string.h>

// Stands for a resource while it is made; lies on its maker's stack.
typedef struct tfrt_resource_making_s {
  tfrt_list_link_t link;
  const char* name;
} tfrt_resource_making_t;

void tfrt_resource_context_initialize(tfrt_resource_context_t* context) {
  tfrt_mutex_initialize(&context->mutex);
  tfrt_condition_initialize(&context->condition);
  tfrt_list_initialize(&context->resources);
  tfrt_list_initialize(&context->makings);
}

void tfrt_resource_context_deinitialize(tfrt_resource_context_t* context) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&context->resources));) {
    tfrt_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_resource_t, link);
    resource->destroy(resource);
  }
  tfrt_condition_deinitialize(&context->condition);
  tfrt_mutex_deinitialize(&context->mutex);
}

static tfrt_resource_t* tfrt_resource_context_find_locked(const tfrt_resource_context_t* context,
                                                          const char* name) {
  const tfrt_list_link_t* head = &context->resources;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_resource_t, link);
    if (strcmp(resource->name, name) == 0) return resource;
  }
  return NULL;
}

static bool tfrt_resource_context_is_making_locked(const tfrt_resource_context_t* context,
                                                   const char* name) {
  const tfrt_list_link_t* head = &context->makings;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    if (strcmp(TFRT_CONTAINER_OF(link, tfrt_resource_making_t, link)->name, name) == 0) return true;
  }
  return false;
}

tfrt_resource_t* tfrt_resource_context_add(tfrt_resource_context_t* context,
                                           tfrt_resource_t* resource) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* existing = tfrt_resource_context_find_locked(context, resource->name);
  if (!existing) tfrt_list_push_front(&context->resources, &resource->link);
  tfrt_mutex_unlock(&context->mutex);
  if (!existing) return resource;
  resource->destroy(resource);
  return existing;
}

tfrt_resource_t* tfrt_resource_context_find(tfrt_resource_context_t* context, const char* name) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* resource = tfrt_resource_context_find_locked(context, name);
  tfrt_mutex_unlock(&context->mutex);
  return resource;
}

// Returns the resource named |name|, or NULL after having made the caller the one who makes it.
static tfrt_resource_t* tfrt_resource_context_begin(tfrt_resource_context_t* context,
                                                    tfrt_resource_making_t* making) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* resource = NULL;
  while (!(resource = tfrt_resource_context_find_locked(context, making->name)) &&
         tfrt_resource_context_is_making_locked(context, making->name)) {
    tfrt_condition_wait(&context->condition, &context->mutex);
  }
  if (!resource) tfrt_list_push_front(&context->makings, &making->link);
  tfrt_mutex_unlock(&context->mutex);
  return resource;
}

tfrt_status_t tfrt_resource_context_get_or_create(tfrt_resource_context_t* context,
                                                  const char* name,
                                                  tfrt_resource_create_fn_t create, void* argument,
                                                  tfrt_resource_t** out_resource) {
  tfrt_resource_making_t making = {.name = name};
  *out_resource = tfrt_resource_context_begin(context, &making);
  if (*out_resource) return NULL;
  tfrt_resource_t* made = NULL;
  tfrt_status_t status = create(argument, &made);
  // Somebody may have added one of that name by hand meanwhile: that stays.
  if (!status) *out_resource = tfrt_resource_context_add(context, made);
  tfrt_mutex_lock(&context->mutex);
  tfrt_list_remove(&making.link);
  tfrt_condition_broadcast(&context->condition);
  tfrt_mutex_unlock(&context->mutex);
  return status;
}
