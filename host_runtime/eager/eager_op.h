// SPDX-License-Identifier: Apache-2.0
//
// Ops that are run one by one, by their names, without a program around them. A handle is made
// once and run any number of times:
//
//   name, attributes, place --registry, op table--> handle --run--> results
//   @function of a program  ----------------------> handle --run--> results   (composite op)
//
// In a request that runs on several hosts, a composite op, or any that was made to be portable, is
// run on any of them (tfrt_eager_op_run_on()): its program is sent there once.
//
// A run has the same meaning as in a program. Arguments are AsyncValues in any state, and the op
// starts when the arguments that it waits for are available. An error among these becomes the op's
// results, and so does a cancel of the request. When all are available, a run allocates nothing but
// the results.
//
//   tfrt_eager_op_t* add = NULL;
//   status = tfrt_eager_op_create(host->registry,
//                                 &(tfrt_eager_op_options_t){.name = "tfrt.add.i32",
//                                                            .place = TFRT_EAGER_HERE},
//                                 &add);
//   ...
//   status = tfrt_eager_op_run(add, &context, arguments, 2, &result, 1);
//
// Life:
//  1. Created: looked up, attributes checked and encoded.
//  2. Run, with the context of a request (tfrt_host_context_execution()).
//  3. Released; runs that go on keep what they need.
//
// Thread rule: immutable after creation; thread-safe. One handle may run on many threads.
// Failure rule: what is wrong with the op is said when it is made, a wrong number of arguments
// or results when it is run; each names the op, the place and what would be right. An error of a
// run is the error of its results, with the handle's place as its origin.
#ifndef TFRT_HOST_RUNTIME_EAGER_EAGER_OP_H_
#define TFRT_HOST_RUNTIME_EAGER_EAGER_OP_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/eager/eager_attribute.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_router.h"

TFRT_API_BEGIN

typedef struct tfrt_eager_op_s tfrt_eager_op_t;

// Where an op stands, for its errors. Everything may be left out.
typedef struct tfrt_eager_place_s {
  const char* name;  // a function, or any other name
  const char* file;
  uint32_t line;  // 1-based; 0: unknown
  uint32_t column;
} tfrt_eager_place_t;

// This line.
#define TFRT_EAGER_HERE ((tfrt_eager_place_t){.name = __func__, .file = __FILE__, .line = __LINE__})

// The options of a handle. Everything is copied; functions' programs are retained.
typedef struct tfrt_eager_op_options_s {
  const char* name;                          // with its dialect, e.g. "tfrt.add.i32"
  const tfrt_eager_attribute_t* attributes;  // in any order
  uint32_t attribute_count;
  // How many arguments and results, for an op that the table gives any number of; 0: as few as
  // can be. For any other op: 0, or the number that it has.
  uint32_t argument_count;
  uint32_t result_count;
  const tfrt_bef_call_options_t* call_options;  // NULL: none
  // Other hosts can be asked to run it. Not for an op that is given functions, or writes to an
  // operand; a run here takes longer, as a call of a function of a loaded program does.
  bool is_portable;
  tfrt_eager_place_t place;
} tfrt_eager_op_options_t;

// Sets |*out_op| (+1) to the op of |options| in |registry|, which outlives it. Errors:
// NOT_FOUND (no such op), INVALID_ARGUMENT (attributes, counts), RESOURCE_EXHAUSTED.
// Thread-safe.
tfrt_status_t tfrt_eager_op_create(const tfrt_kernel_registry_t* registry,
                                   const tfrt_eager_op_options_t* options, tfrt_eager_op_t** out_op)
    TFRT_MUST_USE;

// Sets |*out_op| (+1) to the function named |name| of |program| (retained), of any kind: native
// and synchronous ones, too. Errors: NOT_FOUND, RESOURCE_EXHAUSTED. Thread-safe.
tfrt_status_t tfrt_eager_op_create_composite(tfrt_program_t* program, const char* name,
                                             tfrt_eager_op_t** out_op) TFRT_MUST_USE;

// Adds one reference to |op| and returns it. Thread-safe.
tfrt_eager_op_t* tfrt_eager_op_retain(tfrt_eager_op_t* op);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_eager_op_release(tfrt_eager_op_t* op);

// The name of |op|: of the kernel, or of the function. Lives as long as |op|. Thread-safe.
const char* tfrt_eager_op_name(const tfrt_eager_op_t* op);

// How many arguments a run of |op| gets, and how many results it gives. Thread-safe.
uint32_t tfrt_eager_op_argument_count(const tfrt_eager_op_t* op);
uint32_t tfrt_eager_op_result_count(const tfrt_eager_op_t* op);

// The type of argument, or result, |index| of |op| as MLIR prints it, or TFRT_TYPE_ANY; NULL
// beyond the last. Lives as long as |op|. Thread-safe.
const char* tfrt_eager_op_argument_type(const tfrt_eager_op_t* op, uint32_t index);
const char* tfrt_eager_op_result_type(const tfrt_eager_op_t* op, uint32_t index);

// |op| as a function (+0, lives as long as |op|): what an attribute of another op may be.
// Thread-safe.
const tfrt_function_t* tfrt_eager_op_function(const tfrt_eager_op_t* op);

// Runs |op| on |argument_count| |arguments| (+0, in any state) and sets |result_count|
// |results| to values (+1, in any state). Runs on this thread what can run now. INVALID_ARGUMENT
// if |op| has other numbers of them: then nothing has happened. Thread-safe.
tfrt_status_t tfrt_eager_op_run(const tfrt_eager_op_t* op, const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                tfrt_async_value_t** results, uint32_t result_count) TFRT_MUST_USE;

// The same, but consumes the caller's references to |arguments|, unless it fails: an op that
// may reuse a payload does so where that was the only reference. Thread-safe.
tfrt_status_t tfrt_eager_op_run_take(const tfrt_eager_op_t* op,
                                     const tfrt_execution_context_t* context,
                                     tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                     tfrt_async_value_t** results, uint32_t result_count)
    TFRT_MUST_USE;

// Runs |op|, portable or composite, where |call| says, among the hosts of the request of |context|,
// as a `tfrt.call` with these options does: on that host, within that time, again elsewhere if that
// is allowed. Arguments and results are those of tfrt_eager_op_run(): results stay on that host
// until somebody demands them here, and may be arguments of ops there. In a request of one host it
// runs here. An error of the call is the error of its results, with the handle's place.
// INVALID_ARGUMENT for other numbers, and for an op that is not portable: then nothing has
// happened. Thread-safe.
tfrt_status_t tfrt_eager_op_run_on(const tfrt_eager_op_t* op,
                                   const tfrt_execution_context_t* context,
                                   const tfrt_call_options_t* call,
                                   tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                   tfrt_async_value_t** results, uint32_t result_count)
    TFRT_MUST_USE;

// Makes the op of |options|, whose counts are ignored, on the host of |context|, runs it once as
// above and lets it go. Errors as of both. Thread-safe.
tfrt_status_t tfrt_eager_run(const tfrt_execution_context_t* context,
                             const tfrt_eager_op_options_t* options,
                             tfrt_async_value_t* const* arguments, uint32_t argument_count,
                             tfrt_async_value_t** results, uint32_t result_count) TFRT_MUST_USE;

// The same for a portable op, where |call| says. Thread-safe.
tfrt_status_t tfrt_eager_run_on(const tfrt_execution_context_t* context,
                                const tfrt_eager_op_options_t* options,
                                const tfrt_call_options_t* call,
                                tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                tfrt_async_value_t** results, uint32_t result_count) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EAGER_EAGER_OP_H_
