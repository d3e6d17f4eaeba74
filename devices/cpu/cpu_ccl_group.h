// SPDX-License-Identifier: Apache-2.0
//
// Members of a group that exchange data in this process's memory. This part finds the calls that
// meet, and computes the sums. The caller chooses the thread of a round: a CPU device's task, or
// the thread of a test double's stream.
//
//   create (says which calls) --> arrive (inputs are there: they are copied)
//                                   \--> met, when all that its calls need have arrived
//                                          \--> finish (outputs are written)
//
// A call *meets* those of the same number of the other members, or of the one peer. A group breaks
// as a whole: when one of its rounds breaks, when a member leaves while others wait for it, or when
// calls that meet are of different kinds. All rounds are met then, and fail.
//
// Life:
//  1. An id is made; members join under it, and leave. The last one to leave takes the group.
//  2. Rounds are created in the order in which their calls count.
//
// Thread rule: thread-safe; a round belongs to one caller at a time.
// Failure rule: the error that breaks a group is the error of all its later calls.
#ifndef TFRT_DEVICES_CPU_CPU_CCL_GROUP_H_
#define TFRT_DEVICES_CPU_CPU_CCL_GROUP_H_

#include "devices/device_ccl.h"

typedef struct tfrt_cpu_ccl_member_s tfrt_cpu_ccl_member_t;
typedef struct tfrt_cpu_ccl_round_s tfrt_cpu_ccl_round_t;

// Called once, with no lock held, when |round|, which has arrived or is broken, waits for nobody.
typedef void (*tfrt_cpu_ccl_met_fn_t)(tfrt_cpu_ccl_round_t* round, void* argument);

// Sets |*out_id| to the name of a new group of this process. Thread-safe.
void tfrt_cpu_ccl_id_create(tfrt_ccl_id_t* out_id);

// The number of this process, whose groups have all their members in it. Thread-safe.
uint64_t tfrt_cpu_ccl_process(void);

// Sets |*out_member| to member |rank| of the group |id| of |size| members. INVALID_ARGUMENT for the
// id of another process, or for another size; ALREADY_EXISTS for a rank that is there.
// Thread-safe.
tfrt_status_t tfrt_cpu_ccl_join(const tfrt_ccl_id_t* id, int32_t rank, int32_t size,
                                tfrt_cpu_ccl_member_t** out_member) TFRT_MUST_USE;

// Whether all members of the group of |member| have joined, and whether it is broken. Thread-safe.
bool tfrt_cpu_ccl_is_complete(tfrt_cpu_ccl_member_t* member);
bool tfrt_cpu_ccl_is_broken(tfrt_cpu_ccl_member_t* member);

// Gives |member| back; its rounds are finished. Thread-safe.
void tfrt_cpu_ccl_leave(tfrt_cpu_ccl_member_t* member);

// Breaks the group of |member| with |reason| (+0). Thread-safe.
void tfrt_cpu_ccl_break(tfrt_cpu_ccl_member_t* member, tfrt_status_t reason);

// Sets |*out_round| to the next round of |member|: the |count| calls at |calls|, as backends see
// them, alive until the round is finished. |met| isn't called before the round arrives or breaks.
// Thread-safe.
tfrt_status_t tfrt_cpu_ccl_round_create(tfrt_cpu_ccl_member_t* member, const tfrt_ccl_call_t* calls,
                                        size_t count, tfrt_cpu_ccl_met_fn_t met, void* argument,
                                        tfrt_cpu_ccl_round_t** out_round) TFRT_MUST_USE;

// Says that the inputs of |round| are there, or that they never will be, because of |reason|
// (+0). One of the two, once. Thread-safe.
void tfrt_cpu_ccl_round_arrive(tfrt_cpu_ccl_round_t* round);
void tfrt_cpu_ccl_round_break(tfrt_cpu_ccl_round_t* round, tfrt_status_t reason);

// Writes the outputs of |round|, which has met, unless its group is broken: then it returns why.
// Frees |round|. Thread-safe.
tfrt_status_t tfrt_cpu_ccl_round_finish(tfrt_cpu_ccl_round_t* round) TFRT_MUST_USE;

#endif  // TFRT_DEVICES_CPU_CPU_CCL_GROUP_H_
