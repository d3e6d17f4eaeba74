// SPDX-License-Identifier: Apache-2.0
//
// A placeholder for a value that another host owns: an indirect AsyncValue that asks its
// owner when somebody here asks it.
//
//   name      what we call it; a hold under this name is released at the end
//   location  whom to ask: first the name's owner, later whoever that pointed us to
//
//            await/demand          Resolve(available)
//     IDLE -------------> ASKING -------------------> SETTLED --demand--> ASKING ...
//       |  Result           | Resolve(inline), error
//       '-------------------+--------------------------------> RESOLVED
//
// A *chain* has no payload: settled is resolved. For others, `settled` is a chain of its own
// that awaiting users get, so that waiting for a value does not move it.
//
// Life:
//  1. Created for a result of our own call (held: the owner counts us), or for an argument
//     that was lent to us (covered by the caller, who keeps it until our call is done).
//  2. Asked for at most once at a time (outgoing_want.h), under a want number of the peer that
//     is asked. The want keeps the value alive until it is answered; if the answer is that the
//     payload comes on a lane, until that is here.
//  3. Resolved once: forwarded to a local value, or an error.
//  4. *Lost* when the host dies that has it, or its name. Then it is an error, unless there is
//     another way to it (recovery.h: who lent it may know one; retried_call.h: the call runs
//     again): then it waits, and goes on under another name. What had been known of it is not.
//  5. Retained (outgoing_retain.h) if it is still used when the call is over in which it was
//     lent: then it is held, too.
//  6. Destroyed with its last local reference; a hold is released then.
//
// A list that comes has elements that are remote values of their own, good as long as the list is
// held, or lent to us. Somebody may use one when nobody uses the list any more, and the list can't
// live as long as its elements, which it holds. So a value that nobody sees, its *cover*, gets its
// hold or loan, and lives as long as any of them:
//
//   list's value --> list --> elements --> cover <-- list's value
//
// If the cover is lost, so are the elements.
//
// Thread rule: the hooks are called from any thread, with no lock held; everything else
// needs the node's lock.
// Failure rule: a dead owner makes it an error that names the host, but for 4.
#ifndef TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_H_
#define TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_H_

#include "distributed/domain/call_site.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/program_cache.h"
#include "distributed/value/object_table.h"
#include "distributed/wire/bulk.h"

typedef struct tfrt_retried_call_s tfrt_retried_call_t;
typedef struct tfrt_remote_value_homecoming_s tfrt_remote_value_homecoming_t;

// What a remote value was called before it was lost, and where it was. Others may still know it by
// either.
typedef struct tfrt_remote_value_past_s {
  struct tfrt_remote_value_past_s* next;
  tfrt_wire_reference_t name;
  tfrt_wire_reference_t location;
  bool held;  // a Release is due at the end
} tfrt_remote_value_past_t;

// To so many calls a result is pushed; others ask for it.
#define TFRT_REMOTE_VALUE_MAX_PUSHED 4u

typedef struct tfrt_remote_value_s {
  tfrt_indirect_value_t base;  // first: a remote value is an indirect value
  tfrt_node_t* node;           // +1
  tfrt_job_t* job;             // +1
  tfrt_list_link_t in_job;     // in the job's list
  // Guarded by the node's lock from here on. What is looked at in the life of each value stands
  // together, before what few of them have: thousands of calls don't fit into a processor's cache.
  tfrt_wire_reference_t name;
  tfrt_peer_t* peer;            // the location's owner; NULL once resolved
  tfrt_list_link_t located;     // in that peer's list, until resolved
  tfrt_list_link_t named;       // in the list of the name's owner, until resolved
  tfrt_async_value_t* settled;  // +1; an indirect, made when first asked for
  // +1; what it stands for, if that was not known yet when it was forwarded: whoever awaits
  // |settled| awaits that.
  tfrt_async_value_t* meaning;
  uint64_t want;        // 0: not asked at the moment
  uint32_t want_level;  // tfrt_wire_want_level_t, of the open want
  // What must have come before the payload is asked for: see tfrt_remote_value_order().
  uint32_t chain_count;         // 0: nothing, or it has come
  tfrt_async_value_t** chains;  // +1 each
  uint32_t chain_next;          // those before it have come
  uint32_t forwards;            // how often we were sent on
  // +1; the argument that it is, or NULL. Whoever was given our name for it is sent on to the name
  // under which that argument was lent: both stay as long as ours.
  tfrt_async_value_t* same_as;
  tfrt_wire_object_id_t exported_as;  // number 0: that is no name of ours
  tfrt_indirect_value_t* registered;  // +1; a chain that comes when that is answered, or NULL
  tfrt_retried_call_t* retried;       // +0; whose result it is, if that may run again; else NULL
  tfrt_remote_value_homecoming_t* homecoming;  // owned; what it waits for here; or NULL
  uint64_t lender;                 // who may know another owner, an incarnation; 0: nobody
  tfrt_remote_value_past_t* past;  // newest first
  // +1; has the hold or the loan of a list that came, in the place of this value; or NULL.
  struct tfrt_remote_value_s* cover;
  // +1; of an element, or the cover of one that is a list: the cover that it lives by; or NULL.
  struct tfrt_remote_value_s* within;
  bool settled_known;  // |settled| is resolved, or an action or a task will do it
  bool awaits_chain;
  bool is_told;
  bool is_cover;
  bool is_orphan;      // a cover: the list's value is gone, its elements are not
  bool lost;           // it waits for another owner; |peer|, if not NULL, was asked for one
  bool result_is_due;  // of a call of ours, which tells unasked what it is
  bool held;           // a Release is due at the end
  bool is_expected;    // its owner is to push it (push_inbox.h)
  bool is_put_off;     // and so it isn't asked for yet
  bool is_received;    // |site| is of who received it
  // How many of |pushed_to| there are: incarnations that its owner is to push it to, each of which
  // is still to be lent it.
  uint8_t pushed_count;
  bool is_large;              // the payload that came: its owner waits for that memory
  bool available_there;       // the owner has it; its payload isn't here
  bool demanded;              // somebody here needs the payload
  bool resolved;              // resolved, or an action will do it
  uint32_t retried_index;     // which result of |retried|
  tfrt_list_link_t elements;  // of a cover: what lives by it
  tfrt_list_link_t in_cover;  // in the list of |within|
  uint64_t size_here;         // of a payload that has come, or is on its way, by a lane
  uint64_t size_there;        // of the payload, as the owner says; 0: not known
  int64_t since_ns;           // when it was made, by the node's tick
  const char* function;       // whose result it is; NULL: it was lent to us
  // Where that was called, or if |is_received|, and that is not known, where it was received by
  // key; its texts live as long as the job, or |place|.
  tfrt_call_site_t site;
  tfrt_status_t place;  // +1; has the texts of |site|, where they came from another host; or NULL
  // The function that it, or the list that it is of, was lent to (+1): the place where it is lost,
  // if |site| is not known. NULL: to none of a program.
  tfrt_cached_program_t* user;
  uint32_t user_function;
  tfrt_wire_reference_t location;
  tfrt_wire_reference_t given;  // as the lender knows it
  uint64_t lent_by;             // if |lender| is who sent us on: who has lent |name|; else 0
  tfrt_status_t loss;           // +1; why the lender was last asked for another owner; or NULL
  tfrt_list_link_t retaining;   // in the list of who is asked to hold it for us
  uint32_t retain_forwards;
  char
      device[TFRT_CALL_DEVICE_SIZE];  // where its payload goes, if that is a device's; "": the host
  // From here on nothing is set, nor cleared, before what is above says so.
  tfrt_hash_node_t by_want;  // in the peer's table, while |want| isn't 0
  uint64_t pushed_to[TFRT_REMOTE_VALUE_MAX_PUSHED];
  tfrt_list_link_t in_expected;  // if |is_expected|, in the list of |peer|
  int64_t expected_until_ns;
  tfrt_task_t meaning_waiter;
  tfrt_task_t chain_waiter;
  // What others were told that it is, in the place of a slot of ours, which must stay there: if
  // |is_told|.
  tfrt_wire_reference_t told;
  tfrt_wire_reference_t retained_as;  // the name that it is to be held under: once |registered|
} tfrt_remote_value_t;

// Who has lent a value, and to what.
typedef struct tfrt_remote_value_loan_s {
  uint64_t lender;              // who may know another owner, an incarnation; 0: nobody
  tfrt_cached_program_t* user;  // of the function that it is an argument of (+0); NULL: of none
  uint32_t user_function;
} tfrt_remote_value_loan_t;

// Creates a placeholder (+1) for |reference| in |job|. NULL when memory is out.
tfrt_remote_value_t* tfrt_remote_value_create(tfrt_job_t* job,
                                              const tfrt_wire_reference_t* reference);

// The same for a result, ours to release, of a call to |callee|, which was reached for that and is
// its owner.
tfrt_remote_value_t* tfrt_remote_value_create_result(tfrt_job_t* job, tfrt_peer_t* callee,
                                                     const tfrt_wire_reference_t* reference);

// The same for what was lent to us as |loan| says.
tfrt_remote_value_t* tfrt_remote_value_create_lent(tfrt_job_t* job,
                                                   const tfrt_wire_reference_t* reference,
                                                   const tfrt_remote_value_loan_t* loan);

// The remote value (+1) that |value| is, or stands for, if it is not resolved; else NULL.
tfrt_remote_value_t* tfrt_remote_value_of(tfrt_node_t* node, tfrt_async_value_t* value);

// The remote value (+0) that |value| itself is, resolved or not, or NULL.
tfrt_remote_value_t* tfrt_remote_value_cast(tfrt_async_value_t* value);

// Where |value| is, as others are told; and if its call may run again, that it is recoverable.
tfrt_wire_reference_t tfrt_remote_value_whereabouts(const tfrt_remote_value_t* value);

// The reference by which others are sent on to |value|, for which they asked here: the same for all
// of them.
tfrt_wire_reference_t tfrt_remote_value_tell(tfrt_remote_value_t* value);

// The cover (+0) for the elements of |value|, a list that has just come, which has the hold or the
// loan of |value| from now on. NULL when memory is out.
tfrt_remote_value_t* tfrt_remote_value_make_cover(tfrt_remote_value_t* value);

// Creates a placeholder (+1) for |reference|, an element that lives by |cover| (+0), which
// |lender|, an incarnation, told us. NULL when memory is out.
tfrt_remote_value_t* tfrt_remote_value_create_element(tfrt_remote_value_t* cover,
                                                      const tfrt_wire_reference_t* reference,
                                                      uint64_t lender);

// What is held or lent (+0), if |value| is: its cover, or itself.
static inline tfrt_remote_value_t* tfrt_remote_value_holding(tfrt_remote_value_t* value) {
  return value->cover ? value->cover : value;
}

// True if an element of |value|, a list that came, may be used by others than the list; or the list
// by others than |value|.
bool tfrt_remote_value_has_used_elements(tfrt_remote_value_t* value);

// Gives back a reference to |value| once the lock is open.
void tfrt_remote_value_release(tfrt_remote_value_t* value);

// Says whose result |value| is: |function|, called at |site| (copied, with texts that live as
// long as the job).
void tfrt_remote_value_set_site(tfrt_remote_value_t* value, const char* function,
                                const tfrt_call_site_t* site);

// Says that |value|, which was lent to us, was sent by key and is received at |site| (copied, with
// texts that live as long as the job).
void tfrt_remote_value_set_receiver(tfrt_remote_value_t* value, const tfrt_status_origin_t* site);

// True if it is known where |value| comes from: where the call stands whose result it is, or where
// it was received.
static inline bool tfrt_remote_value_has_site(const tfrt_remote_value_t* value) {
  return tfrt_call_site_is_known(&value->site);
}

// Says that |value| is needed by a call that is placed on |device|, whose name fits: a payload that
// is a device's goes there.
void tfrt_remote_value_set_device(tfrt_remote_value_t* value, const char* device);

// What the owner, or whoever speaks for it, said of |value|: |item| of a Result or Resolve.
// Sends the next question if that is needed.
void tfrt_remote_value_on_item(tfrt_remote_value_t* value, const tfrt_wire_item_t* item);

// Says that the payload of |value|, which nobody has asked for yet, may still be written until
// all of |chains| (+0, unresolved ones) have come: it is asked for only then, so that the copy
// is what the program means. Beside what was said before.
void tfrt_remote_value_order(tfrt_remote_value_t* value, tfrt_async_value_t* const* chains,
                             uint32_t chain_count);

// Has the owner of |value| asked whether it is there, unless that is known, or asked by now.
void tfrt_remote_value_await(tfrt_remote_value_t* value);

// Makes |value| the error |status| (+0). The owner, if it was asked, is told that its answer is
// not needed any more.
void tfrt_remote_value_fail(tfrt_remote_value_t* value, tfrt_status_t status);

// The host is dead that has |value|, or its name; |status| (+0) says so. See above.
void tfrt_remote_value_lose(tfrt_remote_value_t* value, tfrt_status_t status);

// |value|, which was lost, is |reference| from now on: ours to release if |held|. What is wanted of
// it is asked there.
void tfrt_remote_value_move(tfrt_remote_value_t* value, const tfrt_wire_reference_t* reference,
                            bool held);

// True if |value| is, or was, |reference| for others.
bool tfrt_remote_value_is_known_as(const tfrt_remote_value_t* value,
                                   const tfrt_wire_reference_t* reference);

// Makes |value| stand for |target| (+0).
void tfrt_remote_value_forward(tfrt_remote_value_t* value, tfrt_async_value_t* target);

// Makes |value|, which is unresolved, stand for |own| (+0), a value of this host. If the call may
// run again that made |value|, it comes *home* first: it waits for that, asking nobody, and is lost
// where that becomes the error that a host was lost. If |own| turns out to be elsewhere, |value| is
// there, too, and keeps that one.
void tfrt_remote_value_stand_for(tfrt_remote_value_t* value, tfrt_async_value_t* own);

// Makes |value|, a result, stand for the argument |target| (+0), which was lent as |exported|, or
// as what it is itself (NULL).
void tfrt_remote_value_alias(tfrt_remote_value_t* value, tfrt_async_value_t* target,
                             tfrt_object_t* exported);

// The payload that |value| waits for is here: |payload| (+0), which is resolved.
void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload);

// A Resolve came from |peer|. Returns false if that is impossible (never asked).
bool tfrt_remote_value_on_resolve(tfrt_peer_t* peer, const tfrt_wire_resolve_t* resolve);

// Has placeholders end with their owners.
void tfrt_remote_value_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_H_
