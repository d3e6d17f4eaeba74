// SPDX-License-Identifier: Apache-2.0
//
// An inventory that is being made, which inventory.c and inventory_values.c share.
//
// Thread rule: everything here needs the node's lock. Failure rule: see answer_part.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_LIST_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_LIST_H_

#include "distributed/service/answer_part.h"

// The slot of this host that a value turned out to be.
typedef struct tfrt_inventory_slot_s {
  const tfrt_async_value_t* end;  // of the chain of forwards; only compared
  tfrt_wire_object_id_t id;
} tfrt_inventory_slot_t;

// Kinds of parts, by their numbers.
#define TFRT_INVENTORY_KINDS 16

typedef struct tfrt_inventory_s {
  tfrt_answer_parts_t parts;
  const tfrt_job_t* asker;  // the job that asks
  uint32_t kinds;           // that are asked for, by bits
  uint32_t limit;           // of each kind
  uint32_t listed[TFRT_INVENTORY_KINDS];
  uint64_t left_out[TFRT_INVENTORY_KINDS];
  tfrt_inventory_slot_t* slots;  // by |end|; of the objects that are listed
  size_t slot_count;
} tfrt_inventory_t;

// True if one more part of |kind| may be listed, which is counted then; else it is left out.
static inline bool tfrt_inventory_take(tfrt_inventory_t* inventory, tfrt_wire_part_kind_t kind) {
  bool has_room = inventory->listed[kind] < inventory->limit;
  if (has_room) {
    ++inventory->listed[kind];
  } else {
    ++inventory->left_out[kind];
  }
  return has_room;
}

// True while something of |kind| may still be listed. Where that ends, |total| of the host's counts
// says how many are left out, without a walk over them.
static inline bool tfrt_inventory_goes_on(tfrt_inventory_t* inventory, tfrt_wire_part_kind_t kind,
                                          uint64_t total) {
  if (inventory->listed[kind] < inventory->limit) return true;
  if (total > inventory->listed[kind]) {
    inventory->left_out[kind] = total - inventory->listed[kind];
  }
  return false;
}

// Has |add| add what each job but the asker's has.
static inline void tfrt_inventory_add_of_jobs(tfrt_inventory_t* inventory,
                                              void (*add)(tfrt_inventory_t* inventory,
                                                          tfrt_job_t* job)) {
  const tfrt_list_link_t* jobs = &inventory->parts.node->jobs;
  for (tfrt_list_link_t* link = jobs->next; link != jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    inventory->parts.job = job;
    if (job != inventory->asker) add(inventory, job);
  }
}

// Add what this host has of other hosts' values and for them: named objects, placeholders, and what
// waits in mailboxes.
void tfrt_inventory_add_objects(tfrt_inventory_t* inventory);
void tfrt_inventory_add_remotes(tfrt_inventory_t* inventory);
void tfrt_inventory_add_mail(tfrt_inventory_t* inventory);

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_LIST_H_
