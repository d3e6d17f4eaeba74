// SPDX-License-Identifier: Apache-2.0
//
// The built-in function by which any client asks what is alive on a host because of others, and
// what that waits for: () -> "!tfrt.string". A line for each, a kind and its properties:
//
//    host     incarnation name serving
//    job      id name rank hosts root client age_us state     state: open, detached (open, and
//                                                         outlives its client), closed, kept (over;
//                                                         detached_job.h has the results)
//    member   job rank incarnation address
//    start    job number request function age_us state        at the root: what the client started
//    call     job dir=in peer number request depth function age_us state
//    call     job dir=out peer number request function in from at age_us state
//                                                         `from`, `at`: the function and the place
//                                                         where it stands
//    object   job id state type bytes age_us function holders loans          we own, others know it
//    remote   job id owner state bytes age_us function at                    others own, we know it
//    receive  job request sender key                          nothing was sent yet
//    message  job request sender key                          nobody has received it yet
//    kernel   job request in name function at age_us          what a thread is in, right now, and
//                                                         since when it is known to be; without
//                                                         job, request and in: of whom is not known
//
//   state of a start or a call for others: loading (its program), running, ending (all kernels have
//     run; something below it or lent to it is not over), cancelled
//   state of a call to others: open, cancelled
//   state of a value: waiting (it is not there yet), ready, error; of a remote one also there (its
//     owner has it, we do not), moving (its payload is asked for)
//   needs: values that a start or call was given and that are not here yet, each as OWNER/ID
//   in: whose work a call to others or a kernel is, a start by its number or a call as PEER.NUMBER
//
// An id of a value is NAMER.NUMBER.INDEX, of a peer its incarnation, both hexadecimal but for
// numbers; ages are as exact as heartbeats. The job of the asking client is left out.
//
// Thread rule: takes the node's lock. Failure rule: see text_answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_

#include "distributed/call/execution.h"

// Writes the text for the call that |execution| is. Thread-safe (the lock is not held).
tfrt_status_t tfrt_inventory_write(tfrt_execution_t* execution, tfrt_string_builder_t* out)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
