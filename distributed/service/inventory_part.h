// SPDX-License-Identifier: Apache-2.0
//
// The parts of an inventory (inventory.h): what all of them need to be made.
//
//   tfrt_wire_answer_part_t part = {...};     its texts and arrays in the arena
//   tfrt_inventory_emit(inventory, &part);    appended to the answer; the arena is empty again
//
// Thread rule: everything here needs the node's lock.
// Failure rule: after the first failure nothing is appended any more, and |status| says why.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_PART_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_PART_H_

#include "distributed/domain/call_site.h"
#include "distributed/domain/job.h"
#include "distributed/wire/service.h"

// The answer, and what its parts have in common.
typedef struct tfrt_inventory_s {
  tfrt_node_t* node;
  tfrt_job_t* job;  // whose parts are being made
  tfrt_string_builder_t* out;
  tfrt_arena_t arena;  // of the part that is being made
  int64_t now_ns;
  tfrt_status_t status;  // +1
} tfrt_inventory_t;

// Makes |inventory| one of |node| that is appended to |out|; gives back what it has, and its status
// (+1).
void tfrt_inventory_initialize(tfrt_inventory_t* inventory, tfrt_node_t* node,
                               tfrt_string_builder_t* out);
tfrt_status_t tfrt_inventory_finish(tfrt_inventory_t* inventory) TFRT_MUST_USE;

// Appends |part|.
void tfrt_inventory_emit(tfrt_inventory_t* inventory, const tfrt_wire_answer_part_t* part);

// Zeroed room for |count| elements of |size| bytes, or NULL, and the inventory has failed.
void* tfrt_inventory_room(tfrt_inventory_t* inventory, size_t count, size_t size);

// The id of the job whose parts are being made; "" for none.
tfrt_string_view_t tfrt_inventory_job_id(const tfrt_inventory_t* inventory);

// |text| (NULL: "") as a field of a message takes it: a name.
tfrt_string_view_t tfrt_inventory_text(tfrt_inventory_t* inventory, const char* text);
tfrt_string_view_t tfrt_inventory_view(tfrt_inventory_t* inventory, tfrt_string_view_t text);

// How long ago |since_ns|, of the node's clock, was, in microseconds.
uint64_t tfrt_inventory_age_us(const tfrt_inventory_t* inventory, int64_t since_ns);

// Where something stands in a program's text; NULL if nothing is known of it.
const tfrt_wire_location_t* tfrt_inventory_place(tfrt_inventory_t* inventory,
                                                 const tfrt_status_origin_t* place);

// State, type and size of |value|, which is here or will be; NULL: nobody needs it so far.
tfrt_wire_value_info_t tfrt_inventory_value(tfrt_inventory_t* inventory, tfrt_async_value_t* value);

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_PART_H_
