// SPDX-License-Identifier: Apache-2.0
//
// Each member has something else for each. In turn t everybody sends to the member t places on
// and receives from the one t places back, so nobody is everybody's target at the same time.
#include "kernels/distributed/collective_plan.h"

typedef struct side_s {
  size_t begin;
  size_t size;
} side_t;

// Where the part for |member| lies in the operand of the plan's member.
static side_t part_to(const tfrt_collective_plan_t* plan, const size_t* sizes, uint32_t member) {
  const size_t* row = sizes + (size_t)plan->position * plan->count;
  side_t side = {.size = row[member]};
  for (uint32_t i = 0; i < member; ++i) side.begin += row[i];
  return side;
}

// Where the part of |member| lies in the result of the plan's member.
static side_t part_from(const tfrt_collective_plan_t* plan, const size_t* sizes, uint32_t member) {
  side_t side = {.size = sizes[(size_t)member * plan->count + plan->position]};
  for (uint32_t i = 0; i < member; ++i) {
    side.begin += sizes[(size_t)i * plan->count + plan->position];
  }
  return side;
}

static void add_part(tfrt_collective_plan_t* plan, uint8_t kind, uint32_t member, side_t side) {
  for (size_t at = 0; at < side.size && !plan->failed; at += plan->chunk) {
    size_t rest = side.size - at;
    tfrt_collective_step_t step = {.kind = kind,
                                   .member = member,
                                   .after = TFRT_COLLECTIVE_NO_STEP,
                                   .input = side.begin + at,
                                   .output = side.begin + at,
                                   .size = rest < plan->chunk ? rest : plan->chunk};
    tfrt_collective_plan_add(plan, &step);
  }
}

void tfrt_collective_plan_all_to_all(tfrt_collective_plan_t* plan, const size_t* sizes) {
  uint32_t count = plan->count;
  for (uint32_t t = 1; t < count; ++t) {
    uint32_t target = (plan->position + t) % count;
    uint32_t source = (plan->position + count - t) % count;
    add_part(plan, TFRT_COLLECTIVE_SEND_INPUT, target, part_to(plan, sizes, target));
    add_part(plan, TFRT_COLLECTIVE_RECEIVE_STORE, source, part_from(plan, sizes, source));
  }
  side_t own = part_to(plan, sizes, plan->position);
  if (own.size == 0) return;
  tfrt_collective_plan_add(
      plan, &(tfrt_collective_step_t){.kind = TFRT_COLLECTIVE_COPY,
                                      .after = TFRT_COLLECTIVE_NO_STEP,
                                      .input = own.begin,
                                      .output = part_from(plan, sizes, plan->position).begin,
                                      .size = own.size});
}
