// SPDX-License-Identifier: Apache-2.0
//
// Where values wait that hosts send each other by key: on the host that receives, until both
// sides have come. Either may be first.
//
//   send(k, v)      receive(k)              receive(k)            send(k, v)
//      slot: v ------> v                       slot: placeholder ---> v
//
// Sends and receives of one request, sender and key meet in the order in which each side
// made them.
//
// Life:
//  1. Initialised in the storage of the requests' owner.
//  2. Sent to and received from, by any thread. A wait that is cancelled goes at once, and takes no
//     message. Keys that were closed stay so until their request is over on all hosts.
//  3. A value that was sent and never received is taken out when its request is over
//     (tfrt_mailbox_take_unreceived()), or with what is left.
//  4. Emptied (tfrt_mailbox_take()) when a sender is lost, or all is over; deinitialised.
//
// Thread rule: thread-safe after initialisation. No value is resolved with the mutex held.
// Failure rule: when memory is out, a receive gives that error, and a send says so.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_MAILBOX_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_MAILBOX_H_

#include "host_runtime/base/list.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/request/request_context.h"

// Any sender, for tfrt_mailbox_take().
#define TFRT_MAILBOX_ANY_SENDER UINT32_MAX

typedef struct tfrt_mailbox_s tfrt_mailbox_t;

// |value| (+0), which was sent, is received at |site|, whose texts live as long as |mailbox|.
// Called by the second of sender and receiver, with no lock held, before the receiver can use
// |value|. The value may lead to nothing yet if its sender is just putting it there. Thread-safe.
typedef void (*tfrt_mailbox_met_fn_t)(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                                      const tfrt_status_origin_t* site);

struct tfrt_mailbox_s {
  tfrt_allocator_t allocator;
  tfrt_mailbox_met_fn_t met;  // NULL: nobody wants to know
  tfrt_mutex_t mutex;
  tfrt_list_link_t slots;   // one side has come; in the order of that; guarded by |mutex|
  tfrt_list_link_t closed;  // beginnings of keys that are; guarded by |mutex|
};

// A message under this and the beginning of keys closes that beginning, with the error that it is:
// who waits for such a key, now or later, gets that error, and what is sent under one is dropped.
#define TFRT_MAILBOX_CLOSE_PREFIX "tfrt:close:"

// The prefix of the keys of owed messages that belong to |request|; programs can't use it. Appends
// it to |out|. Thread-safe, as |out| is.
#define TFRT_MAILBOX_OWED_PREFIX "tfrt:"
void tfrt_mailbox_append_owed_prefix(uint64_t request, tfrt_string_builder_t* out);

// Makes |mailbox| an empty one that calls |met| (may be NULL). Thread-compatible.
void tfrt_mailbox_initialize(tfrt_mailbox_t* mailbox, tfrt_allocator_t allocator,
                             tfrt_mailbox_met_fn_t met);

// Gives |mailbox|, which is empty, back. Thread-compatible.
void tfrt_mailbox_deinitialize(tfrt_mailbox_t* mailbox);

// Sends |value| (+0, in any state) from host |sender| under |key|. RESOURCE_EXHAUSTED.
// Resolves a placeholder if that was first: with no lock held. Thread-safe.
tfrt_status_t tfrt_mailbox_send(tfrt_mailbox_t* mailbox, uint64_t request, uint32_t sender,
                                tfrt_string_view_t key, tfrt_async_value_t* value) TFRT_MUST_USE;

// A waiter for a message.
typedef struct tfrt_mailbox_receiver_s {
  tfrt_request_context_t* request;   // whose cancel ends the wait
  const tfrt_status_origin_t* site;  // its op; copied, with texts that live as long as the mailbox
} tfrt_mailbox_receiver_t;

// Returns the value (+1) that host |sender| has sent, or will send, under |key| to the request
// numbered |number|, for |receiver|; the reason of its cancel, if that is first. |mailbox| must be
// there as long as the receiver's request can be cancelled. Thread-safe (no lock is held).
tfrt_async_value_t* tfrt_mailbox_receive(tfrt_mailbox_t* mailbox,
                                         const tfrt_mailbox_receiver_t* receiver, uint64_t number,
                                         uint32_t sender, tfrt_string_view_t key);

// The number under which both sides of |message|, of |request|, meet. Thread-safe.
static inline uint64_t tfrt_mailbox_number(const tfrt_routed_message_t* message,
                                           const tfrt_request_context_t* request) {
  return message->is_owed ? 0 : request->options.id;
}

// Forgets which keys of owed messages of |request| are closed, as nobody uses them any more. True
// if there was one. Not without memory. Thread-safe.
bool tfrt_mailbox_forget_closed(tfrt_mailbox_t* mailbox, uint64_t request);

// Takes out one value (+1) of |sender|, or NULL: with |*out_waits| one that was asked for and
// never sent, which the caller makes an error, else one that was never asked for. With
// |only_waiting| the latter stay. Thread-safe.
tfrt_async_value_t* tfrt_mailbox_take(tfrt_mailbox_t* mailbox, uint32_t sender, bool only_waiting,
                                      bool* out_waits);

// Takes out one value (+1) that was sent to |request|, or is owed in it, and that nobody has
// received, or NULL: also without memory. Thread-safe.
tfrt_async_value_t* tfrt_mailbox_take_unreceived(tfrt_mailbox_t* mailbox, uint64_t request);

// An entry of a mailbox: a value that was sent and not received, or is waited for and not sent.
typedef struct tfrt_mailbox_entry_s {
  uint64_t request;  // that waits, whatever number both sides meet under; of a value, that number
  uint32_t sender;
  bool is_sent;
  const tfrt_status_origin_t* site;  // of the op that waits; of a value NULL
  tfrt_string_view_t key;
} tfrt_mailbox_entry_t;

// Calls |visit| for each, with the mailbox locked: it must not use that. Thread-safe.
typedef void (*tfrt_mailbox_visit_fn_t)(void* self, const tfrt_mailbox_entry_t* entry);
void tfrt_mailbox_visit(tfrt_mailbox_t* mailbox, tfrt_mailbox_visit_fn_t visit, void* self);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_MAILBOX_H_
