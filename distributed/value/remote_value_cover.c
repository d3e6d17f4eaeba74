// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value_impl.h"

void tfrt_remote_value_leave_covers(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->in_cover);
  if (value->cover) value->cover->is_orphan = true;
  if (value->cover) tfrt_remote_value_release(value->cover);
  if (value->within) tfrt_remote_value_release(value->within);
}

// Makes |value| live by |cover|.
static void tfrt_remote_value_enter(tfrt_remote_value_t* value, tfrt_remote_value_t* cover) {
  tfrt_async_value_retain(&cover->base.base);
  value->within = cover;
  tfrt_list_push_back(&cover->elements, &value->in_cover);
}

tfrt_remote_value_t* tfrt_remote_value_make_cover(tfrt_remote_value_t* value) {
  tfrt_remote_value_t* cover = tfrt_remote_value_create_part(value, &value->name, value->held, 0);
  if (!cover) return NULL;
  if (!cover->resolved) tfrt_remote_value_locate(cover, &value->location);
  cover->is_cover = true;
  cover->available_there = true;
  cover->told = value->told;
  cover->is_told = value->is_told;
  if (value->within) tfrt_remote_value_enter(cover, value->within);
  value->held = false;
  value->cover = cover;
  return cover;
}

tfrt_remote_value_t* tfrt_remote_value_create_element(tfrt_remote_value_t* cover,
                                                      const tfrt_wire_reference_t* reference,
                                                      uint64_t lender) {
  tfrt_remote_value_t* element = tfrt_remote_value_create_part(cover, reference, false, lender);
  if (element) tfrt_remote_value_enter(element, cover);
  return element;
}

// True if |value|, a list that came, is not all that has the list.
static bool tfrt_remote_value_shares_list(tfrt_remote_value_t* value) {
  if (!tfrt_async_value_is_available(&value->base.base)) return true;
  const tfrt_async_value_t* list = tfrt_async_value_resolved(&value->base.base);
  tfrt_async_value_t* settled = value->settled;
  bool is_settled = settled && tfrt_async_value_is_available(settled) &&
                    tfrt_async_value_resolved(settled) == list;
  // Acquire: pairs with the releases of others' references.
  return atomic_load_explicit(&list->count, memory_order_acquire) > (is_settled ? 2u : 1u);
}

// True if |element|, which lives by a cover, may be used by others than its list.
static bool tfrt_remote_value_is_used_element(tfrt_remote_value_t* element) {
  // The elements of a list that is one are seen with that, if it is there.
  if (element->is_cover) return element->is_orphan;
  // Acquire: as above.
  if (atomic_load_explicit(&element->base.base.count, memory_order_acquire) > 1) return true;
  if (!element->cover) return false;
  // One whose last reference is gone has no list any more, and its elements may be used.
  if (!tfrt_async_value_try_retain(&element->base.base)) return true;
  bool is_used = tfrt_remote_value_has_used_elements(element);
  tfrt_remote_value_release(element);
  return is_used;
}

bool tfrt_remote_value_has_used_elements(tfrt_remote_value_t* value) {
  if (!value->cover) return false;
  if (tfrt_remote_value_shares_list(value)) return true;
  const tfrt_list_link_t* head = &value->cover->elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_cover);
    if (tfrt_remote_value_is_used_element(element)) return true;
  }
  return false;
}

void tfrt_remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
                                    void (*end)(tfrt_remote_value_t*, tfrt_status_t)) {
  const tfrt_list_link_t* head = &cover->elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_cover);
    bool is_over = element->resolved || element->held;
    if (is_over || !tfrt_async_value_try_retain(&element->base.base)) continue;
    end(element, status);
    tfrt_remote_value_release(element);
  }
}
