// SPDX-License-Identifier: Apache-2.0
//
// The resolved form of BEF functions, which program_loader.c prepares and executor.c walks. Private
// to the executor.
//
// A site is small, for there are as many as ops: registers and users are read in the BEF image,
// and what a kernel is bound to is shared by all sites of it that have nothing of their own.
//
//   site --> record: arguments, results, users         in the image
//       \-> binding: C function, uses, attributes ...   one for many sites
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_IMPL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_IMPL_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/sync_frame.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/resource_context.h"

typedef struct tfrt_bef_callable_s tfrt_bef_callable_t;
typedef struct tfrt_schedule_s tfrt_schedule_t;
typedef struct tfrt_race_watch_s tfrt_race_watch_t;

// The location of what is no kernel but a native function.
#define TFRT_KERNEL_SITE_NATIVE UINT32_MAX

// The effects of a kernel besides its results, where it runs at all (call_forecast.h).
typedef enum tfrt_kernel_idleness_e {
  TFRT_KERNEL_ACTS = 0,        // something, or that is not known
  TFRT_KERNEL_IDLE_PURE,       // nothing
  TFRT_KERNEL_IDLE_FAILED,     // nothing, after it has failed (TFRT_KERNEL_FAILS_AGAIN)
  TFRT_KERNEL_IDLE_CALL,       // what one of its functions does (TFRT_KERNEL_HANDS_ON)
  TFRT_KERNEL_IDLE_LOOP,       // what its function does, which is called on its own results
  TFRT_KERNEL_IDLE_FUNCTIONS,  // what its functions do, with whatever arguments
} tfrt_kernel_idleness_t;

// The binding of a kernel of a function.
typedef struct tfrt_kernel_binding_s {
  union {
    tfrt_kernel_fn_t run;            // in an asynchronous or native function
    tfrt_sync_kernel_fn_t run_sync;  // in a synchronous function
  };
  const char* name;
  const tfrt_bef_callable_t* owner;
  const uint8_t* records;         // from where the sites say where their records are
  const void* const* attributes;  // addresses in the image
  const tfrt_function_t* const* functions;
  const uint8_t* uses;                      // per argument: tfrt_operand_use_t
  const tfrt_type_id_t* checks;             // per argument: type to check at run time, 0: none
  const tfrt_type_id_t* result_checks;      // the same per result; NULL: trust the kernel
  const tfrt_call_options_t* call_options;  // NULL: none
  const tfrt_race_watch_t* watch;           // NULL unless the program is watched (race_watch.h)
  tfrt_async_value_t* constant;  // +0: what the kernel makes each time (schedule.h); or NULL
  uint32_t attribute_count;
  uint32_t function_count;
  uint32_t waited_count;  // arguments that are not PASSED
  bool nonstrict;         // has PASSED arguments
  // Takes any number of operands and a chain behind them: the last argument may be that chain.
  bool may_end_in_chain;
  // Has neither attributes, functions, options nor checks.
  bool is_plain;
  // May run before its arguments are there (TFRT_KERNEL_WAITS_ITSELF).
  bool takes_late;
  uint8_t idleness;  // tfrt_kernel_idleness_t
} tfrt_kernel_binding_t;

// One kernel of a function, resolved; or, as the only site of a native function, that itself.
struct tfrt_kernel_site_s {
  const tfrt_kernel_binding_t* binding;
  uint32_t record_offset;  // in bytes, from |binding->records|
  union {
    struct {
      uint32_t stream_id : 29;  // at most the number of kernels, and each has a record
      uint32_t expensive : 1;   // its stream may be worth a thread of its own (schedule_builder.h)
      uint32_t early : 1;       // its stream leads to a non-strict kernel (schedule_builder.h)
      uint32_t prompt : 1;      // a constant, which takes no time (schedule.h)
    };
    // In a synchronous function: the end of its part of |dead| of the function, which begins where
    // that of the site before ends.
    uint32_t dead_end;
  };
};

// The record of |site|, which is bound. Thread-safe.
static inline const tfrt_bef_record_t* tfrt_kernel_site_record(const tfrt_kernel_site_t* site) {
  // Records begin at multiples of 4 in an image that does so, too.
  return (const tfrt_bef_record_t*)(const void*)(site->binding->records + site->record_offset);
}

// How the users of a register ask for its value.
enum tfrt_register_flag_bits_e {
  TFRT_REGISTER_DEMANDED = 1u << 0,  // some kernel needs the payload
  TFRT_REGISTER_AWAITED = 1u << 1,   // some kernel only waits for it
  // Somebody may take the register before it is set: the function's result, or a
  // PASSED argument. Setting it is a compare-and-swap then.
  TFRT_REGISTER_ANTICIPATED = 1u << 2,
  // Some kernel runs only when the value is there, or settled: it neither waits itself nor only
  // hands the value on.
  TFRT_REGISTER_NEEDED = 1u << 3,
};

// A function that can be called, of any kind. A native one has one site and nothing behind it.
struct tfrt_bef_callable_s {
  tfrt_function_t base;
  const tfrt_bef_function_t* bef;
  tfrt_program_t* owner;      // +0: belongs to it
  tfrt_kernel_site_t* sites;  // per kernel of |bef|; [0] is the pseudo kernel
  uint8_t* register_flags;    // per register
  uint32_t* nonstrict;        // indices of kernels with PASSED arguments
  uint32_t nonstrict_count;
  // Per kernel: 0, or behind which byte of |passed_users| those of its users begin.
  const uint32_t* first_passed_users;
  const uint8_t* passed_users;  // per word of users: PASSED? NULL: none is
  const uint32_t* dead;  // synchronous: registers that nobody reads behind a kernel, by kernel
  const tfrt_schedule_t* schedule;  // NULL: none
};

// The replacement for the file in a program without one, which is a single op (single_op.h).
typedef struct tfrt_program_op_s {
  tfrt_bef_source_location_t place;         // where its maker says that it stands
  const tfrt_function_t* const* functions;  // of other programs, which are retained
  uint32_t function_count;
} tfrt_program_op_t;

// A kernel with an action for cancelled calls; there are few.
typedef struct tfrt_program_withdrawal_s {
  const struct tfrt_program_withdrawal_s* next;
  const tfrt_kernel_site_t* site;
  tfrt_kernel_withdraw_fn_t run;
} tfrt_program_withdrawal_t;

// A program: the file, and its functions in the file's order.
struct tfrt_program_s {
  tfrt_ref_count_t ref_count;
  // Each task changes |ref_count|, and each kernel reads what is behind it: on lines of their own.
  char unused[64 - sizeof(tfrt_ref_count_t)];
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;  // everything below lies in it
  tfrt_bef_file_t* file;
  const tfrt_program_op_t* op;  // NULL, unless |file| is
  const uint8_t* attributes;    // the attribute section
  size_t attributes_size;
  uint32_t function_count;
  tfrt_bef_callable_t* functions;
  const tfrt_program_withdrawal_t* withdrawals;
  tfrt_error_listener_t error_listener;
  tfrt_resource_context_t resources;  // what kernels keep as long as the program lives
  bool watches_races;                 // race_watch.h
};

// Per word of the users of |site| of |callable|: are its results only passed to it? NULL: to none.
// Thread-safe.
static inline const uint8_t* tfrt_bef_callable_passed_users(const tfrt_bef_callable_t* callable,
                                                            const tfrt_kernel_site_t* site) {
  if (TFRT_LIKELY(!callable->passed_users)) return NULL;
  const uint32_t first = callable->first_passed_users[site - callable->sites];
  return first > 0 ? callable->passed_users + first - 1 : NULL;
}

// Consumes |status| and returns it (+1) as an error of the kernel at |site|, after a call of the
// program's listener. Thread-safe.
tfrt_status_t tfrt_kernel_site_take_status(const tfrt_kernel_site_t* site, tfrt_status_t status);

// The place in a source text that |location|, of a kernel of |program|, stands for.
// Thread-safe.
void tfrt_program_locate(const tfrt_program_t* program, uint32_t location,
                         tfrt_bef_source_location_t* out_place);

// Calls a BEF function; the vtable entry that program_loader.c gives to its functions.
void tfrt_bef_callable_execute(const tfrt_function_t* function,
                               const tfrt_execution_context_t* context,
                               tfrt_async_value_t* const* arguments, tfrt_async_value_t** results);

// The same, for arguments that are consumed.
void tfrt_bef_callable_execute_take(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_PROGRAM_IMPL_H_
