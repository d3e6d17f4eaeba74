// SPDX-License-Identifier: Apache-2.0
//
// A placeholder for a value that another host owns: an indirect AsyncValue that asks the owner when
// a user here asks for it.
//
//   name      our name for it; a hold under this name is released at the end
//   location  the host to ask: first the name's owner, later the host that it pointed us to
//
//   state     where it stands: tfrt_remote_value_state_t has the picture
//   question  open or not: of one value, one at a time
//
// A *chain* has no payload: settled is resolved. For others, `settled` is a chain of its own
// that awaiting users get, so that waiting for a value does not move it.
//
// Life:
//  1. Created for a result of our own call (held: the owner counts us), or for an argument
//     that was lent to us (covered by the caller, which keeps it until our call is done).
//  2. Asked for at most once at a time (outgoing_want.h), under a want number of the peer that
//     is asked. The want keeps the value alive until it is answered; if the answer is that the
//     payload comes on a bulk channel, until that is here.
//  3. Resolved once: forwarded to a local value, or an error.
//  4. *Lost* when the host dies that has it, or its name. Then it is an error, unless there is
//     another way to it: its lender may know one (recovery.h), or the call runs again
//     (retried_call.h). Then it waits, and goes on under another name; earlier answers about it
//     don't count any more.
//  5. Retained (outgoing_hold.h) if it is still used when the call is over in which it was
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
#include "distributed/domain/node_part.h"
#include "distributed/domain/program_cache.h"
#include "distributed/tuning/tuning.h"
#include "distributed/value/object_table.h"
#include "distributed/wire/bulk.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"

typedef struct tfrt_retried_call_s tfrt_retried_call_t;
typedef struct tfrt_remote_value_homecoming_s tfrt_remote_value_homecoming_t;

// A former name and location of a remote value that was lost. Other hosts may still know it by
// either.
typedef struct tfrt_remote_value_past_s {
  struct tfrt_remote_value_past_s* next;
  tfrt_wire_reference_t name;
  tfrt_wire_reference_t location;
  bool held;  // a Release is due at the end
} tfrt_remote_value_past_t;

// The state of a value. A question to the owner (|question|) is apart from that: one may be open in
// the states UNKNOWN and THERE. THERE and COMING_HOME are lost, too, and go back to UNKNOWN with
// another owner.
//
//   UNKNOWN ----answer----> THERE          the owner has it; here is only the news
//    |  ^  `--own name--> COMING_HOME      it waits for a value of this host
//    |  `--grace over-- AWAITING_PUSH      its owner is to push it; nobody is asked yet
//    |
//    `--host dead--> LOST --other owner--> UNKNOWN
//
//   each of these --payload, value, error--> RESOLVED
typedef enum tfrt_remote_value_state_e {
  TFRT_REMOTE_VALUE_UNKNOWN = 0,
  TFRT_REMOTE_VALUE_AWAITING_PUSH,
  TFRT_REMOTE_VALUE_THERE,
  TFRT_REMOTE_VALUE_COMING_HOME,
  TFRT_REMOTE_VALUE_LOST,      // it waits for another owner; |peer|, if not NULL, was asked for one
  TFRT_REMOTE_VALUE_RESOLVED,  // or an action will do it
} tfrt_remote_value_state_t;

// The chain that awaiting users get, so that waiting for a value does not move it.
typedef struct tfrt_remote_value_settlement_s {
  tfrt_async_value_t* value;  // +1; an indirect, made when first asked for; or NULL
  // +1; the value that the remote value was forwarded to, if that was not known yet: waits of
  // |value| go on there.
  tfrt_async_value_t* meaning;
  tfrt_task_t waiter;  // for |meaning|
  bool is_known;       // |value| is resolved, or an action or a task will do it
} tfrt_remote_value_settlement_t;

// The open question to the owner (outgoing_want.h).
typedef struct tfrt_remote_value_question_s {
  uint64_t want;             // 0: none is open
  uint32_t level;            // tfrt_wire_want_level_t
  tfrt_hash_node_t by_want;  // in the peer's table
} tfrt_remote_value_question_t;

// The argument that a result is. Hosts that were given our name for the result are sent on to the
// name under which the argument was lent: both stay as long as ours.
typedef struct tfrt_remote_value_alias_s {
  tfrt_async_value_t* same_as;        // +1, or NULL
  tfrt_wire_object_id_t exported_as;  // number 0: that is no name of ours
} tfrt_remote_value_alias_t;

// The question to an owner whether it holds a lent value for this host (outgoing_hold.h).
typedef struct tfrt_remote_value_retention_s {
  tfrt_indirect_value_t* registered;  // +1; a chain that comes with the answer; or NULL
  tfrt_list_link_t link;              // in the list of the host that is asked
  uint32_t forwards;
  tfrt_wire_reference_t as;  // the name to hold; once |registered|
} tfrt_remote_value_retention_t;

// The call that may make a value again (recovery/retried_call.h).
typedef struct tfrt_remote_value_rerun_s {
  tfrt_retried_call_t* call;  // +0; NULL: none
  uint32_t index;             // which result
} tfrt_remote_value_rerun_t;

// The way to another owner of a lent value (recovery/recovery.h), and the function it was lent to.
typedef struct tfrt_remote_value_borrowing_s {
  uint64_t lender;              // may know another owner, an incarnation; 0: nobody
  uint64_t lent_by;             // if |lender| only sent us on: the lender of the name; else 0
  tfrt_wire_reference_t given;  // as the lender knows it
  tfrt_status_t loss;           // +1; why the lender was last asked for another owner; or NULL
  tfrt_cached_program_t* user;  // +1; NULL: a function of no program
  uint32_t user_function;
  tfrt_list_link_t watches;  // of calls that it was lent for
} tfrt_remote_value_borrowing_t;

// The place of a value in the program's text, for errors.
typedef struct tfrt_remote_value_place_s {
  const char* function;   // its call; NULL: it was lent to us
  tfrt_call_site_t site;  // of that call, or of the receive; texts live as long as job, or |texts|
  tfrt_status_t texts;    // +1; has texts of |site| that came from another host; or NULL
  bool is_received;       // |site| is that of the receive
} tfrt_remote_value_place_t;

// The part of a value in lists that came; see above.
typedef struct tfrt_remote_value_parts_s {
  struct tfrt_remote_value_s* cover;   // +1; of a list that came; has its hold or loan; or NULL
  struct tfrt_remote_value_s* within;  // +1; of an element: the cover that it lives by; or NULL
  tfrt_list_link_t in_cover;           // in the list of |within|
  tfrt_list_link_t elements;           // of a cover: the values that live by it
  bool is_cover;
} tfrt_remote_value_parts_t;

// Values that are sent before they are asked for (delivery/push_inbox.h).
typedef struct tfrt_remote_value_push_s {
  tfrt_list_link_t expected;  // linked: its owner is to push it; in a list of |peer|
  int64_t until_ns;           // the end of the grace, in AWAITING_PUSH
  uint64_t to[TFRT_REMOTE_VALUE_MAX_PUSHED];  // incarnations that its owner pushes it to;
  uint8_t to_count;                           // to each it is still to be lent
} tfrt_remote_value_push_t;

typedef struct tfrt_remote_value_bytes_s {
  uint64_t here;   // of a payload that has come, or is on its way, by a bulk channel
  uint64_t there;  // of the payload, as the owner says; 0: not known
  bool is_large;   // of the payload that came: its owner waits for that memory
} tfrt_remote_value_bytes_t;

// The name that this host gave others in the place of a slot of ours; the value must stay under it.
typedef struct tfrt_remote_value_telling_s {
  tfrt_wire_reference_t as;
  bool is_told;
} tfrt_remote_value_telling_t;

// A look at a value that ends with the value: with the last reference to it, whose ever that is.
// For a list that comes meanwhile, it is a look at the cover, and ends with the last of the
// elements.
typedef struct tfrt_remote_value_watch_s {
  struct tfrt_remote_value_s* value;  // +0; NULL: gone, or not watched
  tfrt_list_link_t link;              // in the value's |watches|
} tfrt_remote_value_watch_t;

// Chains that must come before the payload is asked for (tfrt_remote_value_order()).
typedef struct tfrt_remote_value_order_s tfrt_remote_value_order_t;

typedef struct tfrt_remote_value_s {
  tfrt_indirect_value_t base;  // first: a remote value is an indirect value
  tfrt_node_t* node;           // +1
  tfrt_job_t* job;             // +1
  tfrt_list_link_t in_job;     // in the job's list
  // Guarded by the node's lock from here on. Members that each value uses stand together, before
  // those of few: thousands of calls don't fit into a processor's cache.
  tfrt_remote_value_state_t state;  // changed by tfrt_remote_value_set_state()
  bool result_is_due;               // of a call of ours; its owner tells it unasked
  bool held;                        // a Release is due at the end
  bool demanded;                    // this host needs the payload
  uint32_t forwards;                // how often we were sent on
  tfrt_wire_reference_t name;
  tfrt_wire_reference_t location;
  tfrt_peer_t* peer;         // the location's owner; NULL once resolved
  tfrt_list_link_t located;  // in that peer's list, until resolved
  tfrt_list_link_t named;    // in the list of the name's owner, until resolved
  int64_t since_ns;          // when it was made, by the node's tick
  tfrt_remote_value_settlement_t settlement;
  tfrt_remote_value_question_t question;
  tfrt_remote_value_order_t* order;            // owned; NULL: none, or all have come
  tfrt_remote_value_homecoming_t* homecoming;  // owned; the value that it waits for here; or NULL
  tfrt_remote_value_past_t* past;              // newest first
  tfrt_remote_value_bytes_t bytes;
  tfrt_remote_value_place_t place;
  tfrt_remote_value_alias_t alias;
  tfrt_remote_value_rerun_t rerun;
  tfrt_remote_value_borrowing_t borrowing;
  tfrt_remote_value_parts_t parts;
  tfrt_remote_value_push_t push;
  tfrt_remote_value_telling_t telling;
  tfrt_remote_value_retention_t retention;
  char device[TFRT_CALL_DEVICE_SIZE];  // the place of a device's payload; "": the host
} tfrt_remote_value_t;

// The functions of rooms above that remote values call: delivery/ forgets a Push that will not
// come, recovery/ finds another way to a lost value. These fill in the table, |value_hooks| of
// the node, when it is made. Each is called with the node's lock held; false says that nothing can
// be done.
typedef struct tfrt_value_hooks_s {
  // |value| has no owner any more that may push it.
  void (*forget_push)(tfrt_remote_value_t* value);
  // Asks the lender of the lost |value| for another owner; false: there is nobody to ask.
  bool (*ask_lender)(tfrt_remote_value_t* value);
  // Answers hosts that have asked for |value|, which has another owner now, or is resolved.
  void (*answer_waiting)(tfrt_remote_value_t* value);
  // For |value|, a result of a call that may run again (its |rerun|). True if |status| (+0), which
  // came for |value|, is the loss of another host, and the call may run again for that.
  bool (*may_mend)(const tfrt_remote_value_t* value, tfrt_status_t status);
  // Runs the call of such a |value| again, which is lost because of |status|. False if it must not.
  bool (*run_again)(tfrt_remote_value_t* value, tfrt_status_t status);
  // Such a |value| doesn't need its call any more.
  void (*forget_call)(tfrt_remote_value_t* value);
} tfrt_value_hooks_t;

static inline bool tfrt_remote_value_is_resolved(const tfrt_remote_value_t* value) {
  return value->state == TFRT_REMOTE_VALUE_RESOLVED;
}

static inline bool tfrt_remote_value_is_lost(const tfrt_remote_value_t* value) {
  return value->state == TFRT_REMOTE_VALUE_LOST;
}

// True if its owner has |value|, and its payload isn't here.
static inline bool tfrt_remote_value_is_there(const tfrt_remote_value_t* value) {
  return value->state == TFRT_REMOTE_VALUE_THERE;
}

// |value| is in |state| from now on. Builds with assertions refuse a transition that the picture
// doesn't have.
void tfrt_remote_value_set_state(tfrt_remote_value_t* value, tfrt_remote_value_state_t state);

// The lender of a value, and the function to which it was lent.
typedef struct tfrt_remote_value_loan_s {
  uint64_t lender;              // may know another owner, an incarnation; 0: nobody
  tfrt_cached_program_t* user;  // of the function that it is an argument of (+0); NULL: of none
  uint32_t user_function;
} tfrt_remote_value_loan_t;

// Creates a placeholder (+1) for |reference| in |job|, which was lent to us as |loan| says; NULL:
// by nobody. NULL when memory is out.
tfrt_remote_value_t* tfrt_remote_value_create(tfrt_job_t* job,
                                              const tfrt_wire_reference_t* reference,
                                              const tfrt_remote_value_loan_t* loan);

// The same for a result, ours to release, of a call to |callee|, which was reached for that and is
// its owner.
tfrt_remote_value_t* tfrt_remote_value_create_result(tfrt_job_t* job, tfrt_peer_t* callee,
                                                     const tfrt_wire_reference_t* reference);

// As the first, but nothing is known of where the value is: tfrt_remote_value_locate() has to
// follow. If it is |held|, its last release gives the hold back.
tfrt_remote_value_t* tfrt_remote_value_create_blank(tfrt_job_t* job,
                                                    const tfrt_wire_reference_t* reference,
                                                    bool held,
                                                    const tfrt_remote_value_loan_t* loan);

// The remote value (+1) that |value| is, or stands for, if it is not resolved; else NULL.
tfrt_remote_value_t* tfrt_remote_value_of(tfrt_node_t* node, tfrt_async_value_t* value);

// The remote value (+0) that |value| itself is, resolved or not, or NULL.
tfrt_remote_value_t* tfrt_remote_value_cast(tfrt_async_value_t* value);

// The reference that tells others where |value| is, and that it is recoverable if its call may run
// again.
tfrt_wire_reference_t tfrt_remote_value_whereabouts(const tfrt_remote_value_t* value);

// The reference by which others are sent on to |value|, for which they asked here: the same for all
// of them.
tfrt_wire_reference_t tfrt_remote_value_tell(tfrt_remote_value_t* value);

// The value (+0) that has the hold or the loan of |value|: its cover, or itself.
static inline tfrt_remote_value_t* tfrt_remote_value_holding(tfrt_remote_value_t* value) {
  return value->parts.cover ? value->parts.cover : value;
}

// Watches |value| by |watch|, all zero, which must be ended before its memory goes.
void tfrt_remote_value_watch(tfrt_remote_value_t* value, tfrt_remote_value_watch_t* watch);

// The value (+1) that |watch| looks at, or NULL if that is gone.
tfrt_remote_value_t* tfrt_remote_value_watched(const tfrt_remote_value_watch_t* watch);

// Gives back a reference to |value| once the lock is open.
void tfrt_remote_value_release(tfrt_remote_value_t* value);

// True if it is known where |value| comes from: where the call stands whose result it is, or where
// it was received.
static inline bool tfrt_remote_value_has_site(const tfrt_remote_value_t* value) {
  return tfrt_call_site_is_known(&value->place.site);
}

// Says that |value| is needed by a call that is placed on |device|, whose name fits: a payload that
// is a device's goes there.
void tfrt_remote_value_set_device(tfrt_remote_value_t* value, const char* device);

// Takes |item| of a Result or Resolve: the owner of |value|, or a host that speaks for the owner,
// says what |value| is. Sends the next question if one is needed.
void tfrt_remote_value_on_item(tfrt_remote_value_t* value, const tfrt_wire_item_t* item);

// Says that kernels may still write the payload of |value|, which nobody has asked for yet, until
// all of |chains| (+0, unresolved ones) have come. The payload is asked for only then, so that the
// copy is what the program means. Adds to chains that were given before.
void tfrt_remote_value_order(tfrt_remote_value_t* value, tfrt_async_value_t* const* chains,
                             uint32_t chain_count);

// Has the owner of |value| asked whether it is there, unless that is known, or asked by now.
void tfrt_remote_value_await(tfrt_remote_value_t* value);

// Makes |value| the error |status| (+0). If the owner was asked, an Unwant says that its answer is
// not needed any more.
void tfrt_remote_value_fail(tfrt_remote_value_t* value, tfrt_status_t status);

// The host that has |value|, or its name, is dead; |status| (+0) says so. See above.
void tfrt_remote_value_lose(tfrt_remote_value_t* value, tfrt_status_t status);

// Another host says that |value| is the error |status| (+0). True if the error is the loss of a
// host, and there is another way: the call that makes |value| runs again, or its lender may know
// another owner. Then |value| is lost.
bool tfrt_remote_value_lose_instead(tfrt_remote_value_t* value, tfrt_status_t status);

// |value|, which was lost, is |reference| from now on: ours to release if |held|. Questions that
// are still open go there.
void tfrt_remote_value_move(tfrt_remote_value_t* value, const tfrt_wire_reference_t* reference,
                            bool held);

// Makes |value| stand for |target| (+0).
void tfrt_remote_value_forward(tfrt_remote_value_t* value, tfrt_async_value_t* target);

// Makes |value|, which is unresolved, stand for |own| (+0), a value of this host. If |own| is not
// known yet, |value| comes *home* first: it waits for |own| and asks nobody, and can still be made
// an error. An error if |own| is |value| itself. If the call that made |value| may run again,
// |value| waits for |own| until that is here. If |own| becomes a host-lost error, |value| is lost.
// If |own| turns out to be elsewhere, |value| is there, too, and keeps the placeholder of |own|.
void tfrt_remote_value_stand_for(tfrt_remote_value_t* value, tfrt_async_value_t* own);

// Makes |value|, a result, stand for the argument |target| (+0), which was lent as |exported|, or
// as what it is itself (NULL).
void tfrt_remote_value_alias(tfrt_remote_value_t* value, tfrt_async_value_t* target,
                             tfrt_object_t* exported);

// The payload that |value| waits for is here: |payload| (+0), which is resolved.
void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload);

// Asks what is wanted here of |value| and not known yet. A result of our own call comes without
// being asked for; only what is there but didn't come, or is elsewhere, must be fetched.
void tfrt_remote_value_ask_again(tfrt_remote_value_t* value);

// Has placeholders end with their owners.
extern const tfrt_node_part_t tfrt_remote_value_part;

// --- Between the files of remote values ------------------------------------------------------

// Tells the users that await |value| that it is |settled| (consumed): a chain, an error, or the
// value that it was forwarded to. If that isn't known yet, they await it in the place of |value|.
void tfrt_remote_value_settle(tfrt_remote_value_t* value, tfrt_async_value_t* settled);

// Makes the owner of |location| the host to ask; |value| is lost if that host is.
void tfrt_remote_value_locate(tfrt_remote_value_t* value, const tfrt_wire_reference_t* location);

// Gives back the hold of |value| on what is, or was, called |name|.
void tfrt_remote_value_release_hold(tfrt_remote_value_t* value, const tfrt_wire_reference_t* name);

// Nobody is asked: takes |value| out of the lists of its peers.
void tfrt_remote_value_unlink_peers(tfrt_remote_value_t* value);

// |value| waits for no own value any more, nor keeps one, if it did.
void tfrt_remote_value_end_homecoming(tfrt_remote_value_t* value);

#endif  // TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_H_
