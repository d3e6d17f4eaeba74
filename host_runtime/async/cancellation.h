// SPDX-License-Identifier: Apache-2.0
//
// The cancel value of a request: nothing at first, then once and for ever a reason.
// Executors look at it before each kernel (one load); code that has to act on a cancel (send it to
// another host, stop a transfer) subscribes.
//
//   tfrt_cancellation_t --> reason (error value, NULL until cancelled)
//                       --> subscriptions, a list under the mutex
//
// Life:
//  1. Initialised in the owner's storage.
//  2. Cancelled at most once that counts: the first reason stays.
//  3. Deinitialised when no subscription is left.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_CANCELLATION_H_
#define TFRT_HOST_RUNTIME_ASYNC_CANCELLATION_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

TFRT_API_BEGIN

typedef struct tfrt_cancellation_s {
  TFRT_ATOMIC(tfrt_async_value_t*) reason;  // +1 once set; an error value
  tfrt_mutex_t mutex;                       // guards |subscriptions|
  tfrt_list_link_t subscriptions;
} tfrt_cancellation_t;

// A subscriber to a cancel. |run| is called at most once, with no lock held, on the thread that
// cancels or subscribes.
typedef struct tfrt_cancellation_subscription_s tfrt_cancellation_subscription_t;
typedef void (*tfrt_cancellation_fn_t)(tfrt_cancellation_subscription_t* subscription,
                                       tfrt_status_t reason);
struct tfrt_cancellation_subscription_s {
  tfrt_list_link_t link;  // guarded by the cancellation's mutex
  tfrt_cancellation_fn_t run;
};

// Makes |cancellation| one that nobody has cancelled. Thread-compatible.
void tfrt_cancellation_initialize(tfrt_cancellation_t* cancellation);

// Gives back what |cancellation| holds. No subscription may be left.
// Thread-compatible.
void tfrt_cancellation_deinitialize(tfrt_cancellation_t* cancellation);

// Cancels with |reason| (+0), usually CANCELLED or DEADLINE_EXCEEDED, and runs all
// subscriptions. Returns false, changing nothing, if it was cancelled before.
// Thread-safe.
bool tfrt_cancellation_cancel(tfrt_cancellation_t* cancellation, tfrt_status_t reason);

// The reason as an error value (+0, lives as long as |cancellation|), or NULL.
// Thread-safe.
static inline tfrt_async_value_t* tfrt_cancellation_reason(
    const tfrt_cancellation_t* cancellation) {
  // Acquire: pairs with the release of the exchange in tfrt_cancellation_cancel().
  return atomic_load_explicit(&((tfrt_cancellation_t*)cancellation)->reason, memory_order_acquire);
}

// Calls |run| of |subscription| on a cancel: now, if that was before. Thread-safe.
void tfrt_cancellation_subscribe(tfrt_cancellation_t* cancellation,
                                 tfrt_cancellation_subscription_t* subscription,
                                 tfrt_cancellation_fn_t run);

// Ends |subscription|. Returns true if |run| was not and will not be called. False:
// it was called or is being called right now; the caller must not free it before
// |run| has told so. Thread-safe.
bool tfrt_cancellation_unsubscribe(tfrt_cancellation_t* cancellation,
                                   tfrt_cancellation_subscription_t* subscription);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_CANCELLATION_H_
