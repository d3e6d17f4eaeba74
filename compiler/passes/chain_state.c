// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_inserter_impl.h"

tfrt_chain_state_t* tfrt_chain_state(tfrt_chain_inserter_t* inserter, tfrt_place_t place) {
  static tfrt_chain_state_t none;
  uint32_t nothing = UINT32_MAX;
  while (inserter->slots.count <= place) {
    if (!tfrt_scratch_push(&inserter->slots, &nothing)) {
      inserter->failed = true;
      return &none;
    }
  }
  uint32_t* slot = tfrt_scratch_at(&inserter->slots, place);
  if (*slot == UINT32_MAX || *slot < inserter->first_state) {
    tfrt_chain_state_t state = {.place = place, .outer = *slot};
    if (!tfrt_scratch_push(&inserter->states, &state)) {
      inserter->failed = true;
      return &none;
    }
    *slot = (uint32_t)inserter->states.count - 1;
  }
  return tfrt_scratch_at(&inserter->states, *slot);
}

uint32_t tfrt_chain_begin_states(tfrt_chain_inserter_t* inserter) {
  uint32_t outer = inserter->first_state;
  inserter->first_state = (uint32_t)inserter->states.count;
  return outer;
}

void tfrt_chain_end_states(tfrt_chain_inserter_t* inserter, uint32_t outer) {
  while (inserter->states.count > inserter->first_state) {
    const tfrt_chain_state_t* state = tfrt_scratch_at(&inserter->states, --inserter->states.count);
    *(uint32_t*)tfrt_scratch_at(&inserter->slots, state->place) = state->outer;
  }
  inserter->first_state = outer;
}

void tfrt_chain_add_event(tfrt_chain_inserter_t* inserter, tfrt_event_t** list,
                          tfrt_ir_value_t* chain, tfrt_ir_operation_t* op, bool by_hand) {
  tfrt_event_t* event = tfrt_arena_allocate(&inserter->arena, sizeof(*event));
  if (!event) {
    inserter->failed = true;
    return;
  }
  *event = (tfrt_event_t){.next = *list, .chain = chain, .op = op, .by_hand = by_hand};
  *list = event;
}

bool tfrt_chain_matters(const tfrt_chain_inserter_t* inserter, tfrt_place_t place) {
  if (place == TFRT_PLACE_NONE) return false;
  if (inserter->analysis.only_memory && place < TFRT_PLACE_OUTSIDE_COUNT) return false;
  return tfrt_effect_is_live(&inserter->analysis, place);
}
