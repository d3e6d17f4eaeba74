// SPDX-License-Identifier: Apache-2.0
//
// An intrusive hash table: the nodes are embedded in the objects that are found by
// it, so that inserting allocates nothing but, now and then, a bigger array of
// chains. Used for tables of objects, calls, names and types.
//
//   chains  [0] -> node -> node      node: { next, hash }, inside of an object
//           [1]
//           [2] -> node
//
// The caller says, through a small table of functions, what a key's hash is and
// whether a node has a key. Keys are whatever these two agree on.
//
// Life:
//  1. Initialised; it has a few chains of its own and allocates nothing.
//  2. Nodes are inserted and removed. The table doubles its chains when there are
//     more nodes than chains; if memory is out then, it goes on with longer chains.
//  3. Deinitialised. The nodes are not touched: they belong to the caller.
//
// Example:
//   tfrt_hash_node_t* node = tfrt_hash_table_find(&table, &key);
//   call_t* call = node ? TFRT_CONTAINER_OF(node, call_t, node) : NULL;
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_HASH_TABLE_H_
#define TFRT_HOST_RUNTIME_BASE_HASH_TABLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"

// Embedded in the objects; its content belongs to the table that the object is in.
typedef struct tfrt_hash_node_s {
  struct tfrt_hash_node_s* next;
  uint64_t hash;
} tfrt_hash_node_t;

typedef struct tfrt_hash_table_vtable_s {
  // The hash of |key|; all of its bits should depend on all of the key.
  uint64_t (*hash)(const void* key);
  // Returns true if the object around |node| has |key|.
  bool (*equal)(const tfrt_hash_node_t* node, const void* key);
} tfrt_hash_table_vtable_t;

#define TFRT_HASH_TABLE_FIRST_CHAIN_COUNT 8

typedef struct tfrt_hash_table_s {
  const tfrt_hash_table_vtable_t* vtable;
  tfrt_allocator_t allocator;
  size_t count;              // of nodes
  size_t chain_count;        // a power of two
  tfrt_hash_node_t** grown;  // the chains; NULL: |first_chains| are
  tfrt_hash_node_t* first_chains[TFRT_HASH_TABLE_FIRST_CHAIN_COUNT];
} tfrt_hash_table_t;

// Makes |table| an empty one whose keys are known by |vtable|, which must outlive it.
// Thread-compatible.
void tfrt_hash_table_initialize(tfrt_hash_table_t* table, const tfrt_hash_table_vtable_t* vtable,
                                tfrt_allocator_t allocator);

// Gives back the chains of |table|, whose nodes, if any, are just forgotten.
// Thread-compatible.
void tfrt_hash_table_deinitialize(tfrt_hash_table_t* table);

// Returns the node with |key|, or NULL if there is none. Thread-compatible.
tfrt_hash_node_t* tfrt_hash_table_find(const tfrt_hash_table_t* table, const void* key);

// Inserts |node|, which is in no table, under |key|, which no other node of |table|
// has. Thread-compatible.
void tfrt_hash_table_insert(tfrt_hash_table_t* table, const void* key, tfrt_hash_node_t* node);

// The same for callers that know the |hash| of the key, as the table's vtable gives it.
// Thread-compatible.
tfrt_hash_node_t* tfrt_hash_table_find_hashed(const tfrt_hash_table_t* table, uint64_t hash,
                                              const void* key);
void tfrt_hash_table_insert_hashed(tfrt_hash_table_t* table, uint64_t hash, tfrt_hash_node_t* node);

// The pointer that leads to the first node of the chain on which nodes with |hash| are, or to NULL;
// the others follow by |next|. For hot paths that compare keys where they stand. Found anew at each
// use, and not stored, so that an empty or small table may be moved. Thread-compatible.
static inline tfrt_hash_node_t** tfrt_hash_table_chain(const tfrt_hash_table_t* table,
                                                       uint64_t hash) {
  tfrt_hash_node_t** chains =
      table->grown ? table->grown : ((tfrt_hash_table_t*)table)->first_chains;
  return &chains[hash & (table->chain_count - 1)];
}

// Inserts |node| with |hash| at the head of |chain|, which tfrt_hash_table_chain() has just given
// for that hash. Thread-compatible.
static inline void tfrt_hash_table_insert_at(tfrt_hash_table_t* table, tfrt_hash_node_t** chain,
                                             uint64_t hash, tfrt_hash_node_t* node) {
  if (table->count >= table->chain_count) {
    tfrt_hash_table_insert_hashed(table, hash, node);
    return;
  }
  node->hash = hash;
  node->next = *chain;
  *chain = node;
  ++table->count;
}

// Makes chains for |count| nodes, if memory allows, so that inserting need not double them one
// time after the other. Thread-compatible.
void tfrt_hash_table_reserve(tfrt_hash_table_t* table, size_t count);

// Takes |node| out of |table|, which it must be in. Thread-compatible.
void tfrt_hash_table_remove(tfrt_hash_table_t* table, tfrt_hash_node_t* node);

// The number of nodes in |table|. Thread-compatible.
static inline size_t tfrt_hash_table_count(const tfrt_hash_table_t* table) { return table->count; }

// Walks through all nodes, in no useful order: the first one, and the one after
// |node|; NULL at the end. Nothing may be inserted meanwhile; a node may be removed
// once the one after it is known. Thread-compatible.
tfrt_hash_node_t* tfrt_hash_table_first(const tfrt_hash_table_t* table);
tfrt_hash_node_t* tfrt_hash_table_next(const tfrt_hash_table_t* table,
                                       const tfrt_hash_node_t* node);

// A hash of |size| bytes at |data|; the same in every process of the same byte order,
// and no protection against who chooses keys to collide. Thread-safe.
uint64_t tfrt_hash_bytes(const void* data, size_t size);

// A hash of |value|: a permutation, so different numbers never collide in all bits.
// Thread-safe.
static inline uint64_t tfrt_hash_u64(uint64_t value) {
  value ^= value >> 32;
  value *= UINT64_C(0xd6e8feb86659fd93);
  value ^= value >> 32;
  value *= UINT64_C(0xd6e8feb86659fd93);
  return value ^ (value >> 32);
}

// A hash of two things, from the hash of the first and that of the second, in this
// order. Thread-safe.
static inline uint64_t tfrt_hash_combine(uint64_t first, uint64_t second) {
  return tfrt_hash_u64(first + UINT64_C(0x9e3779b97f4a7c15)) ^ tfrt_hash_u64(second);
}

#endif  // TFRT_HOST_RUNTIME_BASE_HASH_TABLE_H_
