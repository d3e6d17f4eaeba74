// SPDX-License-Identifier: Apache-2.0
//
// Which runtime this is: its version, the version of its interface, and which copy of it.
//
// A kernel library that is loaded at run time was compiled against some state of these headers.
// TFRT_API_VERSION is that state as one number: it grows whenever a layout, a constant or a rule
// in a public header changes, and a library with another number is refused when it is loaded.
//
// One process has one runtime: types, for example, are numbered once. A library that was linked
// with a runtime of its own would number them again; tfrt_runtime_identity() tells such a copy.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_VERSION_H_
#define TFRT_HOST_RUNTIME_BASE_VERSION_H_

#include <stdint.h>

#include "host_runtime/base/macros.h"

// The version of the project; the first number is also that of libtfrt.so.
#define TFRT_VERSION "0.1.0"

// The version of the interface that these headers describe.
#define TFRT_API_VERSION 7

TFRT_API_BEGIN

// The version of the interface that the runtime in this process was built with. Thread-safe.
uint32_t tfrt_api_version(void);

// The version of the runtime in this process, as TFRT_VERSION. Static. Thread-safe.
const char* tfrt_version(void);

// An address that differs between two copies of the runtime in one process. Thread-safe.
const void* tfrt_runtime_identity(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_VERSION_H_
