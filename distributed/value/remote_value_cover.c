// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value_impl.h"

void tfrt_remote_value_leave_covers(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->parts.in_cover);
  if (value->parts.cover) tfrt_remote_value_release(value->parts.cover);
  if (value->parts.within) tfrt_remote_value_release(value->parts.within);
}

// Makes |value| live by |cover|.
static void tfrt_remote_value_enter(tfrt_remote_value_t* value, tfrt_remote_value_t* cover) {
  tfrt_async_value_retain(&cover->base.base);
  value->parts.within = cover;
  tfrt_list_push_back(&cover->parts.elements, &value->parts.in_cover);
}

tfrt_remote_value_t* tfrt_remote_value_make_cover(tfrt_remote_value_t* value) {
  tfrt_remote_value_t* cover = tfrt_remote_value_create_part(value, &value->name, value->held, 0);
  if (!cover) return NULL;
  if (!tfrt_remote_value_is_resolved(cover)) tfrt_remote_value_locate(cover, &value->location);
  cover->parts.is_cover = true;
  if (cover->state == TFRT_REMOTE_VALUE_UNKNOWN) {
    tfrt_remote_value_set_state(cover, TFRT_REMOTE_VALUE_THERE);
  }
  cover->telling.as = value->telling.as;
  cover->telling.is_told = value->telling.is_told;
  if (value->parts.within) tfrt_remote_value_enter(cover, value->parts.within);
  value->held = false;
  value->parts.cover = cover;
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&value->borrowing.watches));) {
    tfrt_remote_value_watch(cover, TFRT_CONTAINER_OF(link, tfrt_remote_value_watch_t, link));
  }
  return cover;
}

tfrt_remote_value_t* tfrt_remote_value_create_element(tfrt_remote_value_t* cover,
                                                      const tfrt_wire_reference_t* reference,
                                                      uint64_t lender) {
  tfrt_remote_value_t* element = tfrt_remote_value_create_part(cover, reference, false, lender);
  if (element) tfrt_remote_value_enter(element, cover);
  return element;
}

void tfrt_remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
                                    void (*end)(tfrt_remote_value_t*, tfrt_status_t)) {
  const tfrt_list_link_t* head = &cover->parts.elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, parts.in_cover);
    bool is_over = tfrt_remote_value_is_resolved(element) || element->held;
    if (is_over || !tfrt_async_value_try_retain(&element->base.base)) continue;
    end(element, status);
    tfrt_remote_value_release(element);
  }
}
