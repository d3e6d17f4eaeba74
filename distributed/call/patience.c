// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/patience.h"

#include "distributed/call/outgoing_call_impl.h"

void tfrt_patience_initialize(tfrt_patience_t* patience, tfrt_task_t* over) {
  tfrt_call_scope_initialize(&patience->scope, over);
  tfrt_list_initialize(&patience->calls);
}

bool tfrt_patience_end(tfrt_patience_t* patience) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&patience->calls));) {
    tfrt_outgoing_call_hurry(TFRT_CONTAINER_OF(link, tfrt_outgoing_call_t, patient_link));
  }
  return tfrt_call_scope_leave_last(&patience->scope);
}
