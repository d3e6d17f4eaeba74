// SPDX-License-Identifier: Apache-2.0
#include "distributed/bulk/bulk_pace.h"

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

// The bytes whose arrival was not reported.
static uint64_t under_way(const tfrt_bulk_pace_t* pace) { return pace->sent - pace->arrived; }

static bool awaits_report(const tfrt_bulk_pace_t* pace) { return pace->asked > pace->arrived; }

static uint64_t going_chunk_size(const tfrt_bulk_pace_t* pace) {
  // A quarter of the target: a chunk is itself a queue, and so is what a report sets free.
  const double share = (double)TFRT_TUNING_PACE_TARGET_NS /
                       (double)(4 * (pace->least_ns + TFRT_TUNING_PACE_TARGET_NS));
  return max_u64((uint64_t)((double)pace->limit * share), TFRT_TUNING_PACE_LEAST_CHUNK);
}

uint64_t tfrt_bulk_pace_chunk_size(tfrt_bulk_pace_t* pace, int64_t now_ns) {
  const bool is_late =
      pace->state == TFRT_BULK_PACE_GOING && now_ns - pace->probed_ns >= TFRT_TUNING_PACE_PROBE_NS;
  const bool has_paused = pace->state == TFRT_BULK_PACE_GOING && !awaits_report(pace) &&
                          now_ns - pace->last_sent_ns >= TFRT_TUNING_PACE_PAUSE_NS;
  if (is_late || has_paused) pace->state = TFRT_BULK_PACE_PROBE_DUE;
  // The network may be another one by now.
  if (has_paused) pace->limit = min_u64(pace->limit, TFRT_TUNING_PACE_FIRST);
  if (pace->state == TFRT_BULK_PACE_GOING) {
    // Bytes without a report asked for may have arrived long ago: the next chunk asks.
    if (under_way(pace) >= pace->limit && awaits_report(pace)) {
      pace->was_full = true;
      return 0;
    }
    return going_chunk_size(pace);
  }
  return awaits_report(pace) ? 0 : TFRT_TUNING_PACE_LEAST_CHUNK;
}

bool tfrt_bulk_pace_note_sent(tfrt_bulk_pace_t* pace, uint64_t size, int64_t now_ns) {
  const bool is_probe = pace->state == TFRT_BULK_PACE_PROBE_DUE;
  // A payload that goes in more chunks than it had to needs a higher limit, too.
  if (!is_probe && size >= going_chunk_size(pace)) pace->was_full = true;
  pace->sent += size;
  pace->last_sent_ns = now_ns;
  pace->unasked = going_chunk_size(pace);
  if (is_probe) pace->state = TFRT_BULK_PACE_PROBING;
  const bool asks =
      is_probe || pace->sent - pace->asked >= pace->unasked || under_way(pace) >= pace->limit;
  if (!asks) return false;
  pace->asked = pace->sent;
  if (is_probe || (pace->measured == 0 && pace->arrived >= pace->settled)) {
    pace->measured = pace->sent;
    pace->measured_ns = now_ns;
  }
  return true;
}

// A chunk took |delay_ns|, with the limit of this moment.
static void adapt(tfrt_bulk_pace_t* pace, int64_t delay_ns) {
  if (delay_ns < pace->least_ns) pace->least_ns = delay_ns;
  const int64_t queue_ns = delay_ns - pace->least_ns;
  if (queue_ns > TFRT_TUNING_PACE_TARGET_NS) {
    const double share = (double)(pace->least_ns + TFRT_TUNING_PACE_TARGET_NS) / (double)delay_ns;
    const uint64_t fitting = (uint64_t)((double)pace->limit * share);
    pace->limit = max_u64(max_u64(fitting, pace->limit / 2), TFRT_TUNING_PACE_LEAST);
    pace->settled = pace->sent;
  } else if (queue_ns < TFRT_TUNING_PACE_TARGET_NS / 2 && pace->was_full) {
    pace->limit = min_u64(2 * pace->limit, TFRT_TUNING_PACE_MOST);
  }
  pace->was_full = false;
}

bool tfrt_bulk_pace_note_arrived(tfrt_bulk_pace_t* pace, uint64_t arrived, int64_t now_ns) {
  if (arrived > pace->sent) return false;
  if (arrived <= pace->arrived) return true;
  pace->arrived = arrived;
  if (pace->measured == 0 || arrived < pace->measured) return true;
  const int64_t delay_ns = now_ns - pace->measured_ns;
  pace->measured = 0;
  if (pace->state == TFRT_BULK_PACE_PROBING) {
    pace->state = TFRT_BULK_PACE_GOING;
    pace->least_ns = delay_ns;
    pace->probed_ns = now_ns;
  } else {
    adapt(pace, delay_ns);
  }
  return true;
}
