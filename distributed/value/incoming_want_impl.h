// SPDX-License-Identifier: Apache-2.0
//
// The inside of incoming wants, for their five sources. Private to this room.
//
//   incoming_want.c          life: finds its object, waits, is answered
//   incoming_want_payload.c  payloads too big for a message
//   incoming_want_push.c     values sent before they are asked for
//   incoming_want_retain.c   names that others ask us to hold
//   incoming_want_end.c      unpromised names, ends of peers and jobs
//
// Thread rule: everything here needs the node's lock.
#ifndef TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_IMPL_H_
#define TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_IMPL_H_

#include "distributed/value/incoming_want.h"

typedef enum tfrt_incoming_want_kind_e {
  TFRT_INCOMING_WANT = 0,     // a Want, or a wait of this host itself
  TFRT_INCOMING_WANT_RETAIN,  // a name of a Retain
  TFRT_INCOMING_WANT_PUSH,    // |peer| is to get it before it asks
} tfrt_incoming_want_kind_t;

typedef struct tfrt_incoming_want_s {
  tfrt_ref_count_t ref_count;  // one while it is open, one while |waiter| waits
  tfrt_node_t* node;           // +1
  tfrt_job_t* job;             // +1
  tfrt_peer_t* peer;           // the asker; NULL: this host itself, see |own|
  tfrt_hash_node_t by_want;    // in the peer's table while it is open
  uint64_t want;
  uint32_t level;   // tfrt_wire_want_level_t
  uint64_t window;  // for a payload on a lane: how far, and from where
  uint64_t offset;
  tfrt_wire_object_id_t id;
  tfrt_async_value_t* value;  // +1; once the object is known
  tfrt_task_t waiter;         // for |value|
  tfrt_list_link_t held;      // in the list of the namer's peer
  uint64_t heartbeat;         // our newest one to the namer when it was held
  tfrt_async_value_t* own;    // +1; an indirect that this host waits for
  tfrt_incoming_want_kind_t kind;
  tfrt_list_link_t asked;  // of either, in the peer's list
  bool on_bulk;            // answered; its payload is on its way
  bool has_credit_back;
  bool open;
} tfrt_incoming_want_t;

// --- incoming_want.c -------------------------------------------------------------

// A want for |id| that nobody has asked yet, open; NULL when memory is out.
tfrt_incoming_want_t* tfrt_incoming_want_create(tfrt_job_t* job, tfrt_wire_object_id_t id);

void tfrt_incoming_want_release(tfrt_incoming_want_t* want);

// Makes |table| one of wants by their number.
void tfrt_incoming_want_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator);

// Nobody waits for |want| any more: drops the reference that it has while it is open.
void tfrt_incoming_want_close(tfrt_incoming_want_t* want);

// Finds the object, or holds |want|, or refuses it.
void tfrt_incoming_want_find(tfrt_incoming_want_t* want);

// Sends |item| in the frame that is the answer to |want|; the second also closes it.
void tfrt_incoming_want_tell(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item);
void tfrt_incoming_want_answer(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item);

// Answers with |status| (+0; consumed by the second), wherever the answer goes, and closes |want|.
void tfrt_incoming_want_fail(tfrt_incoming_want_t* want, tfrt_status_t status);
void tfrt_incoming_want_fail_take(tfrt_incoming_want_t* want, tfrt_status_t status);

// --- incoming_want_payload.c -----------------------------------------------------

// Sends the payload of the value, which is too big for a message; the want stays until the
// borrower has it.
tfrt_status_t tfrt_incoming_want_offer(tfrt_incoming_want_t* want) TFRT_MUST_USE;

// Goes on with the transfer that |wire| resumes, under its new number. False if there is none
// any more: it is a want like any other then.
bool tfrt_incoming_want_resume(tfrt_peer_t* peer, const tfrt_job_t* job,
                               const tfrt_wire_want_t* wire);

// --- incoming_want_push.c --------------------------------------------------------

// Pushes the resolved value, if that is small and stays as it is; else it is asked for.
void tfrt_incoming_want_push_value(tfrt_incoming_want_t* want);

// |peer| has asked for |object|, which is not known yet: it needs no Push of it any more.
void tfrt_incoming_want_drop_push(const tfrt_peer_t* peer, tfrt_object_t* object);

// --- incoming_want_retain.c ------------------------------------------------------

// If |object| is a slot that is one of the arguments, and nobody keeps that here: asks its owner to
// hold it for this host. Returns a chain (+0) that comes with the answer, or NULL if nobody is
// asked.
tfrt_async_value_t* tfrt_incoming_want_retain_alias(tfrt_object_t* object);

// Holds |object| for the host that asks. If the slot is one of its call's arguments, the caller
// keeps nothing for it: the argument's owner must hold it in turn.
void tfrt_incoming_want_hold(tfrt_incoming_want_t* want, tfrt_object_t* object);

// |want| asks to hold a result of a call that does not run here. Makes the result an object that is
// the error |failed| (+0). False if that can't be.
bool tfrt_incoming_want_hold_failed(tfrt_incoming_want_t* want, tfrt_status_t failed);

#endif  // TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_IMPL_H_
