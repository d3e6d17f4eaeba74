// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/async_value.h"

#include <assert.h>
#include <string.h>

#include "host_runtime/async/async_value_impl.h"
#include "host_runtime/async/value_storage.h"
#include "host_runtime/base/allocator.h"
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
// stack. The outermost level runs deeper waiters in a loop.
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
void tfrt_async_value_publish(tfrt_async_value_t* value, tfrt_async_value_state_t state) {
  // Release: payload, error or target, for the acquire loads of the state. Acquire: the nodes, from
  // the releases of enqueue().
  uintptr_t old =
      atomic_exchange_explicit(&value->waiters_and_state, (uintptr_t)state, memory_order_acq_rel);
  TFRT_ASYNC_VALUE_REQUIRE(old != TFRT_ASYNC_VALUE_FREED_WORD, value,
                           TFRT_ASYNC_VALUE_USED_AFTER_END);
  TFRT_ASYNC_VALUE_REQUIRE((old & TFRT_ASYNC_VALUE_STATE_MASK) < TFRT_ASYNC_VALUE_AVAILABLE, value,
                           TFRT_ASYNC_VALUE_RESOLVED_TWICE);
  run_tasks((tfrt_task_t*)(old & ~TFRT_ASYNC_VALUE_STATE_MASK));
}

// Puts |task| in front of the waiters of |value|. Returns false, and has not taken it,
// if |value| is resolved.
static bool enqueue(tfrt_async_value_t* value, tfrt_task_t* task) {
  // Acquire, here and on failure: if the value is resolved, |task| reads its payload;
  // pairs with the release in tfrt_async_value_publish().
  uintptr_t old = atomic_load_explicit(&value->waiters_and_state, memory_order_acquire);
  TFRT_ASYNC_VALUE_REQUIRE(old != TFRT_ASYNC_VALUE_FREED_WORD, value,
                           TFRT_ASYNC_VALUE_USED_AFTER_END);
  do {
    if ((old & TFRT_ASYNC_VALUE_STATE_MASK) >= TFRT_ASYNC_VALUE_AVAILABLE) return false;
    task->next = (tfrt_task_t*)(old & ~TFRT_ASYNC_VALUE_STATE_MASK);
    // Release: the node; pairs with the acquire in tfrt_async_value_publish().
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

void tfrt_async_value_initialize(tfrt_async_value_t* value, tfrt_async_value_kind_t kind,
                                 uint8_t flags, tfrt_type_id_t type_id,
                                 tfrt_async_value_state_t state) {
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
  tfrt_async_value_initialize(value, TFRT_ASYNC_VALUE_CONCRETE, flags, type_id, state);
  memset(value + 1, 0, TFRT_VALUE_STORAGE_SMALL_SIZE - sizeof(*value));
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
  if (value) tfrt_async_value_initialize(value, TFRT_ASYNC_VALUE_CONCRETE, flags, type_id, state);
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

void tfrt_async_value_initialize_embedded(tfrt_async_value_t* value, tfrt_type_id_t type_id) {
  tfrt_async_value_initialize(value, TFRT_ASYNC_VALUE_CONCRETE, TFRT_ASYNC_VALUE_FLAG_EMBEDDED,
                              type_id, TFRT_ASYNC_VALUE_UNRESOLVED);
}

// Where the error lies in a value that is one.
static tfrt_status_t* error_slot(tfrt_async_value_t* value) {
  char* payload = (char*)(value + 1);
  return (tfrt_status_t*)(void*)(payload + error_offset(tfrt_type_get(value->type_id),
                                                        tfrt_async_value_flags(value)));
}

tfrt_async_value_t* tfrt_async_value_create_error_take(tfrt_status_t status) {
  assert(status);
  tfrt_async_value_t* value = tfrt_value_storage_allocate_small();
  if (!value) {
    tfrt_status_release(status);
    return tfrt_async_value_out_of_memory();
  }
  tfrt_async_value_initialize(value, TFRT_ASYNC_VALUE_ERROR, 0, TFRT_TYPE_NONE,
                              TFRT_ASYNC_VALUE_FAILED);
  *(tfrt_status_t*)(void*)(value + 1) = status;
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
  if (flags & TFRT_ASYNC_VALUE_FLAG_EMBEDDED) {
    type->destroy(value + 1);
    return;
  }
  if (type->destroy && has_payload) type->destroy(value + 1);
  tfrt_async_value_mark_freed(value);
  tfrt_value_storage_free(value, size);
}

void tfrt_async_value_mark_freed(tfrt_async_value_t* value) {
#ifdef NDEBUG
  (void)value;
#else
  atomic_store_explicit(&value->count, 0, memory_order_relaxed);
  atomic_store_explicit(&value->flags, 0, memory_order_relaxed);
  atomic_store_explicit(&value->waiters_and_state, TFRT_ASYNC_VALUE_FREED_WORD,
                        memory_order_relaxed);
#endif
}

static void destroy_error(tfrt_async_value_t* value) {
  tfrt_status_release(*(tfrt_status_t*)(void*)(value + 1));
  tfrt_async_value_mark_freed(value);
  tfrt_value_storage_free_small(value);
}

// Frees the indirects that nobody has and that wait for |value|, which nobody can resolve any more.
// Aborts if something else waits for it.
TFRT_COLD static void free_waiters(tfrt_async_value_t* value) {
  // Acquire: the nodes; pairs with the releases of enqueue(). An exchange, because an indirect that
  // is being resolved just now hands its waiters to its resolver: each is run once.
  uintptr_t word = atomic_fetch_and_explicit(&value->waiters_and_state, TFRT_ASYNC_VALUE_STATE_MASK,
                                             memory_order_acquire);
  tfrt_task_t* tasks = (tfrt_task_t*)(word & ~TFRT_ASYNC_VALUE_STATE_MASK);
  for (const tfrt_task_t* task = tasks; task; task = task->next) {
    TFRT_ASYNC_VALUE_REQUIRE(tfrt_indirect_value_is_abandoned(task), value,
                             TFRT_ASYNC_VALUE_RELEASED_WITH_WAITER);
  }
  run_tasks(tasks);
}

// The same if any wait, which is rare. Aborts if |value| was destroyed before.
static inline void free_abandoned(tfrt_async_value_t* value) {
  // Relaxed: what was enqueued before the last release is seen here.
  uintptr_t word = atomic_load_explicit(&value->waiters_and_state, memory_order_relaxed);
  TFRT_ASYNC_VALUE_REQUIRE(word != TFRT_ASYNC_VALUE_FREED_WORD, value,
                           TFRT_ASYNC_VALUE_RELEASED_TOO_OFTEN);
  if (TFRT_UNLIKELY(word & ~TFRT_ASYNC_VALUE_STATE_MASK)) free_waiters(value);
}

void tfrt_async_value_destroy(tfrt_async_value_t* value) {
  free_abandoned(value);
  if (TFRT_LIKELY(tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_PLAIN)) {
    count_live(-1);
    tfrt_async_value_mark_freed(value);
    tfrt_value_storage_free_small(value);
    return;
  }
  // A loop, because targets that the values release may form a chain of any length.
  for (;;) {
    count_live(-1);
    if (value->kind == TFRT_ASYNC_VALUE_ERROR) {
      destroy_error(value);
      return;
    }
    if (value->kind != TFRT_ASYNC_VALUE_INDIRECT) {
      destroy_concrete(value);
      return;
    }
    value = tfrt_indirect_value_destroy((tfrt_indirect_value_t*)value);
    // Both halves: what this thread and the others did to it, as in every release.
    if (!value || atomic_fetch_sub_explicit(&value->count, 1, memory_order_acq_rel) != 1) return;
    free_abandoned(value);
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

void* tfrt_async_value_get(tfrt_async_value_t* value, tfrt_type_id_t type_id) {
  if (tfrt_async_value_state(value) != TFRT_ASYNC_VALUE_AVAILABLE) return NULL;
  value = tfrt_async_value_resolved(value);
  return value->type_id == type_id ? tfrt_async_value_payload(value) : NULL;
}

// --- Resolving ---------------------------------------------------------------

void tfrt_async_value_set_available(tfrt_async_value_t* value) {
  assert(value->kind == TFRT_ASYNC_VALUE_CONCRETE);
  tfrt_async_value_publish(value, TFRT_ASYNC_VALUE_AVAILABLE);
}

void tfrt_async_value_emplace(tfrt_async_value_t* value, const void* payload, size_t size) {
  assert(size == tfrt_type_get(value->type_id)->size);
  TFRT_ASYNC_VALUE_REQUIRE(!tfrt_async_value_is_available(value), value,
                           TFRT_ASYNC_VALUE_RESOLVED_TWICE);
  memcpy(tfrt_async_value_payload(value), payload, size);
  tfrt_async_value_set_available(value);
}

void tfrt_async_value_set_error(tfrt_async_value_t* value, tfrt_status_t status) {
  assert(status && value->kind != TFRT_ASYNC_VALUE_ERROR);
  if (value->kind == TFRT_ASYNC_VALUE_INDIRECT) {
    // False: somebody was faster, and that is what counts.
    (void)tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)value,
                                           tfrt_async_value_create_error(status));
    return;
  }
  TFRT_ASYNC_VALUE_REQUIRE(!tfrt_async_value_is_available(value), value,
                           TFRT_ASYNC_VALUE_RESOLVED_TWICE);
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
  tfrt_async_value_publish(value, TFRT_ASYNC_VALUE_FAILED);
}

// --- Waiting -----------------------------------------------------------------

void tfrt_async_value_watch(tfrt_async_value_t* value, tfrt_task_t* task) {
  if (!enqueue(value, task)) run_task(task);
}

void tfrt_async_value_and_then(tfrt_async_value_t* value, tfrt_task_t* task) {
  // In this order: once |task| is in the list, it may run and |value| may be gone.
  if (value->kind == TFRT_ASYNC_VALUE_INDIRECT) tfrt_async_value_demand(value);
  tfrt_async_value_watch(value, task);
}

typedef struct waiting_run_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;  // +1
  tfrt_async_value_run_fn_t run;
  void* argument;
} waiting_run_t;

static void run_with_argument(tfrt_task_t* task) {
  waiting_run_t copy = *TFRT_CONTAINER_OF(task, waiting_run_t, task);
  tfrt_allocator_free(tfrt_allocator_system(), task, sizeof(copy));
  copy.run(copy.value, copy.argument);
  tfrt_async_value_release(copy.value);
}

bool tfrt_async_value_and_then_run(tfrt_async_value_t* value, tfrt_async_value_run_fn_t run,
                                   void* argument) {
  waiting_run_t* task = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*task));
  if (!task) return false;
  *task =
      (waiting_run_t){.value = tfrt_async_value_retain(value), .run = run, .argument = argument};
  tfrt_task_initialize(&task->task, run_with_argument);
  tfrt_async_value_and_then(value, &task->task);
  return true;
}
