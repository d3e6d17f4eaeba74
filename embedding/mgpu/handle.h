// SPDX-License-Identifier: Apache-2.0
//
// The handles of compiled programs: each says what it is, because MLIR 22 gives streams for events
// in some pipelines. All that are live are in one list, so that those that a program never gives
// back go at the end.
//
//   list <--> stream <--> event <--> module --> function --> function
//
// Thread rule: thread-safe, but that a handle is destroyed by one thread and used by none then.
// Failure rule: making one returns NULL when memory is out, and has released what it was given.
#ifndef TFRT_EMBEDDING_MGPU_HANDLE_H_
#define TFRT_EMBEDDING_MGPU_HANDLE_H_

#include "devices/device_event.h"
#include "devices/device_module.h"
#include "devices/device_stream.h"

typedef enum tfrt_mgpu_kind_e {
  TFRT_MGPU_STREAM = 1,
  TFRT_MGPU_EVENT,
  TFRT_MGPU_MODULE,
  TFRT_MGPU_FUNCTION,
} tfrt_mgpu_kind_t;

typedef struct tfrt_mgpu_handle_s tfrt_mgpu_handle_t;

struct tfrt_mgpu_handle_s {
  tfrt_mgpu_kind_t kind;
  union {
    tfrt_device_stream_t* stream;      // +1
    tfrt_device_event_t* event;        // +1
    tfrt_device_module_t* module;      // +1
    tfrt_device_function_t* function;  // +1
  };
  tfrt_mgpu_handle_t* functions;  // of a module; linked by |next|
  tfrt_mgpu_handle_t* next;       // of those, or of all handles
  tfrt_mgpu_handle_t* previous;
};

// Returns a new handle of |kind| for |object|, which it takes. Thread-safe.
tfrt_mgpu_handle_t* tfrt_mgpu_handle_create_take(tfrt_mgpu_kind_t kind, void* object);

// Gives |handle| back, and a module's functions with it. Thread-safe.
void tfrt_mgpu_handle_destroy(tfrt_mgpu_handle_t* handle);

// Sets |*out_function| (+0) to the handle of the kernel |name| of |module|. Thread-safe.
tfrt_status_t tfrt_mgpu_handle_function(tfrt_mgpu_handle_t* module, const char* name,
                                        tfrt_mgpu_handle_t** out_function) TFRT_MUST_USE;

// Lets the work that |stream| gets from now on start when all that the streams of its device among
// the handles have now is done. Thread-safe.
tfrt_status_t tfrt_mgpu_handle_join_all(tfrt_device_stream_t* stream) TFRT_MUST_USE;

// How many streams, events and modules are live. Thread-safe.
int64_t tfrt_mgpu_handle_live_count(void);

// Destroys all that are live. Thread-compatible.
void tfrt_mgpu_handle_destroy_all(void);

#endif  // TFRT_EMBEDDING_MGPU_HANDLE_H_
