// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/release_ranges.h"

#include <stdbool.h>

// True if |next| goes on where |range| ends, which becomes both.
static bool tfrt_release_ranges_extend(tfrt_wire_object_range_t* range,
                                       const tfrt_wire_object_range_t* next) {
  if (range->namer != next->namer) return false;
  bool has_same_numbers =
      range->first_number == next->first_number && range->number_count == next->number_count;
  if (has_same_numbers && range->first_index + range->index_count == next->first_index) {
    range->index_count += next->index_count;
    return true;
  }
  bool has_same_indices =
      range->first_index == next->first_index && range->index_count == next->index_count;
  if (has_same_indices && range->first_number + range->number_count == next->first_number) {
    range->number_count += next->number_count;
    return true;
  }
  return false;
}

void tfrt_release_ranges_add(tfrt_release_ranges_t* released,
                             const tfrt_wire_object_range_t* range) {
  tfrt_wire_object_range_t* ranges = released->ranges;
  ranges[released->range_count++] = *range;
  ++released->name_count;
  // All results of a call may complete a row of calls.
  while (released->range_count > 1 &&
         tfrt_release_ranges_extend(&ranges[released->range_count - 2],
                                    &ranges[released->range_count - 1])) {
    --released->range_count;
  }
}
