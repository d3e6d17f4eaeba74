// SPDX-License-Identifier: Apache-2.0
//
// Names of values as ranges. Results of calls have numbers in a row, so one range, or a few, name
// many values.
//
//   (A, 7, 0) (A, 8, 0) (A, 9, 0) (A, 12, 0)  -->  (A, 7..9, 0) (A, 12, 0)
//
// Life: zeroed storage is empty.
//
// Thread rule: thread-compatible.
// Failure rule: none fails; the caller sees to it that there is room.
#ifndef TFRT_DISTRIBUTED_DOMAIN_RELEASE_RANGES_H_
#define TFRT_DISTRIBUTED_DOMAIN_RELEASE_RANGES_H_

#include "distributed/wire/object.h"

// The names that one job is about to give back to one peer; zeroed: none.
typedef struct tfrt_release_ranges_s {
  tfrt_wire_object_range_t ranges[16];
  uint32_t range_count;
  uint32_t name_count;  // in all of them
} tfrt_release_ranges_t;

// Adds |range|, for which there is room.
void tfrt_release_ranges_add(tfrt_release_ranges_t* released,
                             const tfrt_wire_object_range_t* range);

#endif  // TFRT_DISTRIBUTED_DOMAIN_RELEASE_RANGES_H_
