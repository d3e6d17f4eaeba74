// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/cancellation.h"

#include <assert.h>

void tfrt_cancellation_initialize(tfrt_cancellation_t* cancellation) {
  atomic_init(&cancellation->reason, NULL);
  tfrt_mutex_initialize(&cancellation->mutex);
  tfrt_list_initialize(&cancellation->subscriptions);
}

void tfrt_cancellation_deinitialize(tfrt_cancellation_t* cancellation) {
  assert(tfrt_list_is_empty(&cancellation->subscriptions));
  tfrt_async_value_release(tfrt_cancellation_reason(cancellation));
  tfrt_mutex_deinitialize(&cancellation->mutex);
}

// Takes out the first subscription, or returns NULL if there is none.
static tfrt_cancellation_subscription_t* pop_subscription(tfrt_cancellation_t* cancellation) {
  tfrt_mutex_lock(&cancellation->mutex);
  tfrt_list_link_t* link = tfrt_list_pop_front(&cancellation->subscriptions);
  tfrt_mutex_unlock(&cancellation->mutex);
  return link ? TFRT_CONTAINER_OF(link, tfrt_cancellation_subscription_t, link) : NULL;
}

bool tfrt_cancellation_cancel(tfrt_cancellation_t* cancellation, tfrt_status_t reason) {
  tfrt_async_value_t* value = tfrt_async_value_create_error(reason);
  tfrt_async_value_t* expected = NULL;
  // Release: the error's content; pairs with the acquire in tfrt_cancellation_reason().
  if (!atomic_compare_exchange_strong_explicit(&cancellation->reason, &expected, value,
                                               memory_order_release, memory_order_relaxed)) {
    tfrt_async_value_release(value);
    return false;
  }
  // A thread that takes the mutex after this loop's last turn sees the reason and does not
  // subscribe; this loop finds one that took it before.
  tfrt_cancellation_subscription_t* subscription = pop_subscription(cancellation);
  while (subscription) {
    subscription->run(subscription, reason);
    subscription = pop_subscription(cancellation);
  }
  return true;
}

void tfrt_cancellation_subscribe(tfrt_cancellation_t* cancellation,
                                 tfrt_cancellation_subscription_t* subscription,
                                 tfrt_cancellation_fn_t run) {
  subscription->run = run;
  tfrt_list_initialize(&subscription->link);
  tfrt_mutex_lock(&cancellation->mutex);
  tfrt_async_value_t* reason = tfrt_cancellation_reason(cancellation);
  if (!reason) tfrt_list_push_back(&cancellation->subscriptions, &subscription->link);
  tfrt_mutex_unlock(&cancellation->mutex);
  if (reason) run(subscription, tfrt_async_value_error(reason));
}

bool tfrt_cancellation_unsubscribe(tfrt_cancellation_t* cancellation,
                                   tfrt_cancellation_subscription_t* subscription) {
  tfrt_mutex_lock(&cancellation->mutex);
  bool is_waiting = tfrt_list_is_linked(&subscription->link);
  if (is_waiting) tfrt_list_remove(&subscription->link);
  tfrt_mutex_unlock(&cancellation->mutex);
  return is_waiting;
}
