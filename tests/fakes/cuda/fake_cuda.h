// SPDX-License-Identifier: Apache-2.0
//
// A test double of the CUDA driver: a shared object that has its entry points, opened through
// the door of the real one (tfrt_cuda_platform_options_t::library_for_testing). It is no GPU
// and says nothing about one: it shows that *we* keep the driver's rules.
//
//   - Streams are threads, and dawdle as a seed says, so that what is not ordered happens in
//     any order.
//   - "Device memory" is the host's, with its owner written down. Freed memory is poisoned and
//     never used again.
//   - Modules are PTX texts, and the fake reads their declarations; a kernel is the C function of
//     its name.
//   - Memory of pools that are made for it is a file in memory: other processes open it, as the
//     driver's rules allow, and see what becomes of it.
//   - Every handle, address and current context is checked. A misuse by the caller is a *defect*,
//     counted and described: use after free, double free, bytes beyond the end, memory of another
//     context, memory that isn't pinned, objects that are left.
//   - Any entry point can be made to fail.
//   - Libraries on top of the driver are in it, too: cuBLAS with cuBLASLt, cuDNN and NCCL (among
//   the devices of
//     this process), computing on the host.
//
// Life of a test:
//  1. Opens the library (tfrt_fake_cuda_control()) and sets what it wants.
//  2. Uses the platform over it.
//  3. Asks for defects and for what is left, when the platform is gone.
//
// Programs that find it under the driver's name, libcuda.so.1, end with the code 70 if there were
// defects and TFRT_FAKE_CUDA_STRICT is in their environment. With TFRT_FAKE_CUDA_FORGETS, memory
// that is freed goes back to the system, so that the memory of long runs can be seen.
//
// Thread rule: thread-safe. Failure rule: as the driver's.
#ifndef TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_H_
#define TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_H_

#include <stddef.h>
#include <stdint.h>

// Where the tests find it, from the root of the tree.
#define TFRT_FAKE_CUDA_PATH "tests/fakes/cuda/libfake_cuda_driver.so"

// A cuDNN from before its backend, which does nothing at all.
#define TFRT_FAKE_OLD_CUDNN_PATH "tests/fakes/cuda/libfake_old_cudnn.so"

#define TFRT_FAKE_CUDA_DEVICE_COUNT 3

// Launches have priorities from this one to 0.
#define TFRT_FAKE_CUDA_FIRST_PRIORITY (-5)

// Control functions for tests, which the driver doesn't have.
typedef struct tfrt_fake_cuda_control_s {
  // The seed of delays of streams that are made from now on.
  void (*set_seed)(uint64_t seed);
  // The version of CUDA that the driver knows, as 13000; entry points of later ones are
  // missing. The default knows all.
  void (*set_version)(int version);
  // The |n|-th call of the entry point |name| from now on, counted from 1, returns |result|
  // and does nothing. One at a time; n = 0: none.
  void (*set_failure)(const char* name, uint32_t n, int result);
  // Lets no copy of the device |ordinal| begin from now on; -1: of none, which is so at first.
  void (*hold_copies)(int ordinal);
  // The bytes of all copies of that device that wait.
  size_t (*held_size)(void);
  // How many lists of NCCL are in their streams and wait for other members.
  size_t (*waiting_lists)(void);
  // The priority of the last launch that was given one, 0 if there was none; forgets it.
  int (*take_priority)(void);
  // Copies what is wrong into |text|, one line each, as many as fit; returns how many defects
  // there were.
  int (*defects)(char* text, size_t size);
  // How many streams, events, modules, handles and descriptors of libraries, blocks of memory and
  // contexts are left.
  int (*live)(void);
} tfrt_fake_cuda_control_t;

// Opens the library at TFRT_FAKE_CUDA_PATH and returns its control; ends the process if there
// is none. Thread-safe.
const tfrt_fake_cuda_control_t* tfrt_fake_cuda_control(void);

#endif  // TFRT_TESTS_FAKES_CUDA_FAKE_CUDA_H_
