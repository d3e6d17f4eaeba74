// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/location.h"

#include <stdbool.h>

// Adds what |part| measures to |location|; false if that is not known yet.
static bool measure_part(tfrt_ir_location_t* location, const tfrt_ir_location_t* part) {
  if (!part) return true;
  if (part->weight == 0) return false;
  if (location->depth <= part->depth) {
    location->depth = part->depth + (part->depth == UINT32_MAX ? 0 : 1);
  }
  bool overflow = part->weight > UINT32_MAX - location->weight;
  location->weight = overflow ? UINT32_MAX : location->weight + part->weight;
  return true;
}

void tfrt_ir_location_measure(tfrt_ir_location_t* location) {
  location->depth = 1;
  location->weight = 1;
  bool known = true;
  for (uint32_t i = 0; known && i < tfrt_ir_location_part_count(location); ++i) {
    known = measure_part(location, tfrt_ir_location_part(location, i));
  }
  if (!known) location->weight = 0;
}

static tfrt_ir_location_t* create(tfrt_ir_context_t* context, tfrt_ir_location_kind_t kind) {
  tfrt_ir_location_t* location = tfrt_ir_context_allocate_room(context, sizeof(*location));
  if (location) *location = (tfrt_ir_location_t){.kind = kind, .depth = 1, .weight = 1};
  return location;
}

const tfrt_ir_location_t* tfrt_ir_location_unknown(tfrt_ir_context_t* context) {
  return create(context, TFRT_IR_LOCATION_UNKNOWN);
}

const tfrt_ir_location_t* tfrt_ir_location_file(tfrt_ir_context_t* context,
                                                const tfrt_ir_string_t* file, uint32_t line,
                                                uint32_t column) {
  return tfrt_ir_location_file_range(context, file, line, column, 0, 0);
}

const tfrt_ir_location_t* tfrt_ir_location_file_range(tfrt_ir_context_t* context,
                                                      const tfrt_ir_string_t* file, uint32_t line,
                                                      uint32_t column, uint32_t end_line,
                                                      uint32_t end_column) {
  tfrt_ir_location_t* location = tfrt_ir_context_allocate_room(context, sizeof(*location));
  if (!location) return NULL;
  tfrt_ir_location_initialize_file(location, file, line, column);
  location->end_line = end_line;
  location->end_column = end_column;
  return location;
}

const tfrt_ir_location_t* tfrt_ir_location_name(tfrt_ir_context_t* context,
                                                const tfrt_ir_string_t* name,
                                                const tfrt_ir_location_t* child) {
  tfrt_ir_location_t* location = create(context, TFRT_IR_LOCATION_NAME);
  if (!location) return NULL;
  location->name = name;
  location->first = child;
  tfrt_ir_location_measure(location);
  return location;
}

const tfrt_ir_location_t* tfrt_ir_location_call_site(tfrt_ir_context_t* context,
                                                     const tfrt_ir_location_t* callee,
                                                     const tfrt_ir_location_t* caller) {
  tfrt_ir_location_t* location = create(context, TFRT_IR_LOCATION_CALL_SITE);
  if (!location) return NULL;
  location->first = callee;
  location->second = caller;
  tfrt_ir_location_measure(location);
  return location;
}

const tfrt_ir_location_t* tfrt_ir_location_fused(tfrt_ir_context_t* context,
                                                 const tfrt_ir_location_t* const* members,
                                                 uint32_t count,
                                                 const struct tfrt_ir_attribute_s* metadata) {
  tfrt_ir_location_t* location = create(context, TFRT_IR_LOCATION_FUSED);
  const tfrt_ir_location_t** copy = tfrt_ir_context_allocate_array(context, count, sizeof(*copy));
  if (!location || !copy) return NULL;
  for (uint32_t i = 0; i < count; ++i) copy[i] = members[i];
  location->members = copy;
  location->member_count = count;
  location->metadata = metadata;
  tfrt_ir_location_measure(location);
  return location;
}

const tfrt_ir_location_t* tfrt_ir_location_nearest_file(const tfrt_ir_location_t* location) {
  if (!location || location->kind == TFRT_IR_LOCATION_UNKNOWN) return NULL;
  if (location->kind == TFRT_IR_LOCATION_FILE) return location;
  const tfrt_ir_location_t* found = NULL;
  for (uint32_t i = 0; !found && i < tfrt_ir_location_part_count(location); ++i) {
    found = tfrt_ir_location_nearest_file(tfrt_ir_location_part(location, i));
  }
  return found;
}
