// SPDX-License-Identifier: Apache-2.0
//
// How many bytes of payloads may be on their way to a peer at once: as many as the network between
// carries in its own delay and some milliseconds more. A link with a long queue takes megabytes at
// once, and whatever the host says next, signs of life among it, waits behind them. The bytes that
// this limit keeps back wait here, where only payloads wait.
//
//   sent -----[ on their way: at most |limit| ]----- arrived     delay of a chunk = least + queue
//
//   a chunk's queue is      the limit
//   over TARGET             falls to what makes it TARGET, by half at most
//   below half of that      doubles, if it was used up
//
// The peer reports what has arrived when a chunk asks for that: four times a limit and more often.
//
// Every some seconds, and after a pause, the pace *probes*: it waits until nothing is on its way,
// and sends one small chunk, whose delay is the network's own (|least_ns|). Otherwise a queue that
// stays would be taken for the network's delay.
//
//   PROBE_DUE --nothing under way: a small chunk--> PROBING --its report--> GOING --time-->
//   PROBE_DUE
//
// Life: reset for each channel; asked before each chunk, told of it and of each report.
//
// Thread rule: thread-compatible.
#ifndef TFRT_DISTRIBUTED_BULK_BULK_PACE_H_
#define TFRT_DISTRIBUTED_BULK_BULK_PACE_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/tuning/tuning.h"

typedef enum tfrt_bulk_pace_state_e {
  TFRT_BULK_PACE_PROBE_DUE = 0,
  TFRT_BULK_PACE_PROBING,
  TFRT_BULK_PACE_GOING,
} tfrt_bulk_pace_state_t;

typedef struct tfrt_bulk_pace_s {
  tfrt_bulk_pace_state_t state;
  uint64_t sent;        // bytes, on this channel
  uint64_t arrived;     // as far as the peer has reported
  uint64_t asked;       // |sent| behind the last chunk that asked for a report
  uint64_t limit;       // on |sent| - |arrived|; the last chunk may go beyond it
  uint64_t unasked;     // about as many bytes are sent at most without a report asked for
  bool was_full;        // |limit| made a chunk smaller or later since the last measurement
  uint64_t settled;     // before so much has arrived, delays are those of a limit that was too high
  uint64_t measured;    // |sent| behind the chunk whose delay is measured; 0: none
  int64_t measured_ns;  // when that was sent
  int64_t least_ns;     // the delay of a chunk on the idle network
  int64_t probed_ns;    // when that was measured
  int64_t last_sent_ns;  // a chunk was sent
} tfrt_bulk_pace_t;

// Makes |pace| that of a new channel. Thread-compatible.
static inline void tfrt_bulk_pace_reset(tfrt_bulk_pace_t* pace) {
  *pace = (tfrt_bulk_pace_t){.state = TFRT_BULK_PACE_PROBE_DUE, .limit = TFRT_TUNING_PACE_FIRST};
}

// Returns the most bytes that a chunk may have at |now_ns|; 0: none may be sent before the next
// report. Thread-compatible.
uint64_t tfrt_bulk_pace_chunk_size(tfrt_bulk_pace_t* pace, int64_t now_ns);

// A chunk of |size| bytes is sent at |now_ns|. Returns true if it should ask for a report.
// Thread-compatible.
bool tfrt_bulk_pace_note_sent(tfrt_bulk_pace_t* pace, uint64_t size, int64_t now_ns);

// The chunk that was sent last asks for a report, though it need not. Thread-compatible.
static inline void tfrt_bulk_pace_ask(tfrt_bulk_pace_t* pace) { pace->asked = pace->sent; }

// The peer reports, at |now_ns|, that |arrived| bytes of this channel are there. Returns false, and
// changes nothing, if fewer were sent. Thread-compatible.
bool tfrt_bulk_pace_note_arrived(tfrt_bulk_pace_t* pace, uint64_t arrived, int64_t now_ns);

#endif  // TFRT_DISTRIBUTED_BULK_BULK_PACE_H_
