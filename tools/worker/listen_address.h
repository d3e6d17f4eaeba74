// SPDX-License-Identifier: Apache-2.0
//
// Finds out if only this machine can reach an address to listen on, or others too. Names are
// resolved first; the worker listens on exactly the address that was judged.
//
//   127.0.0.1:0, [::1]:0, unix:/path   this machine
//   localhost:0                        this machine, as 127.0.0.1:0
//   0.0.0.0:0, [::]:0, 10.0.0.1:0      others too
//
// Thread rule: thread-safe; may wait for a name server.
// Failure rule: INVALID_ARGUMENT for a text that is no address, NOT_FOUND for an unknown name.
#ifndef TFRT_TOOLS_WORKER_LISTEN_ADDRESS_H_
#define TFRT_TOOLS_WORKER_LISTEN_ADDRESS_H_

#include <stdbool.h>
#include <sys/socket.h>

#include "distributed/transport/transport.h"

typedef struct tfrt_listen_address_s {
  char text[TFRT_TRANSPORT_ADDRESS_SIZE];  // for tfrt_transport_listen()
  bool is_local;                           // nobody on another machine can reach it
} tfrt_listen_address_t;

// Judges |text|, an address as a user writes it. Whether its port is free, only listening
// tells. Thread-safe.
tfrt_status_t tfrt_listen_address_judge(const char* text, tfrt_listen_address_t* out_address)
    TFRT_MUST_USE;

// Writes the host of |text|, an address that was judged to be one, into |out_host|: without
// port and brackets; "localhost" for unix:/path. Thread-safe.
void tfrt_listen_address_host(const char* text, char out_host[TFRT_TRANSPORT_ADDRESS_SIZE]);

#endif  // TFRT_TOOLS_WORKER_LISTEN_ADDRESS_H_
