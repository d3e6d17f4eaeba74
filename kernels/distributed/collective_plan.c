// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_plan.h"

#include <string.h>

void tfrt_collective_plan_initialize(tfrt_collective_plan_t* plan, uint32_t count,
                                     uint32_t position, size_t chunk, tfrt_allocator_t allocator) {
  memset(plan, 0, sizeof(*plan));
  plan->allocator = allocator;
  plan->count = count;
  plan->position = position;
  plan->chunk = chunk;
  plan->numbers = tfrt_allocator_allocate_zeroed(allocator, 2 * count * sizeof(uint32_t));
  plan->failed = !plan->numbers;
}

void tfrt_collective_plan_deinitialize(tfrt_collective_plan_t* plan) {
  tfrt_allocator_free(plan->allocator, plan->numbers, 2 * plan->count * sizeof(uint32_t));
  tfrt_allocator_free(plan->allocator, plan->steps, plan->step_capacity * sizeof(*plan->steps));
  plan->numbers = NULL;
  plan->steps = NULL;
  plan->step_capacity = 0;
}

bool tfrt_collective_step_receives(const tfrt_collective_step_t* step) {
  return step->kind == TFRT_COLLECTIVE_RECEIVE_STORE ||
         step->kind == TFRT_COLLECTIVE_RECEIVE_COMBINE ||
         step->kind == TFRT_COLLECTIVE_RECEIVE_RELAY;
}

static bool grow(tfrt_collective_plan_t* plan) {
  if (plan->step_count < plan->step_capacity) return true;
  uint32_t capacity = plan->step_capacity > 0 ? 2 * plan->step_capacity : 64;
  tfrt_collective_step_t* steps =
      capacity > plan->step_capacity
          ? tfrt_allocator_reallocate(plan->allocator, plan->steps,
                                      plan->step_capacity * sizeof(*steps),
                                      capacity * sizeof(*steps))
          : NULL;
  if (!steps) {
    plan->failed = true;
    return false;
  }
  plan->steps = steps;
  plan->step_capacity = capacity;
  return true;
}

uint32_t tfrt_collective_plan_add(tfrt_collective_plan_t* plan,
                                  const tfrt_collective_step_t* step) {
  if (plan->failed || !grow(plan)) return TFRT_COLLECTIVE_NO_STEP;
  tfrt_collective_step_t* added = &plan->steps[plan->step_count];
  *added = *step;
  if (step->kind != TFRT_COLLECTIVE_COPY) {
    bool receives = tfrt_collective_step_receives(step);
    added->number = plan->numbers[2 * step->member + (receives ? 1 : 0)]++;
  }
  return plan->step_count++;
}
