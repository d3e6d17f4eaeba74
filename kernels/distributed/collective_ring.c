// SPDX-License-Identifier: Apache-2.0
//
// Rings: each member receives from the one before it and sends to the one behind it, all at
// the same time, so every link is busy all the time. With n members:
//
//    turn t of the combining half    send part (p - t - 1), receive part (p - t - 2), mod n
//    after n - 1 turns               member p has part p, complete
//    turn t of the gathering half    send part (p - t), receive part (p - t - 1)
//
// A member sends in each turn the chunks that it received in the turn before.
//
// In an all_reduce the output holds a part first incomplete and then, after the gathering
// half, complete. Nobody reads the incomplete part any more by then: all members on the way have
// made the complete part from it.
#include "kernels/distributed/collective_plan.h"

typedef struct ring_s {
  tfrt_collective_plan_t* plan;
  tfrt_collective_parts_t parts;
  uint32_t* arrivals;  // for each chunk of the part at hand, the step that it came with
  size_t arrival_count;
} ring_t;

static uint32_t part_before(const ring_t* ring, uint32_t distance) {
  uint32_t count = ring->plan->count;
  return (ring->plan->position + 2 * count - distance % count) % count;
}

static size_t part_size(const ring_t* ring, uint32_t part) {
  return ring->parts[part + 1] - ring->parts[part];
}

// How many chunks the largest part has.
static size_t max_chunks(const ring_t* ring) {
  size_t largest = 0;
  for (uint32_t i = 0; i < ring->plan->count; ++i) {
    if (part_size(ring, i) > largest) largest = part_size(ring, i);
  }
  return (largest + ring->plan->chunk - 1) / ring->plan->chunk;
}

// A step |kind| for each chunk of |part|: sends to the next member, receives from the one
// before. A send waits for the arrival of its chunk, if that |was_received|.
typedef struct turn_s {
  uint32_t part;
  uint8_t kind;
  bool finish;
  bool was_received;
  size_t output_base;  // where the output begins in the whole
} turn_t;

static void add_turn(ring_t* ring, const turn_t* turn) {
  tfrt_collective_plan_t* plan = ring->plan;
  bool receives = turn->kind >= TFRT_COLLECTIVE_RECEIVE_STORE;
  uint32_t next = (plan->position + 1) % plan->count;
  uint32_t last = (plan->position + plan->count - 1) % plan->count;
  size_t begin = ring->parts[turn->part];
  size_t size = part_size(ring, turn->part);
  for (size_t at = 0, i = 0; at < size && !plan->failed; at += plan->chunk, ++i) {
    size_t rest = size - at;
    uint32_t step = tfrt_collective_plan_add(
        plan, &(tfrt_collective_step_t){
                  .kind = turn->kind,
                  .finish = turn->finish,
                  .member = receives ? last : next,
                  .after = turn->was_received ? ring->arrivals[i] : TFRT_COLLECTIVE_NO_STEP,
                  .input = begin + at,
                  .output = begin + at - turn->output_base,
                  .size = rest < plan->chunk ? rest : plan->chunk});
    if (receives) ring->arrivals[i] = step;
  }
}

static bool initialize(ring_t* ring, tfrt_collective_plan_t* plan, tfrt_collective_parts_t parts) {
  *ring = (ring_t){.plan = plan, .parts = parts};
  ring->arrival_count = max_chunks(ring) + 1;
  ring->arrivals =
      tfrt_allocator_allocate_array(plan->allocator, ring->arrival_count, sizeof(uint32_t));
  if (!ring->arrivals) plan->failed = true;
  return ring->arrivals != NULL;
}

static void deinitialize(ring_t* ring) {
  tfrt_allocator_free(ring->plan->allocator, ring->arrivals,
                      ring->arrival_count * sizeof(uint32_t));
}

// The combining half, for a result of one part or of all. One of all has room for parts that
// are not complete yet; else they only pass through.
static void combine(ring_t* ring, bool has_all) {
  uint32_t count = ring->plan->count;
  uint8_t send = has_all ? TFRT_COLLECTIVE_SEND_OUTPUT : TFRT_COLLECTIVE_SEND_STEP;
  uint8_t receive = has_all ? TFRT_COLLECTIVE_RECEIVE_COMBINE : TFRT_COLLECTIVE_RECEIVE_RELAY;
  size_t base = has_all ? 0 : ring->parts[ring->plan->position];
  for (uint32_t t = 0; t + 1 < count; ++t) {
    bool is_last = t + 2 == count;
    add_turn(ring, &(turn_t){.part = part_before(ring, t + 1),
                             .kind = t == 0 ? TFRT_COLLECTIVE_SEND_INPUT : send,
                             .was_received = t > 0,
                             .output_base = has_all ? 0 : ring->parts[part_before(ring, t + 1)]});
    add_turn(ring,
             &(turn_t){
                 .part = part_before(ring, t + 2),
                 .kind = is_last ? TFRT_COLLECTIVE_RECEIVE_COMBINE : receive,
                 .finish = is_last,
                 .output_base = is_last || has_all ? base : ring->parts[part_before(ring, t + 2)]});
  }
}

void tfrt_collective_plan_reduce_scatter(tfrt_collective_plan_t* plan,
                                         tfrt_collective_parts_t parts) {
  ring_t ring;
  if (!initialize(&ring, plan, parts)) return;
  combine(&ring, false);
  deinitialize(&ring);
}

void tfrt_collective_plan_all_reduce(tfrt_collective_plan_t* plan, tfrt_collective_parts_t parts) {
  ring_t ring;
  if (!initialize(&ring, plan, parts)) return;
  combine(&ring, true);
  for (uint32_t t = 0; t + 1 < plan->count; ++t) {
    add_turn(&ring, &(turn_t){.part = part_before(&ring, t),
                              .kind = TFRT_COLLECTIVE_SEND_OUTPUT,
                              .was_received = true});
    add_turn(&ring,
             &(turn_t){.part = part_before(&ring, t + 1), .kind = TFRT_COLLECTIVE_RECEIVE_STORE});
  }
  deinitialize(&ring);
}

// The operand is one part of the result only, so the input begins where that does.
static void add_own_part(ring_t* ring) {
  tfrt_collective_plan_t* plan = ring->plan;
  size_t begin = ring->parts[plan->position];
  size_t size = part_size(ring, plan->position);
  uint32_t next = (plan->position + 1) % plan->count;
  for (size_t at = 0; at < size && !plan->failed; at += plan->chunk) {
    size_t rest = size - at;
    tfrt_collective_step_t step = {.kind = TFRT_COLLECTIVE_SEND_INPUT,
                                   .member = next,
                                   .after = TFRT_COLLECTIVE_NO_STEP,
                                   .input = at,
                                   .size = rest < plan->chunk ? rest : plan->chunk};
    tfrt_collective_plan_add(plan, &step);
  }
  if (size == 0) return;
  tfrt_collective_plan_add(plan, &(tfrt_collective_step_t){.kind = TFRT_COLLECTIVE_COPY,
                                                           .after = TFRT_COLLECTIVE_NO_STEP,
                                                           .output = begin,
                                                           .size = size});
}

void tfrt_collective_plan_all_gather(tfrt_collective_plan_t* plan, tfrt_collective_parts_t parts) {
  ring_t ring;
  if (!initialize(&ring, plan, parts)) return;
  add_own_part(&ring);
  for (uint32_t t = 0; t + 1 < plan->count; ++t) {
    if (t > 0) {
      add_turn(&ring, &(turn_t){.part = part_before(&ring, t),
                                .kind = TFRT_COLLECTIVE_SEND_OUTPUT,
                                .was_received = true});
    }
    add_turn(&ring,
             &(turn_t){.part = part_before(&ring, t + 1), .kind = TFRT_COLLECTIVE_RECEIVE_STORE});
  }
  deinitialize(&ring);
}
