// SPDX-License-Identifier: Apache-2.0
//
// When gRPC tells the other side of a stream that bytes have been read.
//
// gRPC's core 29 (1.50 and 1.51) does so whenever a read begins below the window that the stream
// began with, so after each message. Where nothing is written to the stream just then, that is a
// packet of its own, which takes nearly as long as a short message and wakes the other side's
// reader for nothing. Later versions let it wait for the next write until half of the window is
// used. Here it waits, too, on threads that ask for it, until TFRT_GRPC_WINDOW_SLACK bytes are.
//
// How: the library calls the function that decides through its procedure linkage table, so that a
// program's own one takes its place, which asks the original and changes the answer. It is built
// for core 29 only, as it has to know how that passes the answer.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_WINDOW_UPDATE_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_WINDOW_UPDATE_H_

// What may have been read without the other side's knowing, in bytes: a batch of the size that
// senders choose. Streams have a window that is many times as large (channel_arguments.c).
#define TFRT_GRPC_WINDOW_SLACK (64 * 1024)

// Has updates wait that become due while the calling thread works for gRPC, from now on. For
// threads that handle nothing but streams with a window of ours. Thread-safe.
void tfrt_grpc_window_update_wait_here(void);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_WINDOW_UPDATE_H_
