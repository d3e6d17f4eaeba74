// SPDX-License-Identifier: Apache-2.0
//
// The functions of rooms above that remote values call: delivery/ forgets a Push that will not
// come, recovery/ finds another way to a lost value. host/ fills the table, |value_hooks| of the
// node.
//
// Thread rule: everything here is called with the node's lock held.
// Failure rule: none fails; false says that nothing can be done.
#ifndef TFRT_DISTRIBUTED_VALUE_VALUE_HOOKS_H_
#define TFRT_DISTRIBUTED_VALUE_VALUE_HOOKS_H_

#include <stdbool.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_remote_value_s tfrt_remote_value_t;

typedef struct tfrt_value_hooks_s {
  // |value| has no owner any more that may push it.
  void (*forget_push)(tfrt_remote_value_t* value);
  // Asks the lender of the lost |value| for another owner; false: there is nobody to ask.
  bool (*ask_lender)(tfrt_remote_value_t* value);
  // Answers hosts that have asked for |value|, which has another owner now, or is resolved.
  void (*answer_waiting)(tfrt_remote_value_t* value);
  // For |value|, a result of a call that may run again (its |rerun|). True if |status| (+0), which
  // came for |value|, is the loss of another host, and the call may run again for that.
  bool (*may_mend)(const tfrt_remote_value_t* value, tfrt_status_t status);
  // Runs the call of such a |value| again, which is lost because of |status|. False if it must not.
  bool (*run_again)(tfrt_remote_value_t* value, tfrt_status_t status);
  // Such a |value| doesn't need its call any more.
  void (*forget_call)(tfrt_remote_value_t* value);
} tfrt_value_hooks_t;

#endif  // TFRT_DISTRIBUTED_VALUE_VALUE_HOOKS_H_
