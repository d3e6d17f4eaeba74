// SPDX-License-Identifier: Apache-2.0
//
// The objects that exist once in a process that executes programs: allocator, work queue, clock,
// kernel registry, and the objects that its kernels share. Ties the rooms of host_runtime together
// and knows no other host.
//
// Life:
//  1. Created with its parts; it owns them from then on.
//  2. Kernel rooms register into its registry.
//  3. Programs are loaded and run.
//  4. Freed when nothing runs any more: quiesces the queue first.
//
// Thread rule: immutable after set-up; thread-safe.
// Failure rule: creation fails only with RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_HOST_CONTEXT_H_
#define TFRT_HOST_RUNTIME_HOST_CONTEXT_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/executor/kernel/kernel_registry.h"
#include "host_runtime/executor/request/execution_context.h"
#include "host_runtime/executor/request/request_context.h"

TFRT_API_BEGIN

struct tfrt_host_context_s {
  tfrt_allocator_t allocator;  // for what kernels allocate
  tfrt_clock_t clock;
  tfrt_work_queue_t* work_queue;     // +1
  tfrt_kernel_registry_t* registry;  // owned
  // Where the files lie that programs name with relative paths; NULL: in the process's
  // working directory. Set before the first program runs; outlives the host context.
  const char* data_directory;
  tfrt_resource_context_t shared;  // what all requests of the host share
};

// Sets |*out_host| to a new host context that takes over |work_queue| (also when it
// fails). |allocator| is for kernels alone: what it counts or refuses is the program's.
// Thread-safe.
tfrt_status_t tfrt_host_context_allocate(tfrt_allocator_t allocator, tfrt_clock_t clock,
                                         tfrt_work_queue_t* work_queue,
                                         tfrt_host_context_t** out_host) TFRT_MUST_USE;

// Waits until the queue is quiescent and gives |host| back; NULL is allowed.
// Thread-compatible.
void tfrt_host_context_free(tfrt_host_context_t* host);

// Appends the path of the file that a program calls |path| to |out|: |path| itself if it is
// absolute or has a scheme (file_system.h), else the file of that name in the host's data
// directory, or, if there is none, in the process's working directory. Thread-safe, as |out| is.
void tfrt_host_context_resolve_path(const tfrt_host_context_t* host, tfrt_string_view_t path,
                                    tfrt_string_builder_t* out);

// The context in which a top-level call of |request| runs on |host|: in the queue of its own, if it
// has one. Thread-safe.
static inline tfrt_execution_context_t tfrt_host_context_execution(
    tfrt_host_context_t* host, tfrt_request_context_t* request) {
  tfrt_work_queue_t* own = request ? request->options.work_queue : NULL;
  const char* device = request ? request->options.device : NULL;
  tfrt_execution_context_t context = {host, request, own ? own : host->work_queue, NULL, device};
  return context;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_HOST_CONTEXT_H_
