// SPDX-License-Identifier: Apache-2.0
//
// A line of an inventory (inventory.h): `KIND NAME=TEXT NAME=TEXT ...`. It is begun, properties are
// added, it is ended.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: that of the builder which the lines go to.
#ifndef TFRT_DISTRIBUTED_SERVICE_INVENTORY_LINE_H_
#define TFRT_DISTRIBUTED_SERVICE_INVENTORY_LINE_H_

#include "distributed/domain/call_site.h"
#include "distributed/domain/job.h"
#include "host_runtime/base/string_builder.h"

// The text, and what its lines have in common.
typedef struct tfrt_inventory_s {
  tfrt_node_t* node;
  tfrt_job_t* job;  // whose lines are being written
  tfrt_string_builder_t* out;
  int64_t now_ns;
} tfrt_inventory_t;

// Begins a line of |kind|, about something of the job whose lines are being written, or of the one
// with |id| (NULL: of none); ends it.
void tfrt_inventory_begin(tfrt_inventory_t* inventory, const char* kind);
void tfrt_inventory_begin_job(tfrt_inventory_t* inventory, const char* kind, const uint8_t* id);
void tfrt_inventory_end(tfrt_inventory_t* inventory);

// Adds the property |name|, as a text (NULL: an empty one) or a number.
void tfrt_inventory_add_word(tfrt_inventory_t* inventory, const char* name,
                             tfrt_string_view_t text);
void tfrt_inventory_add_text(tfrt_inventory_t* inventory, const char* name, const char* text);
void tfrt_inventory_add_number(tfrt_inventory_t* inventory, const char* name, uint64_t number);
void tfrt_inventory_add_incarnation(tfrt_inventory_t* inventory, const char* name,
                                    uint64_t incarnation);

// Adds how long ago |since_ns|, of the node's clock, was.
void tfrt_inventory_add_age(tfrt_inventory_t* inventory, int64_t since_ns);

// Appends the name |id| of a value; adds it as the property `id`.
void tfrt_inventory_append_id(tfrt_inventory_t* inventory, tfrt_wire_object_id_t id);
void tfrt_inventory_add_id(tfrt_inventory_t* inventory, tfrt_wire_object_id_t id);

// Adds where something stands in a program's text.
void tfrt_inventory_add_place(tfrt_inventory_t* inventory, const tfrt_status_origin_t* place);
void tfrt_inventory_add_site(tfrt_inventory_t* inventory, const tfrt_call_site_t* site);

// Adds the state, type and size of |value|, which is here or will be; NULL: nobody needs it so far.
void tfrt_inventory_add_value(tfrt_inventory_t* inventory, tfrt_async_value_t* value);

#endif  // TFRT_DISTRIBUTED_SERVICE_INVENTORY_LINE_H_
