// SPDX-License-Identifier: Apache-2.0
//
// Pushes: small results that their owner sends to borrowers before they ask.
//
//   caller                                   owner                      borrower
//     Invoke f (push_to: x, borrower) ------->  runs f
//     Invoke g (x is_pushed) ----------------------------------------->  expects x
//                                               Push x ---------------->  g runs
//
// So an argument that another host makes takes one message, where a Want and a Resolve are two. A
// Push is a hint: a borrower that expects one still asks if none has come after a *grace*. Nothing
// else depends on it. Only values of types that are always small are pushed: a payload that goes by
// a bulk channel begins to flow with its Want, which a wait would put off.
//
// Measured in turn on two loaded processors, release build, 5 rounds. Without Pushes a chain over 2
// hosts takes 1.25 to 1.35 of its time, over 4 hosts 1.73 to 1.92, over 8 hosts 1.94 to 2.05.
//
// Life of an expected value: lent, and put off; asked for after the grace; over with its Push,
// which may still come before the answer, with its end, or with another owner. Life of an *early*
// Push, which has overtaken the Invoke that lends its value: kept for TFRT_PUSH_INBOX_KEPT_MS,
// until that comes, or until newer ones need the room. Each Push is for one reference.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails; what can't be kept is asked for.
#ifndef TFRT_DISTRIBUTED_DELIVERY_PUSH_INBOX_H_
#define TFRT_DISTRIBUTED_DELIVERY_PUSH_INBOX_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/domain/domain.h"
#include "distributed/domain/node_part.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/value.h"
#include "host_runtime/base/list.h"

typedef struct tfrt_peer_s tfrt_peer_t;
typedef struct tfrt_job_s tfrt_job_t;
typedef struct tfrt_remote_value_s tfrt_remote_value_t;

// The Pushes of one peer.
typedef struct tfrt_push_inbox_s {
  tfrt_list_link_t put_off;  // tfrt_remote_value_t, whose grace ends first in front
  tfrt_list_link_t asked;    // the same after the grace
  uint32_t expected_count;   // of both
  tfrt_list_link_t early;    // oldest first
  uint32_t early_count;
} tfrt_push_inbox_t;

// |value|, which was just lent to us and nobody has asked for, is on its way: gives it what has
// come, or has it wait before it asks.
void tfrt_push_inbox_expect(tfrt_remote_value_t* value);

// Has Pushes end with their owners.
extern const tfrt_node_part_t tfrt_push_inbox_part;

#endif  // TFRT_DISTRIBUTED_DELIVERY_PUSH_INBOX_H_
