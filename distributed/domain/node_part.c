// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/node_part.h"

#include <assert.h>

void tfrt_owner_rules_add(tfrt_owner_rules_t* all, const tfrt_owner_rule_t* rules, size_t count) {
  assert(all->count + count <= TFRT_OWNER_MAX_RULES);
  for (size_t i = 0; i < count; ++i) {
    size_t at = all->count++;
    for (; at > 0 && all->rules[at - 1]->phase > rules[i].phase; --at) {
      all->rules[at] = all->rules[at - 1];
    }
    all->rules[at] = &rules[i];
  }
}
