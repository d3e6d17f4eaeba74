// SPDX-License-Identifier: Apache-2.0
//
// A collective from the inside. Private to collective.c (life, results, messages),
// collective_operand.c, collective_agreement.c, collective_gathering.c, collective_devices.c,
// collective_staging.c, collective_transfer.c, collective_sending.c and collective_arrival.c.
//
// Life:
//  1. Created by the kernel; one reference belongs to its next step.
//  2. Every message and slice under way holds one more.
//  3. The last one leaves the call's scope, so the call is over no earlier.
//
// Thread rule: fields guarded by |mutex| say so; the rest is constant once it is set, or is touched
// by one step after the other. Failure rule: see collective.h.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_IMPL_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_IMPL_H_

#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/request/request_context.h"
#include "host_runtime/host_context.h"
#include "host_runtime/tensor/tensor_group.h"
#include "kernels/distributed/collective.h"
#include "kernels/distributed/collective_result.h"
#include "kernels/distributed/collective_tree.h"
#include "kernels/distributed/host_group.h"

// The most bytes of elements, of all members together, that go with the records.
#define TFRT_COLLECTIVE_MAX_RECORD_ELEMENTS (64u << 10)

// The most messages of elements under way in either direction, and the most bytes of these.
#define TFRT_COLLECTIVE_WINDOW 4
#define TFRT_COLLECTIVE_WINDOW_SIZE ((size_t)4 << 20)

// Work on at most this many bytes is not worth another thread.
#define TFRT_COLLECTIVE_SMALL (256u << 10)

// The phase in the keys of messages of elements.
#define TFRT_COLLECTIVE_TRANSFER_PHASE 'p'

// As many rounds as 2^32 members need.
#define TFRT_COLLECTIVE_MAX_ROUNDS 32

typedef struct tfrt_collective_s tfrt_collective_t;

// Groups of more members gather their records along a tree, where all hosts of the job know that.
#define TFRT_COLLECTIVE_MAX_ROUND_MEMBERS 8

// A child of this member in the tree: waits for the child's records.
typedef struct tfrt_collective_child_s {
  tfrt_task_t task;
  tfrt_collective_t* collective;  // +0: the reference of the gathering
  uint32_t index;
} tfrt_collective_child_t;

typedef struct tfrt_collective_agreement_s {
  char phase;                                     // in the keys of its messages
  void (*finish)(tfrt_collective_t* collective);  // takes the reference that the rounds have
  uint32_t round;
  tfrt_async_value_t* first;    // +1; the value of round 0, if it was asked for before; or NULL
  tfrt_async_value_t* awaited;  // +1; the value of this round
  // +1; the value of each round, or of each child and then of the parent; the records borrow their
  // bytes.
  tfrt_async_value_t* arrivals[TFRT_COLLECTIVE_MAX_ROUNDS];
  uint32_t arrival_count;
  tfrt_collective_tree_t tree;  // this member's place in it; its |size| is 0: there are rounds
  tfrt_collective_child_t children[TFRT_COLLECTIVE_TREE_CHILDREN];
  TFRT_ATOMIC(uint32_t) missing;  // children whose records are not here, and 1 until all are asked
  tfrt_string_builder_t own;      // the bytes of our record
  tfrt_string_view_t* bytes;      // of the records, by position
  tfrt_collective_record_t* records;  // likewise
} tfrt_collective_agreement_t;

// The progress of a step of the plan.
typedef struct tfrt_collective_progress_s {
  tfrt_host_buffer_t* made;  // +1; by a RELAY, until nobody needs it any more
  uint32_t uses;             // steps that need it; guarded by the collective's |mutex|
  uint8_t pending;           // of a send: what has to end before it has ended
  bool done;
} tfrt_collective_progress_t;

typedef struct tfrt_collective_transfer_s {
  tfrt_collective_plan_t plan;           // constant
  tfrt_dense_host_tensor_t output;       // the result; empty if that is the operand
  tfrt_collective_progress_t* progress;  // of each step
  bool* flags;                           // of each member, what follows
  bool* has_arrived;                     // something came from that member
  bool* is_closed_from;                  // nothing more comes from it
  bool* is_closed_to;                    // nothing more goes to it
  uint32_t window;                       // messages in either direction; constant
  uint32_t next_receive;                 // no step before it is still to be begun
  uint32_t next_send;
  uint32_t receives;  // under way
  uint32_t sends;
  uint32_t relays;         // made and not sent yet, or about to be made
  uint32_t max_relays;     // constant
  uint32_t arrivals_left;  // steps that fill the output
  uint32_t steps_left;
  bool told_output;
  bool is_over;
  bool is_pumping;
  bool pumps_again;
} tfrt_collective_transfer_t;

struct tfrt_collective_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  tfrt_execution_context_t context;  // the request retained, the scope entered
  const tfrt_kernel_site_t* site;    // +1
  tfrt_call_router_t* router;        // NULL: this is the only host
  uint32_t rank;
  uint32_t position;
  tfrt_async_value_t* group_value;  // +1
  const tfrt_host_group_t* group;
  tfrt_collective_record_t record;  // ours
  tfrt_async_value_t* operand;      // +1; NULL: there is none
  tfrt_async_value_t* staged;       // +1; an operand of a device, in the host's memory; or NULL
  tfrt_tensor_seat_t* seat;         // owned; the operand's in a group of devices; NULL: none
  tfrt_async_value_t* sitting;      // +1; while that is taken; or NULL
  tfrt_async_value_t* before;       // +1; the operand that is a chain
  tfrt_indirect_value_t* result;    // +1; NULL: there is none
  tfrt_indirect_value_t* chain;     // +1
  tfrt_string_builder_t series;     // what the group's turns are counted under
  uint64_t turn;
  bool overlaps;  // another turn has not ended
  tfrt_task_t task;
  tfrt_mutex_t mutex;
  tfrt_status_t status;  // +1; the first error; guarded by |mutex|
  bool has_turn;         // guarded by |mutex|, as what follows
  bool told_result;
  bool told_chain;
  tfrt_collective_agreement_t agreement;
  tfrt_collective_transfer_t transfer;
};

// --- collective.c ----------------------------------------------------------------

tfrt_collective_t* tfrt_collective_retain(tfrt_collective_t* collective);
void tfrt_collective_release(tfrt_collective_t* collective);

// The error (+1) like |status| (consumed) that says where in which program it happened, and on
// which host.
tfrt_status_t tfrt_collective_locate_take(const tfrt_collective_t* collective,
                                          tfrt_status_t status);

// Fails the collective: |status| (consumed), if it is the first, becomes the results, and breaks
// the group's series. The first function tells the other members, the second is for errors that all
// know. Thread-safe.
void tfrt_collective_fail_take(tfrt_collective_t* collective, tfrt_status_t status);
void tfrt_collective_fail_all_know_take(tfrt_collective_t* collective, tfrt_status_t status);

// The first error (+1), or NULL. Thread-safe.
tfrt_status_t tfrt_collective_failure(tfrt_collective_t* collective);

// The result is |value| (consumed; the elements are there), the chain is there; unless they
// are errors. Thread-safe.
void tfrt_collective_tell_result_take(tfrt_collective_t* collective, tfrt_async_value_t* value);
void tfrt_collective_tell_chain(tfrt_collective_t* collective);

// The result is |tensor| (consumed), or one on the operand's device with its elements. Thread-safe.
void tfrt_collective_tell_tensor_take(tfrt_collective_t* collective,
                                      tfrt_dense_host_tensor_t* tensor);

// Sends |value| (+0) to, or receives (+1) from, the member |member| message |number| of
// |phase|. The former gives the chain (+1) of that. Thread-safe.
tfrt_async_value_t* tfrt_collective_send(tfrt_collective_t* collective, uint32_t member, char phase,
                                         uint32_t number, tfrt_async_value_t* value);
tfrt_async_value_t* tfrt_collective_receive(tfrt_collective_t* collective, uint32_t member,
                                            char phase, uint32_t number);

// Sends as tfrt_collective_send() does, for a caller that does not wait for the chain: the receiver
// may acknowledge it together with its next message. Thread-safe.
void tfrt_collective_post(tfrt_collective_t* collective, uint32_t member, char phase,
                          uint32_t number, tfrt_async_value_t* value);

// The operand, which is a dense tensor; one of a device has been staged. Thread-safe.
const tfrt_dense_host_tensor_t* tfrt_collective_operand(const tfrt_collective_t* collective);

// --- collective_operand.c ----------------------------------------------------------

// True if this member's operand is ignored: it only receives.
bool tfrt_collective_ignores_operand(const tfrt_collective_t* collective);

// Describes the settled operand in our record, or returns the reason why it can't take part.
tfrt_status_t tfrt_collective_describe_operand(tfrt_collective_t* collective) TFRT_MUST_USE;

// Adds the elements of the operand, which was described, to our record if they are few.
void tfrt_collective_add_elements(tfrt_collective_t* collective);

// --- collective_agreement.c --------------------------------------------------------

// Begins the rounds, with our record; takes the caller's reference to |collective|.
void tfrt_collective_agree_take(tfrt_collective_t* collective);

// Begins the rounds at the end of the devices' work: each member says whether that went well, or
// which |trouble| (consumed) it had. Then all fail alike: with the error of the first member that
// had another one than ABORTED, or else with any. |first| (consumed) comes from
// tfrt_collective_receive_end(). Takes the caller's reference.
void tfrt_collective_agree_on_end_take(tfrt_collective_t* collective, tfrt_async_value_t* first,
                                       tfrt_status_t trouble);

// The first message of the member behind us in these rounds (+1), and whether |message| is trouble.
// Thread-safe.
tfrt_async_value_t* tfrt_collective_receive_end(tfrt_collective_t* collective);
bool tfrt_collective_is_trouble(tfrt_async_value_t* message);

// Sends the member |member|, as message |number| of the agreement, the records of |count| members
// from |begin| on, mod n; or the error of this collective. Thread-safe.
void tfrt_collective_post_records(tfrt_collective_t* collective, uint32_t member, uint32_t number,
                                  uint32_t begin, uint32_t count);

// Takes these records out of |arrival| (+0), which lives as long as the agreement; fails the
// collective if it is an error. For different members at the same time, too.
void tfrt_collective_take_records(tfrt_collective_t* collective, tfrt_async_value_t* arrival,
                                  uint32_t begin, uint32_t count);

// Frees the memory of the agreement.
void tfrt_collective_agreement_deinitialize(tfrt_collective_t* collective);

// --- collective_gathering.c --------------------------------------------------------

// Begins to exchange the records along the tree; takes the caller's reference.
void tfrt_collective_gather_take(tfrt_collective_t* collective);

// --- collective_devices.c ----------------------------------------------------------

// Begins to take a seat for the operand, whose place is described, and goes on with |next|, as the
// collective's task; false if there is no seat to take. After a failure it goes on without a seat.
bool tfrt_collective_sit(tfrt_collective_t* collective, tfrt_task_fn_t next);

// Says in our record where the operand's seat is, if it has one.
void tfrt_collective_describe_seat(tfrt_collective_t* collective);

// Sets |*out_can| to whether the members' devices do it, when all records are here.
tfrt_status_t tfrt_collective_check_devices(const tfrt_collective_t* collective, bool* out_can)
    TFRT_MUST_USE;

// Has them do it; takes the caller's reference to |collective|.
void tfrt_collective_run_devices_take(tfrt_collective_t* collective);

// Gives up the seat, if there is one, to the next user; the second also frees its memory.
void tfrt_collective_leave_seat(tfrt_collective_t* collective);
void tfrt_collective_free_seat(tfrt_collective_t* collective);

// --- collective_staging.c ----------------------------------------------------------

// Says in our record where the operand, if there is one, is. It is settled, and here unless it
// |is_ignored|.
void tfrt_collective_describe_place(tfrt_collective_t* collective, bool is_ignored);

// Describes |value|, a tensor in the memory of a device, in our record.
tfrt_status_t tfrt_collective_describe_device(tfrt_collective_t* collective,
                                              tfrt_async_value_t* value) TFRT_MUST_USE;

// Reads the operand from its device, and then begins the transfer; takes the caller's reference to
// |collective|.
void tfrt_collective_stage_take(tfrt_collective_t* collective);

// Makes the elements of |tensor| (consumed) a tensor of the operand's device, or of the call's if
// that has none, and that the result.
void tfrt_collective_land_take(tfrt_collective_t* collective, tfrt_dense_host_tensor_t* tensor);

// --- collective_transfer.c ---------------------------------------------------------

// Begins the transfer; takes the caller's reference to |collective|.
void tfrt_collective_transfer_take(tfrt_collective_t* collective);

// There will be no transfer here because of an error, but others may begin theirs: tells the
// members that would wait for us.
void tfrt_collective_transfer_refuse(tfrt_collective_t* collective);

// Frees the memory of the transfer.
void tfrt_collective_transfer_deinitialize(tfrt_collective_t* collective);

// A message under way: waits for the value of a receive, or for the chain of a send.
typedef struct tfrt_collective_flight_s {
  tfrt_task_t task;
  tfrt_collective_t* collective;  // +1
  tfrt_async_value_t* value;      // +1
  uint32_t step;
} tfrt_collective_flight_t;

static inline const tfrt_collective_step_t* tfrt_collective_step_at(
    const tfrt_collective_t* collective, uint32_t index) {
  return &collective->transfer.plan.steps[index];
}

// Runs |task|, which is about |size| bytes, at once or soon. With no lock held.
void tfrt_collective_run_or_queue(tfrt_collective_t* collective, size_t size, tfrt_task_t* task);

// Waits for |value| (consumed) for the step |index|; |run| gets the task of a flight, and has to
// free the whole flight. Thread-safe.
void tfrt_collective_await_step(tfrt_collective_t* collective, uint32_t index,
                                tfrt_async_value_t* value, tfrt_task_fn_t run);

// The step |index| no longer needs the buffer of the step |after|; the last step that needs the
// buffer frees it. Thread-safe.
void tfrt_collective_drop_made(tfrt_collective_t* collective, uint32_t index);

// One thing that the step |index| waits for has ended. If it was the last, the step has ended, too,
// and steps that may begin now do. With no lock held; thread-safe.
void tfrt_collective_end_step(tfrt_collective_t* collective, uint32_t index);

// --- collective_sending.c ----------------------------------------------------------

// Begins the send |index|, which ends by tfrt_collective_end_step(). With no lock held.
void tfrt_collective_start_send(tfrt_collective_t* collective, uint32_t index);

// --- collective_arrival.c ----------------------------------------------------------

// Begins the receive |index|, which ends by tfrt_collective_end_step(). With no lock held.
void tfrt_collective_start_receive(tfrt_collective_t* collective, uint32_t index);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_IMPL_H_
