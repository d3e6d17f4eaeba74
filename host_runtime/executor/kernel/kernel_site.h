// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel stands in its program: what its errors name as their origin, and what can be known
// there of its users. Found in what the program was resolved to when somebody asks, so that no call
// pays for it.
//
// Life: as long as its program; an object that keeps a site retains the program.
//
// Thread rule: sites are immutable; everything here is thread-safe.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_SITE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_SITE_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"

TFRT_API_BEGIN

typedef struct tfrt_kernel_site_s tfrt_kernel_site_t;

// The origin of errors of the kernel at |site|: function, kernel, location. In a region, such as
// the body of a loop, it is the function that contains it. The strings live as long as the program.
// Thread-safe.
void tfrt_kernel_site_origin(const tfrt_kernel_site_t* site, tfrt_status_origin_t* out_origin);

// Sets |hosts|, with room for |room|, to the ranks of the calls with a host, in the same function,
// to which result |result| of the kernel at |site| is an argument, once for each; returns how many.
// For a result with many users some may be missing. Sets |*out_all| to true if none is, and the
// result has no other use: no other kernel has it, nor does the function return it. Thread-safe.
uint32_t tfrt_kernel_site_user_hosts(const tfrt_kernel_site_t* site, uint32_t result,
                                     uint32_t* hosts, uint32_t room, bool* out_all);

// Returns true if argument |index| of the kernel at |site|, which may be NULL, is an argument of
// the function and a chain by its type. Thread-safe.
bool tfrt_kernel_site_takes_chain(const tfrt_kernel_site_t* site, uint32_t index);

// Returns true if the kernel at |site|, which may be NULL, waits for its argument |index|: it is
// not passed on in any state (as with `bef.nonstrict`). Thread-safe.
bool tfrt_kernel_site_waits_for(const tfrt_kernel_site_t* site, uint32_t index);

// The program (+0) that |site| belongs to; an object that keeps a site retains it. Thread-safe.
struct tfrt_program_s* tfrt_kernel_site_program(const tfrt_kernel_site_t* site);

// Keeps |site|, which may be NULL, alive by a reference to its program, and returns it; drops
// that. For kernels that go on after they have returned. Thread-safe.
const tfrt_kernel_site_t* tfrt_kernel_site_retain(const tfrt_kernel_site_t* site);
void tfrt_kernel_site_release(const tfrt_kernel_site_t* site);

// A number that no other op of the program has: the place of its location in the file.
// Thread-safe.
uint32_t tfrt_kernel_site_location(const tfrt_kernel_site_t* site);

// Appends the debug name of the kernel at |site|, which the program gives in its location, to
// |out|; returns false if it has none. Thread-safe, as |out| is.
bool tfrt_kernel_site_append_debug_name(const tfrt_kernel_site_t* site, tfrt_string_builder_t* out);

// Resolves |value|, a result that the kernel at |site| keeps to resolve later, as the
// error |status| (consumed), with that place as its origin. Thread-safe.
void tfrt_kernel_site_fail_take(const tfrt_kernel_site_t* site, tfrt_async_value_t* value,
                                tfrt_status_t status);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_KERNEL_KERNEL_SITE_H_
