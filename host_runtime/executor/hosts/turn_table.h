// SPDX-License-Identifier: Apache-2.0
//
// Counts what hosts do together, on each of them: the n-th thing of a series that begins on one
// host belongs to the n-th of the same series on every other. A series is a text that all of
// them know, in one request.
//
//   host 0   series "0-2"   turn 0   turn 1        host 1   series "0-2"   turn 0   turn 1
//                              \________\________________________________/________/
//
// Two turns of one series on one host should not overlap: then nothing orders them, and another
// host may begin them the other way round. The table says when that happens.
//
// Once a turn has failed, the series is *broken*: no turn of it begins any more, and each attempt
// gets the same error. So hosts that can't know any more which turn the others are at don't wait
// for each other.
//
// Life:
//  1. Initialised in the storage of the requests' owner.
//  2. A turn is begun, and ended as often; a series may be broken.
//  3. When the request is over on all hosts, its series are forgotten.
//  4. Deinitialised, which forgets all series.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_TURN_TABLE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_TURN_TABLE_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_turn_table_s {
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;
  tfrt_list_link_t series;  // guarded by |mutex|
} tfrt_turn_table_t;

typedef struct tfrt_turn_s {
  uint64_t number;  // from 0
  bool overlaps;    // another turn of the series has not ended here
} tfrt_turn_t;

// Makes |table| an empty one. Thread-compatible.
void tfrt_turn_table_initialize(tfrt_turn_table_t* table, tfrt_allocator_t allocator);

// Gives |table| back. Thread-compatible.
void tfrt_turn_table_deinitialize(tfrt_turn_table_t* table);

// Begins the next turn of |series| in |request| and sets |*out_turn| to it. RESOURCE_EXHAUSTED,
// or what has broken the series: nothing has begun. Thread-safe.
tfrt_status_t tfrt_turn_table_begin(tfrt_turn_table_t* table, uint64_t request,
                                    tfrt_string_view_t series, tfrt_turn_t* out_turn) TFRT_MUST_USE;

// Breaks |series|, after its first turn has begun, with |status| (+0); again changes nothing.
// Thread-safe.
void tfrt_turn_table_break(tfrt_turn_table_t* table, uint64_t request, tfrt_string_view_t series,
                           tfrt_status_t status);

// A turn of |series| that was begun is over. Thread-safe.
void tfrt_turn_table_end(tfrt_turn_table_t* table, uint64_t request, tfrt_string_view_t series);

// Forgets the series of |request|, which does nothing on any host any more, but not a series whose
// turn has not ended here. True if there was one. Thread-safe.
bool tfrt_turn_table_forget(tfrt_turn_table_t* table, uint64_t request);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_TURN_TABLE_H_
