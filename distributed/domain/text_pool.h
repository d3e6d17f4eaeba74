// SPDX-License-Identifier: Apache-2.0
//
// Texts that live as long as the node: names and places of calls that no program of a job holds.
// Placeholders for values on other hosts use these texts as long as the placeholders live. Each
// text is kept once, so the pool grows with the places in the code that make such calls, not with
// the calls.
//
// Life: initialised with its node, filled, deinitialised with it.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory a text is "".
#ifndef TFRT_DISTRIBUTED_DOMAIN_TEXT_POOL_H_
#define TFRT_DISTRIBUTED_DOMAIN_TEXT_POOL_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"

typedef struct tfrt_text_pool_s {
  tfrt_arena_t arena;
  tfrt_hash_table_t texts;
} tfrt_text_pool_t;

// Makes |pool| an empty one.
void tfrt_text_pool_initialize(tfrt_text_pool_t* pool, tfrt_allocator_t allocator);

// Gives back |pool| and its texts.
void tfrt_text_pool_deinitialize(tfrt_text_pool_t* pool);

// The text of |pool| (+0) that is |text|; NULL for NULL.
const char* tfrt_text_pool_keep(tfrt_text_pool_t* pool, const char* text);

#endif  // TFRT_DISTRIBUTED_DOMAIN_TEXT_POOL_H_
