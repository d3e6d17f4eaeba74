// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/object.h"

#include <stdio.h>
#include <stdlib.h>

#include "embedding/mlir_async/misuse.h"
#include "embedding/mlir_async/quarantine.h"
#include "embedding/mlir_async/resumption.h"
#include "embedding/mlir_async/slot_pool.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

typedef tfrt_mlir_slot_t slot_t;

// The bits of |life| below the generation.
#define IS_KEPT ((uint64_t)1 << 33)
#define IS_MEMBER ((uint64_t)1 << 32)
#define REFERENCES ((uint64_t)UINT32_MAX)

// Added to the references of an object, so that threads that drop too many at once borrow from no
// other bit. A free slot has none of it.
#define BIAS ((int64_t)1 << 31)

// In |settled|: no handle is left, so nothing more is added.
#define IS_CLOSED ((int64_t)1 << 62)

// The alignment of a payload on its own; more than a line, as the allocator keeps no such blocks.
#define PAYLOAD_ALIGNMENT 128

typedef struct group_s {
  slot_t slot;
  // On a line of their own: settling threads write it, adding threads don't.
  TFRT_ATOMIC(int64_t) settled;
  TFRT_ATOMIC(int64_t) failed;
  int64_t size;
} group_t;

typedef struct value_s {
  slot_t slot;
  _Alignas(64) unsigned char payload[TFRT_MLIR_INLINE_PAYLOAD_SIZE];
} value_t;

_Static_assert(sizeof(group_t) <= 128 && sizeof(value_t) <= 128, "both fit a slot of 128 bytes");

// --- Types -------------------------------------------------------------------

static slot_t* slot_of_payload(void* payload) { return TFRT_CONTAINER_OF(payload, slot_t, error); }

// The slot's next object has another generation.
static void recycle(slot_t* slot, tfrt_mlir_slot_size_t size) {
  const uint64_t life = atomic_load_explicit(&slot->life, memory_order_relaxed);
  // Relaxed: the next object's handle is handed over by the program.
  atomic_store_explicit(
      &slot->life, (life & TFRT_MLIR_GENERATION_MASK) + ((uint64_t)1 << TFRT_MLIR_GENERATION_SHIFT),
      memory_order_relaxed);
  tfrt_mlir_slot_free(size, slot);
}

static void destroy_token(void* payload) { recycle(slot_of_payload(payload), TFRT_MLIR_SLOT_64); }

static void destroy_value(void* payload) {
  slot_t* slot = slot_of_payload(payload);
  if (slot->payload.separate_size > 0) {
    tfrt_allocator_free_aligned(tfrt_allocator_system(), slot->payload.storage,
                                slot->payload.separate_size, PAYLOAD_ALIGNMENT);
  }
  recycle(slot, TFRT_MLIR_SLOT_128);
}

static void destroy_group(void* payload) { recycle(slot_of_payload(payload), TFRT_MLIR_SLOT_128); }

static struct {
  tfrt_once_t once;
  TFRT_ATOMIC(bool) is_done;
  tfrt_type_id_t token;
  tfrt_type_id_t value;
  tfrt_type_id_t group;
  tfrt_status_t error;  // of what failed
} types = {.once = TFRT_ONCE_INITIALIZER};

static TFRT_COLD void end_process(const char* message) {
  fprintf(stderr, "tfrt: MLIR's async runtime: %s\n", message);
  abort();
}

static void register_type(const char* name, void (*destroy)(void* payload), tfrt_type_id_t* id) {
  const tfrt_type_t type = {.name = name, .size = sizeof(tfrt_status_t), .destroy = destroy};
  tfrt_status_t status = tfrt_type_register(&type, id);
  if (status) end_process(tfrt_status_message(status));
}

static void register_types(void) {
  register_type("!mlir_async.token", destroy_token, &types.token);
  register_type("!mlir_async.value", destroy_value, &types.value);
  register_type("!mlir_async.group", destroy_group, &types.group);
  types.error = tfrt_status_create(TFRT_STATUS_ABORTED, "an async region failed");
  // Release: all above; partner of the load in ensure_types().
  atomic_store_explicit(&types.is_done, true, memory_order_release);
}

static void ensure_types(void) {
  // Acquire: see register_types().
  if (TFRT_LIKELY(atomic_load_explicit(&types.is_done, memory_order_acquire))) return;
  tfrt_once_run(&types.once, register_types);
}

// --- Creation ----------------------------------------------------------------

static tfrt_mlir_handle_t initialize(slot_t* slot, tfrt_type_id_t type, uint32_t references) {
  tfrt_async_value_initialize_embedded(&slot->base, type);
  const uint64_t generation =
      atomic_load_explicit(&slot->life, memory_order_relaxed) & TFRT_MLIR_GENERATION_MASK;
  // Relaxed: the program hands the handle over.
  atomic_store_explicit(&slot->life, generation | (uint64_t)(BIAS + references),
                        memory_order_relaxed);
  return (tfrt_mlir_handle_t)((uintptr_t)slot | generation);
}

tfrt_mlir_handle_t tfrt_mlir_token_create(void) {
  ensure_types();
  return initialize(tfrt_mlir_slot_allocate(TFRT_MLIR_SLOT_64), types.token, 2);
}

tfrt_mlir_handle_t tfrt_mlir_value_create(int64_t size) {
  ensure_types();
  value_t* value = (value_t*)tfrt_mlir_slot_allocate(TFRT_MLIR_SLOT_128);
  value->slot.payload = (tfrt_mlir_payload_t){.storage = value->payload};
  if (size > TFRT_MLIR_INLINE_PAYLOAD_SIZE) {
    const size_t rounded = ((size_t)size + 63) & ~(size_t)63;
    value->slot.payload =
        (tfrt_mlir_payload_t){.storage = tfrt_allocator_allocate_aligned(
                                  tfrt_allocator_system(), rounded, PAYLOAD_ALIGNMENT),
                              .separate_size = rounded};
    if (!value->slot.payload.storage) end_process("memory for a value is out");
  }
  return initialize(&value->slot, types.value, 2);
}

tfrt_mlir_handle_t tfrt_mlir_group_create(int64_t size) {
  ensure_types();
  group_t* group = (group_t*)tfrt_mlir_slot_allocate(TFRT_MLIR_SLOT_128);
  tfrt_mlir_handle_t handle = initialize(&group->slot, types.group, 1);
  // Relaxed, all: the program hands the handle over.
  atomic_store_explicit(&group->slot.members, 0, memory_order_relaxed);
  atomic_store_explicit(&group->settled, 0, memory_order_relaxed);
  atomic_store_explicit(&group->failed, 0, memory_order_relaxed);
  group->size = size;
  if (size <= 0) tfrt_async_value_set_available(&group->slot.base);
  return handle;
}

// --- Handles -----------------------------------------------------------------

static slot_t* slot_of(tfrt_mlir_handle_t handle) {
  return (slot_t*)((uintptr_t)handle & ~TFRT_MLIR_GENERATION_MASK);
}

static int64_t references_in(uint64_t life) { return (int64_t)(life & REFERENCES) - BIAS; }

// Returns true if |life| is that of |handle|'s slot while its object was there, gone or not.
static bool is_same_generation(tfrt_mlir_handle_t handle, uint64_t life) {
  return !((life ^ (uintptr_t)handle) & TFRT_MLIR_GENERATION_MASK);
}

// Returns true if a token or value without a reference is to stay: it will be settled.
static bool is_pending(slot_t* slot) {
  return slot->base.type_id != types.group && !tfrt_async_value_is_available(&slot->base);
}

// Returns true if the object of |handle|, whose slot has |life|, is gone.
static bool is_gone(tfrt_mlir_handle_t handle, uint64_t life) {
  if (TFRT_LIKELY(is_same_generation(handle, life) && references_in(life) > 0)) return false;
  return !is_same_generation(handle, life) || !is_pending(slot_of(handle));
}

// Returns true, and reports it, if the object of |handle| is gone.
static bool is_stale(tfrt_mlir_handle_t handle, const char* function) {
  // Relaxed: the program has ordered this for each handle that is in order.
  if (!is_gone(handle, atomic_load_explicit(&slot_of(handle)->life, memory_order_relaxed))) {
    return false;
  }
  tfrt_mlir_misuse_report(TFRT_MLIR_MISUSE_STALE, function);
  return true;
}

// Returns true if the object of |handle| is gone, and its slot has another one.
static bool is_replaced(tfrt_mlir_handle_t handle, const char* function) {
  return is_stale(handle, function) &&
         !is_same_generation(handle,
                             atomic_load_explicit(&slot_of(handle)->life, memory_order_relaxed));
}

void tfrt_mlir_object_retain(tfrt_mlir_handle_t handle, int64_t count, const char* function) {
  TFRT_ATOMIC(uint64_t)* life = &slot_of(handle)->life;
  // Relaxed: the caller has a reference already.
  const uint64_t before = atomic_fetch_add_explicit(life, (uint64_t)count, memory_order_relaxed);
  if (TFRT_LIKELY(!is_gone(handle, before))) return;
  atomic_fetch_sub_explicit(life, (uint64_t)count, memory_order_relaxed);
  tfrt_mlir_misuse_report(TFRT_MLIR_MISUSE_STALE, function);
}

// --- The end -----------------------------------------------------------------

static void close_group(group_t* group) {
  // Both: what was done with all handles and members, for the last of them.
  const int64_t settled =
      atomic_fetch_add_explicit(&group->settled, IS_CLOSED, memory_order_acq_rel);
  // Relaxed: without a handle nobody adds; the last release ordered those who did.
  if (settled == atomic_load_explicit(&group->slot.members, memory_order_relaxed)) {
    tfrt_async_value_release(&group->slot.base);
  }
}

// Keeps the failed object in |slot| for a while, unless it is kept already.
static void keep(slot_t* slot) {
  // Relaxed: only the thread that sets the bit goes on.
  if (atomic_fetch_or_explicit(&slot->life, IS_KEPT, memory_order_relaxed) & IS_KEPT) return;
  tfrt_mlir_quarantine_put(slot);
}

// The last reference of a handle to |slot|'s object was dropped.
static void go(slot_t* slot) {
  if (slot->base.type_id == types.group) {
    close_group((group_t*)slot);
  } else if (TFRT_LIKELY(tfrt_async_value_state(&slot->base) == TFRT_ASYNC_VALUE_AVAILABLE)) {
    tfrt_async_value_release(&slot->base);
  } else {
    keep(slot);
  }
}

// Ends the drop of |count| references from |before|, which leaves none of the object, or should not
// have been. Not inlined: the drop that leaves some needs no register of its caller's, and a store
// of one would have to be done before the locked operation is.
TFRT_NO_INLINE static void release_last(tfrt_mlir_handle_t handle, int64_t count, uint64_t before,
                                        const char* function) {
  slot_t* slot = slot_of(handle);
  const int64_t references = references_in(before);
  const bool is_last = is_same_generation(handle, before) && references > 0;
  const bool goes = is_last && !is_pending(slot);
  if (TFRT_UNLIKELY(references != count || !goes)) {
    // The excess is given back. (Relaxed: there is nothing to hand over.)
    const int64_t excess = is_last ? count - references : count;
    atomic_fetch_add_explicit(&slot->life, (uint64_t)excess, memory_order_relaxed);
    tfrt_mlir_misuse_report(TFRT_MLIR_MISUSE_OVER_DROP, function);
  }
  if (goes) go(slot);
}

// Drops |count| references, or all that are left, which may be less. The object goes with the drop
// that leaves none; one that is pending stays.
TFRT_ALWAYS_INLINE void release(tfrt_mlir_handle_t handle, int64_t count, const char* function) {
  // Both: the thread that drops the last reference sees what the others did.
  const uint64_t before =
      atomic_fetch_sub_explicit(&slot_of(handle)->life, (uint64_t)count, memory_order_acq_rel);
  if (TFRT_LIKELY(is_same_generation(handle, before) && references_in(before) > count)) return;
  release_last(handle, count, before, function);
}

void tfrt_mlir_object_release(tfrt_mlir_handle_t handle, int64_t count, const char* function) {
  if (count > 0) release(handle, count, function);
}

// Drops the settler's reference, and with it the object, if it had none left while it was pending.
static void release_settled(tfrt_mlir_handle_t handle, const char* function) {
  slot_t* slot = slot_of(handle);
  const uint64_t life = atomic_load_explicit(&slot->life, memory_order_relaxed);
  if (TFRT_LIKELY(references_in(life) > 0)) {
    release(handle, 1, function);
  } else if (is_same_generation(handle, life)) {
    keep(slot);
  }
}

// --- Settling ----------------------------------------------------------------

static bool may_settle(tfrt_mlir_handle_t handle, const char* function) {
  if (is_stale(handle, function)) return false;
  if (TFRT_LIKELY(!tfrt_async_value_is_available(&slot_of(handle)->base))) return true;
  tfrt_mlir_misuse_report(TFRT_MLIR_MISUSE_SETTLED_TWICE, function);
  return false;
}

void tfrt_mlir_object_emplace(tfrt_mlir_handle_t handle, const char* function) {
  if (!may_settle(handle, function)) return;
  tfrt_async_value_set_available(&slot_of(handle)->base);
  release_settled(handle, function);
  tfrt_mlir_resume_collected();
}

void tfrt_mlir_object_fail(tfrt_mlir_handle_t handle, const char* function) {
  if (!may_settle(handle, function)) return;
  tfrt_async_value_set_error(&slot_of(handle)->base, types.error);
  release_settled(handle, function);
  tfrt_mlir_resume_collected();
}

bool tfrt_mlir_object_is_failed(tfrt_mlir_handle_t handle, const char* function) {
  if (is_replaced(handle, function)) return true;
  return tfrt_async_value_is_error(&slot_of(handle)->base);
}

tfrt_async_value_t* tfrt_mlir_object_async_value(tfrt_mlir_handle_t handle, const char* function) {
  if (is_replaced(handle, function)) {
    return tfrt_async_value_out_of_memory();
  }
  return &slot_of(handle)->base;
}

void* tfrt_mlir_value_storage(tfrt_mlir_handle_t handle, const char* function) {
  if (is_replaced(handle, function)) {
    end_process("the payload is asked for of a value whose last reference was dropped before");
  }
  return slot_of(handle)->payload.storage;
}

// --- Groups ------------------------------------------------------------------

// One more member of |group| is settled.
static void count_settled(group_t* group, bool is_failed) {
  // Relaxed: ordered by the addition below.
  if (is_failed) atomic_fetch_add_explicit(&group->failed, 1, memory_order_relaxed);
  const int64_t size = group->size;
  // Both: the thread that completes the group, or gives it back, sees what the members did.
  const int64_t before = atomic_fetch_add_explicit(&group->settled, 1, memory_order_acq_rel);
  const int64_t settled = (before & ~IS_CLOSED) + 1;
  if (settled == size) tfrt_async_value_set_available(&group->slot.base);
  // Relaxed, as in close_group(). If no handle was left, nobody but this thread has the group.
  if ((before & IS_CLOSED) &&
      settled == atomic_load_explicit(&group->slot.members, memory_order_relaxed)) {
    tfrt_async_value_release(&group->slot.base);
  }
}

static void settle_member(tfrt_task_t* task) {
  tfrt_mlir_membership_t* membership = TFRT_CONTAINER_OF(task, tfrt_mlir_membership_t, task);
  group_t* group = (group_t*)membership->group;
  const bool is_failed = tfrt_async_value_is_error(&membership->token->base);
  slot_t* slot = TFRT_CONTAINER_OF(membership, slot_t, membership);
  if (slot != membership->token) tfrt_mlir_slot_free(TFRT_MLIR_SLOT_64, slot);
  count_settled(group, is_failed);
}

// Returns true if the membership in |slot| of a token is taken for the caller.
static bool claim_membership(slot_t* slot) {
  // Relaxed: the list of waiters hands the membership over.
  return !(atomic_fetch_or_explicit(&slot->life, IS_MEMBER, memory_order_relaxed) & IS_MEMBER);
}

int64_t tfrt_mlir_group_add(tfrt_mlir_handle_t group_handle, tfrt_mlir_handle_t token,
                            const char* function) {
  if (is_stale(group_handle, function)) return 0;
  group_t* group = (group_t*)slot_of(group_handle);
  // Relaxed: read again when the group is closed, after the release of this handle.
  const int64_t rank = atomic_fetch_add_explicit(&group->slot.members, 1, memory_order_relaxed);
  slot_t* slot = slot_of(token);
  if (is_replaced(token, function)) {
    count_settled(group, true);
  } else if (tfrt_async_value_is_available(&slot->base)) {
    count_settled(group, tfrt_async_value_is_error(&slot->base));
  } else {
    slot_t* place = claim_membership(slot) ? slot : tfrt_mlir_slot_allocate(TFRT_MLIR_SLOT_64);
    tfrt_task_initialize(&place->membership.task, settle_member);
    place->membership.group = &group->slot;
    place->membership.token = slot;
    tfrt_async_value_watch(&slot->base, &place->membership.task);
  }
  tfrt_mlir_resume_collected();
  return rank;
}

bool tfrt_mlir_group_is_failed(tfrt_mlir_handle_t handle, const char* function) {
  if (is_stale(handle, function)) return true;
  // Relaxed: who asks has seen the group complete, or will ask again.
  return atomic_load_explicit(&((group_t*)slot_of(handle))->failed, memory_order_relaxed) > 0;
}

// --- Accounts ----------------------------------------------------------------

static void count_alive(slot_t* slot, void* context) {
  const uint64_t life = atomic_load_explicit(&slot->life, memory_order_relaxed);
  const bool is_free = (life & REFERENCES) == 0;
  if (!is_free && (references_in(life) > 0 || is_pending(slot))) ++*(int64_t*)context;
}

int64_t tfrt_mlir_object_live_count(void) {
  int64_t count = 0;
  tfrt_mlir_slot_visit_all(count_alive, &count);
  return count;
}
