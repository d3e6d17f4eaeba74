// SPDX-License-Identifier: Apache-2.0
//
// How an indirect value gets its target, and which threads may look at it meanwhile.
//
//  claim      The first one to exchange |target| from NULL has claimed the value and is
//             the only one to resolve it. If the target is resolved already, its final
//             value is put there, and the value is resolved at once.
//  wait       Else the state becomes CLAIMED and |target_waiter| waits for the target.
//  collapse   When the target is resolved, and is an indirect itself, |target| is
//             replaced by that one's target, and the value is resolved.
//  abandon    If the last reference goes while the value waits, the value releases its target
//             at once. A waiter can't be taken out of a list, so the storage stays until the
//             target is resolved, or goes, too. A value with a resolver is not abandoned: it
//             holds a reference to itself until its waiter has run.
//
// The last reference and the waiter may end at the same time. Both say so in |visitors|, and the
// second one frees the value:
//
//   WAITS --target resolved--> WAITS|RUNS --value resolved--> 0    the last release frees
//     |                           `--last release--> WAITS|RUNS|GONE    the waiter frees at its end
//     `--last release--> WAITS|GONE    abandoned: the waiter frees, and looks at no target
//
// Between claim and collapse other threads may follow |target|, to pass on a demand. Two
// orders make that sound. Both need sequential consistency, because in each of them one
// side stores X and reads Y while the other stores Y and reads X:
//  - demand:   The asker sets the flag DEMANDED, then reads |target|; the claimer sets
//              |target|, then reads the flag. At least one of them sees the other, so
//              that no demand is lost. (Both may: a demand may be made twice.)
//  - collapse: A visitor raises |visitors|, then reads |target|; the collapser replaces
//              |target|, then reads |visitors|. If it reads 0, no visitor holds the old
//              target without a reference, and it is released at once. Else it is kept
//              until the value goes: a visit is too short to wait for it, and too rare
//              for the memory to matter.
#include <assert.h>

#include "host_runtime/async/async_value_impl.h"
#include "host_runtime/async/value_storage.h"

// Bits of |visitors| above the number of visitors.
#define WAITS ((uint32_t)1 << 31)  // |target_waiter| has not ended
#define RUNS ((uint32_t)1 << 30)   // |target_waiter| runs: the target is resolved
#define GONE ((uint32_t)1 << 29)   // no reference is left
#define VISITOR_COUNT (GONE - 1)

// --- Life --------------------------------------------------------------------

void tfrt_indirect_value_initialize(tfrt_indirect_value_t* value,
                                    const tfrt_resolver_vtable_t* resolver) {
  tfrt_async_value_initialize(&value->base, TFRT_ASYNC_VALUE_INDIRECT,
                              resolver ? TFRT_ASYNC_VALUE_FLAG_FINDABLE : 0, TFRT_TYPE_NONE,
                              TFRT_ASYNC_VALUE_UNRESOLVED);
  atomic_init(&value->target, NULL);
  atomic_init(&value->visitors, 0);
  value->resolver = resolver;
}

tfrt_indirect_value_t* tfrt_indirect_value_create(void) {
  tfrt_indirect_value_t* value = tfrt_value_storage_allocate(sizeof *value);
  if (value) tfrt_indirect_value_initialize(value, NULL);
  return value;
}

// Frees |value|, which waits for nothing. Returns the first target (+1), if that was kept. The
// final target is no indirect, so that releasing it goes no deeper; the first one may be: that is
// the caller's.
static tfrt_async_value_t* finish_destroy(tfrt_indirect_value_t* value) {
  // Relaxed: the last release ordered all that happened to the value.
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_relaxed);
  tfrt_async_value_t* kept = (tfrt_async_value_t*)value->target_waiter.next;
  tfrt_async_value_release(target);
  if (value->resolver) {
    value->resolver->destroy(value);
  } else {
    tfrt_async_value_mark_freed(&value->base);
    tfrt_value_storage_free(value, sizeof *value);
  }
  return kept;
}

tfrt_async_value_t* tfrt_indirect_value_destroy(tfrt_indirect_value_t* value) {
  // Acquire: pairs with the release at the end of resolve_from_target().
  uint32_t bits = atomic_load_explicit(&value->visitors, memory_order_acquire);
  if (TFRT_LIKELY(!(bits & WAITS))) return finish_destroy(value);
  // Relaxed: only a waiter that runs replaces the target, and then this is not used.
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_relaxed);
  // Acquire and release: pairs with both exchanges in resolve_from_target().
  bits = atomic_fetch_or_explicit(&value->visitors, GONE, memory_order_acq_rel);
  if (!(bits & WAITS)) return finish_destroy(value);
  return bits & RUNS ? NULL : target;
}

// --- Targets -----------------------------------------------------------------

// Returns the target of |value| with a reference, or NULL if it has none yet.
static tfrt_async_value_t* visit_target(tfrt_indirect_value_t* value) {
  // Sequentially consistent: the reading half of "demand" above; its partner is the
  // claim. The second load and |visitors| are the visitor's half of "collapse".
  if (!atomic_load_explicit(&value->target, memory_order_seq_cst)) return NULL;
  atomic_fetch_add_explicit(&value->visitors, 1, memory_order_seq_cst);
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_seq_cst);
  tfrt_async_value_retain(target);
  // Release: the reference; pairs with the collapser's load of |visitors|.
  atomic_fetch_sub_explicit(&value->visitors, 1, memory_order_release);
  return target;
}

// Replaces the resolved target |old| of |value| by what stands behind it.
static void collapse(tfrt_indirect_value_t* value, tfrt_async_value_t* old) {
  tfrt_async_value_t* final = tfrt_async_value_resolved(old);
  if (final == old) return;
  tfrt_async_value_retain(final);
  // Sequentially consistent, both: the collapser's half; see the top of this file.
  atomic_store_explicit(&value->target, final, memory_order_seq_cst);
  if ((atomic_load_explicit(&value->visitors, memory_order_seq_cst) & VISITOR_COUNT) == 0) {
    tfrt_async_value_release(old);
  } else {
    value->target_waiter.next = (tfrt_task_t*)(void*)old;
  }
}

// Runs when the target of a CLAIMED value is resolved; of an abandoned one, also when the target
// goes.
static void resolve_from_target(tfrt_task_t* task) {
  tfrt_indirect_value_t* value = TFRT_CONTAINER_OF(task, tfrt_indirect_value_t, target_waiter);
  // The list that the node was in may have left its own link there.
  task->next = NULL;
  // Acquire and release: pairs with the exchange in tfrt_indirect_value_destroy(). So does the one
  // at the end.
  if (!value->resolver &&
      (atomic_fetch_or_explicit(&value->visitors, RUNS, memory_order_acq_rel) & GONE)) {
    tfrt_async_value_mark_freed(&value->base);
    tfrt_value_storage_free(value, sizeof *value);
    return;
  }
  // Relaxed: only the claimer's side writes it, and this is its continuation.
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_relaxed);
  tfrt_async_value_state_t state = tfrt_async_value_state(target);
  collapse(value, target);
  tfrt_async_value_publish(&value->base, state);
  if (value->resolver) {
    tfrt_async_value_release(&value->base);
  } else if (atomic_fetch_and_explicit(&value->visitors, ~(WAITS | RUNS), memory_order_acq_rel) &
             GONE) {
    tfrt_async_value_release(finish_destroy(value));
  }
}

bool tfrt_indirect_value_is_abandoned(const tfrt_task_t* waiter) {
  if (waiter->run != resolve_from_target) return false;
  const tfrt_indirect_value_t* value =
      TFRT_CONTAINER_OF(waiter, tfrt_indirect_value_t, target_waiter);
  // Relaxed: the bit is looked at alone.
  return atomic_load_explicit(&((tfrt_indirect_value_t*)value)->visitors, memory_order_relaxed) &
         GONE;
}

// Makes |target| (consumed) the target of |value|. Returns false, and has consumed
// nothing, if it has one.
static bool claim(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  tfrt_async_value_t* expected = NULL;
  // Sequentially consistent: the claimer's half of "demand"; its partner is
  // visit_target(). As a release it also hands over |target|'s own content.
  return atomic_compare_exchange_strong_explicit(&value->target, &expected, target,
                                                 memory_order_seq_cst, memory_order_relaxed);
}

#ifndef NDEBUG
// The search for a circle follows at most this many targets.
#define MAX_CIRCLE 64

// Aborts if |target| forwards to |value|, by itself or by up to MAX_CIRCLE others.
static void require_no_circle(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  tfrt_async_value_t* held = NULL;  // +1; |target|, once that is not the caller's
  for (uint32_t i = 0; i < MAX_CIRCLE && target; ++i) {
    TFRT_ASYNC_VALUE_REQUIRE(target != &value->base, target,
                             TFRT_ASYNC_VALUE_FORWARDED_IN_A_CIRCLE);
    if (target->kind != TFRT_ASYNC_VALUE_INDIRECT || tfrt_async_value_is_available(target)) break;
    target = visit_target((tfrt_indirect_value_t*)target);
    tfrt_async_value_release(held);
    held = target;
  }
  tfrt_async_value_release(held);
}
#else
static void require_no_circle(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  (void)value, (void)target;
}
#endif

bool tfrt_indirect_value_forward_take(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  assert(target);
  require_no_circle(value, target);
  tfrt_async_value_state_t state = tfrt_async_value_state(target);
  if (state >= TFRT_ASYNC_VALUE_AVAILABLE) {
    tfrt_async_value_t* final = tfrt_async_value_resolved(target);
    if (TFRT_UNLIKELY(final != target)) {
      tfrt_async_value_retain(final);
      tfrt_async_value_release(target);
    }
    if (!claim(value, final)) {
      tfrt_async_value_release(final);
      return false;
    }
    tfrt_async_value_publish(&value->base, state);
    return true;
  }
  if (!claim(value, target)) {
    tfrt_async_value_release(target);
    return false;
  }
  // Release: the target; pairs with the acquire in tfrt_async_value_state().
  atomic_fetch_or_explicit(&value->base.waiters_and_state, TFRT_ASYNC_VALUE_CLAIMED,
                           memory_order_release);
  if (value->resolver) {
    // One for the waiter, which may be all that is left of |value| until it runs.
    tfrt_async_value_retain(&value->base);
  } else {
    // Relaxed: the caller's reference keeps |value| from being destroyed, and the waiter comes
    // later.
    atomic_fetch_or_explicit(&value->visitors, WAITS, memory_order_relaxed);
  }
  // Sequentially consistent: the claimer's reading half of "demand"; its partner is
  // mark_demanded().
  if (atomic_load_explicit(&value->base.flags, memory_order_seq_cst) &
      TFRT_ASYNC_VALUE_FLAG_DEMANDED) {
    tfrt_async_value_demand(target);
  }
  tfrt_task_initialize(&value->target_waiter, resolve_from_target);
  tfrt_async_value_watch(target, &value->target_waiter);
  return true;
}

bool tfrt_indirect_value_forward(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  return tfrt_indirect_value_forward_take(value, tfrt_async_value_retain(target));
}

tfrt_async_value_t* tfrt_indirect_value_target(tfrt_indirect_value_t* value) {
  return visit_target(value);
}

// --- Demands -----------------------------------------------------------------

// Returns true if the payload of |value| was demanded before; from now on it is.
static bool mark_demanded(tfrt_indirect_value_t* value) {
  // Sequentially consistent: the asker's writing half of "demand"; its partner is the
  // load of the flags in tfrt_indirect_value_forward_take().
  return atomic_fetch_or_explicit(&value->base.flags, TFRT_ASYNC_VALUE_FLAG_DEMANDED,
                                  memory_order_seq_cst) &
         TFRT_ASYNC_VALUE_FLAG_DEMANDED;
}

void tfrt_async_value_demand(tfrt_async_value_t* value) {
  tfrt_async_value_t* held = NULL;  // +1; |value|, once that is not the caller's
  while (value->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(value)) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)value;
    // The first thread that demanded it passes the demand on, or the claimer does.
    if (mark_demanded(indirect)) break;
    tfrt_async_value_t* target = visit_target(indirect);
    if (!target) {
      if (indirect->resolver) indirect->resolver->demand(indirect);
      break;
    }
    tfrt_async_value_release(held);
    held = target;
    value = target;
  }
  tfrt_async_value_release(held);
}

void tfrt_async_value_await(tfrt_async_value_t* value, tfrt_task_t* task) {
  tfrt_async_value_t* held = NULL;  // +1; |current|, once that is not the caller's
  tfrt_async_value_t* current = value;
  while (current->kind == TFRT_ASYNC_VALUE_INDIRECT && !tfrt_async_value_is_available(current)) {
    tfrt_indirect_value_t* indirect = (tfrt_indirect_value_t*)current;
    tfrt_async_value_t* target = visit_target(indirect);
    if (!target && indirect->resolver) {
      // The value is owned elsewhere: what knows about that is waited for instead.
      tfrt_async_value_watch(indirect->resolver->settlement(indirect), task);
      tfrt_async_value_release(held);
      return;
    }
    if (!target) break;
    tfrt_async_value_release(held);
    held = target;
    current = target;
  }
  tfrt_async_value_release(held);
  // All that is known of it is here. It is |value| that is waited for, not the end of
  // its chain, so that |task| finds it resolved.
  tfrt_async_value_and_then(value, task);
}
