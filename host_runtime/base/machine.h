// SPDX-License-Identifier: Apache-2.0
//
// The machine and the user of this process, as texts that processes compare.
//
// Thread rule: thread-safe.
// Failure rule: none fails. Where the system tells less, two machines may seem to be one. So a
// caller also tries before it relies on an equal text.
#ifndef TFRT_HOST_RUNTIME_BASE_MACHINE_H_
#define TFRT_HOST_RUNTIME_BASE_MACHINE_H_

#define TFRT_MACHINE_ID_SIZE 48
#define TFRT_MACHINE_PLACE_SIZE 96

// A text (constant, at most 47 bytes) that differs for each machine and each of its starts, and is
// the same in all of its containers. Thread-safe.
const char* tfrt_machine_id(void);

// A text (constant, at most 95 bytes) that is equal for processes of one machine and user that can
// reach each other's local sockets: the machine, the name space of the network, and the user.
// Thread-safe.
const char* tfrt_machine_place(void);

#endif  // TFRT_HOST_RUNTIME_BASE_MACHINE_H_
