// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/list_item.h"

#include <string.h>

#include "distributed/tuning/tuning.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/value_item.h"
#include "host_runtime/async/join.h"

// --- The owner -----------------------------------------------------------------

// A list on its way into an item.
typedef struct tfrt_list_encoding_s {
  tfrt_job_t* job;
  tfrt_object_t* object;
  tfrt_arena_t* arena;
  size_t room;  // for what goes inline
} tfrt_list_encoding_t;

// The bytes that |item|, INLINE or ERROR, takes at most, but for tags and lengths.
static size_t list_item_cost(const tfrt_wire_item_t* item) {
  if (item->kind == TFRT_WIRE_ITEM_ERROR) return TFRT_WIRE_MAX_ERROR_SIZE;
  return item->value.type.size + item->value.header.size + item->value.body.size;
}

// Sets |*out_item| to |value|, which is here, if it is small; else leaves it NONE.
static tfrt_status_t list_item_encode_inline(tfrt_list_encoding_t* encoding,
                                             tfrt_async_value_t* value,
                                             tfrt_wire_item_t* out_item) {
  tfrt_node_t* node = encoding->job->node;
  size_t limit = node->options.inline_limit;
  if (limit > TFRT_WIRE_MAX_INLINE_SIZE) limit = TFRT_WIRE_MAX_INLINE_SIZE;
  tfrt_wire_item_t item;
  TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(value, limit, tfrt_value_item_host_of(encoding->job),
                                              encoding->arena, &item));
  if (item.kind == TFRT_WIRE_ITEM_NONE) return NULL;
  size_t cost = list_item_cost(&item);
  if (cost > encoding->room) return NULL;
  encoding->room -= cost;
  *out_item = item;
  return NULL;
}

// Sets |*out_item| to a reference to the element |index|, |value|, which is here or will be.
static tfrt_status_t list_item_lend(const tfrt_list_encoding_t* encoding, uint32_t index,
                                    tfrt_async_value_t* value, tfrt_wire_item_t* out_item) {
  tfrt_job_t* job = encoding->job;
  tfrt_node_t* node = job->node;
  tfrt_object_t* exported =
      tfrt_object_table_lend_element(node->objects, encoding->object, index, value);
  if (!exported) return tfrt_status_out_of_memory();
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                                 .reference = {.id = exported->id,
                                               .owner = node->incarnation,
                                               .owner_rank = job->rank,
                                               .namer_rank = job->rank}};
  return NULL;
}

static tfrt_status_t list_item_encode_element(tfrt_list_encoding_t* encoding, uint32_t index,
                                              tfrt_async_value_t* value,
                                              tfrt_wire_item_t* out_item) {
  tfrt_node_t* node = encoding->job->node;
  *out_item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_NONE};
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    bool is_kept =
        tfrt_object_table_keep(node->objects, encoding->object, index, &remote->base.base);
    if (is_kept) {
      out_item->kind = TFRT_WIRE_ITEM_REFERENCE;
      out_item->reference = tfrt_remote_value_tell(remote);
    }
    tfrt_remote_value_release(remote);
    return is_kept ? NULL : tfrt_status_out_of_memory();
  }
  if (tfrt_async_value_is_available(value)) {
    TFRT_RETURN_IF_ERROR(list_item_encode_inline(encoding, value, out_item));
  }
  if (out_item->kind != TFRT_WIRE_ITEM_NONE) return NULL;
  return list_item_lend(encoding, index, value, out_item);
}

// Says why |value|, of |type|, can't go to |peer| as a list of |count|, if it can't.
static tfrt_status_t list_item_check(const tfrt_type_t* type, uint32_t count,
                                     const tfrt_peer_t* peer, const tfrt_job_t* job,
                                     const tfrt_object_t* object) {
  uint32_t to = tfrt_job_rank_of(job, peer->incarnation);
  if (!(tfrt_session_features(peer->session) & TFRT_WIRE_FEATURE_LISTS)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "a %s can't go from host %u to %s: the program there is of a version "
                              "that knows no lists between hosts; hand over its elements instead",
                              type->name, job->rank,
                              to == TFRT_WIRE_NO_RANK ? "the client" : "another host");
  }
  if (count > TFRT_WIRE_MAX_ELEMENTS) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "a %s of %u elements can't leave host %u: at most %u cross together",
                              type->name, count, job->rank, TFRT_WIRE_MAX_ELEMENTS);
  }
  if (object) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "host %u has released the %s that is wanted",
                            job->rank, type->name);
}

tfrt_status_t tfrt_list_item_encode(tfrt_async_value_t* value, const tfrt_peer_t* peer,
                                    tfrt_job_t* job, tfrt_object_t* object, tfrt_arena_t* arena,
                                    tfrt_wire_item_t* out_item) {
  memset(out_item, 0, sizeof(*out_item));
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(concrete->type_id);
  uint32_t count = 0;
  tfrt_async_value_t* const* elements =
      type->aggregate->elements(tfrt_async_value_payload(concrete), &count);
  TFRT_RETURN_IF_ERROR(list_item_check(type, count, peer, job, object));
  if (!tfrt_object_table_add_elements(job->node->objects, object, count)) {
    return tfrt_status_out_of_memory();
  }
  tfrt_wire_item_t* items = tfrt_arena_allocate_array(arena, count + 1, sizeof(*items));
  if (!items) return tfrt_status_out_of_memory();
  tfrt_list_encoding_t encoding = {
      .job = job, .object = object, .arena = arena, .room = TFRT_LIST_ITEM_MAX_INLINE};
  for (uint32_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(list_item_encode_element(&encoding, i, elements[i], &items[i]));
  }
  out_item->kind = TFRT_WIRE_ITEM_LIST;
  out_item->list = (tfrt_wire_list_t){
      .type = tfrt_string_view_of(type->name), .elements = items, .element_count = count};
  return NULL;
}

// --- The borrower --------------------------------------------------------------

// Makes |value| live by |cover|.
static void list_item_enter(tfrt_remote_value_t* value, tfrt_remote_value_t* cover) {
  tfrt_async_value_retain(&cover->base.base);
  value->parts.within = cover;
  tfrt_list_push_back(&cover->parts.elements, &value->parts.in_cover);
}

// Creates a placeholder (+1) for |reference|, which is a part of |list|, or stands for it, and was
// lent by |lender|; 0: by nobody. As tfrt_remote_value_create() else.
static tfrt_remote_value_t* list_item_create_part(const tfrt_remote_value_t* list,
                                                  const tfrt_wire_reference_t* reference, bool held,
                                                  uint64_t lender) {
  const tfrt_remote_value_loan_t loan = {.lender = lender,
                                         .user = list->borrowing.user,
                                         .user_function = list->borrowing.user_function};
  tfrt_remote_value_t* value = tfrt_remote_value_create_blank(list->job, reference, held, &loan);
  if (!value) return NULL;
  // The place is set before the value can be found to be lost.
  value->place.function = list->place.function;
  value->place.site = list->place.site;
  value->place.texts = tfrt_status_retain(list->place.texts);
  tfrt_remote_value_locate(value, reference);
  return value;
}

// Creates a placeholder (+1) for |reference|, an element that lives by |cover| (+0), which
// |lender|, an incarnation, told us. NULL when memory is out.
static tfrt_remote_value_t* list_item_create_element(tfrt_remote_value_t* cover,
                                                     const tfrt_wire_reference_t* reference,
                                                     uint64_t lender) {
  tfrt_remote_value_t* element = list_item_create_part(cover, reference, false, lender);
  if (element) list_item_enter(element, cover);
  return element;
}

// The cover (+0) for the elements of |value|, a list that has just come, which has the hold or the
// loan of |value| from now on. NULL when memory is out.
static tfrt_remote_value_t* list_item_make_cover(tfrt_remote_value_t* value) {
  tfrt_remote_value_t* cover = list_item_create_part(value, &value->name, value->held, 0);
  if (!cover) return NULL;
  if (!tfrt_remote_value_is_resolved(cover)) tfrt_remote_value_locate(cover, &value->location);
  cover->parts.is_cover = true;
  if (cover->state == TFRT_REMOTE_VALUE_UNKNOWN) {
    tfrt_remote_value_set_state(cover, TFRT_REMOTE_VALUE_THERE);
  }
  cover->telling.as = value->telling.as;
  cover->telling.is_told = value->telling.is_told;
  if (value->parts.within) list_item_enter(cover, value->parts.within);
  value->held = false;
  value->parts.cover = cover;
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&value->borrowing.watches));) {
    tfrt_remote_value_watch(cover, TFRT_CONTAINER_OF(link, tfrt_remote_value_watch_t, link));
  }
  return cover;
}

// The element (+1) of |value|'s list that |item| is.
static tfrt_async_value_t* list_item_decode_element(tfrt_remote_value_t* value,
                                                    const tfrt_wire_item_t* item) {
  tfrt_node_t* node = value->node;
  if (item->kind == TFRT_WIRE_ITEM_INLINE) {
    return tfrt_value_item_decode(&item->value, node->options.host->allocator);
  }
  if (item->kind == TFRT_WIRE_ITEM_ERROR) return tfrt_value_item_decode_error(item->error);
  if (item->reference.owner == node->incarnation) {
    return tfrt_incoming_want_own_value(value->job, &item->reference);
  }
  tfrt_remote_value_t* cover =
      value->parts.cover ? value->parts.cover : list_item_make_cover(value);
  if (!cover) return tfrt_async_value_out_of_memory();
  tfrt_remote_value_t* element =
      list_item_create_element(cover, &item->reference, value->peer->incarnation);
  if (!element) return tfrt_async_value_out_of_memory();
  tfrt_remote_value_set_device(element, value->device);
  return &element->base.base;
}

// Sets |*out_list| (+1) to a value of the aggregate type |id| that is unresolved still, with room
// for |count| elements at |*out_elements|; the caller sets each (+1). INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED. Thread-safe.
static tfrt_status_t list_item_create(tfrt_type_id_t id, uint32_t count, tfrt_allocator_t allocator,
                                      tfrt_async_value_t** out_list,
                                      tfrt_async_value_t*** out_elements) {
  *out_list = NULL;
  *out_elements = NULL;
  tfrt_async_value_t* list = tfrt_async_value_create_unconstructed(id);
  if (!list) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_type_get(id)->aggregate->construct(
      count, allocator, tfrt_async_value_payload(list), out_elements);
  if (status) {
    tfrt_async_value_release(list);
    return status;
  }
  // Nobody else knows the value yet: from here on its payload is destroyed with it.
  atomic_store_explicit(&list->flags, TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED, memory_order_relaxed);
  *out_list = list;
  return NULL;
}

// Sets |*out_list| (+1) to a value that is unresolved still, with room for |wire|'s elements.
static tfrt_status_t list_item_begin(const tfrt_wire_list_t* wire, tfrt_allocator_t allocator,
                                     tfrt_async_value_t** out_list,
                                     tfrt_async_value_t*** out_elements) {
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_value_item_find_type(wire->type, &id));
  const tfrt_type_t* type = tfrt_type_get(id);
  if (type->aggregate) {
    return list_item_create(id, (uint32_t)wire->element_count, allocator, out_list, out_elements);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a list came of the type %s, whose values have no elements here",
                            type->name);
}

tfrt_async_value_t* tfrt_list_item_decode(tfrt_remote_value_t* value,
                                          const tfrt_wire_list_t* wire) {
  tfrt_async_value_t* list = NULL;
  tfrt_async_value_t** elements = NULL;
  tfrt_status_t status =
      list_item_begin(wire, value->node->options.host->allocator, &list, &elements);
  if (status) return tfrt_async_value_create_error_take(status);
  for (size_t i = 0; i < wire->element_count; ++i) {
    elements[i] = list_item_decode_element(value, &wire->elements[i]);
  }
  tfrt_async_value_set_available(list);
  return list;
}

// --- Whole values -----------------------------------------------------------

// A whole value that is being made.
typedef struct tfrt_whole_value_s {
  tfrt_task_t task;  // waits for |value|, then for the elements of |list|
  tfrt_allocator_t allocator;
  tfrt_async_value_t* value;      // +1
  tfrt_async_value_t* list;       // +1; unresolved, or NULL
  tfrt_indirect_value_t* result;  // +1
} tfrt_whole_value_t;

static tfrt_whole_value_t* whole_value_of(tfrt_task_t* task) {
  return TFRT_CONTAINER_OF(task, tfrt_whole_value_t, task);
}

// |whole| is |result| (taken).
static void whole_value_end(tfrt_whole_value_t* whole, tfrt_async_value_t* result) {
  tfrt_indirect_value_forward_take(whole->result, result);
  tfrt_async_value_release(&whole->result->base);
  tfrt_async_value_release(whole->value);
  tfrt_allocator_free(whole->allocator, whole, sizeof(*whole));
}

// Runs when all elements are whole.
static void whole_value_run_elements(tfrt_task_t* task) {
  tfrt_whole_value_t* whole = whole_value_of(task);
  tfrt_async_value_set_available(whole->list);
  whole_value_end(whole, whole->list);
}

// Makes the list of |whole|, whose value is |from|, of |type|, and waits for its elements.
static void whole_value_begin_list(tfrt_whole_value_t* whole, tfrt_async_value_t* from,
                                   const tfrt_type_t* type) {
  uint32_t count = 0;
  tfrt_async_value_t* const* parts =
      type->aggregate->elements(tfrt_async_value_payload(from), &count);
  tfrt_async_value_t** elements = NULL;
  tfrt_status_t status =
      list_item_create(from->type_id, count, whole->allocator, &whole->list, &elements);
  if (status) {
    whole_value_end(whole, tfrt_async_value_create_error_take(status));
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    elements[i] = tfrt_list_item_whole_take(tfrt_async_value_retain(parts[i]), whole->allocator);
  }
  tfrt_task_initialize(&whole->task, whole_value_run_elements);
  status = tfrt_join_and_then(elements, count, &whole->task, whole->allocator);
  if (!status) return;
  tfrt_async_value_release(whole->list);
  whole_value_end(whole, tfrt_async_value_create_error_take(status));
}

// Runs when the value itself is here.
static void whole_value_run(tfrt_task_t* task) {
  tfrt_whole_value_t* whole = whole_value_of(task);
  if (tfrt_async_value_is_error(whole->value)) {
    tfrt_status_t error = tfrt_async_value_error(whole->value);
    whole_value_end(whole, tfrt_async_value_create_error(error));
    return;
  }
  tfrt_async_value_t* value = tfrt_async_value_resolved(whole->value);
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  if (type->aggregate) {
    whole_value_begin_list(whole, value, type);
  } else {
    whole_value_end(whole, tfrt_async_value_retain(value));
  }
}

tfrt_async_value_t* tfrt_list_item_whole_take(tfrt_async_value_t* value,
                                              tfrt_allocator_t allocator) {
  tfrt_whole_value_t* whole = tfrt_allocator_allocate_zeroed(allocator, sizeof(*whole));
  tfrt_indirect_value_t* result = tfrt_indirect_value_create();
  if (!whole || !result) {
    tfrt_allocator_free(allocator, whole, sizeof(*whole));
    tfrt_async_value_release(result ? &result->base : NULL);
    tfrt_async_value_release(value);
    return tfrt_async_value_out_of_memory();
  }
  *whole = (tfrt_whole_value_t){.allocator = allocator, .value = value, .result = result};
  tfrt_async_value_retain(&result->base);
  tfrt_task_initialize(&whole->task, whole_value_run);
  tfrt_async_value_and_then(value, &whole->task);
  return &result->base;
}
