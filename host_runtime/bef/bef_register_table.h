// SPDX-License-Identifier: Apache-2.0
//
// The state of the registers of a body while its kernels are checked, one after the other: the
// registers that are set, and whether the lists of users and the use counts are right. Private to
// this room.
//
//   register --> [ users of it: done <- left ]   words of the image
//
// Writers list the users of a register last one first, as MLIR has them. So each argument is the
// last remaining word of its register's list. If that holds to the end, all lists and counts are
// right. Other bodies are left to bef_uses.c, which allows any order and reports errors.
//
// Life:
//  1. Made for a body, with all registers unset.
//  2. Told of each kernel's arguments, then of its results, in the order of the kernels.
//  3. Asked whether all fits.
//
// Thread rule: thread-compatible. Failure rule: none fails; what doesn't fit is noted.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_REGISTER_TABLE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_REGISTER_TABLE_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

typedef struct tfrt_bef_register_s {
  uint32_t users_begin;   // word of |area| that its list begins with
  uint32_t users_end;     // the one behind those that are left of the list; 0: not set yet
  uint32_t results_left;  // results of the function that are this register
} tfrt_bef_register_t;

typedef struct tfrt_bef_register_table_s {
  tfrt_bef_register_t* registers;  // by number; all zero at first
  const uint32_t* use_counts;      // by number
  uint32_t count;
  uint32_t set_count;        // of those that are set
  const uint32_t* area;      // where the records begin
  const uint32_t* starting;  // what is left of the users of the special register, first one first
  uint32_t starting_left;
  uint64_t users_left;    // of the lists of all registers
  uint64_t results_left;  // of all registers
  bool uses_fit;          // so far, lists of users and counts are as they should be
} tfrt_bef_register_table_t;

// Whether register |number| < |count| is set. Thread-compatible.
static inline bool tfrt_bef_register_table_is_set(const tfrt_bef_register_table_t* table,
                                                  uint32_t number) {
  return table->registers[number].users_end > 0;
}

// Notes that register |number| < |count| is set, and that the |count| words at |users|, in the area
// and not at its begin, are its list. Thread-compatible.
static inline void tfrt_bef_register_table_set(tfrt_bef_register_table_t* table, uint32_t number,
                                               const uint32_t* users, uint32_t count) {
  tfrt_bef_register_t* set = &table->registers[number];
  set->users_begin = (uint32_t)(users - table->area);
  set->users_end = set->users_begin + count;
  ++table->set_count;
  const uint32_t uses = table->use_counts[number];
  if (TFRT_UNLIKELY(count > uses)) table->uses_fit = false;
  set->results_left = uses - count;
  table->users_left += count;
  table->results_left += set->results_left;
}

// Notes that kernel |kernel| uses register |number| < |count|. Returns false if that isn't set.
// Thread-compatible.
static inline bool tfrt_bef_register_table_use(tfrt_bef_register_table_t* table, uint32_t number,
                                               uint32_t kernel) {
  tfrt_bef_register_t* used = &table->registers[number];
  const uint32_t end = used->users_end;
  if (TFRT_LIKELY(end > used->users_begin && table->area[end - 1] == kernel)) {
    used->users_end = end - 1;
    --table->users_left;
    return true;
  }
  table->uses_fit = false;
  return end > 0;
}

// Notes that kernel |kernel| has no arguments, so that it uses the special register.
// Thread-compatible.
static inline void tfrt_bef_register_table_start(tfrt_bef_register_table_t* table,
                                                 uint32_t kernel) {
  if (TFRT_LIKELY(table->starting_left > 0 && *table->starting == kernel)) {
    ++table->starting;
    --table->starting_left;
  } else {
    table->uses_fit = false;
  }
}

// Notes that the |count| registers |results| are the function's results; called behind the last
// kernel. Thread-compatible.
void tfrt_bef_register_table_return(tfrt_bef_register_table_t* table, const uint32_t* results,
                                    uint32_t count);

// The first register that no kernel sets, if there is one (|set_count| < |count|).
// Thread-compatible.
uint32_t tfrt_bef_register_table_find_unset(const tfrt_bef_register_table_t* table);

// Whether all lists of users and all use counts are known to be right, once all has been noted.
// Thread-compatible.
bool tfrt_bef_register_table_fits(const tfrt_bef_register_table_t* table);

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_REGISTER_TABLE_H_
