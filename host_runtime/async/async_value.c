// SPDX-License-Identifier: Apache-2.0
//
// How an indirect value gets its target, and who may look at it meanwhile.
//
//  claim      The first one to exchange |target| from NULL has claimed the value and is
//             the only one to resolve it. If the target is resolved already, its final
//             value is put there, and the value is resolved at once.
//  wait       Else the state becomes CLAIMED and |target_waiter| waits for the target.
//             The value holds a reference to itself until that has run.
//  collapse   When the target is resolved, and is an indirect itself, |target| is
//             replaced by that one's target, and the value is resolved.
//
// Between claim and collapse others may follow |target|, to pass on a demand. Two
// orders make that sound, and both need sequential consistency, because in each one
// side stores X and reads Y while the other stores Y and reads X:
//  - demand:   the asker sets the flag DEMANDED, then reads |target|; the claimer sets
//              |target|, then reads the flag. At least one of them sees the other, so
//              that no demand is lost. (Both may: a demand may be made twice.)
//  - collapse: a visitor raises |visitors|, then reads |target|; the collapser replaces
//              |target|, then reads |visitors|. If it reads 0, no visitor holds the old
//              target without a reference, and it is released at once. Else it is kept
//              until the value goes: a visit is too short to wait for it, and too rare
//              for the memory to matter.
#include "host_runtime/async/async_value.h"

#include <assert.h>
#include <string.h>

#include "host_runtime/async/value_storage.h"
#include "host_runtime/base/sync.h"

// --- Accounts ----------------------------------------------------------------

#ifdef NDEBUG
static void count_live(int64_t change) { (void)change; }
int64_t tfrt_async_value_live_count(void) { return 0; }
#else
static _Atomic int64_t live_count = 0;
static void count_live(int64_t change) {
  atomic_fetch_add_explicit(&live_count, change, memory_order_relaxed);
}
int64_t tfrt_async_value_live_count(void) {
  return atomic_load_explicit(&live_count, memory_order_relaxed);
}
#endif

// --- Running waiters ---------------------------------------------------------

// Waiters that resolve values whose waiters resolve values... go this deep on the
// stack. What is deeper is done by the outermost level, in a loop.
#define MAX_NESTING 64

typedef struct pending_list_s {
  uint32_t nesting;
  tfrt_task_t* first;
  tfrt_task_t* last;
} pending_list_t;

static _Thread_local pending_list_t pending;

static void append_pending(tfrt_task_t* tasks) {
  if (pending.first) {
    pending.last->next = tasks;
  } else {
    pending.first = tasks;
  }
  while (tasks->next) tasks = tasks->next;
  pending.last = tasks;
}

// Runs the list |tasks|, which no other thread knows any more, from its front.
static void run_tasks(tfrt_task_t* tasks) {
  if (!tasks) return;
  if (TFRT_UNLIKELY(pending.nesting >= MAX_NESTING)) {
    append_pending(tasks);
    return;
  }
  ++pending.nesting;
  for (;;) {
    while (tasks) {
      // Read before: the task's storage is its owner's again once it runs.
      tfrt_task_t* next = tasks->next;
      tasks->run(tasks);
      tasks = next;
    }
    if (pending.nesting > 1 || !pending.first) break;
    tasks = pending.first;
    pending.first = NULL;
  }
  --pending.nesting;
}

static void run_task(tfrt_task_t* task) {
  task->next = NULL;
  run_tasks(task);
}

// Makes |value| resolved with |state| and runs those who waited. The caller's reference
// is the only thing that keeps |value| alive, so it isn't touched after the exchange.
static void publish(tfrt_async_value_t* value, tfrt_async_value_state_t state) {
  // Release: payload, error or target, for the acquire loads of whoever sees the
  // state. Acquire: the nodes, from the releases of enqueue().
  uintptr_t old =
      atomic_exchange_explicit(&value->waiters_and_state, (uintptr_t)state, memory_order_acq_rel);
  assert((old & TFRT_ASYNC_VALUE_STATE_MASK) < TFRT_ASYNC_VALUE_AVAILABLE);
  run_tasks((tfrt_task_t*)(old & ~TFRT_ASYNC_VALUE_STATE_MASK));
}

// Puts |task| in front of the waiters of |value|. Returns false, and has not taken it,
// if |value| is resolved.
static bool enqueue(tfrt_async_value_t* value, tfrt_task_t* task) {
  // Acquire, here and on failure: if the value is resolved, |task| reads its payload;
  // pairs with the release in publish().
  uintptr_t old = atomic_load_explicit(&value->waiters_and_state, memory_order_acquire);
  do {
    if ((old & TFRT_ASYNC_VALUE_STATE_MASK) >= TFRT_ASYNC_VALUE_AVAILABLE) return false;
    task->next = (tfrt_task_t*)(old & ~TFRT_ASYNC_VALUE_STATE_MASK);
    // Release: the node; pairs with the acquire in publish().
  } while (!atomic_compare_exchange_weak_explicit(
      &value->waiters_and_state, &old, (uintptr_t)task | (old & TFRT_ASYNC_VALUE_STATE_MASK),
      memory_order_release, memory_order_acquire));
  return true;
}

// --- Creation ----------------------------------------------------------------

// Where the error lies behind the header, if it ends as one: in the payload's place, or
// behind a payload that is kept.
static size_t error_offset(const tfrt_type_t* type, uint8_t flags) {
  if (TFRT_LIKELY(!(flags & TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD))) return 0;
  const size_t alignment = _Alignof(tfrt_status_t);
  return (type->size + alignment - 1) / alignment * alignment;
}

// Header, payload, and room for the error that may come.
static size_t storage_size(const tfrt_type_t* type, uint8_t flags) {
  size_t size = type->size;
  size_t error_end = error_offset(type, flags) + sizeof(tfrt_status_t);
  return sizeof(tfrt_async_value_t) + (size > error_end ? size : error_end);
}

static void initialize(tfrt_async_value_t* value, tfrt_async_value_kind_t kind, uint8_t flags,
                       tfrt_type_id_t type_id, tfrt_async_value_state_t state) {
  atomic_init(&value->count, 1);
  value->kind = (uint8_t)kind;
  atomic_init(&value->flags, flags);
  value->type_id = type_id;
  atomic_init(&value->waiters_and_state, (uintptr_t)state);
  count_live(1);
}

// A value of the smallest storage, with a zeroed payload; NULL when memory is out.
static tfrt_async_value_t* create_small(tfrt_type_id_t type_id, uint8_t flags,
                                        tfrt_async_value_state_t state) {
  tfrt_async_value_t* value = tfrt_value_storage_allocate_small();
  if (TFRT_UNLIKELY(!value)) return NULL;
  initialize(value, TFRT_ASYNC_VALUE_CONCRETE, flags, type_id, state);
  memset(tfrt_async_value_payload(value), 0, TFRT_VALUE_STORAGE_SMALL_SIZE - sizeof(*value));
  return value;
}

static bool is_plain(tfrt_type_id_t type_id, uint8_t flags) {
  return type_id >= TFRT_TYPE_CHAIN && type_id <= TFRT_TYPE_F64 &&
         !(flags & TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD);
}

static tfrt_async_value_t* create_concrete(tfrt_type_id_t type_id, uint8_t flags,
                                           tfrt_async_value_state_t state) {
  if (is_plain(type_id, flags)) {
    return create_small(type_id, flags | TFRT_ASYNC_VALUE_FLAG_PLAIN, state);
  }
  if (TFRT_UNLIKELY(type_id == TFRT_TYPE_NONE)) tfrt_type_abort_none();
  tfrt_async_value_t* value =
      tfrt_value_storage_allocate(storage_size(tfrt_type_get(type_id), flags));
  if (value) initialize(value, TFRT_ASYNC_VALUE_CONCRETE, flags, type_id, state);
  return value;
}

tfrt_async_value_t* tfrt_async_value_create_unconstructed(tfrt_type_id_t type_id) {
  return create_concrete(type_id, 0, TFRT_ASYNC_VALUE_UNRESOLVED);
}

tfrt_async_value_t* tfrt_async_value_create_constructed(tfrt_type_id_t type_id) {
  return create_concrete(type_id, TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED, TFRT_ASYNC_VALUE_UNRESOLVED);
}

tfrt_async_value_t* tfrt_async_value_create_keeping(tfrt_type_id_t type_id) {
  return create_concrete(type_id,
                         TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED | TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD,
                         TFRT_ASYNC_VALUE_UNRESOLVED);
}

tfrt_async_value_t* tfrt_async_value_create_available(tfrt_type_id_t type_id) {
  return create_concrete(type_id, TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED, TFRT_ASYNC_VALUE_AVAILABLE);
}

tfrt_async_value_t* tfrt_async_value_create_scalar(tfrt_type_id_t type_id) {
  return create_small(type_id, TFRT_ASYNC_VALUE_FLAG_SCALAR | TFRT_ASYNC_VALUE_FLAG_PLAIN,
                      TFRT_ASYNC_VALUE_AVAILABLE);
}

// Where the error lies in a value that is one.
static tfrt_status_t* error_slot(tfrt_async_value_t* value) {
  char* payload = tfrt_async_value_payload(value);
  return (tfrt_status_t*)(void*)(payload + error_offset(tfrt_type_get(value->type_id),
                                                        tfrt_async_value_flags(value)));
}

tfrt_async_value_t* tfrt_async_value_create_error_take(tfrt_status_t status) {
  assert(status);
  tfrt_async_value_t* value =
      tfrt_value_storage_allocate(storage_size(tfrt_type_get(TFRT_TYPE_NONE), 0));
  if (!value) {
    tfrt_status_release(status);
    return tfrt_async_value_out_of_memory();
  }
  initialize(value, TFRT_ASYNC_VALUE_ERROR, 0, TFRT_TYPE_NONE, TFRT_ASYNC_VALUE_FAILED);
  *error_slot(value) = status;
  return value;
}

tfrt_async_value_t* tfrt_async_value_create_error(tfrt_status_t status) {
  return tfrt_async_value_create_error_take(tfrt_status_retain(status));
}

// A value with static storage.
typedef struct immortal_value_s {
  tfrt_async_value_t base;
  tfrt_status_t error;
} immortal_value_t;

_Static_assert(offsetof(immortal_value_t, error) == sizeof(tfrt_async_value_t),
               "the error lies where the payload would");

tfrt_async_value_t* tfrt_async_value_ready_chain(void) {
  static immortal_value_t chain = {
      .base = {.count = 1,
               .kind = TFRT_ASYNC_VALUE_CONCRETE,
               .flags = TFRT_ASYNC_VALUE_FLAG_IMMORTAL,
               .type_id = TFRT_TYPE_CHAIN,
               .waiters_and_state = TFRT_ASYNC_VALUE_AVAILABLE},
  };
  return &chain.base;
}

static immortal_value_t out_of_memory_value = {
    .base = {.count = 1,
             .kind = TFRT_ASYNC_VALUE_ERROR,
             .flags = TFRT_ASYNC_VALUE_FLAG_IMMORTAL,
             .type_id = TFRT_TYPE_NONE,
             .waiters_and_state = TFRT_ASYNC_VALUE_FAILED},
};

static void fill_out_of_memory_value(void) {
  out_of_memory_value.error = tfrt_status_out_of_memory();
}

tfrt_async_value_t* tfrt_async_value_out_of_memory(void) {
  static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
  tfrt_once_run(&once, fill_out_of_memory_value);
  return &out_of_memory_value.base;
}

void tfrt_indirect_value_initialize(tfrt_indirect_value_t* value,
                                    const tfrt_resolver_vtable_t* resolver) {
  initialize(&value->base, TFRT_ASYNC_VALUE_INDIRECT, resolver ? TFRT_ASYNC_VALUE_FLAG_FINDABLE : 0,
             TFRT_TYPE_NONE, TFRT_ASYNC_VALUE_UNRESOLVED);
  atomic_init(&value->target, NULL);
  atomic_init(&value->visitors, 0);
  value->resolver = resolver;
}

tfrt_indirect_value_t* tfrt_indirect_value_create(void) {
  tfrt_indirect_value_t* value = tfrt_value_storage_allocate(sizeof *value);
  if (value) tfrt_indirect_value_initialize(value, NULL);
  return value;
}

// --- Destruction -------------------------------------------------------------

static void destroy_concrete(tfrt_async_value_t* value) {
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  // Relaxed: the last release ordered all that happened to the value.
  uintptr_t word = atomic_load_explicit(&value->waiters_and_state, memory_order_relaxed);
  uint8_t flags = tfrt_async_value_flags(value);
  size_t size = storage_size(type, flags);
  bool failed = word == TFRT_ASYNC_VALUE_FAILED;
  bool has_payload =
      failed ? (flags & TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD)
             : (word == TFRT_ASYNC_VALUE_AVAILABLE || (flags & TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED));
  if (failed) tfrt_status_release(*error_slot(value));
  if (type->destroy && has_payload) type->destroy(tfrt_async_value_payload(value));
  tfrt_value_storage_free(value, size);
}

// Destroys |value| and returns (+1) the first target that it kept, or NULL. The final
// target is no indirect, so that releasing it goes no deeper.
static tfrt_async_value_t* destroy_indirect(tfrt_indirect_value_t* value) {
  // Relaxed: as in destroy_concrete().
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_relaxed);
  tfrt_async_value_t* kept = (tfrt_async_value_t*)value->target_waiter.next;
  tfrt_async_value_release(target);
  if (value->resolver) {
    value->resolver->destroy(value);
  } else {
    tfrt_value_storage_free(value, sizeof *value);
  }
  return kept;
}

void tfrt_async_value_destroy(tfrt_async_value_t* value) {
  if (TFRT_LIKELY(tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_PLAIN)) {
    count_live(-1);
    tfrt_value_storage_free_small(value);
    return;
  }
  // A loop, because first targets that were kept may form a chain of any length.
  for (;;) {
    assert((atomic_load_explicit(&value->waiters_and_state, memory_order_relaxed) &
            ~TFRT_ASYNC_VALUE_STATE_MASK) == 0);
    count_live(-1);
    if (value->kind != TFRT_ASYNC_VALUE_INDIRECT) {
      destroy_concrete(value);
      return;
    }
    value = destroy_indirect((tfrt_indirect_value_t*)value);
    // Both halves: what this thread and the others did to it, as in every release.
    if (!value || atomic_fetch_sub_explicit(&value->count, 1, memory_order_acq_rel) != 1) return;
  }
}

static bool is_count_one(tfrt_async_value_t* value) {
  // Acquire: pairs with the release half of others' decrements.
  return !(tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_IMMORTAL) &&
         atomic_load_explicit(&value->count, memory_order_acquire) == 1;
}

bool tfrt_async_value_is_unique(tfrt_async_value_t* value) {
  if (!is_count_one(value)) return false;
  if (value->kind != TFRT_ASYNC_VALUE_INDIRECT || !tfrt_async_value_is_available(value)) {
    return true;
  }
  return is_count_one(tfrt_async_value_resolved(value));
}

tfrt_status_t tfrt_async_value_error(tfrt_async_value_t* value) {
  assert(tfrt_async_value_is_error(value));
  return *error_slot(tfrt_async_value_resolved(value));
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
  if (atomic_load_explicit(&value->visitors, memory_order_seq_cst) == 0) {
    tfrt_async_value_release(old);
  } else {
    value->target_waiter.next = (tfrt_task_t*)(void*)old;
  }
}

// Runs when the target of a CLAIMED value is resolved.
static void resolve_from_target(tfrt_task_t* task) {
  tfrt_indirect_value_t* value = TFRT_CONTAINER_OF(task, tfrt_indirect_value_t, target_waiter);
  // The list that the node was in may have left its own link there.
  task->next = NULL;
  // Relaxed: only the claimer's side writes it, and this is its continuation.
  tfrt_async_value_t* target = atomic_load_explicit(&value->target, memory_order_relaxed);
  tfrt_async_value_state_t state = tfrt_async_value_state(target);
  collapse(value, target);
  publish(&value->base, state);
  tfrt_async_value_release(&value->base);
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

bool tfrt_indirect_value_forward_take(tfrt_indirect_value_t* value, tfrt_async_value_t* target) {
  assert(target && target != &value->base);
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
    publish(&value->base, state);
    return true;
  }
  if (!claim(value, target)) {
    tfrt_async_value_release(target);
    return false;
  }
  // Release: the target; pairs with the acquire in tfrt_async_value_state().
  atomic_fetch_or_explicit(&value->base.waiters_and_state, TFRT_ASYNC_VALUE_CLAIMED,
                           memory_order_release);
  // One for the waiter, which may be all that is left of |value| until it runs.
  tfrt_async_value_retain(&value->base);
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

// --- Resolving ---------------------------------------------------------------

void tfrt_async_value_set_available(tfrt_async_value_t* value) {
  assert(value->kind == TFRT_ASYNC_VALUE_CONCRETE);
  publish(value, TFRT_ASYNC_VALUE_AVAILABLE);
}

void tfrt_async_value_set_error(tfrt_async_value_t* value, tfrt_status_t status) {
  assert(status && value->kind != TFRT_ASYNC_VALUE_ERROR);
  if (value->kind == TFRT_ASYNC_VALUE_INDIRECT) {
    // False: somebody was faster, and that is what counts.
    (void)tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)value,
                                           tfrt_async_value_create_error(status));
    return;
  }
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  const uint8_t flags = tfrt_async_value_flags(value);
  bool destroys =
      (flags & TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED) && !(flags & TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD);
  if (type->destroy && destroys) type->destroy(tfrt_async_value_payload(value));
  *error_slot(value) = tfrt_status_retain(status);
  // Relaxed: only the producer changes the flags of a concrete value, and the last release, which
  // reads them, comes behind the producer's own.
  atomic_store_explicit(&value->flags, flags & (uint8_t)~TFRT_ASYNC_VALUE_FLAG_PLAIN,
                        memory_order_relaxed);
  publish(value, TFRT_ASYNC_VALUE_FAILED);
}

// --- Waiting -----------------------------------------------------------------

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
    // Whoever demanded it first passes the demand on, or the claimer does.
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

void tfrt_async_value_watch(tfrt_async_value_t* value, tfrt_task_t* task) {
  if (!enqueue(value, task)) run_task(task);
}

void tfrt_async_value_and_then(tfrt_async_value_t* value, tfrt_task_t* task) {
  // In this order: once |task| is in the list, it may run and |value| may be gone.
  if (value->kind == TFRT_ASYNC_VALUE_INDIRECT) tfrt_async_value_demand(value);
  tfrt_async_value_watch(value, task);
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
