// SPDX-License-Identifier: Apache-2.0
//
// The calling convention of kernels. A kernel is a C function that gets one frame:
// arguments in, results out, attributes and functions from the program.
//
//   arguments[i]   +0, alive until the kernel returns; never an unresolved value and
//                  never an error for operands that the kernel waits for, and then
//                  never an indirect: tfrt_async_value_payload() may be used at once.
//                  An operand that is PASSED comes as it is.
//   results[i]     NULL; the kernel sets each once to a value at +1, which may be
//                  unavailable: then the kernel retains it and resolves it later. A
//                  result left NULL is an INTERNAL error; so is one that is set again,
//                  where the kernel was compiled without NDEBUG.
//   attributes[i]  the bytes of attribute i (in the order of names) as BEF encodes
//                  them; live as long as the program.
//   functions[i]   symbols in the order of their attribute names, then regions.
//
// A kernel that goes on after it has returned retains what it needs, values and the
// request, and copies the context.
//
// A kernel MUST NOT block: work that does goes to the blocking queue.
//
// Thread rule: a frame belongs to the thread that runs the kernel, while it does.
// Failure rule: a kernel reports errors with tfrt_kernel_frame_fail(), which makes
// all results that are still NULL that error, with the kernel's place as its origin.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_FRAME_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_FRAME_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/kernel/kernel_site.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/execution_context.h"

TFRT_API_BEGIN

// A call that follows a schedule; the executor's.
typedef struct tfrt_scheduled_call_s tfrt_scheduled_call_t;

typedef struct tfrt_kernel_frame_s {
  tfrt_async_value_t* const* arguments;
  tfrt_async_value_t** results;
  const void* const* attributes;
  const tfrt_function_t* const* functions;
  uint32_t argument_count;
  uint32_t result_count;
  uint32_t attribute_count;
  uint32_t function_count;
  const tfrt_call_options_t* call_options;  // NULL: none
  const tfrt_execution_context_t* context;
  const tfrt_kernel_site_t* site;                     // lives as long as the program
  const TFRT_ATOMIC(tfrt_async_value_t*)* registers;  // of the call; NULL: none
  const tfrt_scheduled_call_t* scheduled;             // the call, if it follows a schedule
} tfrt_kernel_frame_t;

typedef void (*tfrt_kernel_fn_t)(tfrt_kernel_frame_t* frame);

// Sets |*out_origin| to the function, kernel and location that make |call|; the strings live as
// long as its |caller|'s program, or its |site|. Thread-safe.
static inline void tfrt_routed_call_origin(const tfrt_routed_call_t* call,
                                           tfrt_status_origin_t* out_origin) {
  tfrt_kernel_site_origin(call->caller, out_origin);
  if (!call->caller && call->site) *out_origin = *call->site;
}

// Makes |call| by |router|, or here if that is NULL. Thread-safe.
static inline void tfrt_routed_call_make(const tfrt_routed_call_t* call,
                                         tfrt_call_router_t* router) {
  if (router) {
    router->vtable->call(router, call);
    return;
  }
  tfrt_execution_context_t context = *call->context;
  tfrt_call_options_place(call->options, &context);
  tfrt_function_execute(call->function, &context, call->arguments, call->results);
}

// True if nobody but |frame| has argument |index|: neither another kernel, nor the caller of
// the function, nor an indirect value that others hold. Then a kernel that the op table
// lets CONSUME the operand may reuse its payload. A native function is never told so. Frame's
// thread only.
bool tfrt_kernel_frame_is_unique(const tfrt_kernel_frame_t* frame, uint32_t index);

// Makes every result of |frame| that is still NULL the error |status| (consumed) with
// the kernel's place as its origin. Frame's thread only.
void tfrt_kernel_frame_fail_take(tfrt_kernel_frame_t* frame, tfrt_status_t status);

// The same for a code and a formatted message. Frame's thread only.
void tfrt_kernel_frame_fail(tfrt_kernel_frame_t* frame, tfrt_status_code_t code, const char* format,
                            ...) TFRT_PRINTF(3, 4);

// Makes result |index| of |frame|, which has a value already, an INTERNAL error that says so;
// drops that value and |value|. Only for tfrt_kernel_frame_set(). Frame's thread only.
void tfrt_kernel_frame_set_again(tfrt_kernel_frame_t* frame, uint32_t index,
                                 tfrt_async_value_t* value);

// --- Arguments, attributes and results of builtin types ----------------------

// Notes that the kernel of |frame| reads argument |index| as a |type_id|, which it isn't: the
// kernel fails when it has returned. Only for the accessors below. Frame's thread only.
TFRT_COLD void tfrt_kernel_frame_note_misread(const tfrt_kernel_frame_t* frame, uint32_t index,
                                              tfrt_type_id_t type_id);

// The payload of argument |index|, which is available and no error. Frame's thread only.
static inline void* tfrt_kernel_frame_payload(const tfrt_kernel_frame_t* frame, uint32_t index) {
  tfrt_async_value_t* argument = frame->arguments[index];
  TFRT_ASYNC_VALUE_REQUIRE(tfrt_async_value_is_available(argument), argument,
                           TFRT_ASYNC_VALUE_READ_UNRESOLVED);
  return tfrt_async_value_payload(argument);
}

// The same for an argument of the builtin type |type_id|. Frame's thread only.
static inline const void* tfrt_kernel_frame_scalar(const tfrt_kernel_frame_t* frame, uint32_t index,
                                                   tfrt_type_id_t type_id) {
#ifdef NDEBUG
  (void)type_id;
#else
  if (TFRT_UNLIKELY(frame->arguments[index]->type_id != type_id)) {
    tfrt_kernel_frame_note_misread(frame, index, type_id);
  }
#endif
  return tfrt_kernel_frame_payload(frame, index);
}
static inline bool tfrt_kernel_frame_i1(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const bool*)tfrt_kernel_frame_scalar(frame, index, TFRT_TYPE_I1);
}
static inline int32_t tfrt_kernel_frame_i32(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const int32_t*)tfrt_kernel_frame_scalar(frame, index, TFRT_TYPE_I32);
}
static inline int64_t tfrt_kernel_frame_i64(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const int64_t*)tfrt_kernel_frame_scalar(frame, index, TFRT_TYPE_I64);
}
static inline float tfrt_kernel_frame_f32(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const float*)tfrt_kernel_frame_scalar(frame, index, TFRT_TYPE_F32);
}
static inline double tfrt_kernel_frame_f64(const tfrt_kernel_frame_t* frame, uint32_t index) {
  return *(const double*)tfrt_kernel_frame_scalar(frame, index, TFRT_TYPE_F64);
}

// Sets result |index| of |frame| to |value| (consumed; NULL: memory is out), or to a new value
// of a builtin type. Frame's thread only.
static inline void tfrt_kernel_frame_set(tfrt_kernel_frame_t* frame, uint32_t index,
                                         tfrt_async_value_t* value) {
#ifndef NDEBUG
  if (TFRT_UNLIKELY(frame->results[index])) {
    tfrt_kernel_frame_set_again(frame, index, value);
    return;
  }
#endif
  frame->results[index] = value;
}
static inline void tfrt_kernel_frame_set_i1(tfrt_kernel_frame_t* frame, uint32_t index,
                                            bool value) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_create_i1(value));
}
static inline void tfrt_kernel_frame_set_i32(tfrt_kernel_frame_t* frame, uint32_t index,
                                             int32_t value) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_create_i32(value));
}
static inline void tfrt_kernel_frame_set_i64(tfrt_kernel_frame_t* frame, uint32_t index,
                                             int64_t value) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_create_i64(value));
}
static inline void tfrt_kernel_frame_set_f32(tfrt_kernel_frame_t* frame, uint32_t index,
                                             float value) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_create_f32(value));
}
static inline void tfrt_kernel_frame_set_f64(tfrt_kernel_frame_t* frame, uint32_t index,
                                             double value) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_create_f64(value));
}
static inline void tfrt_kernel_frame_set_ready_chain(tfrt_kernel_frame_t* frame, uint32_t index) {
  tfrt_kernel_frame_set(frame, index, tfrt_async_value_ready_chain());
}

// Takes result |index|, which a function that was called with |frame->results| may have set, back
// (+1, or NULL), for the kernel to set another one. Frame's thread only.
static inline tfrt_async_value_t* tfrt_kernel_frame_take(tfrt_kernel_frame_t* frame,
                                                         uint32_t index) {
  tfrt_async_value_t* value = frame->results[index];
  frame->results[index] = NULL;
  return value;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_FRAME_H_
