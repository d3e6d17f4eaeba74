// SPDX-License-Identifier: Apache-2.0
//
// The value that everything here passes around: a counted slot that is unavailable
// first and then, once and for ever, available or an error.
//
//   byte 0        4      5       6         8                          16
//        +--------+------+-------+---------+---------------------------+----------
//        | count  | kind | flags | type id | head of waiters | state:2 | payload
//        +--------+------+-------+---------+---------------------------+----------
//
//   state   0 UNRESOLVED --+--> 2 AVAILABLE      set once, with release order;
//           1 CLAIMED    --+--> 3 ERROR          acquired by tfrt_async_value_state()
//
// Kinds:
//  - concrete: the payload lies in place; when the state is ERROR a tfrt_status_t
//    lies there instead, or, if the value keeps its payload, behind it.
//  - error: born with the state ERROR.
//  - indirect: has no payload of its own. It forwards to another value once that is
//    known; when it is AVAILABLE its target is a concrete value (chains of forwards
//    have collapsed by then), when it is ERROR its target is a value in that state.
//    An indirect may be CLAIMED: it has its target, which is not available yet.
//    A claimed one without references releases its target at once, unless it has a resolver.
//    An indirect may have a *resolver* (see tfrt_indirect_value_t).
//
// There are two questions to a value, and three ways to wait for it:
//  - tfrt_async_value_and_then() *demands* the payload, here;
//  - tfrt_async_value_await() asks only whether the value is settled, wherever its
//    payload may be; the task may run before the payload is here;
//  - tfrt_async_value_watch() asks nothing; its waiter runs when another demand is met.
// For a value without a resolver all three mean the same.
//
// Waiters are tasks in the owner's storage, kept in a lock-free list. The head of the list shares
// one word with the state, so waiting neither locks nor allocates. Waiters run once, newest first,
// on the thread that resolves the value, with no lock held. A waiter may resolve another value:
// that nests a bounded number of levels. Beyond these the outermost resolver runs the waiters in a
// loop, so that long chains need no stack.
//
// Life:
//  1. Created at +1 (tfrt_async_value_create_*, tfrt_indirect_value_create()).
//  2. Resolved once, by its producer.
//  3. Released by everybody; the last one destroys payload and storage.
//
// Thread rule: thread-safe unless a function says otherwise. A thread that saw the value available
// may read its payload; the program's chains order writes to it.
// Failure rule: creation gives NULL only when memory is out; callers turn that into
// tfrt_async_value_out_of_memory(). Making a value of TFRT_TYPE_NONE aborts with a message. Code
// that was compiled without NDEBUG aborts with a message when a caller breaks a rule of this header
// (tfrt_async_value_misuse_t).
#ifndef TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_H_

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/task.h"
#include "host_runtime/async/type.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

typedef enum tfrt_async_value_kind_e {
  TFRT_ASYNC_VALUE_CONCRETE = 0,
  TFRT_ASYNC_VALUE_INDIRECT = 1,
  TFRT_ASYNC_VALUE_ERROR = 2,
} tfrt_async_value_kind_t;

typedef enum tfrt_async_value_state_e {
  TFRT_ASYNC_VALUE_UNRESOLVED = 0,
  TFRT_ASYNC_VALUE_CLAIMED = 1,
  TFRT_ASYNC_VALUE_AVAILABLE = 2,
  TFRT_ASYNC_VALUE_FAILED = 3,
} tfrt_async_value_state_t;

#define TFRT_ASYNC_VALUE_STATE_MASK ((uintptr_t)3)

enum tfrt_async_value_flag_bits_e {
  // Never destroyed: retain and release do nothing (ready chain, constants).
  TFRT_ASYNC_VALUE_FLAG_IMMORTAL = 1u << 0,
  // The payload of an indirect was demanded before its target was known.
  TFRT_ASYNC_VALUE_FLAG_DEMANDED = 1u << 1,
  // The payload of an unresolved concrete value is constructed already.
  TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED = 1u << 2,
  // Somebody without a reference may find the value and try to get one.
  TFRT_ASYNC_VALUE_FLAG_FINDABLE = 1u << 3,
  // A concrete value whose constructed payload outlives an error.
  TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD = 1u << 4,
  // A concrete value of a builtin scalar, available from birth: small, nothing to destroy.
  TFRT_ASYNC_VALUE_FLAG_SCALAR = 1u << 5,
  // A concrete value of a builtin type of at most 8 bytes: small, nothing to destroy, unless
  // it becomes an error; then the flag goes.
  TFRT_ASYNC_VALUE_FLAG_PLAIN = 1u << 6,
  // A concrete value that lies in an object of its type, which gives the storage back.
  TFRT_ASYNC_VALUE_FLAG_EMBEDDED = 1u << 7,
};

// How a caller broke a rule of this header.
typedef enum tfrt_async_value_misuse_e {
  // More references were released than were taken.
  TFRT_ASYNC_VALUE_RELEASED_TOO_OFTEN = 0,
  // Somebody retained, read or resolved a value whose last reference was released.
  TFRT_ASYNC_VALUE_USED_AFTER_END = 1,
  TFRT_ASYNC_VALUE_RESOLVED_TWICE = 2,
  TFRT_ASYNC_VALUE_READ_UNRESOLVED = 3,
  TFRT_ASYNC_VALUE_READ_ERROR = 4,
  // The payload of an indirect was read in the place of its target's.
  TFRT_ASYNC_VALUE_READ_INDIRECT = 5,
  // An indirect was forwarded to a value that forwards to it.
  TFRT_ASYNC_VALUE_FORWARDED_IN_A_CIRCLE = 6,
  // The last reference was released while a task waited for the value.
  TFRT_ASYNC_VALUE_RELEASED_WITH_WAITER = 7,
  // A kernel returned an argument, which it borrows, without retaining it.
  TFRT_ASYNC_VALUE_RETURNED_UNRETAINED = 8,
} tfrt_async_value_misuse_t;

typedef struct tfrt_async_value_s {
  TFRT_ATOMIC(uint32_t) count;
  uint8_t kind;
  TFRT_ATOMIC(uint8_t) flags;
  tfrt_type_id_t type_id;  // TFRT_TYPE_NONE unless concrete
  TFRT_ATOMIC(uintptr_t) waiters_and_state;
} tfrt_async_value_t;

static_assert(sizeof(tfrt_async_value_t) == 16, "the header is 16 bytes");

typedef struct tfrt_indirect_value_s tfrt_indirect_value_t;

// The hook through which a value owned elsewhere is asked for. The only way in
// which this room knows of other hosts.
//
// Every function may be called from any thread, with no lock held, and more than
// once; demand and settlement are not called any more once the value is resolved
// (a call may overlap with the resolution).
typedef struct tfrt_resolver_vtable_s {
  // The last reference is gone: gives back the storage of |value|, whose target has
  // been released.
  void (*destroy)(tfrt_indirect_value_t* value);
  // Somebody needs the payload here: sees to it that |value| will be resolved.
  void (*demand)(tfrt_indirect_value_t* value);
  // Somebody asks whether the value is settled: returns (+0, lives as long as
  // |value|) an AsyncValue that becomes available, or the error, when it is.
  // A caller that resolves |value| while this is unresolved MUST resolve this afterwards, and hold
  // a reference to |value| across both. Reason: a waiter in here may hold only a value that
  // forwards to |value|, and may release it once that is resolved. An error that settles is set on
  // |value| as well: there, awaiting tasks look for it.
  tfrt_async_value_t* (*settlement)(tfrt_indirect_value_t* value);
} tfrt_resolver_vtable_t;

// An indirect value; embedded first in a remote value, which fills |resolver|.
struct tfrt_indirect_value_s {
  tfrt_async_value_t base;
  TFRT_ATOMIC(tfrt_async_value_t*) target;  // +1; NULL until somebody claims the value
  const tfrt_resolver_vtable_t* resolver;   // NULL for a plain one
  // Waits for an unavailable target. When it has run, |next| may hold a reference to
  // a first target that somebody was looking at when it was replaced.
  tfrt_task_t target_waiter;
  // How many threads are between reading |target| and retaining it; and bits that tell whether the
  // references and the wait are over (indirect_value.c).
  TFRT_ATOMIC(uint32_t) visitors;
};

// --- Creation ---------------------------------------------------------------

// Returns a new value (+1) of type |type_id|, unresolved, its payload's storage
// zeroed and unconstructed: the producer constructs it and calls
// tfrt_async_value_set_available(). NULL when memory is out. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_unconstructed(tfrt_type_id_t type_id) TFRT_MUST_USE;

// The same, but the payload counts as constructed: it is destroyed with the value
// even if that ends as an error. The caller constructs it before sharing the value.
// Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_constructed(tfrt_type_id_t type_id) TFRT_MUST_USE;

// The same, but an error does not destroy the payload: who holds the failed value may still
// read it (tfrt_async_value_payload()), for example to report how far the work came. It goes
// with the value. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_keeping(tfrt_type_id_t type_id) TFRT_MUST_USE;

// The same, but available from birth: the caller constructs the payload before
// sharing the value. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_available(tfrt_type_id_t type_id) TFRT_MUST_USE;

// The same for a builtin type of at most 8 bytes without a destructor. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_scalar(tfrt_type_id_t type_id) TFRT_MUST_USE;

// Makes |value|, which lies first in an object of the caller's, an unresolved concrete value with
// count 1 of the type |type_id|. Behind the header the object keeps room for the tfrt_status_t of
// an error, and nothing of its own. The last release calls the type's destroy function with what
// lies behind the header, whatever the state; that gives back the object. Thread-compatible.
void tfrt_async_value_initialize_embedded(tfrt_async_value_t* value, tfrt_type_id_t type_id);

// Returns a new value (+1) that is the error |status| (+0), which must not be OK.
// Never NULL. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_error(tfrt_status_t status) TFRT_MUST_USE;

// The same, but consumes |status|. Thread-safe.
tfrt_async_value_t* tfrt_async_value_create_error_take(tfrt_status_t status) TFRT_MUST_USE;

// The one available chain of the process: immortal, so it may be handed out as +1.
// Thread-safe.
tfrt_async_value_t* tfrt_async_value_ready_chain(void);

// The immortal error value for "memory is out". Thread-safe.
tfrt_async_value_t* tfrt_async_value_out_of_memory(void);

// Returns a new plain indirect value (+1), or NULL when memory is out. Thread-safe.
tfrt_indirect_value_t* tfrt_indirect_value_create(void) TFRT_MUST_USE;

// Makes the zeroed storage |value| an unresolved indirect with count 1 that is
// resolved and destroyed through |resolver|. Thread-compatible.
void tfrt_indirect_value_initialize(tfrt_indirect_value_t* value,
                                    const tfrt_resolver_vtable_t* resolver);

// --- Mistakes ---------------------------------------------------------------

// The word of waiters and state in freed storage, in builds that check for mistakes. No task lies
// there, because tasks are aligned.
#define TFRT_ASYNC_VALUE_FREED_WORD (~(uintptr_t)0)

// Prints what the caller did to |value|, the kernel that the thread runs, and the rule, and aborts
// the process. |value| may have been freed. Thread-safe.
__attribute__((noreturn)) TFRT_COLD void tfrt_async_value_abort_misuse(
    const tfrt_async_value_t* value, tfrt_async_value_misuse_t misuse);

// Aborts with |misuse| of |value| unless |condition| holds; nothing with NDEBUG.
#ifdef NDEBUG
#define TFRT_ASYNC_VALUE_REQUIRE(condition, value, misuse) ((void)0)
#else
#define TFRT_ASYNC_VALUE_REQUIRE(condition, value, misuse)                             \
  do {                                                                                 \
    if (TFRT_UNLIKELY(!(condition))) tfrt_async_value_abort_misuse((value), (misuse)); \
  } while (0)
#endif

// --- References -------------------------------------------------------------

// Destroys |value|, whose count has reached 0. Only for tfrt_async_value_release().
void tfrt_async_value_destroy(tfrt_async_value_t* value);

static inline uint8_t tfrt_async_value_flags(const tfrt_async_value_t* value) {
  return atomic_load_explicit(&((tfrt_async_value_t*)value)->flags, memory_order_relaxed);
}

// Adds |n| references and returns |value|. Thread-safe.
static inline tfrt_async_value_t* tfrt_async_value_retain_n(tfrt_async_value_t* value, uint32_t n) {
  if (!(tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_IMMORTAL)) {
    uint32_t count = atomic_fetch_add_explicit(&value->count, n, memory_order_relaxed);
    TFRT_ASYNC_VALUE_REQUIRE(count > 0, value, TFRT_ASYNC_VALUE_USED_AFTER_END);
    (void)count;
  }
  return value;
}

// Adds one reference and returns |value|. Thread-safe.
static inline tfrt_async_value_t* tfrt_async_value_retain(tfrt_async_value_t* value) {
  return tfrt_async_value_retain_n(value, 1);
}

// The same for a value that nobody but the caller knows yet. Thread-compatible.
static inline tfrt_async_value_t* tfrt_async_value_retain_unshared(tfrt_async_value_t* value) {
  uint32_t count = atomic_load_explicit(&value->count, memory_order_relaxed);
  atomic_store_explicit(&value->count, count + 1, memory_order_relaxed);
  return value;
}

// Adds one reference to |value|, for a caller that holds none. Returns false if the last reference
// is gone. Only for FINDABLE values, which are those with a resolver. The caller keeps the storage
// from being freed, by a lock that the resolver's destroy takes. Thread-safe.
static inline bool tfrt_async_value_try_retain(tfrt_async_value_t* value) {
  uint32_t count = atomic_load_explicit(&value->count, memory_order_relaxed);
  while (count != 0) {
    // Relaxed: nothing is read that the other references did not hand over already.
    if (atomic_compare_exchange_weak_explicit(&value->count, &count, count + 1,
                                              memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Drops |n| references, all of them held by the caller. Thread-safe.
static inline void tfrt_async_value_release_n(tfrt_async_value_t* value, uint32_t n) {
  uint8_t flags = tfrt_async_value_flags(value);
  if (flags & TFRT_ASYNC_VALUE_FLAG_IMMORTAL) return;
  // Acquire: pairs with the release half of the decrement below in other threads. (A thread that
  // reads that nobody else has a reference need not write, if nobody can get one.)
  if (!(flags & TFRT_ASYNC_VALUE_FLAG_FINDABLE) &&
      atomic_load_explicit(&value->count, memory_order_acquire) == n) {
    tfrt_async_value_destroy(value);
    return;
  }
  uint32_t count = atomic_fetch_sub_explicit(&value->count, n, memory_order_acq_rel);
  TFRT_ASYNC_VALUE_REQUIRE(count >= n, value, TFRT_ASYNC_VALUE_RELEASED_TOO_OFTEN);
  if (count == n) tfrt_async_value_destroy(value);
}

// Drops one reference; NULL is allowed. Thread-safe.
static inline void tfrt_async_value_release(tfrt_async_value_t* value) {
  if (value) tfrt_async_value_release_n(value, 1);
}

// Returns true if the caller's reference is the only one to |value| and, when that
// is a resolved indirect, to its target. Thread-safe.
bool tfrt_async_value_is_unique(tfrt_async_value_t* value);

// --- State ------------------------------------------------------------------

static inline tfrt_async_value_state_t tfrt_async_value_state(const tfrt_async_value_t* value) {
  // Acquire: pairs with the release of the exchange that resolves the value.
  uintptr_t word =
      atomic_load_explicit(&((tfrt_async_value_t*)value)->waiters_and_state, memory_order_acquire);
  TFRT_ASYNC_VALUE_REQUIRE(word != TFRT_ASYNC_VALUE_FREED_WORD, value,
                           TFRT_ASYNC_VALUE_USED_AFTER_END);
  return (tfrt_async_value_state_t)(word & TFRT_ASYNC_VALUE_STATE_MASK);
}

// Returns true if |value| is resolved: has its payload or is an error. Thread-safe.
static inline bool tfrt_async_value_is_available(const tfrt_async_value_t* value) {
  return tfrt_async_value_state(value) >= TFRT_ASYNC_VALUE_AVAILABLE;
}

// Returns true if |value| is resolved as an error. Thread-safe.
static inline bool tfrt_async_value_is_error(const tfrt_async_value_t* value) {
  return tfrt_async_value_state(value) == TFRT_ASYNC_VALUE_FAILED;
}

// Returns true if |value| was made by tfrt_async_value_create_scalar(): it is concrete and
// available, and nobody need look further. Thread-safe.
static inline bool tfrt_async_value_is_scalar(const tfrt_async_value_t* value) {
  return tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_SCALAR;
}

// The value (+0) that holds the payload or error of the resolved |value|: itself, or
// an indirect's target. Thread-safe.
static inline tfrt_async_value_t* tfrt_async_value_resolved(tfrt_async_value_t* value) {
  if (TFRT_LIKELY(value->kind != TFRT_ASYNC_VALUE_INDIRECT)) return value;
  // Relaxed: the acquire load that saw the value resolved ordered this one.
  return atomic_load_explicit(&((tfrt_indirect_value_t*)value)->target, memory_order_relaxed);
}

// The payload of a concrete |value| that is available, or not yet shared or
// published, or that keeps it. For values that may be indirect take
// tfrt_async_value_resolved() first. Thread-safe.
static inline void* tfrt_async_value_payload(tfrt_async_value_t* value) {
#ifndef NDEBUG
  // Relaxed: the caller saw the value available before, or made it.
  uintptr_t word = atomic_load_explicit(&value->waiters_and_state, memory_order_relaxed);
  TFRT_ASYNC_VALUE_REQUIRE(word != TFRT_ASYNC_VALUE_FREED_WORD, value,
                           TFRT_ASYNC_VALUE_USED_AFTER_END);
  TFRT_ASYNC_VALUE_REQUIRE(value->kind != TFRT_ASYNC_VALUE_INDIRECT, value,
                           TFRT_ASYNC_VALUE_READ_INDIRECT);
  TFRT_ASYNC_VALUE_REQUIRE(
      (word & TFRT_ASYNC_VALUE_STATE_MASK) != TFRT_ASYNC_VALUE_FAILED ||
          (tfrt_async_value_flags(value) & TFRT_ASYNC_VALUE_FLAG_KEEPS_PAYLOAD),
      value, TFRT_ASYNC_VALUE_READ_ERROR);
#endif
  return value + 1;
}

// The payload of |value| (+0, lives as long as that), or of the value that it forwards to, if it is
// available and of the type |type_id|; NULL if it is unresolved, an error, or of another type.
// Thread-safe.
void* tfrt_async_value_get(tfrt_async_value_t* value, tfrt_type_id_t type_id);

// The error (+0, lives as long as |value|) of |value|, which must be one.
// Thread-safe.
tfrt_status_t tfrt_async_value_error(tfrt_async_value_t* value);

// --- Resolving --------------------------------------------------------------

// Publishes the constructed payload of the unresolved concrete |value|. Called once,
// by the producer. Thread-safe.
void tfrt_async_value_set_available(tfrt_async_value_t* value);

// Makes the |size| bytes at |payload| the payload of the unresolved concrete |value|, whose payload
// is unconstructed, and publishes it. |size| is that of its type; what the bytes own is the value's
// from then on. Called once, by the producer. Thread-safe.
void tfrt_async_value_emplace(tfrt_async_value_t* value, const void* payload, size_t size);

// Resolves |value|, concrete or indirect, as the error |status| (+0). A constructed
// payload is destroyed. For a concrete value: called once, by the producer.
// An indirect that is resolved or claimed already stays as it is. Thread-safe.
void tfrt_async_value_set_error(tfrt_async_value_t* value, tfrt_status_t status);

// Makes the indirect |value| stand for |target| (+0), now or as soon as that is
// resolved; demands made so far go on to the target. Returns false, changing
// nothing, if |value| was claimed or resolved before: the first one wins.
// |target| must not depend on |value|. Thread-safe.
bool tfrt_indirect_value_forward(tfrt_indirect_value_t* value, tfrt_async_value_t* target);

// The same, but consumes the caller's reference to |target|. Thread-safe.
bool tfrt_indirect_value_forward_take(tfrt_indirect_value_t* value, tfrt_async_value_t* target);

// The value that the unresolved indirect |value| forwards to (+1), or NULL if it is not known yet.
// Thread-safe.
tfrt_async_value_t* tfrt_indirect_value_target(tfrt_indirect_value_t* value) TFRT_MUST_USE;

// --- Waiting ----------------------------------------------------------------

// Runs |task| when |value| is resolved: at once, if it is. Demands the payload.
// |task| runs exactly once, on the thread that resolves |value|; the caller keeps |value| alive
// until then. Several tasks run newest first. Thread-safe.
void tfrt_async_value_and_then(tfrt_async_value_t* value, tfrt_task_t* task);

// Calls |run| with |value| and |argument| when |value| is resolved: at once, if it is. Demands the
// payload, and keeps |value| alive until |run| has returned. Several are called newest first.
// Returns false, and never calls |run|, when memory is out. Thread-safe.
typedef void (*tfrt_async_value_run_fn_t)(tfrt_async_value_t* value, void* argument);
bool tfrt_async_value_and_then_run(tfrt_async_value_t* value, tfrt_async_value_run_fn_t run,
                                   void* argument) TFRT_MUST_USE;

// Runs |task| when |value| is settled, that is resolved here or known to be
// available at its owner: if |task| finds |value| unresolved, it is not an error. If
// that owner is not known yet, this counts as a demand. Thread-safe.
void tfrt_async_value_await(tfrt_async_value_t* value, tfrt_task_t* task);

// Runs |task| when |value| is resolved, without asking for that. Thread-safe.
void tfrt_async_value_watch(tfrt_async_value_t* value, tfrt_task_t* task);

// Demands the payload of |value| without waiting for it. Thread-safe.
void tfrt_async_value_demand(tfrt_async_value_t* value);

// --- Accounts ---------------------------------------------------------------

// The number of live values in the process, immortal ones not counted; 0 in builds
// with NDEBUG, which keep no account. Thread-safe.
int64_t tfrt_async_value_live_count(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_ASYNC_VALUE_H_
