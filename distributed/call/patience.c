// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/patience.h"

void tfrt_patience_initialize(tfrt_patience_t* patience, tfrt_task_t* over) {
  tfrt_call_scope_initialize(&patience->scope, over);
  tfrt_list_initialize(&patience->waiting);
  patience->open = patience->most_open = 0;
  patience->ended = 0;
}

bool tfrt_patience_has_come(const tfrt_patience_t* patience) {
  return patience->most_open > 0 && patience->ended >= 2 * (uint64_t)patience->most_open;
}

void tfrt_patience_note_begun(tfrt_patience_t* patience) {
  if (++patience->open > patience->most_open) patience->most_open = patience->open;
}

void tfrt_patience_note_ended(tfrt_patience_t* patience) {
  --patience->open;
  ++patience->ended;
}
