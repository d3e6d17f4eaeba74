// SPDX-License-Identifier: Apache-2.0
//
// An intrusive, doubly linked, circular list. The *head* is a link that belongs to
// no element; each element embeds a link of its own. Nothing is allocated, and an
// element can leave its list without knowing which list that is.
//
//      head <-> a.link <-> b.link <-> (head)
//
// Life of a link:
//  1. A head is initialised by tfrt_list_initialize(). An element's link needs
//     that only if tfrt_list_remove() or tfrt_list_is_linked() may meet it before
//     its first insertion.
//  2. Inserted, it belongs to exactly one list.
//  3. Removed, it is initialised again and may be inserted anywhere.
//
// Example:
//   for (tfrt_list_link_t* l = head.next; l != &head; l = l->next) {
//     job_t* job = TFRT_CONTAINER_OF(l, job_t, link);
//   }
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_LIST_H_
#define TFRT_HOST_RUNTIME_BASE_LIST_H_

#include <stdbool.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_list_link_s {
  struct tfrt_list_link_s* next;
  struct tfrt_list_link_s* previous;
} tfrt_list_link_t;

// Makes |link| an empty list's head, or an element's link that is in no list.
static inline void tfrt_list_initialize(tfrt_list_link_t* link) {
  link->next = link;
  link->previous = link;
}

// Returns true if the list with head |head| has no element.
static inline bool tfrt_list_is_empty(const tfrt_list_link_t* head) { return head->next == head; }

// Returns true if the initialised |link| of an element is in some list.
static inline bool tfrt_list_is_linked(const tfrt_list_link_t* link) { return link->next != link; }

// Inserts |link|, which must be in no list, right behind |position|, which may be
// a head: then |link| becomes the first element.
static inline void tfrt_list_insert_after(tfrt_list_link_t* position, tfrt_list_link_t* link) {
  link->next = position->next;
  link->previous = position;
  position->next->previous = link;
  position->next = link;
}

// Makes |link|, which must be in no list, the last element of the list |head|.
static inline void tfrt_list_push_back(tfrt_list_link_t* head, tfrt_list_link_t* link) {
  tfrt_list_insert_after(head->previous, link);
}

// Makes |link|, which must be in no list, the first element of the list |head|.
static inline void tfrt_list_push_front(tfrt_list_link_t* head, tfrt_list_link_t* link) {
  tfrt_list_insert_after(head, link);
}

// Takes |link| out of its list, if it is in one, and initialises it.
static inline void tfrt_list_remove(tfrt_list_link_t* link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
  tfrt_list_initialize(link);
}

// Takes the first element out of the list |head| and returns its link, or NULL if
// the list is empty.
static inline tfrt_list_link_t* tfrt_list_pop_front(tfrt_list_link_t* head) {
  if (tfrt_list_is_empty(head)) return NULL;
  tfrt_list_link_t* link = head->next;
  tfrt_list_remove(link);
  return link;
}

// Moves all elements of |source| behind the last one of |target|; |source| is empty
// after that.
static inline void tfrt_list_move_all(tfrt_list_link_t* target, tfrt_list_link_t* source) {
  if (tfrt_list_is_empty(source)) return;
  source->next->previous = target->previous;
  source->previous->next = target;
  target->previous->next = source->next;
  target->previous = source->previous;
  tfrt_list_initialize(source);
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_LIST_H_
