// SPDX-License-Identifier: Apache-2.0
//
// A store of named objects that live until it ends: what kernels keep between two runs. There is
// one for each request and one for each host (singletons of the process's part); a server of many
// requests may make one that they share.
//
//   host->shared           as long as the host context          connections, caches, pools
//   options.resources      as long as its maker wants           what several requests share
//   the request's own      as long as the request               tfrt.once, test kernels
//
//   "name" --> tfrt_resource_t, embedded in what its maker has allocated
//
// Life:
//  1. Initialised in the owner's storage.
//  2. Resources are added, or made on demand, and found; none is taken out.
//  3. Deinitialised: destroys them, the newest first, so that one may use those that were there
//     before it.
//
// Thread rule: thread-safe after initialisation. Objects are made and destroyed with no lock
// held.
// Failure rule: only the maker of an object fails; then nothing is kept.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_RESOURCE_CONTEXT_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_RESOURCE_CONTEXT_H_

#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

TFRT_API_BEGIN

// A named object; embedded in what its maker allocates.
typedef struct tfrt_resource_s {
  tfrt_list_link_t link;
  const char* name;  // static, or lives as long as the resource
  void (*destroy)(struct tfrt_resource_s* resource);
} tfrt_resource_t;

typedef struct tfrt_resource_context_s {
  tfrt_mutex_t mutex;          // guards the lists
  tfrt_list_link_t resources;  // newest first
  tfrt_list_link_t makings;    // resources being made, and their waiters
} tfrt_resource_context_t;

// Makes an object: sets |*out_resource|, which |argument| has to do with. Must not ask the
// store for the name that it makes.
typedef tfrt_status_t (*tfrt_resource_create_fn_t)(void* argument, tfrt_resource_t** out_resource);

// Makes |context| an empty store. Thread-compatible.
void tfrt_resource_context_initialize(tfrt_resource_context_t* context);

// Destroys all resources of |context|, the newest first. Thread-compatible.
void tfrt_resource_context_deinitialize(tfrt_resource_context_t* context);

// Gives |resource| to |context| and returns it; if there is one of that name already, destroys
// |resource| and returns that (+0, lives as long as |context|). Thread-safe.
tfrt_resource_t* tfrt_resource_context_add(tfrt_resource_context_t* context,
                                           tfrt_resource_t* resource);

// The resource named |name| (+0, lives as long as |context|), or NULL. Thread-safe.
tfrt_resource_t* tfrt_resource_context_find(tfrt_resource_context_t* context, const char* name);

// Sets |*out_resource| (+0, lives as long as |context|) to the resource named |name|, which
// |create| makes with |argument| if there is none. It is made once, however many ask at the same
// time: the others wait, so |create| is short. The error of |create| is its caller's; the next
// one who asks tries again. Thread-safe.
tfrt_status_t tfrt_resource_context_get_or_create(tfrt_resource_context_t* context,
                                                  const char* name,
                                                  tfrt_resource_create_fn_t create, void* argument,
                                                  tfrt_resource_t** out_resource) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_RESOURCE_CONTEXT_H_
