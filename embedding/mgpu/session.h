// SPDX-License-Identifier: Apache-2.0
//
// The devices of a process whose compiled programs use them: opened with the first call that needs
// one, which may be a constructor, and closed at the end of the process.
//
//   TFRT_MGPU_DEVICE   cuda, cpu; without it: cuda if there is a driver with a device, else cpu
//
//   closed --first use--> open, or without any device --close--> closed
//
// When the session has ended, calls do nothing any more; it is closed for good then.
//
// Thread rule: thread-safe, but for closing.
// Failure rule: errors go to tfrt_mgpu_check(), which logs them.
#ifndef TFRT_EMBEDDING_MGPU_SESSION_H_
#define TFRT_EMBEDDING_MGPU_SESSION_H_

#include <stdbool.h>

#include "devices/device_allocator.h"
#include "devices/device_stream.h"

// The most devices of a process that are used.
#define TFRT_MGPU_MAX_DEVICES 64

// A device with the objects that its calls share. Constant once it is made.
typedef struct tfrt_mgpu_device_s {
  tfrt_device_t* device;                   // +1
  tfrt_device_allocator_t* memory;         // +1; of the device
  tfrt_device_allocator_t* shared_memory;  // +1; of the host
  tfrt_device_stream_t* stream;            // +1; of calls without one
} tfrt_mgpu_device_t;

// Returns true if |status| is OK; logs and consumes it else, as an error of |function|.
// Thread-safe.
bool tfrt_mgpu_check(tfrt_status_t status, const char* function);

// How many errors were logged. Thread-safe.
int64_t tfrt_mgpu_error_count(void);

// Makes |ordinal| the default of the calling thread. Thread-safe.
void tfrt_mgpu_session_set_default(int32_t ordinal);

// The default device (+0) of the calling thread, opened if need be; NULL if there is none, which is
// logged as an error of |function|. Thread-safe.
const tfrt_mgpu_device_t* tfrt_mgpu_session_device(const char* function);

// The session's device (+0) that is |device|, one that it has given out. Thread-safe.
const tfrt_mgpu_device_t* tfrt_mgpu_session_find(const tfrt_device_t* device);

// Lets the next opening take the library at |path| (static) for CUDA's driver. Thread-compatible.
void tfrt_mgpu_session_use_cuda_library_for_testing(const char* path);

// Gives all devices back; nothing of them may be in use. Thread-compatible.
void tfrt_mgpu_session_close(void);

// Lets |run| be called at the end of the process, before a driver that was opened ends.
// Thread-compatible.
void tfrt_mgpu_session_at_exit(void (*run)(void));

// Ends the session: calls that begin later find no device. The caller closes it then. Thread-safe.
void tfrt_mgpu_session_end(void);

// Returns true behind that. Thread-safe.
bool tfrt_mgpu_session_has_ended(void);

#endif  // TFRT_EMBEDDING_MGPU_SESSION_H_
