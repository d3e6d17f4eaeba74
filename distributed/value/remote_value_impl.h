// SPDX-License-Identifier: Apache-2.0
//
// The inside of a remote value, for its five sources. Private to this room.
//
//   remote_value.c         life, and questions to the owner
//   remote_value_answer.c  answers of the owner, and every end
//   remote_value_cover.c   lists that came, and their elements
//   remote_value_home.c    homecoming: it is a value of this host
//   remote_value_loss.c    loss of its owner, a new owner
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_IMPL_H_
#define TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_IMPL_H_

#include "distributed/value/remote_value.h"

// --- remote_value.c ----------------------------------------------------------

// Creates a placeholder (+1) for |reference|, which is a part of |list|, or stands for it, and was
// lent by |lender|; 0: by nobody. As tfrt_remote_value_create() else.
tfrt_remote_value_t* tfrt_remote_value_create_part(const tfrt_remote_value_t* list,
                                                   const tfrt_wire_reference_t* reference,
                                                   bool held, uint64_t lender);

// Asks what is wanted here of |value| and not known yet. A result of our own call comes without
// being asked for; only what is there but didn't come, or is elsewhere, must be fetched.
void tfrt_remote_value_ask_again(tfrt_remote_value_t* value);

// Tells the users that await |value| that it is |settled| (consumed): a chain or the error.
void tfrt_remote_value_settle(tfrt_remote_value_t* value, tfrt_async_value_t* settled);

// The users that await |value|, which was forwarded, await its target from now on. This asks the
// target in their place, as a plain wait would ask nobody.
void tfrt_remote_value_settle_later(tfrt_remote_value_t* value);

// Makes the owner of |location| the host to ask; |value| is lost if that host is.
void tfrt_remote_value_locate(tfrt_remote_value_t* value, const tfrt_wire_reference_t* location);

// Gives back the hold of |value| on what is, or was, called |name|.
void tfrt_remote_value_release_hold(tfrt_remote_value_t* value, const tfrt_wire_reference_t* name);

// Nobody is asked: takes |value| out of the lists of its peers.
void tfrt_remote_value_unlink_peers(tfrt_remote_value_t* value);

// True if both are one name of one host.
bool tfrt_remote_value_same(const tfrt_wire_reference_t* a, const tfrt_wire_reference_t* b);

// --- remote_value_loss.c -----------------------------------------------------

// |value|, which has another location next, may have been lent as what it is now: remembers that.
void tfrt_remote_value_note_location(tfrt_remote_value_t* value);

// Another host says that |value| is the error |status| (+0). True if the error is the loss of a
// host, and there is another way: the call that makes |value| runs again, or its lender may know
// another owner. Then |value| is lost.
bool tfrt_remote_value_lose_instead(tfrt_remote_value_t* value, tfrt_status_t status);

// --- remote_value_home.c -----------------------------------------------------

// |value|, which is unresolved, is |reference|, a name of this host: stands for what that is here.
void tfrt_remote_value_come_home(tfrt_remote_value_t* value,
                                 const tfrt_wire_reference_t* reference);

// |value| waits for no own value any more, nor keeps one, if it did.
void tfrt_remote_value_end_homecoming(tfrt_remote_value_t* value);

// --- remote_value_answer.c ---------------------------------------------------

// Makes |value|, which is unresolved, the error |status| (+0); not what lives by it.
void tfrt_remote_value_fail_alone(tfrt_remote_value_t* value, tfrt_status_t status);

// --- remote_value_cover.c ----------------------------------------------------

// Releases the cover of a list, and the one that an element lives by.
void tfrt_remote_value_leave_covers(tfrt_remote_value_t* value);

// Has |end| end, because of |status| (+0), what lives by |cover| alone. A value whose last
// reference is gone stays in the list until it takes itself out.
void tfrt_remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
                                    void (*end)(tfrt_remote_value_t*, tfrt_status_t));

#endif  // TFRT_DISTRIBUTED_VALUE_REMOTE_VALUE_IMPL_H_
