// SPDX-License-Identifier: Apache-2.0
//
// Finds lines of inventories (inventory_lines.h) by what they are about, however many there are:
//
//   line                             found by
//   call dir=in  peer number         its host, INVENTORY_CALL_IN, peer, number
//   call dir=out peer number         its host, INVENTORY_CALL_OUT, peer, number
//   start job number                 its host, INVENTORY_START, job, number
//   member job rank                  its host, INVENTORY_RANK, job, rank
//   member incarnation address       INVENTORY_MEMBER, incarnation; of any host, if it has one
//
// If several lines have the same key, the first is found.
//
// Life: built from texts, which it borrows; deinitialised.
//
// Thread rule: thread-compatible. Failure rule: building fails with RESOURCE_EXHAUSTED.
#ifndef TFRT_TOOLS_COORDINATOR_INVENTORY_INDEX_H_
#define TFRT_TOOLS_COORDINATOR_INVENTORY_INDEX_H_

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "tools/coordinator/inventory_lines.h"

#define TFRT_INVENTORY_INDEX_NONE UINT32_MAX

typedef enum tfrt_inventory_about_e {
  TFRT_INVENTORY_CALL_IN,
  TFRT_INVENTORY_CALL_OUT,
  TFRT_INVENTORY_START,
  TFRT_INVENTORY_MEMBER,
  TFRT_INVENTORY_RANK,
} tfrt_inventory_about_t;

typedef struct tfrt_inventory_key_s {
  uint32_t host;  // 0 for a member
  tfrt_inventory_about_t about;
  tfrt_string_view_t first;
  tfrt_string_view_t number;  // or rank; "" for a member
} tfrt_inventory_key_t;

typedef struct tfrt_inventory_entry_s {
  tfrt_hash_node_t by_key;
  tfrt_inventory_key_t key;
  tfrt_inventory_line_t line;
} tfrt_inventory_entry_t;

typedef struct tfrt_inventory_index_s {
  tfrt_hash_table_t table;
  tfrt_inventory_entry_t* entries;
  uint32_t count;
  size_t capacity;
} tfrt_inventory_index_t;

// Makes |index| that of the |host_count| texts |lines|. It must be deinitialised whatever this
// returns. Thread-compatible.
tfrt_status_t tfrt_inventory_index_build(tfrt_inventory_index_t* index,
                                         const tfrt_string_view_t* lines, uint32_t host_count)
    TFRT_MUST_USE;

// Gives |index| back; one of zeros is allowed. Thread-compatible.
void tfrt_inventory_index_deinitialize(tfrt_inventory_index_t* index);

// Sets |out_key| to what |line| of |host| is about, but for the rank of a member; false if it is in
// no index. Thread-compatible.
bool tfrt_inventory_index_key(uint32_t host, const tfrt_inventory_line_t* line,
                              tfrt_inventory_key_t* out_key);

// Searches without an index, for callers that look for one line only. Sets |out_line| to the first
// of |lines| that is about |key|, which is no rank; false if there is none. Thread-compatible.
bool tfrt_inventory_index_search(const tfrt_string_view_t* lines, uint32_t host_count,
                                 const tfrt_inventory_key_t* key, tfrt_inventory_line_t* out_line);

// The place of the line about |key| in |index->entries|, or TFRT_INVENTORY_INDEX_NONE.
// Thread-compatible.
uint32_t tfrt_inventory_index_find(const tfrt_inventory_index_t* index,
                                   const tfrt_inventory_key_t* key);

#endif  // TFRT_TOOLS_COORDINATOR_INVENTORY_INDEX_H_
