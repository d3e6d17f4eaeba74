// SPDX-License-Identifier: Apache-2.0
//
// gRPC as a part of this process: started with the first user, shut down with the last,
// and made to keep quiet. What gRPC has to say goes to the log as *debug*: all that
// matters of it reaches somebody as an error, and an error is told once.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_GRPC_PROCESS_H_
#define TFRT_DISTRIBUTED_GRPC_PROCESS_H_

// Starts gRPC, or adds a user. Thread-safe.
void tfrt_grpc_process_enter(void);

// Removes a user; with the last one, returns when gRPC has shut down. From no thread of
// gRPC's. Thread-safe.
void tfrt_grpc_process_leave(void);

#endif  // TFRT_DISTRIBUTED_GRPC_PROCESS_H_
