// SPDX-License-Identifier: Apache-2.0
//
// The bits that a value comes behind, where a run decides it: all bits of one of a few masks.
//
//   %b = tfrt.repeat.i32 %n, %a {         no turn: %b is %a            behind {%a}
//     %c = print %x, %d                   a turn: %b is %c             behind {%d}
//     return %c
//   }                                     so %b comes behind {%a} or {%d}
//
// If %a and %d both come behind an access, %b does, whatever %n is. A mask that has all bits of
// another one says nothing more and is left out. Where there are too many masks, two are replaced
// by what they have in common, which is less than the truth.
//
// Thread rule: values; thread-safe. Failure rule: none fails.
#ifndef TFRT_COMPILER_PASSES_CHAIN_WAITS_H_
#define TFRT_COMPILER_PASSES_CHAIN_WAITS_H_

#include <stdbool.h>
#include <stdint.h>

// One of four values and one of four chains, as branches in a loop choose, make 16.
#define TFRT_CHAIN_WAITS_MAX 16

// The masks ascend, and unused ones are 0: equal waits are equal bytes.
typedef struct tfrt_chain_waits_s {
  uint64_t count;  // at least 1
  uint64_t masks[TFRT_CHAIN_WAITS_MAX];
} tfrt_chain_waits_t;

// Waits for all bits of |mask|. UINT64_MAX: for everything. Thread-safe.
static inline tfrt_chain_waits_t tfrt_chain_waits_of(uint64_t mask) {
  return (tfrt_chain_waits_t){1, {mask}};
}

// Waits for both, or for one of the two. Thread-safe.
tfrt_chain_waits_t tfrt_chain_waits_and(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b);
tfrt_chain_waits_t tfrt_chain_waits_or(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b);

// The bits that |waits| waits for in any case. Thread-safe.
uint64_t tfrt_chain_waits_certain(const tfrt_chain_waits_t* waits);

// Returns true if |waits| waits in any case for a bit of |bits|. Thread-safe.
bool tfrt_chain_waits_hit(const tfrt_chain_waits_t* waits, uint64_t bits);

// Returns true if both are the same. Thread-safe.
bool tfrt_chain_waits_equal(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b);

#endif  // TFRT_COMPILER_PASSES_CHAIN_WAITS_H_
