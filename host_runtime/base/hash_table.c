// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/hash_table.h"

#include <stdint.h>
#include <string.h>

void tfrt_hash_table_initialize(tfrt_hash_table_t* table, const tfrt_hash_table_vtable_t* vtable,
                                tfrt_allocator_t allocator) {
  *table = (tfrt_hash_table_t){
      .vtable = vtable,
      .allocator = allocator,
      .chain_count = TFRT_HASH_TABLE_FIRST_CHAIN_COUNT,
  };
}

void tfrt_hash_table_deinitialize(tfrt_hash_table_t* table) {
  if (table->grown) {
    tfrt_allocator_free(table->allocator, table->grown,
                        table->chain_count * sizeof(tfrt_hash_node_t*));
  }
  tfrt_hash_table_initialize(table, table->vtable, table->allocator);
}

// Returns the pointer that leads to the node with |key|, or to the NULL behind the
// last node of its chain.
static tfrt_hash_node_t** find_link(const tfrt_hash_table_t* table, uint64_t hash,
                                    const void* key) {
  tfrt_hash_node_t** link = tfrt_hash_table_chain(table, hash);
  while (*link && ((*link)->hash != hash || !table->vtable->equal(*link, key))) {
    link = &(*link)->next;
  }
  return link;
}

tfrt_hash_node_t* tfrt_hash_table_find(const tfrt_hash_table_t* table, const void* key) {
  return *find_link(table, table->vtable->hash(key), key);
}

tfrt_hash_node_t* tfrt_hash_table_find_hashed(const tfrt_hash_table_t* table, uint64_t hash,
                                              const void* key) {
  return *find_link(table, hash, key);
}

static void push(tfrt_hash_table_t* table, tfrt_hash_node_t* node) {
  tfrt_hash_node_t** chain = tfrt_hash_table_chain(table, node->hash);
  node->next = *chain;
  *chain = node;
}

// Makes |count| chains, a power of two, if memory allows.
static void grow(tfrt_hash_table_t* table, size_t count) {
  tfrt_hash_node_t** bigger =
      tfrt_allocator_allocate_array(table->allocator, count, sizeof(tfrt_hash_node_t*));
  if (!bigger) return;
  tfrt_hash_table_t old = *table;
  table->grown = bigger;
  table->chain_count = count;
  for (size_t i = 0; i < old.chain_count; ++i) {
    tfrt_hash_node_t* node = *tfrt_hash_table_chain(&old, i);
    while (node) {
      tfrt_hash_node_t* next = node->next;
      push(table, node);
      node = next;
    }
  }
  if (old.grown) {
    tfrt_allocator_free(table->allocator, old.grown, old.chain_count * sizeof(tfrt_hash_node_t*));
  }
}

void tfrt_hash_table_reserve(tfrt_hash_table_t* table, size_t count) {
  size_t chain_count = table->chain_count;
  while (chain_count < count && chain_count <= SIZE_MAX / 2) chain_count *= 2;
  if (chain_count > table->chain_count) grow(table, chain_count);
}

void tfrt_hash_table_insert(tfrt_hash_table_t* table, const void* key, tfrt_hash_node_t* node) {
  tfrt_hash_table_insert_hashed(table, table->vtable->hash(key), node);
}

void tfrt_hash_table_insert_hashed(tfrt_hash_table_t* table, uint64_t hash,
                                   tfrt_hash_node_t* node) {
  tfrt_hash_table_reserve(table, table->count + 1);
  node->hash = hash;
  push(table, node);
  ++table->count;
}

void tfrt_hash_table_remove(tfrt_hash_table_t* table, tfrt_hash_node_t* node) {
  tfrt_hash_node_t** link = tfrt_hash_table_chain(table, node->hash);
  while (*link && *link != node) link = &(*link)->next;
  if (!*link) return;
  *link = node->next;
  node->next = NULL;
  --table->count;
}

static tfrt_hash_node_t* first_from(const tfrt_hash_table_t* table, size_t chain) {
  for (; chain < table->chain_count; ++chain) {
    tfrt_hash_node_t* node = *tfrt_hash_table_chain(table, chain);
    if (node) return node;
  }
  return NULL;
}

tfrt_hash_node_t* tfrt_hash_table_first(const tfrt_hash_table_t* table) {
  return first_from(table, 0);
}

tfrt_hash_node_t* tfrt_hash_table_next(const tfrt_hash_table_t* table,
                                       const tfrt_hash_node_t* node) {
  if (node->next) return node->next;
  return first_from(table, (size_t)(node->hash & (table->chain_count - 1)) + 1);
}

// Both halves of the 128-bit product, folded: each bit of the result depends on all
// bits of both factors.
static uint64_t multiply_fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t load_word(const unsigned char* bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof(word));
  return word;
}

// The |size| bytes at |bytes|, fewer than 8, as one number: by loads that overlap, as copying
// so few costs more.
static uint64_t load_rest(const unsigned char* bytes, size_t size) {
  if (size >= 4) return load_word(bytes) | (uint64_t)load_word(bytes + size - 4) << 8 * (size - 4);
  if (!size) return 0;
  uint64_t middle = (uint64_t)bytes[size / 2] << 8 * (size / 2);
  return bytes[0] | middle | (uint64_t)bytes[size - 1] << 8 * (size - 1);
}

uint64_t tfrt_hash_bytes(const void* data, size_t size) {
  // Odd numbers with about as many ones as zeros; nothing else is special in them.
  const uint64_t multiplier = UINT64_C(0xa0761d6478bd642f);
  const uint64_t salt = UINT64_C(0xe7037ed1a0b428db);
  const unsigned char* bytes = data;
  uint64_t hash = salt ^ (size * multiplier);
  while (size >= 8) {
    uint64_t word = 0;
    memcpy(&word, bytes, 8);
    hash = multiply_fold(hash ^ word, multiplier);
    bytes += 8;
    size -= 8;
  }
  hash = multiply_fold(hash ^ load_rest(bytes, size), multiplier);
  return tfrt_hash_u64(hash ^ salt);
}
