// SPDX-License-Identifier: Apache-2.0
//
// A cache of the numbers that objects of the IR got lately, by their address. Neighbours in a
// program mostly have the same types, kernels and files. Looking their numbers up by text costs
// more than everything else that the emitter does for a kernel.
//
//   entries[hash of the address] = { address, number }    one entry; the last one stays
//
// Life: all zero; asked for a number, and given the ones that it did not know.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_COMPILER_BEF_NUMBER_MEMO_H_
#define TFRT_COMPILER_BEF_NUMBER_MEMO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFRT_NUMBER_MEMO_SIZE 64

typedef struct tfrt_number_memo_entry_s {
  const void* key;  // NULL: none yet
  uint32_t number;
} tfrt_number_memo_entry_t;

typedef struct tfrt_number_memo_s {
  tfrt_number_memo_entry_t entries[TFRT_NUMBER_MEMO_SIZE];
} tfrt_number_memo_t;

// The entry where |key|, which is not NULL, stands or would: it is known if the entry has it,
// else the caller fills the entry in. Thread-compatible (caller synchronises).
static inline tfrt_number_memo_entry_t* tfrt_number_memo_at(tfrt_number_memo_t* memo,
                                                            const void* key) {
  // Things of the IR are bigger than 16 bytes.
  uintptr_t bits = (uintptr_t)key >> 4;
  return &memo->entries[(bits ^ bits >> 6) % TFRT_NUMBER_MEMO_SIZE];
}

#endif  // TFRT_COMPILER_BEF_NUMBER_MEMO_H_
