// SPDX-License-Identifier: Apache-2.0
//
// The least time for a transfer of a device's memory to another process through the memory of the
// host: the plain driver, pinned pieces, and a bare TCP socket on the loopback interface.
//
//   sender                                            receiver (starts the sender)
//   device --copy--> piece k+1                        piece k-1 --copy--> device
//                    piece k ----send----> recv ----> piece k
//
// Life:
//  1. Opened: the sender, this program with `--send PORT`, is started and has its memory.
//  2. Run any number of times: all of the sender's memory comes to the receiver's.
//  3. Closed: the sender ends.
//
// Thread rule: one thread. Failure rule: as tests/gpu/device_bench.h.
#ifndef TFRT_TESTS_GPU_STAGED_PIPE_H_
#define TFRT_TESTS_GPU_STAGED_PIPE_H_

#include <sys/types.h>

#include "tests/gpu/device_bench.h"

#define TFRT_STAGED_PIPE_PIECE_SIZE ((size_t)1 << 20)
#define TFRT_STAGED_PIPE_PIECES 4

// The size of a transfer, in bytes: a multiple of the piece's size.
#define TFRT_STAGED_PIPE_SIZE ((size_t)256 << 20)
#define TFRT_STAGED_PIPE_SIZE_FOR_SHOW ((size_t)6 << 20)

// One end: memory of the device, and pinned pieces, each with what was last done with it.
typedef struct tfrt_staged_pipe_s {
  const tfrt_device_bench_t* bench;
  size_t size;
  int socket;
  pid_t sender;  // 0: this is it
  tfrt_cuda_address_t memory;
  void* pieces[TFRT_STAGED_PIPE_PIECES];
  tfrt_cuda_event_handle_t copied[TFRT_STAGED_PIPE_PIECES];
} tfrt_staged_pipe_t;

// Opens the receiver's end of |pipe|, for as much as |bench| moves. Thread-compatible.
void tfrt_staged_pipe_open(tfrt_staged_pipe_t* pipe, const tfrt_device_bench_t* bench);

// Moves everything once. |pipe| is a tfrt_staged_pipe_t. Thread-compatible.
void tfrt_staged_pipe_run(void* pipe);

// Checks that what has come, at least once, is what was sent; gives back what |pipe| holds.
// Thread-compatible.
void tfrt_staged_pipe_close(tfrt_staged_pipe_t* pipe);

// Is the sender of the receiver that listens on |port|, until that closes its end.
// Thread-compatible.
void tfrt_staged_pipe_send(const tfrt_device_bench_t* bench, int port);

#endif  // TFRT_TESTS_GPU_STAGED_PIPE_H_
