// SPDX-License-Identifier: Apache-2.0
//
// The calling convention of synchronous kernels: those of functions that are marked
// `tfrt.sync`, whose kernels run one after the other on the calling thread, on plain values
// (sync_value.h). Such a kernel reads its arguments from the registers of the call and puts
// its results there.
//
//   registers[arguments[i]]   argument i; of the type that the op table says
//   registers[results[i]]     result i; empty until the kernel sets it
//   attributes, functions     as in a kernel frame (kernel_frame.h)
//
// A kernel ends in one of three ways. It sets all of its results. Or it fails
// (tfrt_sync_frame_fail()), which ends the whole call. Or it names a function whose results become
// its own: tfrt_sync_frame_call(), or tfrt_sync_frame_loop() for a function that is called again on
// its own results. The interpreter runs that function after the kernel has returned, so that calls
// nest in memory and not on the C stack.
//
// A kernel neither waits nor hands out anything for later.
//
// Thread rule: a frame belongs to the thread that runs the kernel, while it does.
// Failure rule: the first error ends the call; it has the kernel's place as its origin.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_FRAME_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_FRAME_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/sync_value.h"

TFRT_API_BEGIN

typedef struct tfrt_sync_frame_s {
  tfrt_sync_value_t* registers;
  const uint32_t* arguments;
  const uint32_t* results;
  const void* const* attributes;
  const tfrt_function_t* const* functions;
  uint32_t argument_count;
  uint32_t result_count;
  uint32_t attribute_count;
  uint32_t function_count;
  const tfrt_execution_context_t* context;
  const tfrt_kernel_site_t* site;  // lives as long as the program
  // The kernel's request to the interpreter.
  tfrt_status_t error;            // +1; NULL: none
  const tfrt_function_t* callee;  // NULL: none
  uint32_t first_argument;        // of the frame that is the callee's first
  int64_t turns;                  // of the callee; negative: as long as its last result is true
} tfrt_sync_frame_t;

typedef void (*tfrt_sync_kernel_fn_t)(tfrt_sync_frame_t* frame);

// Ends the call with the error |status| (consumed), whose origin is the kernel's place; of
// several, the first one counts. Frame's thread only.
void tfrt_sync_frame_fail_take(tfrt_sync_frame_t* frame, tfrt_status_t status);

// The same for a code and a formatted message. Frame's thread only.
void tfrt_sync_frame_fail(tfrt_sync_frame_t* frame, tfrt_status_code_t code, const char* format,
                          ...) TFRT_PRINTF(3, 4);

// Makes the results of |function|, one of the frame's, called with the arguments from
// number |first_argument| on, the kernel's; fails the frame if they don't fit. Frame's
// thread only.
void tfrt_sync_frame_call(tfrt_sync_frame_t* frame, const tfrt_function_t* function,
                          uint32_t first_argument);

// Calls |body|, one of the frame's functions, |turns| times: first with the kernel's arguments
// from number 1 on, then with what it gave; what it gave last becomes the kernel's results.
// With |is_while| the body gives one value more, an i1, and is called as long as that is true
// and |turns| isn't 0. Without a turn the arguments become the results, which fails the frame
// for a payload that is no plain number: it is only lent. Fails the frame if something doesn't
// fit. Frame's thread only.
void tfrt_sync_frame_loop(tfrt_sync_frame_t* frame, const tfrt_function_t* body, bool is_while,
                          int64_t turns);

// Storage for result |index|, of type |type_id|, zeroed, for the caller to construct; NULL,
// with the frame failed, when memory is out. Frame's thread only.
void* tfrt_sync_frame_construct(tfrt_sync_frame_t* frame, uint32_t index, tfrt_type_id_t type_id);

// Fails |frame|, whose result |index| has a value already, and makes that empty. Only for the
// functions that set results. Frame's thread only.
void tfrt_sync_frame_set_again(tfrt_sync_frame_t* frame, uint32_t index);

// Calls the synchronous |function| with |arguments| (borrowed) and sets the
// |function->result_count| entries of |results| to its results, which the caller clears;
// all are empty when it fails. Errors: whatever its kernels report; CANCELLED or another
// reason if the request of |context| is cancelled; RESOURCE_EXHAUSTED. Blocks until the
// function has ended. Thread-safe.
tfrt_status_t tfrt_sync_function_call(const tfrt_function_t* function,
                                      const tfrt_execution_context_t* context,
                                      const tfrt_sync_value_t* arguments,
                                      tfrt_sync_value_t* results) TFRT_MUST_USE;

// --- Arguments and results of builtin types -----------------------------------

static inline tfrt_sync_value_t* tfrt_sync_frame_argument(const tfrt_sync_frame_t* frame,
                                                          uint32_t index) {
  return &frame->registers[frame->arguments[index]];
}
static inline void* tfrt_sync_frame_payload(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_value_payload(tfrt_sync_frame_argument(frame, index));
}
static inline bool tfrt_sync_frame_i1(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_frame_argument(frame, index)->as.i1;
}
static inline int32_t tfrt_sync_frame_i32(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_frame_argument(frame, index)->as.i32;
}
static inline int64_t tfrt_sync_frame_i64(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_frame_argument(frame, index)->as.i64;
}
static inline float tfrt_sync_frame_f32(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_frame_argument(frame, index)->as.f32;
}
static inline double tfrt_sync_frame_f64(const tfrt_sync_frame_t* frame, uint32_t index) {
  return tfrt_sync_frame_argument(frame, index)->as.f64;
}

static inline tfrt_sync_value_t* tfrt_sync_frame_set(tfrt_sync_frame_t* frame, uint32_t index,
                                                     tfrt_type_id_t type_id) {
  tfrt_sync_value_t* result = &frame->registers[frame->results[index]];
#ifndef NDEBUG
  if (TFRT_UNLIKELY(result->kind != TFRT_SYNC_VALUE_EMPTY)) {
    tfrt_sync_frame_set_again(frame, index);
  }
#endif
  result->type_id = type_id;
  result->kind = TFRT_SYNC_VALUE_PLAIN;
  return result;
}
static inline void tfrt_sync_frame_set_i1(tfrt_sync_frame_t* frame, uint32_t index, bool value) {
  tfrt_sync_frame_set(frame, index, TFRT_TYPE_I1)->as.i1 = value;
}
static inline void tfrt_sync_frame_set_i32(tfrt_sync_frame_t* frame, uint32_t index,
                                           int32_t value) {
  tfrt_sync_frame_set(frame, index, TFRT_TYPE_I32)->as.i32 = value;
}
static inline void tfrt_sync_frame_set_i64(tfrt_sync_frame_t* frame, uint32_t index,
                                           int64_t value) {
  tfrt_sync_frame_set(frame, index, TFRT_TYPE_I64)->as.i64 = value;
}
static inline void tfrt_sync_frame_set_f32(tfrt_sync_frame_t* frame, uint32_t index, float value) {
  tfrt_sync_frame_set(frame, index, TFRT_TYPE_F32)->as.f32 = value;
}
static inline void tfrt_sync_frame_set_f64(tfrt_sync_frame_t* frame, uint32_t index, double value) {
  tfrt_sync_frame_set(frame, index, TFRT_TYPE_F64)->as.f64 = value;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_SYNC_FRAME_H_
