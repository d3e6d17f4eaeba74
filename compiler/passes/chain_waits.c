// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_waits.h"

#include <string.h>

static void remove_mask(tfrt_chain_waits_t* waits, uint64_t index) {
  --waits->count;
  for (uint64_t i = index; i < waits->count; ++i) waits->masks[i] = waits->masks[i + 1];
  waits->masks[waits->count] = 0;
}

static void add_mask(tfrt_chain_waits_t* waits, uint64_t mask) {
  for (uint64_t i = 0; i < waits->count;) {
    uint64_t other = waits->masks[i];
    if ((mask & other) == other) return;
    if ((mask & other) == mask) {
      remove_mask(waits, i);
    } else {
      ++i;
    }
  }
  if (waits->count == TFRT_CHAIN_WAITS_MAX) {
    uint64_t common = mask & waits->masks[waits->count - 1];
    remove_mask(waits, waits->count - 1);
    add_mask(waits, common);  // one less: there is room now
    return;
  }
  uint64_t place = waits->count++;
  for (; place > 0 && waits->masks[place - 1] > mask; --place) {
    waits->masks[place] = waits->masks[place - 1];
  }
  waits->masks[place] = mask;
}

tfrt_chain_waits_t tfrt_chain_waits_and(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b) {
  tfrt_chain_waits_t both = {0};
  for (uint64_t i = 0; i < a->count; ++i) {
    for (uint64_t k = 0; k < b->count; ++k) add_mask(&both, a->masks[i] | b->masks[k]);
  }
  return both;
}

tfrt_chain_waits_t tfrt_chain_waits_or(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b) {
  tfrt_chain_waits_t either = *a;
  for (uint64_t k = 0; k < b->count; ++k) add_mask(&either, b->masks[k]);
  return either;
}

uint64_t tfrt_chain_waits_certain(const tfrt_chain_waits_t* waits) {
  uint64_t bits = UINT64_MAX;
  for (uint64_t i = 0; i < waits->count; ++i) bits &= waits->masks[i];
  return bits;
}

bool tfrt_chain_waits_hit(const tfrt_chain_waits_t* waits, uint64_t bits) {
  for (uint64_t i = 0; i < waits->count; ++i) {
    if (!(waits->masks[i] & bits)) return false;
  }
  return true;
}

bool tfrt_chain_waits_equal(const tfrt_chain_waits_t* a, const tfrt_chain_waits_t* b) {
  return memcmp(a, b, sizeof(*a)) == 0;
}
