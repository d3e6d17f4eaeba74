// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/resource_context.h"

#include <string.h>

// Stands for a resource while it is made; lies on its maker's stack.
typedef struct tfrt_resource_making_s {
  tfrt_list_link_t link;
  const char* name;
  tfrt_list_link_t waiters;  // of tfrt_resource_waiter_t
} tfrt_resource_making_t;

// Waits until it is made, or can't be; lies on its thread's stack. Mostly there is none, so a store
// (each request has one) has no condition.
typedef struct tfrt_resource_waiter_s {
  tfrt_list_link_t link;
  tfrt_condition_t ended;
  bool has_ended;
} tfrt_resource_waiter_t;

void tfrt_resource_context_initialize(tfrt_resource_context_t* context) {
  tfrt_mutex_initialize(&context->mutex);
  tfrt_list_initialize(&context->resources);
  tfrt_list_initialize(&context->makings);
}

void tfrt_resource_context_deinitialize(tfrt_resource_context_t* context) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&context->resources));) {
    tfrt_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_resource_t, link);
    resource->destroy(resource);
  }
  tfrt_mutex_deinitialize(&context->mutex);
}

static tfrt_resource_t* resource_context_find_locked(const tfrt_resource_context_t* context,
                                                     const char* name) {
  const tfrt_list_link_t* head = &context->resources;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_resource_t* resource = TFRT_CONTAINER_OF(link, tfrt_resource_t, link);
    if (strcmp(resource->name, name) == 0) return resource;
  }
  return NULL;
}

static tfrt_resource_making_t* resource_context_find_making_locked(
    const tfrt_resource_context_t* context, const char* name) {
  const tfrt_list_link_t* head = &context->makings;
  for (tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_resource_making_t* making = TFRT_CONTAINER_OF(link, tfrt_resource_making_t, link);
    if (strcmp(making->name, name) == 0) return making;
  }
  return NULL;
}

// Returns when |making| is over; the mutex is open meanwhile.
static void resource_context_wait_locked(tfrt_resource_context_t* context,
                                         tfrt_resource_making_t* making) {
  tfrt_resource_waiter_t waiter = {.has_ended = false};
  tfrt_condition_initialize(&waiter.ended);
  tfrt_list_push_back(&making->waiters, &waiter.link);
  while (!waiter.has_ended) tfrt_condition_wait(&waiter.ended, &context->mutex);
  tfrt_condition_deinitialize(&waiter.ended);
}

static void resource_context_end_making_locked(tfrt_resource_making_t* making) {
  tfrt_list_remove(&making->link);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&making->waiters));) {
    tfrt_resource_waiter_t* waiter = TFRT_CONTAINER_OF(link, tfrt_resource_waiter_t, link);
    waiter->has_ended = true;
    tfrt_condition_signal(&waiter->ended);
  }
}

tfrt_resource_t* tfrt_resource_context_add(tfrt_resource_context_t* context,
                                           tfrt_resource_t* resource) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* existing = resource_context_find_locked(context, resource->name);
  if (!existing) tfrt_list_push_front(&context->resources, &resource->link);
  tfrt_mutex_unlock(&context->mutex);
  if (!existing) return resource;
  resource->destroy(resource);
  return existing;
}

tfrt_resource_t* tfrt_resource_context_find(tfrt_resource_context_t* context, const char* name) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* resource = resource_context_find_locked(context, name);
  tfrt_mutex_unlock(&context->mutex);
  return resource;
}

// Returns the resource named |name|, or NULL after having made the caller the one who makes it.
static tfrt_resource_t* resource_context_begin(tfrt_resource_context_t* context,
                                               tfrt_resource_making_t* making) {
  tfrt_mutex_lock(&context->mutex);
  tfrt_resource_t* resource = NULL;
  tfrt_resource_making_t* other = NULL;
  while (!(resource = resource_context_find_locked(context, making->name)) &&
         (other = resource_context_find_making_locked(context, making->name))) {
    resource_context_wait_locked(context, other);
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
  tfrt_list_initialize(&making.waiters);
  *out_resource = resource_context_begin(context, &making);
  if (*out_resource) return NULL;
  tfrt_resource_t* made = NULL;
  tfrt_status_t status = create(argument, &made);
  // Somebody may have added one of that name by hand meanwhile: that stays.
  if (!status) *out_resource = tfrt_resource_context_add(context, made);
  tfrt_mutex_lock(&context->mutex);
  resource_context_end_making_locked(&making);
  tfrt_mutex_unlock(&context->mutex);
  return status;
}
