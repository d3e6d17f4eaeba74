// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/mailbox.h"

#include <assert.h>
#include <string.h>

#include "host_runtime/base/ref_count.h"

// One side has come, the other hasn't.
typedef struct tfrt_mailbox_slot_s {
  tfrt_list_link_t link;
  uint64_t request;
  uint32_t sender;
  bool is_sent;                  // else it is waited for
  tfrt_indirect_value_t* value;  // +1
  uint64_t waiter;               // the request that waits, to be shown, and the place of its op
  tfrt_status_origin_t site;
  size_t key_size;
  char key[];
} tfrt_mailbox_slot_t;

// The caller: a receiver, or a sender with a value.
typedef struct tfrt_mailbox_side_s {
  uint64_t request;
  uint32_t sender;
  tfrt_string_view_t key;
  tfrt_async_value_t* sent;                 // +0; NULL: a receiver
  const tfrt_mailbox_receiver_t* receiver;  // NULL: a sender
} tfrt_mailbox_side_t;

// Keys that begin so are closed.
typedef struct tfrt_mailbox_closed_s {
  tfrt_list_link_t link;
  tfrt_async_value_t* error;  // +1
  size_t prefix_size;
  char prefix[];
} tfrt_mailbox_closed_t;

void tfrt_mailbox_initialize(tfrt_mailbox_t* mailbox, tfrt_allocator_t allocator,
                             tfrt_mailbox_met_fn_t met) {
  mailbox->allocator = allocator;
  mailbox->met = met;
  tfrt_mutex_initialize(&mailbox->mutex);
  tfrt_list_initialize(&mailbox->slots);
  tfrt_list_initialize(&mailbox->closed);
}

static void mailbox_free_closed(tfrt_mailbox_t* mailbox, tfrt_mailbox_closed_t* closed) {
  tfrt_async_value_release(closed->error);
  tfrt_allocator_free(mailbox->allocator, closed, sizeof(*closed) + closed->prefix_size);
}

void tfrt_mailbox_deinitialize(tfrt_mailbox_t* mailbox) {
  assert(tfrt_list_is_empty(&mailbox->slots));
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&mailbox->closed));) {
    mailbox_free_closed(mailbox, TFRT_CONTAINER_OF(link, tfrt_mailbox_closed_t, link));
  }
  tfrt_mutex_deinitialize(&mailbox->mutex);
}

static void mailbox_free_slot(tfrt_mailbox_t* mailbox, tfrt_mailbox_slot_t* slot) {
  tfrt_allocator_free(mailbox->allocator, slot, sizeof(*slot) + slot->key_size);
}

// --- Meeting -------------------------------------------------------------------

// Takes out the oldest slot of the side other than |side|; with the mutex held.
static tfrt_mailbox_slot_t* mailbox_find(tfrt_mailbox_t* mailbox, const tfrt_mailbox_side_t* side) {
  for (tfrt_list_link_t* link = mailbox->slots.next; link != &mailbox->slots; link = link->next) {
    tfrt_mailbox_slot_t* slot = TFRT_CONTAINER_OF(link, tfrt_mailbox_slot_t, link);
    bool fits = slot->request == side->request && slot->sender == side->sender &&
                slot->is_sent == (side->receiver != NULL) &&
                tfrt_string_view_equal(tfrt_string_view_make(slot->key, slot->key_size), side->key);
    if (!fits) continue;
    tfrt_list_remove(link);
    return slot;
  }
  return NULL;
}

static tfrt_mailbox_slot_t* mailbox_allocate_slot(tfrt_mailbox_t* mailbox,
                                                  const tfrt_mailbox_side_t* side) {
  tfrt_mailbox_slot_t* slot =
      tfrt_allocator_allocate_zeroed(mailbox->allocator, sizeof(*slot) + side->key.size);
  if (!slot) return NULL;
  slot->key_size = side->key.size;
  slot->value = tfrt_indirect_value_create();
  if (!slot->value) {
    mailbox_free_slot(mailbox, slot);
    return NULL;
  }
  slot->request = side->request;
  slot->sender = side->sender;
  slot->is_sent = !side->receiver;
  if (side->receiver) {
    slot->waiter = side->receiver->request->options.id;
    slot->site = *side->receiver->site;
  }
  if (side->key.size > 0) memcpy(slot->key, side->key.data, side->key.size);
  return slot;
}

// The error (+1) with which |key| is closed, or NULL; with the mutex held.
static tfrt_async_value_t* mailbox_find_closed(tfrt_mailbox_t* mailbox, tfrt_string_view_t key) {
  for (tfrt_list_link_t* link = mailbox->closed.next; link != &mailbox->closed; link = link->next) {
    tfrt_mailbox_closed_t* closed = TFRT_CONTAINER_OF(link, tfrt_mailbox_closed_t, link);
    tfrt_string_view_t prefix = tfrt_string_view_make(closed->prefix, closed->prefix_size);
    if (tfrt_string_view_starts_with(key, prefix)) return tfrt_async_value_retain(closed->error);
  }
  return NULL;
}

// |side| has come, and the other side has left |slot|, which was taken out: returns what they share
// (+1). With no lock held.
static tfrt_indirect_value_t* mailbox_complete(tfrt_mailbox_t* mailbox,
                                               const tfrt_mailbox_side_t* side,
                                               tfrt_mailbox_slot_t* slot) {
  tfrt_indirect_value_t* value = slot->value;
  if (mailbox->met) {
    mailbox->met(mailbox, side->sent ? side->sent : &value->base,
                 side->receiver ? side->receiver->site : &slot->site);
  }
  mailbox_free_slot(mailbox, slot);
  return value;
}

// Returns the value (+1) that both sides share, whether |side| is the first of them or not. NULL
// when memory is out, or, with |*out_closed| (+1), when the key is closed.
static tfrt_indirect_value_t* mailbox_meet(tfrt_mailbox_t* mailbox, const tfrt_mailbox_side_t* side,
                                           tfrt_async_value_t** out_closed) {
  tfrt_mutex_lock(&mailbox->mutex);
  *out_closed = mailbox_find_closed(mailbox, side->key);
  if (*out_closed) {
    tfrt_mutex_unlock(&mailbox->mutex);
    return NULL;
  }
  tfrt_mailbox_slot_t* other = mailbox_find(mailbox, side);
  tfrt_indirect_value_t* value = NULL;
  tfrt_mailbox_slot_t* own = other ? NULL : mailbox_allocate_slot(mailbox, side);
  if (own) {
    tfrt_list_push_back(&mailbox->slots, &own->link);
    value = own->value;
    tfrt_async_value_retain(&value->base);
  }
  tfrt_mutex_unlock(&mailbox->mutex);
  return other ? mailbox_complete(mailbox, side, other) : value;
}

// --- Taking out ----------------------------------------------------------------

// Whether a slot is the one that |self| describes.
typedef bool (*tfrt_mailbox_is_it_fn_t)(const void* self, const tfrt_mailbox_slot_t* slot);

// Takes out the oldest slot that |is_it|: its value (+1), or NULL. Sets |*out_waits| then (NULL:
// nobody asks): whether its message has not come.
static tfrt_async_value_t* mailbox_take_first(tfrt_mailbox_t* mailbox,
                                              tfrt_mailbox_is_it_fn_t is_it, const void* self,
                                              bool* out_waits) {
  tfrt_async_value_t* value = NULL;
  tfrt_mutex_lock(&mailbox->mutex);
  for (tfrt_list_link_t* link = mailbox->slots.next; link != &mailbox->slots && !value;) {
    tfrt_mailbox_slot_t* slot = TFRT_CONTAINER_OF(link, tfrt_mailbox_slot_t, link);
    link = link->next;
    if (!is_it(self, slot)) continue;
    tfrt_list_remove(&slot->link);
    value = &slot->value->base;
    if (out_waits) *out_waits = !slot->is_sent;
    mailbox_free_slot(mailbox, slot);
  }
  tfrt_mutex_unlock(&mailbox->mutex);
  return value;
}

static bool mailbox_key_begins(const tfrt_mailbox_slot_t* slot, tfrt_string_view_t prefix) {
  return tfrt_string_view_starts_with(tfrt_string_view_make(slot->key, slot->key_size), prefix);
}

// --- Closing -------------------------------------------------------------------

// |self| is a prefix of keys.
static bool mailbox_is_closed(const void* self, const tfrt_mailbox_slot_t* slot) {
  return mailbox_key_begins(slot, *(const tfrt_string_view_t*)self);
}

// Closes keys that begin with |prefix|, with |error| (+0). A caller after the first lock finds it
// closed; this loop takes out the earlier ones.
static tfrt_status_t mailbox_close(tfrt_mailbox_t* mailbox, tfrt_string_view_t prefix,
                                   tfrt_async_value_t* error) {
  tfrt_mailbox_closed_t* closed =
      tfrt_allocator_allocate_zeroed(mailbox->allocator, sizeof(*closed) + prefix.size);
  if (!closed) return tfrt_status_out_of_memory();
  closed->error = tfrt_async_value_retain(error);
  closed->prefix_size = prefix.size;
  if (prefix.size > 0) memcpy(closed->prefix, prefix.data, prefix.size);
  tfrt_mutex_lock(&mailbox->mutex);
  tfrt_async_value_t* before = mailbox_find_closed(mailbox, prefix);
  if (!before) tfrt_list_push_back(&mailbox->closed, &closed->link);
  tfrt_mutex_unlock(&mailbox->mutex);
  if (before) {
    tfrt_async_value_release(before);
    mailbox_free_closed(mailbox, closed);
    return NULL;
  }
  for (tfrt_async_value_t* value;
       (value = mailbox_take_first(mailbox, mailbox_is_closed, &prefix, NULL));) {
    tfrt_async_value_set_error(value, tfrt_async_value_error(error));
    // A sent value stays alive, here and at its owner, until it is resolved; without a demand it
    // would never be.
    tfrt_async_value_demand(value);
    tfrt_async_value_release(value);
  }
  return NULL;
}

void tfrt_mailbox_append_owed_prefix(uint64_t request, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out,
                                    TFRT_MAILBOX_OWED_PREFIX "%llu:", (unsigned long long)request);
}

// Moves what is closed of keys that begin with |prefix| to |out_list|.
static void mailbox_take_out_closed(tfrt_mailbox_t* mailbox, tfrt_string_view_t prefix,
                                    tfrt_list_link_t* out_list) {
  tfrt_mutex_lock(&mailbox->mutex);
  for (tfrt_list_link_t* link = mailbox->closed.next; link != &mailbox->closed;) {
    tfrt_mailbox_closed_t* closed = TFRT_CONTAINER_OF(link, tfrt_mailbox_closed_t, link);
    link = link->next;
    tfrt_string_view_t key = tfrt_string_view_make(closed->prefix, closed->prefix_size);
    if (!tfrt_string_view_starts_with(key, prefix)) continue;
    tfrt_list_remove(&closed->link);
    tfrt_list_push_back(out_list, &closed->link);
  }
  tfrt_mutex_unlock(&mailbox->mutex);
}

bool tfrt_mailbox_forget_closed(tfrt_mailbox_t* mailbox, uint64_t request) {
  tfrt_list_link_t list;
  tfrt_list_initialize(&list);
  tfrt_string_builder_t prefix;
  tfrt_string_builder_initialize(&prefix, mailbox->allocator);
  tfrt_mailbox_append_owed_prefix(request, &prefix);
  if (!prefix.failed) {
    mailbox_take_out_closed(mailbox, tfrt_string_builder_view(&prefix), &list);
  }
  tfrt_string_builder_deinitialize(&prefix);
  bool was_there = !tfrt_list_is_empty(&list);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&list));) {
    mailbox_free_closed(mailbox, TFRT_CONTAINER_OF(link, tfrt_mailbox_closed_t, link));
  }
  return was_there;
}

// Returns true if |key| and |value| are a message that closes keys; |*out_prefix| is set to
// their beginning.
static bool mailbox_closes(tfrt_string_view_t key, tfrt_async_value_t* value,
                           tfrt_string_view_t* out_prefix) {
  tfrt_string_view_t mark = tfrt_string_view_of(TFRT_MAILBOX_CLOSE_PREFIX);
  if (!tfrt_string_view_starts_with(key, mark) || !tfrt_async_value_is_error(value)) return false;
  *out_prefix = tfrt_string_view_make(key.data + mark.size, key.size - mark.size);
  return true;
}

tfrt_status_t tfrt_mailbox_send(tfrt_mailbox_t* mailbox, uint64_t request, uint32_t sender,
                                tfrt_string_view_t key, tfrt_async_value_t* value) {
  tfrt_string_view_t prefix;
  if (mailbox_closes(key, value, &prefix)) return mailbox_close(mailbox, prefix, value);
  tfrt_async_value_t* closed = NULL;
  const tfrt_mailbox_side_t side = {
      .request = request, .sender = sender, .key = key, .sent = value};
  tfrt_indirect_value_t* shared = mailbox_meet(mailbox, &side, &closed);
  if (closed) {
    tfrt_async_value_release(closed);
    return NULL;
  }
  if (!shared) return tfrt_status_out_of_memory();
  // If the receiver was cancelled meanwhile, its error stays.
  tfrt_indirect_value_forward(shared, value);
  tfrt_async_value_release(&shared->base);
  return NULL;
}

// --- Waiting -------------------------------------------------------------------

// Makes a value an error when its request is cancelled before it is resolved.
typedef struct tfrt_mailbox_wait_s {
  tfrt_ref_count_t ref_count;  // one for the subscription, one for the task
  tfrt_cancellation_subscription_t subscription;
  tfrt_task_t task;
  tfrt_request_context_t* request;  // +1
  tfrt_indirect_value_t* value;     // +1
  tfrt_mailbox_t* mailbox;          // +0; not used any more when |value| is resolved
  tfrt_allocator_t allocator;
} tfrt_mailbox_wait_t;

static void mailbox_release_wait(tfrt_mailbox_wait_t* wait) {
  if (!tfrt_ref_count_decrement(&wait->ref_count)) return;
  tfrt_request_context_t* request = wait->request;
  tfrt_async_value_release(&wait->value->base);
  tfrt_allocator_free(wait->allocator, wait, sizeof(*wait));
  tfrt_request_context_release(request);
}

static bool mailbox_waits_with(const void* self, const tfrt_mailbox_slot_t* slot) {
  return slot->value == self;
}

// The slot goes first, if its message has not come (else it is somebody else's already): the next
// message is for the next who waits.
static void mailbox_run_cancel(tfrt_cancellation_subscription_t* subscription,
                               tfrt_status_t reason) {
  tfrt_mailbox_wait_t* wait = TFRT_CONTAINER_OF(subscription, tfrt_mailbox_wait_t, subscription);
  tfrt_async_value_release(
      mailbox_take_first(wait->mailbox, mailbox_waits_with, wait->value, NULL));
  tfrt_async_value_set_error(&wait->value->base, reason);
  mailbox_release_wait(wait);
}

static void mailbox_run_resolved(tfrt_task_t* task) {
  tfrt_mailbox_wait_t* wait = TFRT_CONTAINER_OF(task, tfrt_mailbox_wait_t, task);
  if (tfrt_cancellation_unsubscribe(&wait->request->cancellation, &wait->subscription)) {
    mailbox_release_wait(wait);
  }
  mailbox_release_wait(wait);
}

tfrt_async_value_t* tfrt_mailbox_receive(tfrt_mailbox_t* mailbox,
                                         const tfrt_mailbox_receiver_t* receiver, uint64_t number,
                                         uint32_t sender, tfrt_string_view_t key) {
  tfrt_mailbox_wait_t* wait = tfrt_allocator_allocate_zeroed(mailbox->allocator, sizeof(*wait));
  if (!wait) return tfrt_async_value_out_of_memory();
  tfrt_async_value_t* closed = NULL;
  const tfrt_mailbox_side_t side = {
      .request = number, .sender = sender, .key = key, .receiver = receiver};
  tfrt_indirect_value_t* value = mailbox_meet(mailbox, &side, &closed);
  if (!value) {
    tfrt_allocator_free(mailbox->allocator, wait, sizeof(*wait));
    return closed ? closed : tfrt_async_value_out_of_memory();
  }
  tfrt_ref_count_initialize(&wait->ref_count);
  tfrt_ref_count_increment(&wait->ref_count);
  wait->request = tfrt_request_context_retain(receiver->request);
  wait->value = value;
  wait->mailbox = mailbox;
  wait->allocator = mailbox->allocator;
  tfrt_async_value_retain(&value->base);
  tfrt_task_initialize(&wait->task, mailbox_run_resolved);
  tfrt_cancellation_subscribe(&wait->request->cancellation, &wait->subscription,
                              mailbox_run_cancel);
  tfrt_async_value_watch(&value->base, &wait->task);
  return &value->base;
}

// --- The end -------------------------------------------------------------------

typedef struct tfrt_mailbox_from_s {
  uint32_t sender;
  bool only_waiting;
} tfrt_mailbox_from_t;

static bool mailbox_is_from(const void* self, const tfrt_mailbox_slot_t* slot) {
  const tfrt_mailbox_from_t* from = self;
  bool is_of_sender = from->sender == TFRT_MAILBOX_ANY_SENDER || slot->sender == from->sender;
  return is_of_sender && !(from->only_waiting && slot->is_sent);
}

tfrt_async_value_t* tfrt_mailbox_take(tfrt_mailbox_t* mailbox, uint32_t sender, bool only_waiting,
                                      bool* out_waits) {
  const tfrt_mailbox_from_t from = {.sender = sender, .only_waiting = only_waiting};
  return mailbox_take_first(mailbox, mailbox_is_from, &from, out_waits);
}

typedef struct tfrt_mailbox_sent_to_s {
  uint64_t request;
  tfrt_string_view_t owed;  // how keys of owed messages of |request| begin
} tfrt_mailbox_sent_to_t;

static bool mailbox_was_sent_to(const void* self, const tfrt_mailbox_slot_t* slot) {
  const tfrt_mailbox_sent_to_t* to = self;
  bool is_owed = slot->request == 0 && mailbox_key_begins(slot, to->owed);
  return slot->is_sent && (slot->request == to->request || is_owed);
}

tfrt_async_value_t* tfrt_mailbox_take_unreceived(tfrt_mailbox_t* mailbox, uint64_t request) {
  tfrt_string_builder_t owed;
  tfrt_string_builder_initialize(&owed, mailbox->allocator);
  tfrt_mailbox_append_owed_prefix(request, &owed);
  const tfrt_mailbox_sent_to_t to = {.request = request, .owed = tfrt_string_builder_view(&owed)};
  tfrt_async_value_t* value =
      owed.failed ? NULL : mailbox_take_first(mailbox, mailbox_was_sent_to, &to, NULL);
  tfrt_string_builder_deinitialize(&owed);
  return value;
}

void tfrt_mailbox_visit(tfrt_mailbox_t* mailbox, tfrt_mailbox_visit_fn_t visit, void* self) {
  tfrt_mutex_lock(&mailbox->mutex);
  for (tfrt_list_link_t* link = mailbox->slots.next; link != &mailbox->slots; link = link->next) {
    const tfrt_mailbox_slot_t* slot = TFRT_CONTAINER_OF(link, tfrt_mailbox_slot_t, link);
    const tfrt_mailbox_entry_t entry = {.request = slot->is_sent ? slot->request : slot->waiter,
                                        .sender = slot->sender,
                                        .is_sent = slot->is_sent,
                                        .site = slot->is_sent ? NULL : &slot->site,
                                        .key = tfrt_string_view_make(slot->key, slot->key_size)};
    visit(self, &entry);
  }
  tfrt_mutex_unlock(&mailbox->mutex);
}
