// SPDX-License-Identifier: Apache-2.0
//
// Watches the memory that the kernels of a run read and write, and reports two kernels whose
// accesses nothing orders: a debug mode for programs with chains by hand
// (tfrt_kernel_registry_set_race_checks()). A program that isn't watched pays nothing: the binding
// of each kernel of a watched one runs the kernel through tfrt_race_watch_run().
//
//   run of a kernel   gets a number for each memory that it reads or writes
//   value             comes behind the numbers of the run that made it and of those before
//   memory            the last accesses: their numbers and kernels
//
// A kernel that accesses memory must come behind the last accesses of it, by the values that it
// waits for; else the two may run in either order, or at once, even if they didn't this time. Each
// pair of ops is reported once, as an error of the later one, to the listener of its program. The
// kernel still runs.
//
// Functions that are set for types (race_memory.h) name the memory of values; else a payload of one
// pointer stands for what it points to, and any other for itself. Values that come from other
// hosts, from synchronous and native functions and from kernels that run functions in their own way
// come behind all that was begun before.
//
// Life:
//  1. The loader asks for what a kernel does with its arguments, for each binding.
//  2. Kernels run.
//  3. A program that ends is forgotten.
//
// Thread rule: thread-safe; one lock for the process.
// Failure rule: what memory is out for isn't watched; nothing is reported that was ordered.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_WATCH_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_WATCH_H_

#include "host_runtime/executor/program/program_impl.h"
#include "host_runtime/executor/program/race_memory.h"

// The last accesses of one memory that are kept, at most.
#define TFRT_RACE_WATCH_MAX_ACCESSES 64

// The accesses that a value is known to come behind, at most; it counts as behind all older ones.
#define TFRT_RACE_WATCH_MAX_BEHIND 256

// How the results of a kernel come about.
typedef enum tfrt_race_results_e {
  TFRT_RACE_RESULTS_OWN = 0,  // it makes them of its arguments
  TFRT_RACE_RESULTS_INNER,    // kernels of the functions that it runs make them
  TFRT_RACE_RESULTS_UNKNOWN,  // they come behind all that was begun before they are there
} tfrt_race_results_t;

struct tfrt_race_watch_s {
  tfrt_kernel_fn_t run;
  tfrt_race_results_t results;
  uint32_t done;            // the result that says that it is done; UINT32_MAX: all of them
  bool gives_new_memory;    // its results are in no memory of its arguments
  const uint8_t* accesses;  // for each argument: TFRT_RACE_*
};

// The use of the memory of an argument.
enum {
  TFRT_RACE_NONE = 0,
  TFRT_RACE_READS,
  TFRT_RACE_WRITES,
};

// Runs the kernel of |frame|, whose binding is watched. Frame's thread only.
void tfrt_race_watch_run(tfrt_kernel_frame_t* frame);

// The number of races that were found in this process. Thread-safe.
uint64_t tfrt_race_watch_found(void);

// Forgets the accesses of |program|, which ends. Thread-safe.
void tfrt_race_watch_forget(const tfrt_program_t* program);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_RACE_WATCH_H_
