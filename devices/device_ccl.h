// SPDX-License-Identifier: Apache-2.0
//
// One device's part in a group of devices that exchange data, by their vendor's library. Each
// member has a rank from 0, and is made with the same id, which is made once and handed to all:
//
//   create_ccl_id --> id (bytes; to any process) --> create_ccl(id, rank, size), once per rank
//
//                  members 0, 1, 2 have       and get
//   all gather     a        b        c        abc      abc      abc
//   all reduce     a        b        c        a+b+c    a+b+c    a+b+c
//   reduce scatter aAx      bBy      cCz      a+b+c    A+B+C    x+y+z
//   all to all     aAx      bBy      cCz      abc      ABC      xyz
//   reduce to 1    a        b        c                 a+b+c
//   broadcast of 1          b                 b                 b
//   send, receive  one member to another
//
// Calls are executed in lists: one list is one piece of work, in which nothing has an order. All
// members give the calls that take all of them in the same order; the n-th send from one to
// another goes with the n-th receive there.
//
// Life:
//  1. Created at +1 by tfrt_device_create_ccl(), which doesn't wait for the other members; join()
//     tells when they are there.
//  2. Given lists, with any streams of the device. A list is in its stream when its chain is
//     there, which may be after other members have come to theirs.
//  3. Released at any time: what it was given is still done.
//
// A member can wait forever for another one that doesn't come. So a caller that gives up aborts its
// own member:
//
//   alive --abort, or an error--> broken: all that waits, and each later call, is that error
//
// The group can't be used then; the device can. The work of a broken member ends in its stream, and
// leaves no valid results in memory. So a caller that awaits a list's end in its stream watches its
// member, to notice that another member is lost meanwhile:
//
//   execute's chain --watch--> the stream is awaited --unwatch--> OK, or why it is nothing
//
// Thread rule: thread-safe; lists of two threads have no order.
// Failure rule: as devices/device.h. UNAVAILABLE, with what would help, where the library is
// absent; ABORTED where it says that another member has ended the group. Errors name the library's
// function and its name for the error.
#ifndef TFRT_DEVICES_DEVICE_CCL_H_
#define TFRT_DEVICES_DEVICE_CCL_H_

#include "devices/device_stream.h"
#include "host_runtime/async/async_value.h"
#include "host_runtime/base/list.h"
#include "host_runtime/tensor/dtype.h"

TFRT_API_BEGIN

#define TFRT_CCL_ID_SIZE 128

// Longer than the texts of a site.
#define TFRT_CCL_SITE_SIZE 80

// The most members of a group.
#define TFRT_CCL_MAX_SIZE 65536

// Names a group; its bytes are the backend's.
struct tfrt_ccl_id_s {
  char bytes[TFRT_CCL_ID_SIZE];
};

typedef enum tfrt_ccl_kind_e {
  TFRT_CCL_ALL_GATHER = 0,
  TFRT_CCL_ALL_REDUCE,
  TFRT_CCL_REDUCE_SCATTER,
  TFRT_CCL_REDUCE,
  TFRT_CCL_BROADCAST,
  TFRT_CCL_SEND,
  TFRT_CCL_RECEIVE,
  TFRT_CCL_ALL_TO_ALL,  // backends see sends and receives instead
} tfrt_ccl_kind_t;

typedef enum tfrt_ccl_reduction_e {
  TFRT_CCL_SUM = 0,
  TFRT_CCL_PRODUCT,
  TFRT_CCL_MAX,
  TFRT_CCL_MIN,
  TFRT_CCL_AVERAGE,
} tfrt_ccl_reduction_t;

typedef struct tfrt_ccl_call_s {
  tfrt_ccl_kind_t kind;
  tfrt_dtype_t dtype;              // i8, ui8, i32, ui32, i64, ui64, f16, bf16, f32 or f64
  tfrt_ccl_reduction_t reduction;  // of those that reduce
  int32_t peer;                    // of a send or receive; the member that is to get what is
                                   // reduced, or has what is broadcast
  tfrt_device_buffer_t* input;     // all of it; NULL for a receive, and for the receivers
                                   // of a broadcast
  tfrt_device_buffer_t* output;    // all of it; NULL for a send, the root of a broadcast,
                                   // and a member that only gives to a reduce. May be |input|
  // Filled in for the backend: where, and how many elements: those that a member gives to a
  // gather or a send, or gets from the others.
  tfrt_device_address_t source;
  tfrt_device_address_t target;
  size_t count;
} tfrt_ccl_call_t;

// A list on its way. The backend owns it from its execute() on, and finishes it once.
typedef struct tfrt_ccl_work_s {
  tfrt_list_link_t link;         // the backend's
  tfrt_device_ccl_t* ccl;        // +1
  tfrt_device_stream_t* stream;  // +1
  tfrt_async_value_t* value;     // +1
  size_t count;                  // > 0
  tfrt_ccl_call_t* calls;        // in the work's own memory; with +1 of each buffer
} tfrt_ccl_work_t;

typedef struct tfrt_device_ccl_vtable_s {
  // Called when there is no work, with nothing but the base's device left; retains that if it
  // goes on after the call.
  void (*destroy)(tfrt_device_ccl_t* ccl);
  tfrt_async_value_t* (*join)(tfrt_device_ccl_t* ccl);
  void (*execute)(tfrt_device_ccl_t* ccl, tfrt_ccl_work_t* work);
  void (*abort)(tfrt_device_ccl_t* ccl, tfrt_status_t reason);
  void (*watch)(tfrt_device_ccl_t* ccl);
  tfrt_status_t (*unwatch)(tfrt_device_ccl_t* ccl);
} tfrt_device_ccl_vtable_t;

// Embedded first in every implementation. Constant but for the count.
struct tfrt_device_ccl_s {
  const tfrt_device_ccl_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
  tfrt_device_t* device;  // +1
  int32_t rank;
  int32_t size;  // of the group
};

// Fills the zeroed |ccl| in; |device| is retained. For backends. Thread-compatible.
void tfrt_device_ccl_initialize(tfrt_device_ccl_t* ccl, const tfrt_device_ccl_vtable_t* vtable,
                                tfrt_device_t* device, int32_t rank, int32_t size);

// Resolves the chain of |work| as |status| (consumed) says, and frees |work|. For backends.
// Thread-safe.
void tfrt_ccl_work_finish_take(tfrt_ccl_work_t* work, tfrt_status_t status);

// Sets |*out_id| to the name of a new group of devices of |platform|. May block (a library is
// loaded). Thread-safe.
tfrt_status_t tfrt_device_platform_create_ccl_id(tfrt_device_platform_t* platform,
                                                 tfrt_ccl_id_t* out_id) TFRT_MUST_USE;

// Sets |*out_ccl| (+1) to the member |rank| of the group |id| of |size| members, on |device|.
// INVALID_ARGUMENT for a rank or size that there isn't, or an id that isn't of such a platform. May
// block (a library is loaded). Thread-safe.
tfrt_status_t tfrt_device_create_ccl(tfrt_device_t* device, const tfrt_ccl_id_t* id, int32_t rank,
                                     int32_t size, tfrt_device_ccl_t** out_ccl) TFRT_MUST_USE;

// Two texts that decide whether devices can be members of one group. Neither has NULs inside.
struct tfrt_ccl_site_s {
  char library[TFRT_CCL_SITE_SIZE];  // the same for all members, with its version
  char place[TFRT_CCL_SITE_SIZE];    // another one for each member; "": there may be several there
};

// Sets |*out_site| to that of |device|. UNAVAILABLE where the library is absent. May block (a
// library is loaded). Thread-safe.
tfrt_status_t tfrt_device_ccl_site(tfrt_device_t* device, tfrt_ccl_site_t* out_site) TFRT_MUST_USE;

// Returns true if groups exchange, and reduce, elements of |dtype|. Thread-safe.
bool tfrt_device_ccl_takes(tfrt_dtype_t dtype);

// Adds one reference to |ccl| and returns it. Thread-safe.
tfrt_device_ccl_t* tfrt_device_ccl_retain(tfrt_device_ccl_t* ccl);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_device_ccl_release(tfrt_device_ccl_t* ccl);

// Returns a chain (+1, never NULL) that becomes available when |ccl| can be used, which may be
// when all members are there. Thread-safe.
tfrt_async_value_t* tfrt_device_ccl_join(tfrt_device_ccl_t* ccl) TFRT_MUST_USE;

// OK if |call| may be given to |ccl|: INVALID_ARGUMENT for a type, a peer, or sizes that don't go
// together, OUT_OF_RANGE or FAILED_PRECONDITION as tfrt_device_buffer_check(). Thread-safe.
tfrt_status_t tfrt_device_ccl_check(tfrt_device_ccl_t* ccl, const tfrt_ccl_call_t* call)
    TFRT_MUST_USE;

// Executes the |count| calls at |calls|, of a member that has joined, as work of |stream|. Returns
// a chain (+1, never NULL) that becomes available when that is in the stream, or an error; the
// calls may go before that. Thread-safe.
tfrt_async_value_t* tfrt_device_ccl_execute(tfrt_device_ccl_t* ccl, tfrt_device_stream_t* stream,
                                            const tfrt_ccl_call_t* calls, size_t count)
    TFRT_MUST_USE;

// Gives up: |ccl| is broken with |reason| (+0), unless it is already. Thread-safe.
void tfrt_device_ccl_abort(tfrt_device_ccl_t* ccl, tfrt_status_t reason);

// From now on an error that the library comes to know of breaks |ccl|, also while no list is being
// put into a stream. Until as many unwatch(), before the last release. Thread-safe.
void tfrt_device_ccl_watch(tfrt_device_ccl_t* ccl);

// Undoes one watch; OK, or what |ccl| is broken with: then lists that ended meanwhile may have left
// nothing. Thread-safe.
tfrt_status_t tfrt_device_ccl_unwatch(tfrt_device_ccl_t* ccl) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_CCL_H_
