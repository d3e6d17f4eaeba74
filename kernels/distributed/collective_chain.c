// SPDX-License-Identifier: Apache-2.0
//
// Chains: the members stand in a row behind the root, in the order of the group.
//
//   broadcast   root --> root + 1 --> root + 2 --> ...      each chunk is handed on at once
//   reduce      root <-- root + 1 <-- root + 2 <-- ...      each adds its own
//
// Every link carries the operand once, so a root with seven others sends it once, too.
#include "kernels/distributed/collective_plan.h"

// How far behind the root the plan's member stands, and its neighbours.
typedef struct chain_s {
  uint32_t place;
  uint32_t to_root;
  uint32_t from_root;
} chain_t;

static chain_t chain_of(const tfrt_collective_plan_t* plan, uint32_t root) {
  uint32_t count = plan->count;
  return (chain_t){.place = (plan->position + count - root) % count,
                   .to_root = (plan->position + count - 1) % count,
                   .from_root = (plan->position + 1) % count};
}

// Adds a receive from |source| and a send to |target| for each chunk of |size| bytes; either
// kind may be TFRT_COLLECTIVE_COPY: then there is none.
static void add_link(tfrt_collective_plan_t* plan, const tfrt_collective_step_t* receive,
                     const tfrt_collective_step_t* send, size_t size) {
  for (size_t at = 0; at < size && !plan->failed; at += plan->chunk) {
    size_t rest = size - at;
    uint32_t arrival = TFRT_COLLECTIVE_NO_STEP;
    for (int i = 0; i < 2; ++i) {
      tfrt_collective_step_t step = i == 0 ? *receive : *send;
      if (step.kind == TFRT_COLLECTIVE_COPY) continue;
      step.after = arrival;
      step.input = at;
      step.output = at;
      step.size = rest < plan->chunk ? rest : plan->chunk;
      arrival = tfrt_collective_plan_add(plan, &step);
    }
  }
}

static const tfrt_collective_step_t nothing = {.kind = TFRT_COLLECTIVE_COPY};

void tfrt_collective_plan_broadcast(tfrt_collective_plan_t* plan, uint32_t root, size_t size) {
  chain_t chain = chain_of(plan, root);
  tfrt_collective_step_t receive = nothing;
  tfrt_collective_step_t send = nothing;
  bool is_root = chain.place == 0;
  if (!is_root) {
    receive.kind = TFRT_COLLECTIVE_RECEIVE_STORE;
    receive.member = chain.to_root;
  }
  if (chain.place + 1 < plan->count) {
    send.kind = is_root ? TFRT_COLLECTIVE_SEND_INPUT : TFRT_COLLECTIVE_SEND_OUTPUT;
    send.member = chain.from_root;
  }
  add_link(plan, &receive, &send, size);
}

void tfrt_collective_plan_reduce(tfrt_collective_plan_t* plan, uint32_t root, size_t size) {
  chain_t chain = chain_of(plan, root);
  tfrt_collective_step_t receive = nothing;
  tfrt_collective_step_t send = nothing;
  bool is_root = chain.place == 0;
  bool is_end = chain.place + 1 == plan->count;
  if (!is_end) {
    receive.kind = is_root ? TFRT_COLLECTIVE_RECEIVE_COMBINE : TFRT_COLLECTIVE_RECEIVE_RELAY;
    receive.finish = is_root;
    receive.member = chain.from_root;
  }
  if (!is_root) {
    send.kind = is_end ? TFRT_COLLECTIVE_SEND_INPUT : TFRT_COLLECTIVE_SEND_STEP;
    send.member = chain.to_root;
  }
  add_link(plan, &receive, &send, size);
}
