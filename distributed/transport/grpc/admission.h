// SPDX-License-Identifier: Apache-2.0
//
// Admission at a port in plain text. This process accepts the connections itself, hands them to
// gRPC, and watches each until its dialler has shown the key or sent a first message.
//
//   in the system's queue --room--> WAITING --a call--> CALLING --accepted with a key--> admitted
//                                      |                   |    or its first message
//                                      +----too long,------+--> reset
//                                           too many bytes
//
// One thread watches, and never calls gRPC: a thread that does may have to read, for gRPC, from a
// connection that never ends to send. Another one hands the connections to gRPC.
//
// A connection that is not admitted is a stranger's. gRPC gives each stream of HTTP/2 some 10 KB as
// soon as its header comes, however many come and are reset. Its threads do nothing else while
// there is more to read. So a stranger may send few bytes, begin few calls, and may wait for a few
// seconds; a
// dialler that is a peer sends one header with the key, or a short message first. There is a limit
// to the strangers at a time. Strangers beyond it wait in the system's queue. If some of one
// address have been silent for a while, the oldest of them is reset to make room. Descriptors are
// left for the process's own files and dials: a connection that would take one of the last is
// reset, and its dialler comes again.
//
// Why not gRPC's own listener: it has no limit to connections, can't end one, and gives up the port
// for good once it gets no descriptor. TLS needs that listener (grpc_transport.c), as gRPC takes a
// socket over in plain text only; strangers have no certificate, and so no stream, there.
//
// Life: allocated, when it listens; started with a server; stopped; released. A connection of the
// server retains it while it may ask for admission.
//
// Thread rule: thread-safe but for its life; it has two threads of its own. Failure rule: as
// tfrt_transport_listen().
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADMISSION_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADMISSION_H_

#include <grpc/grpc.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/grpc/address.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_grpc_admission_s tfrt_grpc_admission_t;

// Listens on |address|, which is TFRT_GRPC_ADDRESS_NUMERIC, and sets |*out_admission| (+1) and
// |*out_port|. |settings| are copied. ABORTED if the system refuses the address: then
// tfrt_grpc_address_explain() says why. Thread-safe.
tfrt_status_t tfrt_grpc_admission_create(const char* address,
                                         const tfrt_grpc_channel_settings_t* settings,
                                         tfrt_allocator_t allocator, int* out_port,
                                         tfrt_grpc_admission_t** out_admission) TFRT_MUST_USE;

// Begins to accept connections for |server|, which has started. To be called once.
// RESOURCE_EXHAUSTED without threads. Thread-compatible.
tfrt_status_t tfrt_grpc_admission_start(tfrt_grpc_admission_t* admission, grpc_server* server)
    TFRT_MUST_USE;

// Closes the port; strangers are left to the server. At most once. Thread-compatible.
void tfrt_grpc_admission_stop(tfrt_grpc_admission_t* admission);

// Adds a reference; removes one. Thread-safe.
tfrt_grpc_admission_t* tfrt_grpc_admission_retain(tfrt_grpc_admission_t* admission);
void tfrt_grpc_admission_release(tfrt_grpc_admission_t* admission);

// Notes that |call| has come on one of the connections: it |is_probe| of the health service, or one
// for a peer. Returns the number of the connection; 0 if that is admitted already, or is reset now
// because of its many calls. Thread-safe.
uint64_t tfrt_grpc_admission_note_call(tfrt_grpc_admission_t* admission, grpc_call* call,
                                       bool is_probe);

// Admits the connection |number|; none for 0, or one that is gone. Thread-safe.
void tfrt_grpc_admission_admit(tfrt_grpc_admission_t* admission, uint64_t number);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADMISSION_H_
