// SPDX-License-Identifier: Apache-2.0
//
// Pairs: an all_reduce with few messages, by recursive doubling (Thakur, Rabenseifner, Gropp:
// "Optimization of Collective Communication Operations in MPICH", 2005). With n members, where p is
// the greatest power of two that is at most n:
//
//    fold     member p + i sends its operand to member i, which combines it with its own
//    turn t   members i and i XOR 2^t, both below p, send each other what they have, and combine it
//    unfold   member i sends the result to member p + i
//
// A member sends its buffer while it makes the next one from it, so each turn makes a new buffer;
// the last one is the output.
#include "kernels/distributed/collective_plan.h"

typedef struct pairs_s {
  tfrt_collective_plan_t* plan;
  size_t size;
  size_t chunk_count;
  uint32_t* made;  // for each chunk, the step that made what we have; NO_STEP: it is the input
} pairs_t;

// The greatest power of two that is at most |count|.
static uint32_t core_of(uint32_t count) {
  uint32_t core = 1;
  while (core <= count / 2) core *= 2;
  return core;
}

bool tfrt_collective_plan_are_paired(uint32_t count, uint32_t a, uint32_t b) {
  uint32_t core = core_of(count);
  if (a >= core || b >= core) return a == b + core || b == a + core;
  uint32_t difference = a ^ b;
  return difference != 0 && (difference & (difference - 1)) == 0;
}

// Adds the step of chunk |i| like |step|.
static uint32_t add(pairs_t* pairs, size_t i, tfrt_collective_step_t step) {
  size_t at = i * pairs->plan->chunk;
  size_t rest = pairs->size - at;
  step.input = step.output = at;
  step.size = rest < pairs->plan->chunk ? rest : pairs->plan->chunk;
  return tfrt_collective_plan_add(pairs->plan, &step);
}

// Sends our elements to |member|.
static void send(pairs_t* pairs, uint32_t member) {
  for (size_t i = 0; i < pairs->chunk_count; ++i) {
    bool is_input = pairs->made[i] == TFRT_COLLECTIVE_NO_STEP;
    add(pairs, i,
        (tfrt_collective_step_t){
            .kind = is_input ? TFRT_COLLECTIVE_SEND_INPUT : TFRT_COLLECTIVE_SEND_STEP,
            .member = member,
            .after = pairs->made[i]});
  }
}

// Combines the elements of |member| with ours, for the last time if it |is_last|.
static void combine(pairs_t* pairs, uint32_t member, bool is_last) {
  for (size_t i = 0; i < pairs->chunk_count; ++i) {
    tfrt_collective_step_t step = {
        .kind = is_last ? TFRT_COLLECTIVE_RECEIVE_COMBINE : TFRT_COLLECTIVE_RECEIVE_RELAY,
        .finish = is_last,
        .joins = pairs->made[i] != TFRT_COLLECTIVE_NO_STEP,
        .own_first = pairs->plan->position < member,
        .member = member,
        .after = pairs->made[i]};
    pairs->made[i] = add(pairs, i, step);
  }
}

// For a member behind the core: another member combines, and sends the result.
static void add_folded(pairs_t* pairs, uint32_t member) {
  send(pairs, member);
  for (size_t i = 0; i < pairs->chunk_count; ++i) {
    add(pairs, i,
        (tfrt_collective_step_t){.kind = TFRT_COLLECTIVE_RECEIVE_STORE,
                                 .member = member,
                                 .after = TFRT_COLLECTIVE_NO_STEP});
  }
}

static void add_turns(pairs_t* pairs, uint32_t core) {
  uint32_t position = pairs->plan->position;
  bool is_folded_into = position + core < pairs->plan->count;
  if (is_folded_into) combine(pairs, position + core, false);
  for (uint32_t distance = 1; distance < core; distance *= 2) {
    send(pairs, position ^ distance);
    combine(pairs, position ^ distance, 2 * distance == core);
  }
  for (size_t i = 0; i < pairs->chunk_count && is_folded_into; ++i) {
    add(pairs, i,
        (tfrt_collective_step_t){.kind = TFRT_COLLECTIVE_SEND_OUTPUT,
                                 .member = position + core,
                                 .after = pairs->made[i]});
  }
}

void tfrt_collective_plan_all_reduce_in_pairs(tfrt_collective_plan_t* plan, size_t size) {
  pairs_t pairs = {
      .plan = plan, .size = size, .chunk_count = (size + plan->chunk - 1) / plan->chunk};
  if (size == 0) return;
  pairs.made = tfrt_allocator_allocate_array(plan->allocator, pairs.chunk_count, sizeof(uint32_t));
  if (!pairs.made) {
    plan->failed = true;
    return;
  }
  for (size_t i = 0; i < pairs.chunk_count; ++i) pairs.made[i] = TFRT_COLLECTIVE_NO_STEP;
  uint32_t core = core_of(plan->count);
  if (plan->position >= core) {
    add_folded(&pairs, plan->position - core);
  } else {
    add_turns(&pairs, core);
  }
  tfrt_allocator_free(plan->allocator, pairs.made, pairs.chunk_count * sizeof(uint32_t));
}
