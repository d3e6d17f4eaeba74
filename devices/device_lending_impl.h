// SPDX-License-Identifier: Apache-2.0
//
// Internals of lending, which its two sources share: device_lending.c has the lender's side and the
// thread, device_borrowing.c the borrower's.
//
// Thread rule: all that is not constant is guarded by |mutex| of tfrt_device_lending_t, but for
// pools of a lender, which its own mutex guards.
// Failure rule: as devices/device_lending.h.
#ifndef TFRT_DEVICES_DEVICE_LENDING_IMPL_H_
#define TFRT_DEVICES_DEVICE_LENDING_IMPL_H_

#include <sys/types.h>

#include "devices/device_lending.h"
#include "host_runtime/base/list.h"

#define TFRT_LENDING_NAME_SIZE 16
#define TFRT_LENDING_SECRET_SIZE 16

// The bytes of a ticket.
typedef struct tfrt_lending_ticket_s {
  uint64_t magic;
  uint64_t number;                       // of the loan
  uint64_t offset;                       // of the bytes in the block
  uint64_t size;                         // of the bytes
  uint8_t name[TFRT_LENDING_NAME_SIZE];  // of the lender's socket
  uint8_t secret[TFRT_LENDING_SECRET_SIZE];
  char identity[TFRT_DEVICE_IDENTITY_SIZE];  // of the device
  uint8_t block[TFRT_DEVICE_EXPORT_SIZE];
} tfrt_lending_ticket_t;

_Static_assert(sizeof(tfrt_lending_ticket_t) == TFRT_DEVICE_TICKET_SIZE, "a ticket is as long");

// A message of the borrower, and its answer. CLOSE has none.
typedef enum tfrt_lending_kind_e {
  TFRT_LENDING_OPEN = 1,            // answered by OPENED or REFUSED
  TFRT_LENDING_OPEN_WITH_POOL = 2,  // the answer comes with the descriptor of the pool
  TFRT_LENDING_OPENED = 3,
  TFRT_LENDING_REFUSED = 4,
  TFRT_LENDING_CLOSE = 5,
} tfrt_lending_kind_t;

typedef struct tfrt_lending_message_s {
  uint64_t magic;
  uint32_t kind;  // tfrt_lending_kind_t
  uint32_t zero;
  uint64_t number;
  uint64_t offset;  // of OPENED, as |size|: the lender's own word
  uint64_t size;
  uint8_t secret[TFRT_LENDING_SECRET_SIZE];  // of OPEN
} tfrt_lending_message_t;

#define TFRT_LENDING_MAGIC UINT64_C(0x31646e656c746674)

// A connection of ours to a lender. In the list until its end is seen; fetches keep it, too.
typedef struct tfrt_device_lender_s {
  tfrt_list_link_t link;
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  uint8_t name[TFRT_LENDING_NAME_SIZE];
  int socket;
  tfrt_mutex_t mutex;  // one message and its answer at a time
  bool is_broken;      // guarded by |mutex|
  struct tfrt_lending_pool_s* pools;
} tfrt_device_lender_t;

// The connections that the thread watches; its own.
typedef struct tfrt_lending_watch_s {
  struct pollfd* polls;                 // the waker, the listener, guests, lenders
  struct tfrt_device_guest_s** guests;  // beside |polls|; NULL where it is none
  tfrt_device_lender_t** lenders;       // +1 each
  size_t count;
  bool is_out_of_files;  // the system lets no guest in for the moment
} tfrt_lending_watch_t;

struct tfrt_device_lending_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  tfrt_work_queue_t* work_queue;  // +1
  uid_t user;                     // whose processes are heard: ours
  tfrt_mutex_t mutex;             // guards all below
  tfrt_condition_t came_back;     // a loan did
  bool is_closed;
  bool is_serving;        // the socket and the thread are there
  tfrt_status_t failure;  // +1: they can't be had
  int listener;
  int waker;  // an eventfd
  uint8_t name[TFRT_LENDING_NAME_SIZE];
  uint64_t last_number;
  tfrt_list_link_t loans;
  tfrt_list_link_t guests;
  tfrt_list_link_t lenders;
  tfrt_device_lending_counts_t counts;
  tfrt_thread_t thread;
  tfrt_lending_watch_t watch;
};

// --- device_lending.c ---

// Starts to serve, once. Takes the mutex.
tfrt_status_t tfrt_device_lending_serve(tfrt_device_lending_t* lending) TFRT_MUST_USE;

// Has the thread look at all connections again. Thread-safe.
void tfrt_device_lending_wake(tfrt_device_lending_t* lending);

// OK if the process behind |socket| is of the user that is heard. Thread-safe.
tfrt_status_t tfrt_device_lending_check_user(const tfrt_device_lending_t* lending, int socket)
    TFRT_MUST_USE;

// Sets |*out_size| to that of the address |out_address| of the socket |name|. Thread-safe.
struct sockaddr_un;
void tfrt_device_lending_address(const uint8_t name[TFRT_LENDING_NAME_SIZE],
                                 struct sockaddr_un* out_address, unsigned* out_size);

// --- device_borrowing.c ---

// Drops one reference to |lender|; the last one closes its pools and its socket. Without any mutex.
void tfrt_device_lender_release(tfrt_device_lender_t* lender);

#endif  // TFRT_DEVICES_DEVICE_LENDING_IMPL_H_
