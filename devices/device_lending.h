// SPDX-License-Identifier: Apache-2.0
//
// Memory of devices that one process lends to another one on the same machine, which copies it from
// device memory to device memory, with the driver's own sharing (tfrt_device_sharing_t).
//
//   lender                                       borrower
//     lend: loan, ticket  ---- any way ----------> fetch(ticket)
//     (socket)  <----------- open: number, secret ----
//               ------------ its size, a pool --->   opens the pool once, and the block
//                                                    copies it, closes the block
//               <----------- close: number -------
//     end of the loan: memory is freed
//
// The socket is a local one whose name nobody can guess, and only processes of the same user are
// heard. A loan has a secret besides, which its ticket tells: the caller gives that to a process
// that it trusts. The lender keeps the memory until the loan has ended and the borrower has closed
// the block, or has died, which the end of its connection tells. If a lender dies, its borrowers
// give up its pools with the last fetch.
//
//   of a loan:   OFFERED --open--> TAKEN --close, or lost--> RETURNED
//                   | end            | end                      | end
//                   v                v                          v
//                  gone           ORPHANED --close, or lost--> gone
//
// Life:
//  1. Created at +1. The socket, and a thread that serves it, are there from the first use on.
//  2. lend and fetch, any number of times.
//  3. Closed: loans that are taken have some seconds to come back.
//  4. Released.
//
// Thread rule: thread-safe.
// Failure rule: a loan that can't be made is an error, and so is a fetch that can't be made: the
// caller has another way for the bytes. Bytes from other processes are never trusted.
#ifndef TFRT_DEVICES_DEVICE_LENDING_H_
#define TFRT_DEVICES_DEVICE_LENDING_H_

#include "devices/device_port.h"

typedef struct tfrt_device_lending_s tfrt_device_lending_t;
typedef struct tfrt_device_loan_s tfrt_device_loan_t;

// The bytes of a ticket. Only processes of one machine exchange them.
#define TFRT_DEVICE_TICKET_SIZE 192

typedef struct tfrt_device_ticket_s {
  uint8_t bytes[TFRT_DEVICE_TICKET_SIZE];
} tfrt_device_ticket_t;

// The live objects, for tests and for people.
typedef struct tfrt_device_lending_counts_s {
  size_t loans;    // that have not ended, or that are taken
  size_t taken;    // of these
  size_t guests;   // connections from borrowers
  size_t lenders;  // connections to lenders
  size_t fetches;  // under way
} tfrt_device_lending_counts_t;

// Sets |*out_lending| (+1) to a new one, which fetches in the blocking threads of |work_queue|
// (retained). Thread-safe.
tfrt_status_t tfrt_device_lending_create(tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue,
                                         tfrt_device_lending_t** out_lending) TFRT_MUST_USE;

// Refuses new loans and fetches. Waits for loans that are taken, for at most two seconds, then
// drops all connections. Idempotent. Not to be called by a task of the work queue. Thread-safe.
void tfrt_device_lending_close(tfrt_device_lending_t* lending);

// Adds one reference to |lending| and returns it. Thread-safe.
tfrt_device_lending_t* tfrt_device_lending_retain(tfrt_device_lending_t* lending);

// Drops one reference; NULL is allowed. The last one drops it closed. Thread-safe.
void tfrt_device_lending_release(tfrt_device_lending_t* lending);

// Lends the bytes of |buffer| (retained), once: sets |*out_loan| (owned by the caller), and
// |*out_ticket| for the borrower. All work that writes to the buffer is done before the borrower
// gets that. FAILED_PRECONDITION where the memory can't be lent: of a device without sharing, or
// from no pool; UNAVAILABLE without a socket, or when closed. May take the time of a driver's call.
// Thread-safe.
tfrt_status_t tfrt_device_lending_lend(tfrt_device_lending_t* lending, tfrt_device_buffer_t* buffer,
                                       tfrt_device_loan_t** out_loan,
                                       tfrt_device_ticket_t* out_ticket) TFRT_MUST_USE;

// Ends |loan|; NULL is allowed. The memory stays for a borrower that has it open. Thread-safe.
void tfrt_device_loan_end(tfrt_device_loan_t* loan);

// Copies what the untrusted |size| bytes at |ticket| name, another process's memory, to the
// beginning of |target|, of the port's device; it must have |target|'s size. Returns a chain (+1,
// never NULL) that is available when the bytes are there and the other process's memory is closed,
// or an error; no work touches |target| any more then. Never blocks. Thread-safe.
tfrt_async_value_t* tfrt_device_lending_fetch(tfrt_device_lending_t* lending, const void* ticket,
                                              size_t size, tfrt_device_port_t* port,
                                              tfrt_device_buffer_t* target) TFRT_MUST_USE;

// The number of live objects now. Thread-safe.
tfrt_device_lending_counts_t tfrt_device_lending_counts(tfrt_device_lending_t* lending);

#endif  // TFRT_DEVICES_DEVICE_LENDING_H_
