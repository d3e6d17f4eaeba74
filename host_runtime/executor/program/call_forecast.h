// SPDX-License-Identifier: Apache-2.0
//
// Foretells a call of a function in which some arguments are errors: which results are errors, and
// whether the call does anything else. A loop whose carried values are errors asks, so that it need
// not take turns that change nothing.
//
//   argument            kernel                                          result
//   ERROR           --> waits for it: it is skipped                     ERROR
//   SAME, all       --> pure                                            SAME
//   OPEN            --> pure                                            OPEN
//   SAME ... ERROR  --> fails again, as a collective of a broken group  ERROR
//   any             --> has an effect: the forecast fails
//
// Calls, branches and loops are what their functions are. A call to another host may end in an
// error of its own: what it gives is ERROR or OPEN.
//
// Thread rule: thread-safe; functions are immutable.
// Failure rule: what is not known, and what is too large to look through, counts as an effect.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_CALL_FORECAST_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_CALL_FORECAST_H_

#include "host_runtime/executor/program/program.h"

// The knowledge of a value in the calls to come.
typedef enum tfrt_forecast_e {
  TFRT_FORECAST_OPEN = 0,  // nothing
  TFRT_FORECAST_SAME,      // it is the same in each call, and no error
  TFRT_FORECAST_ERROR,     // it is the same error in each call
} tfrt_forecast_t;

// Sets |out_results| to what is known of the results of calls of |function| with such |arguments|.
// Returns false, with any results, if a call may do more than to give them. The function has been
// called so before: a kernel that fails again has failed once. Thread-safe.
bool tfrt_call_forecast(const tfrt_function_t* function, const tfrt_forecast_t* arguments,
                        tfrt_forecast_t* out_results);

// Returns true if result |result| of |function| is argument |argument|, whatever that is.
// Thread-safe.
bool tfrt_call_forecast_is_argument(const tfrt_function_t* function, uint32_t result,
                                    uint32_t argument);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_PROGRAM_CALL_FORECAST_H_
