// SPDX-License-Identifier: Apache-2.0
//
// One message of each sort with every field set, and some with few: what the tests of
// the wire encode, compare, damage, and what the fuzzer starts from.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_TESTS_DISTRIBUTED_WIRE_SAMPLES_H_
#define TFRT_TESTS_DISTRIBUTED_WIRE_SAMPLES_H_

#include "distributed/wire/batch.h"
#include "distributed/wire/bulk.h"

// Bodies of frames: at least one of each kind.
extern const tfrt_wire_body_t tfrt_wire_sample_bodies[];
extern const size_t tfrt_wire_sample_body_count;

// Batches: of a handshake, with a heartbeat only, with frames.
extern const tfrt_wire_batch_t tfrt_wire_sample_batches[];
extern const size_t tfrt_wire_sample_batch_count;

// Messages of a bulk channel, in both directions.
extern const tfrt_wire_bulk_t tfrt_wire_sample_ups[];
extern const size_t tfrt_wire_sample_up_count;
extern const tfrt_wire_bulk_t tfrt_wire_sample_downs[];
extern const size_t tfrt_wire_sample_down_count;

#endif  // TFRT_TESTS_DISTRIBUTED_WIRE_SAMPLES_H_
