// SPDX-License-Identifier: Apache-2.0
//
// The things that live on a host because of others: a HostPart; for each job a JobPart, then its
// members, starts, calls, values and mail; and the kernels that threads are in. The job of the
// client that asks is left out. At most TFRT_INVENTORY_MAX_PARTS of each kind are listed; a
// MorePart has the number of the others.
//
// The work under the lock doesn't grow with what lives on the host: a call knows the execution that
// it is made for, and the lock is opened between the kinds. A question may pass over some things
// first, which takes some nanoseconds for each.
//
// proto/service.proto describes the parts.
//
// Thread rule: takes the node's lock. Failure rule: see answer.h.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_

#include "distributed/service/answer_part.h"

extern const tfrt_answerer_t tfrt_inventory_answerer;

// --- An inventory that is being made ---------------------------------------------

// The slot of this host that a value turned out to be.
typedef struct tfrt_inventory_slot_s {
  const tfrt_async_value_t* end;  // of the chain of forwards; only compared
  tfrt_wire_object_id_t id;
} tfrt_inventory_slot_t;

// Kinds of parts, by their numbers.
#define TFRT_INVENTORY_KINDS 16

// An inventory that is being made.
typedef struct tfrt_inventory_s {
  tfrt_answer_parts_t parts;
  const tfrt_job_t* asker;  // the job that only asks, and is left out; or NULL
  uint32_t kinds;           // that are asked for, by bits
  uint32_t limit;           // of each kind
  uint64_t skip;            // of calls, values and mail, before the first that is listed
  uint64_t skipped[TFRT_INVENTORY_KINDS];
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

// True if one more part of |kind| is to be passed over, which is counted then.
static inline bool tfrt_inventory_skips(tfrt_inventory_t* inventory, tfrt_wire_part_kind_t kind) {
  if (inventory->skipped[kind] == inventory->skip) return false;
  ++inventory->skipped[kind];
  return true;
}

// True while something of |kind| may still be listed. Where that ends, |total| of the host's counts
// says how many are left out, without a walk over them.
static inline bool tfrt_inventory_goes_on(tfrt_inventory_t* inventory, tfrt_wire_part_kind_t kind,
                                          uint64_t total) {
  if (inventory->listed[kind] < inventory->limit) return true;
  const uint64_t passed = inventory->listed[kind] + inventory->skipped[kind];
  if (total > passed) inventory->left_out[kind] = total - passed;
  return false;
}

// A section of an inventory: adds what the host has, or what |inventory->parts.job| has, which is
// each job but the asker; NULL: nothing of that.
typedef struct tfrt_inventory_section_s {
  tfrt_wire_part_kind_t kind;
  void (*add)(tfrt_inventory_t* inventory);
  void (*add_of_job)(tfrt_inventory_t* inventory, tfrt_job_t* job);
} tfrt_inventory_section_t;

// The things of this host that are about values of other hosts, or for other hosts: named objects,
// placeholders, and mail.
#define TFRT_INVENTORY_VALUE_SECTIONS 3
extern const tfrt_inventory_section_t tfrt_inventory_value_sections[TFRT_INVENTORY_VALUE_SECTIONS];

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_H_
