// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/resource.h"

#include <string.h>

// The key of a resource, or of the owner of some.
typedef struct resource_key_s {
  const void* owner;  // the owner of a resource; NULL: the key is that of an owner
  const tfrt_ir_string_t* name;
  uint64_t is_dialect;
} resource_key_t;

static tfrt_ir_resource_owner_t* get_owner(tfrt_ir_context_t* context, const tfrt_ir_string_t* name,
                                           bool is_dialect) {
  resource_key_t key = {.name = name, .is_dialect = is_dialect};
  const void* copy = NULL;
  const void** slot =
      tfrt_ir_context_intern(context, TFRT_IR_TABLE_RESOURCES, &key, sizeof(key), &copy);
  if (!slot) return NULL;
  if (*slot) return (tfrt_ir_resource_owner_t*)*slot;
  tfrt_ir_resource_owner_t* owner = tfrt_ir_context_allocate_kept(context, sizeof(*owner));
  if (!owner) return NULL;
  *owner = (tfrt_ir_resource_owner_t){0};
  owner->name = name;
  owner->is_dialect = is_dialect;
  *slot = owner;
  if (context->last_resource_owner) {
    context->last_resource_owner->next = owner;
  } else {
    context->resource_owners = owner;
  }
  context->last_resource_owner = owner;
  return owner;
}

static tfrt_ir_resource_t* append(tfrt_ir_context_t* context, tfrt_ir_resource_owner_t* owner) {
  tfrt_ir_resource_t* resource = tfrt_ir_context_allocate_kept(context, sizeof(*resource));
  if (!resource) return NULL;
  *resource = (tfrt_ir_resource_t){0};
  if (owner->last) {
    owner->last->next = resource;
  } else {
    owner->first = resource;
  }
  owner->last = resource;
  return resource;
}

// The resource |name| of |owner|, a dialect, made if there is none.
static tfrt_ir_resource_t* get_of_dialect(tfrt_ir_context_t* context,
                                          tfrt_ir_resource_owner_t* owner,
                                          const tfrt_ir_string_t* name) {
  resource_key_t key = {.owner = owner, .name = name, .is_dialect = true};
  const void* copy = NULL;
  const void** slot =
      tfrt_ir_context_intern(context, TFRT_IR_TABLE_RESOURCES, &key, sizeof(key), &copy);
  if (!slot) return NULL;
  if (!*slot) *slot = append(context, owner);
  return (tfrt_ir_resource_t*)*slot;
}

bool tfrt_ir_resource_add(tfrt_ir_context_t* context, const tfrt_ir_string_t* owner_name,
                          bool is_dialect, const tfrt_ir_resource_t* model) {
  tfrt_ir_resource_owner_t* owner = get_owner(context, owner_name, is_dialect);
  if (!owner) return false;
  tfrt_ir_resource_t* resource =
      is_dialect ? get_of_dialect(context, owner, model->name) : append(context, owner);
  char* bytes = tfrt_ir_context_allocate_kept(context, model->bytes.size + 1);
  if (!resource || !bytes) return false;
  if (model->bytes.size) memcpy(bytes, model->bytes.data, model->bytes.size);
  resource->name = model->name;
  resource->kind = model->kind;
  resource->truth = model->truth;
  resource->bytes = tfrt_string_view_make(bytes, model->bytes.size);
  return true;
}

tfrt_ir_resource_t* tfrt_ir_resource_find(const tfrt_ir_context_t* context,
                                          const tfrt_ir_string_t* name) {
  const tfrt_ir_resource_owner_t* owner = context->resource_owners;
  while (owner && !(owner->is_dialect && tfrt_ir_string_is(owner->name, "builtin"))) {
    owner = owner->next;
  }
  if (!owner) return NULL;
  resource_key_t key = {.owner = owner, .name = name, .is_dialect = true};
  return (tfrt_ir_resource_t*)tfrt_ir_context_find(context, TFRT_IR_TABLE_RESOURCES, &key,
                                                   sizeof(key));
}
