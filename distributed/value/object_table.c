// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/object_table.h"

#include <string.h>

#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/program_cache.h"

// --- Kept values ------------------------------------------------------------

// True if |value| is one of |values|.
static bool kept_values_has(const tfrt_kept_values_t* values, const tfrt_async_value_t* value) {
  for (; values; values = values->others) {
    if (values->value == value) return true;
  }
  return false;
}

// Adds |value| (+0), which may be there already. False when memory is out.
static bool kept_values_add(tfrt_kept_values_t* values, tfrt_async_value_t* value,
                            tfrt_allocator_t allocator) {
  if (kept_values_has(values, value)) return true;
  if (values->value) {
    tfrt_kept_values_t* other = tfrt_allocator_allocate(allocator, sizeof(*other));
    if (!other) return false;
    *other = *values;
    values->others = other;
  }
  values->value = tfrt_async_value_retain(value);
  return true;
}

// Releases all by way of |actions|: |values| is empty then.
static void kept_values_clear(tfrt_kept_values_t* values, tfrt_action_queue_t* actions,
                              tfrt_allocator_t allocator) {
  tfrt_action_queue_release(actions, values->value);
  while (values->others) {
    tfrt_kept_values_t* other = values->others;
    values->others = other->others;
    tfrt_action_queue_release(actions, other->value);
    tfrt_allocator_free(allocator, other, sizeof(*other));
  }
  values->value = NULL;
}

// --- Objects ----------------------------------------------------------------

// Namers are random and their numbers consecutive. Consecutive names get neighbouring chains, and
// names of one number are spread.
static uint64_t object_table_hash(const void* key) {
  const tfrt_wire_object_id_t* id = key;
  return id->namer + id->number + id->index * UINT64_C(0x9e3779b97f4a7c15);
}

static bool object_table_equal(const tfrt_hash_node_t* node, const void* key) {
  return tfrt_wire_object_id_equal(TFRT_CONTAINER_OF(node, tfrt_object_t, by_id)->id,
                                   *(const tfrt_wire_object_id_t*)key);
}

static const tfrt_hash_table_vtable_t tfrt_object_table_vtable = {
    .hash = object_table_hash,
    .equal = object_table_equal,
};

void tfrt_object_table_initialize(tfrt_object_table_t* table, uint64_t incarnation,
                                  tfrt_object_abandon_fn_t abandon, tfrt_action_queue_t* actions,
                                  tfrt_allocator_t allocator) {
  memset(table, 0, sizeof(*table));
  table->allocator = allocator;
  table->actions = actions;
  table->incarnation = incarnation;
  table->next_number = 1;
  table->abandon = abandon;
  tfrt_hash_table_initialize(&table->by_id, &tfrt_object_table_vtable, allocator);
}

static tfrt_object_holder_t* object_allocate_holder(tfrt_object_table_t* table,
                                                    tfrt_object_t* object) {
  if (object->first_holder.count == 0) return &object->first_holder;
  return tfrt_allocator_allocate(table->allocator, sizeof(tfrt_object_holder_t));
}

static void object_free_holder(tfrt_object_table_t* table, tfrt_object_t* object,
                               tfrt_object_holder_t* holder) {
  if (holder == &object->first_holder) {
    holder->count = 0;
  } else {
    tfrt_allocator_free(table->allocator, holder, sizeof(*holder));
  }
}

static void object_free_holders(tfrt_object_table_t* table, tfrt_object_t* object) {
  while (object->holders) {
    tfrt_object_holder_t* next = object->holders->next;
    object_free_holder(table, object, object->holders);
    object->holders = next;
  }
}

static size_t object_elements_size(uint32_t count) {
  return sizeof(tfrt_object_elements_t) + count * sizeof(tfrt_object_element_t);
}

static void object_free(tfrt_object_table_t* table, tfrt_object_t* object) {
  tfrt_hash_table_remove(&table->by_id, &object->by_id);
  tfrt_list_remove(&object->in_job);
  --object->job->usage.objects;
  if (object->elements) {
    // The elements are freed later: a loop over the table may stand at one of them.
    object->elements->next = table->ended;
    table->ended = object->elements;
  }
  if (!tfrt_list_is_empty(&object->waiting)) table->abandon(object);
  if (object->promise) object->promise->object = NULL;
  object_free_holders(table, object);
  tfrt_action_queue_release(table->actions, object->value);
  kept_values_clear(&object->kept, table->actions, table->allocator);
  if (object->program) tfrt_cached_program_release(object->program);
  tfrt_allocator_free(table->allocator, object, sizeof(*object));
}

void tfrt_object_set_maker(tfrt_object_t* object, tfrt_cached_program_t* program,
                           uint32_t function) {
  if (program) tfrt_cached_program_retain(program);
  if (object->program) tfrt_cached_program_release(object->program);
  object->program = program;
  object->function = function;
}

bool tfrt_object_table_keep(tfrt_object_table_t* table, tfrt_object_t* object, uint32_t element,
                            tfrt_async_value_t* remote) {
  if (!object) return true;
  tfrt_kept_values_t* kept =
      element == TFRT_OBJECT_WHOLE ? &object->kept : &object->elements->items[element].kept;
  return kept_values_add(kept, remote, table->allocator);
}

bool tfrt_object_table_keeps(const tfrt_object_table_t* table, const tfrt_async_value_t* remote) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&table->by_id); node;
       node = tfrt_hash_table_next(&table->by_id, node)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(node, tfrt_object_t, by_id);
    if (kept_values_has(&object->kept, remote)) return true;
    for (uint32_t i = 0; object->elements && i < object->elements->count; ++i) {
      if (kept_values_has(&object->elements->items[i].kept, remote)) return true;
    }
  }
  return false;
}

void tfrt_object_table_tell(tfrt_object_table_t* table, tfrt_object_t* object,
                            tfrt_async_value_t* value) {
  if (!object) return;
  object->is_told = true;
  if (object->value == value) return;
  tfrt_action_queue_release(table->actions, object->value);
  object->value = tfrt_async_value_retain(value);
}

static void object_table_untie(tfrt_object_promise_t* promise) {
  if (promise->object) promise->object->promise = NULL;
  promise->object = NULL;
}

void tfrt_object_table_fulfil(tfrt_object_table_t* table, tfrt_object_promise_t* promise,
                              tfrt_async_value_t* value) {
  tfrt_object_t* object = promise->object;
  object_table_untie(promise);
  if (promise->placeholder) {
    tfrt_action_queue_forward_take(table->actions,
                                   tfrt_async_value_retain(&promise->placeholder->base),
                                   tfrt_async_value_retain(value));
  } else if (object) {
    object->value = tfrt_async_value_retain(value);
  }
}

void tfrt_object_table_break(tfrt_object_table_t* table, tfrt_object_promise_t* promise) {
  object_table_untie(promise);
  if (!promise->placeholder) return;
  tfrt_action_queue_release(table->actions, &promise->placeholder->base);
  promise->placeholder = NULL;
}

tfrt_async_value_t* tfrt_object_table_value(tfrt_object_t* object) {
  if (object->value) return object->value;
  tfrt_indirect_value_t* placeholder = object->promise ? tfrt_indirect_value_create() : NULL;
  if (!placeholder) return tfrt_async_value_out_of_memory();
  object->promise->placeholder = placeholder;
  object->value = tfrt_async_value_retain(&placeholder->base);
  return object->value;
}

static void object_free_if_unused(tfrt_object_table_t* table, tfrt_object_t* object) {
  if (!object->holders && object->loans == 0) object_free(table, object);
}

// The object |id| of any job, or NULL.
static tfrt_object_t* object_table_find_any(tfrt_object_table_t* table, tfrt_wire_object_id_t id) {
  tfrt_hash_node_t* node = id.number != 0 ? tfrt_hash_table_find(&table->by_id, &id) : NULL;
  return node ? TFRT_CONTAINER_OF(node, tfrt_object_t, by_id) : NULL;
}

// Releases the elements of lists whose objects are gone, and those of lists among the elements.
static void object_table_end_elements(tfrt_object_table_t* table) {
  for (tfrt_object_elements_t* elements; (elements = table->ended);) {
    table->ended = elements->next;
    for (uint32_t i = 0; i < elements->count; ++i) {
      tfrt_object_element_t* element = &elements->items[i];
      kept_values_clear(&element->kept, table->actions, table->allocator);
      // The end of a job may have freed the export first.
      tfrt_object_t* exported = object_table_find_any(table, element->exported);
      if (!exported) continue;
      --exported->loans;
      object_free_if_unused(table, exported);
    }
    tfrt_allocator_free(table->allocator, elements, object_elements_size(elements->count));
  }
}

void tfrt_object_table_deinitialize(tfrt_object_table_t* table) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&table->by_id); node;) {
    tfrt_object_t* object = TFRT_CONTAINER_OF(node, tfrt_object_t, by_id);
    node = tfrt_hash_table_next(&table->by_id, node);
    object_free(table, object);
  }
  object_table_end_elements(table);
  tfrt_hash_table_deinitialize(&table->by_id);
}

tfrt_object_t* tfrt_object_table_find(tfrt_object_table_t* table, tfrt_wire_object_id_t id,
                                      const tfrt_job_t* job) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&table->by_id, &id);
  if (!node) return NULL;
  tfrt_object_t* object = TFRT_CONTAINER_OF(node, tfrt_object_t, by_id);
  return object->job == job ? object : NULL;
}

// Adds an object without holder or loan; NULL when memory is out.
static tfrt_object_t* object_table_add(tfrt_object_table_t* table, tfrt_wire_object_id_t id,
                                       tfrt_job_t* job, tfrt_async_value_t* value) {
  tfrt_object_t* object = tfrt_allocator_allocate_zeroed(table->allocator, sizeof(*object));
  if (!object) return NULL;
  object->id = id;
  object->job = job;
  tfrt_list_push_back(&job->usage.object_list, &object->in_job);
  ++job->usage.objects;
  object->value = value;
  object->is_told = true;
  tfrt_list_initialize(&object->waiting);
  object->since_ns = table->tick_ns;
  tfrt_hash_table_insert(&table->by_id, &id, &object->by_id);
  return object;
}

tfrt_object_t* tfrt_object_table_add_slot(tfrt_object_table_t* table, tfrt_wire_object_id_t id,
                                          tfrt_job_t* job, tfrt_async_value_t* value,
                                          uint64_t holder) {
  tfrt_object_t* object = NULL;
  if (!tfrt_hash_table_find(&table->by_id, &id)) {
    object = object_table_add(table, id, job, value);
  }
  if (!object) {
    tfrt_action_queue_release(table->actions, value);
    return NULL;
  }
  // The first holder of an object needs no memory.
  (void)tfrt_object_table_hold(table, object, holder);
  return object;
}

tfrt_object_t* tfrt_object_table_export(tfrt_object_table_t* table, tfrt_job_t* job,
                                        tfrt_async_value_t* value) {
  tfrt_wire_object_id_t id = {.namer = table->incarnation, .number = table->next_number};
  tfrt_object_t* object = object_table_add(table, id, job, value);
  if (!object) return NULL;
  ++table->next_number;
  tfrt_async_value_retain(value);
  object->loans = 1;
  return object;
}

void tfrt_object_table_end_loan(tfrt_object_table_t* table, tfrt_object_t* object) {
  --object->loans;
  object_free_if_unused(table, object);
  object_table_end_elements(table);
}

bool tfrt_object_table_add_elements(tfrt_object_table_t* table, tfrt_object_t* object,
                                    uint32_t count) {
  if (object->elements) return true;
  object->elements = tfrt_allocator_allocate_zeroed(table->allocator, object_elements_size(count));
  if (!object->elements) return false;
  object->elements->count = count;
  return true;
}

tfrt_object_t* tfrt_object_table_lend_element(tfrt_object_table_t* table, tfrt_object_t* object,
                                              uint32_t index, tfrt_async_value_t* value) {
  tfrt_object_element_t* element = &object->elements->items[index];
  tfrt_object_t* exported = object_table_find_any(table, element->exported);
  if (exported) return exported;
  exported = tfrt_object_table_export(table, object->job, value);
  if (!exported) return NULL;
  tfrt_object_set_maker(exported, object->program, object->function);
  exported->name = object->name;
  element->exported = exported->id;
  return exported;
}

// Ends up to |count| holds of |holder| on |object|; false if it has none.
static bool object_remove_holder(tfrt_object_table_t* table, tfrt_object_t* object, uint64_t holder,
                                 uint32_t count) {
  for (tfrt_object_holder_t** link = &object->holders; *link; link = &(*link)->next) {
    tfrt_object_holder_t* found = *link;
    if (found->incarnation != holder) continue;
    if (count < found->count) {
      found->count -= count;
      return true;
    }
    *link = found->next;
    object_free_holder(table, object, found);
    return true;
  }
  return false;
}

bool tfrt_object_table_end_hold(tfrt_object_table_t* table, tfrt_object_t* object,
                                uint64_t holder) {
  if (!object_remove_holder(table, object, holder, 1)) return false;
  object_free_if_unused(table, object);
  object_table_end_elements(table);
  return true;
}

bool tfrt_object_table_hold(tfrt_object_table_t* table, tfrt_object_t* object, uint64_t holder) {
  for (tfrt_object_holder_t* known = object->holders; known; known = known->next) {
    if (known->incarnation != holder) continue;
    ++known->count;
    return true;
  }
  tfrt_object_holder_t* added = object_allocate_holder(table, object);
  if (!added) return false;
  *added = (tfrt_object_holder_t){.next = object->holders, .incarnation = holder, .count = 1};
  object->holders = added;
  return true;
}

void tfrt_object_table_drop_holder(tfrt_object_table_t* table, uint64_t holder, tfrt_job_t* job) {
  for (tfrt_list_link_t* link = job->usage.object_list.next; link != &job->usage.object_list;) {
    tfrt_object_t* object = TFRT_CONTAINER_OF(link, tfrt_object_t, in_job);
    link = link->next;
    if (object_remove_holder(table, object, holder, UINT32_MAX)) {
      object_free_if_unused(table, object);
    }
  }
  object_table_end_elements(table);
}

void tfrt_object_table_drop_job(tfrt_object_table_t* table, tfrt_job_t* job) {
  while (!tfrt_list_is_empty(&job->usage.object_list)) {
    object_free(table, TFRT_CONTAINER_OF(job->usage.object_list.next, tfrt_object_t, in_job));
  }
  object_table_end_elements(table);
}

// --- Owners --------------------------------------------------------------------

// Walks only the objects of jobs that the peer is in: other jobs may have very many.
static void object_table_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_object_table_t* table = end->node->objects;
  const uint64_t incarnation = end->peer->incarnation;
  if (end->job) {
    tfrt_object_table_drop_holder(table, incarnation, end->job);
    return;
  }
  tfrt_list_link_t* jobs = &end->node->jobs;
  for (tfrt_list_link_t* link = jobs->next; link != jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (tfrt_job_find_incarnation(job, incarnation)) {
      tfrt_object_table_drop_holder(table, incarnation, job);
    }
  }
}

static void object_table_on_job_ended(const tfrt_owner_end_t* end) {
  tfrt_object_table_drop_job(end->node->objects, end->job);
}

static void object_table_on_node_made(const tfrt_owner_end_t* end) {
  tfrt_node_t* node = end->node;
  tfrt_object_table_initialize(node->objects, node->incarnation, NULL, &node->actions,
                               node->options.allocator);
}

static void object_table_on_node_past(const tfrt_owner_end_t* end) {
  tfrt_object_table_deinitialize(end->node->objects);
}

static const tfrt_owner_rule_t tfrt_object_table_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_HOLDS, object_table_on_node_made},
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_OBJECTS, object_table_on_node_past},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_HOLDS, object_table_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_OBJECTS, object_table_on_job_ended},
    // Objects that were added after that.
    {TFRT_OWNER_JOB_OVER, TFRT_OWNER_OBJECTS, object_table_on_job_ended},
};

const tfrt_node_part_t tfrt_object_table_part = {
    .rules = tfrt_object_table_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_object_table_rules),
};
